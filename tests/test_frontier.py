"""Limits answered: the cheapest is the cheapest, what binds binds, bands are honoured."""

from dataclasses import replace

import numpy as np
import pytest

from costmodel import frontier, serve, sweep
from costmodel.case import resolve
from costmodel.picks import Limits
from costmodel.scenario import scenario

ASKED = scenario(model="llama-3.1-70b", weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5)
CARDS = ["h100-sxm", "h200-sxm", "b200-sxm", "l40s"]


@pytest.fixture(scope="module")
def swept():
    return sweep.sweep(ASKED, where=sweep.space(ASKED, hardware=CARDS, gpus=[1, 2, 4, 8]))


@pytest.fixture(scope="module")
def answers(swept):
    return frontier.answer(swept, Limits.of(ASKED))


def everything(swept):
    """Every whole batch of every row, one call each."""
    for row in range(swept.setup.size):
        setup, card = swept.space.setups[swept.setup[row]], swept.space.hardware[swept.hardware[row]]
        batches = np.arange(1, swept.wall[row] + 1)
        yield card, serve.at_batch(resolve(setup.scenario(ASKED), [card]), batch=batches)


def test_cheapest_is_the_cheapest_of_every_whole_batch(swept, answers):
    best = min(
        served.usd_per_mtok[(served.tpot_s <= 1 / 30) & (served.ttft_s <= 0.5)].min(initial=np.inf)
        for _, served in everything(swept)
    )

    assert answers.cheapest.usd_per_mtok == pytest.approx(best, rel=1e-9)
    assert answers.cheapest.tokens_per_s >= 30
    assert answers.cheapest.ttft_s <= 0.5


def test_runner_up_is_on_other_hardware_and_no_cheaper(answers):
    assert answers.runner_up.accelerator.id != answers.cheapest.accelerator.id
    assert answers.runner_up.usd_per_mtok >= answers.cheapest.usd_per_mtok


def test_premium_is_what_the_limits_cost(answers):
    assert answers.unconstrained.usd_per_mtok < answers.cheapest.usd_per_mtok
    assert answers.premium_usd_per_mtok == pytest.approx(
        answers.cheapest.usd_per_mtok - answers.unconstrained.usd_per_mtok
    )


def test_the_binding_limit_is_the_one_whose_loss_saves(swept, answers):
    assert answers.binding == "max_tpot_s"
    assert frontier.answer(swept, Limits(max_ttft_s=100.0)).binding is None
    assert frontier.answer(swept, Limits()).binding is None


def test_relaxing_as_told_is_enough_and_less_is_not(swept):
    limits = Limits(max_tpot_s=1 / 2000)
    found = frontier.answer(swept, limits)

    assert found.cheapest is None
    assert found.binding == "max_tpot_s"
    (needed,) = found.relaxed.values
    assert frontier.answer(swept, Limits(max_tpot_s=needed)).cheapest is not None
    assert frontier.answer(swept, Limits(max_tpot_s=needed * 0.999)).cheapest is None


def test_one_limit_of_two_gives_way_if_that_is_enough(swept):
    found = frontier.answer(swept, Limits(max_tpot_s=1 / 30, budget_usd_per_mtok=0.05))

    assert found.relaxed.limits == ("budget_usd_per_mtok",)
    assert found.relaxed.pick.tokens_per_s >= 30


def test_two_limits_give_way_together(swept):
    found = frontier.answer(swept, Limits(max_tpot_s=1e-6, max_ttft_s=1e-6))

    assert set(found.relaxed.limits) == {"max_tpot_s", "max_ttft_s"}


def test_a_budget_buys_a_speed(swept):
    found = frontier.answer(swept, Limits(budget_usd_per_mtok=2.0))

    assert found.fastest.usd_per_mtok <= 2.0
    assert found.fastest.tokens_per_s >= found.cheapest.tokens_per_s


def test_a_faster_answer_costs_more(swept):
    rows = frontier.rungs(swept, Limits(max_ttft_s=0.5))
    costs = [r.pick.usd_per_mtok for r in rows if r.pick]

    assert costs == sorted(costs)
    assert [r.tokens_per_s for r in rows] == list(frontier.SPEEDS)
    assert rows[0].usd_per_extra_token_per_s is None


def test_lines_are_fronts_of_one_accelerator_each(swept):
    for line in frontier.lines(swept, Limits(max_ttft_s=0.5)):
        assert (np.diff(line.x) > 0).all()
        assert (np.diff(line.y) > 0).all()
        assert (swept.ttft_s.ravel()[line.index] <= 0.5).all()


def test_lines_over_other_axes(swept):
    for line in frontier.lines(swept, Limits(max_ttft_s=0.5), axes=("ttft", "throughput")):
        assert (np.diff(line.x) > 0).all()
        assert (np.diff(line.y) > 0).all()  # slower first tokens buy throughput
        assert np.isnan(line.low).all()


def with_band(pick, low, high):
    return replace(pick, low=pick.usd_per_mtok * low, high=pick.usd_per_mtok * high)


def test_bands_that_overlap_are_too_close_to_call(answers):
    first, second = answers.cheapest, replace(answers.cheapest, usd_per_mtok=answers.cheapest.usd_per_mtok * 1.2)

    assert with_band(first, 0.87, 1.13).overlaps(with_band(second, 0.87, 1.13))
    assert not with_band(first, 0.97, 1.03).overlaps(with_band(second, 0.97, 1.03))
    assert not first.overlaps(second) or np.isfinite(first.high)


def test_a_band_across_a_limit_may_miss_it(answers):
    pick = replace(answers.cheapest, tpot_s=1 / 32, ttft_s=0.1)

    assert with_band(pick, 0.87, 1.13).may_miss(answers.limits) == ("max_tpot_s",)
    assert with_band(pick, 0.97, 1.03).may_miss(answers.limits) == ()
    assert replace(pick, low=np.nan, high=np.nan).may_miss(answers.limits) == ()


def test_users_make_copies(answers):
    best = answers.cheapest
    fleet = frontier.fleet(best, users=best.batch * 3)

    assert fleet.copies == 3
    assert fleet.gpus == 3 * best.gpus
    assert fleet.usd_per_month == pytest.approx(fleet.gpus * best.usd_per_gpu_hour * 730)


def test_nothing_that_runs_says_why():
    asked = scenario(model="deepseek-v3")
    found = frontier.ask(asked, where=sweep.space(asked, hardware=["h100-sxm"], gpus=[1]))

    assert found.cheapest is None
    assert found.nothing_runs == "doesn't fit"
    assert found.relaxed is None
    assert frontier.lines(found.sweep, found.limits) == ()
    assert frontier.rungs(found.sweep, found.limits)[0].pick is None


def test_one_output_token_has_no_speed_limit():
    asked = scenario(model="llama-3.1-8b", output_tokens=1, max_tpot_s=0.01)
    found = frontier.ask(asked, where=sweep.space(asked, hardware=["h100-sxm"], gpus=[1]))

    assert found.cheapest is not None
    assert found.binding is None
