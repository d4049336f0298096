"""The two figures behind tabs: the step in milliseconds, stacked, and the experts that a step reads."""

import numpy as np

from costmodel.curve import CostCurve
from ui import plot, theme, units, words
from ui.charts.frame import MARGIN, MARGIN_NARROW, SMALL_PX, Part, batch_axis, row_title, text

HEIGHT_PX = 360
STACK = ("weights", "fixed", "links", "arithmetic", "cache")
"""From below: what every step pays, then what grows with the batch."""


def step(curve: CostCurve) -> plot.Figure:
    """Return the decode step over the batch on linear axes, by what it is spent on.

    On linear axes stacking tells the truth: weights and fixed time lie level, the rest is a wedge.
    """
    batch = np.unique(np.append(np.linspace(1.0, curve.last, 60), curve.last))
    line = curve.line
    traces: list[Part] = []
    names: list[Part] = []
    total_ms = units.MS_PER_S * np.interp(batch, line.batch, line.step_time_s)
    base = np.zeros(batch.shape)
    at = int(0.78 * (batch.size - 1))
    for part in STACK:
        share = np.interp(batch, line.batch, np.broadcast_to(line.shares[part], line.batch.shape))
        part_ms = share * total_ms
        traces.append(
            {"type": "scatter", "name": part, "mode": "lines", "stackgroup": "step", "x": batch, "y": part_ms,
             "fillcolor": theme.role(part), "line": {"width": 1, "color": theme.role("paper")},
             "hovertemplate": f"{words.PART_NAMES[part]} %{{y:.1f}} ms<extra></extra>"}
        )  # fmt: skip
        if part_ms[at] > 0.07 * total_ms[-1]:
            names.append(
                text(words.PART_NAMES[part], colour=f"on_{part}", size=SMALL_PX, xref="x", yref="y",
                     x=float(batch[at]), y=float(base[at] + part_ms[at] / 2))
            )  # fmt: skip
        base = base + part_ms
    axes: Part = {
        "xaxis": theme.axis(range=[1, float(curve.last)], title={"text": "sequences decoded together (batch)"}),
        "yaxis": theme.axis(range=[0, 1.05 * float(total_ms[-1])], ticksuffix=" ms"),
    }
    title = [row_title("ms of one decode step", 1.0)]
    alt = (
        f"Stacked area chart, linear. A decode step takes {units.duration(float(line.step_time_s[0]))} "
        f"at batch 1 and {units.duration(units.seconds(float(total_ms[-1])))} at {curve.last:,.0f}. "
        "Weights and fixed time stay level, cache and arithmetic grow with the batch. Table follows."
    )
    return _figure(traces, {**axes}, [*title, *names], alt)


def experts(curve: CostCurve) -> plot.Figure:
    """Return the share of the experts' weights that a step reads over the batch."""
    line = curve.line
    runs = line.batch <= curve.last
    share = units.PERCENT * curve.experts_read[runs]
    trace: Part = {
        "type": "scatter", "name": "experts", "mode": "lines", "x": np.ascontiguousarray(line.batch[runs]),
        "y": share, "line": {"color": theme.role("weights"), "width": 3},
        "hovertemplate": "batch %{x:,.0f}: %{y:.0f} % of the experts<extra></extra>",
    }  # fmt: skip
    axes: Part = {
        "xaxis": batch_axis(curve.axis_max, anchor="y", narrow=False),
        "yaxis": theme.axis(range=[0, 104], ticksuffix=" %"),
    }
    half = float(np.interp(0.5, curve.experts_read, line.batch)) if curve.experts_read[0] < 0.5 else 1.0
    alt = (
        f"Line chart. A step of one sequence reads {units.share(float(curve.experts_read[0]))} of the experts’ "
        f"weights, half of them at batch {half:,.0f}, {units.share(float(share[-1]) / units.PERCENT)} "
        f"at {curve.last:,.0f}. Table follows."
    )
    return _figure([trace], axes, [row_title("share of the experts that a step reads", 1.0)], alt)


def _figure(data: list[Part], axes: Part, notes: list[Part], alt: str) -> plot.Figure:
    wide = theme.layout(margin={**MARGIN, "t": 34, "b": 48}, annotations=notes, **axes)
    narrow_axes = {**axes}
    if axes["xaxis"].get("type") == "log":
        ticks = axes["xaxis"]["tickvals"][::2]
        narrow_axes["xaxis"] = {**axes["xaxis"], "tickvals": ticks, "ticktext": [f"{t:,}" for t in ticks]}
    narrow = theme.layout(margin={**MARGIN_NARROW, "t": 34, "b": 48}, annotations=notes, **narrow_axes)
    return plot.Figure(
        data=data, layout=wide, layout_narrow=narrow, alt=alt, height_px=HEIGHT_PX, height_narrow_px=HEIGHT_PX - 40
    )


