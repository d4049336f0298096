"""What many setups would cost on a perfect engine: best here, the wall, the floor.

Whole-step at every peak, cache bytes once, only the unshared part of the prompt, a copy that is
kept busy. Formulas: docs/levers.md, "Floor and best here, all-in".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from costmodel.case import Case
from costmodel.check import FloatArray
from costmodel.lever_stacks import Index, Stack, pass_time, read_once, stacks, wall_of
from costmodel.prefill import attention_work
from costmodel.search import largest_within
from costmodel.setups import Setup
from costmodel.stacked import perfect
from costmodel.step import flop_time
from costmodel.work import Parallel, Plan, plan


@dataclass(frozen=True)
class Best:
    """Rows as a perfect engine runs them, kept busy; arrays (N,)."""

    batch: FloatArray
    """Largest that fits and meets the limits; 0 where none does."""
    usd_per_mtok: FloatArray
    """There; NaN where no batch does."""
    wall: FloatArray
    wall_usd_per_mtok: FloatArray
    """At the largest that fits, whatever the limits."""
    floor_usd_per_mtok: FloatArray


def best(
    *, cases: Sequence[Case], setups: Sequence[Setup], case: Index, setup: Index
) -> Best:
    """Return best here, the wall's cost and the floor of rows; arguments as `run`."""
    size = len(case)
    out = {n: np.full(size, np.nan) for n in ("batch", "usd", "wall", "wall_usd", "floor")}
    plain = [replace(s, chunk_tokens=None) for s in setups]
    for rows, stack in stacks([perfect_of(c) for c in cases], plain, case, setup):
        wall = np.floor(wall_of(stack, stack.cases.packed_bytes, stack.own.resident))
        chosen = _most_ideal(stack, wall)
        usd = ideal_usd(stack, np.maximum(chosen, 1.0))
        at_wall = ideal_usd(stack, np.maximum(wall, 1.0))
        found = (
            chosen,
            np.where(chosen >= 1, usd, np.nan),
            wall,
            np.where(wall >= 1, at_wall, np.nan),
            _floor(stack),
        )
        for name, value in zip(out, found, strict=True):
            out[name][rows] = value
    return Best(out["batch"], out["usd"], out["wall"], out["wall_usd"], out["floor"])


def at_batch_ideal(*, case: Case, setup: Setup, batch: float) -> float:
    """Return a perfect engine's all-in cost at a batch, kept busy. [USD/Mtok]"""
    none = np.zeros(1, dtype=np.int64)
    plain = replace(setup, chunk_tokens=None)
    ((_, stack),) = stacks([perfect_of(case)], [plain], none, none)
    return float(ideal_usd(stack, np.asarray([batch]))[0])


def ideal_times(*, case: Case, setup: Setup, batch: float) -> tuple[float, float]:
    """Return a perfect engine's step per token accepted, and its prompt's least time. [s]"""
    none = np.zeros(1, dtype=np.int64)
    plain = replace(setup, chunk_tokens=None)
    ((_, stack),) = stacks([perfect_of(case)], [plain], none, none)
    step_s = pass_time(stack, stack.cases.plan, np.asarray([[batch]]), stack.own.best_prefix)
    prompt_s = np.broadcast_to(_ideal_prompt(stack), (1, 1))
    return float((step_s / stack.own.accepted)[0, 0]), float(prompt_s[0, 0])


def perfect_of(case: Case) -> Case:
    """Return the case of a perfect engine."""
    return perfect(case, plan(case.model, case.plan.bits, Parallel()))


def ideal_usd(stack: Stack, batch: FloatArray) -> FloatArray:
    """Return a perfect engine's all-in cost at batches (N,). [USD/Mtok]"""
    own, b = stack.own, batch.reshape(-1, 1)
    step_s = pass_time(stack, stack.cases.plan, b, own.best_prefix) / own.accepted
    return _ideal(stack, step_s / b)


def _ideal(stack: Stack, time_per_token_s: FloatArray) -> FloatArray:
    """Return the cost of answer and prompt: the first of a request's tokens is its prompt's."""
    own = stack.own
    stages = stack.cases.plan.parallel.stages
    answer = time_per_token_s * (own.output - 1) / own.output
    prompt = _ideal_prompt(stack) / own.output / stages
    usd = stack.cases.usd_per_s * (answer + prompt) * 1e6
    return np.broadcast_to(usd, (own.output.size, 1))[:, 0]


def _ideal_prompt(stack: Stack) -> FloatArray:
    """Return the least time of a prompt: max(cache bytes / B, FLOP / C), its weights read by others.

    Only what no other request repeats is computed; the rest is read from the cache. [s]
    """
    work, machine, own = stack.cases.plan, stack.cases.machine, stack.own
    share = work.parallel.sequence_share
    moved = flop_s = np.zeros_like(own.output)
    for a in work.attention:
        read, flops = attention_work(a, new=own.unshared, cached=own.repeated)
        moved = moved + share * read
        flop_s = flop_s + share * flops / machine.flops_per_s["attention"]
    for g in work.gemms:
        head = g.group == "head"
        tokens = 1.0 if head else own.unshared * g.token_share
        flop_s = flop_s + tokens * g.flops_per_token / machine.flops_per_s["head" if head else g.dtype]
    return np.maximum(moved / machine.bandwidth_bytes_per_s, flop_s)


def _most_ideal(stack: Stack, wall: FloatArray) -> FloatArray:
    own = stack.own
    prompt_late = np.broadcast_to(_ideal_prompt(stack) > own.max_ttft_s, own.output.shape)[:, 0]
    most = np.where(prompt_late, 0.0, wall)
    if not np.isfinite(own.max_tpot_s).any():
        return most

    def load(rows: Index, batch: FloatArray) -> FloatArray:
        some = stack if rows.size == wall.size else stack.of(rows)
        b = batch.reshape(-1, 1)
        step_s = pass_time(some, some.cases.plan, b, some.own.best_prefix) / some.own.accepted
        return np.asarray((step_s / some.own.max_tpot_s)[:, 0])

    return largest_within(load=load, most=most)


def _floor(stack: Stack) -> FloatArray:
    """Return the floor: max(k/B, f/C) per token of the answer, and the prompt's share."""
    cases, own = stack.cases, stack.own

    def least(work: Plan, prefix: FloatArray, tokens: FloatArray | float) -> FloatArray:
        if prefix.any():
            work = read_once(work, prefix, np.full_like(prefix, np.inf))
        k = work.cache_bytes(own.resident) / cases.machine.bandwidth_bytes_per_s
        f = flop_time(plan=work, machine=cases.machine, context_tokens=own.resident)
        return np.asarray(np.maximum(k, tokens * f) / work.parallel.stages)

    time_s = least(cases.plan, own.best_prefix, own.drafted + 1)
    if cases.draft is not None and own.drafted.any():
        time_s = time_s + own.drafted * least(cases.draft, np.zeros_like(own.prefix), 1.0)
    return _ideal(stack, time_s / own.accepted)
