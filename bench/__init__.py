"""How fast it is, measured: `make bench` runs every function registered here.

A bench is a generator in a module of this folder, under `@bench`, that yields `Row`s. Samples, not
averages: the harness takes the median.

    @bench
    def curve() -> Iterator[Row]:
        yield Row("curve_ms", "ms", samples(lambda: explore.curve(...), count=30, unit_s=1e-3))
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

REGISTERED: list[Callable[[], Iterator["Row"]]] = []


@dataclass(frozen=True)
class Row:
    """One line of the table: a name with its unit at the end, and what was measured."""

    name: str
    unit: str
    samples: Sequence[float]


def bench(function: Callable[[], Iterator[Row]]) -> Callable[[], Iterator[Row]]:
    """Register a bench."""
    REGISTERED.append(function)
    return function


def samples(call: Callable[[], object], *, count: int, unit_s: float = 1.0, warm: int = 1) -> list[float]:
    """Return how long a call takes, again and again, in units of `unit_s` seconds."""
    for _ in range(warm):
        call()
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) / unit_s)
    return taken
