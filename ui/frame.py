"""What the shell and the pages share: the head above the page's controls, and how it is shown.

The shell makes the head, draws the row of controls under it, then runs the page, which fills the
head and goes on below. So the answer stands above the controls that it depends on:

    with frame.head():
        st.title("What does one more sequence cost?")
        st.html(plot.slot("answer", sentence, tag="p", style="answer"))
        priceline.draw(curve)
"""

import html

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import bridge

_HEAD = "_head"
PRESENT = "present"

BARE = """
[data-testid=stSidebar],[data-testid=stExpandSidebarButton],.st-key-page_row,.st-key-corner,
[data-testid=stMain] [data-testid=stExpander],[data-testid=stPopoverBody],.bridge-summary{display:none!important}
"""
LARGE = """
html{font-size:20px}
[data-testid=stHeader],[data-testid=stLayoutWrapper]:has(>.st-key-page_row){display:none}
[data-testid=stMainBlockContainer]{padding-top:1rem}
[data-testid=stMainBlockContainer]>[data-testid=stVerticalBlock]{gap:.6rem}
@media (min-width:768px){[data-testid=stMainBlockContainer]{padding-left:2.5rem;padding-right:2.5rem}}
"""


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


def start_presenting() -> None:
    """Show the page to a room; in callbacks."""
    st.query_params[PRESENT] = "1"
    st.session_state["share_popover"] = False


def stop_presenting() -> None:
    """Back to the desk; in callbacks."""
    if PRESENT in st.query_params:
        del st.query_params[PRESENT]


def embedded() -> bool:
    """Return whether the page stands inside another one: figure, answer, scenario line, link."""
    return bool(st.context.is_embedded)


def bare() -> bool:
    """Return whether only the figure and what belongs to it are shown."""
    return presenting() or embedded()


def looks() -> None:
    """Style the frame for the desk, the room or another page."""
    if bare():
        st.html(f"<style>{BARE}{LARGE if presenting() else ''}</style>")


def corner() -> DeltaGenerator:
    """Return the place at the right end of the bar on top; made last, since even there it takes a gap."""
    return st.container(key="corner", horizontal=True, gap="xsmall", width="content")


def foot(*, summary: str, scenario_line: str, link: str) -> None:
    """Draw what stands around a page: the phone's way to the controls, the line under a bare figure."""
    if not bare():
        with head():
            bridge.draw("summary", [bridge.Action(name="open", label=f"{summary} ▸", does="sidebar")])
        return
    st.html(f'<p class="scenario-line">{html.escape(scenario_line)}</p>')
    bridge.draw("present")
    if presenting():
        st.button("Leave", key="present_off", on_click=stop_presenting, type="tertiary")
    else:
        st.link_button("Open with all controls", link, type="tertiary")
