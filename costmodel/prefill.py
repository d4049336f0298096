"""Prompts: pairs of positions attended, work of a chunk, time of a prefill and of a mixed step.

A prompt of `new` tokens after `cached` ones runs in chunks; every chunk reads the weights and the
cache before it again. Formulas: docs/model.md, "Prefill".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from costmodel.check import FloatArray
from costmodel.constants import Constants
from costmodel.step import Machine, gemm_times, link_time, overlap
from costmodel.work import Attention, Plan


def pairs(*, new: ArrayLike, cached: ArrayLike, cap: ArrayLike) -> FloatArray:
    """Return Σ_{i ≤ new} min(cached + i, cap): positions attended by a causal prompt.

    Parameters
    ----------
    new, cached : array_like
        Tokens computed, and tokens before them.
    cap : array_like
        Most positions that one token attends (a window, a top-k); ∞ for all.

    Returns
    -------
    ndarray, shape = broadcast of `new` and `cached`

    Examples
    --------
    >>> float(pairs(new=4, cached=0, cap=np.inf)), float(pairs(new=4, cached=0, cap=2))
    (10.0, 7.0)
    """
    s = np.asarray(new, dtype=np.float64)
    p = np.asarray(cached, dtype=np.float64)
    most = np.asarray(cap, dtype=np.float64)
    # Tokens that still see everything before them; the others see `cap` positions.
    growing = np.clip(most - p, 0.0, s)
    capped = (s - growing) * np.where(np.isinf(most), 0.0, most)
    return np.asarray(growing * p + growing * (growing + 1) / 2 + capped)


@dataclass(frozen=True)
class ChunkTime:
    """Time of one step that computes prompt tokens, decodes, or both. [s]"""

    total: FloatArray
    linear: FloatArray
    attention: FloatArray
    links: FloatArray
    fixed: FloatArray


def attention_work(
    attention: Attention, *, new: FloatArray, cached: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return bytes and FLOP of one prompt chunk's attention over its layers, on one GPU.

    Keys and values of the chunk's own tokens stay on chip; those before it are read once. Latents
    before it are expanded to keys and values again.
    """
    flops = attention.fixed_flops * new
    for _, prefill, cap, stride in attention.flops:
        flops = flops + prefill * pairs(new=new, cached=cached, cap=cap * stride) / stride
    flops = flops + attention.expand_flops * cached
    read = np.zeros_like(np.asarray(cached, dtype=np.float64))
    for per_position, cap, stride in attention.reads:
        # A chunk's tokens between them reach back to `cap` positions each, never beyond `cached`.
        reach = np.minimum(cached / stride, cap + new / stride)
        read = read + per_position * reach
    moved = read + attention.write_bytes * new + attention.fixed_bytes
    return moved * attention.layers, flops * attention.layers


def chunk_time(
    *,
    plan: Plan,
    machine: Machine,
    constants: Constants,
    new: ArrayLike,
    cached: ArrayLike = 0.0,
    prompts: ArrayLike = 1.0,
    decoding: ArrayLike = 0.0,
    context_tokens: ArrayLike = 0.0,
    finishing: ArrayLike | None = None,
) -> ChunkTime:
    """Return the time of a step over `prompts` chunks of `new` tokens beside decoding sequences.

    Parameters
    ----------
    plan, machine, constants
        As `step.decode_step`.
    new, cached : array_like
        Prompt tokens computed per chunk, and tokens of its prompt before it.
    prompts : array_like
        Chunks in the step, of different requests.
    decoding, context_tokens : array_like
        Sequences that decode in the same step (one weight read), and their cached tokens.
    finishing : array_like, optional
        Prompts that end in the step and need the head; all when left out.

    Returns
    -------
    ChunkTime
        Shapes broadcast. Of a pipeline: the way through all stages.
    """
    n, s, p = (np.asarray(v, dtype=np.float64) for v in (prompts, new, cached))
    b = np.asarray(decoding, dtype=np.float64)
    context = np.asarray(context_tokens, dtype=np.float64)
    tokens = n * s + b
    through_head = b + (n if finishing is None else np.asarray(finishing, dtype=np.float64))
    linear_s, fixed_s = gemm_times(
        plan=plan, machine=machine, constants=constants, tokens=tokens, head_tokens=through_head
    )
    share = plan.parallel.sequence_share
    attention_s = np.zeros(())
    for a in plan.attention:
        group = constants.prefill_of(a.kind)
        moved, flops = attention_work(a, new=s, cached=p)
        memory_s = moved / (machine.bandwidth_bytes_per_s * group.memory_share)
        short = np.where(s > 0, 1 + constants.prefill_half_tokens / np.maximum(s + p, 1.0), 1.0)
        compute_s = flops * short / (machine.flops_per_s["attention"] * group.compute_share)
        busy, _ = overlap(np.asarray(memory_s), np.asarray(compute_s), group.exponent)
        attention_s = attention_s + n * share * busy
        fixed_s = fixed_s + np.where(n * s > 0, a.layers * a.kernels * group.fixed_s, 0.0)
        if b.any():
            own = constants.attention_of(a.kind)
            read = a.read_bytes(context) + a.layers * a.write_bytes
            decode_s, _ = overlap(
                read / (machine.bandwidth_bytes_per_s * own.memory_share),
                a.decode_flops(context) / (machine.flops_per_s["attention"] * own.compute_share),
                own.exponent,
            )
            attention_s = attention_s + b * share * decode_s
            fixed_s = fixed_s + np.where(b > 0, a.layers * a.kernels * own.fixed_s, 0.0)
    fixed_s = fixed_s + np.where(n * s > 0, constants.prefill_pass_s, 0.0)
    fixed_s = fixed_s + plan.elementwise_kernels * constants.elementwise_s + (
        tokens * plan.elementwise_bytes_per_token * constants.elementwise_share
        / machine.bandwidth_bytes_per_s
    )
    links_s = link_time(plan=plan, constants=constants, tokens=tokens)
    gpu_s = linear_s + attention_s + links_s + fixed_s
    host_s = constants.host_s + constants.host_per_sequence_s * (b + n)
    total = np.where(constants.host_overlaps, np.maximum(gpu_s, host_s), gpu_s + host_s)
    return ChunkTime(
        total=np.asarray(total),
        linear=np.asarray(linear_s),
        attention=np.asarray(attention_s),
        links=np.asarray(links_s),
        fixed=np.asarray(fixed_s + total - gpu_s),
    )


def prefill_time(
    *,
    plan: Plan,
    machine: Machine,
    constants: Constants,
    new: ArrayLike,
    cached: ArrayLike = 0.0,
    chunk: ArrayLike = 0,
    prompts: ArrayLike = 1.0,
) -> FloatArray:
    """Return the time to prefill prompts of `new` tokens after `cached` ones, alone on the GPUs.

    Parameters
    ----------
    chunk : array_like
        Most tokens of one step over all prompts; 0 runs each prompt in one.
    prompts : array_like
        Prompts run together.

    Returns
    -------
    ndarray
        Chunks of whole prompts and of parts of one, one after another. [s]
    """
    s, p, n = np.broadcast_arrays(
        np.asarray(new, dtype=np.float64),
        np.asarray(cached, dtype=np.float64),
        np.asarray(prompts, dtype=np.float64),
    )
    most = np.asarray(chunk, dtype=np.float64)
    each = np.where(most > 0, np.maximum(most / np.maximum(n, 1.0), 1.0), s)
    steps = np.maximum(np.ceil(s / np.maximum(each, 1.0)), 1.0)
    total = np.zeros(np.shape(steps))
    # Parts grow by the same number of tokens, so their times are nearly affine in what is cached:
    # first, middle and last part weigh 1 : 4 : 1 (Simpson's rule is exact for the pairs).
    part = s / steps
    whole = bool(np.all(steps == 1))
    for weight, done in ((1.0, 0.0),) if whole else ((1 / 6, 0.0), (4 / 6, 0.5), (1 / 6, 1.0)):
        before = p + part * (steps - 1) * done
        found = chunk_time(
            plan=plan, machine=machine, constants=constants, new=part, cached=before, prompts=n,
            finishing=n / steps,
        )  # fmt: skip
        total = total + weight * steps * found.total
    return np.asarray(total)
