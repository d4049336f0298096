"""Configs become models: counts against published totals and against the model classes."""

import csv
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import catalog, importer
from costmodel.importer.keys import SPELLINGS
from costmodel.importer.traits import ALIASES, TRAITS
from costmodel.model import ALL, Model

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"
CONFIGS = ROOT / "presets/models"

with (GOLDEN / "models.csv").open() as table:
    next(table)
    MODELS = {row["hf_id"]: row for row in csv.DictReader(table)}

COUNTS = json.loads((GOLDEN / "param_counts.json").read_text())["rows"]

REMOTE = {
    # Families whose code isn't in transformers: totals of the published files, as recalled.
    "chatglm3-6b": (6_243_584_000, {
        "model_type": "chatglm", "hidden_size": 4096, "num_layers": 28, "num_attention_heads": 32,
        "kv_channels": 128, "multi_query_attention": True, "multi_query_group_num": 2,
        "ffn_hidden_size": 13696, "padded_vocab_size": 65024, "add_qkv_bias": True,
        "add_bias_linear": False, "seq_length": 8192}),
    "baichuan2-13b": (13_896_668_160, {
        "model_type": "baichuan", "hidden_size": 5120, "num_hidden_layers": 40,
        "num_attention_heads": 40, "intermediate_size": 13696, "vocab_size": 125696}),
    "qwen-7b": (7_721_324_544, {
        "model_type": "qwen", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 22016, "vocab_size": 151936}),
    "internlm2-20b": (19_861_149_696, {
        "model_type": "internlm2", "hidden_size": 6144, "num_hidden_layers": 48,
        "num_attention_heads": 48, "num_key_value_heads": 8, "intermediate_size": 16384,
        "vocab_size": 92544, "bias": False}),
    "minicpm-2b": (2_724_880_896, {
        "model_type": "minicpm", "hidden_size": 2304, "num_hidden_layers": 40,
        "num_attention_heads": 36, "num_key_value_heads": 36, "intermediate_size": 5760,
        "vocab_size": 122753, "tie_word_embeddings": True}),
    "deepseek-moe-16b": (16_375_728_128, {
        "model_type": "deepseek", "hidden_size": 2048, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
        "vocab_size": 102400, "moe_intermediate_size": 1408, "n_routed_experts": 64,
        "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1}),
}  # fmt: skip


def cache_sums(model: Model) -> tuple[float, float, float]:
    """Cache elements that grow with context, that stop at a window, that don't grow."""
    growing = windowed = fixed = 0.0
    for layer in model.layers:
        for term in layer.mixer.cache if layer.mixer else ():
            each = layer.count * term.elements
            if term.fixed:
                fixed += each
            elif term.kept == ALL:
                growing += each / term.stride
            elif term.kept > 0:
                windowed += each
    return growing, windowed, fixed


@pytest.mark.parametrize("name", MODELS)
def test_counts_equal_the_table(name):
    """Total and active parameters to the last one, cache elements, context limit."""
    row, model = MODELS[name], catalog.model(name)

    assert model.total_params == int(row["counted_params"])
    table = 0 if model.tied else model.embedding_params
    assert model.active_params == int(row["counted_active_params"]) - table
    assert model.context_limit == int(row["context_limit"])
    assert cache_sums(model) == (
        float(row["cache_elems_per_token_unbounded"]),
        float(row["cache_elems_per_token_windowed"]),
        float(row["fixed_state_elems_per_sequence"]),
    )


@pytest.mark.parametrize("row", COUNTS, ids=lambda row: row["name"])
def test_counts_equal_the_model_class(row):
    """Parameters as the published model class has them, odd variants included."""
    model = importer.load(row["config"])

    assert model.total_params == row["params"] - row.get("less", 0), row.get("why", "")


@pytest.mark.parametrize("name", REMOTE)
def test_counts_of_families_with_their_own_code(name):
    """Parameters of the published files."""
    total, config = REMOTE[name]

    assert importer.load(config).total_params == total


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda path: path.stem)
def test_text_dict_and_file_give_equal_models(path):
    """The three ways in agree."""
    text = path.read_text()

    assert importer.load(text) == importer.load(json.loads(text)) == importer.load(path)


def test_importing_is_fast():
    """A config takes under 5 ms, the slowest one under 20."""
    texts = [path.read_text() for path in CONFIGS.glob("*.json")]
    importer.load(texts[0])
    times = []
    for text in texts:
        start = time.process_time()
        importer.load(text)
        times.append(time.process_time() - start)

    assert sorted(times)[len(times) // 2] < 0.005
    assert max(times) < 0.02


def test_wrapper_with_a_sparse_text_config_takes_the_class_defaults():
    """Gemma 3 4B and LLaVA 1.5 say little more than what differs from their class."""
    gemma = importer.load({
        "model_type": "gemma3", "vision_config": {},
        "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
                        "model_type": "gemma3_text", "sliding_window": 1024},
    })  # fmt: skip
    llava = importer.load({
        "model_type": "llava",
        "text_config": {"model_type": "llama", "torch_dtype": "float16", "vocab_size": 32064},
    })

    assert (gemma.total_params, gemma.tied) == (3_880_263_168, True)
    assert (llava.total_params, llava.published.dtype) == (6_738_939_904, "fp16")


def test_searched_blocks_have_their_own_shapes():
    """Llama-Nemotron: attention or feed-forward left out, or linear, per block."""
    blocks = [
        {"attention": {"n_heads_in_group": 8}, "ffn": {"ffn_mult": 5.25}},
        {"attention": {"no_op": True}, "ffn": {"ffn_mult": 1.3125}},
        {"attention": {"replace_with_linear": True}, "ffn": {"no_op": True}},
    ]
    model = importer.load({
        "model_type": "nemotron-nas", "hidden_size": 8192, "num_hidden_layers": 3,
        "num_attention_heads": 64, "num_key_value_heads": None, "vocab_size": 128256,
        "block_configs": blocks, "tie_word_embeddings": False,
    })  # fmt: skip

    full, narrow, linear = model.layers
    assert full.feed_forward[0].d_ff == 28672
    assert narrow.feed_forward[0].d_ff == 7168
    assert (narrow.mixer, linear.mixer, linear.feed_forward) == (None, None, ())
    assert full.mixer.n_kv_heads == 8


QUANTISED = {
    "awq": ({"quant_method": "awq", "bits": 4}, "awq-int4", ("attention", "mlp", "expert")),
    "gptq8": ({"quant_method": "gptq", "bits": 8}, "gptq-int8", ("attention", "mlp", "expert")),
    "fp8": ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8",
            ("attention", "mlp", "expert")),
    "nvfp4": ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4",
              ("attention", "mlp", "expert")),
    "bnb4": ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4",
             ("attention", "mlp", "expert")),
    "packed": ({"quant_method": "compressed-tensors", "format": "pack-quantized",
                "config_groups": {"g": {"weights": {"num_bits": 4, "group_size": 32}}}},
               "int4-g32", ("attention", "mlp", "expert")),
    "w8a8": ({"quant_method": "compressed-tensors", "format": "int-quantized"}, "int8",
             ("attention", "mlp", "expert")),
}  # fmt: skip


@pytest.mark.parametrize("name", QUANTISED)
def test_quantisation_is_read(name):
    """Each format's dtype and what it covers; tables, head and vectors stay at 16 bits."""
    quantisation, dtype, covers = QUANTISED[name]
    config = json.loads((CONFIGS / "meta-llama__Meta-Llama-3.1-8B.json").read_text())
    published = importer.load(config | {"quantization_config": quantisation}).published

    assert (published.dtype, published.covers, published.rest) == (dtype, covers, "bf16")


def test_experts_alone_are_in_four_bits_where_the_checkpoint_says_so():
    """gpt-oss, Kimi K2.5 and K3; DeepSeek-V4 has a third dtype."""
    assert catalog.model("gpt-oss-120b").published.covers == ("expert",)
    assert catalog.model("kimi-k3").published.covers == ("expert",)
    v4 = catalog.model("deepseek-v4-flash").published
    assert (v4.dtype, dict(v4.per_class)) == ("mxfp4", {"attention": "fp8", "mlp": "fp8"})


@st.composite
def llamas(draw):
    """A small decoder of Llama's shape."""
    heads = draw(st.sampled_from([2, 4, 8]))
    return {
        "model_type": "llama",
        "hidden_size": heads * draw(st.integers(1, 64)),
        "intermediate_size": draw(st.integers(1, 500)),
        "num_hidden_layers": draw(st.integers(1, 40)),
        "num_attention_heads": heads,
        "num_key_value_heads": draw(st.sampled_from([1, 2])),
        "vocab_size": draw(st.integers(1, 1000)),
        "tie_word_embeddings": draw(st.booleans()),
    }


@given(llamas())
def test_more_layers_are_more_parameters(config):
    """Parameters grow by the same amount with every layer."""
    sizes = [
        importer.load(config | {"num_hidden_layers": config["num_hidden_layers"] + n}).total_params
        for n in range(3)
    ]

    assert 0 < sizes[1] - sizes[0] == sizes[2] - sizes[1]


@given(llamas())
def test_spelling_of_keys_does_not_matter(config):
    """Old and new names of a size mean the same."""
    renamed = {
        {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
         "num_attention_heads": "n_head"}.get(key, key): value
        for key, value in config.items()
    }  # fmt: skip

    assert importer.load(renamed) == importer.load(config)


@given(llamas())
def test_as_many_kv_heads_as_heads_is_the_default(config):
    """A config without KV heads is multi-head."""
    without = {k: v for k, v in config.items() if k != "num_key_value_heads"}
    every = config | {"num_key_value_heads": config["num_attention_heads"]}

    assert importer.load(without) == importer.load(every)


def test_the_documentation_names_every_spelling_and_family():
    """docs/models.md is as the code is."""
    text = (ROOT / "docs/models.md").read_text()

    for spellings in SPELLINGS.values():
        assert ", ".join(f"`{spelling}`" for spelling in spellings) in text
    for family in (*TRAITS, *ALIASES):
        assert family in text
