"""Names and values of an accelerator's facts, as pages and reports write them."""

from ui import units

FACT_NAMES = {
    "capacity_bytes": "memory",
    "bandwidth_bytes_per_s": "bandwidth",
    "link_bytes_per_s": "link, one direction",
    "power_w": "power",
}


def fact_name(name: str) -> str:
    """Return what people call an accelerator's fact.

    >>> fact_name("capacity_bytes"), fact_name("flops_per_s_bf16")
    ('memory', 'bf16 arithmetic, dense')
    """
    return FACT_NAMES.get(name, name.removeprefix("flops_per_s_") + " arithmetic, dense")


def fact_value(name: str, value: float) -> str:
    """Return an accelerator's fact in its everyday unit.

    >>> fact_value("capacity_bytes", 80e9), fact_value("bandwidth_bytes_per_s", 3.35e12)
    ('80.0 GB', '3.35 TB/s')
    """
    if name == "capacity_bytes":
        return units.gb(value, decimals=1)
    if name == "power_w":
        return f"{value:,.0f} W"
    if name.startswith("flops"):
        return f"{value / units.FLOPS_PER_TFLOPS:,.0f} TFLOP/s"
    return f"{value / units.BYTES_PER_TB:,.3g} TB/s"
