"""From a config and a kind of layer to its mixer."""

from costmodel.errors import InputError
from costmodel.importer.keys import Settings
from costmodel.importer.pattern import Mix
from costmodel.importer.traits import Bias, Traits
from costmodel.mixers import (
    GQA,
    MLA,
    BlockSparse,
    Compressed,
    DeltaNet,
    Indexer,
    KimiDelta,
    Lightning,
    Mamba1,
    Mamba2,
    Pair,
    RecurrentGate,
    ShortConv,
)
from costmodel.mixers.attention import QkNorm
from costmodel.model import ALL, Mixer


def says(s: Settings, bias: Bias) -> bool:
    """Return a yes or no that a family fixes or leaves to a key.

    >>> says(Settings({"no_bias": True}, {}, "mpt"), "not:no_bias")
    False
    """
    if isinstance(bias, bool):
        return bias
    if bias.startswith("not:"):
        return not s.flag(bias[4:])
    return s.flag(bias)


class MixerReader:
    """Builds the mixers of one config's layers; equal layers give equal values."""

    def __init__(self, s: Settings, traits: Traits, d_model: int, layers: int) -> None:
        self.s = s
        self.traits = traits
        self.d_model = d_model
        self.layers = layers

    def mixer(self, kind: Mix, layer: int) -> Mixer | None:
        """Return the mixer of one layer, counted from 0."""
        if kind == "none":
            return None
        if kind == "both":
            return Pair(self._attention("full", layer), self._mamba2())
        if kind == "mamba":
            one = self.s.family in {"mamba", "falcon_mamba", "jamba"}
            return self._mamba1() if one else self._mamba2()
        if kind == "linear":
            return self._linear()
        if kind == "conv":
            return ShortConv(self.d_model, self.s.either("conv_L_cache", 3), self.s.flag("conv_bias"))
        if kind == "recurrent":
            heads = self.s.need("num_attention_heads")
            width = self.s.either("lru_width", self.d_model)
            return RecurrentGate(self.d_model, width, heads, self.s.either("conv1d_width", 4))
        if self.s.family == "deepseek_v4":
            return self._compressed(layer)
        if self.s.whole("kv_lora_rank") is not None and self.s.flag("use_mla", default=True):
            return self._latent(layer)
        return self._attention(kind, layer)

    def heads(self) -> tuple[int, int, int]:
        """Return query heads, KV heads and head width of ordinary layers."""
        s = self.s
        q = s.need("num_attention_heads")
        kv = s.whole("num_key_value_heads")
        family = s.family
        old_falcon = family == "falcon" and not s.flag("new_decoder_architecture")
        if old_falcon or family == "gpt_bigcode":
            kv = 1 if s.flag("multi_query", default=True) else q
        elif family == "chatglm" and not s.flag("multi_query_attention"):
            kv = q
        elif family in {"mpt", "dbrx"}:
            kv = s.table("attn_config").whole("num_key_value_heads")
        kv = kv or q
        width = s.whole("head_dim") if family not in {"mpt", "bloom"} else None
        if width is None:
            divide(self.d_model, q, whole_name="hidden_size", part_name="num_attention_heads")
            width = self.d_model // q
        divide(q, kv, whole_name="num_attention_heads", part_name="num_key_value_heads")
        return q, kv, width

    def _attention(self, kind: Mix, layer: int) -> Mixer:
        s, t = self.s, self.traits
        q, kv, width = self.heads()
        value = s.either("v_head_dim", width) if s.family == "mimo_v2_flash" else width
        local = kind in {"sliding", "chunked"}
        if local:
            q, kv, width, value = self._local_heads(q, kv, width, value)
        elif s.family == "gemma4_text":
            width = s.either("global_head_dim", 512)
            value = width
            if s.flag("attention_k_eq_v"):
                kv = s.whole("num_global_key_value_heads") or kv
        window = ALL
        if kind == "sliding":
            window = float(s.need("sliding_window"))
        elif kind == "chunked":
            window = float(s.whole("attention_chunk_size") or 0) or ALL
        sinks = t.sinks and (s.family != "flint" or local)
        if s.family == "mimo_v2_flash":
            sinks = s.flag(f"add_{'swa' if local else 'full'}_attention_sink_bias", default=local)
        gate = t.gate if s.flag("attn_output_gate", default=True) else ""
        if s.family == "step3p7_text" and not s.flag("use_head_wise_attn_gate"):
            gate = ""
        elif s.flag("attention_output_gate"):
            gate = "element"
        extra = (q if sinks else 0) + (q * value if t.sub_norms else 0)
        if gate == "element" and s.family.startswith("qwen3") and says(s, t.qkv_bias):
            extra += q * value
        own = GQA(
            self.d_model, q, kv, width,
            d_value=0 if value == width else value,
            window=window,
            qkv_bias=says(s, t.qkv_bias) or (s.family == "chatglm" and s.flag("add_bias_linear")),
            output_bias=says(s, t.output_bias),
            qk_norm=self._qk_norm(),
            norm_parts=t.qk_norm_parts,
            gate=gate,
            value_is_key=not local and s.family == "gemma4_text" and s.flag("attention_k_eq_v"),
            keeps_cache=self._keeps_cache(layer),
            extra_small=extra,
            q_rank=s.either("share_q_dim", 0, least=0),
        )
        return self._sparse(own, layer)

    def _keeps_cache(self, layer: int) -> bool:
        """Whether a layer has keys and values of its own."""
        s = self.s
        if s.flag("use_cla"):
            return layer % s.either("cla_share_factor", 2) == 0
        return layer < self.layers - s.either("num_kv_shared_layers", 0, least=0)

    def _qk_norm(self) -> QkNorm:
        t = self.traits
        if not t.qk_norm:
            return ""
        default = self.s.family not in {"cohere", "glm4_moe", "phi", "persimmon", "stablelm",
                                        "bailing_moe"}
        key = t.qk_norm_if
        wanted = key if isinstance(key, bool) else self.s.flag(key, default=default)
        if self.s.family == "minimax_m2" and self.s.word("qk_norm_type") == "per_head":
            return "head" if wanted else ""
        return t.qk_norm if wanted else ""

    def _local_heads(self, q: int, kv: int, width: int, value: int) -> tuple[int, int, int, int]:
        """Windowed layers may have their own head counts and widths."""
        s = self.s
        other = s.table("attention_other_setting")
        q = s.whole("swa_num_attention_heads") or s.whole("num_sliding_attention_heads") or (
            other.whole("num_attention_heads") or q
        )
        kv = s.whole("swa_num_key_value_heads") or other.whole("num_key_value_heads") or kv
        width = s.whole("swa_head_dim") or other.whole("head_dim") or width
        if s.family != "mimo_v2_flash":
            return q, kv, width, width
        divide(q, kv, whole_name="swa_num_attention_heads", part_name="swa_num_key_value_heads")
        return q, kv, width, s.whole("swa_v_head_dim") or value

    def _sparse(self, own: GQA, layer: int) -> Mixer:
        """Wrap attention that reads chosen blocks only (MiniMax-M3)."""
        s = self.s
        config = s.table("sparse_attention_config")
        if s.family != "minimax_m3_vl_text":
            return own
        ones = config.per_layer("sparse_attention_freq", self.layers)
        names = s.per_layer("layer_types", self.layers)
        if ones is not None:
            sparse = bool(ones[layer]) and config.flag("use_sparse_attention", default=True)
        else:
            sparse = names is not None and names[layer] == "minimax_m3_sparse"
        if not sparse:
            return own

        def read(name: str, default: int) -> int:
            return config.whole(name) or s.either(name, default)

        return BlockSparse(
            own,
            index_heads=read("index_heads", own.n_kv_heads),
            index_width=read("index_width", 128),
            block=read("index_block", 128),
            top_blocks=read("index_blocks", 16),
        )

    def _latent(self, layer: int) -> Mixer:
        s = self.s
        heads = s.need("num_attention_heads")
        nope = s.need("qk_nope_head_dim", least=0)
        rope = s.need("qk_rope_head_dim", least=0)
        gate = "element" if s.flag("mla_use_output_gate") else self.traits.gate
        return MLA(
            self.d_model, heads,
            q_rank=s.whole("q_lora_rank") or 0,
            kv_rank=s.need("kv_lora_rank"),
            d_nope=nope,
            d_rope=rope,
            d_value=s.whole("v_head_dim") or self._derived_value(heads),
            bias=says(s, self.traits.qkv_bias),
            gate="element" if gate == "element" else "",
            indexer=self._indexer(layer),
        )

    def _derived_value(self, heads: int) -> int:
        if self.s.family != "minicpm3":
            return self.s.need("v_head_dim")
        divide(self.d_model, heads, whole_name="hidden_size", part_name="num_attention_heads")
        return self.d_model // heads

    def _indexer(self, layer: int) -> Indexer | None:
        s = self.s
        top = s.whole("index_topk")
        if top is None:
            return None
        kinds = s.per_layer("indexer_types", self.layers, spare=16)
        keeps = kinds is None or kinds[layer] != "shared"
        if kinds is None and (every := s.whole("index_topk_freq")) is not None:
            offset = s.either("index_skip_topk_offset", 2, least=0)
            keeps = layer < offset or (layer - offset) % every == every - 1
        return Indexer(s.either("index_heads", 64), s.either("index_width", 128), top, keeps)

    def _compressed(self, layer: int) -> Mixer:
        s = self.s
        heads, width = s.need("num_attention_heads"), s.need("head_dim")
        groups = s.need("o_groups")
        divide(heads * width, groups, whole_name="num_attention_heads × head_dim", part_name="o_groups")
        ratios = s.per_layer("compress_ratios", self.layers, spare=16)
        if ratios is None:
            raise InputError(
                "config must give compress_ratios, which say what each layer keeps, got none; "
                "give the whole config.json",
                field="compress_ratios",
            )
        ratio = Settings({"compress_ratios": ratios[layer]}, {}, s.family).either(
            "compress_ratios", 0, least=0
        )
        short = 0 < ratio <= SHORT_RATIO
        return Compressed(
            self.d_model, heads, width,
            q_rank=s.need("q_lora_rank"),
            out_rank=s.need("o_lora_rank"),
            out_groups=groups,
            window=s.need("sliding_window"),
            ratio=ratio,
            indexer=self._indexer(layer) if short else None,
        )

    def _linear(self) -> Mixer:
        s = self.s
        if s.family == "minimax":
            q, _, width = self.heads()
            return Lightning(self.d_model, q, width)
        if s.family == "kimi_linear":
            config = s.table("linear_attn_config")
            return KimiDelta(
                self.d_model,
                config.whole("num_attention_heads") or s.either("linear_num_heads", 32),
                config.whole("head_dim") or s.either("linear_head_dim", 128),
                config.whole("short_conv_kernel_size") or s.either("linear_conv_kernel_dim", 4),
                full_rank_gate=config.flag("use_full_rank_gate"),
            )
        keys = s.whole("linear_num_key_heads") or s.need("num_attention_heads")
        values = s.whole("linear_num_value_heads") or keys
        divide(values, keys, whole_name="linear_num_value_heads", part_name="linear_num_key_heads")
        narrow = int(0.75 * self.d_model / keys)
        return DeltaNet(
            self.d_model, keys, values,
            d_key=s.whole("linear_key_head_dim") or narrow,
            d_value=s.whole("linear_value_head_dim") or 2 * narrow,
            kernel=s.either("linear_conv_kernel_dim", 4),
            state_bits=self._state_bits(),
        )

    def _state_bits(self) -> float | None:
        return 32.0 if self.s.word("ssm_dtype") in {"float32", "fp32"} else None

    def _mamba1(self) -> Mixer:
        s = self.s
        inner = self.d_model * s.either("ssm_expand", 2)
        _, rank = s.raw("ssm_dt_rank")
        auto = rank is None or rank == "auto"
        return Mamba1(
            self.d_model,
            inner,
            s.either("ssm_state", 16),
            s.either("ssm_kernel", 4),
            -(-self.d_model // 16) if auto else s.need("ssm_dt_rank"),
            conv_bias=s.flag("ssm_conv_bias", default=True),
            proj_bias=s.flag("ssm_proj_bias"),
            inner_norms=s.family == "jamba",
            state_bits=self._state_bits(),
        )

    def _mamba2(self) -> Mixer:
        s = self.s
        heads = s.whole("num_heads") if s.family == "mamba2" else s.whole("ssm_heads")
        inner = s.whole("mamba_d_ssm") or self.d_model * s.either("ssm_expand", 2)
        key = "head_dim" if s.family == "mamba2" else "ssm_head_dim"
        _, width = s.raw(key)
        if heads is None:
            heads = s.need("num_attention_heads")
        if width is None or width == "auto":
            divide(inner, heads, whole_name="the state width", part_name="mamba_n_heads")
            each = inner // heads
        else:
            each = s.need(key)
        if s.family == "falcon_h1" and heads * each != inner:
            divide(inner, heads, whole_name="mamba_d_ssm", part_name="mamba_n_heads")
            each = inner // heads
        groups = s.either("ssm_groups", 1)
        divide(heads, groups, whole_name="mamba_n_heads", part_name="mamba_n_groups")
        return Mamba2(
            self.d_model, heads, each,
            s.need("ssm_state"),
            groups,
            s.either("ssm_kernel", 4),
            conv_bias=s.flag("ssm_conv_bias", default=True),
            proj_bias=self._mamba2_bias(),
            norm=s.family != "falcon_h1" or s.flag("mamba_rms_norm"),
            state_bits=self._state_bits(),
        )

    def _mamba2_bias(self) -> bool:
        if self.s.family == "nemotron_h":
            return self.s.flag("use_bias")
        return self.s.flag("ssm_proj_bias")


SHORT_RATIO = 16
"""Compression up to which DeepSeek-V4 picks entries with an indexer."""


def divide(whole: int, part: int, *, whole_name: str, part_name: str) -> None:
    """Refuse a count that doesn't divide another one."""
    if whole % part:
        raise InputError(
            f"{part_name} must divide {whole_name}, got {part} and {whole}; correct the config",
            field=part_name,
        )
