"""The scenario's controls, drawn by the shell so that every page keeps them, bound to the address."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx

from costmodel import workloads
from costmodel.case import resolve
from costmodel.errors import InputError
from costmodel.explore import knee_of
from ui import address, frame, frontier_row, own, state, units
from ui import help as words
from ui.controls import AS_BUILT, CONTROL, OWN_HARDWARE, OWN_MODEL, PINS, SELDOM, UNDRAWN, Control, Value

START = "start"
YOUR_OWN = "your own"
_WROTE = "_start_wrote"
MORE_OPEN = "more"
"""Session key of the popover that holds the seldom controls."""
PAGE, _ALONE = "page", "_page_alone"
"""Key of the part of a page that runs alone, and session key that tells whether there is one."""
OF_PAGE = frozenset(("in", "out", "sp", "ft", "kv", "pr", *SELDOM))
"""Controls that nothing but themselves and the page's own part shows."""
_BATCH_PLACE, _BATCH_DRAWN = "_batch_place", "_batch_drawn"
NAME_PX, HELP_PX, GAP_PX = 7.0, 22, 8
"""Room for a name beside its box: of one letter, of the sign that explains it, of the gap."""
FORGET_PRICE = partial(state.set_values, {"pr": None})
"""A typed price is one accelerator's on one day: it goes with them."""


def draw() -> None:
    """Draw the sidebar.

    Its two columns are a style (styles/sidebar.css), not Streamlit's: each column would be one more
    element that every change sends and the browser compares.
    """
    state.forget_drawn()
    st.session_state[_BATCH_DRAWN] = st.session_state[_ALONE] = False
    with st.sidebar, st.container(gap="xsmall", key="scenario"):
        _start()
        _group("Workload")
        _all("in", "out")
        _group("Limits")
        _all("sp", "ft")
        _group("Setup")
        widget("m")
        if state.value("m") == OWN_MODEL:
            own.draw_model()
        widget("hw", on_change=FORGET_PRICE)
        widget("g")
        if state.value("hw") == OWN_HARDWARE:
            own.draw_hardware()
        _all("w", "kv")
        _kv_heads()
        st.session_state[_BATCH_PLACE] = st.container(key="batch_place")
        _price()
        _more()
        _all(*(key for key in PINS if _is_set(key)))


def _group(name: str) -> None:
    st.html(f'<p class="group">{name}</p>')


def _all(*keys: str) -> None:
    for key in keys:
        widget(key)


def _more() -> None:
    """Draw the controls behind "More": all while it is open, else those that aren't at their defaults.

    A widget that isn't drawn is at its default and isn't in the address, so nothing is lost; every
    widget drawn costs a change a millisecond.
    """
    shown = st.popover("More", width="stretch", icon=":material/tune:", key=MORE_OPEN, on_change="rerun")
    with shown:
        for key in SELDOM:
            if shown.open or _is_set(key):
                widget(key, **({"placeholder": "input + output / 2"} if key == "ctx" else {}))


def _is_set(key: str) -> bool:
    """Return whether a control is in the address or has another value than its default."""
    return key in st.query_params or state.value(key) != CONTROL[key].default


def draw_batch() -> None:
    """Draw the box of the batch in the sidebar; the page does it, which runs without the sidebar.

    Streamlit runs a part of a page alone (a fragment) where only that part's widgets changed. The
    batch is the control that changes most, so its box belongs to the part that it changes.
    """
    place: DeltaGenerator = st.session_state[_BATCH_PLACE]
    with place, _as_the_shells():
        widget("b", on_change=after_batch)
    st.session_state[_BATCH_DRAWN] = True


def _as_the_shells() -> AbstractContextManager[None]:
    """Return a context whose widgets are the shell's: a page's own lose their values on the next page."""
    context = get_script_run_ctx()
    if context is None:
        return nullcontext()
    return context.run_with_active_hash(context.pages_manager.main_script_hash)


def ensure_batch() -> None:
    """Draw the box of the batch unless it is drawn: before a page that doesn't do it, after one that may.

    In a fragment, too: else the browser would take the box of the next page for another one, and its
    value out of the address.
    """
    if not st.session_state[_BATCH_DRAWN]:
        _draw_batch_alone()


@st.fragment
def _draw_batch_alone() -> None:
    """Draw the box of the batch on a page that runs whole whenever it changes."""
    draw_batch()


def take_batch(batch: int) -> None:
    """Set the batch from the figure, in a callback."""
    state.set_batch(batch)
    after_batch()


def take_line(changes: Mapping[str, Any]) -> None:
    """Set what a line of a family stands for, in a callback; the whole sidebar follows."""
    state.apply(changes)
    st.rerun()


def runs_alone() -> None:
    """Say that the part of the page that is keyed `PAGE` can run alone; that part does it."""
    st.session_state[_ALONE] = True


def after_batch() -> None:
    """Run everything unless the page's part shows the new batch alone, in a callback of that part."""
    if not _alone():
        st.rerun()


def after_control() -> None:
    """Run the page's part where it shows the new value alone, in a callback of the sidebar."""
    if _alone():
        st.rerun(PAGE)


def _alone() -> bool:
    """Return whether the page has a part that can run alone, and nothing else shows what it shows.

    The summary on phones shows neither the batch nor a control of `OF_PAGE`.
    """
    if not st.session_state.get(_ALONE):
        return False
    started = st.session_state.get(START, YOUR_OWN) != YOUR_OWN
    return not (started or frame.bare() or st.session_state.get("share_popover") or address.speaks())


def draw_page_row(page: str) -> None:
    """Draw the controls over the figure of one page in a single line; `page` is its address."""
    if page == "":
        _segmented("cnt", named=True)
        boxed("vary", width=150)
    elif page == "prefill-decode":
        boxed("pa_ch", width=130)
        _segmented("pa_dis", named=True)
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


def _segmented(key: str, *, named: bool = False) -> None:
    """Draw a list as a row of buttons, with or without its name to the left."""
    control = CONTROL[key]
    st.segmented_control(
        control.label, control.options, default=str(control.default), required=True, key=key,
        bind="query-params", persist_state="session", help=words.HELP.get(key) if named else None,
        label_visibility="visible" if named else "collapsed",
    )  # fmt: skip


def boxed(key: str, *, width: int) -> None:
    """Draw a control of the page row with its name to the left; `width` is the box's. [px]"""
    name = NAME_PX * len(CONTROL[key].label) + (HELP_PX if key in words.HELP else 0)
    widget(key, persist_state="session", width=width + round(name) + GAP_PX)


def widget(key: str, *, on_change: Any = None, **changes: Any) -> Value:
    """Draw the widget of a control and return its value."""
    control = CONTROL[key]
    if key in UNDRAWN:
        state.note_drawn(key)
    common: dict[str, Any] = {
        "label": control.label, "key": key, "help": words.HELP.get(key), "bind": "query-params",
        "on_change": on_change or (after_control if key in OF_PAGE else "rerun"), **changes,
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
    widget("pb", label=label, on_change=FORGET_PRICE, help=text)
    widget("pr", placeholder=units.usd(known, sign=False) if known else "no price")


def reset() -> None:
    """Set every control back to what pages open with."""
    state.set_values({key: control.default for key, control in CONTROL.items()})
    st.session_state[START] = YOUR_OWN
