"""From shapes to work: bytes and FLOP of one step, on one GPU of a copy.

`plan` takes a `Model`, the bits of each class of weight and of the cache, and how the copy is
split over GPUs, and returns a `Plan`: op groups with their bytes and FLOP per step, per token and
per attended position. Nothing here knows a bandwidth, a rate or a price. Formulas: docs/model.md,
"Work of a step".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from costmodel.check import FloatArray
from costmodel.constants import SPARSE
from costmodel.errors import InputError
from costmodel.model import CacheTerm, Experts, FlopTerm, Layer, Matrix, Model, Storage

Split = Literal["tensor", "attention-dp", "pipeline"]
SPLITS: tuple[Split, ...] = ("tensor", "attention-dp", "pipeline")
ACTIVATION_BYTES = 2
"""Activations travel in 16 bits, whatever the weights are stored in."""
INDEXER_KERNELS = 3.0
"""Of sparse attention: the indexer's scores, its top-k, and attention over what it picked."""
INDEXER_ELEMENTWISE = 6
"""Beside them: norm, rotary embedding and Hadamard transform of its queries and keys, their
quantisation, the write of its key."""


@dataclass(frozen=True)
class Bits:
    """Storage widths of one scenario: per class of weight, and of the cache."""

    weight: tuple[tuple[Storage, float], ...]
    dtype: tuple[tuple[Storage, str], ...]
    """The dtype each class is stored in, which decides its arithmetic."""
    cache: float = 16.0
    cache_dtype: str = "bf16"

    def of(self, storage: Storage) -> float:
        """Bits per weight of a class, scales included."""
        return dict(self.weight)[storage]

    def dtype_of(self, storage: Storage) -> str:
        """Dtype name of a class."""
        return dict(self.dtype)[storage]


def bits(
    *,
    weight: Mapping[Storage, float],
    dtype: Mapping[Storage, str],
    cache: float,
    cache_dtype: str,
) -> Bits:
    """Return hashable `Bits` from mappings."""
    return Bits(
        weight=tuple(sorted(weight.items())),
        dtype=tuple(sorted(dtype.items())),
        cache=cache,
        cache_dtype=cache_dtype,
    )


@dataclass(frozen=True)
class Parallel:
    """How one copy is split: `ways` GPUs inside a stage, `stages` of a pipeline."""

    ways: int = 1
    split: Split = "tensor"
    stages: int = 1
    expert_ways: int = 1
    """Ranks over which whole experts are spread; 1 cuts each expert over the `ways` instead."""

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return self.ways * self.stages

    @property
    def attention_ways(self) -> int:
        """Ranks that share one sequence's attention."""
        return 1 if self.split == "attention-dp" else self.ways

    @property
    def sequence_share(self) -> float:
        """Share of the step's sequences whose attention one rank computes."""
        return 1 / self.ways if self.split == "attention-dp" else 1.0


@dataclass(frozen=True)
class Gemms:
    """The matrix products of one op group on one GPU, over all its layers."""

    group: Literal["linear", "experts", "head"]
    dtype: str
    weight_bytes: float
    """Read per step; of experts: all that lie on this GPU, of which a step reads `coverage`."""
    flops_per_token: float
    activation_bytes_per_token: float
    kernels: float
    token_share: float = 1.0
    n_experts: int = 0
    top_k: int = 0
    expert_ways: int = 1
    layers: int = 0


@dataclass(frozen=True)
class Attention:
    """Attention or recurrence of `layers` equal layers on one GPU."""

    kind: str
    layers: int
    reads: tuple[tuple[float, float, int], ...]
    """(bytes per position, cap on positions, stride) of each growing part, one layer."""
    flops: tuple[tuple[float, float, float, int], ...]
    """(decode FLOP, prefill FLOP, cap, stride) per position, one layer."""
    write_bytes: float
    """New cache of one token, one layer."""
    fixed_bytes: float
    """State read and written per sequence and step, one layer."""
    fixed_flops: float
    expand_flops: float
    """To expand one cached latent in a prefill chunk, one layer."""
    kernels: float = 1.0
    """Attention kernels of one layer: one that picks positions first scores them and sorts."""

    def read_bytes(self, context_tokens: FloatArray) -> FloatArray:
        """Cache read per sequence and step over all layers, states read and written. [bytes]"""
        total = np.full_like(np.asarray(context_tokens, dtype=np.float64), self.fixed_bytes)
        for per_position, cap, stride in self.reads:
            total = total + per_position * np.minimum(context_tokens / stride, cap)
        return total * self.layers

    def decode_flops(self, context_tokens: FloatArray) -> FloatArray:
        """Attention arithmetic per new token over all layers. [FLOP]"""
        total = np.full_like(np.asarray(context_tokens, dtype=np.float64), self.fixed_flops)
        for decode, _, cap, stride in self.flops:
            total = total + decode * np.minimum(context_tokens / stride, cap)
        return total * self.layers


@dataclass(frozen=True)
class Stored:
    """What one copy's GPU keeps per sequence: growing parts and states."""

    parts: tuple[tuple[float, float, int], ...]
    """(bytes per position, cap, stride), summed over layers."""
    fixed_bytes: float

    def bytes_at(self, context_tokens: FloatArray, *, slack_tokens: float = 0.0) -> FloatArray:
        """Bytes per sequence at a context; windows keep `slack_tokens` more. [bytes]"""
        total = np.full_like(np.asarray(context_tokens, dtype=np.float64), self.fixed_bytes)
        for per_position, cap, stride in self.parts:
            total = total + per_position * np.minimum(
                context_tokens / stride, cap + slack_tokens / stride
            )
        return total

    @property
    def bytes_per_token(self) -> float:
        """Growth per token while inside every window. [bytes]"""
        return sum(per / stride for per, _, stride in self.parts)


@dataclass(frozen=True)
class Plan:
    """Work of one step of one copy, on one of its GPUs."""

    model: Model
    parallel: Parallel
    bits: Bits
    gemms: tuple[Gemms, ...]
    attention: tuple[Attention, ...]
    stored: Stored
    resident_bytes: float
    """Weights on one GPU."""
    layers_bytes: float
    """Those of the layers: tables, head and final norm excluded."""
    elementwise_bytes_per_token: float
    elementwise_kernels: float
    collectives: float
    """All-reduces of b·s·d_model activations per step."""
    exchanges: float
    """All-to-all pairs (dispatch and combine) per step, with attention data-parallel."""

    @property
    def routed(self) -> bool:
        """Whether what a step reads of the weights depends on its tokens."""
        return any(g.n_experts for g in self.gemms)

    @property
    def always_bytes(self) -> float:
        """Weights read by every step, whatever the batch, on one GPU."""
        return sum(g.weight_bytes for g in self.gemms if not g.n_experts)

    def weight_bytes(self, tokens: FloatArray, *, skew: float = 0.0) -> FloatArray:
        """Weights read by a step of `tokens` tokens, on one GPU. [bytes]"""
        tokens = np.asarray(tokens, dtype=np.float64)
        total = np.full_like(tokens, self.always_bytes)
        for g in self.gemms:
            if g.n_experts:
                total = total + g.weight_bytes * coverage(
                    tokens=tokens, n_experts=g.n_experts, top_k=g.top_k, skew=skew
                )
        return total

    def cache_bytes(self, context_tokens: FloatArray) -> FloatArray:
        """Cache moved per sequence and step, divided as attention is, on one GPU. [bytes]"""
        each = sum((a.read_bytes(context_tokens) for a in self.attention), start=np.float64(0))
        return np.asarray(each * self.parallel.sequence_share)

    def attention_flops(self, context_tokens: FloatArray) -> FloatArray:
        """Attention arithmetic per sequence and new token, on one GPU. [FLOP]"""
        each = sum((a.decode_flops(context_tokens) for a in self.attention), start=np.float64(0))
        return np.asarray(each * self.parallel.sequence_share)


def coverage(*, tokens: FloatArray, n_experts: int, top_k: int, skew: float = 0.0) -> FloatArray:
    """Return the expected share of distinct experts that a step touches.

    Uniform routing: 1 − (1 − k/E)^t. With `skew` s > 0 a token draws k experts one after another
    with popularity i^−s of the expert of rank i (docs/model.md, "Experts").

    Parameters
    ----------
    tokens : ndarray
        Tokens in the step.
    n_experts, top_k : int
        Experts in the layer and per token.
    skew : float
        Exponent of the popularity law; 0 is uniform, 1 Zipf's.

    Returns
    -------
    ndarray, shape of `tokens`
        Between k/E (one token) and 1.

    Examples
    --------
    Mixtral reads 2 of 8 experts at one token, 7.92 at 16:

    >>> (8 * coverage(tokens=np.array([1.0, 16.0]), n_experts=8, top_k=2)).round(2).tolist()
    [2.0, 7.92]
    """
    tokens = np.asarray(tokens, dtype=np.float64)
    if skew <= 0:
        # Below one by less than rounding, so that a layer which uses all its experts has no log 0.
        chance = np.minimum(np.asarray(top_k) / np.maximum(n_experts, 1), 1 - 2.0**-53)
        return np.asarray(-np.expm1(tokens * np.log1p(-chance)))
    each = _inclusion(n_experts, top_k, skew)
    miss = np.log1p(-np.minimum(each, 1 - 1e-12))
    return np.asarray(-np.expm1(tokens[..., None] * miss).mean(axis=-1))


@lru_cache(maxsize=64)
def _inclusion(n_experts: int, top_k: int, skew: float) -> FloatArray:
    """Chance that a token uses each expert, k in all: drawn one after another by popularity.

    Drawing without replacement until k are there is close to each expert waiting a time of rate
    wᵢ, and all that have come by the time at which k have: 1 − exp(−λ·wᵢ).
    """
    weight = np.arange(1, n_experts + 1, dtype=np.float64) ** -skew
    if top_k >= n_experts:
        return np.ones(n_experts)
    low, high = 0.0, 1e3 / weight[-1]
    for _ in range(80):
        middle = (low + high) / 2
        enough = -np.expm1(-middle * weight).sum() >= top_k
        low, high = (low, middle) if enough else (middle, high)
    return np.asarray(-np.expm1(-high * weight))


def read_params(model: Model, tokens: ArrayLike) -> float:
    """Return the weights that a step of `tokens` tokens reads, uniform routing.

    At one token it is `active_params` less the position tables; more tokens touch more experts.
    """
    routed = [(layer.count, e) for layer in model.layers for e in layer.experts]
    touched = sum(
        count * e.n_experts * e.expert_params
        * float(coverage(tokens=np.asarray(tokens), n_experts=e.n_experts, top_k=e.top_k))
        for count, e in routed
    )  # fmt: skip
    active = sum(count * e.top_k * e.expert_params for count, e in routed)
    looked_up = model.position_params + model.lookup_params
    return float(model.active_params - active - looked_up + touched)


def check_split(model: Model, parallel: Parallel, *, block: int) -> None:
    """Refuse a split that engines can't load.

    Raises
    ------
    InputError
        When the ways don't divide query heads, don't divide into KV heads or their copies, or cut
        a block of scales; docs/model.md, "Legal splits".
    """
    ways = parallel.attention_ways
    for layer in model.layers:
        mixer = layer.mixer
        if mixer is None or ways == 1:
            continue
        if mixer.n_q_heads % ways:
            msg = (
                f"--tp must divide the heads, got {ways} GPUs for the {mixer.n_q_heads} heads of "
                f"{model.short or model.id}; {_advice(model)}"
            )
            raise InputError(msg, field="tp")
        kv = mixer.n_kv_heads
        if kv % ways and ways % kv:
            msg = (
                f"--tp must divide the KV heads or be a multiple of them, got {ways} GPUs for the "
                f"{kv} KV heads of {model.short or model.id}; {_advice(model)}"
            )
            raise InputError(msg, field="tp")
    if parallel.ways > 1:
        _check_blocks(model, parallel, block)
    if parallel.stages > model.n_layers:
        msg = (
            f"--pp must be at most the layers, got {parallel.stages} stages for "
            f"{model.n_layers} layers; use fewer stages"
        )
        raise InputError(msg, field="pp")


def _check_blocks(model: Model, parallel: Parallel, block: int) -> None:
    if block <= 1:
        return
    for layer in model.layers:
        for part in layer.feed_forward:
            if isinstance(part, Experts):
                ways = parallel.ways // parallel.expert_ways
                width = part.d_expert
            else:
                ways, width = parallel.ways, part.d_ff
            if ways > 1 and width % (ways * block):
                msg = (
                    f"block-scaled weights must split into whole blocks: a width of {width} over "
                    f"{ways} GPUs isn't a multiple of {block}; use fewer GPUs per copy, or spread "
                    "whole experts (--ep)"
                )
                raise InputError(msg, field="tp")


def _advice(model: Model) -> str:
    legal = legal_ways(model)
    return f"use {', '.join(map(str, legal))}" if len(legal) > 1 else "use 1"


def legal_ways(model: Model, *, most: int = 64) -> tuple[int, ...]:
    """Return the powers of two that tensor parallelism may use."""
    found = []
    ways = 1
    while ways <= most:
        mixers = [layer.mixer for layer in model.layers if layer.mixer is not None]
        if all(
            m.n_q_heads % ways == 0 and (m.n_kv_heads % ways == 0 or ways % m.n_kv_heads == 0)
            for m in mixers
        ):
            found.append(ways)
        ways *= 2
    return tuple(found)


@lru_cache(maxsize=256)
def plan(model: Model, bits: Bits, parallel: Parallel) -> Plan:
    """Return the work of a step of one copy, on one GPU.

    A pipeline's stages are equal; the plan counts the whole model on one stage's GPUs, since a
    token passes through all of them (`step.py` divides memory and batch by the stages).
    """
    linear = _Tally()
    experts: list[Gemms] = []
    attention: list[Attention] = []
    stored: list[tuple[float, float, int]] = []
    fixed = resident = elementwise = kernels = collectives = 0.0
    exchanges = 0
    for layer in model.layers:
        n = layer.count
        own = _layer_gemms(layer, bits, parallel)
        linear.add(own, n)
        resident += n * (own.bytes + layer.vector_params * bits.of("small") / 8)
        for part in layer.experts:
            gemms, held = _expert_gemms(part, n, bits, parallel)
            experts.append(gemms)
            resident += held
            exchanges += n
        if layer.mixer is not None:
            work, kept, state = _attention(layer, bits, parallel)
            attention.append(work)
            stored += kept
            fixed += state
        collectives += n * _all_reduces(layer, model, parallel)
        moved, launches = _elementwise(layer, model, parallel)
        elementwise += n * moved
        kernels += n * launches
    layers_bytes = resident
    head = _head(model, bits, parallel)
    outside = _Tally()
    outside.add(_gemms(model.outside, bits, parallel, kv_heads=1), 1)
    linear.merge(outside)
    resident += outside.total.bytes + _tables_bytes(model, bits, parallel) + head.weight_bytes
    resident += model.final_small_params * bits.of("small") / 8
    dp = parallel.split == "attention-dp" and parallel.ways > 1
    return Plan(
        model=model,
        parallel=parallel,
        bits=bits,
        gemms=(*linear.groups(bits, parallel), *experts, head),
        attention=tuple(attention),
        stored=Stored(parts=tuple(stored), fixed_bytes=fixed),
        resident_bytes=resident,
        layers_bytes=layers_bytes,
        elementwise_bytes_per_token=elementwise,
        elementwise_kernels=kernels,
        collectives=collectives,
        exchanges=float(exchanges) if dp else 0.0,
    )


def _all_reduces(layer: Layer, model: Model, parallel: Parallel) -> int:
    """All-reduces of one layer: one after each part that is cut over the ways.

    With attention data-parallel the mixer isn't cut, and experts exchange tokens instead.
    """
    if parallel.ways == 1:
        return 0
    if parallel.split == "attention-dp":
        return int(bool(layer.feed_forward) and not layer.experts)
    parts = int(layer.mixer is not None) + bool(layer.feed_forward)
    return min(parts, 1) if model.parallel_block else parts


@dataclass
class _Sum:
    """Bytes, FLOP and activations of some matrices on one GPU."""

    bytes: float = 0.0
    flops: float = 0.0
    activations: float = 0.0
    kernels: float = 0.0

    def plus(self, other: "_Sum", times: float) -> None:
        self.bytes += times * other.bytes
        self.flops += times * other.flops
        self.activations += times * other.activations
        self.kernels += times * other.kernels


@dataclass
class _LayerGemms:
    """A layer's matrices by class of storage, on one GPU."""

    by: dict[Storage, _Sum]

    @property
    def bytes(self) -> float:
        return sum(s.bytes for s in self.by.values())


class _Tally:
    """Sums of matrices by class of storage over layers."""

    def __init__(self) -> None:
        self.by: dict[Storage, _Sum] = {}

    def add(self, gemms: _LayerGemms, times: int) -> None:
        for storage, part in gemms.by.items():
            self.by.setdefault(storage, _Sum()).plus(part, times)

    def merge(self, other: "_Tally") -> None:
        for storage, part in other.by.items():
            self.by.setdefault(storage, _Sum()).plus(part, 1)

    @property
    def total(self) -> _Sum:
        total = _Sum()
        for part in self.by.values():
            total.plus(part, 1)
        return total

    def groups(self, bits: Bits, parallel: Parallel) -> list[Gemms]:
        """One group per dtype and share of tokens; routers and norms join the attention's."""
        found: dict[tuple[str, float], _Sum] = {}
        for storage, part in self.by.items():
            owner: Storage = "attention" if storage == "small" else storage
            share = parallel.sequence_share if owner == "attention" else 1.0
            found.setdefault((bits.dtype_of(owner), share), _Sum()).plus(part, 1)
        return [
            Gemms("linear", dtype, s.bytes, s.flops, s.activations, s.kernels, share)
            for (dtype, share), s in found.items()
        ]


def _ways(matrix: Matrix, parallel: Parallel, kv_heads: int) -> int:
    """Over how many ranks one matrix is divided."""
    ways = parallel.attention_ways if matrix.storage == "attention" else parallel.ways
    if matrix.shard == "copy":
        return 1
    return min(ways, kv_heads) if matrix.shard == "kv" else ways


def _gemms(
    matrices: tuple[Matrix, ...], bits: Bits, parallel: Parallel, *, kv_heads: int
) -> _LayerGemms:
    by: dict[Storage, _Sum] = {}
    seen: set[str] = set()
    for m in matrices:
        ways = _ways(m, parallel, kv_heads)
        params = m.params / ways
        one = _Sum(
            bytes=params * bits.of(m.storage) / 8,
            flops=2 * params,
            activations=ACTIVATION_BYTES * m.count * (m.rows / ways + (m.name not in seen) * m.cols),
            kernels=0.0 if m.name in seen or m.storage == "small" else 1.0,
        )
        seen.add(m.name)
        by.setdefault(m.storage, _Sum()).plus(one, 1)
    return _LayerGemms(by)


def _layer_gemms(layer: Layer, bits: Bits, parallel: Parallel) -> _LayerGemms:
    kv_heads = layer.mixer.n_kv_heads if layer.mixer else 1
    return _gemms(layer.matrices, bits, parallel, kv_heads=kv_heads)


def _expert_gemms(
    part: Experts, layers: int, bits: Bits, parallel: Parallel
) -> tuple[Gemms, float]:
    """Routed experts of `layers` layers: cut over the ways, or spread whole over them."""
    one = sum(m.params for m in part.expert) * bits.of("expert") / 8
    one += part.expert_small_params * bits.of("small") / 8
    held = layers * part.n_experts * one / parallel.ways
    params = sum(m.params for m in part.expert)
    # Whole experts on their own rank take whole rows; a cut expert takes its share of them.
    cut = parallel.ways // parallel.expert_ways
    spread = parallel.expert_ways
    rows = sum(m.rows / cut + m.cols for m in part.expert) * part.top_k / spread
    gemms = Gemms(
        group="experts",
        dtype=bits.dtype_of("expert"),
        weight_bytes=held,
        flops_per_token=2.0 * layers * part.top_k * params / parallel.ways,
        activation_bytes_per_token=layers * ACTIVATION_BYTES * rows,
        kernels=float(layers),
        n_experts=part.n_experts,
        top_k=part.top_k,
        expert_ways=parallel.expert_ways,
        layers=layers,
    )
    return gemms, held


def _cache_bytes(term: CacheTerm, bits: Bits) -> float:
    """Bytes of one position (or of a state) of one layer, before sharding."""
    if term.packed_8bit_bytes is not None and bits.cache == 8:
        return term.packed_8bit_bytes
    # A state keeps its own width, 16 bits where the config names none: the KV dtype isn't its.
    own = term.bits if term.bits is not None else (16.0 if term.fixed else bits.cache)
    return term.elements * own / 8


def _attention(
    layer: Layer, bits: Bits, parallel: Parallel
) -> tuple[Attention, list[tuple[float, float, int]], float]:
    mixer = layer.mixer
    if mixer is None:
        raise ValueError("a layer without mixer has no attention")
    n = layer.count
    reads, kept = [], []
    write = state = 0.0
    for term in mixer.cache:
        each = _cache_bytes(term, bits) / min(parallel.attention_ways, term.shards)
        if term.fixed:
            state += each
            continue
        reads.append((each, term.read, term.stride))
        write += each / term.stride
        if term.kept > 0:
            kept.append((n * each, term.kept, term.stride))
    ways = parallel.attention_ways
    flops = tuple(
        (f.decode / ways, f.prefill / ways, f.cap, f.stride) for f in mixer.flops if f.decode
    )
    work = Attention(
        kind=mixer.kind,
        layers=n,
        reads=tuple(reads),
        flops=flops,
        write_bytes=write,
        fixed_bytes=2 * state,
        fixed_flops=_fixed_flops(mixer.flops) / ways,
        expand_flops=mixer.expand_flops_per_cached_token / ways,
        kernels=INDEXER_KERNELS if mixer.kind in SPARSE else 1.0,
    )
    return work, kept, n * state


def _fixed_flops(terms: tuple[FlopTerm, ...]) -> float:
    return sum(f.fixed for f in terms)


def _elementwise(layer: Layer, model: Model, parallel: Parallel) -> tuple[float, float]:
    """Norms, rotary embedding, activation and residuals: bytes per token and kernels."""
    moved = kernels = 0.0
    if layer.mixer is not None:
        inner = sum(m.rows * m.count for m in layer.mixer.matrices[:1])
        moved += ACTIVATION_BYTES * (
            4 * model.d_model + 2 * inner / parallel.attention_ways
        ) * parallel.sequence_share
        kernels += 2 + (INDEXER_ELEMENTWISE if layer.mixer.kind in SPARSE else 0)
    if layer.feed_forward:
        wide = max(
            part.d_expert * part.top_k if isinstance(part, Experts) else part.d_ff
            for part in layer.feed_forward
        )
        moved += ACTIVATION_BYTES * (4 * model.d_model + 3 * wide / parallel.ways)
        kernels += 2
    return moved, kernels


def _head(model: Model, bits: Bits, parallel: Parallel) -> Gemms:
    params = model.head_params / parallel.ways
    return Gemms(
        group="head",
        dtype=bits.dtype_of("head"),
        weight_bytes=params * bits.of("head") / 8,
        flops_per_token=2 * params,
        activation_bytes_per_token=ACTIVATION_BYTES * (model.d_model + model.vocab / parallel.ways),
        kernels=1.0,
    )


def _tables_bytes(model: Model, bits: Bits, parallel: Parallel) -> float:
    """Lookup tables on one GPU, the head excluded; a tied table is the head."""
    table = 0 if model.tied else model.embedding_params
    tables = table + model.lookup_params
    return (tables / parallel.ways + model.position_params) * bits.of("embedding") / 8


def counted_once(plan: Plan, single: Plan) -> Plan:
    """Return a plan whose cache is read and kept once over all ranks, as a perfect split would.

    Parameters
    ----------
    plan : Plan
        Work on one GPU of the copy, where a latent or a few KV heads are copied to every rank.
    single : Plan
        The same model on one GPU.
    """
    ways = plan.parallel.attention_ways
    if ways == 1:
        return plan
    return replace(
        plan,
        attention=tuple(
            replace(
                a,
                reads=tuple((per / ways, cap, stride) for per, cap, stride in whole.reads),
                write_bytes=whole.write_bytes / ways,
                fixed_bytes=whole.fixed_bytes / ways,
            )
            for a, whole in zip(plan.attention, single.attention, strict=True)
        ),
        stored=Stored(
            parts=tuple((per / ways, cap, stride) for per, cap, stride in single.stored.parts),
            fixed_bytes=single.stored.fixed_bytes / ways,
        ),
    )
