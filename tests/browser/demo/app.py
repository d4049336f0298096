"""The demo as an application of its own; `streamlit run tests/browser/demo/app.py` shows it."""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[3]))

from ui.serve import MIDDLEWARE, lifespan

app = st.App("shell.py", middleware=MIDDLEWARE, lifespan=lifespan)
