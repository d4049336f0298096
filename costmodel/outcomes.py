"""What many setups cost as they run. Formulas: docs/levers.md."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from costmodel.case import Case
from costmodel.check import FloatArray
from costmodel.disaggregate import MOST_LOAD
from costmodel.lever_stacks import Index, Stack, pass_time, stacks, wall_of
from costmodel.search import largest_within
from costmodel.serve import Workload, prompt_alone, request_times
from costmodel.setups import Setup, occupancy, scaled_fixed


@dataclass(frozen=True)
class Outcomes:
    """Rows as they run; arrays (N,)."""

    batch: FloatArray
    usd_per_mtok: FloatArray
    """All-in."""
    tpot_s: FloatArray
    ttft_s: FloatArray
    wall: FloatArray
    """Most sequences that fit; 0 where the weights don't."""
    meets: NDArray[np.bool_]
    """Whether both limits are met at the batch."""


# As they run ------------------------------------------------------------------------------------


def run(
    *,
    cases: Sequence[Case],
    setups: Sequence[Setup],
    case: Index,
    setup: Index,
    filled: NDArray[np.bool_],
) -> Outcomes:
    """Return what rows cost as they run.

    Parameters
    ----------
    cases, setups : sequence
        Distinct cases and distinct setups.
    case, setup : ndarray of int, shape (N,)
        Which of each a row is made of.
    filled : ndarray of bool, shape (N,)
        Whether the row's batch is chosen anew: the largest that fits and meets the limits. The
        others keep today's, cut at the wall.

    Returns
    -------
    Outcomes
        A row that no batch of can meet the limits keeps today's, and says so in `meets`.
    """
    size = len(case)
    out = {n: np.full(size, np.nan) for n in ("batch", "usd", "tpot", "ttft", "wall")}
    meets = np.zeros(size, dtype=bool)
    for rows, plain in stacks(cases, setups, case, setup):
        stack = _prepared(plain)
        batch, wall = _batches(stack, filled[rows])
        usd, tpot_s, ttft_s = _served(stack, batch)
        late = np.maximum(tpot_s / stack.own.max_tpot_s[:, 0], ttft_s / stack.own.max_ttft_s[:, 0])
        for name, value in zip(out, (batch, usd, tpot_s, ttft_s, wall), strict=True):
            out[name][rows] = value
        meets[rows] = ~(np.nan_to_num(late) > 1 + 1e-12)
    return Outcomes(out["batch"], out["usd"], out["tpot"], out["ttft"], out["wall"], meets)


def _prepared(stack: Stack) -> Stack:
    """Return rows with their fixed times scaled, and what no batch changes worked out."""
    cases, own = stack.cases, stack.own
    if (own.fixed != 1).any():
        cases = replace(cases, constants=scaled_fixed(cases.constants, own.fixed))
    work = Workload(new=own.new, cached=own.cached, output=own.output, resident=own.resident)
    alone_s = prompt_alone(
        plan=cases.plan, machine=cases.machine, constants=cases.constants, work=work
    )
    return replace(stack, cases=cases, alone_s=np.broadcast_to(alone_s, own.new.shape))


def _batches(stack: Stack, filled: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Return each row's batch, and its wall."""
    own = stack.own
    wall = wall_of(stack, stack.cases.room_bytes, own.kept)
    today = np.where(wall >= 1, np.minimum(own.batch[:, 0], wall), own.batch[:, 0])
    rows = np.flatnonzero(filled & (wall >= 1))
    if rows.size == 0:
        return today, wall
    chosen = _most_within(stack.of(rows), wall[rows])
    batch = today.copy()
    batch[rows] = np.where(chosen >= 1, chosen, today[rows])
    return _cheaper(stack, batch, today, rows), wall


def _most_within(stack: Stack, wall: FloatArray) -> FloatArray:
    own = stack.own
    if not (np.isfinite(own.max_tpot_s).any() or np.isfinite(own.max_ttft_s).any()):
        return np.floor(wall)

    def load(rows: Index, batch: FloatArray) -> FloatArray:
        some = stack if rows.size == wall.size else stack.of(rows)
        _, tpot_s, ttft_s = _served(some, batch)
        limits = some.own
        return np.maximum(
            np.nan_to_num(tpot_s) / limits.max_tpot_s[:, 0], ttft_s / limits.max_ttft_s[:, 0]
        )

    return largest_within(load=load, most=wall)


def _cheaper(stack: Stack, batch: FloatArray, today: FloatArray, rows: Index) -> FloatArray:
    """Return today's batch where a larger one costs more: static batches idle more as they grow."""
    static = rows[~np.isnan(stack.own.spread[rows, 0]) & (batch[rows] > today[rows])]
    if static.size == 0:
        return batch
    some = stack.of(static)
    larger, _, _ = _served(some, batch[static])
    same, tpot_s, ttft_s = _served(some, today[static])
    late = (tpot_s > some.own.max_tpot_s[:, 0]) | (ttft_s > some.own.max_ttft_s[:, 0])
    batch = batch.copy()
    batch[static] = np.where((same < larger) & ~late, today[static], batch[static])
    return batch


def _served(stack: Stack, batch: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return all-in USD per Mtok, time between tokens and time to the first one, at batches (N,)."""
    cases, own = stack.cases, stack.own
    b = batch.reshape(-1, 1)
    step_s = pass_time(stack, cases.plan, b, own.prefix) / own.accepted
    # In steps that prompts share, a prefix read once is counted as so many tokens less.
    saved = own.prefix * (1 - 1 / np.maximum(b, 1.0))
    work = Workload(new=own.new, cached=own.cached, output=own.output, resident=own.resident - saved)
    times = request_times(
        plan=cases.plan, machine=cases.machine, constants=cases.constants, work=work, batch=b,
        step_s=step_s, alone_s=stack.alone_s,
    )  # fmt: skip
    tpot_s, ttft_s, per_request_s = times.tpot_s, times.ttft_s, 1 / times.requests_per_s
    if own.separate.any():
        alone = _separate(stack, b, step_s, times.prefill_s)
        apart = own.separate > 0
        tpot_s, ttft_s, per_request_s = (
            np.where(apart, new, old)
            for new, old in zip(alone, (tpot_s, ttft_s, per_request_s), strict=True)
        )
    static = ~np.isnan(own.spread)
    if static.any():
        full = _static_share(own.spread, b)
        per_request_s = per_request_s / full
        # A request waits half a batch's run for the next batch to start.
        ttft_s = ttft_s + np.where(static, own.output * np.nan_to_num(tpot_s) / full / 2, 0.0)
    usd = cases.usd_per_s * per_request_s / own.output / own.busy * 1e6
    shape = (b.size, 1)
    return tuple(np.broadcast_to(v, shape)[:, 0] for v in (usd, tpot_s, ttft_s))  # type: ignore[return-value]


def _static_share(spread: FloatArray, batch: FloatArray) -> FloatArray:
    full = np.ones_like(batch)
    for value in np.unique(spread[~np.isnan(spread)]):
        full = np.where(spread == value, occupancy(batch=batch, spread=float(value)), full)
    return full


def _separate(
    stack: Stack, batch: FloatArray, step_s: FloatArray, prefill_s: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the times of prompts on GPUs of their own, kept `MOST_LOAD` busy."""
    cases, own = stack.cases, stack.own
    cache = cases.plan.stored.bytes_at(own.new + own.cached)
    queue_s = MOST_LOAD / (2 * (1 - MOST_LOAD)) * prefill_s
    first = queue_s + prefill_s + cache / cases.link_bytes_per_s + cases.constants.first_token_s
    more = own.output - 1
    per_request_s = more * step_s / batch + prefill_s / MOST_LOAD
    return np.where(more > 0, step_s, np.nan), first + step_s, per_request_s
