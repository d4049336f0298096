"""Sentences of the Levers page, computed from its results. No Streamlit in this file."""

import math

from costmodel.ladder import Ladder, missed_limits
from costmodel.lever_rows import Board, Row
from costmodel.shapley import Interaction, Split
from costmodel.verdict import Verdict, advice
from ui import units

STEP_NAMES = {
    "today": "what you pay",
    "perfect_engine": "same batch, perfect engine",
    "best_here": "best here",
    "wall": "the memory wall",
    "floor": "floor",
}
_NOTHING = 0.0005
"""USD per Mtok that nobody would see."""


def answer(board: Board, rungs: Ladder, said: Verdict) -> str:
    """Return the answer to "move the floor, or approach it?"."""
    if said.level == "unknown":
        return said.sentences[0]
    missed = missed_limits(board)
    if missed:
        first = f"First meet the limit: {' and '.join(missed)}."
        if not math.isfinite(said.ratio):
            return f"{first} Not even a perfect engine meets it here."
        return f"{first} {_opening(board, said, pay='Today you pay')}".strip()
    if not math.isfinite(said.ratio):
        return "Nothing meets the limits here, not even a perfect engine: relax them, or change model or hardware."
    return f"{_opening(board, said)} {_alone(board, said)}".strip()


def _opening(board: Board, said: Verdict, *, pay: str = "You pay") -> str:
    ratio = f"{pay} **{units.times(said.ratio)} times** the best this model and hardware allow"
    if said.level == "limits":
        return f"{ratio}."
    return f"{ratio}: {advice(said.level, said.first, said.moving, board)}."


def strongest(board: Board, said: Verdict) -> Row | None:
    """Return the lever of the kind called for that alone saves most, quality unchanged."""
    kinds = {"stack": {"approaches"}, "close": {"moves"}}.get(said.level, {"approaches", "moves"})
    rows = [
        r
        for r in board.rows
        if r.applies and r.lever.kind in kinds and not r.lever.quality and r.kept.meets
    ]
    best = min(rows, key=lambda r: r.kept.usd_per_mtok, default=None)
    if best is None or best.kept.usd_per_mtok >= board.today.usd_per_mtok - _NOTHING:
        return None
    return best


def _alone(board: Board, said: Verdict) -> str:
    best = strongest(board, said)
    if best is None:
        return "No lever that keeps quality saves anything alone."
    saved = units.usd(board.today.usd_per_mtok - best.kept.usd_per_mtok)
    return f"{best.label} alone saves **{saved}**."


def change(before: float, after: float) -> str:
    """Return a change with its sign; nothing where nobody would see it.

    >>> change(1.5, 1.13), change(1.5, 1.67), change(1.5, 1.5001)
    ('−0.37', '+0.17', '0')
    """
    if math.isnan(after - before):
        return ""
    if abs(after - before) < _NOTHING:
        return "0"
    sign = "+" if after > before else "−"
    return f"{sign}{units.usd(abs(after - before), sign=False)}"


def rechosen(row_usd: float, batch: float, meets: bool) -> str:
    """Return the right column's text: cost and batch, or that no batch meets the limits."""
    if not meets:
        return "no batch meets the limits"
    return f"{units.usd(row_usd)} at batch {units.count(batch)}"


def unfit(board: Board) -> str:
    """Return what doesn't apply, and why, as one sentence."""
    rows = [r for r in board.rows if not r.applies]
    if not rows:
        return ""
    told = " · ".join(f"{r.label} ({r.reason})" for r in rows)
    return f"Does not apply here: {told}."


def alt(board: Board) -> str:
    """Return the range chart in words."""
    rows = [r for r in board.rows if r.applies]
    today, allowed = board.today, board.allowed
    best = min(rows, key=lambda r: r.kept.usd_per_mtok, default=None)
    lower = [r.label for r in rows if r.allowed.best_here < allowed.best_here - _NOTHING]
    largest = ""
    if best is not None and best.kept.usd_per_mtok < today.usd_per_mtok:
        largest = f" Largest saving: {best.label}, to {units.usd(best.kept.usd_per_mtok)}."
    only = f" Only {', '.join(lower)} lower the best possible." if lower else " None lowers the best possible."
    return (
        f"Range chart of {len(rows)} levers. Today {units.usd(allowed.best_here)}–"
        f"{units.usd(today.usd_per_mtok)}.{largest}{only} Table follows."
    )


# Gap --------------------------------------------------------------------------------------------


def gap_alt(rungs: Ladder) -> str:
    """Return the ladder in words."""
    told = ", ".join(f"{STEP_NAMES[r.step]} {units.usd(r.usd_per_mtok)}" for r in rungs.rungs)
    return f"Waterfall of {len(rungs.rungs)} rungs in USD per million output tokens: {told}. Table follows."


def absent(rungs: Ladder) -> str:
    """Return which rungs don't exist here, and why."""
    told = [f"{STEP_NAMES[a.step].capitalize()}: {a.reason}." for a in rungs.absent]
    return " ".join(told)


# Together ---------------------------------------------------------------------------------------


def together(split: Split) -> str:
    """Return what levers pulled together save."""
    if not split.levers:
        return ""
    how = "" if split.exact else f" Shares are sampled, ±{units.usd(split.error)}."
    count = len(split.levers)
    pulled = "Pulled alone, this lever takes" if count == 1 else f"Together {count} levers take"
    return (
        f"{pulled} what you pay from {units.usd(split.before_usd_per_mtok)} to "
        f"{units.usd(split.after_usd_per_mtok)}.{how}"
    )


def interactions(split: Split, labels: dict[str, str]) -> str:
    """Return the two strongest interactions, in words."""
    if not split.interactions:
        return ""
    strong = [p for p in split.interactions[:2] if abs(p.usd_per_mtok) >= _NOTHING]
    if not strong:
        return "No two of them help or spoil each other."
    first = f"Strongest interaction: {_pair(strong[0], labels)} than the two alone add up to."
    return " ".join([first, *(f"Next: {_pair(p, labels)}." for p in strong[1:])])


def _pair(pair: Interaction, labels: dict[str, str]) -> str:
    word = "less" if pair.usd_per_mtok < 0 else "more"
    size = units.usd(abs(pair.usd_per_mtok))
    return f"{labels[pair.first.name]} and {labels[pair.second.name]} save {size} {word} together"


def combine_alt(split: Split, labels: dict[str, str]) -> str:
    """Return waterfall and shares in words."""
    told = ", ".join(
        f"{labels[x.name]} {change(0, -share)}" for x, share in zip(split.levers, split.shares, strict=True)
    )
    return (
        f"Waterfall of {len(split.levers)} levers from {units.usd(split.before_usd_per_mtok)} to "
        f"{units.usd(split.after_usd_per_mtok)}; beside it each one's share whatever the order: {told}. "
        "Table follows."
    )
