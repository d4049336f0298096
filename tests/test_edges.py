"""Edges of the curve, floor, best here: closed forms, roots, and when there is none."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from costmodel import edges
from costmodel.case import resolve
from costmodel.explore import best_here, floor_cost, ideal, knee, point, recommended, time_between_tokens
from costmodel.scenario import scenario
from tests import strategies

REFERENCE = scenario(model="llama-3.1-8b", tp=1, profile="ideal", composition="whole-step", context_tokens=4096)


def test_crossover_closed_form():
    """(W/g)/(k/shards), where doubling the batch still saves a quarter."""
    found = knee(REFERENCE).kv_crossover_batch
    each = [float(point(REFERENCE, batch=b).step_time_s) / b for b in (found, 2 * found)]

    assert found == pytest.approx(15.009316864e9 / (131072 * 4096))
    assert 1 - each[1] / each[0] == pytest.approx(0.25)


@pytest.mark.parametrize("name", ["mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b"])
def test_crossover_of_experts_is_a_root(name):
    case = resolve(scenario(model=name, hardware="b200-sxm", tp=1))
    found = edges.kv_crossover(plan=case.plan, context_tokens=2000)

    cache = found * float(case.plan.cache_bytes(np.asarray(2000.0)))
    assert cache == pytest.approx(float(case.plan.weight_bytes(np.asarray(found))), rel=1e-5)


@pytest.mark.parametrize(("share", "factor"), [(0.05, 9.0), (0.10, 4.0), (0.2, 1.5)])
def test_flattens_closed_form(share, factor):
    """On W/(bB) + k/B it is W/k · (1/(2q) − 1): 9·W/k at 5 %."""
    found = knee(REFERENCE.but(flat=share)).diminishing_returns_batch_ideal

    assert found == pytest.approx(factor * 15.009316864e9 / (131072 * 4096), rel=1e-5)


def test_flattens_is_one_where_the_first_doubling_saves_less():
    assert edges.flattens(curve=lambda b: 1e-3 * b, saves_less_than=0.1) == 1.0


def test_flattens_is_none_where_it_never_does():
    assert edges.flattens(curve=np.ones_like, saves_less_than=0.1) is None


def test_flattens_takes_the_last_crossing():
    """A curve that flattens, falls again, then flattens for good: from there on, every doubling."""

    def curve(b):
        return np.maximum(1.0, b / 8) * np.where(b > 1000, 0.2, 1.0)

    found = edges.flattens(curve=curve, saves_less_than=0.1)
    assert 990 < found < 1010


@pytest.mark.parametrize(("context", "exists"), [(100, True), (393, True), (394, False), (4096, False)])
def test_no_ridge_beyond_393_tokens(context, exists):
    found = knee(REFERENCE.but(context_tokens=context))

    assert (found.compute_ridge_batch is not None) is exists
    if exists:
        at = point(REFERENCE.but(context_tokens=context), batch=found.compute_ridge_batch)
        assert float(at.memory_time_s) == pytest.approx(float(at.compute_time_s), rel=1e-6)


@pytest.mark.parametrize(("weights", "batch"), [("bf16", 295), ("fp8", 295), ("awq-int4", 77)])
def test_linear_ridge(weights, batch):
    """C/B · bytes/2: narrow weights multiplied in bf16 bring it nearer."""
    assert knee(REFERENCE.but(weights=weights)).linear_ridge_batch == pytest.approx(batch, abs=0.6)


def test_ridge_of_experts_is_a_root():
    case = resolve(scenario(model="mixtral-8x7b", tp=2, context_tokens=64))
    found = edges.compute_ridge(plan=case.plan, machine=case.machine, context_tokens=64)
    at = point(scenario(model="mixtral-8x7b", tp=2, context_tokens=64, profile="ideal", composition="whole-step"),
               batch=found)  # fmt: skip

    assert float(at.memory_time_s) == pytest.approx(float(at.compute_time_s), rel=1e-5)


@given(limit=st.integers(0, 5000), most=st.integers(0, 4000))
def test_largest_within_is_the_largest_whole_batch(limit, most):
    found = edges.largest_within(curve=lambda b: b * 1e-3, limit_s=limit * 1e-3 + 5e-4, most=most)

    assert found == min(limit, most)


def test_largest_within_calls_the_curve_rarely():
    calls = []

    def curve(b):
        calls.append(1)
        return b * 1e-6

    assert edges.largest_within(curve=curve, limit_s=0.0123456, most=65_536) == 12_345
    assert len(calls) <= 4


def test_default_scenario():
    """Crossover 108, wall 343; with 30 tok/s the speed limit decides."""
    free = knee(scenario(weights="fp8"))
    limited = knee(scenario(weights="fp8", max_tpot_s=1 / 30))

    assert free.kv_crossover_batch == pytest.approx(108, abs=0.5)
    assert (free.max_batch, free.recommended_batch, free.decided_by) == (343, 343, "memory wall")
    assert limited.decided_by == "speed limit"
    assert limited.recommended_batch == limited.limit_batch < 343
    step = time_between_tokens(
        resolve(scenario(weights="fp8")), batch=[limited.limit_batch, limited.limit_batch + 1]
    )
    assert step[0] <= 1 / 30 < step[1]


def test_floor_by_hand():
    """k/B as money: 327,680 bytes/4 GPUs a token at 3.35e12, 2,000 tokens, 4 × 3.99 USD/h."""
    found = knee(scenario(weights="fp8")).floor_usd_per_mtok

    assert found == pytest.approx(327_680 / 4 * 2000 / 3.35e12 * 4 * 3.99 / 3600 * 1e6)


def test_floor_has_no_weights_in_it():
    costs = {knee(scenario(weights=w)).floor_usd_per_mtok for w in ("bf16", "fp8", "int4")}

    assert len(costs) == 1


def test_best_here_packs_memory_exactly():
    """The usable share less weights over a sequence's cache, at the ideal step: 358, 0.282 USD."""
    case = resolve(scenario(weights="fp8"))
    usd, batch = best_here(ideal(case))
    usable = 0.9 * float(case.accelerators[0].capacity_bytes)

    assert batch == int((usable - case.budget.weights_bytes) / (327_680 / 4 * 2000)) == 358
    assert usd == pytest.approx(0.282, abs=5e-4)


def test_best_here_meets_the_limit_on_the_ideal_step():
    asked = scenario(weights="fp8", max_tpot_s=0.012)
    found = knee(asked)
    step = point(asked.but(profile="ideal", composition="whole-step"), batch=found.best_here_batch).step_time_s

    assert float(step) <= 0.012
    assert found.best_here_batch < 358


def test_nothing_fits():
    found = knee(scenario(model="llama-3.1-405b", hardware="l40s", tp=8, weights="bf16"))

    assert (found.max_batch, found.recommended_batch, found.best_here_batch) == (0, 0, 0)
    assert found.decided_by == "weights don't fit"
    assert np.isnan(found.best_here_usd_per_mtok)


def test_limit_that_no_batch_meets():
    found = knee(scenario(model="llama-3.1-405b", hardware="h200-sxm", tp=8, weights="fp8", max_tpot_s=1e-4))

    assert (found.limit_batch, found.recommended_batch) == (0, 0)
    assert found.decided_by == "no batch meets the speed limit"


@pytest.mark.parametrize(
    ("wall", "limit", "unknown", "batch"),
    [(343, None, False, 343), (343, 500, False, 343), (343, 100, False, 100), (0, 100, False, 0),
     (343, 0, False, 0),
     (0, None, True, 0), (0, 50, True, 50)],
)  # fmt: skip
def test_recommended_says_which_edge_decided(wall, limit, unknown, batch):
    found, decided = recommended(wall=wall, limit=limit, unknown=unknown)

    assert found == batch
    assert decided


@given(asked=strategies.scenarios(speculation=True))
def test_order_of_floor_best_here_and_now(asked):
    """Floor ≤ best here ≤ the profile's cost at any batch that fits."""
    case = resolve(asked)
    floor = float(floor_cost(case))
    usd, batch = best_here(ideal(case))
    wall = float(point(asked).max_batch)
    assume(wall >= 1)

    assert floor <= usd * (1 + 1e-9)
    assert batch >= wall or batch == 2**20
    for b in (1.0, wall):
        assert usd <= float(point(asked, batch=b).usd_per_mtok) * (1 + 1e-9)


@given(asked=strategies.scenarios(speculation=True))
def test_knee_always_answers(asked):
    """Whatever the model: whole batches, roots of the right sign, costs in order."""
    found = knee(asked)

    for edge in (found.kv_crossover_batch, found.diminishing_returns_batch, found.diminishing_returns_batch_ideal,
                 found.compute_ridge_batch):  # fmt: skip
        assert edge is None or (edge > 0 and np.isfinite(edge))
    assert found.recommended_batch in {found.max_batch, 0}
    assert isinstance(found.max_batch, int)


@given(config=strategies.dense(), context=st.floats(1, 1e5))
def test_edges_are_where_they_say(config, context):
    asked = scenario(
        model=json.dumps(config), tp=1, profile="ideal", composition="whole-step", context_tokens=context,
        price_usd_per_gpu_hour=1,
    )  # fmt: skip
    found = knee(asked)
    if found.kv_crossover_batch is not None:
        plan = resolve(asked).plan
        k = float(plan.cache_bytes(np.asarray(context)))
        assert found.kv_crossover_batch * k == pytest.approx(plan.always_bytes, rel=1e-9)
    if found.compute_ridge_batch is not None and 1e-3 < found.compute_ridge_batch < 1e7:
        at = point(asked, batch=found.compute_ridge_batch)
        assert float(at.memory_time_s) == pytest.approx(float(at.compute_time_s), rel=1e-5)


def test_speculation_brings_the_ridge_nearer_and_lowers_the_floor():
    """Four tokens verified at once: arithmetic counts fourfold, the cache is read once for all."""
    one = REFERENCE.but(context_tokens=1000)
    four = one.but(spec_tokens=3, spec_acceptance=1.0)
    found = knee(four)
    case = resolve(one)
    k = float(case.plan.cache_bytes(np.asarray(1000.0))) / 3.35e12
    layer = k / 32

    assert knee(one).compute_ridge_batch is None
    assert found.compute_ridge_batch is not None
    assert found.kv_crossover_batch == knee(one).kv_crossover_batch
    f = 4 * float(edges.flop_time(plan=case.plan, machine=case.machine, context_tokens=np.asarray(1000.0)))
    draft = resolve(four).draft
    least = max(layer, float(edges.flop_time(plan=draft, machine=case.machine, context_tokens=np.asarray(1000.0))))
    assert found.floor_usd_per_mtok == pytest.approx((max(k, f) + 3 * least) / 4 * 3.99 / 3600 * 1e6)
