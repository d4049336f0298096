"""From work to time: one decode step, by op group, and what it is spent on.

Axes are the caller's: hardware constants may be shaped (H, 1, 1), contexts (C, 1), batches (B,);
everything broadcasts. Groups that don't depend on the context stay on the batch axis, so a grid
costs one multiplication and one addition per point. Formulas: docs/model.md, "Time of a step".
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel.check import FloatArray
from costmodel.constants import Constants, Group
from costmodel.work import Plan, coverage

ZERO = np.zeros(())
TINY = np.finfo(np.float64).tiny
BoolArray = NDArray[np.bool_]
PARTS = ("weights", "cache", "arithmetic", "links", "fixed")
"""What a step's time is spent on, in the order of the share strip's legend."""


@dataclass(frozen=True)
class Machine:
    """Peaks of one accelerator or, as arrays along the hardware axis, of several."""

    bandwidth_bytes_per_s: FloatArray
    flops_per_s: dict[str, FloatArray]
    """By storage dtype of a group: the peak of the arithmetic unit that it runs on; "attention"
    and "head" are entries too."""


@dataclass(frozen=True)
class Line:
    """A time that is a part of the step's own plus one per sequence: base + slope · sequences.

    `base` lives on the batch axis, `slope` on the context axis; only `value` spans both.
    """

    base: FloatArray = field(default_factory=lambda: ZERO)
    slope: FloatArray = field(default_factory=lambda: ZERO)

    def __add__(self, other: "Line") -> "Line":
        return Line(np.asarray(self.base + other.base), np.asarray(self.slope + other.slope))

    def value(self, sequences: FloatArray) -> FloatArray:
        """Return the time over the whole grid. [s]"""
        return np.asarray(self.base + self.slope * sequences)


@dataclass(frozen=True)
class StepTime:
    """Time of a decode step and what it is spent on. [s]

    `parts` add up to `total`. `memory` and `compute` are the raw sums of each group's transfer and
    arithmetic time, which overlap. All broadcast against each other; parts are worked out when
    asked for.
    """

    total: FloatArray
    sequences: FloatArray
    lines: dict[str, Line]
    idle: FloatArray = field(default_factory=lambda: ZERO)
    """Time that the GPU waits for its host; part of `fixed`."""
    compute_bound: BoolArray | None = None
    """Of the whole-step form: where arithmetic is all of the step, and else none of it."""
    also: tuple["StepTime", float] | None = None
    """A step that runs so many times beside this one (drafting), already in `total`."""

    def line(self, name: str) -> FloatArray:
        """Return one part over the grid: a key of `lines`. [s]"""
        value = self.lines[name].value(self.sequences)
        if name == "fixed":
            value = value + self.idle
        elif self.compute_bound is not None and name in PARTS:
            value = np.where(self.compute_bound == (name == "arithmetic"), value, 0.0)
        if self.also is None:
            return value
        other, times = self.also
        return value + times * other.line(name)

    def part(self, index: slice) -> "StepTime":
        """Return some batches of a step over the batch axis alone."""

        def cut(array: FloatArray) -> FloatArray:
            return array[index] if array.ndim else array

        return replace(
            self,
            total=cut(self.total),
            sequences=cut(self.sequences),
            lines={n: Line(base=cut(v.base), slope=v.slope) for n, v in self.lines.items()},
            idle=cut(self.idle),
            compute_bound=None if self.compute_bound is None else self.compute_bound[index],
            also=None if self.also is None else (self.also[0].part(index), self.also[1]),
        )

    def with_drafts(self, draft: "StepTime", times: float) -> "StepTime":
        """Return this step with another one run `times` times beside it."""
        return replace(self, total=self.total + times * draft.total, also=(draft, times))

    @property
    def memory(self) -> FloatArray:
        """Raw sum of transfer times. [s]"""
        return self.line("memory")

    @property
    def compute(self) -> FloatArray:
        """Raw sum of arithmetic times. [s]"""
        return self.line("compute")

    @property
    def parts(self) -> dict[str, FloatArray]:
        """What the step is spent on, by the words the pages use; adds up to `total`."""
        return {name: self.line(name) for name in PARTS}


def overlap(
    memory_s: FloatArray, compute_s: FloatArray, exponent: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the time of transfers and arithmetic that overlap, and the share arithmetic causes.

    The time is (m^p + c^p)^(1/p): p = 1 adds them, p → ∞ is the sharp roofline's maximum. It is
    shared m^p : c^p; at p = ∞ a tie goes to memory.

    >>> time_s, share = overlap(np.array(3.0), np.array(4.0), np.array(2.0))
    >>> float(time_s), round(float(share), 2)
    (5.0, 0.64)
    >>> time_s, share = overlap(np.array(3.0), np.array(4.0), np.array(np.inf))
    >>> float(time_s), float(share)
    (4.0, 1.0)
    """
    high = np.maximum(memory_s, compute_s)
    arithmetic = compute_s > memory_s
    sharp = np.isinf(exponent)
    if np.ndim(exponent) == 0 and sharp:
        return high, np.where(arithmetic, 1.0, 0.0)
    low = np.minimum(memory_s, compute_s)
    power = (low / np.maximum(high, TINY)) ** exponent
    if np.any(sharp):
        # 1^∞ would call a tie of sharp bounds shared; it is the maximum, and memory's.
        power = np.where(sharp, 0.0, power)
    both = 1 + power
    smaller = power / both
    return np.asarray(high * both ** (1 / exponent)), np.where(arithmetic, 1 - smaller, smaller)


@dataclass(frozen=True)
class Timed:
    """Time of one op group: all of it, its arithmetic share, and its raw parts."""

    busy: FloatArray
    arithmetic: FloatArray
    memory: FloatArray
    compute: FloatArray
    fixed: FloatArray


def _timed(
    memory_s: FloatArray, compute_s: FloatArray, group: Group, kernels: float
) -> Timed:
    busy, share = overlap(memory_s, compute_s, group.exponent)
    return Timed(
        busy=busy,
        arithmetic=busy * share,
        memory=memory_s,
        compute=compute_s,
        fixed=np.asarray(kernels * group.fixed_s),
    )


def decode_step(
    *,
    plan: Plan,
    machine: Machine,
    constants: Constants,
    batch: FloatArray,
    context_tokens: FloatArray,
    new_tokens: int = 1,
) -> StepTime:
    """Return the time of one decode step by op group (composition `per-op`).

    Parameters
    ----------
    plan : Plan
        Work of a step on one GPU.
    machine : Machine
        Peaks, scalars or shaped (H, 1, 1).
    constants : Constants
        Achieved shares, fixed times and links, of the same shapes.
    batch : ndarray
        Sequences in one copy's step, real numbers ≥ 0 allowed.
    context_tokens : ndarray
        Tokens in each sequence's cache.
    new_tokens : int
        Tokens per sequence in the step: 1, or drafted ones + 1.

    Returns
    -------
    StepTime
        Of a pipeline: one token's way through all stages, at batch / stages each.
    """
    batch = np.asarray(batch, dtype=np.float64) / plan.parallel.stages
    tokens = batch * new_tokens
    gemms = gemm_rows(plan, machine, constants, tokens, tokens)
    # Attention is linear in the batch: one sequence's time on the context axis, times the batch.
    attention = attention_rows(plan, machine, constants, context_tokens, new_tokens)
    elementwise_s = plan.elementwise_kernels * constants.elementwise_s + (
        tokens
        * plan.elementwise_bytes_per_token
        * constants.elementwise_share
        / machine.bandwidth_bytes_per_s
    )
    lines = {
        "weights": Line(base=_sum(r.busy - r.arithmetic for r in gemms)),
        "cache": Line(slope=_sum(r.busy - r.arithmetic for r in attention)),
        "arithmetic": Line(
            base=_sum(r.arithmetic for r in gemms), slope=_sum(r.arithmetic for r in attention)
        ),
        "links": Line(base=link_time(plan=plan, constants=constants, tokens=tokens)),
        "fixed": Line(base=_sum(r.fixed for r in (*gemms, *attention)) + elementwise_s),
        "memory": Line(base=_sum(r.memory for r in gemms), slope=_sum(r.memory for r in attention)),
        "compute": Line(
            base=_sum(r.compute for r in gemms), slope=_sum(r.compute for r in attention)
        ),
    }
    sequences = batch * plan.parallel.sequence_share
    gpu_s = sum((lines[name] for name in PARTS), start=Line()).value(sequences)
    host_s = np.asarray(constants.host_s + constants.host_per_sequence_s * batch)
    if not host_s.any():
        return StepTime(total=gpu_s, sequences=sequences, lines=lines)
    total = np.where(constants.host_overlaps, np.maximum(gpu_s, host_s), gpu_s + host_s)
    return StepTime(total=total, sequences=sequences, lines=lines, idle=total - gpu_s)


def _sum(terms: Iterable[FloatArray]) -> FloatArray:
    return np.asarray(sum(terms, start=ZERO))


def gemm_times(
    *,
    plan: Plan,
    machine: Machine,
    constants: Constants,
    tokens: FloatArray,
    head_tokens: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return busy and fixed time of all matrix products of a step, the head over its own tokens.

    A step of prompts sends only their last tokens through the head. [s]
    """
    rows = gemm_rows(plan, machine, constants, tokens, head_tokens)
    return _sum(r.busy for r in rows), _sum(r.fixed for r in rows)


def gemm_rows(
    plan: Plan,
    machine: Machine,
    constants: Constants,
    tokens: FloatArray,
    head_tokens: FloatArray,
) -> list[Timed]:
    """Return the times of a step's matrix products by group, in the order of `plan.gemms`."""
    rows = []
    for g in plan.gemms:
        group = constants.group(g.group, g.dtype)
        own = head_tokens if g.group == "head" else tokens * g.token_share
        read: FloatArray | float = g.weight_bytes
        if g.group == "experts":
            share = coverage(
                tokens=tokens, n_experts=g.n_experts, top_k=g.top_k, skew=constants.routing_skew
            )
            read = g.weight_bytes * share
            if np.any(np.asarray(g.expert_ways) > 1):
                read = read * fullest_rank(
                    tokens=tokens, n_experts=g.n_experts, top_k=g.top_k, ranks=g.expert_ways
                )
        moved = read + constants.activations * own * g.activation_bytes_per_token
        if g.group == "head":
            moved = moved + constants.sampling_bytes * own * plan.model.vocab
        memory_s = moved / (machine.bandwidth_bytes_per_s * group.memory_share)
        flops = own * g.flops_per_token
        unit = "head" if g.group == "head" else g.dtype
        compute_s = flops / (machine.flops_per_s[unit] * group.compute_share)
        rows.append(_timed(np.asarray(memory_s), np.asarray(compute_s), group, g.kernels))
    return rows


def attention_rows(
    plan: Plan,
    machine: Machine,
    constants: Constants,
    context_tokens: FloatArray,
    new_tokens: int,
) -> list[Timed]:
    """Return the times of one sequence's attention by group, in the order of `plan.attention`."""
    rows = []
    for a in plan.attention:
        group = constants.attention_of(a.kind)
        moved = a.read_bytes(context_tokens) + new_tokens * a.layers * a.write_bytes
        memory_s = moved / (machine.bandwidth_bytes_per_s * group.memory_share)
        flops = new_tokens * a.decode_flops(context_tokens)
        compute_s = flops / (machine.flops_per_s["attention"] * group.compute_share)
        rows.append(_timed(memory_s, compute_s, group, a.layers * a.kernels))
    return rows


def fullest_rank(*, tokens: FloatArray, n_experts: int, top_k: int, ranks: int) -> FloatArray:
    """Return how much more the fullest expert-parallel rank reads than the mean one.

    Of the E/r experts on a rank each is touched with the same chance c (`work.coverage`), nearly
    independently, so the number touched is binomial; the largest of r such counts has mean
    Σ_j 1 − F(j)^r (H. A. David, "Order Statistics", 2003, section 2.1).

    Examples
    --------
    256 experts, 8 a token, on 8 ranks (counted by drawing: 2.55, 1.72, 1.31, 1.09):

    >>> t = np.array([1.0, 4.0, 16.0, 64.0])
    >>> fullest_rank(tokens=t, n_experts=256, top_k=8, ranks=8).round(2).tolist()
    [2.54, 1.72, 1.31, 1.09]
    """
    if np.ndim(n_experts) or np.ndim(ranks) or np.ndim(top_k):
        return _fullest_of_rows(tokens, n_experts, top_k, ranks)
    share = coverage(tokens=tokens, n_experts=n_experts, top_k=top_k)
    held = math.ceil(n_experts / ranks)
    touched = np.arange(held)
    ways = np.concatenate([[0.0], np.cumsum(np.log((held - touched[:-1]) / (touched[:-1] + 1)))])
    inside = np.clip(share, 1e-12, 1 - 1e-12)[..., None]
    chance = np.exp(ways + touched * np.log(inside) + (held - touched) * np.log1p(-inside))
    at_most = np.minimum(np.cumsum(chance, axis=-1), 1.0)
    most = (1 - at_most**ranks).sum(axis=-1)
    return np.asarray(most / (inside[..., 0] * n_experts / ranks))


def _fullest_of_rows(
    tokens: FloatArray, n_experts: ArrayLike, top_k: ArrayLike, ranks: ArrayLike
) -> FloatArray:
    """Return `fullest_rank` where each row has its own experts."""
    t, e, k, r = np.broadcast_arrays(tokens, n_experts, top_k, ranks)
    found = np.ones(t.shape)
    for experts, top, ways in {tuple(int(v) for v in row) for row in zip(e.flat, k.flat, r.flat, strict=True)}:
        if experts and ways > 1:
            rows = (e == experts) & (k == top) & (r == ways)
            found[rows] = fullest_rank(tokens=t[rows], n_experts=experts, top_k=top, ranks=ways)
    return found


def link_time(*, plan: Plan, constants: Constants, tokens: FloatArray) -> FloatArray:
    """Return the time of a step's collectives. [s]

    All-reduces of `tokens · d_model` 16-bit activations, each the cheapest of the measured
    algorithms α + bytes/β; all-to-all dispatch and combine where experts are spread over ranks
    with data-parallel attention; a hop per stage border of a pipeline.
    """
    message = tokens * plan.model.d_model * 2.0
    ways, stages = plan.parallel.ways, plan.parallel.stages
    total = np.asarray(plan.collectives * constants.collective_s(message))
    if np.any(plan.exchanges):
        routed = [g.top_k for g in plan.gemms if g.group == "experts"]
        sent = message / ways * np.minimum(np.max(routed, axis=0), ways) * (ways - 1) / ways
        total = total + plan.exchanges * 2 * constants.exchange_s(sent)
    if np.any(np.asarray(ways) > 1):
        logits = tokens * plan.model.vocab * 2.0 / ways
        gathers = np.where(np.asarray(ways) > 1, constants.gathers_logits, 0.0)
        total = total + gathers * constants.collective_s(logits)
    if np.any(np.asarray(stages) > 1):
        total = total + (stages - 1) * constants.hop_s(message)
    return np.asarray(total)


def whole_step_time_s(
    *,
    batch: ArrayLike,
    weight_bytes: ArrayLike,
    cache_bytes_per_sequence: ArrayLike,
    bandwidth_bytes_per_s: ArrayLike,
    flop_time_per_sequence_s: ArrayLike = 0.0,
) -> FloatArray:
    """Return max((W + b·k) / B, b·f/C): the articles' decode step from raw constants.

    Parameters
    ----------
    batch : array_like
        Sequences in the step.
    weight_bytes, cache_bytes_per_sequence : array_like
        Read once per step, and once per sequence. [bytes]
    bandwidth_bytes_per_s : array_like
        Memory bandwidth. [bytes/s]
    flop_time_per_sequence_s : array_like
        Arithmetic of one sequence's token at the peak rate; 0 looks at memory alone. [s]

    Returns
    -------
    ndarray, shape = broadcast of all inputs
        [s]

    References
    ----------
    .. [1] J. Austin et al., "How to Scale Your Model", 2025, chapter 7.

    Examples
    --------
    The book's LLaMA-2-13B on eight TPU v5e at batch 64:

    >>> t = whole_step_time_s(batch=64, weight_bytes=26e9, cache_bytes_per_sequence=6.7e9,
    ...                       bandwidth_bytes_per_s=8 * 8.2e11)
    >>> print(f"{t * 1e3:.2f} ms")
    69.33 ms
    """
    b, weights, cache, bandwidth, flop_s = (
        np.asarray(v, dtype=np.float64)
        for v in (
            batch, weight_bytes, cache_bytes_per_sequence, bandwidth_bytes_per_s,
            flop_time_per_sequence_s,
        )
    )  # fmt: skip
    return np.asarray(np.maximum((weights + b * cache) / bandwidth, b * flop_s))


def whole_step(
    *,
    plan: Plan,
    machine: Machine,
    batch: FloatArray,
    context_tokens: FloatArray,
    new_tokens: int = 1,
) -> StepTime:
    """Return the articles' form: one max(Σ bytes / B, Σ flop / C) at the peaks, nothing else.

    Shapes and units as `decode_step`. Floors, edges and the perfect engine are of this form.
    """
    batch = np.asarray(batch, dtype=np.float64) / plan.parallel.stages
    tokens = batch * new_tokens
    bandwidth = machine.bandwidth_bytes_per_s
    weights = Line(base=np.asarray(plan.weight_bytes(tokens) / bandwidth))
    cache = Line(
        slope=np.asarray(
            plan.cache_bytes(context_tokens) / plan.parallel.sequence_share / bandwidth
        )
    )
    sequences = batch * plan.parallel.sequence_share
    each_s = flop_time(plan=plan, machine=machine, context_tokens=context_tokens)
    compute = Line(slope=each_s * new_tokens / plan.parallel.sequence_share)
    memory_s, compute_s = (weights + cache).value(sequences), compute.value(sequences)
    total = whole_step_time_s(
        batch=batch,
        weight_bytes=plan.weight_bytes(tokens),
        cache_bytes_per_sequence=plan.cache_bytes(context_tokens),
        bandwidth_bytes_per_s=bandwidth,
        flop_time_per_sequence_s=new_tokens * each_s,
    )
    return StepTime(
        total=total,
        sequences=sequences,
        lines={
            "weights": weights,
            "cache": cache,
            "arithmetic": compute,
            "memory": weights + cache,
            "compute": compute,
            "links": Line(),
            "fixed": Line(),
        },
        compute_bound=compute_s > memory_s,
    )


def flop_time(*, plan: Plan, machine: Machine, context_tokens: FloatArray) -> FloatArray:
    """Return f/C: peak arithmetic time per token of a step, each group at its own rate. [s]"""
    total = plan.attention_flops(context_tokens) / machine.flops_per_s["attention"]
    for g in plan.gemms:
        unit = "head" if g.group == "head" else g.dtype
        total = total + g.token_share * g.flops_per_token / machine.flops_per_s[unit]
    return np.asarray(total)
