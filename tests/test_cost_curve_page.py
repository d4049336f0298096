"""The cost curve page as Streamlit runs it: answer, figure, folds, states."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from costmodel.curve import cost_curve
from ui import state

SHELL = Path(__file__).parents[1] / "ui" / "shell.py"


def opened(**parameters):
    at = AppTest.from_file(str(SHELL), default_timeout=30)
    for key, value in parameters.items():
        at.query_params[key] = value
    at.run()
    assert [error.value for error in at.exception] == []
    return at


def html(at):
    return "\n".join(element.proto.body for element in at.get("html"))


def figures(at):
    """What each figure sends; other components of the page send no alternative text."""
    sent = [part.proto.bytes.split(b"\n") for part in at.get("bidi_component")]
    return [json.loads(lines[0]) for lines in sent if b'"alt"' in lines[0]]


def alt(at):
    return figures(at)[0]["alt"]


def button(at, key):
    return next(b for b in at.button if b.key == key)


def test_answer_price_metrics_and_figure_show_one_cost():
    at = opened()
    page = html(at)

    usd = page.split('data-live="usd">')[1].split("<")[0]
    assert f"a million tokens cost <b>{usd}</b>" in page
    assert f"answer {usd}" in page
    assert f"to {usd} at 64" in alt(at)


def goals(at):
    """The batches that the buttons of the edges' table lead to."""
    return [int(part.split('"')[0]) for part in html(at).split('data-go-batch="')[1:]]


def test_go_there_leads_to_the_edges_that_exist():
    curve = cost_curve(state.default())

    assert goals(opened()) == [edge.step for edge in curve.edges if edge.step and edge.step <= curve.wall]
    assert goals(opened())[-1] == curve.wall == 343
    assert "Batch 343 gives" in html(opened(b="343"))


def test_an_edge_past_the_wall_has_no_button():
    at = opened(m="gpt-oss-120b", g="1", w="as-published")
    wall = goals(at)[-1]

    assert all(batch <= wall for batch in goals(at))
    assert "doesn’t fit" in html(at)


@pytest.mark.parametrize("choice", ["GPUs", "weights", "cache", "context", "KV heads", "accelerator"])
def test_vary_draws_a_family(choice):
    assert "cost curves over the batch, ending at" in alt(opened(vary=choice))


def test_all_in_is_drawn_when_asked_for():
    at = opened(cnt="all-in")

    assert "All-in cost per million tokens falls" in alt(at)
    assert "All-in, per million tokens" in html(at)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("fold_arithmetic", "Weights read a step"),
        ("fold_serve", "Why "),
        ("fold_data", "The plotted rows"),
        ("fold_sources", "the median of"),
    ],
)
def test_folds_are_built_when_opened(key, found):
    at = opened()
    assert found not in html(at)

    at.session_state[key] = True
    at.run()

    assert [error.value for error in at.exception] == []
    assert found in html(at)


def test_the_arithmetic_ends_with_the_displayed_cost():
    at = opened()
    usd = html(at).split('data-live="usd">')[1].split("<")[0]
    at.session_state["fold_arithmetic"] = True
    at.run()

    assert f"= {usd} per Mtok</span></div>" in html(at)


def test_what_does_not_fit_shows_its_memory_and_no_curve():
    at = opened(m="llama-3.1-405b", g="4")

    assert figures(at) == []
    assert "fit: its weights need" in html(at)
    assert "limitline" in html(at)
    assert any(b.key.startswith("fix_") for b in at.button)


@pytest.mark.parametrize(
    "parameters",
    [
        {"m": "deepseek-v3", "hw": "h200-sxm", "g": "8", "w": "as-published"},
        {"m": "nemotron-h-56b"},
        {"m": "qwen3-30b-a3b", "hw": "rtx-4090", "g": "1", "w": "awq-int4"},
        {"hw": "mi455x"},
        {"hw": "mi455x", "vary": "accelerator"},
        {"hw": "mi455x", "cnt": "all-in"},
        {"sp": "0"},
        {"sp": "500"},
        {"b": "5000"},
        {"out": "1"},
        {"prof": "ideal"},
        {"sd": "3"},
        {"split": "pipeline"},
        {"ctx": "1000000"},
    ],
    ids=str,
)
def test_odd_setups_are_drawn_with_every_fold_open(parameters):
    at = opened(**parameters)
    for key in ("fold_arithmetic", "fold_serve", "fold_data", "fold_sources"):
        at.session_state[key] = True
    at.run()

    assert [error.value for error in at.exception] == []
    assert len(figures(at)) == 1


def test_experts_have_a_tab_only_where_there_are_some():
    assert [tab.label for tab in opened().tabs] == ["Memory", "Step in ms"]
    routed = opened(m="gpt-oss-20b", w="as-published")
    assert [tab.label for tab in routed.tabs] == ["Memory", "Step in ms", "Experts"]
