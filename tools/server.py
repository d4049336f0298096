"""Start the application cold on a free port, as a user would, and stop it again."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Site:
    """A served application."""

    url: str
    health_s: float
    log: Path


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(entry: str = "app.py") -> Iterator[Site]:
    """Run `streamlit run entry` and wait until it says that it is healthy."""
    port = free_port()
    log = ROOT / "build" / f"server-{port}.log"
    log.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "streamlit", "run", entry, f"--server.port={port}"]
    command += ["--server.address=127.0.0.1", "--server.fileWatcherType=none"]
    started = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, env=dict(os.environ))
    try:
        url = f"http://127.0.0.1:{port}"
        while not _healthy(url):
            if process.poll() is not None or time.perf_counter() - started > PATIENCE_S:
                raise RuntimeError(f"{entry} did not start; its log says:\n{log.read_text()[-2000:]}")
            time.sleep(0.02)
        yield Site(url=url, health_s=time.perf_counter() - started, log=log)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    log.unlink()


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False
