"""Levers that move: they change the best that model and hardware allow, for better or worse."""

from dataclasses import replace
from typing import Any

from costmodel import catalog, dtypes
from costmodel.case import find_model, model_of
from costmodel.hardware import Accelerator
from costmodel.levers import Lever, Settings
from costmodel.levers_choices import next_accelerator, next_smaller
from costmodel.mixers import GQA
from costmodel.model import Model
from costmodel.setups import Setup
from costmodel.whatif import full_layers


def _but(setup: Setup, **changes: Any) -> Setup:
    """Return the setup with other scenario fields; settings and choices are checked already."""
    return replace(setup, scenario=setup.scenario.model_copy(update=changes))


def _model(setup: Setup) -> Model:
    return model_of(setup.scenario)


def _short(model: Model) -> str:
    return model.short or model.id


def _accelerator(setup: Setup) -> Accelerator:
    return catalog.accelerator(setup.scenario.hardware)


# Weights and cache ------------------------------------------------------------------------------


def _stored(setup: Setup) -> str:
    return setup.scenario.weights or find_model(setup.scenario.model).published.dtype


def _narrower(setup: Setup, settings: Settings) -> str:
    """Return the dtype that weights get: 8 bits after 16, 4 bits after 8."""
    if settings.weights is not None:
        return settings.weights
    if dtypes.bits_per_weight(_stored(setup)) > 10:
        return "fp8" if _accelerator(setup).has("fp8") else "int8"
    return "awq-int4"


def _arithmetic(setup: Setup, dtype: str) -> str | None:
    """Return what the new weights are multiplied in: as now, where that is the faster unit."""
    card = _accelerator(setup)
    now, _ = dtypes.arithmetic_unit(_stored(setup), card, setup.scenario.arithmetic)
    own, _ = dtypes.arithmetic_unit(dtype, card)
    return now if card.flops_per_s(now) > card.flops_per_s(own) else None


def _label_weights(setup: Setup, settings: Settings) -> str:
    dtype = _narrower(setup, settings)
    return f"Weights in {dtypes.dtype(dtype).width} bits ({dtype})"


def _no_weights(setup: Setup, settings: Settings) -> str:
    now, then = _stored(setup), _narrower(setup, settings)
    if dtypes.bits_per_weight(then) >= dtypes.bits_per_weight(now) - 0.2:
        return f"weights are stored in {dtypes.dtype(now).width} bits already ({now})"
    return ""


def _set_weights(setup: Setup, settings: Settings) -> Setup:
    dtype = _narrower(setup, settings)
    return _but(setup, weights=dtype, arithmetic=_arithmetic(setup, dtype))


def _no_kv(setup: Setup, settings: Settings) -> str:
    now = setup.scenario.kv
    if dtypes.kv_bits(settings.kv) >= dtypes.kv_bits(now):
        return f"the cache is stored in {dtypes.kv_bits(now):g} bits already ({now})"
    if all(t.fixed for layer in _model(setup).layers if layer.mixer for t in layer.mixer.cache):
        return f"{_short(_model(setup))} keeps states, whose width isn't the cache's"
    return ""


# The model's shape ------------------------------------------------------------------------------


def _kv_heads(model: Model) -> int:
    """Return the KV heads of the model's plain attention, 0 where it has none."""
    return next((x.mixer.n_kv_heads for x in model.layers if isinstance(x.mixer, GQA)), 0)


def _fewer(setup: Setup, settings: Settings) -> int:
    return settings.kv_heads or max(_kv_heads(_model(setup)) // 2, 1)


def _no_heads(setup: Setup, settings: Settings) -> str:
    model = _model(setup)
    now = _kv_heads(model)
    if setup.latent is not None or now == 0:
        return f"{_short(model)} keeps no keys and values per head"
    if _fewer(setup, settings) >= now:
        return f"it has {now} KV head{'s' * (now > 1)} already"
    return ""


def _label_heads(setup: Setup, settings: Settings) -> str:
    now, then = _kv_heads(_model(setup)), _fewer(setup, settings)
    return f"KV heads {now} to {then}" if then < now else "Fewer KV heads"


def _no_latent(setup: Setup, settings: Settings) -> str:
    del settings
    if setup.latent is not None:
        return "it keeps latents already"
    model = _model(setup)
    if full_layers(model) == 0:
        kinds = {layer.mixer.kind for layer in model.layers if layer.mixer}
        own = "latents already" if kinds & {"mla", "dsa", "csa"} else "no keys and values of the whole context"
        return f"{_short(model)} keeps {own}"
    return ""


def _no_windows(setup: Setup, settings: Settings) -> str:
    if setup.windows is not None:
        return "it has windows already"
    if setup.scenario.context <= settings.window:
        return f"the context of {setup.scenario.context:,.0f} tokens lies inside one window"
    model = _model(setup)
    full, every = full_layers(model), sum(1 for x in model.layers if x.mixer for _ in range(x.count))
    if full == 0:
        return f"{_short(model)} keeps no keys and values of the whole context"
    if full <= every / 2:
        return f"{_short(model)} keeps the whole context in only {full} of its {every} layers already"
    return ""


def _no_experts(setup: Setup, settings: Settings) -> str:
    del settings
    if setup.experts is not None or any(layer.experts for layer in _model(setup).layers):
        return f"{_short(_model(setup))} is a mixture of experts already"
    return ""


def _smaller(setup: Setup, settings: Settings) -> str:
    return settings.smaller or next_smaller(setup.scenario.model)


def _no_smaller(setup: Setup, settings: Settings) -> str:
    name = _smaller(setup, settings)
    if not name:
        return f"no smaller preset of {_short(find_model(setup.scenario.model))}'s family"
    if find_model(name).total_params >= find_model(setup.scenario.model).total_params:
        return f"{name} isn't smaller"
    return ""


def _set_smaller(setup: Setup, settings: Settings) -> Setup:
    """Return the setup with a smaller model; KV heads typed for the larger one stay behind."""
    changed = _but(setup, model=_smaller(setup, settings), kv_heads=None)
    return changed if setup.scenario.kv_heads is None else _keep_heads(changed, setup)


def _keep_heads(changed: Setup, setup: Setup) -> Setup:
    heads = setup.scenario.kv_heads
    own = _kv_heads(find_model(changed.scenario.model))
    return _but(changed, kv_heads=heads) if heads is not None and 0 < heads < own else changed


# What runs it, and how --------------------------------------------------------------------------


def _other(setup: Setup, settings: Settings) -> str:
    s = setup.scenario
    return settings.hardware or next_accelerator(s.hardware, s.price_basis, s.tp)


def _no_hardware(setup: Setup, settings: Settings) -> str:
    s, name = setup.scenario, _other(setup, settings)
    if not name:
        return f"no faster accelerator of its vendor has a price on this basis ({s.price_basis})"
    if catalog.accelerator(name).id == catalog.accelerator(s.hardware).id:
        return f"it runs on {_accelerator(setup).short} already"
    price = catalog.price(catalog.accelerator(name).id, s.price_basis)
    return "" if price.usd_per_gpu_hour is not None else price.reason


def _label_hardware(setup: Setup, settings: Settings) -> str:
    name = _other(setup, settings)
    if not name:
        return "Another accelerator"
    card = catalog.accelerator(name)
    usd = catalog.price(card.id, setup.scenario.price_basis).usd_per_gpu_hour
    return card.short if usd is None else f"{card.short} at ${usd:.2f} per hour"


def _set_hardware(setup: Setup, settings: Settings) -> Setup:
    """Return the setup on another accelerator; a price typed for the old one isn't the new one's."""
    return _but(setup, hardware=_other(setup, settings), price_usd_per_gpu_hour=None)


def _no_drafts(setup: Setup, settings: Settings) -> str:
    s = setup.scenario
    if s.spec_tokens:
        return f"it drafts {s.spec_tokens} token{'s' * (s.spec_tokens > 1)} per pass already"
    if settings.spec_tokens == 0:
        return "no tokens are drafted"
    return "answers of one token have nothing to draft" if s.output_tokens <= 1 else ""


def _set_drafts(setup: Setup, settings: Settings) -> Setup:
    return _but(setup, spec_tokens=settings.spec_tokens, spec_acceptance=settings.spec_acceptance)


def _no_cascade(setup: Setup, settings: Settings) -> str:
    del settings
    if setup.cascade:
        return "shared prompts are read once already"
    if setup.scenario.shared <= 0:
        return "no part of the prompt repeats"
    if setup.scenario.hit <= 0:
        return "its cache catches no repeated prompts: reuse them first"
    if full_layers(_model(setup)) == 0:
        return f"{_short(_model(setup))} has no layer that reads the whole context"
    return ""


def _less(setup: Setup, settings: Settings) -> float:
    return max(setup.scenario.input_tokens * (1 - settings.prompt_cut), 1.0)


def _no_cut(setup: Setup, settings: Settings) -> str:
    if setup.shortened:
        return "the prompt is cut already"
    if _less(setup, settings) >= setup.scenario.input_tokens:
        return "nothing is left out"
    return ""


def _set_cut(setup: Setup, settings: Settings) -> Setup:
    s, less = setup.scenario, _less(setup, settings)
    context = s.context_tokens
    if context is not None:
        context = max(context - (s.input_tokens - less), 0.0)
    return replace(_but(setup, input_tokens=less, context_tokens=context), shortened=True)


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def settled(setup: Setup, settings: Settings) -> Settings:
    """Return settings with everything that was left open chosen for a setup.

    A lever then has one aim, so that applying it twice is applying it once.
    """
    model = find_model(setup.scenario.model)
    heads = _kv_heads(model)
    return replace(
        settings,
        weights=_narrower(setup, settings),
        kv_heads=settings.kv_heads or (max(heads // 2, 1) if heads else None),
        smaller=_smaller(setup, settings) or None,
        hardware=_other(setup, settings) or None,
    )


MOVE: tuple[Lever, ...] = (
    Lever(
        name="weights", kind="moves", slot="weights", owner="architecture", quality=True,
        label=_label_weights, why_not=_no_weights, apply=_set_weights,
        fields=("weights", "arithmetic"), changes_case=True, changes_numbers=False,
        needs="a quantised checkpoint, and a check of its answers",
    ),
    Lever(
        name="kv", kind="moves", slot="kv", owner="architecture", quality=True,
        label=lambda _, settings: f"KV cache in {dtypes.kv_bits(settings.kv):g} bits ({settings.kv})",
        why_not=_no_kv, apply=lambda setup, settings: _but(setup, kv=settings.kv),
        fields=("kv",), changes_case=True, changes_numbers=False,
        needs="one option of the engine, and a check of its answers",
    ),
    Lever(
        name="heads", kind="moves", slot="keys", owner="architecture", quality=True,
        label=_label_heads,
        why_not=_no_heads,
        apply=lambda setup, settings: _but(setup, kv_heads=_fewer(setup, settings)),
        fields=("kv_heads",), changes_case=True, changes_numbers=False, needs="training",
    ),
    Lever(
        name="latent", kind="moves", slot="keys", owner="architecture", quality=True,
        label=lambda _, settings: f"Latent attention, rank {settings.latent_rank}",
        why_not=_no_latent,
        apply=lambda setup, settings: replace(
            setup, latent=(settings.latent_rank, settings.latent_rope)
        ),
        fields=("latent",), changes_case=True, changes_numbers=False, needs="training",
    ),
    Lever(
        name="windows", kind="moves", slot="windows", owner="architecture", quality=True,
        label=lambda _, settings: (
            f"Windows of {settings.window:,}, {settings.full_every - 1} of {settings.full_every} layers"
        ),
        why_not=_no_windows,
        apply=lambda setup, settings: replace(setup, windows=(settings.window, settings.full_every)),
        fields=("windows",), changes_case=True, changes_numbers=False, needs="training",
    ),
    Lever(
        name="experts", kind="moves", slot="model", owner="architecture", quality=True,
        label=lambda _, settings: f"Experts: {settings.top_k} of {settings.n_experts} per token",
        why_not=_no_experts,
        apply=lambda setup, settings: replace(setup, experts=(settings.n_experts, settings.top_k)),
        fields=("experts",), changes_case=True, changes_numbers=False, needs="training",
    ),
    Lever(
        name="smaller", kind="moves", slot="model", owner="product", quality=True,
        label=lambda setup, settings: ": ".join(filter(None, ("A smaller model", _smaller(setup, settings)))),
        why_not=_no_smaller, apply=_set_smaller, fields=("model", "kv_heads"), changes_case=True,
        changes_numbers=False, needs="answers that are good enough, perhaps distilled",
    ),
    Lever(
        name="hardware", kind="moves", slot="hardware", owner="architecture",
        label=_label_hardware, why_not=_no_hardware, apply=_set_hardware,
        fields=("hardware", "price_usd_per_gpu_hour"), changes_case=True, changes_numbers=False,
        needs="other machines",
    ),
    Lever(
        name="speculation", kind="moves", slot="speculation", owner="architecture",
        label=lambda _, settings: (
            f"Speculation: {settings.spec_tokens} drafted, {_percent(settings.spec_acceptance)} accepted"
        ),
        why_not=_no_drafts, apply=_set_drafts, fields=("spec_tokens", "spec_acceptance"),
        changes_case=True, needs="a drafting layer trained for the model",
    ),
    Lever(
        name="cascade", kind="moves", slot="cascade", owner="architecture",
        label=lambda _, __: "Read shared prompts once (cascade attention)",
        why_not=_no_cascade, apply=lambda setup, _: replace(setup, cascade=True),
        fields=("cascade",), needs="an engine with cascade or hydragen kernels",
    ),
    Lever(
        name="context", kind="moves", slot="context", owner="product", quality=True,
        label=lambda _, settings: f"Prompts {_percent(settings.prompt_cut)} shorter",
        why_not=_no_cut, apply=_set_cut, fields=("input_tokens", "context_tokens", "shortened"),
        needs="less in the prompt: shorter instructions, fewer passages",
    ),
)  # fmt: skip
