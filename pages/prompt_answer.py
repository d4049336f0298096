"""Prompt and answer: which of the two economics is yours?"""

import streamlit as st

from ui import blocks, frame, plot, priceline, prompt, share, state, states, words_prompt

curve = states.curve()
blocks.style()
prompt.style()
with frame.head():
    st.title("Which of the two economics is yours?")

if curve is not None and not curve.drawn:
    with frame.head():
        st.html(plot.slot("answer", states.too_large(curve), tag="p", style="answer"))
        blocks.notes([*state.notes(), *curve.case.notes])
    states.draw_fixes(curve)
    blocks.memory_bar(curve, {})

elif curve is not None:
    found = prompt.shown(curve)
    with frame.head():
        st.html(plot.slot("answer", words_prompt.answer(found.request), tag="p", style="answer"))
        priceline.draw(curve, found.request)
        blocks.notes([*state.notes(), *curve.case.notes])
    prompt.bars(found)
    prompt.draw_map(found)
    share.offer(table=lambda: prompt.csv(found), name="prompt-share", command="serve")
    if not frame.bare():
        blocks.notes(prompt.said(found, curve))
        prompt.draw_tabs(found)
        prompt.draw_folds(found, curve)
