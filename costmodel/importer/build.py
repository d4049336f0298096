"""From a config to a model: the text part, its layers, tables and head."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from costmodel import catalog
from costmodel.errors import InputError, quoted
from costmodel.importer.blocks import layers_of
from costmodel.importer.feed import FeedReader
from costmodel.importer.keys import Settings
from costmodel.importer.mix import MixerReader, says
from costmodel.importer.pattern import mixers, nemotron, sparse_layers
from costmodel.importer.published import published
from costmodel.importer.traits import ALIASES, TRAITS, Traits, family_of
from costmodel.model import Experts, FeedForward, Layer, Matrix, Mixer, Model

WRAPPED = ("text_config", "llm_config", "language_config", "language_model_config",
           "text_model_config")
"""Keys under which multimodal configs keep the language model."""

SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
         "intermediate_size")
"""What a config of its own always says; only a wrapper's inner config leaves them to the class."""

Values = Mapping[str, Any]


def model(values: Values, *, name: str = "") -> Model:
    """Return the model that a config describes.

    Parameters
    ----------
    values : mapping
        The config, read and bounded (`read.values`).
    name : str, optional
        The model's Hugging Face id.

    Raises
    ------
    InputError
        Names the key, the rule and the value where the config doesn't describe a known model.
    """
    outer, inner = _unwrapped(values)
    family, called = _family(outer, inner)
    traits = TRAITS[family]
    every = catalog.config_defaults()
    defaults = dict(every.get(called) or every.get(traits.defaults or family, {}))
    if inner is outer:
        defaults = {k: v for k, v in defaults.items() if k not in SIZES}
    s = Settings(_shared(outer, inner), defaults, family)
    searched = family == "deci" and s.series("block_configs")
    layers = layers_of(s) if searched else _layers(s, traits)
    return _assembled(s, traits, layers, outer, name)


def _unwrapped(values: Values) -> tuple[Values, Values]:
    outer = values
    thinker = values.get("thinker_config")
    if isinstance(thinker, Mapping):
        outer = thinker
    for key in WRAPPED:
        inner = outer.get(key)
        if isinstance(inner, Mapping):
            return outer, inner
    return outer, outer


def _family(outer: Values, inner: Values) -> tuple[str, str]:
    """Return the row of the family table and the model type that led to it.

    The type is model_type, or the architecture's name where there is none.
    """
    tried = []
    known_unsupported = False
    for values in (inner, outer):
        for name in _names(values):
            tried.append(name)
            found = family_of(name)
            if found:
                return found, name
            known_unsupported = known_unsupported or name.lower() in ALIASES
    if not tried:
        raise InputError(
            "config must name its model_type or architectures, got neither; give the whole "
            "config.json",
            field="model_type",
        )
    supported = [*TRAITS, *(name for name, base in ALIASES.items() if base)]
    close = get_close_matches(tried[0][:100].lower(), supported, cutoff=0.7)
    near = f"; near to it are {', '.join(close)}" if close and not known_unsupported else ""
    what = "layers of a supported form" if known_unsupported else "a known layout of layers"
    absent = [key for key in SIZES if not Settings(inner, {}, "").has(key)]
    missing = ", ".join([what, *absent])
    raise InputError(
        f"model_type must be a known architecture, got {quoted(tried[0])}; missing: {missing}"
        f"{near}; what a new family needs stands in docs/models.md",
        field="model_type",
    )


def _names(values: Values) -> list[str]:
    name = values.get("model_type")
    if name is None:
        listed = values.get("architectures")
        if not isinstance(listed, list | tuple):
            return []
        return [_plain(a) for a in listed[:4] if isinstance(a, str) and a]
    if not isinstance(name, str) or not name:
        raise InputError(
            f"model_type must be text, got {quoted(name)}; correct the config",
            field="model_type",
        )
    return [name]


def _plain(architecture: str) -> str:
    """Return the model type that an architecture's class name hints at.

    >>> _plain("Qwen3MoeForCausalLM"), _plain("GPT2LMHeadModel")
    ('qwen3_moe', 'gpt2')
    """
    bare = architecture
    for tail in ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "Model"):
        bare = bare.removesuffix(tail)
    key = bare.lower()
    known = {name.replace("_", "").replace("-", ""): name for name in (*TRAITS, *ALIASES)}
    return known.get(key, architecture)


def _shared(outer: Values, inner: Values) -> Values:
    """Return the text config, completed by what wrappers say on the outside."""
    if inner is outer:
        return inner
    kept = {
        key: outer[key]
        for key in ("tie_word_embeddings", "torch_dtype", "dtype", "quantization_config", *SIZES)
        if outer.get(key) is not None
    }
    if inner.get("torch_dtype") is not None or inner.get("dtype") is not None:
        kept.pop("torch_dtype", None)
        kept.pop("dtype", None)
    return {**kept, **inner}


def _layers(s: Settings, traits: Traits) -> tuple[Layer, ...]:
    """Return the layers, equal ones together, in order of their first appearance."""
    d_model, count = s.need("hidden_size"), _count(s)
    mix, feed = MixerReader(s, traits, d_model, count), FeedReader(s, traits, d_model, count)
    found: dict[Layer, int] = {}
    for mixer, parts in _parts(s, mix, feed, count):
        layer = Layer(
            mixer, parts,
            small_params=_norms(s, traits, d_model, parts),
            extra=_extra(s, d_model),
        )
        found[layer] = found.get(layer, 0) + 1
    return tuple(
        Layer(layer.mixer, layer.feed_forward, layer.small_params, layer.extra, count=times)
        for layer, times in found.items()
    )


def _count(s: Settings) -> int:
    pattern = s.word("hybrid_override_pattern").replace("|", "")
    if pattern and s.whole("num_hidden_layers") is None:
        return len(pattern)
    return s.need("num_hidden_layers")


def _parts(
    s: Settings, mix: MixerReader, feed: FeedReader, count: int
) -> list[tuple[Mixer | None, tuple[FeedForward, ...]]]:
    cache: dict[object, tuple[Mixer | None, tuple[FeedForward, ...]]] = {}
    found = []
    if s.family == "nemotron_h":
        for kind, part in nemotron(s, count):
            if (kind, part) not in cache:
                parts: tuple[FeedForward, ...] = ()
                if part != "none":
                    parts = feed.sparse(0) if part == "sparse" else (feed.dense(0),)
                cache[kind, part] = (mix.mixer(kind, 0), parts)
            found.append(cache[kind, part])
        return found
    if s.family == "longcat_flash":
        mixer, dense = mix.mixer("full", 0), feed.dense(0)
        return [(mixer, (dense, *feed.sparse(0))), (mixer, (dense,))] * count
    sparse = sparse_layers(s, count)
    if s.family == "gemma4_text" and not s.flag("enable_moe_block"):
        sparse = [False] * count
    bare = s.family in {"mamba", "mamba2", "falcon_mamba"}
    varied = s.family in VARIED
    for i, kind in enumerate(mixers(s, count)):
        key = (kind, sparse[i], i if varied else 0)
        if key not in cache:
            parts = () if bare else feed.sparse(i) if sparse[i] else (feed.dense(i),)
            cache[key] = (mix.mixer(kind, i), parts)
        found.append(cache[key])
    return found


VARIED = ("deepseek_v4", "glm_moe_dsa", "minimax_m3_vl_text", "gemma3n_text", "gemma4_text",
          "hunyuan_v1_moe")
"""Families whose layers differ by number as well as by kind."""


def _norms(
    s: Settings, t: Traits, d_model: int, parts: tuple[FeedForward, ...]
) -> int:
    """Return norms and other vectors of one layer outside its mixer and experts."""
    count = t.layer_norms
    if s.family == "falcon":
        count = _falcon_norms(s)
    elif t.shared_norm and says(s, t.parallel):
        count = 1
    if s.family == "gemma4_text" and len(parts) > 1:
        count += 3
    if s.family == "axk1" and any(isinstance(part, Experts) for part in parts):
        count += 1
    small = count * _norm_parts(s, t) * d_model + t.feed_forward_small * len(parts)
    small += sum(p.d_ff for p in parts if t.sub_norms and hasattr(p, "d_ff"))
    if s.family == "gemma3n_text":
        inputs = s.either("altup_num_inputs", 4)
        small += 3 * d_model + inputs * inputs * (1 + inputs) + d_model
        small -= d_model if not s.flag("altup_correct_scale", default=True) else 0
    elif s.family == "gemma4_text":
        small += 1 + (d_model if s.whole("hidden_size_per_layer_input", least=0) else 0)
    if hyper := s.whole("hc_mult"):
        small += 2 * ((2 + hyper) * hyper + 3)
    return small


def _norm_parts(s: Settings, t: Traits) -> int:
    """Return vectors per norm: a scale, a shift, or neither."""
    return t.norm_parts if s.flag("layer_norm_elementwise_affine", default=True) else 0


def _falcon_norms(s: Settings) -> int:
    if s.flag("new_decoder_architecture"):
        return s.either("num_ln_in_parallel_attn", 2)
    return 1 if s.flag("parallel_attn", default=True) else 2


def _extra(s: Settings, d_model: int) -> tuple[Matrix, ...]:
    """Matrices of a layer beside mixer and feed-forward."""
    if hyper := s.whole("hc_mult"):
        wide = (2 + hyper) * hyper
        return tuple(Matrix("hyper", wide, hyper * d_model, "small", "copy") for _ in range(2))
    found: list[Matrix] = []
    if s.family in {"gemma3n_text", "gemma4_text"}:
        each = s.either("hidden_size_per_layer_input", 0, least=0)
        if each:
            found = [
                Matrix("layer_input", each, d_model, "mlp", "copy"),
                Matrix("layer_output", d_model, each, "mlp", "copy"),
            ]
    if s.family == "gemma3n_text":
        inputs, rank = s.either("altup_num_inputs", 4), s.either("laurel_rank", 64)
        found += [
            Matrix("laurel", rank, d_model, "mlp", "copy"),
            Matrix("laurel_up", d_model, rank, "mlp", "copy"),
            Matrix("altup", inputs, d_model, "small", "copy"),
        ]
    return tuple(found)


def _assembled(
    s: Settings, t: Traits, layers: tuple[Layer, ...], outer: Values, name: str
) -> Model:
    d_model, vocab = s.need("hidden_size"), s.need("vocab_size")
    count = sum(layer.count for layer in layers)
    limit = s.whole("max_position_embeddings")
    position = lookup = 0
    last = t.final_norm and s.flag("do_layer_norm_before", default=True)
    small = d_model * _norm_parts(s, t) if last else 0
    if t.embedding_norm:
        small += 2 * d_model
    if t.positions is not None:
        if limit is None:
            s.need("max_position_embeddings")
        position = ((limit or 0) + t.positions) * d_model
    outer_matrices: list[Matrix] = []
    narrow = s.either("word_embed_proj_dim", d_model) if s.family == "opt" else d_model
    if narrow != d_model:
        outer_matrices += [
            Matrix("project_in", d_model, narrow, "mlp", "copy"),
            Matrix("project_out", narrow, d_model, "mlp", "copy"),
        ]
    if s.family in {"gemma3n_text", "gemma4_text"}:
        each = s.either("hidden_size_per_layer_input", 0, least=0)
        if each:
            lookup = s.either("vocab_size_per_layer_input", vocab) * each * count
            small += each
            outer_matrices.append(Matrix("layer_inputs", count * each, d_model, "mlp", "copy"))
    if s.family == "gemma3n_text":
        times = 2 * (s.either("altup_num_inputs", 4) - 1)
        outer_matrices.append(Matrix("altup", d_model, d_model, "mlp", "copy", count=times))
    tied = _tied(s, t)
    return Model(
        id=name or _id(outer),
        layers=layers,
        d_model=d_model,
        vocab=vocab,
        tied=tied,
        published=published(s, s.table("quantization_config")),
        family=s.family,
        context_limit=limit,
        position_params=position,
        lookup_params=lookup,
        head_bias=vocab if says_head(s, t) else 0,
        final_small_params=small,
        outside=tuple(outer_matrices),
        parallel_block=says(s, t.parallel),
        d_ff=_widest(layers),
        embedding_width=narrow if narrow != d_model else 0,
        source=_text(outer, "_source"),
        notes=tuple(filter(None, (_text(outer, "_note"),))),
    )


def says_head(s: Settings, t: Traits) -> bool:
    """Whether the head has a bias."""
    return says(s, t.head_bias)


def _tied(s: Settings, t: Traits) -> bool:
    _, given = s.raw("tie_word_embeddings")
    if given is not None:
        return s.flag("tie_word_embeddings")
    return bool(t.tied)


def _widest(layers: tuple[Layer, ...]) -> int:
    widths = [
        part.d_ff if hasattr(part, "d_ff") else part.d_expert * part.top_k
        for layer in layers
        for part in layer.feed_forward
    ]
    return max(widths, default=0)


def _id(outer: Values) -> str:
    found = _text(outer, "_name_or_path") or _text(outer, "model_type")
    return "".join(c for c in found[:100] if c.isprintable()) or "model"


def _text(values: Values, key: str) -> str:
    found = values.get(key)
    return found if isinstance(found, str) else ""
