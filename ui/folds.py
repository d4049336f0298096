"""The folds under a figure: arithmetic, serving command, data, sources. Each is built when opened."""

import html
from functools import cache
from pathlib import Path

import streamlit as st

from costmodel import catalog
from costmodel.curve import CostCurve
from costmodel.explain import Line, Source, explain, python_of
from ui import commands, plot, tables, units, words
from ui.blocks import memory_bar, takeaway
from ui.charts import tabs
from ui.facts import fact_name, fact_value

LIMITS = Path(__file__).parents[1] / "docs" / "limits.md"


def draw(curve: CostCurve) -> None:
    """Draw the folds of the cost curve."""
    for title, key, body in (
        ("Show the arithmetic", "fold_arithmetic", arithmetic),
        ("Serve it", "fold_serve", serve_it),
        ("Data table", "fold_data", data),
        ("Sources, limits, error", "fold_sources", sources),
    ):
        fold = st.expander(title, key=key, on_change="rerun")
        if fold.open:
            with fold:
                body(curve)


def details(curve: CostCurve, now: dict[str, str]) -> None:
    """Draw the tabs under the figure; only the open one is built."""
    names = ["Memory", "Step in ms", *(["Experts"] if curve.case.plan.routed else [])]
    found = st.tabs(names, key="detail", on_change="rerun")
    with found[0]:
        if found[0].open:
            memory_bar(curve, now)
    with found[1]:
        if found[1].open:
            plot.draw(tabs.step(curve), key="step")
            takeaway(now)
    if len(found) > 2:
        with found[2]:
            if found[2].open:
                plot.draw(tabs.experts(curve), key="experts")


# Arithmetic -------------------------------------------------------------------------------------


def arithmetic(curve: CostCurve) -> None:
    """Draw the arithmetic of the cost at the batch of the page."""
    lines = explain(curve.case, batch=curve.now_batch)
    last = len(lines) - 1
    rows = "".join(_row(line, last=at == last) for at, line in enumerate(lines))
    st.html(f'<div class="arith">{rows}</div>')
    with st.popover("Copy as Python"):
        st.code(python_of(lines), language=None)


def _row(line: Line, *, last: bool) -> str:
    mark = " last" if last else ""
    where = " · ".join(_link(source) for source in line.sources)
    value = units.usd(line.value) + " per Mtok" if line.unit == "USD/Mtok" else line.result
    return (
        f'<span class="q{mark}">{html.escape(line.quantity)}</span>'
        f'<span class="how{mark}"><span class="names">{html.escape(line.names)}</span>'
        f"<code>{html.escape(line.numbers)}</code> "
        f'<span class="src">{where}</span></span>'
        f'<span class="r{mark}">= {html.escape(value)}</span>'
    )


def _link(source: Source) -> str:
    text = html.escape(source.text)
    if not source.link.startswith("https://"):
        return f"[{text}]"
    return f'<a href="{html.escape(source.link)}" target="_blank" rel="noopener">[{text}]</a>'


# Serve it ---------------------------------------------------------------------------------------


def serve_it(curve: CostCurve) -> None:
    """Draw the commands of four engines."""
    st.html(f'<p class="notes">{html.escape(commands.why(curve))}</p>')
    for command in commands.commands(curve):
        st.html(f'<p class="notes"><b>{command.engine}</b> {html.escape(command.note)}</p>')
        st.code(command.text, language=None, wrap_lines=True)


# Data -------------------------------------------------------------------------------------------


def data(curve: CostCurve) -> None:
    """Draw the plotted rows, and offer them as a file that is made when it is asked for."""
    columns = tables.plotted(curve)
    st.html(tables.to_html(columns, caption="The plotted rows"))
    st.download_button(
        "Download CSV", data=lambda: tables.to_csv(columns), file_name="cost-curve.csv", mime="text/csv",
        on_click="ignore", key="csv",
    )  # fmt: skip


# Sources ----------------------------------------------------------------------------------------


@cache
def _limits() -> str:
    """Return docs/limits.md without its title."""
    return LIMITS.read_text(encoding="utf-8").split("\n", 1)[1].strip()


def sources(curve: CostCurve) -> None:
    """Draw where every number is from, how wide the error is, and what is left out."""
    case = curve.case
    card = case.accelerators[0]
    facts = "".join(
        f"<tr><td>{html.escape(fact_name(name))}</td><td>{html.escape(fact_value(name, fact.value))}</td>"
        f"<td>{_link(Source(f'read {fact.as_of}, {fact.checked}', fact.source))}</td></tr>"
        for name, fact in card.facts.items()
    )
    model = _link(Source(case.model.id, case.model.source))
    basis = ", ".join(case.constants.basis) or "perfect engine: every peak is reached"
    st.html(
        f'<p class="notes">Model: {model}. Constants: {html.escape(basis)}. {html.escape(words.error(curve))}</p>'
        f'<div class="rows" tabindex="0" role="region" aria-label="Facts of the accelerator"><table><thead><tr>'
        f'<th scope="col">{html.escape(card.short)}</th><th scope="col">value</th><th scope="col">source</th></tr>'
        f"</thead><tbody>{facts}</tbody></table></div>"
    )
    st.html(_prices(curve))
    st.markdown(_limits())


def _prices(curve: CostCurve) -> str:
    case, scenario = curve.case, curve.case.scenario
    if scenario.price_usd_per_gpu_hour is not None:
        return f'<p class="notes">Price: {units.usd(scenario.price_usd_per_gpu_hour)} per GPU-hour, typed in.</p>'
    price = catalog.price(case.accelerators[0].id, scenario.price_basis)
    if price.usd_per_gpu_hour is None:
        return f'<p class="notes">{html.escape(words.sentence(price.reason))}</p>'
    rows = "".join(
        f"<tr><td>{html.escape(row.provider)}</td><td>{units.usd(row.usd_per_gpu_hour)}</td>"
        f"<td>{_link(Source(row.date_text, row.source))}</td></tr>"
        for row in price.rows
    )
    old = " Old price: its newest row is more than 90 days old." if price.old else ""
    return (
        f'<p class="notes">Price, {scenario.price_basis}: {units.usd(price.usd_per_gpu_hour)} per GPU-hour, '
        f"the median of {len(price.rows)} providers.{old}</p>"
        f'<div class="rows" tabindex="0" role="region" aria-label="Price rows"><table><thead><tr>'
        f'<th scope="col">provider</th><th scope="col">USD/h</th><th scope="col">read</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
