"""Compare and Your stack: pages, pins in the address, words that agree with the engine."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from costmodel.compare import compare, one_against_many
from costmodel.paid import judge
from costmodel.scenario import scenario
from ui import compare_view, pins, words_compare, words_paid
from ui.charts import compare as compare_chart
from ui.charts import paid as paid_chart

ROOT = Path(__file__).parents[1]
DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5)


def opened(page, **address):
    at = AppTest.from_file(str(ROOT / "ui" / "shell.py"), default_timeout=60)
    for key, value in address.items():
        at.query_params[key] = value
    at = at.run().switch_page(str(ROOT / "pages" / f"{page}.py")).run()
    assert [e.value for e in at.exception] == []
    return at


def html_of(at):
    return " ".join(h.proto.body for h in at.get("html"))


# Pins -------------------------------------------------------------------------------------------


def test_a_pin_comes_back_as_it_was():
    values = {"m": "llama-3.1-8b", "b": 128, "kv": "fp8", "pr": 2.5, "sh": 60.0}

    assert pins.parse(pins.text(values, name="my ~ own")) == (values, "my - own")


@pytest.mark.parametrize("broken", ["", "~", "b~0~n~x", "b~1e99", "zz~1", "kv~fp9~w", "n~" + "x" * 999])
def test_broken_pins_are_read_without_harm(broken):
    values, name = pins.parse(broken)

    assert values == {}
    assert len(name) <= pins.MOST_NAME


def test_pin_button_keeps_four_and_says_so():
    at = opened("compare")
    for batch in (8, 16, 32, 128):
        at.number_input(key="b").set_value(batch).run()
        at.button(key="pin").click().run()
    assert [at.session_state[k].split("~")[1] for k in pins.PINS] == ["8", "16", "32", "128"]

    at.button(key="pin").click().run()
    assert [t.value for t in at.toast] == [pins.FULL]


def test_pins_of_an_address_are_compared_used_and_removed():
    at = opened("compare", p1="b~256~n~wide", p2="m~llama-3.1-8b~g~1~n~small")

    assert "A (wide) costs <b>" in html_of(at)
    at.button(key="cmp_use_p2").click().run()
    assert at.session_state["m"] == "llama-3.1-8b"
    at.button(key="cmp_drop_p1").click().run()
    assert at.session_state["p1"] == ""


def test_a_pin_is_renamed():
    at = opened("compare", p1="b~256~n~wide")
    at.text_input(key="cmp_name_p1").set_value("very wide").run()

    assert at.session_state["p1"] == "b~256~n~very wide"


# Compare ----------------------------------------------------------------------------------------


def test_without_pins_batch_one_stands_against_the_batch():
    told = html_of(opened("compare"))

    assert "A (batch 1) costs <b>" in told
    assert "Pin up to four from any page." in told


def test_same_curve_is_no_tie_and_other_setups_may_be():
    one = compare(one_against_many(DEFAULT))
    near = compare([DEFAULT, DEFAULT.but(kv="fp8")])

    assert not one.too_close
    assert near.too_close
    assert "too close to call" in words_compare.answer(near)


def test_answer_names_the_dearer_first():
    told = words_compare.answer(compare([DEFAULT.but(batch=200), DEFAULT.but(batch=2)], ["wide", "narrow"]))

    assert told.startswith("B (narrow) costs **")
    assert "times faster" in told


def test_table_has_every_row_once():
    found = compare(one_against_many(DEFAULT))
    told = compare_view.table(found)

    for row in found.rows:
        assert told.count(f"<td>{row.label}</td>".replace('"', "&quot;")) == 1
    assert words_compare.alt(found).startswith("Table of 2 setups. Cheapest B, ")


def test_curves_carry_letters_and_the_batch_of_each():
    found = compare(one_against_many(DEFAULT))
    figure = compare_chart.figure(found)
    now = [t for t in figure.data if t["name"].startswith("now")]

    assert [t["x"][0] for t in now] == [1, 64]
    assert {"<b>A</b>", "<b>B</b>"} <= {a["text"] for a in figure.layout["annotations"]}


# Your stack -------------------------------------------------------------------------------------


def test_the_managers_question_is_answered():
    told = html_of(opened("your_stack"))
    bill = judge(DEFAULT, usd=1.4)

    assert f"<b>$1.40</b> is <b>{bill.word}</b>: 4.2 times the floor" in told
    assert f"<b>{bill.ratio:.2f} times</b> what this setup can do at 30 tok/s" in told
    assert f"{bill.cheaper} of 6 APIs sell the same mix for less." in told


def test_input_and_output_together_and_machines_are_converted():
    both = html_of(opened("your_stack", ys_p="0.56", ys_u="input and output"))
    machines = html_of(opened("your_stack", ys_u="machines", ys_g="4", ys_h="3.99", ys_t="273.6"))

    for told in (both, machines):
        assert "<b>$1.40</b> is <b>" in told
        assert "$1.40 per million output tokens, prompts included." in told


def test_a_bill_below_the_setups_best_is_doubted():
    assert "check the bill or the setup" in words_paid.answer(judge(DEFAULT, usd=0.2))


def test_scale_shows_all_that_it_names():
    bill = judge(DEFAULT, usd=1.4)
    marks, apis = paid_chart.figure(bill).data

    assert marks["x"][-1] == 1.4
    assert marks["x"][0] == bill.floor_usd_per_mtok
    assert len(apis["x"]) == 6


def test_no_price_no_scale():
    bill = judge(scenario(hardware="mi355x", tp=8), usd=1.4)

    assert paid_chart.figure(bill) is None
    assert "No price is known" in words_paid.answer(bill)


# On the cost curve ------------------------------------------------------------------------------


def test_pins_are_thin_lines_on_the_cost_curve_up_to_their_walls():
    from costmodel.curve import cost_curve
    from ui import words
    from ui.charts import cost_curve as chart
    from ui.charts import pinned

    curve = cost_curve(DEFAULT)
    plain, _ = chart.figure(curve, words.alt(curve, words.row(curve)))
    pin = DEFAULT.but(kv="fp8")
    drawn = pinned.over(plain, curve, [("A", pin), ("B", DEFAULT.but(model="deepseek-v3"))])
    (line,) = [t for t in drawn.data if t["name"].startswith("pin")]

    assert line["name"] == "pin A"
    assert line["x"][-1] == cost_curve(pin).wall
    assert line["line"]["width"] < 2
    assert "<b>A</b>" in {a["text"] for a in drawn.layout["annotations"]}
    assert pinned.over(plain, curve, []) is plain
