"""Sentences of "Accuracy and sources", computed from a validation report. No Streamlit in this file."""

import math

import numpy as np

from costmodel.case import Case
from costmodel.nearest import Nearest
from costmodel.peers import PEER, Compared
from costmodel.validate import Errors, Report
from ui import units
from ui.words_prompt import percent

WEDGE = 0.25
"""Half-width of the wedge in the figure."""
KIND_NAMES = {
    "closed_tpot": "between tokens, served",
    "closed_ttft": "first token, served",
    "fixed_tpot": "step, fixed batch",
    "fixed_throughput": "throughput, fixed batch",
    "batch1_decode": "one sequence, decoding",
    "batch1_e2e": "one sequence, whole",
    "batch_ttft": "first token, fixed batch",
    "max_load": "throughput, full load",
    "all kinds": "all kinds",
}
DIMENSION_NAMES = {
    "kind": "what was measured",
    "engine": "engine",
    "family": "hardware family",
    "gpu": "accelerator",
    "model": "model",
    "weights": "weights in",
    "architecture": "architecture",
    "source": "source",
    "apart": "reported apart",
}
OUT_OF_FOLD = (
    "Each prediction was made by constants fitted without the runs of its source, model and accelerator: "
    "it counts as unseen."
)
IN_SAMPLE = "The constants were fitted to some of these runs too: runs that they never saw are missed by more."


def name(kind: str) -> str:
    """Return what a kind of reading measures, in words."""
    return KIND_NAMES.get(kind, kind)


def answer(report: Report, near: Nearest | None, case: Case | None) -> str:
    """Return the answer to "how accurate is it?"."""
    overall = report.overall
    if overall.n == 0:
        return "No measured run could be compared."
    first = (
        f"Over **{units.count(overall.n)}** public measurements the model is off by "
        f"**{units.share(overall.median_ape)}** in the middle and within **{units.share(overall.p90_ape)}** nine "
        "times in ten"
    )
    if near is None or case is None:
        return f"{first}."
    if case.scenario.profile == "ideal":
        return f"{first}. The ideal profile on screen is a bound, not a prediction: it has no band."
    if near.same_card == 0:
        return f"{first}. {fallback(case)}"
    return (
        f"{first}; for your setup’s class **{units.share(near.errors.median_ape)}** from "
        f"**{units.count(near.errors.n)}** runs."
    )


def fallback(case: Case) -> str:
    """Return what stands in where no run of the accelerator with the engine is known."""
    card, engine = case.accelerators[0].short, case.scenario.engine
    band = case.constants.band
    if band is None:
        return f"No run of {card} with {engine}: constants of its family, no band is known."
    wide = max(float(np.ravel(band[1])[0]) - 1, 1 - float(np.ravel(band[0])[0]))
    return f"No run of {card} with {engine}: constants of its family, band widened to ±{units.share(wide)}."


def below(report: Report, near: Nearest | None) -> list[str]:
    """Return the sentences under the figure."""
    said = [OUT_OF_FOLD if report.out_of_fold else IN_SAMPLE]
    overall = report.overall
    if math.isfinite(overall.band_coverage):
        said.append(
            f"{units.share(overall.band_coverage)} lie in their 80 % band; half of the predictions are "
            f"{_bias(overall)}."
        )
    unflagged, readings = int(report.unflagged.sum()), sum(r.kind is not None for r in report.rows)
    said.append(
        f"{units.count(unflagged - overall.n)} of {units.count(unflagged)} readings can’t be predicted; "
        f"{units.count(readings - unflagged)} more are reported apart, not counted."
    )
    if near is not None:
        said.append(f"Your setup’s class: {near.words}.")
    return said


def _bias(found: Errors) -> str:
    if abs(found.bias) < 0.0005:
        return "above the measurement, half below"
    word = "too slow" if found.bias > 0 else "too fast"
    return f"more than {units.share(abs(found.bias), decimals=1)} {word}"


def within_wedge(report: Report) -> float:
    """Return the share of the counted predictions within ±25 %."""
    found = np.abs(report.error[report.counted])
    return float((found <= WEDGE).mean()) if found.size else math.nan


def worst(report: Report) -> int | None:
    """Return the position of the counted row that is missed by the largest factor."""
    at = np.flatnonzero(report.counted)
    if at.size == 0:
        return None
    return int(at[np.argmax(np.abs(np.log(report.predicted_s[at] / report.measured_s[at])))])


def alt(report: Report) -> str:
    """Return the words for those who can't see the figure."""
    at = worst(report)
    if at is None:
        return "Scatter without a point: no measured run could be compared. Table follows."
    row = report.rows[at]
    factor = units.times(max(row.predicted_s / row.measured_s, row.measured_s / row.predicted_s))
    side = "over" if row.predicted_s > row.measured_s else "under"
    return (
        f"Scatter of {units.count(report.overall.n)} predictions over measurements; "
        f"{units.share(within_wedge(report))} lie within 25 %; "
        f"worst {row.id}, {factor} times {side}. Table follows."
    )


def peer(compared: tuple[Compared, ...]) -> str:
    """Return how the other tool does on the rows that both predict."""
    every = compared[0]
    if every.ours.n == 0:
        return f"There is no row that both this model and {PEER} predict."
    theirs, ours = units.share(every.peer.median_ape), units.share(every.ours.median_ape)
    return (
        f"On the {units.count(every.ours.n)} readings that both predict, {PEER} is off by {theirs} in the middle "
        f"and this model by {ours}; it predicts {percent(every.peer_predicted / every.readings)} of all "
        f"readings, this model {percent(every.predicted / every.readings)}."
    )


def miss(predicted_s: float, measured_s: float) -> str:
    """Return a signed error, as a factor where it is large.

    >>> miss(1.2, 1.0), miss(0.3, 1.0), miss(5.0, 1.0)
    ('+20 %', '3.3 times too fast', '5.0 times too slow')
    """
    ratio = predicted_s / measured_s
    if 0.5 < ratio < 2:
        return f"{'+' if ratio >= 1 else '−'}{units.share(abs(ratio - 1))}"
    side = "too slow" if ratio > 1 else "too fast"
    return f"{units.times(max(ratio, 1 / ratio))} times {side}"
