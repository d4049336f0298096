"""Scenario options of every command, made from the table of fields."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from costmodel.cli.numbers import numbers
from costmodel.errors import InputError, quoted
from costmodel.scenario import BY_NAME, FIELDS, Scenario, rule, scenario

LISTS = ("batch", "context_tokens")
"""Fields that accept several numbers where a command says so."""


def scenario_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command every scenario option, as text, before its own options.

    The command is called with `given` (texts by field name) and its own keyword arguments.
    """
    own = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, p in inspect.signature(command).parameters.items()
        if name != "given"
    ]
    fields = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                str | None,
                typer.Option(field.option, help=f"{field.help} {_default(field.name)}".strip()),
            ],
        )
        for field in FIELDS
    ]

    def run(**values: Any) -> None:
        given = {f.name: values.pop(f.name) for f in FIELDS}
        command(given={n: v for n, v in given.items() if v is not None}, **values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([*fields, *own])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in [*fields, *own]}
    return run


def _default(name: str) -> str:
    default = Scenario.model_fields[name].default
    return "" if default is None else f"Default {default}."


def read(given: dict[str, str], *, lists: tuple[str, ...] = ()) -> tuple[Scenario, dict[str, Any]]:
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
            msg = f"{BY_NAME[name].option} must be one value {rule(name)}, got {quoted(text)}"
            raise InputError(msg, field=name)
        for value in (found.min(), found.max()):
            scenario(**{name: _plain(value)})
        values[name] = _plain(found[0])
        if found.size > 1 or ":" in text or "," in text:
            axes[name] = found
    return scenario(**values), axes


def _numeric(name: str) -> bool:
    kinds = str(Scenario.model_fields[name].annotation)
    return any(k in kinds for k in ("float", "int")) and "Literal" not in kinds


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else float(value)

