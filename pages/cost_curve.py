"""Cost curve: what does one more sequence cost?"""

import streamlit as st

from costmodel.curve import CostCurve
from ui import blocks, folds, frame, pins, plot, priceline, share, sidebar, state, states, tables, words
from ui.charts import cost_curve, live, pinned, vary

QUESTION = "What does one more sequence cost?"


def main() -> None:
    """Draw the page."""
    with frame.head():
        st.title(QUESTION)
    curve = compute()
    if curve is not None and curve.drawn:
        draw_curve()
    elif curve is not None:
        draw_too_large(curve)


def compute() -> CostCurve | None:
    """Return the curve of the scenario on screen."""
    return blocks.shown(states.curve(), state.cost_shown(), state.varied())


def draw_too_large(curve: CostCurve) -> None:
    """Draw what stands in the curve's place where the weights alone are too large."""
    answer = states.too_large(curve)
    with frame.head():
        st.html(plot.slot("answer", answer, tag="p", style="answer"))
        blocks.notes([*state.notes(), *curve.case.notes])
    states.draw_fixes(curve)
    blocks.memory_bar(curve, {})
    share.offer(question=QUESTION, answer=answer, curve=curve, name="cost-curve", command="point")


@st.fragment(key=sidebar.PAGE)
def draw_curve() -> None:
    """Draw all that a new batch changes: it runs alone then, without the shell and the sidebar.

    It computes the curve anew, since only here the batch is known: its box is drawn first.
    """
    sidebar.runs_alone()
    sidebar.draw_batch()
    curve = compute()
    if curve is None or not curve.drawn:
        st.rerun()  # something else changed, too
    room = frame.presenting()
    table = live.table(curve, room=room)
    now = live.now(curve, table)
    family = blocks.family(curve, state.varied())
    if family is None:
        figure, numbered = cost_curve.figure(curve, words.alt(curve, words.row(curve)), room=room)
        figure = pinned.over(figure, curve, pins.lettered())
        said = words.note(curve, numbered)
    else:
        figure, said = vary.figure(curve, family, room=room), vary.note(family, curve.now_batch)
    with frame.head():
        st.html(plot.slot("answer", now["answer"], tag="p", style="answer"))
        priceline.draw(curve)
    plot.draw(
        figure, key="cost_curve", live=live.live(curve, table), stamp=live.stamp(curve),
        on_batch=sidebar.take_batch,
        on_line=None if family is None else lambda value: sidebar.take_line({family.knob: value}),
    )  # fmt: skip
    share.offer(
        question=QUESTION, answer=now["answer"], price=now["price"], curve=curve, whole=True,
        columns=lambda: tables.plotted(curve), name="cost-curve", command="knee",
    )  # fmt: skip
    if not frame.bare():
        blocks.under_figure(curve, now, [*state.notes(), *curve.case.notes, *said], rules=family is None)
        folds.details(curve, now)
        folds.draw(curve)


main()
