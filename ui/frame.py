"""What the shell and the pages share: the head above the page's controls, and how it is shown.

The shell makes the head, draws the row of controls under it, then runs the page, which fills the
head and goes on below. So the answer stands above the controls that it depends on:

    with frame.head():
        st.title("What does one more sequence cost?")
        st.html(plot.slot("answer", sentence, tag="p", style="answer"))
        priceline.draw(curve)
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_HEAD = "_head"
PRESENT = "present"


def open_head() -> None:
    """Make this run's head; the shell calls it once, before the page row."""
    st.session_state[_HEAD] = st.container(gap="xsmall", key="head")


def head() -> DeltaGenerator:
    """Return the head of the page, to be used in a `with` statement."""
    found: DeltaGenerator | None = st.session_state.get(_HEAD)
    return st.container(gap="xsmall") if found is None else found


def presenting() -> bool:
    """Return whether the page is shown to a room: large, without sidebar and folds."""
    return st.query_params.get(PRESENT, "") == "1"


def embedded() -> bool:
    """Return whether the page stands inside another one: figure, answer, scenario line, link."""
    return bool(st.context.is_embedded)


def bare() -> bool:
    """Return whether only the figure and what belongs to it are shown."""
    return presenting() or embedded()
