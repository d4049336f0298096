"""The HTTP API: the engine's answers as JSON, under the command line's names.

`mounted` is what the application mounts: it imports the routes at the first request, so that the
pages are up before FastAPI and the whole engine are loaded.
"""

from importlib import import_module

from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

PREFIX = "/api/v1"


async def mounted(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request under `PREFIX`."""
    routes = await run_in_threadpool(import_module, "api.app")
    await routes.api(scope, receive, send)
