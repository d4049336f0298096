"""What every command shares: the option `--json`, and printing a record as JSON or as text."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, in SI units.")]


def show(record: dict[str, Any], as_json: bool, text: Callable[[], str]) -> None:
    """Print a record as one JSON object, or the text made of it."""
    if as_json:
        import json  # noqa: PLC0415  (each command loads what it needs: cold start matters)

        typer.echo(json.dumps(record, allow_nan=False))
    else:
        typer.echo(text())
