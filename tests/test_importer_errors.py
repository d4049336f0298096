"""Bad configs: one sentence each, that says what, the rule, the value and what to do."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import importer
from costmodel.errors import InputError

CONFIGS = Path(__file__).parent.parent / "presets/models"
LLAMA = json.loads((CONFIGS / "meta-llama__Meta-Llama-3.1-8B.json").read_text())
DEEPSEEK = json.loads((CONFIGS / "deepseek-ai__DeepSeek-V3.json").read_text())

SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
         "intermediate_size", "vocab_size", "max_position_embeddings")  # fmt: skip


def sentence(source) -> str:
    """The error of a source, which must be one printable line."""
    with pytest.raises(InputError) as caught:
        importer.load(source)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 320
    assert ";" in text
    return text


@pytest.mark.parametrize("key", SIZES)
@pytest.mark.parametrize(
    "value", [0, -1, float("nan"), float("inf"), True, "4096", [1], {}, 1.5, 10**40],
    ids=lambda value: str(value)[:8],
)  # fmt: skip
def test_a_size_must_be_a_whole_number_in_bounds(key, value):
    """Each size, each kind of nonsense."""
    assert sentence(LLAMA | {key: value}).startswith(f"{key} must be ")


@pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "num_attention_heads",
                                 "intermediate_size", "vocab_size"])  # fmt: skip
def test_a_missing_size_is_named(key):
    """A flat config always says its sizes: none is filled in."""
    without = {k: v for k, v in LLAMA.items() if k != key}

    assert sentence(without).startswith(f"config must give {key}")


@pytest.mark.parametrize(
    ("config", "start"),
    [
        (LLAMA | {"model_type": "quantum"}, "model_type must be a known architecture"),
        ({"hidden_size": 8}, "config must name its model_type"),
        ({"architectures": ["NopeForCausalLM"]}, "model_type must be a known architecture"),
        (LLAMA | {"model_type": 5}, "model_type must be text"),
        (LLAMA | {"model_type": "mllama"}, "model_type must be a known architecture"),
        (LLAMA | {"num_attention_heads": 33, "head_dim": None}, "num_attention_heads must divide"),
        (LLAMA | {"num_key_value_heads": 7}, "num_key_value_heads must divide"),
        (LLAMA | {"num_hidden_layers": 10_001}, "num_hidden_layers must be between 1 and 10000"),
        (LLAMA | {"tie_word_embeddings": "yes"}, "tie_word_embeddings must be true or false"),
        (LLAMA | {"torch_dtype": "x" * 5000}, "torch_dtype must be float32"),
        (LLAMA | {"quantization_config": []}, "quantization_config must be an object"),
        (LLAMA | {"quantization_config": {"quant_method": "a\x1b[31m"}}, "quantization_config"),
        (LLAMA | {"quantization_config": {"quant_method": "gptq", "bits": 3}}, "bits of"),
        (LLAMA | {"layer_types": ["full_attention"]}, "layer_types must have one entry per layer"),
        (LLAMA | {"layer_types": ["odd"] * 32}, "layer_types must name known kinds"),
        (LLAMA | {"layer_types": "full"}, "layer_types must be a list"),
        (DEEPSEEK | {"num_experts_per_tok": 300}, "num_experts_per_tok must be at most the 256"),
        (DEEPSEEK | {"n_routed_experts": 0}, "num_experts_per_tok must be at most the 0"),
        (DEEPSEEK | {"n_routed_experts": "256"}, "n_routed_experts must be a whole number"),
        (DEEPSEEK | {"kv_lora_rank": -5}, "kv_lora_rank must be between"),
        ({"model_type": "nemotron_h", "hidden_size": 8, "num_hidden_layers": 2, "vocab_size": 8,
          "hybrid_override_pattern": "MX"}, "hybrid_override_pattern must have one of"),
        ({}, "config must have keys"),
        ({1: 2}, "config must have text as keys"),
        (5, "config must be a dict, JSON text or a path"),
        (b"{}", "config must be a dict, JSON text or a path"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_bad_config_is_told(config, start):
    """What stands in the way comes first in the sentence."""
    assert sentence(config).startswith(start)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "config must be a JSON object"),
        ("[]", "config must be a JSON object"),
        ("{", "config must be JSON"),
        ('{"model_type": "llama", "hidden_size"', "config must be JSON"),
        ('{"a": 1} {"b": 2}', "config must be JSON"),
        ('{"a":' * 100_000, "config must nest at most 32 levels"),
        ('{"a":' + "[" * 5000, "config must nest at most 32 levels"),
        ('{"x": "' + "y" * 1_100_000 + '"}', "config must be at most 1000000 bytes"),
        ('{"model_type": "llama", "hidden_size": NaN}', "hidden_size must be a whole number"),
        ('{"model_type": "llama", "hidden_size": 1' + "0" * 5000 + "}", "hidden_size must be"),
        ('{"model_type": "<b>' + "A" * 900 + '"}', "model_type must be a known architecture"),
        ('{"model_type": "\\ud800"}', "model_type must be a known architecture"),
        ("/no/such/config.json", "config must be a file that exists"),
        ("\0", "config must be a file that exists"),
        ("a" * 5000, "config must be a readable file"),
    ],
    ids=lambda value: value[:24],
)
def test_a_bad_text_is_told(text, start):
    """Malformed, truncated, deep, huge and hostile texts, and paths to nothing."""
    assert sentence(text).startswith(start)


def test_a_bad_file_is_told(tmp_path):
    """A folder, and bytes that aren't text."""
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'{"a": "\xff"}')

    assert sentence(tmp_path).startswith("config must be a file, got the folder")
    assert sentence(latin).startswith("config must be UTF-8 text")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)


@given(st.sampled_from(sorted({*LLAMA, *DEEPSEEK, "layer_types", "text_config", "head_dim"})), JSON_VALUES)
def test_any_value_under_any_key_gives_a_model_or_a_sentence(key, value):
    """No other error leaves the importer."""
    for config in (LLAMA, DEEPSEEK):
        try:
            model = importer.load(config | {key: value})
        except InputError as error:
            assert str(error).isprintable()
        else:
            assert model.total_params > 0
