"""Prices by the decided rule, against figures worked out beside it."""

import dataclasses
from datetime import date
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import catalog, prices
from costmodel.errors import InputError
from costmodel.prices import PriceRow

TODAY = date(2026, 11, 30)
ROW = PriceRow("l4", "on-demand", "A", "2026-09-01", "https://example.org/", 1.0)


def row(**change):
    return dataclasses.replace(ROW, **change)


def of(*rows, basis="on-demand", today=TODAY):
    return prices.price(rows, hardware="l4", basis=basis, today=today)


@pytest.mark.parametrize(
    ("name", "basis", "usd"),
    [
        ("h100-sxm", "on-demand", 3.99),
        ("h100-sxm", "marketplace", 2.67),
        ("h100-sxm", "reserved", 2.00),
        ("h100-sxm", "owning", 1.55),
        ("h200-sxm", "on-demand", 5.00),
        ("b200-sxm", "on-demand", 6.99),
    ],
)
def test_prices_of_the_common_cards(name, basis, usd):
    """Medians worked out by hand from the rows, to the cent."""
    assert catalog.price(name, basis, today=TODAY).usd_per_gpu_hour == pytest.approx(usd, abs=0.0051)


def test_the_rows_behind_a_price():
    """One per provider; no hyperscaler, nothing serverless, nothing of another year."""
    price = catalog.price("h100-sxm", "on-demand", today=TODAY)
    providers = [r.provider for r in price.rows]

    assert len(providers) == len(set(providers)) == 7
    assert not prices.HYPERSCALERS & set(providers)
    assert not {"Modal", "Replicate", "Paperspace"} & set(providers)
    assert {r.provider: r.usd_per_gpu_hour for r in price.rows}["Lambda"] == 3.99  # 8x, not 1x
    assert {r.provider: r.usd_per_gpu_hour for r in price.rows}["Nebius"] == 4.5  # October's
    assert price.newest == date(2026, 11, 9)
    assert not price.old


def test_no_price_says_why_and_is_filled_from_nowhere():
    """An MI300X has a reserved row of 2025 only, and owning rows that don't stand in for it."""
    price = catalog.price("mi300x", "reserved", today=TODAY)

    assert price.usd_per_gpu_hour is None
    assert price.reason.startswith("no dated 2026 reserved row for mi300x (its newest is 2025-08)")
    assert catalog.price("mi300x", "owning", today=TODAY).usd_per_gpu_hour == 1.16
    assert catalog.price("t4", "on-demand").reason == (
        "no dated 2026 on-demand row for t4; type a price or pick another basis"
    )
    assert catalog.price("apple-m4", "owning").reason


def test_old_price_after_90_days():
    """Counted from the newest row to the day given."""
    assert not of(row(), today=date(2026, 11, 30)).old
    assert of(row(), today=date(2026, 12, 1)).old
    assert not of(row(), row(provider="B", date_text="2026-11-01"), today=date(2026, 12, 1)).old


def test_newest_row_of_a_provider_counts_and_its_largest_instance():
    """Older rows and small instances of the same day are passed over."""
    rows = (
        row(usd_per_gpu_hour=3.0, date_text="2026-08"),
        row(usd_per_gpu_hour=2.0, gpus=8),
        row(usd_per_gpu_hour=2.5, gpus=1),
    )

    assert of(*rows).usd_per_gpu_hour == of(*reversed(rows)).usd_per_gpu_hour == 2.0


@pytest.mark.parametrize(
    "change",
    [
        {"date_text": "2025-12-31"},
        {"date_text": "2026"},
        {"date_text": "undated stored version (about mid-2025)"},
        {"provider": "AWS"},
        {"instance": "serverless"},
        {"kind": "spot"},
        {"kind": "reserved-1y"},
        {"hardware": "t4"},
        {"usd_per_gpu_hour": None, "purchase_usd": 9e3},
    ],
)
def test_rows_that_never_make_a_price(change):
    """History, list prices of the large clouds, serverless, other kinds."""
    assert of(row(**change)).usd_per_gpu_hour is None
    assert of(row(), row(**{"provider": "B"} | change)).usd_per_gpu_hour == 1.0


def test_large_clouds_count_on_no_other_basis_less():
    """The exclusion is of on-demand list prices alone."""
    assert of(row(kind="marketplace", provider="AWS"), basis="marketplace").usd_per_gpu_hour == 1.0


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=9))
def test_price_is_the_median_over_providers(values):
    """Whatever the order."""
    rows = [row(provider=str(i), usd_per_gpu_hour=v) for i, v in enumerate(values)]

    assert of(*rows).usd_per_gpu_hour == of(*reversed(rows)).usd_per_gpu_hour == median(values)


@given(st.text(max_size=30))
def test_any_date_text_is_a_day_or_none(text):
    """The column holds whatever the source said."""
    assert prices.day(text) is None or isinstance(prices.day(text), date)
    assert prices.day("2026-13") is prices.day("2026-02-30") is prices.day("2026-1") is None


def test_unknown_basis_is_told():
    """With the four that exist."""
    assert prices.basis_id("On Demand") == "on-demand"
    with pytest.raises(InputError, match="on-demand, marketplace, reserved, owning, got 'spot'"):
        catalog.price("h100-sxm", "spot")


def test_every_row_is_sourced_and_of_a_known_card():
    """A link, or a package with its version."""
    rows = catalog.prices()

    assert len(rows) == 186
    assert all(r.source.startswith("https://") or "package" in r.source or "mirror" in r.source
               for r in rows)  # fmt: skip
    assert all((r.usd_per_gpu_hour is None) == (r.kind == "purchase") for r in rows)
    assert {r.kind for r in rows} >= set(prices.KIND_OF_BASIS.values())


def test_api_prices():
    """Floats, a date where one can be read, no output price below half the input's."""
    rows = catalog.api_prices()

    assert len(rows) == 146
    assert all(r.usd_per_mtok_output >= 0 and r.source for r in rows)
    assert {r.read_on for r in rows} == {date(2026, 11, 1), date(2026, 9, 6)}
    assert next(r for r in rows if r.provider == "Cerebras").usd_per_mtok_cached_input is None
    assert all(
        r.usd_per_mtok_cached_input <= r.usd_per_mtok_input
        for r in rows
        if r.usd_per_mtok_cached_input is not None
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("h9,on-demand,A,2026-09-01,1,,,,1,s,", r"hardware \(line 2 of prices.csv\).*got 'h9'"),
        ("l4,on-demand,A,2026-09-01,cheap,,,,1,s,", r"usd_per_gpu_hour \(line 2 of prices.csv\)"),
        ("l4,on-demand,A,2026-09-01,-1,,,,1,s,", r"usd_per_gpu_hour \(line 2.*between 0.001"),
        ("l4,on-demand,A", "as many cells as its head, got line 2"),
        ("l4,on-demand,A,2026-09-01,1,,,,1,s,,,", "as many cells as its head, got line 2"),
    ],
)
def test_a_broken_row_is_told_by_line(monkeypatch, line, message):
    """File, line and column."""
    head = catalog._text("prices.csv").splitlines()[0]
    monkeypatch.setattr(catalog, "_text", lambda name: f"{head}\n{line}\n")
    with pytest.raises(InputError, match=message):
        catalog.prices.__wrapped__()
