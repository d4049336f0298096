"""Numbers as people type them: one, a list, an inclusive range, or log-spaced values."""

import math

import numpy as np

from costmodel.check import FloatArray
from costmodel.errors import InputError, quoted

MOST_VALUES = 100_000
"""The most values that one option may ask for."""


def numbers(text: str, *, option: str) -> FloatArray:
    """Return the numbers of an option's text.

    `1,2,4` is a list, `1:64` the whole numbers of a range with both ends, `1:1024:60` sixty values
    in equal ratios (rounded to whole numbers where both ends are whole, doubles dropped).

    Raises
    ------
    InputError
        For anything else, and for more than 100,000 values.

    Examples
    --------
    >>> numbers("1,2,4", option="--batch").tolist(), numbers("3:5", option="--batch").tolist()
    ([1.0, 2.0, 4.0], [3.0, 4.0, 5.0])
    >>> numbers("1:8:4", option="--batch").tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    parts = [p.strip() for p in text.split(",")]
    found = [_part(part, option) for part in parts]
    total = sum(len(f) for f in found)
    if total > MOST_VALUES:
        msg = f"{option} must be at most {MOST_VALUES:,} values, got {total:,}; ask for fewer"
        raise InputError(msg, field=option)
    return np.concatenate(found)


def number(text: str, *, option: str, whole: bool = False) -> float:
    """Return the one number of an option's text.

    Raises
    ------
    InputError
        For anything else, and for a fraction where `whole` is asked for.

    Examples
    --------
    >>> number("0.9", option="--memory-fraction")
    0.9
    """
    found = numbers(text, option=option)
    if found.size != 1 or (whole and found[0] != round(found[0])):
        kind = "one whole number" if whole else "one number"
        msg = f"{option} must be {kind}, got {quoted(text)}; give one"
        raise InputError(msg, field=option)
    return float(found[0])


def _part(text: str, option: str) -> FloatArray:
    ends = text.split(":")
    if len(ends) == 1:
        return np.asarray([_number(text, option)])
    if len(ends) > 3:
        raise _not_numbers(text, option)
    low, high = _number(ends[0], option), _number(ends[1], option)
    if low > high:
        msg = f"{option} must be a range from low to high, got {quoted(text)}; swap its ends"
        raise InputError(msg, field=option)
    if len(ends) == 2:
        count = math.floor(high) - math.ceil(low) + 1
        if count > MOST_VALUES:
            msg = (
                f"{option} must be at most {MOST_VALUES:,} values, got {count:,}; "
                "add a count, as in 1:1024:60"
            )
            raise InputError(msg, field=option)
        return np.arange(math.ceil(low), math.floor(high) + 1, dtype=np.float64)
    wanted = _number(ends[2], option)
    if wanted != int(wanted) or not 1 <= wanted <= MOST_VALUES or low <= 0:
        msg = (
            f"{option} must be LOW:HIGH:COUNT with LOW above 0 and COUNT a whole number from 1 to "
            f"{MOST_VALUES:,}, got {quoted(text)}"
        )
        raise InputError(msg, field=option)
    values = np.geomspace(low, high, int(wanted))
    if low == int(low) and high == int(high):
        values = np.unique(np.round(values))
    return values


def _number(text: str, option: str) -> float:
    try:
        value = float(text.strip().replace("_", ""))
    except ValueError:
        raise _not_numbers(text, option) from None
    if not math.isfinite(value):
        msg = f"{option} must be finite, got {quoted(text)}; give a number"
        raise InputError(msg, field=option)
    return value


def _not_numbers(text: str, option: str) -> InputError:
    return InputError(
        f"{option} must be a number, a list (1,2,4), a range (1:64) or log-spaced values "
        f"(1:1024:60), got {quoted(text)}",
        field=option,
    )
