"""The forms of token mixing: attention, latent attention, recurrences.

Each is a frozen value that tells its matrices, what it keeps per sequence and its arithmetic
(`model.Mixer`); formulas and sources stand in docs/models.md.
"""

from costmodel.mixers.attention import GQA, BlockSparse
from costmodel.mixers.change import with_kv_heads
from costmodel.mixers.latent import MLA, Compressed, Indexer
from costmodel.mixers.pair import Pair
from costmodel.mixers.recurrent import (
    DeltaNet,
    KimiDelta,
    Lightning,
    Mamba1,
    Mamba2,
    RecurrentGate,
    ShortConv,
)

__all__ = [
    "GQA",
    "MLA",
    "BlockSparse",
    "Compressed",
    "DeltaNet",
    "Indexer",
    "KimiDelta",
    "Lightning",
    "Mamba1",
    "Mamba2",
    "Pair",
    "RecurrentGate",
    "ShortConv",
    "with_kv_heads",
]
