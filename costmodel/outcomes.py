"""What many setups cost: as they run, and as a perfect engine would run them.

A row is a case (what is served, on what) with a setup's numbers (lengths, reuse, how slots and
memory are filled); all rows go through the formulas together. Formulas: docs/levers.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from costmodel.case import Case, link_of
from costmodel.check import FloatArray
from costmodel.disaggregate import MOST_LOAD
from costmodel.prefill import attention_work
from costmodel.scenario import MOST_BATCH
from costmodel.search import largest_within
from costmodel.serve import Workload, prompt_alone, request_times
from costmodel.setups import Setup, occupancy, reserved_tokens, scaled_fixed
from costmodel.speculation import passes
from costmodel.stacked import Many, kind, many, perfect, take
from costmodel.step import decode_step, flop_time, whole_step
from costmodel.work import Parallel, Plan, plan

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Numbers:
    """What setups bring beside their cases; columns (N, 1)."""

    new: FloatArray
    """Prompt tokens computed."""
    cached: FloatArray
    """Prompt tokens found in the prefix cache."""
    unshared: FloatArray
    """Prompt tokens that no other request repeats: all that a perfect engine computes."""
    repeated: FloatArray
    output: FloatArray
    resident: FloatArray
    kept: FloatArray
    """Tokens that memory is set aside for, per sequence."""
    prefix: FloatArray
    """Shared tokens that a step reads once."""
    best_prefix: FloatArray
    drafted: FloatArray
    accepted: FloatArray
    """Tokens that a pass yields."""
    busy: FloatArray
    fixed: FloatArray
    """Factor on fixed times."""
    spread: FloatArray
    """Of static batches; NaN where slots refill every step."""
    separate: FloatArray
    batch: FloatArray
    """Today's."""
    max_tpot_s: FloatArray
    max_ttft_s: FloatArray


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


def numbers(setups: Sequence[Setup]) -> Numbers:
    """Return the numbers of setups as columns."""
    rows = [_numbers(s) for s in setups]
    columns = np.asarray(rows, dtype=np.float64).T
    return Numbers(*(c.reshape(-1, 1) for c in columns))


def _numbers(setup: Setup) -> tuple[float, ...]:
    s = setup.scenario
    shared = s.input_tokens * s.shared
    reused = shared * s.hit
    context = s.context
    return (
        s.input_tokens - reused,
        reused,
        s.input_tokens - shared,
        shared,
        float(s.output_tokens),
        context,
        reserved_tokens(setup),
        min(reused, context) if setup.cascade else 0.0,
        min(shared, context) if setup.cascade else 0.0,
        float(s.spec_tokens),
        passes(tokens=s.spec_tokens, acceptance=s.spec_acceptance),
        s.busy,
        setup.fixed_factor,
        np.nan if setup.static_spread is None else setup.static_spread,
        float(setup.separate),
        s.batch,
        np.inf if s.max_tpot_s is None else s.max_tpot_s,
        np.inf if s.max_ttft_s is None else s.max_ttft_s,
    )


@dataclass(frozen=True)
class _Stack:
    """Rows of one kind, ready for the formulas."""

    cases: Many
    own: Numbers
    whole_step: bool
    alone_s: FloatArray | None = None
    """One prompt alone on the GPUs, which no batch changes."""

    def of(self, rows: Index) -> "_Stack":
        """Return some of the rows."""
        alone_s = None if self.alone_s is None else take(self.alone_s, rows)
        return _Stack(take(self.cases, rows), take(self.own, rows), self.whole_step, alone_s)


def _kinds(
    cases: Sequence[Case], setups: Sequence[Setup], case: Index, setup: Index
) -> list[tuple[Index, _Stack]]:
    """Return rows in stacks of one kind, with their places."""
    chunks = sorted({s.chunk_tokens for s in setups}, key=lambda t: t or 0)
    of_setup = np.asarray([chunks.index(s.chunk_tokens) for s in setups], dtype=np.int64)
    keys: dict[Any, int] = {}
    found: list[list[Case]] = []
    place = np.zeros((len(cases), len(chunks)), dtype=np.int64)
    inside = np.zeros_like(place)
    # Only pairs that some row needs are stacked.
    for pair in np.unique(case * len(chunks) + of_setup[setup]):
        i, j = divmod(int(pair), len(chunks))
        own = _chunked(cases[i], chunks[j])
        at = keys.setdefault(kind(own), len(keys))
        if at == len(found):
            found.append([])
        place[i, j], inside[i, j] = at, len(found[at])
        found[at].append(own)
    columns = numbers(setups)
    stacks = []
    row_kind = place[case, of_setup[setup]]
    row_inside = inside[case, of_setup[setup]]
    for at, members in enumerate(found):
        rows = np.flatnonzero(row_kind == at)
        if rows.size == 0:
            continue
        links = [link_of(c.accelerators[0], max(c.plan.parallel.ways, 1))[0] for c in members]
        stack = many(members, links)
        whole = members[0].scenario.composition == "whole-step"
        stacks.append((rows, _Stack(take(stack, row_inside[rows]), take(columns, setup[rows]), whole)))
    return stacks


def _chunked(case: Case, tokens: int | None) -> Case:
    """Return the case with prompts in chunks that share steps with decoding."""
    if tokens is None:
        return case
    return replace(
        case, constants=replace(case.constants, chunk_tokens=tokens, mixes_prompts=True)
    )


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
    for rows, plain in _kinds(cases, setups, case, setup):
        stack = _prepared(plain)
        batch, wall = _batches(stack, filled[rows])
        usd, tpot_s, ttft_s = _served(stack, batch)
        late = np.maximum(tpot_s / stack.own.max_tpot_s[:, 0], ttft_s / stack.own.max_ttft_s[:, 0])
        for name, value in zip(out, (batch, usd, tpot_s, ttft_s, wall), strict=True):
            out[name][rows] = value
        meets[rows] = ~(np.nan_to_num(late) > 1 + 1e-12)
    return Outcomes(out["batch"], out["usd"], out["tpot"], out["ttft"], out["wall"], meets)


def _prepared(stack: _Stack) -> _Stack:
    """Return rows with their fixed times scaled, and what no batch changes worked out."""
    cases, own = stack.cases, stack.own
    if (own.fixed != 1).any():
        cases = replace(cases, constants=scaled_fixed(cases.constants, own.fixed))
    work = Workload(new=own.new, cached=own.cached, output=own.output, resident=own.resident)
    alone_s = prompt_alone(
        plan=cases.plan, machine=cases.machine, constants=cases.constants, work=work
    )
    return replace(stack, cases=cases, alone_s=np.broadcast_to(alone_s, own.new.shape))


def _wall(stack: _Stack, room_bytes: FloatArray, tokens: FloatArray) -> FloatArray:
    """Return the most sequences that fit; 0 where weights don't or the capacity isn't published."""
    cases = stack.cases
    parallel = cases.plan.parallel
    each = cases.plan.stored.bytes_at(tokens)
    if cases.draft is not None:
        each = each + np.where(stack.own.drafted > 0, cases.draft.stored.bytes_at(tokens), 0.0)
    each = each * parallel.sequence_share / parallel.stages
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.floor(room_bytes / each * (1 + 1e-12))
    most = np.where(room_bytes > 0, np.minimum(most, MOST_BATCH), 0.0)
    return np.asarray(np.nan_to_num(np.broadcast_to(most, tokens.shape))[:, 0])


def _batches(stack: _Stack, filled: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Return each row's batch, and its wall."""
    own = stack.own
    wall = _wall(stack, stack.cases.room_bytes, own.kept)
    today = np.where(wall >= 1, np.minimum(own.batch[:, 0], wall), own.batch[:, 0])
    rows = np.flatnonzero(filled & (wall >= 1))
    if rows.size == 0:
        return today, wall
    chosen = _most_within(stack.of(rows), wall[rows])
    batch = today.copy()
    batch[rows] = np.where(chosen >= 1, chosen, today[rows])
    return _cheaper(stack, batch, today, rows), wall


def _most_within(stack: _Stack, wall: FloatArray) -> FloatArray:
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


def _cheaper(stack: _Stack, batch: FloatArray, today: FloatArray, rows: Index) -> FloatArray:
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


def _served(stack: _Stack, batch: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return all-in USD per Mtok, time between tokens and time to the first one, at batches (N,)."""
    cases, own = stack.cases, stack.own
    b = batch.reshape(-1, 1)
    step_s = _step(stack, cases.plan, b, own.prefix) / own.accepted
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


def _step(stack: _Stack, work: Plan, batch: FloatArray, prefix: FloatArray) -> FloatArray:
    """Return the time of a pass, drafting included. [s]"""
    cases, own = stack.cases, stack.own
    new_tokens = cast(Any, own.drafted + 1 if own.drafted.any() else 1)  # a column does as well
    work = _read_once(work, prefix, batch) if prefix.any() else work
    context = np.broadcast_to(own.resident, batch.shape)
    parts: dict[str, Any] = {"machine": cases.machine, "batch": batch, "context_tokens": context}
    if stack.whole_step:
        total = whole_step(plan=work, new_tokens=new_tokens, **parts).total
    else:
        parts["constants"] = cases.constants
        total = decode_step(plan=work, new_tokens=new_tokens, **parts).total
    if cases.draft is None or not own.drafted.any():
        return total
    if stack.whole_step:
        return np.asarray(total + own.drafted * whole_step(plan=cases.draft, **parts).total)
    return np.asarray(total + own.drafted * decode_step(plan=cases.draft, **parts).total)


def _read_once(work: Plan, prefix: FloatArray, batch: FloatArray) -> Plan:
    """Return a plan whose full layers read `prefix` tokens once per step, not once per sequence."""
    saved = prefix * (1 - 1 / np.maximum(batch, 1.0))

    def less(a: Any) -> Any:
        each = sum((per / stride for per, cap, stride in a.reads if np.isinf(cap)), start=0.0)
        return replace(a, fixed_bytes=a.fixed_bytes - each * saved)

    return replace(work, attention=tuple(less(a) for a in work.attention))


def _separate(
    stack: _Stack, batch: FloatArray, step_s: FloatArray, prefill_s: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the times of prompts on GPUs of their own, kept `MOST_LOAD` busy."""
    cases, own = stack.cases, stack.own
    cache = cases.plan.stored.bytes_at(own.new + own.cached)
    queue_s = MOST_LOAD / (2 * (1 - MOST_LOAD)) * prefill_s
    first = queue_s + prefill_s + cache / cases.link_bytes_per_s + cases.constants.first_token_s
    more = own.output - 1
    per_request_s = more * step_s / batch + prefill_s / MOST_LOAD
    return np.where(more > 0, step_s, np.nan), first + step_s, per_request_s


# As a perfect engine would ----------------------------------------------------------------------


def best(
    *, cases: Sequence[Case], setups: Sequence[Setup], case: Index, setup: Index
) -> Best:
    """Return best here, the wall's cost and the floor of rows; arguments as `run`."""
    size = len(case)
    out = {n: np.full(size, np.nan) for n in ("batch", "usd", "wall", "wall_usd", "floor")}
    plain = [replace(s, chunk_tokens=None) for s in setups]
    for rows, stack in _kinds([perfect_of(c) for c in cases], plain, case, setup):
        wall = np.floor(_wall(stack, stack.cases.packed_bytes, stack.own.resident))
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
    ((_, stack),) = _kinds([perfect_of(case)], [plain], none, none)
    return float(ideal_usd(stack, np.asarray([batch]))[0])


def ideal_times(*, case: Case, setup: Setup, batch: float) -> tuple[float, float]:
    """Return a perfect engine's step per token accepted, and its prompt's least time. [s]"""
    none = np.zeros(1, dtype=np.int64)
    plain = replace(setup, chunk_tokens=None)
    ((_, stack),) = _kinds([perfect_of(case)], [plain], none, none)
    step_s = _step(stack, stack.cases.plan, np.asarray([[batch]]), stack.own.best_prefix)
    prompt_s = np.broadcast_to(_ideal_prompt(stack), (1, 1))
    return float((step_s / stack.own.accepted)[0, 0]), float(prompt_s[0, 0])


def perfect_of(case: Case) -> Case:
    """Return the case of a perfect engine."""
    return perfect(case, plan(case.model, case.plan.bits, Parallel()))


def ideal_usd(stack: _Stack, batch: FloatArray) -> FloatArray:
    """Return a perfect engine's all-in cost at batches (N,). [USD/Mtok]"""
    own, b = stack.own, batch.reshape(-1, 1)
    step_s = _step(stack, stack.cases.plan, b, own.best_prefix) / own.accepted
    return _ideal(stack, step_s / b)


def _ideal(stack: _Stack, time_per_token_s: FloatArray) -> FloatArray:
    """Return the cost of answer and prompt: the first of a request's tokens is its prompt's."""
    own = stack.own
    stages = stack.cases.plan.parallel.stages
    answer = time_per_token_s * (own.output - 1) / own.output
    prompt = _ideal_prompt(stack) / own.output / stages
    usd = stack.cases.usd_per_s * (answer + prompt) * 1e6
    return np.broadcast_to(usd, (own.output.size, 1))[:, 0]


def _ideal_prompt(stack: _Stack) -> FloatArray:
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


def _most_ideal(stack: _Stack, wall: FloatArray) -> FloatArray:
    own = stack.own
    prompt_late = np.broadcast_to(_ideal_prompt(stack) > own.max_ttft_s, own.output.shape)[:, 0]
    most = np.where(prompt_late, 0.0, wall)
    if not np.isfinite(own.max_tpot_s).any():
        return most

    def load(rows: Index, batch: FloatArray) -> FloatArray:
        some = stack if rows.size == wall.size else stack.of(rows)
        b = batch.reshape(-1, 1)
        step_s = _step(some, some.cases.plan, b, some.own.best_prefix) / some.own.accepted
        return np.asarray((step_s / some.own.max_tpot_s)[:, 0])

    return largest_within(load=load, most=most)


def _floor(stack: _Stack) -> FloatArray:
    """Return the floor: max(k/B, f/C) per token of the answer, and the prompt's share."""
    cases, own = stack.cases, stack.own

    def least(work: Plan, prefix: FloatArray, tokens: FloatArray | float) -> FloatArray:
        if prefix.any():
            work = _read_once(work, prefix, np.full_like(prefix, np.inf))
        k = work.cache_bytes(own.resident) / cases.machine.bandwidth_bytes_per_s
        f = flop_time(plan=work, machine=cases.machine, context_tokens=own.resident)
        return np.asarray(np.maximum(k, tokens * f) / work.parallel.stages)

    time_s = least(cases.plan, own.best_prefix, own.drafted + 1)
    if cases.draft is not None and own.drafted.any():
        time_s = time_s + own.drafted * least(cases.draft, np.zeros_like(own.prefix), 1.0)
    return _ideal(stack, time_s / own.accepted)
