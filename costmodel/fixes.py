"""What to change where a model doesn't fit: the nearest setups that hold it, with their cost."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from costmodel import catalog, custom, dtypes
from costmodel.case import NODE_GPUS, Case, model_of, resolve
from costmodel.check import FloatArray
from costmodel.errors import InputError
from costmodel.explore import max_batch, points
from costmodel.hardware import Accelerator
from costmodel.model import Model
from costmodel.scenario import Scenario

MOST_FIXES = 3
_DISTANCE = {"hardware": 1.0, "tp": 0.6, "weights": 0.8, "kv": 0.9, "split": 0.3}
"""How far a change is from today's setup; GPUs by doubling. A judgement: rather double the GPUs
than swap them, rather swap nothing but the weights' dtype than two things."""
_SMALL = 0.5
"""Added where the fix holds fewer sequences than the scenario's batch."""


_LARGER = 0.1
"""Added per doubling of an accelerator's memory: rather the next size than the largest."""


@dataclass(frozen=True)
class Fix:
    """A setup that holds the model."""

    label: str
    changes: dict[str, Any]
    """Fields of the scenario to set."""
    max_batch: int
    usd_per_mtok: float
    """Answer, at the scenario's batch or at the most that fits; NaN where no price is known."""
    distance: float


def nearest_fixes(scenario: Scenario) -> tuple[Fix, ...]:
    """Return up to three setups that hold a scenario's model, nearest first, each of another kind.

    Looked for among more GPUs, 8-bit weights, an 8-bit cache, accelerators of the same maker with
    more memory and a price on the same basis, experts spread with data-parallel attention, and all
    of these together.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> [f.label for f in nearest_fixes(scenario(tp=1, batch=8))]
    ['2 × H100 SXM', '1 × B200 SXM', 'fp8 weights on 1 × H100 SXM']
    """
    return _nearest(scenario)


@lru_cache(maxsize=64)
def _nearest(scenario: Scenario) -> tuple[Fix, ...]:
    try:
        model = model_of(scenario)
        card = catalog.accelerator(scenario.hardware)
    except InputError:
        return ()
    found = sorted(_candidates(scenario, model, card), key=lambda f: (f.distance, f.usd_per_mtok))
    chosen: dict[frozenset[str], Fix] = {}
    for fix in found:
        chosen.setdefault(frozenset(fix.changes), fix)
    return tuple(list(chosen.values())[:MOST_FIXES])


def _candidates(scenario: Scenario, model: Model, card: Accelerator) -> Iterator[Fix]:
    """Yield every change that fits; one call of the model for all accelerators of a change."""
    cards = (card, *_larger(scenario, card))
    for fields in _changes(scenario, model):
        changed = scenario.but(**fields)
        able = [c for c in cards if changed.tp <= max(NODE_GPUS, c.domain)]
        if not able:
            continue
        try:
            case = resolve(changed, able)
        except InputError:
            continue  # a split that this model doesn't allow
        walls = _flat(max_batch(case, context_tokens=np.asarray(scenario.context)), len(able))
        for index, (own, wall) in enumerate(zip(able, walls, strict=True)):
            if not wall >= 1:
                continue
            changes = fields | ({} if own is card else {"hardware": own.id})
            if changes:
                yield _fix(scenario, changed, changes, own, int(wall), _cost(case, index, wall, scenario.batch))


def _changes(scenario: Scenario, model: Model) -> Iterator[dict[str, Any]]:
    stored = dtypes.dtype(scenario.weights or model.published.dtype)
    weights = [None, "fp8"] if stored.bits > 8.5 else [None]
    caches = [None, "fp8"] if dtypes.kv_bits(scenario.kv) > 8.5 else [None]
    spread = any(layer.experts for layer in model.layers) and scenario.split == "tensor" and scenario.ep == 1
    splits = [None, "attention-dp"] if spread else [None]
    for factor in (1, 2, 4, 8):
        for weight in weights:
            for cache in caches:
                for split in splits:
                    wanted = {
                        "tp": scenario.tp * factor if factor > 1 else None,
                        "weights": weight, "kv": cache, "split": split,
                    }  # fmt: skip
                    yield {name: value for name, value in wanted.items() if value is not None}


def _larger(scenario: Scenario, card: Accelerator) -> list[Accelerator]:
    """Return accelerators of the same maker with more memory that have a price on the basis."""
    if custom.is_custom(scenario.hardware):
        return []
    return [
        other
        for other in catalog.hardware().values()
        if other.vendor == card.vendor
        and other.capacity_bytes > card.capacity_bytes
        and catalog.price(other.id, scenario.price_basis).usd_per_gpu_hour is not None
    ]


def _flat(values: FloatArray, length: int) -> list[float]:
    return [float(v) for v in np.broadcast_to(np.ravel(values), (length,))]


def _cost(case: Case, index: int, wall: float, batch: float) -> float:
    """Return the answer's cost on one of a case's accelerators."""
    at = points(case, batch=min(wall, batch), context_tokens=case.scenario.context)
    return _flat(at.usd_per_mtok, len(case.accelerators))[index]


def _fix(
    scenario: Scenario, changed: Scenario, changes: dict[str, Any], card: Accelerator, wall: int, usd: float
) -> Fix:
    distance = sum(weight for name, weight in _DISTANCE.items() if name in changes and name != "tp")
    distance += _DISTANCE["tp"] * math.log2(changed.tp / scenario.tp)
    distance += _SMALL if wall < scenario.batch else 0.0
    if "hardware" in changes:
        bigger = card.capacity_bytes / catalog.accelerator(scenario.hardware).capacity_bytes
        distance += _LARGER * math.log2(bigger)
    stored = [
        *([f"{changes['weights']} weights"] if "weights" in changes else []),
        *([f"{changes['kv']} cache"] if "kv" in changes else []),
    ]
    where = f"{changed.tp * scenario.pp} × {card.short}"
    label = f"{' and '.join(stored)} on {where}" if stored else where
    if "split" in changes:
        label += ", attention data-parallel"
    return Fix(label=label, changes=changes, max_batch=wall, usd_per_mtok=usd, distance=distance)
