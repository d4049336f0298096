"""Sweeps, frontiers and the API: from half a million points to a hundred million."""

import http.client
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from bench import Row, bench, samples
from costmodel import pareto, sweep
from costmodel.curve import cost_curve
from costmodel.scenario import scenario
from tools.server import served
from ui import frontier_view, plot, priceline, words_frontier
from ui.charts import frontier as chart

ROOT = Path(__file__).parents[1]
HUNDRED_MILLION = ("--input", "100:20000:145")
"""145 prompt lengths over the usual space of 691,200 points."""
PER_S, SECONDS, CLIENTS = 50, 6, 16


@bench
def whole_space() -> Iterator[Row]:
    """Evaluate all accelerators × 1 to 16 GPUs × dtypes × 256 batches anew each time, to a front."""
    asked = scenario(model="llama-3.1-70b", weights="fp8")
    where = sweep.space(asked)

    def run() -> None:
        pareto.front_of(sweep.uncached(asked, where))

    yield Row("frontier_500k_points", "points", [where.points])
    yield Row("frontier_500k_ms", "ms", samples(run, count=15, unit_s=1e-3, warm=2))


@bench
def every_point_computed() -> Iterator[Row]:
    """Time the same where nothing is left out, per half a million points that all get figures."""
    asked = scenario(model="llama-3.1-8b")
    cards = [a for a in sweep.space(asked).hardware if a.has("bf16")]
    priced = [cards[i] for i in np.flatnonzero(~np.isnan(sweep.prices_of(asked, tuple(cards))))]
    where = sweep.space(asked, hardware=priced, batches=np.arange(1, 4097), gpus=[1, 2, 4, 8])

    def run() -> None:
        pareto.front_of(sweep.uncached(asked, where, beyond_wall=True))

    computed = sweep.uncached(asked, where, beyond_wall=True).tpot_s.size
    yield Row("frontier_computed_points", "points", [computed])
    taken = samples(run, count=5, unit_s=1e-3)
    yield Row("frontier_computed_500k_ms", "ms", [t * 500_000 / computed for t in taken])


@bench
def limit_change() -> Iterator[Row]:
    """Answer a moved limit as the page does: every result, sentence and line, and what is sent of them."""
    asked = scenario(model="llama-3.1-70b", weights="fp8", max_ttft_s=0.5)
    speeds = cycle(range(15, 60))

    def run() -> None:
        shown = frontier_view.view(asked.but(max_tpot_s=1 / next(speeds)), frontier_view.Asked())
        words_frontier.answer(shown)
        words_frontier.notes(shown)
        priceline.line(cost_curve(shown.scenario))
        plot.payload(chart.figure(shown), name="frontier")

    yield Row("frontier_page_ms", "ms", samples(run, count=30, unit_s=1e-3, warm=3))


@bench
def hundred_million() -> Iterator[Row]:
    """Write a sweep of 10^8 points to Parquet; its peak memory, and how long it takes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "costmodel", "sweep", "--out", folder, "--json", *HUNDRED_MILLION]
        start = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        taken = time.perf_counter() - start
    yield Row("sweep_points", "points", [json.loads(done.stdout)["points"]])
    yield Row("sweep_s", "s", [taken])
    yield Row("sweep_peak_mb", "MB", [resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6])


QUESTIONS = (
    "point?batch=1:1024:40&weights=fp8&context={}",
    "serve?batch=1,8,64&weights=fp8&input={}",
    "knee?weights=fp8&max-tpot=0.0333&context={}",
    "serve?hardware=h100-sxm,b200,l40s&tp=8&input={}",
    "point?hardware=h200-sxm&model=deepseek-v3&tp=8&context={}",
)


@bench
def api() -> Iterator[Row]:
    """Ask 50 questions a second, whether or not others wait for their answers."""
    with served() as site:
        _load(site.url, seconds=1)  # presets read, code warm
        slow = [float(np.percentile(_load(site.url, seconds=SECONDS), 95)) for _ in range(3)]
        yield Row("api_p95_ms", "ms", slow)


def _load(url: str, *, seconds: int) -> list[float]:
    """Return how long each answer took from the moment it was due. [ms]"""
    taken: list[float] = []
    failed: list[str] = []
    start = time.perf_counter() + 0.2

    def client(which: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        for number in range(which, PER_S * seconds, CLIENTS):
            due = start + number / PER_S
            time.sleep(max(0.0, due - time.perf_counter()))
            question = QUESTIONS[number % len(QUESTIONS)].format(500 + 7 * number)
            connection.request("GET", f"/api/v1/{question}")
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                failed.append(f"{question}: {answer.status} {body[:200]!r}")
                return
            taken.append((time.perf_counter() - due) * 1e3)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise RuntimeError(failed[0])
    return taken
