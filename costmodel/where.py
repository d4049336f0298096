"""Where to run: every accelerator's best setup at the limits, and every API, in one ranking."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from costmodel.apis import Offer, Offers, break_even_busy, offers
from costmodel.case import bits_of, model_of
from costmodel.hardware import Accelerator
from costmodel.memory import MEMORY_FRACTION
from costmodel.picks import Limits, Pick, case_of, cheapest
from costmodel.scenario import Scenario
from costmodel.sweep import NO_FIT, NO_MEMORY, NO_PRICE, REASONS, Space, Sweep, space, sweep
from costmodel.used import Used, used
from costmodel.work import Parallel, plan

RENTED, OWNED, API = "rented", "owned", "API"
KINDS = (RENTED, OWNED, API)
ORDERS = ("cost at the limits", "speed", "memory used")
ROOM = 0.95
"""Share of usable memory that weights may take where a few sequences shall fit beside them."""
IDLE_MEMORY = 0.25
"""Below this share of memory in use a card is a mismatch: most of what is paid for lies idle."""


@dataclass(frozen=True)
class Place:
    """One way to serve the scenario."""

    kind: str
    usd_per_mtok: float
    low: float
    high: float
    accelerator: Accelerator | None = None
    pick: Pick | None = None
    basis: str = ""
    used: Used | None = None
    offer: Offer | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        if self.offer is not None:
            return self.offer.provider
        return self.accelerator.short if self.accelerator is not None else ""

    @property
    def joules_per_token(self) -> float:
        """Energy per output token at rated board power, an estimate; NaN for APIs. [J]"""
        if self.pick is None or self.accelerator is None:
            return float("nan")
        gpus = self.pick.gpus * (1 + self.pick.prefill_copies)
        return self.accelerator.power_w * gpus / self.pick.output_tokens_per_s


@dataclass(frozen=True)
class Missing:
    """An accelerator that isn't ranked, why, and what would change it."""

    accelerator: Accelerator
    kind: str
    reason: str
    """A word of `sweep.REASONS`, or `misses the limits`."""
    nearest: Pick | None = None
    """Its best when the limits give way as little as they must."""
    needed: dict[str, float] | None = None
    """What the limits would have to be for it."""
    needed_gpus: int | None = None
    """Where the weights don't fit: GPUs, a power of two, over which the narrowest would."""


@dataclass(frozen=True)
class Ranking:
    """Places that meet the limits, cheapest first, and accelerators that don't."""

    places: tuple[Place, ...]
    missing: tuple[Missing, ...]
    apis: Offers
    limits: Limits
    busy: float = 1.0
    """Busy share that the places' costs are at."""
    basis: str = "on-demand"
    """The scenario's price basis: which accelerators the answer speaks of first."""

    def of(self, *kinds: str) -> tuple[Place, ...]:
        """Return the places of some kinds."""
        return tuple(p for p in self.places if p.kind in kinds)

    @property
    def own(self) -> tuple[Place, ...]:
        """The places with accelerators that the answer speaks of, cheapest first.

        Those on the scenario's price basis; where only the others were asked for, those.
        """
        first, other = (OWNED, RENTED) if self.basis == "owning" else (RENTED, OWNED)
        looked = any(m.kind == first for m in self.missing) or bool(self.of(first))
        return self.of(first) if looked else self.of(other)

    def break_even(self, place: Place, api_usd_per_mtok: float | None = None) -> float | None:
        """Return the busy share above which a place beats an API; None where it never does.

        Against the median API where no other is named.
        """
        other = self.apis.median_usd_per_mtok if api_usd_per_mtok is None else api_usd_per_mtok
        if other is None:
            return None
        full = place.usd_per_mtok * self.busy
        return break_even_busy(full_usd_per_mtok=full, api_usd_per_mtok=other)


def rank(
    scenario: Scenario, *, kinds: tuple[str, ...] = KINDS, four_bits: bool = False, where: Space | None = None
) -> Ranking:
    """Rank every place that serves a scenario within its limits.

    Rented accelerators are priced on the scenario's basis (on demand where that is owning), owned
    ones on the basis of owning.

    Parameters
    ----------
    scenario : Scenario
        Workload, limits, model, price basis.
    kinds : tuple of str
        Of `KINDS`: what to look at.
    four_bits : bool
        Whether weights in 4 bits count.
    where : Space, optional
        The space, where not the usual one.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> found = rank(scenario(model="llama-3.1-70b", max_tpot_s=1 / 30))
    >>> found.places[0].usd_per_mtok <= found.places[-1].usd_per_mtok
    True
    """
    limits = Limits.of(scenario)
    area = where if where is not None else space(scenario, four_bits=four_bits)
    apis = offers(scenario, model_of(scenario).id)
    places: list[Place] = []
    missing: list[Missing] = []
    for kind in (RENTED, OWNED):
        if kind not in kinds:
            continue
        found = sweep(_priced(scenario, kind), where=area)
        own, lacking = _accelerators(found, limits, kind)
        places += own
        missing += lacking
    if API in kinds:
        budget = limits.budget_usd_per_mtok or np.inf
        places += [
            Place(API, o.usd_per_mtok, o.usd_per_mtok, o.usd_per_mtok, offer=o)
            for o in apis.offers
            if o.usd_per_mtok <= budget
        ]
    places.sort(key=lambda p: p.usd_per_mtok)
    return Ranking(tuple(places), tuple(missing), apis, limits, scenario.busy, scenario.price_basis)


def _priced(scenario: Scenario, kind: str) -> Scenario:
    if kind == OWNED:
        return scenario.but(price_basis="owning", price_usd_per_gpu_hour=None)
    return scenario.but(price_basis="on-demand") if scenario.price_basis == "owning" else scenario


def _accelerators(found: Sweep, limits: Limits, kind: str) -> tuple[list[Place], list[Missing]]:
    places, missing = [], []
    for index, card in enumerate(found.space.hardware):
        rows = found.hardware == index
        if not rows.any():
            why = _reason(found, index)
            needs = _needed_gpus(found, card) if why == REASONS[NO_FIT] else None
            missing.append(Missing(card, kind, why, needed_gpus=needs))
            continue
        best = cheapest(found, limits, keep=rows[:, None])
        if best is None:
            missing.append(_lacking(found, limits, index, kind))
            continue
        case = case_of(found, best)
        places.append(
            Place(
                kind=kind,
                usd_per_mtok=best.usd_per_mtok,
                low=best.low,
                high=best.high,
                accelerator=card,
                pick=best,
                basis=found.scenario.price_basis,
                used=used(case, batch=best.batch, output_tokens_per_s=best.output_tokens_per_s),
            )
        )
    return places, missing


def _reason(found: Sweep, index: int) -> str:
    """Return why an accelerator runs nothing: what its most promising setups lack."""
    codes = found.row_reasons[:, index]
    for code in (NO_PRICE, NO_FIT, NO_MEMORY):
        if (codes == code).any():
            return REASONS[code]
    return REASONS[int(np.bincount(codes).argmax())]


def _needed_gpus(found: Sweep, card: Accelerator) -> int | None:
    """Return over how many of a card the narrowest weights would fit, a little room for cache left."""
    if not card.capacity_bytes > 0:
        return None
    least = np.inf
    for setup, model in zip(found.space.setups, found.models, strict=True):
        if setup.gpus == 1:
            alone = plan(model, bits_of(setup.scenario(found.scenario), model), Parallel())
            least = min(least, alone.resident_bytes)
    share = least / (card.capacity_bytes * MEMORY_FRACTION * ROOM)
    return None if not np.isfinite(share) else 2 ** max(0, math.ceil(math.log2(share)))


def _lacking(found: Sweep, limits: Limits, index: int, kind: str) -> Missing:
    """Return an accelerator that runs the model but misses the limits, with the least to give."""
    from costmodel.frontier import relax  # noqa: PLC0415  (frontier draws on this module's neighbours)

    part = _only(found, index)
    given = relax(part, limits)
    needed = None if given is None else dict(zip(given.limits, given.values, strict=True))
    nearest = None if given is None else given.pick
    return Missing(found.space.hardware[index], kind, "misses the limits", nearest, needed)


def _only(found: Sweep, index: int) -> Sweep:
    """Return a sweep of one accelerator's rows."""
    rows = np.flatnonzero(found.hardware == index)
    names = ("setup", "hardware", "wall", "usd_per_gpu_hour", "low", "high", "tpot_s", "ttft_s", "usd_per_mtok",
             "usd_per_mtok_output", "output_tokens_per_s", "prefill_copies")  # fmt: skip
    return replace(found, **{name: getattr(found, name)[rows] for name in names})


ORDER: dict[str, Callable[[Place], float]] = {
    "cost at the limits": lambda p: p.usd_per_mtok,
    "speed": lambda p: -p.pick.tokens_per_s if p.pick is not None else np.inf,
    "memory used": lambda p: -p.used.memory if p.used is not None else np.inf,
}
"""Sort keys of a ranking, by the words of `ORDERS`; APIs last where they have no such figure."""


def ordered(places: tuple[Place, ...], order: str) -> tuple[Place, ...]:
    """Return places in an order of `ORDERS`."""
    return tuple(sorted(places, key=ORDER[order]))


@dataclass(frozen=True)
class Mismatch:
    """A setup that leaves most of its memory idle."""

    accelerator: Accelerator
    memory: float
    capacity_bytes: float


def mismatch(place: Place) -> Mismatch | None:
    """Return what a place pays for and doesn't use, where that is most of its memory."""
    if place.used is None or place.accelerator is None or not place.used.memory < IDLE_MEMORY:
        return None
    return Mismatch(place.accelerator, place.used.memory, place.used.capacity_bytes)


@lru_cache(maxsize=16)
def ranking(scenario: Scenario, kinds: tuple[str, ...], four_bits: bool) -> Ranking:
    """Return `rank`, kept for a page that draws itself again."""
    return rank(scenario, kinds=kinds, four_bits=four_bits)
