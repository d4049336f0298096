"""Points, edges, model and memory as people ask for them."""

import numpy as np
import pytest
from hypothesis import given

from costmodel import catalog
from costmodel.case import link_of, resolve
from costmodel.errors import InputError
from costmodel.explore import beyond_limit, knee, memory_report, model_card, point
from costmodel.scenario import scenario
from tests import strategies

PUBLISHED = {
    "llama-3.1-8b": (8_030_261_248, 131_072), "llama-3.1-70b": (70_553_706_496, 327_680),
    "llama-2-13b": (13_015_864_320, 819_200), "mixtral-8x7b": (46_702_792_704, 131_072),
    "gpt-oss-120b": (116_829_156_672, 73_728), "qwen3-235b-a22b": (235_093_634_560, 192_512),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_model_card(name):
    card = model_card(scenario(model=name, context_tokens=1000))
    params, per_token = PUBLISHED[name]

    assert card.total_params == params
    assert card.kv_bytes_per_token == per_token
    assert card.active_params <= card.total_params
    assert card.read_params <= card.total_params
    assert card.cache_bytes_per_sequence <= 1000 * per_token


def test_read_params_follow_the_batch():
    asked = scenario(model="mixtral-8x7b")
    one, many = model_card(asked), model_card(asked, batch=64)

    assert one.read_params == pytest.approx(one.active_params)
    assert many.read_params == pytest.approx(many.total_params - 32000 * 4096, rel=1e-3)


def test_bytes_and_flops_are_of_the_copy():
    """Four GPUs read the weights once between them; b · (W/b + k) and 2 · active · b, by hand."""
    asked = scenario(model="llama-3.1-70b", weights="bf16", tp=4, context_tokens=2000)
    found = point(asked, batch=16)
    model = catalog.model("llama-3.1-70b")
    matrices = 80 * sum(m.params for m in model.layers[0].matrices) + model.head_params

    assert found.bytes_read == pytest.approx(2 * matrices + 16 * 327_680 * 2000)
    assert found.flops == pytest.approx(16 * (2 * matrices + 80 * 4 * 8192 * 2000))


def test_speculation_counts_what_drafting_reads():
    asked = scenario(model="llama-3.1-8b", tp=1, context_tokens=0)
    one = point(asked, batch=8)
    drafted = point(asked.but(spec_tokens=2), batch=8)
    layer_and_head = 2 * (4096 * (4096 * 2 + 1024 * 2) + 3 * 4096 * 14336 + 128256 * 4096)

    assert drafted.bytes_read - one.bytes_read == pytest.approx(2 * layer_and_head)


def test_points_squeeze_to_the_axes_given():
    asked = scenario()

    assert np.shape(point(asked).step_time_s) == ()
    assert np.shape(point(asked, batch=[1, 2]).step_time_s) == (2,)
    assert np.shape(point(asked, context_tokens=[1, 2, 3]).step_time_s) == (3, 1)
    assert np.shape(point(asked, batch=[1, 2], context_tokens=[1, 2, 3]).step_time_s) == (3, 2)
    assert np.shape(point(asked, hardware=["h100-sxm", "h200-sxm"]).step_time_s) == (2, 1, 1)


def test_price_unknown_leaves_times():
    name = next(i for i in catalog.hardware() if catalog.price(i, "owning").usd_per_gpu_hour is None)
    asked = scenario(model="llama-3.2-1b", hardware=name, tp=1, price_basis="owning")
    found = point(asked)

    assert np.isnan(found.usd_per_mtok)
    assert found.step_time_s > 0
    assert found.case.price_reasons[0]
    assert np.isnan(knee(asked).floor_usd_per_mtok)
    assert point(asked.but(price_usd_per_gpu_hour=1.0)).usd_per_mtok > 0


def test_idle_hours_divide_what_is_paid_not_the_floor():
    half, full = (scenario(weights="fp8", busy=b) for b in (0.5, 1))

    assert float(point(half).usd_per_mtok) == pytest.approx(2 * float(point(full).usd_per_mtok))
    # Busy share is a lever that approaches the floor, so floor and best here are of a busy copy.
    assert knee(half).floor_usd_per_mtok == knee(full).floor_usd_per_mtok
    assert knee(half).best_here_usd_per_mtok == knee(full).best_here_usd_per_mtok


def test_context_beyond_the_limit_is_computed_and_said():
    model = catalog.model("llama-2-7b")
    found = point(scenario(model="llama-2-7b", tp=1, context_tokens=50_000))

    assert found.step_time_s > 0
    assert beyond_limit(model, np.asarray(50_000))
    assert not beyond_limit(model, np.asarray(4096))
    assert model_card(scenario(model="llama-2-7b", context_tokens=50_000)).beyond_limit


@pytest.mark.parametrize("bad", [0, -1, np.nan, np.inf, [1, 0], [1, np.nan], "x", [[1], [2, 3]], 1e300])
def test_batches_that_are_none(bad):
    with pytest.raises(InputError, match="^batch must be"):
        point(scenario(), batch=bad)


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf, 1e9, None])
def test_contexts_that_are_none(bad):
    if bad is None:
        assert point(scenario(), context_tokens=None).context_tokens == 2000
        return
    with pytest.raises(InputError, match="^context_tokens must be"):
        point(scenario(), context_tokens=[0, bad])


def test_kv_heads_as_built_are_no_change():
    built, typed = (point(scenario(kv_heads=n)).step_time_s for n in (None, 8))

    assert built == typed


def test_links_beyond_the_domain_are_pcie():
    """Up to 8 GPUs are always legal; what has no link talks over PCIe, and it is said."""
    card = catalog.accelerator("l40s")
    rate, said = link_of(card, 8)

    assert rate == pytest.approx(32e9)
    assert "PCIe" in said
    assert said in resolve(scenario(model="llama-3.1-8b", hardware="l40s", tp=8)).notes
    with pytest.raises(InputError, match="at most 8"):
        link_of(card, 16)


def test_a_pair_of_amd_cards_has_a_seventh_of_the_links():
    card = catalog.accelerator("mi300x")

    assert card.pairwise
    assert link_of(card, 2)[0] == pytest.approx(card.link_bytes_per_s / 7)
    assert link_of(card, 8)[0] == card.link_bytes_per_s


def test_fallback_of_arithmetic_is_said():
    notes = resolve(scenario(model="llama-3.1-8b", hardware="a100-sxm-80gb", tp=1, weights="fp8")).notes

    assert any("no fp8 arithmetic" in note for note in notes)


def test_more_gpus_may_be_slower():
    """Not a law: a 1B on two L40S waits longer for PCIe than it saves."""
    asked = scenario(model="llama-3.2-1b", hardware="l40s", batch=512, context_tokens=10)
    one, two = (float(point(asked.but(tp=tp)).step_time_s) for tp in (1, 2))

    assert two > one


def test_memory_report_of_no_cache_growth_is_finite_or_said():
    report = memory_report(scenario(model="llama-3.1-8b", tp=1), max_model_len=1)

    assert report.max_concurrency > 1000
    assert report.kv_tokens >= report.max_concurrency


@pytest.mark.parametrize(
    ("options", "word"),
    [({"memory_fraction": 0}, "memory_fraction must be above 0 and at most 1, got 0"),
     ({"memory_fraction": 1.5}, "memory_fraction"), ({"max_batched_tokens": 0}, "max_batched_tokens"),
     ({"max_sequences": -1}, "max_seqs"), ({"max_model_len": 0}, "max_model_len"),
     ({"max_model_len": -5}, "max_model_len"), ({"memory_fraction": float("nan")}, "memory_fraction")],
)  # fmt: skip
def test_memory_options_out_of_range(options, word):
    with pytest.raises(InputError, match=word):
        memory_report(scenario(), **options)


@given(asked=strategies.scenarios(speculation=True))
def test_every_figure_is_finite_and_positive(asked):
    found = point(asked)

    for name in ("step_time_s", "usd_per_mtok", "bytes_read", "flops", "memory_bytes"):
        assert np.isfinite(getattr(found, name)), name
        assert getattr(found, name) > 0, name
    for name in ("memory_time_s", "compute_time_s", "comm_time_s", "fixed_time_s"):
        assert getattr(found, name) >= -1e-15, name
    assert bool(found.fits) == bool(found.batch <= found.max_batch)
    assert found.low is None or found.low <= found.usd_per_mtok <= found.high


@given(asked=strategies.scenarios())
def test_ideal_has_no_band_and_no_links(asked):
    found = point(asked.but(profile="ideal"))

    assert (found.low, found.high) == (None, None)
    assert float(found.comm_time_s) == 0
    assert float(found.fixed_time_s) == 0
