"""The scenario's controls, drawn by the shell so that every page keeps them, bound to the address."""

from datetime import date
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from costmodel import workloads
from costmodel.case import resolve
from costmodel.errors import InputError
from costmodel.explore import knee_of
from ui import frontier_row, own, state, units
from ui import help as words
from ui.controls import AS_BUILT, CONTROL, OWN_HARDWARE, OWN_MODEL, Control, Value

START = "start"
YOUR_OWN = "your own"
_WROTE = "_start_wrote"
FORGET_PRICE = partial(state.set_values, {"pr": None})
"""A typed price is one accelerator's on one day: it goes with them."""


def draw() -> None:
    """Draw the sidebar."""
    with st.sidebar, st.container(gap="xsmall", key="scenario"):
        _start()
        _group("Workload")
        _pair("in", "out")
        _group("Limits")
        _pair("sp", "ft")
        _group("Setup")
        widget("m")
        if state.value("m") == OWN_MODEL:
            own.draw_model()
        left, right = st.columns(2, gap="small", wrap=False)
        with left:
            widget("hw", on_change=FORGET_PRICE)
        with right:
            widget("g")
        if state.value("hw") == OWN_HARDWARE:
            own.draw_hardware()
        _pair("w", "kv")
        left, right = st.columns(2, gap="small", wrap=False)
        with left:
            _kv_heads()
        with right:
            widget("b")
        _price()
        with st.popover("More", width="stretch", icon=":material/tune:"):
            _more()
        _pins()


def _group(name: str) -> None:
    st.html(f'<p class="group">{name}</p>')


def _pair(one: str, other: str) -> None:
    left, right = st.columns(2, gap="small", wrap=False)
    with left:
        widget(one)
    with right:
        widget(other)


def _more() -> None:
    widget("ctx", placeholder="input + output / 2")
    _pair("sh", "hit")
    _pair("ar", "split")
    _pair("busy", "q")
    _pair("eng", "prof")
    _pair("sd", "sa")


def draw_page_row(page: str) -> None:
    """Draw the controls over the figure of one page in a single line; `page` is its address."""
    if page == "":
        control = CONTROL["cnt"]
        with _named(control.label):
            st.segmented_control(
                control.label, control.options, default=str(control.default), required=True, key="cnt",
                bind="query-params", persist_state="session", label_visibility="collapsed",
            )  # fmt: skip
        with _named(CONTROL["vary"].label):
            widget("vary", persist_state="session", width=150, label_visibility="collapsed")
    elif page == "prefill-decode":
        with _named(CONTROL["pa_ch"].label):
            widget("pa_ch", persist_state="session", width=130, label_visibility="collapsed")
        with _named(CONTROL["pa_dis"].label):
            control = CONTROL["pa_dis"]
            st.segmented_control(
                control.label, control.options, default=str(control.default), required=True, key="pa_dis",
                bind="query-params", persist_state="session", label_visibility="collapsed",
                help=words.HELP["pa_dis"],
            )  # fmt: skip
    elif page == "levers":
        _segmented("le_tab")
        boxed("le_td", width=128)
        if state.value("le_td") == "what we pay":
            boxed("le_pay", width=110)
        boxed("le_fx", width=72)
        boxed("le_mt", width=95)
        with st.container(key="unseen_set"):
            widget("le_set", persist_state="session")
            widget("le_st", persist_state="session")
    elif page == "frontier":
        frontier_row.draw()
    elif page in {"where", "hardware"}:
        frontier_row.draw_where()
    elif page == "your-stack":
        amount = st.container(horizontal=True, vertical_alignment="center", width="content")
        boxed("ys_u", width=170)  # before the amount is drawn: on a deep link it decides what that is of
        with amount:
            for key in ("ys_g", "ys_h", "ys_t") if state.value("ys_u") == "machines" else ("ys_p",):
                boxed(key, width=110)


def _pins() -> None:
    """Draw what holds the pinned scenarios, unseen: a widget keeps its value in the address on every page."""
    with st.container(key="unseen_pins"):
        for key in ("p1", "p2", "p3", "p4"):
            widget(key)


def _segmented(key: str) -> None:
    """Draw a list as a row of buttons, without its name."""
    control = CONTROL[key]
    st.segmented_control(
        control.label, control.options, default=str(control.default), required=True, key=key,
        bind="query-params", persist_state="session", label_visibility="collapsed",
    )  # fmt: skip


def boxed(key: str, *, width: int) -> None:
    """Draw a control of the page row with its name to the left."""
    with _named(CONTROL[key].label):
        widget(key, persist_state="session", width=width, label_visibility="collapsed")


def _named(label: str) -> DeltaGenerator:
    """Return a place for a control with its name to the left, which wraps as one."""
    place = st.container(horizontal=True, vertical_alignment="center", width="content", gap="xsmall")
    place.html(f'<span class="note">{label}</span>', width="content")
    return place


def widget(key: str, *, on_change: Any = "rerun", **changes: Any) -> Value:
    """Draw the widget of a control and return its value."""
    control = CONTROL[key]
    common: dict[str, Any] = {
        "label": control.label, "key": key, "help": words.HELP.get(key), "bind": "query-params",
        "on_change": on_change, **changes,
    }  # fmt: skip
    if control.options:
        at = control.options.index(str(control.default))
        chosen: str = st.selectbox(options=control.options, index=at, **common)
        return chosen
    if control.is_text:
        text: str | None = st.text_input(value=str(control.default), **common)
        return text
    return _number(control, common)


def _number(control: Control, common: dict[str, Any]) -> Value:
    kind = int if control.whole else float
    default = control.default
    number: Value = st.number_input(
        min_value=kind(control.low),
        max_value=kind(control.high),
        value=None if default is None else kind(default),
        step=kind(control.step),
        format="%d" if control.whole else "%g",
        **common,
    )
    return number


# Ready-made scenarios ---------------------------------------------------------------------------


def _start() -> None:
    if st.session_state.get(START, YOUR_OWN) != YOUR_OWN and st.session_state.get(_WROTE) != state.values():
        st.session_state[START] = YOUR_OWN
    st.selectbox(
        "Start from",
        (YOUR_OWN, *workloads.BY_NAME),
        key=START,
        on_change=_write_start,
        help="A workload with its limits; the batch becomes the largest within them. Model and hardware stay.",
    )


def _write_start() -> None:
    """Write a ready-made workload, and the batch that it allows."""
    found = workloads.BY_NAME.get(str(st.session_state[START]))
    if found is None:
        return
    state.apply(found.fields())
    state.set_values({"ctx": None})
    try:
        batch = knee_of(resolve(state.current())).recommended_batch
    except InputError:
        batch = 0
    if batch:
        state.set_batch(batch)
    st.session_state[_WROTE] = state.values()


# Controls with something of their own -----------------------------------------------------------


def _kv_heads() -> None:
    fixed = state.heads_fixed(state.current().model)
    label = "KV heads" if state.value("h") == AS_BUILT else "KV heads: what if"
    reason = "This model keeps latents or states, not keys and values by head, so there is nothing to change."
    widget("h", label=label, disabled=fixed, help=reason if fixed else words.HELP["h"])


def _price() -> None:
    hardware, basis = state.current().hardware, str(state.value("pb"))
    found = words.basis_price(hardware, basis)
    known = None if found is None else found.usd_per_gpu_hour
    text = words.price_help(hardware, basis, date.today()) if found else "No price is known."
    label = f"Basis, {units.usd(known)}/h" if known else "Price basis"
    if found and found.old:
        label = f"Old: {units.usd(known)}/h"
    left, right = st.columns(2, gap="small", wrap=False)
    with left:
        widget("pb", label=label, on_change=FORGET_PRICE, help=text)
    with right:
        widget("pr", placeholder=units.usd(known, sign=False) if known else "no price")


def reset() -> None:
    """Set every control back to what pages open with."""
    state.set_values({key: control.default for key, control in CONTROL.items()})
    st.session_state[START] = YOUR_OWN
