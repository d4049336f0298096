"""How the application is served: what is done once before the first visitor, and compression."""

import asyncio
import gc
import importlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WARM = (
    "orjson", "costmodel.curve", "ui.address", "ui.frame", "ui.plot", "ui.sidebar", "ui.state", "ui.units",
    "ui.share", "ui.blocks", "ui.folds", "ui.charts.live", "ui.charts.vary", "ui.charts.pinned",
)  # fmt: skip
"""Imported at start: no visitor waits for them, and the collector never walks them again."""
SWITCH_S = 0.001
"""How long a thread may keep the interpreter: the script's must not hold up the one that sends for five ms."""

PRELOAD = "</app/static/plotly-cartesian.min.js>; rel=preload; as=script"
"""Told with the document, so that the charts' library comes while Streamlit's own scripts do."""


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Warm up beside the first requests: the server answers while the engine is imported."""
    sys.setswitchinterval(SWITCH_S)
    warming = asyncio.create_task(asyncio.to_thread(warm))
    yield
    await warming


def warm() -> None:
    """Import what pages need and freeze it.

    Streamlit collects garbage after every run of the script; without the freeze that walk over
    all imported modules takes longer than the run itself.
    """
    for name in WARM:
        importlib.import_module(name)
    opening = importlib.import_module("ui.state").default()
    curve = importlib.import_module("costmodel.curve").cost_curve(opening)
    importlib.import_module("ui.charts.live").table(curve)
    gc.collect()
    gc.freeze()


_frozen: set[str] = set()


def freeze(page: str) -> None:
    """Keep what the first run of a page imported from the collector, which Streamlit calls after every run."""
    if page not in _frozen:
        _frozen.add(page)
        gc.freeze()


class Statics:
    """Keep each static file, compressed, in memory after its first visitor.

    Streamlit leaves its own bundles uncompressed, for fear of compressing them for every visitor.
    They are most of what a first visit loads, never change while the process lives, and take a few
    MB together: kept, a visit costs the server a quarter of the time.
    """

    def __init__(self, app: ASGIApp) -> None:
        # Level 5 takes a third of the time of level 9 and leaves two percent more.
        self.app = GZipMiddleware(app, minimum_size=500, compresslevel=5)
        self.kept: dict[str, list[Message]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from memory where that is possible, and tell every document what to preload."""
        if not _is_plain_request_for_a_file(scope):
            await self.app(scope, receive, _preloading(send))
            return
        path = scope["path"]
        if path not in self.kept:
            answer: list[Message] = []

            async def gather(message: Message) -> None:
                answer.append(message)

            await self.app(scope, receive, gather)
            body = b"".join(message.get("body", b"") for message in answer[1:])
            whole = [answer[0], {"type": "http.response.body", "body": body}]
            # An unknown path is answered with the document: keeping those would grow without end.
            if answer[0]["status"] != HTTPStatus.OK or _is_document(answer[0]):
                await _send_all(whole, send)
                return
            self.kept[path] = whole
        await _send_all(self.kept[path], send)


def _is_plain_request_for_a_file(scope: Scope) -> bool:
    """Tell whether any visitor who asks this gets the same bytes."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    headers = Headers(scope=scope)
    conditional = {"range", "if-none-match", "if-modified-since"} & set(headers.keys())
    gzip = "gzip" in headers.get("accept-encoding", "")
    return scope["path"].startswith(("/static/", "/app/static/")) and gzip and not conditional


def _is_document(start: Message) -> bool:
    return bool(MutableHeaders(scope=start).get("content-type", "").startswith("text/html"))


async def _send_all(messages: list[Message], send: Send) -> None:
    for message in messages:
        await send(message)


def _preloading(send: Send) -> Send:
    async def told(message: Message) -> None:
        if message["type"] == "http.response.start" and _is_document(message):
            MutableHeaders(scope=message).append("Link", PRELOAD)
        await send(message)

    return told


MIDDLEWARE = [Middleware(Statics)]
