"""Levers: the laws that they keep, and that pricing many setups at once is pricing each alone."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costmodel import lever_records, serve
from costmodel.case import resolve
from costmodel.errors import InputError
from costmodel.lever_rows import board
from costmodel.levers import (
    Settings,
    applied,
    by_name,
    combined,
    every,
    first_of_slots,
    refuses,
    settled,
)
from costmodel.outcomes import run
from costmodel.perfect import at_batch_ideal, best
from costmodel.scenario import Scenario, scenario
from costmodel.setups import Setup, case_of, longest_over_mean, naive, scaled_fixed

LAWS = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def setups(draw):
    """Setups that an engine could load: dense, experts, latent and windowed models."""
    hardware, tp = draw(st.sampled_from((("h100-sxm", 4), ("h200-sxm", 8), ("b200-sxm", 8), ("a100-sxm-80gb", 8))))
    asked = scenario(
        model=draw(
            st.sampled_from(
                ("llama-3.1-70b", "llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "gemma-3-27b", "gpt-oss-120b",
                 "qwen3-30b-a3b", "qwen3-next-80b-a3b")
            )
        ),
        hardware=hardware,
        tp=tp if draw(st.booleans()) else 4,
        weights=draw(st.sampled_from((None, "bf16", "fp8", "awq-int4"))),
        kv=draw(st.sampled_from(("bf16", "fp8"))),
        input_tokens=draw(st.sampled_from((1, 100, 1500, 20_000))),
        output_tokens=draw(st.sampled_from((2, 50, 1000))),
        shared=draw(st.sampled_from((0.0, 0.3, 0.9))),
        hit=draw(st.sampled_from((0.0, 0.5, 1.0))),
        busy=draw(st.sampled_from((0.2, 0.9, 1.0))),
        batch=draw(st.sampled_from((1, 17, 64, 300, 5000))),
        max_tpot_s=draw(st.sampled_from((None, 1 / 30, 1 / 100))),
        max_ttft_s=draw(st.sampled_from((None, 0.5, 5.0))),
        spec_tokens=draw(st.sampled_from((0, 0, 2))),
        profile=draw(st.sampled_from(("calibrated", "calibrated", "ideal"))),
    )  # fmt: skip
    setup = Setup(asked)
    try:
        case_of(setup)
    except InputError:
        setup = Setup(asked.but(model="llama-3.1-8b"))
    return naive(setup) if draw(st.booleans()) else setup


def allowed(*many):
    """Best here, its batch, the wall's cost and the floor of setups."""
    cases = [case_of(s) for s in many]
    at = np.arange(len(many), dtype=np.int64)
    found = best(cases=cases, setups=many, case=at, setup=at)
    return np.stack([found.usd_per_mtok, found.batch, found.wall_usd_per_mtok, found.floor_usd_per_mtok])


def paid(setup, *, filled=False):
    at = np.zeros(1, dtype=np.int64)
    return run(cases=[case_of(setup)], setups=[setup], case=at, setup=at, filled=np.asarray([filled]))


@LAWS
@given(setups())
def test_levers_that_approach_leave_floor_and_best_here_alone(setup):
    chosen = settled(setup, Settings())
    levers = [x for x in every() if x.kind == "approaches"]
    after = [applied(x, setup, chosen) for x in levers] + [combined(levers, setup, chosen)]

    found = allowed(setup, *after)

    np.testing.assert_allclose(found, np.broadcast_to(found[:, :1], found.shape), rtol=1e-12)


@LAWS
@given(setups())
def test_levers_change_only_the_fields_that_they_declare(setup):
    chosen = settled(setup, Settings())
    for lever in every():
        after = applied(lever, setup, chosen)
        changed = {
            n for n in Scenario.model_fields if getattr(setup.scenario, n) != getattr(after.scenario, n)
        } | {
            f.name
            for f in fields(Setup)
            if f.name != "scenario" and getattr(setup, f.name) != getattr(after, f.name)
        }

        assert changed <= set(lever.fields), lever.name
        assert changed or refuses(lever, setup, chosen), lever.name


@LAWS
@given(setups())
def test_narrower_levers_never_cost_a_perfect_engine_more(setup):
    """Fewer bits, heads, positions or active weights: at equal batch never dearer (bounds only)."""
    chosen = settled(setup, Settings())
    before = at_batch_ideal(case=case_of(setup), setup=setup, batch=setup.scenario.batch)
    for name in ("weights", "kv", "heads", "windows", "experts", "cascade", "context"):
        after = applied(by_name(name), setup, chosen)
        then = at_batch_ideal(case=case_of(after), setup=after, batch=setup.scenario.batch)

        assert then <= before * (1 + 1e-9), name


@LAWS
@given(setups())
def test_a_lever_applied_twice_is_applied_once(setup):
    chosen = settled(setup, Settings())
    for lever in every():
        once = applied(lever, setup, chosen)

        assert applied(lever, once, chosen) == once, lever.name


@LAWS
@given(setups())
def test_a_combination_of_levers_that_do_not_apply_is_none(setup):
    chosen = settled(setup, Settings())
    useless = [x for x in every() if refuses(x, setup, chosen)]

    assert combined(useless, setup, chosen) == setup


@LAWS
@given(setups())
def test_today_is_what_serving_says(setup):
    plain = Setup(setup.scenario)
    found = paid(plain)
    alone = serve.at_batch(case_of(plain), batch=found.batch)
    work = serve.workload(plain.scenario)
    case = replace(case_of(plain), scenario=plain.scenario)
    alone = serve.at_batch(case, batch=found.batch)

    assert work.new >= 0
    np.testing.assert_allclose(found.usd_per_mtok, alone.usd_per_mtok, rtol=1e-9)
    np.testing.assert_allclose(found.tpot_s, alone.tpot_s, rtol=1e-9)
    np.testing.assert_allclose(found.ttft_s, alone.ttft_s, rtol=1e-9)


@LAWS
@given(setups())
def test_many_at_once_are_each_alone(setup):
    """Whatever stands beside it in the stack, a setup costs the same."""
    found = board(setup)
    for row in found.rows:
        if not row.applies or row.lever.name == "fill":
            continue
        alone = paid(row.lever.apply(setup, found.settings))
        ideal = allowed(row.lever.apply(setup, found.settings))[:, 0]

        np.testing.assert_allclose(row.kept.usd_per_mtok, alone.usd_per_mtok[0], rtol=1e-9)
        np.testing.assert_allclose(
            [row.allowed.best_here, row.allowed.floor], ideal[[0, 3]], rtol=1e-9, equal_nan=True
        )


@LAWS
@given(setups())
def test_rechosen_batch_is_the_largest_that_fits_and_meets(setup):
    found = board(setup, levers=[by_name("fill")])
    chosen, s = found.rechosen, setup.scenario
    if not chosen.meets or chosen.wall < 1 or setup.static_spread is not None:
        return
    assert chosen.batch <= chosen.wall
    if chosen.batch < chosen.wall:
        larger = paid(replace(setup, scenario=s.but(batch=chosen.batch + 1)))
        late = larger.tpot_s[0] > (s.max_tpot_s or np.inf) or larger.ttft_s[0] > (s.max_ttft_s or np.inf)
        assert late


def test_of_a_slot_only_the_first_counts():
    both = [by_name("latent"), by_name("heads"), by_name("kv")]

    assert [x.name for x in first_of_slots(both)] == ["latent", "kv"]
    assert {x.slot for x in both} == {"keys", "kv"}


def test_longest_answer_of_a_batch_was_drawn():
    chance = np.random.default_rng(5)
    sigma = np.sqrt(np.log1p(0.8**2))
    drawn = np.exp(sigma * chance.standard_normal((20_000, 64)) - sigma**2 / 2).max(axis=1).mean()

    assert longest_over_mean(batch=np.array([64.0]), spread=0.8)[0] == pytest.approx(drawn, rel=0.02)


def test_naive_stack_is_dearer_and_its_levers_apply():
    plain = Setup(scenario(weights="fp8", shared=0.5))
    found = board(naive(plain))

    assert found.today.usd_per_mtok > 3 * board(plain).today.usd_per_mtok
    for name in ("continuous", "paged", "prefix", "graphs"):
        assert found.row(name).applies
    assert found.row("continuous").kept.usd_per_mtok < found.today.usd_per_mtok
    assert found.row("continuous").label == "Continuous batching (23 % of slots busy)"
    assert found.row("paged").label == "Paged cache, blocks of 16 (reserve 79 % empty)"


def test_default_levers_say_why_they_do_not_apply():
    found = board(Setup(scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5)))
    reasons = {r.lever.name: r.reason for r in found.rows if not r.applies}

    assert reasons["prefix"] == "no part of the prompt repeats"
    assert reasons["continuous"] == "vLLM refills free slots every step already"
    assert reasons["busy"] == "the GPUs are 100 % busy already"


def test_unknown_lever_and_setting_are_told():
    with pytest.raises(InputError, match=r"^a lever must be one of .* got 'wieghts'; did you mean weights\?$"):
        by_name("wieghts")
    with pytest.raises(InputError, match="kernel_time_removed must be between 0 and 1, got 2"):
        Settings(kernel_time_removed=2)


@pytest.mark.parametrize("model", ["llama-3.1-70b", "gpt-oss-120b"])
def test_less_fixed_time_is_less_of_every_kernels(model):
    asked = scenario(model=model, weights="fp8" if model.startswith("llama") else None)
    case = resolve(asked)
    halved = replace(case, constants=scaled_fixed(case.constants, 0.5))

    found = next(row for row in lever_records.levers(Setup(asked))["levers"] if row["name"] == "graphs")

    expected = float(serve.at_batch(halved, batch=64.0).usd_per_mtok)
    assert found["cost_after"] == pytest.approx(expected)
