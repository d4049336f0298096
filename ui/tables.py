"""Tables as HTML and as CSV: the rows behind a figure, for those who can't or won't read it."""

import csv
import html
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costmodel.curve import CostCurve
from ui import units, words


@dataclass(frozen=True)
class Column:
    """One column: what it is called on the page and in the file, its values, how a page writes them."""

    title: str
    name: str
    values: Sequence[Any]
    write: Callable[[Any], str]


def plotted(curve: CostCurve) -> list[Column]:
    """Return the rows of the cost curve at the stops of its slider that fit."""
    rows = [row for row in words.rows_of(curve, curve.ticks) if not row.past_wall]
    batch = np.asarray([float(row.batch) for row in rows])
    perfect = np.exp(np.interp(np.log(batch), np.log(curve.line.batch), np.log(curve.ideal_usd_per_mtok)))
    columns = [Column("Batch", "batch", batch.tolist(), units.count)]
    if curve.priced:
        columns += [
            Column(curve.cost.capitalize(), "usd_per_mtok", [r.usd for r in rows], units.usd),
            Column("Perfect engine", "usd_per_mtok_perfect", perfect.tolist(), units.usd),
            Column("One more", "usd_per_mtok_marginal", [r.marginal_usd for r in rows], units.usd),
        ]
        if rows and rows[0].low is not None:
            columns += [
                Column("Low", "usd_per_mtok_low", [r.low or 0.0 for r in rows], units.usd),
                Column("High", "usd_per_mtok_high", [r.high or 0.0 for r in rows], units.usd),
            ]
    columns += [
        Column("Between tokens", "s_between_tokens", [r.tpot_s for r in rows], units.duration),
        Column("Each user", "tokens_per_s", [units.tokens_per_s(r.tpot_s) for r in rows], units.speed),
    ]
    columns += [
        Column(_upper(words.PART_NAMES[part]), f"share_{part}", [r.shares[part] for r in rows], units.share)
        for part in reversed(words.parts_of(curve))
    ]
    return columns


def _upper(text: str) -> str:
    """Return a text with its first letter raised; "KV" and "GPUs" stay."""
    return text[:1].upper() + text[1:]


def to_html(columns: Sequence[Column], *, caption: str) -> str:
    """Return a table that scrolls in its own box."""
    head = "".join(f'<th scope="col">{html.escape(c.title)}</th>' for c in columns)
    rows = zip(*([c.write(v) for v in c.values] for c in columns), strict=True)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="rows" tabindex="0" role="region" aria-label="{html.escape(caption)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def to_csv(columns: Sequence[Column]) -> str:
    """Return the rows with full digits, units in the names.

    >>> to_csv([Column("Batch", "batch", [1.0, 2.0], str)]).splitlines()
    ['batch', '1.0', '2.0']
    """
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([c.name for c in columns])
    writer.writerows(zip(*(c.values for c in columns), strict=True))
    return target.getvalue()


def from_csv(text: str) -> list[Column]:
    r"""Return the columns of a file as it is written.

    >>> [(c.title, c.values) for c in from_csv("a,b\n1,x\n")]
    [('a', ['1']), ('b', ['x'])]
    """
    head, *rows = csv.reader(io.StringIO(text))
    return [Column(name, name, [row[at] for row in rows], str) for at, name in enumerate(head)]
