"""The Compare page's parts: which scenarios it shows, the pins' row, the table."""

import html
import math

import streamlit as st

from costmodel.compare import Comparison, Row, compare, one_against_many
from costmodel.curve import CostCurve
from costmodel.errors import InputError
from ui import frame, page_folds, pins, plot, priceline, share, state, states, tables, units, words_compare
from ui.charts import compare as charts

PARTS = ("They differ in", "What follows", "Too close to call: less than the band", "The same in all")


def compute() -> Comparison | None:
    """Return what the page compares; None where a sentence took its place.

    Pins beside each other; one pin against the scenario on screen; without pins batch 1 against the
    batch on screen.
    """
    pinned = pins.pins()
    try:
        if not pinned:
            one, many = one_against_many(state.current())
            return compare([one, many], ["batch 1", f"batch {units.count(many.batch)}"])
        scenarios, names = [p.scenario for p in pinned], [p.name for p in pinned]
        if len(pinned) == 1:
            scenarios.append(state.current())
            names.append("on screen")
        return compare(scenarios, names)
    except InputError as error:
        states.refuse(error)
        return None


def draw(found: Comparison, curve: CostCurve, *, question: str) -> None:
    """Draw pins, table and curves."""
    if not frame.bare():
        _pins()
    st.html(table(found))
    figure = charts.figure(found)
    if figure is not None:
        plot.draw(figure, key="compare")
    columns = rows_table(found)
    answer = words_compare.answer(found)
    share.offer(
        question=question, answer=answer, price=priceline.line(curve), curve=curve, columns=lambda: columns,
        name="compare", command="serve",
    )  # fmt: skip
    page_folds.draw(curve, columns, name="compare")


def _pins() -> None:
    """Draw the pins with their names, to use and to remove."""
    pinned = pins.pins()
    if not pinned:
        st.html('<p class="note">Pin up to four from any page.</p>')
        return
    for pin in pinned:
        field = f"cmp_name_{pin.key}"
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"cmp_{pin.key}"):
            st.html(f'<b class="pin-letter">{pin.letter}</b>', width="content")
            st.text_input(
                f"Name of pin {pin.letter}", value=pin.name, key=field, max_chars=pins.MOST_NAME,
                label_visibility="collapsed", on_change=pins.rename, args=(pin.key, field), width=360,
            )  # fmt: skip
            st.button("Use", key=f"cmp_use_{pin.key}", on_click=pins.use, args=(pin,), type="tertiary")
            st.button("Remove", key=f"cmp_drop_{pin.key}", on_click=pins.remove, args=(pin.key,), type="tertiary")
    if len(pinned) == 1:
        st.html('<p class="note">Beside it: the scenario on screen.</p>')


# The table --------------------------------------------------------------------------------------


def parts(found: Comparison) -> list[tuple[str, list[Row]]]:
    """Return the rows in groups: settings that differ, results that differ, ties, all others."""
    rows = found.rows
    groups = [
        [r for r in rows if r.differs and r.setup],
        [r for r in rows if r.differs and not r.setup and not r.tie],
        [r for r in rows if r.tie],
        [r for r in rows if not r.differs],
    ]
    return [(name, group) for name, group in zip(PARTS, groups, strict=True) if group]


def table(found: Comparison) -> str:
    """Return the table as HTML."""
    letters = [c.letter for c in found.columns]
    head = "".join(
        f'<th scope="col">{c.letter} · {html.escape(c.name)}</th>' for c in found.columns
    )
    top = f'<thead><tr><td></td>{head}</tr></thead>'
    body = same = ""
    for name, rows in parts(found):
        told = "".join(_row(r, letters) for r in rows)
        if name == PARTS[-1]:
            same = (
                f'<details class="cmpsame"><summary>{name}: {len(rows)} rows</summary>'
                f'<table class="cmp">{top}<tbody>{told}</tbody></table></details>'
            )
            continue
        body += f'<tr class="part"><th scope="colgroup" colspan="{len(letters) + 1}">{name}</th></tr>{told}'
    alt = html.escape(words_compare.alt(found))
    return (
        f'<div class="cmpbox" tabindex="0" role="region" aria-label="{alt}"><table class="cmp">'
        f"{top}<tbody>{body}</tbody></table>{same}</div>"
    )


def _row(row: Row, letters: list[str]) -> str:
    best = _best(row)
    cells = "".join(
        f'<td data-name="{letter}"{" class=best" if i == best else ""}>'
        f"{html.escape(words_compare.cell(row, value))}</td>"
        for i, (letter, value) in enumerate(zip(letters, row.values, strict=True))
    )
    kind = "tie" if row.tie else "" if row.differs else "same"
    return f'<tr class="{kind}"><td>{html.escape(row.label)}</td>{cells}</tr>'


def _best(row: Row) -> int | None:
    """Return which value is the best, where one is and the model can tell."""
    if row.lower_is_better is None or row.tie or not row.differs:
        return None
    known = [(v, i) for i, v in enumerate(row.values) if isinstance(v, float) and not math.isnan(v)]
    if len(known) < len(row.values):
        return None
    return (min if row.lower_is_better else max)(known)[1]


def rows_table(found: Comparison) -> list[tables.Column]:
    """Return the table as columns for a file."""
    rows = [r for _, group in parts(found) for r in group]
    return [
        tables.Column("", "row", [r.label for r in rows], str),
        *(
            tables.Column(
                c.letter, f"{c.letter} {c.name}", [words_compare.cell(r, r.values[i]) for r in rows], str
            )
            for i, c in enumerate(found.columns)
        ),
    ]
