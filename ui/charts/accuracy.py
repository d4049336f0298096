"""Predicted over measured: a square on logarithmic axes, its diagonal and a wedge of ±25 %."""

import math
from collections.abc import Sequence

import numpy as np

from costmodel.validate import Report
from ui import plot, theme, units, words_accuracy
from ui.charts.frame import SMALL_PX, Part, row_title, text

HEIGHT_PX, HEIGHT_NARROW_PX = 560, 390
MARGIN = {"l": 70, "r": 16, "t": 34, "b": 52}
MARGIN_NARROW = {"l": 62, "r": 12, "t": 34, "b": 50}


def figure(report: Report, own: Sequence[int], alt: str) -> plot.Figure:
    """Return the scatter; `own` are the positions of the setup's class, drawn dark over the grey rest."""
    counted = np.flatnonzero(report.counted)
    dark = np.asarray(sorted(set(own) & set(counted.tolist())), dtype=np.int64)
    rest = np.setdiff1d(counted, dark)
    low, high = _ends(report, counted)
    traces = [
        *_wedge(low, high),
        _points(report, rest, "rest", role="muted", opacity=0.42, size=5),
        _points(report, dark, "your class", role="ink", opacity=0.9, size=7),
    ]
    return plot.Figure(
        data=traces,
        layout=_layout(low, high, has_own=dark.size > 0, narrow=False),
        layout_narrow=_layout(low, high, has_own=dark.size > 0, narrow=True),
        alt=alt,
        height_px=HEIGHT_PX,
        height_narrow_px=HEIGHT_NARROW_PX,
    )


def _ends(report: Report, at: np.ndarray) -> tuple[float, float]:
    """Return the ends of both axes, in ms."""
    if at.size == 0:
        return 1.0, 1000.0
    every = units.MS_PER_S * np.concatenate([report.measured_s[at], report.predicted_s[at]])
    return float(every.min()) / 1.5, float(every.max()) * 1.5


def _points(report: Report, at: np.ndarray, name: str, *, role: str, opacity: float, size: int) -> Part:
    return {
        "type": "scatter", "mode": "markers", "name": name,
        "x": np.ascontiguousarray(units.MS_PER_S * report.measured_s[at]),
        "y": np.ascontiguousarray(units.MS_PER_S * report.predicted_s[at]),
        "customdata": np.ascontiguousarray(at, dtype=np.int64),
        "text": [f"{report.rows[i].id}, {report.rows[i].kind}" for i in at],
        "marker": {"color": theme.role(role), "opacity": opacity, "size": size},
        "hovertemplate": "%{text}<br>measured %{x:.3~g} ms, predicted %{y:.3~g} ms<extra></extra>",
    }  # fmt: skip


def _wedge(low: float, high: float) -> list[Part]:
    """Return the wedge and the diagonal."""
    ends = np.asarray([low, high])
    line: Part = {"type": "scatter", "mode": "lines", "x": ends, "hoverinfo": "skip"}
    wide = words_accuracy.WEDGE
    return [
        {**line, "name": "low", "y": ends * (1 - wide), "line": {"width": 0}},
        {**line, "name": "high", "y": ends * (1 + wide), "line": {"width": 0}, "fill": "tonexty",
         "fillcolor": theme.role("floor", 0.16)},
        {**line, "name": "diagonal", "y": ends, "line": {"width": 1.5, "color": theme.role("floor")}},
    ]  # fmt: skip


def _layout(low: float, high: float, *, has_own: bool, narrow: bool) -> Part:
    ticks = [10.0**p for p in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    axis: Part = {
        "type": "log", "range": [math.log10(low), math.log10(high)], "tickvals": ticks,
        "ticktext": [units.duration(units.seconds(t)).replace(".00", "").replace(".0", "") for t in ticks],
        "constrain": "domain",
    }  # fmt: skip
    labels = {"standoff": 6, "font": {"size": theme.FONT_PX}}
    top = math.log10(high) - 0.02 * math.log10(high / low)
    edge = math.log10(low) + 0.02 * math.log10(high / low)
    notes = [
        row_title("each dot: one quantity of one public run", 1.0),
        text("predicted too slow", colour="muted", size=SMALL_PX, xref="x", yref="y", x=edge, y=top,
             xanchor="left", yanchor="top"),
        text("predicted too fast", colour="muted", size=SMALL_PX, xref="x", yref="y", x=top, y=edge,
             xanchor="right", yanchor="bottom"),
    ]  # fmt: skip
    if has_own:
        notes.append(
            text("<b>● your setup’s class</b>", size=SMALL_PX, xref="x", yref="y", x=edge, y=top, xanchor="left",
                 yanchor="top", yshift=-18)
        )  # fmt: skip
    where = math.log10(low) + (0.38 if narrow else 0.17) * math.log10(high / low)
    notes.append(
        text("exact, ±25 %", colour="floor", size=SMALL_PX, xref="x", yref="y", x=where, y=where, xanchor="right",
             yanchor="bottom", xshift=-14)
    )  # fmt: skip
    return theme.layout(
        margin=MARGIN_NARROW if narrow else MARGIN,
        annotations=notes,
        hovermode="closest",
        xaxis=theme.axis(**axis, title={"text": "measured", **labels}),
        yaxis=theme.axis(
            **axis, scaleanchor="x", scaleratio=1, title={"text": "" if narrow else "predicted", **labels}
        ),
    )
