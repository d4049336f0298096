"""Compare: what differs?"""

import streamlit as st

from ui import blocks, compare_view, frame, plot, priceline, state, states, words_compare

curve = states.curve()
QUESTION = "What differs?"
with frame.head():
    st.title(QUESTION)

found = None if curve is None else compare_view.compute()
if curve is not None and found is not None:
    with frame.head():
        st.html(plot.slot("answer", words_compare.answer(found), tag="p", style="answer"))
        priceline.draw(curve)
        blocks.notes([*state.notes(), *curve.case.notes])
    compare_view.draw(found, curve, question=QUESTION)
