"""Pinned setups as thin lines behind a cost curve: A solid, B dash, C dot, D dash-dot."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from costmodel.curve import CostCurve, cost_curve
from costmodel.errors import InputError
from costmodel.scenario import Scenario
from ui import plot, theme
from ui.charts.frame import SMALL_PX, Part, text


def over(figure: plot.Figure, curve: CostCurve, pinned: Sequence[tuple[str, Scenario]]) -> plot.Figure:
    """Return a cost curve's figure with pinned setups on it, up to the wall of each.

    Parameters
    ----------
    figure : Figure
        Of `curve`, money over batch on the first pair of axes.
    pinned : sequence
        Letter and scenario of each pin.
    """
    lines, letters = [], []
    for letter, scenario in pinned:
        line = _line(curve, letter, scenario)
        if line is not None:
            lines.append(line)
            letters.append(_letter(line, letter))
    if not lines or not curve.priced:
        return figure
    return replace(
        figure,
        data=[*figure.data, *lines],
        layout=_with(figure.layout, letters),
        layout_narrow=_with(figure.layout_narrow, letters),
    )


def _line(curve: CostCurve, letter: str, scenario: Scenario) -> Part | None:
    """Return a pin's line, or None where it has no cost or nothing of it fits."""
    try:
        own = cost_curve(scenario, cost=curve.cost)
    except InputError:
        return None
    runs = own.line.batch <= min(own.last, curve.axis_max)
    usd = own.shown.usd_per_mtok[runs]
    if not own.priced or not own.drawn or usd.size < 2:
        return None
    at = "ABCD".index(letter)
    return {
        "type": "scatter", "mode": "lines", "name": f"pin {letter}", "xaxis": "x", "yaxis": "y",
        "x": np.ascontiguousarray(own.line.batch[runs]), "y": np.ascontiguousarray(usd),
        "line": {"color": theme.role(f"series_{at + 1}"), "width": 1.5, "dash": theme.DASHES[at]},
        "hovertemplate": f"{letter} $%{{y:.3~g}}<extra></extra>",
    }  # fmt: skip


def _letter(line: Part, letter: str) -> Part:
    """Return the letter at a line's end."""
    at = "ABCD".index(letter)
    end: Part = {"x": math.log10(line["x"][-1]), "y": math.log10(line["y"][-1]), "xref": "x", "yref": "y"}
    return text(f"<b>{letter}</b>", colour=f"series_{at + 1}", size=SMALL_PX, xanchor="left", xshift=4, **end)


def _with(layout: Part, letters: list[Part]) -> Part:
    return {**layout, "annotations": [*layout["annotations"], *letters]}
