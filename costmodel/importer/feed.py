"""From a config to the feed-forward of each layer."""

from costmodel.errors import InputError
from costmodel.importer.keys import SPELLINGS, Settings, finite
from costmodel.importer.mix import says
from costmodel.importer.traits import Traits
from costmodel.model import Dense, Experts, FeedForward, Matrix

FOURFOLD = ("gpt2", "gptj", "gpt_bigcode", "gpt_neo", "bloom", "falcon", "mpt", "codegen",
            "openai-gpt", "gpt_neox")
"""Families whose feed-forward is four times the model's width unless told otherwise."""


class FeedReader:
    """Builds the feed-forwards of one config's layers."""

    def __init__(self, s: Settings, traits: Traits, d_model: int, layers: int) -> None:
        self.s = s
        self.traits = traits
        self.d_model = d_model
        self.layers = layers

    def dense(self, layer: int) -> Dense:
        """Return the dense feed-forward of one layer, counted from 0."""
        s, t = self.s, self.traits
        width = self._width(layer)
        return self._of(width, bias=says(s, t.mlp_bias))

    def _of(self, width: int, *, bias: bool = False) -> Dense:
        return Dense(self.d_model, width, gated=self.traits.gated, bias=bias)

    def _width(self, layer: int) -> int:
        s = self.s
        family = s.family
        if family == "minimax_m3_vl_text":
            return s.either("dense_intermediate_size", s.need("intermediate_size"))
        if family == "llama4_text":
            return s.either("intermediate_size_mlp", s.need("intermediate_size"))
        if family == "mpt":
            _, ratio = s.raw("expansion_ratio")
            return int(self.d_model * finite(4 if ratio is None else ratio, "expansion_ratio"))
        if family in {"granitemoehybrid", "granitemoeshared"}:
            return s.need("shared_expert_intermediate_size")
        if family == "arctic":
            return s.need("intermediate_size")
        if family == "cohere2_moe":
            wide = s.whole("prefix_dense_intermediate_size")
            if wide is not None:
                return wide
        if family in {"gemma3n_text", "gemma4_text"}:
            listed = s.raw("intermediate_size")[1]
            if isinstance(listed, list | tuple):
                each = s.per_layer("intermediate_size", self.layers) or []
                return Settings({"intermediate_size": each[layer]}, {}, family).need(
                    "intermediate_size"
                )
            width = s.need("intermediate_size")
            shares = layer >= self.layers - s.either("num_kv_shared_layers", 0, least=0)
            return 2 * width if shares and s.flag("use_double_wide_mlp") else width
        if family in FOURFOLD:
            return s.either("intermediate_size", 4 * self.d_model)
        if family == "lfm2":
            return self._rounded()
        width = s.need("intermediate_size")
        if family in {"qwen", "recurrent_gemma"}:
            return width // 2
        return width

    def _rounded(self) -> int:
        """LFM2's width: two thirds, times a factor, rounded up to a multiple."""
        s = self.s
        width = s.whole("block_ff_dim") or s.need("intermediate_size")
        if not s.flag("block_auto_adjust_ff_dim", default=True):
            return width
        width = int(2 * width / 3)
        _, factor = s.raw("block_ffn_dim_multiplier")
        if factor is not None:
            width = int(finite(factor, "block_ffn_dim_multiplier") * width)
        step = s.either("block_multiple_of", 256)
        return step * -(-width // step)

    def sparse(self, layer: int) -> tuple[FeedForward, ...]:
        """Return the experts of one layer, and a dense part that runs beside them."""
        s = self.s
        own = self._experts()
        if s.family == "gemma4_text":
            return self.dense(layer), own
        if s.family == "arctic" and s.flag("use_residual", default=True):
            return self._of(self.d_model), own
        return (own,)

    def _experts(self) -> Experts:
        s, t = self.s, self.traits
        experts, top = self._counts()
        width = self._expert_width()
        latent = s.whole("expert_latent_size")
        small = experts if says_default(s, t.correction) else 0
        small += experts if t.router_bias else 0
        shared = self._shared(width)
        if latent is not None:
            shared += (
                Matrix("latent_in", latent, self.d_model, "mlp"),
                Matrix("latent_out", self.d_model, latent, "mlp"),
            )
            small += latent if s.flag("latent_moe_use_norm") else 0
        if s.family == "gemma4_text":
            small += self.d_model + experts
        if s.family == "longcat_flash":
            empty = s.either("zero_expert_num", 0, least=0)
            small += empty * (self.d_model + 1)
            top = max(1, round(top * experts / (experts + empty)))
        return Experts(
            self.d_model, experts, top, width,
            gated=t.gated,
            bias=t.expert_bias,
            d_in=latent,
            shared=shared,
            small_params=small,
        )

    def _counts(self) -> tuple[int, int]:
        s = self.s
        config = s.table("ffn_config") if s.family == "dbrx" else s
        experts, top = config.need("num_experts"), self._top(config)
        if top > experts:
            name = config.raw("num_experts_per_tok")[0]
            raise InputError(
                f"{name} must be at most the {experts} experts, got {top}; correct the config",
                field=name,
            )
        return experts, top

    def _top(self, config: Settings) -> int:
        name, value = config.raw("num_experts_per_tok")
        return uniform(config, name, value) or config.need("num_experts_per_tok")

    def _expert_width(self) -> int:
        s = self.s
        if s.family == "dbrx":
            return s.table("ffn_config").need("intermediate_size")
        name, value = s.raw("moe_intermediate_size")
        if s.family in {"mixtral", "minimax", "llama4_text", "phimoe"}:
            return s.need("intermediate_size")
        if s.family == "hunyuan_v1_moe" and not s.has("moe_intermediate_size"):
            return s.need("intermediate_size")
        return uniform(s, name, value) or s.need("intermediate_size")

    def _shared(self, width: int) -> tuple[Matrix, ...]:
        s, t = self.s, self.traits
        wide = 0
        if s.family == "llama4_text":
            wide = width
        elif s.family == "hunyuan_v1_moe":
            name, value = s.raw("num_shared_experts")
            count = 1 if value is None else uniform(s, name, value) or 0
            wide = width * count if s.flag("use_mixed_mlp_moe", default=True) else 0
        elif t.shared_style == "width":
            wide = s.either("shared_expert_intermediate_size", 0, least=0)
        elif t.shared_style == "count" or t.correction is True:
            wide = width * s.either("num_shared_experts", 0, least=0)
        if not wide:
            return ()
        part = Dense(self.d_model, wide, gated=t.gated)
        matrices = tuple(
            Matrix(f"shared_{m.name}", m.rows, m.cols, "mlp") for m in part.matrices
        )
        gate = (Matrix("shared_gate", 1, self.d_model, "small", "copy"),) if t.shared_gate else ()
        return matrices + gate


def says_default(s: Settings, key: bool | str) -> bool:
    """Return a yes or no that a family fixes or a key says; yes where the key is absent."""
    if isinstance(key, bool):
        return key
    return s.flag(key, default=key != "moe_router_enable_expert_bias")


def uniform(s: Settings, name: str, value: object) -> int | None:
    """Return a number given once, or as an equal entry per layer."""
    if isinstance(value, list | tuple):
        if len(set(map(str, value))) != 1:
            raise InputError(
                f"{name} must be the same in every layer, got a list of {len(value)} that differs; "
                "give a config with equal layers",
                field=name,
            )
        value = value[0]
    if value is None:
        return None
    return Settings({name: value}, {}, s.family).whole(_meaning(name), least=0) or None


def _meaning(name: str) -> str:
    return next((key for key, spellings in SPELLINGS.items() if name in spellings), name)
