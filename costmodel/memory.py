"""What fits: weights, workspace and runtime beside the cache, on one GPU of a copy.

`resident / g + b · stored(L) + workspace + runtime ≤ usable share · capacity`; docs/model.md,
"Memory". Engines mean different things by that share (`kv_room_bytes`). A configuration that doesn't
fit is a result: the largest batch is then 0.
"""

import math
from dataclasses import dataclass

import numpy as np

from costmodel.check import FloatArray
from costmodel.model import Experts, FeedForward, Model
from costmodel.work import Plan

MEMORY_FRACTION = 0.9
"""Share that an engine takes by default (vLLM, `--gpu-memory-utilization`, and TensorRT-LLM's of
what is free; SGLang chooses about as much by card)."""
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
    available_kv_bytes: FloatArray
    """What the engine leaves for the cache; negative where the weights don't fit, NaN where the
    capacity isn't published."""
    packed_kv_bytes: FloatArray
    """What a perfect engine of the same memory fraction would: no workspace, no runtime."""

    @property
    def usable_bytes(self) -> FloatArray:
        """What the engine takes in all: weights, workspace, runtime and cache."""
        used = self.weights_bytes + self.workspace_bytes + self.runtime_bytes
        return np.asarray(used + self.available_kv_bytes)


def workspace_bytes(
    *,
    model: Model,
    ways: int,
    max_batched_tokens: int = MAX_BATCHED_TOKENS,
    max_sequences: int = MAX_SEQUENCES,
) -> float:
    """Return the activations of the largest step on one GPU. [bytes]

    `tokens · (3 · d_ff / g + 4 · d) · 2 B` for the widest feed-forward and the residual stream,
    plus logits and sampling of `sequences · V` in 32 bits twice. Of k experts a token's widths
    add up, and each writes a row of d before they are summed; docs/model.md, "Memory".

    >>> from costmodel.catalog import model
    >>> round(workspace_bytes(model=model("llama-3.1-70b"), ways=4) / 1e9, 2)
    1.15
    """
    parts = [part for layer in model.layers for part in layer.feed_forward]
    per_token = max((_activations(part, ways) for part in parts), default=0.0)
    tokens = max_batched_tokens * (per_token + 4 * model.d_model) * 2.0
    return tokens + max_sequences * model.vocab * 8.0


def _activations(part: FeedForward, ways: int) -> float:
    """Elements that one token needs in a feed-forward on one GPU, the residual stream apart."""
    if isinstance(part, Experts):
        return part.top_k * (3 * part.d_expert / ways + (part.d_in or part.d_model))
    return 3 * part.d_ff / ways


def kv_room_bytes(
    *,
    engine: str,
    capacity_bytes: FloatArray,
    memory_fraction: float,
    weights_bytes: float,
    workspace_bytes: float,
    runtime_bytes: float,
) -> FloatArray:
    """Return what an engine leaves for the cache on one GPU. [bytes]

    vLLM keeps all it needs inside its fraction of the card. SGLang's fraction is of what is free
    before loading and holds weights and cache; activations stay outside. TensorRT-LLM's is of
    what is free beside weights, workspace and runtime. Other engines count as vLLM.

    >>> sizes = dict(memory_fraction=0.9, weights_bytes=40e9, workspace_bytes=2e9,
    ...              runtime_bytes=1e9, capacity_bytes=np.array(80e9))
    >>> [round(float(kv_room_bytes(engine=e, **sizes)) / 1e9, 1) for e in ("vllm", "sglang", "trtllm")]
    [29.0, 31.1, 33.3]
    """
    capacity = np.asarray(capacity_bytes, dtype=np.float64)
    beside = weights_bytes + workspace_bytes + runtime_bytes
    if engine == "sglang":
        inside = memory_fraction * (capacity - runtime_bytes) - weights_bytes
        return np.asarray(np.minimum(inside, capacity - beside))
    if engine in {"trtllm", "tensorrt-llm"}:
        free = capacity - beside
        return np.asarray(np.where(free > 0, memory_fraction * free, free))
    return np.asarray(memory_fraction * capacity - beside)


def budget(
    *,
    plan: Plan,
    capacity_bytes: FloatArray,
    draft: Plan | None = None,
    engine: str = "vllm",
    memory_fraction: float = MEMORY_FRACTION,
    max_batched_tokens: int = MAX_BATCHED_TOKENS,
    max_sequences: int = MAX_SEQUENCES,
    runtime_bytes: float = RUNTIME_BYTES,
) -> Budget:
    """Return the memory of one GPU of a copy, before the cache; drafting layers included."""
    drafting = 0.0 if draft is None else draft.layers_bytes
    weights = (plan.resident_bytes + drafting) / plan.parallel.stages
    workspace = workspace_bytes(
        model=plan.model,
        ways=plan.parallel.ways,
        max_batched_tokens=max_batched_tokens,
        max_sequences=max_sequences,
    )
    capacity = np.asarray(capacity_bytes, dtype=np.float64)

    def room(workspace: float, runtime: float) -> FloatArray:
        return kv_room_bytes(
            engine=engine,
            capacity_bytes=capacity,
            memory_fraction=memory_fraction,
            weights_bytes=weights,
            workspace_bytes=workspace,
            runtime_bytes=runtime,
        )

    return Budget(
        weights_bytes=weights,
        workspace_bytes=workspace,
        runtime_bytes=runtime_bytes,
        available_kv_bytes=room(workspace, runtime_bytes),
        packed_kv_bytes=room(0.0, 0.0),
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
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        most = np.floor(available / sequence_bytes * (1 + 1e-12))
    most = np.where(available <= 0, 0.0, np.minimum(most, 2.0**20))
    return np.where(np.isnan(available), np.nan, most)
