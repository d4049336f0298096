"""The address bar: what is wrong in it is said once, and a copied link is complete.

Streamlit drops a bad value of a bound widget without a word, so addresses are read here before any
widget is made. Junk is named and removed; another spelling of a name becomes the name itself. Then
the script starts anew with a clean address, and Streamlit's own binding does the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlencode, urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from costmodel import catalog, custom
from costmodel.errors import InputError, nearest, quoted
from costmodel.prices import day
from ui import state, units
from ui.controls import CONTROL, CONTROLS, OWN_HARDWARE, SPELLINGS, BadValue, Control, Value

VERSION = "v"
DEFAULTS_VERSION = 1
"""Raised when a default of the pages changes; complete links carry it."""
_FINDINGS = "_address_findings"
_OLD_LINK = "_old_link"
_TOLD, _SPEAKS = "_address_told", "_address_speaks"
_SHOWN = 60


@dataclass(frozen=True)
class Finding:
    """Something in the address that isn't used as it stands."""

    key: str
    got: str
    rule: str
    used: str
    near: tuple[str, ...] = ()
    """Names that may have been meant."""

    @property
    def sentence(self) -> str:
        """The finding in Markdown; what came from the address stands as code, never as markup."""
        return f"`{self.key}={self.got}` isn't {self.rule}; using {self.used}."


def shown(text: str) -> str:
    """Return a text of the address as it may stand in a code span: short, on one line.

    >>> shown("<b>`x`</b>")
    "<b>'x'</b>"
    """
    return quoted(text, limit=_SHOWN)[1:-1].replace("`", "'")


def check(params: Mapping[str, Sequence[str]]) -> tuple[list[Finding], dict[str, str]]:
    """Return what is wrong with an address, and the address to use instead.

    Parameters
    ----------
    params : mapping
        Every value of each key, in order. Unknown keys pass untouched.

    Returns
    -------
    findings : list of Finding
    clean : dict
        Known keys with legal values in the spelling of the widgets, and all other keys.
    """
    findings: list[Finding] = []
    clean: dict[str, str] = {}
    for key, given in params.items():
        control = CONTROL.get(key)
        if control is None or not given:
            clean[key] = given[-1] if given else ""
            continue
        text = given[-1]
        try:
            clean[key] = control.text(control.parse(text))
        except BadValue:
            findings.append(_finding(control, text))
            continue
        if len(set(given)) > 1:
            both = "&".join(shown(value) for value in given[:3])
            findings.append(Finding(key, both, "one value", clean[key] or "none"))
    if own := _own_hardware(clean):
        findings.append(own)
    return findings, clean


def _finding(control: Control, text: str) -> Finding:
    near = tuple(nearest(text[:_SHOWN], control.options)) if control.key in SPELLINGS else ()
    return Finding(control.key, shown(text), control.rule(), default_words(control), near)


def default_words(control: Control) -> str:
    """Return a control's default as it stands in a sentence."""
    text = control.text(control.default)
    return text or {"ctx": "input + output / 2", "pr": "the basis price"}.get(control.key, "none")


def _own_hardware(clean: dict[str, str]) -> Finding | None:
    """Drop a typed accelerator that can't be one, and say why."""
    text = clean.get("hwx", "")
    if not text:
        return None
    try:
        custom.typed(custom.PREFIX + text)
    except InputError:
        del clean["hwx"]
        default = str(CONTROL["hw"].default)
        return Finding("hwx", shown(text), f"an accelerator in the form {custom.FORM}", default)
    return None


def clean() -> None:
    """Check the address before the widgets are made; starts the script anew where it has to change."""
    params = {key: st.query_params.get_all(key) for key in st.query_params}
    findings, wanted = check(params)
    if _FINDINGS in st.session_state:
        if findings:  # Back led to an address that was corrected before
            _drop({finding.key for finding in findings if finding.key not in wanted})
        return
    wanted = _without_version(wanted)
    st.session_state[_FINDINGS] = tuple(findings)
    if {key: [value] for key, value in wanted.items()} != params:
        st.query_params.from_dict(wanted)
        st.rerun()


def _drop(keys: set[str]) -> None:
    """Take keys out of the address although widgets are bound to them.

    Streamlit has no public way: it would read the values again, and stumbles over `b=inf`.
    """
    context = get_script_run_ctx()
    if context is None or not keys:
        return
    with context.session_state.query_params() as params:
        for key in keys:
            params.remove_param(key)
        params.set_initial_query_params_from_current()


def _without_version(params: dict[str, str]) -> dict[str, str]:
    """Take note of the data that a link was made with; a link of today keeps no price of its own."""
    version = params.pop(VERSION, "")
    made, _, _ = version.partition(".")
    if day(made) is None:
        return params
    if made == data_date():
        basis = catalog.price(_hardware_of(params), params.get("pb", str(CONTROL["pb"].default))).usd_per_gpu_hour
        if basis is not None and params.get("pr") == units.plain(basis):
            del params["pr"]
        return params
    st.session_state[_OLD_LINK] = made
    return params | {VERSION: version}


def _hardware_of(params: Mapping[str, str]) -> str:
    name = params.get("hw", str(CONTROL["hw"].default))
    return f"{custom.PREFIX}typed" if name == OWN_HARDWARE else name


@cache
def data_date() -> str:
    """Return the date of the newest price, which names the state of the data."""
    return max(row.read_on for row in catalog.prices() if row.read_on is not None).isoformat()


def notice() -> None:
    """Say what was wrong with the address, and that an old link shows old prices."""
    findings: tuple[Finding, ...] = st.session_state.get(_FINDINGS, ())
    told = st.session_state.setdefault(_TOLD, tuple(state.values().items()))
    st.session_state[_SPEAKS] = bool(findings) and told == tuple(state.values().items())
    if speaks():  # until the reader changes something
        st.info("  \n".join(finding.sentence for finding in findings))
        near = [(finding.key, name) for finding in findings for name in finding.near]
        if near:
            with st.container(horizontal=True, key="near"):
                for key, name in near:
                    st.button(name, key=f"near_{key}_{name}", on_click=state.set_values, args=({key: name},))
    if made := st.session_state.get(_OLD_LINK):
        with st.container(horizontal=True, vertical_alignment="center", key="old_link"):
            st.info(f"Made with data of {made}; shown with those prices.")
            st.button("Use today's", key="use_today", on_click=use_today)


def speaks() -> bool:
    """Return whether a sentence about the address stands on the page."""
    return bool(st.session_state.get(_SPEAKS))


def use_today() -> None:
    """Drop an old link's price."""
    st.session_state.pop(_OLD_LINK, None)
    st.session_state["pr"] = None
    if VERSION in st.query_params:
        del st.query_params[VERSION]


# Links ------------------------------------------------------------------------------------------


def pairs(values: Mapping[str, Value], *, price: float | None) -> dict[str, str]:
    """Return every parameter of a scenario as an address writes it, with the price used.

    Parameters
    ----------
    values : mapping
        Widget values by key; what is missing stands at its default.
    price : float or None
        What a GPU-hour cost; None where no price is known. [USD/h]
    """
    written: dict[str, str] = {}
    for control in CONTROLS:
        value = values.get(control.key, control.default)
        if control.key == "pr":
            value = price if value is None else value
        text = control.text(value)
        if text:
            written[control.key] = text
    made = st.session_state.get(_OLD_LINK, data_date())
    return written | {VERSION: f"{made}.{DEFAULTS_VERSION}"}


def link(values: Mapping[str, Value], *, base: str, price: float | None, extra: Mapping[str, str]) -> str:
    """Return the complete address of a scenario; a later default or price can't change it."""
    slash = "" if urlsplit(base).path else "/"
    return f"{base}{slash}?{urlencode({**pairs(values, price=price), **extra})}"
