"""The cost curve over batch, as one page draws it: lines, edges, the operating point.

Everything a page, a picture or a sentence shows of the curve comes from one `CostCurve`, so two
displays of one quantity can't disagree.
"""

import math
from dataclasses import dataclass

import numpy as np

from costmodel.case import Case, resolve
from costmodel.check import FloatArray
from costmodel.explore import (
    Knee,
    Points,
    beyond_limit,
    ideal,
    knee_of,
    points,
)
from costmodel.scenario import MOST_BATCH, Scenario

LINE_POINTS = 120
"""Batches along a line; the axis is logarithmic, so they are evenly spread to the eye."""
TICKS_PER_DOUBLING = 24
"""Stops of the figure's batch slider where whole numbers are denser than that."""
AXIS_AT_LEAST = 1024.0


@dataclass(frozen=True)
class Edge:
    """One edge of the curve, where it exists."""

    key: str
    name: str
    batch: float | None
    usd_per_mtok: float
    tokens_per_s: float
    """Per user, there."""
    meaning: str
    formula: str
    absent: str = ""
    """Why it doesn't exist here, in words."""

    @property
    def step(self) -> int | None:
        """The whole batch to go to."""
        return None if self.batch is None else max(1, round(self.batch))


@dataclass(frozen=True)
class CostCurve:
    """The answer's cost over batch, with everything that is drawn on it."""

    case: Case
    knee: Knee
    axis_max: float
    line: Points
    """Along the line."""
    ideal_usd_per_mtok: FloatArray
    """The perfect engine along the line."""
    floor_usd_per_mtok: float
    ticks: Points
    """At the stops of the batch slider; past the wall too."""
    now: Points
    """At the scenario's batch, one entry; past the wall at the wall."""
    now_batch: float
    """The batch of `now`."""
    marginal_usd_per_mtok: float
    """What the tokens of one more sequence cost."""
    marginal_step_s: float
    """What one more sequence adds to everyone's step."""
    edges: tuple[Edge, ...]
    beyond_limit: bool

    @property
    def wall(self) -> int:
        """Most sequences that fit."""
        return self.knee.max_batch

    @property
    def past_wall(self) -> bool:
        """Whether the scenario's batch doesn't fit."""
        return self.case.scenario.batch > self.wall

    def edge(self, key: str) -> Edge:
        """Return an edge by key: `crossover`, `flat`, `ridge`, `limit` or `wall`."""
        return next(e for e in self.edges if e.key == key)


def slider_ticks(most: float) -> FloatArray:
    """Return the stops of the batch slider: every whole number while few, then even ratios.

    >>> slider_ticks(8).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    count = int(math.log2(max(most, 2.0)) * TICKS_PER_DOUBLING) + 1
    return np.unique(np.round(np.geomspace(1.0, max(most, 2.0), count)))


def cost_curve(scenario: Scenario) -> CostCurve:
    """Return the cost curve of a scenario.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> c = cost_curve(scenario(weights="fp8", max_tpot_s=1 / 30))
    >>> c.wall, c.edge("ridge").batch is None
    (343, True)
    """
    return cost_curve_of(resolve(scenario))


def cost_curve_of(case: Case) -> CostCurve:
    """Return the cost curve of a resolved case with one accelerator."""
    scenario = case.scenario
    found = knee_of(case)
    context = scenario.context
    most = min(float(max(AXIS_AT_LEAST, 2.0 * found.max_batch, scenario.batch)), MOST_BATCH)
    wall = found.max_batch
    line_batch = np.geomspace(1.0, most, LINE_POINTS)
    if 1 <= wall < most:
        line_batch = np.unique(np.append(line_batch, float(wall)))
    line = points(case, batch=line_batch, context_tokens=context)
    perfect = points(ideal(case), batch=line_batch, context_tokens=context)
    now_batch = min(float(scenario.batch), float(wall)) if wall >= 1 else float(scenario.batch)
    near = points(case, batch=np.asarray([now_batch, now_batch + 1]), context_tokens=context)
    ticks = np.union1d(slider_ticks(most), [float(scenario.batch)])
    marginal_s = float(near.step_time_s[1] - near.step_time_s[0])
    return CostCurve(
        case=case,
        knee=found,
        axis_max=most,
        line=line,
        ideal_usd_per_mtok=perfect.usd_per_mtok,
        floor_usd_per_mtok=found.floor_usd_per_mtok,
        ticks=points(case, batch=ticks, context_tokens=context),
        now=points(case, batch=np.asarray([now_batch]), context_tokens=context),
        now_batch=now_batch,
        marginal_usd_per_mtok=float(
            (near.usd_per_mtok * near.batch)[1] - (near.usd_per_mtok * near.batch)[0]
        ),
        marginal_step_s=marginal_s,
        edges=_edges(case, found),
        beyond_limit=beyond_limit(case.model, np.asarray(context)),
    )


def _edges(case: Case, found: Knee) -> tuple[Edge, ...]:
    """Return the five edges with cost and speed there."""
    scenario = case.scenario
    wanted = (
        ("crossover", found.kv_crossover_batch),
        ("flat", found.diminishing_returns_batch),
        ("ridge", found.compute_ridge_batch),
        ("limit", None if found.limit_batch in (None, 0) else found.limit_batch),
        ("wall", found.max_batch or None),
    )
    batches = np.asarray([max(float(b or 1.0), 1e-6) for _, b in wanted])
    there = points(case, batch=batches, context_tokens=scenario.context)
    return tuple(
        Edge(
            key=key,
            name=_names(case)[key],
            batch=None if batch is None else float(batch),
            usd_per_mtok=float(there.usd_per_mtok[i]),
            tokens_per_s=float(1 / there.step_time_s[i]),
            meaning=_MEANINGS[key],
            formula=_FORMULAS[key],
            absent="" if batch is not None else _absent(case, found, key),
        )
        for i, (key, batch) in enumerate(wanted)
    )


_MEANINGS = {
    "crossover": "Reading the cache takes as long as reading the weights; doubling the batch here "
    "still saves a quarter.",
    "flat": "From here every doubling of the batch saves less than the chosen share.",
    "ridge": "From here arithmetic, not memory, would set a perfect engine's step.",
    "limit": "The most sequences at which every user still gets the speed asked for.",
    "wall": "The most sequences whose cache fits beside the weights.",
}
_FORMULAS = {
    "crossover": "b · k = W(b)",
    "flat": "smallest b with 1 − c(2b)/c(b) < q from there on",
    "ridge": "b = (W/B) / (f/C − k/B), none when f/C ≤ k/B",
    "limit": "largest b with step(b) ≤ 1 / speed",
    "wall": "b = ⌊(usable − weights − workspace − runtime) / cache per sequence⌋",
}


def _names(case: Case) -> dict[str, str]:
    limit = case.scenario.max_tpot_s
    return {
        "crossover": "cache = weights",
        "flat": "flattens",
        "ridge": "compute-bound",
        "limit": "speed limit" if limit is None else f"{1 / limit:.4g} tok/s limit",
        "wall": "memory wall",
    }


def _absent(case: Case, found: Knee, key: str) -> str:
    """Say why an edge doesn't exist."""
    linear = found.linear_ridge_batch
    if key == "ridge":
        alone = f" (linear layers alone: {linear:,.0f})" if linear else ""
        return f"no compute-bound batch at this context{alone}"
    if key == "limit":
        if case.scenario.max_tpot_s is None:
            return "no speed limit is set"
        return "no batch meets the speed limit"
    if key == "wall":
        if np.isnan(case.budget.usable_bytes):
            return "its memory isn't published, so no wall"
        return "the weights alone don't fit"
    if key == "crossover":
        return "the cache never takes as long to read as the weights"
    return "the curve keeps falling by more than that at every doubling"
