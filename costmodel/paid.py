"""The manager's question: we pay so much per million tokens, is that bad?

A bill is compared with three things: the floor, what the same setup could do at its limits without
idle time, and what providers ask for the same mix of tokens. Only the second decides the word.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from costmodel import serve
from costmodel.apis import Offers, offers
from costmodel.case import Case, resolve
from costmodel.check import within
from costmodel.errors import InputError, quoted
from costmodel.lever_rows import Board, board
from costmodel.scenario import Scenario
from costmodel.setups import Setup

Per = Literal["output", "both"]
THRESHOLDS: tuple[tuple[float, str], ...] = ((1.3, "good"), (2.0, "fair"), (4.0, "high"))
"""Below each ratio of what is paid to the setup's own best at the limits; above: very high."""
WORST = "very high"
_GRID = 512


@dataclass(frozen=True)
class Bill:
    """A bill beside what the setup could do."""

    scenario: Scenario
    board: Board
    usd_per_mtok: float
    """What is paid, all-in per output token."""
    own_best_usd_per_mtok: float
    """The setup at its limits, batch re-chosen, no idle time."""
    own_best_batch: float
    floor_usd_per_mtok: float
    best_here_usd_per_mtok: float
    word: str
    ratio: float
    """Paid over the setup's own best."""
    floor_ratio: float
    matching_batch: float
    """The batch that costs so much without idle time; NaN where none does."""
    matching_busy: float
    """The busy share that costs so much at the best batch; NaN above 1."""
    offers: Offers
    """What providers ask for the same mix of tokens."""

    @property
    def cheaper(self) -> int:
        """How many providers ask less."""
        return len(self.offers.cheaper_than(self.usd_per_mtok))


def per_output_token(scenario: Scenario, *, usd: float, per: str = "output") -> float:
    """Return what is paid per million output tokens, prompts included.

    Parameters
    ----------
    usd : float
        Per million tokens. [USD/Mtok]
    per : str
        `output` tokens, or `both`: input and output together.

    Raises
    ------
    InputError
        For amounts that aren't above 0, and other words.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> per_output_token(scenario(), usd=0.56, per="both")
    1.4
    """
    within(0, 1e6, above=True, paid=usd)
    if per == "output":
        return usd
    if per != "both":
        msg = f"per must be output or both, got {quoted(per)}; say of which tokens it is"
        raise InputError(msg, field="per")
    return usd * (scenario.input_tokens + scenario.output_tokens) / scenario.output_tokens


def from_machines(*, gpus: float, usd_per_gpu_hour: float, tokens_per_day: float) -> float:
    """Return what is paid per million tokens from rented GPUs and tokens served. [USD/Mtok]

    >>> round(from_machines(gpus=8, usd_per_gpu_hour=3.99, tokens_per_day=500e6), 2)
    1.53
    """
    within(0, 1e6, above=True, gpus=gpus)
    within(0, 1e5, above=True, usd_per_gpu_hour=usd_per_gpu_hour)
    within(1, 1e15, tokens_per_day=tokens_per_day)
    return gpus * usd_per_gpu_hour * 24 / (tokens_per_day / 1e6)


def word_of(ratio: float) -> str:
    """Return the word for a ratio to the setup's own best.

    >>> word_of(1.17), word_of(1.5), word_of(2), word_of(4)
    ('good', 'fair', 'high', 'very high')
    """
    return next((word for below, word in THRESHOLDS if ratio < below), WORST)


def judge(scenario: Scenario, *, usd: float, per: str = "output") -> Bill:
    """Return a bill beside what its setup could do.

    Parameters
    ----------
    scenario : Scenario
        What is served, on what, within which limits. Its busy share is left out: the bill has its
        own.
    usd, per
        As `per_output_token`.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> bill = judge(scenario(weights="fp8", max_tpot_s=1 / 30), usd=1.4)
    >>> bill.word, round(bill.floor_ratio, 1)
    ('good', 4.2)
    """
    paid = per_output_token(scenario, usd=usd, per=per)
    full = scenario.but(busy=1.0)
    found = board(Setup(full), levers=[])
    best = found.rechosen
    ratio = paid / best.usd_per_mtok
    busy = best.usd_per_mtok / paid
    return Bill(
        scenario=full,
        board=found,
        usd_per_mtok=paid,
        own_best_usd_per_mtok=best.usd_per_mtok,
        own_best_batch=best.batch,
        floor_usd_per_mtok=found.allowed.floor,
        best_here_usd_per_mtok=found.allowed.best_here,
        word=word_of(ratio) if math.isfinite(ratio) else "",
        ratio=ratio,
        floor_ratio=paid / found.allowed.floor,
        matching_batch=_matching(resolve(full), paid, most=best.wall),
        matching_busy=busy if busy <= 1 else math.nan,
        offers=offers(full, found.case.model.id),
    )


def _matching(case: Case, paid: float, *, most: float) -> float:
    """Return the smallest batch that costs at most what is paid; NaN where none up to the wall does."""
    low, high = 1.0, float(most)
    if high < 1:
        return math.nan
    while True:
        grid = np.unique(np.linspace(low, high, _GRID).round())
        cheap = np.flatnonzero(serve.at_batch(case, batch=grid).usd_per_mtok <= paid)
        if cheap.size == 0:
            return math.nan
        at = int(cheap[0])
        if at == 0 or grid[at] - grid[at - 1] <= 1:
            return float(grid[at])
        low, high = float(grid[at - 1]), float(grid[at])
