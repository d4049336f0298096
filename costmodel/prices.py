"""What an accelerator-hour costs on a basis, from dated rows; what APIs ask per token."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from statistics import median

from costmodel.errors import InputError, nearest, quoted

BASES = ("on-demand", "marketplace", "reserved", "owning")
"""Price bases, in the order that select boxes show them."""

KIND_OF_BASIS: Mapping[str, str] = {
    "on-demand": "on-demand",
    "marketplace": "marketplace",
    "reserved": "reserved-3y",
    "owning": "own-neocloud",
}
"""The kind of row behind each basis. Other kinds (spot, one year, capacity blocks, the largest
buyers' cost of owning, purchase) are listed, never used."""

HYPERSCALERS = frozenset(("AWS", "GCP", "Azure", "Oracle"))
"""Left out on demand: their list price is two to three times what others ask."""

YEAR = 2026
"""Rows of other years are history: rents moved by a third within this one."""

OLD_DAYS = 90
"""A price whose newest row is older than this is shown as old."""


@dataclass(frozen=True)
class PriceRow:
    """One reading of a price list."""

    hardware: str
    """Id of the accelerator."""
    kind: str
    provider: str
    date_text: str
    """The date as found."""
    source: str
    """A link, or a package and its version."""
    usd_per_gpu_hour: float | None = None
    purchase_usd: float | None = None
    region: str = ""
    instance: str = ""
    gpus: int = 1
    """Accelerators in the instance, 1 where not stated."""
    note: str = ""

    @property
    def read_on(self) -> date | None:
        """The day, a month's first day, or None for a year alone and for no date."""
        return day(self.date_text)

    @property
    def serverless(self) -> bool:
        """Whether it is billed by running time rather than rented."""
        return self.instance == "serverless"


@dataclass(frozen=True)
class Price:
    """The price of an accelerator on a basis, or why there is none."""

    hardware: str
    basis: str
    usd_per_gpu_hour: float | None
    rows: tuple[PriceRow, ...] = ()
    """The rows whose median it is: one per provider."""
    newest: date | None = None
    oldest: date | None = None
    old: bool = False
    """Whether even the newest row is more than 90 days old."""
    reason: str = ""
    """Where there is no price: one sentence."""


@dataclass(frozen=True)
class ApiPrice:
    """What a provider asks for tokens of an open model."""

    model: str
    """Hugging Face id."""
    provider: str
    provider_model: str
    usd_per_mtok_input: float
    usd_per_mtok_output: float
    usd_per_mtok_cached_input: float | None
    context_tokens: int | None
    date_text: str
    source: str

    @property
    def read_on(self) -> date | None:
        """The day, or a month's first day."""
        return day(self.date_text)


def day(text: str) -> date | None:
    """Return the date that a text begins with; a month is its first day, a year alone is none.

    >>> day("2026-07"), day("2026-11 (newest release)"), day("2026"), day("undated (mid-2025)")
    (datetime.date(2026, 7, 1), datetime.date(2026, 11, 1), None, None)
    """
    match = re.match(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?!\d)", text.strip())
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3] or 1))
    except ValueError:
        return None


def basis_id(basis: str) -> str:
    """Return the id of a price basis.

    >>> basis_id("On demand")
    'on-demand'
    """
    key = re.sub(r"[\s_]+", "-", str(basis).strip().lower())
    if key in BASES:
        return key
    close = nearest(key, BASES, count=1)
    advice = f"; did you mean {close[0]}?" if close else ""
    msg = f"price basis must be one of {', '.join(BASES)}, got {quoted(basis)}{advice}"
    raise InputError(msg, field="price_basis")


def usable(row: PriceRow, basis: str) -> bool:
    """Whether a row may stand for a basis, whatever its date."""
    if row.kind != KIND_OF_BASIS[basis] or row.usd_per_gpu_hour is None:
        return False
    return basis != "on-demand" or not (row.provider in HYPERSCALERS or row.serverless)


def price(rows: Iterable[PriceRow], *, hardware: str, basis: str, today: date) -> Price:
    """Return the median over providers of each one's newest row of the year.

    On the same day the largest instance of a provider counts. There is no price where no row
    remains; another basis never fills in.

    Parameters
    ----------
    rows : iterable of PriceRow
        All rows; those of other accelerators and kinds are passed over.
    hardware : str
        Id of the accelerator.
    basis : str
        One of `BASES`.
    today : date
        Against which a price is old.
    """
    basis = basis_id(basis)
    found = [r for r in rows if r.hardware == hardware and usable(r, basis)]
    newest: dict[str, PriceRow] = {}
    for row in found:
        if row.read_on is None or row.read_on.year != YEAR:
            continue
        held = newest.get(row.provider)
        if held is None or _rank(row) > _rank(held):
            newest[row.provider] = row
    if not newest:
        return Price(hardware, basis, None, reason=_reason(found, hardware, basis))
    used = tuple(sorted(newest.values(), key=lambda r: (r.usd_per_gpu_hour or 0.0, r.provider)))
    days = [r.read_on for r in used if r.read_on is not None]
    return Price(
        hardware=hardware,
        basis=basis,
        usd_per_gpu_hour=float(median(r.usd_per_gpu_hour or 0.0 for r in used)),
        rows=used,
        newest=max(days),
        oldest=min(days),
        old=(today - max(days)).days > OLD_DAYS,
    )


def _rank(row: PriceRow) -> tuple[date, int]:
    return (row.read_on or date.min, row.gpus)


def _reason(found: list[PriceRow], hardware: str, basis: str) -> str:
    """Say why no row is left, with the newest of the rows that were passed over."""
    start = f"no dated {YEAR} {basis} row for {hardware}"
    if not found:
        return f"{start}; type a price or pick another basis"
    dates = [r.date_text for r in sorted(found, key=lambda r: r.read_on or date.min)]
    return f"{start} (its newest is {dates[-1]}); type a price or pick another basis"
