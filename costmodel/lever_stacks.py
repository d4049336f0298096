"""Rows ready for the formulas: cases stacked, with each setup's numbers as columns beside them.

A row is a case (what is served, on what) with a setup's numbers (lengths, reuse, how slots and
memory are filled). Rows whose cases can't stand in one stack are split.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from costmodel.case import Case, link_of
from costmodel.check import FloatArray
from costmodel.scenario import MOST_BATCH
from costmodel.setups import Setup, reserved_tokens
from costmodel.speculation import passes
from costmodel.stacked import Many, kind, many, take
from costmodel.step import decode_step, whole_step
from costmodel.work import Plan

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
class Stack:
    """Rows of one kind, ready for the formulas."""

    cases: Many
    own: Numbers
    whole_step: bool
    alone_s: FloatArray | None = None
    """One prompt alone on the GPUs, which no batch changes."""

    def of(self, rows: Index) -> "Stack":
        """Return some of the rows."""
        alone_s = None if self.alone_s is None else take(self.alone_s, rows)
        return Stack(take(self.cases, rows), take(self.own, rows), self.whole_step, alone_s)


def stacks(
    cases: Sequence[Case], setups: Sequence[Setup], case: Index, setup: Index
) -> list[tuple[Index, Stack]]:
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
        stacks.append((rows, Stack(take(stack, row_inside[rows]), take(columns, setup[rows]), whole)))
    return stacks


def _chunked(case: Case, tokens: int | None) -> Case:
    """Return the case with prompts in chunks that share steps with decoding."""
    if tokens is None:
        return case
    return replace(
        case, constants=replace(case.constants, chunk_tokens=tokens, mixes_prompts=True)
    )


# What both forms of a row ask -------------------------------------------------------------------


def wall_of(stack: Stack, room_bytes: FloatArray, tokens: FloatArray) -> FloatArray:
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


def pass_time(stack: Stack, work: Plan, batch: FloatArray, prefix: FloatArray) -> FloatArray:
    """Return the time of a pass, drafting included. [s]"""
    cases, own = stack.cases, stack.own
    new_tokens = cast(Any, own.drafted + 1 if own.drafted.any() else 1)  # a column does as well
    work = read_once(work, prefix, batch) if prefix.any() else work
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


def read_once(work: Plan, prefix: FloatArray, batch: FloatArray) -> Plan:
    """Return a plan whose full layers read `prefix` tokens once per step, not once per sequence."""
    saved = prefix * (1 - 1 / np.maximum(batch, 1.0))

    def less(a: Any) -> Any:
        each = sum((per / stride for per, cap, stride in a.reads if np.isinf(cap)), start=0.0)
        return replace(a, fixed_bytes=a.fixed_bytes - each * saved)

    return replace(work, attention=tuple(less(a) for a in work.attention))
