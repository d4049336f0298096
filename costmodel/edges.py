"""The edges of the cost curve, its floor, and the best a perfect engine reaches here.

All of the whole-step form except `flattens` on a profile's own curve. Formulas: docs/model.md,
"Edges" and "Floor and best here".
"""

import math
from collections.abc import Callable

import numpy as np

from costmodel.check import FloatArray
from costmodel.step import Machine, flop_time, whole_step
from costmodel.work import Plan

FAR = 2.0**24
"""Batches beyond this count as "none"."""
_BISECTIONS = 60

Curve = Callable[[FloatArray], FloatArray]
"""Step time over batch: a function of an array. [s]"""


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that is negative at `low` and not at `high` crosses zero."""
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        if function(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def kv_crossover(*, plan: Plan, context_tokens: float) -> float | None:
    """Return the batch at which cache traffic equals weight traffic, b·k = W(b); None if never.

    With experts W grows with b, so it is a root; doubling the batch there still saves a quarter.
    """
    k = float(plan.cache_bytes(np.asarray(context_tokens)))
    if k <= 0:
        return None

    def gap(batch: float) -> float:
        per_stage = batch / plan.parallel.stages
        return per_stage * k - float(plan.weight_bytes(np.asarray(per_stage)))

    if gap(FAR) < 0:
        return None
    low = 2.0**-20
    return _root(gap, low, FAR) if gap(low) < 0 else low


def compute_ridge(*, plan: Plan, machine: Machine, context_tokens: float) -> float | None:
    """Return the batch from which arithmetic takes longer than memory; None where none does.

    Dense: (W/B) / (f/C − k/B), and none when f/C ≤ k/B.
    """
    k = float(plan.cache_bytes(np.asarray(context_tokens))) / float(machine.bandwidth_bytes_per_s)
    f = float(flop_time(plan=plan, machine=machine, context_tokens=np.asarray(context_tokens)))
    if f <= k:
        return None

    def gap(batch: float) -> float:
        per_stage = batch / plan.parallel.stages
        weights = float(plan.weight_bytes(np.asarray(per_stage)))
        return per_stage * (f - k) - weights / float(machine.bandwidth_bytes_per_s)

    if gap(FAR) < 0:
        return None
    low = 2.0**-20
    return _root(gap, low, FAR) if gap(low) < 0 else low


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
        now, doubled = curve(batch), curve(2 * batch)
        return np.asarray(1 - doubled / (2 * now))

    grid = np.geomspace(1.0, FAR, 193)
    above = np.flatnonzero(saving(grid) >= saves_less_than)
    if above.size == 0:
        return 1.0
    last = int(above[-1])
    if last == grid.size - 1:
        return None
    return _root(
        lambda b: saves_less_than - float(saving(np.asarray(b))),
        float(grid[last]),
        float(grid[last + 1]),
    )


def largest_within(*, curve: Curve, limit_s: float, most: float) -> int:
    """Return the largest whole batch up to `most` whose step takes at most `limit_s`; 0 if none.

    Step time never falls with the batch, so it is found by bisection.
    """
    most_whole = int(most)
    if most_whole < 1 or float(curve(np.asarray(1.0))) > limit_s:
        return 0
    low, high = 1, most_whole
    while low < high:
        middle = (low + high + 1) // 2
        if float(curve(np.asarray(float(middle)))) <= limit_s:
            low = middle
        else:
            high = middle - 1
    return low


def floor_time_per_token(
    *, plan: Plan, machine: Machine, context_tokens: FloatArray
) -> FloatArray:
    """Return max(k/B, f/C): time per output token of one copy as the batch grows. [s]"""
    k = plan.cache_bytes(context_tokens) / machine.bandwidth_bytes_per_s
    f = flop_time(plan=plan, machine=machine, context_tokens=context_tokens)
    return np.asarray(np.maximum(k, f) / plan.parallel.stages)


def ideal_curve(
    *, plan: Plan, machine: Machine, context_tokens: float, new_tokens: int = 1
) -> Curve:
    """Return the perfect engine's step time over batch, at one context."""

    def curve(batch: FloatArray) -> FloatArray:
        return whole_step(
            plan=plan,
            machine=machine,
            batch=batch,
            context_tokens=np.asarray(context_tokens),
            new_tokens=new_tokens,
        ).total

    return curve
