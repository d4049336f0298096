"""The cost curve: money, its shares and the time between two tokens over the batch, one figure.

Everything drawn is in the `CostCurve`. The operating point is not part of a trace: marks are moved to
it from the table in `live.py`, so a new batch costs no drawing.
"""

import math
from dataclasses import dataclass

import numpy as np

from costmodel.check import FloatArray
from costmodel.curve import CostCurve, Edge
from ui import plot, theme, units, words
from ui.charts import rail
from ui.charts.frame import (
    MARGIN,
    MARGIN_NARROW,
    NOMINAL_NARROW_PX,
    NOMINAL_PX,
    SMALL_PX,
    Part,
    batch_axis,
    money_axis,
    row_title,
    rows,
    rule,
    text,
)

HEIGHT_PX, HEIGHT_NARROW_PX = 604, 470
HEIGHT_ROOM_PX = 432
"""For a room, where the figure is enlarged: it then takes the height that it has on a desk."""
SHARES = (0.56, 0.17, 0.27)
"""Heights of money, share strip and time."""
ROLES, ON = {words.PROMPT: "series_3"}, {words.PROMPT: "paper"}
"""Colours of parts that aren't roles of their own, and of the text on them."""
GAP_PX = 30.0
LOW_PX = 380.0
"""A plotted area lower than this has fewer ticks."""
NAMED_FROM = 0.12
"""A band of the strip at least this high carries its name."""
LOOKS = {  # edge: (colour, dash)
    "crossover": ("muted", "dot"),
    "flat": ("muted", "dashdot"),
    "ridge": ("muted", "longdash"),
    "limit": ("limit", "dash"),
    "wall": ("ink", "solid"),
}
NARROW = " narrow"
"""What the names of marks end in that only the narrow layout has."""
CROSS = "M -7,-7 L 7,7 M -7,7 L 7,-7"
LANE_PX = 18.0


@dataclass(frozen=True)
class Geometry:
    """Where things are in one of the two layouts: row domains, and the size of the plotted area."""

    narrow: bool
    money: tuple[float, float] | None
    strip: tuple[float, float] | None
    time: tuple[float, float]
    width_px: float
    height_px: float

    @property
    def all_rows(self) -> list[tuple[float, float]]:
        """Domains from the top."""
        return [row for row in (self.money, self.strip, self.time) if row is not None]


def height_px(*, room: bool) -> int:
    """Return the height of the wide figure, before it is enlarged for a room. [px]"""
    return HEIGHT_ROOM_PX if room else HEIGHT_PX


def geometry(curve: CostCurve, *, narrow: bool, room: bool = False) -> Geometry:
    """Return the rows of a layout: without money where there is no price, without the strip on a phone.

    `room` is the lower figure that is enlarged while presenting.
    """
    margin = MARGIN_NARROW if narrow else MARGIN
    height = (HEIGHT_NARROW_PX if narrow else height_px(room=room)) - margin["t"] - margin["b"]
    wanted = [SHARES[0] if curve.priced else 0.0, 0.0 if narrow else SHARES[1], SHARES[2]]
    heights = [share for share in wanted if share]
    found = iter(rows(*heights, gap=(26.0 if narrow else GAP_PX) / height))
    money, strip, time = (next(found) if share else None for share in wanted)
    return Geometry(
        narrow=narrow, money=money, strip=strip, time=time or (0.0, 1.0),
        width_px=NOMINAL_NARROW_PX if narrow else NOMINAL_PX, height_px=height,
    )  # fmt: skip


@dataclass(frozen=True)
class Ranges:
    """Ends of the axes: they depend on the curve alone, so the marks can be moved within them."""

    usd: tuple[float, float]
    time_ms: float


def ranges(curve: CostCurve) -> Ranges:
    """Return the ends of the axes of money and time."""
    runs = curve.line.batch <= curve.last
    longest = float(units.ms(float(curve.shown.tpot_s[runs][-1])))
    limit = curve.case.scenario.max_tpot_s
    if limit is not None:
        longest = min(longest, 4 * units.ms(limit)) if curve.knee.limit_batch else longest
        longest = max(longest, 1.1 * units.ms(limit)) if units.ms(limit) < 2 * longest else longest
    if not curve.priced:
        return Ranges(usd=(0.1, 10.0), time_ms=1.15 * longest)
    high = curve.case.constants.band[1] if curve.case.constants.band is not None else 1.0
    lowest = [float(np.min(curve.shown.usd_per_mtok[runs])), float(np.min(curve.ideal_usd_per_mtok[runs]))]
    if curve.floor_usd_per_mtok > max(lowest) / 100:
        lowest.append(curve.floor_usd_per_mtok)
    highest = float(curve.shown.usd_per_mtok[0]) * float(high)
    return Ranges(usd=(min(lowest) / 1.75, highest * 1.35), time_ms=1.15 * longest)


def figure(curve: CostCurve, alt: str, *, room: bool = False) -> tuple[plot.Figure, dict[str, str]]:
    """Return the figure, and the edges that only a number marks: {key: "①"}; for a room a lower one."""
    ends = ranges(curve)
    wide, numbered = _layout(curve, geometry(curve, narrow=False, room=room), ends)
    narrow, _ = _layout(curve, geometry(curve, narrow=True), ends)
    return (
        plot.Figure(
            data=_traces(curve),
            layout=wide,
            layout_narrow=narrow,
            alt=alt,
            height_px=height_px(room=room),
            height_narrow_px=HEIGHT_NARROW_PX,
        ),
        numbered,
    )


# Traces -----------------------------------------------------------------------------------------


def _traces(curve: CostCurve) -> list[Part]:
    """Return the lines; the share strip lies on an axis that the narrow layout squeezes away."""
    line = curve.line
    runs = line.batch <= curve.last
    batch = np.ascontiguousarray(line.batch[runs])
    time_ms = units.MS_PER_S * curve.shown.tpot_s[runs]
    traces: list[Part] = []
    if curve.priced:
        usd = curve.shown.usd_per_mtok[runs]
        traces += _band(curve, batch, usd, "y")
        traces += [
            _line("perfect engine", line.batch, curve.ideal_usd_per_mtok, "y", "muted", 1.5, dash="dot",
                  hovertemplate="perfect engine $%{y:.3~g}<extra></extra>"),
            _line("total", batch, usd, "y", "ink", 3.5,
                  hovertemplate="batch %{x:,.0f}: <b>$%{y:.3~g}</b><extra></extra>"),
        ]  # fmt: skip
    for part, share in words.shares_of(curve, line, curve.shown).items():
        traces.append(
            {
                "type": "scatter", "name": f"share {part}", "mode": "lines", "stackgroup": "share", "yaxis": "y2",
                "x": line.batch, "y": np.ascontiguousarray(units.PERCENT * share),
                "fillcolor": theme.role(ROLES.get(part, part)), "line": {"width": 1, "color": theme.role("paper")},
                "hovertemplate": f"{words.PART_NAMES[part]} %{{y:.0f}} %<extra></extra>",
            }
        )  # fmt: skip
    traces += _band(curve, batch, time_ms, "y3")
    traces.append(
        _line("time", batch, time_ms, "y3", "ink", 3,
              hovertemplate="%{y:.1f} ms between tokens<extra></extra>")
    )  # fmt: skip
    return traces


def _line(
    name: str, x: object, y: object, axis: str, colour: str, width: float, *, dash: str = "solid", **more: object
) -> Part:
    return {
        "type": "scatter", "name": name, "mode": "lines", "x": x, "y": np.ascontiguousarray(y), "yaxis": axis,
        "line": {"color": theme.role(colour), "width": width, "dash": dash}, **more,
    }  # fmt: skip


def _band(curve: CostCurve, batch: np.ndarray, middle: np.ndarray, axis: str) -> list[Part]:
    """Return the 80 % band of a line, where measured runs say how wide it is."""
    band = curve.case.constants.band
    if band is None:
        return []
    ends: Part = {"type": "scatter", "mode": "lines", "x": batch, "yaxis": axis, "hoverinfo": "skip"}
    ends["line"] = {"width": 0}
    low, high = (np.ascontiguousarray(middle * float(factor)) for factor in band)
    return [
        {**ends, "name": f"low {axis}", "y": low},
        {**ends, "name": f"high {axis}", "y": high, "fill": "tonexty", "fillcolor": theme.role("ink", 0.16)},
    ]


# Layouts ----------------------------------------------------------------------------------------


def _layout(curve: CostCurve, place: Geometry, ends: Ranges) -> tuple[Part, dict[str, str]]:
    margin = MARGIN_NARROW if place.narrow else MARGIN
    names, name_shapes, numbered = _rail(curve, place)
    shapes = [*_ground(curve, place, ends), *name_shapes, *_marks(curve, place)]
    notes = [*_titles(curve, place), *names, *_texts(curve, place, ends)]
    hidden = {"visible": False, "domain": [0, 0.001], "range": [200, 300]}  # its traces lie outside
    axes: Part = {
        "xaxis": batch_axis(curve.axis_max, anchor="y3", narrow=place.narrow),
        "yaxis2": hidden if place.strip is None else theme.axis(
            domain=list(place.strip), range=[0, 100], tickvals=[0, 50, 100],
            ticktext=["0", "50 %", "100 %"], fixedrange=True
        ),
        "yaxis3": theme.axis(
            domain=list(place.time), range=[0, ends.time_ms], nticks=5, ticksuffix=" ms" if place.narrow else ""
        ),
    }  # fmt: skip
    if place.money is not None:
        axes["yaxis"] = money_axis(*ends.usd, most=most_ticks(place.height_px), domain=list(place.money))
    layout = theme.layout(margin=margin, shapes=shapes, annotations=notes, hoversubplots="axis", **axes)
    return layout, numbered


def most_ticks(height_px: float) -> int:
    """Return how many ticks of money stand clear of each other in a figure."""
    return 11 if height_px > LOW_PX else 7


def money_title(curve: CostCurve) -> str:
    """Return the title of the row of money."""
    return f"USD per million output tokens ({curve.cost})"


def time_title(curve: CostCurve, *, narrow: bool) -> str:
    """Return the title of the row of times; on a phone it says too what the tint means."""
    if not narrow:
        return "ms between two tokens of one user"
    limit = curve.case.scenario.max_tpot_s
    slow = "" if limit is None else f"slower than {units.speed(units.tokens_per_s(limit))}"
    return f"time between two tokens</b> <span style='color:{theme.role('limit')}'>{slow}</span><b>"


def _titles(curve: CostCurve, place: Geometry) -> list[Part]:
    words_of = [
        (place.money, "USD per million tokens" if place.narrow else money_title(curve)),
        (place.strip, "share of that cost" if place.money else "share of the time"),
        (place.time, time_title(curve, narrow=place.narrow)),
    ]
    return [row_title(title, row[1]) for row, title in words_of if row is not None]


def _ground(curve: CostCurve, place: Geometry, ends: Ranges) -> list[Part]:
    """Return the grey ground past the wall, the faded strip, the half-plane that is too slow, the floor."""
    shapes: list[Part] = []
    if curve.last < curve.axis_max:
        past = {"type": "rect", "xref": "x", "yref": "paper", "x0": curve.last, "x1": curve.axis_max,
                "line": {"width": 0}}  # fmt: skip
        shapes += [
            {**past, "y0": low, "y1": high, "fillcolor": theme.role("ground"), "layer": "below"}
            for low, high in (row for row in (place.money, place.time) if row is not None)
        ]
        if place.strip is not None:
            low, high = place.strip
            faded = {"fillcolor": theme.role("paper", 0.68), "layer": "above"}
            shapes.append({**past, "y0": low, "y1": high, **faded})
    limit = curve.case.scenario.max_tpot_s
    across = {"xref": "paper", "yref": "y3", "x0": 0, "x1": 1}
    if limit is not None and units.ms(limit) < ends.time_ms:
        at = units.ms(limit)
        shapes += [
            {**across, "type": "rect", "y0": at, "y1": ends.time_ms, "fillcolor": theme.role("limit", 0.07),
             "line": {"width": 0}, "layer": "below"},
            {**across, "type": "line", "y0": at, "y1": at,
             "line": {"color": theme.role("limit"), "dash": "dash", "width": 1.5}},
        ]  # fmt: skip
    if place.money is not None and curve.floor_usd_per_mtok > ends.usd[0]:
        floor = curve.floor_usd_per_mtok
        shapes.append(
            {"name": "floor", "type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": floor,
             "y1": floor, "line": {"color": theme.role("floor"), "width": 2.5}}
        )  # fmt: skip
    return shapes


def x_px(batch: float, curve: CostCurve, place: Geometry) -> float:
    """Return how far from the left end of the plotted area a batch lies. [px]"""
    return float(xs_px(np.asarray(batch), curve, place))


def xs_px(batch: FloatArray, curve: CostCurve, place: Geometry) -> FloatArray:
    """Return how far from the left end of the plotted area batches lie. [px]"""
    return np.log(batch) / math.log(curve.axis_max) * place.width_px


def _rail(curve: CostCurve, place: Geometry) -> tuple[list[Part], list[Part], dict[str, str]]:
    """Return names and rules of the edges that lie where something runs."""
    edges = [edge for edge in curve.edges if curve.reaches(edge)]
    marks = [rail.Mark(e.key, words.edge_text(e), x_px(e.batch or 1.0, curve, place)) for e in edges]
    title = rail.width_px(money_title(curve)) - 46
    if place.narrow:
        placed = tuple(
            rail.Placed(m.key, "number", 0, n) for n, m in enumerate(sorted(marks, key=lambda m: m.x_px), 1)
        )
    else:
        placed = rail.place(marks, width=place.width_px, taken_px=title, right_px=MARGIN["r"])
    by_key = {edge.key: edge for edge in edges}
    names: list[Part] = []
    shapes: list[Part] = []
    last_px = -1e9
    for spot in placed:
        edge = by_key[spot.key]
        colour, dash = LOOKS[spot.key]
        lift = spot.lane * LANE_PX
        if place.narrow:  # neighbours' numbers take turns in height
            at = x_px(edge.batch or 1.0, curve, place)
            lift = LANE_PX * 0.8 if at - last_px < 14 else 0.0
            last_px = at if not lift else -1e9
        names.append(_name(spot, edge, lift, colour))
        spans = [*place.all_rows]
        if lift and (place.narrow or x_px(edge.batch or 1.0, curve, place) > title):
            spans[0] = (spans[0][0], spans[0][1] + (lift + 4) / place.height_px)
        shapes += rule(spot.key, edge.batch or 1.0, colour=colour, dash=dash, spans=spans)
    return names, shapes, {spot.key: spot.circled for spot in placed if spot.number}


def _name(spot: rail.Placed, edge: Edge, lift: float, colour: str) -> Part:
    where = {"xref": "x", "yref": "paper", "x": math.log10(edge.batch or 1.0), "y": 1.0, "yanchor": "bottom"}
    colour = "limit" if colour == "limit" else "ink"
    if spot.side == "number":
        return text(spot.circled, colour=colour, size=15, xanchor="center", yshift=lift, **where)
    words_ = f"{edge.name} <b>{edge.batch:,.0f}</b>"
    right = spot.side == "right"
    return text(words_, colour=colour, xanchor="left" if right else "right", xshift=4 if right else -4,
                yshift=lift, **where)  # fmt: skip


def _marks(curve: CostCurve, place: Geometry) -> list[Part]:
    """Return the dots: hollow ones at one sequence, limit and wall; the operating point, to be moved."""
    shapes: list[Part] = []
    if place.money is not None:
        for key, batch, usd in _hollow(curve):
            shapes.append(
                plot.dot(f"hollow {key}", filled=False, radius_px=5, xref="x", yref="y", xanchor=batch,
                         yanchor=usd)
            )  # fmt: skip
    if place.strip is not None:
        low, high = place.strip
        shapes.append(
            {"name": "now in strip", "type": "line", "xref": "x", "yref": "paper", "y0": low, "y1": high,
             "x0": 1, "x1": 1, "line": {"color": theme.role("ink"), "width": 2}}
        )  # fmt: skip
    on = (["y"] if place.money is not None else []) + ["y3"]
    for axis in on:
        name = "now" if axis == "y" else "now in time"
        where = {"xref": "x", "yref": axis, "xanchor": 1, "yanchor": 1}
        shapes.append(plot.dot(name, **where))
        shapes.append(
            {"name": f"{name} past", "type": "path", "xsizemode": "pixel", "ysizemode": "pixel", "path": CROSS,
             "line": {"color": theme.role("limit"), "width": 3.5}, "opacity": 0, **where}
        )  # fmt: skip
    return shapes


def _hollow(curve: CostCurve) -> list[tuple[str, float, float]]:
    """Return (key, batch, cost) of the hollow dots."""
    dots = [("one", 1.0, float(curve.shown.usd_per_mtok[0]))]
    for key in ("limit", "wall"):
        edge = curve.edge(key)
        if curve.reaches(edge) and edge.batch is not None and edge.batch > 1:
            dots.append((key, edge.batch, edge.usd_per_mtok))
    return dots


def _texts(curve: CostCurve, place: Geometry, ends: Ranges) -> list[Part]:
    """Return the words inside the rows; those at the operating point are moved from the table."""
    found: list[Part] = []
    if place.money is not None:
        found += _money_texts(curve, place, ends)
    if place.strip is not None:
        found += _band_names(curve, place)
    if curve.last < curve.axis_max and x_px(curve.axis_max / curve.last, curve, place) > 96:
        row = place.money or place.time
        middle = math.log10(math.sqrt(curve.last * curve.axis_max))
        found.append(
            text(f"doesn’t fit<br>on {words.memory_of_copy(curve)}", colour="muted", xref="x", yref="paper",
                 x=middle, y=row[0] + 0.72 * (row[1] - row[0]))
        )  # fmt: skip
    limit = curve.case.scenario.max_tpot_s
    if limit is not None and units.ms(limit) < ends.time_ms and not place.narrow:
        found.append(
            text(f"slower than {units.speed(units.tokens_per_s(limit))}", colour="limit", xref="paper", yref="y3",
                 x=0, y=ends.time_ms, xanchor="left", yanchor="top", xshift=6)
        )  # fmt: skip
    found.append(moved_label(f"now in time{NARROW if place.narrow else ''}", "y3", ay=-24))
    return found


def _money_texts(curve: CostCurve, place: Geometry, ends: Ranges) -> list[Part]:
    found = []
    for key, batch, usd in _hollow(curve):
        if place.narrow and key == "limit":
            continue
        words_ = f"one sequence alone <b>{units.usd(usd)}</b>" if key == "one" else units.usd(usd)
        found.append(
            text(words_, name=f"price {key}{NARROW if place.narrow else ''}", xref="x", yref="y",
                 x=math.log10(batch), y=math.log10(usd), xanchor="left",
                 yanchor="middle" if key != "limit" else "bottom",
                 xshift=12 if key != "limit" else 6, yshift=4 if key != "wall" else 0)
        )  # fmt: skip
    if curve.floor_usd_per_mtok > ends.usd[0]:
        why = "" if place.narrow else f", however large the batch: {words.floor_reason(curve)}"
        found.append(
            text(f"floor <b>{units.usd(curve.floor_usd_per_mtok)}</b>{why}", colour="floor", xref="paper",
                 yref="y", x=0, y=math.log10(curve.floor_usd_per_mtok), xanchor="left", yanchor="top", xshift=8)
        )  # fmt: skip
    if not place.narrow:
        found.append(_perfect(curve, ends))
    found.append(moved_label(f"now{NARROW if place.narrow else ''}", "y", ay=-70))
    return found


def _perfect(curve: CostCurve, ends: Ranges) -> Part:
    """Return the name of the dotted line, under it where it has room to the floor."""
    at = curve.last ** 0.42
    usd = float(np.exp(np.interp(math.log(at), np.log(curve.line.batch), np.log(curve.ideal_usd_per_mtok))))
    return text("same, with a perfect engine", colour="muted", xref="x", yref="y", x=math.log10(at),
                y=math.log10(usd), xanchor="right", yanchor="top", xshift=-2, yshift=-4)  # fmt: skip


def _band_names(curve: CostCurve, place: Geometry) -> list[Part]:
    """Return the names of bands that are high enough somewhere, at their highest clear place."""
    line = curve.line
    position = np.asarray([x_px(float(b), curve, place) for b in line.batch])
    half = 62.0
    end = x_px(curve.last, curve, place)
    clear = (position > half) & (position < max(end, 2 * half + 1) - half) & (line.batch <= curve.last)
    low, high = place.strip or (0.0, 1.0)
    strip_px = (high - low) * place.height_px
    for edge in curve.edges:  # not under a rule, where there is a choice
        if curve.reaches(edge) and edge.key != "wall":
            clear &= np.abs(position - x_px(edge.batch or 1.0, curve, place)) > half / 2
    base = np.zeros(line.batch.shape)
    found = []
    for part, share in words.shares_of(curve, line, curve.shown).items():
        middle = base + share / 2
        base = base + share
        wanted = np.where(clear, share, -1.0)
        best = int(np.argmax(wanted - 1e-4 * np.abs(position - position.mean())))
        if wanted[best] < max(NAMED_FROM, 13 / strip_px):
            continue
        name = words.PART_NAMES[part].removesuffix(" per step").removesuffix(" between GPUs")
        found.append(
            text(name, colour=ON.get(part, f"on_{part}"), size=SMALL_PX, xref="x", yref="y2",
                 x=math.log10(float(line.batch[best])), y=units.PERCENT * float(middle[best]))
        )  # fmt: skip
    return found


def moved_label(name: str, axis: str, *, ay: float) -> Part:
    """Return a label on a leader whose place and words come from the table."""
    return {
        "name": name, "text": "", "xref": "x", "yref": axis, "x": 0, "y": 0, "ax": -40, "ay": ay,
        "xanchor": "center", "showarrow": True, "arrowhead": 0, "arrowwidth": 1.2, "standoff": 9,
        "arrowcolor": theme.role("ink"), "bgcolor": theme.role("paper", 0.85), "borderpad": 2,
        "font": {"color": theme.role("ink"), "size": theme.FONT_PX},
    }  # fmt: skip
