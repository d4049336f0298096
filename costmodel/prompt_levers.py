"""What changes a prompt's cost and its wait: chunk size, prefix hits, GPUs of their own."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costmodel import serve
from costmodel.case import Case
from costmodel.check import FloatArray
from costmodel.cost import usd_per_mtok
from costmodel.disaggregate import disaggregate
from costmodel.explore import step_time
from costmodel.prefill import chunk_time
from costmodel.serve import Workload, request_times
from costmodel.speculation import passes

CHUNKS = (0, 256, 512, 1024, 2048, 4096, 8192, 16384)
"""Chunk sizes that a page offers; 0 runs each prompt in one. [tokens]"""
MOST_HIT = 0.98
"""Share of a prompt that can be cached at most: its last tokens always run."""


@dataclass(frozen=True)
class Varied:
    """Serving over one knob; arrays of its shape. SI units."""

    knob: FloatArray
    ttft_s: FloatArray
    tpot_s: FloatArray
    """Mean time between two tokens, prompts of others included."""
    gap_s: FloatArray
    """Longest time between two tokens: a step that carries a full chunk."""
    usd_per_mtok: FloatArray
    """All-in, per output token."""


def over_chunks(case: Case, *, batch: float, chunks: ArrayLike = CHUNKS[1:]) -> Varied:
    """Return serving over chunk sizes, smallest first, in one call.

    A prompt in small parts reads weights and cache more often, and others wait less for each part.
    """
    size = np.asarray(chunks, dtype=np.float64)
    varied = replace(case, constants=replace(case.constants, chunk_tokens=size))  # type: ignore[arg-type]
    work = serve.workload(case.scenario)
    return _varied(varied, size, batch=batch, work=work, chunk=size)


def over_hits(case: Case, *, batch: float, cached_share: ArrayLike) -> Varied:
    """Return serving over the share of each prompt that the prefix cache holds, in one call."""
    share = np.minimum(np.asarray(cached_share, dtype=np.float64), MOST_HIT)
    own = serve.workload(case.scenario)
    tokens = case.scenario.input_tokens
    work = replace(own, new=np.maximum(tokens * (1 - share), 1.0), cached=tokens * share)
    return _varied(case, share, batch=batch, work=work, chunk=np.asarray(case.constants.chunk_tokens))


def _varied(case: Case, knob: FloatArray, *, batch: float, work: Workload, chunk: FloatArray) -> Varied:
    scenario = case.scenario
    accepted = passes(tokens=scenario.spec_tokens, acceptance=scenario.spec_acceptance)
    b = np.full(knob.shape, batch)
    step_s = step_time(case, batch=b, context_tokens=np.asarray(work.resident)).total / accepted
    parts: Any = {"plan": case.plan, "machine": case.machine, "constants": case.constants}
    times = request_times(**parts, work=work, batch=b, step_s=step_s)
    mixes = np.asarray(case.constants.mixes_prompts)
    room = np.where(mixes, np.maximum(chunk - b, 1.0), chunk)
    new = np.where(chunk > 0, np.minimum(work.new, room), work.new)
    last = np.asarray(work.cached + np.maximum(work.new - new, 0.0))
    mixed_s = chunk_time(**parts, new=new, cached=last, decoding=b, context_tokens=work.resident).total
    alone_s = chunk_time(**parts, new=new, cached=last).total
    return Varied(
        knob=knob,
        ttft_s=times.ttft_s,
        tpot_s=times.tpot_s,
        # Where every step carries a chunk, the longest gap is the mean one.
        gap_s=np.fmax(np.where(mixes, np.maximum(mixed_s, step_s), step_s + alone_s), times.tpot_s),
        usd_per_mtok=usd_per_mtok(
            time_per_token_s=1 / (times.requests_per_s * work.output),
            usd_per_gpu_hour=case.usd_per_gpu_hour,
            gpus=case.gpus,
            busy=scenario.busy,
        ),
    )


@dataclass(frozen=True)
class Apart:
    """Prompts together with answers, and on GPUs of their own, over the batch. SI units."""

    batch: FloatArray
    copies: FloatArray
    """Copies that prefill, per copy that answers."""
    together_usd_per_mtok: FloatArray
    apart_usd_per_mtok: FloatArray
    together_ttft_s: FloatArray
    apart_ttft_s: FloatArray
    together_tpot_s: FloatArray
    apart_tpot_s: FloatArray


def apart(case: Case, *, batch: ArrayLike) -> Apart:
    """Return both ways to serve over decoding batches, shape as `batch`."""
    together = serve.at_batch(case, batch=np.asarray(batch, dtype=np.float64))
    own = disaggregate(together)
    return Apart(
        batch=together.batch,
        copies=own.prefill_copies,
        together_usd_per_mtok=together.usd_per_mtok,
        apart_usd_per_mtok=own.usd_per_mtok,
        together_ttft_s=together.ttft_s,
        apart_ttft_s=own.ttft_s,
        together_tpot_s=together.tpot_s,
        apart_tpot_s=own.tpot_s,
    )
