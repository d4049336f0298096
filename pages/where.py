"""Where to run: which accelerator, or an API?"""

import streamlit as st

from ui import blocks, frame, frontier_blocks, plot, priceline, share, state, where_blocks
from ui import words_where as words
from ui.charts import where

scenario = state.current()
ranking = where_blocks.ranked(scenario)
QUESTION = "Which accelerator, or an API?"
with frame.head():
    st.title(QUESTION)

if ranking is not None:
    shown = where_blocks.ordered(ranking)
    said = words.answer(ranking, scenario.model)
    with frame.head():
        st.html(plot.slot("answer", said, tag="p", style="answer"))
        curve = frontier_blocks.own_curve(scenario)
        priceline.draw_known(curve)
        blocks.notes(state.notes())
    plot.draw(
        where.figure(ranking, shown, where_blocks.current(scenario)), key="where",
        stamp=where_blocks.stamp(ranking), on_pick=lambda row: where_blocks.go_to(shown, scenario, row),
    )  # fmt: skip
    share.offer(
        question=QUESTION, answer=said, price=priceline.known(curve), curve=curve,
        columns=lambda: where_blocks.columns(shown), name="where-to-run", command=where_blocks.command(scenario),
    )  # fmt: skip
    if not frame.bare():
        own = where_blocks.own_place(ranking, scenario)
        blocks.notes(words.notes(ranking, scenario.model, own))
        where_blocks.note(shown, where.MOST_ROWS)
        where_blocks.missing(ranking)
        where_blocks.table(ranking, shown)
        where_blocks.draw_folds(ranking, shown, scenario)
