"""The demo as an application of its own; `streamlit run tests/browser/demo/app.py` shows it."""

import streamlit as st

app = st.App("shell.py")
