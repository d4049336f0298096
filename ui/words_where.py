"""Sentences of "Where to run", computed from results. `**` marks what is bold. No Streamlit in this file."""

from costmodel import where as engine
from costmodel.where import Mismatch, Missing, Place, Ranking
from ui import units
from ui.words_frontier import WHY, place

MISSES = "misses the limits"


def name(found: Place) -> str:
    """Return a place as people say it: "1 × B200 SXM", "DeepInfra"."""
    return found.name if found.pick is None else place(found.pick)


def answer(ranking: Ranking, model: str) -> str:
    """Return the page's answer: the cheapest own setup, the next, and how APIs compare."""
    own = ranking.own
    if not own:
        return _no_own(ranking)
    first = own[0]
    said = f"**{name(first)}** is cheapest at your limits: **{units.usd(first.usd_per_mtok)}**"
    second = next((p for p in own if p.accelerator != first.accelerator), None)
    if second is not None and first.pick is not None and second.pick is not None:
        if first.pick.overlaps(second.pick):
            said += f", too close to call with {name(second)} ({units.usd(second.usd_per_mtok)})"
        else:
            said += f"; {name(second)} {units.usd(second.usd_per_mtok)}"
    idle = engine.mismatch(first)
    wasted = "" if idle is None else f" {mismatch(idle, model)}"
    return f"{said}. {_against(ranking, first)}{wasted}"


def _against(ranking: Ranking, first: Place) -> str:
    """Return how the cheapest own setup stands against the APIs."""
    offers, middle = ranking.apis.offers, ranking.apis.median_usd_per_mtok
    if middle is None:
        return "No listed API sells this model for such requests."
    less = len(ranking.apis.cheaper_than(first.usd_per_mtok))
    said = f"{less or 'None'} of {len(offers)} APIs {'sells' if less <= 1 else 'sell'} this mix for less"
    share = ranking.break_even(first)
    if share is None:
        return f"{said}; the median ({units.usd(middle)}) is cheaper at any load."
    return f"{said}; you beat the median ({units.usd(middle)}) above {units.share(share)} busy."


def _no_own(ranking: Ranking) -> str:
    misses = [m for m in ranking.missing if m.reason == MISSES]
    looked = bool(ranking.missing)
    head = ""
    if misses:
        head = f"No accelerator meets your limits; {len({m.accelerator.id for m in misses})} run the model. "
    elif looked:
        head = "No accelerator with a price on this basis runs this model. "
    offers = ranking.apis.offers
    if not offers:
        return f"{head}No listed API sells this model for such requests."
    return f"{head}The cheapest API is **{offers[0].provider}**: **{units.usd(offers[0].usd_per_mtok)}**."


def notes(ranking: Ranking, model: str, own: Place | None) -> list[str]:
    """Return what stands under the figure: mismatches, how the shares are counted, how old prices are."""
    said = []
    first = ranking.own[0] if ranking.own else None
    idle = None if own is None or own is first else engine.mismatch(own)
    if idle is not None:
        said.append(mismatch(idle, model))
    owned = ranking.of(engine.OWNED)
    if first is not None and first.kind != engine.OWNED and owned:
        said.append(f"Owned, {name(owned[0])} would cost {units.usd(owned[0].usd_per_mtok)}.")
    apis = ranking.apis
    if apis.newest is not None:
        said.append(
            f"API prices read {apis.oldest} to {apis.newest}; input, cached input and output counted apart."
        )
    if apis.too_short:
        names = ", ".join(sorted({p.provider for p in apis.too_short}))
        said.append(f"Not offered for requests this long: {names}.")
    return said


def mismatch(found: Mismatch, model: str) -> str:
    """Return the sentence that names a setup far too large for its model."""
    return (
        f"{model} on {found.accelerator.short} uses {units.share(found.memory)} of memory and pays for "
        f"{units.gb(found.capacity_bytes)}."
    )


def alt(ranking: Ranking) -> str:
    """Return the ranked list in words."""
    places, absent = ranking.places, len({m.accelerator.id for m in ranking.missing})
    if not places:
        return f"Ranked list without places: {absent} accelerators don’t fit, have no price or miss the limits."
    first, last = places[0], places[-1]
    return (
        f"Ranked list of {len(places)} places: {name(first)}, {units.usd(first.usd_per_mtok)}, to {name(last)}, "
        f"{units.usd(last.usd_per_mtok)}; {absent} don’t fit, have no price or miss the limits. Table follows."
    )


def missing(found: Missing) -> str:
    """Return why an accelerator isn't ranked, and what would change it."""
    if found.reason != MISSES:
        why = WHY.get(found.reason, found.reason)
        return f"{why}: {found.needed_gpus} GPUs would hold its weights" if found.needed_gpus else why
    if found.nearest is None or not found.needed:
        return MISSES
    needs = " and ".join(_needed(limit, value) for limit, value in found.needed.items())
    return f"would do at {needs}: {place(found.nearest)}, {units.usd(found.nearest.usd_per_mtok)}"


def _needed(limit: str, value: float) -> str:
    if limit == "max_tpot_s":
        return units.speed(units.tokens_per_s(value))
    if limit == "max_ttft_s":
        return f"{units.count(units.ms(value))} ms to the first token"
    return units.usd(value)
