"""Shares of levers pulled together, and the ladder."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from costmodel.coalitions import price
from costmodel.ladder import ladder
from costmodel.lever_rows import board
from costmodel.levers import Settings, by_name, combined, every, first_of_slots, refuses, settled
from costmodel.scenario import scenario
from costmodel.setups import Setup, naive
from costmodel.shapley import shares_of, split
from tests.test_levers import LAWS, paid, setups

FULL = Setup(scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5, shared=0.6, hit=0.3, busy=0.8))


def players(setup):
    chosen = settled(setup, Settings())
    return first_of_slots([x for x in every() if not refuses(x, setup, chosen)]), chosen


@settings(max_examples=30, deadline=None, derandomize=True)
@given(arrays(np.float64, 16, elements=st.floats(0, 100)))
def test_share_is_the_mean_over_all_orders(cost):
    mean = np.zeros(4)
    for order in permutations(range(4)):
        mask = 0
        for i in order:
            mean[i] += (cost[mask] - cost[mask | 1 << i]) / 24
            mask |= 1 << i

    np.testing.assert_allclose(shares_of(cost, 4), mean, atol=1e-9)


@LAWS
@given(setups())
def test_shares_add_up_to_the_total(setup):
    levers, chosen = players(setup)
    found = split(levers[:6], setup, chosen)

    assert found.exact
    assert found.shares.sum() == pytest.approx(found.total, abs=1e-9 * found.before_usd_per_mtok)
    assert found.waterfall.size == 0 or found.waterfall[-1] == found.after_usd_per_mtok


def test_twelve_are_exact_and_more_are_sampled_near_them():
    levers, chosen = players(FULL)
    few = split(levers[:12], FULL, chosen)
    many = split(levers, FULL, chosen)

    assert len(levers) > 12
    assert few.exact
    assert few.error == 0
    assert not many.exact
    assert 0 < many.error < 0.05
    assert many.shares.sum() == pytest.approx(many.total, abs=1e-9)


def test_a_combination_costs_what_its_setup_costs():
    levers, chosen = players(FULL)
    chance = np.random.default_rng(3)
    masks = chance.integers(0, 1 << len(levers), 40)
    for rechosen in (False, True):
        found = price(levers, FULL, chosen, masks=masks, rechosen=rechosen)
        for mask, usd in zip(masks, found.usd_per_mtok, strict=True):
            pulled = [x for i, x in enumerate(levers) if mask >> i & 1]
            setup = combined(pulled, FULL, chosen)
            alone = paid(setup, filled=rechosen or setup.filled)
            assert usd == pytest.approx(float(alone.usd_per_mtok[0]), rel=1e-9)


def test_strongest_interaction_of_two_is_what_they_miss_together():
    chosen = settled(FULL, Settings())
    levers = [by_name("weights"), by_name("kv")]
    cost = price(levers, FULL, chosen).usd_per_mtok
    (pair,) = split(levers, FULL, chosen).interactions

    assert pair.usd_per_mtok == pytest.approx(cost[1] + cost[2] - cost[3] - cost[0])


# The ladder -------------------------------------------------------------------------------------


@LAWS
@given(setups())
def test_rungs_never_rise_and_every_step_is_told(setup):
    found = ladder(board(setup, levers=[]))
    costs = [r.usd_per_mtok for r in found.rungs]

    assert all(a >= b for a, b in pairwise(costs))
    steps = [r.step for r in found.rungs] + [a.step for a in found.absent]
    assert sorted(steps) == sorted(("today", "perfect_engine", "best_here", "wall", "floor"))
    assert all(a.reason for a in found.absent)


def test_default_ladder():
    """The figures of the default scenario: answer floor 0.22 and prompt 0.12, best here 0.28 and 0.12."""
    found = ladder(board(Setup(scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5))))
    costs = {r.step: r.usd_per_mtok for r in found.rungs}

    assert 1.3 < costs["today"] < 1.8
    assert costs["perfect_engine"] == pytest.approx(0.70, abs=0.005)
    assert costs["best_here"] == pytest.approx(0.40, abs=0.005)
    assert costs["floor"] == pytest.approx(0.335, abs=0.005)
    assert [(a.step, a.reason) for a in found.absent] == [
        ("wall", "a perfect engine reaches the wall within 30 tok/s")
    ]
    assert [r.owner for r in found.rungs] == [
        "", "engine and kernels", "demand and scheduling", "architecture and hardware"
    ]  # fmt: skip


def test_missed_limit_comes_first():
    found = ladder(board(Setup(scenario(weights="fp8", batch=300, max_tpot_s=1 / 30))))

    assert found.said[0].startswith("First meet the limit: ")
    assert "where 30 are asked for" in found.said[0]


def test_paid_below_the_ideal_is_said():
    found = ladder(board(Setup(scenario(weights="fp8"))), paid_usd_per_mtok=0.5)

    assert "perfect_engine" in {a.step for a in found.absent}
    assert any("Today lies below" in s for s in found.said)


def test_latent_attention_moves_best_here_though_ranks_copy_it():
    """Best here counts the cache once: four ranks that each hold the whole latent hide no saving."""
    found = board(Setup(scenario(weights="fp8", max_tpot_s=1 / 30)))

    assert found.row("latent").allowed.best_here < 0.7 * found.allowed.best_here


def test_naive_stack_reaches_the_same_rungs():
    plain = Setup(scenario(weights="fp8"))
    low, high = ladder(board(plain)), ladder(board(naive(plain)))

    assert high.rungs[0].usd_per_mtok > low.rungs[0].usd_per_mtok
    assert high.rungs[-1].usd_per_mtok == pytest.approx(low.rungs[-1].usd_per_mtok)
