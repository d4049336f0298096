"""Classes of setups that share constants: accelerators, engines by generation, dtypes, mixers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from costmodel import catalog, dtypes
from costmodel.constants import LATENT, RECURRENT
from costmodel.errors import InputError, nearest, quoted
from costmodel.hardware import Accelerator
from costmodel.work import Plan

OTHER = "other"
"""Engine class of an engine that no constants were fitted for."""


@dataclass(frozen=True)
class Klass:
    """What decides a setup's constants. Fields are the keys of offsets."""

    engine: str
    family: str
    gpu: str
    dtype: str
    """Of the linear layers."""
    expert_dtype: str
    mixer: str
    """`gqa` or `mla`."""
    prompt: str
    """`gqa`, `mla`, `dsa` or `hybrid`: attention over prompts."""
    cache: str
    """Bits of the cache, `16` or `8`."""
    kernels: str = "vendor"
    """`own` where an engine's matrix products are its own work, written for cards of one user."""


@dataclass(frozen=True)
class Engine:
    """One engine, or one generation of it."""

    name: str
    overlap: bool
    """Whether its host prepares the next step while the GPU runs this one."""
    mixes: bool
    """Whether prompts share steps with decoding."""
    chunk_tokens: int
    max_sequences: int
    reserves_answers: bool = False
    """Whether a request is admitted only where its whole answer fits."""
    own_kernels: bool = False
    """Whether its matrix products are its own work and not the vendor's libraries."""


@cache
def _table() -> Mapping[str, Any]:
    return catalog.calibration()


@cache
def engines() -> Mapping[str, Engine]:
    """Return the engines by class name."""
    keys = ("overlap", "mixes", "chunk_tokens", "max_sequences")
    return {
        name: Engine(
            name=name,
            reserves_answers=row.get("reserves_answers", False),
            own_kernels=row.get("own_kernels", False),
            **{k: row[k] for k in keys},
        )
        for name, row in _table()["engine"].items()
    }


@cache
def _engine_names() -> Mapping[str, str]:
    found = {name: name for name in _table()["engine"]}
    for name, row in _table()["engine"].items():
        found |= dict.fromkeys(row.get("aliases", ()), name)
    return found


def engine(name: str, *, version: str = "", day: str = "") -> str:
    """Return the engine class of a name; its generation by version or else by date.

    Raises
    ------
    InputError
        For a name that isn't known.

    >>> engine("vLLM"), engine("vllm", version="0.11.1"), engine("vllm", day="2024-06")
    ('vllm', 'vllm-sync', 'vllm-2024')
    """
    key = _engine_names().get(name.strip().lower())
    if key is None:
        close = nearest(name[:60], _engine_names())
        msg = f"engine must be a known one, got {quoted(name)}; did you mean {' or '.join(close) or 'vllm'}?"
        raise InputError(msg, field="engine")
    match = re.match(r"v?0\.(\d+)", version)
    minor = int(match[1]) if match else None
    for older in _table()["engine"][key].get("older", ()):
        if day and "before" in older and day < older["before"]:
            return str(older["class"])
        if minor is not None and "below" in older and minor < older["below"]:
            return str(older["class"])
    return key


def engine_or_other(name: str, *, version: str = "", day: str = "") -> str:
    """Return the engine class of a measured run; `other` for one that isn't known."""
    try:
        return engine(name, version=version, day=day)
    except InputError:
        return OTHER


def family(accelerator: Accelerator) -> str:
    """Return the class of accelerators that an accelerator shares constants with."""
    classes = _table()["class"]
    own = classes["accelerator"].get(accelerator.id)
    return str(own or classes["family"].get(accelerator.family, accelerator.family))


def dtype_class(name: str) -> str:
    """Return the class of a storage dtype: half, fp8, fp4, mxfp4, gguf or weight-only.

    >>> dtype_class("bf16"), dtype_class("q4_k_m"), dtype_class("awq-int4")
    ('half', 'gguf', 'weight-only')
    """
    own = _table()["class"]["dtype"].get(name)
    if own:
        return str(own)
    return "gguf" if dtypes.dtype(name).style == "gguf" else "weight-only"


def klass(*, accelerator: Accelerator, engine_class: str, plan: Plan) -> Klass:
    """Return the class of a setup."""
    linear = next((g.dtype for g in plan.gemms if g.group == "linear"), "bf16")
    experts = next((g.dtype for g in plan.gemms if g.group == "experts"), linear)
    kinds = [a.kind for a in plan.attention]
    latent = next((k for k in kinds if k in LATENT), "")
    hybrid = any(k in RECURRENT for k in kinds)
    prompt = "dsa" if latent in {"dsa", "csa"} else latent or ("hybrid" if hybrid else "gqa")
    return Klass(
        engine=engine_class,
        family=family(accelerator),
        gpu=accelerator.id,
        dtype=dtype_class(linear),
        expert_dtype=dtype_class(experts),
        mixer="mla" if latent else "gqa",
        prompt=prompt,
        cache="8" if plan.bits.cache <= 8.5 else "16",
        kernels="own" if engines()[engine_class].own_kernels else "vendor",
    )
