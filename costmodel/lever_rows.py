"""Every lever alone: what is paid and the best here, before and after.

At today's batch, and with the batch re-chosen under limits and wall: a lever that shrinks the cache
also raises the wall, and one that speeds a step up lets more sequences meet the limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costmodel.case import Case
from costmodel.levers import Lever, Settings, every, refuses, settled
from costmodel.outcomes import run
from costmodel.perfect import best
from costmodel.setups import Setup, case_of


@dataclass(frozen=True)
class Paid:
    """What a setup costs at one batch. SI units."""

    batch: float
    usd_per_mtok: float
    """All-in."""
    tpot_s: float
    ttft_s: float
    wall: float
    meets: bool
    """Whether the limits are met."""


@dataclass(frozen=True)
class Allowed:
    """The best that model and hardware allow, and the floor. [USD/Mtok]"""

    best_here: float
    """NaN where no batch fits and meets the limits."""
    best_batch: float
    wall: float
    wall_usd_per_mtok: float
    floor: float


@dataclass(frozen=True)
class Row:
    """One lever alone."""

    lever: Lever
    label: str
    reason: str
    """Why it doesn't apply; empty where it does."""
    kept: Paid
    """At today's batch, cut at the wall; what fills the batch is at the batch it fills to."""
    rechosen: Paid
    allowed: Allowed

    @property
    def applies(self) -> bool:
        """Whether it can be pulled here."""
        return not self.reason


@dataclass(frozen=True)
class Board:
    """All levers of a setup, one at a time."""

    setup: Setup
    settings: Settings
    case: Case
    today: Paid
    rechosen: Paid
    binding: str
    """What keeps the re-chosen batch from growing: `memory wall`, `speed limit`, `first token`."""
    allowed: Allowed
    rows: tuple[Row, ...]

    def row(self, name: str) -> Row:
        """Return a lever's row."""
        return next(r for r in self.rows if r.lever.name == name)


def board(
    setup: Setup, settings: Settings | None = None, *, levers: Sequence[Lever] | None = None
) -> Board:
    """Return every lever alone, before and after.

    Parameters
    ----------
    setup : Setup
        Today.
    settings : Settings, optional
        How far each lever goes.
    levers : sequence of Lever, optional
        All when left out.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> found = board(Setup(scenario(weights="fp8", max_tpot_s=1 / 30)))
    >>> found.row("kv").allowed.best_here < found.allowed.best_here, found.row("prefix").reason
    (True, 'no part of the prompt repeats')
    """
    settings = settled(setup, settings or Settings())
    levers = every() if levers is None else tuple(levers)
    reasons = [refuses(lever, setup, settings) for lever in levers]
    setups = [setup]
    place = []
    for lever, reason in zip(levers, reasons, strict=True):
        place.append(0 if reason else len(setups))
        if not reason:
            setups.append(lever.apply(setup, settings))
    cases: list[Case] = []
    case = np.zeros(len(setups), dtype=np.int64)
    for i, one in enumerate(setups):
        found = case_of(one)
        at = next((j for j, c in enumerate(cases) if c is found), len(cases))
        if at == len(cases):
            cases.append(found)
        case[i] = at
    own = np.arange(len(setups), dtype=np.int64)
    filled = np.asarray([s.filled for s in setups])
    twice = run(
        cases=cases,
        setups=setups,
        case=np.concatenate([case, case]),
        setup=np.concatenate([own, own]),
        filled=np.concatenate([filled, np.ones_like(filled)]),
    )
    paid = [
        Paid(
            batch=float(twice.batch[i]),
            usd_per_mtok=float(twice.usd_per_mtok[i]),
            tpot_s=float(twice.tpot_s[i]),
            ttft_s=float(twice.ttft_s[i]),
            wall=float(twice.wall[i]),
            meets=bool(twice.meets[i]),
        )
        for i in range(2 * len(setups))
    ]
    ideal = best(cases=cases, setups=setups, case=case, setup=own)
    allowed = [
        Allowed(
            best_here=float(ideal.usd_per_mtok[i]),
            best_batch=float(ideal.batch[i]),
            wall=float(ideal.wall[i]),
            wall_usd_per_mtok=float(ideal.wall_usd_per_mtok[i]),
            floor=float(ideal.floor_usd_per_mtok[i]),
        )
        for i in range(len(setups))
    ]
    rechosen = paid[len(setups)]
    binding = _binding(setup, rechosen)
    rows = tuple(
        _row(lever, setup, settings, reason, paid[at], paid[len(setups) + at], allowed[at])
        for lever, reason, at in zip(levers, reasons, place, strict=True)
    )
    return Board(
        setup=setup,
        settings=settings,
        case=cases[0],
        today=paid[0],
        rechosen=rechosen,
        binding=binding,
        allowed=allowed[0],
        rows=tuple(_fill_told(r, paid[0], binding) for r in rows),
    )


def _row(
    lever: Lever,
    setup: Setup,
    settings: Settings,
    reason: str,
    kept: Paid,
    rechosen: Paid,
    allowed: Allowed,
) -> Row:
    return Row(lever, lever.label(setup, settings), reason, kept, rechosen, allowed)


def _fill_told(row: Row, today: Paid, binding: str) -> Row:
    """Say from which batch to which the batch is filled, or why it stays."""
    if row.lever.name != "fill" or row.reason:
        return row
    chosen = row.rechosen
    if not chosen.meets:
        reason = "no batch meets the limits"
    elif chosen.batch == today.batch:
        reason = f"batch {today.batch:,.0f} is the most that the {binding} allows"
    else:
        word = "Fill" if chosen.batch > today.batch else "Lower"
        label = f"{word} the batch ({today.batch:,.0f} to {chosen.batch:,.0f}, {binding})"
        return Row(row.lever, label, "", row.kept, chosen, row.allowed)
    return Row(row.lever, row.label, reason, row.kept, chosen, row.allowed)


def _binding(setup: Setup, paid: Paid) -> str:
    """Return what keeps a batch from growing."""
    s = setup.scenario
    if paid.batch >= np.floor(paid.wall):
        return "memory wall"
    speed = np.nan_to_num(paid.tpot_s) / (s.max_tpot_s or np.inf)
    first = paid.ttft_s / (s.max_ttft_s or np.inf)
    return "first token" if first > speed else "speed limit"
