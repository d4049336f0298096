"""What the page "Prompt and answer" shows: the bar of one request, the map, its tabs and folds."""

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from costmodel import explain_prompt, prompt_levers, prompt_share
from costmodel.case import Case
from costmodel.curve import CostCurve
from costmodel.prompt_levers import Apart, Varied
from costmodel.prompt_share import Request, ShareMap
from costmodel.scenario import MOST_TOKENS
from ui import folds, plot, state, tables, units, words_prompt
from ui.blocks import notes
from ui.charts import prompt as chart
from ui.charts import prompt_tabs
from ui.controls import AS_ENGINE
from ui.tables import Column

NAMED_FROM = 0.24
"""A part of a bar at least this wide carries its words; the keys under the bars carry all of them."""
MOST_MAP_TOKENS = float(MOST_TOKENS) / 10


@dataclass(frozen=True)
class Shown:
    """Everything on the page, computed once per scenario."""

    case: Case
    batch: float
    chunk: int | None
    separate: bool
    request: Request
    map: ShareMap
    half_tokens: float | None


def shown(curve: CostCurve) -> Shown:
    """Return what the page shows of the scenario and its two page controls."""
    typed = str(state.value("pa_ch"))
    chunk = None if typed == AS_ENGINE else int(typed)
    return _shown(curve.case, float(curve.now.at.batch[0]), chunk, str(state.value("pa_dis")) == "on")


def _shown(own: Case, batch: float, chunk: int | None, separate: bool) -> Shown:
    case = prompt_share.with_chunk(own, chunk)
    inputs, outputs = chart.axes(case.scenario)
    # Elsewhere on the map so many may fit as were asked for, though fewer do here.
    how: dict[str, Any] = {"batch": float(case.scenario.batch), "separate": separate}
    return Shown(
        case=case,
        batch=batch,
        chunk=chunk,
        separate=separate,
        request=prompt_share.request(case, batch=batch, separate=separate),
        map=prompt_share.share_map(case, input_tokens=inputs, output_tokens=outputs, **how),
        half_tokens=prompt_share.half_at(case, most_tokens=MOST_MAP_TOKENS, **how),
    )


# Bars -------------------------------------------------------------------------------------------


def bars(found: Shown) -> None:
    """Draw one request as two bars: what it costs, and how long it takes."""
    request = found.request
    known = not np.isnan(request.usd_per_request)
    whole, money = words_prompt.per_requests(request) if known else ("GPU time of a request", ("", ""))
    time = (units.duration(request.prompt_s), units.duration(request.answer_s))
    took = f"Time of a request, {units.duration(request.prompt_s + request.answer_s)}"
    prompt, answer = (words_prompt.percent(s) for s in (request.prompt_share, 1 - request.prompt_share))
    said = (
        f"{whole}: prompt {prompt} {money[0]}, answer {answer} {money[1]}. {took}: first token after {time[0]}, "
        f"answer over {time[1]}."
    )
    st.html(
        f'<div class="request" role="img" aria-label="{html.escape(said)}">'
        f"{_bar(whole, request.prompt_share, money)}"
        f"{_bar(took, request.time_share, time)}"
        "</div>"
    )
    first = f"first token after <b>{time[0]}</b>"
    st.html(
        '<ul class="keys">'
        f'<li style="--key:var(--weights)">prompt <b>{prompt}</b>{" " * known}{money[0]}, {first}</li>'
        f'<li style="--key:var(--fixed)">answer <b>{answer}</b> {money[1]} over <b>{time[1]}</b></li></ul>'
    )


def _bar(what: str, share: float, words: tuple[str, str]) -> str:
    prompt = f"prompt {words[0]}".strip() if share >= NAMED_FROM else ""
    answer = f"answer {words[1]}".strip() if 1 - share >= NAMED_FROM else ""
    thin = "" if prompt else " thin"
    last = "" if answer else " thin"
    return (
        f'<span class="what">{html.escape(what)}</span><div class="bar" aria-hidden="true">'
        f'<span class="p{thin}" style="width:{units.PERCENT * share:.3f}%">{html.escape(prompt)}</span>'
        f'<span class="a{last}" style="flex:1">{html.escape(answer)}</span></div>'
    )


def said(found: Shown, curve: CostCurve) -> list[str]:
    """Return the sentences under the bars."""
    every = [
        words_prompt.prices(found.request),
        words_prompt.half(found.request, found.half_tokens),
        words_prompt.reuse(found.case.scenario),
    ]
    if curve.past_wall:
        every.append(f"Batch {units.count(float(curve.now.chosen[0]))} doesn’t fit: figures are of the wall.")
    return [sentence for sentence in every if sentence]


# The map ----------------------------------------------------------------------------------------


def draw_map(found: Shown) -> None:
    """Draw the map; a click sets both lengths."""
    scenario = found.case.scenario
    words = words_prompt.alt(found.request, found.half_tokens)
    figure = chart.figure(found.map, scenario, found.request.prompt_share, words)
    stamp = f"{scenario.input_tokens:g}/{scenario.output_tokens:g}"
    plot.draw(figure, key="share_map", stamp=stamp, on_pick=lambda code: _pick(found.map, code))


def _pick(found: ShareMap, code: Any) -> None:
    if isinstance(code, int | float) and 0 <= code < found.share.size:
        state.apply(chart.picked(found, int(code)))


# Tabs -------------------------------------------------------------------------------------------


def draw_tabs(found: Shown) -> None:
    """Draw the three tabs; only the open one is computed."""
    every = st.tabs(["Chunk size", "Prefix hits", "Separate prompt GPUs"], key="pa_tab", on_change="rerun")
    for tab, body in zip(every, (_chunks, _hits, _apart), strict=True):
        if tab.open:
            with tab:
                body(found)


def _chunks(found: Shown) -> None:
    varied, own = chunks(found.case, found.batch), float(np.ravel(found.case.constants.chunk_tokens)[0])
    mixes = bool(np.ravel(found.case.constants.mixes_prompts)[0])
    sentence = words_prompt.chunks(varied, own, mixes)
    notes([sentence])
    plot.draw(prompt_tabs.chunks(varied, own=own, alt=prompt_tabs.alt("the chunk size", sentence)), key="chunks")
    _table(_varied(varied, "chunk_tokens", "Chunk", units.count))


def _hits(found: Shown) -> None:
    varied = hits(found.case, found.batch)
    scenario = found.case.scenario
    now = scenario.shared * scenario.hit
    sentence = words_prompt.hits(varied, now)
    notes([sentence])
    words = prompt_tabs.alt("the share of the prompt that is cached", sentence)
    plot.draw(prompt_tabs.hits(varied, now=now, alt=words), key="hits")
    _table(_varied(varied, "cached_share", "Cached", units.share))


def _apart(found: Shown) -> None:
    over, at = apart(found.case, found.batch)
    sentence = words_prompt.apart(over, at)
    notes([sentence, words_prompt.APART])
    words = prompt_tabs.alt("the batch", sentence)
    plot.draw(prompt_tabs.apart(over, now=found.batch, alt=words), key="apart")
    columns = [
        Column("Batch", "batch", over.batch.tolist(), units.count),
        Column("Prompt copies", "prompt_copies", over.copies.tolist(), lambda v: units.count(v, decimals=2)),
        Column("Separate", "usd_per_mtok_separate", over.apart_usd_per_mtok.tolist(), units.usd),
        Column("Together", "usd_per_mtok_together", over.together_usd_per_mtok.tolist(), units.usd),
        Column("First token, separate", "ttft_s_separate", over.apart_ttft_s.tolist(), units.duration),
        Column("First token, together", "ttft_s_together", over.together_ttft_s.tolist(), units.duration),
        Column("Between tokens, separate", "tpot_s_separate", over.apart_tpot_s.tolist(), units.duration),
        Column("Between tokens, together", "tpot_s_together", over.together_tpot_s.tolist(), units.duration),
    ]
    _table(columns)


def _table(columns: list[Column]) -> None:
    """Draw the rows of the open tab's figure behind a fold of their own."""
    with st.popover("Rows of the figure"):
        _rows(columns)


def _rows(columns: list[Column]) -> None:
    st.html(tables.to_html(columns, caption="The plotted rows"))


def chunks(case: Case, batch: float) -> Varied:
    """Return serving over the chunk sizes offered."""
    return prompt_levers.over_chunks(case, batch=batch)


def hits(case: Case, batch: float) -> Varied:
    """Return serving over the share of a prompt that is cached."""
    return prompt_levers.over_hits(case, batch=batch, cached_share=np.linspace(0.0, prompt_levers.MOST_HIT, 50))


def apart(case: Case, batch: float) -> tuple[Apart, int]:
    """Return both ways to serve over the batch, and the position of the one on screen."""
    grid = np.union1d(np.geomspace(1.0, max(2 * batch, 64.0), 60), [batch])
    return prompt_levers.apart(case, batch=grid), int(np.searchsorted(grid, batch))


def _varied(found: Varied, name: str, title: str, write: Any) -> list[Column]:
    return [
        Column(title, name, found.knob.tolist(), write),
        Column("First token", "ttft_s", found.ttft_s.tolist(), units.duration),
        Column("Between tokens", "tpot_s", found.tpot_s.tolist(), units.duration),
        Column("Longest gap", "gap_s", found.gap_s.tolist(), units.duration),
        Column("All-in", "usd_per_mtok", found.usd_per_mtok.tolist(), units.usd),
    ]


# Folds ------------------------------------------------------------------------------------------


def columns(found: ShareMap) -> list[Column]:
    """Return the map as rows: one a cell, every third length."""
    rows, cells = np.meshgrid(np.arange(0, found.output_tokens.size, 3), np.arange(0, found.input_tokens.size, 3))
    row, cell = rows.ravel(), cells.ravel()
    return [
        Column("Input", "input_tokens", found.input_tokens[cell].round().tolist(), units.count),
        Column("Output", "output_tokens", found.output_tokens[row].round().tolist(), units.count),
        Column("Prompt’s share", "prompt_share", found.share[row, cell].tolist(), units.share),
        Column("Batch", "batch", found.batch[row, cell].tolist(), units.count),
    ]


def draw_folds(found: Shown, curve: CostCurve) -> None:
    """Draw the folds; each is built when it is opened."""
    for title, key, body in (
        ("Show the arithmetic", "fold_arithmetic", lambda: _arithmetic(found)),
        ("Data table", "fold_data", lambda: _rows(columns(found.map))),
        ("Sources, limits, error", "fold_sources", lambda: folds.sources(curve)),
    ):
        fold = st.expander(title, key=f"pa_{key}", on_change="rerun")
        if fold.open:
            with fold:
                body()


def _arithmetic(found: Shown) -> None:
    lines = explain_prompt.explain(found.request)
    rows = []
    for at, line in enumerate(lines):
        mark = " last" if at == len(lines) - 1 else ""
        rows.append(
            f'<span class="q{mark}">{html.escape(line.quantity)}</span><span class="how{mark}">'
            f'<span class="names">{html.escape(line.names)}</span><code>{html.escape(line.numbers)}</code></span>'
            f'<span class="r{mark}">= {html.escape(line.result)}</span>'
        )
    st.html(f'<div class="arith">{"".join(rows)}</div>')
