"""Blocks of "Speed vs cost": the table of speeds, APIs as a list, folds. HTML as the other pages'."""

import html
import shlex
from collections.abc import Callable

import streamlit as st

from costmodel import choose
from costmodel.curve import CostCurve, cost_curve
from costmodel.energy import MARK
from costmodel.errors import InputError
from costmodel.frontier import Rung, fleet
from costmodel.picks import Pick, pick, scenario_of
from costmodel.scenario import BY_NAME, Scenario
from ui import folds, share, state, states, tables, units, words_frontier
from ui.frontier_view import DEFAULT_AXES, Asked, View, fields_of, picked
from ui.tables import Column

SETUP = {"hardware", "tp", "ep", "pp", "split", "weights", "kv", "arithmetic", "batch", "price_usd_per_gpu_hour"}
"""Fields that the page tries over their values instead of taking the scenario's."""
HEADS = ("Setup", "Batch", "All-in", "First token", "USD per extra tok/s", "USD a month")


def guarded(make: Callable[[], View]) -> View | None:
    """Return the page's results; None where a sentence took their place."""
    try:
        return make()
    except InputError as error:
        states.refuse(error)
        return None


def own_curve(scenario: Scenario) -> CostCurve | None:
    """Return the cost curve of the scenario's own setup, where it runs."""
    try:
        curve = cost_curve(scenario)
    except InputError:
        return None
    return curve if curve.drawn else None


def go_to(shown: View, index: object) -> None:
    """Make the clicked point the scenario's setup; in callbacks."""
    fields = picked(shown, index)
    if fields is not None:
        state.apply(fields)


def command(scenario: Scenario, asked: Asked) -> str:
    """Return the command that prints the page's figures: limits and workload, no setup of one's own.

    >>> from ui import state
    >>> command(state.default().but(budget_usd_per_mtok=2.0), Asked(four_bits=True))
    'python -m costmodel frontier --max-tpot 0.0333333333333333 --max-ttft 0.5 --budget 2 --four-bits'
    """
    parts = ["python", "-m", "costmodel", "frontier"]
    for name, value in share.changed(scenario).items():
        if name in SETUP:
            continue
        own = name == "model" and str(value).startswith("{")
        text = f"{value:.15g}" if isinstance(value, float) else str(value)
        parts += [BY_NAME[name].option, share.EXAMPLE_CONFIG if own else text]
    parts += ["--hardware", ",".join(asked.accelerators)] if asked.accelerators else []
    parts += ["--four-bits"] if asked.four_bits else []
    parts += ["--axes", ",".join(asked.axes)] if asked.axes != DEFAULT_AXES else []
    parts += ["--users", f"{asked.users:.15g}"] if asked.users else []
    return shlex.join(parts)


def speeds(shown: View) -> None:
    """Draw the table "what a speed costs"; the row of the limit is bold."""
    users = f"for {units.count(shown.users)} users" if shown.users else "of one full copy"
    head = "".join(
        f'<th scope="col" class="{"l" if at < 2 else ""}">{html.escape(name)}</th>'
        for at, name in enumerate(("Speed each", *HEADS[:-1], f"{HEADS[-1]} {users}"))
    )
    rows = "".join(_speed_row(shown, rung) for rung in shown.rungs)
    st.html(
        f'<table class="speeds"><caption class="note" style="text-align:left">What a speed costs: the cheapest '
        f"setup at each, other limits kept</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        + _api_list(shown)
    )


def _speed_row(shown: View, rung: Rung) -> str:
    limit = shown.speed_limit
    here = limit is not None and abs(rung.tokens_per_s / limit - 1) < 1e-3
    first = f'<td class="l">{html.escape(words_frontier.speed(shown, rung.tokens_per_s))}</td>'
    if rung.pick is None:
        return f'<tr>{first}<td class="l" data-name="">nothing reaches it</td>{"<td></td>" * 5}</tr>'
    chosen = rung.pick
    extra = rung.usd_per_extra_token_per_s
    cells = (
        (_setup(shown, chosen), "l"),
        (units.count(chosen.batch), ""),
        (units.usd(chosen.usd_per_mtok), ""),
        (units.duration(chosen.ttft_s), ""),
        (units.MISSING if extra is None else units.usd(extra), ""),
        (units.usd(fleet(chosen, users=shown.users or chosen.batch).usd_per_month), ""),
    )
    body = "".join(
        f'<td class="{cls}" data-name="{name.lower()}">{html.escape(text)}</td>'
        for (text, cls), name in zip(cells, HEADS, strict=True)
    )
    return f'<tr class="{"now" if here else ""}">{first}{body}</tr>'


def _setup(shown: View, chosen: Pick) -> str:
    return f"{words_frontier.place(chosen)}, {words_frontier.weights(shown, chosen)} / {chosen.setup.kv}"


def _api_list(shown: View) -> str:
    """Return the APIs as a list, for screens without the figure's margin."""
    if not shown.offers.offers:
        return ""
    items = ", ".join(
        f"{html.escape(o.provider)} <b>{units.usd(o.usd_per_mtok)}</b>" for o in shown.offers.offers
    )
    return f'<p class="notes apilist">APIs, same requests: {items}</p>'


def note(shown: View) -> None:
    """Draw the note under the figure: what a line is, what the grey band is, how old the prices are."""
    holes = ", ".join(f"{count:,} {reason}" for reason, count in shown.sweep.infeasible().items())
    said = [
        "Each line: the cheapest setup of that accelerator at that speed, over GPUs, dtypes and every batch that "
        "fits. Click one to take its setup."
    ]
    if shown.answers.cheapest is not None and shown.answers.cheapest.high > 0:
        said.append("Grey: 80 % band of the best.")
    if shown.offers.newest is not None:
        said.append(f"API prices read {shown.offers.oldest} to {shown.offers.newest}.")
    said.append(f"{shown.sweep.space.points:,} points, {shown.sweep.evaluated:,} possible; {holes}.")
    st.html(f'<p class="notes">{html.escape(" ".join(said))}</p>')


def take(shown: View) -> None:
    """Draw the button that makes the cheapest the scenario's setup."""
    best = shown.answers.cheapest or (shown.answers.relaxed.pick if shown.answers.relaxed else None)
    if best is not None:
        st.button(
            f"Use {words_frontier.place(best)}, batch {units.count(best.batch)}", key="take_best",
            on_click=state.apply, args=(fields_of(shown.scenario, best),), type="tertiary",
        )  # fmt: skip


# Folds ------------------------------------------------------------------------------------------


def draw_folds(shown: View) -> None:
    """Draw the folds; each is built when opened."""
    best = shown.answers.cheapest
    bodies: list[tuple[str, str, Callable[[], None]]] = []
    if best is not None:
        bodies += [
            ("Show the arithmetic", "fold_arithmetic", lambda: folds.arithmetic(_curve(shown.scenario, best))),
            ("Serve it", "fold_serve", lambda: folds.serve_it(_curve(shown.scenario, best))),
        ]
    bodies += [
        ("Which to choose: four common uses", "fold_uses", lambda: uses(shown)),
        ("Data table", "fold_data", lambda: data(shown)),
    ]
    if best is not None:
        bodies.append(
            ("Sources, limits, error", "fold_sources", lambda: folds.sources(_curve(shown.scenario, best)))
        )
    for title, key, body in bodies:
        fold = st.expander(title, key=f"fr_{key}", on_change="rerun")
        if fold.open:
            with fold:
                body()


def _curve(scenario: Scenario, chosen: Pick) -> CostCurve:
    """Return the cost curve of a pick's own setup, at its batch."""
    return cost_curve(scenario_of(scenario, chosen))


def uses(shown: View) -> None:
    """Draw which batch and hardware the four common uses take, with the reason."""
    base = shown.scenario.but(max_tpot_s=None, max_ttft_s=None, budget_usd_per_mtok=None, batch=64)
    rows = []
    found = choose.choices(base)
    for choice in found:
        text = choice.reason
        if choice.pick is not None:
            where = f"{words_frontier.place(choice.pick)}, batch {units.count(choice.pick.batch)}"
            text = f"<b>{html.escape(where)}</b>, {units.usd(choice.pick.usd_per_mtok)}. {html.escape(text)}"
        said = f"<i>Usually said: {html.escape(choice.use.advice)}.</i>"
        rows.append(f"<b>{html.escape(choice.use.name)}</b><span>{text}{said}</span>")
    st.html(f'<div class="uses">{"".join(rows)}</div>')
    with st.container(horizontal=True, key="use_buttons"):
        for choice in found:
            if choice.pick is not None:
                st.button(
                    f"Use: {choice.use.name}", key=f"use_{choice.use.workload}", on_click=_take_use,
                    args=(choice,), type="tertiary",
                )  # fmt: skip


def _take_use(choice: choose.Choice) -> None:
    fields = ("input_tokens", "output_tokens", "shared", "hit", "max_tpot_s", "max_ttft_s", "context_tokens")
    wanted = {name: getattr(choice.scenario, name) for name in fields}
    if choice.pick is not None:
        wanted |= fields_of(choice.scenario, choice.pick)
    state.apply(wanted)


def data(shown: View) -> None:
    """Draw the plotted rows of the coloured lines, and offer all of them as a file."""
    st.html(tables.to_html(columns(shown, coloured_only=True), caption="The plotted rows"))
    st.download_button(
        "Download CSV", data=lambda: csv(shown), file_name="speed-vs-cost.csv", mime="text/csv",
        on_click="ignore", key="fr_csv",
    )  # fmt: skip
    st.html(f'<p class="notes">J per token: {html.escape(MARK)}.</p>')


def columns(shown: View, *, coloured_only: bool) -> list[Column]:
    """Return the rows of the lines as columns."""
    drawn = [x for x in (*shown.lines, *shown.dotted) if not coloured_only or x.hardware in shown.coloured]
    picks = [pick(shown.sweep, int(i)) for line in drawn for i in line.index]

    def named(title: str, name: str, values: list[str]) -> Column:
        return Column(title, name, values, str)  # type: ignore[arg-type]

    return [
        named("Accelerator", "hardware", [p.accelerator.id for p in picks]),
        Column("GPUs", "gpus", [float(p.gpus) for p in picks], units.count),
        named("Weights", "weights", [words_frontier.weights(shown, p) for p in picks]),
        named("Cache", "kv", [p.setup.kv for p in picks]),
        Column("Batch", "batch", [p.batch for p in picks], units.count),
        Column("Each user", "tokens_per_s", [p.tokens_per_s for p in picks], units.speed),
        Column("First token", "ttft_s", [p.ttft_s for p in picks], units.duration),
        Column("All-in", "usd_per_mtok", [p.usd_per_mtok for p in picks], units.usd),
        Column("Low", "usd_per_mtok_low", [p.low for p in picks], units.usd),
        Column("High", "usd_per_mtok_high", [p.high for p in picks], units.usd),
        Column("J/token", "joules_per_token", [_joules(p) for p in picks], lambda v: f"{v:.2f}"),
    ]


def csv(shown: View) -> str:
    """Return every line's rows as CSV."""
    return tables.to_csv(columns(shown, coloured_only=False))


def _joules(p: Pick) -> float:
    return p.accelerator.power_w * p.gpus * (1 + p.prefill_copies) / p.output_tokens_per_s
