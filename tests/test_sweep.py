"""The sweep: each point is what `serve` says of it, each hole has its reason."""

import numpy as np
import pytest

from costmodel import serve, sweep
from costmodel.catalog import accelerator
from costmodel.errors import InputError
from costmodel.scenario import scenario

ASKED = scenario(model="llama-3.1-70b", weights="fp8")
CARDS = ["h100-sxm", "b200-sxm", "l40s", "a100-sxm-80gb", "rtx-4090"]
ONE = {"hardware": ["h100-sxm"], "gpus": [4], "kv": ["bf16"], "weights": ["fp8"]}


@pytest.fixture(scope="module")
def swept():
    return sweep.sweep(ASKED, where=sweep.space(ASKED, hardware=CARDS))


def test_every_point_is_accounted_for(swept):
    assert swept.evaluated + sum(swept.infeasible().values()) == swept.space.points
    assert np.bincount(swept.reasons().ravel())[0] == swept.evaluated


def test_points_equal_serve(swept):
    where = np.argwhere(swept.fits)
    chosen = np.random.default_rng(7).choice(len(where), 25, replace=False)
    for row, column in where[chosen]:
        setup = swept.space.setups[swept.setup[row]]
        card = swept.space.hardware[swept.hardware[row]]
        asked = setup.scenario(ASKED).but(hardware=card.id)
        alone = serve.serve(asked, batch=swept.batch[column])

        assert swept.usd_per_mtok[row, column] == pytest.approx(float(alone.usd_per_mtok))
        assert swept.ttft_s[row, column] == pytest.approx(float(alone.ttft_s))
        assert swept.tpot_s[row, column] == pytest.approx(float(alone.tpot_s))
        assert bool(alone.fits)


def test_points_that_fit_have_figures_and_the_wall_is_the_last_that_fits(swept):
    assert not np.isnan(swept.usd_per_mtok[swept.fits]).any()
    row = 0
    setup, card = swept.space.setups[swept.setup[row]], swept.space.hardware[swept.hardware[row]]
    asked = setup.scenario(ASKED).but(hardware=card.id)
    assert bool(serve.serve(asked, batch=swept.wall[row]).fits)
    assert not bool(serve.serve(asked, batch=swept.wall[row] + 1).fits)


def reason(**axes):
    where = sweep.space(ASKED, **{"gpus": [4], "weights": ["fp8"], "kv": ["bf16"]} | axes)
    found = sweep.sweep(ASKED, where=where)
    return next(iter(found.infeasible()), "feasible")


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"hardware": ["a100-sxm-80gb"]}, "no unit"),
        ({"hardware": ["a100-sxm-80gb"], "weights": ["bf16"], "kv": ["fp8"]}, "no unit"),
        ({"hardware": ["h100-sxm"], "gpus": [3]}, "TP not legal"),
        ({"hardware": ["h100-sxm"], "gpus": [16]}, "beyond the link domain"),
        ({"hardware": ["tpu-v6e"], "weights": ["bf16"]}, "no price on this basis"),
        ({"hardware": ["h100-sxm"], "gpus": [1], "weights": ["bf16"]}, "doesn't fit"),
    ],
)
def test_reasons(axes, words):
    assert reason(**axes) == words


def test_published_weights_run_in_the_fallback_of_engines():
    asked = scenario(model="gpt-oss-120b")
    where = sweep.space(asked, hardware=["h100-sxm"], gpus=[2], weights=[None], kv=["bf16"])
    found = sweep.sweep(asked, where=where)

    assert found.evaluated > 0


def test_limits_ask_nothing_of_the_engine_again():
    where = sweep.space(ASKED, hardware=["h100-sxm"], gpus=[4])
    first = sweep.sweep(ASKED.but(max_tpot_s=1 / 30, hardware="h100-sxm"), where=where)
    second = sweep.sweep(ASKED.but(max_ttft_s=0.2, hardware="l4", batch=3), where=where)

    assert first is second


def test_a_typed_price_holds_for_its_own_accelerator_only():
    asked = ASKED.but(price_usd_per_gpu_hour=1.0, hardware="h100-sxm")
    where = sweep.space(asked, hardware=["h100-sxm", "h200-sxm"], gpus=[4], kv=["bf16"])
    found = sweep.sweep(asked, where=where)
    prices = dict(zip(found.hardware.tolist(), found.usd_per_gpu_hour.tolist(), strict=True))

    assert prices[0] == 1.0
    assert prices[1] > 1.0


def test_beyond_the_wall_only_where_asked():
    where = sweep.space(ASKED, **ONE, batches=[1, 64, 5000])

    assert np.isnan(sweep.sweep(ASKED, where=where).usd_per_mtok[0, 2])
    every = sweep.sweep(ASKED, where=where, beyond_wall=True)
    assert every.usd_per_mtok[0, 2] > 0
    assert every.fits[0].tolist() == [True, True, False]


def test_rows_taken_from_a_case_equal_the_accelerator_alone():
    from costmodel.case import resolve

    case = resolve(ASKED, ["h100-sxm", "b200-sxm", "l40s"])
    part = sweep.taken(case, np.asarray([2, 0]))

    assert [a.id for a in part.accelerators] == ["l40s", "h100-sxm"]
    step = serve.at_batch(part, batch=[8.0]).step_s
    alone = serve.at_batch(resolve(ASKED.but(hardware="l40s")), batch=[8.0]).step_s
    assert step[0, 0, 0] == pytest.approx(alone[0])


def test_separate_prompt_gpus_take_prompts_out_of_the_way():
    where = sweep.space(ASKED, **ONE, batches=[1, 64], disaggregated=[False, True])
    found = sweep.sweep(ASKED, where=where)
    shared, apart = 0, 1

    assert (found.tpot_s[apart] < found.tpot_s[shared]).all()
    assert (found.prefill_copies[shared] == 0).all()
    assert found.prefill_copies[apart, 1] > found.prefill_copies[apart, 0] > 0


def test_models_side_by_side():
    where = sweep.space(ASKED, models=["llama-3.1-8b", "llama-3.1-70b"], hardware=["h100-sxm"], gpus=[4])
    found = sweep.sweep(ASKED, where=where)

    assert {s.model for s in where.setups} == {"llama-3.1-8b", "llama-3.1-70b"}
    assert found.evaluated > 0


def test_latents_may_be_split_by_sequence():
    asked = scenario(model="deepseek-v3")

    assert {s.split for s in sweep.space(asked).setups} == {"tensor", "attention-dp"}


@pytest.mark.parametrize("four_bits", [False, True])
def test_four_bits_are_asked_for(four_bits):
    names = {s.weights for s in sweep.space(ASKED, four_bits=four_bits).setups}

    assert ("nvfp4" in names) == four_bits


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"hardware": []}, "--hardware must name at least one value, got an empty selection"),
        ({"weights": []}, "--weights must name at least one value"),
        ({"gpus": []}, "--tp must name at least one value"),
        ({"batches": []}, "--batch must name at least one value"),
        ({"models": ["llama-3.1-8b", "llama-3.1-70b", "gpt-oss-120b", "gpt-oss-20b", "deepseek-v3"]}, "at most 4"),
        ({"hardware": ["h1000"]}, "hardware must be a known preset, got 'h1000'"),
        ({"weights": ["fp7"]}, "weights must be a known dtype"),
        ({"kv": ["fp7"]}, "kv must be a known dtype"),
        ({"batches": [0]}, "batch must be"),
        ({"batches": np.arange(1, 60_000)}, "a sweep must have at most 20,000,000 points"),
    ],
)
def test_bad_questions(axes, words):
    with pytest.raises(InputError, match=words):
        sweep.sweep(ASKED, where=sweep.space(ASKED, **axes))


def test_whole_presets_make_half_a_million_points():
    where = sweep.space(ASKED)

    assert where.points >= 500_000
    assert len(where.batches) == 256
    assert len(set(where.batches)) == 256
    assert accelerator("h100-sxm") in where.hardware
