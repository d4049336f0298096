"""Levers drawn: ranges from best here to what is paid, the ladder, and levers pulled together.

Linear dollars from 0 everywhere: a saving is a length. Rows carry names left of the plot on a desk,
above their bar on a phone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from costmodel.ladder import Ladder
from costmodel.lever_rows import Board, Row
from costmodel.shapley import Split
from ui import plot, theme, units, words_levers
from ui.charts.frame import SMALL_PX, Part, text

ROW_PX, ROW_NARROW_PX = 34, 62
HEAD_PX, FOOT_PX = 34, 44
NAMES_PX, RIGHT_PX = 350, 186
COMBINE_NAMES_PX = 236
PLOT_PX, PLOT_NARROW_PX = 400, 340
"""Least width of the plotted area, to tell where a value has no room left of its mark."""
GAP_PLOT_PX = 590
ROOM_PX = 58
BAR_PX = 11
LETTER_PX = 6.4
"""About the width of a letter in a figure, to keep names inside the margin."""
APPROACH = "Approach: only the right end moves"
MOVE = "Move: the left end moves too"


@dataclass(frozen=True)
class _Line:
    """One row of the range chart: a heading, today, or a lever."""

    y: float
    name: str
    row: Row | None = None
    today: bool = False


def ranges(board: Board) -> plot.Figure:
    """Return the range chart: one row per lever that applies, sorted by the re-chosen cost."""
    lines = _lines(board)
    most, last = _most(board), lines[-1].y
    return plot.Figure(
        data=_range_traces(board, lines),
        layout=_range_layout(board, lines, most, last, narrow=False),
        # A phone's plot is narrow beside its texts.
        layout_narrow=_range_layout(board, lines, 1.2 * most, last, narrow=True),
        alt=words_levers.alt(board),
        height_px=int(HEAD_PX + FOOT_PX + ROW_PX * (last + 1)),
        height_narrow_px=int(HEAD_PX + FOOT_PX + ROW_NARROW_PX * (last + 1)),
    )


def shown(board: Board, kind: str) -> list[Row]:
    """Return the levers of a kind that apply, the one that leaves least to pay first."""
    rows = [r for r in board.rows if r.applies and r.lever.kind == kind]
    return sorted(rows, key=lambda r: (not r.rechosen.meets, r.rechosen.usd_per_mtok))


def _lines(board: Board) -> list[_Line]:
    lines = [_Line(0.0, f"Today, batch {units.count(board.today.batch)}", today=True)]
    y = 1.0
    for kind, heading in (("approaches", APPROACH), ("moves", MOVE)):
        rows = shown(board, kind)
        if not rows:
            continue
        lines.append(_Line(y + 0.15, heading))
        for row in rows:
            y += 1.0
            mark = " · changes quality" if row.lever.quality else ""
            lines.append(_Line(y, row.label + mark, row))
        y += 1.0
    return lines


def _most(board: Board) -> float:
    values = [board.today.usd_per_mtok, board.rechosen.usd_per_mtok]
    values += [v for r in board.rows if r.applies for v in (r.kept.usd_per_mtok, r.rechosen.usd_per_mtok)]
    known = [v for v in values if math.isfinite(v)]
    # Room on the right for the last value and its change.
    return max(known, default=1.0) * 1.16


def _ends(board: Board, line: _Line) -> tuple[float, float, float, bool]:
    """Return best here, what is paid, what is paid re-chosen, and whether that meets the limits."""
    if line.row is None:
        return board.allowed.best_here, board.today.usd_per_mtok, board.rechosen.usd_per_mtok, board.rechosen.meets
    row = line.row
    return row.allowed.best_here, row.kept.usd_per_mtok, row.rechosen.usd_per_mtok, row.rechosen.meets


def _range_traces(board: Board, lines: Sequence[_Line]) -> list[Part]:
    bars: tuple[list[float | None], list[float | None]] = ([], [])
    marks: dict[str, tuple[list[float], list[float], list[str]]] = {
        "best": ([], [], []), "pay": ([], [], []), "rechosen": ([], [], []),
    }  # fmt: skip
    for line in lines:
        if line.row is None and not line.today:
            continue
        best, pay, again, meets = _ends(board, line)
        low = best if math.isfinite(best) else pay
        bars[0].extend([low, pay, None])
        bars[1].extend([line.y, line.y, None])
        for name, value in (("best", best), ("rechosen", again if meets else math.nan), ("pay", pay)):
            if math.isfinite(value):
                marks[name][0].append(value)
                marks[name][1].append(line.y)
                marks[name][2].append(line.name)
    looks: dict[str, Part] = {
        "best": {"symbol": "diamond", "size": 14, "color": theme.role("floor")},
        "pay": {"symbol": "circle", "size": 13, "color": theme.role("ink")},
        "rechosen": {
            "symbol": "circle", "size": 12, "color": theme.role("paper"),
            "line": {"color": theme.role("ink"), "width": 2.5},
        },
    }  # fmt: skip
    says = {"best": "best here", "pay": "you pay", "rechosen": "with the batch re-chosen"}
    return [
        {
            "type": "scatter", "mode": "lines", "name": "ranges", "x": bars[0], "y": bars[1], "hoverinfo": "skip",
            "line": {"color": theme.role("muted", 0.28), "width": BAR_PX},
        },
        *(
            {
                "type": "scatter", "mode": "markers", "name": name, "x": x, "y": y, "marker": looks[name],
                "text": told, "hovertemplate": f"%{{text}}: {says[name]} $%{{x:.3~f}}<extra></extra>",
            }
            for name, (x, y, told) in marks.items()
        ),
    ]  # fmt: skip


def _range_layout(board: Board, lines: Sequence[_Line], most: float, last: float, *, narrow: bool) -> Part:
    left, right = (12, 12) if narrow else (NAMES_PX, RIGHT_PX)
    notes: list[Part] = []
    for line in lines:
        notes += _names(line, left, narrow=narrow)
        if line.row is not None or line.today:
            notes += _values(board, line, most, narrow=narrow)
    notes += _heads(board, narrow=narrow)
    return _layout(
        notes, most=most, last=last, left=left, right=right, narrow=narrow,
        shapes=[
            _rule(value, colour, last)
            for value, colour in ((board.allowed.best_here, "floor"), (board.today.usd_per_mtok, "ink"))
            if math.isfinite(value)
        ],
    )  # fmt: skip


def _layout(
    notes: list[Part], *, most: float, last: float, left: int, right: int, narrow: bool, shapes: list[Part]
) -> Part:
    return theme.layout(
        margin={"l": left, "r": right, "t": HEAD_PX, "b": FOOT_PX},
        hovermode="closest",
        annotations=notes,
        shapes=shapes,
        xaxis=theme.axis(
            range=[0, most], tickprefix="$", nticks=5 if narrow else 8, fixedrange=True,
            title={
                "text": "USD per Mtok out, prompts included" if narrow else
                "USD per million output tokens, prompts included",
                "standoff": 8, "font": {"size": theme.FONT_PX},
            },
        ),
        yaxis=theme.axis(range=[last + 0.55, -0.55], visible=False, fixedrange=True),
    )  # fmt: skip


def _rule(value: float, colour: str, last: float) -> Part:
    return {
        "type": "line", "xref": "x", "yref": "y", "x0": value, "x1": value, "y0": -0.5, "y1": last + 0.5,
        "layer": "below", "line": {"color": theme.role(colour), "dash": "dot", "width": 1.5},
    }  # fmt: skip


def _names(line: _Line, left: int, *, narrow: bool) -> list[Part]:
    heading = line.row is None and not line.today
    words = f"<b>{line.name}</b>" if heading or line.today else line.name
    colour = {APPROACH: "series_2", MOVE: "floor"}.get(line.name, "ink")
    if narrow:
        above: Part = {"xanchor": "left", "yanchor": "bottom", "yshift": 0 if heading else 9}
        above["bgcolor"] = theme.role("paper", 0.8)
        return [text(words, colour=colour, size=SMALL_PX, x=0, xref="paper", y=line.y, **above)]
    if heading:
        return [text(words, colour=colour, x=0, xref="paper", y=line.y, xanchor="left", xshift=8 - left)]
    most = int((left - 24) / LETTER_PX)
    short = words if len(words) <= most or line.today else words[: most - 1] + "…"
    return [text(short, colour=colour, x=0, xref="paper", y=line.y, xanchor="right", xshift=-14)]


def _values(board: Board, line: _Line, most: float, *, narrow: bool) -> list[Part]:
    best, pay, again, meets = _ends(board, line)
    size = SMALL_PX if narrow else theme.FONT_PX
    found = []
    if math.isfinite(best):
        left: Part = {"x": best, "y": line.y, "xanchor": "right", "xshift": -11}
        if best / most * (PLOT_NARROW_PX if narrow else PLOT_PX) < ROOM_PX:
            left |= {"xanchor": "center", "xshift": 0, "yanchor": "top" if narrow else "bottom"}
            left |= {"yshift": -8 if narrow else 6}
        found.append(text(f"<b>{units.usd(best)}</b>", colour="floor", size=size, **left))
    moved = "" if line.today else f" {words_levers.change(board.today.usd_per_mtok, pay)}"
    told = f"<b>{units.usd(pay)}</b><span style='color:{theme.role('muted')}'>{moved}</span>"
    right: Part = {"x": pay, "y": line.y, "xanchor": "left", "xshift": 10, "bgcolor": theme.role("paper", 0.75)}
    found.append(text(told, size=size, **right))
    column = f"○ {words_levers.rechosen(again, (line.row.rechosen if line.row else board.rechosen).batch, meets)}"
    where: Part = {"x": 1, "xref": "paper", "y": line.y, "xanchor": "right"}
    where["bgcolor"] = theme.role("paper", 0.8)
    where |= {"yanchor": "top", "yshift": -9} if narrow else {"xshift": RIGHT_PX - 8}
    found.append(text(column, colour="muted", size=SMALL_PX if narrow else theme.FONT_PX, **where))
    return found


def _heads(board: Board, *, narrow: bool) -> list[Part]:
    top: Part = {"yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 4}
    size = SMALL_PX if narrow else theme.FONT_PX
    found = []
    if math.isfinite(board.allowed.best_here):
        words = "◆ best here" if narrow else "◆ best this model and GPU allow"
        found.append(text(words, colour="floor", size=size, x=board.allowed.best_here, xanchor="center", **top))
    if math.isfinite(board.today.usd_per_mtok):
        found.append(text("● you pay", size=size, x=board.today.usd_per_mtok, xanchor="center", **top))
    if not narrow:
        end: Part = {"x": 1, "xref": "paper", "xanchor": "right", "xshift": RIGHT_PX - 8}
        found.append(text("with the batch re-chosen", colour="muted", **end, **top))
    return found


# The ladder -------------------------------------------------------------------------------------


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
    left, right = (12, 12) if narrow else (300, 24)
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
    layout = _layout(notes, most=most, last=last, left=left, right=right, narrow=narrow, shapes=[])
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
    layout = _layout(notes, most=most, last=last, left=left, right=right, narrow=narrow, shapes=[])
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
