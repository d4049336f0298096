"""Speed vs cost: each accelerator's cheapest setup at every speed, with limits, picks and APIs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costmodel import catalog, pareto
from costmodel.frontier import Line
from costmodel.picks import Pick, pick
from ui import plot, theme, units, words_frontier
from ui.charts.frame import Part, dollar_text, dollar_ticks, money_axis, text
from ui.charts.labels import Board, Box, Spot, spread, within
from ui.frontier_view import View, axis_names, narrow_rows

HEIGHT_PX, HEIGHT_NARROW_PX, HEIGHT_ROOM_PX = 560, 470, 430
MARGIN = {"l": 60, "r": 176, "t": 30, "b": 46}
MARGIN_NARROW = {"l": 46, "r": 10, "t": 30, "b": 44}
WIDTH_PX, WIDTH_NARROW_PX = 690.0, 300.0
MOST_POINTS = 90
"""Points of a line; more don't show."""
TALLEST = 36.0
"""Highest over lowest cost drawn: beyond, lines only rise."""
API_MOST, API_APART_PX = 8, 18.0
SPEED_TICKS = (1, 2, 3, 5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000)


@dataclass(frozen=True)
class Plane:
    """The plotted area of a layout: ranges, and pixels for placing labels."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float
    height: float
    narrow: bool

    def px(self, x: object, y: object) -> tuple[np.ndarray, np.ndarray]:
        """Return points in pixels from the lower left corner."""
        return _log_share(x, self.x) * self.width, _log_share(y, self.y) * self.height


def _log_share(values: object, ends: tuple[float, float]) -> np.ndarray:
    """Return how far along a logarithmic axis values lie; far outside where they aren't positive."""
    given = np.asarray(values, dtype=float)
    share = np.log(np.where(given > 0, given, 1.0) / ends[0]) / math.log(ends[1] / ends[0])
    return np.where(given > 0, share, -1e3)


def figure(shown: View, *, room: bool = False) -> plot.Figure:
    """Return the figure of a view; for a room, where it is enlarged, a lower one."""
    ends, height = _ranges(shown), HEIGHT_ROOM_PX if room else HEIGHT_PX
    layouts = [_layout(shown, _plane(shown, ends, height, narrow=narrow)) for narrow in (False, True)]
    return plot.Figure(
        data=_traces(shown),
        layout=layouts[0],
        layout_narrow=layouts[1],
        alt=words_frontier.alt(shown),
        height_px=height,
        height_narrow_px=HEIGHT_NARROW_PX,
    )


def _plane(
    shown: View, ends: tuple[tuple[float, float], tuple[float, float]], height_px: int, *, narrow: bool
) -> Plane:  # fmt: skip
    margin = MARGIN_NARROW if narrow else MARGIN
    height = (HEIGHT_NARROW_PX if narrow else height_px) - margin["t"] - margin["b"]
    return Plane(*ends, WIDTH_NARROW_PX if narrow else WIDTH_PX, float(height), narrow)


def _ranges(shown: View) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ends of both axes: what the coloured lines and the marks need."""
    main = [line for line in (*shown.lines, *shown.dotted) if line.hardware in shown.coloured]
    xs = np.concatenate([line.x for line in main]) if main else np.asarray([1.0, 100.0])
    ys = np.concatenate([line.y for line in main]) if main else np.asarray([0.1, 10.0])
    good = np.isfinite(xs) & np.isfinite(ys) & (xs > 0) & (ys > 0)
    xs, ys = (xs[good], ys[good]) if good.any() else (np.asarray([1.0, 100.0]), np.asarray([0.1, 10.0]))
    x_low, x_high, y_low, y_high = float(xs.min()), float(xs.max()), float(ys.min()), float(ys.max())
    if not shown.is_default:
        return (x_low / 1.1, x_high * 1.1), (y_low / 1.2, y_high * 1.2)
    best = shown.answers.cheapest
    lows = [y_low, *([best.low] if best is not None and best.low > 0 else [])]
    lows += [o.usd_per_mtok for o in shown.offers.offers if o.usd_per_mtok > y_low / 4]
    highs = [o.usd_per_mtok for o in shown.offers.offers] + [r.pick.usd_per_mtok for r in shown.dots if r.pick]
    if shown.now is not None and shown.now.fits:
        highs.append(shown.now.usd_per_mtok)
        x_low, x_high = min(x_low, shown.now.tokens_per_s), max(x_high, shown.now.tokens_per_s)
    if shown.speed_limit is not None:
        x_low, x_high = min(x_low, shown.speed_limit / 1.6), max(x_high, shown.speed_limit * 1.15)
    bottom = min(lows) / 1.35
    top = max(min(y_high, y_low * TALLEST), 1.6 * max(highs, default=0.0))
    return (x_low / 1.12, x_high * 1.1), (bottom, top)


# Traces -----------------------------------------------------------------------------------------


def colour(shown: View, hardware: int) -> str:
    """Return the role of an accelerator's line."""
    if hardware not in shown.coloured:
        return "muted"
    return f"series_{shown.coloured.index(hardware) + 1}"


def _thinned(line: Line, *, top: float) -> np.ndarray:
    """Return the positions of a line that are drawn; one beyond the top keeps it leaving the plot."""
    inside = np.flatnonzero(np.isfinite(line.x) & np.isfinite(line.y) & (line.y <= top * 1.5))
    if inside.size <= MOST_POINTS:
        return inside
    return inside[np.unique(np.linspace(0, inside.size - 1, MOST_POINTS).round().astype(int))]


def _traces(shown: View) -> list[Part]:
    top = _ranges(shown)[1][1]
    coloured = {h: i for i, h in enumerate(shown.coloured)}
    grey = [line for line in shown.lines if line.hardware not in coloured]
    main = sorted((x for x in shown.lines if x.hardware in coloured), key=lambda x: -coloured[x.hardware])
    traces = [_line(shown, line, top, width=1.0, dash="solid") for line in grey]
    best = shown.answers.cheapest
    if shown.is_default and best is not None:
        among = shown.dotted if bool(narrow_rows(shown.sweep)[best.row]) else main
        own = next((x for x in among if x.hardware == int(shown.sweep.hardware[best.row])), None)
        if own is not None and np.isfinite(own.high).all():
            traces += _band(own, top)
    traces += [_line(shown, line, top, width=2.6, dash="solid") for line in main]
    traces += [
        _line(shown, line, top, width=2.0, dash="dot") for line in shown.dotted if line.hardware in coloured
    ]
    if not shown.is_default:
        return traces
    return [*traces, *_pins(shown), *_marks(shown)]


def _pins(shown: View) -> list[Part]:
    """Return each pin's own setup over its batches, thin, with a dot at its batch."""
    found: list[Part] = []
    for pin in shown.pinned:
        dash = theme.DASHES["ABCD".index(pin.letter)]
        line = {"color": theme.role("ink"), "width": 1.3, "dash": dash}
        ring = {"color": theme.role("ink"), "width": 2}
        found += [
            {"type": "scatter", "mode": "lines", "name": f"pin {pin.letter}", "line": line,
             "x": np.ascontiguousarray(pin.tokens_per_s), "y": np.ascontiguousarray(pin.usd_per_mtok),
             "hovertemplate": f"pin {pin.letter}: $%{{y:.3~g}} at %{{x:.3~g}} tok/s<extra></extra>"},
            {"type": "scatter", "mode": "markers", "name": f"pin {pin.letter} now",
             "x": [float(pin.tokens_per_s[pin.at])], "y": [float(pin.usd_per_mtok[pin.at])], "hoverinfo": "skip",
             "marker": {"color": theme.role("paper"), "size": 8, "line": ring}},
        ]  # fmt: skip
    return found


def _line(shown: View, line: Line, top: float, *, width: float, dash: str) -> Part:
    at = _thinned(line, top=top)
    card = shown.sweep.space.hardware[line.hardware]
    trace: Part = {
        "type": "scatter", "mode": "lines", "name": card.short, "x": np.ascontiguousarray(line.x[at]),
        "y": np.ascontiguousarray(line.y[at]), "customdata": line.index[at].tolist(),
        "line": {"color": theme.role(colour(shown, line.hardware), 1.0 if width > 1 else 0.55), "width": width,
                 "dash": dash},
    }  # fmt: skip
    if width > 1:
        trace["text"] = [_hover(shown, pick(shown.sweep, int(i))) for i in line.index[at]]
        trace["hovertemplate"] = "%{text}<extra></extra>"
    else:
        trace["hovertemplate"] = f"{card.short}<extra></extra>"
    return trace


def _hover(shown: View, p: Pick) -> str:
    stored = f"{words_frontier.weights(shown, p)} weights, {p.setup.kv} cache"
    return (
        f"<b>{words_frontier.place(p)}</b>, {stored}, batch {p.batch:,.0f}<br>"
        f"{units.usd(p.usd_per_mtok)} all-in, {units.speed(p.tokens_per_s)}, "
        f"first token {units.duration(p.ttft_s)}"
    )


def _band(line: Line, top: float) -> list[Part]:
    at = _thinned(line, top=top)
    ends: Part = {"type": "scatter", "mode": "lines", "x": np.ascontiguousarray(line.x[at]),
                  "hoverinfo": "skip", "line": {"width": 0}}  # fmt: skip
    low, high = np.ascontiguousarray(line.low[at]), np.ascontiguousarray(line.high[at])
    fill = {"fill": "tonexty", "fillcolor": theme.role("ink", 0.12)}
    return [{**ends, "name": "low", "y": low}, {**ends, "name": "high", "y": high, **fill}]


def _marks(shown: View) -> list[Part]:
    """Return dots: the neighbours of the limit, the best at it, and the scenario's own setup."""
    found = [_dot(shown, r.pick, "hollow", filled=False, size=9) for r in shown.dots if r.pick is not None]
    best = shown.answers.cheapest
    if best is not None:
        missed = best.may_miss(shown.answers.limits)
        found.append(_dot(shown, best, "best", filled=not missed, size=14))
    now = shown.now
    if now is not None and now.fits:
        ring = {"color": theme.role("paper"), "width": 2}
        said = f"now: {units.usd(now.usd_per_mtok)} at {units.speed(now.tokens_per_s)}"
        found.append(
            {"type": "scatter", "mode": "markers", "name": "now", "x": [now.tokens_per_s], "y": [now.usd_per_mtok],
             "marker": {"color": theme.role("ink"), "size": 14, "line": ring},
             "hovertemplate": f"{said}<extra></extra>"}
        )  # fmt: skip
    return found


def _dot(shown: View, chosen: Pick, name: str, *, filled: bool, size: int) -> Part:
    own = int(shown.sweep.hardware[chosen.row])
    at = shown.coloured.index(own) if own in shown.coloured else None
    role = theme.role(colour(shown, own))
    marker = {
        "symbol": theme.MARKS[at] if at is not None else "circle", "size": size,
        "color": role if filled else theme.role("paper"),
        "line": {"color": theme.role("paper") if filled else role, "width": 2 if filled else 2.5},
    }  # fmt: skip
    return {
        "type": "scatter", "mode": "markers", "name": name, "x": [chosen.tokens_per_s], "y": [chosen.usd_per_mtok],
        "marker": marker, "text": [_hover(shown, chosen)], "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


# Layouts ----------------------------------------------------------------------------------------


def _layout(shown: View, plane: Plane) -> Part:
    board = _board(shown, plane)
    shapes: list[Part] = []
    notes: list[Part] = []
    if shown.is_default:
        shapes, notes = _limit(shown, plane, board)
        notes += _pick_labels(shown, plane, board)
        notes += _pin_letters(shown, plane, board)
    notes += _line_names(shown, plane, board)
    if shown.is_default:
        if not plane.narrow:
            api_shapes, api_notes = _apis(shown, plane)
            shapes, notes = shapes + api_shapes, notes + api_notes
        title = "USD per million output tokens, prompts included"
    else:
        title = _sentence(axis_names(shown.axes[1]))
    if plane.narrow and shown.is_default:
        title = "USD per million output tokens"
    notes.append(
        text(f"<b>{title}</b>", xref="paper", yref="paper", x=0, y=1, xanchor="left", yanchor="bottom", yshift=6,
             xshift=-40)
    )  # fmt: skip
    return theme.layout(
        margin=MARGIN_NARROW if plane.narrow else MARGIN, hovermode="closest", shapes=shapes, annotations=notes,
        xaxis=_speed_axis(shown, plane), yaxis=_cost_axis(shown, plane),
    )  # fmt: skip


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _speed_axis(shown: View, plane: Plane) -> Part:
    title = axis_names(shown.axes[0])
    span = [math.log10(plane.x[0]), math.log10(plane.x[1])]
    common: Part = {"type": "log", "range": span, "title": {"standoff": 6, "font": {"size": theme.FONT_PX}}}
    if not shown.is_default:
        common["title"] = {**common["title"], "text": title}
        return theme.axis(**common, nticks=8)
    scale = 0.75 if shown.in_words else 1.0
    ticks = [t for t in SPEED_TICKS if plane.x[0] <= t / scale <= plane.x[1]]
    if plane.narrow:
        ticks = [t for t in ticks if t not in {3, 30, 70, 150, 300}]
    unit = "words" if shown.in_words else "tokens"
    common["title"] = {**common["title"], "text": f"{unit} per second each user sees"}
    return theme.axis(**common, tickvals=[t / scale for t in ticks], ticktext=[f"{t:,}" for t in ticks])


def _cost_axis(shown: View, plane: Plane) -> Part:
    if shown.is_default or shown.axes[1] in {"all-in", "answer"}:
        return money_axis(*plane.y)
    span = [math.log10(plane.y[0]), math.log10(plane.y[1])]
    ticks = dollar_ticks(*plane.y)
    if pareto.axis(shown.axes[1]).unit == "USD":
        return theme.axis(type="log", range=span, tickvals=ticks, ticktext=[dollar_text(t) for t in ticks])
    return theme.axis(type="log", range=span, nticks=8)


def _visible(
    shown: View, plane: Plane, lines: Sequence[Line]
) -> list[tuple[Line, np.ndarray, np.ndarray]]:
    """Return the coloured ones of some lines with their visible points in pixels, best first."""
    found = []
    for line in sorted(lines, key=lambda x: x.hardware not in shown.coloured[:1]):
        if line.hardware not in shown.coloured:
            continue
        x, y = plane.px(line.x, line.y)
        inside = (x >= 0) & (x <= plane.width) & (y >= 0) & (y <= plane.height)
        if inside.sum() > 1:
            found.append((line, *_even(x[inside], y[inside])))
    return found


def _even(x: np.ndarray, y: np.ndarray, *, step_px: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a polyline at even distances along it."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = np.linspace(0.0, along[-1], max(int(along[-1] / step_px), 2))
    return np.interp(at, along, x), np.interp(at, along, y)


def _board(shown: View, plane: Plane) -> Board:
    drawn = (*shown.lines, *shown.dotted)
    board = Board(plane.width, plane.height, [(x, y) for _, x, y in _visible(shown, plane, drawn)])
    for mark in _marks(shown) if shown.is_default else []:
        x, y = plane.px(mark["x"], mark["y"])
        board.take(Box(float(x[0]) - 7, float(y[0]) - 7, float(x[0]) + 7, float(y[0]) + 7))
    return board


def _limit(shown: View, plane: Plane, board: Board) -> tuple[list[Part], list[Part]]:
    limit = shown.speed_limit
    if limit is None:
        return [], []
    across, _ = plane.px([limit], [plane.y[0]])
    tint = {"type": "rect", "xref": "x", "yref": "paper", "x0": plane.x[0], "x1": limit, "y0": 0, "y1": 1,
            "line": {"width": 0}, "fillcolor": theme.role("limit", 0.07), "layer": "below"}  # fmt: skip
    rule = {"type": "line", "xref": "x", "yref": "paper", "x0": limit, "x1": limit, "y0": 0, "y1": 1,
            "line": {"color": theme.role("limit"), "dash": "dash", "width": 1.5}}  # fmt: skip
    where = {"xref": "x", "yref": "paper", "x": math.log10(limit)}
    notes = []
    slow = "too slow" if plane.narrow else "too slow for your users"
    if float(across[0]) > (70 if plane.narrow else 170):
        notes.append(text(slow, colour="limit", **where, y=1, yanchor="top", xanchor="right", xshift=-6))
        board.take(Box(float(across[0]) - 175, plane.height - 22, float(across[0]), plane.height))
    name = f"limit: {words_frontier.speed(shown, limit)}"
    if float(across[0]) > plane.width - 130:
        notes.append(
            text(name, colour="limit", **where, y=1, yanchor="top", xanchor="right", xshift=-6, yshift=-18)
        )
        board.take(Box(float(across[0]) - 130, plane.height - 42, float(across[0]), plane.height))
    else:
        notes.append(text(name, colour="limit", **where, y=1, yanchor="top", xanchor="left", xshift=5))
        board.take(Box(float(across[0]), plane.height - 22, float(across[0]) + 130, plane.height))
    return [tint, rule], notes


def _pick_labels(shown: View, plane: Plane, board: Board) -> list[Part]:
    """Return the labels of the best, of the scenario's own setup, and of the limit's neighbours."""
    found = []
    best = shown.answers.cheapest
    if best is not None:
        found += _leader(plane, board, best.tokens_per_s, best.usd_per_mtok, _best_words(shown, best, plane))
    now = shown.now
    if now is not None and now.fits:
        setup = f"{shown.scenario.gpus} × {catalog.accelerator(shown.scenario.hardware).short}"
        words = f"now: <b>{units.usd(now.usd_per_mtok)}</b>"
        if not plane.narrow:
            words = f"<b>now: {setup}, batch {now.batch:,.0f}, {units.usd(now.usd_per_mtok)}</b>"
        found += _leader(plane, board, now.tokens_per_s, now.usd_per_mtok, words)
    for rung in shown.dots:
        if rung.pick is not None:
            found += _beside(shown, plane, board, rung.pick)
    return found


def _pin_letters(shown: View, plane: Plane, board: Board) -> list[Part]:
    """Return each pin's letter at its dot."""
    found = []
    for pin in shown.pinned:
        x, y = float(pin.tokens_per_s[pin.at]), float(pin.usd_per_mtok[pin.at])
        across, up = plane.px([x], [y])
        spots = [Spot(float(across[0]), float(up[0]), dx, dy, "center") for dx, dy in ((0, 16), (0, -16), (16, 0))]
        spot = board.put(pin.letter, spots, most=900)
        if spot is not None:
            found.append(
                text(f"<b>{pin.letter}</b>", xref="x", yref="y", x=math.log10(x), y=math.log10(y),
                     xanchor="center", yanchor="middle", xshift=spot.dx, yshift=spot.dy)
            )  # fmt: skip
    return found


def _best_words(shown: View, best: Pick, plane: Plane) -> str:
    cost = units.usd(best.usd_per_mtok)
    missed = best.may_miss(shown.answers.limits)
    may = f"<br><span style='color:{theme.role('limit')}'>may miss your limit</span>" if missed else ""
    if plane.narrow:
        return f"<b>best {cost}</b><br>{words_frontier.place(best)}{may}"
    limit = shown.speed_limit
    at = "cheapest" if limit is None else f"cheapest at {words_frontier.speed(shown, limit)}"
    stored = f"{words_frontier.weights(shown, best)} weights, {best.setup.kv} cache, batch {best.batch:,.0f}"
    return (
        f"<b>{at}: {cost}</b><br>{words_frontier.place(best)}, {stored}<br>"
        f"<span style='color:{theme.role('muted')}'>first token {units.duration(best.ttft_s)}, "
        f"{units.speed(best.tokens_per_s)}</span>{may}"
    )


def _leader(plane: Plane, board: Board, x: float, y: float, words: str) -> list[Part]:
    across, up = plane.px([x], [y])
    far = 0.7 if plane.narrow else 1.0
    offsets = [(-150, 110), (-190, 70), (60, 120), (-120, 170), (110, 60), (-200, 170), (90, -80), (-140, -80),
               (0, 140), (150, 170), (60, -140), (-60, 230), (40, 230), (-180, 250)]  # fmt: skip
    spots = [
        within(Spot(float(across[0]), float(up[0]), dx * far, dy * far, "center"), words, width=plane.width,
               height=plane.height)
        for dx, dy in offsets
    ]  # fmt: skip
    spot = board.put(words, spots)
    if spot is None:
        return []
    return [
        {"text": words, "xref": "x", "yref": "y", "x": math.log10(x), "y": math.log10(y), "ax": spot.dx,
         "ay": -spot.dy, "xanchor": "center", "align": "left", "showarrow": True, "arrowhead": 0,
         "arrowwidth": 1.2, "standoff": 9, "arrowcolor": theme.role("ink"), "borderpad": 2,
         "bgcolor": theme.role("paper", 0.85),
         "font": {"color": theme.role("ink"), "size": theme.FONT_PX}}
    ]  # fmt: skip


def _beside(shown: View, plane: Plane, board: Board, chosen: Pick) -> list[Part]:
    x, y = chosen.tokens_per_s, chosen.usd_per_mtok
    across, up = plane.px([x], [y])
    words = f"<b>{units.usd(y)}</b>"
    if not plane.narrow:
        words = f"{words_frontier.speed(shown, x)} {words}"
    places = [(12, -14, "left"), (-12, 14, "right"), (12, 14, "left"), (-12, -14, "right"), (0, -26, "center"),
              (0, 26, "center")]  # fmt: skip
    spot = board.put(words, [Spot(float(across[0]), float(up[0]), dx, dy, a) for dx, dy, a in places], most=300)
    if spot is None:
        return []
    return [
        text(words, xref="x", yref="y", x=math.log10(x), y=math.log10(y), xanchor=spot.xanchor, yanchor="middle",
             xshift=spot.dx, yshift=spot.dy, bgcolor=theme.role("paper", 0.75))
    ]  # fmt: skip


def _line_names(shown: View, plane: Plane, board: Board) -> list[Part]:
    """Return each coloured line's name and price, where it covers least."""
    found = []
    solid = _visible(shown, plane, shown.lines)
    named = sorted(solid, key=lambda v: shown.coloured.index(v[0].hardware))
    dotted = _visible(shown, plane, shown.dotted)[:1] if not plane.narrow else []
    for line, x, y in [*named, *dotted]:
        card = shown.sweep.space.hardware[line.hardware]
        price = _price(shown, line.hardware)
        words = f"<b>{card.short}</b>" + ("" if plane.narrow else f" {price}")
        if any(line is other for other, _, _ in dotted):
            words = f"{card.short}, weights in 4 bits<br>(check quality)"
        spots = []
        for part in (0.97, 0.88, 0.03, 0.75, 0.12, 0.6, 0.25, 0.45):
            i = min(int(part * (x.size - 1)), x.size - 1)
            for dx, dy, anchor in ((-8, 8, "right"), (8, -8, "left"), (8, 12, "left"), (-8, -12, "right")):
                spots.append(Spot(float(x[i]), float(y[i]), dx, dy, anchor))
        spot = board.put(words, spots)
        if spot is None:
            continue
        found.append(
            text(words, colour=colour(shown, line.hardware), xref="paper", yref="paper", x=spot.x / plane.width,
                 y=spot.y / plane.height, xanchor=spot.xanchor, yanchor="middle", xshift=spot.dx, yshift=spot.dy,
                 bgcolor=theme.role("paper", 0.75))
        )  # fmt: skip
    return found


def _price(shown: View, hardware: int) -> str:
    rows = np.flatnonzero(shown.sweep.hardware == hardware)
    return f"{units.usd(float(shown.sweep.usd_per_gpu_hour[rows[0]]))}/h" if rows.size else ""


def _apis(shown: View, plane: Plane) -> tuple[list[Part], list[Part]]:
    """Return ticks on the right margin: what providers ask for the same request mix."""
    offers = [o for o in shown.offers.offers if plane.y[0] <= o.usd_per_mtok <= plane.y[1]][:API_MOST]
    if not offers:
        return [], []
    _, up = plane.px(np.full(len(offers), plane.x[0]), [o.usd_per_mtok for o in offers])
    where = spread(up.tolist(), apart=API_APART_PX, low=8.0, high=plane.height - 30)
    ticks: list[Part] = [
        {"type": "line", "xref": "paper", "yref": "y", "x0": 1.0, "x1": 1.025, "y0": o.usd_per_mtok,
         "y1": o.usd_per_mtok, "line": {"color": theme.role("muted"), "width": 2.5}}
        for o in offers
    ]  # fmt: skip
    names = [
        text(f"{o.provider} <b>{units.usd(o.usd_per_mtok)}</b>", colour="muted", xref="paper", yref="paper", x=1.0,
             y=at / plane.height, xanchor="left", yanchor="middle", xshift=28)
        for o, at in zip(offers, _list(where), strict=True)
    ]  # fmt: skip
    top = text("APIs, same requests", colour="muted", xref="paper", yref="paper", x=1.0, y=1, xanchor="left",
               yanchor="top", xshift=28)  # fmt: skip
    return ticks, [*names, top]


def _list(values: Sequence[float]) -> list[float]:
    return [float(v) for v in values]
