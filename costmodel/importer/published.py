"""How a config says that its checkpoint is stored."""

import re
from typing import Any

from costmodel.errors import InputError, quoted
from costmodel.importer.keys import Settings
from costmodel.model import Published, Storage

MATRICES: tuple[Storage, ...] = ("attention", "mlp", "expert")
"""What checkpoints quantise: the matrices of the layers, not tables, head and vectors."""

FLOATS = {
    "float32": "fp32", "float": "fp32", "fp32": "fp32", "torch.float32": "fp32",
    "float16": "fp16", "half": "fp16", "fp16": "fp16", "torch.float16": "fp16",
    "bfloat16": "bf16", "bf16": "bf16", "torch.bfloat16": "bf16",
}

OLD_FLOATS = {"gpt2": "fp32", "openai-gpt": "fp32", "gpt_neo": "fp32", "opt": "fp16",
              "bloom": "bf16", "gptj": "fp32", "gpt_neox": "fp16"}
"""Type of the published weights where an old config doesn't say."""

MXFP4_EXPERTS = ("gpt_oss", "kimi_linear")
"""Families whose 4-bit checkpoints keep all but the experts in 16 bits."""


def published(s: Settings, quantisation: Settings) -> Published:
    """Return how the checkpoint is stored.

    Parameters
    ----------
    s : Settings
        The text model's config.
    quantisation : Settings
        Its quantization_config, empty where there is none.
    """
    rest = _float(s)
    wide = "bf16" if rest == "fp32" else rest
    method = quantisation.word("quant_method").lower()
    if not method:
        if not quantisation.given:
            return Published(rest, rest=rest)
        method = quantisation.word("quant_algo", "unknown").lower()
    block = _block(quantisation)
    if s.word("expert_dtype") == "fp4":
        per_class: tuple[tuple[Storage, str], ...] = (("attention", "fp8"), ("mlp", "fp8"))
        return Published("mxfp4", covers=("expert",), rest=wide, block=block, per_class=per_class)
    name = _name(method, quantisation)
    covers: tuple[Storage, ...] = MATRICES
    if name.startswith(("mxfp4", "int4")) and (s.family in MXFP4_EXPERTS or _only_experts(quantisation)):
        covers = ("expert",)
    return Published(name, covers=covers, rest=wide, block=block)


def _float(s: Settings) -> str:
    spelling, value = s.raw("dtype")
    if value is None or value == "auto":
        return OLD_FLOATS.get(s.family, "bf16")
    if not isinstance(value, str) or value.lower() not in FLOATS:
        if isinstance(value, str) and value.lower() in {"float8_e4m3fn", "fp8"}:
            return "bf16"
        raise InputError(
            f"{spelling} must be float32, float16 or bfloat16, got {quoted(value)}; correct the "
            "config",
            field=spelling,
        )
    return FLOATS[value.lower()]


def _block(quantisation: Settings) -> int:
    size = quantisation.wholes("weight_block_size", most=100_000) or []
    return max([1, *size])


def _name(method: str, q: Settings) -> str:
    """Return the dtype of a quantisation method."""
    bits = q.whole("bits", most=16) or q.whole("w_bit", most=16) or 4
    if bits not in (4, 8):
        raise InputError(
            f"bits of quantization_config must be 4 or 8, got {bits}; remove it to cost the weights "
            "as 16-bit",
            field="quantization_config",
        )
    if method in {"awq", "auto-awq"}:
        return "awq-int4" if bits == 4 else "int8"
    if method in {"gptq", "auto-round", "intel/auto-round", "autoround"}:
        return f"gptq-int{bits}"
    if method in {"bitsandbytes", "bnb"}:
        return "int8" if q.flag("load_in_8bit") else "int4"
    if method in {"compressed-tensors", "modelopt", "quark", "nvfp4", "fp8", "mxfp4", "fbgemm_fp8",
                  "nvfp4_fp8", "mixed_precision", "torchao", "modelopt_fp4", "w4a8_awq"}:
        return _packed(method, q)
    if method in {"quanto", "hqq", "eetq", "aqlm"}:
        return "int8" if bits == 8 or method == "eetq" else "int4"
    raise InputError(
        f"quantization_config must name a known method (fp8, awq, gptq, mxfp4, nvfp4, "
        f"compressed-tensors, bitsandbytes), got {quoted(method)}; remove it to cost the weights "
        "as 16-bit",
        field="quantization_config",
    )


def _packed(method: str, q: Settings) -> str:
    words = " ".join(
        str(q.given.get(key, "")) for key in ("format", "quant_algo", "quant_type", "config_groups")
    ).lower()[:20_000]
    text = f"{method} {words}"
    if "nvfp4" in text:
        return "nvfp4"
    if "mxfp4" in text:
        return "mxfp4"
    if "pack-quantized" in text:
        return "int8" if "'num_bits': 8" in text else _grouped(text)
    if "int-quantized" in text or "int8" in text:
        return "int8"
    if "float-quantized" in text or "fp8" in text or "naive-quantized" in text:
        return "fp8"
    if "fp4" in text:
        return "nvfp4"
    if "int4" in text:
        return "int4"
    return "fp8"


def _grouped(text: str) -> str:
    """Return 4-bit integers by the size of the group that shares a scale; 128 is usual."""
    match = re.search(r"'group_size': (16|32|64|256)\b", text)
    return f"int4-g{match[1]}" if match else "int4"


def _only_experts(q: Settings) -> bool:
    """Whether attention is among the modules that stay in 16 bits."""
    kept: list[Any] = []
    for key in ("ignore", "modules_to_not_convert"):
        kept += q.series(key) or []
    return any("attn" in str(name) for name in kept[:2000])
