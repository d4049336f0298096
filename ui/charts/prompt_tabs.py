"""The figures behind the tabs of "Prompt and answer": two rows over one knob, lines named at their ends."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costmodel.prompt_levers import Apart, Varied
from ui import plot, theme, units
from ui.charts.frame import SMALL_PX, Part, dollar_text, dollar_ticks, row_title, rows, text

HEIGHT_PX, HEIGHT_NARROW_PX = 400, 380
MARGIN = {"l": 66, "r": 150, "t": 34, "b": 46}
MARGIN_NARROW = {"l": 52, "r": 12, "t": 34, "b": 46}
SPREAD_PX = 17.0
"""Least distance of two names at the ends of lines."""


@dataclass(frozen=True)
class Line:
    """One line of a row."""

    name: str
    values: np.ndarray
    role: str = "ink"
    dash: str = "solid"


@dataclass(frozen=True)
class Row:
    """One row: its title, what its axis is in, and its lines."""

    title: str
    unit: str
    """`ms` or `ratio` (linear from 0), `usd` (logarithmic where it spans much)."""
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Axis:
    """The knob under both rows."""

    title: str
    values: np.ndarray
    log: bool
    ticks: tuple[tuple[float, str], ...]
    hover: str
    """How a value is written, with Plotly's format in it."""


def chunks(found: Varied, *, own: float, alt: str) -> plot.Figure:
    """Return first token, longest gap and cost over the chunk size."""
    labels = tuple((float(c), units.count(float(c))) for c in found.knob)
    axis = Axis("most prompt tokens of one step (chunk)", found.knob, True, labels, "chunk %{x:,.0f}")
    times = (
        Line("first token", units.MS_PER_S * found.ttft_s, "ink"),
        Line("longest gap", units.MS_PER_S * found.gap_s, "series_2", "dash"),
        Line("mean gap", units.MS_PER_S * found.tpot_s, "muted", "dot"),
    )
    upper = (Row("ms to the first token, and between two tokens", "ms", times),)
    money = _money("USD per million output tokens", (Line("all-in", found.usd_per_mtok),))
    return _figure(axis, (*upper, *money), own if own > 0 else None, alt)


def hits(found: Varied, *, now: float, alt: str) -> plot.Figure:
    """Return first token and cost over the share of each prompt that is cached."""
    share = units.PERCENT * found.knob
    ticks = tuple((float(t), f"{t} %") for t in range(0, 101, 20))
    axis = Axis("share of the prompt found in the cache", share, False, ticks, "%{x:.0f} % cached")
    upper = (Row("ms to the first token", "ms", (Line("first token", units.MS_PER_S * found.ttft_s),)),)
    money = _money("USD per million output tokens", (Line("all-in", found.usd_per_mtok),))
    return _figure(axis, (*upper, *money), units.percent(now), alt)


def apart(found: Apart, *, now: float, alt: str) -> plot.Figure:
    """Return how many prompt copies an answer copy needs, and both costs, over the batch."""
    end = int(math.log2(max(float(found.batch[-1]), 2.0)))
    ticks = tuple((2.0**k, f"{2**k:,}") for k in range(0, end + 1, 2 if end > 8 else 1))
    axis = Axis("sequences decoded together (batch)", found.batch, True, ticks, "batch %{x:,.0f}")
    upper = (Row("prompt copies per answer copy", "ratio", (Line("prompt copies", found.copies, "series_1"),)),)
    both = (
        Line("separate", found.apart_usd_per_mtok, "series_1"),
        Line("together", found.together_usd_per_mtok, "ink", "dash"),
    )
    return _figure(axis, (*upper, *_money("USD per million output tokens, all-in", both)), now, alt)


def _money(title: str, lines: tuple[Line, ...]) -> tuple[Row, ...]:
    """Return a row of money, or none where no price is known."""
    return (Row(title, "usd", lines),) if np.isfinite(lines[0].values).any() else ()


# The figure -------------------------------------------------------------------------------------


def _figure(axis: Axis, found: Sequence[Row], now: float | None, alt: str) -> plot.Figure:
    return plot.Figure(
        data=[
            _trace(axis, row, line, at) for at, row in enumerate(found) for line in row.lines
        ],
        layout=_layout(axis, found, now, narrow=False),
        layout_narrow=_layout(axis, found, now, narrow=True),
        alt=alt,
        height_px=HEIGHT_PX,
        height_narrow_px=HEIGHT_NARROW_PX,
    )  # fmt: skip


def _axis_name(at: int) -> str:
    return "y" if at == 0 else f"y{at + 1}"


def _trace(axis: Axis, row: Row, line: Line, at: int) -> Part:
    number = {"ms": "%{y:,.1f} ms", "ratio": "%{y:.2f}", "usd": "$%{y:.3~g}"}[row.unit]
    return {
        "type": "scatter", "mode": "lines", "name": line.name, "yaxis": _axis_name(at),
        "x": np.ascontiguousarray(axis.values), "y": np.ascontiguousarray(line.values),
        "line": {"color": theme.role(line.role), "width": 2.5, "dash": line.dash},
        "hovertemplate": f"{axis.hover}: {line.name} {number}<extra></extra>",
    }  # fmt: skip


def _layout(axis: Axis, found: Sequence[Row], now: float | None, *, narrow: bool) -> Part:
    margin = MARGIN_NARROW if narrow else MARGIN
    height = (HEIGHT_NARROW_PX if narrow else HEIGHT_PX) - margin["t"] - margin["b"]
    domains = rows(*(1.0 for _ in found), gap=34.0 / height)
    ends = [_range(row) for row in found]
    axes: Part = {}
    notes: list[Part] = []
    for at, (row, domain, end) in enumerate(zip(found, domains, ends, strict=True)):
        key = "yaxis" if at == 0 else f"yaxis{at + 1}"
        axes[key] = _y_axis(row, end, list(domain))
        notes.append(row_title(row.title, domain[1]))
        notes += _names(axis, row, at, end, (domain[1] - domain[0]) * height, narrow=narrow)
    axes["xaxis"] = _x_axis(axis, anchor=_axis_name(len(found) - 1), narrow=narrow)
    shapes: list[Part] = []
    if now is not None:
        shapes = [
            {"name": "now", "type": "line", "xref": "x", "yref": "paper", "x0": now, "x1": now, "y0": 0, "y1": 1,
             "line": {"color": theme.role("ink"), "width": 1.5, "dash": "dot"}}
        ]  # fmt: skip
        place = math.log10(now) if axis.log else now
        notes.append(text("now", size=SMALL_PX, xref="x", yref="paper", x=place, y=0, yanchor="bottom",
                          xanchor="left", xshift=4, bgcolor=theme.role("paper", 0.8)))  # fmt: skip
    return theme.layout(margin=margin, shapes=shapes, annotations=notes, **axes)


def _x_axis(axis: Axis, *, anchor: str, narrow: bool) -> Part:
    low, high = float(axis.values[0]), float(axis.values[-1])
    ticks = axis.ticks[::2] if narrow and len(axis.ticks) > 6 else axis.ticks
    span = [math.log10(low), math.log10(high)] if axis.log else [low, max(high, 100.0)]
    return theme.axis(
        type="log" if axis.log else "linear", range=span, tickvals=[t for t, _ in ticks],
        ticktext=[t for _, t in ticks], anchor=anchor, fixedrange=True,
        title={"text": axis.title, "standoff": 6, "font": {"size": theme.FONT_PX}},
    )  # fmt: skip


def _range(row: Row) -> tuple[float, float]:
    """Return the ends of a row's axis, in its own unit."""
    values = np.concatenate([line.values[np.isfinite(line.values)] for line in row.lines])
    low, high = float(values.min()), float(values.max())
    if row.unit == "usd" and high > 3 * low:
        return low / 1.3, high * 1.3
    return 0.0, 1.15 * high if high > 0 else 1.0


def _y_axis(row: Row, end: tuple[float, float], domain: list[float]) -> Part:
    if end[0] > 0:
        ticks = dollar_ticks(*end, most=6)
        return theme.axis(
            type="log", range=[math.log10(end[0]), math.log10(end[1])], tickvals=ticks,
            ticktext=[dollar_text(t) for t in ticks], domain=domain, fixedrange=True,
        )  # fmt: skip
    unit = {"tickprefix": "$"} if row.unit == "usd" else {"ticksuffix": " ms"} if row.unit == "ms" else {}
    return theme.axis(range=list(end), nticks=5, domain=domain, fixedrange=True, **unit)


def _names(
    axis: Axis, row: Row, at: int, end: tuple[float, float], height_px: float, *, narrow: bool
) -> list[Part]:
    """Return the lines' names with their last values, right of their ends; inside on a narrow figure."""
    log = end[0] > 0

    def up(value: float) -> float:
        if log:
            return math.log(value / end[0]) / math.log(end[1] / end[0]) * height_px
        return (value - end[0]) / (end[1] - end[0]) * height_px

    write = {"ms": lambda v: units.duration(units.seconds(v)), "ratio": lambda v: units.count(v, decimals=2),
             "usd": units.usd}[row.unit]  # fmt: skip
    ordered = sorted(row.lines, key=lambda line: float(line.values[-1]))
    notes, last = [], -math.inf
    for line in ordered:
        value = float(line.values[-1])
        at_px = up(value)
        put = max(at_px, last + SPREAD_PX)
        last = put
        x = math.log10(float(axis.values[-1])) if axis.log else float(axis.values[-1])
        y = math.log10(value) if log else value
        where = {"xanchor": "right", "yanchor": "bottom", "yshift": put - at_px + 2} if narrow else {
            "xanchor": "left", "xshift": 6, "yanchor": "middle", "yshift": put - at_px
        }  # fmt: skip
        role = "ink" if line.role == "muted" else line.role
        notes.append(
            text(f"{line.name} <b>{write(value)}</b>", colour=role, size=SMALL_PX, xref="x", yref=_axis_name(at),
                 x=x, y=y, **where)
        )  # fmt: skip
    return notes


def alt(kind: str, sentence: str) -> str:
    """Return the words for those who can't see a tab's figure."""
    return f"Line chart in two rows: first token and cost over {kind}. {sentence} Table follows."

