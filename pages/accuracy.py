"""Accuracy and sources: how far from the measured world, and where each figure is from."""

import streamlit as st

from ui import accuracy, accuracy_tables, blocks, frame, plot, priceline, share, state, states, words_accuracy

QUESTION = "How accurate is it, and who says so?"
with frame.head():
    st.title(QUESTION)
    curve = states.curve()

found = accuracy.report()
own = accuracy.near(found, curve)
case = curve.case if curve else None
said = words_accuracy.answer(found, own, case)
with frame.head():
    st.html(plot.slot("answer", said, tag="p", style="answer"))
    priceline.draw_known(curve)
    blocks.notes(state.notes())
accuracy.draw_figure(found, own)
share.offer(
    question=QUESTION, answer=said, price=priceline.known(curve), curve=curve,
    table=lambda: accuracy_tables.csv(found), name="accuracy", command="point",
)  # fmt: skip
if not frame.bare():
    blocks.notes(words_accuracy.below(found, own))
    accuracy.draw_tabs(found)
    accuracy.draw_folds(found, curve)
