"""Energy per output token: an estimate from the board's rated power, marked as one.

No meter is behind it. A card draws less than its rated power while it waits for memory, and the
host, the network and cooling draw more; the two errors go in opposite directions.
"""

import numpy as np

from costmodel.check import FloatArray
from costmodel.sweep import Sweep

MARK = "estimate: rated board power all the time, without host, network and cooling"
"""What stands beside every figure in joules."""


def joules_per_token(sweep: Sweep) -> FloatArray:
    """Return energy per output token of every point. [J]

    Rated power × GPUs / tokens per second; prompt GPUs of their own included.

    Returns
    -------
    ndarray, shape (R, B)
        NaN where the power isn't published.
    """
    power = np.asarray([a.power_w for a in sweep.space.hardware], dtype=np.float64)[sweep.hardware]
    drawn = (power * sweep.gpus)[:, None] * (1 + sweep.prefill_copies)
    return np.asarray(drawn / sweep.output_tokens_per_s)
