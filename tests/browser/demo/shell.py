"""A page of invented numbers that shows all the chart component can do; not part of the product."""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import streamlit as st

from ui import plot, theme

WALL = 343
LARGEST = 1024

st.set_page_config(page_title="Demo", layout="wide")
st.html(f"<style>{theme.css()}</style>")
st.session_state.setdefault("b", 64)


def cost(batch: float) -> float:
    return 0.35 + 49 / batch


def time_ms(batch: float) -> float:
    return 11 + 0.18 * batch


def share(batch: float) -> float:
    return 100 * batch / (batch + 100)


def take(batch: int) -> None:
    st.session_state["b"] = batch


with st.sidebar:
    batch = st.number_input("Batch", 1, 65_536, key="b", bind="query-params")
    output = st.number_input("Output tokens", 1, 10_000, 1_000, key="out", bind="query-params")

ticks = plot.batch_ticks(largest=LARGEST, also=(WALL, batch))
grid = plot.batch_ticks(largest=LARGEST, also=(WALL,))
fits = [tick for tick in grid if tick <= WALL]
scale = output / 1000
usd = [f"${cost(tick) * scale:.2f}" for tick in ticks]
say = [
    f"At batch **{t}** a million tokens cost **{u}**, in {time_ms(t):.0f} ms a token."
    for t, u in zip(ticks, usd, strict=True)
]
columns = {
    "batch": ticks,
    "log_batch": [math.log10(tick) for tick in ticks],
    "cost": [cost(min(tick, WALL)) * scale for tick in ticks],
    "log_cost": [math.log10(cost(min(tick, WALL)) * scale) for tick in ticks],
    "time": [time_ms(min(tick, WALL)) for tick in ticks],
    "label": [f"<b>now: batch {t}, {u}</b>" for t, u in zip(ticks, usd, strict=True)],
    "say": [
        f"{t} sequences, {u}, {1000 / time_ms(t):.0f} tokens per second" for t, u in zip(ticks, usd, strict=True)
    ],
    "answer": say,
    "usd": usd,
}
live = plot.Live(
    batch=batch,
    ticks=ticks,
    columns=columns,
    moves=[
        plot.move(shape="now", xanchor="batch", yanchor="cost"),
        plot.move(shape="now in time", xanchor="batch", yanchor="time"),
        plot.move(annotation="now", x="log_batch", y="log_cost", text="label"),
    ],
    texts={"answer": "answer", "usd": "usd"},
    say="say",
    announce="answer",
)

x_axis = theme.axis(type="log", range=[0, math.log10(LARGEST)], tickvals=[2**k for k in range(11)], anchor="y3")
# ruff: noqa: E501
layout = theme.layout(
    xaxis=x_axis,
    yaxis=theme.axis(type="log", domain=[0.47, 1], range=[-1, 2], tickprefix="$"),
    yaxis2=theme.axis(domain=[0.29, 0.43], range=[0, 100], ticksuffix=" %", nticks=3),
    yaxis3=theme.axis(domain=[0, 0.24], range=[0, 90]),
    shapes=[
        {"type": "rect", "xref": "x", "yref": "paper", "x0": WALL, "x1": LARGEST, "y0": 0, "y1": 1,
         "fillcolor": theme.role("ground"), "line": {"width": 0}, "layer": "below"},
        {"type": "line", "xref": "x", "yref": "paper", "x0": 123, "x1": 123, "y0": 0, "y1": 1,
         "line": {"color": theme.role("limit"), "dash": "dash"}},
        plot.dot("now", xref="x", yref="y"),
        plot.dot("now in time", xref="x", yref="y3"),
    ],
    annotations=[
        {"name": "now", "xref": "x", "yref": "y", "ax": -40, "ay": -60, "showarrow": True, "arrowhead": 0, "standoff": 8,
         "arrowcolor": theme.role("ink"), "bgcolor": theme.role("paper", 0.8)},
        {"xref": "x", "yref": "paper", "x": math.log10(123), "y": 1, "yanchor": "bottom", "xanchor": "left", "showarrow": False,
         "text": "<span style='color:role:limit'>30 tok/s limit <b>123</b></span>"},
    ],
)  # fmt: skip
data = [
    {"type": "scatter", "name": "cost", "mode": "lines", "x": fits, "y": [cost(t) * scale for t in fits], "yaxis": "y",
     "line": {"color": theme.role("ink"), "width": 3.5}, "hovertemplate": "batch %{x}: $%{y:.2f}<extra></extra>"},
    {"type": "scatter", "name": "cache", "mode": "none", "stackgroup": "a", "x": grid, "y": [share(t) for t in grid],
     "yaxis": "y2", "fillcolor": theme.role("cache"), "hoverinfo": "skip"},
    {"type": "scatter", "name": "weights", "mode": "none", "stackgroup": "a", "x": grid, "y": [100 - share(t) for t in grid],
     "yaxis": "y2", "fillcolor": theme.role("weights"), "hoverinfo": "skip"},
    {"type": "scatter", "name": "time", "mode": "lines", "x": fits, "y": [time_ms(t) for t in fits], "yaxis": "y3",
     "line": {"color": theme.role("ink"), "width": 3}, "hoverinfo": "skip"},
]  # fmt: skip
narrow = {
    **layout,
    "margin": {"l": 48, "r": 12, "t": 30, "b": 30},
    "xaxis": {**x_axis, "tickvals": [4**k for k in range(6)]},
}

st.title("What does one more sequence cost?")
st.html(plot.slot("answer", columns["answer"][ticks.index(batch)], tag="p", style="answer"))
st.html(f'<p class="price">All-in <b>{plot.slot("usd", usd[ticks.index(batch)])}</b> per Mtok out</p>')
plot.draw(
    plot.Figure(data=data, layout=layout, layout_narrow=narrow, alt="Line chart of invented costs over batch.",
                height_px=560, height_narrow_px=430),
    key="demo", live=live, stamp=f"{batch} {output}", on_batch=take,
)  # fmt: skip
st.caption(f"server says {batch}")
