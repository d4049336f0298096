"""Main script: page list, style, shared sidebar; nothing else.

It lies in ui/ and not beside pages/, because Streamlit treats a folder of that name next to the
main script as an app of the old kind, whose deep links skip this file.
"""

from pathlib import Path

import streamlit as st

from ui import address, doors, frame, navigation, pins, serve, share, sidebar, theme

st.set_page_config(
    page_title="Inference cost",
    page_icon=str(Path(__file__).parent / "static" / "icon.svg"),
    layout="wide",
    initial_sidebar_state=340,
)
st.html(f"<style>{theme.css()}</style>")

groups: dict[str, list[st.Page]] = {}
for entry in navigation.LISTED:
    page = st.Page(
        entry.path, title=entry.title, url_path=entry.address, default=not entry.address,
        visibility="hidden" if entry.hidden else "visible",
    )  # fmt: skip
    groups.setdefault(entry.group, []).append(page)

page = st.navigation(groups, position="top")
address.clean()  # may start anew, which only a page that is known by then survives
frame.looks()
sidebar.draw()
frame.open_head()
address.notice()
with st.container(horizontal=True, vertical_alignment="center", key="page_row"):
    sidebar.draw_page_row(page.url_path)
if not page.url_path and not frame.bare():
    doors.draw()
share.forget()
if page.url_path:
    sidebar.ensure_batch()
page.run()
sidebar.ensure_batch()  # the cost curve draws it itself, but for a setup that has no curve
with frame.corner():
    pins.button()
    share.popover()
share.foot()
serve.freeze(page.url_path)
