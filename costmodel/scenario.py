"""The scenario: workload, limits and setup in one frozen object that every page reads.

`FIELDS` says each field once: its name, address key, command-line option, default, rule and what
it means. The command line, the address bar and docs/scenario.md are made from it.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from costmodel.errors import InputError, nearest, quoted

Group = Literal["workload", "limits", "setup"]
MOST_TOKENS = 10_000_000
MOST_BATCH = 65_536
PRICE_BASES = ("on-demand", "marketplace", "reserved", "owning")
PROFILES = ("calibrated", "ideal")
COMPOSITIONS = ("per-op", "whole-step")
SPLITS = ("tensor", "attention-dp", "pipeline")

Tokens = Annotated[float, Field(ge=1, le=MOST_TOKENS)]
Share = Annotated[float, Field(ge=0, le=1)]


class Scenario(BaseModel):
    """One question to the model. Fields are described in `FIELDS`; units are SI.

    Examples
    --------
    >>> Scenario(input_tokens=1500, output_tokens=1000).context
    2000.0
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input_tokens: Tokens = 1500
    output_tokens: Tokens = 1000
    context_tokens: Annotated[float, Field(ge=0, le=MOST_TOKENS)] | None = None
    shared: Share = 0.0
    hit: Share = 1.0
    busy: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_tpot_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    max_ttft_s: Annotated[float, Field(gt=0, le=86400)] | None = None
    budget_usd_per_mtok: Annotated[float, Field(gt=0, le=1e6)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=1_000_000)] = "llama-3.1-70b"
    hardware: Annotated[str, Field(min_length=1, max_length=200)] = "h100-sxm"
    tp: Annotated[int, Field(ge=1, le=1024)] = 4
    split: Literal["tensor", "attention-dp", "pipeline"] = "tensor"
    ep: Annotated[int, Field(ge=1, le=1024)] = 1
    pp: Annotated[int, Field(ge=1, le=256)] = 1
    weights: Annotated[str, Field(max_length=40)] | None = None
    kv: Annotated[str, Field(max_length=40)] = "bf16"
    arithmetic: Annotated[str, Field(max_length=40)] | None = None
    kv_heads: Annotated[int, Field(ge=1, le=1024)] | None = None
    batch: Annotated[float, Field(ge=1, le=MOST_BATCH)] = 64
    price_basis: Literal["on-demand", "marketplace", "reserved", "owning"] = "on-demand"
    price_usd_per_gpu_hour: Annotated[float, Field(gt=0, le=1e5)] | None = None
    engine: Annotated[str, Field(min_length=1, max_length=40)] = "vllm"
    profile: Literal["calibrated", "ideal"] = "calibrated"
    composition: Literal["per-op", "whole-step"] = "per-op"
    spec_tokens: Annotated[int, Field(ge=0, le=16)] = 0
    spec_acceptance: Share = 0.7
    flat: Annotated[float, Field(gt=0, lt=0.5)] = 0.10

    @property
    def context(self) -> float:
        """Tokens in each sequence's cache at a decode step: typed, or input + output / 2."""
        if self.context_tokens is not None:
            return float(self.context_tokens)
        return float(self.input_tokens + self.output_tokens / 2)

    @property
    def gpus(self) -> int:
        """GPUs of one copy."""
        return self.tp * self.pp

    def but(self, **changes: Any) -> "Scenario":
        """Return the same scenario with other fields, checked as any input is."""
        if not changes:
            return self
        return scenario(**(self.model_dump() | changes))


@dataclass(frozen=True)
class FieldInfo:
    """One field as people meet it."""

    name: str
    group: Group
    label: str
    key: str
    option: str
    help: str
    percent: bool = False
    """Whether the address holds percent where everything else holds a fraction."""


FIELDS: tuple[FieldInfo, ...] = (
    FieldInfo("input_tokens", "workload", "Input tokens", "in", "--input",
              "Tokens in a request's prompt."),
    FieldInfo("output_tokens", "workload", "Output tokens", "out", "--output",
              "Tokens in its answer."),
    FieldInfo("context_tokens", "workload", "Context, tokens", "ctx", "--context",
              "Tokens in each sequence's cache at a decode step; input + output / 2 when empty."),
    FieldInfo("shared", "workload", "Prompt repeated, %", "sh", "--shared",
              "Share of the prompt that other requests repeat.", percent=True),
    FieldInfo("hit", "workload", "Caught by the cache, %", "hit", "--hit",
              "Share of the repeated part that the prefix cache catches.", percent=True),
    FieldInfo("busy", "workload", "Busy share, %", "busy", "--busy",
              "Share of paid hours that do work; every cost divides by it.", percent=True),
    FieldInfo("max_tpot_s", "limits", "Speed each user needs, tokens/s", "sp", "--max-tpot",
              "Longest time between two tokens of one user, in seconds (its inverse in the "
              "address and on pages: tokens per second)."),
    FieldInfo("max_ttft_s", "limits", "First token within, ms", "ft", "--max-ttft",
              "Longest time to the first token, in seconds (milliseconds in the address)."),
    FieldInfo("budget_usd_per_mtok", "limits", "Budget, USD per million", "bud", "--budget",
              "Most that a million output tokens may cost, all-in."),
    FieldInfo("model", "setup", "Model", "m", "--model",
              "A preset's name, or a Hugging Face config.json."),
    FieldInfo("hardware", "setup", "Accelerator", "hw", "--hardware", "A preset's name."),
    FieldInfo("tp", "setup", "GPUs per copy", "g", "--tp",
              "GPUs over which each layer is cut (with --pp: of each stage)."),
    FieldInfo("split", "setup", "Split over GPUs", "split", "--split",
              "tensor; attention-dp: attention data-parallel, experts spread; pipeline."),
    FieldInfo("ep", "setup", "Expert-parallel ranks", "ep", "--ep",
              "Ranks over which whole experts are spread."),
    FieldInfo("pp", "setup", "Pipeline stages", "pp", "--pp", "Stages of a pipeline."),
    FieldInfo("weights", "setup", "Weights stored in", "w", "--weights",
              "dtype of the weights; as published when empty."),
    FieldInfo("kv", "setup", "KV cache stored in", "kv", "--kv", "dtype of the cache."),
    FieldInfo("arithmetic", "setup", "Multiply in", "ar", "--arithmetic",
              "dtype of the arithmetic; as stored when empty."),
    FieldInfo("kv_heads", "setup", "KV heads", "h", "--kv-heads",
              "What if the model had this many; as built when empty."),
    FieldInfo("batch", "setup", "Batch", "b", "--batch", "Sequences decoded together in one copy."),
    FieldInfo("price_basis", "setup", "Price basis", "pb", "--price-basis",
              "on-demand, marketplace, reserved (3 years) or owning."),
    FieldInfo("price_usd_per_gpu_hour", "setup", "Price, USD per GPU-hour", "pr", "--price",
              "A typed price for the current accelerator."),
    FieldInfo("engine", "setup", "Engine", "eng", "--engine", "Serving engine."),
    FieldInfo("profile", "setup", "Profile", "prof", "--profile",
              "calibrated: as engines run; ideal: at every peak."),
    FieldInfo("composition", "setup", "Composition", "comp", "--composition",
              "per-op: op groups in turn; whole-step: one max of bytes and FLOP, at the peaks."),
    FieldInfo("spec_tokens", "setup", "Speculative tokens", "sd", "--spec-tokens",
              "Tokens drafted per pass."),
    FieldInfo("spec_acceptance", "setup", "Acceptance, %", "sa", "--spec-acceptance",
              "Chance that a drafted token is accepted.", percent=True),
    FieldInfo("flat", "setup", '"Flattens" means doubling saves less than, %', "q", "--flat",
              "Doubling the batch saves less than this share.", percent=True),
)  # fmt: skip
BY_NAME = {f.name: f for f in FIELDS}


def scenario(**values: Any) -> Scenario:
    """Return a scenario, or say in one sentence which value is wrong.

    Raises
    ------
    InputError
        Naming the option, the rule, the value and what to do.

    Examples
    --------
    >>> scenario(batch=0)
    Traceback (most recent call last):
    ...
    costmodel.errors.InputError: --batch must be between 1 and 65,536, got 0
    """
    unknown = sorted(set(values) - set(BY_NAME))
    if unknown:
        close = nearest(unknown[0], BY_NAME)
        msg = f"unknown scenario field {quoted(unknown[0])}; nearest: {', '.join(close) or 'none'}"
        raise InputError(msg, field=unknown[0])
    try:
        return Scenario(**values)
    except ValidationError as error:
        raise _sentence(error) from None


def _sentence(error: ValidationError) -> InputError:
    """Turn the first finding into one sentence."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    field = BY_NAME.get(name)
    label = field.option if field else name
    got = quoted(first["input"])
    return InputError(f"{label} must be {rule(name)}, got {got}", field=name)


def bounds(name: str) -> tuple[float | None, float | None, bool]:
    """Return a field's lowest and highest value, and whether the lowest itself is excluded."""
    low = high = None
    above = False
    for part in _metadata(name):
        low = getattr(part, "ge", None) if getattr(part, "ge", None) is not None else low
        if getattr(part, "gt", None) is not None:
            low, above = part.gt, True
        for key in ("le", "lt"):
            if getattr(part, key, None) is not None:
                high = getattr(part, key)
    return low, high, above


def _metadata(name: str) -> list[Any]:
    info = Scenario.model_fields[name]
    parts = list(info.metadata)
    for member in getattr(info.annotation, "__args__", ()):
        for meta in getattr(member, "__metadata__", ()):
            parts += getattr(meta, "metadata", [meta])
    return parts


def rule(name: str) -> str:
    """Return a field's rule in words: what a value must be.

    >>> rule("busy")
    'above 0 and at most 1'
    """
    info = Scenario.model_fields[name]
    options = getattr(info.annotation, "__args__", ())
    if options and all(isinstance(o, str) for o in options):
        return "one of " + ", ".join(options)
    low, high, above = bounds(name)
    if low is None:
        return "a short text"
    whole = "a whole number " if _whole(name) else ""
    if above:
        return f"{whole}above {low:,g} and {'below' if name == 'flat' else 'at most'} {high:,.12g}"
    return f"{whole}between {low:,g} and {high:,}" if high else f"{whole}at least {low:,g}"


def _whole(name: str) -> bool:
    text = str(Scenario.model_fields[name].annotation)
    return "int" in text and "float" not in text
