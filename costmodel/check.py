"""Checks of numeric arguments: the same grammar of error for every function."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel.errors import InputError

FloatArray = NDArray[np.float64]


def _named(name: str, rule: str, array: FloatArray, bad: NDArray[np.bool_], advice: str) -> InputError:
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    where = f" at index {index}" if array.ndim else ""
    tail = f"; {advice}" if advice else ""
    return InputError(f"{name} must be {rule}, got {array[index]:g}{where}{tail}", field=name)


def within(
    low: float,
    high: float = float("inf"),
    *,
    above: bool = False,
    advice: str = "",
    **named: ArrayLike | Any,
) -> list[FloatArray]:
    """Return the arguments as float arrays, or name the first element outside the bounds.

    Parameters
    ----------
    low, high : float
        The bounds; `high` is included, `low` is unless `above` is true. An infinite `high`
        still refuses an infinite value.
    above : bool
        Whether values must lie strictly above `low`.
    advice : str
        What to do, added to the sentence.
    **named : array_like
        The arguments under the names that the sentence uses.

    Raises
    ------
    InputError
        Names the argument, the rule, the value and, in an array, where it stands.

    Examples
    --------
    >>> within(0, above=True, batch=[1, 0])
    Traceback (most recent call last):
    ...
    costmodel.errors.InputError: batch must be > 0, got 0 at index (1,)
    """
    finite = np.isinf(high)
    sign = ">" if above else ">="
    both = f"above {low:g} and at most {high:g}" if above else f"between {low:g} and {high:g}"
    rule = f"{sign} {low:g}" if finite else both
    arrays = []
    for name, value in named.items():
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            msg = f"{name} must be a number {rule}, got {value!r:.60}"
            raise InputError(msg, field=name) from None
        with np.errstate(invalid="ignore"):
            good = ((array > low) if above else (array >= low)) & (array <= high) & np.isfinite(array)
        if not good.all():
            raise _named(name, rule, array, ~good, advice)
        arrays.append(array)
    return arrays
