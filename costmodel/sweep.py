"""One vectorised evaluation over accelerators × GPUs × split × dtypes × batch.

A *setup* is everything of a copy but its accelerator and its batch; a *row* is a setup on one
accelerator. Rows that can't run (no unit, no legal split, weights don't fit …) keep their reason
and are not evaluated; the others are evaluated together, one call per setup, with accelerators on
the first axis and batches on the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel import catalog, dtypes, memory, serve
from costmodel.case import NODE_GPUS, Case, bits_of, block_of, model_of, parallel_of, price_of, resolve
from costmodel.check import FloatArray, within
from costmodel.constants import Constants, Group, Links
from costmodel.custom import is_custom
from costmodel.disaggregate import disaggregate, together
from costmodel.errors import InputError
from costmodel.explore import max_batch
from costmodel.hardware import Accelerator
from costmodel.model import Model
from costmodel.scenario import MOST_BATCH, Scenario
from costmodel.step import Machine
from costmodel.work import check_split

REASONS = (
    "feasible",
    "doesn't fit",
    "TP not legal",
    "no unit",
    "beyond the link domain",
    "no price on this basis",
    "memory not published",
)
"""Why a point can't be had; the index is its code."""
FEASIBLE, NO_FIT, NO_SPLIT, NO_UNIT, NO_LINK, NO_PRICE, NO_MEMORY = range(len(REASONS))

GPUS = (1, 2, 4, 8, 16)
WEIGHTS = ("bf16", "fp8", "int8")
FOUR_BITS = ("nvfp4", "mxfp4", "awq-int4")
CACHES = ("bf16", "fp8")
BATCHES = 256
LARGEST_BATCH = 8192
MOST_MODELS = 4
MOST_KEPT = 2_500_000
"""Sweeps of up to so many points are remembered, the last few of them."""
MOST_POINTS = 20_000_000
"""The most points held in memory at once; larger sweeps are written in chunks."""


@dataclass(frozen=True)
class Setup:
    """How one copy runs: everything but its accelerator and its batch."""

    model: str
    gpus: int
    split: str
    weights: str | None
    """dtype; None for as published."""
    kv: str
    arithmetic: str | None
    engine: str
    disaggregated: bool = False

    def scenario(self, asked: Scenario) -> Scenario:
        """Return the scenario of this setup; prices are looked up per accelerator."""
        return asked.but(
            model=self.model, tp=self.gpus, split=self.split, weights=self.weights, kv=self.kv,
            arithmetic=self.arithmetic, engine=self.engine, pp=1, ep=1, price_usd_per_gpu_hour=None,
        )  # fmt: skip


@dataclass(frozen=True)
class Space:
    """What is swept: setups × accelerators × batches."""

    setups: tuple[Setup, ...]
    hardware: tuple[Accelerator, ...]
    batches: tuple[float, ...]

    @property
    def points(self) -> int:
        """Points of the grid, infeasible ones included."""
        return len(self.setups) * len(self.hardware) * len(self.batches)


def default_batches(*, most: int = LARGEST_BATCH, count: int = BATCHES) -> tuple[float, ...]:
    """Return so many whole batches: every one while few, then even ratios.

    >>> b = default_batches()
    >>> len(b), b[:3], b[-1]
    (256, (1.0, 2.0, 3.0), 8192.0)
    """
    tried = count
    while True:
        found = np.unique(np.round(np.geomspace(1.0, most, tried)))
        if found.size >= min(count, most):
            break
        tried += max(1, (count - found.size) // 2)
    surplus = found.size - count
    # Rounding may give one or two too many: drop from the dense middle, keep both ends.
    keep = np.ones(found.size, dtype=bool)
    if surplus > 0:
        keep[found.size // 2 : found.size // 2 + surplus] = False
    return tuple(float(b) for b in found[keep])


def space(
    scenario: Scenario,
    *,
    models: Sequence[str] | None = None,
    hardware: Sequence[str | Accelerator] | None = None,
    gpus: Sequence[int] = GPUS,
    splits: Sequence[str] | None = None,
    weights: Sequence[str | None] | None = None,
    kv: Sequence[str] = CACHES,
    arithmetic: Sequence[str | None] | None = None,
    engines: Sequence[str] | None = None,
    disaggregated: Sequence[bool] = (False,),
    batches: Sequence[float] | None = None,
    four_bits: bool = False,
    most: float = MOST_POINTS,
) -> Space:
    """Return the space of a question, checked; what isn't named takes its usual values.

    Parameters
    ----------
    scenario : Scenario
        Model, engine and workload where nothing else is said.
    models : sequence, optional
        Up to four.
    hardware : sequence, optional
        Accelerators by name or as objects; all presets when left out.
    gpus, splits, weights, kv, arithmetic, engines, disaggregated, batches : sequence, optional
        The axes. Weights default to 16 and 8 bits and the model's own; splits to tensor, and
        attention data-parallel for models with latents.
    four_bits : bool
        Adds weights in 4 bits.
    most : float
        The most points allowed.

    Raises
    ------
    InputError
        For empty selections, unknown names, and grids larger than `most`.
    """
    names = tuple(dict.fromkeys(models if models is not None else [scenario.model]))
    _some("model", names)
    if len(names) > MOST_MODELS:
        msg = f"--model must name at most {MOST_MODELS} models, got {len(names)}; compare fewer"
        raise InputError(msg, field="model")
    cards = _cards(hardware, scenario.hardware)
    sizes = within(1, MOST_BATCH, batch=np.asarray(batches if batches is not None else default_batches()))[0]
    _some("batch", sizes.tolist())
    kinds: dict[str, Sequence[object]] = {
        "tp": gpus, "kv": kv, "engine": engines or (scenario.engine,), "disaggregated": disaggregated,
    }  # fmt: skip
    for option, values in kinds.items():
        _some(option, values)
    setups: list[Setup] = []
    for name in names:
        model = model_of(scenario.but(model=name))
        own_splits = splits if splits is not None else _splits(model)
        own_weights = weights if weights is not None else _weights(model, four_bits=four_bits)
        _some("split", own_splits)
        _some("weights", own_weights)
        count = len(own_splits) * len(own_weights) * len(gpus) * len(kv)
        _small(count * len(cards) * sizes.size * len(names), most)
        axes = product(
            gpus, own_splits, own_weights, kv, arithmetic or (scenario.arithmetic,),
            engines or (scenario.engine,), disaggregated,
        )  # fmt: skip
        found = (Setup(name, *axis) for axis in axes)
        setups += [s for s in found if s.gpus > 1 or s.split == own_splits[0]]
    result = Space(
        setups=tuple(dict.fromkeys(setups)), hardware=cards, batches=tuple(sizes.reshape(-1).tolist())
    )
    _small(result.points, most)
    for setup in result.setups[:1]:
        setup.scenario(scenario)  # a dtype or split outside its list is told before any work
    return result


def _some(option: str, values: Sequence[object]) -> None:
    if not len(values):
        msg = f"--{option} must name at least one value, got an empty selection; name one or leave it out"
        raise InputError(msg, field=option)


def _small(points: float, most: float) -> None:
    if points > most:
        msg = f"a sweep must have at most {most:,.0f} points, got {points:,.0f}; narrow an axis"
        raise InputError(msg, field="batch")


def _cards(hardware: Sequence[str | Accelerator] | None, own: str) -> tuple[Accelerator, ...]:
    """Return the accelerators of a space; with the presets, one that the scenario typed in."""
    if hardware is None:
        every = tuple(catalog.hardware().values())
        return (*every, catalog.accelerator(own)) if is_custom(own) else every
    _some("hardware", hardware)
    cards = [a if isinstance(a, Accelerator) else catalog.accelerator(a) for a in hardware]
    return tuple(dict.fromkeys(cards))


def _splits(model: Model) -> tuple[str, ...]:
    latent = any(layer.mixer is not None and layer.mixer.kind in {"mla", "dsa", "csa"} for layer in model.layers)
    return ("tensor", "attention-dp") if latent else ("tensor",)


def _weights(model: Model, *, four_bits: bool) -> tuple[str | None, ...]:
    own = dtypes.dtype(model.published.dtype)
    wider = [w for w in WEIGHTS if dtypes.dtype(w).bits <= max(own.bits, 8)]
    named = [*wider, *(FOUR_BITS if four_bits else ())]
    return (None, *(w for w in named if dtypes.dtype(w) != own))


@dataclass(frozen=True)
class Sweep:
    """Every point of a space. Rows (R) are setups on accelerators that can run; batches are B."""

    scenario: Scenario
    space: Space
    models: tuple[Model, ...]
    """By setup."""
    row_reasons: NDArray[np.uint8]
    """(setups, hardware): 0, or why no point of the row can be had."""
    setup: NDArray[np.intp]
    """(R,) index into `space.setups`."""
    hardware: NDArray[np.intp]
    """(R,) index into `space.hardware`."""
    wall: FloatArray
    """(R,) largest batch that fits."""
    usd_per_gpu_hour: FloatArray
    """(R,)."""
    low: FloatArray
    """(R,) factor of the band's lower end; NaN without a band."""
    high: FloatArray
    tpot_s: FloatArray
    """(R, B); NaN where the batch doesn't fit and wasn't asked for, and for one output token."""
    ttft_s: FloatArray
    usd_per_mtok: FloatArray
    """All-in."""
    usd_per_mtok_output: FloatArray
    """The answer's part."""
    output_tokens_per_s: FloatArray
    """Of a copy."""
    prefill_copies: FloatArray
    """(R, B) copies for prompts beside one that answers; 0 where they share it."""

    @cached_property
    def batch(self) -> FloatArray:
        """(B,) batches."""
        return np.asarray(self.space.batches)

    @cached_property
    def fits(self) -> NDArray[np.bool_]:
        """(R, B) whether a point can be had."""
        return np.asarray(self.batch <= self.wall[:, None])

    @cached_property
    def gpus(self) -> FloatArray:
        """(R,) GPUs of a copy."""
        each = np.asarray([s.gpus for s in self.space.setups], dtype=np.float64)
        return np.asarray(each[self.setup])

    @cached_property
    def cheapest_by_limits(self) -> dict[Any, Any]:
        """What `picks.cheapest` found for limits asked for before."""
        return {}

    @property
    def evaluated(self) -> int:
        """Points that can be had."""
        return int(self.fits.sum())

    def infeasible(self) -> dict[str, int]:
        """Return how many points can't be had, by reason."""
        rows = np.bincount(self.row_reasons.ravel(), minlength=len(REASONS)) * self.batch.size
        rows[NO_FIT] += self.fits.size - self.evaluated
        return {REASONS[i]: int(rows[i]) for i in range(1, len(REASONS)) if rows[i]}

    def reasons(self) -> NDArray[np.uint8]:
        """Return the code of every point: (setups, hardware, batches)."""
        codes = np.repeat(self.row_reasons[..., None], self.batch.size, axis=2)
        codes[self.setup, self.hardware] = np.where(self.fits, FEASIBLE, NO_FIT)
        return codes


def sweep(asked: Scenario, *, where: Space | None = None, beyond_wall: bool = False) -> Sweep:
    """Evaluate every point of a space for a scenario's workload.

    Parameters
    ----------
    asked : Scenario
        Workload, price basis, profile; a typed price holds for the scenario's own accelerator.
        Limits play no part, so that a change of limits asks nothing of the engine again.
    where : Space, optional
        What is swept; the usual space of the scenario when left out.
    beyond_wall : bool
        Whether batches that don't fit get their figures as if they did.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> asked = scenario(model="llama-3.1-8b")
    >>> s = sweep(asked, where=space(asked, hardware=["h100-sxm", "l4"], gpus=[1], kv=["bf16"]))
    >>> s.space.points, s.infeasible()["doesn't fit"] > 0
    (1536, True)
    """
    plain = asked.but(max_tpot_s=None, max_ttft_s=None, budget_usd_per_mtok=None, batch=64)
    if plain.price_usd_per_gpu_hour is None:
        plain = plain.but(hardware="h100-sxm")  # whose choice doesn't change a sweep
    area = where if where is not None else space(asked)
    if area.points > MOST_KEPT:
        return uncached(plain, area, beyond_wall=beyond_wall)
    return _sweep(plain, area, beyond_wall)


@lru_cache(maxsize=4)
def _sweep(asked: Scenario, where: Space, beyond_wall: bool) -> Sweep:
    return uncached(asked, where, beyond_wall=beyond_wall)


def uncached(asked: Scenario, where: Space, *, beyond_wall: bool = False) -> Sweep:
    """Evaluate as `sweep` does and keep nothing: for chunks of a large sweep."""
    batches = np.asarray(where.batches)
    reasons = np.zeros((len(where.setups), len(where.hardware)), dtype=np.uint8)
    prices = prices_of(asked, where.hardware)
    rows: list[_Rows] = []
    models = []
    for i, setup in enumerate(where.setups):
        scenario = setup.scenario(asked)
        models.append(model_of(scenario))
        try:
            case = _candidates(scenario, models[-1], where.hardware, prices, reasons[i])
        except InputError as error:
            if error.field not in {"tp", "ep", "pp"}:
                raise
            reasons[i] = NO_SPLIT
            continue
        if case is not None:
            rows += _rows(case, setup, i, reasons[i], prices, batches, beyond_wall)
    return _joined(asked, where, tuple(models), reasons, rows, batches.size)


def prices_of(asked: Scenario, hardware: tuple[Accelerator, ...]) -> FloatArray:
    """Return USD per GPU-hour by accelerator; NaN where the basis has none. [USD/h]"""
    own = asked.price_usd_per_gpu_hour
    current = catalog.accelerator(asked.hardware).id if own is not None else ""
    basis = asked.but(price_usd_per_gpu_hour=None) if own is not None else asked
    return np.asarray([own if a.id == current else price_of(basis, a)[0] for a in hardware], dtype=np.float64)


def _candidates(
    scenario: Scenario,
    model: Model,
    hardware: tuple[Accelerator, ...],
    prices: FloatArray,
    reasons: NDArray[np.uint8],
) -> Case | None:
    """Return a setup on the accelerators that could run it, and write why others can't."""
    parallel = parallel_of(scenario)
    widths = bits_of(scenario, model)
    check_split(model, parallel, block=block_of(scenario, model))
    reasons[np.isnan(prices)] = NO_PRICE
    reasons[[parallel.ways > max(NODE_GPUS, a.domain) for a in hardware]] = NO_LINK
    reasons[_no_unit(scenario, tuple(n for _, n in widths.dtype), hardware)] = NO_UNIT
    able = np.flatnonzero(reasons == FEASIBLE)
    if able.size == 0:
        return None
    case = resolve(scenario, [hardware[h] for h in able])
    return priced(case, prices[able])


@lru_cache(maxsize=256)
def _lacks(stored: str, hardware: tuple[Accelerator, ...], arithmetic: str | None) -> tuple[bool, ...]:
    """Return by accelerator whether a dtype's arithmetic would fall back to another unit."""
    if dtypes.dtype(stored).unit in {"half", "fp32"} and arithmetic is None:
        return (False,) * len(hardware)
    return tuple(bool(dtypes.arithmetic_unit(stored, a, arithmetic)[1]) for a in hardware)


def _no_unit(
    scenario: Scenario, stored: tuple[str, ...], hardware: tuple[Accelerator, ...]
) -> NDArray[np.bool_]:
    """Return by accelerator whether a unit that the setup counts on is missing.

    Published weights run everywhere, in the fallback that engines use; only a dtype chosen for
    its arithmetic needs the unit. A cache in 8-bit floats needs it too.
    """
    missing = np.zeros(len(hardware), dtype=bool)
    if scenario.weights is not None or scenario.arithmetic is not None:
        for name in set(stored):
            missing |= _lacks(name, hardware, scenario.arithmetic)
    if dtypes.kv_dtype(scenario.kv) == "fp8":
        missing |= np.asarray([not a.has("fp8") for a in hardware])
    return missing


@dataclass(frozen=True)
class _Rows:
    """Some evaluated rows of one setup."""

    setup: int
    hardware: NDArray[np.intp]
    wall: FloatArray
    usd_per_gpu_hour: FloatArray
    low: FloatArray
    high: FloatArray
    figures: dict[str, FloatArray]


FIGURES = (
    "tpot_s", "ttft_s", "usd_per_mtok", "usd_per_mtok_output", "output_tokens_per_s", "prefill_copies",
)  # fmt: skip
_LOW_WALL, _WORTH = 256.0, 20_000
"""Rows that hold few sequences are evaluated apart, over fewer batches, where that saves much: a
call takes about as long as ten thousand points."""


def _rows(
    case: Case,
    setup: Setup,
    index: int,
    reasons: NDArray[np.uint8],
    prices: FloatArray,
    batches: FloatArray,
    beyond_wall: bool,
) -> list[_Rows]:
    """Evaluate the rows of one setup whose weights fit; `reasons` learns of those that don't."""
    able = np.flatnonzero(reasons == FEASIBLE)
    found = max_batch(case, context_tokens=np.asarray(case.scenario.context))
    walls = np.broadcast_to(found.reshape(-1), (able.size,))
    reasons[able[walls < 1]] = NO_FIT
    reasons[able[np.isnan(walls)]] = NO_MEMORY
    good = np.flatnonzero(walls >= 1)
    apart = not beyond_wall and good.size * np.searchsorted(batches, walls.max()) > _WORTH
    group = (walls[good] > _LOW_WALL) & apart
    rows = []
    for which in np.unique(group):
        chosen = good[group == which]
        most = batches[-1] if beyond_wall else walls[chosen].max()
        used = max(int(np.searchsorted(batches, most, side="right")), 1)
        shared = serve.at_batch(taken(case, chosen), batch=batches[:used])
        served = disaggregate(shared) if setup.disaggregated else together(shared)
        shown = beyond_wall | (batches[:used] <= walls[chosen][:, None])
        band = served.case.constants.band or (np.asarray(np.nan), np.asarray(np.nan))
        rows.append(
            _Rows(
                setup=index,
                hardware=able[chosen],
                wall=walls[chosen],
                usd_per_gpu_hour=prices[able[chosen]],
                low=_along(band[0], chosen.size),
                high=_along(band[1], chosen.size),
                figures={
                    name: np.where(shown, _grid(getattr(served, name), chosen.size, used), np.nan)
                    for name in FIGURES
                },
            )
        )
    return rows


def taken(case: Case, rows: NDArray[np.intp]) -> Case:
    """Return a case of several accelerators with some of them, in the order of `rows`."""
    if len(case.accelerators) == 1:
        return case
    part: Case = _sliced(case, rows)
    return replace(
        part,
        accelerators=tuple(case.accelerators[r] for r in rows),
        price_reasons=tuple(case.price_reasons[r] for r in rows),
    )


def _sliced(value: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows of every array along the hardware axis, wherever it stands in a case."""
    if isinstance(value, np.ndarray):
        return value[rows] if value.ndim == 3 and value.shape[0] > 1 else value
    if isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
        return tuple(_sliced(v, rows) for v in value)
    if isinstance(value, dict):
        return {k: _sliced(v, rows) for k, v in value.items()}
    if isinstance(value, Case | Machine | Constants | Group | Links | memory.Budget):
        return replace(value, **{f.name: _sliced(getattr(value, f.name), rows) for f in fields(value)})
    return value


def priced(case: Case, usd_per_gpu_hour: FloatArray) -> Case:
    """Return a case at other prices, one per accelerator."""
    shape = (usd_per_gpu_hour.size, 1, 1) if usd_per_gpu_hour.size > 1 else ()
    return replace(case, usd_per_gpu_hour=usd_per_gpu_hour.reshape(shape))


def _along(value: FloatArray, rows: int) -> FloatArray:
    return np.broadcast_to(np.asarray(value, dtype=np.float64).reshape(-1), (rows,))


def _grid(value: FloatArray, rows: int, batches: int) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    flat = array.reshape(array.shape[0], array.shape[-1]) if array.ndim == 3 else array
    return np.broadcast_to(flat, (rows, batches))


def _joined(
    asked: Scenario,
    where: Space,
    models: tuple[Model, ...],
    reasons: NDArray[np.uint8],
    rows: list[_Rows],
    batches: int,
) -> Sweep:
    count = sum(r.hardware.size for r in rows)
    figures = {name: np.full((count, batches), np.nan) for name in FIGURES}
    at = 0
    for r in rows:
        for name, values in r.figures.items():
            figures[name][at : at + r.hardware.size, : values.shape[1]] = values
        at += r.hardware.size

    def joined(pick: str) -> FloatArray:
        return np.concatenate([getattr(r, pick) for r in rows]) if rows else np.zeros(0)

    return Sweep(
        scenario=asked,
        space=where,
        models=models,
        row_reasons=reasons,
        setup=np.repeat([r.setup for r in rows], [r.hardware.size for r in rows]).astype(np.intp),
        hardware=joined("hardware").astype(np.intp),
        wall=joined("wall"),
        usd_per_gpu_hour=joined("usd_per_gpu_hour"),
        low=joined("low"),
        high=joined("high"),
        **figures,
    )
