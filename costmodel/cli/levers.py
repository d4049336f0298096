"""The command `levers`: ladder, levers before and after, shares, verdict."""

from typing import Annotated, Any

import typer

from costmodel.asked import read
from costmodel.cli.options import scenario_options
from costmodel.cli.output import Json, show


@scenario_options
def levers(
    given: dict[str, str],
    today: Annotated[
        str,
        typer.Option(
            help="What runs today: the engine as calibrated, or a naive stack (static batches, "
            "contiguous cache, no reuse, eager kernels)."
        ),
    ] = "engine",
    paid: Annotated[
        str | None,
        typer.Option(help="What is paid, USD per million output tokens, in place of the model's cost."),
    ] = None,
    tokens_per_month: Annotated[
        str | None, typer.Option(help="Output tokens a month. Default 1e9.")
    ] = None,
    kernel_time_removed: Annotated[
        str | None,
        typer.Option(help="Share of kernels' fixed time that graphs and fusion remove. Default 0.5."),
    ] = None,
    output_spread: Annotated[
        str | None,
        typer.Option(help="Spread of output lengths, σ/mean, for a naive stack. Default 0.8."),
    ] = None,
    together: Annotated[
        str | None,
        typer.Option(help="Levers pulled together, in order, as fill,kv; all that apply when left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what approaches the best here, what moves it, and what to do first."""
    from costmodel import lever_asked  # noqa: PLC0415  (each command loads what it needs)

    chosen, _ = read(given)
    texts = (today, paid, tokens_per_month, kernel_time_removed, output_spread, together)
    asked = {n: t for n, t in zip(lever_asked.OPTIONS, texts, strict=True) if t is not None}
    record = lever_asked.answer(chosen, asked)
    show(record, as_json, lambda: text(record))


def text(record: dict[str, Any]) -> str:
    """Return the record for a terminal: verdict, ladder, levers that apply, those that don't."""
    from costmodel.cli import table  # noqa: PLC0415

    def usd(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    rungs = [[r["step"], usd(r["usd_per_mtok"]), r["owner"]] for r in record["ladder"]]
    rungs += [[a["step"], "–", a["reason"]] for a in record["absent"]]
    rows = [
        [
            r["kind"], r["label"], usd(r["cost_after"]), usd(r["rechosen_after"]),
            f"{r['rechosen_batch']:g}", usd(r["best_after"]), usd(r["floor_after"]), usd(r["share"]),
        ]
        for r in record["levers"]
        if r["applies"]
    ]  # fmt: skip
    head = ["", "lever", "pay", "re-chosen", "at batch", "best here", "floor", "share"]
    unfit = [f"{r['label']}: {r['reason']}" for r in record["levers"] if not r["applies"]]
    return "\n".join(
        [
            record["verdict"],
            "",
            table.table(rungs, head=["USD/Mtok, all-in", "", "whose gap, or why there is none"]),
            "",
            table.table(rows, head=head),
            "",
            "Don't apply here:",
            *unfit,
            *[record[k] for k in ("price_reason",) if k in record],
        ]
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(levers)
