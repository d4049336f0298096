"""Where to run: a ranked list of dots over cost, with what each place uses of what it pays for."""

import math

import numpy as np

from costmodel.used import Used
from costmodel.where import API, OWNED, RENTED, Place, Ranking
from ui import plot, theme, units, words_where
from ui.charts.frame import SMALL_PX, Part, money_axis, text

ROW_PX, ROW_NARROW_PX = 27, 42
MARGIN = {"l": 250, "r": 14, "t": 46, "b": 40}
MARGIN_NARROW = {"l": 10, "r": 12, "t": 34, "b": 40}
MOST_ROWS = 26
"""Rows drawn; the table has all."""
LOOKS = {RENTED: ("circle", "series_1"), OWNED: ("diamond", "series_2"), API: ("square", "ink")}
BASES = {"on-demand": "on demand", "marketplace": "marketplace", "reserved": "reserved 3 y", "owning": "owning"}
COLUMNS = (("memory", "x2", (0.71, 0.79)), ("bandwidth", "x3", (0.815, 0.895)), ("arithmetic", "x4", (0.92, 1.0)))
COST = (0.0, 0.68)
"""Stretch of the width for cost; the rest is for the shares used."""


def figure(ranking: Ranking, places: tuple[Place, ...], current: str) -> plot.Figure:
    """Return the figure of places in an order; `current` is the id of the scenario's accelerator."""
    drawn = places[:MOST_ROWS]
    rows = max(len(drawn), 3)
    ends = _range(ranking, drawn)
    return plot.Figure(
        data=_traces(drawn),
        layout=_layout(ranking, drawn, ends, current, narrow=False),
        layout_narrow=_layout(ranking, drawn, ends, current, narrow=True),
        alt=words_where.alt(ranking),
        height_px=MARGIN["t"] + MARGIN["b"] + ROW_PX * rows,
        height_narrow_px=MARGIN_NARROW["t"] + MARGIN_NARROW["b"] + ROW_NARROW_PX * rows,
    )


def _range(ranking: Ranking, drawn: tuple[Place, ...]) -> tuple[float, float]:
    costs = [p.usd_per_mtok for p in drawn]
    costs += [p.low for p in drawn if p.low > 0] + [p.high for p in drawn if p.high > 0]
    middle = ranking.apis.median_usd_per_mtok
    costs += [middle] if middle is not None else []
    if not costs:
        return 0.1, 10.0
    return min(costs) / 1.15, max(costs) * 1.9


def _traces(drawn: tuple[Place, ...]) -> list[Part]:
    """Return whiskers, dots by kind, and a bar per share used."""
    traces: list[Part] = []
    whisker_x: list[float | None] = []
    whisker_y: list[int | None] = []
    for row, found in enumerate(drawn):
        if found.high > found.low > 0:
            whisker_x += [found.low, found.high, None]
            whisker_y += [row, row, None]
    line = {"color": theme.role("ink", 0.35), "width": 3}
    traces.append(
        {"type": "scatter", "mode": "lines", "name": "band", "x": whisker_x, "y": whisker_y, "line": line,
         "hoverinfo": "skip"}
    )  # fmt: skip
    for kind, (symbol, colour) in LOOKS.items():
        rows = [i for i, p in enumerate(drawn) if p.kind == kind]
        traces.append(
            {"type": "scatter", "mode": "markers", "name": kind, "x": [drawn[i].usd_per_mtok for i in rows],
             "y": rows, "customdata": rows, "text": [_hover(drawn[i]) for i in rows],
             "hovertemplate": "%{text}<extra></extra>",
             "marker": {"symbol": symbol, "size": 11, "color": theme.role(colour),
                        "line": {"color": theme.role("paper"), "width": 1.5}}}
        )  # fmt: skip
    for name, axis, _ in COLUMNS:
        shares = [_share(p.used, name) for p in drawn]
        traces.append(
            {"type": "bar", "orientation": "h", "name": f"{name} used", "xaxis": axis, "x": shares,
             "y": list(range(len(drawn))), "width": 0.5, "marker": {"color": theme.role("muted", 0.75)},
             "text": ["" if math.isnan(s) else units.share(s) for s in shares], "textposition": "outside",
             "textfont": {"size": SMALL_PX, "color": theme.role("muted")}, "cliponaxis": False,
             "hoverinfo": "skip"}
        )  # fmt: skip
    return traces


def _share(used: Used | None, name: str) -> float:
    return float("nan") if used is None else float(getattr(used, name))


def _hover(found: Place) -> str:
    if found.offer is not None:
        row = found.offer.price
        cached = row.usd_per_mtok_cached_input
        more = "" if cached is None else f", cached {units.usd(cached)}"
        return (
            f"<b>{found.offer.provider}</b><br>{units.usd(found.usd_per_mtok)} for this mix<br>"
            f"input {units.usd(row.usd_per_mtok_input)}{more}, output {units.usd(row.usd_per_mtok_output)}"
        )
    if found.pick is None:
        return found.name
    p = found.pick
    stored = f"{p.setup.weights or 'published'} weights, {p.setup.kv} cache"
    return (
        f"<b>{words_where.name(found)}</b>, {stored}, batch {p.batch:,.0f}<br>{units.usd(p.usd_per_mtok)} all-in "
        f"({units.usd_range(p.low, p.high)}), {units.speed(p.tokens_per_s)}, "
        f"first token {units.duration(p.ttft_s)}"
    )


def _layout(
    ranking: Ranking, drawn: tuple[Place, ...], ends: tuple[float, float], current: str, *, narrow: bool
) -> Part:
    count = max(len(drawn), 3)
    axes: Part = {
        "xaxis": money_axis(*ends, domain=[0, 1] if narrow else list(COST), fixedrange=True,
                            title={"text": "USD per million output tokens, prompts included", "standoff": 6,
                                   "font": {"size": theme.FONT_PX}}),
        "yaxis": theme.axis(range=[count - 0.4, -0.7], visible=False, fixedrange=True),
    }  # fmt: skip
    notes: list[Part] = []
    for name, axis, domain in COLUMNS:
        key = f"xaxis{axis[1:]}"
        axes[key] = theme.axis(
            domain=[0, 0.001] if narrow else list(domain), range=[5, 6] if narrow else [0, 1], visible=False,
            fixedrange=True,
        )  # fmt: skip
        if not narrow:
            notes.append(
                text(f"{name}<br>used", colour="muted", size=SMALL_PX, xref="paper", yref="paper", x=domain[0],
                     y=1, xanchor="left", yanchor="bottom", align="left")
            )  # fmt: skip
    notes += [_name(p, row, current, narrow=narrow) for row, p in enumerate(drawn)]
    notes += [_cost(p, row) for row, p in enumerate(drawn)]
    shapes, said = _median(ranking, ends, narrow=narrow)
    return theme.layout(
        margin=MARGIN_NARROW if narrow else MARGIN, hovermode="closest", bargap=0.3, shapes=shapes,
        annotations=[*notes, *said], **axes,
    )  # fmt: skip


def _name(found: Place, row: int, current: str, *, narrow: bool) -> Part:
    grey = f"<span style='color:{theme.role('muted')}'>"
    own = found.accelerator is not None and found.accelerator.id == current
    yours = ", yours" if own else ""
    basis = "API" if found.kind == API else f"{BASES.get(found.basis, found.basis)}{yours}"
    bold = f"<b>{words_where.name(found)}</b>" if row == 0 or own else words_where.name(found)
    words = f"{bold} {grey}{basis}</span>"
    if narrow:
        return text(words, xref="paper", yref="y", x=0, y=row, xanchor="left", yanchor="bottom", yshift=5)
    return text(words, xref="paper", yref="y", x=0, y=row, xanchor="right", yanchor="middle", xshift=-8)


def _cost(found: Place, row: int) -> Part:
    end = max(found.usd_per_mtok, found.high if math.isfinite(found.high) else 0.0)
    return text(f"<b>{units.usd(found.usd_per_mtok)}</b>", size=SMALL_PX, xref="x", yref="y", x=math.log10(end),
                y=row, xanchor="left", yanchor="middle", xshift=9, bgcolor=theme.role("paper", 0.75))  # fmt: skip


def _median(ranking: Ranking, ends: tuple[float, float], *, narrow: bool) -> tuple[list[Part], list[Part]]:
    """Return the rule at the median API."""
    middle = ranking.apis.median_usd_per_mtok
    if middle is None or not ends[0] <= middle <= ends[1]:
        return [], []
    rule = {"type": "line", "xref": "x", "yref": "paper", "x0": middle, "x1": middle, "y0": 0, "y1": 1,
            "line": {"color": theme.role("muted"), "dash": "dot", "width": 1.5}, "layer": "below"}  # fmt: skip
    name = f"median API {units.usd(middle)}"
    across = np.log(middle / ends[0]) / np.log(ends[1] / ends[0])
    anchor = "right" if across > (0.6 if narrow else 0.85) else "center"
    return [rule], [
        text(name, colour="muted", xref="x", yref="paper", x=math.log10(middle), y=1, xanchor=anchor,
             yanchor="bottom")
    ]  # fmt: skip
