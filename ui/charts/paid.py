"""A bill on a scale of dollars: between the floor, the setup's own best, and what APIs ask."""

import math

from costmodel.paid import THRESHOLDS, Bill
from ui import plot, theme, units, words_paid
from ui.charts.frame import SMALL_PX, Part, dollar_text, dollar_ticks, text

HEIGHT_PX, HEIGHT_NARROW_PX = 250, 270
SHADES = (0.0, 0.06, 0.12, 0.2)
"""Tint of good, fair, high and very high."""


def figure(bill: Bill) -> plot.Figure | None:
    """Return the scale; None where no cost is known."""
    known = [bill.floor_usd_per_mtok, bill.own_best_usd_per_mtok, bill.usd_per_mtok]
    if not all(math.isfinite(v) for v in known):
        return None
    asked = [o.usd_per_mtok for o in bill.offers.offers]
    best = bill.own_best_usd_per_mtok
    low = min([*known, *asked]) / 1.4
    high = max([*known, *asked, THRESHOLDS[-1][0] * best]) * 1.5
    return plot.Figure(
        data=_traces(bill, asked),
        layout=_layout(bill, low, high, narrow=False),
        layout_narrow=_layout(bill, low, high, narrow=True),
        alt=words_paid.alt(bill),
        height_px=HEIGHT_PX,
        height_narrow_px=HEIGHT_NARROW_PX,
    )


def _marks(bill: Bill) -> list[tuple[str, float, str, str]]:
    """Return what stands on the scale: name, cost, colour, symbol."""
    found = [
        ("floor", bill.floor_usd_per_mtok, "floor", "diamond-open"),
        ("best here", bill.best_here_usd_per_mtok, "floor", "diamond"),
        ("own best at your limits", bill.own_best_usd_per_mtok, "ink", "circle-open"),
        ("you pay", bill.usd_per_mtok, "ink", "circle"),
    ]
    return [m for m in found if math.isfinite(m[1])]


def _traces(bill: Bill, asked: list[float]) -> list[Part]:
    marks = _marks(bill)
    return [
        {
            "type": "scatter", "mode": "markers", "name": "marks", "x": [m[1] for m in marks],
            "y": [1.0 for _ in marks], "text": [m[0] for m in marks],
            "marker": {
                "size": 15, "color": [theme.role(m[2]) for m in marks], "symbol": [m[3] for m in marks],
                "line": {"width": 2.5, "color": [theme.role(m[2]) for m in marks]},
            },
            "hovertemplate": "%{text} $%{x:.3~f}<extra></extra>",
        },
        {
            "type": "scatter", "mode": "markers", "name": "APIs", "x": asked, "y": [0.0 for _ in asked],
            "text": [o.provider for o in bill.offers.offers],
            "marker": {"size": 12, "color": theme.role("series_2"), "symbol": "square"},
            "hovertemplate": "%{text} $%{x:.3~f}<extra></extra>",
        },
    ]  # fmt: skip


def _layout(bill: Bill, low: float, high: float, *, narrow: bool) -> Part:
    best = bill.own_best_usd_per_mtok
    edges = [low, *(below * best for below, _ in THRESHOLDS), high]
    words = [*(word for _, word in THRESHOLDS), "very high"]
    shapes: list[Part] = []
    notes: list[Part] = []
    for i, word in enumerate(words):
        start, end = max(edges[i], low), min(edges[i + 1], high)
        shapes.append(
            {"type": "rect", "xref": "x", "yref": "paper", "x0": start, "x1": end, "y0": 0, "y1": 1,
             "fillcolor": theme.role("limit", SHADES[i]) if SHADES[i] else "rgba(0,0,0,0)", "layer": "below",
             "line": {"width": 0}}
        )  # fmt: skip
        own = word == bill.word
        middle = math.log10(math.sqrt(max(start, best if i == 0 else start) * end))
        where: Part = {"x": middle, "yref": "paper", "y": 1, "yanchor": "bottom", "xanchor": "center"}
        told = f"<b>{word}</b>" if own else word
        notes.append(text(told, colour="ink" if own else "muted", size=SMALL_PX, **where))
    for i, (name, usd, colour, _) in enumerate(_marks(bill)):
        up = i % 2 == 0
        place: Part = {"yanchor": "bottom" if up else "top", "yshift": 12 if up else -12, "align": "center"}
        told = f"<b>{units.usd(usd)}</b><br>{name}"
        size = SMALL_PX if narrow else theme.FONT_PX
        notes.append(text(told, colour=colour, size=size, x=math.log10(usd), y=1, **place))
    if bill.offers.offers:
        notes.append(
            text("APIs, same mix", colour="series_2", size=SMALL_PX, xref="paper", x=0, y=0, xanchor="left",
                 yanchor="bottom", yshift=8)
        )  # fmt: skip
    ticks = dollar_ticks(low, high)
    return theme.layout(
        margin={"l": 16, "r": 16, "t": 28, "b": 44}, hovermode="closest", shapes=shapes, annotations=notes,
        xaxis=theme.axis(
            type="log", range=[math.log10(low), math.log10(high)], tickvals=ticks, fixedrange=True,
            ticktext=[dollar_text(t) for t in ticks],
            title={"text": "USD per million output tokens, prompts included", "standoff": 8,
                   "font": {"size": theme.FONT_PX}},
        ),
        yaxis=theme.axis(range=[-0.5, 1.75], visible=False, fixedrange=True),
    )  # fmt: skip
