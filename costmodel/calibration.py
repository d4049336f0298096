"""Constants of the calibrated profile, from `presets/calibration.toml`.

For now one global set, medians of measured kernels over accelerators and engines; the links scale
with the accelerator's own link.
"""

from functools import lru_cache

import numpy as np

from costmodel import catalog
from costmodel.check import FloatArray
from costmodel.constants import IDEAL, Constants, Group, Links
from costmodel.hardware import Accelerator
from costmodel.work import Plan


def constants(
    *,
    profile: str,
    accelerators: tuple[Accelerator, ...],
    engine: str,
    plan: Plan,
    link_bytes_per_s: tuple[float, ...],
) -> Constants:
    """Return the constants of a profile for accelerators along the hardware axis."""
    if profile == "ideal":
        return IDEAL
    shape = (len(accelerators), 1, 1) if len(accelerators) > 1 else ()
    data = _global()
    linear = next((g.dtype for g in plan.gemms if g.group == "linear"), "bf16")
    narrow = "fp8" if linear in {"fp8", "int8", "mxfp8"} else "bf16"
    link = np.asarray(link_bytes_per_s, dtype=np.float64).reshape(shape)
    return Constants(
        linear=_group(data[f"linear-{narrow}"]),
        head=_group(data["linear-bf16"]),
        experts=_group(data["experts"]),
        attention=_group(data["attention"]),
        latent=_group(data["latent"]),
        recurrent=_group(data["attention"]),
        activations=1.0,
        elementwise_s=np.asarray(data["elementwise"]["fixed_us"] * 1e-6),
        elementwise_share=np.asarray(1 / data["elementwise"]["memory_share"]),
        all_reduce=_links(data["all-reduce"], link, plan.parallel.ways),
        all_to_all=_links(data["all-to-all"], link, plan.parallel.ways),
        hop=_links(data["hop"], link, 1),
        gathers_logits=0.5,
        basis=("global",),
    )


def _group(row: dict[str, float]) -> Group:
    return Group(
        fixed_s=np.asarray(row["fixed_us"] * 1e-6),
        memory_share=np.asarray(row["memory_share"]),
        compute_share=np.asarray(row["compute_share"]),
        exponent=np.asarray(row["exponent"]),
    )


def _links(row: dict[str, float], link_bytes_per_s: FloatArray, ways: int) -> Links:
    alpha = row["alpha_us"] + row["alpha_us_per_doubling"] * np.log2(max(ways, 1))
    return Links(
        alpha_s=(np.asarray(alpha * 1e-6),), bytes_per_s=(link_bytes_per_s * row["link_share"],)
    )


@lru_cache(maxsize=1)
def _global() -> dict[str, dict[str, float]]:
    return dict(catalog.calibration()["global"])
