"""The scenario that the page shows now, and the ways to change it.

Widgets hold the values, the address bar follows them. `current()` makes one frozen scenario of
them; `set_batch`, `apply` and `clear` write them, and may be called in callbacks only, because
Streamlit forbids changing a widget after it was drawn.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import streamlit as st

from costmodel import custom
from costmodel.case import find_model
from costmodel.errors import InputError
from costmodel.mixers import with_kv_heads
from costmodel.model import Model
from costmodel.scenario import Scenario, scenario
from ui import units
from ui.controls import (
    AS_BUILT,
    BY_FIELD,
    CONTROL,
    CONTROLS,
    NOTHING,
    OWN_HARDWARE,
    OWN_MODEL,
    UNDRAWN,
    VARIED,
    Value,
)

_DRAWN = "_drawn"
OWN_CONFIG = "_own_config"
"""Session key of the config.json that was pasted or uploaded."""


def value(key: str) -> Value:
    """Return a control's value: the widget's, or its default before it is drawn."""
    found: Value = st.session_state.get(key, CONTROL[key].default)
    return found


def values() -> dict[str, Value]:
    """Return every control's value by key."""
    return {control.key: value(control.key) for control in CONTROLS}


def current() -> Scenario:
    """Return the scenario on screen: what every page computes with.

    Always a legal scenario by its bounds; whether its model, split and dtypes go together is the
    engine's to say (InputError).
    """
    return resolved()[0]


def notes() -> tuple[str, ...]:
    """Return what had to be said while making the scenario, one sentence each."""
    return resolved()[1]


def resolved() -> tuple[Scenario, tuple[str, ...]]:
    """Return the scenario on screen and what has to be said about it."""
    return scenario_of(values(), own_config=st.session_state.get(OWN_CONFIG) or "")


def default() -> Scenario:
    """Return the scenario that pages open with."""
    return scenario_of({})[0]


def scenario_of(values: Mapping[str, Value], *, own_config: str = "") -> tuple[Scenario, tuple[str, ...]]:
    """Return the scenario of control values, and what has to be said about it.

    Parameters
    ----------
    values : mapping
        By key, in the units of the widgets; what is missing stands at its default.
    own_config : str
        The config.json that stands for the model where the model box says so.
    """
    return _resolved(tuple((c.key, values.get(c.key, c.default)) for c in CONTROLS), own_config)


@lru_cache(maxsize=64)
def _resolved(pairs: tuple[tuple[str, Value], ...], own_config: str) -> tuple[Scenario, tuple[str, ...]]:
    typed = dict(pairs)
    said: list[str] = []
    fields = {c.field: c.to_engine(typed[c.key]) for c in CONTROLS if c.field}
    if typed["m"] == OWN_MODEL:
        fields["model"] = own_config or CONTROL["m"].default
        if not own_config:
            said.append(f"No config.json is given yet: these are the figures of {fields['model']}.")
    if typed["hw"] == OWN_HARDWARE:
        fields["hardware"] = f"custom:{typed['hwx']}" if typed["hwx"] else CONTROL["hw"].default
        if not typed["hwx"]:
            said.append(f"Your accelerator isn't typed in yet: these are the figures of {fields['hardware']}.")
    found = scenario(**fields)
    model = _model(found.model)
    if model is None:
        return found, tuple(said)
    if found.kv_heads is not None and heads_fixed(found.model):
        found = found.but(kv_heads=None)
        said.append(f"KV heads stay as built: {model.short or model.id} keeps none per head.")
    limit = model.context_limit
    if limit is not None and found.context > limit:
        said.append(
            f"{model.short} takes at most {units.count(limit)} tokens, not {units.count(found.context)}: "
            f"figures are for {units.count(limit)}."
        )
        found = found.but(context_tokens=float(limit))
    return found, tuple(said)


def _model(name: str) -> Model | None:
    """Return the model of a name, or None where the engine will say what is wrong with it."""
    try:
        return find_model(name)
    except InputError:
        return None


@lru_cache(maxsize=64)
def heads_fixed(model: str) -> bool:
    """Return whether a model keeps latents or states, not keys and values by head.

    >>> heads_fixed("llama-3.1-70b"), heads_fixed("deepseek-v3")
    (False, True)
    """
    found = _model(model)
    if found is None:
        return False
    try:
        with_kv_heads(found, 1)
    except InputError:
        return True
    return False


def is_what_if() -> bool:
    """Return whether the KV heads on screen aren't the model's own."""
    return value("h") != AS_BUILT


# Changing it, in callbacks ----------------------------------------------------------------------


def set_batch(batch: int) -> None:
    """Set the batch; the number box and the address follow."""
    control = CONTROL["b"]
    st.session_state["b"] = int(min(max(batch, control.low), control.high))


def apply(changes: Mapping[str, Any]) -> None:
    """Set scenario fields, in the engine's units; controls and address follow."""
    written: dict[str, Value] = {}
    for field, wanted in changes.items():
        control = BY_FIELD[field]
        written[control.key] = control.from_engine(wanted)
    own = str(written.get("hw", ""))
    if custom.is_custom(own):
        written |= {"hw": OWN_HARDWARE, "hwx": own.removeprefix(custom.PREFIX)}
    if str(written.get("m", "")).startswith("{"):
        st.session_state[OWN_CONFIG] = written["m"]
        written["m"] = OWN_MODEL
    if "hw" in written:
        written.setdefault("pr", None)  # a typed price is the old accelerator's
    set_values(written)


def set_values(changes: Mapping[str, Value]) -> None:
    """Set controls by key, in the units of their widgets."""
    drawn = st.session_state.get(_DRAWN, UNDRAWN)
    for key, wanted in changes.items():
        st.session_state[key] = wanted
        if key in UNDRAWN and key not in drawn and wanted != CONTROL[key].default:
            # Streamlit writes no address for a value that was set before its widget's first drawing.
            st.query_params[key] = CONTROL[key].text(wanted)


def forget_drawn() -> None:
    """Begin a run in which none of the seldom widgets is drawn yet."""
    st.session_state[_DRAWN] = set()


def note_drawn(key: str) -> None:
    """Remember that a seldom widget was drawn, so that it writes the address itself."""
    st.session_state[_DRAWN].add(key)


# Page row ---------------------------------------------------------------------------------------


def cost_shown() -> str:
    """Return which cost the cost curve draws: `answer` or `all-in`."""
    return str(value("cnt"))


def varied() -> str:
    """Return the key of the knob that the cost curve varies, or `nothing`."""
    return VARIED.get(str(value("vary")), NOTHING)
