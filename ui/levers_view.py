"""The Levers page's parts: what it computes from the controls, and its blocks under the figure."""

import html
import math
from dataclasses import dataclass
from typing import Any

import streamlit as st

from costmodel.curve import CostCurve
from costmodel.errors import InputError
from costmodel.ladder import Ladder, ladder
from costmodel.ladder_lines import lines
from costmodel.lever_records import best_of_slots
from costmodel.lever_rows import Board, Row, board
from costmodel.levers import Lever, by_name, first_of_slots
from costmodel.setups import Setup, naive
from costmodel.shapley import Split, split
from costmodel.verdict import Verdict, verdict
from ui import (
    frame,
    lever_settings,
    page_folds,
    plot,
    priceline,
    share,
    state,
    states,
    tables,
    units,
    words_levers,
)
from ui.charts import lever_gaps
from ui.charts import levers as charts

TAB, TODAY, SET = "le_tab", "le_td", "le_set"
PICK = "le_pick_"


NAIVE_NOTE = "The price line is of the engine; the figure is of a naive stack."
PAID_NOTE = "Levers are worked out from the modelled cost, the gap from what you pay."


@dataclass(frozen=True)
class View:
    """What the page shows."""

    board: Board
    rungs: Ladder
    verdict: Verdict
    answer: str

    @property
    def notes(self) -> list[str]:
        """What has to be said about today."""
        told = {"a naive stack": NAIVE_NOTE, "what we pay": PAID_NOTE}.get(str(state.value(TODAY)))
        return [told] if told else []

    @property
    def labels(self) -> dict[str, str]:
        """Each lever's label by name."""
        return {r.lever.name: r.label for r in self.board.rows}


def compute() -> View | None:
    """Return what the page shows; None where a sentence took its place."""
    try:
        return _compute()
    except InputError as error:
        states.refuse(error)
        return None


def _compute() -> View:
    today = str(state.value(TODAY))
    setup, settings = Setup(state.current()), lever_settings.current()
    if today == "a naive stack":
        setup = naive(setup, spread=settings.output_spread)
    found = board(setup, settings)
    paid = float(state.value("le_pay") or 0) if today == "what we pay" else None
    rungs = ladder(found, paid_usd_per_mtok=paid or None)
    said = verdict(found, rungs, mtok_per_month=float(state.value("le_mt") or 1))
    return View(found, rungs, said, words_levers.answer(found, rungs, said))


def draw(view: View, curve: CostCurve, *, question: str) -> None:
    """Draw the open tab with what belongs to it."""
    tab = str(state.value(TAB))
    columns = {"Gap": _gap, "Combine": _combine}.get(tab, _levers)(view)
    share.offer(
        question=question, answer=view.answer, price=priceline.line(curve), curve=curve,
        name=f"levers-{tab.lower()}".replace(" ", "-"), command="levers",
        columns=(lambda: columns) if columns else None,
    )  # fmt: skip
    page_folds.draw(curve, columns, name="levers", arithmetic=lambda: lines(view.board, view.rungs))


# Tabs -------------------------------------------------------------------------------------------


def _levers(view: View) -> list[tables.Column]:
    if math.isnan(view.board.today.usd_per_mtok):
        lever_settings.draw(view.board)
        return []
    plot.draw(charts.ranges(view.board), key="levers")
    if frame.bare():
        return rows_table(view.board)
    _things(view)
    unfit = words_levers.unfit(view.board)
    if unfit:
        st.html(f'<p class="unfit">{html.escape(unfit)}</p>')
    lever_settings.draw(view.board)
    return rows_table(view.board)


def _gap(view: View) -> list[tables.Column]:
    if math.isnan(view.rungs.rungs[0].usd_per_mtok):
        return []
    plot.draw(lever_gaps.gap(view.rungs, view.labels), key="gap")
    if frame.bare():
        return []
    said = [*view.rungs.said, words_levers.absent(view.rungs)]
    if any(said):
        st.html(f'<p class="unfit">{html.escape(" ".join(s for s in said if s))}</p>')
    _things(view)
    steps = view.rungs.rungs
    return [
        tables.Column("Rung", "step", [words_levers.STEP_NAMES[r.step] for r in steps], str),
        tables.Column("USD per Mtok", "usd_per_mtok", [r.usd_per_mtok for r in steps], units.usd),
        tables.Column("Batch", "batch", [r.batch for r in steps], units.count),
        tables.Column("Owner of the gap", "owner", [r.owner or units.MISSING for r in steps], str),
    ]


def _things(view: View) -> None:
    """Draw the verdict: who owns the gap, what to do first, what moving would do instead."""
    said = [s for s in view.verdict.sentences if s.startswith(("Of the", "Moving instead"))]
    month = units.count(float(state.value("le_mt") or 0))
    rows = "".join(
        f"<span>{at}. {html.escape(a.label)}</span>"
        f'<span class="num">{_saved(a.saves_usd_per_mtok)}</span>'
        f'<span class="num">{_saved(a.saves_usd_per_month)}</span>'
        for at, a in enumerate(view.verdict.first, 1)
    )
    head = (
        '<span class="head"><b>First things to do, each after those before it</b></span>'
        '<span class="head num">saves per Mtok</span>'
        f'<span class="head num">a month, at {month} million tokens</span>'
    )
    paragraphs = "".join(f'<p class="verdict">{html.escape(s)}</p>' for s in said)
    st.html((f'<div class="things">{head}{rows}</div>' if rows else "") + paragraphs)


def _saved(usd: float) -> str:
    return units.usd(usd) if usd > 0 else f"costs {units.usd(-usd)}"


def rows_table(found: Board) -> list[tables.Column]:
    """Return the plotted rows as columns."""
    rows: list[Row] = [*charts.shown(found, "approaches"), *charts.shown(found, "moves")]

    def column(title: str, name: str, values: list[float], write: Any = units.usd) -> tables.Column:
        return tables.Column(title, name, values, write)

    return [
        tables.Column("Lever", "name", [r.label for r in rows], str),
        tables.Column("Kind", "kind", [r.lever.kind for r in rows], str),
        column("You pay", "usd_per_mtok", [r.kept.usd_per_mtok for r in rows]),
        column("Batch re-chosen", "usd_per_mtok_rechosen", [r.rechosen.usd_per_mtok for r in rows]),
        column("At batch", "batch_rechosen", [r.rechosen.batch for r in rows], units.count),
        column("Best here", "usd_per_mtok_best_here", [r.allowed.best_here for r in rows]),
        column("Floor", "usd_per_mtok_floor", [r.allowed.floor for r in rows]),
        tables.Column("Takes", "needs", [r.lever.needs for r in rows], str),
    ]


# Combine ----------------------------------------------------------------------------------------


def chosen(found: Board) -> tuple[Lever, ...]:
    """Return the levers of the address that apply, in order; of a slot the first."""
    levers = []
    for name in str(state.value(SET) or "").split(","):
        try:
            levers.append(by_name(name.strip()))
        except InputError:
            continue
    return first_of_slots([x for x in levers if found.row(x.name).applies])


def _combine(view: View) -> list[tables.Column]:
    pulled = chosen(view.board)
    left, right = st.columns([1.1, 2.6], gap="small")
    with left:
        _picker(view, pulled)
    with right:
        if not pulled:
            st.html('<p class="verdict">Choose levers to see what they save together, and who saves what.</p>')
            first = [a.name for a in view.verdict.first]
            if first:
                st.button("Take the first things to do", key="le_first", on_click=_write, args=(first,))
            every = [x.name for x in best_of_slots(view.board)]
            st.button("Take all that apply", key="le_every", on_click=_write, args=(every,))
            return []
        found = split(pulled, view.board.setup, view.board.settings)
        plot.draw(lever_gaps.combine(found, view.labels), key="combine")
        said = [words_levers.together(found), words_levers.interactions(found, view.labels)]
        if "fill" not in {x.name for x in pulled}:
            said.append("The batch stays today's; with “Fill the batch” each combination chooses its own.")
        st.html(f'<p class="verdict">{html.escape(" ".join(s for s in said if s))}</p>')
    return _split_table(found, view.labels)


def _split_table(found: Split, labels: dict[str, str]) -> list[tables.Column]:
    return [
        tables.Column("Lever", "name", [labels[x.name] for x in found.levers], str),
        tables.Column("Cost after it, in order", "usd_per_mtok", [float(v) for v in found.waterfall], units.usd),
        tables.Column("Share, any order", "share_usd_per_mtok", [float(v) for v in found.shares], units.usd),
    ]


def _picker(view: View, pulled: tuple[Lever, ...]) -> None:
    """Draw the levers as checkboxes, the pulled ones first, in order, with arrows."""
    names = [x.name for x in pulled]
    slots = {x.slot: x.name for x in pulled}
    rows = [view.board.row(n) for n in names]
    rows += [r for r in view.board.rows if r.applies and r.lever.name not in names]
    for at, row in enumerate(rows):
        name = row.lever.name
        taken = slots.get(row.lever.slot)
        key = f"{PICK}{name}"
        st.session_state[key] = name in names
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False):
            st.checkbox(
                row.label, key=key, on_change=_toggle, args=(name, names),
                disabled=taken is not None and taken != name, width="stretch",
                help=None if taken in {None, name} else f"Excludes: {view.labels[str(taken)]}",
            )  # fmt: skip
            if name in names:
                st.button("↑", key=f"le_up_{name}", on_click=_move, args=(names, at, -1), disabled=at == 0,
                          type="tertiary", help="Earlier")  # fmt: skip
                st.button("↓", key=f"le_dn_{name}", on_click=_move, args=(names, at, 1), type="tertiary",
                          disabled=at == len(names) - 1, help="Later")  # fmt: skip


def _write(names: list[str]) -> None:
    state.set_values({SET: ",".join(names)})


def _toggle(name: str, names: list[str]) -> None:
    _write([n for n in names if n != name] if name in names else [*names, name])


def _move(names: list[str], at: int, by: int) -> None:
    moved = list(names)
    moved.insert(at + by, moved.pop(at))
    _write(moved)
