"""What responsiveness costs: limits in, the cheapest that meets them out, and what it depends on."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from costmodel.check import FloatArray, within
from costmodel.pareto import axis, front
from costmodel.picks import METRIC, Limits, Pick, cheapest, fastest, pick
from costmodel.scenario import Scenario
from costmodel.sweep import REASONS, Space, Sweep, sweep

SPEEDS = (10.0, 20.0, 30.0, 50.0, 80.0, 100.0)
"""Rows of the table "what a speed costs". [tokens/s per user]"""
WORDS_PER_TOKEN = 0.75
"""Of English prose; people read four to five words a second."""
READING_WORDS_PER_S = (4.0, 5.0)
HOURS_PER_MONTH = 730.0
NOTEWORTHY = 1e-3
"""A limit binds where dropping it saves more than this share."""


@dataclass(frozen=True)
class Relaxed:
    """How far limits must give way before anything meets them."""

    limits: tuple[str, ...]
    """Field names of those that must give."""
    values: tuple[float, ...]
    """What each must become."""
    pick: Pick
    """The cheapest there."""


@dataclass(frozen=True)
class Answers:
    """Limits answered from a sweep."""

    sweep: Sweep
    limits: Limits
    cheapest: Pick | None
    runner_up: Pick | None
    """The cheapest on another accelerator."""
    unconstrained: Pick | None
    """The cheapest without any limit."""
    fastest: Pick | None
    """The fastest that meets the other limits, where a budget is set."""
    binding: str | None
    """Field name of the limit that costs most, or that nothing meets."""
    relaxed: Relaxed | None
    """Where nothing meets the limits: how far they must be relaxed; None where nothing runs."""

    @property
    def premium_usd_per_mtok(self) -> float | None:
        """What the limits cost over the unconstrained optimum."""
        if self.cheapest is None or self.unconstrained is None:
            return None
        return self.cheapest.usd_per_mtok - self.unconstrained.usd_per_mtok

    @property
    def too_close(self) -> bool:
        """Whether the cheapest and its runner-up are too close to call."""
        first, second = self.cheapest, self.runner_up
        return first is not None and second is not None and first.overlaps(second)

    @property
    def nothing_runs(self) -> str:
        """Why no point can be had at all: the commonest reason; empty where some can."""
        if self.sweep.evaluated:
            return ""
        counts = self.sweep.infeasible()
        return max(counts, key=counts.__getitem__) if counts else REASONS[1]


def ask(scenario: Scenario, *, where: Space | None = None) -> Answers:
    """Answer a scenario's limits over a space.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> from costmodel.sweep import space
    >>> asked = scenario(model="llama-3.1-8b", max_tpot_s=1 / 30, profile="ideal")
    >>> a = ask(asked, where=space(asked, hardware=["h100-sxm", "l4"], gpus=[1]))
    >>> a.cheapest.accelerator.id, a.cheapest.tokens_per_s >= 30
    ('h100-sxm', True)
    """
    return answer(sweep(scenario, where=where), Limits.of(scenario))


def answer(found: Sweep, limits: Limits) -> Answers:
    """Answer limits from a sweep."""
    best = cheapest(found, limits)
    second = None
    if best is not None:
        second = cheapest(found, limits, keep=_other(found, best.row))
    free = cheapest(found, Limits())
    relaxed = None if best is not None else relax(found, limits)
    return Answers(
        sweep=found,
        limits=limits,
        cheapest=best,
        runner_up=second,
        unconstrained=free,
        fastest=fastest(found, limits) if limits.budget_usd_per_mtok is not None else None,
        binding=_binding(found, limits, best) if best is not None else (relaxed.limits[0] if relaxed else None),
        relaxed=relaxed,
    )


def _other(found: Sweep, row: int) -> NDArray[np.bool_]:
    """Return the rows on other accelerators: (R, 1)."""
    return np.asarray(found.hardware != found.hardware[row])[:, None]


def _binding(found: Sweep, limits: Limits, best: Pick) -> str | None:
    """Return the limit that costs most; where only dropping several helps, the tightest."""
    saved = {name: _saving(found, limits.without(name), best) for name in limits.given}
    if not saved or _saving(found, Limits(), best) <= NOTEWORTHY:
        return None
    most = max(saved, key=saved.__getitem__)
    if saved[most] > NOTEWORTHY:
        return most
    return max(limits.given, key=lambda name: METRIC[name](best) / limits.given[name])


def _saving(found: Sweep, limits: Limits, best: Pick) -> float:
    """Return the share of the cost that other limits would save; the grid's batches will do."""
    free = np.where(limits.met(found), found.usd_per_mtok, np.nan)
    return 1 - float(np.nanmin(free)) / best.usd_per_mtok if not np.isnan(free).all() else 0.0


def relax(found: Sweep, limits: Limits) -> Relaxed | None:
    """Return the least that must give: one limit if that is enough, else all by one factor."""
    if not found.fits.any() or not limits.given:
        return None
    single: list[tuple[float, str, float]] = []
    for name, value in limits.given.items():
        others = limits.without(name).met(found)
        metric = np.where(others, METRIC[name](found), np.nan)
        if not np.isnan(metric).all():
            needed = float(np.nanmin(metric))
            single.append((needed / value, name, needed))
    if single:
        _, name, needed = min(single)
        best = cheapest(found, limits.but(**{name: needed}))
        return None if best is None else Relaxed((name,), (needed,), best)
    with np.errstate(invalid="ignore"):
        ratios = [METRIC[n](found) / v for n, v in limits.given.items()]
        worst = np.where(found.fits, np.maximum.reduce(ratios), np.nan)
    near = pick(found, int(np.nanargmin(worst)))
    give = [(n, METRIC[n](near)) for n, v in limits.given.items() if METRIC[n](near) > v]
    return Relaxed(tuple(n for n, _ in give), tuple(v for _, v in give), near)


@dataclass(frozen=True)
class Rung:
    """What one speed costs."""

    tokens_per_s: float
    pick: Pick | None
    usd_per_extra_token_per_s: float | None
    """USD per million tokens for each further token a second, from the rung before."""


def rungs(found: Sweep, limits: Limits, *, speeds: tuple[float, ...] = SPEEDS) -> tuple[Rung, ...]:
    """Return the price of responsiveness: the cheapest at each speed, other limits kept.

    Parameters
    ----------
    found : Sweep
        The points.
    limits : Limits
        Its speed is replaced; its budget doesn't count.
    speeds : tuple of float
        Rising. [tokens/s per user]
    """
    (wanted,) = within(0, 1e6, above=True, speeds=speeds)
    rows: list[Rung] = []
    before: Pick | None = None
    for speed in np.atleast_1d(wanted):
        best = at_speed(found, limits, float(speed))
        extra = None
        if best is not None and before is not None and rows:
            step = float(speed) - rows[-1].tokens_per_s
            extra = (best.usd_per_mtok - before.usd_per_mtok) / step if step > 0 else None
        rows.append(Rung(float(speed), best, extra))
        before = best
    return tuple(rows)


def at_speed(found: Sweep, limits: Limits, tokens_per_s: float) -> Pick | None:
    """Return the cheapest that gives each user a speed, the first-token limit kept."""
    if tokens_per_s <= 0:
        return cheapest(found, limits.without("max_tpot_s", "budget_usd_per_mtok"))
    return cheapest(found, limits.without("budget_usd_per_mtok").but(max_tpot_s=1 / tokens_per_s))


@dataclass(frozen=True)
class Line:
    """An accelerator's best over two axes: a front, by rising x."""

    hardware: int
    """Index into the space's accelerators."""
    index: NDArray[np.intp]
    """Flat indices into the sweep."""
    x: FloatArray
    y: FloatArray
    low: FloatArray
    """The 80 % band of `y` where that is a cost; NaN elsewhere and without a band."""
    high: FloatArray


def lines(
    found: Sweep,
    limits: Limits,
    *,
    axes: tuple[str, str] = ("speed", "all-in"),
    keep: NDArray[np.bool_] | None = None,
) -> tuple[Line, ...]:
    """Return one line per accelerator, over every setup and batch that meets the other limits.

    Parameters
    ----------
    found : Sweep
        The points.
    limits : Limits
        Only the time to the first token counts, and not where it is an axis.
    axes : pair of str
        Keys of `pareto.AXES`.
    keep : ndarray of bool, shape (R,), optional
        Rows that count (weights in 4 bits apart).
    """
    first, second = axis(axes[0]), axis(axes[1])
    only = limits.without("max_tpot_s", "budget_usd_per_mtok", *(["max_ttft_s"] if "ttft" in axes else []))
    good = only.met(found)
    x = np.where(good, first.of(found) * first.better, np.nan)
    y = np.where(good, second.of(found) * second.better, np.nan)
    banded = second.key in {"all-in", "answer", "request"}
    result = []
    for hardware in np.unique(found.hardware):
        rows = np.flatnonzero((found.hardware == hardware) & (True if keep is None else keep))
        best = front(x=x[rows], y=y[rows])
        if best.size == 0:
            continue
        row, column = np.divmod(best, found.batch.size)
        flat = rows[row] * found.batch.size + column
        flat = flat if first.better > 0 else flat[::-1]
        cost = second.better * y.ravel()[flat]
        owner = flat // found.batch.size
        result.append(
            Line(
                hardware=int(hardware),
                index=flat,
                x=first.better * x.ravel()[flat],
                y=cost,
                low=cost * (found.low[owner] if banded else np.nan),
                high=cost * (found.high[owner] if banded else np.nan),
            )
        )
    return tuple(result)


@dataclass(frozen=True)
class Fleet:
    """Copies for so many users at once, and what a month of them costs."""

    users: float
    copies: int
    gpus: int
    usd_per_month: float
    output_tokens_per_month: float


def fleet(chosen: Pick, *, users: float, busy: float = 1.0) -> Fleet:
    """Return the copies that serve so many users at once at a pick's batch.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> best = ask(scenario(model="llama-3.1-8b", max_tpot_s=1 / 30)).cheapest
    >>> fleet(best, users=best.batch + 1).copies
    2
    """
    (many,) = within(0, 1e9, above=True, users=users)
    copies = ceil(float(many) / chosen.batch - 1e-9)
    gpus = copies * chosen.gpus + ceil(copies * chosen.prefill_copies) * chosen.gpus
    return Fleet(
        users=float(many),
        copies=copies,
        gpus=gpus,
        usd_per_month=gpus * chosen.usd_per_gpu_hour * HOURS_PER_MONTH,
        output_tokens_per_month=copies * chosen.output_tokens_per_s * HOURS_PER_MONTH * 3600 * busy,
    )


def words_per_s(tokens_per_s: float) -> float:
    """Return a speed in words of English prose.

    >>> words_per_s(30)
    22.5
    """
    return tokens_per_s * WORDS_PER_TOKEN
