"""Levers: all of them before and after, and an exact share of twelve."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from bench import Row, bench, samples
from costmodel.lever_rows import board
from costmodel.levers import Settings, by_name, settled
from costmodel.scenario import scenario
from costmodel.setups import Setup
from costmodel.shapley import split

TWELVE = (
    "prefix", "separate", "graphs", "busy", "weights", "kv", "heads", "windows", "hardware", "speculation",
    "cascade", "context",
)  # fmt: skip
"""Five of them change the case in 32 ways, so every sample prices 4,096 combinations."""


@bench
def levers() -> Iterator[Row]:
    """All levers alone, then twelve together, the batch chosen anew in all 4,096 combinations."""
    turn = count()

    def work() -> None:
        # Another workload each time: only what a page would have at hand is.
        asked = scenario(
            weights="fp8", shared=0.6, hit=0.3, busy=0.8, max_tpot_s=1 / 30, max_ttft_s=0.5,
            batch=40 + next(turn), input_tokens=1500 + 10 * next(turn),
        )  # fmt: skip
        setup = Setup(asked)
        board(setup)
        found = split([by_name(n) for n in TWELVE], setup, settled(setup, Settings()), rechosen=True)
        if not found.exact or len(found.levers) != 12:
            raise RuntimeError("twelve levers must be split exactly")

    yield Row("shapley_12_ms", "ms", samples(work, count=15, unit_s=1e-3, warm=2))


@bench
def page() -> Iterator[Row]:
    """Run the Levers page whole on the server, its batch changed each time, on two of its tabs."""
    from streamlit.testing.v1 import AppTest  # noqa: PLC0415  (other benches need no pages)

    root = Path(__file__).parents[1]
    for tab, name in (("Lever by lever", "levers_page_ms"), ("Combine", "levers_combine_page_ms")):
        app = AppTest.from_file(str(root / "ui" / "shell.py"), default_timeout=60)
        app.query_params["le_tab"] = tab
        app.query_params["le_set"] = "fill,graphs,weights,kv,heads,windows,experts,hardware,speculation,context"
        app.run()
        app.switch_page(str(root / "pages" / "levers.py")).run()
        batches = count(40)

        def change(app: AppTest = app, batches: Iterator[int] = batches) -> None:
            app.number_input(key="b").set_value(next(batches)).run()

        yield Row(name, "ms", samples(change, count=20, unit_s=1e-3, warm=2))
