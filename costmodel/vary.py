"""Families of cost curves: the scenario over up to five values of one knob."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from costmodel.case import Case, model_of, resolve
from costmodel.check import FloatArray
from costmodel.errors import InputError
from costmodel.explore import Points, max_batch, points, time_between_tokens
from costmodel.scenario import Scenario

KNOBS = ("tp", "weights", "kv", "context_tokens", "kv_heads", "hardware")
"""Scenario fields that a family can run over."""
MOST = 5
"""Lines of a family; more can't be told apart."""
LINE_POINTS = 80
_OFFERED: dict[str, tuple[Any, ...]] = {
    "tp": (1, 2, 4, 8, 16),
    "weights": ("bf16", "fp8", "awq-int4", "nvfp4"),
    "kv": ("bf16", "fp8", "nvfp4"),
    "context_tokens": (500.0, 2_000.0, 8_000.0, 32_000.0, 128_000.0),
    "kv_heads": (1, 4, 8, 16, 32, 64, 96, 128),
    "hardware": ("h100-sxm", "h200-sxm", "b200-sxm", "mi300x", "a100-sxm-80gb"),
}


@dataclass(frozen=True)
class Member:
    """One line of a family."""

    value: Any
    """Of the knob."""
    current: bool
    """Whether it is the scenario's own."""
    case: Case
    wall: int
    """Most sequences that fit; 0 where the capacity isn't published."""
    line: Points
    """Up to the wall, or the end of the axis."""
    tpot_s: FloatArray
    """Along the line: between two tokens of one user, prompts of others included."""


@dataclass(frozen=True)
class Family:
    """Cost curves over one knob, from its smallest value."""

    knob: str
    members: tuple[Member, ...]
    absent: tuple[tuple[Any, str], ...]
    """Values without a line, and why: what doesn't fit, or isn't legal."""


def family(scenario: Scenario, knob: str, *, axis_max: float) -> Family:
    """Return the cost curves of a scenario over a knob; the scenario's own value is among them.

    Parameters
    ----------
    scenario : Scenario
        Everything that isn't varied.
    knob : str
        One of `KNOBS`.
    axis_max : float
        Largest batch drawn.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> f = family(scenario(weights="fp8"), "tp", axis_max=1024)
    >>> [m.value for m in f.members], [m.wall for m in f.members if m.current], f.absent[0][0]
    ([1, 2, 4, 8], [343], 16)
    """
    if knob not in KNOBS:
        msg = f"a family must run over one of {', '.join(KNOBS)}, got {knob}"
        raise InputError(msg, field="vary")
    return _family(scenario.model_copy(update={"batch": 1.0}), knob, axis_max)


@lru_cache(maxsize=32)
def _family(scenario: Scenario, knob: str, axis_max: float) -> Family:
    own = current(scenario, knob)
    members, absent = [], []
    for value in _values(scenario, knob, own):
        try:
            case = resolve(scenario if value == own else scenario.but(**{knob: value}))
        except InputError as error:
            absent.append((value, error.sentence))
            continue
        found = _member(case, value, value == own, axis_max)
        if found is None:
            absent.append((value, "doesn't fit"))
        else:
            members.append(found)
    return Family(knob=knob, members=tuple(_nearest(members)), absent=tuple(absent))


def current(scenario: Scenario, knob: str) -> Any:
    """Return the scenario's own value of a knob; for KV heads as built, the model's."""
    value = getattr(scenario, knob)
    if knob == "context_tokens":
        return scenario.context
    if knob == "weights" and value is None:
        return model_of(scenario).published.dtype
    if knob == "kv_heads" and value is None:
        mixers = [layer.mixer for layer in model_of(scenario).layers if layer.mixer is not None]
        return mixers[0].n_kv_heads if mixers else 1
    return value


def _values(scenario: Scenario, knob: str, own: Any) -> Sequence[Any]:
    offered = list(_OFFERED[knob])
    if knob == "context_tokens":
        limit = model_of(scenario).context_limit
        offered = [value for value in offered if limit is None or value <= limit]
    if own not in offered:
        offered.append(own)
    return sorted(offered) if knob in {"tp", "context_tokens", "kv_heads"} else offered


def _nearest(members: list[Member]) -> list[Member]:
    """Keep the five lines nearest to the scenario's own, where there are more."""
    if len(members) <= MOST:
        return members
    at = next((i for i, m in enumerate(members) if m.current), 0)
    start = min(max(at - MOST // 2, 0), len(members) - MOST)
    return members[start : start + MOST]


def _member(case: Case, value: Any, is_current: bool, axis_max: float) -> Member | None:
    context = np.asarray(case.scenario.context)
    most = float(max_batch(case, context_tokens=context))
    wall = 0 if np.isnan(most) else int(most)
    if wall < 1 and not np.isnan(most):
        return None
    end = min(float(wall), axis_max) if wall else axis_max
    batch = np.unique(np.append(np.geomspace(1.0, max(end, 1.0), LINE_POINTS), end))
    return Member(
        value=value,
        current=is_current,
        case=case,
        wall=wall,
        line=points(case, batch=batch, context_tokens=context),
        tpot_s=time_between_tokens(case, batch=batch),
    )
