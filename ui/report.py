"""The report: one page of HTML that holds a question, its answer and all that the answer rests on.

It opens without a network and without this program: no script, nothing loaded from elsewhere, all text
escaped, every size bounded. Figures exist only in the browser, which puts them in the place of `FIGURES`
before it saves the file. No Streamlit in this file.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from costmodel import catalog, nearest, validate
from costmodel.case import Case
from costmodel.curve import CostCurve, Edge
from costmodel.explain import Line, explain
from costmodel.prices import Price
from ui import tables, units, words
from ui.charts.rail import CIRCLED
from ui.controls import CONTROLS, PAGE_ROW, Control, Value
from ui.facts import fact_name, fact_value

FIGURES = "<!-- figures -->"
"""Where the browser puts the figures, wide and narrow, as pictures in the address itself."""
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 300, 24, 2000
"""The most that a report prints of a table, and of one text."""
LIMITS = Path(__file__).parents[1] / "docs" / "limits.md"
HEADS = ("Edge", "Batch", "Cost there", "Speed there", "What it means")
STYLE = """
:root{color-scheme:light}
body{margin:0 auto;padding:1.5rem 1.25rem 3rem;max-width:62rem;background:#fff;color:#000;
font:1rem/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .5rem}
h2{font-size:1.125rem;margin:1.75rem 0 .5rem}
p{margin:.3rem 0}
.answer{font-size:1.25rem;line-height:1.4}
.small{font-size:.875rem;color:#333}
figure{margin:1rem 0 0}
figure img{display:block;width:100%;height:auto}
.narrow{display:none}
.wide-table{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.875rem}
th,td{text-align:left;vertical-align:top;padding:.25rem .9rem .25rem 0;border-top:1px solid #bbb;
overflow-wrap:break-word}
thead th{border-top:0;border-bottom:1px solid #000}
td.num,th.num{text-align:right;font-variant-numeric:tabular-nums}
td.num{white-space:nowrap}
td small{color:#333;display:block}
.default{color:#333}
code{font:.8125rem/1.4 ui-monospace,"SFMono-Regular",Menlo,Consolas,"Liberation Mono",monospace}
.sum td{border-top:1px solid #000;font-weight:700}
.data table{font-size:.75rem}
.data th,.data td{padding-right:.4rem;vertical-align:bottom}
a{color:#000}
@media screen and (max-width:600px){
figure .wide{display:none}
figure .narrow{display:block}
span.narrow{display:inline}
.arithmetic thead,.edges thead{display:none}
.arithmetic td,.edges td{display:block;border:0;padding:0;text-align:left}
.arithmetic td:first-child{font-weight:700}
.arithmetic tr,.edges tr{display:block;border-top:1px solid #bbb;padding:.35rem 0}
.data td,.data th{white-space:nowrap}
.edges td.num::before{content:attr(data-name) " "}
}
@page{size:A4;margin:14mm}
@media print{
body{padding:0;max-width:none;font-size:10pt}
h1{font-size:18pt}.answer{font-size:12pt}h2{font-size:12pt;break-after:avoid}
table,.small{font-size:8.5pt}code{font-size:8pt}.data table{font-size:7pt}
.wide-table{overflow:visible}
tr,figure{break-inside:avoid}
thead{display:table-header-group}
a{text-decoration:none}
}
"""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a report says; texts are plain, `**bold**` is the only markup of answer and price line."""

    question: str
    answer: str
    price: str = ""
    """The price line."""
    scenario: str
    """The scenario in one line."""
    basis: str
    """Where the price comes from, with its date."""
    values: Mapping[str, Value]
    """Of the controls, by key; what is missing stands at its default."""
    used: Mapping[str, str] = field(default_factory=dict)
    """What stands in for a control that was left empty, by key."""
    curve: CostCurve | None = None
    """Of the scenario, for sources and error; none where the setup can't be computed."""
    whole: bool = False
    """Whether the page is the curve's own: with its arithmetic and its edges."""
    columns: Sequence[tables.Column] = ()
    """The plotted rows."""
    address: str
    data_date: str
    version: str
    made_on: str


def to_html(report: Report) -> str:
    """Return the report as a document, with `FIGURES` where its figures go."""
    curve = report.curve
    parts = [
        f"<h1>{_text(report.question)}</h1>",
        f'<p class="answer">{_marked(report.answer)}</p>',
        f"<p>{_marked(report.price)}</p>" if report.price else "",
        f'<p class="small">{_text(report.scenario)}<br>{_text(report.basis)}</p>',
        FIGURES,
        _settings(report),
    ]
    if curve is not None and report.whole and curve.drawn:
        parts += [_arithmetic(curve), _edges(curve)]
    if report.columns:
        parts.append(_data(report.columns))
    if curve is not None:
        parts += [_sources(curve), _error(curve.case)]
    parts += [_limits(), _foot(report)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">"
        f"<title>{_text(report.question)}</title><style>{STYLE}</style></head><body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


# Texts ------------------------------------------------------------------------------------------


def _text(text: str) -> str:
    """Return a text of bounded length that can't become markup."""
    short = text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
    return html.escape(short)


def _marked(text: str) -> str:
    """Return a text with its `**bold**` parts."""
    return "".join(f"<b>{part}</b>" if at % 2 else part for at, part in enumerate(_text(text).split("**")))


def _link(text: str, address: str) -> str:
    if not address.startswith("https://"):
        return _text(text)
    return f'<a href="{_text(address)}" rel="noopener">{_text(text)}</a>'


def _table(head: Sequence[str], rows: Sequence[str], *, kind: str) -> str:
    """Return a table of ready rows that scrolls in its own box on a narrow screen."""
    names = "".join(head)
    return (
        f'<div class="wide-table {kind}"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _heads(*names: str, numbers: Sequence[str] = ()) -> list[str]:
    return [f'<th scope="col"{" class=num" if name in numbers else ""}>{_text(name)}</th>' for name in names]


# Scenario ---------------------------------------------------------------------------------------


def settings(values: Mapping[str, Value], used: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    """Return every control of the scenario and every changed one of the page: name, value, default or not.

    >>> settings({"b": 100}, {})[11]
    ('Batch', '100', False)
    """
    shown = [*CONTROLS, *(c for c in PAGE_ROW if values.get(c.key, c.default) != c.default)]
    return [
        (c.label, _value(c, values.get(c.key, c.default), used), values.get(c.key, c.default) == c.default)
        for c in shown
    ]


def _value(control: Control, value: Value, used: Mapping[str, str]) -> str:
    if value is None or value == "":
        return used.get(control.key, "none")
    if isinstance(value, str):
        return value
    return units.count(value) if float(value) == int(value) else units.plain(value)


def _settings(report: Report) -> str:
    rows = [
        f"<tr><td>{_text(name)}</td><td>{f'{_text(value)} ' if default else f'<b>{_text(value)}</b>'}"
        f"{'<span class=default>(default)</span>' if default else ''}</td></tr>"
        for name, value, default in settings(report.values, report.used)
    ]
    return f"<h2>Scenario</h2>{_table(_heads('Setting', 'Value'), rows, kind='settings')}"


# The curve's own --------------------------------------------------------------------------------


def _arithmetic(curve: CostCurve) -> str:
    lines = explain(curve.case, batch=curve.now_batch)
    rows = [_line(line, last=at == len(lines) - 1) for at, line in enumerate(lines)]
    head = _heads("Quantity", "Formula, in names and in numbers", "Result", numbers=("Result",))
    return f"<h2>The arithmetic</h2>{_table(head, rows, kind='arithmetic')}"


def _line(line: Line, *, last: bool) -> str:
    result = f"{units.usd(line.value)} per Mtok" if line.unit == "USD/Mtok" else line.result
    where = " · ".join(_link(source.text, source.link) for source in line.sources)
    return (
        f"<tr{' class=sum' if last else ''}><td>{_text(line.quantity)}</td>"
        f"<td>{_text(line.names)}<br><code>{_text(line.numbers)}</code><small>{where}</small></td>"
        f'<td class="num">= {_text(result)}</td></tr>'
    )


def _edges(curve: CostCurve) -> str:
    marked = sorted((e for e in curve.edges if curve.reaches(e)), key=lambda e: e.batch or 0.0)
    marks = {edge.key: CIRCLED[at] for at, edge in enumerate(marked)}  # a phone's figure has these only
    rows = [_edge(curve, edge, marks.get(edge.key, "")) for edge in curve.edges]
    head = _heads(*HEADS, numbers=HEADS[1:4])
    return f"<h2>Edges of the curve</h2>{_table(head, rows, kind='edges')}"


def _edge(curve: CostCurve, edge: Edge, mark: str) -> str:
    name = f"<td>{mark and f'<span class=narrow>{mark} </span>'}<b>{_text(edge.name)}</b></td>"
    formula = f"<small><code>{_text(edge.formula)}</code></small>"
    if edge.batch is None:
        return f'<tr>{name}<td colspan="4">{_text(words.sentence(edge.absent))}{formula}</td></tr>'
    beyond = bool(curve.wall) and edge.batch > curve.wall
    cost = "doesn’t fit" if beyond else units.usd(edge.usd_per_mtok) if curve.priced else units.MISSING
    speed = units.MISSING if beyond else units.speed(edge.tokens_per_s)
    return (
        f'<tr>{name}<td class="num" data-name="batch">{edge.batch:,.0f}</td>'
        f'<td class="num" data-name="cost">{cost}</td><td class="num" data-name="speed">{speed}</td>'
        f"<td>{_text(edge.meaning)}{formula}</td></tr>"
    )


# Rows, sources, error ---------------------------------------------------------------------------


def _data(columns: Sequence[tables.Column]) -> str:
    shown = columns[:MOST_COLUMNS]
    count = max(len(column.values) for column in shown)
    numbers = [c.title for c in shown if c.values and not isinstance(c.values[0], str)]
    rows = [f"<tr>{''.join(_cell(c, at, numbers) for c in shown)}</tr>" for at in range(min(count, MOST_ROWS))]
    head = _heads(*(c.title for c in shown), numbers=numbers)
    more = f'<p class="small">The first {MOST_ROWS} of {count:,} rows.</p>' if count > MOST_ROWS else ""
    return f"<h2>Data of the figure</h2>{_table(head, rows, kind='data')}{more}"


def _cell(column: tables.Column, at: int, numbers: Sequence[str]) -> str:
    kind = " class=num" if column.title in numbers else ""
    return f"<td{kind}>{_text(column.write(column.values[at]))}</td>"


def _sources(curve: CostCurve) -> str:
    case = curve.case
    card = case.accelerators[0]
    rows = [
        f"<tr><td>{_text(card.short)}, {_text(fact_name(name))}</td><td>{_text(fact_value(name, fact.value))}</td>"
        f"<td>{_link(f'{fact.checked}, read {fact.as_of}', fact.source)}</td></tr>"
        for name, fact in card.facts.items()
    ]
    rows.append(
        f"<tr><td>Model</td><td>{_text(case.model.short or case.model.id)}</td>"
        f"<td>{_link('config.json', case.model.source)}</td></tr>"
    )
    head = _heads("What", "Value", "Source")
    return f"<h2>Sources</h2>{_table(head, [*rows, *_prices(case)], kind='sources')}"


def _prices(case: Case) -> list[str]:
    scenario = case.scenario
    if scenario.price_usd_per_gpu_hour is not None:
        price = f"{units.usd(scenario.price_usd_per_gpu_hour)} per GPU-hour"
        return [f"<tr><td>Price</td><td>{price}</td><td>typed in, or kept by the link</td></tr>"]
    found: Price = catalog.price(case.accelerators[0].id, scenario.price_basis)
    if found.usd_per_gpu_hour is None:
        return [f"<tr><td>Price</td><td>none</td><td>{_text(words.sentence(found.reason))}</td></tr>"]
    price = f"{units.usd(found.usd_per_gpu_hour)} per GPU-hour"
    median = (
        f"<tr><td>Price, {_text(scenario.price_basis)}</td><td>{price}</td>"
        f"<td>median of {len(found.rows)} providers{', old' if found.old else ''}</td></tr>"
    )
    return [
        median,
        *(
            f"<tr><td>{_text(row.provider)}</td><td>{units.usd(row.usd_per_gpu_hour)}</td>"
            f"<td>{_link(f'read {row.date_text}', row.source)}</td></tr>"
            for row in found.rows[:MOST_ROWS]
        ),
    ]  # fmt: skip


def error(case: Case) -> str:
    """Return the band, the class of runs that it was measured on, and how many there are."""
    band, scenario = case.constants.band, case.scenario
    if scenario.profile == "ideal":
        return "The ideal profile is a bound, not a prediction: it has no band."
    if band is None:
        return "No measured run of this class is known, so no band is given."
    low, high = 1 - float(band[0]), float(band[1]) - 1
    near = nearest.nearest(
        validate.shipped(), engine=scenario.engine, accelerator=case.accelerators[0], model=case.model
    )
    return (
        f"80 % band: of measured runs of this class, four of five lie from {units.share(low)} below to "
        f"{units.share(high)} above. Nearest runs: {near.words}, n = {units.count(near.errors.n)} readings; "
        f"the model is off by {units.share(near.errors.median_ape)} in the middle."
    )


def _error(case: Case) -> str:
    basis = ", ".join(case.constants.basis) or "perfect engine: every peak is reached"
    return f"<h2>Error</h2><p>{_text(error(case))}</p><p>Constants: {_text(basis)}.</p>"


@cache
def _limits() -> str:
    """Return docs/limits.md as paragraphs and a list."""
    found = ["<h2>What the figures leave out</h2>"]
    for block in LIMITS.read_text(encoding="utf-8").split("\n\n")[1:]:
        if block.startswith("- "):
            items = (" ".join(item.split()) for item in block.removeprefix("- ").split("\n- "))
            found.append(f"<ul>{''.join(f'<li>{_marked(item)}</li>' for item in items)}</ul>")
        else:
            found.append(f"<p>{_marked(' '.join(block.split()))}</p>")
    return "".join(found)


def _foot(report: Report) -> str:
    web = report.address.startswith(("https://", "http://"))
    shown = html.escape(report.address)  # whole: a shortened address would lead elsewhere
    link = f'<a href="{shown}" rel="noopener">{shown}</a>' if web else shown
    return (
        f'<h2>Address</h2><p class="small">{link}</p><p class="small">Data of {_text(report.data_date)} · '
        f"version {_text(report.version)} · made on {_text(report.made_on)}</p>"
    )
