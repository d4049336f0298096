"""What the cost curve's figures share: rows, axes over batch and money, ticks, text in a figure."""

import math
from collections.abc import Sequence
from typing import Any

from ui import theme

Part = dict[str, Any]

MARGIN = {"l": 60, "r": 18, "t": 46, "b": 40}
MARGIN_NARROW = {"l": 46, "r": 10, "t": 40, "b": 34}
NOMINAL_PX, NOMINAL_NARROW_PX = 850.0, 310.0
"""Width of the plotted area that texts are placed for; a desk's is wider, so they never collide."""
SMALL_PX = 12


def rows(*heights: float, gap: float) -> list[tuple[float, float]]:
    """Return the domains of rows from the top, `gap` (a share of the whole) between them.

    >>> [(round(low, 2), round(high, 2)) for low, high in rows(0.75, 0.25, gap=0.2)]
    [(0.4, 1.0), (0.0, 0.2)]
    """
    room = 1 - gap * (len(heights) - 1)
    found, top = [], 1.0
    for height in heights:
        low = top - room * height / sum(heights)
        found.append((max(low, 0.0), top))
        top = low - gap
    return found


def dollar_ticks(low: float, high: float, *, most: int = 11) -> list[float]:
    """Return 1-2-5 ticks between two costs; 1-5, 1s alone, or every other power, where they are many.

    >>> dollar_ticks(0.15, 60)
    [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    """
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for steps, stride in (((1, 2, 5), 1), ((1, 5), 1), ((1,), 1), ((1,), 2), ((1,), 3)):
        ticks = [
            float(f"{step}e{power}") for power in powers if power % stride == 0 for step in steps
            if low <= float(f"{step}e{power}") <= high
        ]  # fmt: skip
        if len(ticks) <= most:
            return ticks
    return ticks


def dollar_text(value: float) -> str:
    """Return a tick's text: "$0.5", "$20".

    >>> dollar_text(0.5), dollar_text(20.0), dollar_text(1000.0), dollar_text(0.005)
    ('$0.5', '$20', '$1,000', '$0.005')
    """
    return f"${value:,.0f}" if value >= 1 else f"${value:.6f}".rstrip("0")


def money_axis(low: float, high: float, *, most: int = 11, **changes: Any) -> Part:
    """Return a logarithmic axis in dollars, with at most so many ticks."""
    ticks = dollar_ticks(low, high, most=most)
    return theme.axis(
        type="log", range=[math.log10(low), math.log10(high)], tickvals=ticks,
        ticktext=[dollar_text(tick) for tick in ticks], **changes,
    )  # fmt: skip


def batch_axis(largest: float, *, anchor: str, narrow: bool, **changes: Any) -> Part:
    """Return the logarithmic axis over batch: powers of two, of four where it is narrow."""
    stride = 2 if narrow else 1
    doublings = int(math.log2(largest) + 1e-9)
    ticks = [2**k for k in range(0, doublings + 1, stride)]
    return theme.axis(
        type="log", range=[0, math.log10(largest)], tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks],
        anchor=anchor, showspikes=True, spikemode="across", spikesnap="cursor", spikethickness=1,
        spikedash="solid", spikecolor=theme.role("muted"),
        title={"text": "sequences decoded together (batch)", "standoff": 6, "font": {"size": theme.FONT_PX}},
        **changes,
    )  # fmt: skip


def text(words: str, *, colour: str = "ink", size: int = theme.FONT_PX, **where: Any) -> Part:
    """Return words that stand in a figure, without an arrow."""
    return {
        "text": words,
        "showarrow": False,
        "font": {"color": theme.role(colour), "size": size},
        **where,
    }


def row_title(words: str, top: float) -> Part:
    """Return the title of a row, above its left end."""
    return text(
        f"<b>{words}</b>", xref="paper", yref="paper", x=0, y=top, xanchor="left", yanchor="bottom", xshift=-46
    )


def rule(
    key: str, x: float, *, colour: str, dash: str, spans: Sequence[tuple[float, float]], width: float = 1.5
) -> list[Part]:
    """Return an upright rule at a batch, through the given stretches of the figure's height."""
    line = {"color": theme.role(colour), "dash": dash, "width": width}
    return [
        {"name": f"rule {key}", "type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": y0, "y1": y1,
         "line": line}
        for y0, y1 in spans
    ]  # fmt: skip
