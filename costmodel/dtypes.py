"""Data types: bits per weight with scales, which weights they cover, the unit that multiplies them.

A checkpoint says one dtype, but stores some classes of weight wider and may multiply in another
type than it stores. Bits follow docs/model.md; every figure counts the scales.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, get_args

from costmodel.errors import InputError, nearest, quoted
from costmodel.hardware import UNITS, Accelerator
from costmodel.model import Published, Storage

STORAGES: tuple[Storage, ...] = get_args(Storage)
"""The classes of weight."""

Style = Literal["float", "checkpoint", "gguf", "exl2"]
"""Coverage: everything; the matrices of the layers; everything but vectors; layers, and the head
in 6 bits."""

COVERS: Mapping[Style, frozenset[Storage]] = {
    "float": frozenset(STORAGES),
    "checkpoint": frozenset(("attention", "mlp", "expert")),
    "gguf": frozenset(s for s in STORAGES if s != "small"),
    "exl2": frozenset(("attention", "mlp", "expert")),
}

EXL2_BITS = (2.0, 8.0)
"""Average widths that exllamav2 makes."""

EXL2_HEAD = "exl2-6.0bpw"
"""exllamav2's default head width, at any width of the rest."""


@dataclass(frozen=True)
class Dtype:
    """One way to store weights."""

    name: str
    bits: float
    """Per weight, scales and zero points included."""
    style: Style
    unit: str = "half"
    """Arithmetic it asks for: a unit's name; `half` for 16-bit floats (also every weight-only
    quantisation); `w4a8` for fp8 where the card has an fp4 unit."""

    @property
    def width(self) -> int:
        """Nominal bits, as people say it."""
        return int(self.bits)


def grouped(bits: int, group: int, *, zeros: bool) -> float:
    """Return bits per weight of an integer format with a 16-bit scale per group of weights.

    >>> grouped(4, 128, zeros=True), grouped(4, 128, zeros=False), grouped(4, 32, zeros=False)
    (4.15625, 4.125, 4.5)
    """
    return bits + 16 / group + (bits / group if zeros else 0)


_GGUF = {
    # Pure block formats: block bytes over block weights.
    "q4_0": 4.5, "q4_1": 5.0, "q5_0": 5.5, "q5_1": 6.0, "q8_0": 8.5,
    "q3_k": 3.4375, "q4_k": 4.5, "q5_k": 5.5, "q6_k": 6.5625, "iq4_xs": 4.25, "iq4_nl": 4.5,
    # Recipes that mix block formats: averages over whole files of 7B to 8B models.
    "q2_k": 3.16, "q3_k_s": 3.5, "q3_k_m": 3.91, "q3_k_l": 4.27, "q4_k_s": 4.58, "q4_k_m": 4.85,
    "q5_k_s": 5.54, "q5_k_m": 5.69,
}  # fmt: skip

_TABLE = {
    d.name: d
    for d in (
        Dtype("fp32", 32, "float", "fp32"),
        Dtype("bf16", 16, "float"),
        Dtype("fp16", 16, "float"),
        # Scales per 128 x 128 block or per channel: under 0.1 %, left out.
        Dtype("fp8", 8, "checkpoint", "fp8"),
        Dtype("mxfp8", 8.25, "checkpoint", "fp8"),
        Dtype("int8", 8, "checkpoint", "int8"),
        Dtype("gptq-int8", grouped(8, 128, zeros=True), "checkpoint"),
        Dtype("nvfp4", 4.5, "checkpoint", "fp4"),
        Dtype("mxfp4", 4.25, "checkpoint", "w4a8"),
        # AWQ and GPTQ files hold zero points, symmetric or not; other int4 files don't.
        Dtype("awq-int4", grouped(4, 128, zeros=True), "checkpoint"),
        Dtype("gptq-int4", grouped(4, 128, zeros=True), "checkpoint"),
        Dtype("int4", grouped(4, 128, zeros=False), "checkpoint"),
        # Tenstorrent block floats: one 8-bit exponent for 16 values.
        Dtype("bfp8", 8.5, "checkpoint", "fp8"),
        Dtype("bfp4", 4.5, "checkpoint"),
        *(Dtype(name, bits, "gguf") for name, bits in _GGUF.items()),
    )
}

_SPELLINGS = {
    "float32": "fp32", "f32": "fp32", "bfloat16": "bf16", "float16": "fp16", "f16": "fp16",
    "half": "fp16", "float8": "fp8", "fp8-e4m3": "fp8", "fp8-e5m2": "fp8", "fp8-block": "fp8",
    "f8": "fp8", "w8a8": "int8", "awq": "awq-int4", "gptq": "gptq-int4", "w4a16": "int4",
    # Vendors' result tables say just "fp4" and mean their own: nvfp4 but for a few AMD rows.
    "fp4": "nvfp4",
}  # fmt: skip

WEIGHT_DTYPES = (
    "bf16", "fp16", "fp32", "fp8", "mxfp8", "int8", "gptq-int8", "nvfp4", "mxfp4", "awq-int4",
    "gptq-int4", "int4", "q8_0", "q6_k", "q5_k_m", "q5_k_s", "q5_0", "q4_k_m", "q4_k_s", "q4_k",
    "q4_1", "q4_0", "iq4_xs", "q3_k_m", "q3_k_s", "q2_k", "exl2-6.0bpw", "exl2-5.0bpw",
    "exl2-4.0bpw", "exl2-3.0bpw", "exl2-2.5bpw", "bfp8", "bfp4",
)  # fmt: skip
"""Weight dtypes that a select box offers; exl2 takes any width, int4 a group (`int4-g32`)."""

KV_BITS: Mapping[str, float] = {
    "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "nvfp4": 4.5, "q8_0": 8.5, "q4_0": 4.5, "fp32": 32,
}  # fmt: skip
"""Bits per cache element, scales included."""

KV_DTYPES = tuple(KV_BITS)
"""Cache dtypes that a select box offers."""


def _spelled(name: object) -> str:
    """Lower case, brackets and their content dropped, one separator."""
    text = re.sub(r"\(.*?\)", "", str(name)).strip().lower()
    text = re.sub(r"\s+", "-", text)
    text = text if re.match(r"i?q\d", text) else text.replace("_", "-")
    return _SPELLINGS.get(text, text)


@lru_cache(maxsize=1024)
def dtype(name: str) -> Dtype:
    """Return the weight dtype of a name, in any common spelling.

    >>> dtype("AWQ int4").bits, dtype("exl2-4.25bpw").bits, dtype("int4-g32").bits
    (4.15625, 4.25, 4.5)
    >>> dtype("fp7")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    costmodel.errors.InputError: weights must be a known dtype, got 'fp7'; did you mean ...?
    """
    key = _spelled(name)
    if key in _TABLE:
        return _TABLE[key]
    if match := re.fullmatch(r"exl2-(\d{1,2}(?:\.\d{1,3})?)(?:bpw)?", key):
        bits = float(match[1])
        if EXL2_BITS[0] <= bits <= EXL2_BITS[1]:
            return Dtype(f"exl2-{bits}bpw", bits, "exl2")
        msg = f"weights must have 2 to 8 bits in exl2, got {quoted(name)}; pick a width between"
        raise InputError(msg, field="weights")
    if match := re.fullmatch(r"int4-g(16|32|64|128|256)", key):
        return Dtype(key, grouped(4, int(match[1]), zeros=False), "checkpoint")
    raise _unknown(name, (*WEIGHT_DTYPES, "fp4"), field="weights")


def bits_per_weight(name: str) -> float:
    """Return the bits of one weight in a dtype, scales included."""
    return dtype(name).bits


def kv_dtype(name: str) -> str:
    """Return the usual name of a cache dtype.

    >>> kv_dtype("fp8_e4m3"), kv_dtype("f16")
    ('fp8', 'fp16')
    """
    key = _spelled(name)
    if key not in KV_BITS:
        raise _unknown(name, KV_DTYPES, field="kv")
    return key


def kv_bits(name: str) -> float:
    """Return the bits of one cache element in a dtype, scales included."""
    return KV_BITS[kv_dtype(name)]


@dataclass(frozen=True)
class Layout:
    """How a model's weights are stored, by class."""

    name: str
    """The dtype as people say it."""
    dtypes: Mapping[Storage, str]

    @property
    def bits(self) -> Mapping[Storage, float]:
        """Bits per weight of each class, scales included."""
        return {storage: dtype(name).bits for storage, name in self.dtypes.items()}

    @property
    def covered(self) -> tuple[Storage, ...]:
        """Classes stored in the layout's own dtype."""
        return tuple(s for s, name in self.dtypes.items() if name == self.name)


@lru_cache(maxsize=1024)
def layout(name: str | None, published: Published) -> Layout:
    """Return the storage of each class of weight.

    `None` and the published dtype itself give the published coverage (gpt-oss: experts only);
    any other dtype gives the coverage usual for its kind, with the rest in 16 bits.

    Parameters
    ----------
    name : str or None
        A weight dtype, or None for "as published".
    published : Published
        How the checkpoint is stored.

    Examples
    --------
    >>> layout("q4_0", Published("bf16")).bits["embedding"]
    4.5
    >>> dict(layout(None, Published("mxfp4", covers=("expert",))).dtypes)["attention"]
    'bf16'
    """
    own = dtype(published.dtype)
    wanted = own if name is None else dtype(name)
    if wanted.name == "int4" and own.name.startswith("int4-g"):
        wanted = own  # result tables leave the group out
    if wanted == own:
        covers, rest = frozenset(published.covers), dtype(published.rest).name
    else:
        covers = COVERS[wanted.style]
        rest = "fp16" if "fp16" in (published.dtype, published.rest) else "bf16"
    names: dict[Storage, str] = {s: wanted.name if s in covers else rest for s in STORAGES}
    if wanted == own:
        names |= {storage: dtype(third).name for storage, third in published.per_class}
    if wanted.style == "exl2" and wanted != own:
        names["head"] = EXL2_HEAD
    return Layout(name=wanted.name, dtypes=MappingProxyType(names))


def half_unit(accelerator: Accelerator) -> str:
    """Return the unit that multiplies 16-bit floats: bf16, else fp16, else fp32."""
    return next((u for u in ("bf16", "fp16", "fp32") if accelerator.has(u)), "bf16")


def arithmetic_unit(weights: str, accelerator: Accelerator, override: str | None = None) -> tuple[str, str]:
    """Return the unit that multiplies weights of a dtype, and a sentence where it isn't its own.

    Weight-only quantisation reads few bits and multiplies in 16: that is how it is meant, so no
    sentence. Where a dtype asks for a unit that the card lacks, the sentence says so.

    Parameters
    ----------
    weights : str
        A weight dtype.
    accelerator : Accelerator
        The card.
    override : str, optional
        A unit to use instead (`bf16`, `fp8`, `int8`, `fp4` …); None or `as stored` for the
        dtype's own.

    Returns
    -------
    unit : str
        Name of one of the card's dense rates.
    sentence : str
        The fallback, or "".
    """
    stored = dtype(weights)
    wanted = stored.unit
    if override is not None and (key := _spelled(override)) not in ("as-stored", "auto", ""):
        key = "fp4" if key == "nvfp4" else key
        if key not in UNITS:
            raise _unknown(override, (*UNITS, "as-stored"), field="arithmetic")
        wanted = "half" if key in ("bf16", "fp16") else key
    half = half_unit(accelerator)
    if wanted == "half":
        asked = "bf16" if stored.name != "fp16" else "fp16"
        quiet = half == "bf16" or (half == "fp16" and (asked == "fp16" or stored.style != "float"))
        told = f"{accelerator.short} has no {asked} arithmetic: multiplied in {half}."
        return half, "" if quiet else told
    if wanted == "w4a8":
        wanted = "fp8" if accelerator.has("fp4") and accelerator.has("fp8") else "fp4"
        if wanted == "fp4":
            return half, _fallback(accelerator, "fp4", stored, half)
    if accelerator.has(wanted):
        return wanted, ""
    return half, _fallback(accelerator, wanted, stored, half)


def _fallback(accelerator: Accelerator, unit: str, stored: Dtype, used: str) -> str:
    return f"{accelerator.short} has no {unit} arithmetic: stored in {stored.width} bits, multiplied in {used}."


def _unknown(name: object, known: tuple[str, ...], *, field: str) -> InputError:
    close = nearest(str(name)[:60], known) or list(known[:4])
    listed = " or ".join(filter(None, (", ".join(close[:-1]), close[-1])))
    return InputError(f"{field} must be a known dtype, got {quoted(name)}; did you mean {listed}?", field=field)
