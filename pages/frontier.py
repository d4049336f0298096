"""Speed vs cost: what does responsiveness cost?"""

import streamlit as st

from ui import blocks, frame, frontier_blocks, frontier_row, plot, priceline, share, state
from ui import frontier_view as views
from ui import words_frontier as words
from ui.charts import frontier

scenario, asked = frontier_row.scenario(), frontier_row.asked()
shown = frontier_blocks.guarded(lambda: views.view(scenario, asked))
QUESTION = "What does responsiveness cost?"
with frame.head():
    st.title(QUESTION)

if shown is not None:
    said = words.answer(shown)
    with frame.head():
        st.html(plot.slot("answer", said, tag="p", style="answer"))
        own = frontier_blocks.own_curve(shown.scenario)
        priceline.draw_known(own)
        blocks.notes([*state.notes(), *frontier_row.notes()])
    plot.draw(
        frontier.figure(shown, room=frame.presenting()), key="frontier", stamp=views.stamp(shown),
        on_pick=lambda index: frontier_blocks.go_to(shown, index),
    )  # fmt: skip
    share.offer(
        question=QUESTION, answer=said, price=priceline.known(own), curve=own,
        columns=lambda: frontier_blocks.columns(shown, coloured_only=False), name="speed-vs-cost",
        command=frontier_blocks.command(scenario, asked),
    )  # fmt: skip
    if not frame.bare():
        blocks.notes(words.notes(shown))
        frontier_blocks.note(shown)
        frontier_blocks.take(shown)
        frontier_blocks.speeds(shown)
        frontier_blocks.draw_folds(shown)
