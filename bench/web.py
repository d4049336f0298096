"""The pages in a headless Chromium: cold start, first paint, and how long a change takes to be seen.

A change is timed inside the page, from the key press to the frame after every number and figure
shows it: the script has ended, the figure was drawn with the server's answer, the batch box holds it.
"""

import math
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, Page

from bench import Row, bench
from tools.browser import launched
from tools.server import served

STARTS = 3
VISITS = 5
CHANGES = 30
DRAWN = "document.querySelector('.plot-box')?.dataset.painted > 0"
IDLE = "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"
WATCH = """
(labels) => {
  window.taken = [];
  const box = document.querySelector('.plot-box');
  const batch = document.querySelector(`input[aria-label="${labels.batch}"]`);
  addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowRight' && event.key !== 'Enter') return;
    const start = performance.now(), { painted, batch: before } = box.dataset;
    const slider = event.key === 'ArrowRight';
    let drawn;
    const look = () => {
      const now = performance.now() - start;
      if (box.dataset.batch !== before) drawn ??= now;
      const boxed = batch.value.replaceAll(',', '') === box.dataset.batch;
      const moved = !slider || (box.dataset.batch !== before && boxed);
      const idle = IDLE;
      if (moved && idle && box.dataset.painted !== painted && box.dataset.served === box.dataset.batch)
        requestAnimationFrame(() => window.taken.push({ drawn, all: performance.now() - start }));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, true);
}
""".replace("IDLE", IDLE)
DRAG = """
() => {
  window.moved = [];
  window.lags = [];
  const box = document.querySelector('.plot-box'), slider = document.querySelector('.plot-slider input');
  let waiting, before = box.dataset.batch;
  slider.addEventListener('input', () => { waiting ??= performance.now(); }, true);
  const look = (now) => {
    if (box.dataset.batch !== before) {
      before = box.dataset.batch;
      window.moved.push(now);
      if (waiting !== undefined) window.lags.push(performance.now() - waiting);
      waiting = undefined;
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
"""
DRAG_S = 3.0


@bench
def web() -> Iterator[Row]:
    """Time the default page."""
    health = []
    for _ in range(STARTS - 1):
        with served() as site:
            health.append(site.health_s)
    with served() as site, launched() as browser:
        yield Row("health_s", "s", [*health, site.health_s])
        visits = [_visit(browser, site.url) for _ in range(VISITS)]
        yield Row("first_paint_s", "s", [seconds for seconds, _ in visits])
        yield Row("first_page_kB", "kB", [kilobytes for _, kilobytes in visits])
        yield from _changes(browser, site.url)


def _visit(browser: Browser, url: str) -> tuple[float, float]:
    """Return the seconds until the figure is drawn for a visitor with an empty cache, and the kB."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(url)
    page.wait_for_function(DRAWN, polling="raf")
    milliseconds = page.evaluate("performance.now()")
    size = page.evaluate("performance.getEntriesByType('resource').reduce((sum, e) => sum + e.transferSize, 0)")
    context.close()
    return milliseconds / 1000, size / 1000


def _changes(browser: Browser, url: str) -> Iterator[Row]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
    page.goto(f"{url}/?b=16")
    page.wait_for_function(DRAWN)
    page.wait_for_timeout(1000)
    page.evaluate(WATCH, {"batch": "Batch"})

    page.locator(".plot-slider input").focus()
    received.clear()
    taken = [_press(page, "ArrowRight", index) for index in range(CHANGES)]
    yield Row("slider_draw_ms", "ms", [one["drawn"] for one in taken])
    yield from _percentiles("slider", taken)
    yield Row("slider_change_kB", "kB", [sum(received) / 1000 / CHANGES])

    box = page.get_by_role("spinbutton", name="Output tokens")
    page.evaluate("window.taken = []")
    taken = []
    for index in range(CHANGES):
        box.fill(str(1100 + 10 * index))
        taken.append(_press(page, "Enter", index))
    yield from _percentiles("control", taken)
    yield from _drag(page)
    page.close()


def _drag(page: Page) -> Iterator[Row]:
    """Draw the slider's thumb to and fro with the mouse; a drawn update is a frame with a new batch."""
    track = page.locator(".plot-slider input").bounding_box()
    if track is None:
        raise RuntimeError("the batch slider must be seen, but it has no box")
    page.evaluate(DRAG)
    y, middle, reach = track["y"] + track["height"] / 2, track["x"] + track["width"] / 2, track["width"] / 3
    page.mouse.move(middle, y)
    page.mouse.down()
    started = time.perf_counter()
    while (passed := time.perf_counter() - started) < DRAG_S:
        page.mouse.move(middle + reach * math.sin(2 * passed), y)
        page.wait_for_timeout(8)
    page.mouse.up()
    moved, lags = page.evaluate("[window.moved, window.lags]")
    yield Row("drag_updates_per_s", "1/s", [1000 * (len(moved) - 1) / (moved[-1] - moved[0])])
    yield Row("drag_lag_p50_ms", "ms", lags)


def _press(page: Page, key: str, index: int) -> dict[str, float]:
    page.keyboard.press(key)
    page.wait_for_function(f"window.taken.length > {index}", timeout=10_000)
    page.wait_for_timeout(200)
    return page.evaluate("window.taken.at(-1)")


def _percentiles(name: str, taken: list[dict[str, float]]) -> Iterator[Row]:
    times = sorted(one["all"] for one in taken)
    yield Row(f"{name}_p50_ms", "ms", times)
    yield Row(f"{name}_p95_ms", "ms", [times[int(len(times) * 0.95)]])
