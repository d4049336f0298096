"""What the page "Accuracy and sources" shows: figure, tables behind tabs, folds."""

import html
from datetime import date
from functools import lru_cache
from typing import Any

import streamlit as st

from costmodel import catalog, nearest, peers, sources, validate
from costmodel.curve import CostCurve
from costmodel.dimensions import DIMENSIONS
from costmodel.nearest import Nearest
from costmodel.peers import PEER
from costmodel.validate import Report
from ui import accuracy_tables as tables
from ui import facts, folds, plot, units
from ui import words_accuracy as words
from ui.blocks import notes
from ui.charts import accuracy as chart

MOST_SOURCES = 120
PICKED = "_accuracy_row"
"""Session key of the row that was clicked."""


def report() -> Report:
    """Return the shipped runs with their predictions, computed once per process."""
    return validate.shipped()


def near(found: Report, curve: CostCurve | None) -> Nearest | None:
    """Return the runs nearest to the scenario; None where the scenario can't be computed."""
    if curve is None:
        return None
    case = curve.case
    return nearest.nearest(
        found, engine=case.scenario.engine, accelerator=case.accelerators[0], model=case.model
    )


# The figure -------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _figure(found: Report, own: tuple[int, ...]) -> plot.Figure:
    return chart.figure(found, own, words.alt(found))


def draw_figure(found: Report, own: Nearest | None) -> None:
    """Draw the scatter with the kinds beside it, and the row that was clicked."""
    left, right = st.columns([13, 8], gap="small")
    with left:
        plot.draw(_figure(found, own.at if own else ()), key="accuracy", on_pick=lambda code: _pick(found, code))
        _clicked(found)
    with right:
        _beside(found)


def _pick(found: Report, code: Any) -> None:
    if isinstance(code, int | float) and 0 <= code < len(found.rows):
        st.session_state[PICKED] = int(code)


def _clicked(found: Report) -> None:
    at = st.session_state.get(PICKED)
    if at is None or at >= len(found.rows):
        return
    row = found.rows[at]
    if row.run is None:
        return
    run = row.run
    what = f"{run.model} on {run.gpus} × {run.hardware}, {run.engine}, {words.name(row.kind or '')}"
    figures = f"measured {units.duration(row.measured_s)}, predicted {units.duration(row.predicted_s)}"
    st.html(
        f'<p class="notes"><b>{html.escape(row.id)}</b> {html.escape(what)}: {html.escape(figures)}, '
        f"{html.escape(words.miss(row.predicted_s, row.measured_s))}. {tables.link(run.source, 'source')}</p>"
    )


# Tables -----------------------------------------------------------------------------------------


def _beside(found: Report) -> None:
    """Draw the errors by kind beside the other tool's on identical rows."""
    compared = compare(found)
    rows = [
        [
            html.escape(words.name(c.kind)), units.count(c.ours.n),
            f"<b>{units.share(c.ours.median_ape)}</b> / {units.share(c.ours.p90_ape)}",
            f"{units.share(c.peer.median_ape)} / {units.share(c.peer.p90_ape)}",
        ]
        for c in compared
        if c.ours.n
    ]  # fmt: skip
    head = ("median / 9 in 10", "rows", "here", "aiconfigurator")
    st.html(
        f'<p class="notes"><b>Beside {PEER}, on identical rows</b></p>'
        f'<div class="whole">{tables.table(head, rows, caption=f"Errors beside {PEER}")}</div>'
    )
    notes([words.peer(compared)])


@lru_cache(maxsize=2)
def compare(found: Report) -> tuple[peers.Compared, ...]:
    """Return our errors beside the other tool's."""
    return peers.compare(found)


def draw_tabs(found: Report) -> None:
    """Draw the three tabs; only the open one is built."""
    every = st.tabs(["Errors by class", "Worst rows", "Sources"], key="ac_tab", on_change="rerun")
    for tab, body in zip(every, (_classes, _worst, _sources), strict=True):
        if tab.open:
            with tab:
                body(found)


def _classes(found: Report) -> None:
    choices = (*DIMENSIONS, "apart")
    chosen = st.selectbox(
        "Classes by", choices, format_func=lambda d: words.DIMENSION_NAMES[d], key="ac_dim", width=260
    )
    st.html(tables.class_table(found, chosen))
    if chosen == "apart":
        notes([
            "Rows flagged by their own notes, and implementations that their makers replaced: predicted, "
            "shown here, and kept out of every other figure."
        ])  # fmt: skip
        rows = [[units.count(n), html.escape(reason)] for reason, n in list(found.refusals.items())[:30]]
        if rows:
            st.html('<p class="notes"><b>Without a prediction</b></p>')
            st.html(tables.table(("rows", "reason"), rows, caption="Rows without a prediction", texts=(1,)))


def _worst(found: Report) -> None:
    notes([f"The {tables.MOST_WORST} readings that are missed by the largest factor, worst first."])
    st.html(tables.worst_table(found))


# Sources ----------------------------------------------------------------------------------------


def _sources(_: Report) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input("Search", key="ac_q", placeholder="h100 bandwidth, llama, vllm …", width=320)
        kind = st.selectbox("Of", ("everything", *sources.KINDS), key="ac_kind", width=180)
        old = st.toggle("Old only", key="ac_old", help="Prices read more than 90 days ago, or on no known day.")
    wanted = "" if kind == "everything" else kind
    found = sources.search((typed or "")[:200], today=date.today(), kind=wanted, old_only=old)
    shown = found[:MOST_SOURCES]
    count = f"{units.count(len(found))} figures" if len(found) != 1 else "1 figure"
    more = f", the first {MOST_SOURCES} shown" if len(found) > MOST_SOURCES else ""
    notes([f"{count}{more}."])
    if shown:
        head = ("about", "what", "figure", "read", "source")
        st.html(tables.table(head, [_source_row(r) for r in shown], caption="Sources", texts=(0, 1, 4)))


def _source_row(row: sources.SourceRow) -> list[str]:
    read = row.read_on.isoformat() if row.read_on else row.note[:30] if row.kind == "measured runs" else "–"
    flag = ' <span class="old">old</span>' if row.old else ""
    short = row.source.removeprefix("https://")
    what = facts.fact_name(row.what) if row.kind == "accelerator" else row.what
    return [
        html.escape(row.name), html.escape(what), html.escape(_value(row)), f"{html.escape(read)}{flag}",
        tables.link(row.source, short[:60] + ("…" if len(short) > 60 else "")),
    ]  # fmt: skip


def _value(row: sources.SourceRow) -> str:
    if row.value is None:
        return ""
    if row.unit.startswith("USD"):
        return f"{units.usd(row.value)}{row.unit.removeprefix('USD')}"
    if row.kind == "accelerator":
        return facts.fact_value(row.what, row.value)
    return units.count(row.value)


# Folds ------------------------------------------------------------------------------------------


def draw_folds(found: Report, curve: CostCurve | None) -> None:
    """Draw the folds; each is built when it is opened."""
    every = [
        ("Show the arithmetic", "arithmetic", lambda: _arithmetic(found)),
        ("Data table", "data", lambda: _data(found)),
    ]
    if curve is not None:
        every.append(("Sources, limits, error", "sources", lambda: folds.sources(curve)))
    for title, key, body in every:
        fold = st.expander(title, key=f"ac_fold_{key}", on_change="rerun")
        if fold.open:
            with fold:
                body()


def _arithmetic(found: Report) -> None:
    overall = found.overall
    lines = (
        ("Error of a row", "predicted / measured − 1", "both in seconds", ""),
        ("Median error", "middle of the errors’ sizes", f"{units.count(overall.n)} rows",
         units.share(overall.median_ape, decimals=1)),
        ("Nine in ten", "90 % quantile of the errors’ sizes", "same rows",
         units.share(overall.p90_ape, decimals=1)),
        ("Bias", "middle of the signed errors", "same rows", units.share(overall.bias, decimals=1)),
        ("In band", "share of rows with low ≤ measured ≤ high", "80 % band of each row’s class",
         units.share(overall.band_coverage, decimals=1)),
    )  # fmt: skip
    rows = "".join(
        f'<span class="q">{html.escape(q)}</span><span class="how"><span class="names">{html.escape(names)}</span>'
        f"<code>{html.escape(numbers)}</code></span><span class=\"r\">{html.escape(result)}</span>"
        for q, names, numbers, result in lines
    )
    st.html(f'<div class="arith">{rows}</div>')
    stamp = catalog.calibration().get("as_of")
    notes([f"Constants of {stamp}. The same figures: python -m costmodel validate"] if stamp else [])


def _data(found: Report) -> None:
    st.html(tables.data_table(found))
    st.download_button(
        "Download CSV", data=lambda: tables.csv(found), file_name="accuracy.csv", mime="text/csv",
        on_click="ignore", key="ac_csv",
    )  # fmt: skip
