"""Find, install and start the headless Chromium that tests, benches and photographs share.

`python -m tools.browser` makes sure that there is one, or says in one sentence what to install.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = (
    "No Chromium was found and none could be installed: install one (Debian: apt-get install chromium; "
    "elsewhere: python -m playwright install --with-deps chromium), or set BROWSER_PATH to its program."
)


def find() -> str | None:
    """Return the program of a Chromium on this machine, or None."""
    if chosen := os.environ.get("BROWSER_PATH"):
        if not Path(chosen).exists():
            raise SystemExit(f"BROWSER_PATH must name a Chromium's program, got {chosen}: correct it or unset it.")
        return chosen
    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def install() -> str:
    """Return the program of a Chromium, installed first where there is none."""
    if path := find():
        return path
    if shutil.which("apt-get") and os.geteuid() == 0:
        attempts = [["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]]
    else:
        attempts = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    for command in attempts:
        subprocess.run(command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    path = find()
    if path is None:
        raise SystemExit(MISSING)
    return path


@contextmanager
def launched() -> Iterator[Browser]:
    """Start a headless Chromium; the sandbox is off only where Chromium refuses it, as root."""
    path = find()
    if path is None:
        raise RuntimeError(MISSING)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=[*FLAGS, *(["--no-sandbox"] if root else [])]
        )
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    print(f"Browser: {install()}")
