"""The engine: a grid of a million points, what one page computes, a command from cold."""

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench import Row, bench, samples
from costmodel import curve, explore
from costmodel.scenario import Scenario, scenario

ROOT = Path(__file__).parents[1]
BATCHES = np.linspace(1, 1000, 1000)
CONTEXTS = np.linspace(1, 100_000, 1000)
DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30)


def _grid() -> None:
    found = explore.point(DEFAULT, batch=BATCHES, context_tokens=CONTEXTS)
    found.usd_per_mtok.sum()
    found.fits.sum()


@bench
def grid() -> Iterator[Row]:
    """Time, cost and fit of 1,000 contexts by 1,000 batches."""
    yield Row("grid_1m_ms", "ms", samples(_grid, count=15, unit_s=1e-3))
    tracemalloc.start()
    _grid()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield Row("grid_1m_peak_mb", "MB", [peak / 1e6])


@bench
def page() -> Iterator[Row]:
    """All that the Batch page computes, for a context that nobody asked for before."""
    contexts = iter(range(2000, 2100))

    def asked() -> Scenario:
        return DEFAULT.but(context_tokens=next(contexts))

    yield Row("page_compute_ms", "ms", samples(lambda: curve.cost_curve(asked()), count=30, unit_s=1e-3))


@bench
def cold() -> Iterator[Row]:
    """Run `python -m costmodel point --json` as a process, its byte code compiled as usual."""
    own = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment = own | {"PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache")}

    def run() -> None:
        command = [sys.executable, "-m", "costmodel", "point", "--json"]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=environment)

    yield Row("cli_cold_s", "s", samples(run, count=5))


@bench
def models() -> Iterator[Row]:
    """Read a config into a model, nothing kept from before."""
    from costmodel import importer  # noqa: PLC0415  (its own import isn't measured)

    files = sorted((ROOT / "presets" / "models").glob("*.json"))

    def load() -> None:
        for file in files:
            importer.load(file)

    taken = samples(load, count=3, unit_s=1e-3)
    yield Row("import_model_ms", "ms", [t / len(files) for t in taken])
