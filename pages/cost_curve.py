"""Cost curve: what does one more sequence cost?"""

import streamlit as st

from ui import blocks, frame, plot, priceline, state, states, words
from ui.charts import cost_curve as chart
from ui.charts import live

curve = states.curve()
blocks.style()
with frame.head():
    st.title("What does one more sequence cost?")

if curve is not None and not curve.drawn:
    with frame.head():
        st.html(plot.slot("answer", states.too_large(curve), tag="p", style="answer"))
    states.draw_fixes(curve)
    blocks.memory_bar(curve, {})

elif curve is not None:
    table = live.live(curve)
    now = live.now(curve)
    figure, numbered = chart.figure(curve, words.alt(curve, words.row(curve)))
    with frame.head():
        st.html(plot.slot("answer", now["answer"], tag="p", style="answer"))
        priceline.draw(curve)
        blocks.notes([*state.notes(), *curve.case.notes])
    plot.draw(figure, key="cost_curve", live=table, stamp=str(curve.now_batch), on_batch=state.set_batch)
    blocks.share_bar(now)
    blocks.notes(words.note(curve, numbered))
    blocks.metrics(now)
    blocks.takeaway(now)
    blocks.edges_table(curve)
    blocks.memory_bar(curve, now)
