"""Prompts on GPUs of their own: no prompt waits for answers, none delays them.

A copy that answers needs x copies that prefill beside it, x the load it puts on one; the cache
travels over the link before the first token. Formulas: docs/frontier.md, "Separate prompt GPUs".
"""

from dataclasses import dataclass

import numpy as np

from costmodel.case import link_of
from costmodel.check import FloatArray
from costmodel.serve import Serving, workload

MOST_LOAD = 0.8
"""Share of their time that prompt GPUs may be busy; fuller ones make prompts queue without end."""


@dataclass(frozen=True)
class Disaggregated(Serving):
    """A served copy whose prompts run elsewhere."""

    prefill_copies: FloatArray
    """Copies of the same size that prefill, per copy that answers; not a whole number."""


def disaggregate(served: Serving) -> Disaggregated:
    """Return a served copy with its prompts moved to copies of their own.

    The prompt copies are of the same accelerators and split, kept `MOST_LOAD` busy. A request
    waits as in an M/D/1 queue at that load, then for its cache to cross the link.
    """
    case, work = served.case, workload(served.case.scenario)
    more = max(work.output - 1, 0.0)
    tpot_s = served.step_s
    batch = np.asarray(served.batch)
    requests_per_s = batch / (more * tpot_s) if more else served.requests_per_s
    copies = requests_per_s * served.prefill_s / MOST_LOAD
    links = [link_of(a, max(case.plan.parallel.ways, 1))[0] for a in case.accelerators]
    link = np.asarray(links).reshape((len(links), 1, 1) if len(links) > 1 else ())
    cache = case.plan.stored.bytes_at(np.asarray(work.new + work.cached))
    travel_s = cache / link
    queue_s = MOST_LOAD / (2 * (1 - MOST_LOAD)) * served.prefill_s
    answer = served.requests_per_s / requests_per_s * served.usd_per_mtok
    whole = answer * (1 + copies)
    prompt = copies / (1 + copies)
    every = {f: np.asarray(v) for f, v in vars(served).items() if f != "case"}
    every |= {
        "ttft_s": queue_s + served.prefill_s + travel_s + case.constants.first_token_s + tpot_s,
        "tpot_s": tpot_s if more else served.tpot_s,
        "requests_per_s": requests_per_s,
        "output_tokens_per_s": requests_per_s * work.output,
        "usd_per_mtok": whole,
        "usd_per_request": whole * work.output / 1e6,
        "usd_per_mtok_output": whole * (1 - prompt),
        "usd_per_mtok_prompt": whole * prompt,
        "usd_per_mtok_input": whole * prompt * work.output / case.scenario.input_tokens,
    }
    shape = np.shape(whole)
    return Disaggregated(
        case=case,
        prefill_copies=np.broadcast_to(copies, shape),
        **{f: np.broadcast_to(v, shape) for f, v in every.items() if f != "prefill_copies"},
    )


def together(served: Serving) -> Disaggregated:
    """Return a served copy that prefills for itself, in the same form."""
    shape = np.shape(served.usd_per_mtok)
    return Disaggregated(**vars(served), prefill_copies=np.zeros(shape))
