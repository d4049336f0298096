"""What people ask: decode points, edges, memory. Pages, command line and tests call these.

Every function takes a `Scenario`, resolves it and returns arrays or plain numbers in SI units.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel import memory
from costmodel.case import Case, bits_of, model_of, resolve
from costmodel.check import FloatArray, within
from costmodel.constants import IDEAL
from costmodel.cost import usd_per_mtok
from costmodel.edges import (
    Curve,
    compute_ridge,
    flattens,
    floor_time_per_token,
    kv_crossover,
    largest_within,
    linear_ridge,
)
from costmodel.hardware import Accelerator
from costmodel.model import Model
from costmodel.scenario import MOST_BATCH, MOST_TOKENS, Scenario
from costmodel.speculation import passes
from costmodel.step import StepTime, decode_step, whole_step
from costmodel.work import Parallel, Plan, counted_once, plan, read_params

BOUNDS = ("memory", "compute", "comm", "fixed")


@dataclass(frozen=True)
class Points:
    """Decode points over hardware × context × batch, one axis each; SI units.

    Shapes broadcast to (hardware, context, batch), the first only where several accelerators are
    asked for. Byte, FLOP and memory figures are of one copy, replication included.
    """

    case: Case
    batch: FloatArray
    context_tokens: FloatArray
    step: StepTime
    step_time_s: FloatArray
    """Time between two tokens of one user; with speculation, of a pass over tokens accepted."""
    usd_per_mtok: FloatArray

    def part(self, index: slice) -> "Points":
        """Return some of the batches, where only they vary."""
        return Points(
            case=self.case,
            batch=self.batch[index],
            context_tokens=self.context_tokens,
            step=self.step.part(index),
            step_time_s=self.step_time_s[index],
            usd_per_mtok=self.usd_per_mtok[index],
        )

    @property
    def memory_time_s(self) -> FloatArray:
        """Raw sum of the groups' transfer times. [s]"""
        return self.step.memory

    @property
    def compute_time_s(self) -> FloatArray:
        """Raw sum of the groups' arithmetic times. [s]"""
        return self.step.compute

    @property
    def comm_time_s(self) -> FloatArray:
        """Collectives. [s]"""
        return self.step.line("links")

    @property
    def fixed_time_s(self) -> FloatArray:
        """Kernels' fixed time, elementwise kernels, and waiting for the host. [s]"""
        return self.step.line("fixed")

    @cached_property
    def shares(self) -> dict[str, FloatArray]:
        """Share of the step by part; they add up to 1."""
        return {name: part / self.step.total for name, part in self.step.parts.items()}

    @cached_property
    def bound(self) -> NDArray[np.str_]:
        """The largest of memory, compute, comm and fixed time."""
        times = np.broadcast_arrays(
            self.memory_time_s, self.compute_time_s, self.comm_time_s, self.fixed_time_s
        )
        return np.asarray(np.asarray(BOUNDS)[np.argmax(np.stack(times), axis=0)])

    @property
    def _new_tokens(self) -> int:
        return self.case.scenario.spec_tokens + 1

    @cached_property
    def bytes_read(self) -> FloatArray:
        """Weights and cache that a step reads (states: reads and writes), over the copy. [bytes]"""
        once = self._bytes_of(self.case.plan, self._new_tokens)
        if self.case.draft is None:
            return once
        return np.asarray(once + (self._new_tokens - 1) * self._bytes_of(self.case.draft, 1))

    def _bytes_of(self, plan: Plan, new_tokens: int) -> FloatArray:
        per_stage = self.batch / plan.parallel.stages
        weights = plan.weight_bytes(
            per_stage * new_tokens, skew=self.case.constants.routing_skew
        )
        cache = per_stage * plan.cache_bytes(self.context_tokens)
        return np.asarray((weights + cache) * plan.parallel.gpus)

    @cached_property
    def flops(self) -> FloatArray:
        """Arithmetic of a step, over the copy. [FLOP]"""
        once = self._new_tokens * self._flops_of(self.case.plan)
        if self.case.draft is None:
            return once
        return np.asarray(once + (self._new_tokens - 1) * self._flops_of(self.case.draft))

    def _flops_of(self, plan: Plan) -> FloatArray:
        linear = sum(g.token_share * g.flops_per_token for g in plan.gemms)
        each = linear + plan.attention_flops(self.context_tokens)
        return np.asarray(self.batch * each * plan.parallel.ways)

    @cached_property
    def memory_bytes(self) -> FloatArray:
        """Weights, workspace, runtime and the batch's cache, over the copy. [bytes]"""
        budget = self.case.budget
        used = budget.weights_bytes + budget.workspace_bytes + budget.runtime_bytes
        each = memory.sequence_bytes(
            plan=self.case.plan, draft=self.case.draft, context_tokens=self.context_tokens
        )
        return np.asarray((used + self.batch * each) * self.case.gpus)

    @cached_property
    def max_batch(self) -> FloatArray:
        """Most sequences that fit at each context; NaN where capacity is unpublished."""
        return max_batch(self.case, context_tokens=self.context_tokens)

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the point fits; false where the capacity is unpublished."""
        return np.asarray(self.batch <= self.max_batch)

    @property
    def low(self) -> FloatArray | None:
        """Lower end of the 80 % band of `usd_per_mtok`; None in the ideal profile."""
        band = self.case.constants.band
        return None if band is None else np.asarray(self.usd_per_mtok * band[0])

    @property
    def high(self) -> FloatArray | None:
        """Upper end of the 80 % band of `usd_per_mtok`; None in the ideal profile."""
        band = self.case.constants.band
        return None if band is None else np.asarray(self.usd_per_mtok * band[1])


def point(
    scenario: Scenario,
    *,
    batch: ArrayLike | None = None,
    context_tokens: ArrayLike | None = None,
    hardware: list[str | Accelerator] | None = None,
) -> Points:
    """Return decode points of a scenario, in one call over all of its axes.

    Parameters
    ----------
    scenario : Scenario
        Everything that isn't varied.
    batch, context_tokens : array_like, optional
        One-dimensional axes; the scenario's value when left out.
    hardware : list, optional
        Several accelerators along the first axis; the scenario's when left out.

    Returns
    -------
    Points
        Squeezed to the axes that were given.

    Raises
    ------
    InputError
        For values outside the bounds, unknown presets, splits that aren't legal.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> p = point(scenario(model="llama-3.1-8b", tp=1, profile="ideal"), batch=[1, 64])
    >>> (p.step_time_s * 1e3).round(2).tolist()
    [4.56, 9.5]
    """
    case = resolve(scenario, hardware)
    return points(
        case,
        batch=scenario.batch if batch is None else batch,
        context_tokens=scenario.context if context_tokens is None else context_tokens,
    )


def points(case: Case, *, batch: ArrayLike, context_tokens: ArrayLike) -> Points:
    """Return decode points of a case; as `point`."""
    (b,) = within(0, MOST_BATCH * 1024, above=True, batch=batch)
    (c,) = within(0, MOST_TOKENS, context_tokens=context_tokens)
    if c.ndim:
        c = c.reshape(-1, 1)
    step = step_time(case, batch=b, context_tokens=c)
    scenario = case.scenario
    time_s = step.total / passes(tokens=scenario.spec_tokens, acceptance=scenario.spec_acceptance)
    return Points(
        case=case,
        batch=b,
        context_tokens=c,
        step=step,
        step_time_s=time_s,
        usd_per_mtok=usd_per_mtok(
            time_per_token_s=time_s / b,
            usd_per_gpu_hour=case.usd_per_gpu_hour,
            gpus=case.gpus,
            busy=scenario.busy,
        ),
    )


def step_time(case: Case, *, batch: FloatArray, context_tokens: FloatArray) -> StepTime:
    """Return the time of a step (with speculation: of one pass) in the scenario's composition."""
    scenario = case.scenario
    new_tokens = scenario.spec_tokens + 1
    if scenario.composition == "whole-step":
        step = whole_step(
            plan=case.plan, machine=case.machine, batch=batch, context_tokens=context_tokens,
            new_tokens=new_tokens,
        )  # fmt: skip
    else:
        step = decode_step(
            plan=case.plan, machine=case.machine, constants=case.constants, batch=batch,
            context_tokens=context_tokens, new_tokens=new_tokens,
        )  # fmt: skip
    if case.draft is None:
        return step
    if scenario.composition == "whole-step":
        draft = whole_step(
            plan=case.draft, machine=case.machine, batch=batch, context_tokens=context_tokens
        )
    else:
        draft = decode_step(
            plan=case.draft, machine=case.machine, constants=case.constants, batch=batch,
            context_tokens=context_tokens,
        )  # fmt: skip
    return step.with_drafts(draft, scenario.spec_tokens)


def max_batch(case: Case, *, context_tokens: FloatArray) -> FloatArray:
    """Return the most sequences of one copy that fit at a context."""
    each = memory.sequence_bytes(plan=case.plan, draft=case.draft, context_tokens=context_tokens)
    return memory.largest_batch(
        available_bytes=case.budget.available_kv_bytes, sequence_bytes=each
    )


def ideal(case: Case) -> Case:
    """Return the same case of a perfect engine: every peak reached, whole-step."""
    scenario = case.scenario.but(profile="ideal", composition="whole-step")
    return replace(case, scenario=scenario, constants=IDEAL)


@dataclass(frozen=True)
class Knee:
    """Edges of the cost curve at one context, floor, and best here. Batches are per copy."""

    kv_crossover_batch: float | None
    diminishing_returns_batch: float | None
    diminishing_returns_batch_ideal: float | None
    compute_ridge_batch: float | None
    linear_ridge_batch: float | None
    max_batch: int
    limit_batch: int | None
    """Largest batch within the speed limit, prompts of others included; None where there is none."""
    recommended_batch: int
    decided_by: str
    floor_usd_per_mtok: float
    best_here_usd_per_mtok: float
    best_here_batch: int


def knee(scenario: Scenario) -> Knee:
    """Return the edges of a scenario's cost curve.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> k = knee(scenario(weights="fp8"))
    >>> round(k.kv_crossover_batch), k.max_batch, k.decided_by
    (108, 343, 'memory wall')
    """
    return knee_of(resolve(scenario))


def knee_of(case: Case) -> Knee:
    """Return the edges of a resolved case with one accelerator."""
    scenario = case.scenario
    context = scenario.context
    plan, machine = case.plan, case.machine
    perfect = ideal(case)

    def own(batch: FloatArray) -> FloatArray:
        return step_time(case, batch=batch, context_tokens=np.asarray(context)).total

    def perfect_s(batch: FloatArray) -> FloatArray:
        return step_time(perfect, batch=batch, context_tokens=np.asarray(context)).total

    tokens = scenario.spec_tokens + 1
    wall = _whole(max_batch(case, context_tokens=np.asarray(context)))
    limit = None
    if scenario.max_tpot_s is not None:
        limit = largest_within(
            curve=lambda b: time_between_tokens(case, batch=b), limit_s=scenario.max_tpot_s, most=MOST_BATCH
        )
    best_usd, best_batch = best_here(perfect)
    batch, decided = recommended(wall=wall, limit=limit, unknown=bool(np.isnan(case.budget.usable_bytes)))
    return Knee(
        kv_crossover_batch=kv_crossover(
            plan=plan, context_tokens=context, new_tokens=tokens
        ),
        diminishing_returns_batch=flattens(curve=own, saves_less_than=scenario.flat),
        diminishing_returns_batch_ideal=flattens(curve=perfect_s, saves_less_than=scenario.flat),
        compute_ridge_batch=compute_ridge(
            plan=plan, machine=machine, context_tokens=context, new_tokens=tokens
        ),
        linear_ridge_batch=linear_ridge(plan=plan, machine=machine),
        max_batch=wall,
        limit_batch=limit,
        recommended_batch=batch,
        decided_by=decided,
        floor_usd_per_mtok=float(floor_cost(case)),
        best_here_usd_per_mtok=best_usd,
        best_here_batch=best_batch,
    )


def time_between_tokens(case: Case, *, batch: ArrayLike) -> FloatArray:
    """Return the time between two tokens of one user, prompts of others on the same GPUs included. [s]

    Answers of one token have none; for them it is the step's.
    """
    from costmodel import serve  # noqa: PLC0415  (it reads this module)

    served = serve.at_batch(case, batch=batch)
    return np.asarray(np.where(np.isnan(served.tpot_s), served.step_s, served.tpot_s))


def _passes(scenario: Scenario) -> float:
    return passes(tokens=scenario.spec_tokens, acceptance=scenario.spec_acceptance)


def _whole(value: FloatArray) -> int:
    number = float(value)
    return 0 if np.isnan(number) else int(number)


def recommended(*, wall: int, limit: int | None, unknown: bool = False) -> tuple[int, str]:
    """Return the largest batch that fits and meets the limits, and which edge decided."""
    if unknown:
        return (limit, "speed limit") if limit is not None else (0, "capacity not published")
    if wall == 0:
        return 0, "weights don't fit"
    if limit is None or limit >= wall:
        return wall, "memory wall"
    return (limit, "speed limit") if limit else (0, "no batch meets the speed limit")


def counted(case: Case) -> Case:
    """Return a case whose GPUs are always busy and read a cache that ranks share once in all."""
    single = plan(case.plan.model, case.plan.bits, Parallel())
    kept_busy = case.scenario.but(busy=1.0)
    return replace(case, scenario=kept_busy, plan=counted_once(case.plan, single))


def floor_cost(case: Case, *, context_tokens: ArrayLike | None = None) -> FloatArray:
    """Return the floor of the answer: max(k/B, f/C) as money, of a busy copy. [USD/Mtok]

    A latent that is copied to every rank counts once: copies are the split's, not the model's.
    With speculation of a pass, the drafts' own floors added, over the tokens it yields.
    """
    case = counted(case)
    scenario = case.scenario
    context = scenario.context if context_tokens is None else context_tokens
    at = np.asarray(context, dtype=np.float64)
    time_s = floor_time_per_token(
        plan=case.plan, machine=case.machine, context_tokens=at, new_tokens=scenario.spec_tokens + 1
    )
    if case.draft is not None:
        time_s = time_s + scenario.spec_tokens * floor_time_per_token(
            plan=case.draft, machine=case.machine, context_tokens=at
        )
    return _cost(case, time_s / _passes(scenario))


def _cost(case: Case, time_per_token_s: FloatArray) -> FloatArray:
    return usd_per_mtok(
        time_per_token_s=time_per_token_s,
        usd_per_gpu_hour=case.usd_per_gpu_hour,
        gpus=case.gpus,
        busy=case.scenario.busy,
    )


def best_here(perfect: Case) -> tuple[float, int]:
    """Return the perfect engine's cost at the largest batch that fits and meets the speed limit.

    Memory packed exactly: the usable share kept, no blocks, workspace or runtime; a busy copy, its
    cache counted once. NaN and 0 where nothing fits or no batch meets the limit.
    """
    perfect = counted(perfect)
    scenario = perfect.scenario
    context = np.asarray(scenario.context)
    curve: Curve = lambda b: step_time(perfect, batch=b, context_tokens=context).total  # noqa: E731
    each = memory.sequence_bytes(
        plan=perfect.plan, draft=perfect.draft, context_tokens=context
    )
    most = _whole(
        memory.largest_batch(
            available_bytes=perfect.budget.packed_kv_bytes, sequence_bytes=each
        )
    )
    if scenario.max_tpot_s is not None:
        most = largest_within(
            curve=curve, limit_s=scenario.max_tpot_s * _passes(scenario), most=most
        )
    if most < 1:
        return float("nan"), 0
    time_s = curve(np.asarray(float(most))) / _passes(scenario)
    return float(_cost(perfect, time_s / most)), most


@dataclass(frozen=True)
class ModelCard:
    """What a model weighs, reads and keeps, at a batch and a context. Of one copy, not sharded."""

    model: Model
    total_params: int
    active_params: int
    read_params: float
    """Weights that one step at `batch` reads."""
    resident_weight_bytes: float
    kv_bytes_per_token: float
    """Growth of the cache per token while inside every window."""
    cache_bytes_per_sequence: float
    """Stored at the context; windows keep no more than their width."""
    moved_cache_bytes_per_sequence: float
    """Read per step at the context; states are read and written."""
    beyond_limit: bool


def model_card(scenario: Scenario, *, batch: float = 1.0) -> ModelCard:
    """Return the figures of a scenario's model on one GPU of its own.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> card = model_card(scenario(model="llama-3.1-8b"))
    >>> card.total_params, card.kv_bytes_per_token
    (8030261248, 131072.0)
    """
    (tokens,) = within(0, MOST_BATCH, above=True, batch=batch)
    model = model_of(scenario)
    work = plan(model, bits_of(scenario, model), Parallel())
    context = np.asarray(scenario.context)
    return ModelCard(
        model=model,
        total_params=model.total_params,
        active_params=model.active_params,
        read_params=read_params(model, tokens),
        resident_weight_bytes=work.resident_bytes,
        kv_bytes_per_token=work.stored.bytes_per_token,
        cache_bytes_per_sequence=float(work.stored.bytes_at(context)),
        moved_cache_bytes_per_sequence=float(work.cache_bytes(context)),
        beyond_limit=beyond_limit(model, context),
    )


def beyond_limit(model: Model, context_tokens: FloatArray) -> bool:
    """Return whether any context exceeds what the model was made for."""
    limit = model.context_limit
    return limit is not None and bool(np.any(np.asarray(context_tokens) > limit))


@dataclass(frozen=True)
class MemoryReport:
    """Memory as an engine prints it at start-up: bytes per GPU, tokens and requests per copy."""

    weights_bytes: float
    workspace_bytes: float
    runtime_bytes: float
    usable_bytes: float
    available_kv_bytes: float
    kv_tokens: float
    """Tokens that fit at `max_model_len` each; of windows only what they reserve."""
    kv_tokens_whole: float
    """Tokens that fit where every layer keeps every token (no hybrid cache manager)."""
    max_concurrency: float
    max_model_len: float
    read_bytes_per_request: float
    """Cache that a step reads of one request of `max_model_len`, on one GPU."""
    reserved_bytes_per_request: float
    """Cache that the engine sets aside for it, on one GPU: blocks, and a step's tokens."""


def memory_report(
    scenario: Scenario,
    *,
    memory_fraction: float = memory.MEMORY_FRACTION,
    max_batched_tokens: int = memory.MAX_BATCHED_TOKENS,
    max_sequences: int = memory.MAX_SEQUENCES,
    max_model_len: float | None = None,
) -> MemoryReport:
    """Return what an engine would print at start-up for a scenario.

    Parameters
    ----------
    scenario : Scenario
        Model, accelerator, split and dtypes.
    memory_fraction : float
        Share of the card that the engine takes.
    max_batched_tokens, max_sequences : int
        The engine's limits of a step, which size its workspace.
    max_model_len : float, optional
        Tokens of one request; the model's limit when left out.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> m = memory_report(scenario(model="llama-3.1-8b", tp=1))
    >>> round(m.weights_bytes / 1e9, 2), m.available_kv_bytes > 50e9
    (16.06, True)
    """
    within(0, 1, above=True, memory_fraction=memory_fraction)
    within(1, 1e7, max_batched_tokens=max_batched_tokens, max_seqs=max_sequences)
    if max_model_len is not None:
        within(1, MOST_TOKENS * 10, max_model_len=max_model_len)
    case = resolve(scenario)
    found = memory.budget(
        plan=case.plan,
        draft=case.draft,
        engine=scenario.engine,
        capacity_bytes=np.asarray(case.accelerators[0].capacity_bytes),
        memory_fraction=memory_fraction,
        max_batched_tokens=max_batched_tokens,
        max_sequences=max_sequences,
    )
    length = max_model_len or case.model.context_limit or scenario.input_tokens
    reserved = memory.reserved_bytes(
        plan=case.plan, tokens=float(length), max_batched_tokens=max_batched_tokens
    )
    room = float(np.maximum(found.available_kv_bytes, 0.0))
    whole = case.plan.stored.bytes_per_token * case.plan.parallel.sequence_share
    whole /= case.plan.parallel.stages
    concurrency = room / reserved if reserved > 0 else float("inf")
    return MemoryReport(
        weights_bytes=found.weights_bytes,
        workspace_bytes=found.workspace_bytes,
        runtime_bytes=found.runtime_bytes,
        usable_bytes=float(found.usable_bytes),
        available_kv_bytes=float(found.available_kv_bytes),
        kv_tokens=concurrency * length,
        kv_tokens_whole=room / whole if whole > 0 else float("inf"),
        max_concurrency=concurrency,
        max_model_len=float(length),
        read_bytes_per_request=float(case.plan.cache_bytes(np.asarray(float(length))))
        / case.plan.parallel.stages,
        reserved_bytes_per_request=reserved,
    )
