"""What an accelerator is: dense rates, memory and links, each with its source."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from costmodel.check import within
from costmodel.errors import InputError, quoted
from costmodel.facts import Fact

UNITS = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4")
"""Arithmetic units that a sheet may list, by name of their dense rate."""

PCIE_BYTES_PER_S = 32e9
"""One-way rate assumed between GPUs of a node that have no link of their own."""

FACT_UNITS = {
    "capacity_bytes": "bytes",
    "bandwidth_bytes_per_s": "bytes/s",
    **{f"flops_per_s_{unit}": "FLOP/s" for unit in UNITS},
    "link_bytes_per_s": "bytes/s",
    "power_w": "W",
}
"""Every fact that an accelerator may have, with its unit."""


@dataclass(frozen=True)
class Accelerator:
    """One accelerator (for most: one GPU), from its preset."""

    id: str
    short: str
    vendor: str
    family: str
    """Generation that shares constants: `hopper`, `blackwell`, `ampere`, `ada`, `cdna3`, …"""
    year: int
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """By name: `capacity_bytes`, `bandwidth_bytes_per_s`, `flops_per_s_bf16` …,
    `link_bytes_per_s` (one direction, sum over a GPU's links), `power_w`."""
    aliases: tuple[str, ...] = ()
    link: str = ""
    """Name of the link."""
    domain: int = 1
    """Accelerators in one coherent link domain."""
    pairwise: bool = False
    """Links join pairs (AMD, Gaudi): in a node of eight one pair gets 1/7 of the sum."""
    note: str = ""

    def __hash__(self) -> int:
        """Hash by id: two presets never share one."""
        return hash(self.id)

    def _value(self, name: str) -> float:
        fact = self.facts.get(name)
        return math.nan if fact is None else fact.value

    @property
    def capacity_bytes(self) -> float:
        """Memory that a driver shows; NaN where unpublished."""
        return self._value("capacity_bytes")

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Peak memory bandwidth."""
        return self._value("bandwidth_bytes_per_s")

    @property
    def power_w(self) -> float:
        """Board or package power; NaN where unknown."""
        return self._value("power_w")

    @property
    def link_bytes_per_s(self) -> float:
        """One-direction link rate of one accelerator; the PCIe default where it has none."""
        own = self._value("link_bytes_per_s")
        return PCIE_BYTES_PER_S if math.isnan(own) else own

    def flops_per_s(self, unit: str) -> float:
        """Peak dense rate of an arithmetic unit; NaN where it doesn't exist."""
        own = self._value(f"flops_per_s_{unit}")
        return self._value("flops_per_s_bf16") if unit == "fp16" and math.isnan(own) else own

    def has(self, unit: str) -> bool:
        """Whether the unit exists. Whatever multiplies bf16 multiplies fp16 at the same rate."""
        return not math.isnan(self.flops_per_s(unit))

    def ridge_flop_per_byte(self, unit: str) -> float:
        """FLOP per byte from which arithmetic in a unit takes longer than memory."""
        return self.flops_per_s(unit) / self.bandwidth_bytes_per_s


def custom(
    *,
    name: str,
    bandwidth_bytes_per_s: float,
    capacity_bytes: float,
    flops_per_s: Mapping[str, float],
    link_bytes_per_s: float | None = None,
    domain: int = 1,
    power_w: float | None = None,
) -> Accelerator:
    """Return an accelerator that a user typed in.

    Parameters
    ----------
    name : str
        Any short text.
    bandwidth_bytes_per_s : float
        Peak memory bandwidth, 1e9 to 1e15. [byte/s]
    capacity_bytes : float
        Usable memory, 1e9 to 1e15. [byte]
    flops_per_s : mapping
        Dense peak by unit (`bf16`, `fp8` …), 1e10 to 1e19 each; needs one of bf16, fp16, fp32.
        [FLOP/s]
    link_bytes_per_s : float, optional
        One-direction link rate, 1e8 to 1e14; PCIe where left out. [byte/s]
    domain : int
        Accelerators that the link joins, 1 to 100,000.
    power_w : float, optional
        Board power, 1 to 100,000. [W]

    Raises
    ------
    InputError
        Names the first value that no accelerator could have.

    Examples
    --------
    >>> own = custom(name="mine", bandwidth_bytes_per_s=2e12, capacity_bytes=64e9,
    ...              flops_per_s={"bf16": 400e12})
    >>> own.ridge_flop_per_byte("bf16"), own.facts["capacity_bytes"].checked
    (200.0, 'typed')
    """
    label = "".join(c for c in str(name) if c.isprintable()).strip()[:60] or "custom"
    for unit in flops_per_s:
        if unit not in UNITS:
            msg = f"flops_per_s must use the units {', '.join(UNITS)}, got {quoted(unit)}"
            raise InputError(msg, field="flops_per_s")
    if not {"bf16", "fp16", "fp32"} & set(flops_per_s):
        msg = "flops_per_s must hold a rate for bf16, fp16 or fp32, got none of them; add one"
        raise InputError(msg, field="flops_per_s")
    within(1e9, 1e15, bandwidth_bytes_per_s=bandwidth_bytes_per_s, capacity_bytes=capacity_bytes)
    rates: dict[str, Any] = {f"flops_per_s_{unit}": rate for unit, rate in flops_per_s.items()}
    within(1e10, 1e19, **rates)
    within(1, 1e5, advice="give a whole number", domain=domain)
    if int(domain) != domain:
        msg = f"domain must be a whole number, got {domain:g}; round it"
        raise InputError(msg, field="domain")
    values = {
        "capacity_bytes": capacity_bytes,
        "bandwidth_bytes_per_s": bandwidth_bytes_per_s,
        **rates,
    }
    if link_bytes_per_s is not None:
        within(1e8, 1e14, link_bytes_per_s=link_bytes_per_s)
        values["link_bytes_per_s"] = link_bytes_per_s
    if power_w is not None:
        within(1, 1e5, power_w=power_w)
        values["power_w"] = power_w
    today = date.today()
    facts = {
        key: Fact(float(value), FACT_UNITS[key], "typed", today, checked="typed") for key, value in values.items()
    }
    return Accelerator(
        id=f"custom:{label}",
        short=label,
        vendor="",
        family="custom",
        year=today.year,
        facts=facts,
        link="link" if link_bytes_per_s is not None else "",
        domain=int(domain),
        note="typed in by the user",
    )
