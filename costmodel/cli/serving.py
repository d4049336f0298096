"""The command `serve`: prompts and answers together, from a batch or a concurrency."""

from typing import Annotated, Any

import typer

from costmodel.asked import read
from costmodel.cli.numbers import numbers
from costmodel.cli.options import scenario_options
from costmodel.cli.output import Json, show
from costmodel.errors import InputError


@scenario_options
def serve(
    given: dict[str, str],
    concurrency: Annotated[
        str | None,
        typer.Option(help="Requests in flight, instead of --batch: sequences decoding follow from it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Serve a workload: first token, time between tokens, and all-in cost."""
    from costmodel import records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415

    if concurrency is not None and "batch" in given:
        msg = "serve takes --batch or --concurrency, got both; leave one out"
        raise InputError(msg, field="concurrency")
    chosen, axes = read(given, lists=("batch", "hardware"))
    in_flight = None
    if concurrency is not None:
        in_flight = numbers(concurrency, option="--concurrency")
    found = list(records.serve_all(chosen, concurrency=in_flight, **axes))
    several = bool(axes) or (in_flight is not None and in_flight.size > 1)
    record: dict[str, Any] = {"points": found} if several or len(found) > 1 else found[0]
    show(record, as_json, lambda: table.servings(found))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)
