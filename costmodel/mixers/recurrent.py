"""Mixers with a state of constant size: delta rules, lightning attention, Mamba, convolutions.

A step reads and writes the whole state. Arithmetic per token is counted on the state alone:
decay, update and readout; projections are matrices like any others, and the short convolutions
before the state are left out (under 1 % of a layer).
"""

from dataclasses import dataclass

from costmodel.model import CacheTerm, FlopTerm, Matrix


class _Recurrent:
    """What all recurrences share: no growing cache, nothing to expand."""

    @property
    def n_kv_heads(self) -> int:
        """No keys and values."""
        return 1

    @property
    def expand_flops_per_cached_token(self) -> float:
        """Nothing to expand."""
        return 0.0


@dataclass(frozen=True)
class DeltaNet(_Recurrent):
    """Gated DeltaNet: a decayed state per value head, updated by the delta rule."""

    d_model: int
    n_key_heads: int
    n_value_heads: int
    d_key: int
    d_value: int
    kernel: int
    fused: bool = True
    """One convolution over queries, keys and values together."""
    state_bits: float | None = None

    @property
    def kind(self) -> str:
        """`linear`."""
        return "linear"

    @property
    def n_q_heads(self) -> int:
        """Key heads, fewer than value heads: what tensor parallelism divides."""
        return self.n_key_heads

    @property
    def conv_channels(self) -> int:
        """Channels of the short convolution: queries, keys, values."""
        return 2 * self.n_key_heads * self.d_key + self.n_value_heads * self.d_value

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Queries, keys, values, gate, the two scalars per head, output."""
        d, wide = self.d_model, self.n_value_heads * self.d_value
        return (
            Matrix("qkvz", self.conv_channels, d, "attention"),
            Matrix("qkvz", wide, d, "attention"),
            Matrix("ba", 2 * self.n_value_heads, d, "attention"),
            Matrix("o", d, wide, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Convolution, decay and step bias per head, norm of a head's output."""
        return self.conv_channels * self.kernel + 2 * self.n_value_heads + self.d_value

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The state, and the convolution's last inputs."""
        state = self.n_value_heads * self.d_key * self.d_value
        tail = self.conv_channels * (self.kernel - 1)
        return (
            CacheTerm(state, fixed=True, shards=self.n_value_heads, bits=self.state_bits),
            CacheTerm(tail, fixed=True, shards=self.n_key_heads),
        )

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Read the old value, update the state, read it out: 2·3·heads·d_k·d_v."""
        return (FlopTerm(fixed=6.0 * self.n_value_heads * self.d_key * self.d_value),)


@dataclass(frozen=True)
class KimiDelta(_Recurrent):
    """Kimi Delta Attention: the delta rule with a decay per channel."""

    d_model: int
    n_heads: int
    d_head: int
    kernel: int
    full_rank_gate: bool = False
    """An output gate of full rank (Kimi K3) and not through the width of one head."""
    full_rank_decay: bool = False
    state_bits: float | None = 32.0

    @property
    def kind(self) -> str:
        """`linear`."""
        return "linear"

    @property
    def n_q_heads(self) -> int:
        """Heads."""
        return self.n_heads

    @property
    def _wide(self) -> int:
        return self.n_heads * self.d_head

    def _gate(self, name: str, *, full: bool) -> tuple[Matrix, ...]:
        if full:
            return (Matrix("qkv", self._wide, self.d_model, "attention"),)
        return (
            Matrix(f"{name}_down", self.d_head, self.d_model, "attention", "copy"),
            Matrix(f"{name}_up", self._wide, self.d_head, "attention"),
        )

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Queries, keys, values, decay, step size, output gate, output."""
        d = self.d_model
        return (
            Matrix("qkv", 3 * self._wide, d, "attention"),
            *self._gate("decay", full=self.full_rank_decay),
            Matrix("qkv", self.n_heads, d, "attention"),
            *self._gate("gate", full=self.full_rank_gate),
            Matrix("o", d, self._wide, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Convolutions, decay bias per channel and scale per head, norm of a head's output."""
        return 3 * self._wide * self.kernel + self._wide + self.n_heads + self.d_head

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The state, and the convolutions' last inputs."""
        state = self.n_heads * self.d_head**2
        tail = 3 * self._wide * (self.kernel - 1)
        return (
            CacheTerm(state, fixed=True, shards=self.n_heads, bits=self.state_bits),
            CacheTerm(tail, fixed=True, shards=self.n_heads),
        )

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Read the old value, update the state, read it out: 2·3·heads·d²."""
        return (FlopTerm(fixed=6.0 * self.n_heads * self.d_head**2),)


@dataclass(frozen=True)
class Lightning(_Recurrent):
    """Lightning attention (MiniMax): a decayed sum of key-value products per head."""

    d_model: int
    n_heads: int
    d_head: int
    state_bits: float | None = None

    @property
    def kind(self) -> str:
        """`linear`."""
        return "linear"

    @property
    def n_q_heads(self) -> int:
        """Heads."""
        return self.n_heads

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Queries, keys, values, output gate, output."""
        d, wide = self.d_model, self.n_heads * self.d_head
        return (
            Matrix("qkv", 3 * wide, d, "attention"),
            Matrix("qkv", wide, d, "attention"),
            Matrix("o", d, wide, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Norm over all heads' output."""
        return self.n_heads * self.d_head

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The state."""
        state = self.n_heads * self.d_head**2
        return (CacheTerm(state, fixed=True, shards=self.n_heads, bits=self.state_bits),)

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Update the state, read it out: 2·2·heads·d²."""
        return (FlopTerm(fixed=4.0 * self.n_heads * self.d_head**2),)


@dataclass(frozen=True)
class Mamba1(_Recurrent):
    """Selective state space of Mamba-1: a state per channel."""

    d_model: int
    d_inner: int
    d_state: int
    kernel: int
    dt_rank: int
    conv_bias: bool = True
    proj_bias: bool = False
    inner_norms: bool = False
    """Norms of step size, input and output vectors (Jamba)."""
    state_bits: float | None = None

    @property
    def kind(self) -> str:
        """`mamba`."""
        return "mamba"

    @property
    def n_q_heads(self) -> int:
        """Channels."""
        return self.d_inner

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Input with gate, the selective parameters, step size, output."""
        return (
            Matrix("in", 2 * self.d_inner, self.d_model, "attention"),
            Matrix("select", self.dt_rank + 2 * self.d_state, self.d_inner, "attention"),
            Matrix("step", self.d_inner, self.dt_rank, "attention"),
            Matrix("o", self.d_model, self.d_inner, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Decay matrix, skip, convolution, step bias, inner norms, projection biases."""
        inner, state = self.d_inner, self.d_state
        norms = self.dt_rank + 2 * state if self.inner_norms else 0
        bias = 2 * inner + self.d_model if self.proj_bias else 0
        conv = inner * (self.kernel + self.conv_bias)
        return inner * state + inner + conv + inner + norms + bias

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The state, and the convolution's last inputs."""
        inner = self.d_inner
        return (
            CacheTerm(inner * self.d_state, fixed=True, shards=inner, bits=self.state_bits),
            CacheTerm(inner * (self.kernel - 1), fixed=True, shards=inner),
        )

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Decay and update the state, read it out: 2·3·d_inner·d_state."""
        return (FlopTerm(fixed=6.0 * self.d_inner * self.d_state),)


@dataclass(frozen=True)
class Mamba2(_Recurrent):
    """State space of Mamba-2: a state per head, input and output vectors shared in groups."""

    d_model: int
    n_heads: int
    d_head: int
    d_state: int
    n_groups: int
    kernel: int
    conv_bias: bool = True
    proj_bias: bool = False
    norm: bool = True
    """A gated norm before the output."""
    state_bits: float | None = None

    @property
    def kind(self) -> str:
        """`mamba`."""
        return "mamba"

    @property
    def n_q_heads(self) -> int:
        """State heads."""
        return self.n_heads

    @property
    def d_inner(self) -> int:
        """Width over all heads."""
        return self.n_heads * self.d_head

    @property
    def conv_channels(self) -> int:
        """Channels of the short convolution: inputs, input and output vectors."""
        return self.d_inner + 2 * self.n_groups * self.d_state

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Gate, convolution inputs and step sizes in one, output."""
        wide = self.d_inner + self.conv_channels + self.n_heads
        return (
            Matrix("in", wide, self.d_model, "attention"),
            Matrix("o", self.d_model, self.d_inner, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Decay, skip and step bias per head, convolution, norm, projection biases."""
        conv = self.conv_channels * (self.kernel + self.conv_bias)
        norm = self.d_inner if self.norm else 0
        wide = self.d_inner + self.conv_channels + self.n_heads
        bias = wide + self.d_model if self.proj_bias else 0
        return 3 * self.n_heads + conv + norm + bias

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The state, and the convolution's last inputs."""
        state = self.d_inner * self.d_state
        tail = self.conv_channels * (self.kernel - 1)
        return (
            CacheTerm(state, fixed=True, shards=self.n_heads, bits=self.state_bits),
            CacheTerm(tail, fixed=True, shards=self.n_heads),
        )

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Decay and update the state, read it out: 2·3·d_inner·d_state."""
        return (FlopTerm(fixed=6.0 * self.d_inner * self.d_state),)


@dataclass(frozen=True)
class ShortConv(_Recurrent):
    """A gated short convolution (LFM2)."""

    d_model: int
    kernel: int
    bias: bool = False

    @property
    def kind(self) -> str:
        """`conv`."""
        return "conv"

    @property
    def n_q_heads(self) -> int:
        """Channels."""
        return self.d_model

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Two gates and the input in one, output."""
        d = self.d_model
        return Matrix("in", 3 * d, d, "attention"), Matrix("o", d, d, "attention")

    @property
    def small_params(self) -> int:
        """The convolution, and biases of it and both projections."""
        return self.d_model * (self.kernel + (5 if self.bias else 0))

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The convolution's last inputs."""
        tail = self.d_model * (self.kernel - 1)
        return (CacheTerm(tail, fixed=True, shards=self.d_model),)

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """The convolution and its gates."""
        return (FlopTerm(fixed=2.0 * self.d_model * (self.kernel + 1)),)


@dataclass(frozen=True)
class RecurrentGate(_Recurrent):
    """The gated linear recurrence of RecurrentGemma: a state per channel."""

    d_model: int
    width: int
    n_heads: int
    kernel: int

    @property
    def kind(self) -> str:
        """`linear`."""
        return "linear"

    @property
    def n_q_heads(self) -> int:
        """Blocks of the gates."""
        return self.n_heads

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Two inputs, two block-diagonal gates, output."""
        d, wide = self.d_model, self.width
        block = wide // self.n_heads
        return (
            Matrix("in", 2 * wide, d, "attention"),
            Matrix("gates", 2 * block, block, "attention", count=self.n_heads),
            Matrix("o", d, wide, "attention"),
        )

    @property
    def small_params(self) -> int:
        """Biases of the projections and gates, convolution, decay."""
        wide = self.width
        return 2 * wide + self.d_model + wide * (self.kernel + 1) + 2 * wide + wide

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """The state in 32 bits, and the convolution's last inputs."""
        return (
            CacheTerm(self.width, fixed=True, shards=self.n_heads, bits=32.0),
            CacheTerm(self.width * (self.kernel - 1), fixed=True, shards=self.n_heads),
        )

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Decay and update the state."""
        return (FlopTerm(fixed=6.0 * self.width),)
