"""Serving: prompts and answers on the same GPUs, from a decoding batch or a concurrency.

In aggregate every decode step finishes b/(OSL − 1) requests and must prefill for as many. Engines
that mix chunks of prompts into decode steps read the weights once for both; others run prompts
alone while answers wait. Formulas: docs/model.md, "Serving".
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from costmodel.case import Case, resolve
from costmodel.check import FloatArray, within
from costmodel.constants import Constants
from costmodel.cost import usd_per_mtok
from costmodel.errors import InputError
from costmodel.explore import max_batch, step_time
from costmodel.prefill import chunk_time, prefill_time
from costmodel.scenario import MOST_BATCH, Scenario
from costmodel.speculation import passes
from costmodel.step import Machine
from costmodel.work import Plan

GRID = 64
"""Batches at which a concurrency's balance is looked for, twice."""


@dataclass(frozen=True)
class Workload:
    """Lengths of a request as the engine sees them: numbers, or arrays of them. [tokens]"""

    new: float | FloatArray
    """Prompt tokens computed."""
    cached: float | FloatArray
    """Prompt tokens found in the prefix cache."""
    output: float | FloatArray
    resident: float | FloatArray
    """Mean length of the sequences in a step: ISL + OSL/2 for fixed lengths."""


@dataclass(frozen=True)
class Serving:
    """A served copy at decoding batches; arrays of one shape. SI units."""

    case: Case
    batch: FloatArray
    """Sequences decoding, on average."""
    ttft_s: FloatArray
    tpot_s: FloatArray
    """Time between two tokens of one user, prompts of others included; NaN for OSL = 1."""
    step_s: FloatArray
    """The decode step alone."""
    prefill_s: FloatArray
    """One prompt alone on the GPUs."""
    requests_per_s: FloatArray
    output_tokens_per_s: FloatArray
    usd_per_request: FloatArray
    usd_per_mtok: FloatArray
    """All-in, per output token."""
    usd_per_mtok_output: FloatArray
    """The answer's part, per output token."""
    usd_per_mtok_prompt: FloatArray
    """The prompt's part, per output token."""
    usd_per_mtok_input: FloatArray
    """The prompt's part, per input token."""
    fits: FloatArray
    concurrency: FloatArray
    """Requests in flight: decoding, waiting and in prefill."""

    @property
    def e2e_s(self) -> FloatArray:
        """From request to last token. [s]"""
        more = self.case.scenario.output_tokens - 1
        return np.asarray(self.ttft_s + more * np.nan_to_num(self.tpot_s))

    @property
    def low(self) -> FloatArray | None:
        """Lower end of the 80 % band of `usd_per_mtok`."""
        band = self.case.constants.band
        return None if band is None else np.asarray(self.usd_per_mtok * band[0])

    @property
    def high(self) -> FloatArray | None:
        """Upper end of the 80 % band of `usd_per_mtok`."""
        band = self.case.constants.band
        return None if band is None else np.asarray(self.usd_per_mtok * band[1])


def workload(scenario: Scenario) -> Workload:
    """Return a scenario's request as the engine sees it."""
    reused = scenario.input_tokens * scenario.shared * scenario.hit
    return Workload(
        new=scenario.input_tokens - reused,
        cached=reused,
        output=float(scenario.output_tokens),
        resident=scenario.context,
    )


def serve(
    scenario: Scenario, *, batch: ArrayLike | None = None, concurrency: ArrayLike | None = None
) -> Serving:
    """Return what serving a scenario's workload takes and costs.

    Parameters
    ----------
    scenario : Scenario
        Workload and setup.
    batch : array_like, optional
        Sequences decoding; the scenario's when neither is given.
    concurrency : array_like, optional
        Requests in flight in a closed loop; the decoding batch follows from Little's law.

    Raises
    ------
    InputError
        When both are given, and for values outside the bounds.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> s = serve(scenario(weights="fp8", profile="ideal"), batch=64)
    >>> round(float(s.prefill_s) * 1e3), float(s.usd_per_mtok) > float(s.usd_per_mtok_output)
    (27, True)
    """
    if batch is not None and concurrency is not None:
        msg = "serve takes --batch or --concurrency, got both; leave one out"
        raise InputError(msg, field="concurrency")
    case = resolve(scenario)
    if concurrency is not None:
        return at_concurrency(case, concurrency=concurrency)
    return at_batch(case, batch=scenario.batch if batch is None else batch)


def at_batch(case: Case, *, batch: ArrayLike) -> Serving:
    """Return a served copy at decoding batches; as `serve`."""
    (b,) = within(0, MOST_BATCH, above=True, batch=batch)
    scenario, work = case.scenario, workload(case.scenario)
    accepted = passes(tokens=scenario.spec_tokens, acceptance=scenario.spec_acceptance)
    step_s = step_time(case, batch=b, context_tokens=np.asarray(work.resident)).total / accepted
    times = request_times(
        plan=case.plan, machine=case.machine, constants=case.constants, work=work, batch=b,
        step_s=step_s,
    )  # fmt: skip
    return _priced(
        case, b, work, ttft_s=times.ttft_s, tpot_s=times.tpot_s, step_s=step_s,
        prefill_s=times.prefill_s, requests_per_s=times.requests_per_s,
    )  # fmt: skip


@dataclass(frozen=True)
class Times:
    """What a request waits for, and how many a copy finishes; arrays of one shape."""

    ttft_s: FloatArray
    tpot_s: FloatArray
    """NaN for answers of one token."""
    prefill_s: FloatArray
    """One prompt alone on the GPUs."""
    requests_per_s: FloatArray


def request_times(
    *,
    plan: Plan,
    machine: Machine,
    constants: Constants,
    work: Workload,
    batch: FloatArray,
    step_s: FloatArray,
    alone_s: FloatArray | None = None,
) -> Times:
    """Return the times of requests served at decoding batches, prompts on the same GPUs.

    Parameters
    ----------
    plan, machine, constants
        As `step.decode_step`.
    work : Workload
        Lengths of a request; scalars, or arrays that broadcast against the batch. Answers are all
        of one token, or all of more.
    batch : ndarray
        Sequences decoding.
    step_s : ndarray
        The decode step alone, per token accepted. [s]
    alone_s : ndarray, optional
        One prompt alone on the GPUs, where the caller knows it (`prompt_alone`). [s]
    """
    b = batch
    parts = {"plan": plan, "machine": machine, "constants": constants}
    if alone_s is None:
        alone_s = prompt_alone(plan=plan, machine=machine, constants=constants, work=work)
    shape = np.broadcast_shapes(b.shape, np.shape(alone_s), np.shape(step_s))
    more = np.asarray(work.output, dtype=np.float64) - 1
    single = bool(np.all(more <= 0))
    rate = np.full_like(b, np.inf) if single else b / more
    if single:
        tpot_s, prompt_wait_s = np.full(shape, np.nan), alone_s
        per_request_s = np.broadcast_to(alone_s, shape)
    elif constants.mixes_prompts:
        # Steps with prompt tokens among pure decode steps: one weight read serves both.
        held = np.maximum(rate, 1.0)
        budget = np.maximum(constants.chunk_tokens - b, 1.0) if constants.chunk_tokens else np.inf
        in_step = np.minimum(held * work.new, budget)
        prompts = np.minimum(held, np.maximum(in_step / np.maximum(work.new, 1e-9), 1e-9))
        chunk = np.minimum(in_step, work.new)
        mixed_s = chunk_time(
            **parts,  # type: ignore[arg-type]
            new=chunk,
            cached=work.cached + np.maximum(work.new - chunk, 0.0) / 2,
            prompts=np.maximum(prompts, in_step / np.maximum(chunk, 1e-9)),
            decoding=b,
            context_tokens=work.resident,
            finishing=prompts,
        ).total
        share = rate * work.new / in_step
        tpot_s = step_s + share * (np.maximum(mixed_s, step_s) - step_s)
        prompt_wait_s = mixed_s * np.maximum(work.new / np.maximum(chunk, 1e-9), 1.0)
        per_request_s = more * tpot_s / b
    else:
        tpot_s = step_s + constants.stall_share * rate * alone_s
        prompt_wait_s = np.broadcast_to(alone_s, shape)
        per_request_s = more * tpot_s / b
    requests_per_s = 1 / per_request_s
    busy = np.clip(requests_per_s * alone_s, 0.0, 0.95)
    queue_s = constants.queue_factor * busy / (2 * (1 - busy)) * alone_s
    wait_s = 0.5 * np.nan_to_num(step_s)
    ttft_s = wait_s + queue_s + prompt_wait_s + constants.first_token_s
    return Times(
        ttft_s=np.asarray(ttft_s),
        tpot_s=np.asarray(tpot_s),
        prefill_s=np.asarray(alone_s),
        requests_per_s=np.asarray(requests_per_s),
    )


def prompt_alone(
    *, plan: Plan, machine: Machine, constants: Constants, work: Workload
) -> FloatArray:
    """Return the time of one prompt alone on the GPUs; arguments as `request_times`. [s]"""
    return prefill_time(
        plan=plan, machine=machine, constants=constants, new=work.new, cached=work.cached,
        chunk=constants.chunk_tokens,
    )  # fmt: skip


def _priced(
    case: Case,
    batch: FloatArray,
    work: Workload,
    *,
    ttft_s: FloatArray,
    tpot_s: FloatArray,
    step_s: FloatArray,
    prefill_s: FloatArray,
    requests_per_s: FloatArray,
) -> Serving:
    """Money of a served copy: the whole by throughput, its parts by sequential GPU-seconds."""
    scenario = case.scenario
    output_per_s = requests_per_s * work.output
    per_mtok = usd_per_mtok(
        time_per_token_s=1 / output_per_s,
        usd_per_gpu_hour=case.usd_per_gpu_hour,
        gpus=case.gpus,
        busy=scenario.busy,
    )
    answer_s = np.nan_to_num(step_s) / batch * np.maximum(work.output - 1, 0.0)
    prompt = prefill_s / (prefill_s + answer_s)
    wall = max_batch(case, context_tokens=np.asarray(work.resident))
    in_flight = requests_per_s * ttft_s + batch
    return Serving(
        case=case,
        batch=batch,
        ttft_s=np.asarray(ttft_s),
        tpot_s=np.asarray(tpot_s),
        step_s=np.asarray(step_s),
        prefill_s=np.broadcast_to(prefill_s, output_per_s.shape),
        requests_per_s=np.asarray(requests_per_s),
        output_tokens_per_s=np.asarray(output_per_s),
        usd_per_request=np.asarray(per_mtok * work.output / 1e6),
        usd_per_mtok=per_mtok,
        usd_per_mtok_output=np.asarray(per_mtok * (1 - prompt)),
        usd_per_mtok_prompt=np.asarray(per_mtok * prompt),
        usd_per_mtok_input=np.asarray(per_mtok * prompt * work.output / scenario.input_tokens),
        fits=np.asarray(batch <= wall),
        concurrency=np.asarray(in_flight),
    )


def at_concurrency(case: Case, *, concurrency: ArrayLike) -> Serving:
    """Return a served copy at closed-loop concurrencies; as `serve`.

    The decoding batch b solves b = N·(OSL − 1)·TPOT / (TTFT + (OSL − 1)·TPOT); what doesn't fit
    waits, and its wait is part of TTFT.
    """
    (n,) = within(0, MOST_BATCH, above=True, concurrency=concurrency)
    wanted = np.atleast_1d(n)
    most = max_batch(case, context_tokens=np.asarray(case.scenario.context))
    room = float(most) if np.isfinite(most) and most >= 1 else MOST_BATCH
    found = np.empty_like(wanted)
    for i, value in enumerate(wanted):
        low, high = min(1e-3, value), min(float(value), room)
        for _ in range(2):
            grid = np.geomspace(low, high, GRID)
            held = at_batch(case, batch=grid).concurrency
            above = int(np.searchsorted(np.maximum.accumulate(held), value))
            if above == GRID:
                low = high
                break
            low, high = float(grid[max(above - 1, 0)]), float(grid[above])
        found[i] = high
    batch = found.reshape(n.shape)
    served = at_batch(case, batch=batch)
    waiting = np.maximum(n - served.concurrency, 0.0) / served.requests_per_s
    return _waited(served, n, np.where(batch >= room * (1 - 1e-9), waiting, 0.0))


def _waited(served: Serving, concurrency: FloatArray, waiting_s: FloatArray) -> Serving:
    return replace(served, ttft_s=served.ttft_s + waiting_s, concurrency=concurrency)
