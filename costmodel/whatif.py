"""What if a model were built differently: latent attention, sliding windows, experts.

Each takes a model apart layer by layer and puts another mixer or feed-forward of the same width in
its place. Nobody has trained the result: it answers what the shape would cost, not how good it is.
"""

from dataclasses import replace
from math import isinf

from costmodel.errors import InputError
from costmodel.mixers import GQA, MLA
from costmodel.model import Dense, Experts, Layer, Model


def _name(model: Model) -> str:
    return model.short or model.id


def _full(layer: Layer) -> bool:
    """Whether the layer keeps keys and values per head over the whole context."""
    mixer = layer.mixer
    return isinstance(mixer, GQA) and isinf(mixer.window) and mixer.keeps_cache


def _check_full(model: Model, change: str) -> None:
    if not any(_full(layer) for layer in model.layers):
        kinds = sorted({layer.mixer.kind for layer in model.layers if layer.mixer})
        msg = (
            f"{change} needs layers that keep keys and values per head over the whole context, "
            f"{_name(model)} has none ({', '.join(kinds)}); leave it as built"
        )
        raise InputError(msg, field="model")


def full_layers(model: Model) -> int:
    """Return how many layers keep keys and values per head over the whole context."""
    return sum(layer.count for layer in model.layers if _full(layer))


def with_latent(model: Model, *, kv_rank: int = 512, d_rope: int = 64) -> Model:
    """Return the model with one latent per position in place of keys and values per head.

    Query heads and their widths stay; every head gains a rotary part of `d_rope`.

    Raises
    ------
    InputError
        When no layer keeps keys and values per head over the whole context.
    """
    _check_full(model, "latent attention")
    layers = []
    for layer in model.layers:
        mixer = layer.mixer
        if not _full(layer) or not isinstance(mixer, GQA):
            layers.append(layer)
            continue
        latent = MLA(
            d_model=mixer.d_model,
            n_q_heads=mixer.n_q_heads,
            q_rank=0,
            kv_rank=kv_rank,
            d_nope=mixer.d_head,
            d_rope=d_rope,
            d_value=mixer.value_width,
        )
        layers.append(replace(layer, mixer=latent))
    return replace(model, layers=tuple(layers))


def with_windows(model: Model, *, window: int = 1024, full_every: int = 6) -> Model:
    """Return the model with sliding windows in its full layers, but for one in `full_every`.

    Raises
    ------
    InputError
        When no layer keeps keys and values per head over the whole context.
    """
    _check_full(model, "a sliding window")
    layers: list[Layer] = []
    for layer in model.layers:
        mixer = layer.mixer
        if not _full(layer) or not isinstance(mixer, GQA):
            layers.append(layer)
            continue
        kept = -(-layer.count // full_every)
        narrow = replace(mixer, window=float(window))
        if layer.count > kept:
            layers.append(replace(layer, mixer=narrow, count=layer.count - kept))
        layers.append(replace(layer, count=kept))
    return replace(model, layers=tuple(layers))


def with_experts(model: Model, *, n_experts: int = 64, top_k: int = 8) -> Model:
    """Return the model with its dense feed-forwards cut into experts, `top_k` of them per token.

    All experts of a layer together have the weights that the feed-forward had, so what must fit
    stays and what a token multiplies falls to top_k / n_experts.

    Raises
    ------
    InputError
        When the model has experts already, or a width that doesn't divide into them.
    """
    if any(layer.experts for layer in model.layers):
        msg = f"experts can't be added to {_name(model)}, which has its own; leave it as built"
        raise InputError(msg, field="model")
    if not 1 <= top_k < n_experts:
        msg = f"experts per token must be between 1 and {n_experts - 1}, got {top_k}; use fewer"
        raise InputError(msg, field="model")
    if not any(layer.feed_forward for layer in model.layers):
        msg = f"experts need a feed-forward to cut up, {_name(model)} has none; leave it as built"
        raise InputError(msg, field="model")
    return replace(
        model,
        layers=tuple(
            replace(layer, feed_forward=tuple(_cut(p, n_experts, top_k) for p in layer.feed_forward))
            for layer in model.layers
        ),
    )


def _cut(part: Dense | Experts, n_experts: int, top_k: int) -> Experts:
    if isinstance(part, Experts):
        return part
    if part.d_ff % n_experts:
        msg = (
            f"experts must divide the feed-forward's width of {part.d_ff}, got {n_experts}; use a "
            "power of two that divides it"
        )
        raise InputError(msg, field="model")
    return Experts(
        d_model=part.d_model,
        n_experts=n_experts,
        top_k=top_k,
        d_expert=part.d_ff // n_experts,
        gated=part.gated,
        bias=part.bias,
    )
