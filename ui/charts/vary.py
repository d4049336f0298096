"""A family of cost curves over one knob: up to five totals, each named and priced at its end."""

import math
from typing import Any

import numpy as np

from costmodel.curve import CostCurve
from costmodel.vary import Family, Member
from ui import plot, theme, units, words
from ui.charts.cost_curve import (
    CROSS,
    HEIGHT_NARROW_PX,
    NARROW,
    height_px,
    money_title,
    most_ticks,
    moved_label,
    time_title,
)
from ui.charts.frame import (
    MARGIN,
    MARGIN_NARROW,
    Part,
    batch_axis,
    money_axis,
    row_title,
    rows,
    text,
)

DASHES = ("dot", "dashdot", "dash", "longdash", "longdashdot")
NAMES_PX, NAMES_NARROW_PX = 140, 100
"""Room right of the axis for the names of the longest lines."""
LINE_PX = 17.0
"""Least distance of two names."""


def label(knob: str, value: Any) -> str:
    """Return a member's name: "4 GPUs", "fp8 weights", "8,000 tokens".

    >>> label("tp", 1), label("context_tokens", 8000.0), label("kv", "fp8")
    ('1 GPU', '8,000 tokens', 'fp8 cache')
    """
    if knob == "tp":
        return f"{value} GPU{'' if value == 1 else 's'}"
    if knob == "context_tokens":
        return f"{value:,.0f} tokens"
    if knob == "kv_heads":
        return f"{value} KV head{'' if value == 1 else 's'}"
    return {"weights": f"{value} weights", "kv": f"{value} cache"}.get(knob, str(value))


def name_of(family: Family, member: Member) -> str:
    """Return the name at the end of a line."""
    return member.case.accelerators[0].short if family.knob == "hardware" else label(family.knob, member.value)


def note(family: Family, batch: float) -> list[str]:
    """Return which values have no line, and which can't be told from the scenario's own at its batch."""
    said = [f"{label(family.knob, value)}: {reason.rstrip('.')}." for value, reason in family.absent]
    own = next((m for m in family.members if m.current), None)
    if own is None:
        return said
    here = _cost_at(own, batch)
    close = [
        name_of(family, m) for m in family.members
        if m is not own and batch <= m.line.batch[-1]
        if words.too_close(here, own.case, _cost_at(m, batch), m.case)
    ]  # fmt: skip
    if close:
        said.append(f"Too close to call against yours at batch {batch:,.0f}: {', '.join(close)}.")
    return said


def _cost_at(member: Member, batch: float) -> float:
    """Return a member's cost at a batch."""
    return float(np.interp(np.log(batch), np.log(member.line.batch), member.shown.usd_per_mtok))


def alt(curve: CostCurve, family: Family) -> str:
    """Return the words for those who can't see the figure."""
    ends = [
        f"{name_of(family, m)} {units.usd(float(m.shown.usd_per_mtok[-1]))} at {m.line.batch[-1]:,.0f}"
        for m in family.members
    ]
    many = f"{len(ends)} cost curves over the batch"
    return f"Line chart, logarithmic: {many}, ending at {'; '.join(ends)}. Table follows."


def figure(curve: CostCurve, family: Family, *, room: bool = False) -> plot.Figure:
    """Return the family; the operating point lies on the scenario's own line.

    A trace of another value carries it as its `meta`, so that a click can take it.
    """
    priced = [m for m in family.members if not math.isnan(float(m.case.usd_per_gpu_hour))]
    ends = _ends(priced)
    most_ms = 1.1 * max(float(units.MS_PER_S * m.shown.tpot_s[-1]) for m in family.members)
    limit = curve.case.scenario.max_tpot_s
    if limit is not None:
        most_ms = min(most_ms, 4 * units.ms(limit))
    return plot.Figure(
        data=_traces(family),
        layout=_layout(curve, family, priced, ends, most_ms, narrow=False, room=room),
        layout_narrow=_layout(curve, family, priced, ends, most_ms, narrow=True, room=room),
        alt=alt(curve, family),
        height_px=height_px(room=room),
        height_narrow_px=HEIGHT_NARROW_PX,
    )


def _ends(members: list[Member]) -> tuple[float, float]:
    if not members:
        return 0.1, 10.0
    low = min(float(np.min(m.shown.usd_per_mtok)) for m in members)
    high = max(float(np.max(m.shown.usd_per_mtok)) for m in members)
    return low / 1.6, high * 1.35


def _traces(family: Family) -> list[Part]:
    traces: list[Part] = []
    for member, line in zip(family.members, _looks(family), strict=True):
        name = name_of(family, member)
        common: Part = {"type": "scatter", "mode": "lines", "x": member.line.batch, "line": line}
        if not member.current:
            common["meta"] = member.value
        if not math.isnan(float(member.case.usd_per_gpu_hour)):
            traces.append(
                {**common, "name": name, "y": np.ascontiguousarray(member.shown.usd_per_mtok), "yaxis": "y",
                 "hovertemplate": f"{name}: <b>$%{{y:.3~g}}</b><extra></extra>"}
            )  # fmt: skip
        traces.append(
            {**common, "name": f"{name} time", "y": units.MS_PER_S * member.shown.tpot_s, "yaxis": "y3",
             "hovertemplate": f"{name}: %{{y:.1f}} ms<extra></extra>"}
        )  # fmt: skip
    return traces


def _looks(family: Family) -> list[Part]:
    """Return one hue from light to dark plus dash; the scenario's own line in ink."""
    count = len(family.members)
    looks = []
    for at, member in enumerate(family.members):
        if member.current:
            looks.append({"color": theme.role("ink"), "width": 3.5, "dash": "solid"})
            continue
        depth = 0.5 + 0.5 * at / max(count - 1, 1)
        looks.append({"color": theme.role("series_1", depth), "width": 2.5, "dash": DASHES[at % len(DASHES)]})
    return looks


def _layout(
    curve: CostCurve, family: Family, priced: list[Member], ends: tuple[float, float], most_ms: float, *,
    narrow: bool, room: bool,
) -> Part:  # fmt: skip
    margin = {**MARGIN_NARROW, "r": NAMES_NARROW_PX} if narrow else {**MARGIN, "r": NAMES_PX}
    height = (HEIGHT_NARROW_PX if narrow else height_px(room=room)) - margin["t"] - margin["b"]
    (money, time) = rows(0.7, 0.3, gap=28 / height)
    if not priced:
        money, time = (0.999, 1.0), (0.0, 1.0)
    shapes: list[Part] = []
    notes = [row_title(time_title(curve, narrow=narrow), time[1])]
    if priced:
        notes.append(row_title("USD per million tokens" if narrow else money_title(curve), money[1]))
        shapes += [
            plot.dot(f"end {at}", filled=False, radius_px=5, xref="x", yref="y",
                     xanchor=float(m.line.batch[-1]), yanchor=float(m.shown.usd_per_mtok[-1]))
            for at, m in enumerate(priced) if m.ends_at_wall
        ]  # fmt: skip
        notes += _names(curve, family, priced, ends, (money[1] - money[0]) * height, narrow=narrow)
    limit = curve.case.scenario.max_tpot_s
    if limit is not None and units.ms(limit) < most_ms:  # tinted where slower
        across = {"xref": "paper", "yref": "y3", "x0": 0, "x1": 1}
        at = units.ms(limit)
        shapes += [
            {**across, "type": "rect", "y0": at, "y1": most_ms, "fillcolor": theme.role("limit", 0.07),
             "line": {"width": 0}, "layer": "below"},
            {**across, "type": "line", "y0": at, "y1": at,
             "line": {"color": theme.role("limit"), "dash": "dash", "width": 1.5}},
        ]  # fmt: skip
        if not narrow:
            notes.append(
                text(f"slower than {units.speed(units.tokens_per_s(limit))}", colour="limit", xref="paper",
                     yref="y3", x=0, y=most_ms, xanchor="left", yanchor="top", xshift=6)
            )  # fmt: skip
    for name, axis in (("now", "y"), ("now in time", "y3")) if priced else (("now in time", "y3"),):
        where = {"xref": "x", "yref": axis, "xanchor": 1, "yanchor": 1}
        shapes += [
            plot.dot(name, **where),
            {"name": f"{name} past", "type": "path", "xsizemode": "pixel", "ysizemode": "pixel", "path": CROSS,
             "line": {"color": theme.role("limit"), "width": 3.5}, "opacity": 0, **where},
        ]  # fmt: skip
    if priced:
        notes.append(moved_label(f"now{NARROW if narrow else ''}", "y", ay=-60))
    hidden = {"visible": False, "domain": list(money)}
    return theme.layout(
        margin=margin, shapes=shapes, annotations=notes, hoversubplots="axis",
        xaxis=batch_axis(curve.axis_max, anchor="y3", narrow=narrow),
        yaxis=money_axis(*ends, most=most_ticks(height), domain=list(money)) if priced else hidden,
        yaxis3=theme.axis(domain=list(time), range=[0, most_ms], nticks=5),
    )  # fmt: skip


def _names(
    curve: CostCurve, family: Family, members: list[Member], ends: tuple[float, float], height: float, *,
    narrow: bool,
) -> list[Part]:  # fmt: skip
    """Return the names beside the axis, in the order of the lines' ends, each on a leader to its own."""
    span = math.log10(ends[1] / ends[0])
    ordered = sorted(members, key=lambda m: -float(m.shown.usd_per_mtok[-1]))
    costs = [float(m.shown.usd_per_mtok[-1]) for m in ordered]
    wanted = [math.log10(ends[1] / usd) / span * height for usd in costs]
    found = []
    for member, usd, top in zip(ordered, costs, spaced(wanted, height), strict=True):
        colour = "ink" if member.current else "series_1"
        found.append(
            {
                "text": name_of(family, member) + ("" if narrow else f" <b>{units.usd(usd)}</b>"),
                "font": {"color": theme.role(colour), "size": theme.FONT_PX}, "xanchor": "left",
                "xref": "x", "yref": "y", "x": math.log10(float(member.line.batch[-1])), "y": math.log10(usd),
                "axref": "x", "ayref": "y", "ax": math.log10(curve.axis_max),
                "ay": math.log10(ends[1]) - top / height * span, "showarrow": True, "arrowhead": 0,
                "arrowwidth": 1, "arrowcolor": theme.role(colour, 0.45), "standoff": 7,
            }
        )  # fmt: skip
    return found


def spaced(wanted: list[float], height: float) -> list[float]:
    """Return heights from the top in the same order, a line's height apart, as near as that allows.

    >>> spaced([10.0, 12.0, 100.0], 104.0)
    [10.0, 27.0, 95.5]
    """
    tops: list[float] = []
    for y in wanted:
        tops.append(max(y, tops[-1] + LINE_PX if tops else LINE_PX / 2))
    below = height + LINE_PX / 2
    for at in reversed(range(len(tops))):
        tops[at] = below = min(tops[at], below - LINE_PX)
    return tops
