"""What the three source articles claim, and what is so (docs/model.md, "Claims"): one test each."""

import numpy as np
import pytest

from costmodel import catalog
from costmodel.case import resolve
from costmodel.edges import floor_time_per_token
from costmodel.explore import knee, model_card, point
from costmodel.scenario import scenario

REFERENCE = scenario(
    model="llama-3.1-8b", tp=1, profile="ideal", composition="whole-step", context_tokens=4096, hardware="h100-sxm"
)


def time_per_token_s(asked, batch):
    b = np.asarray(batch, dtype=float)
    return point(asked, batch=b).step_time_s / b


@pytest.mark.parametrize(("name", "over"), [("qwen3-30b-a3b", 2.0), ("gpt-oss-120b", 1.42), ("gemma-3-27b", 0.76)])
def test_query_width_is_not_the_models_width(name, over):
    """Attention arithmetic goes with n_q · d_h, which may lie above or below d_model."""
    model = catalog.model(name)
    mixer = next(layer.mixer for layer in model.layers if layer.mixer)

    assert mixer.flops[0].decode / (4 * model.d_model) == pytest.approx(over, abs=0.01)


def test_kv_width_undercounts_attention_by_the_group():
    mixer = catalog.model("llama-3.1-70b").layers[0].mixer

    assert mixer.flops[0].decode / (4 * mixer.n_kv_heads * 128) == 8


def test_ratio_of_compute_to_memory_rises_with_the_batch():
    """Memory time is affine, compute linear; the ratio nears (f/C)/(k/B)."""
    found = point(REFERENCE, batch=[1, 8, 64, 512, 1e7])
    ratio = found.compute_time_s / found.memory_time_s
    case = resolve(REFERENCE)
    k = float(case.plan.cache_bytes(np.asarray(4096.0))) / 3.35e12
    f = float(found.compute_time_s[0])

    assert (np.diff(ratio) > 0).all()
    assert ratio[-1] == pytest.approx(f / k, rel=1e-3)


def test_cost_past_the_ridge_is_flat():
    """Neither worse nor cheaper: under the roofline the cost per token stays."""
    short = REFERENCE.but(context_tokens=100)
    ridge = knee(short).compute_ridge_batch
    each = time_per_token_s(short, [ridge * 1.01, ridge * 2, ridge * 16])

    assert each == pytest.approx(np.full(3, each[0]), rel=1e-9)


def test_doublings_save_these_shares_of_the_weight_term():
    """8 → 16 removes 1/16 of the original weight term, 64 → 128 1/128."""
    each = time_per_token_s(REFERENCE.but(context_tokens=0), [1, 8, 16, 64, 128])

    assert (each[1] - each[2]) / each[0] == pytest.approx(0.0625)
    assert (each[3] - each[4]) / each[0] == pytest.approx(0.0078125)


def test_longer_steps_at_larger_batches_are_cache_not_arithmetic():
    """At 2k tokens, 8 → 128 sequences: memory 5.1 → 14.7 ms, arithmetic 0.13 → 2.1 ms, hidden."""
    found = point(REFERENCE.but(context_tokens=2048), batch=[8, 128])

    assert found.memory_time_s * 1e3 == pytest.approx([5.1, 14.7], abs=0.05)
    assert found.compute_time_s * 1e3 == pytest.approx([0.13, 2.1], abs=0.02)
    assert found.step_time_s == pytest.approx(found.memory_time_s)


def test_not_every_parameter_is_read():
    """The 8B's input table, 6.5 % of it, is looked up; a mixture reads what its tokens choose."""
    model = catalog.model("llama-3.1-8b")
    card = model_card(scenario(model="llama-3.1-8b"))

    assert 1 - card.read_params / model.total_params == pytest.approx(0.0654, abs=0.0005)
    mixtral = scenario(model="mixtral-8x7b")
    assert model_card(mixtral).read_params < 0.3 * catalog.model("mixtral-8x7b").total_params


@pytest.mark.parametrize(("output", "microseconds"), [(128, 93), (1024, 110), (8192, 250)])
def test_cost_per_output_token_grows_with_the_answer(output, microseconds):
    asked = REFERENCE.but(context_tokens=None, input_tokens=512, output_tokens=output)

    assert time_per_token_s(asked, 64) * 1e6 == pytest.approx(microseconds, abs=0.6)


def test_below_some_context_arithmetic_is_the_floor():
    """Below about 400 tokens the floor is f/C, not k/B."""
    case = resolve(REFERENCE)
    for context, arithmetic in ((300, True), (393, True), (394, False), (4096, False)):
        k = float(case.plan.cache_bytes(np.asarray(float(context)))) / 3.35e12
        floor = float(
            floor_time_per_token(plan=case.plan, machine=case.machine, context_tokens=np.asarray(context))
        )
        assert (floor > k) is arithmetic


def test_narrower_cache_halves_bytes():
    halved = [model_card(scenario(model="llama-3.1-8b", kv=kv)).kv_bytes_per_token for kv in ("bf16", "fp8")]

    assert halved[0] == 2 * halved[1]


@pytest.mark.parametrize(("kv", "intensity"), [("bf16", 242), ("fp8", 484)])
def test_latent_attention_may_be_arithmetic_bound(kv, intensity):
    """MLA decodes at 242 FLOP per byte, near or above the ridges of 153 (A100) and 295 (H100)."""
    plan = resolve(scenario(model="deepseek-v3", kv=kv, hardware="h200-sxm", tp=1)).plan
    context = np.asarray(1e5)

    assert float(plan.attention_flops(context) / plan.cache_bytes(context)) == pytest.approx(intensity, abs=0.6)
    assert catalog.accelerator("a100-sxm-80gb").ridge_flop_per_byte("bf16") == pytest.approx(153, abs=0.5)
    assert catalog.accelerator("h100-sxm").ridge_flop_per_byte("bf16") == pytest.approx(295, abs=0.5)


def test_64_sequences_are_20_times_cheaper_not_64():
    one, many = time_per_token_s(REFERENCE, [1, 64])

    assert one / many == pytest.approx(20, abs=0.5)


def test_long_context_is_dear_for_its_reads():
    """At 128k three fit: 6.6 ms a token, of which 5.1 would stay with any memory."""
    asked = REFERENCE.but(context_tokens=131072)
    case = resolve(asked)

    assert knee(asked).max_batch == 3
    assert time_per_token_s(asked, 3) * 1e3 == pytest.approx(6.6, abs=0.05)
    floor = floor_time_per_token(plan=case.plan, machine=case.machine, context_tokens=np.asarray(131072.0))
    assert floor * 1e3 == pytest.approx(5.1, abs=0.05)


def test_small_model_on_a_big_card_has_the_same_floor_per_cached_byte():
    """Floor over cached bytes is USD/h ÷ B whatever the model: a big card isn't wasted by demand."""
    ratios = []
    for name in ("llama-3.2-1b", "llama-3.1-8b", "llama-3.1-70b"):
        asked = scenario(model=name, tp=1, context_tokens=20_000, price_usd_per_gpu_hour=2)
        ratios.append(knee(asked).floor_usd_per_mtok / model_card(asked).moved_cache_bytes_per_sequence)

    assert ratios == pytest.approx([ratios[0]] * 3)


def test_mixture_reads_all_experts_at_large_batch():
    case = resolve(scenario(model="mixtral-8x7b", tp=2, weights="bf16"))
    few, many = case.plan.weight_bytes(np.asarray([1.0, 64.0]))

    assert few < 0.3 * many
    assert many == pytest.approx(case.plan.weight_bytes(np.asarray(1e9)), rel=1e-6)


def test_cache_of_64_sequences_of_a_13b():
    """214.7 GB in 16 bits, not 20: that is six sequences."""
    card = model_card(scenario(model="llama-2-13b", context_tokens=4096))

    assert 64 * card.cache_bytes_per_sequence == pytest.approx(214.7e9, rel=1e-3)
    assert 6 * card.cache_bytes_per_sequence == pytest.approx(20e9, rel=0.01)


def test_query_heads_in_the_cache_formula_count_eight_times_too_much():
    """2.62 MB against 328 kB per token of a 70B with grouped queries."""
    asked = scenario(model="llama-2-70b")
    as_heads = model_card(asked.but(kv_heads=64)).kv_bytes_per_token

    assert as_heads == pytest.approx(2.62e6, rel=1e-3)
    assert model_card(asked).kv_bytes_per_token == pytest.approx(328e3, rel=1e-3)


def test_a_7b_does_13_gflop_per_token():
    assert 2 * catalog.model("llama-2-7b").active_params / 1e9 == pytest.approx(13.2, abs=0.05)


def test_batch_64_leaves_an_a100_memory_bound():
    asked = scenario(model="llama-2-7b", hardware="a100-sxm-80gb", tp=1, weights="fp16", context_tokens=1024)

    assert knee(asked).linear_ridge_batch == pytest.approx(153, abs=0.5)
    assert point(asked.but(profile="ideal"), batch=64).bound == "memory"


def test_speeds_of_a_7b_on_an_a100():
    """By bytes 151 tok/s at batch 1, and at batch 64 with 1k tokens 23 ms: 43 tok/s each."""
    asked = scenario(model="llama-2-7b", hardware="a100-sxm-80gb", tp=1, profile="ideal", composition="whole-step")
    one = point(asked, batch=1, context_tokens=256).step_time_s
    many = point(asked, batch=64, context_tokens=1024).step_time_s

    assert 1 / one == pytest.approx(151, rel=0.02)
    assert many * 1e3 == pytest.approx(23, abs=0.5)
    assert 1 / many == pytest.approx(43, abs=0.5)


def test_first_token_within_50_ms_needs_a_short_prompt():
    """A 7B on an A100 at its peak prefills some 1,150 tokens in 50 ms, at 60 % of it some 700."""
    from costmodel.constants import IDEAL, Constants, Group
    from costmodel.prefill import prefill_time

    case = resolve(scenario(model="llama-2-7b", hardware="a100-sxm-80gb", tp=1, weights="fp16"))
    usual = Group(compute_share=np.asarray(0.6))
    for constants, tokens in ((IDEAL, 1170), (Constants(linear=usual, prefill=usual), 720)):
        lengths = np.arange(100, 3000, 10)
        times = prefill_time(plan=case.plan, machine=case.machine, constants=constants, new=lengths)
        longest = int(lengths[times <= 0.050].max())
        assert longest == pytest.approx(tokens, rel=0.05)


def test_prompts_bound_by_arithmetic_and_answers_by_memory():
    """Prefill of 2k tokens: hundreds of FLOP per byte; decode at batch 1: one."""
    one = point(REFERENCE, batch=1)

    assert one.bound == "memory"
    assert float(one.flops / one.bytes_read) < 2
    assert catalog.accelerator("h100-sxm").ridge_flop_per_byte("bf16") < 2 * 2000 * 7.5e9 / 15.0e9
