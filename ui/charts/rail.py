"""The rail of names above a figure: which side of its rule each name stands on, and in which lane.

A name stands right of its rule. Where the next rule is near it goes left; where that is taken, to a
second lane above. There are never more than two lanes: what finds no place gets a number, and its
name stands in the note under the figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

NEAR_PX = 110.0
"""A next rule closer than this pushes a name to the left of its own."""
PX_PER_CHARACTER = 6.9
"""Mean width of a character at 13 px, a little too wide rather than too narrow."""
TITLE = -1e9
"""Where the title's place begins: rules stop under it, so it may stand under a name."""
GAP_PX = 6.0
"""Between a name and its rule, and between two names."""
CIRCLED = "①②③④⑤⑥⑦⑧⑨"


@dataclass(frozen=True)
class Mark:
    """A rule that wants its name on the rail."""

    key: str
    text: str
    x_px: float


@dataclass(frozen=True)
class Placed:
    """Where a name stands: right or left of its rule, lane 0 or 1, or only a number in lane 0."""

    key: str
    side: str
    """`right`, `left`, or `number`."""
    lane: int
    number: int = 0

    @property
    def circled(self) -> str:
        """The number in a circle, where it is one."""
        return CIRCLED[self.number - 1] if self.number else ""


def width_px(text: str) -> float:
    """Return about how wide a name is at 13 px."""
    return len(text) * PX_PER_CHARACTER


def place(
    marks: Sequence[Mark], *, width: float, taken_px: float = 0.0, right_px: float = 0.0
) -> tuple[Placed, ...]:
    """Return the places of names over a rail.

    Parameters
    ----------
    marks : sequence of Mark
        In any order.
    width : float
        Of the rail. [px]
    taken_px : float
        How much of lane 0, from the left, the figure's own title takes. [px]
    right_px : float
        How far a name may stand out over the right end. [px]

    Examples
    --------
    >>> rules = [Mark("cache", "cache = weights 108", 640), Mark("limit", "30 tok/s limit 123", 660)]
    >>> [(p.key, p.side, p.lane) for p in place(rules, width=930)]
    [('cache', 'left', 0), ('limit', 'right', 0)]
    """
    ordered = sorted(marks, key=lambda mark: mark.x_px)
    lanes: tuple[list[tuple[float, float]], ...] = ([(TITLE, taken_px)] if taken_px else [], [])
    rail = _Rail(lanes, width + right_px)
    placed = []
    for at, mark in enumerate(ordered):
        near = at + 1 < len(ordered) and ordered[at + 1].x_px - mark.x_px < NEAR_PX
        sides = ("left", "right") if near else ("right", "left")
        later = [m.x_px for m in ordered[at + 1 :]]
        choice = rail.first(mark, sides, later)
        if choice is None:
            number = 1 + sum(p.side == "number" for p in placed)
            placed.append(Placed(mark.key, "number", 0, number))
            rail.lanes[0].append((mark.x_px - 8, mark.x_px + 8))
            continue
        placed.append(Placed(mark.key, *choice))
    return tuple(placed)


@dataclass(frozen=True)
class _Rail:
    lanes: tuple[list[tuple[float, float]], ...]
    end: float

    def first(self, mark: Mark, sides: tuple[str, str], later: list[float]) -> tuple[str, int] | None:
        """Return the first free side and lane, and take it."""
        # A name in lane 0 may not cover where a later rule of lane 1 comes up, so near ones go left.
        near = sides[0] == "left"
        tries = [("left", 0), (sides[0], 1), (sides[1], 1)] if near else [
            ("right", 0), ("left", 0), ("right", 1), ("left", 1)
        ]  # fmt: skip
        for side, lane in tries:
            box = _box(mark, side)
            if not self._free(box, lane) or (lane == 1 and self._covered(mark.x_px)):
                continue
            if lane == 0 and any(box[0] < x < box[1] for x in later):
                continue
            self.lanes[lane].append(box)
            return side, lane
        return None

    def _free(self, box: tuple[float, float], lane: int) -> bool:
        inside = box[0] >= 0 and box[1] <= self.end
        return inside and all(box[1] + GAP_PX <= low or box[0] - GAP_PX >= high for low, high in self.lanes[lane])

    def _covered(self, x_px: float) -> bool:
        """Whether a rule that runs up to lane 1 would cut through a name of lane 0."""
        return any(low < x_px < high for low, high in self.lanes[0] if low > TITLE)


def _box(mark: Mark, side: str) -> tuple[float, float]:
    wide = width_px(mark.text) + GAP_PX
    return (mark.x_px, mark.x_px + wide) if side == "right" else (mark.x_px - wide, mark.x_px)
