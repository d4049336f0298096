"""All combinations of levers, priced together.

A combination is a bit mask over the levers. Those that change the case (model, dtypes, accelerator,
drafting) and those that bring other numbers (lengths, reuse, slots) are resolved apart, once per
combination of their own kind; every combination of all is then a row of two places.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.case import Case
from costmodel.errors import InputError
from costmodel.lever_stacks import Index
from costmodel.levers import Lever, Settings, first_of_slots, refuses
from costmodel.outcomes import Outcomes, run
from costmodel.setups import Setup, case_of


@dataclass(frozen=True)
class Coalitions:
    """Combinations of levers from one setup."""

    base: Setup
    levers: tuple[Lever, ...]
    settings: Settings
    masks: NDArray[np.int64]
    """Of each row: bit i is lever i."""
    outcomes: Outcomes

    @property
    def usd_per_mtok(self) -> NDArray[np.float64]:
        """All-in cost of each combination."""
        return self.outcomes.usd_per_mtok


def price(
    levers: Sequence[Lever],
    setup: Setup,
    settings: Settings,
    *,
    masks: NDArray[np.int64] | None = None,
    rechosen: bool = False,
) -> Coalitions:
    """Return what combinations of levers cost.

    Parameters
    ----------
    levers : sequence of Lever
        Of a slot only the first counts.
    setup : Setup
        Today.
    settings : Settings
        Settled for the setup (`levers.settled`).
    masks : ndarray of int, optional
        The combinations; all of them when left out.
    rechosen : bool
        Whether the batch is chosen anew in every combination, and not only in those with the lever
        that fills it.

    Raises
    ------
    InputError
        When all combinations of more than 20 levers are asked for.
    """
    players = first_of_slots(levers)
    if masks is None:
        if len(players) > 20:
            msg = f"all combinations must be of at most 20 levers, got {len(players)}; choose fewer"
            raise InputError(msg, field="set")
        masks = np.arange(1 << len(players), dtype=np.int64)
    cases, case = _places(players, setup, settings, masks, of_case=True)
    setups, place = _places(players, setup, settings, masks, of_case=False)
    fills = sum(1 << i for i, lever in enumerate(players) if lever.name == "fill")
    filled = np.full(masks.shape, rechosen or setup.filled) | ((masks & fills) > 0)
    unique: dict[int, int] = {}
    resolved: list[Case] = []
    place_of_case = np.zeros(len(cases), dtype=np.int64)
    for i, one in enumerate(cases):
        found = case_of(one)
        at = unique.setdefault(id(found), len(resolved))
        if at == len(resolved):
            resolved.append(found)
        place_of_case[i] = at
    outcomes = run(
        cases=resolved, setups=setups, case=place_of_case[case], setup=place, filled=filled
    )
    return Coalitions(setup, players, settings, masks, outcomes)


def _places(
    players: Sequence[Lever],
    setup: Setup,
    settings: Settings,
    masks: NDArray[np.int64],
    *,
    of_case: bool,
) -> tuple[list[Setup], Index]:
    """Return the distinct setups of one kind of lever, and which of them each combination has."""
    mine = [lever.changes_case if of_case else lever.changes_numbers for lever in players]
    own = masks & sum(1 << i for i, yes in enumerate(mine) if yes)
    wanted, place = np.unique(own, return_inverse=True)
    made: dict[int, Setup] = {0: setup}
    build = _builder(players, settings, made)
    return [build(int(mask)) for mask in wanted], place


def _builder(
    players: Sequence[Lever], settings: Settings, made: dict[int, Setup]
) -> Callable[[int], Setup]:
    """Return a function that applies a combination's levers in order, each combination once."""

    def build(mask: int) -> Setup:
        if mask not in made:
            last = mask.bit_length() - 1
            before = build(mask & ~(1 << last))
            lever = players[last]
            made[mask] = (
                before if refuses(lever, before, settings) else lever.apply(before, settings)
            )
        return made[mask]

    return build
