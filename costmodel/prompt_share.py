"""Prompt or answer: what each costs in a request, and the prompt's share over all lengths.

The answer's part is what its decode steps cost; the prompt's is the rest of the all-in cost: what
prompts add to the time of those who answer, or, on GPUs of their own, what these cost.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costmodel import serve
from costmodel.case import Case
from costmodel.check import FloatArray
from costmodel.disaggregate import MOST_LOAD, disaggregate
from costmodel.explore import max_batch, step_time
from costmodel.serve import Serving, Workload, request_times
from costmodel.speculation import passes

LINE_POINTS = 240
"""Lengths along a line on which a crossing is looked for."""
HALF = 0.5


@dataclass(frozen=True)
class Request:
    """One request at one batch: its two parts in money and in time."""

    served: Serving
    separate: bool
    """Whether prompts run on GPUs of their own."""
    prompt_share: float
    """Of the cost of a request."""
    prompt_s: float
    """Until the first token, waiting included. [s]"""
    answer_s: float
    """From the first token to the last. [s]"""
    prompt_copies: float
    """Copies that prefill, per copy that answers; 0 where every copy does both."""

    def _usd(self, values: FloatArray) -> float:
        return float(np.ravel(values)[0])

    @property
    def usd_per_request(self) -> float:
        """NaN where no price is known."""
        return self._usd(self.served.usd_per_request)

    @property
    def usd_per_mtok(self) -> float:
        """All-in, per million output tokens."""
        return self._usd(self.served.usd_per_mtok)

    @property
    def usd_per_mtok_answer(self) -> float:
        """The answer's part, per million output tokens."""
        return self.usd_per_mtok * (1 - self.prompt_share)

    @property
    def usd_per_mtok_prompt(self) -> float:
        """The prompt's part, per million output tokens."""
        return self.usd_per_mtok * self.prompt_share

    @property
    def usd_per_mtok_input(self) -> float:
        """The prompt's part, per million input tokens."""
        scenario = self.served.case.scenario
        return self.usd_per_mtok_prompt * scenario.output_tokens / scenario.input_tokens

    @property
    def usd_prompt(self) -> float:
        """The prompt's part of one request."""
        return self.usd_per_request * self.prompt_share

    @property
    def usd_answer(self) -> float:
        """The answer's part of one request."""
        return self.usd_per_request * (1 - self.prompt_share)

    @property
    def time_share(self) -> float:
        """Of a request's time, what passes before its first token."""
        return self.prompt_s / (self.prompt_s + self.answer_s)


def with_chunk(case: Case, chunk_tokens: int | None) -> Case:
    """Return a case whose prompts run in chunks of so many tokens; None keeps the engine's own."""
    if chunk_tokens is None:
        return case
    return replace(case, constants=replace(case.constants, chunk_tokens=chunk_tokens))


def request(case: Case, *, batch: float, separate: bool = False) -> Request:
    """Return the two parts of a request that is served at a decoding batch.

    Examples
    --------
    >>> from costmodel.case import resolve
    >>> from costmodel.scenario import scenario
    >>> one = request(resolve(scenario(weights="fp8")), batch=64)
    >>> 0.1 < one.prompt_share < 0.5, round(one.usd_prompt + one.usd_answer - one.usd_per_request, 12)
    (True, 0.0)
    """
    served = serve.at_batch(case, batch=np.asarray([batch]))
    copies = 0.0
    if separate:
        found = disaggregate(served)
        copies, served = float(found.prefill_copies[0]), found
    output = case.scenario.output_tokens
    total_s = 1 / served.output_tokens_per_s
    share = _share(served.step_s / batch, total_s, np.asarray(output), np.asarray(copies), separate=separate)
    return Request(
        served=served,
        separate=separate,
        prompt_share=float(share[0]),
        prompt_s=float(served.ttft_s[0]),
        answer_s=float((output - 1) * np.nan_to_num(served.tpot_s)[0]),
        prompt_copies=copies,
    )


def _share(
    answer_s: FloatArray, total_s: FloatArray, output: FloatArray, copies: FloatArray, *, separate: bool
) -> FloatArray:
    """Return the prompt's share of a request's cost; times are of a copy, per output token. [s]"""
    beside = 1 - np.minimum(answer_s, total_s) / total_s
    return np.where(output > 1, copies / (1 + copies) if separate else beside, np.ones_like(total_s))


@dataclass(frozen=True)
class ShareMap:
    """The prompt's share over lengths; SI units."""

    input_tokens: FloatArray
    """Shape (n_input,)."""
    output_tokens: FloatArray
    """Shape (n_output,)."""
    share: FloatArray
    """Shape (n_output, n_input); NaN where not one sequence fits."""
    batch: FloatArray
    """Sequences decoding, shape (n_output, n_input): the batch asked for, or the most that fit."""


def share_map(
    case: Case, *, batch: float, input_tokens: ArrayLike, output_tokens: ArrayLike, separate: bool = False
) -> ShareMap:
    """Return the prompt's share of the cost over input and output lengths, in one call.

    Parameters
    ----------
    case : Case
        The setup; its own lengths don't matter but for the share of a prompt that is cached.
    batch : float
        Sequences decoding, where so many fit.
    input_tokens, output_tokens : array_like, one-dimensional
        Lengths; the cache holds input + output / 2 of each sequence on average.
    separate : bool
        Whether prompts run on GPUs of their own.
    """
    given = np.asarray(input_tokens, dtype=np.float64)
    answer = np.asarray(output_tokens, dtype=np.float64)
    scenario = case.scenario
    tokens, output = np.broadcast_arrays(given[None, :], answer[:, None])
    reused = tokens * scenario.shared * scenario.hit
    resident = tokens + output / 2
    wall = max_batch(case, context_tokens=resident)
    most = np.where(np.isnan(wall), batch, np.minimum(batch, wall))
    b = np.maximum(most, 1.0)
    lengths: dict[str, Any] = {
        "new": np.maximum(tokens - reused, 1.0), "cached": reused, "output": np.maximum(output, 2.0),
        "resident": resident,
    }  # fmt: skip
    accepted = passes(tokens=scenario.spec_tokens, acceptance=scenario.spec_acceptance)
    step_s = step_time(case, batch=b, context_tokens=resident).total / accepted
    times = request_times(
        plan=case.plan, machine=case.machine, constants=case.constants, work=Workload(**lengths), batch=b,
        step_s=step_s,
    )  # fmt: skip
    more = lengths["output"] - 1
    copies = b / (more * step_s) * times.prefill_s / MOST_LOAD
    total_s = 1 / (times.requests_per_s * lengths["output"])
    share = _share(step_s / b, total_s, output, copies, separate=separate)
    return ShareMap(given, answer, np.where(most >= 1, share, np.nan), most)


@lru_cache(maxsize=64)
def _half_grid(most: float) -> FloatArray:
    return np.geomspace(1.0, most, LINE_POINTS)


def half_at(case: Case, *, batch: float, most_tokens: float, separate: bool = False) -> float | None:
    """Return the input length from which half of a request's cost is its prompt, at its own output.

    None where the share stays below one half up to `most_tokens`.
    """
    inputs = _half_grid(float(most_tokens))
    found = share_map(
        case, batch=batch, input_tokens=inputs, output_tokens=[case.scenario.output_tokens], separate=separate
    ).share[0]
    above = np.flatnonzero(found >= HALF)
    if above.size == 0:
        return None
    at = int(above[0])
    if at == 0:
        return float(inputs[0])
    low, high = found[at - 1], found[at]
    part = (HALF - low) / (high - low)
    return float(np.exp(np.log(inputs[at - 1]) + part * (np.log(inputs[at]) - np.log(inputs[at - 1]))))
