"""What-if changes of a model's attention."""

from dataclasses import replace

from costmodel.errors import InputError
from costmodel.mixers.attention import GQA
from costmodel.mixers.pair import Pair
from costmodel.model import Layer, Mixer, Model


def with_kv_heads(model: Model, n_kv_heads: int) -> Model:
    """Return the model with another number of KV heads in every plain attention layer.

    Weights follow: key and value projections grow or shrink with the heads.

    Raises
    ------
    InputError
        When the KV heads don't divide the query heads, or no layer keeps keys and values per head.
    """
    kept = [layer for layer in model.layers if _plain(layer.mixer)]
    if not kept:
        kinds = sorted({layer.mixer.kind for layer in model.layers if layer.mixer})
        raise InputError(
            f"kv_heads can't change in {model.short or model.id}, whose layers "
            f"({', '.join(kinds)}) keep no keys and values per head; leave it as built",
            field="kv_heads",
        )
    return replace(model, layers=tuple(_changed(layer, n_kv_heads) for layer in model.layers))


def _plain(mixer: Mixer | None) -> bool:
    return isinstance(mixer, GQA) or (isinstance(mixer, Pair) and isinstance(mixer.first, GQA))


def _changed(layer: Layer, n_kv_heads: int) -> Layer:
    mixer = layer.mixer
    if isinstance(mixer, GQA):
        return replace(layer, mixer=mixer.with_kv_heads(n_kv_heads))
    if isinstance(mixer, Pair) and isinstance(mixer.first, GQA):
        first = mixer.first.with_kv_heads(n_kv_heads)
        return replace(layer, mixer=replace(mixer, first=first))
    return layer
