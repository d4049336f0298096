"""The command `levers`: ladder, levers before and after, shares, verdict."""

from typing import Annotated, Any

import typer

from costmodel.asked import read
from costmodel.cli.numbers import numbers
from costmodel.cli.options import scenario_options
from costmodel.cli.output import Json, show
from costmodel.errors import InputError, quoted

TODAY = ("engine", "naive")


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
    together: Annotated[
        str | None,
        typer.Option(help="Levers pulled together, in order, as fill,kv; all that apply when left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what approaches the best here, what moves it, and what to do first."""
    from costmodel import lever_records  # noqa: PLC0415
    from costmodel.levers import Settings, by_name  # noqa: PLC0415
    from costmodel.setups import Setup, naive  # noqa: PLC0415

    chosen, _ = read(given)
    if today not in TODAY:
        msg = f"--today must be one of {', '.join(TODAY)}, got {quoted(today)}"
        raise InputError(msg, field="today")
    setup = Setup(chosen)
    options: dict[str, Any] = {}
    if kernel_time_removed is not None:
        options["kernel_time_removed"] = _number(kernel_time_removed, "--kernel-time-removed", 1)
    names = [n.strip() for n in (together or "").split(",") if n.strip()]
    record = lever_records.levers(
        naive(setup) if today == "naive" else setup,
        Settings(**options),
        chosen=tuple(by_name(n) for n in names) or None,
        paid_usd_per_mtok=None if paid is None else _above(paid, "--paid"),
        mtok_per_month=1000.0
        if tokens_per_month is None
        else _above(tokens_per_month, "--tokens-per-month") / 1e6,
    )
    show(record, as_json, lambda: text(record))


def _number(text: str, option: str, most: float) -> float:
    found = numbers(text, option=option)
    if found.size != 1 or not 0 <= found[0] <= most:
        msg = f"{option} must be one number between 0 and {most:g}, got {quoted(text)}"
        raise InputError(msg, field=option)
    return float(found[0])


def _above(text: str, option: str) -> float:
    value = _number(text, option, 1e15)
    if value <= 0:
        msg = f"{option} must be above 0, got {quoted(text)}"
        raise InputError(msg, field=option)
    return value


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
