"""The prompt's share over lengths: a map in five steps, with the line where it is half, and you on it."""

import math

import numpy as np

from costmodel.prompt_share import ShareMap
from costmodel.scenario import Scenario
from costmodel.workloads import WORKLOADS
from ui import plot, theme, units, words_prompt
from ui.charts.frame import SMALL_PX, Part, row_title, text

HEIGHT_PX, HEIGHT_NARROW_PX = 430, 360
MARGIN = {"l": 66, "r": 18, "t": 34, "b": 48}
MARGIN_NARROW = {"l": 48, "r": 10, "t": 34, "b": 48}
OPACITY = (0.07, 0.2, 0.36, 0.55, 1.0)
"""Of the five steps; one hue, so that more colour is more prompt."""
STEPS = ("under 20 %", "20–40 %", "40–60 %", "60–80 %", "over 80 %")
MIDDLES = (0.1, 0.3, 0.5, 0.7, 0.9)
ASPECT = 2.3
"""Width over height of the plotted area: distances are weighed as the eye sees them."""
CELLS = 49
"""Along each axis."""
USUAL_INPUT, USUAL_OUTPUT = (100.0, 100_000.0), (10.0, 10_000.0)
NEAR = 1.6
"""A ready-made workload closer than this factor in both lengths isn't marked: your point is there."""


def axes(scenario: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths along both axes: the usual ones, widened so that the scenario's lie inside."""
    return _axis(USUAL_INPUT, scenario.input_tokens), _axis(USUAL_OUTPUT, scenario.output_tokens)


def _axis(usual: tuple[float, float], own: float) -> np.ndarray:
    low, high = min(usual[0], max(own / 2, 1.0)), max(usual[1], own * 2)
    return np.geomspace(low, high, CELLS)


def figure(found: ShareMap, scenario: Scenario, share: float, alt: str) -> plot.Figure:
    """Return the map; `share` is the scenario's own."""
    percent = np.ascontiguousarray(units.PERCENT * found.share)
    where = {"x": found.input_tokens, "y": found.output_tokens, "z": percent}
    scale = [[at / 4, theme.role("weights", opacity)] for at, opacity in enumerate(OPACITY)]
    traces: list[Part] = [
        {
            "type": "contour", "name": "share", **where, "colorscale": scale, "showscale": False,
            "autocontour": False, "contours": {"start": 20, "end": 80, "size": 20, "coloring": "fill"},
            "line": {"width": 0.5, "color": theme.role("paper")}, "hoverongaps": False,
            "hovertemplate": "%{x:,.0f} in, %{y:,.0f} out: prompt %{z:.0f} %<extra></extra>",
            "customdata": _codes(found),
        },
        {
            "type": "contour", "name": "half", **where, "showscale": False, "autocontour": False,
            "contours": {"start": 50, "end": 50, "size": 10, "coloring": "none"},
            "line": {"width": 2.5, "color": theme.role("ink"), "dash": "dash"}, "hoverinfo": "skip",
        },
    ]  # fmt: skip
    return plot.Figure(
        data=traces,
        layout=_layout(found, scenario, share, narrow=False),
        layout_narrow=_layout(found, scenario, share, narrow=True),
        alt=alt,
        height_px=HEIGHT_PX,
        height_narrow_px=HEIGHT_NARROW_PX,
    )


def _codes(found: ShareMap) -> np.ndarray:
    """Return a whole number per cell, so that a click says which one it was."""
    rows, columns = found.share.shape
    return np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)


def picked(found: ShareMap, code: int) -> dict[str, float]:
    """Return the lengths of a clicked cell."""
    row, column = divmod(code, found.input_tokens.size)
    return {
        "input_tokens": float(f"{found.input_tokens[column]:.2g}"),
        "output_tokens": float(f"{found.output_tokens[row]:.2g}"),
    }


def _layout(found: ShareMap, scenario: Scenario, share: float, *, narrow: bool) -> Part:
    notes = [row_title("share of a request’s cost that is its prompt", 1.0)]
    notes += [*_steps(found, scenario, narrow=narrow), *_half(found), *_outside(found)]
    shapes: list[Part] = []
    if not narrow:
        marks, names = _workloads(found, scenario)
        shapes += marks
        notes += names
    shapes.append(
        plot.dot("now", xref="x", yref="y", xanchor=scenario.input_tokens, yanchor=scenario.output_tokens)
    )
    left = scenario.input_tokens > math.sqrt(found.input_tokens[0] * found.input_tokens[-1]) * 4
    high = scenario.output_tokens > found.output_tokens[-1] / 4
    notes.append(
        {
            "name": "now", "text": f"<b>now: {words_prompt.percent(share)} prompt</b>", "xref": "x", "yref": "y",
            "x": math.log10(scenario.input_tokens), "y": math.log10(scenario.output_tokens),
            "ax": -70 if left else 70, "ay": 34 if high else -34, "showarrow": True, "arrowhead": 0,
            "arrowwidth": 1.2, "standoff": 9, "arrowcolor": theme.role("ink"), "borderpad": 3,
            "bgcolor": theme.role("paper", 0.88), "font": {"color": theme.role("ink"), "size": theme.FONT_PX},
        }
    )  # fmt: skip
    return theme.layout(
        margin=MARGIN_NARROW if narrow else MARGIN,
        plot_bgcolor=theme.role("ground"),
        shapes=shapes,
        annotations=notes,
        hovermode="closest",
        xaxis=length_axis(found.input_tokens, "input tokens (prompt)", narrow=narrow),
        yaxis=length_axis(found.output_tokens, "" if narrow else "output tokens (answer)", narrow=narrow),
    )


def length_axis(values: np.ndarray, title: str, *, narrow: bool, **changes: object) -> Part:
    """Return a logarithmic axis over lengths: powers of ten, threes between them where there is room."""
    low, high = float(values[0]), float(values[-1])
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if narrow or len(powers) > 5 else (1, 3)
    ticks = [s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high * 1.0001]
    return theme.axis(
        type="log", range=[math.log10(low), math.log10(high)], tickvals=ticks,
        ticktext=[_tokens(t) for t in ticks], showgrid=False,
        title={"text": title, "standoff": 6, "font": {"size": theme.FONT_PX}},
        fixedrange=True, **changes,
    )  # fmt: skip


def _tokens(value: float) -> str:
    return f"{value:,.0f}" if value < 10_000 else f"{value / 1000:,.0f}k"


def _steps(found: ShareMap, scenario: Scenario, *, narrow: bool) -> list[Part]:
    """Return the names of the steps, each at its middle, as far as can be from everything else.

    The middle step has none: the line of one half runs through it, with its name.
    """
    taken = [(scenario.input_tokens, scenario.output_tokens)]
    if (half := _half_place(found)) is not None:
        taken.append(half)
    if not narrow:
        taken += [(w.input_tokens * 1.7, w.output_tokens) for w in WORKLOADS]
    x, y = _unit(found.input_tokens), _unit(found.output_tokens)
    log_in, log_out = np.log(found.input_tokens), np.log(found.output_tokens)
    marks = np.asarray([
        (np.interp(math.log(i), log_in, x), np.interp(math.log(o), log_out, y)) for i, o in taken
    ])  # fmt: skip
    notes = []
    for at, middle in enumerate(MIDDLES):
        rows_, columns = np.nonzero(np.abs(np.nan_to_num(found.share, nan=9.0) - middle) < 0.06)
        inside = (x[columns] > 0.07) & (x[columns] < 0.9) & (y[rows_] > 0.06) & (y[rows_] < 0.93)
        rows_, columns = rows_[inside], columns[inside]
        if at == len(MIDDLES) // 2 or rows_.size == 0:
            continue
        away = np.hypot((x[columns, None] - marks[:, 0]) * ASPECT, y[rows_, None] - marks[:, 1]).min(axis=1)
        best = int(np.argmax(away))
        where = {
            "xref": "x", "x": math.log10(found.input_tokens[columns[best]]),
            "yref": "y", "y": math.log10(found.output_tokens[rows_[best]]),
        }  # fmt: skip
        words = STEPS[at].replace(" %", "") if narrow else STEPS[at]
        notes.append(text(words, colour="on_weights" if at == 4 else "ink", size=SMALL_PX, **where))
    return notes


def _unit(lengths: np.ndarray) -> np.ndarray:
    """Return where lengths lie along their axis, from 0 to 1."""
    return np.linspace(0.0, 1.0, lengths.size)


def _half_place(found: ShareMap) -> tuple[float, float] | None:
    """Return lengths on the line where both cost the same, near its upper end."""
    for row in range(found.share.shape[0] - 3, 2, -1):
        line = found.share[row]
        above = np.flatnonzero(np.isfinite(line) & (line >= 0.5))
        if above.size and 4 < above[0] < line.size - 8:
            return float(found.input_tokens[above[0]]), float(found.output_tokens[row])
    return None


def _half(found: ShareMap) -> list[Part]:
    """Return the name of the line where both cost the same."""
    place = _half_place(found)
    if place is None:
        return []
    where = {"x": math.log10(place[0]), "y": math.log10(place[1]), "xref": "x", "yref": "y"}
    return [text("half", size=SMALL_PX, bgcolor=theme.role("paper", 0.8), xanchor="left", xshift=5, **where)]


def _outside(found: ShareMap) -> list[Part]:
    """Return the words in the part of the map where not one sequence fits, if it is large enough."""
    rows, columns = np.nonzero(np.isnan(found.share))
    if rows.size < found.share.size / 12:
        return []
    row, column = round(float(np.median(rows))), round(0.5 * float(columns.max() + np.quantile(columns, 0.2)))
    where = {"x": math.log10(found.input_tokens[column]), "y": math.log10(found.output_tokens[row])}
    return [text("doesn’t fit", colour="muted", size=SMALL_PX, xref="x", yref="y", yshift=30, **where)]


def _workloads(found: ShareMap, scenario: Scenario) -> tuple[list[Part], list[Part]]:
    """Return small marks of the ready-made workloads, but for the one where the scenario is."""
    marks: list[Part] = []
    names: list[Part] = []
    for w in WORKLOADS:
        wide = _factor(w.input_tokens, scenario.input_tokens)
        if max(wide, _factor(w.output_tokens, scenario.output_tokens)) < NEAR:
            continue
        right = w.input_tokens < 0.4 * found.input_tokens[-1] and w.name != "offline"
        marks.append(
            plot.dot(f"workload {w.name}", filled=False, radius_px=3.5, xref="x", yref="y",
                     xanchor=w.input_tokens, yanchor=w.output_tokens)
        )  # fmt: skip
        names.append(
            text(w.name, size=SMALL_PX, xref="x", yref="y", x=math.log10(w.input_tokens),
                 y=math.log10(w.output_tokens), xanchor="left" if right else "right", xshift=7 if right else -7,
                 bgcolor=theme.role("paper", 0.75))
        )  # fmt: skip
    return marks, names


def _factor(one: float, other: float) -> float:
    return max(one, other) / min(one, other)
