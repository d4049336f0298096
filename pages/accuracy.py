"""Accuracy and sources: how far from the measured world, and where each figure is from."""

import streamlit as st

from ui import accuracy, accuracy_tables, blocks, frame, plot, priceline, share, state, states, words_accuracy

blocks.style()
accuracy.style()
with frame.head():
    st.title("How accurate is it, and who says so?")
    curve = states.curve()

found = accuracy.report()
own = accuracy.near(found, curve)
case = curve.case if curve else None
with frame.head():
    st.html(plot.slot("answer", words_accuracy.answer(found, own, case), tag="p", style="answer"))
    if curve is not None and curve.drawn:
        priceline.draw(curve)
    blocks.notes(state.notes())
accuracy.draw_figure(found, own)
share.offer(table=lambda: accuracy_tables.csv(found), name="accuracy", command="point")
if not frame.bare():
    blocks.notes(words_accuracy.below(found, own))
    accuracy.draw_tabs(found)
    accuracy.draw_folds(found, curve)
