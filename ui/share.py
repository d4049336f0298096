"""Share: a complete link, the answer as a sentence, pictures, a report, the table, a command, Python."""

import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from costmodel import catalog
from costmodel.curve import CostCurve
from costmodel.errors import InputError
from costmodel.scenario import BY_NAME, Scenario
from ui import address, bridge, frame, own, report, state, tables, units
from ui import help as words
from ui.controls import OWN_MODEL, PAGE_ROW

_OFFER = "_offer"
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXAMPLE_CONFIG = "config.json"
"""File name that stands in commands for a config given in the session."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a page has to share."""

    question: str = ""
    answer: str = ""
    price: str = ""
    curve: CostCurve | None = None
    whole: bool = False
    columns: Callable[[], Sequence[tables.Column]] | None = None
    table: Callable[[], str] | None = None
    name: str = "figure"
    command: str = ""


def offer(**what: Any) -> None:
    """Say what a page has to share; the page calls it once a run.

    Parameters
    ----------
    question, answer, price : str
        The page's title, its answer and its price line; `**bold**` is their only markup. Without a question
        the page offers no report.
    curve : CostCurve, optional
        Of the scenario, for a report's sources and error.
    whole : bool
        Whether the page is the curve's own, so that a report has its arithmetic and its edges.
    columns : callable, optional
        Returns the plotted rows; called only when somebody asks for them, as a report or as CSV.
    table : callable, optional
        Returns the CSV, where it holds more than `columns`.
    name : str
        File name of pictures, report and table, without its ending.
    command : str, optional
        The command line's command that prints this page's figures, e.g. `point`; or the whole line.
    """
    st.session_state[_OFFER] = Offer(**what)


def forget() -> None:
    """Drop the last page's offer; the shell calls it before a page runs."""
    st.session_state.pop(_OFFER, None)


def popover() -> None:
    """Draw the popover, after the page ran and said what it has; its content only while it is open."""
    shown = st.popover("Share", icon=":material/share:", key="share_popover", on_change="rerun")
    if shown.open:
        with shown:
            draw()


def draw() -> None:
    """Draw what can be shared."""
    given: Offer = st.session_state.get(_OFFER) or Offer()
    scenario = state.current()
    link = page_link(scenario)
    sentence = f"{scenario_line(scenario)}. {link}"  # the browser puts the answer before it
    actions = [
        bridge.Action(name="link", label="Copy link", does="copy", text=link),
        bridge.Action(name="sentence", label="Copy sentence", does="copy", text=sentence),
        bridge.Action(name="png", label="PNG", does="picture", text="png"),
        bridge.Action(name="svg", label="SVG", does="picture", text="svg"),
    ]
    if given.question:
        written = report.to_html(report_of(given, scenario, link))
        actions.append(bridge.Action(name="report", label="Report (HTML)", does="report", text=written))
    foot = [scenario_line(scenario), basis_line(scenario), link]
    bridge.draw("share", actions, answer=given.answer, foot=foot, name=given.name)
    if state.value("m") == OWN_MODEL:
        st.caption(f"The link says m={OWN_MODEL}, but can't carry your config.json. {own.STAYS}")
    st.caption("The link holds every setting and the price, so later data can't change it:")
    st.code(link, language=None)
    csv = given.table or (None if given.columns is None else lambda: tables.to_csv(_columns(given)))
    if csv is not None:
        st.download_button("CSV of the figure", csv, f"{given.name}.csv", "text/csv", on_click="ignore")
    st.caption("Command line")
    whole = " " in given.command
    line = given.command if whole else command_line(scenario, command=given.command or "point")
    st.code(line, language="bash", wrap_lines=True)
    st.caption("Python")
    st.code(python(scenario), language="python")
    st.button("Present", key="present_on", on_click=frame.start_presenting, icon=":material/present_to_all:")


def report_of(given: Offer, scenario: Scenario, link: str) -> report.Report:
    """Return the report of a page, as a copied link would open it."""
    known = price(scenario)
    return report.Report(
        question=given.question, answer=given.answer, price=given.price, scenario=scenario_line(scenario),
        basis=basis_line(scenario), values=state.values() | {c.key: state.value(c.key) for c in PAGE_ROW},
        used={
            "pr": f"{units.usd(known)}, of the basis" if known is not None else "none known",
            "ctx": f"{units.count(scenario.context)}: input + output / 2",
        },
        curve=given.curve, whole=given.whole, columns=_columns(given), address=link,
        data_date=address.data_date(), version=_version(), made_on=date.today().isoformat(),
    )  # fmt: skip


def _columns(given: Offer) -> Sequence[tables.Column]:
    if given.columns is not None:
        return given.columns()
    return () if given.table is None else tables.from_csv(given.table())


@cache
def _version() -> str:
    """Return the program's version, as pyproject.toml has it."""
    return str(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"])


def foot() -> None:
    """Draw what stands around the page: see `frame.foot`."""
    scenario = state.current()
    link = page_link(scenario) if frame.embedded() else ""
    frame.foot(summary=summary(scenario), scenario_line=scenario_line(scenario), link=link)


# What is shared ---------------------------------------------------------------------------------


def page_link(scenario: Scenario) -> str:
    """Return the complete address of what is on screen."""
    base = (st.context.url or "").split("?")[0]
    extra = {c.key: c.text(state.value(c.key)) for c in PAGE_ROW if state.value(c.key) != c.default}
    return address.link(state.values(), base=base, price=price(scenario), extra=extra)


def price(scenario: Scenario) -> float | None:
    """Return what a GPU-hour costs in a scenario, typed or of its basis. [USD/h]"""
    if scenario.price_usd_per_gpu_hour is not None:
        return scenario.price_usd_per_gpu_hour
    found = words.basis_price(scenario.hardware, scenario.price_basis)
    return None if found is None else found.usd_per_gpu_hour


def names(scenario: Scenario) -> tuple[str, str]:
    """Return the names of a scenario's model and accelerator as people say them."""
    model = "own config.json" if scenario.model.startswith("{") else scenario.model
    try:
        card = catalog.accelerator(scenario.hardware).short
    except InputError:
        card = scenario.hardware
    return model, card


def summary(scenario: Scenario) -> str:
    """Return a scenario in a few words.

    >>> from ui import state
    >>> summary(state.default())
    'llama-3.1-70b fp8 · 4 × H100 SXM'
    """
    model, card = names(scenario)
    weights = scenario.weights or "as published"
    return f"{model} {weights} · {scenario.gpus} × {card}"


def scenario_line(scenario: Scenario) -> str:
    """Return a scenario in one line, enough to read a picture without its page.

    >>> from ui import state
    >>> scenario_line(state.default()).split(" · ")[2:4]
    ['1,500 tokens in, 1,000 out, context 2,000', 'batch 64']
    """
    model, card = names(scenario)
    weights = f"{scenario.weights} weights" if scenario.weights else "weights as published"
    parts = [
        f"{model}, {weights}, {scenario.kv} cache",
        f"{scenario.gpus} × {card}" + ("" if scenario.split == "tensor" else f", {scenario.split}"),
        f"{units.count(scenario.input_tokens)} tokens in, {units.count(scenario.output_tokens)} out, "
        f"context {units.count(scenario.context)}",
        f"batch {units.count(scenario.batch)}",
        f"{scenario.engine}, {scenario.profile}",
    ]
    if scenario.kv_heads is not None:
        parts.insert(1, f"what if {scenario.kv_heads} KV heads")
    if scenario.busy < 1:
        parts.append(f"{units.share(scenario.busy)} busy")
    return " · ".join(parts)


def basis_line(scenario: Scenario) -> str:
    """Return where the price comes from, with its date."""
    now = price(scenario)
    if now is None:
        return "No price known"
    if scenario.price_usd_per_gpu_hour is not None:
        return f"{units.usd(now)} per GPU-hour, typed · data of {address.data_date()}"
    found = words.basis_price(scenario.hardware, scenario.price_basis)
    read = found.newest if found is not None and found.newest is not None else date.min
    return (
        f"{units.usd(now)} per GPU-hour, {words.BASIS_WORDS[scenario.price_basis]}, newest of {read} · "
        f"{scenario.profile}{', 80 % band' if scenario.profile == 'calibrated' else ''}"
    )


def changed(scenario: Scenario) -> dict[str, Any]:
    """Return the fields that differ from the engine's defaults."""
    plain = Scenario()
    return {name: value for name in BY_NAME if (value := getattr(scenario, name)) != getattr(plain, name)}


def command_line(scenario: Scenario, *, command: str = "point") -> str:
    """Return the command that prints the same figures.

    >>> from ui import state
    >>> command_line(state.default())
    'python -m costmodel point --max-tpot 0.0333333333333333 --max-ttft 0.5 --weights fp8'
    """
    parts = ["python", "-m", "costmodel", command]
    for name, value in changed(scenario).items():
        text = EXAMPLE_CONFIG if name == "model" and str(value).startswith("{") else _number(value)
        parts += [BY_NAME[name].option, text]
    return shlex.join(parts)


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)


def python(scenario: Scenario) -> str:
    """Return the same question in Python."""
    rows = []
    for name, value in changed(scenario).items():
        if name == "model" and str(value).startswith("{"):
            rows.append(f"    {name}=open({EXAMPLE_CONFIG!r}).read(),")
        else:
            rows.append(f"    {name}={value!r},")
    return "\n".join([
        "from costmodel.curve import cost_curve",
        "from costmodel.scenario import scenario",
        "",
        "question = scenario(",
        *rows,
        ")",
        "curve = cost_curve(question)",
        "print(curve.now.at.usd_per_mtok[0], curve.wall)",
    ])  # fmt: skip
