"""Work of a step: bytes and FLOP from shapes, coverage of experts, legal splits."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import catalog
from costmodel.case import bits_of, model_of, parallel_of, resolve
from costmodel.errors import InputError
from costmodel.explore import model_card
from costmodel.mixers import GQA
from costmodel.scenario import scenario
from costmodel.work import (
    INDEXER_ELEMENTWISE,
    INDEXER_KERNELS,
    Parallel,
    check_split,
    coverage,
    legal_ways,
    plan,
    read_params,
)
from tests import strategies


def plan_of(name, **setup):
    return resolve(scenario(model=name, **({"tp": 1} | setup))).plan


def test_reference_case():
    """Llama-3.1-8B in bf16: 15.01 GB read, 131,072 bytes and 524,288 FLOP per cached token."""
    work = plan_of("llama-3.1-8b")
    thousand = np.asarray(1000.0)

    assert work.weight_bytes(np.asarray(1.0)) == pytest.approx(15.01e9, rel=1e-4)
    assert work.cache_bytes(thousand) == 131_072 * 1000
    assert work.attention_flops(thousand) == 524_288 * 1000


def test_linear_flops_are_twice_the_weights_used():
    work = plan_of("llama-3.1-8b")
    matrices = sum(layer.count * sum(m.params for m in layer.matrices) for layer in work.model.layers)

    assert sum(g.flops_per_token for g in work.gemms) == 2 * (matrices + work.model.head_params)


@pytest.mark.parametrize(("tokens", "touched"), [(1, 2.0), (16, 7.92)])
def test_mixtral_coverage(tokens, touched):
    assert 8 * coverage(tokens=np.asarray(float(tokens)), n_experts=8, top_k=2) == pytest.approx(
        touched, abs=0.005
    )


@pytest.mark.parametrize("tokens", [8, 32, 128])
def test_skewed_router_touches_fewer(tokens):
    """Zipf-1 over 256, 8 a token: 0.65 to 0.8 of what a uniform router touches."""
    t = np.asarray(float(tokens))
    share = coverage(tokens=t, n_experts=256, top_k=8, skew=1.0) / coverage(tokens=t, n_experts=256, top_k=8)

    assert 0.645 <= share <= 0.805


@given(
    experts=st.integers(1, 512), k=st.integers(1, 16), tokens=st.floats(0, 1e6), more=st.floats(1, 100),
    skew=st.floats(0, 2),
)  # fmt: skip
def test_coverage_rises_to_all_and_falls_per_token(experts, k, tokens, more, skew):
    k = min(k, experts)
    share = coverage(tokens=np.asarray([tokens, tokens * more, 1.0]), n_experts=experts, top_k=k, skew=skew)

    assert (share >= 0).all()
    assert (share <= 1 + 1e-12).all()
    assert share[1] >= share[0] - 1e-12
    assert share[1] <= share[0] * more + 1e-12
    assert share[2] == pytest.approx(k / experts, rel=1e-6)


def test_one_token_reads_what_is_active():
    """Three counts: resident, read, active; at one token read and active agree, but tables."""
    for name in ("mixtral-8x7b", "deepseek-v3", "gpt-oss-120b", "llama-3.1-8b", "qwen3-next-80b-a3b"):
        model = catalog.model(name)
        assert read_params(model, 1.0) == pytest.approx(model.active_params, rel=1e-9)
        assert model.active_params <= read_params(model, 64) <= model.total_params


def test_tied_table_is_stored_once_and_read():
    model = catalog.model("llama-3.2-1b")
    card = model_card(scenario(model="llama-3.2-1b"))

    assert model.tied
    assert card.total_params == 1_235_814_400
    assert card.read_params == pytest.approx(card.total_params)
    assert card.resident_weight_bytes == pytest.approx(2 * card.total_params)


@given(config=strategies.dense(), context=strategies.contexts)
def test_groups_of_one_are_multi_head(config, context):
    """GQA with as many KV heads as query heads is MHA, whichever way it is written."""
    heads = config["num_attention_heads"]
    grouped = json.dumps(config | {"num_key_value_heads": heads})
    written = {k: v for k, v in config.items() if k != "num_key_value_heads"}
    a, b = (
        plan_of(text) for text in (grouped, json.dumps(written | {"model_type": "llama", "sliding_window": None}))
    )
    if config.get("sliding_window"):
        return
    at = np.asarray(context)
    assert a.cache_bytes(at) == b.cache_bytes(at)
    assert a.attention_flops(at) == b.attention_flops(at)
    assert a.weight_bytes(at + 1) == b.weight_bytes(at + 1)
    assert a.resident_bytes == b.resident_bytes


@given(config=strategies.dense(), context=strategies.contexts)
def test_kv_heads_change_bytes_not_attention_flops(config, context):
    heads = config["num_attention_heads"]
    at = np.asarray(context)
    many, one = (plan_of(json.dumps(config), kv_heads=n) for n in (heads, 1))

    assert many.cache_bytes(at) == pytest.approx(heads * float(one.cache_bytes(at)))
    assert many.attention_flops(at) == one.attention_flops(at)
    assert many.resident_bytes >= one.resident_bytes


def test_windows_cap_what_is_read_and_kept():
    """Mistral-7B attends 4,096 positions, however long the context."""
    work = plan_of("mistral-7b")
    short, full, long = (np.asarray(c) for c in (1000.0, 4096.0, 30_000.0))

    assert work.cache_bytes(short) == 1000 * 131_072
    assert work.cache_bytes(long) == work.cache_bytes(full) == 4096 * 131_072
    assert work.stored.bytes_at(long) == 4096 * 131_072
    assert work.stored.bytes_at(long, slack_tokens=16) == 4112 * 131_072
    assert work.attention_flops(long) == work.attention_flops(full)


def test_sparse_latent_reads_its_best_positions_and_all_index_keys():
    """DeepSeek-V3.2: 2,048 latents of 576 and every index key of 128; stored, all of both."""
    work = plan_of("deepseek-v3.2", hardware="b200-sxm")
    at = 50_000.0

    assert work.cache_bytes(np.asarray(at)) == 61 * 2 * (2048 * 576 + at * 128)
    assert work.stored.bytes_at(np.asarray(at)) == 61 * 2 * at * (576 + 128)
    eight_bits = plan_of("deepseek-v3.2", hardware="b200-sxm", kv="fp8")
    assert eight_bits.stored.bytes_at(np.asarray(1.0)) == 61 * (656 + 132)


def test_states_are_read_and_written_whatever_the_context():
    work = plan_of("nemotron-h-56b", tp=8)
    at_zero, later = work.cache_bytes(np.asarray(0.0)), work.cache_bytes(np.asarray(1000.0))

    assert at_zero == pytest.approx(2 * work.stored.fixed_bytes)
    assert later > at_zero
    assert work.stored.bytes_at(np.asarray(0.0)) == work.stored.fixed_bytes


@given(asked=strategies.scenarios())
def test_a_copy_does_the_work_of_one_card_and_what_it_copies(asked):
    """Over all GPUs a copy reads and computes at least what one GPU would, never less."""
    model = model_of(asked)
    widths = bits_of(asked, model)
    split = parallel_of(asked)
    alone, spread = plan(model, widths, Parallel()), plan(model, widths, split)
    at, one = np.asarray(asked.context), np.asarray(1.0)
    ways = split.ways
    close = 1 - 1e-9

    assert spread.resident_bytes * ways >= alone.resident_bytes * close
    assert spread.weight_bytes(one) * ways >= alone.weight_bytes(one) * close
    assert spread.cache_bytes(at) * ways >= alone.cache_bytes(at) * close
    assert spread.attention_flops(at) * ways >= alone.attention_flops(at) * close


@given(asked=strategies.scenarios(), context=st.floats(0, 1e6), more=st.floats(0, 1e6))
def test_work_never_falls_with_context(asked, context, more):
    work = resolve(asked).plan
    at = np.asarray([context, context + more])

    for figure in (work.cache_bytes(at), work.attention_flops(at), work.stored.bytes_at(at)):
        assert figure[1] >= figure[0] >= 0


@given(asked=strategies.scenarios())
def test_fewer_bits_never_read_more(asked):
    at = np.asarray(asked.context)
    wide, narrow = (resolve(asked.but(weights="bf16", kv=kv)).plan for kv in ("bf16", "fp8"))

    assert narrow.cache_bytes(at) <= wide.cache_bytes(at)
    assert narrow.stored.bytes_at(at) <= wide.stored.bytes_at(at)


def test_embedding_is_resident_but_not_read():
    work = plan_of("llama-3.1-8b")

    assert work.resident_bytes - work.weight_bytes(np.asarray(1.0)) == pytest.approx(
        2 * 128256 * 4096 + 2 * (32 * 2 + 1) * 4096
    )  # the table, and norms, which are counted with elementwise kernels


def test_tensor_parallel_divides_all_but_small_parts():
    one, four = plan_of("llama-3.1-70b"), plan_of("llama-3.1-70b", tp=4)

    assert four.weight_bytes(np.asarray(1.0)) == pytest.approx(one.weight_bytes(np.asarray(1.0)) / 4)
    assert four.cache_bytes(np.asarray(100.0)) == one.cache_bytes(np.asarray(100.0)) / 4
    assert (one.collectives, four.collectives) == (0, 160)


def test_layers_of_one_part_reduce_once():
    """Nemotron-H's 118 layers hold a mixer or a feed-forward each."""
    assert plan_of("nemotron-h-56b", tp=8).collectives == 118
    assert plan_of("mixtral-8x7b", tp=8).collectives == 64


def test_parallel_blocks_reduce_once_per_layer():
    assert plan_of("command-r", tp=4).collectives == 40


@pytest.mark.parametrize(
    ("name", "tp", "word"),
    [
        ("llama-3.1-8b", 3, "--tp must divide the heads"),
        ("qwen2.5-7b", 8, "--tp must divide the heads"),
        ("llama-3.1-70b", 16, "at most 8"),
        ("llama-3.1-8b", 1024, "--tp must divide the heads"),
    ],
)
def test_illegal_splits_say_what_would_do(name, tp, word):
    with pytest.raises(InputError, match=word) as caught:
        resolve(scenario(model=name, tp=tp))
    assert caught.value.field == "tp"
    assert "use " in caught.value.sentence


def test_blocks_of_scales_are_not_cut():
    """Qwen3-235B in its fp8 checkpoint: 1,536 over 8 isn't whole blocks of 128, over 4 it is."""
    model = catalog.model("qwen3-235b-a22b")
    check_split(model, Parallel(ways=4), block=128)
    with pytest.raises(InputError, match="whole blocks"):
        check_split(model, Parallel(ways=8), block=128)
    check_split(model, Parallel(ways=8, expert_ways=8), block=128)


def test_more_stages_than_layers():
    with pytest.raises(InputError, match="--pp must be at most the layers"):
        check_split(catalog.model("llama-3.2-1b"), Parallel(stages=17), block=1)


def test_legal_ways_are_powers_of_two_that_divide():
    assert legal_ways(catalog.model("llama-3.1-70b")) == (1, 2, 4, 8, 16, 32, 64)
    assert legal_ways(catalog.model("qwen2.5-7b")) == (1, 2, 4)


def test_kv_heads_may_be_copied_but_not_cut():
    """Twelve query heads over 3 KV heads: 2 ways neither divide nor are a multiple."""
    model = replace(
        catalog.model("llama-3.1-8b"),
        layers=(replace(catalog.model("llama-3.1-8b").layers[0], mixer=GQA(1536, 12, 3, 128)),),
    )
    with pytest.raises(InputError, match="KV heads"):
        check_split(model, Parallel(ways=2), block=1)
    check_split(model, Parallel(ways=3), block=1)
    check_split(model, Parallel(ways=6), block=1)


def test_sparse_attention_launches_its_indexer():
    """GLM-5 picks positions before it attends: scores, top-k, attention; DeepSeek-R1 only attends."""
    glm, deepseek = plan_of("glm-5", tp=8), plan_of("deepseek-r1", tp=8)

    assert {a.kernels for a in glm.attention} == {INDEXER_KERNELS}
    assert {a.kernels for a in deepseek.attention} == {1.0}
    assert glm.elementwise_kernels == (4 + INDEXER_ELEMENTWISE) * glm.model.n_layers
    assert deepseek.elementwise_kernels == 4 * deepseek.model.n_layers
