"""Scenarios beside each other, and the manager's question."""

import math

import pytest

from costmodel import serve
from costmodel.compare import compare, curves, one_against_many
from costmodel.errors import InputError
from costmodel.paid import from_machines, judge, per_output_token, word_of
from costmodel.scenario import scenario

DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5)


def test_one_against_sixty_four_is_computed():
    """The article: 20 to 50 times cheaper per token, a few times slower for each user."""
    found = compare(one_against_many(DEFAULT))
    one, many = found.row("all_in").values

    assert found.differ_in == ("Batch",)
    assert (found.cheapest.letter, found.fastest.letter) == ("B", "A")
    assert 20 < one / many < 50
    assert 1.5 < found.row("speed").values[0] / found.row("speed").values[1] < 4
    assert one == float(serve.serve(DEFAULT, batch=1).usd_per_mtok)


def test_rows_that_differ_come_first_and_ties_after_them():
    found = compare([DEFAULT, DEFAULT.but(batch=70), DEFAULT.but(batch=80, kv="fp8")])
    flags = [(r.differs, r.tie) for r in found.rows]

    assert flags == sorted(flags, key=lambda f: (not f[0], f[1]))
    assert set(found.differ_in) == {"Batch", "KV cache stored in"}


def test_a_scenario_against_itself_differs_in_nothing():
    found = compare([DEFAULT, DEFAULT])

    assert not any(r.differs or r.tie for r in found.rows)


def test_lines_end_at_the_wall():
    found = compare(one_against_many(DEFAULT))

    for (batch, usd), column in zip(curves(found), found.columns, strict=True):
        assert batch[-1] == column.knee.max_batch
        assert usd[0] > usd[-1]


def test_five_scenarios_are_refused():
    with pytest.raises(InputError, match="compare takes 2 to 4 scenarios, got 5; pin or remove some"):
        compare([DEFAULT] * 5)


# What we pay ------------------------------------------------------------------------------------


def test_what_the_matching_batch_costs_is_what_is_paid():
    bill = judge(DEFAULT, usd=1.4)
    batch = bill.matching_batch
    below, at = serve.serve(DEFAULT, batch=[batch - 1, batch]).usd_per_mtok

    assert at <= 1.4 < below
    assert bill.own_best_usd_per_mtok / bill.matching_busy == pytest.approx(1.4)
    assert bill.floor_ratio == pytest.approx(4.2, abs=0.05)


def test_the_word_goes_with_the_setups_own_best():
    bill = judge(DEFAULT, usd=1.4)

    assert bill.word == word_of(1.4 / bill.own_best_usd_per_mtok)
    assert judge(DEFAULT, usd=9.0).word == "very high"
    assert [word_of(r) for r in (1.29, 1.3, 1.99, 2.0, 3.99, 4.0)] == [
        "good", "fair", "fair", "high", "high", "very high"
    ]  # fmt: skip


def test_input_and_output_together_are_fewer_dollars_for_the_same_bill():
    assert per_output_token(DEFAULT, usd=1.0, per="both") == pytest.approx(2.5)
    assert judge(DEFAULT, usd=0.56, per="both").usd_per_mtok == pytest.approx(1.4)


def test_machines_and_tokens_are_a_price():
    assert from_machines(gpus=4, usd_per_gpu_hour=3.99, tokens_per_day=273.6e6) == pytest.approx(1.4)


def test_a_bill_below_what_the_setup_can_do_matches_no_idle_time():
    bill = judge(DEFAULT, usd=0.2)

    assert math.isnan(bill.matching_busy)
    assert math.isnan(bill.matching_batch)
    assert bill.cheaper == 0


def test_idle_time_of_the_scenario_is_not_counted_twice():
    assert judge(DEFAULT.but(busy=0.5), usd=1.4).ratio == pytest.approx(judge(DEFAULT, usd=1.4).ratio)


@pytest.mark.parametrize(
    ("usd", "per", "said"), [(0, "output", "paid must be"), (1, "words", "per must be output or both")]
)
def test_bad_bills_are_told(usd, per, said):
    with pytest.raises(InputError, match=said):
        judge(DEFAULT, usd=usd, per=per)
