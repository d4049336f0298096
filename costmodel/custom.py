"""An accelerator that somebody typed in, as a short text that an address or an option can hold.

`custom:name=mine;bw=3.35e12;cap=80e9;bf16=989e12;fp8=1979e12;link=450e9;n=8`: SI units, `;`
between the parts, `bw`, `cap` and one of bf16, fp16, fp32 needed.
"""

from collections.abc import Mapping
from functools import lru_cache

from costmodel.check import within
from costmodel.errors import InputError, nearest, quoted
from costmodel.hardware import UNITS, Accelerator, custom

PREFIX = "custom:"
NAMES = ("name", "bw", "cap", *UNITS, "link", "n", "power")
"""Parts that the text may have."""
FORM = "name=…;bw=bytes/s;cap=bytes;bf16=FLOP/s"


def is_custom(name: object) -> bool:
    """Whether a hardware name is such a text."""
    return isinstance(name, str) and name.startswith(PREFIX) and "=" in name


@lru_cache(maxsize=256)
def typed(text: str) -> Accelerator:
    """Return the accelerator of a text.

    Raises
    ------
    InputError
        Names the first part that is missing, unknown, twice there or out of bounds.

    Examples
    --------
    >>> own = typed("custom:name=mine;bw=3.35e12;cap=80e9;bf16=989e12;fp8=1979e12")
    >>> own.short, own.capacity_bytes, own.has("fp8"), own.has("fp4")
    ('mine', 80000000000.0, True, False)
    """
    parts: dict[str, str] = {}
    for part in text.removeprefix(PREFIX).split(";"):
        if not part.strip():
            continue
        key, _, value = part.partition("=")
        key = key.strip().lower()
        if key not in NAMES:
            close = nearest(key, NAMES, count=1)
            advice = f"did you mean {close[0]}?" if close else f"write {FORM}"
            raise _wrong(f"have the parts {', '.join(NAMES)}, got {quoted(key)}; {advice}")
        if key in parts:
            raise _wrong(f"have each part once, got {key} twice; drop one")
        parts[key] = value.strip()
    for key in ("bw", "cap"):
        if key not in parts:
            raise _wrong(f"say {key}, got {quoted(text, limit=80)}; write {FORM}")
    numbers = {key: _number(key, value) for key, value in parts.items() if key != "name"}
    domain = numbers.get("n", 8.0 if "link" in numbers else 1.0)
    within(1, 1e5, n=domain)
    return custom(
        name=parts.get("name", ""),
        bandwidth_bytes_per_s=numbers["bw"],
        capacity_bytes=numbers["cap"],
        flops_per_s={unit: numbers[unit] for unit in UNITS if unit in numbers},
        link_bytes_per_s=numbers.get("link"),
        domain=int(domain),
        power_w=numbers.get("power"),
    )


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _wrong(f"give {key} as a number, got {quoted(text)}; write {FORM}") from None


def _wrong(rest: str) -> InputError:
    return InputError(f"a typed accelerator must {rest}", field="hardware")


def text(*, name: str, values: Mapping[str, float | None]) -> str:
    """Return the text of an accelerator, without its prefix; parts without a value are left out.

    Separators inside the name become spaces.

    >>> text(name="my;chip", values={"bw": 3.35e12, "cap": 80e9, "bf16": 989e12, "fp8": None})
    'name=my chip;bw=3.35e+12;cap=8e+10;bf16=9.89e+14'
    """
    clean = " ".join(name.replace(";", " ").replace("=", " ").split())[:40] or "custom"
    numbers = [f"{key}={value:.6g}" for key, value in values.items() if value]
    return ";".join([f"name={clean}", *numbers])
