"""Your stack: how far above the floor is what you run?"""

import streamlit as st

from ui import blocks, frame, paid_view, plot, priceline, state, states, words_paid

curve = states.curve()
QUESTION = "How far above the floor is what you run?"
with frame.head():
    st.title(QUESTION)

bill = None if curve is None else paid_view.compute()
if curve is not None and bill is not None:
    with frame.head():
        st.html(plot.slot("answer", words_paid.answer(bill), tag="p", style="answer"))
        priceline.draw(curve)
        blocks.notes([*state.notes(), *curve.case.notes])
    paid_view.draw(bill, curve, question=QUESTION)
