"""What follows the batch slider of the cost curve: one row of a table a stop.

The rows are made by the same functions as the page's own figures, so what is read during a drag is
what the server would say.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from costmodel.check import FloatArray
from costmodel.curve import CostCurve, base_curve, base_of
from costmodel.scenario import Scenario
from ui import plot, priceline, units, words
from ui.charts.cost_curve import NARROW, Geometry, Ranges, geometry, ranges, xs_px

LABEL_HALF_PX = 78.0
"""Half the width of the label at the operating point."""
ONE_PX = 190.0
"""Where the words at one sequence end."""
BARS = (*reversed(words.PARTS), words.PROMPT)
STYLES = {f"--share-{part}": f"share_{part}" for part in BARS} | {"--memory-cache": "memory_cache"}
TEXTS = {
    slot: slot
    for slot in (
        "answer", "usd", "band", "speed", "tpot", "marginal", "marginal_ms", "used", "used_of", "takeaway",
        "now_batch", "cache_gb", *(f"percent_{part}" for part in BARS),
    )
} | {priceline.SLOT: "price"}  # fmt: skip
"""Slots on the page, and the columns they follow."""


@dataclass(frozen=True)
class Table:
    """Stops of the slider, and a column a moved mark, text or style."""

    ticks: tuple[int, ...]
    columns: dict[str, list[Any]]

    def at(self, batch: int) -> dict[str, Any]:
        """Return the row of a stop."""
        index = self.ticks.index(batch)
        return {name: column[index] for name, column in self.columns.items()}


def table(curve: CostCurve, *, room: bool = False) -> Table:
    """Return the table of a curve; the scenario's own batch is among its stops."""
    batch = round(curve.case.scenario.batch)
    base = _base_table(base_of(curve.case.scenario)[0], curve.axis_max, curve.cost, room)
    if batch in base.ticks:
        return base
    own = _columns(curve, words.rows_of(curve, curve.now), [priceline.line(curve)], room)
    at = sum(tick < batch for tick in base.ticks)
    columns = {name: [*column[:at], *own[name], *column[at:]] for name, column in base.columns.items()}
    return Table(ticks=(*base.ticks[:at], batch, *base.ticks[at:]), columns=columns)


@lru_cache(maxsize=32)
def _base_table(scenario: Scenario, axis_at_least: float, cost: str, room: bool) -> Table:
    curve = base_curve(scenario, axis_at_least, cost)
    rows = words.rows_of(curve, curve.ticks)
    columns = _columns(curve, rows, priceline.lines(curve), room)
    return Table(ticks=tuple(row.chosen for row in rows), columns=columns)


def _columns(
    curve: CostCurve, rows: list[words.Row], prices: Sequence[str], room: bool
) -> dict[str, list[Any]]:  # fmt: skip
    wide, narrow = geometry(curve, narrow=False, room=room), geometry(curve, narrow=True)
    ends = ranges(curve)
    gpus = curve.case.gpus
    usable = float(curve.case.budget.usable_bytes) * gpus
    columns: dict[str, list[Any]] = {
        "batch": [row.batch for row in rows],
        "log_batch": [math.log10(row.batch) for row in rows],
        "time": [units.ms(row.tpot_s) for row in rows],
        "time_label": [words.time_label(row) for row in rows],
        "dot": [0.0 if row.past_wall else 1.0 for row in rows],
        "cross": [1.0 if row.past_wall else 0.0 for row in rows],
        "answer": [words.answer(curve, row) for row in rows],
        "price": list(prices),
        "say": [words.spoken(curve, row) for row in rows],
        "usd": [units.usd(row.usd) if curve.priced else units.MISSING for row in rows],
        "band": [words.band_text(row) for row in rows],
        "speed": [row.speed for row in rows],
        "tpot": [f"{units.duration(row.tpot_s)} between tokens" for row in rows],
        "marginal": [words.marginal(curve, row)[0] for row in rows],
        "marginal_ms": [words.marginal(curve, row)[1] for row in rows],
        "used": [words.memory_used(curve, row)[0] for row in rows],
        "used_of": [words.memory_used(curve, row)[1] for row in rows],
        "takeaway": [words.takeaway(curve, row) for row in rows],
        "now_batch": [f"{row.batch:,}" for row in rows],
        "cache_gb": [units.gb(row.cache_bytes) for row in rows],
        "memory_cache": [f"{row.cache_bytes / usable:.4f}" if curve.capacity_known else "1" for row in rows],
        **{f"share_{part}": [f"{row.shares.get(part, 0.0):.4f}" for row in rows] for part in BARS},
        **{f"percent_{part}": [units.share(row.shares.get(part, 0.0)) for row in rows] for part in BARS},
    }
    for at, place in (("", wide), (NARROW, narrow)):
        columns[f"time_ax{at}"], columns[f"time_ay{at}"] = _leaders(
            rows, columns["time"], curve, place, place.time, ends.time_ms
        )
    if curve.priced:
        columns["cost"] = [row.usd for row in rows]
        columns["log_cost"] = [math.log10(row.usd) for row in rows]
        columns["label"] = [words.now_label(curve, row) for row in rows]
        for at, place in (("", wide), (NARROW, narrow)):
            ax, ay, one = _labels(rows, curve, place, ends)
            columns |= {f"label_ax{at}": ax, f"label_ay{at}": ay, f"one{at}": one}
    return columns


def _labels(
    rows: list[words.Row], curve: CostCurve, place: Geometry, ends: Ranges
) -> tuple[list[float], list[float], list[float]]:
    """Return where the label stands from its dot, and whether the name at one sequence is in its way."""
    low, high = place.money or (0.0, 1.0)
    height = (high - low) * place.height_px
    scale = height / math.log(ends.usd[1] / ends.usd[0])
    tall = 20.0 if rows[0].low is None else 38.0
    line_x = xs_px(curve.line.batch, curve, place)
    line_y = np.log(ends.usd[1] / curve.shown.usd_per_mtok) * scale
    x = xs_px(np.asarray([row.batch for row in rows]), curve, place)
    y = np.log(ends.usd[1] / np.asarray([row.usd for row in rows])) * scale
    dx, dy = _clear(x, y, tall, line_x, line_y, place.width_px)
    left, bottom = x + dx - LABEL_HALF_PX, y + dy + tall / 2
    in_the_way = (left < ONE_PX) & (bottom - tall < float(line_y[0]) + 12)
    return dx.round(1).tolist(), dy.round(1).tolist(), np.where(in_the_way, 0.0, 1.0).tolist()


def _clear(
    x: FloatArray, y: FloatArray, tall: float, line_x: FloatArray, line_y: FloatArray, width: float
) -> tuple[FloatArray, FloatArray]:
    """Return, for each dot, the first place for its label that lies above the line and inside the row."""
    # Beside the dot, where the line has already fallen, and not over the row's upper end.
    dx, dy = np.full(x.shape, LABEL_HALF_PX + 60), np.maximum(-8.0, tall / 2 + 2 - y)
    open_ = np.ones(x.shape, dtype=bool)
    for aside in (-40.0, 0.0, 40.0, 80.0, 120.0):
        centre = np.clip(x + aside, LABEL_HALF_PX + 4, width - LABEL_HALF_PX + 8)
        line = np.interp(centre - LABEL_HALF_PX, line_x, line_y)
        for up in (70.0, 50.0, 95.0):
            bottom = y - up + tall / 2
            free = open_ & (bottom - tall >= 2) & (bottom <= line - 8)
            dx[free], dy[free] = (centre - x)[free], -up
            open_ &= ~free
    return dx, dy


def _leaders(
    rows: list[words.Row], time_ms: list[float], curve: CostCurve, place: Geometry,
    row: tuple[float, float], most_ms: float,
) -> tuple[list[float], list[float]]:  # fmt: skip
    """Return where the label of the time row stands from its dot: up-left, where the line isn't."""
    height = (row[1] - row[0]) * place.height_px
    half = 70.0
    x = xs_px(np.asarray([at.batch for at in rows]), curve, place)
    above = height * (1 - np.minimum(time_ms, most_ms) / most_ms)
    up = np.where(above > 16, -np.clip(above - 10, 4.0, 22.0), 16.0)
    return (np.maximum(x - half - 16, half + 4) - x).round(1).tolist(), up.round(1).tolist()


def moves(curve: CostCurve) -> list[dict[str, Any]]:
    """Return which marks follow the slider."""
    found = [
        plot.move(shape="now in strip", x0="batch", x1="batch"),
        plot.move(shape="now in time", xanchor="batch", yanchor="time", opacity="dot"),
        plot.move(shape="now in time past", xanchor="batch", yanchor="time", opacity="cross"),
        *(
            plot.move(annotation=f"now in time{at}", x="log_batch", y="time", text="time_label",
                      ax=f"time_ax{at}", ay=f"time_ay{at}")
            for at in ("", NARROW)
        ),
    ]  # fmt: skip
    if curve.priced:
        found += [
            plot.move(shape="now", xanchor="batch", yanchor="cost", opacity="dot"),
            plot.move(shape="now past", xanchor="batch", yanchor="cost", opacity="cross"),
            *(
                plot.move(annotation=f"now{at}", x="log_batch", y="log_cost", text="label",
                          ax=f"label_ax{at}", ay=f"label_ay{at}")
                for at in ("", NARROW)
            ),
            *(plot.move(annotation=f"price one{at}", opacity=f"one{at}") for at in ("", NARROW)),
        ]  # fmt: skip
    return found


def live(curve: CostCurve, found: Table) -> plot.Live:
    """Return everything that the batch slider moves, by the curve's table."""
    return plot.Live(
        batch=round(curve.case.scenario.batch),
        ticks=found.ticks,
        columns=found.columns,
        moves=moves(curve),
        texts=TEXTS,
        styles=STYLES,
        say="say",
        announce="answer",
    )


def now(curve: CostCurve, found: Table) -> dict[str, Any]:
    """Return the row of the scenario's batch: what the page says before anything is moved."""
    return found.at(round(curve.case.scenario.batch))


def stamp(curve: CostCurve) -> str:
    """Return what tells one scenario's figure from another's, for tests that wait for it."""
    scenario = curve.case.scenario
    return f"{scenario.model} {scenario.hardware} {scenario.gpus} {scenario.batch:g}"
