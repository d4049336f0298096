"""Bits with scales, what a dtype covers, what multiplies it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel import catalog, dtypes
from costmodel.dtypes import arithmetic_unit, bits_per_weight, layout
from costmodel.errors import InputError
from costmodel.model import Published

BF16 = Published("bf16")
GPT_OSS = Published("mxfp4", covers=("expert",))
DEEPSEEK = Published("fp8", covers=("attention", "mlp", "expert"), block=128)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("fp32", 32), ("bf16", 16), ("fp16", 16), ("fp8", 8), ("int8", 8), ("mxfp8", 8.25),
        ("mxfp4", 4.25), ("nvfp4", 4.5), ("fp4", 4.5), ("awq-int4", 4.156), ("gptq-int4", 4.156),
        ("int4", 4.125), ("q4_0", 4.5), ("q4_1", 5.0), ("q4_k", 4.5), ("q5_0", 5.5),
        ("q6_k", 6.5625), ("q8_0", 8.5), ("exl2-2.5bpw", 2.5), ("exl2-3.0bpw", 3.0),
        ("bfp8 (not stated)", 8.5), ("awq int4", 4.156), ("fp8 (fbgemm)", 8), ("int4-g32", 4.5),
        ("bfloat16", 16), ("FP8_E4M3", 8), ("Q4_K_M", 4.85), ("exl2-4.65bpw", 4.65),
    ],
)  # fmt: skip
def test_bits_count_the_scales(name, bits):
    """Block bytes over block weights, worked out by hand."""
    assert bits_per_weight(name) == pytest.approx(bits, abs=5e-4)


def test_mixed_recipes_lie_between_their_block_formats():
    """As whole files of the recipes do."""
    assert 4.85 <= bits_per_weight("q4_k_m") <= 4.9
    assert bits_per_weight("q4_k") < bits_per_weight("q4_k_s") < bits_per_weight("q4_k_m") < 5.5
    assert bits_per_weight("q5_k") < bits_per_weight("q5_k_m") < bits_per_weight("q6_k")


@pytest.mark.parametrize("name", dtypes.WEIGHT_DTYPES)
def test_every_offered_dtype_parses_to_itself(name):
    """In any case; and its layout names dtypes that parse."""
    assert dtypes.dtype(name).name == dtypes.dtype(name.upper()).name == name
    for published in (BF16, GPT_OSS, DEEPSEEK):
        assert all(2 <= b <= 32 for b in layout(name, published).bits.values())


@pytest.mark.parametrize("name", ["fp7", "", "GGUF mix", "fp8/fp4 mixed", "exl2-9bpw", "exl2-xbpw"])
def test_unknown_dtype_is_told(name):
    """With the nearest names."""
    with pytest.raises(InputError, match=r"^weights must"):
        bits_per_weight(name)


@given(st.text(max_size=80))
def test_any_text_is_a_dtype_or_one_line(text):
    """For weights and cache."""
    for read in (bits_per_weight, dtypes.kv_bits):
        sentence = ""
        try:
            bits = read(text)
        except InputError as error:
            bits, sentence = 16, error.sentence
        assert 2 <= bits <= 32
        assert "\n" not in sentence


def test_checkpoints_quantise_the_layers_matrices_only():
    """Table, head, norms and router stay at 16 bits."""
    for name in ("awq-int4", "gptq-int4", "fp8", "nvfp4", "mxfp4", "int8"):
        bits = layout(name, BF16).bits
        assert bits["attention"] == bits["mlp"] == bits["expert"] == bits_per_weight(name)
        assert bits["head"] == bits["embedding"] == bits["small"] == 16


def test_gguf_quantises_table_and_head_too():
    """Only vectors stay wide."""
    bits = layout("q4_0", BF16).bits

    assert {s: b for s, b in bits.items() if b != 4.5} == {"small": 16}


def test_exl2_keeps_a_six_bit_head():
    """And a 16-bit table."""
    bits = layout("exl2-4.0bpw", BF16).bits

    assert (bits["mlp"], bits["head"], bits["embedding"], bits["small"]) == (4, 6, 16, 16)


def test_int4_means_the_published_group():
    """A table that says "int4" of a checkpoint with groups of 32 means that checkpoint."""
    kimi = Published("int4-g32", covers=("expert",))

    assert layout("int4", kimi) == layout(None, kimi)
    assert layout("int4", kimi).bits["expert"] == 4.5
    assert layout("int4", BF16).bits["expert"] == 4.125


def test_floats_cover_everything():
    """Also over a quantised checkpoint."""
    assert set(layout("fp32", BF16).bits.values()) == {32}
    assert set(layout("bf16", GPT_OSS).bits.values()) == {16}
    assert set(layout(None, BF16).bits.values()) == {16}


@pytest.mark.parametrize("name", [None, "mxfp4", "MXFP4"])
def test_as_published_keeps_the_published_coverage(name):
    """gpt-oss stores its experts alone in 4 bits."""
    held = layout(name, GPT_OSS)

    assert held.covered == ("expert",)
    assert held.bits["attention"] == 16
    assert layout("mxfp4", BF16).bits["attention"] == 4.25
    assert layout("fp8", GPT_OSS).covered == ("attention", "mlp", "expert")


@pytest.mark.parametrize(
    ("weights", "card", "unit"),
    [
        ("bf16", "h100-sxm", "bf16"), ("fp16", "h100-sxm", "bf16"), ("fp16", "t4", "fp16"),
        ("fp32", "h100-sxm", "fp32"), ("fp8", "h100-sxm", "fp8"), ("mxfp8", "b200-sxm", "fp8"),
        ("int8", "a100-sxm-80gb", "int8"), ("gptq-int8", "a100-sxm-80gb", "bf16"),
        ("awq-int4", "h100-sxm", "bf16"), ("q4_k_m", "apple-m2-ultra", "bf16"),
        ("exl2-4.0bpw", "rtx-4090", "bf16"), ("awq-int4", "t4", "fp16"),
        ("nvfp4", "b200-sxm", "fp4"), ("mxfp4", "b200-sxm", "fp8"), ("mxfp4", "mi355x", "fp8"),
        ("fp4", "gb200-nvl72", "fp4"),
    ],
)  # fmt: skip
def test_arithmetic_of_a_dtype_on_a_card_that_has_it(weights, card, unit):
    """Weight-only quantisation multiplies in 16 bits; no sentence, since nothing is missing."""
    assert arithmetic_unit(weights, catalog.accelerator(card)) == (unit, "")


@pytest.mark.parametrize(
    ("weights", "card", "unit", "sentence"),
    [
        ("fp8", "a100-sxm-80gb", "bf16",
         "A100 SXM 80GB has no fp8 arithmetic: stored in 8 bits, multiplied in bf16."),
        ("nvfp4", "h100-sxm", "bf16",
         "H100 SXM has no fp4 arithmetic: stored in 4 bits, multiplied in bf16."),
        ("mxfp4", "h100-sxm", "bf16",
         "H100 SXM has no fp4 arithmetic: stored in 4 bits, multiplied in bf16."),
        ("int8", "gaudi-2", "bf16",
         "Gaudi 2 has no int8 arithmetic: stored in 8 bits, multiplied in bf16."),
        ("fp8", "t4", "fp16", "T4 has no fp8 arithmetic: stored in 8 bits, multiplied in fp16."),
        ("bf16", "t4", "fp16", "T4 has no bf16 arithmetic: multiplied in fp16."),
        ("fp16", "tesla-p40", "fp32", "P40 has no fp16 arithmetic: multiplied in fp32."),
        ("fp32", "tpu-v5e", "bf16",
         "TPU v5e has no fp32 arithmetic: stored in 32 bits, multiplied in bf16."),
    ],
)  # fmt: skip
def test_arithmetic_falls_back_and_says_so(weights, card, unit, sentence):
    """The page shows the sentence."""
    assert arithmetic_unit(weights, catalog.accelerator(card)) == (unit, sentence)


def test_arithmetic_can_be_chosen():
    """A unit's name; one that the card lacks falls back as a dtype does."""
    h100, a100 = catalog.accelerator("h100-sxm"), catalog.accelerator("a100-sxm-80gb")

    assert arithmetic_unit("fp8", h100, "bf16") == ("bf16", "")
    assert arithmetic_unit("bf16", h100, "fp8") == ("fp8", "")
    assert arithmetic_unit("fp8", h100, "as stored") == ("fp8", "")
    assert arithmetic_unit("awq-int4", a100, "fp8")[0] == "bf16"
    assert "no fp8" in arithmetic_unit("awq-int4", a100, "fp8")[1]
    with pytest.raises(InputError, match=r"^arithmetic must be .* got 'fp5'"):
        arithmetic_unit("bf16", h100, "fp5")


@pytest.mark.parametrize("weights", dtypes.WEIGHT_DTYPES)
def test_the_unit_exists_on_every_card(weights):
    """Whatever is stored, the rate is a number."""
    for card in catalog.hardware().values():
        unit, sentence = arithmetic_unit(weights, card)

        assert card.has(unit)
        assert sentence == "" or card.short in sentence


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("bf16", 16), ("fp16", 16), ("f16", 16), ("fp8", 8), ("fp8_e5m2", 8), ("int8", 8),
        ("q8_0", 8.5), ("q4_0", 4.5), ("nvfp4", 4.5), ("fp32", 32),
    ],
)  # fmt: skip
def test_cache_bits(name, bits):
    """Scales included."""
    assert dtypes.kv_bits(name) == bits
