"""Serving: prompts and answers on the same GPUs, from a decoding batch or a concurrency.

In aggregate every decode step finishes b/(OSL − 1) requests and must prefill for as many. Engines
that mix chunks of prompts into decode steps read the weights once for both; others run prompts
alone while answers wait. Formulas: docs/model.md, "Serving".
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

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

ROUNDS = 14
"""Halvings of the distance to a closed loop's balance."""
SLOWEST = 0.05
"""Fewest sequences decoding on average that a loop is taken to settle at."""
MOST_LOAD = 0.97
"""Share of time that prompts are taken to fill at most, where waits would grow without end."""


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

    def part(self, index: slice) -> "Serving":
        """Return some of the batches, where only they vary."""
        shape = self.batch.shape
        whole = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "case"}
        parts = {n: (v if v.shape == shape else np.broadcast_to(v, shape))[index] for n, v in whole.items()}
        return Serving(case=self.case, **parts)

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
        step_s=step_s, alone_s=case.prompt_alone_s,
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
    concurrency: FloatArray | None = None,
    first_wave: float = 0.0,
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
    concurrency : ndarray, optional
        Requests in flight; those decoding when left out.
    first_wave : float
        Share of requests that arrive all at once, at the start of a closed loop; 0 for a steady
        stream.
    """
    b = batch
    if alone_s is None:
        alone_s = prompt_alone(plan=plan, machine=machine, constants=constants, work=work)
    shape = np.broadcast_shapes(b.shape, np.shape(alone_s), np.shape(step_s))
    more = np.asarray(work.output, dtype=np.float64) - 1
    single = bool(np.all(more <= 0))
    # What one prompt adds to the time of those who decode meanwhile.
    added_s = constants.stall_share * alone_s
    if np.any(constants.mixes_prompts) and not single:
        chunk = work.new
        together: float | FloatArray = 1.0
        if np.any(constants.chunk_tokens):
            room = np.maximum(constants.chunk_tokens - b, 1.0)
            chunk = np.where(np.asarray(constants.chunk_tokens) > 0, np.minimum(work.new, room), work.new)
            # Where steps carry several prompts on average, these share one read of the weights.
            rate = b / more
            most = np.maximum(room / np.maximum(chunk, 1.0), 1.0)
            together = np.clip(rate / np.maximum(-np.expm1(-rate), 1e-12), 1.0, most)
        mixed_s = chunk_time(
            plan=plan, machine=machine, constants=constants,
            new=chunk,
            cached=work.cached + np.maximum(work.new - chunk, 0.0) / 2,
            prompts=together,
            decoding=b,
            context_tokens=work.resident,
            finishing=together * chunk / np.maximum(work.new, 1e-9),
        ).total  # fmt: skip
        parts = work.new / np.maximum(chunk, 1e-9)
        beside_s = np.minimum(parts * np.maximum(mixed_s - step_s, 0.0) / together, alone_s)
        added_s = np.where(constants.mixes_prompts, constants.stall_share * beside_s, added_s)
    if single:
        tpot_s = np.full(shape, np.nan)
        per_request_s = np.broadcast_to(alone_s, shape)
        load: FloatArray = np.ones(shape)
    else:
        rate = b / more
        tpot_s = step_s + rate * added_s
        per_request_s = more * tpot_s / b
        load = np.minimum(rate * added_s / tpot_s, MOST_LOAD)
    in_flight = b if concurrency is None else concurrency
    ttft_s = (
        constants.first_token_s
        + constants.first_token_steps * np.nan_to_num(step_s)
        + alone_s
        * (
            1
            + constants.queue_factor * load * np.sqrt(in_flight)
            + first_wave * constants.burst_factor * np.maximum(in_flight - 1, 0.0)
        )
    )
    return Times(
        ttft_s=np.asarray(np.broadcast_to(ttft_s, shape)),
        tpot_s=np.asarray(tpot_s),
        prefill_s=np.asarray(alone_s),
        requests_per_s=np.asarray(1 / per_request_s),
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
    """Money of a served copy: the whole by throughput; the answer is its decode steps alone.

    The prompt is what it adds: where prompts share weight reads with decoding, less than alone.
    """
    scenario = case.scenario
    output_per_s = requests_per_s * work.output
    per_mtok = usd_per_mtok(
        time_per_token_s=1 / output_per_s,
        usd_per_gpu_hour=case.usd_per_gpu_hour,
        gpus=case.gpus,
        busy=scenario.busy,
    )
    alone = usd_per_mtok(
        time_per_token_s=np.nan_to_num(step_s) / batch,
        usd_per_gpu_hour=case.usd_per_gpu_hour,
        gpus=case.gpus,
        busy=scenario.busy,
    )
    answer = np.minimum(np.where(np.isnan(tpot_s), 0.0, alone), per_mtok)
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
        usd_per_mtok_output=np.asarray(answer),
        usd_per_mtok_prompt=np.asarray(per_mtok - answer),
        usd_per_mtok_input=np.asarray((per_mtok - answer) * work.output / scenario.input_tokens),
        fits=np.asarray(batch <= wall),
        concurrency=np.asarray(in_flight),
    )


def at_concurrency(case: Case, *, concurrency: ArrayLike) -> Serving:
    """Return a served copy at closed-loop concurrencies; as `serve`.

    The decoding batch b solves b = N·(OSL − 1)·TPOT / (TTFT + (OSL − 1)·TPOT); what doesn't fit
    waits, and its wait is part of TTFT.
    """
    (n,) = within(0, MOST_BATCH, above=True, concurrency=concurrency)
    scenario, work = case.scenario, workload(case.scenario)
    most = max_batch(case, context_tokens=np.asarray(scenario.context))
    room = np.where(np.isfinite(most) & (most >= 1), most, MOST_BATCH)
    accepted = passes(tokens=scenario.spec_tokens, acceptance=scenario.spec_acceptance)

    def step_of(batch: FloatArray) -> FloatArray:
        context = np.asarray(work.resident)
        return step_time(case, batch=batch, context_tokens=context).total / accepted

    b, waiting_s = balance(
        plan=case.plan, machine=case.machine, constants=case.constants, work=work,
        step_of=step_of, concurrency=n, room=room,
    )  # fmt: skip
    return _waited(at_batch(case, batch=b), n, waiting_s)


def balance(
    *,
    plan: Plan,
    machine: Machine,
    constants: Constants,
    work: Workload,
    step_of: Callable[[FloatArray], FloatArray],
    concurrency: FloatArray,
    room: FloatArray,
    first_wave: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Return the decoding batch of a closed loop, and the wait of what doesn't fit.

    Little's law, b = N·(OSL − 1)·TPOT / (TTFT + (OSL − 1)·TPOT), as a damped fixed point; at most
    `room` sequences decode, and the others wait their turn. Arguments as `request_times`.
    """
    n = np.asarray(concurrency, dtype=np.float64)
    more = np.asarray(work.output, dtype=np.float64) - 1
    b = np.minimum(n, room)
    if np.all(more <= 0):
        return b, np.zeros(b.shape)
    alone_s = prompt_alone(plan=plan, machine=machine, constants=constants, work=work)
    waiting_s = np.zeros(b.shape)
    for _ in range(ROUNDS):
        times = request_times(
            plan=plan, machine=machine, constants=constants, work=work, batch=b,
            step_s=step_of(b), alone_s=alone_s, concurrency=n, first_wave=first_wave,
        )  # fmt: skip
        decoding_s = more * times.tpot_s
        waiting_s = np.maximum(n / room - 1, 0.0) * decoding_s
        held = n * decoding_s / (times.ttft_s + waiting_s + decoding_s)
        b = (b + np.clip(held, np.minimum(n, SLOWEST), room)) / 2
    return b, waiting_s


def _waited(served: Serving, concurrency: FloatArray, waiting_s: FloatArray) -> Serving:
    return replace(served, ttft_s=served.ttft_s + waiting_s, concurrency=concurrency)
