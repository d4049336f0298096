"""Levers that approach: they bring what is paid nearer to the best that model and hardware allow."""

from dataclasses import replace

import numpy as np

from costmodel.levers import Lever, Settings
from costmodel.setups import Setup, case_of, occupancy, reserved_tokens


def _engine(setup: Setup) -> str:
    return {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}.get(
        setup.scenario.engine, setup.scenario.engine
    )


def _no_slots(setup: Setup, settings: Settings) -> str:
    del settings
    return "" if setup.static_spread is not None else f"{_engine(setup)} refills free slots every step already"


def _no_blocks(setup: Setup, settings: Settings) -> str:
    del settings
    return "" if setup.reserved_spread is not None else f"{_engine(setup)} keeps its cache in blocks already"


def _no_prefix(setup: Setup, settings: Settings) -> str:
    s = setup.scenario
    if s.shared <= 0:
        return "no part of the prompt repeats"
    if s.hit >= settings.hit:
        return f"the cache catches {s.hit:.0%} of the repeated part already".replace("%", " %")
    return ""


def _no_separate(setup: Setup, settings: Settings) -> str:
    del settings
    if setup.separate:
        return "prompts run on GPUs of their own already"
    return "answers of one token have no decoding to separate" if setup.scenario.output_tokens <= 1 else ""


def _no_chunks(setup: Setup, settings: Settings) -> str:
    if setup.separate:
        return "prompts run on GPUs of their own"
    if setup.scenario.output_tokens <= 1:
        return "answers of one token have no decoding to share steps with"
    own = case_of(setup).constants
    if setup.chunk_tokens == settings.chunk_tokens or (own.mixes_prompts and own.chunk_tokens):
        return f"{_engine(setup)} mixes chunks of prompts into decode steps already"
    return ""


def _no_graphs(setup: Setup, settings: Settings) -> str:
    s = setup.scenario
    if s.profile == "ideal" or s.composition == "whole-step":
        return "a perfect engine has no fixed time to remove"
    if setup.fixed_factor <= 1 - settings.kernel_time_removed:
        return "as much of the fixed time is gone already" if settings.kernel_time_removed else "none is removed"
    return ""


def _no_schedule(setup: Setup, settings: Settings) -> str:
    busy = setup.scenario.busy
    return f"the GPUs are {busy:.0%} busy already".replace("%", " %") if busy >= settings.busy else ""


def _label_graphs(setup: Setup, settings: Settings) -> str:
    del setup
    return f"CUDA graphs, fused kernels: {settings.kernel_time_removed:.0%} less fixed time".replace("%", " %")


def _label_continuous(setup: Setup, settings: Settings) -> str:
    del settings
    if setup.static_spread is None:
        return "Continuous batching"
    batch = np.asarray(float(setup.scenario.batch))
    full = float(occupancy(batch=batch, spread=setup.static_spread))
    return f"Continuous batching ({full:.0%} of slots busy)".replace("%", " %")


def _label_paged(setup: Setup, settings: Settings) -> str:
    label = f"Paged cache, blocks of {settings.block_tokens}"
    if setup.reserved_spread is None:
        return label
    empty = 1 - setup.scenario.context / reserved_tokens(setup)
    return f"{label} (reserve {empty:.0%} empty)".replace("%", " %")


def _label_prefix(setup: Setup, settings: Settings) -> str:
    del settings
    shared = setup.scenario.shared
    if shared <= 0:
        return "Reuse repeated prompts (prefix cache)"
    return f"Reuse the repeated {shared:.0%} of prompts".replace("%", " %")


def _label_schedule(setup: Setup, settings: Settings) -> str:
    if setup.scenario.busy >= settings.busy:
        return "Schedule demand, fewer idle hours"
    return f"Schedule demand: {setup.scenario.busy:.0%} to {settings.busy:.0%} busy".replace("%", " %")


def _set_hit(setup: Setup, settings: Settings) -> Setup:
    return replace(setup, scenario=setup.scenario.model_copy(update={"hit": settings.hit}))


def _set_busy(setup: Setup, settings: Settings) -> Setup:
    return replace(setup, scenario=setup.scenario.model_copy(update={"busy": settings.busy}))


APPROACH: tuple[Lever, ...] = (
    Lever(
        name="fill",
        kind="approaches",
        slot="fill",
        owner="demand",
        label=lambda setup, _: "Fill the batch" if not setup.filled else "Fill the batch (done)",
        why_not=lambda setup, _: "the batch is re-chosen already" if setup.filled else "",
        apply=lambda setup, _: replace(setup, filled=True),
        fields=("filled",),
        needs="enough requests at once, and a higher limit of sequences",
    ),
    Lever(
        name="continuous",
        kind="approaches",
        slot="continuous",
        owner="engine",
        label=_label_continuous,
        why_not=_no_slots,
        apply=lambda setup, _: replace(setup, static_spread=None),
        fields=("static_spread",),
        needs="an engine that admits requests every step",
    ),
    Lever(
        name="paged",
        kind="approaches",
        slot="paged",
        owner="engine",
        label=_label_paged,
        why_not=_no_blocks,
        apply=lambda setup, settings: replace(
            setup, reserved_spread=None, block_tokens=settings.block_tokens
        ),
        fields=("reserved_spread", "block_tokens"),
        needs="an engine with paged attention",
    ),
    Lever(
        name="prefix",
        kind="approaches",
        slot="prefix",
        owner="engine",
        label=_label_prefix,
        why_not=_no_prefix,
        apply=_set_hit,
        fields=("hit",),
        needs="a prefix cache, and requests routed to the copy that holds theirs",
    ),
    Lever(
        name="separate",
        kind="approaches",
        slot="prompts",
        owner="engine",
        label=lambda _, __: "Separate prompt GPUs from answer GPUs",
        why_not=_no_separate,
        apply=lambda setup, _: replace(setup, separate=True),
        fields=("separate",),
        needs="two pools of copies and a link that carries the cache",
    ),
    Lever(
        name="chunked",
        kind="approaches",
        slot="prompts",
        owner="engine",
        label=lambda _, settings: f"Chunked prefill, {settings.chunk_tokens:,} tokens a step",
        why_not=_no_chunks,
        apply=lambda setup, settings: replace(setup, chunk_tokens=settings.chunk_tokens),
        fields=("chunk_tokens",),
        needs="an engine that mixes prompts into decode steps",
    ),
    Lever(
        name="graphs",
        kind="approaches",
        slot="graphs",
        owner="engine",
        label=_label_graphs,
        why_not=_no_graphs,
        apply=lambda setup, settings: replace(setup, fixed_factor=1 - settings.kernel_time_removed),
        fields=("fixed_factor",),
        needs="kernels that do more in one launch",
    ),
    Lever(
        name="busy",
        kind="approaches",
        slot="busy",
        owner="demand",
        label=_label_schedule,
        why_not=_no_schedule,
        apply=_set_busy,
        fields=("busy",),
        needs="work that can wait for the night, or copies that follow demand",
    ),
)
