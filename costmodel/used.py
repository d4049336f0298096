"""How much of what is paid for a setup uses: memory, bandwidth, arithmetic."""

from dataclasses import dataclass

import numpy as np

from costmodel import memory
from costmodel.case import Case
from costmodel.constants import IDEAL
from costmodel.prefill import prefill_time
from costmodel.serve import workload
from costmodel.step import whole_step


@dataclass(frozen=True)
class Used:
    """Shares of a copy's GPUs in use, each between 0 and 1 (NaN where the peak isn't published)."""

    memory: float
    """Weights and the cache of the batch, of the capacity."""
    bandwidth: float
    """Weights and cache read per second, of the peak."""
    arithmetic: float
    """Multiplications needed per second, of the peak: answers and prompts."""
    capacity_bytes: float
    """Of all the copy's GPUs."""
    used_bytes: float


def used(case: Case, *, batch: float, output_tokens_per_s: float) -> Used:
    """Return the shares of one accelerator's copy at a batch and a throughput.

    Parameters
    ----------
    case : Case
        With one accelerator.
    batch : float
        Sequences decoding.
    output_tokens_per_s : float
        Of the copy, prompts of others included.
    """
    plan, work = case.plan, workload(case.scenario)
    context = np.asarray(work.resident)
    step = whole_step(plan=plan, machine=case.machine, batch=np.asarray(batch), context_tokens=context)
    steps_per_s = output_tokens_per_s / batch
    prompts_per_s = output_tokens_per_s / float(work.output)
    prompt_s = prefill_time(
        plan=plan, machine=case.machine, constants=IDEAL, new=work.new, cached=work.cached
    )
    weights_s = float(plan.weight_bytes(np.asarray(work.new)) / case.machine.bandwidth_bytes_per_s)
    each = float(memory.sequence_bytes(plan=plan, draft=case.draft, context_tokens=context))
    held = (case.budget.weights_bytes + batch * each) * case.gpus
    capacity = case.accelerators[0].capacity_bytes * case.gpus
    memory_s = float(step.lines["memory"].value(step.sequences))
    compute_s = float(step.lines["compute"].value(step.sequences))
    return Used(
        memory=held / capacity,
        bandwidth=_share(steps_per_s * memory_s + prompts_per_s * weights_s),
        arithmetic=_share(steps_per_s * compute_s + prompts_per_s * float(prompt_s)),
        capacity_bytes=capacity,
        used_bytes=held,
    )


def _share(value: float) -> float:
    return min(value, 1.0)
