"""Questions as text: options of the command line and parameters of the HTTP API, read alike."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from costmodel.cli.numbers import numbers
from costmodel.errors import InputError, quoted
from costmodel.scenario import BY_NAME, Scenario, rule, scenario

if TYPE_CHECKING:
    from costmodel.sweep import Space

MOST_POINTS = 100_000
"""The most decode points that one question may ask for."""

WORDS = ("model", "hardware", "split", "weights", "kv", "arithmetic", "engine")
"""Fields of words that a sweep takes several of."""


def read(given: Mapping[str, str], *, lists: tuple[str, ...] = ()) -> tuple[Scenario, dict[str, Any]]:
    """Return the scenario of typed options, and the axes of those that hold several values.

    Raises
    ------
    InputError
        Naming the option, the rule, the value.
    """
    values: dict[str, Any] = {}
    axes: dict[str, Any] = {}
    for name, text in given.items():
        if name == "hardware" and name in lists:
            names = [n.strip() for n in text.split(",") if n.strip()]
            if not names:
                msg = f"--hardware must name a preset, got {quoted(text)}"
                raise InputError(msg, field=name)
            values[name] = names[0]
            if len(names) > 1:
                axes[name] = names
            continue
        if not _numeric(name):
            values[name] = text
            continue
        found = numbers(text, option=BY_NAME[name].option)
        if found.size == 0 or (found.size > 1 and name not in lists):
            msg = f"{BY_NAME[name].option} must be one value, {rule(name)}, got {quoted(text)}"
            raise InputError(msg, field=name)
        for value in (found.min(), found.max()):
            scenario(**{name: _plain(value)})
        values[name] = _plain(found[0])
        if found.size > 1:
            axes[name] = found
    total = math.prod(len(axis) for axis in axes.values())
    if total > MOST_POINTS:
        msg = (
            f"a question must ask for at most {MOST_POINTS:,} points, got {total:,}; give fewer "
            "values, as in 1:1024:60"
        )
        raise InputError(msg, field=next(iter(axes)))
    return scenario(**values), axes


def _numeric(name: str) -> bool:
    kinds = str(Scenario.model_fields[name].annotation)
    return any(k in kinds for k in ("float", "int")) and "Literal" not in kinds


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else float(value)



def swept(
    given: Mapping[str, str],
    *,
    four_bits: bool = False,
    disaggregated: tuple[bool, ...] = (False,),
    lists: tuple[str, ...] = (),
    most: float | None = None,
) -> tuple[Scenario, "Space", dict[str, Any]]:
    """Return scenario and space of a question in which every field of a setup may hold several.

    What isn't given takes its usual values (`sweep.space`); an accelerator, a dtype or a number of
    GPUs that is given is the only one tried.

    Parameters
    ----------
    given : mapping
        Texts by field name.
    four_bits, disaggregated
        As `sweep.space`.
    lists : tuple of str
        More fields that may hold several numbers.
    most : float, optional
        The most points allowed; what memory holds when left out.

    Returns
    -------
    scenario, space, axes
        `axes` holds the further fields that hold several numbers.
    """
    from costmodel.sweep import MOST_POINTS, space  # noqa: PLC0415  (single points don't need it)

    words = {name: _words(given[name], name) for name in WORDS if name in given}
    rest = {n: t for n, t in given.items() if n not in words and n != "tp"}
    rest |= {n: w[0] for n, w in words.items()}
    batches = rest.pop("batch", None)
    chosen, axes = read(rest, lists=lists)
    many: dict[str, Any] = {}
    if batches is not None:
        many["batches"] = numbers(batches, option="--batch")
    if "tp" in given:
        many["gpus"] = [_whole(v) for v in numbers(given["tp"], option="--tp")]
    for name, key in (("model", "models"), ("split", "splits"), ("kv", "kv"), ("engine", "engines")):
        if name in words:
            many[key] = words[name]
    for name in ("weights", "arithmetic"):
        if name in words:
            many[name] = [None if w in {"as-published", "as-stored"} else w for w in words[name]]
    if "hardware" in words:
        many["hardware"] = words["hardware"]
    where = space(
        chosen, four_bits=four_bits, disaggregated=disaggregated, most=most or MOST_POINTS, **many
    )
    return chosen, where, axes


def _words(text: str, name: str) -> list[str]:
    if name == "model" and text.lstrip().startswith("{"):
        return [text]  # a config.json holds commas of its own
    found = [w.strip() for w in text.split(",") if w.strip()]
    if not found:
        option = BY_NAME[name].option
        msg = f"{option} must name at least one value, got an empty selection; name one or leave it out"
        raise InputError(msg, field=name)
    return list(dict.fromkeys(found))


def _whole(value: float) -> int:
    scenario(tp=_plain(value))
    return int(value)
