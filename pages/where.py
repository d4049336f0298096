"""Where to run: which accelerator, or an API?"""

import streamlit as st

from ui import blocks, frame, frontier_blocks, plot, share, state, where_blocks
from ui import words_where as words
from ui.charts import where

scenario = state.current()
ranking = where_blocks.ranked(scenario)
blocks.style()
frontier_blocks.style()
with frame.head():
    st.title("Which accelerator, or an API?")

if ranking is not None:
    shown = where_blocks.ordered(ranking)
    said = words.answer(ranking, scenario.model)
    with frame.head():
        st.html(plot.slot("answer", said, tag="p", style="answer"))
        frontier_blocks.price_line(scenario)
        blocks.notes(state.notes())
    plot.draw(
        where.figure(ranking, shown, where_blocks.current(scenario)), key="where",
        stamp=where_blocks.stamp(ranking), on_pick=lambda row: where_blocks.go_to(shown, scenario, row),
    )  # fmt: skip
    share.offer(
        table=lambda: where_blocks.csv(shown), name="where-to-run", command=where_blocks.command(scenario)
    )
    if not frame.bare():
        own = where_blocks.own_place(ranking, scenario)
        blocks.notes(words.notes(ranking, scenario.model, own))
        where_blocks.note(shown, where.MOST_ROWS)
        where_blocks.missing(ranking)
        where_blocks.table(ranking, shown)
        where_blocks.draw_folds(ranking, shown, scenario)
