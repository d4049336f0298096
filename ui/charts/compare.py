"""Setups beside each other: their cost over the batch on one pair of axes, a letter at each end."""

import math

import numpy as np

from costmodel.compare import Comparison, curves
from ui import plot, theme, units, words_compare
from ui.charts.frame import MARGIN, MARGIN_NARROW, SMALL_PX, Part, batch_axis, money_axis, row_title, text

HEIGHT_PX, HEIGHT_NARROW_PX = 380, 340
_NEAR = 0.08
"""In powers of ten on both axes: less lies on top of each other."""


def figure(found: Comparison) -> plot.Figure | None:
    """Return the overlaid cost curves; None where no setup fits or has a price."""
    lines = curves(found)
    known = [usd for _, usd in lines if usd.size and np.isfinite(usd).all()]
    if not known:
        return None
    most = max(64.0, *(float(batch[-1]) for batch, _ in lines if batch.size))
    ends = (min(float(u.min()) for u in known) / 1.5, max(float(u.max()) for u in known) * 1.3)
    return plot.Figure(
        data=_traces(found, lines),
        layout=_layout(found, lines, ends, most, narrow=False),
        layout_narrow=_layout(found, lines, ends, most, narrow=True),
        alt=words_compare.curves_alt(found),
        height_px=HEIGHT_PX,
        height_narrow_px=HEIGHT_NARROW_PX,
    )


def _traces(found: Comparison, lines: list[tuple[np.ndarray, np.ndarray]]) -> list[Part]:
    traces: list[Part] = []
    for i, (column, (batch, usd)) in enumerate(zip(found.columns, lines, strict=True)):
        if not batch.size or not np.isfinite(usd).all():
            continue
        colour = theme.role(f"series_{i + 1}")
        traces.append(
            {
                "type": "scatter", "mode": "lines", "name": column.letter, "x": np.ascontiguousarray(batch),
                "y": np.ascontiguousarray(usd), "line": {"color": colour, "width": 2.5, "dash": theme.DASHES[i]},
                "hovertemplate": f"{column.letter}, batch %{{x:,.0f}}: <b>$%{{y:.3~g}}</b><extra></extra>",
            }
        )  # fmt: skip
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": f"now {column.letter}",
                "x": [float(column.scenario.batch)], "y": [float(column.serving.usd_per_mtok)],
                "marker": {"size": 12, "color": colour, "symbol": theme.MARKS[i]},
                "hovertemplate": f"{column.letter} now: <b>$%{{y:.3~g}}</b><extra></extra>",
            }
        )  # fmt: skip
    return traces


def _layout(
    found: Comparison,
    lines: list[tuple[np.ndarray, np.ndarray]],
    ends: tuple[float, float],
    most: float,
    *,
    narrow: bool,
) -> Part:
    taken: list[tuple[float, float]] = []
    notes: list[Part] = [row_title("USD per million output tokens (all-in)", 1.0)]
    for i, (column, (batch, usd)) in enumerate(zip(found.columns, lines, strict=True)):
        if not batch.size or not np.isfinite(usd).all():
            continue
        colour = f"series_{i + 1}"
        end = {"x": math.log10(float(batch[-1])), "y": math.log10(float(usd[-1]))}
        # Lines that end together carry their letters one above the other.
        above = sum(abs(end["x"] - x) + abs(end["y"] - y) < _NEAR for x, y in taken)
        taken.append((end["x"], end["y"]))
        letter: Part = {"xanchor": "left", "xshift": 5, "yshift": 14 * above}
        notes.append(text(f"<b>{column.letter}</b>", colour=colour, **end, **letter))
        now = {"x": math.log10(float(column.scenario.batch)), "y": math.log10(float(column.serving.usd_per_mtok))}
        words = f"<b>{column.letter}</b> {units.usd(float(column.serving.usd_per_mtok))}"
        up = i % 2 == 0
        notes.append(
            text(words, colour=colour, size=SMALL_PX if narrow else theme.FONT_PX, **now, xanchor="left", xshift=8,
                 yanchor="bottom" if up else "top", yshift=4 if up else -4)
        )  # fmt: skip
    axis = batch_axis(most * 1.15, anchor="y", narrow=narrow)
    return theme.layout(
        margin=MARGIN_NARROW if narrow else MARGIN, annotations=notes, xaxis=axis, yaxis=money_axis(*ends)
    )
