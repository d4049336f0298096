"""The points that nothing beats: Pareto fronts of a sweep for any pair of axes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.check import FloatArray
from costmodel.energy import joules_per_token
from costmodel.errors import InputError, nearest, quoted
from costmodel.sweep import Sweep

Better = int
LESS, MORE = 1, -1
"""Which direction is better; multiplying by it makes less better."""


@dataclass(frozen=True)
class Axis:
    """A quantity that two setups may be compared by."""

    key: str
    name: str
    unit: str
    better: Better
    of: Callable[[Sweep], FloatArray]


def _per_user(sweep: Sweep) -> FloatArray:
    return np.asarray(1 / sweep.tpot_s)


def _per_gpu(sweep: Sweep) -> FloatArray:
    return np.asarray(sweep.output_tokens_per_s / sweep.gpus[:, None] / (1 + sweep.prefill_copies))


def _request(sweep: Sweep) -> FloatArray:
    return np.asarray(sweep.usd_per_mtok * (sweep.scenario.output_tokens / 1e6))


AXES = {
    a.key: a
    for a in (
        Axis("all-in", "all-in cost", "USD per million output tokens", LESS, lambda s: s.usd_per_mtok),
        Axis("answer", "cost of the answer", "USD per million output tokens", LESS,
             lambda s: s.usd_per_mtok_output),
        Axis("speed", "speed of each user", "tokens/s", MORE, _per_user),
        Axis("tpot", "time between two tokens", "s", LESS, lambda s: s.tpot_s),
        Axis("ttft", "time to the first token", "s", LESS, lambda s: s.ttft_s),
        Axis("throughput", "tokens per second and GPU", "tokens/s", MORE, _per_gpu),
        Axis("request", "cost of a request", "USD", LESS, _request),
        Axis("energy", "energy, at board power", "J per output token", LESS, joules_per_token),
    )
}  # fmt: skip
"""What a front may be drawn over."""


def axis(key: str) -> Axis:
    """Return an axis by key.

    >>> axis("speed").unit
    'tokens/s'
    """
    if key not in AXES:
        close = nearest(key, AXES, count=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        msg = f"--axes must be two of {', '.join(AXES)}, got {quoted(key)}{hint}"
        raise InputError(msg, field="axes")
    return AXES[key]


def front(*, x: FloatArray, y: FloatArray) -> NDArray[np.intp]:
    """Return the flat indices of the points that no other equals or beats in both.

    Less is better in both. Of equal points one is kept. Rows whose best corner is beaten by a
    sample of all points are put aside whole, so only a few are sorted.

    Parameters
    ----------
    x, y : ndarray, shape (R, B)
        NaN where there is no point.

    Returns
    -------
    ndarray
        Indices into the flattened arrays, by rising x and falling y.

    Examples
    --------
    >>> front(x=np.array([[1.0, 2.0, 3.0]]), y=np.array([[3.0, 1.0, 2.0]])).tolist()
    [0, 1]
    """
    if x.size == 0:
        return np.zeros(0, dtype=np.intp)
    held = _contenders(x, y)
    flat = (held[:, None] * x.shape[1] + np.arange(x.shape[1])).ravel()
    best = _sorted_front(x[held].ravel(), y[held].ravel())
    return np.asarray(flat[best])


def _contenders(x: FloatArray, y: FloatArray) -> NDArray[np.intp]:
    """Return the rows that may hold a point of the front."""
    left, low = np.fmin.reduce(x, axis=1), np.fmin.reduce(y, axis=1)
    rows = np.flatnonzero(~np.isnan(left) & ~np.isnan(low))
    if rows.size < 8 or x.shape[1] < 8:
        return rows
    sample_x, sample_y = x[rows, ::8].ravel(), y[rows, ::8].ravel()
    at = _sorted_front(sample_x, sample_y)
    edge_x, edge_y = sample_x[at], sample_y[at]
    before = np.searchsorted(edge_x, left[rows], side="right") - 1
    beaten = (before >= 0) & (edge_y[np.maximum(before, 0)] < low[rows])
    return np.asarray(rows[~beaten])


def _sorted_front(x: FloatArray, y: FloatArray) -> NDArray[np.intp]:
    there = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    order = there[np.lexsort((y[there], x[there]))]
    lowest = np.minimum.accumulate(y[order])
    new = np.ones(order.size, dtype=bool)
    new[1:] = y[order][1:] < lowest[:-1]
    return np.asarray(order[new])


def front_of(
    sweep: Sweep, *, axes: tuple[str, str] = ("speed", "all-in"), keep: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Return the front of a sweep over two axes, best first along the first axis.

    Parameters
    ----------
    sweep : Sweep
        The points.
    axes : pair of str
        Keys of `AXES`.
    keep : ndarray of bool, shape (R, B), optional
        Which points count; those that fit when left out.

    Returns
    -------
    ndarray
        Indices into the flattened (R, B) arrays.
    """
    first, second = axis(axes[0]), axis(axes[1])
    if first.key == second.key:
        msg = f"--axes must be two different ones, got {first.key} twice; pick another"
        raise InputError(msg, field="axes")
    good = sweep.fits if keep is None else keep & sweep.fits
    x = np.where(good, first.of(sweep) * first.better, np.nan)
    y = np.where(good, second.of(sweep) * second.better, np.nan)
    return front(x=x, y=y)
