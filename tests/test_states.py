"""What pages say where a setup can't be shown as asked, and the way out of it."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from costmodel.curve import cost_curve
from ui import priceline, state, states

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")


def opened(**params):
    at = AppTest.from_file(SHELL, default_timeout=30)
    for key, value in params.items():
        at.query_params[key] = value
    at.run()
    assert [error.value for error in at.exception] == []
    return at


def curve_of(**values):
    return cost_curve(state.scenario_of(values)[0])


def test_too_large_says_need_and_offer_and_each_button_makes_it_fit():
    at = opened(g="1", w="bf16", b="8")
    labels = [b.label for b in at.button if b.key.startswith("fix_")]

    assert "2 × H100 SXM" in labels[0]
    assert all("per Mtok" in label for label in labels)
    at.button(key="fix_0").click().run()
    assert at.session_state["g"] == "2"
    assert not [b for b in at.button if b.key and b.key.startswith("fix_")]


def test_too_large_in_words():
    assert states.too_large(curve_of(g="1", w="bf16")) == (
        "llama-3.1-70b doesn't fit: its weights need **141 GB**, 1 × H100 SXM offers **77 GB**."
    )
    assert "leaves no room for one sequence of" in states.too_large(
        curve_of(ctx=131_072, g="2", w="fp8", b=1, kv="fp32")
    )


def test_batch_past_the_wall_keeps_its_value_and_says_so():
    at = opened(b="5000")

    assert at.session_state["b"] == 5000
    assert states.past_wall(curve_of(b=5000)).startswith("Batch 5,000 doesn't fit: ")
    assert states.past_wall(curve_of(b=64)) == ""


def test_missing_unit_is_said_and_the_value_kept():
    at = opened(hw="a100-sxm-80gb")
    notes = states.notes(curve_of(hw="a100-sxm-80gb"))

    assert at.session_state["w"] == "fp8"
    assert "A100 SXM 80GB has no fp8 arithmetic: stored in 8 bits, multiplied in bf16." in notes


@pytest.mark.parametrize(
    ("params", "legal", "illegal"),
    [({"g": "3"}, "legal_g_4", "legal_g_3"), ({"h": "96"}, "legal_h_32", "legal_h_96")],
)
def test_illegal_split_offers_what_is_legal_and_loses_nothing(params, legal, illegal):
    at = opened(**params)
    keys = [b.key for b in at.button]

    assert len(at.error) == 1
    assert legal in keys
    assert illegal not in keys
    assert all(at.session_state[key] == value for key, value in params.items())
    at.button(key=legal).click().run()
    assert len(at.error) == 0
    assert [error.value for error in at.exception] == []


def test_more_gpus_than_the_link_joins_is_an_error_with_a_way_back():
    at = opened(g="256")
    at.button(key="start_again").click().run()

    assert at.session_state["g"] == "4"


# Price line -------------------------------------------------------------------------------------


def test_price_line_has_every_part_and_adds_up():
    line = priceline.line(curve_of())
    total = line.split(" · ")[0]
    money = [float(word.strip("$*")) for word in total.split() if word.strip("*").startswith("$")]

    assert money[0] == pytest.approx(money[1] + money[2])
    for part in ("All-in **$", "per Mtok out = answer $", "per 1,000 requests", "tok/s each", "first token",
                 "batch 64 of ", "100 % busy"):  # fmt: skip
        assert part in line


def test_price_line_at_the_sliders_stop_is_the_price_line_there():
    curve = curve_of()
    stops = curve.ticks.chosen.tolist()
    at = stops.index(64.0)

    assert priceline.lines(curve)[at] == priceline.line(curve)


def test_price_line_without_a_price_says_why_and_without_limits_too():
    assert priceline.line(curve_of(hw="tpu-v4", g="8")).startswith("No price: no dated ")
    offline = curve_of(sp=0, ft=0)
    at_wall = curve_of(sp=0, ft=0, b=offline.wall)

    assert priceline.line(offline).endswith("no limits")
    assert priceline.line(at_wall).endswith("offline: no limits, batch at the wall")


def test_price_line_is_the_same_whichever_cost_the_figure_shows():
    scenario = state.default()

    assert priceline.line(cost_curve(scenario, cost="all-in")) == priceline.line(cost_curve(scenario))
