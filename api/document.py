"""What the OpenAPI document says of parameters, and how an error speaks to a client."""

import re
from dataclasses import dataclass
from typing import Any

from costmodel import pareto
from costmodel.errors import InputError, quoted
from costmodel.scenario import BY_NAME, FIELDS, Scenario, rule

ABOUT = (
    "What a token of a language model costs: decode points, edges of the cost curve, served workloads, and "
    "frontiers over accelerators. SI units; the same names, lists and numbers as the command line."
)
LISTED = {"batch", "context_tokens", "hardware"}
"""Fields that hold several values on every route that reads them."""
SWEPT = {"model", "hardware", "tp", "split", "weights", "kv", "arithmetic", "engine", "batch"}
"""Fields that a frontier takes several values of."""


@dataclass(frozen=True)
class Own:
    """A parameter of one route."""

    name: str
    help: str
    example: str = ""


CONCURRENCY = Own("concurrency", "Requests in flight, instead of a batch; a number, list or range.", "64")
FRONTIER = (
    Own("axes", f"Two of {', '.join(pareto.AXES)}.", "speed,all-in"),
    Own("four-bits", "1 allows weights in 4 bits.", "0"),
    Own("separate-prompts", "1 tries prompt GPUs of their own too.", "0"),
    Own("users", "Users at once, for copies and USD a month.", ""),
)
LEVERS = (
    Own("today", "What runs today: engine, or naive (static batches, contiguous cache, eager kernels).", "engine"),
    Own("paid", "What is paid, USD per million output tokens, in place of the model's cost.", ""),
    Own("tokens-per-month", "Output tokens a month.", "1e9"),
    Own("kernel-time-removed", "Share of kernels' fixed time that graphs and fusion remove.", "0.5"),
    Own("output-spread", "Spread of output lengths, σ/mean, for a naive stack.", "0.8"),
    Own("together", "Levers pulled together, in order, by commas; all that apply when left out.", "fill,kv"),
)
REFUSED: dict[str, Any] = {
    "description": "Bad input, in one sentence.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {"error": {"type": "string"}, "field": {"type": "string"}},
                "required": ["error", "field"],
            },
            "example": {"error": "batch must be between 1 and 65,536, got 0", "field": "batch"},
        }
    },
}


def names(*, scenario: bool, own: tuple[Own, ...]) -> tuple[str, ...]:
    """Return the parameters that a route knows."""
    shared = tuple(f.option.lstrip("-") for f in FIELDS) if scenario else ()
    return (*shared, *(o.name for o in own))


def parameters(*, scenario: bool, own: tuple[Own, ...], swept: bool) -> list[dict[str, Any]]:
    """Return a route's parameters as OpenAPI objects."""
    listed = SWEPT if swept else LISTED
    found = []
    for field in FIELDS if scenario else ():
        default = Scenario.model_fields[field.name].default
        several = " Several values: 1,2,4 or 1:64 or 1:1024:60, names by commas." if field.name in listed else ""
        entry = _entry(field.option.lstrip("-"), f"{field.help} {rule(field.name)}.{several}")
        if default is not None and not (swept and field.name in listed - {"model"}):
            entry["schema"]["default"] = str(default)
        found.append(entry)
    return [*found, *(_entry(o.name, o.help, o.example) for o in own)]


def _entry(name: str, text: str, example: str = "") -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": name, "in": "query", "required": False, "description": text, "schema": {"type": "string"},
    }  # fmt: skip
    if example:
        entry["example"] = example
    return entry


def spoken(error: InputError) -> tuple[str, str]:
    """Return an error's sentence and field in the parameters' names.

    >>> spoken(InputError("--max-tpot must be above 0, got 0", field="max_tpot_s"))
    ('max-tpot must be above 0, got 0', 'max-tpot')
    """
    field = BY_NAME[error.field].option if error.field in BY_NAME else error.field
    return re.sub(r"(?<!\w)--(?=[a-z])", "", error.sentence), field.lstrip("-")


def switch(text: str | None, name: str) -> bool:
    """Return whether a switch is on.

    >>> switch("1", "four-bits"), switch(None, "four-bits"), switch("false", "four-bits")
    (True, False, False)
    """
    word = (text or "0").strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off", ""}:
        return False
    raise InputError(f"--{name} must be 0 or 1, got {quoted(text)}", field=name)
