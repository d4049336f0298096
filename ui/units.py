"""Everything that turns SI into what people read, and what people type into SI.

No other file of the pages multiplies by 1,000 or divides by 100. Money has one form everywhere, so
that a sentence, a figure and a table can't show one cost with different digits.
"""

import math
from functools import lru_cache

MS_PER_S = 1e3
PERCENT = 100.0
BYTES_PER_GB = 1e9
BYTES_PER_TB = 1e12
FLOPS_PER_TFLOPS = 1e12
TOKENS_PER_MTOK = 1e6
MISSING = "–"
"""What stands for a figure that isn't known."""


def _decimals(value: float) -> int:
    """Return the decimals of money: 3 under $0.10, 2 under $10, 1 under $100, none above."""
    size = abs(value)
    for limit, decimals in ((0.1, 3), (10.0, 2), (100.0, 1)):
        if round(size, decimals) < limit:
            return decimals
    return 0


@lru_cache(maxsize=4096)
def usd(value: float | None, *, sign: bool = True) -> str:
    """Return money as it stands everywhere.

    >>> usd(1.1876), usd(0.0339), usd(49.13), usd(1234.5), usd(float("nan")), usd(9.996)
    ('$1.19', '$0.034', '$49.1', '$1,234', '–', '$10.0')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    mark = "$" if sign else ""
    minus = "−" if value < 0 else ""
    return f"{minus}{mark}{abs(value):,.{_decimals(value)}f}"


def usd_range(low: float | None, high: float | None) -> str:
    """Return a band of money, the sign once.

    >>> usd_range(1.03, 1.34)
    '$1.03–1.34'
    """
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return MISSING
    return f"{usd(low)}–{usd(high, sign=False)}"


def usd_sum(total: float, part: float) -> tuple[str, str, str]:
    """Return a sum and its two parts as money, so that the digits shown add up.

    >>> usd_sum(1.6618, 1.2574)
    ('$1.66', '$1.26', '$0.40')
    """
    decimals = _decimals(total) if math.isfinite(total) else 2
    rest = total - part
    if math.isfinite(total) and decimals == _decimals(part) == _decimals(rest):
        rest = round(total, decimals) - round(part, decimals)
        return usd(total), usd(part), f"${rest:,.{decimals}f}"
    return usd(total), usd(part), usd(rest)


def count(value: float | None, *, decimals: int = 0) -> str:
    """Return a number with thousands separated; an infinite one is a word.

    >>> count(1500), count(2.5, decimals=1), count(float("inf"))
    ('1,500', '2.5', 'unlimited')
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "unlimited"
    return f"{value:,.{decimals}f}"


def plain(value: float) -> str:
    """Return a number as the address writes it: no separators, no trailing zeros.

    >>> plain(64.0), plain(2.5), plain(0.1 + 0.2), plain(1e6)
    ('64', '2.5', '0.3', '1000000')
    """
    short = f"{value:.12g}"
    return str(int(value)) if float(short) == int(float(short)) else short


def tokens_per_s(seconds: float) -> float:
    """Return the speed of one user for the time between two of their tokens. [tokens/s]

    >>> round(tokens_per_s(1 / 30), 6)
    30.0
    """
    return 1.0 / seconds


def seconds_per_token(tokens_per_s: float) -> float:
    """Return the time between two tokens for a speed. [s]"""
    return 1.0 / tokens_per_s


def ms(seconds: float) -> float:
    """Return seconds as milliseconds."""
    return seconds * MS_PER_S


def seconds(milliseconds: float) -> float:
    """Return milliseconds as seconds."""
    return milliseconds / MS_PER_S


def percent(share: float) -> float:
    """Return a fraction as percent, without the dust of floating point; whole ones as integers.

    >>> percent(0.07), percent(0.7), percent(0.614)
    (7, 70, 61.4)
    """
    value = round(share * PERCENT, 9)
    return int(value) if value == int(value) else value


def fraction(percent: float) -> float:
    """Return percent as a fraction."""
    return percent / PERCENT


@lru_cache(maxsize=4096)
def speed(tokens_per_s: float) -> str:
    """Return a speed with its unit: two digits are enough below 10.

    >>> speed(45.2), speed(4.53)
    ('45 tok/s', '4.5 tok/s')
    """
    if math.isnan(tokens_per_s):
        return MISSING
    return f"{count(tokens_per_s, decimals=0 if tokens_per_s >= 9.95 else 1)} tok/s"


@lru_cache(maxsize=4096)
def duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> duration(0.0171), duration(0.104), duration(2.5), duration(0.00042)
    ('17.1 ms', '0.10 s', '2.5 s', '0.42 ms')
    """
    if math.isnan(seconds):
        return MISSING
    if seconds < 0.1:
        value = ms(seconds)
        return f"{value:.{2 if value < 1 else 1 if value < 99.5 else 0}f} ms"
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:,.1f} s"


@lru_cache(maxsize=4096)
def gb(size_bytes: float, *, decimals: int | None = None) -> str:
    """Return bytes as decimal gigabytes; digits after the point only where they tell something.

    >>> gb(70.55e9), gb(0.655e9), gb(5.24e9)
    ('71 GB', '0.66 GB', '5.2 GB')
    """
    if math.isnan(size_bytes):
        return MISSING
    value = size_bytes / BYTES_PER_GB
    if decimals is None:
        decimals = 0 if value >= 9.95 else 1 if value >= 0.995 else 2
    return f"{value:,.{decimals}f} GB"


@lru_cache(maxsize=4096)
def share(part: float, *, decimals: int = 0) -> str:
    """Return a fraction as percent with its sign.

    >>> share(0.355)
    '36 %'
    """
    return MISSING if math.isnan(part) else f"{part * PERCENT:.{decimals}f} %"


def times(ratio: float) -> str:
    """Return a ratio with two figures, three from 100 on.

    >>> times(5.46), times(41.3), times(226.4)
    ('5.5', '41', '226')
    """
    if not math.isfinite(ratio):
        return MISSING
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"
