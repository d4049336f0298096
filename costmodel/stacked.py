"""Many cases as one: every number of plan, machine and constants an array along axis 0.

The formulas of a step broadcast, so a case whose numbers are arrays of shape (N, 1) is N cases in
one call, with batches on the last axis. Plans differ in structure (a window here, experts there):
each gets the op groups that any of them has, those it lacks with no work in them. What must be one
number for all (GPUs, tokens of a chunk) splits cases into `kinds`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from costmodel.case import Case
from costmodel.check import FloatArray
from costmodel.constants import IDEAL, Constants, Links
from costmodel.step import Machine
from costmodel.work import Attention, Gemms, Plan, Stored, counted_once

T = TypeVar("T")


@dataclass(frozen=True)
class Many:
    """N cases of one kind; arrays of shape (N, 1), or numbers where all agree."""

    plan: Plan
    draft: Plan | None
    machine: Machine
    constants: Constants
    usd_per_s: FloatArray
    """Price of a copy."""
    room_bytes: FloatArray
    """For the cache on one GPU, beside weights, workspace and runtime."""
    packed_bytes: FloatArray
    """For the cache on one GPU, beside the weights alone."""
    link_bytes_per_s: FloatArray


def kind(case: Case) -> tuple[Any, ...]:
    """Return what cases of one stack must have in common."""
    constants = case.constants
    return (
        case.plan.parallel,
        # An exchange's size goes with the experts per token, of which a stack has one number.
        tuple((g.n_experts, g.top_k) for g in case.plan.gemms) if case.plan.exchanges else (),
        case.plan.exchanges,
        constants.chunk_tokens,
        constants.mixes_prompts,
        float(constants.routing_skew),
        case.scenario.composition,
        case.scenario.profile,
    )


def many(cases: Sequence[Case], links: Sequence[float]) -> Many:
    """Return cases of one kind as one.

    Parameters
    ----------
    cases : sequence of Case
        One accelerator each.
    links : sequence of float
        One-way rate of the link that each copy's cache would leave over. [byte/s]
    """
    work, slots = _plans([c.plan for c in cases])
    drafts = None
    if any(c.draft is not None for c in cases):
        drafts, more = _plans([c.draft or _idle(c.plan) for c in cases], mark="draft ")
        slots = slots + more

    def column(values: list[float]) -> FloatArray:
        return np.asarray(values, dtype=np.float64).reshape(-1, 1)

    bandwidth = column([float(c.machine.bandwidth_bytes_per_s) for c in cases])
    return Many(
        plan=work,
        draft=drafts,
        machine=Machine(bandwidth_bytes_per_s=bandwidth, flops_per_s=_rates(cases, slots)),
        constants=_constants(cases, slots),
        usd_per_s=column([float(c.usd_per_gpu_hour) * c.gpus / 3600 for c in cases]),
        room_bytes=column([float(c.budget.available_kv_bytes) for c in cases]),
        packed_bytes=column([float(c.budget.packed_kv_bytes) for c in cases]),
        link_bytes_per_s=column(list(links)),
    )


def _distinct(keys: Sequence[Any]) -> tuple[list[int], FloatArray | Any]:
    """Return where each distinct key first stands, and which of them every entry is."""
    at: dict[Any, int] = {}
    first: list[int] = []
    place = []
    for i, key in enumerate(keys):
        if key not in at:
            at[key] = len(first)
            first.append(i)
        place.append(at[key])
    return first, np.asarray(place, dtype=np.int64)


@dataclass(frozen=True)
class _Slot:
    """An op group of stacked plans: its name stands for a dtype that differs from case to case."""

    name: str
    group: str
    dtypes: tuple[str, ...]
    """Of each case."""


def _plans(plans: Sequence[Plan], *, mark: str = "") -> tuple[Plan, list[_Slot]]:
    """Return plans as one, and its slots."""
    first, place = _distinct([id(p) for p in plans])
    alike, slots = _alike([plans[i] for i in first], mark=mark)
    each = [replace(s, dtypes=tuple(s.dtypes[at] for at in place)) for s in slots]
    return take(_stack(alike), place), each


def _rates(cases: Sequence[Case], slots: list[_Slot]) -> dict[str, FloatArray]:
    """Return the rate that each case multiplies each slot at."""
    plain = [_Slot(name, name, (name,) * len(cases)) for name in ("attention", "head")]
    return {
        slot.name: np.asarray(
            [float(c.machine.flops_per_s[d]) for c, d in zip(cases, slot.dtypes, strict=True)]
        ).reshape(-1, 1)
        for slot in (*slots, *plain)
    }


def _constants(cases: Sequence[Case], slots: list[_Slot]) -> Constants:
    """Return constants as one; cases of one plan on one accelerator share them."""
    keys = [(c.accelerators, id(c.plan), c.scenario.engine) for c in cases]
    first, place = _distinct(keys)
    every = [cases[i].constants for i in first]
    plain = [replace(c, basis=(), band=None, by_dtype={}) for c in every]
    by_dtype = {
        f"{slot.group}:{slot.name}": _stack(
            [c.group(slot.group, slot.dtypes[i]) for c, i in zip(every, first, strict=True)]
        )
        for slot in slots
    }
    one: Constants = _stack(_same_links(plain))
    return take(replace(one, by_dtype=by_dtype), place)


def _idle(plan: Plan) -> Plan:
    """Return a plan with nothing to do: what drafting is where there is none."""
    return replace(
        plan, gemms=(), attention=(), stored=Stored(parts=(), fixed_bytes=0.0), resident_bytes=0.0,
        layers_bytes=0.0, elementwise_bytes_per_token=0.0, elementwise_kernels=0.0, collectives=0.0,
        exchanges=0.0,
    )  # fmt: skip


# The same groups in every plan ------------------------------------------------------------------


def _alike(plans: Sequence[Plan], *, mark: str) -> tuple[list[Plan], list[_Slot]]:
    """Return plans with the same groups in the same order, and these groups as slots."""
    gemms = [_gemm_slots(p) for p in plans]
    attention = [_attention_slots(p) for p in plans]
    stored = [_stored_slots(p.stored) for p in plans]
    gemm_keys = list(dict.fromkeys(k for slots in gemms for k in slots))
    attention_keys = list(dict.fromkeys(k for slots in attention for k in slots))
    stored_keys = list(dict.fromkeys(k for slots in stored for k in slots))
    names = {key: f"{mark}{at}" for at, key in enumerate(gemm_keys)}
    # A group that a plan lacks multiplies nothing, at any rate.
    dtypes = [
        _Slot(names[key], key[0], tuple(s[key].dtype if key in s else "head" for s in gemms))
        for key in gemm_keys
    ]
    found = [
        replace(
            plan,
            gemms=tuple(replace(gemms[i].get(k) or _no_gemm(k), dtype=names[k]) for k in gemm_keys),
            attention=tuple(attention[i].get(k) or _no_attention(k) for k in attention_keys),
            stored=Stored(
                parts=tuple((stored[i].get(k, 0.0), *k) for k in stored_keys),
                fixed_bytes=plan.stored.fixed_bytes,
            ),
        )
        for i, plan in enumerate(plans)
    ]
    return found, dtypes


def _gemm_slots(plan: Plan) -> dict[tuple[Any, ...], Gemms]:
    slots: dict[tuple[Any, ...], Gemms] = {}
    for g in plan.gemms:
        same = (g.group, g.token_share, g.n_experts, g.top_k, g.expert_ways)
        nth = sum(k[:5] == same for k in slots)
        slots[(*same, nth)] = g
    return slots


def _no_gemm(key: tuple[Any, ...]) -> Gemms:
    group, token_share, n_experts, top_k, expert_ways, _ = key
    return Gemms(
        group=group, dtype="", weight_bytes=0.0, flops_per_token=0.0,
        activation_bytes_per_token=0.0, kernels=0.0, token_share=token_share, n_experts=n_experts,
        top_k=top_k, expert_ways=expert_ways,
    )  # fmt: skip


def _attention_slots(plan: Plan) -> dict[tuple[Any, ...], Attention]:
    slots: dict[tuple[Any, ...], Attention] = {}
    for a in plan.attention:
        same = (a.kind, tuple(r[1:] for r in a.reads), tuple(f[2:] for f in a.flops))
        nth = sum(k[:3] == same for k in slots)
        slots[(*same, nth)] = a
    return slots


def _no_attention(key: tuple[Any, ...]) -> Attention:
    kind_, reads, flops, _ = key
    return Attention(
        kind=kind_,
        layers=0,
        reads=tuple((0.0, *r) for r in reads),
        flops=tuple((0.0, 0.0, *f) for f in flops),
        write_bytes=0.0,
        fixed_bytes=0.0,
        fixed_flops=0.0,
        expand_flops=0.0,
    )


def _stored_slots(stored: Stored) -> dict[tuple[float, int], float]:
    slots: dict[tuple[float, int], float] = {}
    for per_position, cap, stride in stored.parts:
        slots[cap, stride] = slots.get((cap, stride), 0.0) + per_position
    return slots


def _same_links(constants: list[Constants]) -> list[Constants]:
    """Return constants whose collectives have equally many algorithms, the last one repeated."""
    names = ("all_reduce", "all_to_all", "hop")
    most = {n: max(len(getattr(c, n).alpha_s) for c in constants) for n in names}
    found = []
    for c in constants:
        longer: dict[str, Any] = {n: _longer(getattr(c, n), most[n]) for n in names}
        found.append(replace(c, **longer))
    return found


def _longer(links: Links, count: int) -> Links:
    missing = count - len(links.alpha_s)
    if missing <= 0:
        return links
    if not links.alpha_s:
        return Links((np.asarray(0.0),) * count, (np.asarray(np.inf),) * count)
    return Links(
        links.alpha_s + links.alpha_s[-1:] * missing,
        links.bytes_per_s + links.bytes_per_s[-1:] * missing,
    )


# Trees of numbers -------------------------------------------------------------------------------

_APART = ("model", "parallel", "bits")
"""Fields of a plan that aren't numbers of a step."""
_WIDTHS = ("d_model", "vocab")
"""What a step needs of the model itself: the sizes of messages between GPUs."""


def _with(tree: Any, changes: dict[str, Any]) -> Any:
    """Return a frozen value with other fields, unchecked: thousands of them are made."""
    made = object.__new__(type(tree))
    made.__dict__.update(tree.__dict__ | changes)
    return made


_NAMES: dict[Any, tuple[str, ...]] = {}


def _names(tree: Any) -> tuple[str, ...]:
    """Return the fields of a dataclass's value that hold numbers; none for other values."""
    found = _NAMES.get(type(tree))
    if found is None:
        held = fields(tree) if is_dataclass(tree) else ()
        found = _NAMES[type(tree)] = tuple(f.name for f in held if f.name not in _APART)
    return found


def _stack(trees: Sequence[Any]) -> Any:
    """Return trees of one structure as one, their numbers columns; equal numbers stay one number."""
    first = trees[0]
    if names := _names(first):
        changed = {name: _stack([t.__dict__[name] for t in trees]) for name in names}
        if isinstance(first, Plan):
            widths = {n: _stack([getattr(t.model, n) for t in trees]) for n in _WIDTHS}
            changed["model"] = _with(first.model, widths)
        return _with(first, changed)
    if isinstance(first, tuple):
        return tuple(_stack([t[i] for t in trees]) for i in range(len(first)))
    if first is None or isinstance(first, str | bool | dict):
        return first
    if all(t is first for t in trees):
        return first
    values = np.asarray([float(t) for t in trees])
    return first if (values == values[0]).all() else values.reshape(-1, 1)


def take(tree: T, index: Any) -> T:
    """Return the given cases of a stacked tree, some perhaps several times."""
    if isinstance(tree, np.ndarray):
        return tree[index] if tree.ndim else tree
    if names := _names(tree):
        changed: dict[str, Any] = {name: take(tree.__dict__[name], index) for name in names}
        if isinstance(tree, Plan):
            widths = {n: take(getattr(tree.model, n), index) for n in _WIDTHS}
            changed["model"] = _with(tree.model, widths)
        return _with(tree, changed)  # type: ignore[no-any-return]
    if isinstance(tree, tuple):
        return tuple(take(t, index) for t in tree)  # type: ignore[return-value]
    if isinstance(tree, dict):
        return {key: take(value, index) for key, value in tree.items()}  # type: ignore[return-value]
    return tree


def perfect(case: Case, single: Plan) -> Case:
    """Return the case of a perfect engine: every peak reached, whole-step, the cache counted once."""
    scenario = case.scenario.model_copy(update={"profile": "ideal", "composition": "whole-step"})
    return replace(
        case, scenario=scenario, constants=IDEAL, plan=counted_once(case.plan, single)
    )
