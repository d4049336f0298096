"""Many setups side by side: plans of any structure as one, an array entry per row.

The formulas of a step broadcast, so a plan whose numbers are arrays of R entries is R setups in one
call. Plans differ in structure; each gets the op groups that any of them has, those it lacks with
no work in them. Calibration and `validate` evaluate thousands of measured rows this way, through
the same functions as every page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costmodel.check import FloatArray
from costmodel.constants import LATENT, RECURRENT
from costmodel.step import Machine
from costmodel.work import Attention, Gemms, Parallel, Plan, Stored


@dataclass(frozen=True)
class _Sizes:
    """The sizes of a model that a step asks for, by row."""

    d_model: FloatArray
    vocab: FloatArray


@dataclass(frozen=True)
class _Ways:
    """How each row's copy is split."""

    ways: FloatArray
    stages: FloatArray
    sequence_share: FloatArray
    gpus: FloatArray


def _column(values: Sequence[float]) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _family(kind: str) -> str:
    if kind in LATENT:
        return "mla"
    return "linear" if kind in RECURRENT else "gqa"


def stack(plans: Sequence[Plan], machines: Sequence[Machine]) -> tuple[Plan, Machine]:
    """Return plans as one plan and their machines as one, an entry per row.

    GEMM groups are told apart by their place ("linear:0"), and their rates by the same names;
    attention groups by the three families of constants.
    """
    gemms, rates = _gemms(plans, machines)
    parts = max(len(p.stored.parts) for p in plans)
    stored = [list(p.stored.parts) + [(0.0, np.inf, 1)] * (parts - len(p.stored.parts)) for p in plans]
    first = plans[0]
    sizes: Any = _Sizes(
        d_model=_column([p.model.d_model for p in plans]),
        vocab=_column([p.model.vocab for p in plans]),
    )
    ways: Any = _Ways(
        ways=_column([p.parallel.ways for p in plans]),
        stages=_column([p.parallel.stages for p in plans]),
        sequence_share=_column([p.parallel.sequence_share for p in plans]),
        gpus=_column([p.parallel.gpus for p in plans]),
    )
    numbers: dict[str, Any] = {
        name: _column([getattr(p, name) for p in plans])
        for name in (
            "resident_bytes", "layers_bytes", "elementwise_bytes_per_token", "elementwise_kernels",
            "collectives", "exchanges",
        )
    }  # fmt: skip
    kept: Any = tuple(
        tuple(_column([row[j][i] for row in stored]) for i in range(3)) for j in range(parts)
    )
    state: Any = _column([p.stored.fixed_bytes for p in plans])
    plan = replace(
        first,
        model=sizes,
        parallel=ways,
        gemms=gemms,
        attention=_attention(plans),
        stored=Stored(parts=kept, fixed_bytes=state),
        **numbers,
    )
    rates["attention"] = _column([float(m.flops_per_s["attention"]) for m in machines])
    bandwidth = _column([float(m.bandwidth_bytes_per_s) for m in machines])
    return plan, Machine(bandwidth_bytes_per_s=bandwidth, flops_per_s=rates)


def slots(plan: Plan) -> dict[str, Gemms]:
    """Return a plan's GEMM groups by their place in a stack: "linear:0", "experts:0", "head:0"."""
    found: dict[str, Gemms] = {}
    for g in plan.gemms:
        nth = sum(name.startswith(f"{g.group}:") for name in found)
        found[f"{g.group}:{nth}"] = g
    return found


def _gemms(
    plans: Sequence[Plan], machines: Sequence[Machine]
) -> tuple[tuple[Gemms, ...], dict[str, FloatArray]]:
    rows = [slots(p) for p in plans]
    names = sorted({name for row in rows for name in row})
    none = Gemms("linear", "", 0.0, 0.0, 0.0, 0.0)
    found = []
    rates: dict[str, FloatArray] = {}
    for name in names:
        own = [row.get(name, none) for row in rows]
        group = name.split(":")[0]
        numbers: dict[str, Any] = {
            key: _column([getattr(g, key) for g in own])
            for key in (
                "weight_bytes", "flops_per_token", "activation_bytes_per_token", "kernels",
                "token_share", "n_experts", "top_k", "expert_ways", "layers",
            )
        }  # fmt: skip
        found.append(replace(none, group=group, dtype=name, **numbers))  # type: ignore[arg-type]
        rates["head" if group == "head" else name] = _column(
            [
                float(m.flops_per_s["head" if g.group == "head" else g.dtype]) if g is not none else 1.0
                for g, m in zip(own, machines, strict=True)
            ]
        )
    return tuple(found), rates


def _attention(plans: Sequence[Plan]) -> tuple[Attention, ...]:
    rows: list[dict[tuple[str, int], Attention]] = []
    for p in plans:
        own: dict[tuple[str, int], Attention] = {}
        for a in p.attention:
            family = _family(a.kind)
            own[family, sum(k[0] == family for k in own)] = a
        rows.append(own)
    return tuple(
        _one_attention([row.get(key) for row in rows], key[0])
        for key in sorted({key for row in rows for key in row})
    )


def _one_attention(rows: Sequence[Attention | None], family: str) -> Attention:
    reads = max(len(a.reads) if a else 0 for a in rows)
    flops = max(len(a.flops) if a else 0 for a in rows)

    def part(name: str, at: int, i: int, blank: tuple[float, ...]) -> FloatArray:
        values = []
        for a in rows:
            own = getattr(a, name) if a else ()
            values.append(own[at][i] if at < len(own) else blank[i])
        return _column(values)

    no_read, no_flop = (0.0, np.inf, 1.0), (0.0, 0.0, np.inf, 1.0)
    numbers: dict[str, Any] = {
        name: _column([getattr(a, name) if a else 0.0 for a in rows])
        for name in ("layers", "write_bytes", "fixed_bytes", "fixed_flops", "expand_flops", "kernels")
    }
    read_parts: Any = tuple(
        tuple(part("reads", j, i, no_read) for i in range(3)) for j in range(reads)
    )
    flop_parts: Any = tuple(
        tuple(part("flops", j, i, no_flop) for i in range(4)) for j in range(flops)
    )
    return Attention(kind=family, reads=read_parts, flops=flop_parts, **numbers)


def take(tree: Any, index: Any, count: int) -> Any:
    """Return some rows of a stacked plan, machine, constants or dictionary of arrays."""
    if isinstance(tree, np.ndarray):
        return tree[index] if tree.shape[:1] == (count,) else tree
    if isinstance(tree, tuple):
        return tuple(take(t, index, count) for t in tree)
    if isinstance(tree, dict):
        return {k: take(v, index, count) for k, v in tree.items()}
    if hasattr(tree, "__dataclass_fields__") and not isinstance(tree, Parallel):
        return replace(
            tree, **{k: take(getattr(tree, k), index, count) for k in tree.__dataclass_fields__}
        )
    return tree
