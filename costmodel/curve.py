"""The cost curve over batch, as one page draws it: lines, edges, the operating point.

Everything a page, a picture or a sentence shows of the curve comes from one `CostCurve`, so two
displays of one quantity can't disagree.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from costmodel.case import Case, resolve
from costmodel.check import FloatArray
from costmodel.cost import usd_per_mtok
from costmodel.explore import Knee, Points, beyond_limit, ideal, knee_of, points
from costmodel.prefill import attention_work
from costmodel.scenario import MOST_BATCH, Scenario
from costmodel.serve import Serving, at_batch, workload
from costmodel.step import BoolArray, flop_time

LINE_POINTS = 120
"""Batches along a line; the axis is logarithmic, so they are evenly spread to the eye."""
TICKS_PER_DOUBLING = 12
"""Stops of the figure's batch slider where whole numbers are denser than that."""
AXIS_AT_LEAST = 1024.0
COSTS = ("answer", "all-in")
"""What a curve may show: decoding alone, or with each request's prompt."""


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
class Shown:
    """What a curve shows at batches: the cost asked for, and the time that users wait."""

    usd_per_mtok: FloatArray
    prompt_share: FloatArray
    """Share of that cost that is the prompt's; 0 for the answer alone."""
    tpot_s: FloatArray
    """Between two tokens of one user, prompts of others included."""
    served: Serving
    """All that serving at these batches takes and costs."""


@dataclass(frozen=True)
class Stops:
    """The curve at batches that may be chosen, and at one sequence more.

    A batch past the wall stands for the wall: nothing larger runs.
    """

    chosen: FloatArray
    """Batches as chosen."""
    at: Points
    """There, or at the wall."""
    more: Points
    """With one sequence more."""
    shown: "Shown"
    more_shown: "Shown"
    """With one sequence more."""

    @property
    def past_wall(self) -> BoolArray:
        """Whether the chosen batch doesn't fit."""
        return np.asarray(self.chosen > self.at.batch)

    @cached_property
    def marginal_usd_per_mtok(self) -> FloatArray:
        """What the tokens of one more sequence cost: the change of the whole batch's cost."""
        more, at = self.more_shown.usd_per_mtok, self.shown.usd_per_mtok
        return np.asarray(more * self.more.batch - at * self.at.batch)

    @cached_property
    def marginal_step_s(self) -> FloatArray:
        """What one more sequence adds to the time between everyone's tokens."""
        return np.asarray(self.more_shown.tpot_s - self.shown.tpot_s)


@dataclass(frozen=True)
class CostCurve:
    """A token's cost over batch, with everything that is drawn on it.

    Nothing but `case`, `now` and where the axis ends depends on the scenario's batch.
    """

    case: Case
    cost: str
    """One of `COSTS`."""
    knee: Knee
    axis_max: float
    line: Points
    """Along the line; past the wall too, where only the shares are drawn."""
    shown: Shown
    """Along the line."""
    ideal_usd_per_mtok: FloatArray
    """The perfect engine along the line."""
    floor_usd_per_mtok: float
    floor_by: str
    """What the floor is: `cache` (k/B) or `arithmetic` (f/C)."""
    ticks: Stops
    """At the stops of the batch slider."""
    now: Stops
    """At the scenario's batch, one entry."""
    edges: tuple[Edge, ...]
    beyond_limit: bool

    @property
    def wall(self) -> int:
        """Most sequences that fit; 0 where none do, or where the capacity isn't published."""
        return self.knee.max_batch

    @property
    def capacity_known(self) -> bool:
        """Whether the accelerator's memory is published."""
        return not bool(np.isnan(self.case.budget.usable_bytes))

    @property
    def drawn(self) -> bool:
        """Whether there is a batch to draw: one sequence fits, or nobody knows."""
        return self.wall >= 1 or not self.capacity_known

    @property
    def last(self) -> float:
        """Where the lines end: the wall, or the end of the axis where there is none."""
        return min(float(self.wall), self.axis_max) if self.wall else self.axis_max

    @property
    def priced(self) -> bool:
        """Whether there is a price, and so money."""
        return not bool(np.isnan(self.case.usd_per_gpu_hour))

    @property
    def past_wall(self) -> bool:
        """Whether the scenario's batch doesn't fit."""
        return bool(self.now.past_wall[0])

    @property
    def now_batch(self) -> float:
        """The batch that `now` is computed at."""
        return float(self.now.at.batch[0])

    @property
    def marginal_usd_per_mtok(self) -> float:
        """What the tokens of one more sequence cost now."""
        return float(self.now.marginal_usd_per_mtok[0])

    @property
    def marginal_step_s(self) -> float:
        """What one more sequence adds to everyone's step now."""
        return float(self.now.marginal_step_s[0])

    @cached_property
    def experts_read(self) -> FloatArray:
        """Share of the experts' weights that a step reads, along the line; 1 where there are none."""
        plan = self.case.plan
        tokens = self.line.batch * (self.case.scenario.spec_tokens + 1) / plan.parallel.stages
        skew = self.case.constants.routing_skew
        held = sum(g.weight_bytes for g in plan.gemms if g.n_experts)
        if held <= 0:
            return np.ones_like(tokens)
        return np.asarray((plan.weight_bytes(tokens, skew=skew) - plan.always_bytes) / held)

    def edge(self, key: str) -> Edge:
        """Return an edge by key: `crossover`, `flat`, `ridge`, `limit` or `wall`."""
        return next(e for e in self.edges if e.key == key)

    def reaches(self, edge: Edge) -> bool:
        """Return whether an edge lies where something runs, so that it can be drawn."""
        return edge.batch is not None and 1 <= edge.batch <= self.last


def slider_ticks(most: float) -> FloatArray:
    """Return the stops of the batch slider: every whole number while few, then even ratios from 1 on.

    Powers of two are among them, whatever the axis ends at.

    >>> slider_ticks(8).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    """
    end = max(most, 2.0)
    steps = np.arange(int(math.log2(end) * TICKS_PER_DOUBLING) + 1)
    return np.union1d(np.round(2.0 ** (steps / TICKS_PER_DOUBLING)), [end])


@lru_cache(maxsize=32)
def cost_curve(scenario: Scenario, *, cost: str = "answer", axis_at_least: float = AXIS_AT_LEAST) -> CostCurve:
    """Return the cost curve of a scenario.

    Parameters
    ----------
    scenario : Scenario
        The question.
    cost : str
        `answer` (decoding alone) or `all-in` (with each request's prompt).
    axis_at_least : float
        Where the axis ends at least; always at twice the wall, and beyond the scenario's batch.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> c = cost_curve(scenario(weights="fp8", max_tpot_s=1 / 30))
    >>> c.wall, c.edge("ridge").batch is None
    (343, True)
    """
    case = resolve(scenario)
    shape, end = base_of(scenario)
    base = base_curve(shape, max(end, axis_at_least), cost)
    return replace(base, case=case, now=stops(case, cost=cost, wall=base.wall, batch=[float(scenario.batch)]))


def base_of(scenario: Scenario) -> tuple[Scenario, float]:
    """Return what a curve's shape depends on: the scenario at batch 1, and where its axis ends.

    Scenarios of one shape differ in the batch alone, so what is drawn of them can be kept.

    >>> from costmodel.scenario import scenario
    >>> base_of(scenario(batch=64)) == base_of(scenario(batch=300)), base_of(scenario(batch=3000))[1]
    (True, 4096.0)
    """
    end = AXIS_AT_LEAST
    while end < scenario.batch:
        end *= 2
    return scenario.model_copy(update={"batch": 1.0}), min(end, MOST_BATCH)


@lru_cache(maxsize=64)
def base_curve(scenario: Scenario, axis_at_least: float, cost: str = "answer") -> CostCurve:
    """Return the cost curve of a scenario whose axis ends at `axis_at_least`, or twice the wall."""
    case = resolve(scenario)
    found = knee_of(case)
    context = scenario.context
    wall = found.max_batch
    most = min(max(axis_at_least, 2.0 * wall), float(MOST_BATCH))
    line_batch = np.geomspace(1.0, most, LINE_POINTS)
    ticks = slider_ticks(most)
    if 1 <= wall < most:
        line_batch, ticks = np.union1d(line_batch, [float(wall)]), np.union1d(ticks, [float(wall)])
    if found.limit_batch and found.limit_batch < most:
        ticks = np.union1d(ticks, [float(found.limit_batch)])
    perfect = points(ideal(case), batch=line_batch, context_tokens=context).usd_per_mtok
    there = _not_past(ticks, wall)
    (line, shown), (at, here), (more, next_), edges = _together(
        case, cost, line_batch, there, np.minimum(there + 1, MOST_BATCH), _edge_batches(found)
    )
    every = Stops(chosen=ticks, at=at, more=more, shown=here, more_shown=next_)
    return CostCurve(
        case=case,
        cost=cost,
        knee=found,
        axis_max=most,
        line=line,
        shown=shown,
        ideal_usd_per_mtok=_with_prompt(case, perfect, cost),
        floor_usd_per_mtok=float(_with_prompt(case, np.asarray(found.floor_usd_per_mtok), cost)),
        floor_by=_floor_by(case),
        ticks=every,
        now=every,
        edges=_edges(case, found, edges[1]),
        beyond_limit=beyond_limit(case.model, np.asarray(context)),
    )


def _not_past(batch: FloatArray, wall: int) -> FloatArray:
    """Return batches, those past the wall as the wall; 0 means that none is known."""
    return np.minimum(batch, float(wall)) if wall >= 1 else batch


def _together(case: Case, cost: str, *several: FloatArray) -> list[tuple[Points, "Shown"]]:
    """Return points and what is shown of them for several rows of batches, in one call."""
    ends = np.cumsum([0, *(batch.size for batch in several)])
    every = points(case, batch=np.concatenate(several), context_tokens=case.scenario.context)
    parts = [every.part(slice(int(low), int(high))) for low, high in pairwise(ends)]
    return list(zip(parts, _show_all(case, tuple(parts), cost), strict=True))


def show(case: Case, at: Points, *, cost: str) -> Shown:
    """Return the cost asked for and the time between tokens at points of a case."""
    return _show_all(case, (at,), cost)[0]


def _show_all(case: Case, several: tuple[Points, ...], cost: str) -> list[Shown]:
    """Return what `show` does for several rows of batches, served in one call."""
    served = at_batch(case, batch=np.minimum(np.concatenate([at.batch for at in several]), MOST_BATCH))
    tpot_s = np.where(np.isnan(served.tpot_s), served.step_s, served.tpot_s)
    if cost == "answer":
        usd = np.concatenate([at.usd_per_mtok for at in several])
        share = np.zeros_like(usd)
    else:
        with np.errstate(invalid="ignore"):
            usd, share = served.usd_per_mtok, served.usd_per_mtok_prompt / served.usd_per_mtok
    ends = np.cumsum([0, *(at.batch.size for at in several)])
    usd, share, tpot_s = (np.broadcast_to(part, served.batch.shape) for part in (usd, share, tpot_s))
    return [
        Shown(usd[at], share[at], tpot_s[at], served.part(at))
        for at in (slice(int(low), int(high)) for low, high in pairwise(ends))
    ]


def _with_prompt(case: Case, answer_usd: FloatArray, cost: str) -> FloatArray:
    """Return a perfect engine's cost with the least that a prompt can take, its weights read by others.

    Only what no other request repeats is computed; a request's first token is its prompt's.
    """
    if cost == "answer":
        return answer_usd
    scenario, plan, machine = case.scenario, case.plan, case.machine
    new = scenario.input_tokens * (1 - scenario.shared)
    cached, output = scenario.input_tokens - new, workload(scenario).output
    share = plan.parallel.sequence_share
    moved = flop_s = np.zeros(())
    for a in plan.attention:
        read, flops = attention_work(a, new=np.asarray(new), cached=np.asarray(cached))
        moved = moved + share * read
        flop_s = flop_s + share * flops / machine.flops_per_s["attention"]
    for g in plan.gemms:
        head = g.group == "head"
        tokens = 1.0 if head else new * g.token_share
        flop_s = flop_s + tokens * g.flops_per_token / machine.flops_per_s["head" if head else g.dtype]
    prompt_s = np.maximum(moved / machine.bandwidth_bytes_per_s, flop_s) / plan.parallel.stages
    prompt = usd_per_mtok(
        time_per_token_s=prompt_s / output, usd_per_gpu_hour=case.usd_per_gpu_hour, gpus=case.gpus,
        busy=scenario.busy,
    )  # fmt: skip
    return np.asarray(answer_usd * (output - 1) / output + prompt)


def stops(case: Case, *, wall: int, batch: ArrayLike, cost: str = "answer") -> Stops:
    """Return the curve at chosen batches; `wall` 0 means that none is known."""
    chosen = np.asarray(batch, dtype=np.float64)
    there = _not_past(chosen, wall)
    (at, shown), (more, more_shown) = _together(case, cost, there, np.minimum(there + 1, MOST_BATCH))
    return Stops(chosen=chosen, at=at, more=more, shown=shown, more_shown=more_shown)


def _floor_by(case: Case) -> str:
    context = np.asarray(case.scenario.context)
    read_s = case.plan.cache_bytes(context) / case.machine.bandwidth_bytes_per_s
    compute_s = flop_time(plan=case.plan, machine=case.machine, context_tokens=context)
    return "cache" if float(read_s) >= float(compute_s) else "arithmetic"


def _wanted(found: Knee) -> tuple[tuple[str, float | None], ...]:
    """Return the five edges' batches by key."""
    return (
        ("crossover", found.kv_crossover_batch),
        ("flat", found.diminishing_returns_batch),
        ("ridge", found.compute_ridge_batch),
        ("limit", None if found.limit_batch in (None, 0) else found.limit_batch),
        ("wall", found.max_batch or None),
    )


def _edge_batches(found: Knee) -> FloatArray:
    """Return where to look at each edge; 1 stands for one that doesn't exist."""
    return np.asarray([max(float(b or 1.0), 1e-6) for _, b in _wanted(found)])


def _edges(case: Case, found: Knee, shown: Shown) -> tuple[Edge, ...]:
    """Return the five edges with cost and speed there."""
    return tuple(
        Edge(
            key=key,
            name=_names(case)[key],
            batch=None if batch is None else float(batch),
            usd_per_mtok=float(shown.usd_per_mtok[i]),
            tokens_per_s=float(1 / shown.tpot_s[i]),
            meaning=_MEANINGS[key],
            formula=_FORMULAS[key],
            absent="" if batch is not None else _absent(case, found, key),
        )
        for i, (key, batch) in enumerate(_wanted(found))
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
    "limit": "largest b with time between tokens(b) ≤ 1 / speed",
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
