"""Where to run: one ranking of accelerators and APIs, each with what it uses, or why it isn't there."""

import numpy as np
import pytest

from costmodel import frontier, serve, sweep, where
from costmodel.case import resolve
from costmodel.energy import joules_per_token
from costmodel.scenario import scenario
from costmodel.used import used

ASKED = scenario(model="llama-3.1-70b", max_tpot_s=1 / 30, max_ttft_s=0.5)
CARDS = ["h100-sxm", "h200-sxm", "b200-sxm", "l4", "a100-sxm-80gb"]


@pytest.fixture(scope="module")
def ranking():
    return where.rank(ASKED, where=sweep.space(ASKED, hardware=CARDS))


def test_cheapest_first_and_all_kinds_in_one_list(ranking):
    costs = [p.usd_per_mtok for p in ranking.places]

    assert costs == sorted(costs)
    assert {p.kind for p in ranking.places} == {where.RENTED, where.OWNED, where.API}


def test_first_rented_is_the_frontiers_answer(ranking):
    area = sweep.space(ASKED, hardware=CARDS)
    best = frontier.ask(ASKED, where=area).cheapest
    first = ranking.of(where.RENTED)[0]

    assert first.usd_per_mtok == best.usd_per_mtok
    assert first.accelerator == best.accelerator


def test_every_accelerator_is_a_place_or_missing_with_a_reason(ranking):
    for kind in (where.RENTED, where.OWNED):
        placed = {p.accelerator.id for p in ranking.of(kind)}
        lacking = {m.accelerator.id for m in ranking.missing if m.kind == kind}
        assert placed | lacking == set(CARDS)
        assert not placed & lacking
    assert all(m.reason for m in ranking.missing)


def test_limits_that_are_missed_say_how_far_to_give():
    tight = ASKED.but(max_tpot_s=1 / 120)
    found = where.rank(tight, where=sweep.space(tight, hardware=["a100-sxm-80gb"], gpus=[1, 2, 4]))
    (missed,) = (m for m in found.missing if m.kind == where.RENTED)

    assert missed.reason == "misses the limits"
    assert missed.needed["max_tpot_s"] > 1 / 120
    assert missed.nearest.tpot_s <= missed.needed["max_tpot_s"] * (1 + 1e-9)


def test_owning_is_priced_on_its_own_basis(ranking):
    rented = {p.accelerator.id: p.pick.usd_per_gpu_hour for p in ranking.of(where.RENTED)}
    owned = {p.accelerator.id: p.pick.usd_per_gpu_hour for p in ranking.of(where.OWNED)}

    assert rented["h100-sxm"] == 3.99
    assert owned["h100-sxm"] == 1.55
    basis_owning = where.rank(ASKED.but(price_basis="owning"), where=sweep.space(ASKED, hardware=CARDS))
    assert basis_owning.of(where.RENTED)[0].basis == "on-demand"


def test_break_even_against_the_median_api(ranking):
    first = ranking.own[0]
    share = ranking.break_even(first)

    assert first.usd_per_mtok / share == pytest.approx(ranking.apis.median_usd_per_mtok)
    assert ranking.break_even(first, 1e-6) is None
    half = where.rank(ASKED.but(busy=0.5), where=sweep.space(ASKED, hardware=CARDS))
    assert half.own[0].usd_per_mtok == pytest.approx(2 * first.usd_per_mtok)
    assert half.break_even(half.own[0]) == pytest.approx(share)


def test_weights_that_do_not_fit_say_how_many_gpus_would():
    asked = scenario(model="llama-3.1-405b")
    found = where.rank(asked, kinds=(where.RENTED,), where=sweep.space(asked, hardware=["h100-sxm"], gpus=[1, 2]))
    (missing,) = found.missing

    assert missing.reason == "doesn't fit"
    assert missing.needed_gpus == 8


def test_kinds_and_orders(ranking):
    only = where.rank(ASKED, kinds=(where.API,), where=sweep.space(ASKED, hardware=CARDS))
    assert {p.kind for p in only.places} == {where.API}
    by_speed = [p for p in where.ordered(ranking.places, "speed") if p.pick]
    assert by_speed[0].pick.tokens_per_s == max(p.pick.tokens_per_s for p in by_speed)
    by_memory = [p for p in where.ordered(ranking.places, "memory used") if p.used]
    assert by_memory[0].used.memory == max(p.used.memory for p in by_memory)


def test_shares_are_shares_and_the_bound_is_the_roofline(ranking):
    for place in ranking.own:
        shares = (place.used.memory, place.used.bandwidth, place.used.arithmetic)
        assert all(0 < s <= 1 for s in shares)


def test_a_perfect_engine_at_its_bound_uses_all_of_it():
    asked = scenario(model="llama-3.1-8b", tp=1, profile="ideal", composition="whole-step", input_tokens=1)
    case = resolve(asked)
    served = serve.at_batch(case, batch=8.0)
    shares = used(case, batch=8.0, output_tokens_per_s=float(served.output_tokens_per_s))

    assert shares.bandwidth == pytest.approx(1, abs=0.02)
    assert shares.arithmetic < 0.1
    assert shares.memory == pytest.approx(shares.used_bytes / shares.capacity_bytes)


def test_a_small_model_on_a_large_card_is_a_mismatch():
    asked = scenario(model="llama-3.2-3b", max_tpot_s=1 / 250)
    found = where.rank(asked, kinds=(where.RENTED,), where=sweep.space(asked, hardware=["b200-sxm"], gpus=[1]))
    place = found.places[0]
    said = where.mismatch(place)

    assert place.used.memory < where.IDLE_MEMORY
    assert said.memory == place.used.memory
    assert said.capacity_bytes == place.accelerator.capacity_bytes


def test_energy_is_rated_power_over_tokens():
    found = sweep.sweep(ASKED, where=sweep.space(ASKED, hardware=["h100-sxm"], gpus=[4], kv=["bf16"]))
    energy = joules_per_token(found)

    assert energy.shape == found.tpot_s.shape
    expected = 700 * 4 / found.output_tokens_per_s
    np.testing.assert_allclose(energy, expected)
