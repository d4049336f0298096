"""A setup: a scenario with what levers change beside it, and its resolved case.

The scenario says what is served, with which model, on what. Levers also change things that a
scenario has no field for: how slots are filled, how memory is reserved, how much fixed time kernels
cost, how the model could have been built. All of that is in one frozen `Setup`.
"""

import math
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from costmodel import calibration, memory
from costmodel.case import Case, bits_of, block_of, link_of, machine_of, resolve
from costmodel.check import FloatArray
from costmodel.constants import Constants, Group
from costmodel.model import Model
from costmodel.scenario import Scenario
from costmodel.speculation import draft_plan
from costmodel.whatif import with_experts, with_latent, with_windows
from costmodel.work import check_split, plan

EAGER_FACTOR = 3.0
"""Fixed time of kernels that Python launches one by one, over that of captured graphs. A launch
costs about 10 µs of host time against 3 to 4 µs inside a graph: an assumption, not a fit."""

SPREAD = 0.8
"""Spread of output lengths, σ/mean; chat logs lie between 0.6 and 1.2."""

LONGEST_OF = 1000
"""A contiguous cache is reserved for the longest of so many answers."""


@dataclass(frozen=True)
class Setup:
    """A scenario and how it is run. Defaults are an engine of today."""

    scenario: Scenario
    static_spread: float | None = None
    """σ/mean of output lengths, where a batch stays as it is until its longest answer ends."""
    reserved_spread: float | None = None
    """σ/mean of output lengths, where each sequence's cache is reserved whole in advance."""
    block_tokens: int = 1
    """Tokens of a cache block; half a block per sequence is lost."""
    fixed_factor: float = 1.0
    """On the fixed time of kernels and host."""
    chunk_tokens: int | None = None
    """Prompts in chunks of so many tokens share steps with decoding; None as the engine does."""
    separate: bool = False
    """Whether prompts run on GPUs of their own."""
    cascade: bool = False
    """Whether a shared prefix is read once per step, not once per sequence."""
    latent: tuple[int, int] | None = None
    """Rank and rotary width of a latent in place of keys and values."""
    windows: tuple[int, int] | None = None
    """Width of sliding windows, and one full layer in how many."""
    experts: tuple[int, int] | None = None
    """Experts a feed-forward is cut into, and how many of them a token uses."""
    shortened: bool = False
    """Whether the prompt has been cut."""
    filled: bool = False
    """Whether the batch is re-chosen under limits and wall, or stays today's."""

    @property
    def is_built_otherwise(self) -> bool:
        """Whether the model is a what-if."""
        return self.latent is not None or self.windows is not None or self.experts is not None


def naive(setup: Setup, *, spread: float = SPREAD) -> Setup:
    """Return a setup on a naive stack: static batches, contiguous cache, no reuse, eager kernels."""
    return replace(
        setup,
        scenario=setup.scenario.but(hit=0.0),
        static_spread=spread,
        reserved_spread=spread,
        fixed_factor=EAGER_FACTOR * setup.fixed_factor,
    )


def case_of(setup: Setup) -> Case:
    """Return the resolved case of a setup, its what-if model included.

    Everything but the resolution itself (batch, limits, busy share, lengths) is left to the caller,
    so that setups which differ only in these share one case.

    Raises
    ------
    InputError
        When names, dtypes or splits aren't legal, or the model can't be built so.
    """
    shared = setup.scenario.model_copy(update=_SHARED)
    return _resolved(shared, setup.latent, setup.windows, setup.experts)


_SHARED = {
    name: Scenario.model_fields[name].default
    for name in (
        "input_tokens", "output_tokens", "context_tokens", "shared", "hit", "busy", "max_tpot_s",
        "max_ttft_s", "budget_usd_per_mtok", "batch", "flat", "spec_acceptance",
    )
}  # fmt: skip
"""Fields that resolution doesn't read."""


@lru_cache(maxsize=1024)
def _resolved(
    scenario: Scenario,
    latent: tuple[int, int] | None,
    windows: tuple[int, int] | None,
    experts: tuple[int, int] | None,
) -> Case:
    case = resolve(scenario)
    if latent is None and windows is None and experts is None:
        return case
    model = case.model
    if windows is not None:
        model = with_windows(model, window=windows[0], full_every=windows[1])
    if latent is not None:
        model = with_latent(model, kv_rank=latent[0], d_rope=latent[1])
    if experts is not None:
        model = with_experts(model, n_experts=experts[0], top_k=experts[1])
    return _rebuilt(case, scenario, model)


def _rebuilt(case: Case, scenario: Scenario, model: Model) -> Case:
    """Return the case of another model in the same scenario."""
    parallel = case.plan.parallel
    widths = bits_of(scenario, model)
    check_split(model, parallel, block=block_of(scenario, model))
    work = plan(model, widths, parallel)
    draft = draft_plan(model, widths, parallel) if scenario.spec_tokens else None
    machine, _ = machine_of(case.accelerators, widths, scenario.arithmetic)
    accelerator = case.accelerators[0]
    return replace(
        case,
        model=model,
        plan=work,
        draft=draft,
        machine=machine,
        constants=calibration.constants(
            profile=scenario.profile,
            accelerators=case.accelerators,
            engine=scenario.engine,
            plan=work,
            link_bytes_per_s=(link_of(accelerator, parallel.ways)[0],),
        ),
        budget=memory.budget(
            plan=work, draft=draft, capacity_bytes=np.asarray(accelerator.capacity_bytes)
        ),
    )


# Output lengths ---------------------------------------------------------------------------------

_Z = np.linspace(-8.0, 8.0, 1601)
"""Standard normal deviates over which lengths are integrated."""


@lru_cache(maxsize=64)
def _longest(spread: float) -> tuple[FloatArray, FloatArray]:
    """Return log2 of batch sizes, and the mean longest of so many lognormal lengths over the mean."""
    sigma = math.sqrt(math.log1p(spread**2))
    below = np.asarray([0.5 * (1 + math.erf(z / math.sqrt(2))) for z in _Z])
    length = np.exp(sigma * _Z - sigma**2 / 2)
    log2 = np.linspace(0.0, 17.0, 69)
    # Chance that the longest of n lies in a cell: F^n at its ends.
    chance = np.diff(below[None, :] ** np.exp2(log2)[:, None], axis=1)
    middle = (length[1:] + length[:-1]) / 2
    return log2, np.maximum(chance @ middle, 1.0)


def longest_over_mean(*, batch: FloatArray, spread: float) -> FloatArray:
    """Return the mean longest of `batch` answers over the mean answer, lengths lognormal.

    Parameters
    ----------
    batch : ndarray
        Answers.
    spread : float
        σ/mean of lengths; 0 for equal ones.

    Examples
    --------
    >>> longest_over_mean(batch=np.array([1.0, 64.0]), spread=0.8).round(1).tolist()
    [1.0, 4.3]
    """
    if spread <= 0:
        return np.ones_like(np.asarray(batch, dtype=np.float64))
    log2, ratio = _longest(float(spread))
    return np.interp(np.log2(np.maximum(batch, 1.0)), log2, ratio)


def occupancy(*, batch: FloatArray, spread: float) -> FloatArray:
    """Return the share of a static batch's slots that still answer: mean over longest length."""
    return 1 / longest_over_mean(batch=batch, spread=spread)


def reserved_tokens(setup: Setup) -> float:
    """Return the tokens that memory is set aside for per sequence: blocks, or a whole reserve.

    A contiguous cache is reserved for the prompt and the longest of 1,000 answers.
    """
    s = setup.scenario
    if setup.reserved_spread is None:
        return s.context + (setup.block_tokens - 1) / 2
    longest = longest_over_mean(batch=np.asarray(float(LONGEST_OF)), spread=setup.reserved_spread)
    return max(s.context, s.input_tokens + s.output_tokens * float(longest))


def scaled_fixed(constants: Constants, factor: float | FloatArray) -> Constants:
    """Return constants with every fixed time of kernels and host multiplied by a factor."""
    changed: dict[str, Any] = {
        f.name: replace(value, fixed_s=np.asarray(value.fixed_s * factor))
        for f in fields(constants)
        if isinstance(value := getattr(constants, f.name), Group)
    }
    changed["by_dtype"] = {
        key: replace(group, fixed_s=np.asarray(group.fixed_s * factor))
        for key, group in constants.by_dtype.items()
    }
    for name in ("elementwise_s", "host_s", "host_per_sequence_s"):
        changed[name] = np.asarray(getattr(constants, name) * factor)
    return replace(constants, **changed)
