"""What the same request costs at API providers, and how busy own GPUs must be to beat that."""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from statistics import median

from costmodel import catalog
from costmodel.errors import InputError
from costmodel.prices import ApiPrice
from costmodel.scenario import Scenario
from costmodel.serve import workload


@dataclass(frozen=True)
class Offer:
    """A provider's price of the scenario's request."""

    price: ApiPrice
    usd_per_request: float
    usd_per_mtok: float
    """All-in, per million output tokens, as own GPUs are counted."""
    discounts_cached: bool
    """Whether cached input has a price of its own that counts here."""

    @property
    def provider(self) -> str:
        """Who sells it."""
        return self.price.provider


@dataclass(frozen=True)
class Offers:
    """Every provider of a model for one request mix, cheapest first."""

    model: str
    offers: tuple[Offer, ...]
    too_short: tuple[ApiPrice, ...]
    """Rows whose context is shorter than the request."""

    @property
    def median_usd_per_mtok(self) -> float | None:
        """The median over providers; None without any."""
        return median(o.usd_per_mtok for o in self.offers) if self.offers else None

    @property
    def newest(self) -> date | None:
        """Day of the newest row."""
        days = [o.price.read_on for o in self.offers if o.price.read_on is not None]
        return max(days) if days else None

    @property
    def oldest(self) -> date | None:
        """Day of the oldest row."""
        days = [o.price.read_on for o in self.offers if o.price.read_on is not None]
        return min(days) if days else None

    def cheaper_than(self, usd_per_mtok: float) -> tuple[Offer, ...]:
        """Return the offers below a cost."""
        return tuple(o for o in self.offers if o.usd_per_mtok < usd_per_mtok)


def offers(scenario: Scenario, model_id: str) -> Offers:
    """Return what a scenario's request costs at each provider of a model.

    Input, cached input and output are counted apart; where a provider has no price for cached
    input it charges the whole prompt. One row a provider: its cheapest for this mix.

    Parameters
    ----------
    scenario : Scenario
        The request: lengths, and the share of the prompt that the cache catches.
    model_id : str
        Hugging Face id, or any name of a preset.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> found = offers(scenario(input_tokens=1500, output_tokens=1000), "llama-3.1-70b")
    >>> round(found.median_usd_per_mtok, 2), found.offers[0].provider
    (1.27, 'OpenRouter')
    """
    work = workload(scenario)
    new, reused, output = float(work.new), float(work.cached), float(work.output)
    own = _id(model_id)
    best: dict[str, Offer] = {}
    short: list[ApiPrice] = []
    for row in catalog.api_prices():
        if _id(row.model) != own:
            continue
        if row.context_tokens is not None and row.context_tokens < scenario.input_tokens + scenario.output_tokens:
            short.append(row)
            continue
        cached = row.usd_per_mtok_cached_input
        discount = cached is not None and reused > 0
        prompt = new * row.usd_per_mtok_input
        prompt += reused * (cached if cached is not None else row.usd_per_mtok_input)
        request = (prompt + output * row.usd_per_mtok_output) / 1e6
        offer = Offer(row, request, request / output * 1e6, discount)
        held = best.get(row.provider)
        if held is None or offer.usd_per_mtok < held.usd_per_mtok:
            best[row.provider] = offer
    ranked = tuple(sorted(best.values(), key=lambda o: (o.usd_per_mtok, o.provider)))
    return Offers(own, ranked, tuple(p for p in short if p.provider not in best))


@lru_cache(maxsize=512)
def _id(name: str) -> str:
    """Return a preset's id, or the name itself where no preset has it."""
    try:
        return catalog.model(name).id
    except InputError:
        return name


def break_even_busy(*, full_usd_per_mtok: float, api_usd_per_mtok: float) -> float | None:
    """Return the busy share above which own GPUs are cheaper; None where they never are.

    Cost goes with 1 / busy share, so it is the ratio of the two.

    Parameters
    ----------
    full_usd_per_mtok : float
        Own cost with every paid hour busy. [USD/Mtok]
    api_usd_per_mtok : float
        What the API asks for the same. [USD/Mtok]

    Examples
    --------
    >>> break_even_busy(full_usd_per_mtok=0.75, api_usd_per_mtok=1.25)
    0.6
    >>> break_even_busy(full_usd_per_mtok=0.75, api_usd_per_mtok=0.5) is None
    True
    """
    share = full_usd_per_mtok / api_usd_per_mtok if api_usd_per_mtok > 0 else float("inf")
    return share if share <= 1 else None
