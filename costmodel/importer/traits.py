"""What a model family fixes that its config doesn't say: norms, biases, which parts exist.

Read from each family's published model code and checked by counting the parameters of the same
config there (tests/golden/param_counts.json). One row per family; `like` names the row it starts
from. A config key as value means "as that key says".
"""

from dataclasses import dataclass, replace
from typing import Literal

from costmodel.mixers.attention import Gate, QkNorm

Bias = bool | str
"""Yes, no, or the key of the config that says; `not:key` for its opposite."""


@dataclass(frozen=True)
class Traits:
    """One family."""

    layer_norms: int = 2
    """Norms of the model's width per layer."""
    norm_parts: int = 1
    """Vectors per norm: 0 without weights, 1 a scale, 2 a scale and a shift."""
    gated: bool = True
    qkv_bias: Bias = False
    output_bias: Bias = False
    mlp_bias: Bias = False
    qk_norm: QkNorm = ""
    qk_norm_if: Bias = True
    qk_norm_parts: int = 1
    gate: Gate = ""
    sinks: bool = False
    sub_norms: bool = False
    """A norm before the output of attention and of the feed-forward (BitNet)."""
    positions: int | None = None
    """Rows of the learned position table beyond the context limit; None without a table."""
    parallel: Bias = False
    """Attention and feed-forward side by side."""
    shared_norm: bool = False
    """Side by side they share one norm."""
    head_bias: Bias = False
    embedding_norm: bool = False
    feed_forward_small: int = 0
    """Other vectors' elements per feed-forward."""
    correction: Bias = False
    """A bias per expert that only steers routing."""
    router_bias: bool = False
    expert_bias: bool = False
    shared_gate: bool = False
    """A gate on the shared expert."""
    shared_style: Literal["", "count", "width"] = ""
    """Shared experts by number, or one of a given width."""
    final_norm: bool = True
    tied: bool | None = None
    """Where neither config nor class default says."""
    defaults: str = ""
    """The model type whose class defaults apply, where it isn't the family's own."""


def _like(base: str, **changes: object) -> Traits:
    return replace(TRAITS[base], **changes)  # type: ignore[arg-type]


_SHARED = {"correction": True, "shared_style": "count"}

TRAITS: dict[str, Traits] = {
    "llama": Traits(
        qkv_bias="attention_bias", output_bias="attention_bias", mlp_bias="mlp_bias"
    ),
    "mistral": Traits(),
    "phi3": Traits(),
    "gpt2": Traits(
        norm_parts=2, gated=False, qkv_bias=True, output_bias=True, mlp_bias=True, positions=0
    ),
    "deepseek_v2": Traits(qkv_bias="attention_bias", shared_style="count"),
}

TRAITS |= {
    # Llama's shape, biases by key
    "granite": _like("llama"),
    "smollm3": _like("llama"),
    "cwm": _like("llama"),
    "helium": _like("llama", mlp_bias="mlp_bias"),
    "exaone": _like("llama"),
    "iquestcoder": _like("llama"),
    "deci": _like("llama", defaults="llama"),
    "arcee": _like("llama", gated=False),
    "olmo": _like("llama", norm_parts=0),
    "gemma": _like("llama", mlp_bias=False),
    "gemma2": _like("llama", layer_norms=4, mlp_bias=False),
    "gemma3_text": _like("llama", layer_norms=4, mlp_bias=False, qk_norm="head"),
    "gemma3n_text": _like("llama", layer_norms=4, mlp_bias=False, qk_norm="head"),
    "gemma4_text": _like("llama", layer_norms=4, mlp_bias=False, qk_norm="head"),
    "vaultgemma": _like("llama", mlp_bias=False),
    "qwen3": _like("llama", mlp_bias=False, qk_norm="head"),
    "apertus": _like("llama", gated=False, qk_norm="head", feed_forward_small=2),
    "olmo2": _like("llama", mlp_bias=False, qk_norm="heads"),
    "olmo3": _like("llama", mlp_bias=False, qk_norm="heads"),
    "exaone4": _like("llama", mlp_bias=False, qk_norm="head"),
    "bitnet": _like("llama", mlp_bias=False, sub_norms=True),
    "granite_swa": _like("llama", sinks=True),
    "glm": _like("llama", output_bias=False, mlp_bias=False),
    "glm4": _like("llama", output_bias=False, mlp_bias=False, layer_norms=4),
    "seed_oss": _like("llama", output_bias="attention_out_bias"),
    "internlm": _like("llama", qkv_bias="bias", output_bias="bias", mlp_bias=False, tied=False),
    "internlm2": _like("llama", qkv_bias="bias", output_bias="bias", mlp_bias=False, tied=False),
    "internlm3": _like("llama", qkv_bias="qkv_bias", output_bias="bias", mlp_bias="bias"),
    "ernie4_5": _like("llama", qkv_bias="use_bias", output_bias="use_bias", mlp_bias="use_bias"),
    "hunyuan_v1_dense": _like("llama", mlp_bias=False, qk_norm="head"),
    "nanochat": Traits(norm_parts=0, gated=False, qkv_bias="attention_bias",
                       output_bias="attention_bias", final_norm=False),
    "jais2": _like("llama", norm_parts=2, gated=False),
    "nemotron": _like("llama", norm_parts=2, gated=False),
    # no biases at all
    "ministral": _like("mistral"),
    "ministral3": _like("mistral"),
    "baichuan": _like("mistral", tied=False, defaults="none"),
    "minicpm": _like("llama", mlp_bias=False, tied=True, defaults="none"),
    "telechat": _like("mistral", output_bias=True, mlp_bias=False, tied=False, defaults="none"),
    "orion": _like("llama", norm_parts=2, tied=False, defaults="none"),
    "xverse": _like("mistral", tied=False, defaults="none"),
    "qwen2": _like("mistral", qkv_bias=True),
    "qwen": _like("mistral", qkv_bias=True, tied=False, defaults="none"),
    "chatglm": Traits(qkv_bias="add_qkv_bias", tied=False, defaults="none"),
    # LayerNorm families
    "gpt_bigcode": _like("gpt2"),
    "openai-gpt": _like("gpt2", final_norm=False),
    "biogpt": _like("gpt2", positions=2),
    "xglm": _like("gpt2", positions=None),
    "gpt_neo": _like("gpt2", qkv_bias=False),
    "opt": _like("gpt2", positions=2, qkv_bias="enable_bias", output_bias="enable_bias",
                 mlp_bias="enable_bias"),
    "bloom": _like("gpt2", positions=None, embedding_norm=True),
    "gptj": Traits(layer_norms=1, norm_parts=2, gated=False, mlp_bias=True, parallel=True,
                   head_bias=True),
    "codegen": Traits(layer_norms=1, norm_parts=2, gated=False, mlp_bias=True, parallel=True,
                      head_bias=True),
    "gpt_neox": Traits(norm_parts=2, gated=False, qkv_bias="attention_bias",
                       output_bias="attention_bias", mlp_bias=True,
                       parallel="use_parallel_residual"),
    "phi": Traits(layer_norms=1, norm_parts=2, gated=False, qkv_bias=True, output_bias=True,
                  mlp_bias=True, parallel=True, head_bias=True, qk_norm="head",
                  qk_norm_if="qk_layernorm", qk_norm_parts=2),
    "persimmon": Traits(norm_parts=2, gated=False, qkv_bias=True, output_bias=True, mlp_bias=True,
                        qk_norm="head", qk_norm_if="qk_layernorm", qk_norm_parts=2),
    "falcon": Traits(norm_parts=2, gated=False, qkv_bias="bias", output_bias="bias",
                     mlp_bias="bias", parallel="parallel_attn"),
    "mpt": Traits(gated=False, qkv_bias="not:no_bias", output_bias="not:no_bias",
                  mlp_bias="not:no_bias"),
    "starcoder2": Traits(norm_parts=2, gated=False, qkv_bias="use_bias", output_bias="use_bias",
                         mlp_bias="use_bias"),
    "stablelm": Traits(norm_parts=2, qkv_bias="use_qkv_bias", qk_norm="heads",
                       qk_norm_if="qk_layernorm", parallel="use_parallel_residual",
                       shared_norm=True),
    "cohere": Traits(layer_norms=1, qkv_bias="attention_bias", output_bias="attention_bias",
                     parallel=True, qk_norm="heads", qk_norm_if="use_qk_norm"),
    "cohere2": Traits(layer_norms=1, qkv_bias="attention_bias", output_bias="attention_bias",
                      parallel=True),
    # experts
    "mixtral": Traits(),
    "dbrx": Traits(),
    "phimoe": Traits(norm_parts=2, qkv_bias="attention_bias", output_bias="attention_bias",
                     head_bias="lm_head_bias"),
    "grok-1": Traits(layer_norms=4, tied=True, defaults="none"),
    "arctic": Traits(layer_norms=3, tied=False, defaults="none"),
    "qwen2_moe": Traits(qkv_bias="qkv_bias", shared_style="width", shared_gate=True),
    "qwen3_moe": Traits(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head"),
    "mellum": Traits(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head"),
    "gpt_oss": Traits(qkv_bias="attention_bias", output_bias="attention_bias", sinks=True,
                      router_bias=True, expert_bias=True),
    "olmoe": Traits(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="heads"),
    "flex_olmo": Traits(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="heads"),
    "granitemoe": Traits(qkv_bias="attention_bias", output_bias="attention_bias"),
    "granitemoeshared": Traits(qkv_bias="attention_bias", output_bias="attention_bias",
                               shared_style="width"),
    "minimax_m2": Traits(qk_norm="heads", qk_norm_if="use_qk_norm", correction="use_routing_bias"),
    "minimax_m3_vl_text": Traits(qk_norm="head", correction="use_routing_bias",
                                 shared_style="width"),
    "minimax": Traits(),
    "llama4_text": Traits(qkv_bias="attention_bias", output_bias="attention_bias"),
    "glm4_moe": Traits(qkv_bias="attention_bias", qk_norm="head", qk_norm_if="use_qk_norm",
                       **_SHARED),  # type: ignore[arg-type]
    "dots1": Traits(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head",
                    **_SHARED),  # type: ignore[arg-type]
    "solar_open": Traits(qkv_bias="attention_bias", **_SHARED),  # type: ignore[arg-type]
    "hy_v3": Traits(qk_norm="head", qkv_bias="attention_bias", output_bias="attention_bias",
                    **_SHARED),  # type: ignore[arg-type]
    "exaone_moe": Traits(qk_norm="head", **_SHARED),  # type: ignore[arg-type]
    "kolibri1": Traits(layer_norms=4, qk_norm="head", correction=True, shared_style="width"),
    "afmoe": Traits(layer_norms=4, qk_norm="head", gate="element", qkv_bias="attention_bias",
                    output_bias="attention_bias", **_SHARED),  # type: ignore[arg-type]
    "laguna": Traits(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head",
                     gate="head", correction=True, shared_style="width"),
    "bailing_moe": Traits(qkv_bias="use_qkv_bias", output_bias="use_bias", shared_style="count",
                          qk_norm="head", qk_norm_if="use_qk_norm",
                          correction="moe_router_enable_expert_bias", tied=False, defaults="none"),
    "deepseek": Traits(qkv_bias="attention_bias", output_bias="attention_bias",
                       shared_style="count", tied=False, defaults="none"),
    "hunyuan_v1_moe": Traits(qkv_bias="attention_bias", output_bias="attention_bias",
                             qk_norm="head", shared_style="count"),
    "mimo_v2_flash": Traits(qkv_bias="attention_bias", correction=True),
    "step3p7_text": Traits(qk_norm="head", gate="head", correction="use_moe_router_bias",
                           shared_style="width"),
    "step3_text": Traits(shared_style="width", tied=False, defaults="none"),
    "aria_text": _like("llama", shared_style="count"),
    "lfm2": Traits(qk_norm="head"),
    "lfm2_moe": Traits(qk_norm="head", correction="use_expert_bias"),
    "lfm3": Traits(layer_norms=4, qkv_bias="attention_bias", output_bias="attention_bias",
                   qk_norm="head", gate="head"),
    # latents
    "deepseek_v3": _like("deepseek_v2", correction=True),
    "deepseek_v32": _like("deepseek_v2", correction=True),
    "deepseek_v4": _like("deepseek_v2", correction=True),
    "kimi_linear": _like("deepseek_v2", correction=True),
    "glm4_moe_lite": _like("deepseek_v2", correction=True),
    "glm_moe_dsa": _like("deepseek_v2", correction=True),
    "mistral4": _like("deepseek_v2"),
    "minicpm3": _like("deepseek_v2", mlp_bias="mlp_bias"),
    "youtu": _like("deepseek_v2"),
    "axk1": _like("deepseek_v2", correction=True),
    "longcat_flash": _like("deepseek_v2", correction=True),
    # recurrences
    "qwen3_next": Traits(qkv_bias="attention_bias", output_bias="attention_bias", qk_norm="head",
                         gate="element", shared_style="width", shared_gate=True),
    "olmo_hybrid": Traits(qkv_bias="attention_bias", output_bias="attention_bias",
                          qk_norm="heads"),
    "mamba": Traits(layer_norms=1),
    "mamba2": Traits(layer_norms=1),
    "jamba": Traits(),
    "bamba": _like("llama"),
    "granitemoehybrid": Traits(qkv_bias="attention_bias", output_bias="attention_bias",
                               shared_style="width"),
    "falcon_h1": _like("llama"),
    "nemotron_h": Traits(layer_norms=1, gated=False, qkv_bias="attention_bias",
                         output_bias="attention_bias", mlp_bias="mlp_bias", correction=True,
                         shared_style="width"),
    "recurrent_gemma": Traits(qkv_bias="attention_bias", output_bias=True, mlp_bias=True),
}

TRAITS |= {
    "mimo": _like("qwen2", defaults="qwen2"),
    "cohere2_moe": _like("cohere2", shared_style="count"),
    "ernie4_5_moe": _like("ernie4_5", correction=True, shared_style="count"),
    "qwen3_5_text": _like("qwen3_next", shared_style=""),
    "qwen3_5_moe_text": _like("qwen3_next"),
    "falcon_mamba": _like("mamba"),
    "sarvam_moe": _like("glm4_moe", defaults="sarvam_moe"),
    "sarvam_mla": _like("deepseek_v3", defaults="sarvam_mla"),
    "flint": Traits(qkv_bias="attention_bias", output_bias="attention_bias", sinks=True,
                    qk_norm="head", shared_style="width"),
}

ALIASES: dict[str, str] = {
    "yi": "llama", "codellama": "llama", "code_llama": "llama", "decilm": "deci",
    "nemotron-nas": "deci", "nemotron_nas": "deci", "solar": "llama", "aquila": "llama",
    "smollm": "llama", "refinedweb": "falcon", "refinedwebmodel": "falcon",
    "stablelm_epoch": "stablelm", "phi-msft": "phi", "mixformer-sequential": "phi",
    "phi3small": "", "phi-moe": "phimoe", "phi3_v": "phi3", "phi4mm": "phi3",
    "phi4_multimodal": "phi3", "phi4": "phi3",
    "gpt-sw3": "gpt2", "gpt_sw3": "gpt2", "gemma3": "gemma3_text", "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text", "gemma4_unified": "gemma4_text", "gemma4_unified_text": "gemma4_text",
    "paligemma": "gemma", "llama4": "llama4_text", "mllama": "",
    "mistral3": "mistral", "pixtral": "mistral",
    "llava": "llama", "llava_next": "llama", "llava_onevision": "qwen2", "vipllava": "llama",
    "idefics3": "llama", "smolvlm": "llama", "internvl": "qwen2", "internvl_chat": "",
    "qwen2_vl": "qwen2", "qwen2_vl_text": "qwen2", "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2", "qwen2_audio": "qwen2", "qwen2_5_omni_text": "qwen2",
    "qwen3_vl": "qwen3", "qwen3_vl_text": "qwen3", "qwen3_vl_moe": "qwen3_moe",
    "qwen3_vl_moe_text": "qwen3_moe", "qwen3_omni_moe_text": "qwen3_moe",
    "qwen3_5": "qwen3_5_text", "qwen3_5_moe": "qwen3_5_moe_text",
    "glm4v": "glm4", "glm4v_text": "glm4", "glm46v": "glm4_moe", "glm4v_moe": "glm4_moe",
    "glm4v_moe_text": "glm4_moe", "chatglm3": "chatglm",
    "kimi_k2": "deepseek_v3", "kimi_k25": "deepseek_v3", "kimi_vl": "deepseek_v3",
    "moonlight": "deepseek_v3", "kimi_k3": "kimi_linear",
    "minimax_m1": "minimax", "minimax_text_01": "minimax", "minimax_vl_01": "minimax",
    "minimax_m3": "minimax_m3_vl_text", "minimax_m3_vl": "minimax_m3_vl_text",
    "step3p5": "step3p7_text", "step3p7": "step3p7_text", "step3": "step3_text",
    "step3_vl": "step3_text", "mimo_v2": "mimo_v2_flash", "mimo_v2_pro": "mimo_v2_flash",
    "hunyuan": "hunyuan_v1_moe", "hunyuan_moe": "hunyuan_v1_moe",
    "hunyuan_dense": "hunyuan_v1_dense", "bailing_moe_v2": "bailing_moe",
    "bailing_moe_linear": "", "ernie4_5_moe_vl": "", "ernie4_5_vl_moe": "", "aria": "aria_text",
    "lfm2_vl": "lfm2", "granite_vision": "granite", "grok": "grok-1", "grok_1": "grok-1",
    "falcon3": "llama", "exaone3": "exaone", "cohere2_vision": "cohere2", "aya_vision": "cohere2",
    "telechat2": "telechat", "pangu": "", "nemotron3": "nemotron_h", "internlm2_5": "internlm2",
    "devstral": "mistral", "minicpmv": "qwen2", "ovis2": "qwen2", "voxtral": "llama",
    "nemotron_h_puzzle": "nemotron_h", "nemotron_h_omni": "nemotron_h",
}
"""Model types that are another one's shape (or a wrapper around it); empty where a type is known
and isn't supported."""


def family_of(name: str) -> str:
    """Return the row of a model type, or "" where it is unknown."""
    key = name.lower().replace("-", "_")
    for candidate in (name, name.lower(), key):
        if candidate in TRAITS:
            return candidate
        if candidate in ALIASES:
            return ALIASES[candidate]
    return ""
