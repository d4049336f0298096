"""Two to four scenarios beside each other, row by row, what differs first.

The article's table of batch 1 against batch 64 is this with two scenarios that differ in nothing
but the batch, computed instead of typed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costmodel import serve
from costmodel.case import Case, resolve
from costmodel.check import FloatArray
from costmodel.errors import InputError
from costmodel.explore import Knee, Points, knee_of, points
from costmodel.scenario import FIELDS, Scenario
from costmodel.serve import Serving

LETTERS = ("A", "B", "C", "D")
MOST = len(LETTERS)

Value = float | str | None


@dataclass(frozen=True)
class Column:
    """One scenario and its figures."""

    letter: str
    name: str
    scenario: Scenario
    case: Case
    serving: Serving
    point: Points
    knee: Knee


@dataclass(frozen=True)
class Row:
    """One figure of every scenario."""

    key: str
    label: str
    unit: str
    """`usd`, `s`, `tok/s`, `bytes`, `share`, `sequences`, `J`, or nothing for words and settings."""
    values: tuple[Value, ...]
    setup: bool
    """Whether it is a setting, not a result."""
    differs: bool
    tie: bool = False
    """Whether they differ by less than the model can tell: bands overlap."""
    lower_is_better: bool | None = None


@dataclass(frozen=True)
class Comparison:
    """Scenarios beside each other; rows that differ come first, settings before results."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def row(self, key: str) -> Row:
        """Return a row by key."""
        return next(r for r in self.rows if r.key == key)

    @property
    def cheapest(self) -> Column:
        """The scenario whose tokens cost least all-in; the first where no price is known."""
        return self._least([float(c.serving.usd_per_mtok) for c in self.columns])

    @property
    def fastest(self) -> Column:
        """The scenario with the least time between tokens."""
        return self._least([float(c.point.step_time_s) for c in self.columns])

    def _least(self, values: list[float]) -> Column:
        known = [i for i, v in enumerate(values) if not math.isnan(v)]
        return self.columns[min(known, key=lambda i: values[i])] if known else self.columns[0]

    @property
    def differ_in(self) -> tuple[str, ...]:
        """Labels of the settings that differ."""
        return tuple(r.label for r in self.rows if r.setup and r.differs)

    @property
    def too_close(self) -> bool:
        """Whether the bands of all costs overlap."""
        return self.row("all_in").tie


def one_against_many(scenario: Scenario) -> tuple[Scenario, Scenario]:
    """Return a scenario at batch 1 and at its own batch, 64 where that is 1."""
    return scenario.but(batch=1), scenario.but(batch=scenario.batch if scenario.batch > 1 else 64)


def compare(scenarios: Sequence[Scenario], names: Sequence[str] | None = None) -> Comparison:
    """Return two to four scenarios beside each other.

    Raises
    ------
    InputError
        For fewer or more, and for scenarios that can't run.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> found = compare(one_against_many(scenario(weights="fp8")))
    >>> found.differ_in, found.cheapest.letter, found.fastest.letter
    (('Batch',), 'B', 'A')
    """
    if not 2 <= len(scenarios) <= MOST:
        msg = f"compare takes 2 to {MOST} scenarios, got {len(scenarios)}; pin or remove some"
        raise InputError(msg, field="pins")
    columns = tuple(
        _column(letter, s, names[i] if names else "")
        for i, (letter, s) in enumerate(zip(LETTERS, scenarios, strict=False))
    )
    rows = (*_settings(columns), *_results(columns))
    order = sorted(rows, key=lambda r: (not r.differs, r.tie, not r.setup))
    return Comparison(columns, tuple(order))


def _column(letter: str, scenario: Scenario, name: str) -> Column:
    case = resolve(scenario)
    return Column(
        letter=letter,
        name=name or scenario.model,
        scenario=scenario,
        case=case,
        serving=serve.at_batch(case, batch=scenario.batch),
        point=points(case, batch=scenario.batch, context_tokens=scenario.context),
        knee=knee_of(case),
    )


def _settings(columns: tuple[Column, ...]) -> list[Row]:
    rows = []
    for field in FIELDS:
        values = tuple(_plain(getattr(c.scenario, field.name)) for c in columns)
        if all(v is None for v in values):
            continue
        label = field.label.split(", ")[0].removesuffix(" %")
        rows.append(Row(field.name, label, "", values, setup=True, differs=len(set(values)) > 1))
    return rows


def _plain(value: object) -> Value:
    if value is None or isinstance(value, str):
        return value
    return float(value)  # type: ignore[arg-type]


def _results(columns: tuple[Column, ...]) -> list[Row]:
    def usd(name: str) -> tuple[float, ...]:
        return tuple(float(getattr(c.serving, name)) for c in columns)

    def edge(key: str, label: str, name: str, *, lower_is_better: bool | None = None) -> Row:
        batches = tuple(_edge(getattr(c.knee, name)) for c in columns)
        return _row(key, label, "sequences", batches, lower_is_better)

    bands = [(c.serving.low, c.serving.high) for c in columns]
    # Along one curve errors are shared, and cost never rises with the batch: nothing is a tie.
    curves_ = {c.scenario.but(batch=1) for c in columns}
    tie = len(curves_) > 1 and all(low is not None for low, _ in bands) and _overlap(
        [(float(low), float(high)) for low, high in bands if low is not None and high is not None]
    )
    first = tuple(float(c.serving.ttft_s) for c in columns)
    each = tuple(float(1 / c.serving.tpot_s) if c.serving.tpot_s > 0 else math.nan for c in columns)
    joules = tuple(_joules(c) for c in columns)
    return [
        _row("all_in", "All-in cost per Mtok out", "usd", usd("usd_per_mtok"), True, tie=tie),
        _row("answer", "Answer", "usd", usd("usd_per_mtok_output"), True, tie=tie),
        _row("prompt", "Prompt", "usd", usd("usd_per_mtok_prompt"), True, tie=tie),
        _row("speed", "Speed of each user", "tok/s", each, False),
        _row("throughput", "Tokens per second in all", "tok/s", usd("output_tokens_per_s"), False),
        _row("first", "First token", "s", first, True),
        _row("memory", "Memory used", "bytes", tuple(float(c.point.memory_bytes) for c in columns), True),
        _row("bound", "Bound by", "", tuple(str(c.point.bound) for c in columns), None),
        _row("joules", "Energy per token, from rated power", "J", joules, True),
        _row("floor", "Floor of the answer", "usd", tuple(c.knee.floor_usd_per_mtok for c in columns), True),
        edge("crossover", "Cache = weights", "kv_crossover_batch"),
        edge("flat", "Flattens", "diminishing_returns_batch"),
        edge("ridge", "Compute-bound", "compute_ridge_batch"),
        edge("limit", "Speed limit", "limit_batch", lower_is_better=False),
        edge("wall", "Memory wall", "max_batch", lower_is_better=False),
    ]  # fmt: skip


def _row(
    key: str,
    label: str,
    unit: str,
    values: tuple[Value, ...],
    lower_is_better: bool | None,
    *,
    tie: bool = False,
) -> Row:
    first = values[0]
    differs = any(not _same(first, v) for v in values[1:])
    return Row(
        key, label, unit, values, setup=False, differs=differs, tie=tie and differs,
        lower_is_better=lower_is_better,
    )  # fmt: skip


def _same(a: Value, b: Value) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9)
    return a == b


def _overlap(bands: list[tuple[float, float]]) -> bool:
    """Whether all intervals share a point."""
    return max(low for low, _ in bands) <= min(high for _, high in bands)


def _edge(batch: float | None) -> float | None:
    return None if batch is None else float(batch)


def _joules(column: Column) -> float:
    """Return rated power over tokens per second; what cards draw is not metered. [J]"""
    case = column.case
    drawn = case.accelerators[0].power_w * case.gpus
    return float(drawn / column.serving.output_tokens_per_s)


def curves(found: Comparison, *, points: int = 96) -> list[tuple[FloatArray, FloatArray]]:
    """Return each scenario's all-in cost over its batches up to its wall. [USD/Mtok]

    Where the weights don't fit, or the capacity isn't published, the line has no points.
    """
    lines = []
    for column in found.columns:
        wall = float(column.knee.max_batch)
        batch = np.unique(np.geomspace(1.0, wall, points).round()) if wall >= 1 else np.zeros(0)
        usd = serve.at_batch(column.case, batch=batch).usd_per_mtok if batch.size else np.zeros(0)
        lines.append((batch, usd))
    return lines
