"""Folds of a page whose figure isn't the cost curve: arithmetic, its rows, sources. Built when opened."""

import html
from collections.abc import Callable, Sequence

import streamlit as st

from costmodel.curve import CostCurve
from ui import folds, frame, tables


def draw(
    curve: CostCurve,
    columns: Sequence[tables.Column],
    *,
    name: str,
    arithmetic: Callable[[], Sequence[tuple[str, str, str]]] | None = None,
) -> None:
    """Draw the folds.

    Parameters
    ----------
    curve : CostCurve
        Of the scenario, for its sources.
    columns : sequence of Column
        The plotted rows; no data fold where there are none.
    name : str
        File name of the rows, and part of the folds' keys.
    arithmetic : callable, optional
        Returns lines of quantity, formula and result.
    """
    if frame.bare():
        return
    if arithmetic is not None:
        fold = st.expander("Show the arithmetic", key=f"fold_arithmetic_{name}", on_change="rerun")
        if fold.open:
            with fold:
                _arithmetic(arithmetic())
    if columns:
        fold = st.expander("Data table", key=f"fold_data_{name}", on_change="rerun")
        if fold.open:
            with fold:
                st.html(tables.to_html(columns, caption="The plotted rows"))
                st.download_button(
                    "Download CSV", data=lambda: tables.to_csv(columns), file_name=f"{name}.csv",
                    mime="text/csv", on_click="ignore", key=f"csv_{name}",
                )  # fmt: skip
    fold = st.expander("Sources, limits, error", key=f"fold_sources_{name}", on_change="rerun")
    if fold.open:
        with fold:
            folds.sources(curve)


def _arithmetic(lines: Sequence[tuple[str, str, str]]) -> None:
    last = len(lines) - 1
    rows = "".join(
        f'<span class="q{" last" if at == last else ""}">{html.escape(quantity)}</span>'
        f'<span class="how{" last" if at == last else ""}"><code>{html.escape(how)}</code></span>'
        f'<span class="r{" last" if at == last else ""}">= {html.escape(result)}</span>'
        for at, (quantity, how, result) in enumerate(lines)
    )
    st.html(f'<div class="arith">{rows}</div>')
