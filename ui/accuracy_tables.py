"""The tables of "Accuracy and sources": HTML for the page, text for a file."""

import html
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from costmodel.validate import Errors, Report, Row
from ui import units
from ui import words_accuracy as words

MOST_WORST = 60
HEAD = ("n", "median", "9 in 10 within", "bias", "in 80 % band")
METER_FULL = 0.5
"""Median error at which the bar beside it is full."""


def link(source: str, text: str) -> str:
    """Return a link where a source is one, otherwise its words."""
    if not source.startswith("https://"):
        return html.escape(source or text)
    return f'<a href="{html.escape(source)}" target="_blank" rel="noopener">{html.escape(text)}</a>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, texts: Sequence[int] = (0,)) -> str:
    """Return a table that scrolls in its own box, on a phone a list of cards.

    Cells are HTML; columns of `texts` stand left, the others name themselves on a card.
    """

    def cls(at: int) -> str:
        return ' class="t"' if at in texts else ""

    def name(at: int) -> str:
        return cls(at) or f' data-name="{html.escape(head[at])}"'

    top = "".join(f'<th scope="col"{cls(i)}>{html.escape(h)}</th>' for i, h in enumerate(head))
    body = "".join(
        f"<tr>{''.join(f'<td{name(i)}>{cell}</td>' for i, cell in enumerate(row))}</tr>" for row in rows
    )
    label = f'role="region" aria-label="{html.escape(caption)}"'
    return (
        f'<div class="cards"><div class="rows" tabindex="0" {label}><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def figures(found: Errors) -> list[str]:
    """Return the cells under `HEAD`."""
    sign = "−" if found.bias < 0 else "+"
    bias = f"{sign}{units.share(abs(found.bias))}" if np.isfinite(found.bias) else units.MISSING
    return [
        units.count(found.n), units.share(found.median_ape), units.share(found.p90_ape), bias,
        units.share(found.band_coverage),
    ]  # fmt: skip


@lru_cache(maxsize=32)
def class_table(found: Report, dimension: str) -> str:
    """Return the errors of a dimension's classes."""
    groups = found.by(dimension)
    rows = []
    for group in groups:
        value = words.name(group.value) if dimension == "kind" else group.value
        wide = f"{units.PERCENT * min(group.errors.median_ape / METER_FULL, 1.0):.0f}%"
        cells = figures(group.errors)
        cells[1] = f'<span class="meter" aria-hidden="true"><i style="width:{wide}"></i></span>{cells[1]}'
        rows.append([html.escape(value), *cells])
    if dimension != "apart":
        rows.append([f"<b>{cell}</b>" for cell in ("all", *figures(found.overall))])
    return table((words.DIMENSION_NAMES[dimension], *HEAD), rows, caption="Errors by class")


@lru_cache(maxsize=2)
def worst_table(found: Report) -> str:
    """Return the worst rows with their sources."""
    at = np.flatnonzero(found.counted)
    size = np.abs(np.log(found.predicted_s[at] / found.measured_s[at]))
    rows = [_worst_row(found.rows[i]) for i in at[np.argsort(-size)][:MOST_WORST]]
    head = ("row", "measured quantity", "setup", "measured", "predicted", "error")
    return table(head, rows, caption="Worst rows", texts=(0, 1, 2))


def _worst_row(row: Row) -> list[str]:
    run = row.run
    if run is None:
        return []
    batch = f"batch {run.batch:g}" if run.batch else f"{run.concurrency:g} at once" if run.concurrency else ""
    setup = f"{run.model}, {run.gpus} × {run.hardware}, {run.engine} {run.weights or ''}, {batch}"
    return [
        link(run.source, row.id), html.escape(words.name(row.kind or "")), html.escape(setup.strip(", ")),
        units.duration(row.measured_s), units.duration(row.predicted_s),
        html.escape(words.miss(row.predicted_s, row.measured_s)),
    ]  # fmt: skip


@lru_cache(maxsize=2)
def data_table(found: Report) -> str:
    """Return every plotted row."""
    rows = [
        [
            html.escape(r.id), html.escape(r.kind or ""),
            units.duration(r.measured_s), units.duration(r.predicted_s),
            f"{units.duration(r.low_s)} to {units.duration(r.high_s)}",
            html.escape(words.miss(r.predicted_s, r.measured_s)),
        ]
        for i in np.flatnonzero(found.counted)
        for r in (found.rows[i],)
    ]  # fmt: skip
    head = ("row", "kind", "measured", "predicted", "80 % band", "error")
    return table(head, rows, caption="The plotted rows", texts=(0, 1))


@lru_cache(maxsize=2)
def csv(found: Report) -> str:
    """Return every row as a file: those reported apart and those refused, too."""
    lines = ["id,kind,measured_s,predicted_s,low_s,high_s,apart,reason"]
    for r in found.rows:
        numbers = ("" if np.isnan(v) else f"{v:.6g}" for v in (r.measured_s, r.predicted_s, r.low_s, r.high_s))
        texts = ('"' + t.replace('"', "'") + '"' if "," in t else t for t in (r.apart, r.reason))
        lines.append(",".join([r.id, r.kind or "", *numbers, *texts]))
    return "\n".join(lines) + "\n"
