"""The price line under every answer: what a token costs, of which parts, how fast, at which load."""

import numpy as np
import streamlit as st

from costmodel.curve import CostCurve, Stops
from costmodel.prompt_share import Request
from ui import plot, units

SLOT = "price"
"""Name of the element that follows the batch slider."""


def line(curve: CostCurve, request: Request | None = None) -> str:
    """Return the price line of the scenario on screen; `**bold**` is its only markup.

    `request` replaces what the scenario alone says, on a page whose own controls change the serving.
    """
    return _lines(curve, curve.now, request)[0]


def lines(curve: CostCurve) -> list[str]:
    """Return the price line at every stop of the batch slider."""
    return _lines(curve, curve.ticks)


def draw(curve: CostCurve, request: Request | None = None) -> None:
    """Put the price line on the page; it follows the batch slider where there is one. See `line`."""
    st.html(plot.slot(SLOT, line(curve, request), tag="p", style="price"))


def known(curve: CostCurve | None) -> str:
    """Return the price line, empty where the scenario's setup doesn't run."""
    return line(curve) if curve is not None and curve.drawn else ""


def draw_known(curve: CostCurve | None) -> None:
    """Put the price line on the page where the scenario's setup runs."""
    if curve is not None and curve.drawn:
        draw(curve)


def _lines(curve: CostCurve, stops: Stops, request: Request | None = None) -> list[str]:
    """Return the lines at batches; a batch past the wall shows the figures of the wall."""
    case, scenario = curve.case, curve.case.scenario
    served = stops.shown.served if request is None else request.served
    decoding = stops.at.usd_per_mtok if request is None else np.asarray([request.usd_per_mtok_answer])
    low, high = served.low, served.high
    speed = np.where(np.isnan(served.tpot_s), stops.at.step_time_s, served.tpot_s)
    wall, busy = _wall(curve), f"{units.share(scenario.busy)} busy"
    found = []
    for i, batch in enumerate(stops.chosen):
        total, answer, prompt = units.usd_sum(float(served.usd_per_mtok[i]), float(decoding[i]))
        parts = [f"All-in **{total}** per Mtok out = answer {answer} + prompt {prompt}"]
        if not curve.priced:
            parts = [f"No price: {case.price_reasons[0]}"]
        elif low is not None and high is not None:
            parts.append(f"likely {units.usd_range(float(low[i]), float(high[i]))}")
        if curve.priced:
            parts.append(f"{units.usd(float(served.usd_per_request[i]) * 1000)} per 1,000 requests")
        each = units.speed(units.tokens_per_s(float(speed[i])))
        parts.append(f"{each} each, first token {units.duration(float(served.ttft_s[i]))}")
        parts += [f"batch {units.count(float(batch))}{wall}", busy]
        if scenario.max_tpot_s is None and scenario.max_ttft_s is None:
            parts.append("offline: no limits, batch at the wall" if batch == curve.wall else "no limits")
        found.append(" · ".join(parts))
    return found


def _wall(curve: CostCurve) -> str:
    if not curve.capacity_known:
        return ", memory not published"
    return f" of {units.count(curve.wall)}"
