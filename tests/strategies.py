"""Random models, splits and scenarios for the laws (hypothesis).

Models are written as a Hugging Face config, so that every law also passes through the importer;
recurrent, sparse and windowed ones are presets.
"""

import json

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from costmodel.case import resolve
from costmodel.errors import InputError
from costmodel.scenario import scenario

settings.register_profile(
    "laws",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("laws")

HARDWARE = ("h100-sxm", "h200-sxm", "b200-sxm", "a100-sxm-80gb", "l40s", "mi300x", "rtx-4090")
PRESETS = (
    "qwen3-next-80b-a3b", "kimi-linear-48b-a3b", "nemotron-h-56b", "granite-4.0-h-small", "gpt-oss-20b",
    "gemma-3-27b", "deepseek-v3.2", "minimax-m3", "deepseek-v4-flash", "minimax-m1", "llama-4-scout",
)  # fmt: skip
contexts = st.one_of(st.just(0.0), st.floats(1, 1e6), st.integers(1, 200_000).map(float))
batches = st.one_of(st.integers(1, 4096).map(float), st.floats(1, 60_000))


@st.composite
def dense(draw):
    """A dense decoder's config; multi-head, grouped or multi-query, tied or not, windowed or not."""
    kv = draw(st.sampled_from((1, 2, 4, 8, 16)))
    config = {
        "model_type": "llama",
        "hidden_size": 128 * draw(st.integers(1, 64)),
        "intermediate_size": 256 * draw(st.integers(1, 96)),
        "vocab_size": 8 * draw(st.integers(100, 30_000)),
        "num_hidden_layers": draw(st.integers(1, 96)),
        "num_attention_heads": kv * draw(st.sampled_from((1, 2, 4, 8))),
        "num_key_value_heads": kv,
        "head_dim": draw(st.sampled_from((32, 64, 96, 128, 256))),
        "tie_word_embeddings": draw(st.booleans()),
        "max_position_embeddings": 131072,
    }
    if draw(st.booleans()):
        config |= {"model_type": "mistral", "sliding_window": draw(st.integers(1, 8192))}
    return config


@st.composite
def experts(draw):
    """The same with a mixture of experts."""
    n = draw(st.sampled_from((2, 8, 16, 64, 128)))
    return draw(dense()) | {
        "model_type": "mixtral",
        "sliding_window": None,
        "num_local_experts": n,
        "num_experts_per_tok": draw(st.integers(1, min(n, 8))),
    }


@st.composite
def latent(draw):
    """Latent attention with experts, shared experts and leading dense layers."""
    heads = draw(st.sampled_from((8, 16, 64, 128)))
    layers = draw(st.integers(2, 80))
    n = draw(st.sampled_from((16, 64, 256)))
    return {
        "model_type": "deepseek_v3",
        "hidden_size": 256 * draw(st.integers(1, 32)),
        "intermediate_size": 1024 * draw(st.integers(1, 18)),
        "moe_intermediate_size": 256 * draw(st.integers(1, 8)),
        "vocab_size": 129280,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "q_lora_rank": draw(st.sampled_from((None, 512, 1536))),
        "kv_lora_rank": draw(st.sampled_from((128, 512))),
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "n_routed_experts": n,
        "num_experts_per_tok": draw(st.integers(1, 8)),
        "n_shared_experts": draw(st.integers(0, 2)),
        "first_k_dense_replace": draw(st.integers(0, min(3, layers - 1))),
        "moe_layer_freq": 1,
        "max_position_embeddings": 163840,
        "tie_word_embeddings": False,
    }


models = st.one_of(
    dense().map(json.dumps), experts().map(json.dumps), latent().map(json.dumps), st.sampled_from(PRESETS)
)


def legal(asked):
    """Whether a scenario's split can be loaded."""
    try:
        resolve(asked)
    except InputError:
        return False
    return True


@st.composite
def _scenarios(draw, profiles, speculation):
    tp = draw(st.sampled_from((1, 1, 2, 4, 8)))
    split = draw(st.sampled_from(("tensor", "tensor", "attention-dp", "pipeline")))
    return scenario(
        model=draw(models),
        hardware=draw(st.sampled_from(HARDWARE)),
        tp=tp,
        split=split,
        pp=draw(st.sampled_from((1, 1, 1, 2))),
        ep=draw(st.sampled_from((1, tp))),
        weights=draw(st.sampled_from((None, "bf16", "fp8", "int4", "nvfp4", "q4_k_m"))),
        kv=draw(st.sampled_from(("bf16", "fp8"))),
        context_tokens=draw(contexts),
        batch=draw(batches),
        engine=draw(st.sampled_from(("vllm", "sglang", "tensorrt-llm", "llama.cpp"))),
        profile=draw(st.sampled_from(profiles)),
        composition=draw(st.sampled_from(("per-op", "whole-step"))),
        price_usd_per_gpu_hour=2.0,
        spec_tokens=draw(st.integers(0, 4)) if speculation else 0,
        spec_acceptance=draw(st.floats(0, 1)),
    )


def scenarios(*, profiles=("calibrated", "ideal"), speculation=False):
    """Scenarios that an engine could load."""
    return _scenarios(profiles, speculation).filter(legal)
