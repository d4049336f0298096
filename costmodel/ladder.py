"""The ladder from what is paid down to the floor: how large each gap is, and who owns it.

today → same batch, perfect engine → best here → the wall → floor. Every rung but today counts only
the unshared part of the prompt, cache bytes once, and from best here on a copy that is kept busy.
Formulas: docs/levers.md, "The ladder".
"""

import math
from dataclasses import dataclass
from typing import Literal

from costmodel.lever_rows import Board
from costmodel.perfect import at_batch_ideal

Step = Literal["today", "perfect_engine", "best_here", "wall", "floor"]

OWNERS: dict[Step, str] = {
    "today": "",
    "perfect_engine": "engine and kernels",
    "best_here": "demand and scheduling",
    "wall": "memory",
    "floor": "architecture and hardware",
}
"""Who owns the gap that leads down to a rung."""

CLOSES: dict[Step, tuple[str, ...]] = {
    "today": (),
    "perfect_engine": ("continuous", "paged", "prefix", "separate", "chunked", "graphs"),
    "best_here": ("fill", "busy"),
    "wall": ("weights", "kv", "heads", "latent", "windows", "context"),
    "floor": ("kv", "heads", "latent", "windows", "cascade", "hardware", "smaller", "speculation"),
}
"""Levers that close a gap, by name; those that apply are told."""

_SAME = 1e-9
"""Two costs closer than this share are one rung."""


@dataclass(frozen=True)
class Rung:
    """One rung."""

    step: Step
    usd_per_mtok: float
    owner: str
    """Of the gap from the rung before."""
    batch: float
    """NaN for the floor, and for what is typed in as paid."""
    levers: tuple[str, ...]
    """Names of levers that close the gap and apply here, largest saving first."""


@dataclass(frozen=True)
class Absent:
    """A rung that doesn't exist here, and why."""

    step: Step
    reason: str


@dataclass(frozen=True)
class Ladder:
    """Rungs from the top, none above the one before."""

    rungs: tuple[Rung, ...]
    absent: tuple[Absent, ...]
    said: tuple[str, ...]
    """What has to be said first: limits that aren't met, assumptions that don't hold."""

    def rung(self, step: Step) -> Rung | None:
        """Return a rung, or None where it is absent."""
        return next((r for r in self.rungs if r.step == step), None)


def ladder(board: Board, *, paid_usd_per_mtok: float | None = None) -> Ladder:
    """Return the ladder of a setup.

    Parameters
    ----------
    board : Board
        Its levers, one at a time.
    paid_usd_per_mtok : float, optional
        What is paid, in place of the modelled cost. [USD/Mtok]

    Examples
    --------
    >>> from costmodel.lever_rows import board
    >>> from costmodel.scenario import scenario
    >>> from costmodel.setups import Setup
    >>> found = ladder(board(Setup(scenario(weights="fp8", max_tpot_s=1 / 30))))
    >>> [r.step for r in found.rungs], [round(r.usd_per_mtok, 2) for r in found.rungs[1:]]
    (['today', 'perfect_engine', 'best_here', 'floor'], [0.7, 0.4, 0.33])
    """
    today, allowed = board.today, board.allowed
    top = today.usd_per_mtok if paid_usd_per_mtok is None else paid_usd_per_mtok
    same = at_batch_ideal(case=board.case, setup=board.setup, batch=max(today.batch, 1.0))
    same /= board.setup.scenario.busy
    rungs = [Rung("today", top, "", math.nan if paid_usd_per_mtok else today.batch, ())]
    absent: list[Absent] = []
    said = list(_said(board))
    if top < same * (1 - _SAME):
        said.append(
            "Today lies below what a perfect engine would cost at this batch: the floor's "
            "assumptions (even routing, no reuse beyond what is declared) don't hold here."
        )
    wanted: tuple[tuple[Step, float, float, str], ...] = (
        ("perfect_engine", same, today.batch, "today costs no more than a perfect engine would"),
        ("best_here", *_best_here(board)),
        ("wall", *_wall(board)),
        ("floor", allowed.floor, math.nan, "what is paid lies below it"),
    )
    for step, usd, batch, reason in wanted:
        _add(board, rungs, absent, step, usd, batch, reason)
    return Ladder(tuple(rungs), tuple(absent), tuple(said))


def _add(
    board: Board,
    rungs: list[Rung],
    absent: list[Absent],
    step: Step,
    usd: float,
    batch: float,
    reason: str,
) -> None:
    """Add a rung where it lies below the last one; say why it is absent where it doesn't."""
    if math.isnan(rungs[0].usd_per_mtok):
        absent.append(Absent(step, "no price is known, so nothing has a cost"))
    elif step == "floor" and abs(usd - rungs[-1].usd_per_mtok) <= _SAME * usd:
        # Where arithmetic decides, the last rung may stand on the floor itself.
        rungs.append(Rung(step, min(usd, rungs[-1].usd_per_mtok), OWNERS[step], batch, _levers(board, step)))
    elif not usd < rungs[-1].usd_per_mtok * (1 - _SAME):
        absent.append(Absent(step, reason))
    else:
        rungs.append(Rung(step, usd, OWNERS[step], batch, _levers(board, step)))


def _best_here(board: Board) -> tuple[float, float, str]:
    """Return cost and batch of best here, and why it may be absent."""
    today, allowed = board.today, board.allowed
    if allowed.wall < 1:
        return math.nan, math.nan, "the weights alone don't fit"
    if allowed.best_batch < 1:
        return math.nan, math.nan, "no batch meets the limits, not even on a perfect engine"
    if today.batch > allowed.best_batch:
        busy = board.setup.scenario.busy
        same = at_batch_ideal(case=board.case, setup=board.setup, batch=today.batch)
        return same, today.batch, (
            f"batch {today.batch:,.0f} is more than a perfect engine could serve within the limits"
            if busy == 1 else "the copy is busy already"
        )  # fmt: skip
    return allowed.best_here, allowed.best_batch, "the batch is as large as it can be already"


def _wall(board: Board) -> tuple[float, float, str]:
    """Return cost and batch of the wall, and why it may be absent."""
    allowed = board.allowed
    if allowed.wall < 1:
        return math.nan, math.nan, "the weights alone don't fit"
    speed = board.setup.scenario.max_tpot_s
    within = f" within {1 / speed:.4g} tok/s" if speed else ""
    reached = "today's batch is at the wall"
    if allowed.best_batch >= allowed.wall:
        reached = f"a perfect engine reaches the wall{within}"
    return allowed.wall_usd_per_mtok, allowed.wall, reached


def _levers(board: Board, step: Step) -> tuple[str, ...]:
    saving = {
        r.lever.name: board.rechosen.usd_per_mtok - r.rechosen.usd_per_mtok
        for r in board.rows
        if r.applies
    }
    if step in {"wall", "floor"}:
        attribute = "wall_usd_per_mtok" if step == "wall" else "floor"
        saving = {
            r.lever.name: getattr(board.allowed, attribute) - getattr(r.allowed, attribute)
            for r in board.rows
            if r.applies
        }
    if step == "best_here":
        saving = {
            r.lever.name: board.today.usd_per_mtok - r.kept.usd_per_mtok
            for r in board.rows
            if r.applies
        }
    useful = [name for name in CLOSES[step] if saving.get(name, 0.0) > 0]
    return tuple(sorted(useful, key=lambda name: -saving[name]))


def _said(board: Board) -> list[str]:
    """Return what has to be said before the rungs."""
    s, today = board.setup.scenario, board.today
    said = []
    if today.wall < 1:
        said.append("The model doesn't fit: figures are as if it did.")
    elif s.batch > today.wall:
        said.append(
            f"Batch {s.batch:,.0f} doesn't fit: figures are of {today.batch:,.0f}, the most that does."
        )
    missed = missed_limits(board)
    if missed:
        said.append(f"First meet the limit: {' and '.join(missed)}.")
    return said


def missed_limits(board: Board) -> list[str]:
    """Return the limits that today misses, in words."""
    s, today = board.setup.scenario, board.today
    missed = []
    if s.max_tpot_s is not None and today.tpot_s > s.max_tpot_s * (1 + _SAME):
        missed.append(
            f"{1 / today.tpot_s:.3g} tok/s for each user where {1 / s.max_tpot_s:.4g} are asked for"
        )
    if s.max_ttft_s is not None and today.ttft_s > s.max_ttft_s * (1 + _SAME):
        missed.append(
            f"first token after {today.ttft_s:.2g} s where {s.max_ttft_s:.3g} s are asked for"
        )
    return missed
