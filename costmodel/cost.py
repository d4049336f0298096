"""From time to money."""

import numpy as np
from numpy.typing import ArrayLike

from costmodel.check import FloatArray
from costmodel.step import whole_step_time_s

SECONDS_PER_HOUR = 3600.0
TOKENS_PER_MTOK = 1e6


def usd_per_mtok(
    *,
    time_per_token_s: ArrayLike,
    usd_per_gpu_hour: ArrayLike,
    gpus: ArrayLike,
    busy: ArrayLike = 1.0,
) -> FloatArray:
    """Return USD per million tokens.

    Parameters
    ----------
    time_per_token_s : array_like
        Time of one copy per token: step time / batch. [s]
    usd_per_gpu_hour : array_like
        Price of one GPU. NaN stays NaN. [USD/h]
    gpus : array_like
        GPUs of the copy.
    busy : array_like
        Share of paid hours that do work, in (0, 1].

    Returns
    -------
    ndarray, shape = broadcast of all inputs
        [USD/Mtok]

    Examples
    --------
    17.1 ms for 64 tokens on four GPUs at 3.99 USD/h:

    >>> c = usd_per_mtok(time_per_token_s=17.1e-3 / 64, usd_per_gpu_hour=3.99, gpus=4)
    >>> print(f"{c:.2f}")
    1.18
    """
    hours = np.asarray(time_per_token_s, dtype=np.float64) / SECONDS_PER_HOUR
    return np.asarray(
        hours * np.asarray(usd_per_gpu_hour) * np.asarray(gpus) * TOKENS_PER_MTOK / np.asarray(busy)
    )


def cost_curve(
    *,
    params: float,
    layers: float,
    d_kv: float,
    d_query: float,
    ctx: float,
    w_bytes: float,
    kv_bytes: float,
    bandwidth: float,
    flops: float,
    batch: ArrayLike,
) -> FloatArray:
    """Return the step time of the article "Batch Size, Occupancy, and the Marginal Cost of a Token".

    Its raw constants through the whole-step form, max((W + b·k)/B, (2·P·b + 4·n·d·L·b)/C). The
    article counts attention arithmetic with the KV width; with grouped queries it goes with
    the query width: pass `d_query=d_kv` for its table, the query width for the right one.

    Returns
    -------
    ndarray, shape of `batch`
        [s]
    """
    return whole_step_time_s(
        batch=batch,
        weight_bytes=params * w_bytes,
        cache_bytes_per_sequence=2 * layers * d_kv * kv_bytes * ctx,
        bandwidth_bytes_per_s=bandwidth,
        flop_time_per_sequence_s=(2 * params + 4 * layers * d_query * ctx) / flops,
    )
