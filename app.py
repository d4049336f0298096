"""The whole application: the pages, the routes beside them, and how they are served."""

import streamlit as st
from starlette.routing import BaseRoute, Mount

from api import PREFIX, mounted
from ui.serve import MIDDLEWARE, lifespan

ROUTES: list[BaseRoute] = [Mount(PREFIX, app=mounted)]

app = st.App("ui/shell.py", routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
