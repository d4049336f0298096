"""Largest whole batches within a limit, for many setups at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.check import FloatArray

Load = Callable[[NDArray[np.int64], FloatArray], FloatArray]
"""What a batch takes of its limit: of the rows given, at one batch each; above 1 it is too large."""

_MOST_ROUNDS = 64
_HALVE_EVERY = 4
"""Every so many rounds the bracket is halved, in case the load is far from a straight line."""


def largest_within(*, load: Load, most: NDArray[Any]) -> FloatArray:
    """Return, per row, the largest whole batch up to `most` whose load is at most 1; 0 if none.

    Loads never fall with the batch and are nearly straight in it, so a straight line through the
    ends of each row's bracket finds the batch in few rounds; rows that are found drop out.

    Parameters
    ----------
    load : callable
        Rows and one batch for each, to loads.
    most : ndarray, shape (N,)
        Whole numbers; rows below 1 have no batch.

    Examples
    --------
    >>> found = largest_within(load=lambda rows, b: b / (10.5 * (rows + 1)), most=np.array([5, 40]))
    >>> found.tolist()
    [5.0, 21.0]
    """
    most = np.asarray(most, dtype=np.float64)
    found = np.zeros(most.shape)
    rows = np.flatnonzero(most >= 1)
    if rows.size == 0:
        return found
    top = load(rows, most[rows])
    found[rows[top <= 1]] = most[rows[top <= 1]]
    rows, top = rows[top > 1], top[top > 1]
    if rows.size == 0:
        return found
    low = np.ones(rows.size)
    least = load(rows, low)
    keep = least <= 1
    rows, low, least, high, top = rows[keep], low[keep], least[keep], most[rows][keep], top[keep]
    side = np.zeros(rows.size)
    for turn in range(1, _MOST_ROUNDS):
        done = high - low <= 1
        if done.any():
            found[rows[done]] = low[done]
            rows, low, least, side = rows[~done], low[~done], least[~done], side[~done]
            high, top = high[~done], top[~done]
        if rows.size == 0:
            break
        guess = low + (1 - least) / (top - least) * (high - low)
        if turn % _HALVE_EVERY == 0:
            guess = (low + high) / 2
        guess = np.clip(np.floor(guess), low + 1, high - 1)
        value = load(rows, guess)
        fits = value <= 1
        # An end that stays twice counts half, so that a bent load doesn't hold it for ever (Illinois).
        top = np.where(fits, np.where(side > 0, (top + 1) / 2, top), value)
        least = np.where(fits, value, np.where(side < 0, (least + 1) / 2, least))
        low, high = np.where(fits, guess, low), np.where(fits, high, guess)
        side = np.where(fits, 1.0, -1.0)
    found[rows] = low
    return found
