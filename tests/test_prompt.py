"""Prompt and answer: parts that add up, a map that agrees with the price line, knobs, the page."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from costmodel import explain_prompt, prompt_levers, prompt_share, serve
from costmodel.case import resolve
from costmodel.scenario import scenario
from ui import state, words_prompt
from ui.charts import prompt as chart
from ui.charts import prompt_tabs
from ui.controls import AS_ENGINE

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")
ENGINES = ("vllm", "sglang", "trtllm")


def case(**changes):
    return resolve(state.default().but(**changes))


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_parts_add_up_to_the_served_cost(engine, separate):
    one = prompt_share.request(case(engine=engine), batch=64.0, separate=separate)

    assert 0 < one.prompt_share < 1
    assert one.usd_prompt + one.usd_answer == pytest.approx(one.usd_per_request)
    assert one.usd_per_mtok_answer + one.usd_per_mtok_prompt == pytest.approx(one.usd_per_mtok)
    assert one.usd_per_mtok_input * 1500 == pytest.approx(one.usd_per_mtok_prompt * 1000)
    if not separate:
        served = serve.serve(state.default().but(engine=engine), batch=64)
        assert one.usd_per_mtok == pytest.approx(float(served.usd_per_mtok))


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("changes", [{}, {"shared": 0.5}, {"spec_tokens": 3}, {"engine": "sglang"}])
def test_map_at_the_scenarios_lengths_is_its_own_share(changes, separate):
    found = case(**changes)
    one = prompt_share.request(found, batch=64.0, separate=separate)
    there = prompt_share.share_map(found, batch=64, input_tokens=[1500], output_tokens=[1000], separate=separate)

    assert there.share[0, 0] == pytest.approx(one.prompt_share, rel=1e-9)


def test_share_rises_with_the_prompt_and_falls_with_the_answer():
    found = prompt_share.share_map(
        case(), batch=32, input_tokens=np.geomspace(100, 8000, 12), output_tokens=np.geomspace(20, 4000, 9)
    )

    assert np.all(np.diff(found.share, axis=1) > 0)
    assert np.all(np.diff(found.share, axis=0) < 0)
    assert np.all((found.share >= 0) & (found.share <= 1))


def test_map_is_the_loop_of_single_points():
    inputs, outputs = [300.0, 9000.0], [50.0, 700.0, 3000.0]
    found = prompt_share.share_map(case(), batch=16, input_tokens=inputs, output_tokens=outputs)

    for row, output in enumerate(outputs):
        for column, given in enumerate(inputs):
            one = case(input_tokens=given, output_tokens=output)
            assert found.share[row, column] == pytest.approx(prompt_share.request(one, batch=16.0).prompt_share)


def test_where_nothing_fits_there_is_no_share():
    found = prompt_share.share_map(case(), batch=64, input_tokens=[1000, 5_000_000], output_tokens=[100])

    assert np.isfinite(found.share[0, 0])
    assert np.isnan(found.share[0, 1])
    assert found.batch[0, 1] < 1


def test_half_is_where_the_share_is_one_half():
    at = prompt_share.half_at(case(), batch=64, most_tokens=1e6)
    there = prompt_share.share_map(case(), batch=64, input_tokens=[at], output_tokens=[1000]).share[0, 0]

    assert there == pytest.approx(0.5, abs=0.01)
    assert prompt_share.half_at(case(output_tokens=100_000), batch=4, most_tokens=1000) is None


def test_one_token_is_all_prompt():
    assert prompt_share.request(case(output_tokens=1), batch=8.0).prompt_share == 1


def test_no_price_still_gives_shares():
    own = scenario(hardware="m4-max", tp=1, model="llama-3.1-8b", weights="fp8")
    found = prompt_share.request(resolve(own), batch=4.0)

    assert np.isnan(found.usd_per_mtok)
    assert 0 < found.prompt_share < 1
    assert "No price" in words_prompt.prices(found)
    assert "prompt’s share" in explain_prompt.explain(found)[-1].quantity.lower()


# Knobs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_smaller_chunks_shorten_the_longest_gap_and_delay_the_first_token(engine):
    found = prompt_levers.over_chunks(case(engine=engine, input_tokens=20_000), batch=16)

    assert np.all(np.diff(found.gap_s) >= -1e-12)
    assert found.ttft_s[0] >= found.ttft_s[-1]
    assert np.all(found.gap_s >= found.tpot_s * 0.99)


def test_chunks_are_the_loop_of_cases():
    own = case(input_tokens=6000)
    found = prompt_levers.over_chunks(own, batch=16)
    for at, size in enumerate(prompt_levers.CHUNKS[1:]):
        one = serve.at_batch(prompt_share.with_chunk(own, size), batch=16.0)
        assert found.ttft_s[at] == pytest.approx(float(one.ttft_s))
        assert found.usd_per_mtok[at] == pytest.approx(float(one.usd_per_mtok))


def test_hits_lower_wait_and_cost_and_agree_with_the_scenario():
    found = prompt_levers.over_hits(case(), batch=64, cached_share=[0.0, 0.5, 0.9])
    shared = serve.serve(state.default().but(shared=0.5), batch=64)

    assert np.all(np.diff(found.ttft_s) < 0)
    assert np.all(np.diff(found.usd_per_mtok) < 0)
    assert found.usd_per_mtok[1] == pytest.approx(float(shared.usd_per_mtok))


def test_separate_prompts_never_delay_answers_and_need_more_copies_at_larger_batches():
    found = prompt_levers.apart(case(), batch=[1, 8, 64])

    assert np.all(found.apart_tpot_s <= found.together_tpot_s)
    assert np.all(np.diff(found.copies) > 0)


# Figures and words ------------------------------------------------------------------------------


def test_map_figure_marks_the_scenario_and_reads_back_a_click():
    own = state.default()
    inputs, outputs = chart.axes(own)
    found = prompt_share.share_map(case(), batch=64, input_tokens=inputs, output_tokens=outputs)
    figure = chart.figure(found, own, 0.21, "x" * 50)
    (now,) = [s for s in figure.layout["shapes"] if s["name"] == "now"]

    assert (now["xanchor"], now["yanchor"]) == (1500, 1000)
    assert figure.data[1]["contours"]["start"] == figure.data[1]["contours"]["end"] == 50
    last = chart.picked(found, found.share.size - 1)
    assert last == {"input_tokens": 100_000, "output_tokens": 10_000}


@pytest.mark.parametrize("tokens", [(1, 1), (1, 1_000_000), (1_000_000, 1), (1_000_000, 1_000_000)])
def test_axes_always_hold_the_scenario(tokens):
    own = state.default().but(input_tokens=tokens[0], output_tokens=tokens[1])
    inputs, outputs = chart.axes(own)

    assert inputs[0] <= tokens[0] <= inputs[-1]
    assert outputs[0] <= tokens[1] <= outputs[-1]


@pytest.mark.parametrize(
    ("share", "advice"), [(0.9, "Shorten or reuse"), (0.5, "Both count"), (0.1, "Work on the answer")]
)
def test_answer_gives_the_advice_of_its_share(share, advice):
    one = prompt_share.request(case(), batch=64.0)
    changed = type(one)(**{**vars(one), "prompt_share": share})

    assert advice in words_prompt.answer(changed)


def test_arithmetic_ends_in_the_share_on_screen():
    one = prompt_share.request(case(), batch=64.0)

    assert explain_prompt.explain(one)[-1].result == f"{one.prompt_share * 100:.1f} %"
    assert 5 <= len(explain_prompt.explain(one)) <= 9


def test_tab_figures_name_their_lines():
    found = prompt_levers.over_chunks(case(), batch=64)
    figure = prompt_tabs.chunks(found, own=8192, alt="x" * 50)

    assert [t["name"] for t in figure.data] == ["first token", "longest gap", "mean gap", "all-in"]
    assert sum("all-in" in a["text"] for a in figure.layout["annotations"]) == 1


# The page ---------------------------------------------------------------------------------------


def page(**params):
    at = AppTest.from_file(SHELL, default_timeout=30)
    for key, value in params.items():
        at.query_params[key] = value
    at.run()
    at.switch_page("../pages/prompt_answer.py").run()
    assert [error.value for error in at.exception] == []
    return at


def shown(at):
    return " ".join(part.proto.body for part in at.get("html"))


def box(at, name):
    for part in at.get("bidi_component"):
        if part.proto.component_name == "plot":
            lines = part.proto.bytes.split(b"\n")
            if json.loads(lines[0])["name"] == name:
                return json.loads(lines[0]), json.loads(lines[1])
    raise AssertionError(name)


def test_page_says_share_and_first_token_and_draws_the_map():
    at = page()
    one = prompt_share.request(case(), batch=64.0)

    assert words_prompt.percent(one.prompt_share) in shown(at)
    assert box(at, "share_map")[0]["alt"].startswith("Heat map of the prompt’s share of cost")


@pytest.mark.parametrize(
    "params",
    [
        {"out": "1"}, {"in": "1000000"}, {"b": "65536"}, {"pa_dis": "on"}, {"pa_ch": "256"}, {"pa_ch": "0"},
        {"prof": "ideal"}, {"m": "deepseek-v3", "hw": "h200-sxm", "g": "8"}, {"g": "1"}, {"eng": "sglang"},
        {"sh": "100"}, {"hw": "m4-max", "g": "1", "m": "llama-3.1-8b"}, {"split": "pipeline"}, {"sd": "4"},
    ],
)  # fmt: skip
def test_page_stands_whatever_is_asked(params):
    at = page(**params)

    assert "Traceback" not in shown(at)
    assert "nan" not in shown(at).lower().replace("finan", "")


def test_chunk_of_the_page_reaches_the_figures():
    assert state.value("pa_ch") == AS_ENGINE
    small = page(pa_ch="256", **{"in": "20000"})
    own = page(**{"in": "20000"})

    assert shown(small) != shown(own)
