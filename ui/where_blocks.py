"""Blocks of "Where to run": the table of places, those that aren't ranked, folds."""

import html
from collections import defaultdict

import streamlit as st

from costmodel import where
from costmodel.curve import cost_curve
from costmodel.energy import MARK
from costmodel.errors import InputError
from costmodel.picks import scenario_of
from costmodel.scenario import Scenario
from costmodel.sweep import NO_PRICE, REASONS
from costmodel.where import KINDS, Missing, Place, Ranking
from ui import folds, frontier_blocks, frontier_row, state, states, tables, units, words_where
from ui.charts.where import BASES
from ui.frontier_view import Asked, fields_of, resolve_name
from ui.tables import Column

HEADS = ("Place", "Priced", "All-in", "80 % band", "Each user", "First token", "Memory", "Bandwidth",
         "Arithmetic", "J/token*", "Beaten above")  # fmt: skip


def ranked(scenario: Scenario) -> Ranking | None:
    """Return the ranking of the scenario on screen; None where a sentence took its place."""
    shown = str(state.value("wr_k"))
    kinds = KINDS if shown == "all" else (shown,)
    try:
        return where.ranking(scenario.but(batch=64), kinds, frontier_row.four_bits())
    except InputError as error:
        states.refuse(error)
        return None


def ordered(ranking: Ranking) -> tuple[Place, ...]:
    """Return the places in the order asked for."""
    return where.ordered(ranking.places, str(state.value("wr_o")))


def current(scenario: Scenario) -> str:
    """Return the id of the scenario's accelerator."""
    return resolve_name(scenario)


def command(scenario: Scenario) -> str:
    """Return the command that prints the ranking's cheapest accelerators."""
    return frontier_blocks.command(scenario, Asked(four_bits=frontier_row.four_bits()))


def stamp(ranking: Ranking) -> str:
    """Return what tells one drawing from another, for tests."""
    first = ranking.places[0] if ranking.places else None
    return f"{len(ranking.places)}:{words_where.name(first) if first else 'nothing'}"


def own_place(ranking: Ranking, scenario: Scenario) -> Place | None:
    """Return the place of the scenario's own accelerator."""
    name = current(scenario)
    return next((p for p in ranking.own if p.accelerator is not None and p.accelerator.id == name), None)


def go_to(places: tuple[Place, ...], scenario: Scenario, row: object) -> None:
    """Make the clicked place the scenario's setup; in callbacks."""
    if isinstance(row, int | float) and 0 <= int(row) < len(places):
        chosen = places[int(row)].pick
        if chosen is not None:
            state.apply(fields_of(scenario, chosen))


def note(shown: tuple[Place, ...], drawn: int) -> None:
    """Draw what the bars and whiskers are."""
    said = [
        "Each accelerator at its best setup within your limits; click it to take that setup. Whiskers: 80 % band. "
        "Bars: share of memory, bandwidth and arithmetic in use, answers and prompts together."
    ]
    if len(shown) > drawn:
        said.append(f"In the table: {len(shown) - drawn} more.")
    st.html(f'<p class="notes">{html.escape(" ".join(said))}</p>')


def table(ranking: Ranking, shown: tuple[Place, ...]) -> None:
    """Draw every place with its figures; on a phone as cards."""
    head = "".join(
        f'<th scope="col" class="{"l" if at < 2 else ""}">{html.escape(name)}</th>'
        for at, name in enumerate(HEADS)
    )
    rows = "".join(_row(ranking, place) for place in shown)
    st.html(
        f'<div style="overflow-x:auto"><table class="speeds wide"><thead><tr>{head}</tr></thead>'
        f'<tbody>{rows}</tbody></table></div><p class="notes">* {html.escape(MARK)}. '
        f"Beaten above: the busy share from which the cheapest own setup costs less than that API.</p>"
    )


def _row(ranking: Ranking, found: Place) -> str:
    if found.offer is not None:
        return _api_row(ranking, found)
    p, used = found.pick, found.used
    if p is None or used is None:
        return ""
    cells = (
        f"{html.escape(words_where.name(found))}, {p.setup.weights or 'as published'} / {p.setup.kv}, "
        f"batch {units.count(p.batch)}",
        f"{BASES.get(found.basis, found.basis)} {units.usd(p.usd_per_gpu_hour)}/h",
        units.usd(found.usd_per_mtok),
        units.usd_range(found.low, found.high),
        units.speed(p.tokens_per_s),
        units.duration(p.ttft_s),
        units.share(used.memory),
        units.share(used.bandwidth),
        units.share(used.arithmetic),
        units.count(found.joules_per_token, decimals=2),
        "",
    )
    return _cells(cells)


def _api_row(ranking: Ranking, found: Place) -> str:
    if found.offer is None:
        return ""
    row = found.offer.price
    reused = row.usd_per_mtok_cached_input
    cached = "" if reused is None else f", cached {units.usd(reused)}"
    link = row.source.split(" ", maxsplit=1)[0]
    read = html.escape(row.date_text.split(" ", maxsplit=1)[0])
    dated = (
        f'<a href="{html.escape(link)}" target="_blank" rel="noopener">{read}</a>'
        if link.startswith("https://") else read
    )  # fmt: skip
    share = ranking.break_even(ranking.own[0], found.usd_per_mtok) if ranking.own else None
    beat = "" if not ranking.own else "never" if share is None else f"{units.share(share)} busy"
    prices = f"in {units.usd(row.usd_per_mtok_input)}{cached}, out {units.usd(row.usd_per_mtok_output)}"
    cells = (
        f"{html.escape(found.name)} (API)", f"{html.escape(prices)}, read {dated}",
        units.usd(found.usd_per_mtok), "", "", "", "", "", "", "", beat,
    )  # fmt: skip
    return _cells(cells)


def _cells(cells: tuple[str, ...]) -> str:
    body = "".join(
        f'<td class="{"l" if at < 2 else ""}" data-name="{HEADS[at].lower() if at else ""}">{cell}</td>'
        for at, cell in enumerate(cells)
        if cell or at
    )
    return f"<tr>{body}</tr>"


def missing(ranking: Ranking) -> None:
    """Draw the accelerators that aren't ranked, by reason, each with what would change it."""
    groups: dict[tuple[str, str], list[Missing]] = defaultdict(list)
    for found in ranking.missing:
        priced = found.kind if found.reason in (words_where.MISSES, REASONS[NO_PRICE]) else ""
        groups[found.reason, priced].append(found)
    if not groups:
        return
    ranked_ids = {p.accelerator.id for p in ranking.places if p.accelerator is not None}
    count = len({m.accelerator.id for m in ranking.missing} - ranked_ids)
    title = f"{count} accelerators aren’t ranked: limits, memory or price"
    fold = st.expander(title, key="wr_missing", on_change="rerun")
    if not fold.open:
        return
    with fold:
        for reason, kind in sorted(groups, key=lambda key: key[0] != words_where.MISSES):
            _group(f"{reason} ({kind})" if kind else reason, groups[reason, kind])


def _group(reason: str, every: list[Missing]) -> None:
    found = list({m.accelerator.id: m for m in every}.values())
    head = f"<b>{html.escape(reason[:1].upper() + reason[1:])}</b>"
    if all(words_where.missing(m) == words_where.missing(found[0]) for m in found):
        names = ", ".join(m.accelerator.short for m in found)
        st.html(f'<p class="notes">{head}: {html.escape(names)}.</p>')
        return
    items = "".join(
        f"<li><b>{html.escape(m.accelerator.short)}</b> {html.escape(words_where.missing(m))}</li>" for m in found
    )
    st.html(f'<p class="notes">{head}</p><ul class="notes">{items}</ul>')


def draw_folds(ranking: Ranking, shown: tuple[Place, ...], scenario: Scenario) -> None:
    """Draw the folds; each is built when opened."""
    first = ranking.own[0].pick if ranking.own else None
    names = ["Show the arithmetic", "Serve it", "Data table", "Sources, limits, error"]
    for title in names if first is not None else names[2:3]:
        fold = st.expander(title, key=f"wr_{title.split()[0].lower()}", on_change="rerun")
        if not fold.open:
            continue
        with fold:
            if title == "Data table":
                _data(shown)
            elif first is not None:
                curve = cost_curve(scenario_of(scenario.but(price_basis=ranking.own[0].basis), first))
                bodies = {names[0]: folds.arithmetic, names[1]: folds.serve_it, names[3]: folds.sources}
                bodies[title](curve)


def _data(shown: tuple[Place, ...]) -> None:
    st.html(tables.to_html(columns(shown), caption="The ranked places"))
    st.download_button(
        "Download CSV", data=lambda: csv(shown), file_name="where-to-run.csv", mime="text/csv", on_click="ignore",
        key="wr_csv",
    )  # fmt: skip


def columns(shown: tuple[Place, ...]) -> list[Column]:
    """Return the places as columns."""

    def named(title: str, key: str, values: list[str]) -> Column:
        return Column(title, key, values, str)  # type: ignore[arg-type]

    def share(key: str) -> list[float]:
        return [float("nan") if p.used is None else float(getattr(p.used, key)) for p in shown]

    return [
        named("Place", "place", [words_where.name(p) for p in shown]),
        named("Kind", "kind", [p.kind for p in shown]),
        named("Basis", "price_basis", [p.basis for p in shown]),
        Column("All-in", "usd_per_mtok", [p.usd_per_mtok for p in shown], units.usd),
        Column("Low", "usd_per_mtok_low", [p.low for p in shown], units.usd),
        Column("High", "usd_per_mtok_high", [p.high for p in shown], units.usd),
        Column("Batch", "batch", [p.pick.batch if p.pick else float("nan") for p in shown], units.count),
        Column("Each user", "tokens_per_s", [p.pick.tokens_per_s if p.pick else float("nan") for p in shown],
               units.speed),
        Column("Memory", "memory_used", share("memory"), units.share),
        Column("Bandwidth", "bandwidth_used", share("bandwidth"), units.share),
        Column("Arithmetic", "arithmetic_used", share("arithmetic"), units.share),
        Column("J/token", "joules_per_token", [p.joules_per_token for p in shown],
               lambda v: units.count(v, decimals=2)),
    ]  # fmt: skip


def csv(shown: tuple[Place, ...]) -> str:
    """Return every place as CSV."""
    return tables.to_csv(columns(shown))
