"""What public launch scripts of a benchmark set and its rows don't say: `presets/calibration.toml`."""

import re
from dataclasses import dataclass

from costmodel import catalog, classes
from costmodel.hardware import Accelerator
from costmodel.measured import Run

MANY = 16
"""Requests in flight from which the scripts look for new ones less often."""


@dataclass(frozen=True)
class Launch:
    """Flags of one run's server."""

    kv: str | None = None
    """Dtype of the cache; None where the script leaves the engine's own."""
    polls: float = 0.0
    """Steps from one look for new requests to the next; 0 where each step looks."""


PLAIN = Launch()


def launch_of(run: Run, accelerator: Accelerator, engine_class: str) -> Launch:
    """Return the flags that a run's server was started with, as far as its scripts are public.

    Parameters
    ----------
    run : Run
        The measured run.
    accelerator : Accelerator
        Its accelerator.
    engine_class : str
        Its engine's class.
    """
    if "InferenceX" not in run.note:
        return PLAIN
    family = classes.family(accelerator)
    for row in catalog.calibration()["launch"]:
        if (
            row["engine"] == engine_class
            and family in row["family"]
            and run.weights in row["weights"]
            and re.search(row["models"], run.model, re.IGNORECASE)
        ):
            few, many = row.get("polls", (0, 0))
            return Launch(row.get("kv"), float(many if (run.concurrency or 0) >= MANY else few))
    return PLAIN
