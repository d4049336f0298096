"""What a model is: layers, their weights, the cache they keep and the arithmetic they do.

A `Model` is a list of `Layer`s; a layer is a *mixer* (attention in one of its forms, or a
recurrence) and a *feed-forward* (dense or experts). Every part tells its weight matrices; a mixer
tells as well what it keeps per sequence and what it computes per attended position. Nothing here
knows a data type, a GPU or a batch: `work.py` turns these shapes into bytes and FLOP.
"""

from dataclasses import dataclass, field
from typing import Literal, Protocol

ALL = float("inf")
"""No cap on positions: the whole context."""

Storage = Literal["attention", "mlp", "expert", "head", "embedding", "small"]
"""What a weight belongs to; a quantisation says its bits per such class (`dtypes.py`)."""

Shard = Literal["split", "kv", "copy"]
"""Over tensor-parallel ranks: divided by all, divided by at most the KV heads, or whole on each."""


@dataclass(frozen=True)
class Matrix:
    """One weight matrix: `count` blocks of `rows` outputs by `cols` inputs.

    `name` is the GEMM it runs in; matrices of one layer with the same name run as one kernel
    (q, k and v as "qkv"; gate and up as "gate_up"). A block-diagonal matrix has count > 1.
    """

    name: str
    rows: int
    cols: int
    storage: Storage
    shard: Shard = "split"
    count: int = 1

    @property
    def params(self) -> int:
        """Number of weights."""
        return self.rows * self.cols * self.count


@dataclass(frozen=True)
class CacheTerm:
    """A part of what one layer keeps per sequence.

    At context L a growing term holds `elements · min(⌈L / stride⌉, kept)` elements and a step
    reads `elements · min(⌈L / stride⌉, read)` of them and writes one position. A `fixed` term (a
    recurrent state) holds `elements` whatever L, and a step reads and writes them all.
    """

    elements: float
    kept: float = ALL
    read: float = ALL
    stride: int = 1
    shards: int = 1
    """The most tensor-parallel ranks it divides over (KV heads; 1 for a latent)."""
    fixed: bool = False
    bits: float | None = None
    """Width where it does not follow the KV dtype (a state kept in float32)."""
    packed_8bit_bytes: float | None = None
    """Bytes of one position when the cache is stored in 8 bits, where scales or parts kept wider
    make it differ from one byte per element (656 for DeepSeek's sparse layout)."""


@dataclass(frozen=True)
class FlopTerm:
    """Attention arithmetic of one layer, over all heads, for one new token.

    `decode` FLOP per position attended, `prefill` FLOP per pair of positions, over at most `cap`
    positions, one per `stride` tokens; `fixed` FLOP per new token whatever the context.
    """

    decode: float = 0.0
    prefill: float = 0.0
    cap: float = ALL
    stride: int = 1
    fixed: float = 0.0


class Mixer(Protocol):
    """The part of a layer that mixes tokens."""

    @property
    def kind(self) -> str:
        """`gqa`, `mla`, `dsa`, `csa`, `block-sparse`, `linear` or `mamba`."""

    @property
    def n_q_heads(self) -> int:
        """Query (or state) heads: what tensor parallelism divides."""

    @property
    def n_kv_heads(self) -> int:
        """Key-value heads; for latents and recurrences 1."""

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Weight matrices, in the order they run."""

    @property
    def small_params(self) -> int:
        """Norms, biases, convolutions and other vectors."""

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """What it keeps per sequence."""

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Its attention arithmetic (projections are in `matrices`)."""

    @property
    def expand_flops_per_cached_token(self) -> float:
        """FLOP to expand one cached latent to keys and values in a prefill chunk; 0 elsewhere."""


@dataclass(frozen=True)
class Dense:
    """A dense feed-forward: down(act(gate) · up), or down(act(up)) when not gated."""

    d_model: int
    d_ff: int
    gated: bool = True
    bias: bool = False

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Weight matrices, in the order they run."""
        up = "gate_up" if self.gated else "up"
        wide = self.d_ff * (2 if self.gated else 1)
        return (
            Matrix(up, wide, self.d_model, "mlp"),
            Matrix("down", self.d_model, self.d_ff, "mlp"),
        )

    @property
    def small_params(self) -> int:
        """Biases."""
        return (self.d_ff * (2 if self.gated else 1) + self.d_model) if self.bias else 0


@dataclass(frozen=True)
class Experts:
    """A mixture of experts: a router, `n_experts` routed ones of which `top_k` run per token,
    and whatever runs for every token beside them.
    """

    d_model: int
    n_experts: int
    top_k: int
    d_expert: int
    gated: bool = True
    bias: bool = False
    d_in: int | None = None
    """Width of what routed experts read and write, where it isn't d_model."""
    shared: tuple[Matrix, ...] = ()
    """Shared experts, their gates, and projections into and out of a narrower expert width."""
    small_params: int = 0
    """Router biases and scales, not the router itself."""
    router_count: int = 1

    @property
    def router(self) -> Matrix:
        """The router: small, kept at 16 bits, whole on every rank."""
        return Matrix("router", self.n_experts, self.d_model, "small", "copy", self.router_count)

    @property
    def expert(self) -> tuple[Matrix, ...]:
        """The matrices of one routed expert."""
        width = self.d_in or self.d_model
        wide = self.d_expert * (2 if self.gated else 1)
        return (
            Matrix("gate_up", wide, width, "expert"),
            Matrix("down", width, self.d_expert, "expert"),
        )

    @property
    def expert_small_params(self) -> int:
        """Biases of one routed expert."""
        width = self.d_in or self.d_model
        return (self.d_expert * (2 if self.gated else 1) + width) if self.bias else 0

    @property
    def expert_params(self) -> int:
        """Weights of one routed expert, biases included."""
        return sum(m.params for m in self.expert) + self.expert_small_params

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """What runs for every token: router and shared experts."""
        return (self.router, *self.shared)


FeedForward = Dense | Experts


@dataclass(frozen=True)
class Layer:
    """`count` equal layers. A hybrid's layer may lack one of the two parts."""

    mixer: Mixer | None
    feed_forward: tuple[FeedForward, ...] = ()
    """Usually one; two where a dense part and experts run side by side (Gemma 4, Arctic)."""
    small_params: int = 0
    """Norms around the parts."""
    extra: tuple[Matrix, ...] = ()
    """Other matrices of the layer (hyper-connections, per-layer input gates)."""
    count: int = 1

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Every matrix that runs for every token; routed experts excluded."""
        mixer = self.mixer.matrices if self.mixer else ()
        return (*mixer, *(m for part in self.feed_forward for m in part.matrices), *self.extra)

    @property
    def experts(self) -> tuple[Experts, ...]:
        """Its expert parts."""
        return tuple(part for part in self.feed_forward if isinstance(part, Experts))

    @property
    def vector_params(self) -> int:
        """Norms, biases and other small weights, routed experts' biases excluded."""
        mixer = self.mixer.small_params if self.mixer else 0
        return mixer + self.small_params + sum(p.small_params for p in self.feed_forward)

    @property
    def always_params(self) -> int:
        """Weights that every token uses."""
        return sum(m.params for m in self.matrices) + self.vector_params


@dataclass(frozen=True)
class Published:
    """How the checkpoint is stored: a dtype name, and which classes of weight it covers."""

    dtype: str
    """A dtype name of `dtypes.py`."""
    covers: tuple[Storage, ...] = ("attention", "mlp", "expert", "head", "embedding", "small")
    """Classes stored in `dtype`; the others are in `rest`."""
    rest: str = "bf16"
    block: int = 1
    """Block of a block-scaled quantisation along the feed-forward width (128 for DeepSeek's fp8):
    tensor parallelism must divide d_ff into whole blocks."""
    per_class: tuple[tuple[Storage, str], ...] = ()
    """Classes stored in a third dtype (DeepSeek-V4: experts mxfp4, attention and mlp fp8)."""


@dataclass(frozen=True)
class Model:
    """A decoder, as counted from its config."""

    id: str
    layers: tuple[Layer, ...]
    d_model: int
    vocab: int
    tied: bool
    """Whether the head is the input table."""
    published: Published
    short: str = ""
    family: str = ""
    context_limit: int | None = None
    position_params: int = 0
    """A learned position table: looked up, neither read whole nor multiplied."""
    lookup_params: int = 0
    """Other tables that are looked up per token (per-layer embeddings)."""
    head_bias: int = 0
    final_small_params: int = 0
    """Final norm and what else stands outside the layers."""
    outside: tuple[Matrix, ...] = ()
    """Matrices outside the layers other than table and head (OPT's projections)."""
    parallel_block: bool = False
    """Attention and feed-forward side by side: one all-reduce per layer, not two."""
    d_ff: int = 0
    """Widest feed-forward of one token: dense, or its chosen experts together; for workspace."""
    embedding_width: int = 0
    """Width of input table and head where it isn't the model's (OPT-350M); 0 where it is."""
    source: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return sum(layer.count for layer in self.layers)

    @property
    def embedding_params(self) -> int:
        """The input table."""
        return self.vocab * (self.embedding_width or self.d_model)

    @property
    def head_params(self) -> int:
        """The output head as multiplied, its own table or the tied one."""
        return self.embedding_params + self.head_bias

    @property
    def _always(self) -> int:
        inside = sum(layer.count * layer.always_params for layer in self.layers)
        return inside + sum(m.params for m in self.outside) + self.final_small_params

    @property
    def total_params(self) -> int:
        """All weights of the text model, a tied table once.

        Equals `counted_params` of the model table (docs/model.md).
        """
        experts = sum(
            layer.count * e.n_experts * e.expert_params
            for layer in self.layers
            for e in layer.experts
        )
        head = self.head_bias if self.tied else self.head_params
        tables = self.embedding_params + self.position_params + self.lookup_params
        return self._always + experts + head + tables

    @property
    def active_params(self) -> int:
        """Weights that one token uses, without input table and lookups (a tied one is the head)."""
        experts = sum(
            layer.count * e.top_k * e.expert_params for layer in self.layers for e in layer.experts
        )
        return self._always + experts + self.head_params + self.position_params
