"""The command `frontier`: what responsiveness costs, over accelerators, splits and dtypes."""

from typing import Annotated

import typer

from costmodel.asked import swept
from costmodel.cli.options import scenario_options
from costmodel.cli.output import Json, show


@scenario_options
def frontier(
    given: dict[str, str],
    axes: Annotated[
        str, typer.Option(help="Two of all-in, answer, speed, tpot, ttft, throughput, request, energy.")
    ] = "speed,all-in",
    four_bits: Annotated[bool, typer.Option("--four-bits", help="Allow weights in 4 bits.")] = False,
    separate_prompts: Annotated[
        bool, typer.Option("--separate-prompts", help="Try prompt GPUs of their own too.")
    ] = False,
    users: Annotated[str | None, typer.Option(help="Users at once: copies and USD a month.")] = None,
    as_json: Json = False,
) -> None:
    """Find the cheapest setup that meets the limits, and the front around it.

    Every option of a setup takes several values, separated by commas; what isn't given is tried
    over its usual values: all accelerators, 1 to 16 GPUs, 16 and 8 bits, 256 batches.
    """
    from costmodel import frontier_records as records  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415

    apart = (False, True) if separate_prompts else (False,)
    chosen, where, _ = swept(given, four_bits=four_bits, disaggregated=apart)
    record = records.frontier(chosen, where, axes=axes, users=users)
    show(record, as_json, lambda: table.frontier(record))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(frontier)
