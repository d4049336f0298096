"""The accelerators: every fact whole, the peaks against figures published elsewhere."""

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import catalog
from costmodel.case import link_of
from costmodel.errors import InputError
from costmodel.hardware import FACT_UNITS, PCIE_BYTES_PER_S, Accelerator, custom

CARDS = list(catalog.hardware().values())
FACTS = [(card.id, name, fact) for card in CARDS for name, fact in card.facts.items()]
SUFFIX_UNIT = {"_bytes_per_s": "bytes/s", "_bytes": "bytes", "_w": "W"}

GOOD = {
    "name": "mine",
    "bandwidth_bytes_per_s": 2e12,
    "capacity_bytes": 64e9,
    "flops_per_s": {"bf16": 400e12},
}


def get(name):
    return catalog.accelerator(name)


@pytest.mark.parametrize(("key", "name", "fact"), FACTS, ids=lambda x: x if isinstance(x, str) else "")
def test_fact_is_whole(key, name, fact):
    """Name and unit agree, the source is a link, the date is past, the value positive."""
    unit = next((u for s, u in SUFFIX_UNIT.items() if name.endswith(s)), "FLOP/s")

    assert fact.unit == unit == FACT_UNITS[name]
    assert fact.source.startswith("https://")
    assert date(2026, 1, 1) <= fact.as_of <= date.today()
    assert fact.value > 0
    assert fact.checked in ("stored", "recalled", "derived")


def test_every_card_says_the_least_that_a_step_needs():
    """Bandwidth and a 16- or 32-bit rate; only the two pre-release cards lack a capacity."""
    assert all(c.bandwidth_bytes_per_s > 0 for c in CARDS)
    assert all(any(c.has(u) for u in ("bf16", "fp16", "fp32")) for c in CARDS)
    assert {c.id for c in CARDS if math.isnan(c.capacity_bytes)} == {"rubin-nvl72", "mi455x"}
    assert len({c.short for c in CARDS}) == len(CARDS)


@pytest.mark.parametrize(
    ("name", "unit", "ridge"),
    [
        ("h200-sxm", "bf16", 206),
        ("a100-sxm-80gb", "bf16", 153),
        ("h100-sxm", "bf16", 295),
        ("tpu-v5e", "bf16", 240),
        ("h100-sxm", "fp8", 591),
        ("b200-sxm", "bf16", 281),
    ],
)
def test_ridge_points_agree_with_published_ones(name, unit, ridge):
    """Dense peak over bandwidth, as textbooks and vendors' talks give it."""
    assert get(name).ridge_flop_per_byte(unit) == pytest.approx(ridge, abs=1)


@pytest.mark.parametrize("card", CARDS, ids=lambda c: c.id)
def test_rates_stand_in_the_order_of_dense_hardware(card):
    """A sparse figure among dense ones, or a shifted column, would break these ratios."""
    bf16, fp8, fp4 = (card.flops_per_s(u) for u in ("bf16", "fp8", "fp4"))

    assert math.isnan(fp8) or 1 <= fp8 / bf16 <= 4.5
    assert math.isnan(fp4) or 1 <= fp4 / fp8 <= 4.1
    assert not card.has("tf32") or not card.has("bf16") or card.flops_per_s("tf32") <= bf16 * 1.001
    assert 1 <= card.bandwidth_bytes_per_s / 1e9 <= 30_000


def test_an_80_gb_card_holds_85e9_bytes():
    """A driver shows 79.6 GiB; 80e9 would lose an eighth of a 70B model's room for cache."""
    assert get("h100-sxm").capacity_bytes == pytest.approx(85.5e9, rel=1e-3)
    assert get("h200-sxm").capacity_bytes == round(139.8 * 2**30)


def test_fp16_follows_bf16_but_not_the_other_way():
    """Old cards have fp16 alone."""
    assert get("a100-sxm-80gb").flops_per_s("fp16") == 312e12
    assert get("t4").has("fp16")
    assert not get("t4").has("bf16")
    assert not get("v100-sxm2-32gb").has("bf16")
    assert not get("a100-sxm-80gb").has("fp8")


@pytest.mark.parametrize(
    ("name", "gpus", "gb_per_s"),
    [
        ("h100-sxm", 8, 450),
        ("mi300x", 2, 64),
        ("mi300x", 4, 192),
        ("mi300x", 8, 448),
        ("gaudi-2", 2, 37.5),
        ("mi455x", 2, 1800),
        ("gb200-nvl72", 72, 900),
        ("h100-nvl", 2, 300),
        ("h100-nvl", 8, 32),
        ("l4", 2, 32),
        ("t4", 2, 16),
        ("rtx-5090", 2, 64),
        ("2x-epyc-9965", 2, 32),
    ],
)
def test_link_between_the_gpus_of_a_copy(name, gpus, gb_per_s):
    """The named link inside the domain, a pair's share of a mesh, PCIe beyond."""
    assert link_of(get(name), gpus)[0] == pytest.approx(gb_per_s * 1e9)


def test_custom_card_is_typed_in_full():
    """Its facts say that the user typed them."""
    card = custom(**GOOD, link_bytes_per_s=100e9, domain=4, power_w=300)

    assert isinstance(card, Accelerator)
    assert {f.checked for f in card.facts.values()} == {"typed"}
    assert card.link_bytes_per_s == 100e9
    assert custom(**GOOD).link_bytes_per_s == PCIE_BYTES_PER_S
    assert catalog.price(card.id, "on-demand").usd_per_gpu_hour is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bandwidth_bytes_per_s": 3350}, "bandwidth_bytes_per_s must be between 1e[+]09 and"),
        ({"bandwidth_bytes_per_s": 1e16}, "bandwidth_bytes_per_s must be between"),
        ({"capacity_bytes": math.nan}, "capacity_bytes must be between"),
        ({"capacity_bytes": "lots"}, "capacity_bytes must be a number"),
        ({"flops_per_s": {"bf16": -1}}, "flops_per_s_bf16 must be between"),
        ({"flops_per_s": {"fp8": 1e15}}, "bf16, fp16 or fp32, got none"),
        ({"flops_per_s": {"bf17": 1e15}}, "got 'bf17'"),
        ({"domain": 0}, "domain must be between 1"),
        ({"domain": 1.5}, "domain must be a whole number"),
        ({"link_bytes_per_s": 1}, "link_bytes_per_s must be between"),
        ({"power_w": math.inf}, "power_w must be between"),
    ],
)
def test_absurd_custom_card_is_refused(change, message):
    """One sentence names the argument, the rule and the value."""
    with pytest.raises(InputError, match=message):
        custom(**GOOD | change)


@given(st.floats(), st.floats(), st.floats())
def test_custom_card_is_sane_or_refused(bandwidth, capacity, rate):
    """No number gets through that makes a ridge point absurd."""
    try:
        card = custom(
            name="x",
            bandwidth_bytes_per_s=bandwidth,
            capacity_bytes=capacity,
            flops_per_s={"bf16": rate},
        )
    except InputError:
        return
    assert 1e-5 <= card.ridge_flop_per_byte("bf16") <= 1e10
    assert card.capacity_bytes >= 1e9
