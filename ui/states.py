"""What a page says where its figure can't be drawn as asked, and the way out of it."""

from typing import Any

import streamlit as st

from costmodel.case import resolve
from costmodel.curve import CostCurve, cost_curve
from costmodel.errors import InputError
from costmodel.fixes import Fix, nearest_fixes
from costmodel.scenario import FIELDS, Scenario
from ui import state, units
from ui.controls import BY_FIELD, CONTROL, GPU_CHOICES, KV_HEAD_CHOICES

MOST_CHOICES = 8


def curve() -> CostCurve | None:
    """Return the cost curve of the scenario on screen; None where a sentence took its place.

    The sentence says what doesn't go together, and stands with buttons for what does; the controls
    keep their values.
    """
    try:
        return cost_curve(state.current())
    except InputError as error:
        refuse(error)
        return None


def refuse(error: InputError) -> None:
    """Say why a setup can't be computed, with the legal choices as buttons where they are known."""
    sentence = in_page_words(error.sentence)
    st.error(_plain(f"{sentence[:1].upper()}{sentence[1:]}."))
    scenario = state.current()
    if error.field in {"tp", "ep", "pp", "split"}:
        _choices("g", legal_gpus(scenario), "GPUs: {}")
    elif error.field == "kv_heads":
        _choices("h", legal_heads(scenario), "KV heads: {}")
    st.button("Back to the opening scenario", key="start_again", on_click=_start_again)


def in_page_words(sentence: str) -> str:
    """Return a sentence of the engine with the names of controls where it names options.

    >>> in_page_words("--tp must divide the heads")
    'GPUs per copy must divide the heads'
    """
    for field in sorted(FIELDS, key=lambda f: -len(f.option)):
        control = BY_FIELD.get(field.name)
        sentence = sentence.replace(field.option, (control or field).label)
    return sentence


def _start_again() -> None:
    state.set_values({key: control.default for key, control in CONTROL.items()})


def _plain(sentence: str) -> str:
    """Return a sentence whose characters Markdown leaves alone."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~$:!" else c for c in sentence)


def _choices(key: str, values: tuple[str, ...], label: str) -> None:
    with st.container(horizontal=True, key=f"legal_{key}"):
        for value in values[:MOST_CHOICES]:
            st.button(
                label.format(value), key=f"legal_{key}_{value}", on_click=state.set_values, args=({key: value},)
            )


def legal_gpus(scenario: Scenario) -> tuple[str, ...]:
    """Return the numbers of GPUs that the scenario's split allows, of those the control offers."""
    return tuple(n for n in GPU_CHOICES if _legal(scenario, tp=int(n)))


def legal_heads(scenario: Scenario) -> tuple[str, ...]:
    """Return the numbers of KV heads that the model allows, of those the control offers."""
    return tuple(n for n in KV_HEAD_CHOICES[1:] if _legal(scenario, kv_heads=int(n)))


def _legal(scenario: Scenario, **changes: Any) -> bool:
    try:
        resolve(scenario.but(**changes))
    except InputError:
        return False
    return True


# Doesn't fit ------------------------------------------------------------------------------------


def fits(curve: CostCurve) -> bool:
    """Return whether at least one sequence fits (or nobody knows, its memory being unpublished)."""
    return curve.drawn


def too_large(curve: CostCurve) -> str:
    """Return the answer where the model doesn't fit; `**bold**` is its only markup."""
    case = curve.case
    model, card, gpus = case.model.short or case.model.id, case.accelerators[0].short, case.gpus
    weights = case.budget.weights_bytes * gpus
    offered = float(case.budget.usable_bytes) * gpus
    where = f"{gpus} × {card}"
    if weights > offered:
        needs = f"its weights need **{units.gb(weights)}**, {where} offers **{units.gb(offered)}**"
        return f"{model} doesn't fit: {needs}."
    context = units.count(case.scenario.context)
    left = units.gb(max(float(case.budget.available_kv_bytes), 0.0) * gpus)
    return (
        f"{model} leaves no room for one sequence of {context} tokens: beside its weights "
        f"({units.gb(weights)} of {units.gb(offered)} on {where}) {left} remain for the cache."
    )


def draw_fixes(curve: CostCurve) -> None:
    """Draw up to three setups that hold the model as buttons, each with its cost."""
    found = nearest_fixes(curve.case.scenario)
    if not found:
        st.html('<p class="note">No listed accelerator holds it; a smaller dtype or another model might.</p>')
        return
    with st.container(horizontal=True, key="fixes"):
        for at, fix in enumerate(found):
            st.button(_fix_label(fix), key=f"fix_{at}", on_click=state.apply, args=(fix.changes,), wrap=True)


def _fix_label(fix: Fix) -> str:
    cost = units.usd(fix.usd_per_mtok).replace("$", r"\$")
    return f"{fix.label}: **{cost}** per Mtok, up to {units.count(fix.max_batch)} at once"


# Notes ------------------------------------------------------------------------------------------


def past_wall(curve: CostCurve) -> str:
    """Return what is said when the batch doesn't fit; empty when it does."""
    if not curve.past_wall or not curve.wall:
        return ""
    case = curve.case
    where = f"{case.gpus} × {case.accelerators[0].short}"
    batch, wall = units.count(case.scenario.batch), units.count(curve.wall)
    return f"Batch {batch} doesn't fit: {wall} is the most on {where}; figures are those of the wall."


def notes(curve: CostCurve) -> tuple[str, ...]:
    """Return everything that must be said beside the answer: fallbacks, links, clamps, what-ifs."""
    said = [*state.notes(), past_wall(curve), *curve.case.notes]
    return tuple(sentence for sentence in said if sentence)


def draw_notes(curve: CostCurve) -> None:
    """Draw the notes under the price line, if there are any."""
    if said := notes(curve):
        st.caption(_plain("  ".join(said)))
