"""Where words go in a figure so that they cover neither each other nor the lines they name.

Each label has candidates in order of preference; the least covered one wins. Sizes are estimates
for the nominal width that texts are placed for: a desk's is wider.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ui.charts.rail import PX_PER_CHARACTER

LINE_PX = 17.0
PAD_PX = 4.0
COVERED, OUTSIDE, CROSSED, LATER = 1000.0, 400.0, 3.0, 0.25
"""Costs of covering a label, of leaving the plot, of each 6 px of line under it, and of each step down
in preference."""


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of the plotted area; y grows upwards."""

    left: float
    low: float
    right: float
    high: float

    def overlaps(self, other: "Box") -> bool:
        """Whether two rectangles share any area."""
        return (
            self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high
        )


@dataclass(frozen=True)
class Spot:
    """A candidate: the label's anchor point and its place relative to that. [px]"""

    x: float
    y: float
    dx: float
    dy: float
    xanchor: str = "left"
    yanchor: str = "middle"

    def box(self, width: float, height: float) -> Box:
        """Return the rectangle that a label of a size takes here."""
        left = self.x + self.dx - {"left": 0.0, "center": 0.5, "right": 1.0}[self.xanchor] * width
        low = self.y + self.dy - {"bottom": 0.0, "middle": 0.5, "top": 1.0}[self.yanchor] * height
        return Box(left - PAD_PX, low - PAD_PX, left + width + PAD_PX, low + height + PAD_PX)


def size(words: str) -> tuple[float, float]:
    """Return about how wide and high a label is, its markup left out. [px]

    >>> size("<b>ab</b><br>c")[1]
    34.0
    """
    rows = [re.sub(r"<[^>]+>", "", row) for row in words.split("<br>")]
    return max(map(len, rows)) * PX_PER_CHARACTER, len(rows) * LINE_PX


def within(spot: Spot, words: str, *, width: float, height: float) -> Spot:
    """Return a spot moved so that its label stays inside the plotted area."""
    box = spot.box(*size(words))
    right = max(0.0, -box.left) - max(0.0, box.right - width)
    up = max(0.0, -box.low) - max(0.0, box.high - height)
    return replace(spot, dx=spot.dx + right, dy=spot.dy + up)


class Board:
    """A plotted area that labels are put on one after another, the most important first."""

    def __init__(self, width: float, height: float, lines: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        self.width, self.height = width, height
        self.x = np.concatenate([x for x, _ in lines]) if lines else np.zeros(0)
        self.y = np.concatenate([y for _, y in lines]) if lines else np.zeros(0)
        self.taken: list[Box] = []

    def put(self, words: str, spots: Sequence[Spot], *, most: float = float("inf")) -> Spot | None:
        """Take the best spot for a label; None where each costs more than `most` or there is none."""
        width, height = size(words)
        best: tuple[float, Spot, Box] | None = None
        for order, spot in enumerate(spots):
            box = spot.box(width, height)
            cost = self._cost(box) + LATER * order
            if best is None or cost < best[0]:
                best = (cost, spot, box)
        if best is None or best[0] > most:
            return None
        self.taken.append(best[2])
        return best[1]

    def take(self, box: Box) -> None:
        """Keep a rectangle free of labels."""
        self.taken.append(box)

    def _cost(self, box: Box) -> float:
        covered = sum(box.overlaps(other) for other in self.taken)
        outside = box.left < 0 or box.low < 0 or box.right > self.width or box.high > self.height
        inside = (self.x > box.left) & (self.x < box.right) & (self.y > box.low) & (self.y < box.high)
        return COVERED * covered + OUTSIDE * outside + CROSSED * float(inside.sum())


def spread(values: Sequence[float], *, apart: float, low: float, high: float) -> list[float]:
    """Return positions near the wanted ones, in their order, at least `apart` from each other.

    >>> spread([10.0, 12.0, 50.0], apart=10, low=0, high=100)
    [6.0, 16.0, 50.0]
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    groups: list[tuple[float, list[int]]] = []  # centre, members
    for i in order:
        groups.append((values[i], [i]))
        while len(groups) > 1 and _start(groups[-1], apart) < _end(groups[-2], apart) + apart:
            _, members = groups.pop()
            _, before = groups.pop()
            merged = before + members
            groups.append((float(np.mean([values[j] for j in merged])), merged))
    found = [0.0] * len(values)
    for centre, members in groups:
        span = apart * (len(members) - 1)
        first = min(max(centre - span / 2, low), max(high - span, low))
        for k, i in enumerate(members):
            found[i] = first + apart * k
    return found


def _start(group: tuple[float, list[int]], apart: float) -> float:
    return group[0] - apart * (len(group[1]) - 1) / 2


def _end(group: tuple[float, list[int]], apart: float) -> float:
    return group[0] + apart * (len(group[1]) - 1) / 2
