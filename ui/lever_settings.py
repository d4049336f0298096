"""How far each lever goes: a popover in each lever's row, one text in the address."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from costmodel import catalog, dtypes
from costmodel.lever_rows import Board
from costmodel.levers import Settings
from ui import state, units

PREFIX = "le_s_"
AUTO = "chosen for you"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a lever."""

    lever: str
    field: str
    label: str
    low: float = 0
    high: float = 0
    step: float = 1
    percent: bool = False
    listed: str = ""
    """Choices of a box: `weights`, `kv`, `models`, `hardware`; empty for a number."""


SETTINGS: tuple[Setting, ...] = (
    Setting(
        lever="continuous", field="output_spread", label="Spread of output lengths, σ/mean, %", high=300, step=10,
        percent=True,
    ),
    Setting(lever="paged", field="block_tokens", label="Tokens per block", low=1, high=1024),
    Setting(lever="prefix", field="hit", label="Caught by the cache, %", high=100, step=5, percent=True),
    Setting(lever="chunked", field="chunk_tokens", label="Tokens of a step", low=16, high=65_536, step=256),
    Setting(lever="busy", field="busy", label="Busy share then, %", low=1, high=100, step=5, percent=True),
    Setting(lever="weights", field="weights", label="Stored in", listed="weights"),
    Setting(lever="kv", field="kv", label="Stored in", listed="kv"),
    Setting(lever="heads", field="kv_heads", label="KV heads, 0 for half", high=128),
    Setting(lever="latent", field="latent_rank", label="Rank", low=16, high=4096, step=64),
    Setting(lever="latent", field="latent_rope", label="Rotary width", high=512, step=16),
    Setting(lever="windows", field="window", label="Tokens of a window", low=16, high=131_072, step=512),
    Setting(lever="windows", field="full_every", label="One full layer in", low=1, high=64),
    Setting(lever="experts", field="n_experts", label="Experts", low=2, high=512, step=8),
    Setting(lever="experts", field="top_k", label="Used per token", low=1, high=64),
    Setting(lever="smaller", field="smaller", label="Model", listed="models"),
    Setting(lever="hardware", field="hardware", label="Accelerator", listed="hardware"),
    Setting(lever="speculation", field="spec_tokens", label="Tokens drafted per pass", high=8),
    Setting(lever="speculation", field="spec_acceptance", label="Accepted, %", high=100, step=5, percent=True),
    Setting(lever="context", field="prompt_cut", label="Left out of the prompt, %", high=95, step=5, percent=True),
)
"""In the order of the levers. Kernel time stands in the row over the figure."""

_OPEN = Settings()
KEY = "le_st"


def plain(setting: Setting) -> Any:
    """Return a setting's default as its widget shows it."""
    own = getattr(_OPEN, setting.field)
    if setting.listed:
        return own or AUTO
    return round(units.percent(own)) if setting.percent else int(own or 0)


def parse(text: str) -> dict[str, Any]:
    """Return settings by field from their text in the address; what none takes is left out.

    >>> parse("window~2048~kv~nvfp4~window~x~hit~900")
    {'window': 2048, 'kv': 'nvfp4'}
    """
    by_field = {s.field: s for s in SETTINGS}
    parts = text.split("~")
    found: dict[str, Any] = {}
    for field, written in zip(parts[::2], parts[1::2], strict=False):
        setting = by_field.get(field)
        if setting is None:
            continue
        if setting.listed:
            if written in _choices(setting.listed):
                found[field] = written
        elif written.isdigit() and setting.low <= int(written) <= setting.high:
            found[field] = int(written)
    return found


def text_of(shown: Mapping[str, Any]) -> str:
    """Return the text of settings, as widgets show them, that aren't their defaults."""
    pairs = [(s.field, shown[s.field]) for s in SETTINGS if s.field in shown and shown[s.field] != plain(s)]
    return "~".join(f"{field}~{value}" for field, value in pairs)


def current() -> Settings:
    """Return the settings on screen."""
    chosen: dict[str, Any] = {"kernel_time_removed": units.fraction(float(state.value("le_fx") or 0))}
    shown = parse(str(state.value(KEY) or ""))
    for setting in SETTINGS:
        if setting.field not in shown:
            continue
        value = shown[setting.field]
        if setting.listed:
            chosen[setting.field] = None if value == AUTO else value
        elif setting.percent:
            chosen[setting.field] = units.fraction(value)
        else:
            chosen[setting.field] = value or (None if setting.field == "kv_heads" else 0)
    return Settings(**chosen)


def _write(field: str, key: str) -> None:
    """Take a widget's value into the address."""
    shown = parse(str(state.value(KEY) or "")) | {field: st.session_state[key]}
    state.set_values({KEY: text_of(shown)})


def _choices(listed: str) -> tuple[str, ...]:
    if listed == "weights":
        return (AUTO, *dtypes.WEIGHT_DTYPES)
    if listed == "kv":
        return dtypes.KV_DTYPES
    if listed == "models":
        return (AUTO, *(entry.short for entry in catalog.models()))
    return (AUTO, *catalog.hardware())


def draw(found: Board) -> None:
    """Draw every lever with what it takes; a popover holds its settings. Built when opened."""
    fold = st.expander("Settings of each lever", key="fold_settings", on_change="rerun")
    if not fold.open:
        return
    with fold, st.container(gap="xsmall"):
        for row in found.rows:
            own = [s for s in SETTINGS if s.lever == row.lever.name]
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                if own:
                    with st.popover(row.label, width=330):
                        for setting in own:
                            _widget(setting)
                else:
                    st.button(row.label, key=f"le_none_{row.lever.name}", disabled=True, width=330)
                quality = "changes quality · " if row.lever.quality else ""
                reason = f" · {row.reason}" if row.reason else ""
                st.html(f'<p class="note">{html.escape(f"{quality}takes {row.lever.needs}{reason}")}</p>')


def _widget(setting: Setting) -> None:
    key = PREFIX + setting.field
    shown = parse(str(state.value(KEY) or ""))
    st.session_state[key] = shown.get(setting.field, plain(setting))
    told: dict[str, Any] = {"key": key, "on_change": _write, "args": (setting.field, key)}
    if setting.listed:
        st.selectbox(setting.label, _choices(setting.listed), **told)
        return
    st.number_input(
        setting.label, min_value=int(setting.low), max_value=int(setting.high), step=int(setting.step), **told
    )
