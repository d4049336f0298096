"""A config's values by meaning: many spellings, typed and bounded, with the class's defaults."""

from collections.abc import Mapping
from typing import Any

from costmodel.errors import InputError, quoted

SPELLINGS: dict[str, tuple[str, ...]] = {
    "hidden_size": ("hidden_size", "n_embd", "d_model", "dim", "model_dim"),
    "num_hidden_layers": (
        "num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers",
    ),
    "num_attention_heads": (
        "num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads",
        "decoder_attention_heads",
    ),
    "num_key_value_heads": (
        "num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "kv_n_heads",
        "num_attention_groups", "multi_query_group_num", "num_query_groups",
    ),
    "head_dim": ("head_dim", "attention_head_dim", "d_head", "kv_channels", "head_size"),
    "intermediate_size": (
        "intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim", "d_ff", "inner_hidden_size",
        "decoder_ffn_dim",
    ),
    "vocab_size": ("vocab_size", "padded_vocab_size", "n_vocab"),
    "max_position_embeddings": (
        "max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length",
        "seq_length", "n_ctx", "model_max_length", "max_seq_length",
    ),
    "num_experts": (
        "num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts",
        "num_routed_experts", "n_experts",
    ),
    "num_experts_per_tok": (
        "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts",
        "moe_k", "moe_topk", "moe_top_k", "num_selected_experts", "n_activated_experts",
    ),
    "moe_intermediate_size": (
        "moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size",
        "expert_intermediate_size",
    ),
    "num_shared_experts": (
        "n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert",
    ),
    "shared_expert_intermediate_size": (
        "shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim",
        "moe_shared_expert_intermediate_size", "share_expert_dims",
    ),
    "first_k_dense_replace": ("first_k_dense_replace", "num_dense_layers", "n_dense_layers"),
    "moe_layer_freq": ("moe_layer_freq", "moe_layer_frequency", "moe_layer_interval"),
    "expert_latent_size": ("moe_latent_size", "routed_expert_hidden_size"),
    "layer_types": ("layer_types", "layers_block_type", "block_types", "_block_types"),
    "sliding_window": (
        "sliding_window", "sliding_window_size", "attention_window_size", "window_size",
    ),
    "sliding_window_pattern": ("sliding_window_pattern", "_sliding_window_pattern"),
    "dtype": ("torch_dtype", "dtype", "params_dtype"),
    "ssm_state": ("ssm_state_size", "mamba_d_state", "state_size", "mamba_state_dim"),
    "ssm_heads": ("mamba_num_heads", "mamba_n_heads", "n_mamba_heads"),
    "ssm_head_dim": ("mamba_head_dim", "mamba_d_head", "mamba_headdim"),
    "ssm_groups": ("mamba_n_groups", "n_groups", "mamba_ngroups"),
    "ssm_kernel": ("conv_kernel", "mamba_d_conv", "d_conv"),
    "ssm_expand": ("expand", "mamba_expand"),
    "ssm_dt_rank": ("mamba_dt_rank", "time_step_rank", "dt_rank"),
    "ssm_conv_bias": ("use_conv_bias", "mamba_conv_bias"),
    "ssm_proj_bias": ("mamba_proj_bias", "use_bias"),
    "ssm_dtype": ("mamba_ssm_dtype", "mamba_ssm_cache_dtype"),
    "index_heads": ("index_n_heads", "sparse_num_index_heads"),
    "index_width": ("index_head_dim", "sparse_index_dim"),
    "index_block": ("index_block_size", "sparse_block_size"),
    "index_blocks": ("index_topk_blocks", "sparse_topk_blocks"),
}
"""For each meaning, the spellings read, in order of precedence."""

MOST = {
    "num_hidden_layers": 10_000,
    "vocab_size": 100_000_000,
    "max_position_embeddings": 10**12,
    "num_experts": 10_000,
}
"""Largest values accepted, where the usual bound (10 million) is wrong."""

USUAL_MOST = 10_000_000

Given = Mapping[str, Any]


class Settings:
    """One config's values, its own first and its class's defaults after."""

    def __init__(self, given: Given, defaults: Given, family: str) -> None:
        self.given = given
        self.defaults = defaults
        self.family = family
        self._lists: dict[str, list[Any]] = {}
        self._tables: dict[str, Settings] = {}

    def raw(self, name: str) -> tuple[str, Any]:
        """Return a value under any of its spellings and the spelling; a null overrides defaults."""
        spellings = SPELLINGS.get(name, (name,))
        null = None
        for spelling in spellings:
            if spelling in self.given:
                if self.given[spelling] is not None:
                    return spelling, self.given[spelling]
                null = null or spelling
        if null is not None:
            return null, None
        for spelling in spellings:
            if self.defaults.get(spelling) is not None:
                return spelling, self.defaults[spelling]
        return spellings[0], None

    def has(self, name: str) -> bool:
        """Whether the config itself gives a value."""
        return any(self.given.get(s) is not None for s in SPELLINGS.get(name, (name,)))

    def whole(self, name: str, *, least: int = 1, most: int | None = None) -> int | None:
        """Return a whole number within bounds, or None where there is none."""
        spelling, value = self.raw(name)
        if value is None:
            return None
        return whole(value, spelling, least=least, most=most or MOST.get(name, USUAL_MOST))

    def need(self, name: str, *, least: int = 1) -> int:
        """Return a whole number that must be there."""
        found = self.whole(name, least=least)
        if found is None:
            spelling = SPELLINGS.get(name, (name,))[0]
            raise InputError(
                f"config must give {spelling}, which {self.family or 'its'} shapes need, got none; "
                "give the whole config.json",
                field=spelling,
            )
        return found

    def either(self, name: str, default: int, *, least: int = 1) -> int:
        """Return a whole number, or a default where there is none."""
        found = self.whole(name, least=least)
        return default if found is None else found

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a yes or no, or a default where there is none."""
        spelling, value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise InputError(
                f"{spelling} must be true or false, got {quoted(value)}; correct the config",
                field=spelling,
            )
        return value

    def word(self, name: str, default: str = "") -> str:
        """Return a text, or a default where there is none."""
        spelling, value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise InputError(
                f"{spelling} must be text, got {quoted(value)}; correct the config", field=spelling
            )
        return value

    def table(self, name: str) -> "Settings":
        """Return an object inside the config, empty where there is none."""
        if name in self._tables:
            return self._tables[name]
        spelling, value = self.raw(name)
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise InputError(
                f"{spelling} must be an object, got {quoted(value)}; correct the config",
                field=spelling,
            )
        self._tables[name] = Settings(value, {}, self.family)
        return self._tables[name]

    def series(self, name: str) -> list[Any] | None:
        """Return a list, or None where there is none."""
        spelling, value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise InputError(
                f"{spelling} must be a list, got {quoted(value)}; correct the config",
                field=spelling,
            )
        return list(value)

    def per_layer(self, name: str, layers: int, *, spare: int = 0) -> list[Any] | None:
        """Return a list with one entry per layer; up to `spare` more (prediction layers) are cut."""
        if name in self._lists:
            return self._lists[name]
        found = self.series(name)
        if found is None:
            return None
        if not layers <= len(found) <= layers + spare:
            spelling, _ = self.raw(name)
            raise InputError(
                f"{spelling} must have one entry per layer, got {len(found)} for {layers} layers; "
                "correct the list or num_hidden_layers",
                field=spelling,
            )
        self._lists[name] = found[:layers]
        return self._lists[name]

    def wholes(self, name: str, *, most: int) -> list[int] | None:
        """Return a list of whole numbers from 0."""
        found = self.series(name)
        if found is None:
            return None
        spelling, _ = self.raw(name)
        return [whole(value, spelling, least=0, most=most) for value in found]


def whole(value: object, name: str, *, least: int, most: int) -> int:
    """Return a value as a whole number within bounds.

    >>> whole(4096.0, "hidden_size", least=1, most=10)
    Traceback (most recent call last):
    ...
    costmodel.errors.InputError: hidden_size must be between 1 and 10, got 4096; correct the config
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(
            f"{name} must be a whole number, got {quoted(value)}; correct the config", field=name
        )
    if not least <= value <= most:
        shown = str(value) if abs(value) < MOST_SHOWN else "a larger number"
        raise InputError(
            f"{name} must be between {least} and {most}, got {shown}; correct the config",
            field=name,
        )
    return value


MOST_SHOWN = 10**20
"""Largest number that a sentence shows."""


def finite(value: object, name: str) -> float:
    """Return a value as a finite number above 0."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < USUAL_MOST:
        return float(value)
    raise InputError(
        f"{name} must be a number above 0, got {quoted(value)}; correct the config", field=name
    )
