"""How far kernels and engines stay below the peaks: the constants of a profile.

`IDEAL` reaches every peak and costs no fixed time. `calibrated` constants come from
`presets/calibration.toml` through `calibration.py`. Every field may be an array along the hardware
axis.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from costmodel.check import FloatArray

SHARP = np.asarray(np.inf)
LATENT = frozenset(("mla", "dsa", "csa"))
"""Mixers whose cache is one latent for all heads."""
SPARSE = frozenset(("dsa", "csa"))
"""Those of them that pick positions with an indexer before they attend."""
RECURRENT = frozenset(("linear", "mamba", "conv"))
"""Mixers that keep a state."""


@dataclass(frozen=True)
class Group:
    """Constants of one op group."""

    fixed_s: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Fixed time per kernel (per layer for attention and experts). [s]"""
    memory_share: FloatArray = field(default_factory=lambda: np.asarray(1.0))
    """Achieved share of peak bandwidth, in (0, 1]."""
    compute_share: FloatArray = field(default_factory=lambda: np.asarray(1.0))
    """Achieved share of the peak dense rate, in (0, 1]."""
    exponent: FloatArray = field(default_factory=lambda: SHARP)
    """Softness of the knee, ≥ 1; ∞ is sharp."""


@dataclass(frozen=True)
class Links:
    """Measured algorithms of one collective at one degree: each α + bytes/β."""

    alpha_s: tuple[FloatArray, ...] = ()
    bytes_per_s: tuple[FloatArray, ...] = ()

    def time_s(self, message_bytes: FloatArray) -> FloatArray:
        """Return the time of the cheapest algorithm; 0 where none is given. [s]"""
        times = [
            a + message_bytes / b for a, b in zip(self.alpha_s, self.bytes_per_s, strict=True)
        ]
        if not times:
            return np.zeros(np.shape(message_bytes))
        cheapest = times[0]
        for t in times[1:]:
            cheapest = np.minimum(cheapest, t)
        return np.asarray(cheapest)


@dataclass(frozen=True)
class Constants:
    """A profile's constants for one accelerator, engine and set of dtypes."""

    linear: Group = field(default_factory=Group)
    experts: Group = field(default_factory=Group)
    attention: Group = field(default_factory=Group)
    latent: Group = field(default_factory=Group)
    recurrent: Group = field(default_factory=Group)
    head: Group = field(default_factory=Group)
    prefill: Group = field(default_factory=Group)
    """Attention of prompts, per layer."""
    prefill_latent: Group = field(default_factory=Group)
    """The same over latents."""
    prefill_half_tokens: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Prompt length at which prompts' attention reaches half its share. [tokens]"""
    by_dtype: Mapping[str, Group] = field(default_factory=dict)
    """GEMM groups by "group:dtype", where a model stores parts of it in several."""
    sampling_bytes: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Traffic per logit of a decoding sequence: softmax, sampling, copies. [bytes]"""
    prefill_pass_s: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Fixed time of each pass over prompt tokens, beside its kernels'. [s]"""
    activations: float = 0.0
    """1 counts activation traffic of GEMMs, 0 leaves it out (the ideal)."""
    elementwise_s: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Fixed time of one elementwise kernel. [s]"""
    elementwise_share: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """1 / achieved bandwidth share of elementwise kernels; 0 leaves their bytes out."""
    routing_skew: float = 0.0
    all_reduce: Links = field(default_factory=Links)
    all_to_all: Links = field(default_factory=Links)
    hop: Links = field(default_factory=Links)
    gathers_logits: float = 0.0
    host_s: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    host_per_sequence_s: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    host_overlaps: ArrayLike = True
    chunk_tokens: int = 0
    """Most tokens of one step of prompts; 0 runs a prompt whole."""
    mixes_prompts: bool = False
    """Whether chunks of prompts share steps with decoding (vLLM) or run alone (SGLang)."""
    stall_share: FloatArray = field(default_factory=lambda: np.asarray(1.0))
    """κ: share of the prompts' time that decoding sequences wait; ½ in lockstep."""
    queue_factor: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Wait for other prompts: this times load times √(requests in flight), in prompts."""
    burst_factor: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Of a closed loop that starts all at once: wait per other request, in prompts."""
    first_token_s: FloatArray = field(default_factory=lambda: np.asarray(0.0))
    """Fixed time of a request before its prompt runs. [s]"""
    first_token_steps: FloatArray = field(default_factory=lambda: np.asarray(0.5))
    """Decode steps that a request waits for."""
    max_sequences: int = 1024
    """Most sequences that the engine decodes together by default."""
    band: tuple[FloatArray, FloatArray] | None = None
    """Factors on a cost that hold 80 % of measured runs of its class; None where no run is."""
    basis: tuple[str, ...] = ()
    """Where each group's constants were found: `exact`, `family` or `global`, with the class."""

    def group(self, name: str, dtype: str = "") -> Group:
        """Constants of a GEMM group: `linear`, `experts` or `head`, in a storage dtype."""
        own = self.by_dtype.get(f"{name}:{dtype}")
        if own is not None:
            return own
        return {"linear": self.linear, "experts": self.experts, "head": self.head}[name]

    def attention_of(self, kind: str) -> Group:
        """Constants of a mixer kind."""
        if kind in LATENT:
            return self.latent
        return self.recurrent if kind in RECURRENT else self.attention

    def prefill_of(self, kind: str) -> Group:
        """Constants of a mixer kind over prompts."""
        if kind in LATENT:
            return self.prefill_latent
        return self.recurrent if kind in RECURRENT else self.prefill

    def collective_s(self, message_bytes: FloatArray) -> FloatArray:
        """Time of one all-reduce. [s]"""
        return self.all_reduce.time_s(message_bytes)

    def exchange_s(self, message_bytes: FloatArray) -> FloatArray:
        """Time of one all-to-all. [s]"""
        return self.all_to_all.time_s(message_bytes)

    def hop_s(self, message_bytes: FloatArray) -> FloatArray:
        """Time of one transfer between pipeline stages. [s]"""
        return self.hop.time_s(message_bytes)


IDEAL = Constants()
