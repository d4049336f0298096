"""Chunks of a sweep on a dask.distributed cluster: sent a few at a time, taken back as files.

An optional extra: `pip install "inference-cost[cluster]"`, or `pip install distributed`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from costmodel.chunks import Chunk, computed
from costmodel.errors import InputError, quoted

if TYPE_CHECKING:
    from costmodel.sweep_files import Computing

CONNECT_S = 5
"""How long a scheduler may take to answer."""
IN_FLIGHT = 3
"""Chunks sent per worker thread: enough to keep it busy, few enough to hold."""
POLL_S = 0.05
ALONE_S = 30.0
"""How long a cluster may be without a single worker."""


def on(address: str) -> Computing:
    """Return the computing of chunks on the cluster of a scheduler.

    Raises
    ------
    InputError
        When distributed isn't installed, no scheduler answers, or it goes away half-way; what was
        given back until then is kept by whoever writes it.
    """
    try:
        import distributed  # noqa: PLC0415  (an optional extra)
    except ImportError:
        msg = "--scheduler needs the package distributed, which isn't installed; pip install distributed"
        raise InputError(msg, field="scheduler") from None

    def computing(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, bytes]]:
        client = _client(distributed, address)
        try:
            yield from _run(client, iter(chunks), address)
        finally:
            with suppress(Exception):  # closing a connection that is gone already
                client.close(timeout=1)

    return computing


def _client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        msg = (
            f"--scheduler must be the address of a running dask scheduler, got {quoted(address)} "
            f"({type(error).__name__}); start one or leave the option out"
        )
        raise InputError(msg, field="scheduler") from None


def _run(client: Any, chunks: Iterator[Chunk], address: str) -> Iterator[tuple[Chunk, bytes]]:
    flying: dict[Any, Chunk] = {}
    done = 0
    alone_since = time.monotonic()
    while True:
        threads = _threads(client, address, done)
        alone_since = time.monotonic() if threads else alone_since
        if not threads and time.monotonic() - alone_since > ALONE_S:
            raise _gone(address, done, "has no workers")
        while len(flying) < max(threads, 1) * IN_FLIGHT and (chunk := next(chunks, None)) is not None:
            flying[client.submit(computed, chunk, pure=False, retries=2)] = chunk
        if not flying:
            return
        finished = [f for f in flying if f.status != "pending"]
        for future in finished:
            chunk = flying.pop(future)
            yield chunk, _result(future, address, done)
            done += 1
        if not finished:
            time.sleep(POLL_S)


def _threads(client: Any, address: str, done: int) -> int:
    """Return the cluster's worker threads; the client's own word for whether it is connected."""
    if client.status != "running":
        raise _gone(address, done, "went away")
    try:
        info = client.scheduler_info()
    except Exception:
        raise _gone(address, done, "went away") from None
    return sum(w.get("nthreads", 1) for w in info.get("workers", {}).values())


def _result(future: Any, address: str, done: int) -> bytes:
    if future.status in {"cancelled", "lost"}:
        raise _gone(address, done, "went away")
    try:
        data: bytes = future.result(timeout=60)
    except InputError:
        raise
    except Exception as error:
        if future.status == "error":
            msg = (
                f"a worker of {quoted(address)} can't compute a chunk ({type(error).__name__}); check that it "
                f"has the same version installed; {done:,} finished chunks are kept"
            )
            raise InputError(msg, field="scheduler") from None
        raise _gone(address, done, "went away") from None
    future.release()
    return data


def _gone(address: str, done: int, how: str) -> InputError:
    return InputError(
        f"the scheduler {quoted(address)} {how} after {done:,} chunks of this run; they are kept: "
        "run the same command again to go on",
        field="scheduler",
    )
