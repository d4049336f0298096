"""Prompt and answer: which of the two economics is yours?"""

import streamlit as st

from ui import blocks, frame, plot, priceline, prompt, share, state, states, words_prompt

QUESTION = "Which of the two economics is yours?"
curve = states.curve()
with frame.head():
    st.title(QUESTION)

if curve is not None and not curve.drawn:
    said = states.too_large(curve)
    with frame.head():
        st.html(plot.slot("answer", said, tag="p", style="answer"))
        blocks.notes([*state.notes(), *curve.case.notes])
    states.draw_fixes(curve)
    blocks.memory_bar(curve, {})
    share.offer(question=QUESTION, answer=said, curve=curve, name="prompt-share", command="point")

elif curve is not None:
    found = prompt.shown(curve)
    said = words_prompt.answer(found.request)
    with frame.head():
        st.html(plot.slot("answer", said, tag="p", style="answer"))
        priceline.draw(curve, found.request)
        blocks.notes([*state.notes(), *curve.case.notes])
    prompt.bars(found)
    prompt.draw_map(found)
    share.offer(
        question=QUESTION, answer=said, price=priceline.line(curve, found.request), curve=curve,
        columns=lambda: prompt.columns(found.map), name="prompt-share", command="serve",
    )  # fmt: skip
    if not frame.bare():
        blocks.notes(prompt.said(found, curve))
        prompt.draw_tabs(found)
        prompt.draw_folds(found, curve)
