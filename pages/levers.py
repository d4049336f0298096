"""Levers: move the floor, or approach it?"""

import streamlit as st

from ui import blocks, frame, levers_view, plot, priceline, state, states

curve = states.curve()
QUESTION = "Move the floor, or approach it?"
with frame.head():
    st.title(QUESTION)

if curve is not None and not curve.drawn:
    with frame.head():
        st.html(plot.slot("answer", states.too_large(curve), tag="p", style="answer"))
    states.draw_fixes(curve)
elif curve is not None:
    view = levers_view.compute()
    if view is not None:
        with frame.head():
            st.html(plot.slot("answer", view.answer, tag="p", style="answer"))
            priceline.draw(curve)
            blocks.notes([*view.notes, *state.notes(), *curve.case.notes])
        levers_view.draw(view, curve, question=QUESTION)
