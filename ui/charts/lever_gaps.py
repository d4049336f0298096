"""The ladder as a waterfall, and levers pulled together with their shares."""

import math
from itertools import pairwise

from costmodel.ladder import Ladder
from costmodel.shapley import Split
from ui import plot, theme, units, words_levers
from ui.charts.frame import SMALL_PX, Part, text
from ui.charts.levers import FOOT_PX, HEAD_PX, LETTER_PX, layout_of

GAP_NAMES_PX, COMBINE_NAMES_PX = 300, 236
GAP_PLOT_PX = 590
"""Least width of the ladder's plot on a desk, to tell whether words fit into a bar."""


def gap(rungs: Ladder, labels: dict[str, str]) -> plot.Figure:
    """Return the ladder as a horizontal waterfall; owner and first lever stand in each bar."""
    steps = rungs.rungs
    last = float(len(steps) - 1)
    most = steps[0].usd_per_mtok * 1.12
    return plot.Figure(
        data=_gap_traces(rungs),
        layout=_gap_layout(rungs, labels, most, last, narrow=False),
        layout_narrow=_gap_layout(rungs, labels, most, last, narrow=True),
        alt=words_levers.gap_alt(rungs),
        height_px=int(HEAD_PX + FOOT_PX + 62 * (last + 1)),
        height_narrow_px=int(HEAD_PX + FOOT_PX + 92 * (last + 1)),
    )


def _gap_traces(rungs: Ladder) -> list[Part]:
    steps = rungs.rungs
    lost: list[float] = [0.0, *(a.usd_per_mtok - b.usd_per_mtok for a, b in pairwise(steps))]
    rows = list(range(len(steps)))
    solid = ["ink", *["floor" if s.step in {"best_here", "floor"} else "muted" for s in steps[1:]]]
    return [
        {
            "type": "bar", "orientation": "h", "name": "rungs", "y": rows, "x": [s.usd_per_mtok for s in steps],
            "marker": {"color": [theme.role(c, 0.85) for c in solid]}, "width": 0.42,
            "text": [words_levers.STEP_NAMES[s.step] for s in steps],
            "hovertemplate": "%{text} $%{x:.3~f}<extra></extra>", "textposition": "none",
        },
        {
            "type": "bar", "orientation": "h", "name": "gaps", "y": rows, "x": lost, "width": 0.42,
            "base": [s.usd_per_mtok for s in steps], "marker": {"color": theme.role("series_2", 0.4)},
            "text": [s.owner for s in steps], "hovertemplate": "%{text} −$%{x:.3~f}<extra></extra>",
            "textposition": "none",
        },
    ]  # fmt: skip


def _gap_layout(rungs: Ladder, labels: dict[str, str], most: float, last: float, *, narrow: bool) -> Part:
    left, right = (12, 12) if narrow else (GAP_NAMES_PX, 24)
    notes: list[Part] = []
    for y, rung in enumerate(rungs.rungs):
        name = words_levers.STEP_NAMES[rung.step].capitalize()
        batch = "" if math.isnan(rung.batch) else f", batch {units.count(rung.batch)}"
        words = f"<b>{name}</b>{batch}  <b>{units.usd(rung.usd_per_mtok)}</b>"
        if narrow:
            above: Part = {"xanchor": "left", "yanchor": "bottom", "yshift": 15}
            notes.append(text(words, size=SMALL_PX, x=0, xref="paper", y=y, **above))
        else:
            notes.append(text(words, x=0, xref="paper", y=y, xanchor="right", xshift=-12))
        if y:
            notes += _owner(rungs, labels, y, most, narrow=narrow)
    layout = layout_of(notes, most=most, last=last, left=left, right=right, narrow=narrow, shapes=[])
    return layout | {"barmode": "overlay", "bargap": 0.3}


def _owner(rungs: Ladder, labels: dict[str, str], y: int, most: float, *, narrow: bool) -> list[Part]:
    """Return the words of a gap: whose it is in its bar or right of it, under it what closes it first."""
    before, rung = rungs.rungs[y - 1], rungs.rungs[y]
    lost = before.usd_per_mtok - rung.usd_per_mtok
    words = f"<b>−{units.usd(lost)}</b> {rung.owner}"
    first = f"first: {labels[rung.levers[0]]}" if rung.levers else ""
    if narrow:
        below: Part = {"xanchor": "left", "yanchor": "top", "yshift": -19, "align": "left"}
        both = f"{words}<br>{first}" if first else words
        return [text(both, size=SMALL_PX, x=0, xref="paper", y=y, **below)]
    scale = GAP_PLOT_PX / most
    inside = scale * lost > LETTER_PX * len(f"−{units.usd(lost)} {rung.owner}")
    at: Part = {"x": before.usd_per_mtok, "y": y, "xanchor": "right" if inside else "left"}
    at["xshift"] = -8 if inside else 8
    found = [text(words, **at)]
    if first:
        found.append(text(first, colour="muted", size=SMALL_PX, **{**at, "yshift": -23 if inside else -17}))
    return found


# Together ---------------------------------------------------------------------------------------


def combine(split: Split, labels: dict[str, str]) -> plot.Figure:
    """Return the waterfall in the order chosen, and beside it the shares whatever the order."""
    n = len(split.levers)
    last = float(n + 1)
    return plot.Figure(
        data=_combine_traces(split),
        layout=_combine_layout(split, labels, last, narrow=False),
        layout_narrow=_combine_layout(split, labels, last, narrow=True),
        alt=words_levers.combine_alt(split, labels),
        height_px=int(HEAD_PX + FOOT_PX + 42 * (last + 1)),
        height_narrow_px=int(HEAD_PX + FOOT_PX + 62 * (last + 1)),
    )


def _steps(split: Split) -> list[float]:
    return [split.before_usd_per_mtok, *(float(v) for v in split.waterfall)]


def _combine_traces(split: Split) -> list[Part]:
    steps = _steps(split)
    n = len(split.levers)
    rows = list(range(n + 2))
    ends = [steps[0], *(0.0 for _ in split.levers), steps[-1]]
    saved = [0.0, *(abs(a - b) for a, b in pairwise(steps)), 0.0]
    base = [0.0, *(min(a, b) for a, b in pairwise(steps)), 0.0]
    dearer = [False, *(b > a for a, b in pairwise(steps)), False]
    shares = [float(s) for s in split.shares]
    return [
        {
            "type": "bar", "orientation": "h", "name": "ends", "y": rows, "x": ends, "width": 0.5,
            "marker": {"color": theme.role("ink", 0.85)}, "hovertemplate": "$%{x:.3~f}<extra></extra>",
        },
        {
            "type": "bar", "orientation": "h", "name": "steps", "y": rows, "x": saved, "base": base, "width": 0.5,
            "marker": {"color": [theme.role("limit" if d else "floor", 0.7) for d in dearer]},
            "hovertemplate": "$%{x:.3~f}<extra></extra>",
        },
        {
            "type": "scatter", "mode": "markers", "name": "shares", "xaxis": "x2", "x": shares, "y": rows[1:-1],
            "marker": {"size": 13, "color": theme.role("weights"), "symbol": "circle"},
            "hovertemplate": "share $%{x:.3~f}<extra></extra>",
        },
    ]  # fmt: skip


def _combine_layout(split: Split, labels: dict[str, str], last: float, *, narrow: bool) -> Part:
    steps = _steps(split)
    most = max(steps) * (1.5 if narrow else 1.45)
    left, right = (12, 12) if narrow else (COMBINE_NAMES_PX, 24)
    shares = [float(s) for s in split.shares]
    names = ["Today", *(labels[x.name] for x in split.levers), "All together"]
    moved = [0.0, *(b - a for a, b in pairwise(steps)), 0.0]
    costs = [steps[0], *steps[1:], steps[-1]]
    notes: list[Part] = []
    for y, (name, cost, change) in enumerate(zip(names, costs, moved, strict=True)):
        end = y in {0, len(names) - 1}
        told = f"<b>{name}</b>" if end else name
        if narrow:
            share = "" if end else f"  · share {units.usd(shares[y - 1])}"
            above: Part = {"xanchor": "left", "yanchor": "bottom", "yshift": 11}
            notes.append(text(told + share, size=SMALL_PX, x=0, xref="paper", y=y, **above))
        else:
            most_letters = int((left - 20) / LETTER_PX)
            short = told if end or len(told) <= most_letters else told[: most_letters - 1] + "…"
            notes.append(text(short, x=0, xref="paper", y=y, xanchor="right", xshift=-14))
        value = units.usd(cost) if end else f"{words_levers.change(0, change)} → {units.usd(cost)}"
        at = max(cost, cost - change)
        notes.append(text(value, x=at, y=y, xanchor="left", xshift=8, size=SMALL_PX if narrow else theme.FONT_PX))
    layout = layout_of(notes, most=most, last=last, left=left, right=right, narrow=narrow, shapes=[])
    layout["barmode"] = "overlay"
    low, high = min([0.0, *shares]) * 1.3, max([*shares, 1e-6]) * 1.35
    if narrow:
        layout["xaxis2"] = {"visible": False, "domain": [0, 0.001], "range": [high * 10, high * 11], "anchor": "y"}
        return layout
    title = {"text": "USD per Mtok out, all-in", "standoff": 8, "font": {"size": theme.FONT_PX}}
    layout["xaxis"] = {**layout["xaxis"], "domain": [0, 0.66], "title": title, "nticks": 5}
    layout["xaxis2"] = theme.axis(
        domain=[0.72, 1], range=[low, high], tickprefix="$", nticks=3, fixedrange=True, anchor="y", zeroline=True,
        zerolinecolor=theme.role("muted"),
        title={"text": "share, any order", "standoff": 8, "font": {"size": theme.FONT_PX}},
    )  # fmt: skip
    for y, share in enumerate(shares, 1):
        notes.append(
            text(units.usd(share), xref="x2", x=share, y=y, xanchor="left", xshift=10, size=theme.FONT_PX)
        )  # fmt: skip
    return layout
