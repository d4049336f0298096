"""Families of cost curves: the scenario over up to five values of one knob."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from costmodel.case import Case, model_of, resolve
from costmodel.curve import Shown, base_of, show
from costmodel.errors import InputError
from costmodel.explore import Points, max_batch, points
from costmodel.scenario import MOST_BATCH, Scenario

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
    shown: Shown
    """Along the line: the cost asked for, and the time between two tokens of one user."""

    @property
    def ends_at_wall(self) -> bool:
        """Whether the line ends because no more fits."""
        return self.wall >= 1 and float(self.line.batch[-1]) == self.wall


@dataclass(frozen=True)
class Family:
    """Cost curves over one knob, from its smallest value."""

    knob: str
    axis_max: float
    """Where the axis over batch ends: past every wall."""
    members: tuple[Member, ...]
    absent: tuple[tuple[Any, str], ...]
    """Values without a line, and why: what doesn't fit, or isn't legal."""


def family(scenario: Scenario, knob: str, *, cost: str = "answer") -> Family:
    """Return the cost curves of a scenario over a knob; the scenario's own value is among them.

    Parameters
    ----------
    scenario : Scenario
        Everything that isn't varied.
    knob : str
        One of `KNOBS`.
    cost : str
        `answer` or `all-in`, as `curve.cost_curve`.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> f = family(scenario(weights="fp8"), "tp")
    >>> [m.value for m in f.members], [m.wall for m in f.members if m.current], f.absent[0][0]
    ([1, 2, 4, 8], [343], 16)
    """
    if knob not in KNOBS:
        msg = f"a family must run over one of {', '.join(KNOBS)}, got {knob}"
        raise InputError(msg, field="vary")
    return _family(*base_of(scenario), knob, cost)


@lru_cache(maxsize=32)
def _family(scenario: Scenario, axis_at_least: float, knob: str, cost: str) -> Family:
    own = current(scenario, knob)
    cases, absent = [], []
    for value in _values(scenario, knob, own):
        try:
            case = resolve(scenario if value == own else scenario.but(**{knob: value}))
        except InputError as error:
            absent.append((value, error.sentence))
            continue
        wall = float(max_batch(case, context_tokens=np.asarray(case.scenario.context)))
        if wall < 1:
            absent.append((value, "doesn't fit"))
        else:
            cases.append((value, case, 0 if np.isnan(wall) else int(wall)))
    chosen = _nearest(cases, own)
    axis_max = min(max([axis_at_least, *(1.25 * wall for _, _, wall in chosen)]), float(MOST_BATCH))
    members = tuple(_member(case, value, value == own, wall, axis_max, cost) for value, case, wall in chosen)
    return Family(knob=knob, axis_max=axis_max, members=members, absent=tuple(absent))


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


def _nearest(cases: list[tuple[Any, Case, int]], own: Any) -> list[tuple[Any, Case, int]]:
    """Keep the five values nearest to the scenario's own, where there are more."""
    at = next((i for i, (value, _, _) in enumerate(cases) if value == own), 0)
    start = min(max(at - MOST // 2, 0), max(len(cases) - MOST, 0))
    return cases[start : start + MOST]


def _member(case: Case, value: Any, is_current: bool, wall: int, axis_max: float, cost: str) -> Member:
    end = min(float(wall), axis_max) if wall else axis_max
    batch = np.unique(np.append(np.geomspace(1.0, end, LINE_POINTS), end))
    line = points(case, batch=batch, context_tokens=case.scenario.context)
    shown = show(case, line, cost=cost)
    return Member(value=value, current=is_current, case=case, wall=wall, line=line, shown=shown)
