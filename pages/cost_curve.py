"""Cost curve: what does one more sequence cost?"""

import streamlit as st

from ui import blocks, folds, frame, pins, plot, priceline, share, state, states, tables, words
from ui.charts import cost_curve, live, pinned, vary

curve = blocks.shown(states.curve(), state.cost_shown(), state.varied())
blocks.style()
with frame.head():
    st.title("What does one more sequence cost?")

if curve is not None and not curve.drawn:
    with frame.head():
        st.html(plot.slot("answer", states.too_large(curve), tag="p", style="answer"))
        blocks.notes([*state.notes(), *curve.case.notes])
    states.draw_fixes(curve)
    blocks.memory_bar(curve, {})

elif curve is not None:
    table = live.table(curve)
    now = live.now(curve, table)
    family = blocks.family(curve, state.varied())
    if family is None:
        figure, numbered = cost_curve.figure(curve, words.alt(curve, words.row(curve)))
        figure = pinned.over(figure, curve, pins.lettered())
        said = words.note(curve, numbered)
    else:
        figure, said = vary.figure(curve, family), vary.note(family, curve.now_batch)
    with frame.head():
        st.html(plot.slot("answer", now["answer"], tag="p", style="answer"))
        priceline.draw(curve)
    plot.draw(
        figure, key="cost_curve", live=live.live(curve, table), stamp=live.stamp(curve), on_batch=state.set_batch
    )
    share.offer(table=lambda: tables.to_csv(tables.plotted(curve)), name="cost-curve", command="knee")
    if not frame.bare():
        blocks.under_figure(curve, now, [*state.notes(), *curve.case.notes, *said], rules=family is None)
        blocks.metrics(curve, now)
        blocks.edges_table(curve)
        folds.details(curve, now)
        folds.draw(curve)
