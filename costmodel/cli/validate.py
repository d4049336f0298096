"""The command `validate`: predictions beside measured runs, with their errors by class."""

from typing import Annotated, Any

import typer

from costmodel.cli.output import Json, show
from costmodel.errors import InputError

MOST_ROWS = 12
"""Worst rows, and reasons, that a terminal shows."""
MOST_CLASSES = 12
"""Classes of a dimension that a terminal shows."""
FOLD = "--out-of-fold"


def validate(
    measured: Annotated[
        str | None,
        typer.Option(help="CSV of measured runs, with the columns of presets/measured.csv. Default: that file."),
    ] = None,
    out_of_fold: Annotated[
        bool,
        typer.Option(FOLD, help="Of the shipped rows: predictions made without their group in the fit."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare predictions with measured runs: errors overall and by class, and every row.

    Rows that can't be read or predicted are listed with their reason. Rows reported apart (flagged,
    or slow implementations) stay out of all figures but those under "apart".
    """
    from costmodel import catalog, measured_files  # noqa: PLC0415
    from costmodel import validate as rules  # noqa: PLC0415

    if out_of_fold:
        if measured is not None:
            msg = f"{FOLD} is about the shipped rows, got --measured too; leave one out"
            raise InputError(msg, field="out_of_fold")
        stored = rules.out_of_fold()
        if stored is None:
            msg = f"{FOLD} needs presets/validation.csv, got no such file; make it with make calibrate"
            raise InputError(msg, field="out_of_fold")
        report = stored
    else:
        report = rules.evaluate(catalog.measured() if measured is None else measured_files.load(measured))
    record = rules.record(report)
    show(record, as_json, lambda: text(record))


def text(record: dict[str, Any]) -> str:
    """Return a report as text: one table a dimension, then what was refused, then the worst rows."""
    from costmodel.cli import table  # noqa: PLC0415

    overall = record["overall"]
    made = "each with its group left out of the fit" if overall["out_of_fold"] else "with the shipped constants"
    counts = (
        f"{overall['n']:,} predictions, {made}; {overall['apart']:,} reported apart, "
        f"{overall['refused']:,} refused, {overall['unreadable']:,} unreadable"
    )
    parts = [counts, table.table([["all", *_figures(overall)]], head=_head("overall"))]
    for dimension in dict.fromkeys(g["dimension"] for g in record["by"]):
        groups = [g for g in record["by"] if g["dimension"] == dimension]
        rows = [[_short(g["value"], 72), *_figures(g)] for g in groups[:MOST_CLASSES]]
        parts.append(table.table(rows, head=_head(dimension)))
        if len(groups) > MOST_CLASSES:
            parts[-1] += f"\nand {len(groups) - MOST_CLASSES:,} smaller ones (--json has all)"
    refused: dict[str, int] = {}
    for row in record["rows"]:
        if row["reason"]:
            refused[row["reason"]] = refused.get(row["reason"], 0) + 1
    if refused:
        ordered = sorted(refused.items(), key=lambda kv: -kv[1])[:MOST_ROWS]
        rows = [[f"{n:,}", _short(reason, 110)] for reason, n in ordered]
        parts.append(table.table(rows, head=["rows", "no prediction: reason"]))
        if len(refused) > MOST_ROWS:
            parts[-1] += f"\nand {len(refused) - MOST_ROWS:,} other reasons"
    worst = [r for r in record["rows"] if r["predicted"] is not None and not r["apart"]]
    worst.sort(key=lambda r: -abs(r["predicted"] / r["measured"] - 1))
    if worst:
        rows = [
            [
                _short(r["id"], 40), r["kind"], f"{r['measured'] * 1e3:.4g}", f"{r['predicted'] * 1e3:.4g}",
                f"{(r['predicted'] / r['measured'] - 1) * 100:+.0f} %",
            ]
            for r in worst[:MOST_ROWS]
        ]  # fmt: skip
        parts.append(table.table(rows, head=["worst rows", "kind", "measured ms", "predicted ms", "error"]))
    return "\n\n".join(parts)


def _head(first: str) -> list[str]:
    return [first, "n", "median %", "p90 %", "bias %", "in band %"]


def _figures(group: dict[str, Any]) -> list[str]:
    def percent(value: float | None, sign: str = "") -> str:
        return "–" if value is None else f"{value * 100:{sign}.1f}"

    return [
        f"{group['n']:,}", percent(group["median_ape"]), percent(group["p90_ape"]), percent(group["bias"], "+"),
        percent(group["band_coverage"]),
    ]  # fmt: skip


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(validate)
