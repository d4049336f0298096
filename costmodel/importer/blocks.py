"""Layers found by architecture search: each block says its own attention and feed-forward
(Llama-Nemotron).
"""

from collections.abc import Mapping

from costmodel.errors import InputError, quoted
from costmodel.importer.keys import Settings, finite
from costmodel.importer.mix import divide
from costmodel.mixers import GQA
from costmodel.model import Dense, Layer, Matrix, Mixer

ROUND = 256
"""Feed-forward widths are rounded up to a multiple of it."""


def layers_of(s: Settings) -> tuple[Layer, ...]:
    """Return the layers that `block_configs` describes, equal ones together.

    A part may be left out (`no_op`), and then its norm is too, or be one square matrix
    (`replace_with_linear`).
    """
    count, d_model, heads = s.need("num_hidden_layers"), s.need("hidden_size"), s.need(
        "num_attention_heads"
    )
    divide(d_model, heads, whole_name="hidden_size", part_name="num_attention_heads")
    found: dict[Layer, int] = {}
    for block in s.per_layer("block_configs", count) or ():
        layer = _layer(_object(block, "block_configs"), s, d_model, heads)
        found[layer] = found.get(layer, 0) + 1
    return tuple(
        Layer(layer.mixer, layer.feed_forward, layer.small_params, layer.extra, count=times)
        for layer, times in found.items()
    )


def _object(value: object, name: str) -> Settings:
    if not isinstance(value, Mapping):
        raise InputError(
            f"{name} must hold an object per layer, got {quoted(value)}; correct the config",
            field=name,
        )
    return Settings(value, {}, "deci")


def _layer(block: Settings, s: Settings, d_model: int, heads: int) -> Layer:
    attention, feed = block.table("attention"), block.table("ffn")
    extra: list[Matrix] = []
    mixer: Mixer | None = None
    parts: tuple[Dense, ...] = ()
    norms = 0
    if not attention.flag("no_op"):
        norms += 1
        if attention.flag("replace_with_linear"):
            extra.append(Matrix("linear_attention", d_model, d_model, "attention"))
        else:
            mixer = _attention(attention, s, d_model, heads)
    if not feed.flag("no_op"):
        norms += 1
        if feed.flag("replace_with_linear"):
            extra.append(Matrix("linear_mlp", d_model, d_model, "mlp"))
        else:
            parts = (Dense(d_model, _width(feed, d_model)),)
    return Layer(mixer, parts, small_params=norms * d_model, extra=tuple(extra))


def _attention(attention: Settings, s: Settings, d_model: int, heads: int) -> GQA:
    group = attention.whole("n_heads_in_group")
    kv = attention.whole("num_key_value_heads") or s.whole("num_key_value_heads")
    if group is not None:
        divide(heads, group, whole_name="num_attention_heads", part_name="n_heads_in_group")
        kv = heads // group
    kv = kv or heads
    divide(heads, kv, whole_name="num_attention_heads", part_name="num_key_value_heads")
    bias = s.flag("attention_bias")
    window = attention.whole("window_length")
    return GQA(
        d_model, heads, kv, d_model // heads,
        window=float(window) if window else float("inf"),
        qkv_bias=bias,
        output_bias=bias,
    )


def _width(feed: Settings, d_model: int) -> int:
    width = feed.whole("intermediate_size")
    if width is not None:
        return width
    width = int(2 * finite(feed.raw("ffn_mult")[1], "ffn_mult") * d_model / 3)
    return ROUND * -(-width // ROUND)
