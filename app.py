"""The whole application: pages, their static files, and what is done once before the first visitor."""

import gc
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from ui.compress import Compress

WARM = ("numpy", "orjson", "ui.plot")
"""Imported at start, so that no visitor waits for them and the collector never walks them."""

ROUTES: list[BaseRoute] = []
"""Routes beside the pages; the HTTP API is mounted here."""


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Import what pages need and freeze it.

    Streamlit collects garbage after every run of the script; without the freeze that walk over
    all imported modules takes longer than the run itself.
    """
    for name in WARM:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    yield


app = st.App("ui/shell.py", routes=ROUTES, middleware=[Middleware(Compress)], lifespan=lifespan)
