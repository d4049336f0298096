"""Mixers: cache and arithmetic per layer against figures worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import catalog
from costmodel.errors import InputError
from costmodel.mixers import GQA, MLA, Compressed, DeltaNet, Indexer, Mamba2, Pair, with_kv_heads
from costmodel.model import ALL

DEEPSEEK = MLA(7168, 128, q_rank=1536, kv_rank=512, d_nope=128, d_rope=64, d_value=128)
INDEXER = Indexer(heads=64, width=128, top_k=2048)


def pair_flops(model) -> float:
    """FLOP of one decoded token per cached position, over all layers."""
    return sum(
        layer.count * term.decode
        for layer in model.layers
        for term in (layer.mixer.flops if layer.mixer else ())
    )


def test_grouped_attention_counts_query_heads():
    """Llama-3.1-8B: 65,536 elements and 524,288 FLOP per cached token (docs/model.md)."""
    model = catalog.model("llama-3.1-8b")

    assert sum(la.count * la.mixer.cache[0].elements for la in model.layers) == 65_536
    assert pair_flops(model) == 524_288


def test_latent_attention_decodes_absorbed_and_prefills_expanded():
    """DeepSeek-V3: 278,528 FLOP per position in decode, 81,920 per pair in prefill."""
    (term,) = DEEPSEEK.flops

    assert (term.decode, term.prefill) == (278_528, 81_920)
    assert DEEPSEEK.expand_flops_per_cached_token == 2 * 512 * 128 * 256
    assert DEEPSEEK.cache[0].elements == 576
    assert DEEPSEEK.cache[0].shards == 1


def test_sparse_latent_attention_reads_the_best_positions_and_all_keys():
    """In 8 bits a position takes 656 bytes and an index key 132, as vLLM stores them."""
    latent, key = MLA(7168, 128, 1536, 512, 128, 64, 128, indexer=INDEXER).cache

    assert (latent.kept, latent.read, latent.packed_8bit_bytes) == (ALL, 2048, 656)
    assert (key.kept, key.read, key.packed_8bit_bytes) == (ALL, ALL, 132)


def test_a_layer_that_shares_an_indexer_keeps_no_keys():
    """It reads the positions that an earlier layer chose."""
    shared = Indexer(heads=64, width=128, top_k=2048, keeps_keys=False)
    mixer = MLA(7168, 128, 1536, 512, 128, 64, 128, indexer=shared)

    assert len(mixer.cache) == 1
    assert mixer.cache[0].read == 2048
    assert mixer.matrices == DEEPSEEK.matrices


def test_compressed_attention_keeps_a_window_entries_and_their_keys():
    """DeepSeek-V4: 128 positions, 1/4 of them compressed with keys, or 1/128 without."""
    index = Indexer(heads=64, width=128, top_k=512)
    common = {"q_rank": 1024, "out_rank": 1024, "out_groups": 8, "window": 128}
    near, entry, key = Compressed(4096, 64, 512, **common, ratio=4, indexer=index).cache
    _, coarse = Compressed(4096, 64, 512, **common, ratio=128).cache

    assert (near.elements, near.kept) == (512, 128)
    assert (entry.elements, entry.stride, entry.read) == (512, 4, 512)
    assert (key.elements, key.stride, key.read) == (128, 4, ALL)
    assert (coarse.elements, coarse.stride, coarse.read) == (512, 128, ALL)


def test_recurrent_states_are_fixed_and_split_by_head():
    """Qwen3-Next: 32 states of 128 x 128, and three inputs of 8192 convolution channels."""
    state, tail = DeltaNet(2048, 16, 32, 128, 128, kernel=4).cache
    ssm, conv = Mamba2(4096, 128, 64, 128, n_groups=1, kernel=4).cache

    assert (state.elements, state.fixed, state.shards) == (524_288, True, 32)
    assert tail.elements == 24_576
    assert ssm.elements + conv.elements == 1_073_920


def test_state_width_follows_the_config():
    """Qwen3.5 keeps its state in 32 bits, Granite 4 says nothing."""
    wide = [t.bits for la in catalog.model("qwen3.5-27b").layers for t in la.mixer.cache if t.fixed]
    quiet = [
        t.bits for la in catalog.model("granite-4.0-h-small").layers for t in la.mixer.cache if t.fixed
    ]

    assert wide == [32.0, None]
    assert quiet == [None, None]


def test_layers_that_borrow_a_cache_read_but_keep_none():
    """Gemma 3n's last layers have no key and value projections of their own."""
    own = GQA(2048, 8, 2, 256)
    borrowed = GQA(2048, 8, 2, 256, keeps_cache=False)

    assert borrowed.cache[0].kept == 0
    assert borrowed.cache[0].read == own.cache[0].read
    assert {m.name for m in borrowed.matrices} == {"qkv", "o"}
    assert sum(m.params for m in own.matrices) - sum(m.params for m in borrowed.matrices) == (
        2 * 2 * 256 * 2048
    )


def test_two_mixers_in_a_layer_add_up():
    """Falcon-H1: attention's cache and Mamba's state."""
    attention, mamba = GQA(5120, 20, 4, 128), Mamba2(5120, 32, 128, 256, n_groups=2, kernel=4)
    both = Pair(attention, mamba)

    assert both.cache == (*attention.cache, *mamba.cache)
    assert both.n_q_heads == 4


def test_changing_kv_heads_moves_cache_and_projections():
    """A 70B with 64 KV heads caches eight times as much."""
    model = catalog.model("llama-3.1-70b")
    wide = with_kv_heads(model, 64)

    assert wide.layers[0].mixer.cache[0].elements == 8 * model.layers[0].mixer.cache[0].elements
    assert wide.total_params - model.total_params == 80 * 2 * (64 - 8) * 128 * 8192
    assert with_kv_heads(wide, 8) == model


def test_kv_heads_that_do_not_fit_are_told():
    """They must divide the query heads, and there must be some."""
    with pytest.raises(InputError, match="kv_heads must divide the 64 query heads, got 7"):
        with_kv_heads(catalog.model("llama-3.1-70b"), 7)
    with pytest.raises(InputError, match="kv_heads can't change in deepseek-v3"):
        with_kv_heads(catalog.model("deepseek-v3"), 8)


@given(st.integers(1, 64), st.integers(1, 256), st.integers(1, 4096))
def test_multi_head_is_grouped_with_groups_of_one(heads, width, d_model):
    """As many KV heads as query heads: key and value as wide as the query."""
    mixer = GQA(d_model, 1 * heads, 1, width).with_kv_heads(heads)

    assert mixer == GQA(d_model, heads, heads, width)
    assert mixer.cache[0].elements == 2 * heads * width
    assert sum(m.params for m in mixer.matrices) == 4 * heads * width * d_model


@given(st.integers(1, 64), st.integers(1, 256), st.integers(1, 10_000))
def test_a_window_caps_what_is_kept_read_and_multiplied(heads, width, window):
    """All three by the same number of positions."""
    mixer = GQA(512, heads, 1, width, window=window)

    assert mixer.cache[0].kept == mixer.cache[0].read == mixer.flops[0].cap == window
