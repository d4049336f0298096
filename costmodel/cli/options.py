"""Scenario options of every command, made from the table of fields."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from costmodel.scenario import FIELDS, Scenario


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
