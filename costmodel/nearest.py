"""The measured runs nearest to a setup, and how far predictions lie from them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from costmodel import dimensions
from costmodel.hardware import Accelerator
from costmodel.model import Model
from costmodel.validate import Errors, Report


@dataclass(frozen=True)
class Nearest:
    """The measured runs nearest to a setup."""

    words: str
    """What they share with it."""
    at: tuple[int, ...]
    """Positions of the counted rows."""
    errors: Errors
    same_card: int
    """Readings of the very accelerator on the very engine."""


FEWEST = 8
"""Readings that a class needs to say something."""


def nearest(report: Report, *, engine: str, accelerator: Accelerator, model: Model) -> Nearest:
    """Return the smallest class around a setup that holds enough readings."""
    kind = dimensions.architecture_of(model).split(",", maxsplit=1)[0]
    return _nearest(report, dimensions.engine(engine), accelerator.id, accelerator.family, kind)


@lru_cache(maxsize=256)
def _nearest(report: Report, engine: str, gpu: str, family: str, kind: str) -> Nearest:
    runs = ((int(i), report.rows[i].run) for i in np.flatnonzero(report.counted))
    every = [(i, dimensions.of(run, "")) for i, run in runs if run is not None]
    experts = "models with experts" if kind == "experts" else "dense models"

    def matching(*tests: Callable[[dict[str, str]], bool]) -> tuple[int, ...]:
        return tuple(i for i, d in every if all(test(d) for test in tests))

    def same_engine(d: dict[str, str]) -> bool:
        return d["engine"] == engine

    def same_gpu(d: dict[str, str]) -> bool:
        return d["gpu"] == gpu

    def same_family(d: dict[str, str]) -> bool:
        return d["family"] == family

    def same_kind(d: dict[str, str]) -> bool:
        return d["architecture"].startswith(kind)

    tries: Iterable[tuple[str, tuple[int, ...]]] = (
        (f"{experts} with {engine} on this accelerator", matching(same_engine, same_gpu, same_kind)),
        (f"{experts} with {engine} on its family, {family}", matching(same_engine, same_family, same_kind)),
        (f"every run with {engine} on its family, {family}", matching(same_engine, same_family)),
        (f"every run on its family, {family}", matching(same_family)),
        (f"{experts} with {engine} on any accelerator", matching(same_engine, same_kind)),
        ("every run", matching()),
    )
    words, at = next((t for t in tries if len(t[1]) >= FEWEST), ("every run", matching()))
    return Nearest(words, at, report.errors(at), len(matching(same_engine, same_gpu)))
