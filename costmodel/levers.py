"""Levers: what a team can change, whether it applies here, and what it turns a setup into.

A lever *approaches* if weights, cache, arithmetic, bandwidth, rates, price and tokens per pass stay
as they are: it leaves floor and best here alone. It *moves* if it changes one of them. Levers with
the same `slot` exclude each other and count as one. Each is declared in `levers_approach.py` or
`levers_move.py`; what they do to cost is worked out in `lever_rows.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from costmodel.check import within
from costmodel.errors import InputError, nearest, quoted
from costmodel.setups import SPREAD, Setup, case_of

Kind = Literal["approaches", "moves"]
Owner = Literal["engine", "demand", "product", "memory", "architecture"]


@dataclass(frozen=True)
class Settings:
    """How far each lever goes. None is worked out from the setup."""

    kernel_time_removed: float = 0.5
    """Share of fixed kernel and host time that graphs and fused kernels remove."""
    output_spread: float = SPREAD
    """Spread of output lengths, σ/mean, of which a naive stack's idle slots and reserves follow."""
    block_tokens: int = 16
    hit: float = 1.0
    """Share of the repeated prompt that the prefix cache then catches."""
    chunk_tokens: int = 2048
    busy: float = 0.95
    """Share of paid hours that then do work."""
    weights: str | None = None
    """dtype of the weights; the next narrower when None."""
    kv: str = "fp8"
    kv_heads: int | None = None
    """Half of them when None."""
    latent_rank: int = 512
    latent_rope: int = 64
    window: int = 1024
    full_every: int = 6
    n_experts: int = 64
    top_k: int = 8
    smaller: str | None = None
    """The next smaller preset of the family when None."""
    hardware: str | None = None
    """The next faster accelerator of the vendor with a price when None."""
    spec_tokens: int = 3
    spec_acceptance: float = 0.7
    prompt_cut: float = 0.25
    """Share of the prompt that is left out."""

    def __post_init__(self) -> None:
        """Refuse settings that no lever could have."""
        within(
            0, 1, kernel_time_removed=self.kernel_time_removed, hit=self.hit,
            spec_acceptance=self.spec_acceptance,
        )  # fmt: skip
        within(0, 0.99, prompt_cut=self.prompt_cut)
        within(0, 3, output_spread=self.output_spread)
        within(0, 1, above=True, busy=self.busy)
        within(1, 4096, block_tokens=self.block_tokens, latent_rank=self.latent_rank)
        within(1, 1024, n_experts=self.n_experts, top_k=self.top_k, full_every=self.full_every)
        within(16, 1_000_000, chunk_tokens=self.chunk_tokens, window=self.window)
        within(0, 1024, latent_rope=self.latent_rope)
        within(0, 16, spec_tokens=self.spec_tokens)


Text = Callable[[Setup, Settings], str]


@dataclass(frozen=True)
class Lever:
    """One lever."""

    name: str
    kind: Kind
    slot: str
    """Levers of one slot exclude each other."""
    owner: Owner
    label: Text
    """What is done, with the numbers of this setup."""
    why_not: Text
    """Why it can't be done here, or nothing."""
    apply: Callable[[Setup, Settings], Setup]
    fields: tuple[str, ...]
    """What it may change: fields of the scenario, or of the setup."""
    quality: bool = False
    """Whether answers change."""
    changes_case: bool = False
    """Whether it changes model, dtypes, accelerator or drafting."""
    changes_numbers: bool = True
    """Whether it changes lengths, reuse, or how slots and memory are filled."""
    needs: str = ""
    """What it takes, in a few words."""


def refuses(lever: Lever, setup: Setup, settings: Settings) -> str:
    """Return why a lever doesn't apply to a setup, or nothing.

    Beside its own conditions: what it makes of the setup must resolve, and fit where the setup
    does.
    """
    reason = lever.why_not(setup, settings)
    if reason or not lever.changes_case:
        return reason
    try:
        after = case_of(lever.apply(setup, settings))
    except InputError as error:
        return error.sentence
    if not after.budget.available_kv_bytes > 0 and case_of(setup).budget.available_kv_bytes > 0:
        need = after.budget.weights_bytes * after.gpus / 1e9
        return f"its weights of {need:,.0f} GB don't fit {after.gpus} × {after.accelerators[0].short}"
    return ""


def applied(lever: Lever, setup: Setup, settings: Settings) -> Setup:
    """Return a setup with a lever applied, or as it was where the lever doesn't apply."""
    return setup if refuses(lever, setup, settings) else lever.apply(setup, settings)


def combined(levers: Sequence[Lever], setup: Setup, settings: Settings) -> Setup:
    """Return a setup with levers applied one after another; of a slot only the first counts."""
    for lever in first_of_slots(levers):
        setup = applied(lever, setup, settings)
    return setup


def first_of_slots(levers: Sequence[Lever]) -> tuple[Lever, ...]:
    """Return levers without those that an earlier one of their slot excludes."""
    found: dict[str, Lever] = {}
    for lever in levers:
        found.setdefault(lever.slot, lever)
    return tuple(found.values())


def every() -> tuple[Lever, ...]:
    """Return all levers, those that approach first."""
    from costmodel.levers_approach import APPROACH  # noqa: PLC0415  (they are made of this file)
    from costmodel.levers_move import MOVE  # noqa: PLC0415

    return (*APPROACH, *MOVE)


def settled(setup: Setup, settings: Settings) -> Settings:
    """Return settings with everything left open chosen for a setup, so that each lever has one aim."""
    from costmodel.levers_move import settled as choose  # noqa: PLC0415

    return choose(setup, settings)


def by_name(name: str) -> Lever:
    """Return a lever by name.

    Raises
    ------
    InputError
        With the nearest names.
    """
    known = {lever.name: lever for lever in every()}
    if name in known:
        return known[name]
    close = nearest(name, known) or list(known)[:3]
    msg = f"a lever must be one of {', '.join(known)}, got {quoted(name)}; did you mean {close[0]}?"
    raise InputError(msg, field="set")
