"""What only the browser can do: open the sidebar, fill the clipboard, save a picture, pass on keys.

Nothing is sent back to the server, so no click here runs the script.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import streamlit as st

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Action:
    """One button: what it says and does."""

    name: str
    label: str
    does: Literal["copy", "picture", "report", "sidebar"]
    text: str = ""
    """What is copied, the picture's format (`png`, `svg`), or the report that figures are put into."""
    hint: str = ""


def draw(
    kind: Literal["summary", "share", "present"],
    actions: Sequence[Action] = (),
    *,
    answer: str = "",
    foot: Sequence[str] = (),
    name: str = "figure",
) -> None:
    """Put buttons on the page.

    Parameters
    ----------
    kind : str
        Looks: `summary` is seen on phones only, `present` passes the arrow keys to the batch slider.
    actions : sequence of Action
        The buttons, in order.
    answer, foot : str and sequence of str
        What a saved picture says above and below the figure; `**bold**` is the only markup. The page's
        own answer goes first, as the batch slider left it.
    name : str
        File name of what is saved, without its ending.
    """
    _mount(
        key=f"bridge_{kind}",
        data={
            "kind": kind,
            "actions": [asdict(action) for action in actions],
            "captions": {"answer": answer, "foot": list(foot)},
            "name": name,
        },
    )


_mount = st.components.v2.component(
    "bridge",
    html='<div class="bridge"></div>',
    css=(_HERE / "bridge.css").read_text(encoding="utf-8"),
    js=(_HERE / "bridge.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)
