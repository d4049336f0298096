"""One point of a sweep as people speak of it: which accelerator, how many, what it costs.

The grid's batches stand a few percent apart; a pick that matters is refined to the whole batch.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel import catalog, serve
from costmodel.case import Case, resolve
from costmodel.disaggregate import Disaggregated as Served
from costmodel.disaggregate import disaggregate, together
from costmodel.hardware import Accelerator
from costmodel.scenario import Scenario
from costmodel.sweep import Setup, Sweep, priced

MOST_BETWEEN = 256
"""Batches tried between two of the grid."""
MOST_KEPT = 512
"""Answers that a sweep remembers: the speeds of the page's table are asked for again and again."""
NEAR, MOST_REFINED = 1.05, 6
"""Rows so close to the cheapest are refined too, up to so many: the order may change."""


@dataclass(frozen=True)
class Limits:
    """What a user asks for; None where nothing is asked."""

    max_tpot_s: float | None = None
    max_ttft_s: float | None = None
    budget_usd_per_mtok: float | None = None

    @classmethod
    def of(cls, scenario: Scenario) -> "Limits":
        """Return a scenario's limits; one output token has no time between tokens."""
        tpot = scenario.max_tpot_s if scenario.output_tokens > 1 else None
        return cls(tpot, scenario.max_ttft_s, scenario.budget_usd_per_mtok)

    @property
    def given(self) -> dict[str, float]:
        """The limits that are set, by field name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def without(self, *names: str) -> "Limits":
        """Return the same limits with some dropped."""
        return Limits(**{n: v for n, v in self.given.items() if n not in names})

    def but(self, **changes: float | None) -> "Limits":
        """Return the same limits with some changed."""
        return Limits(**(vars(self) | changes))

    def met(self, sweep: Sweep) -> NDArray[np.bool_]:
        """Return which points of a sweep fit and meet every limit: (R, B)."""
        good = sweep.fits.copy()
        for name, value in self.given.items():
            with np.errstate(invalid="ignore"):
                good &= METRIC[name](sweep) <= value * (1 + 1e-12)
        return good


METRIC = {
    "max_tpot_s": lambda s: s.tpot_s,
    "max_ttft_s": lambda s: s.ttft_s,
    "budget_usd_per_mtok": lambda s: s.usd_per_mtok,
}
"""What each limit bounds, of a sweep or of a pick."""


@dataclass(frozen=True)
class Pick:
    """One point."""

    setup: Setup
    accelerator: Accelerator
    row: int
    """Of the sweep."""
    batch: float
    wall: float
    tpot_s: float
    ttft_s: float
    usd_per_mtok: float
    usd_per_mtok_output: float
    output_tokens_per_s: float
    usd_per_gpu_hour: float
    prefill_copies: float
    low: float
    """80 % band of `usd_per_mtok`; NaN where there is none."""
    high: float

    @property
    def tokens_per_s(self) -> float:
        """What each user sees."""
        return 1 / self.tpot_s

    @property
    def gpus(self) -> int:
        """GPUs of a copy."""
        return self.setup.gpus

    def same_setup(self, other: "Pick | None") -> bool:
        """Whether another pick runs the same way on the same accelerator."""
        return other is not None and (self.setup, self.accelerator.id) == (other.setup, other.accelerator.id)

    def may_miss(self, limits: Limits) -> tuple[str, ...]:
        """Return the limits that the band crosses though the middle meets them.

        The band is one of time: a copy that takes 13 % longer costs 13 % more.
        """
        if not np.isfinite(self.high) or self.usd_per_mtok <= 0:
            return ()
        slower = self.high / self.usd_per_mtok
        return tuple(n for n, v in limits.given.items() if METRIC[n](self) <= v < METRIC[n](self) * slower)

    def overlaps(self, other: "Pick") -> bool:
        """Whether the two costs are too close to call: their bands overlap, or they are equal."""
        if not (np.isfinite(self.high) and np.isfinite(other.high)):
            return bool(np.isclose(self.usd_per_mtok, other.usd_per_mtok, rtol=1e-3))
        return self.low <= other.high and other.low <= self.high


def pick(sweep: Sweep, index: int) -> Pick:
    """Return the point at a flat index of a sweep."""
    row, column = divmod(int(index), sweep.batch.size)
    usd = float(sweep.usd_per_mtok[row, column])
    return Pick(
        setup=sweep.space.setups[sweep.setup[row]],
        accelerator=sweep.space.hardware[sweep.hardware[row]],
        row=row,
        batch=float(sweep.batch[column]),
        wall=float(sweep.wall[row]),
        tpot_s=float(sweep.tpot_s[row, column]),
        ttft_s=float(sweep.ttft_s[row, column]),
        usd_per_mtok=usd,
        usd_per_mtok_output=float(sweep.usd_per_mtok_output[row, column]),
        output_tokens_per_s=float(sweep.output_tokens_per_s[row, column]),
        usd_per_gpu_hour=float(sweep.usd_per_gpu_hour[row]),
        prefill_copies=float(sweep.prefill_copies[row, column]),
        low=usd * float(sweep.low[row]),
        high=usd * float(sweep.high[row]),
    )


def scenario_of(asked: Scenario, chosen: Pick) -> Scenario:
    """Return the scenario that runs as a pick does; a typed price stays with its own accelerator."""
    same = chosen.accelerator.id == catalog.accelerator(asked.hardware).id
    return chosen.setup.scenario(asked).but(
        hardware=asked.hardware if same else chosen.accelerator.id,
        batch=chosen.batch,
        price_usd_per_gpu_hour=asked.price_usd_per_gpu_hour if same else None,
    )


@lru_cache(maxsize=512)
def _case(asked: Scenario, setup: Setup, accelerator: Accelerator, usd_per_gpu_hour: float) -> Case:
    case = resolve(setup.scenario(asked), [accelerator])
    return priced(case, np.asarray([usd_per_gpu_hour]))


def case_of(sweep: Sweep, chosen: Pick) -> Case:
    """Return the case of a pick."""
    return _case(sweep.scenario, chosen.setup, chosen.accelerator, chosen.usd_per_gpu_hour)


def at(sweep: Sweep, chosen: Pick, batches: ArrayLike) -> Served:
    """Return a pick's setup served at other batches."""
    shared = serve.at_batch(case_of(sweep, chosen), batch=batches)
    return disaggregate(shared) if chosen.setup.disaggregated else together(shared)


def moved(chosen: Pick, served: Served, index: int) -> Pick:
    """Return a pick at one of the batches that its setup was served at."""
    shape = served.batch.shape
    names = ("batch", "tpot_s", "ttft_s", "usd_per_mtok", "usd_per_mtok_output", "output_tokens_per_s",
             "prefill_copies")  # fmt: skip
    figures: dict[str, Any] = {n: float(np.broadcast_to(getattr(served, n), shape)[index]) for n in names}
    factor = figures["usd_per_mtok"] / chosen.usd_per_mtok
    return replace(chosen, **figures, low=chosen.low * factor, high=chosen.high * factor)


def refined(sweep: Sweep, chosen: Pick, limits: Limits) -> Pick:
    """Return the cheapest whole batch near a pick that meets the limits: itself or a larger one.

    Larger batches cost less, so only those up to the grid's next one, or the wall, can beat it.
    """
    later = sweep.batch[sweep.batch > chosen.batch]
    most = min(later[0] - 1 if later.size else chosen.batch, chosen.wall)
    if most <= chosen.batch:
        return chosen
    tried = np.unique(np.round(np.linspace(chosen.batch + 1, most, MOST_BETWEEN)))
    served = at(sweep, chosen, tried)
    good = np.ones(tried.shape, dtype=bool)
    for name, value in limits.given.items():
        good &= METRIC[name](served) <= value
    cost = np.where(good, served.usd_per_mtok, np.inf)
    best = int(np.argmin(cost))
    return moved(chosen, served, best) if cost[best] < chosen.usd_per_mtok else chosen


def cheapest(sweep: Sweep, limits: Limits, *, keep: NDArray[np.bool_] | None = None) -> Pick | None:
    """Return the cheapest point that meets the limits, to the whole batch; None where none does.

    Parameters
    ----------
    sweep : Sweep
        The points.
    limits : Limits
        What must be met.
    keep : ndarray of bool, shape (R, 1) or (R, B), optional
        Points that count.
    """
    if keep is None:
        if limits not in sweep.cheapest_by_limits:
            if len(sweep.cheapest_by_limits) >= MOST_KEPT:
                sweep.cheapest_by_limits.clear()
            sweep.cheapest_by_limits[limits] = _cheapest(sweep, limits, limits.met(sweep))
        found: Pick | None = sweep.cheapest_by_limits[limits]
        return found
    return _cheapest(sweep, limits, limits.met(sweep) & keep)


def _cheapest(sweep: Sweep, limits: Limits, good: NDArray[np.bool_]) -> Pick | None:
    cost = np.where(good, sweep.usd_per_mtok, np.inf)
    if cost.size == 0 or np.isinf(cost).all():
        return None
    by_row = cost.min(axis=1)
    near = np.flatnonzero(by_row <= by_row.min() * NEAR)
    near = near[np.argsort(by_row[near], kind="stable")][:MOST_REFINED]
    found = [pick(sweep, int(row * sweep.batch.size + cost[row].argmin())) for row in near]
    return min((refined(sweep, p, limits) for p in found), key=lambda p: p.usd_per_mtok)


def fastest(sweep: Sweep, limits: Limits) -> Pick | None:
    """Return the point of the highest speed per user that meets the limits; None where none does."""
    good = limits.met(sweep)
    value = np.where(good, sweep.tpot_s, np.nan)
    if value.size == 0 or np.isnan(value).all():
        return None
    return pick(sweep, int(np.nanargmin(value)))
