"""Blocks under the cost curve: metrics, bars, the edges' table. HTML where it follows the slider."""

import html
from collections.abc import Sequence

import streamlit as st

from costmodel import vary
from costmodel.curve import CostCurve, Edge, cost_curve
from ui import plot, state, units, words
from ui.charts.cost_curve import ROLES
from ui.charts.rail import CIRCLED
from ui.controls import CONTROL

CSS = """
.metrics{display:grid;grid-template-columns:repeat(4,1fr);gap:.75rem}
.stHtml .metrics,.stHtml .keys{padding:0;margin:.3rem 0 0}
.metrics>div{border:1px solid var(--grid);border-radius:6px;padding:.55rem .8rem;min-width:0}
.metrics dt{font-size:.875rem;color:var(--muted);margin:0;font-weight:400}
.metrics dd{font-size:1.5rem;font-weight:600;color:var(--ink);margin:.1rem 0 0;line-height:1.25}
.metrics dd+dd{font-size:.875rem;font-weight:400;color:var(--muted)}
.notes{font-size:.875rem;color:var(--muted);margin:.1rem 0 0;line-height:1.5}
.bar{display:flex;height:26px;border-radius:4px;overflow:hidden;position:relative}
.bar i{display:block;height:100%;box-shadow:inset -1px 0 var(--paper)}
.keys{display:flex;flex-wrap:wrap;gap:.15rem 1rem;list-style:none;font-size:.875rem}
.keys li{margin:0;color:var(--ink)}
.keys li::before{content:"";display:inline-block;width:.75em;height:.75em;margin-right:.4em;border-radius:2px;
background:var(--key)}
.share{display:none}
.limitline{position:absolute;top:-3px;bottom:-3px;width:0;border-left:2px dashed var(--limit)}
.edge{display:grid;grid-template-columns:9.5rem 4rem 5rem 5.5rem 1fr;gap:.15rem .9rem;font-size:.875rem;
align-items:baseline;color:var(--ink)}
.edge b{font-weight:600}
.edge .means{color:var(--ink)}
.edge code{display:block;color:var(--muted);font-size:.8125rem;background:none;padding:0;white-space:normal}
.edge.head{color:var(--muted);font-weight:600}
.edge .num{text-align:right}
.keys.edgelist{display:none}
.edgelist li::before{display:none}
/* Room for the figure and its slider before its script has come, so that nothing under it moves. */
@media (min-width:1000px){.st-key-cost_curve{min-height:640px}}
@media (max-width:600px){.st-key-cost_curve{min-height:506px}}
@media (max-width:900px){
.metrics{grid-template-columns:1fr 1fr}
.share{display:block}
.keys.edgelist{display:flex;gap:.15rem .9rem}
.edge{grid-template-columns:1fr 1fr;border-top:1px solid var(--grid);padding-top:.4rem}
.edge.head{display:none}
.edge .means{grid-column:1/-1}
.edge .num{text-align:left}
.edge .num::before{content:attr(data-name) " ";color:var(--muted)}
}
"""
HEADS = ("Edge", "Batch", "Cost there", "Speed there", "What it means")
LABELS = {
    "usd": "{}, per million tokens",
    "speed": "Speed each user gets",
    "marginal": "One more sequence costs",
    "used": "Memory used",
}


def style() -> None:
    """Give the page the looks of these blocks; call it once."""
    st.html(f"<style>{CSS}</style>")


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


def metrics(curve: CostCurve, now: dict[str, str]) -> None:
    """Draw the four figures of the operating point; they follow the batch slider."""
    below = {"usd": "band", "speed": "tpot", "marginal": "marginal_ms", "used": "used_of"}
    cells = "".join(
        f"<div><dt>{label.format(curve.cost.capitalize())}</dt>{plot.slot(key, now[key], tag='dd')}"
        f"{plot.slot(below[key], now[below[key]], tag='dd')}</div>"
        for key, label in LABELS.items()
    )
    st.html(f'<dl class="metrics">{cells}</dl>')


def under_figure(curve: CostCurve, now: dict[str, str], said: Sequence[str], *, rules: bool) -> None:
    """Draw the note under the figure, before it on a narrow screen what the figure had no room for.

    `rules` tells whether the figure has the edges on it.
    """
    note = f'<p class="notes">{html.escape(" ".join(said))}</p>' if said else ""
    st.html(_share_bar(curve, now) + (_edge_list(curve) if rules else "") + note)


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


def edges_table(curve: CostCurve) -> None:
    """Draw the definitions table: each edge with its figures, its meaning, and a button to go there."""
    with st.container(gap="xsmall", key="edges"):
        head = "".join(f"<span>{name}</span>" for name in HEADS)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
            st.html(f'<div class="edge head">{head}</div>')
            st.space(80)
        for edge in curve.edges:
            with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
                st.html(_edge_row(curve, edge))
                if edge.step is None or (curve.wall and edge.step > curve.wall):
                    st.space(80)
                else:
                    st.button(
                        "Go there", key=f"go_{edge.key}", on_click=state.set_batch, args=(edge.step,), width=80,
                        help=None, type="tertiary",
                    )  # fmt: skip


def _edge_row(curve: CostCurve, edge: Edge) -> str:
    means = f'<span class="means">{html.escape(edge.meaning)} <code>{html.escape(edge.formula)}</code></span>'
    name = f"<b>{html.escape(edge.name)}</b>"
    if edge.batch is None:
        none = f"{html.escape(words.sentence(edge.absent))} <code>{html.escape(edge.formula)}</code>"
        blank = '<span class="num" data-name="batch">–</span><span></span><span></span>'
        return f'<div class="edge">{name}{blank}<span class="means">{none}</span></div>'
    beyond = curve.wall and edge.batch > curve.wall
    cost = units.usd(edge.usd_per_mtok) if curve.priced else units.MISSING
    figures = (
        f'<span class="num" data-name="batch">{edge.batch:,.0f}</span>'
        f'<span class="num" data-name="cost">{"doesn’t fit" if beyond else cost}</span>'
        f'<span class="num" data-name="speed">{"" if beyond else units.speed(edge.tokens_per_s)}</span>'
    )
    return f'<div class="edge">{name}{figures}{means}</div>'
