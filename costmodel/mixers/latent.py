"""Attention over a latent shared by all heads: MLA, its sparse form, compressed positions."""

from dataclasses import dataclass

from costmodel.mixers.attention import Gate
from costmodel.model import ALL, CacheTerm, FlopTerm, Matrix

SCALE_BLOCK = 128
"""Elements of a latent or index key that share one 32-bit scale in an 8-bit cache."""


@dataclass(frozen=True)
class Indexer:
    """The narrow scorer of DeepSeek sparse attention: which positions a layer reads."""

    heads: int
    width: int
    top_k: int
    keeps_keys: bool = True
    """False where the layer takes an earlier layer's choice, without scorer and keys of its own."""

    def matrices(self, d_model: int, q_rank: int) -> tuple[Matrix, ...]:
        """Return index queries, the one index key, head weights; whole on every rank."""
        if not self.keeps_keys:
            return ()
        return (
            Matrix("index_q", self.heads * self.width, q_rank, "attention", "copy"),
            Matrix("index_k", self.width, d_model, "attention", "copy"),
            Matrix("index_k", self.heads, d_model, "attention", "copy"),
        )

    @property
    def small_params(self) -> int:
        """The key's norm, scale and shift."""
        return 2 * self.width if self.keeps_keys else 0


@dataclass(frozen=True)
class MLA:
    """Multi-head latent attention: one latent and one rotary key per position, for all heads."""

    d_model: int
    n_q_heads: int
    q_rank: int
    """Rank of the query projection; 0 for a direct one."""
    kv_rank: int
    d_nope: int
    d_rope: int
    d_value: int
    bias: bool = False
    """Biases on the two down-projections and the output."""
    gate: Gate = ""
    indexer: Indexer | None = None
    extra_small: int = 0

    @property
    def kind(self) -> str:
        """`mla`, or `dsa` with an indexer."""
        return "dsa" if self.indexer else "mla"

    @property
    def n_kv_heads(self) -> int:
        """One latent."""
        return 1

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Down-projections (whole on every rank), up-projections, output."""
        d, q, latent = self.d_model, self.n_q_heads, self.kv_rank
        wide = q * (self.d_nope + self.d_rope)
        down = Matrix("down", latent + self.d_rope, d, "attention", "copy")
        if self.q_rank:
            query: tuple[Matrix, ...] = (
                Matrix("down", self.q_rank, d, "attention", "copy"),
                down,
                Matrix("q_up", wide, self.q_rank, "attention"),
            )
        else:
            query = (down, Matrix("q_up", wide, d, "attention"))
        index = self.indexer.matrices(d, self.q_rank or d) if self.indexer else ()
        gated = {"": 0, "element": q * self.d_value, "head": q}[self.gate]
        gate = (Matrix("gate", gated, d, "attention"),) if gated else ()
        return (
            *query,
            *index,
            Matrix("kv_up", q * (self.d_nope + self.d_value), latent, "attention"),
            *gate,
            Matrix("o", d, q * self.d_value, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Norms of the latents, biases, the indexer's norm."""
        bias = self.kv_rank + self.d_rope + self.q_rank + self.d_model if self.bias else 0
        index = self.indexer.small_params if self.indexer else 0
        return self.q_rank + self.kv_rank + bias + index + self.extra_small

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The latent with its rotary key; with an indexer, read for the best positions only, and
        index keys over all positions.

        In 8 bits the sparse layout keeps one 32-bit scale per 128 elements, and the rotary key in
        16 bits: 656 bytes per position for 512 + 64, 132 for an index key of 128.
        """
        wide = self.kv_rank + self.d_rope
        if self.indexer is None:
            return (CacheTerm(wide),)
        packed = self.kv_rank * (1 + 4 / SCALE_BLOCK) + 2 * self.d_rope
        latent = CacheTerm(wide, read=float(self.indexer.top_k), packed_8bit_bytes=packed)
        if not self.indexer.keeps_keys:
            return (latent,)
        key = self.indexer.width
        return latent, CacheTerm(key, packed_8bit_bytes=key * (1 + 4 / SCALE_BLOCK))

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Decode over the latent itself (absorbed), prefill over expanded keys and values."""
        q = self.n_q_heads
        cap = float(self.indexer.top_k) if self.indexer else ALL
        main = FlopTerm(
            decode=2.0 * q * (self.kv_rank + self.d_rope) + 2.0 * q * self.kv_rank,
            prefill=2.0 * q * (self.d_nope + self.d_rope + self.d_value),
            cap=cap,
        )
        if self.indexer is None or not self.indexer.keeps_keys:
            return (main,)
        score = 2.0 * self.indexer.heads * self.indexer.width
        return main, FlopTerm(decode=score, prefill=score)

    @property
    def expand_flops_per_cached_token(self) -> float:
        """FLOP to expand a cached latent to keys and values of all heads."""
        return 2.0 * self.kv_rank * self.n_q_heads * (self.d_nope + self.d_value)


@dataclass(frozen=True)
class Compressed:
    """DeepSeek-V4 attention: a window of positions, and beyond it one entry per `ratio` positions.

    A short ratio (4) has an indexer that picks the entries to read; a long one (128) reads all
    of them. Key and value are the same vector, shared by all heads. Approximate: an own reading
    of the published layout.
    """

    d_model: int
    n_q_heads: int
    d_head: int
    q_rank: int
    out_rank: int
    out_groups: int
    window: int
    ratio: int = 0
    """Positions per compressed entry; 0 for the window alone."""
    indexer: Indexer | None = None

    @property
    def kind(self) -> str:
        """`csa`."""
        return "csa"

    @property
    def n_kv_heads(self) -> int:
        """One shared key-value head."""
        return 1

    @property
    def _spread(self) -> int:
        """Overlapping pairs of entries where an indexer picks, single ones elsewhere."""
        return 2 if self.indexer else 1

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Query by low rank, shared key-value, compressor, indexer, grouped output by low rank."""
        d, head = self.d_model, self.d_head
        found = [
            Matrix("down", self.q_rank, d, "attention", "copy"),
            Matrix("down", head, d, "attention", "copy"),
            Matrix("q_up", self.n_q_heads * head, self.q_rank, "attention"),
        ]
        if self.ratio:
            wide = 2 * self._spread * head
            found.append(Matrix("compress", wide, d, "attention", "copy"))
        if self.ratio and self.indexer:
            index = self.indexer
            found += [
                Matrix("compress", 4 * index.width, d, "attention", "copy"),
                Matrix("index_q", index.heads * index.width, self.q_rank, "attention", "copy"),
                Matrix("compress", index.heads, d, "attention", "copy"),
            ]
        group = self.n_q_heads * head // self.out_groups
        return (
            *found,
            Matrix("o_down", self.out_rank, group, "attention", count=self.out_groups),
            Matrix("o", d, self.out_groups * self.out_rank, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Sinks, norms, position biases of the compressors."""
        small = self.n_q_heads + self.q_rank + self.d_head
        if self.ratio:
            small += self.ratio * self._spread * self.d_head + self.d_head
        if self.ratio and self.indexer:
            small += self.ratio * 2 * self.indexer.width + self.indexer.width
        return small

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The window, compressed entries, their index keys."""
        near = CacheTerm(self.d_head, kept=float(self.window), read=float(self.window))
        if not self.ratio:
            return (near,)
        if self.indexer is None:
            return near, CacheTerm(self.d_head, stride=self.ratio)
        return (
            near,
            CacheTerm(self.d_head, read=float(self.indexer.top_k), stride=self.ratio),
            CacheTerm(self.indexer.width, stride=self.ratio),
        )

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Attention over window and entries read, index scores over all entries."""
        pair = 4.0 * self.n_q_heads * self.d_head
        near = FlopTerm(decode=pair, prefill=pair, cap=float(self.window))
        if not self.ratio:
            return (near,)
        if self.indexer is None:
            return near, FlopTerm(decode=pair, prefill=pair, stride=self.ratio)
        score = 2.0 * self.indexer.heads * self.indexer.width
        top = float(self.indexer.top_k)
        return (
            near,
            FlopTerm(decode=pair, prefill=pair, cap=top, stride=self.ratio),
            FlopTerm(decode=score, prefill=score, stride=self.ratio),
        )

    @property
    def expand_flops_per_cached_token(self) -> float:
        """Nothing to expand: entries are used as kept."""
        return 0.0
