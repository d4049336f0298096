"""From a scenario to what the formulas need: presets looked up, dtypes decided, arrays shaped.

A `Case` carries one model and one or several accelerators, the latter along the first axis of
every array. What had to be said on the way (a fallback of arithmetic, links over PCIe, a what-if)
is in its notes, one sentence each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from costmodel import calibration, catalog, dtypes, importer, memory
from costmodel.check import FloatArray
from costmodel.constants import LATENT, Constants
from costmodel.errors import InputError
from costmodel.hardware import PCIE_BYTES_PER_S, Accelerator
from costmodel.mixers import with_kv_heads
from costmodel.model import Model, Storage
from costmodel.scenario import Scenario
from costmodel.speculation import draft_plan
from costmodel.step import Machine
from costmodel.work import Bits, Parallel, Plan, bits, check_split, plan

GGUF_ENGINE = "llama.cpp"
GGUF_PURE = ("q4_0", "q4_1", "q5_0", "q5_1")
"""Formats whose files keep the head in Q6_K (llama-quantize)."""
NODE_GPUS = 8
"""GPUs of a node: always legal, over PCIe where no link joins them."""


@dataclass(frozen=True)
class Case:
    """A scenario, resolved. Arrays have one entry per accelerator along axis 0."""

    scenario: Scenario
    model: Model
    accelerators: tuple[Accelerator, ...]
    plan: Plan
    draft: Plan | None
    """Work of drafting one token, with speculation."""
    machine: Machine
    constants: Constants
    """Of the scenario's profile."""
    budget: memory.Budget
    usd_per_gpu_hour: FloatArray
    """NaN where the price isn't known."""
    price_reasons: tuple[str, ...]
    """Per accelerator: why no price is known, or empty."""
    notes: tuple[str, ...]

    @cached_property
    def prompt_alone_s(self) -> FloatArray:
        """Time of one of the workload's prompts alone on the GPUs; no batch changes it. [s]"""
        from costmodel import serve  # noqa: PLC0415  (it reads this module)

        return serve.prompt_alone(
            plan=self.plan, machine=self.machine, constants=self.constants,
            work=serve.workload(self.scenario),
        )  # fmt: skip

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return self.plan.parallel.gpus


@lru_cache(maxsize=64)
def find_model(name: str) -> Model:
    """Return a preset, or the model of a config.json given as text or path."""
    text = name.strip()
    if text.startswith("{") or text.endswith(".json") or "\\" in text or text.startswith((".", "/")):
        return importer.load(name)
    return catalog.model(name)


def model_of(scenario: Scenario) -> Model:
    """Return a scenario's model, with its KV heads changed where the scenario says so."""
    model = find_model(scenario.model)
    if scenario.kv_heads is None:
        return model
    return with_kv_heads(model, scenario.kv_heads)


def parallel_of(scenario: Scenario) -> Parallel:
    """Return how a scenario's copy is split."""
    if scenario.split == "pipeline" and scenario.pp == 1:
        return Parallel(ways=1, split="tensor", stages=scenario.tp)
    ways = scenario.tp
    spread = scenario.ep if scenario.ep > 1 else (ways if scenario.split == "attention-dp" else 1)
    if ways % spread:
        msg = (
            f"--ep must divide the GPUs of a stage, got {spread} ranks for {ways} GPUs; "
            f"use {ways} or 1"
        )
        raise InputError(msg, field="ep")
    split = "tensor" if scenario.split == "pipeline" else scenario.split
    return Parallel(ways=ways, split=split, stages=scenario.pp, expert_ways=spread)


def bits_of(scenario: Scenario, model: Model) -> Bits:
    """Return the storage widths of a scenario."""
    return widths(scenario.weights, scenario.kv, model, scenario.engine.strip().lower())


@lru_cache(maxsize=512)
def widths(weights: str | None, kv: str, model: Model, engine: str = "") -> Bits:
    """Return the storage widths of a model in a weight and a cache dtype.

    Checkpoints in 4-bit floats keep latent attention in 16 bits (NVIDIA's and AMD's of DeepSeek):
    its small matrices are read absorbed, and lose most by it. llama.cpp's files of models with
    MXFP4 experts store all else in Q8_0.
    """
    layout = dtypes.layout(weights, model.published)
    stored: dict[Storage, str] = dict(layout.dtypes)
    if dtypes.dtype(layout.name).unit in {"fp4", "w4a8"} and any(
        layer.mixer is not None and layer.mixer.kind in LATENT for layer in model.layers
    ) and dtypes.bits_per_weight(stored["attention"]) < 8:
        stored["attention"] = "bf16"
    if engine.startswith(GGUF_ENGINE) and layout.name == "mxfp4":
        stored |= dict.fromkeys(("attention", "mlp", "head", "embedding"), "q8_0")
    if engine.startswith(GGUF_ENGINE) and layout.name in GGUF_PURE:
        stored["head"] = "q6_k"
    return bits(
        weight={storage: dtypes.bits_per_weight(name) for storage, name in stored.items()},
        dtype=stored,
        cache=dtypes.kv_bits(kv),
        cache_dtype=dtypes.kv_dtype(kv),
    )


@lru_cache(maxsize=512)
def machine_of(
    accelerators: tuple[Accelerator, ...], widths: Bits, arithmetic: str | None
) -> tuple[Machine, tuple[str, ...]]:
    """Return peaks along the hardware axis, by the dtype of each group, and what must be said."""
    shape = (len(accelerators), 1, 1) if len(accelerators) > 1 else ()

    def along(values: list[float]) -> FloatArray:
        return np.asarray(values, dtype=np.float64).reshape(shape)

    said: list[str] = []
    rates: dict[str, FloatArray] = {}
    names = {d for _, d in widths.dtype}
    for name in sorted(names):
        found = []
        for accelerator in accelerators:
            unit, sentence = dtypes.arithmetic_unit(name, accelerator, arithmetic)
            found.append(accelerator.flops_per_s(unit))
            if sentence and sentence not in said:
                said.append(sentence)
        rates[name] = along(found)
    plain = [a.flops_per_s(dtypes.arithmetic_unit("bf16", a, None)[0]) for a in accelerators]
    rates["attention"] = rates["head"] = along(plain)
    bandwidth = along([a.bandwidth_bytes_per_s for a in accelerators])
    return Machine(bandwidth_bytes_per_s=bandwidth, flops_per_s=rates), tuple(said)


def block_of(scenario: Scenario, model: Model) -> int:
    """Return the block of scales along a matrix, where the checkpoint's own quantisation is used."""
    published = model.published
    own = scenario.weights is None or dtypes.dtype(scenario.weights) == dtypes.dtype(
        published.dtype
    )
    return published.block if own else 1


def price_of(scenario: Scenario, accelerator: Accelerator) -> tuple[float, str]:
    """Return USD per GPU-hour, typed or of the basis, or NaN and why there is none."""
    if scenario.price_usd_per_gpu_hour is not None:
        return scenario.price_usd_per_gpu_hour, ""
    price = catalog.price(accelerator.id, scenario.price_basis)
    if price.usd_per_gpu_hour is None:
        return float("nan"), price.reason
    return price.usd_per_gpu_hour, ""


def link_of(accelerator: Accelerator, gpus: int) -> tuple[float, str]:
    """Return the one-way rate between a copy's GPUs, and a sentence where it isn't the link's.

    Inside the link domain the named link (of a pair of AMD cards, a seventh of the sum); above it
    PCIe, up to a node of 8.

    Raises
    ------
    InputError
        Beyond the larger of 8 and the link domain.
    """
    most = max(NODE_GPUS, accelerator.domain)
    if gpus > most:
        msg = (
            f"GPUs per copy must be at most {most} for {accelerator.short}, got {gpus}; "
            "use fewer, or a pipeline over nodes (--pp)"
        )
        raise InputError(msg, field="tp")
    if gpus == 1:
        return accelerator.link_bytes_per_s, ""
    if gpus > accelerator.domain:
        own = accelerator.link.startswith("PCIe")
        rate = accelerator.link_bytes_per_s if own else PCIE_BYTES_PER_S
        over = (
            f"have no link of their own: they talk over {accelerator.link or 'PCIe'}"
            if accelerator.domain <= 1
            else f"exceed the link domain of {accelerator.domain}: they talk over PCIe"
        )
        return rate, f"{gpus} × {accelerator.short} {over} at {rate / 1e9:.0f} GB/s one way."
    if accelerator.pairwise and gpus < accelerator.domain:
        share = (gpus - 1) / (accelerator.domain - 1)
        return accelerator.link_bytes_per_s * share, ""
    return accelerator.link_bytes_per_s, ""


def resolve(scenario: Scenario, hardware: Sequence[str | Accelerator] | None = None) -> Case:
    """Return the case of a scenario on its accelerator, or on each of a list.

    Raises
    ------
    InputError
        For unknown names, dtypes and splits that aren't legal.
    """
    model = model_of(scenario)
    notes = []
    if scenario.kv_heads is not None:
        notes.append(f"What if: {scenario.kv_heads} KV heads; the released model has its own.")
    wanted = hardware if hardware is not None else [scenario.hardware]
    accelerators = tuple(
        a if isinstance(a, Accelerator) else catalog.accelerator(a) for a in wanted
    )
    parallel = parallel_of(scenario)
    widths = bits_of(scenario, model)
    check_split(model, parallel, block=block_of(scenario, model))
    work = plan(model, widths, parallel)
    draft = draft_plan(model, widths, parallel) if scenario.spec_tokens else None
    machine, said = machine_of(accelerators, widths, scenario.arithmetic)
    notes += said
    links = []
    for accelerator in accelerators:
        rate, sentence = link_of(accelerator, parallel.ways)
        links.append(rate)
        if sentence:
            notes.append(sentence)
    constants = calibration.constants(
        profile=scenario.profile,
        accelerators=accelerators,
        engine=scenario.engine,
        plan=work,
        link_bytes_per_s=tuple(links),
    )
    shape = (len(accelerators), 1, 1) if len(accelerators) > 1 else ()
    capacity = np.asarray([a.capacity_bytes for a in accelerators]).reshape(shape)
    found = [price_of(scenario, a) for a in accelerators]
    usd = np.asarray([p for p, _ in found]).reshape(shape)
    return Case(
        scenario=scenario,
        model=model,
        accelerators=accelerators,
        plan=work,
        draft=draft,
        machine=machine,
        constants=constants,
        budget=memory.budget(
            plan=work, draft=draft, capacity_bytes=capacity, engine=scenario.engine
        ),
        usd_per_gpu_hour=usd,
        price_reasons=tuple(reason for _, reason in found),
        notes=tuple(notes),
    )
