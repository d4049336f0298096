"""The edges of the cost curve, its floor, and the best a perfect engine reaches here.

All of the whole-step form except `flattens` on a profile's own curve. Formulas: docs/model.md,
"Edges" and "Floor and best here".
"""

from collections.abc import Callable

import numpy as np

from costmodel.check import FloatArray
from costmodel.step import Machine, flop_time
from costmodel.work import Plan

NEAR, FAR = 2.0**-20, 2.0**24
"""Batches beyond this count as "none"."""
_CELLS, _ROUNDS, _NARROW = 256, 3, 5e-4
"""Grid refinement of roots: until a cell is narrow, and straight inside it."""

Curve = Callable[[FloatArray], FloatArray]
"""Step time over batch: a function of an array. [s]"""


def _root(function: Curve, low: float, high: float) -> float:
    """Return where a function that is negative at `low` and not at `high` crosses zero.

    Each round evaluates a whole grid and keeps the cell with the crossing; in the last cell the
    function is taken for straight.
    """
    for _ in range(_ROUNDS):
        grid = np.geomspace(low, high, _CELLS + 1)
        value = function(grid)
        crossed = int(np.argmax(value >= 0))
        if crossed == 0:
            return float(grid[0])
        low, high = float(grid[crossed - 1]), float(grid[crossed])
        below, above = float(value[crossed - 1]), float(value[crossed])
        if high < low * (1 + _NARROW):
            break
    return low + (high - low) * below / (below - above)


def kv_crossover(*, plan: Plan, context_tokens: float, new_tokens: int = 1) -> float | None:
    """Return the batch at which cache traffic equals weight traffic, b·k = W(b); None if never.

    With experts W grows with the step's tokens, so it is a root; doubling the batch there still
    saves a quarter. `new_tokens` per sequence: 1, or drafted ones + 1.
    """
    k = float(plan.cache_bytes(np.asarray(context_tokens)))
    if k <= 0:
        return None
    if not plan.routed:
        return plan.always_bytes / k * plan.parallel.stages

    def gap(batch: FloatArray) -> FloatArray:
        per_stage = batch / plan.parallel.stages
        return per_stage * k - plan.weight_bytes(per_stage * new_tokens)

    return _first(gap)


def compute_ridge(
    *, plan: Plan, machine: Machine, context_tokens: float, new_tokens: int = 1
) -> float | None:
    """Return the batch from which arithmetic takes longer than memory; None where none does.

    Dense: (W/B) / (f/C − k/B), and none when f/C ≤ k/B. Of `new_tokens` per sequence, f counts as
    often; weights and cache are read once.
    """
    k = float(plan.cache_bytes(np.asarray(context_tokens))) / float(machine.bandwidth_bytes_per_s)
    each = flop_time(plan=plan, machine=machine, context_tokens=np.asarray(context_tokens))
    f = new_tokens * float(each)
    if f <= k:
        return None
    bandwidth = float(machine.bandwidth_bytes_per_s)
    if not plan.routed:
        return plan.always_bytes / bandwidth / (f - k) * plan.parallel.stages

    def gap(batch: FloatArray) -> FloatArray:
        per_stage = batch / plan.parallel.stages
        return per_stage * (f - k) - plan.weight_bytes(per_stage * new_tokens) / bandwidth

    return _first(gap)


def _first(gap: Curve) -> float | None:
    """Return the smallest batch at which a rising gap isn't negative; None if beyond 2^24."""
    ends = gap(np.asarray([NEAR, FAR]))
    if ends[1] < 0:
        return None
    return _root(gap, NEAR, FAR) if ends[0] < 0 else NEAR


def linear_ridge(*, plan: Plan, machine: Machine) -> float | None:
    """Return the ridge of the linear layers alone, C/B · bytes/2 for dense models."""
    gemms = [g for g in plan.gemms if g.group == "linear" and not g.n_experts]
    read = sum(g.weight_bytes for g in gemms)
    flop_s = sum(
        g.token_share * g.flops_per_token / float(machine.flops_per_s[g.dtype]) for g in gemms
    )
    if flop_s <= 0:
        return None
    return read / float(machine.bandwidth_bytes_per_s) / flop_s * plan.parallel.stages


def flattens(*, curve: Curve, saves_less_than: float) -> float | None:
    """Return the smallest batch from which every doubling saves less than a share of the cost.

    Parameters
    ----------
    curve : callable
        Step time over batch. [s]
    saves_less_than : float
        The share, in (0, 0.5).

    Returns
    -------
    float or None
        A real batch ≥ 1; None beyond 2^24.
    """

    def saving(batch: FloatArray) -> FloatArray:
        now, doubled = np.split(curve(np.concatenate([batch, 2 * batch])), 2)
        return np.asarray(1 - doubled / (2 * now))

    grid = np.geomspace(1.0, FAR, _CELLS)
    above = np.flatnonzero(saving(grid) >= saves_less_than)
    if above.size == 0:
        return 1.0
    last = int(above[-1])
    if last == grid.size - 1:
        return None
    return _root(
        lambda b: saves_less_than - saving(b), float(grid[last]), float(grid[last + 1])
    )


def largest_within(*, curve: Curve, limit_s: float, most: float) -> int:
    """Return the largest whole batch up to `most` whose step takes at most `limit_s`; 0 if none.

    Step time never falls with the batch, so it is found by narrowing a grid.
    """
    low, high = 0, int(most)
    while low < high:
        grid = np.unique(np.linspace(low + 1, high, _CELLS).round())
        within = grid[curve(grid) <= limit_s]
        if within.size == 0:
            high = int(grid[0]) - 1
        elif within.size == grid.size:
            return high
        else:
            low, high = int(within[-1]), int(grid[within.size]) - 1
    return low


def floor_time_per_token(
    *, plan: Plan, machine: Machine, context_tokens: FloatArray, new_tokens: int = 1
) -> FloatArray:
    """Return max(k/B, f/C): time per sequence of one copy's step as the batch grows. [s]

    Of `new_tokens` per sequence the cache is read once and each is multiplied.
    """
    k = plan.cache_bytes(context_tokens) / machine.bandwidth_bytes_per_s
    f = new_tokens * flop_time(plan=plan, machine=machine, context_tokens=context_tokens)
    return np.asarray(np.maximum(k, f) / plan.parallel.stages)
