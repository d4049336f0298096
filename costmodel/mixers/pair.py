"""Two mixers side by side in one layer (Falcon-H1: attention and Mamba-2 on the same input)."""

from dataclasses import dataclass
from math import gcd

from costmodel.model import CacheTerm, FlopTerm, Matrix, Mixer


@dataclass(frozen=True)
class Pair:
    """Two mixers that read the same input and whose outputs are added."""

    first: Mixer
    second: Mixer

    @property
    def kind(self) -> str:
        """The first one's: the second adds its state and arithmetic."""
        return self.first.kind

    @property
    def n_q_heads(self) -> int:
        """What divides the heads of both."""
        return gcd(self.first.n_q_heads, self.second.n_q_heads)

    @property
    def n_kv_heads(self) -> int:
        """The first one's."""
        return self.first.n_kv_heads

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Both."""
        return (*self.first.matrices, *self.second.matrices)

    @property
    def small_params(self) -> int:
        """Both."""
        return self.first.small_params + self.second.small_params

    @property
    def cache(self) -> tuple[CacheTerm, ...]:
        """Both."""
        return (*self.first.cache, *self.second.cache)

    @property
    def flops(self) -> tuple[FlopTerm, ...]:
        """Both."""
        return (*self.first.flops, *self.second.flops)

    @property
    def expand_flops_per_cached_token(self) -> float:
        """Both."""
        return self.first.expand_flops_per_cached_token + self.second.expand_flops_per_cached_token
