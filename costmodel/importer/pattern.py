"""Which mixer each layer has, and which layers hold experts: every way configs say it."""

from typing import Any, Literal

from costmodel.errors import InputError, quoted
from costmodel.importer.keys import MOST, Settings, whole

Mix = Literal["full", "sliding", "chunked", "linear", "mamba", "conv", "recurrent", "both", "none"]

NAMED: dict[str, Mix] = {
    "full_attention": "full", "attention": "full", "full": "full", "global": "full",
    "sliding_attention": "sliding", "sliding": "sliding", "local": "sliding", "swa": "sliding",
    "chunked_attention": "chunked", "linear_attention": "linear", "linear": "linear",
    "kda": "linear", "mamba": "mamba", "mamba2": "mamba", "conv": "conv",
    "recurrent": "recurrent", "minimax_m3_sparse": "full", "sparse_attention": "full",
    "hybrid": "both", "global_attention": "full", "local_attention": "sliding",
}
"""Names of layer types in configs."""

PATTERN: dict[str, tuple[Mix, str]] = {
    "M": ("mamba", "none"), "*": ("full", "none"), "-": ("none", "dense"), "E": ("none", "sparse"),
}
"""Letters of Nemotron-H's layer pattern: the mixer or the feed-forward, never both."""

MOST_PREDICTION_LAYERS = 16
"""Per-layer lists may run on over prediction layers, which aren't counted."""


def mixers(s: Settings, layers: int) -> list[Mix]:
    """Return each layer's kind of mixer."""
    for read in (_named, _linear_lists, _numbered, _periodic):
        found = read(s, layers)
        if found is not None:
            return found
    found = _windows(s, layers)
    return [*found[:-1], "full"] if s.family == "gemma4_text" else found


def nemotron(s: Settings, layers: int) -> list[tuple[Mix, str]]:
    """Return each layer's mixer and feed-forward from Nemotron-H's pattern or list of names."""
    pattern = s.word("hybrid_override_pattern")
    if not pattern:
        names = s.per_layer("layer_types", layers)
        if names is None:
            raise InputError(
                "config must give hybrid_override_pattern or layers_block_type, which say what "
                "each layer is, got neither; give the whole config.json",
                field="hybrid_override_pattern",
            )
        letters = {"mamba": "M", "linear_attention": "M", "attention": "*",
                   "full_attention": "*", "moe": "E", "mlp": "-"}
        pattern = "".join(letters.get(str(name), "?") for name in names)
    pattern = pattern.replace("|", "")
    strange = next((letter for letter in pattern if letter not in PATTERN), "")
    if strange or len(pattern) != layers:
        got = f"the letter {quoted(strange)}" if strange else f"{len(pattern)} for {layers} layers"
        raise InputError(
            f"hybrid_override_pattern must have one of M, *, -, E per layer, got {got}; correct "
            "the pattern or num_hidden_layers",
            field="hybrid_override_pattern",
        )
    return [PATTERN[letter] for letter in pattern]


def _named(s: Settings, layers: int) -> list[Mix] | None:
    spelling, _ = s.raw("layer_types")
    if s.family == "recurrent_gemma":
        cycle = s.series("layer_types") or ["recurrent", "recurrent", "attention"]
        names: list[Any] | None = [cycle[i % len(cycle)] for i in range(layers)]
    else:
        names = s.per_layer("layer_types", layers, spare=MOST_PREDICTION_LAYERS)
    if names is None:
        return None
    strange = next((n for n in names if not isinstance(n, str) or n not in NAMED), None)
    if strange is not None:
        raise InputError(
            f"{spelling} must name known kinds of layer, got {quoted(strange)}; known are "
            f"{', '.join(sorted(NAMED)[:6])} and others of docs/models.md",
            field=spelling,
        )
    return [NAMED[name] for name in names]


def _linear_lists(s: Settings, layers: int) -> list[Mix] | None:
    """Kimi's two lists of layers, counted from 1; GPT-Neo's repeated cycles."""
    if s.family == "gpt_neo":
        kinds: list[Mix] = []
        for entry in s.series("attention_types") or [[["global", "local"], layers // 2]]:
            if not isinstance(entry, list | tuple) or len(entry) != 2:
                break
            cycle, times = entry
            count = whole(times, "attention_types", least=0, most=MOST["num_hidden_layers"])
            kinds += [NAMED.get(str(name), "full") for name in cycle] * count
        if len(kinds) != layers:
            raise InputError(
                f"attention_types must describe every layer, got {len(kinds)} for {layers} "
                "layers; correct the list or num_layers",
                field="attention_types",
            )
        return kinds
    linear = s.table("linear_attn_config")
    full = linear.wholes("full_attn_layers", most=layers)
    recurrent = linear.wholes("kda_layers", most=layers)
    if full is None or recurrent is None:
        return None
    if sorted(full + recurrent) != list(range(1, layers + 1)):
        raise InputError(
            f"full_attn_layers and kda_layers must name each of the {layers} layers once, got "
            f"{len(full)} and {len(recurrent)}; correct the lists or num_hidden_layers",
            field="linear_attn_config",
        )
    chosen = set(full)
    return ["full" if i + 1 in chosen else "linear" for i in range(layers)]


def _numbered(s: Settings, layers: int) -> list[Mix] | None:
    """Read lists of zeros and ones, and lists of layer numbers."""
    kinds = s.per_layer("attn_type_list", layers)
    if kinds is not None:
        return ["full" if _one(k, "attn_type_list") else "linear" for k in kinds]
    hybrid = s.per_layer("hybrid_layer_pattern", layers, spare=MOST_PREDICTION_LAYERS)
    if hybrid is not None:
        return ["sliding" if _one(k, "hybrid_layer_pattern") else "full" for k in hybrid]
    if s.family == "llama4_text" and s.series("no_rope_layers"):
        rope = s.per_layer("no_rope_layers", layers) or []
        return ["chunked" if _one(k, "no_rope_layers") else "full" for k in rope]
    for key, other in (("attn_layer_indices", "mamba"), ("full_attn_idxs", "conv")):
        chosen = s.wholes(key, most=layers - 1)
        if chosen is not None:
            return ["full" if i in chosen else other for i in range(layers)]  # type: ignore[misc]
    return None


def _one(value: object, name: str) -> bool:
    return bool(whole(value, name, least=0, most=1))


def _periodic(s: Settings, layers: int) -> list[Mix] | None:
    """Read patterns where every n-th layer is of another kind."""
    family = s.family
    if family in {"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "olmo_hybrid"}:
        every = s.either("full_attention_interval", 4)
        return _every(layers, every, "full", "linear")
    if family == "jamba":
        period, offset = s.need("attn_layer_period"), s.need("attn_layer_offset", least=0)
        return ["full" if i % period == offset else "mamba" for i in range(layers)]
    if family in {"mamba", "mamba2", "falcon_mamba", "bamba", "granitemoehybrid"}:
        return ["mamba"] * layers
    if family == "falcon_h1":
        return ["both"] * layers
    if family == "kimi_linear":
        return ["full" if i and i % 4 == 0 else "linear" for i in range(layers)]
    if family == "minimax":
        return _every(layers, 2, "linear", "full")
    if family == "lfm3":
        cycle: tuple[Mix, ...] = ("sliding", "conv", "full", "conv")
        return ["conv" if i == 0 else cycle[i % 4] for i in range(layers)]
    if family == "llama4_text":
        return _every(layers, 4, "full", "chunked")
    if family == "mimo_v2_flash":
        return ["full" if i % 6 == 5 or i == 0 else "sliding" for i in range(layers)]
    return None


def _every(layers: int, every: int, one: Mix, other: Mix) -> list[Mix]:
    return [one if (i + 1) % every == 0 else other for i in range(layers)]


PERIODS = {"gemma2": 2, "gemma3_text": 6, "gemma3n_text": 5, "gemma4_text": 6, "cohere2": 4,
           "cohere2_moe": 4, "olmo3": 4, "gpt_oss": 2, "exaone4": 4, "exaone_moe": 4, "afmoe": 4,
           "cwm": 4, "vaultgemma": 2}
"""One full layer in so many, where the config doesn't say."""


def _windows(s: Settings, layers: int) -> list[Mix]:
    """Sliding windows on all layers, on one part, or by a period."""
    if s.whole("sliding_window") is None:
        return ["full"] * layers
    family = s.family
    if family in {"qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "mimo", "dots1", "smollm3"}:
        if not s.flag("use_sliding_window"):
            return ["full"] * layers
        first = s.either("max_window_layers", layers, least=0)
        return ["full" if i < first else "sliding" for i in range(layers)]
    spelling, period = s.raw("sliding_window_pattern")
    if isinstance(period, str):
        return _letters(period, layers)
    if family in PERIODS or period is not None:
        every = PERIODS.get(family, 1)
        if period is not None:
            every = whole(period, spelling, least=1, most=MOST["num_hidden_layers"])
        every = s.either("global_attn_every_n_layers", every)
        if family == "cwm":
            return ["full" if i % every == 0 else "sliding" for i in range(layers)]
        return _every(layers, every, "full", "sliding")
    if family in {"minicpm", "minimax_m2", "minimax_m3_vl_text"}:
        return ["full"] * layers
    return ["sliding"] * layers


def _letters(pattern: str, layers: int) -> list[Mix]:
    """Read a repeated pattern of L (local) and G (global), as EXAONE 4 has it; the last is G."""
    if not pattern or set(pattern) - {"L", "G"}:
        raise InputError(
            f"sliding_window_pattern must be a number or letters L and G, got {quoted(pattern)}; "
            "correct the config",
            field="sliding_window_pattern",
        )
    found: list[Mix] = [
        "sliding" if pattern[i % len(pattern)] == "L" else "full" for i in range(layers)
    ]
    return [*found[:-1], "full"]


FEWEST_EXPERTS = 2
"""Fewer are a dense feed-forward."""

FIRST_DENSE = {"hy_v3": 1, "glm4_moe_lite": 1, "axk1": 1, "kimi_linear": 1, "laguna": 1,
               "mimo_v2_flash": 1, "flint": 2, "dots1": 0}
"""Leading dense layers where the config doesn't say."""


def sparse_layers(s: Settings, layers: int) -> list[bool]:
    """Return whether each layer's feed-forward is experts."""
    if s.family == "dbrx":
        return [True] * layers
    experts = s.either("num_experts", 0, least=0)
    if experts < FEWEST_EXPERTS:
        top = s.whole("num_experts_per_tok", least=0) if s.has("num_experts") else None
        if experts == 0 and top:
            raise InputError(
                f"num_experts_per_tok must be at most the 0 experts, got {top}; correct the config",
                field="num_experts_per_tok",
            )
        return [False] * layers
    named = s.per_layer("mlp_layer_types", layers, spare=MOST_PREDICTION_LAYERS)
    if named is not None:
        return [_sparse(name) for name in named]
    spelling, freq = s.raw("moe_layer_freq")
    if isinstance(freq, list | tuple):
        ones = s.per_layer("moe_layer_freq", layers, spare=MOST_PREDICTION_LAYERS) or []
        return [_one(value, spelling) for value in ones]
    chosen = _chosen(s, layers)
    if chosen is not None:
        return [i in chosen for i in range(layers)]
    if s.family == "jamba":
        period, offset = s.need("expert_layer_period"), s.need("expert_layer_offset", least=0)
        return [i % period == offset for i in range(layers)]
    if s.family == "llama4_text":
        return [(i + 1) % s.either("interleave_moe_layer_step", 1) == 0 for i in range(layers)]
    every = s.either("moe_layer_freq", 1)
    if s.family == "ernie4_5_moe":
        start = s.either("moe_layer_start_index", 0, least=0)
        end = s.whole("moe_layer_end_index", least=-1)
        last = layers - 1 if end is None or end < 0 else end
        return [(i + 1) % every == 0 and start <= i <= last for i in range(layers)]
    if s.family == "arctic":
        return [(i + 1) % s.either("moe_layer_freq", 2) == 0 for i in range(layers)]
    step = s.either("decoder_sparse_step", 1)
    dense = set(s.wholes("mlp_only_layers", most=layers - 1) or ())
    first = s.either("first_k_dense_replace", FIRST_DENSE.get(s.family, 0), least=0)
    return [
        i >= first and i % every == 0 and (i + 1) % step == 0 and i not in dense
        for i in range(layers)
    ]


def _sparse(name: object) -> bool:
    if name not in ("dense", "sparse", "moe", "mlp"):
        raise InputError(
            f"mlp_layer_types must be dense or sparse per layer, got {quoted(name)}; correct the "
            "config",
            field="mlp_layer_types",
        )
    return name in ("sparse", "moe")


def _chosen(s: Settings, layers: int) -> set[int] | None:
    found = s.wholes("moe_layers", most=layers - 1)
    if found:
        return set(found)
    _, listed = s.raw("moe_layers_enum")
    if listed is None:
        return set(range(3, layers)) if s.family == "step3p7_text" and not s.has(
            "first_k_dense_replace") else None
    words = listed.split(",") if isinstance(listed, str) else listed
    if not isinstance(words, list | tuple) or not all(str(w).strip().isdigit() for w in words):
        raise InputError(
            f"moe_layers_enum must list layer numbers, got {quoted(listed)}; correct the config",
            field="moe_layers_enum",
        )
    return {int(str(w)[:9]) for w in words}
