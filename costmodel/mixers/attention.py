"""Attention with keys and values per head: MHA, GQA, MQA, sliding windows, block-sparse reads."""

from dataclasses import dataclass, replace
from typing import Literal

from costmodel.errors import InputError
from costmodel.model import ALL, CacheTerm, FlopTerm, Matrix

QkNorm = Literal["", "head", "heads"]
"""None; one scale of a head's width shared by all heads; a scale over all heads together."""

Gate = Literal["", "element", "head"]
"""Output gate: none, one value per element of the heads' output, one per head."""


@dataclass(frozen=True)
class GQA:
    """Attention over keys and values kept per KV head.

    With as many KV heads as query heads it is multi-head attention, with one it is multi-query.
    """

    d_model: int
    n_q_heads: int
    n_kv_heads: int
    d_head: int
    """Width of a key and a query."""
    d_value: int = 0
    """Width of a value; 0 for the key's."""
    window: float = ALL
    """Most positions attended and kept: a sliding window, or the chunk of chunked attention."""
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: QkNorm = ""
    norm_parts: int = 1
    """Vectors per query or key norm: 2 where it also shifts."""
    gate: Gate = ""
    value_is_key: bool = False
    """One projection gives key and value; both are still cached (Gemma 4)."""
    keeps_cache: bool = True
    """False where an earlier layer's keys and values are read instead (Gemma 3n)."""
    extra_small: int = 0
    """Sinks, sub-norms and other vectors."""
    q_rank: int = 0
    """Rank of the query projection (Step-3); 0 for a direct one."""

    @property
    def kind(self) -> str:
        """`gqa`."""
        return "gqa"

    @property
    def value_width(self) -> int:
        """Width of a value."""
        return self.d_value or self.d_head

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Query (with an element gate, twice as wide), key, value, output."""
        d, q, kv = self.d_model, self.n_q_heads, self.n_kv_heads
        found = [Matrix("qkv", q * self.d_head, self.q_rank or d, "attention")]
        if self.q_rank:
            found.insert(0, Matrix("down", self.q_rank, d, "attention", "copy"))
        if self.keeps_cache:
            found.append(Matrix("qkv", kv * self.d_head, d, "attention", "kv"))
            if not self.value_is_key:
                found.append(Matrix("qkv", kv * self.value_width, d, "attention", "kv"))
        if self.gate:
            wide = q * self.value_width if self.gate == "element" else q
            found.append(Matrix("qkv", wide, d, "attention"))
        found.append(Matrix("o", d, q * self.value_width, "attention"))
        return tuple(found)

    @property
    def small_params(self) -> int:
        """Biases, norms of queries and keys, sinks."""
        d_k, q = self.d_head, self.n_q_heads
        kv = self.n_kv_heads if self.keeps_cache else 0
        bias = q * d_k + kv * (d_k + (0 if self.value_is_key else self.value_width))
        norm = {
            "": 0,
            "head": d_k * (1 + self.keeps_cache) * self.norm_parts,
            "heads": (q + kv) * d_k * self.norm_parts,
        }[self.qk_norm]
        output = self.d_model if self.output_bias else 0
        return norm + (bias if self.qkv_bias else 0) + output + self.q_rank + self.extra_small

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """Keys and values of every position within the window."""
        kept = self.window if self.keeps_cache else 0
        each = self.n_kv_heads * (self.d_head + self.value_width)
        return (CacheTerm(each, kept=kept, read=self.window, shards=self.n_kv_heads),)

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Scores and weighted sum over all query heads: 2·n_q·(d_k + d_v) per position."""
        pair = 2.0 * self.n_q_heads * (self.d_head + self.value_width)
        return (FlopTerm(decode=pair, prefill=pair, cap=self.window),)

    @property
    def expand_flops_per_cached_token(self) -> float:
        """Nothing to expand."""
        return 0.0

    def with_kv_heads(self, n_kv_heads: int) -> "GQA":
        """Return the same attention with another number of KV heads.

        Raises
        ------
        InputError
            When the KV heads don't divide the query heads.
        """
        if n_kv_heads < 1 or self.n_q_heads % n_kv_heads:
            raise InputError(
                f"kv_heads must divide the {self.n_q_heads} query heads, got {n_kv_heads}; use "
                f"one of {', '.join(str(n) for n in _divisors(self.n_q_heads)[:12])}",
                field="kv_heads",
            )
        return replace(self, n_kv_heads=n_kv_heads)


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


@dataclass(frozen=True)
class BlockSparse:
    """Attention that scores all positions with a narrow index and reads the best blocks of them
    (MiniMax-M3); approximate in which positions a step reads.
    """

    dense: GQA
    """The attention over the chosen positions."""
    index_heads: int
    index_width: int
    block: int
    top_blocks: int

    @property
    def kind(self) -> str:
        """`block-sparse`."""
        return "block-sparse"

    @property
    def n_q_heads(self) -> int:
        """Query heads."""
        return self.dense.n_q_heads

    @property
    def n_kv_heads(self) -> int:
        """KV heads."""
        return self.dense.n_kv_heads

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The attention's, then index queries and the one index key, whole on every rank."""
        d, wide = self.dense.d_model, self.index_width
        return (
            *self.dense.matrices[:-1],
            Matrix("index", self.index_heads * wide, d, "attention", "copy"),
            Matrix("index", wide, d, "attention", "copy"),
            self.dense.matrices[-1],
        )

    @property
    def small_params(self) -> int:
        """The attention's, and norms of index query and key."""
        return self.dense.small_params + 2 * self.index_width

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """Keys and values over all positions, read in the best blocks; index keys, read whole.

        The chosen blocks are the same for every head, so both stay whole on each rank.
        """
        own = self.dense.cache[0]
        read = float(self.block * self.top_blocks)
        return (
            CacheTerm(own.elements, read=read),
            CacheTerm(self.index_width, packed_8bit_bytes=self.index_width),
        )

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Attention over the best blocks, index scores over all positions."""
        pair = self.dense.flops[0].decode
        score = 2.0 * self.index_heads * self.index_width
        return (
            FlopTerm(decode=pair, prefill=pair, cap=float(self.block * self.top_blocks)),
            FlopTerm(decode=score, prefill=score),
        )

    @property
    def expand_flops_per_cached_token(self) -> float:
        """Nothing to expand."""
        return 0.0
