"""Pins: up to four scenarios kept in the address beside the one on screen.

A pin is what differs from the defaults, as `key~value~key~value~n~name`; `~` is never
percent-encoded, so the address stays readable. Its text lives in a widget of the shell that nobody
sees, because Streamlit keeps only bound widgets' parameters from page to page.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from costmodel.scenario import Scenario
from ui import state
from ui.controls import CONTROL, CONTROLS, MAX_TEXT, PINS, BadValue, Value

LETTERS = ("A", "B", "C", "D")
NAME = "n"
"""Stands before a pin's name."""
FULL = "Four pins are the most; remove one."
MOST_NAME = 40
_SAID = "_pins_full"


@dataclass(frozen=True)
class Pin:
    """One pinned scenario."""

    key: str
    letter: str
    name: str
    values: Mapping[str, Value]
    """Controls that differ from the defaults."""

    @property
    def scenario(self) -> Scenario:
        """What it stands for."""
        return state.scenario_of(self.values)[0]


def text(values: Mapping[str, Value], *, name: str = "") -> str:
    """Return a pin's text.

    >>> text({"b": 64, "kv": "fp8", "w": "fp8"}, name="eight bits")
    'kv~fp8~n~eight bits'
    """
    parts = []
    for control in CONTROLS:
        value = values.get(control.key, control.default)
        if value != control.default:
            parts += [control.key, control.text(value).replace("~", "-")]
    clean = "".join(c for c in name if c.isprintable()).replace("~", "-").strip()[:MOST_NAME]
    return "~".join([*parts, NAME, clean])


def parse(pin: str) -> tuple[dict[str, Value], str]:
    """Return the values and the name of a pin's text; what no control takes is left out.

    >>> parse("kv~fp8~b~nonsense~n~eight bits")
    ({'kv': 'fp8'}, 'eight bits')
    """
    parts = pin.split("~")
    values: dict[str, Value] = {}
    name = ""
    known = {c.key for c in CONTROLS}
    for key, written in zip(parts[::2], parts[1::2], strict=False):
        if key == NAME:
            name = written[:MOST_NAME]
        elif key in known:
            try:
                values[key] = CONTROL[key].parse(written)
            except BadValue:
                continue
    return values, name


def pins() -> tuple[Pin, ...]:
    """Return the pins in the address, in order."""
    found = []
    for key, letter in zip(PINS, LETTERS, strict=True):
        held = str(state.value(key) or "")
        if held:
            values, name = parse(held)
            found.append(Pin(key, letter, name or default_name(values), values))
    return tuple(found)


def lettered() -> tuple[tuple[str, Scenario], ...]:
    """Return the pins as charts take them: letter and scenario."""
    return tuple((pin.letter, pin.scenario) for pin in pins())


def default_name(values: Mapping[str, Value]) -> str:
    """Return a name for a pin without one: the model, accelerator and batch.

    >>> default_name({"b": 128})
    'llama-3.1-70b · 4 × h100-sxm · batch 128'
    """
    held = {c.key: values.get(c.key, c.default) for c in CONTROLS}
    return f"{held['m']} · {held['g']} × {held['hw']} · batch {held['b']}"


# In callbacks -----------------------------------------------------------------------------------


def pin_this() -> None:
    """Keep the scenario on screen as a pin."""
    free = next((key for key in PINS if not state.value(key)), None)
    written = text(state.values())
    if free is None or len(written) > MAX_TEXT:
        st.session_state[_SAID] = FULL if free is None else "This scenario is too long for a pin."
        return
    state.set_values({free: written})


def remove(key: str) -> None:
    """Drop a pin."""
    state.set_values({key: ""})


def use(pin: Pin) -> None:
    """Put a pin's scenario on screen."""
    state.set_values({c.key: pin.values.get(c.key, c.default) for c in CONTROLS})


def rename(key: str, widget: str) -> None:
    """Take a pin's new name from a text field."""
    values, _ = parse(str(state.value(key) or ""))
    state.set_values({key: text(values, name=str(st.session_state[widget]))})


def button() -> None:
    """Draw the button that pins the scenario on screen."""
    st.button(
        "Pin", icon=":material/keep:", key="pin", on_click=pin_this,
        help="Keep this scenario beside others, on Compare.",
    )  # fmt: skip
    if said := st.session_state.pop(_SAID, None):
        st.toast(said)
