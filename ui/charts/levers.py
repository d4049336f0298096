"""Levers drawn: ranges from best here to what is paid.

Linear dollars from 0 everywhere: a saving is a length. Rows carry names left of the plot on a desk,
above their bar on a phone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from costmodel.lever_rows import Board, Row
from ui import plot, theme, units, words_levers
from ui.charts.frame import SMALL_PX, Part, text

ROW_PX, ROW_NARROW_PX = 34, 62
HEAD_PX, FOOT_PX = 34, 44
NAMES_PX, RIGHT_PX = 350, 186
PLOT_PX, PLOT_NARROW_PX = 400, 340
"""Least width of the plotted area, to tell where a value has no room left of its mark."""
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
    return layout_of(
        notes, most=most, last=last, left=left, right=right, narrow=narrow,
        shapes=[
            _rule(value, colour, last)
            for value, colour in ((board.allowed.best_here, "floor"), (board.today.usd_per_mtok, "ink"))
            if math.isfinite(value)
        ],
    )  # fmt: skip


def layout_of(
    notes: list[Part], *, most: float, last: float, left: int, right: int, narrow: bool, shapes: list[Part]
) -> Part:
    """Return the layout of rows over dollars from 0, the first row on top."""
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
