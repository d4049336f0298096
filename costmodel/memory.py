"""What fits: weights, workspace and runtime beside the cache, on one GPU of a copy.

`resident / g + b · stored(L) + workspace + runtime ≤ usable share · capacity`; docs/model.md,
"Memory". A configuration that doesn't fit is a result: the largest batch is then 0.
"""

import math
from dataclasses import dataclass

import numpy as np

from costmodel.check import FloatArray
from costmodel.model import Experts, Model
from costmodel.work import Plan

MEMORY_FRACTION = 0.9
"""Share of the card that an engine takes by default (vLLM, `--gpu-memory-utilization`)."""
MAX_BATCHED_TOKENS = 8192
MAX_SEQUENCES = 256
RUNTIME_BYTES = 1.4e9
"""CUDA context, graphs and collectives on one GPU; engines report 1 to 3 GB."""
BLOCK_TOKENS = 16


@dataclass(frozen=True)
class Budget:
    """Memory of one GPU before the cache; arrays along the hardware axis. [bytes]"""

    weights_bytes: float
    workspace_bytes: float
    runtime_bytes: float
    usable_bytes: FloatArray
    """NaN where the capacity isn't published."""

    @property
    def available_kv_bytes(self) -> FloatArray:
        """What is left for the cache; negative where the weights don't fit."""
        used = self.weights_bytes + self.workspace_bytes + self.runtime_bytes
        return np.asarray(self.usable_bytes - used)

    @property
    def packed_kv_bytes(self) -> FloatArray:
        """What a perfect engine would leave for it: no workspace, no runtime."""
        return np.asarray(self.usable_bytes - self.weights_bytes)


def workspace_bytes(
    *,
    model: Model,
    ways: int,
    max_batched_tokens: int = MAX_BATCHED_TOKENS,
    max_sequences: int = MAX_SEQUENCES,
) -> float:
    """Return the activations of the largest step on one GPU. [bytes]

    `tokens · (3 · d_ff / g + 4 · d) · 2 B` for the widest feed-forward and the residual stream,
    plus logits and sampling of `sequences · V` in 32 bits twice; docs/model.md, "Memory".

    >>> from costmodel.catalog import model
    >>> round(workspace_bytes(model=model("llama-3.1-70b"), ways=4) / 1e9, 2)
    1.15
    """
    wide = max(
        (
            part.d_expert * part.top_k if isinstance(part, Experts) else part.d_ff
            for layer in model.layers
            for part in layer.feed_forward
        ),
        default=model.d_model,
    )
    tokens = max_batched_tokens * (3 * wide / ways + 4 * model.d_model) * 2.0
    return tokens + max_sequences * model.vocab * 8.0


def budget(
    *,
    plan: Plan,
    capacity_bytes: FloatArray,
    draft: Plan | None = None,
    memory_fraction: float = MEMORY_FRACTION,
    max_batched_tokens: int = MAX_BATCHED_TOKENS,
    max_sequences: int = MAX_SEQUENCES,
    runtime_bytes: float = RUNTIME_BYTES,
) -> Budget:
    """Return the memory of one GPU of a copy, before the cache; drafting layers included."""
    stages = plan.parallel.stages
    drafting = 0.0 if draft is None else draft.layers_bytes
    return Budget(
        weights_bytes=(plan.resident_bytes + drafting) / stages,
        workspace_bytes=workspace_bytes(
            model=plan.model,
            ways=plan.parallel.ways,
            max_batched_tokens=max_batched_tokens,
            max_sequences=max_sequences,
        ),
        runtime_bytes=runtime_bytes,
        usable_bytes=np.asarray(memory_fraction * np.asarray(capacity_bytes, dtype=np.float64)),
    )


def sequence_bytes(
    *,
    plan: Plan,
    context_tokens: FloatArray,
    draft: Plan | None = None,
    slack_tokens: float = 0.0,
) -> FloatArray:
    """Return what one of the copy's sequences takes of one GPU. [bytes]

    With data-parallel attention a rank holds 1/g of the sequences whole; in a pipeline each stage
    holds its share of the layers.
    """
    tokens = np.asarray(context_tokens, dtype=np.float64)
    each = plan.stored.bytes_at(tokens, slack_tokens=slack_tokens)
    if draft is not None:
        each = each + draft.stored.bytes_at(tokens, slack_tokens=slack_tokens)
    return np.asarray(each * plan.parallel.sequence_share / plan.parallel.stages)


def reserved_bytes(*, plan: Plan, tokens: float, max_batched_tokens: int) -> float:
    """Return what a paged engine sets aside for one request of `tokens` tokens, on one GPU. [bytes]

    Whole blocks; a window keeps its width less one plus a step's tokens, and a block more, as
    vLLM's hybrid cache manager does; a state is kept once.
    """
    total = plan.stored.fixed_bytes
    for per_position, cap, stride in plan.stored.parts:
        positions = math.ceil(tokens / stride / BLOCK_TOKENS) * BLOCK_TOKENS
        if math.isfinite(cap):
            kept = math.ceil((cap - 1 + max_batched_tokens) / stride / BLOCK_TOKENS) + 1
            positions = min(positions, kept * BLOCK_TOKENS)
        total += per_position * positions
    return total * plan.parallel.sequence_share / plan.parallel.stages


def largest_batch(*, available_bytes: FloatArray, sequence_bytes: FloatArray) -> FloatArray:
    """Return the most sequences that fit a copy: an integer, 0 when the weights don't fit.

    NaN where the capacity isn't published. A model without cache is bounded at 2^20.

    >>> float(largest_batch(available_bytes=np.array(10.0), sequence_bytes=np.array(3.0)))
    3.0
    """
    available = np.asarray(available_bytes, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.floor(available / sequence_bytes * (1 + 1e-12))
    most = np.where(available <= 0, 0.0, np.minimum(most, 2.0**20))
    return np.where(np.isnan(available), np.nan, most)
