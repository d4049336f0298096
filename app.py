"""The whole application: the pages, the routes beside them, and how they are served."""

import streamlit as st
from starlette.routing import BaseRoute

from ui.serve import MIDDLEWARE, lifespan

ROUTES: list[BaseRoute] = []  # the HTTP API is mounted here

app = st.App("ui/shell.py", routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
