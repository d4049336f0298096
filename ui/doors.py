"""Doors: the questions that lead on from the cost curve.

On a wide screen they stand at the right end of the row of controls, else at the foot of the page: the
style sheet moves the one set of links.
"""

import streamlit as st

from ui import navigation

DOORS = (
    ("What does a speed cost?", "frontier"),
    ("Is our bill too high?", "your-stack"),
    ("What should we change?", "levers"),
)


def draw() -> None:
    """Draw the doors to those pages that are listed."""
    listed = {entry.address: entry for entry in navigation.LISTED}
    with st.container(horizontal=True, gap="xsmall", key="doors"):
        for label, address in DOORS:
            if address in listed:
                st.page_link(str(listed[address].path), label=label)
