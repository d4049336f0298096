"""What the page "Speed vs cost" shows, worked out once a run: everything drawn or said is in here."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from costmodel import apis, catalog, pareto, serve
from costmodel import frontier as engine
from costmodel.case import model_of, resolve
from costmodel.check import FloatArray
from costmodel.dtypes import dtype
from costmodel.errors import InputError
from costmodel.explore import max_batch
from costmodel.frontier import Answers, Fleet, Line, Rung
from costmodel.picks import Limits, Pick, pick, scenario_of
from costmodel.scenario import Scenario
from costmodel.sweep import Space, Sweep, space, sweep
from ui import units

DEFAULT_AXES = ("speed", "all-in")
COLOURED = 4
"""Accelerators drawn in colours of their own."""
PIN_POINTS = 48
SLOWER, FASTER, MUCH_FASTER = -10.0, 20.0, 2.5
"""Speeds whose price the sentence and the hollow dots tell: limit − 10, + 20 and × 2.5."""


@dataclass(frozen=True)
class Now:
    """The scenario's own setup, served at its batch."""

    tokens_per_s: float
    usd_per_mtok: float
    ttft_s: float
    batch: float
    fits: bool
    best_there: Pick | None
    """The cheapest at that speed."""

    @property
    def times_best(self) -> float:
        """How many times the best at that speed it costs; NaN where that isn't known."""
        return self.usd_per_mtok / self.best_there.usd_per_mtok if self.best_there else float("nan")


@dataclass(frozen=True)
class Pinned:
    """A pinned scenario's own setup over its batches, slowest first."""

    letter: str
    tokens_per_s: FloatArray
    usd_per_mtok: FloatArray
    at: int
    """Position of the pin's own batch."""


@dataclass(frozen=True)
class View:
    """The page's results."""

    scenario: Scenario
    answers: Answers
    axes: tuple[str, str]
    lines: tuple[Line, ...]
    """One per accelerator, weights in 8 bits or more."""
    dotted: tuple[Line, ...]
    """One per accelerator with weights in 4 bits, where they are allowed."""
    coloured: tuple[int, ...]
    """Hardware indices of the best, best first, the current one among them."""
    current: int | None
    """Hardware index of the scenario's own accelerator, where it has a line."""
    rungs: tuple[Rung, ...]
    dots: tuple[Rung, ...]
    """The limit's neighbours that are marked in the figure."""
    now: Now | None
    now_reason: str
    """Why there is no `now`."""
    offers: apis.Offers
    four_bits: bool
    in_words: bool
    users: float | None
    fleet: Fleet | None
    pinned: tuple[Pinned, ...] = ()

    @property
    def sweep(self) -> Sweep:
        """Every point."""
        return self.answers.sweep

    @property
    def speed_limit(self) -> float | None:
        """Tokens per second that each user needs."""
        limit = self.answers.limits.max_tpot_s
        return None if limit is None else units.tokens_per_s(limit)

    @property
    def is_default(self) -> bool:
        """Whether the axes are speed and all-in cost, over which limits and prices can be marked."""
        return self.axes == DEFAULT_AXES


@dataclass(frozen=True)
class Asked:
    """The page's own controls."""

    accelerators: tuple[str, ...] = ()
    """Ids; all when empty."""
    four_bits: bool = False
    axes: tuple[str, str] = DEFAULT_AXES
    in_words: bool = False
    users: float | None = None
    pins: tuple[tuple[str, Scenario], ...] = ()
    """Letters and scenarios of what is pinned."""


def view(scenario: Scenario, asked: Asked) -> View:
    """Return the page's results for a scenario, its limits and the page's controls."""
    limits = Limits.of(scenario)
    found = sweep(scenario, where=_space(_unlimited(scenario), asked.accelerators, asked.four_bits))
    answers = engine.answer(found, limits)
    narrow = narrow_rows(found)
    lines = engine.lines(found, limits, axes=asked.axes, keep=~narrow)
    drawn = limits if lines else Limits()  # where no first token is fast enough, what there is
    lines = lines or engine.lines(found, drawn, axes=asked.axes, keep=~narrow)
    dotted = engine.lines(found, drawn, axes=asked.axes, keep=narrow) if narrow.any() else ()
    current = _current(scenario, found, lines)
    now, why = _now(scenario, found, limits)
    best = answers.cheapest
    return View(
        scenario=scenario,
        answers=answers,
        axes=asked.axes,
        lines=lines,
        dotted=dotted,
        coloured=_coloured(
            lines if asked.axes == DEFAULT_AXES else engine.lines(found, drawn, keep=~narrow), answers, current
        ),
        current=current,
        rungs=engine.rungs(found, limits, speeds=_speeds(limits)),
        dots=_dots(found, limits),
        now=now,
        now_reason=why,
        offers=apis.offers(scenario, model_of(scenario).id),
        four_bits=asked.four_bits,
        in_words=asked.in_words,
        users=asked.users,
        fleet=_fleet(scenario, best, asked.users),
        pinned=tuple(p for letter, pin in asked.pins if (p := _pinned(letter, pin)) is not None),
    )


def _pinned(letter: str, scenario: Scenario) -> Pinned | None:
    """Return a pin's line; None where its setup doesn't run or has no price."""
    try:
        case = resolve(scenario)
    except InputError:
        return None
    most = float(max_batch(case, context_tokens=np.asarray(scenario.context)))
    if not most >= 1 or scenario.output_tokens <= 1:
        return None
    own = min(float(scenario.batch), most)
    batches = np.union1d(np.unique(np.round(np.geomspace(1.0, most, PIN_POINTS))), [own])[::-1]
    served = serve.at_batch(case, batch=batches)
    if not np.isfinite(served.usd_per_mtok).all():
        return None
    return Pinned(letter, 1 / served.tpot_s, served.usd_per_mtok, int(np.flatnonzero(batches == own)[0]))


def _fleet(scenario: Scenario, best: Pick | None, users: float | None) -> Fleet | None:
    return None if best is None or not users else engine.fleet(best, users=users, busy=scenario.busy)


def _unlimited(scenario: Scenario) -> Scenario:
    return scenario.but(max_tpot_s=None, max_ttft_s=None, budget_usd_per_mtok=None, batch=64)


@lru_cache(maxsize=16)
def _space(scenario: Scenario, accelerators: tuple[str, ...], four_bits: bool) -> Space:
    return space(scenario, hardware=accelerators or None, four_bits=four_bits)


def narrow_rows(found: Sweep) -> np.ndarray:
    """Return which rows store weights in fewer than 8 bits though the model is published wider: (R,)."""
    flags = [
        s.weights is not None and dtype(s.weights).bits < 8 and dtype(s.weights).name != m.published.dtype
        for s, m in zip(found.space.setups, found.models, strict=True)
    ]
    return np.asarray(flags, dtype=bool)[found.setup]


def _speeds(limits: Limits) -> tuple[float, ...]:
    own = [] if limits.max_tpot_s is None else [round(units.tokens_per_s(limits.max_tpot_s), 6)]
    return tuple(sorted({*engine.SPEEDS, *own}))


def _dots(found: Sweep, limits: Limits) -> tuple[Rung, ...]:
    if limits.max_tpot_s is None:
        return engine.rungs(found, limits, speeds=(20.0, 50.0))
    at = units.tokens_per_s(limits.max_tpot_s)
    speeds = sorted({at + SLOWER, at + FASTER, at * MUCH_FASTER})
    return engine.rungs(found, limits, speeds=tuple(s for s in speeds if s > 0))


def _current(scenario: Scenario, found: Sweep, lines: tuple[Line, ...]) -> int | None:
    name = resolve_name(scenario)
    for line in lines:
        if found.space.hardware[line.hardware].id == name:
            return line.hardware
    return None


def resolve_name(scenario: Scenario) -> str:
    """Return the id of the scenario's accelerator."""
    return catalog.accelerator(scenario.hardware).id


def _coloured(lines: tuple[Line, ...], answers: Answers, current: int | None) -> tuple[int, ...]:
    """Return the accelerators in colour: the cheapest at the limit, and the current one."""
    limit = answers.limits.max_tpot_s
    floor = 0.0 if limit is None else units.tokens_per_s(limit)

    def cost(line: Line) -> float:
        meets = line.y[line.x >= floor]
        return float(meets.min()) if meets.size else float(line.y.min()) * 1e6

    ranked = [line.hardware for line in sorted(lines, key=cost)]
    if answers.cheapest is not None:
        first = int(answers.sweep.hardware[answers.cheapest.row])
        ranked = [first, *(h for h in ranked if h != first)] if first in ranked else ranked
    best = ranked[:COLOURED]
    if current is not None and current not in best:
        best = [*best[: COLOURED - 1], current]
    return tuple(best)


def _now(scenario: Scenario, found: Sweep, limits: Limits) -> tuple[Now | None, str]:
    try:
        case = resolve(scenario)
    except InputError as error:
        return None, error.sentence
    served = serve.at_batch(case, batch=scenario.batch)
    speed = float(1 / served.tpot_s)
    if not np.isfinite(float(served.usd_per_mtok)):
        return None, case.price_reasons[0]
    return Now(
        tokens_per_s=speed,
        usd_per_mtok=float(served.usd_per_mtok),
        ttft_s=float(served.ttft_s),
        batch=scenario.batch,
        fits=bool(served.fits),
        best_there=engine.at_speed(found, limits.without("max_ttft_s"), speed) if np.isfinite(speed) else None,
    ), ""


def stamp(shown: View) -> str:
    """Return what tells one drawing from another, for tests."""
    limit = shown.speed_limit
    best = shown.answers.cheapest
    where = "nothing" if best is None else f"{best.gpus}x{best.accelerator.id}"
    return f"{'' if limit is None else round(limit)}:{where}:{shown.axes[0]}-{shown.axes[1]}"


def axis_names(key: str) -> str:
    """Return an axis' title."""
    found = pareto.axis(key)
    return f"{found.name}, {found.unit}"


def picked(shown: View, index: object) -> dict[str, object] | None:
    """Return the scenario fields of the point at a flat index; None where it isn't one."""
    if not isinstance(index, int | float) or not 0 <= int(index) < shown.sweep.tpot_s.size:
        return None
    return fields_of(shown.scenario, pick(shown.sweep, int(index)))


def fields_of(scenario: Scenario, chosen: Pick) -> dict[str, object]:
    """Return the scenario fields that make a pick the scenario's setup."""
    wanted = scenario_of(scenario, chosen)
    names = ("hardware", "tp", "split", "weights", "kv", "arithmetic", "batch")
    return {name: getattr(wanted, name) for name in names}
