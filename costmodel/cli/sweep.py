"""The command `sweep`: every point of a space to Parquet, in chunks, resumable."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from costmodel.asked import swept
from costmodel.cli.options import scenario_options
from costmodel.cli.output import Json, show
from costmodel.errors import InputError

VARIED = ("input_tokens", "output_tokens", "context_tokens")
"""Workload fields that may hold several numbers."""
WIDTH = 30


@scenario_options
def sweep(
    given: dict[str, str],
    out: Annotated[str | None, typer.Option(help="Folder for the Parquet files; needed.")] = None,
    four_bits: Annotated[bool, typer.Option("--four-bits", help="Sweep weights in 4 bits too.")] = False,
    separate_prompts: Annotated[
        bool, typer.Option("--separate-prompts", help="Sweep prompt GPUs of their own too.")
    ] = False,
    beyond_wall: Annotated[
        bool, typer.Option("--beyond-wall", help="Figures of batches that don't fit, as if they did.")
    ] = False,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a dask scheduler (tcp://…): run the chunks there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write every point of a space to Parquet files: chunk by chunk, resumable.

    Run the same command again after an interruption and it goes on where it stopped. Every option
    of a setup takes several values, as for frontier; --input, --output and --context do too.
    """
    if not out:
        msg = "--out must be a folder for the Parquet files, got nothing; name one"
        raise InputError(msg, field="out")
    from costmodel import chunks, sweep_files  # noqa: PLC0415
    from costmodel.cli import table  # noqa: PLC0415

    chosen, where, axes = swept(
        given,
        four_bits=four_bits,
        disaggregated=(False, True) if separate_prompts else (False,),
        lists=VARIED,
        most=chunks.MOST_CHUNKED,
    )
    plan = chunks.plan_of(chosen, where, axes, beyond_wall=beyond_wall)
    computing: sweep_files.Computing = sweep_files.here
    if scheduler is not None:
        from costmodel import cluster  # noqa: PLC0415

        computing = cluster.on(scheduler)
    written = sweep_files.write(plan, Path(out), computing=computing, progress=_bar)
    record: dict[str, Any] = {
        "points": written.points,
        "feasible": written.counts.get("feasible", 0),
        "infeasible": {k: v for k, v in written.counts.items() if k != "feasible"},
        "chunks": written.chunks,
        "computed": written.computed,
        "resumed": written.chunks - written.computed,
        "out": str(written.folder),
    }
    show(record, as_json, lambda: table.pairs(record))


def _bar(done: int, of: int) -> None:
    """Draw the progress on standard error: a bar on a terminal, a line every tenth elsewhere."""
    full = WIDTH * done // of
    text = f"[{'#' * full}{'.' * (WIDTH - full)}] {done:,} of {of:,} chunks"
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        print(f"\r{text}", end=end, file=sys.stderr, flush=True)
    elif done in {0, of} or done * 10 // of != (done - 1) * 10 // of:
        print(text, file=sys.stderr, flush=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(sweep)
