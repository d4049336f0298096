"""Blocks under the cost curve: metrics, bars, the edges' table. HTML where it follows the slider."""

import html
from collections.abc import Sequence

import streamlit as st

from costmodel import vary
from costmodel.curve import CostCurve, Edge, cost_curve
from ui import plot, units, words
from ui.charts.cost_curve import ROLES
from ui.charts.rail import CIRCLED
from ui.controls import CONTROL

HEADS = ("Edge", "Batch", "Cost there", "Speed there", "What it means")
LABELS = {
    "usd": "{}, per million tokens",
    "speed": "Speed each user gets",
    "marginal": "One more sequence costs",
    "used": "Memory used",
}


def shown(curve: CostCurve | None, cost: str, key: str) -> CostCurve | None:
    """Return the curve of the cost asked for, its axis long enough for the family of a knob."""
    if curve is None or not curve.drawn:
        return curve
    found = family(curve, key)
    if found is None and cost == curve.cost:
        return curve
    most = curve.axis_max if found is None else found.axis_max
    return cost_curve(curve.case.scenario, cost=cost, axis_at_least=most)


def family(curve: CostCurve, key: str) -> vary.Family | None:
    """Return the family that the page row asks for; None where nothing is varied."""
    control = CONTROL.get(key)
    if control is None or control.field not in vary.KNOBS:
        return None
    return vary.family(curve.case.scenario, control.field, cost=curve.cost)


def _edge_list(curve: CostCurve) -> str:
    """Return the edges as a list, by the numbers that a narrow figure marks them with."""
    found = sorted((e for e in curve.edges if curve.reaches(e)), key=lambda e: e.batch or 0.0)
    items = "".join(
        f"<li>{CIRCLED[at]} {html.escape(words.edge_text(edge))}"
        f"{', ' + units.usd(edge.usd_per_mtok) if curve.priced else ''}</li>"
        for at, edge in enumerate(found)
    )
    return f'<ul class="edgelist keys">{items}</ul>'


def under_figure(curve: CostCurve, now: dict[str, str], said: Sequence[str], *, rules: bool) -> None:
    """Draw what stands under the figure: its note and the four figures, then the table of edges.

    On a narrow screen the note comes after what the figure had no room for; `rules` tells whether the
    figure has the edges on it. Two elements: the browser cleans HTML that changed, and a new batch
    leaves the table of edges, the longest by far, as it is.
    """
    note = f'<p class="notes">{html.escape(" ".join(said))}</p>' if said else ""
    head = _share_bar(curve, now) + (_edge_list(curve) if rules else "") + note
    st.html(head + metrics(curve, now))
    st.html(edges_table(curve))


def metrics(curve: CostCurve, now: dict[str, str]) -> str:
    """Return the four figures of the operating point; they follow the batch slider."""
    below = {"usd": "band", "speed": "tpot", "marginal": "marginal_ms", "used": "used_of"}
    cells = "".join(
        f"<div><dt>{label.format(curve.cost.capitalize())}</dt>{plot.slot(key, now[key], tag='dd')}"
        f"{plot.slot(below[key], now[below[key]], tag='dd')}</div>"
        for key, label in LABELS.items()
    )
    return f'<dl class="metrics">{cells}</dl>'


def _share_bar(curve: CostCurve, now: dict[str, str]) -> str:
    """Return the share of the current batch as one bar."""
    pieces = "".join(
        _piece(_role(part), f"calc(100% * var(--share-{part},{now[f'share_{part}']}))")
        for part in reversed(words.parts_of(curve))
    )
    keys = "".join(
        f'<li style="--key:var(--{_role(part)})">{words.PART_NAMES[part]} '
        f"{plot.slot(f'percent_{part}', now[f'percent_{part}'], tag='b')}</li>"
        for part in reversed(words.parts_of(curve))
    )
    head = f"Share of the cost at batch {plot.slot('now_batch', now['now_batch'])}"
    return (
        f'<div class="share" data-live-style><p class="notes"><b>{head}</b></p>'
        f'<div class="bar" aria-hidden="true">{pieces}</div><ul class="keys">{keys}</ul></div>'
    )


def _role(part: str) -> str:
    """Return the colour variable of a part of the cost."""
    return ROLES.get(part, part).replace("_", "-")


def notes(sentences: Sequence[str]) -> None:
    """Draw the note under the figure."""
    if sentences:
        st.html(f'<p class="notes">{html.escape(" ".join(sentences))}</p>')


def takeaway(now: dict[str, str]) -> None:
    """Draw what most of the cost is."""
    st.html(plot.slot("takeaway", now["takeaway"], tag="p", style="notes"))


def _percent(share: float) -> str:
    """Return a share as CSS writes it."""
    return f"{units.percent(share):.3f}%"


def _piece(colour: str, width: str) -> str:
    """Return one piece of a bar."""
    return f'<i style="background:var(--{colour});width:{width}"></i>'


# Memory -----------------------------------------------------------------------------------------


def memory_bar(curve: CostCurve, now: dict[str, str]) -> None:
    """Draw what fills the memory of a copy; where the weights alone are too large, over the limit."""
    case = curve.case
    gpus, budget = case.gpus, case.budget
    parts = {
        "weights": budget.weights_bytes * gpus,
        "workspace": budget.workspace_bytes * gpus,
        "runtime": budget.runtime_bytes * gpus,
    }
    usable = float(budget.usable_bytes) * gpus
    if not curve.capacity_known:
        st.html('<p class="notes">The memory of this accelerator isn’t published.</p>')
        return
    whole = max(usable, sum(parts.values()) * 1.08)
    colours = {"weights": "weights", "workspace": "fixed", "runtime": "muted", "cache": "cache"}
    names = {"weights": "weights", "workspace": "workspace of a step", "runtime": "runtime"}
    pieces = "".join(
        _piece(colours[key], _percent(size / whole)) for key, size in parts.items()
    )
    keys = "".join(
        f'<li style="--key:var(--{colours[key]})">{names[key]} <b>{units.gb(size)}</b></li>'
        for key, size in parts.items()
    )
    if curve.drawn:
        pieces += _piece("cache", f"calc(100% * var(--memory-cache,{now['memory_cache']}))")
        keys += (
            f'<li style="--key:var(--cache)">cache at batch {plot.slot("now_batch", now["now_batch"])} '
            f"{plot.slot('cache_gb', now['cache_gb'], tag='b')}</li>"
        )
    free = '<li style="--key:var(--ground)">free</li>' if curve.drawn else ""
    limit = f'<span class="limitline" style="left:{_percent(usable / whole)}"></span>'
    sold = units.gb(float(case.accelerators[0].capacity_bytes) * gpus)
    said = f"Limit: {units.gb(usable)} usable of {sold} on {words.setup(curve)}."
    st.html(
        f'<div data-live-style><div style="position:relative"><div class="bar" role="img" '
        f'aria-label="Memory of a copy, {html.escape(said)}" style="background:var(--ground)">{pieces}</div>'
        f"{limit}</div>"
        f'<ul class="keys">{keys}{free}</ul><p class="notes">{html.escape(said)} '
        f"{html.escape(words.reserved(curve))}</p></div>"
    )


# Edges ------------------------------------------------------------------------------------------


def edges_table(curve: CostCurve) -> str:
    """Return the definitions table: each edge with its figures, its meaning, and a button to go there.

    The figure's own script hears the buttons, so the figure moves before the server is asked.
    """
    head = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    rows = "".join(_edge_row(curve, edge) for edge in curve.edges)
    return f'<table class="edges"><thead><tr>{head}<td></td></tr></thead><tbody>{rows}</tbody></table>'


def _edge_row(curve: CostCurve, edge: Edge) -> str:
    formula = f"<code>{html.escape(edge.formula)}</code>"
    name = f'<th scope="row">{html.escape(edge.name)}</th>'
    if edge.batch is None or edge.step is None:
        none = html.escape(words.sentence(edge.absent))
        blank = '<td class="num" data-name="batch">–</td><td class="num"></td><td class="num"></td>'
        return f'<tr>{name}{blank}<td class="means">{none} {formula}</td><td></td></tr>'
    beyond = curve.wall and edge.batch > curve.wall
    cost = units.usd(edge.usd_per_mtok) if curve.priced else units.MISSING
    figures = (
        f'<td class="num" data-name="batch">{edge.batch:,.0f}</td>'
        f'<td class="num" data-name="cost">{"doesn’t fit" if beyond else cost}</td>'
        f'<td class="num" data-name="speed">{"" if beyond else units.speed(edge.tokens_per_s)}</td>'
    )
    go = ""
    if not (curve.wall and edge.step > curve.wall):
        told = html.escape(f"Go there: batch {edge.step:,}, {edge.name}")
        go = f'<button type="button" data-go-batch="{edge.step}" aria-label="{told}">Go there</button>'
    return f'<tr>{name}{figures}<td class="means">{html.escape(edge.meaning)} {formula}</td><td>{go}</td></tr>'
