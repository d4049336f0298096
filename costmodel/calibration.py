"""Constants of the calibrated profile: bases by class, moved by offsets fitted to whole runs.

`presets/calibration.toml` holds the bases and the classes, `presets/calibration_fit.json` the
offsets, the out-of-fold errors and the bands, written by `make calibrate`. A value is
base(class) with the sum of its class's offsets added in log space (shares: in logit space), so a
class that was never measured keeps its family's offsets, and one without family the global ones.
docs/calibration.md has the method and its errors.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from costmodel import catalog, classes
from costmodel.check import FloatArray
from costmodel.classes import Klass, klass
from costmodel.constants import IDEAL, Constants, Group, Links
from costmodel.hardware import Accelerator
from costmodel.work import Plan

Scale = Literal["log", "share", "above-one", "fixed"]
"""How offsets act: on the logarithm, on the logit (kept in (0, 1)), on the excess over one."""

MICRO, GIGA = 1e-6, 1e9
WITHOUT_FIT = (0.6, 1.6)
"""Band where nothing was fitted."""
NOISE_OF_UNSEEN = 1.5
"""A band of a class that was never measured is this much wider than that of its family."""


@dataclass(frozen=True)
class Parameter:
    """One constant: where its base stands, how offsets act on it, and which classes have one."""

    base: str
    """Table of bases in calibration.toml."""
    by: str
    """Class that picks the base: fields of `Klass` joined with "|"."""
    scale: Scale
    levels: tuple[tuple[str, float], ...] = ()
    """(class fields, prior standard deviation of its offsets)."""


_DTYPE = "family|dtype"
PARAMETERS: Mapping[str, Parameter] = {
    "linear_fixed_us": Parameter("linear_fixed_us", "dtype", "log", (
        ("", 0.1), ("family", 0.2), ("engine", 0.6), ("family|engine", 0.2))),
    "memory_share": Parameter("memory_share", "family", "share", (
        ("", 0.1), ("family", 0.2), ("dtype", 0.3), ("engine", 0.4), ("engine|dtype", 0.4),
        ("family|engine", 0.5), ("family|kernels", 0.5), ("gpu", 0.25))),
    "compute_share": Parameter("compute_share", _DTYPE, "share", (
        ("", 0.1), ("family", 0.25), (_DTYPE, 0.4), ("engine", 0.3))),
    "exponent": Parameter("exponent", "dtype", "above-one", (("dtype", 0.2),)),
    "attention_memory_share": Parameter("attention_memory_share", "mixer|cache", "share", (
        ("mixer|cache", 0.5), ("family", 0.2), ("engine", 0.4))),
    "attention_compute_share": Parameter("attention_compute_share", "engine|mixer", "share", (
        ("", 0.1), ("engine", 1.0))),
    "attention_fixed_us": Parameter("attention_fixed_us", "mixer", "log", (
        ("mixer", 0.4), ("engine", 0.4), ("family", 0.2))),
    "recurrent_fixed_us": Parameter("recurrent_fixed_us", "", "log", (("", 0.25), ("engine", 0.3))),
    "expert_fixed_us": Parameter("expert_fixed_us", "family|expert_dtype", "log", (
        ("family|expert_dtype", 0.25),
        ("", 0.15), ("family", 0.2), ("expert_dtype", 0.3), ("engine", 0.4),
        ("engine|expert_dtype", 0.2))),
    "expert_memory_share": Parameter("memory_share", "family", "share", (
        ("", 0.1), ("family", 0.25), ("expert_dtype", 0.4), ("engine|expert_dtype", 0.3))),
    "expert_compute_share": Parameter("expert_compute_share", "family|expert_dtype", "share", (
        ("family|expert_dtype", 0.3),
        ("", 0.25), ("family", 0.25), ("expert_dtype", 0.4), ("engine|expert_dtype", 0.3))),
    "expert_exponent": Parameter("expert_exponent", "", "fixed"),
    "sampling_bytes": Parameter("sampling_bytes", "", "log", (("", 0.7), ("engine", 1.0))),
    "elementwise_us": Parameter("elementwise_us", "engine", "log", (
        ("", 0.15), ("engine", 0.4), ("family", 0.2))),
    "link_alpha_factor": Parameter("link_alpha_factor", "engine", "log", (
        ("", 0.15), ("engine", 0.8), ("family", 0.25))),
    "link_beta_factor": Parameter("link_beta_factor", "", "log", (
        ("", 0.15), ("engine", 0.3), ("family", 0.2))),
    "host_us": Parameter("host_us", "engine", "log", (("", 0.2), ("engine", 1.0))),
    "host_per_sequence_us": Parameter("host_per_sequence_us", "engine", "log", (
        ("", 0.2), ("engine", 1.0))),
    "prefill_share": Parameter("prefill_share", "prompt", "share", (
        ("", 0.1), ("family", 0.2), ("engine", 0.3), ("prompt", 0.7))),
    "prefill_half_tokens": Parameter("prefill_half_tokens", "", "fixed"),
    "prefill_pass_us": Parameter("prefill_pass_us", "", "log", (("", 0.4), ("engine", 1.0))),
    "first_token_us": Parameter("first_token_us", "", "log", (("", 0.4), ("engine", 1.0))),
    "first_token_steps": Parameter("first_token_steps", "", "log", (("", 0.25), ("engine", 1.0))),
    "polled_share": Parameter("polled_share", "", "log", (("", 0.25),)),
    "queue_factor": Parameter("queue_factor", "", "log", (("", 0.7), ("engine", 0.5))),
    "burst_factor": Parameter("burst_factor", "", "log", (("", 1.0), ("engine", 0.7))),
    "stall_share": Parameter("stall_share", "", "log", (("", 0.1), ("engine", 0.15))),
    "offered_stall_share": Parameter("offered_stall_share", "", "log", (
        ("", 0.1), ("engine", 0.3))),
}  # fmt: skip
"""Every constant that may be moved, with the levels of its offsets."""


def key_of(found: Klass, fields: str) -> str:
    """Return a class's key at a level: its fields' values joined with "|"; "" for all.

    >>> k = Klass("vllm", "hopper", "h100-sxm", "fp8", "fp8", "gqa", "gqa", "16")
    >>> key_of(k, "engine|dtype"), key_of(k, "")
    ('vllm|fp8', '')
    """
    return "|".join(str(getattr(found, f)) for f in fields.split("|")) if fields else ""


def base_of(parameter: Parameter, found: Klass) -> float:
    """Return a parameter's base for a class: of its key, of the key's first part, or the default."""
    table = _bases()[parameter.base]
    key = key_of(found, parameter.by)
    for name in (key, key.split("|", maxsplit=1)[0], key.split("|")[-1], "default"):
        if name in table:
            return float(table[name])
    return float(next(iter(table.values())))


def moved(base: FloatArray, offset: FloatArray, scale: Scale) -> FloatArray:
    """Return bases moved by offsets on their scale.

    >>> float(moved(np.array(0.8), np.array(0.0), "share")), float(moved(np.array(2.0), np.array(0.0), "log"))
    (0.8, 2.0)
    """
    if scale == "log":
        return np.asarray(base * np.exp(offset))
    if scale == "share":
        logit = np.log(base / (1 - base)) + offset
        return np.asarray(1 / (1 + np.exp(-logit)))
    if scale == "above-one":
        return np.asarray(1 + (base - 1) * np.exp(offset))
    return np.asarray(base)


@cache
def _bases() -> Mapping[str, Mapping[str, float]]:
    return dict(catalog.calibration()["base"])


@cache
def _fit() -> Mapping[str, Any]:
    return catalog.calibration_fit()


Offsets = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Fitted offsets: parameter, level, key of the class."""


def fitted() -> Offsets:
    """Return the shipped offsets; empty before any fit."""
    return dict(_fit().get("offsets", {}))


def values(found: Sequence[Klass], offsets: Offsets) -> dict[str, FloatArray]:
    """Return every parameter for a sequence of classes. Times in µs as in the tables."""
    result = {}
    for name, parameter in PARAMETERS.items():
        base = np.asarray([base_of(parameter, k) for k in found])
        if name == "expert_memory_share":
            base = base * _bases()["expert_memory_factor"]["default"]
        own = offsets.get(name, {})
        offset = np.zeros(len(found))
        for fields, _ in parameter.levels:
            table = own.get(fields, {})
            if table:
                offset += np.asarray([table.get(key_of(k, fields), 0.0) for k in found])
        result[name] = moved(base, offset, parameter.scale)
    return result


def build(
    *,
    value: Mapping[str, FloatArray],
    all_reduce: Links,
    all_to_all: Links,
    hop: Links,
    **extra: Any,
) -> Constants:
    """Return constants from parameters; arrays keep the shape that `value` has.

    Parameters
    ----------
    value : mapping
        As `values` returns, reshaped by the caller where it wants axes.
    all_reduce, all_to_all, hop : Links
        Collectives.
    """
    linear = Group(
        fixed_s=value["linear_fixed_us"] * MICRO,
        memory_share=value["memory_share"],
        compute_share=value["compute_share"],
        exponent=value["exponent"],
    )
    attention = Group(
        fixed_s=value["attention_fixed_us"] * MICRO,
        memory_share=value["attention_memory_share"],
        compute_share=value["attention_compute_share"],
        exponent=np.asarray(2.0),
    )
    prompts = replace(attention, compute_share=value["prefill_share"])
    return Constants(
        linear=linear,
        head=replace(linear, fixed_s=np.asarray(0.0)),
        experts=Group(
            fixed_s=value["expert_fixed_us"] * MICRO,
            memory_share=value["expert_memory_share"],
            compute_share=value["expert_compute_share"],
            exponent=value["expert_exponent"],
        ),
        attention=attention,
        latent=attention,
        recurrent=replace(attention, fixed_s=value["recurrent_fixed_us"] * MICRO),
        prefill=prompts,
        prefill_latent=prompts,
        prefill_half_tokens=value["prefill_half_tokens"],
        prefill_pass_s=value["prefill_pass_us"] * MICRO,
        sampling_bytes=value["sampling_bytes"],
        activations=1.0,
        elementwise_s=value["elementwise_us"] * MICRO,
        elementwise_share=np.asarray(1 / 0.8),
        all_reduce=all_reduce,
        all_to_all=all_to_all,
        hop=hop,
        gathers_logits=0.5,
        host_s=value["host_us"] * MICRO,
        host_per_sequence_s=value["host_per_sequence_us"] * MICRO,
        queue_factor=value["queue_factor"],
        burst_factor=value["burst_factor"],
        first_token_s=value["first_token_us"] * MICRO,
        first_token_steps=value["first_token_steps"],
        stall_share=value["stall_share"],
        **extra,
    )


# Links ------------------------------------------------------------------------------------------


def _at_degree(row: Sequence[float], ways: int) -> float:
    """Return a measured value at 2, 4 or 8 ranks, between and beyond them by the logarithm."""
    return float(np.interp(math.log2(max(ways, 2)), [1.0, 2.0, 3.0], row))


def reduce_algorithms(
    *, family: str, accelerator: Accelerator, ways: int, link_bytes_per_s: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return (α, β) of a copy's all-reduce for small and for large messages, in s and byte/s."""
    table = catalog.calibration()["link"]
    if ways == 1:
        return (0.0, math.inf), (0.0, math.inf)
    around = 2 * (ways - 1) / ways
    over_pcie = link_bytes_per_s <= 70e9 or ways > accelerator.domain
    if over_pcie or family not in table:
        row = table["pcie" if over_pcie else "ring"]
        one = (_at_degree(row["alpha_us"], ways) * MICRO, link_bytes_per_s * row["link_share"] / around)
        return one, one
    row, large = table[family], table["large"]
    small = (_at_degree(row["alpha_us"], ways) * MICRO, _at_degree(row["beta_gb_per_s"], ways) * GIGA)
    alpha = (large["alpha_us"] + large["alpha_us_per_rank"] * ways) * MICRO
    return small, (alpha, link_bytes_per_s * large["link_share"] / around)


def links(
    *,
    algorithms: Sequence[tuple[tuple[float, float], tuple[float, float]]],
    alpha_factor: FloatArray,
    beta_factor: FloatArray,
    shape: tuple[int, ...],
) -> Links:
    """Return all-reduces over accelerators or rows; factors move the measured algorithm alone."""

    def column(at: int, i: int) -> FloatArray:
        return np.asarray([row[at][i] for row in algorithms]).reshape(shape)

    same = column(0, 1) == column(1, 1)
    alpha, beta = column(0, 0) * alpha_factor, column(0, 1) * beta_factor
    return Links(
        alpha_s=(alpha, np.where(same, alpha, column(1, 0))),
        bytes_per_s=(beta, np.where(same, beta, column(1, 1))),
    )


def _plain_links(name: str, ways: int, link_bytes_per_s: FloatArray) -> Links:
    row = catalog.calibration()["link"][name]
    alpha = (row["alpha_us"] + row.get("alpha_us_per_rank", 0.0) * ways) * MICRO
    return Links(
        alpha_s=(np.asarray(alpha),), bytes_per_s=(link_bytes_per_s * row["link_share"],)
    )


# The profile of a scenario ----------------------------------------------------------------------


def constants(
    *,
    profile: str,
    accelerators: tuple[Accelerator, ...],
    engine: str,
    plan: Plan,
    link_bytes_per_s: tuple[float, ...],
) -> Constants:
    """Return the constants of a profile for accelerators along the hardware axis.

    Raises
    ------
    InputError
        For an engine that isn't known.
    """
    engine_class = classes.engine(engine)
    if profile == "ideal":
        return IDEAL
    return _calibrated(accelerators, engine_class, plan, link_bytes_per_s)


@lru_cache(maxsize=2048)
def _calibrated(
    accelerators: tuple[Accelerator, ...],
    engine_class: str,
    plan: Plan,
    link_bytes_per_s: tuple[float, ...],
) -> Constants:
    shape = (len(accelerators), 1, 1) if len(accelerators) > 1 else ()
    found = [klass(accelerator=a, engine_class=engine_class, plan=plan) for a in accelerators]
    value = {k: v.reshape(shape) for k, v in values(found, fitted()).items()}
    own = classes.engines()[engine_class]
    ways = plan.parallel.ways
    rates = np.asarray(link_bytes_per_s, dtype=np.float64).reshape(shape)
    algorithms = [
        reduce_algorithms(family=k.family, accelerator=a, ways=ways, link_bytes_per_s=rate)
        for k, a, rate in zip(found, accelerators, link_bytes_per_s, strict=True)
    ]
    reduce = links(
        algorithms=algorithms, alpha_factor=value["link_alpha_factor"],
        beta_factor=value["link_beta_factor"], shape=shape,
    )  # fmt: skip
    by_dtype = {
        f"{g.group}:{g.dtype}": _of_dtype(found, g.dtype, shape)
        for g in plan.gemms
        if g.group == "linear" and classes.dtype_class(g.dtype) != found[0].dtype
    }
    lows, highs = zip(*(band(k) for k in found), strict=True)
    return build(
        value=value,
        all_reduce=reduce,
        all_to_all=_plain_links("all-to-all", ways, rates),
        hop=_plain_links("hop", 1, rates),
        by_dtype=by_dtype,
        host_overlaps=own.overlap,
        chunk_tokens=own.chunk_tokens,
        mixes_prompts=own.mixes,
        max_sequences=own.max_sequences,
        band=(np.asarray(lows).reshape(shape), np.asarray(highs).reshape(shape)),
        basis=tuple(dict.fromkeys(basis(k) for k in found)),
    )


def _of_dtype(found: Sequence[Klass], dtype: str, shape: tuple[int, ...]) -> Group:
    """Constants of linear layers that a model stores in a second dtype."""
    other = [replace(k, dtype=classes.dtype_class(dtype)) for k in found]
    value = {k: v.reshape(shape) for k, v in values(other, fitted()).items()}
    return Group(
        fixed_s=value["linear_fixed_us"] * MICRO,
        memory_share=value["memory_share"],
        compute_share=value["compute_share"],
        exponent=value["exponent"],
    )


def basis(found: Klass) -> str:
    """Return where a class's constants come from: `exact`, `family` or `global`.

    Exact: whole runs of this engine on this family in this dtype were fitted. Family: runs of the
    family or of the engine. Global: neither.
    """
    seen = _fit().get("seen", {})
    if f"{found.engine}|{found.family}|{found.dtype}" in seen.get("exact", {}):
        return "exact"
    if found.family in seen.get("family", {}) or found.engine in seen.get("engine", {}):
        return "family"
    return "global"


def band(found: Klass, *, quantity: str = "step") -> tuple[float, float]:
    """Return the factors on a prediction that hold 80 % of measured runs of the nearest class.

    From out-of-fold errors of the engine on the family, else of the family, else of all; wider
    where constants are a fallback.
    """
    table: Mapping[str, Any] = _fit().get("bands", {}).get(quantity, {})
    if not table:
        return WITHOUT_FIT
    low, high = nearest_band(table, found)
    widen = {"exact": 1.0, "family": 1.25, "global": NOISE_OF_UNSEEN}[basis(found)]
    return float(low**widen), float(high**widen)


def nearest_band(table: Mapping[str, Sequence[float]], found: Klass) -> tuple[float, float]:
    """Return the band of a class in a table of one quantity, or of the next wider class."""
    for key in (f"{found.engine}|{found.family}", found.family, "all"):
        if key in table:
            return float(table[key][0]), float(table[key][1])
    return WITHOUT_FIT
