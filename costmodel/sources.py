"""Every sourced figure in one list: what it says, where it is from, when it was read, whether it is old."""

from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from costmodel import catalog, dimensions
from costmodel.prices import OLD_DAYS

KINDS = ("accelerator", "price", "API price", "model", "measured runs", "constants")


@dataclass(frozen=True)
class SourceRow:
    """One figure, or one file that figures were read from."""

    kind: str
    name: str
    """What it is about."""
    what: str
    value: float | None
    """SI, or USD; None for a file."""
    unit: str
    source: str
    """A link, or a package and its version."""
    read_on: date | None
    note: str
    old: bool = False
    """Prices age: read more than 90 days ago, or at no known day."""

    @property
    def text(self) -> str:
        """Everything that a search looks through."""
        return f"{self.kind} {self.name} {self.what} {self.source} {self.note}".lower()


@lru_cache(maxsize=2)
def every(today: date) -> tuple[SourceRow, ...]:
    """Return all of them, by kind; `today` decides which prices are old."""
    return (*_accelerators(), *_prices(today), *_api_prices(today), *_models(), *_runs(), *_constants())


def search(words: str, *, today: date, kind: str = "", old_only: bool = False) -> tuple[SourceRow, ...]:
    """Return the rows that hold every one of some words, in any case.

    >>> found = search("h100-sxm bandwidth", today=date(2026, 11, 30))
    >>> found[0].unit, found[0].value
    ('bytes/s', 3350000000000.0)
    """
    wanted = words.lower().split()
    return tuple(
        row
        for row in every(today)
        if (not kind or row.kind == kind) and (row.old or not old_only)
        if all(word in row.text for word in wanted)
    )


def _accelerators() -> list[SourceRow]:
    return [
        SourceRow(
            "accelerator", card.id, name, fact.value, fact.unit, fact.source, fact.as_of,
            "; ".join(part for part in (fact.checked, fact.note) if part),
        )
        for card in catalog.hardware().values()
        for name, fact in card.facts.items()
    ]  # fmt: skip


def _old(read_on: date | None, today: date) -> bool:
    return read_on is None or (today - read_on).days > OLD_DAYS


def _prices(today: date) -> list[SourceRow]:
    found = []
    for row in catalog.prices():
        bought = row.usd_per_gpu_hour is None
        found.append(
            SourceRow(
                "price", row.hardware, f"{row.kind}, {row.provider}" + (f", {row.region}" if row.region else ""),
                row.purchase_usd if bought else row.usd_per_gpu_hour, "USD" if bought else "USD/h", row.source,
                row.read_on, row.note or row.date_text, _old(row.read_on, today),
            )
        )  # fmt: skip
    return found


def _api_prices(today: date) -> list[SourceRow]:
    found = []
    for row in catalog.api_prices():
        read_on = row.read_on
        for what, value in (("input", row.usd_per_mtok_input), ("output", row.usd_per_mtok_output)):
            found.append(
                SourceRow(
                    "API price", row.model, f"{what}, {row.provider}", value, "USD/Mtok", row.source, read_on,
                    row.date_text, _old(read_on, today),
                )
            )  # fmt: skip
    return found


def _models() -> list[SourceRow]:
    return [
        SourceRow("model", entry.short, f"config of {entry.id}", None, "", entry.source, None, entry.note)
        for entry in catalog.models()
    ]


def _runs() -> list[SourceRow]:
    """Return one row per published page of results, with how many readings it gave."""
    counts: dict[str, list[str]] = {}
    for reading in catalog.measured().readings:
        counts.setdefault(reading.run.source, []).append(reading.run.date)
    found = []
    for url, dates in sorted(counts.items(), key=lambda kv: -len(kv[1])):
        known = sorted({d for d in dates if d})
        span = "undated" if not known else known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}"
        found.append(
            SourceRow("measured runs", dimensions.source(url), "readings", float(len(dates)), "", url, None, span)
        )
    return found


def _constants() -> list[SourceRow]:
    table = catalog.calibration()
    read_on = table.get("as_of")
    return [
        SourceRow(
            "constants", "kernels", "what the fit starts from", None, "", str(table.get("source", "")),
            read_on if isinstance(read_on, date) else None, "",
        )
    ]  # fmt: skip
