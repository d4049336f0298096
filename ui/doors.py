"""Doors: the questions that lead on from the cost curve, beside its controls or, on phones, under it."""

import streamlit as st

from ui import navigation

DOORS = (
    ("What does a speed cost?", "frontier"),
    ("Is our bill too high?", "your-stack"),
    ("What should we change?", "levers"),
)

LOOKS = """
.st-key-doors_row{margin-left:auto;width:auto;flex-wrap:nowrap;gap:.25rem}
[class*="st-key-doors_"] a{padding:.15rem .4rem}
[class*="st-key-doors_"] a p{font-size:.8125rem;text-decoration:underline;text-underline-offset:.2em}
@media (max-width:1279px){.st-key-doors_row{display:none}}
@media (min-width:1280px){.st-key-doors_under{display:none}}
"""


def draw(place: str) -> None:
    """Draw the doors at one of two places, `row` or `under`; the width of the screen shows one of them."""
    listed = {entry.address: entry for entry in navigation.LISTED}
    with st.container(horizontal=True, gap="xsmall", key=f"doors_{place}"):
        for label, address in DOORS:
            if address in listed:
                st.page_link(str(listed[address].path), label=label)
