"""The verdict on a setup in words: how far above its best, who owns that, what to do first.

Thresholds: at least twice the best here is a matter of the stack; under 1.3 times only the floor is
left; between the two both count. "First" is greedy: of the levers that approach, each time the one
that then costs least, limits first.
"""

import math
from dataclasses import dataclass
from typing import Literal

from costmodel.coalitions import price
from costmodel.ladder import Ladder, Rung, missed_limits
from costmodel.lever_rows import Board, Row
from costmodel.money import times, usd

STACK, CLOSE = 2.0, 1.3
"""From the first ratio on the stack is the problem; below the second only the floor is left."""
ACTIONS = 3
MTOK_PER_MONTH = 1000.0
"""Output tokens a month where nobody says how many. [Mtok]"""

Level = Literal["limits", "stack", "both", "close", "unknown"]


@dataclass(frozen=True)
class Action:
    """One thing to do, after those before it."""

    name: str
    label: str
    usd_per_mtok: float
    """Cost once it is done."""
    saves_usd_per_mtok: float
    saves_usd_per_month: float
    batch: float


@dataclass(frozen=True)
class Verdict:
    """What to do about what is paid."""

    level: Level
    ratio: float
    """What is paid over the best here."""
    owner: str
    """Of the largest part of that gap."""
    owner_share: float
    first: tuple[Action, ...]
    moving: Row | None
    """The lever that moves which would do most, training aside."""
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(self.sentences)


def verdict(board: Board, rungs: Ladder, *, mtok_per_month: float = MTOK_PER_MONTH) -> Verdict:
    """Return the verdict on a setup.

    Parameters
    ----------
    board : Board
        Its levers, one at a time.
    rungs : Ladder
        Its ladder.
    mtok_per_month : float
        Output tokens a month. [Mtok]
    """
    top = rungs.rungs[0].usd_per_mtok
    ratio = top / board.allowed.best_here
    missed = missed_limits(board)
    level = _level(ratio, bool(missed))
    owner, share = _owner(rungs)
    first = first_things(board, mtok_per_month=mtok_per_month)
    moving = _moving(board)
    said = [
        s
        for s in (
            *rungs.said,
            _opening(level, ratio, first, moving, board),
            _owned(rungs, owner, share),
            _to_do(first),
            _instead(board, moving, mtok_per_month),
        )
        if s
    ]
    return Verdict(level, ratio, owner, share, first, moving, tuple(said))


def _level(ratio: float, missed: bool) -> Level:
    if not math.isfinite(ratio):
        return "limits" if missed else "unknown"
    if missed:
        return "limits"
    return "stack" if ratio >= STACK else "close" if ratio < CLOSE else "both"


def _owner(rungs: Ladder) -> tuple[str, float]:
    """Return who owns most of the gap above best here, and which share of it."""
    gaps: dict[str, float] = {}
    for before, after in zip(rungs.rungs, rungs.rungs[1:], strict=False):
        if after.step in {"perfect_engine", "best_here"}:
            gaps[after.owner] = before.usd_per_mtok - after.usd_per_mtok
    total = sum(gaps.values())
    if total <= 0:
        return "", math.nan
    owner = max(gaps, key=lambda name: gaps[name])
    return owner, gaps[owner] / total


def first_things(board: Board, *, mtok_per_month: float = MTOK_PER_MONTH) -> tuple[Action, ...]:
    """Return the first three levers that approach, each after those before it."""
    levers = [r.lever for r in board.rows if r.applies and r.lever.kind == "approaches"]
    if not levers:
        return ()
    # Levers of one slot exclude each other: the dearer of them steps back.
    levers.sort(key=lambda x: board.row(x.name).rechosen.usd_per_mtok)
    found = price(levers, board.setup, board.settings)
    cost, meets, batch = found.usd_per_mtok, found.outcomes.meets, found.outcomes.batch
    done: list[Action] = []
    mask = 0
    while len(done) < ACTIONS:
        open_ = [i for i in range(len(found.levers)) if not mask >> i & 1]
        if not open_:
            break
        best = min(open_, key=lambda i: (not meets[mask | 1 << i], cost[mask | 1 << i]))
        then = mask | 1 << best
        saved = float(cost[mask] - cost[then])
        # A limit that is met at last is worth its price.
        if saved <= 0 and not (meets[then] and not meets[mask]):
            break
        row = board.row(found.levers[best].name)
        label = row.label
        if row.lever.name == "fill" and batch[then] != row.rechosen.batch:
            # After other levers more fit: the label's own figures would be of today.
            label = f"Fill the batch (to {batch[then]:,.0f})"
        done.append(
            Action(row.lever.name, label, float(cost[then]), saved, saved * mtok_per_month, float(batch[then]))
        )
        mask = then
    return tuple(done)


def _moving(board: Board) -> Row | None:
    """Return the lever that moves which leaves least to pay, batch re-chosen; training aside."""
    rows = [
        r
        for r in board.rows
        if r.applies
        and r.lever.kind == "moves"
        and r.rechosen.meets
        and r.rechosen.usd_per_mtok < board.rechosen.usd_per_mtok
    ]
    ready = [r for r in rows if r.lever.needs != "training" and r.lever.name != "smaller"]
    return min(ready or rows, key=lambda r: r.rechosen.usd_per_mtok, default=None)


# In words ---------------------------------------------------------------------------------------


def advice(level: Level, first: tuple[Action, ...], moving: Row | None, board: Board) -> str:
    """Return what a ratio calls for."""
    if level == "stack":
        return "fix the stack first"
    if level == "close":
        return "you are close; only the floor is left"
    stack = sum(a.saves_usd_per_mtok for a in first)
    moved = 0.0
    if moving is not None:
        moved = board.rechosen.usd_per_mtok - moving.rechosen.usd_per_mtok
    if stack >= moved:
        return "fix the stack first, then change the model or hardware"
    return "change the model or hardware first, then fix the stack"


def _opening(
    level: Level, ratio: float, first: tuple[Action, ...], moving: Row | None, board: Board
) -> str:
    if not math.isfinite(ratio):
        if math.isnan(board.today.usd_per_mtok):
            return f"No price is known: {board.case.price_reasons[0]}."
        return "Nothing meets the limits here, not even a perfect engine."
    said = advice("both" if level == "limits" and ratio < STACK else level, first, moving, board)
    if level == "limits":
        said = "but first meet the limit"
    opening = f"You pay {times(ratio)} times the best this model and hardware allow"
    return f"{opening}{', ' if level == 'limits' else ': '}{said}."


def _owned(rungs: Ladder, owner: str, share: float) -> str:
    if not owner:
        return ""
    top, best = rungs.rungs[0], _rung(rungs)
    part = f"{share:.0%}".replace("%", " %")
    return (
        f"Of the {usd(top.usd_per_mtok - best.usd_per_mtok)} above it, {part} belongs to {owner}."
    )


def _rung(rungs: Ladder) -> Rung:
    """Return best here, or the last rung above it."""
    found = [r for r in rungs.rungs if r.step in {"today", "perfect_engine", "best_here"}]
    return found[-1]


def _to_do(first: tuple[Action, ...]) -> str:
    if not first:
        return ""
    parts = [f"{a.label}: {_returns(a)}" for a in first]
    return f"First {'three things' if len(parts) == 3 else 'things'} to do: {'; '.join(parts)}."


def _returns(action: Action) -> str:
    if action.saves_usd_per_mtok <= 0:
        return f"costs {usd(-action.saves_usd_per_mtok)} per Mtok more, and meets the limits"
    month = usd(action.saves_usd_per_month)
    return f"saves {usd(action.saves_usd_per_mtok)} per Mtok, {month} a month"


def _instead(board: Board, moving: Row | None, mtok_per_month: float) -> str:
    if moving is None:
        return ""
    saved = (board.rechosen.usd_per_mtok - moving.rechosen.usd_per_mtok) * mtok_per_month
    quality = "; it changes quality" if moving.lever.quality else ""
    return (
        f"Moving instead: {moving.label} takes the best here from "
        f"{usd(board.allowed.best_here)} to {usd(moving.allowed.best_here)}, and what you pay, batch "
        f"re-chosen, from {usd(board.rechosen.usd_per_mtok)} to {usd(moving.rechosen.usd_per_mtok)} "
        f"({usd(saved)} a month){quality}."
    )
