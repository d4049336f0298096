"""The verdict in words, and its thresholds."""

import pytest

from costmodel import money
from costmodel.ladder import ladder
from costmodel.lever_rows import board
from costmodel.scenario import scenario
from costmodel.setups import Setup, naive
from costmodel.verdict import verdict
from ui import units

DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5)


def of(setup, *, paid=None, month=1000.0):
    found = board(setup)
    return verdict(found, ladder(found, paid_usd_per_mtok=paid), mtok_per_month=month)


@pytest.mark.parametrize(
    ("paid", "level", "words"),
    [
        (0.82, "stack", "fix the stack first"),
        (0.79, "both", "first, then"),
        (0.53, "both", "first, then"),
        (0.51, "close", "you are close; only the floor is left"),
    ],
)
def test_thresholds_at_twice_and_at_a_third_more(paid, level, words):
    found = of(Setup(DEFAULT), paid=paid)

    assert found.level == level
    assert words in found.text


def test_default_is_a_matter_of_the_stack():
    found = of(Setup(DEFAULT))

    assert found.level == "stack"
    assert found.owner == "engine and kernels"
    assert found.owner_share > 0.5
    assert found.first[0].name == "fill"
    assert f"You pay {money.times(found.ratio)} times the best" in found.text


def test_each_thing_to_do_comes_after_those_before_it():
    found = of(naive(Setup(DEFAULT.but(shared=0.5))), month=10.0)
    costs = [a.usd_per_mtok for a in found.first]

    assert costs == sorted(costs, reverse=True)
    for action in found.first:
        assert action.saves_usd_per_month == pytest.approx(10 * action.saves_usd_per_mtok)


def test_missed_limit_is_told_first_and_mended_first():
    found = of(Setup(DEFAULT.but(batch=300)))

    assert found.level == "limits"
    assert found.sentences[0].startswith("First meet the limit")
    assert "but first meet the limit" in found.text


def test_unknown_price_is_told():
    found = of(Setup(scenario(hardware="mi355x", tp=8)))

    assert found.level == "unknown"
    assert found.sentences[0].startswith("No price is known: ")


@pytest.mark.parametrize("value", [0.01234, 0.0999, 0.9996, 1.005, 9.996, 49.13, 1234.5, -0.5, float("nan")])
def test_money_has_the_digits_of_the_pages(value):
    assert money.usd(value) == units.usd(value)
    assert money.times(abs(value)) == units.times(abs(value))
