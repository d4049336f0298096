"""The controls over the figures of "Speed vs cost" and "Where to run"."""

import streamlit as st

from costmodel import catalog
from costmodel.errors import InputError
from costmodel.scenario import Scenario
from ui import pins, state
from ui.controls import CONTROL, FOUR_BITS
from ui.frontier_view import Asked

COMPARED = "_fr_compared"
"""Session key of the list that the unseen text `fr_hw` follows."""


def draw() -> None:
    """Draw the row of Speed vs cost."""
    from ui.sidebar import boxed, widget  # noqa: PLC0415  (it draws this row)

    boxed("bud", width=110)
    boxed("q4", width=150)
    with st.popover("Accelerators", key="fr_cards"):
        _accelerators()
    with st.popover("Axes, words, users", key="fr_more"):
        for key in ("fr_x", "fr_y", "fr_u", "fr_us"):
            widget(key, persist_state="session")
    with st.container(key="unseen_cards"):
        widget("fr_hw", persist_state="session")


def draw_where() -> None:
    """Draw the row of Where to run."""
    from ui.sidebar import boxed  # noqa: PLC0415

    boxed("wr_k", width=110)
    boxed("wr_o", width=180)
    boxed("q4", width=150)


def _accelerators() -> None:
    """Draw the choice of accelerators; the address holds it as one text."""
    cards = {card.id: card.short for card in catalog.hardware().values()}
    if COMPARED not in st.session_state:
        st.session_state[COMPARED] = list(compared())
    st.multiselect(
        CONTROL["fr_hw"].label, list(cards), format_func=cards.__getitem__, key=COMPARED, on_change=_follow,
        placeholder="all of them", help="Only these are compared; all where none is chosen.",
    )  # fmt: skip


def _follow() -> None:
    state.set_values({"fr_hw": ",".join(st.session_state[COMPARED])})


def compared() -> tuple[str, ...]:
    """Return the accelerators that are compared, by id; unknown names are passed over."""
    return _compared()[0]


def _compared() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return ids, and one sentence for each name that is none."""
    found, said = [], []
    for name in filter(None, (part.strip() for part in str(state.value("fr_hw")).split(","))):
        try:
            found.append(catalog.accelerator(name).id)
        except InputError as error:
            said.append(f"{error.sentence[:1].upper()}{error.sentence[1:]}.".replace("?.", "?"))
    return tuple(dict.fromkeys(found)), tuple(said)


def notes() -> tuple[str, ...]:
    """Return what has to be said of the row: unknown accelerators, an axis chosen twice."""
    same = state.value("fr_x") == state.value("fr_y")
    axes = "The axes must differ: drawn over speed and all-in cost."
    return (*_compared()[1], *([axes] if same else []))


def asked() -> Asked:
    """Return what the row asks for."""
    axes = (str(state.value("fr_x")), str(state.value("fr_y")))
    users = state.value("fr_us")
    return Asked(
        accelerators=compared(),
        four_bits=four_bits(),
        axes=axes if axes[0] != axes[1] else ("speed", "all-in"),
        in_words=state.value("fr_u") == "words",
        users=None if users is None else float(users),
        pins=_pins(),
    )


def _pins() -> tuple[tuple[str, Scenario], ...]:
    found = []
    for pin in pins.pins():
        try:
            found.append((pin.letter, pin.scenario))
        except InputError:
            continue
    return tuple(found)


def four_bits() -> bool:
    """Return whether weights in 4 bits are allowed."""
    return state.value("q4") == FOUR_BITS


def scenario() -> Scenario:
    """Return the scenario on screen, with the page's budget among its limits."""
    budget = state.value("bud")
    return state.current().but(budget_usd_per_mtok=None if budget is None else float(budget))
