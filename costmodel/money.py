"""Money and ratios as sentences of the engine write them: the same digits as on every page."""

import math


def usd(value: float) -> str:
    """Return US dollars: 3 decimals under $0.10, 2 under $10, 1 under $100, none above.

    >>> usd(1.1876), usd(0.0339), usd(49.13), usd(1234.5), usd(float("nan"))
    ('$1.19', '$0.034', '$49.1', '$1,234', '–')
    """
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    decimals = next((d for limit, d in ((0.1, 3), (10.0, 2), (100.0, 1)) if round(size, d) < limit), 0)
    return f"{'−' if value < 0 else ''}${size:,.{decimals}f}"


def times(ratio: float) -> str:
    """Return a ratio with two figures, three from 100 on.

    >>> times(5.46), times(41.3)
    ('5.5', '41')
    """
    if not math.isfinite(ratio):
        return "–"
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"
