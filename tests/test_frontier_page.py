"""Speed vs cost as people see it: sentences, figure, table, page."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from costmodel.picks import Limits
from costmodel.scenario import scenario
from ui import frontier_blocks as blocks
from ui import frontier_view as views
from ui import words_frontier as words
from ui.charts import frontier as chart
from ui.charts.labels import Board, Spot, size, spread, within

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")
ASKED = scenario(model="llama-3.1-70b", weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5)
CARDS = ("h100-sxm", "h200-sxm", "b200-sxm", "a100-sxm-80gb", "l40s")


def view(asked=ASKED, **more):
    return views.view(asked, views.Asked(accelerators=CARDS, **more))


@pytest.fixture(scope="module")
def shown():
    return view()


def close(pick, low, high):
    return replace(pick, low=pick.usd_per_mtok * low, high=pick.usd_per_mtok * high)


def with_bands(shown, low, high):
    answers = shown.answers
    banded = replace(
        answers, cheapest=close(answers.cheapest, low, high), runner_up=close(answers.runner_up, low, high)
    )
    return replace(shown, answers=banded)


def test_the_answer_names_the_cheapest_and_the_neighbours(shown):
    said = words.answer(with_bands(shown, 0.999, 1.001))

    best = shown.answers.cheapest
    assert f"At 30 tok/s the cheapest 8-bit setup is **{best.gpus} × {best.accelerator.short}**" in said
    assert "ettling for 20 saves $" in said
    assert "50 costs $" in said
    assert "Your setup costs $" in said


def test_costs_in_the_sentence_are_those_of_the_dots(shown):
    by_speed = {round(r.tokens_per_s): r.pick.usd_per_mtok for r in shown.dots}
    best = shown.answers.cheapest.usd_per_mtok

    assert set(by_speed) == {20, 50, 75}
    assert by_speed[20] < best < by_speed[50] < by_speed[75]


def test_bands_that_overlap_are_said(shown):
    said = words.answer(with_bands(shown, 0.5, 1.6))

    assert "are too close to call" in said
    assert "cheapest" not in said.split(".")[0]


def test_may_miss_is_said_and_drawn_hollow(shown):
    wide = with_bands(shown, 0.5, 1.6)
    assert any(note.startswith("It may miss the speed") for note in words.notes(wide))
    dot = next(t for t in chart.figure(wide).data if t["name"] == "best")
    assert dot["marker"]["color"] == "role:paper"
    sure = next(t for t in chart.figure(with_bands(shown, 0.9999, 1.0001)).data if t["name"] == "best")
    assert sure["marker"]["color"] != "role:paper" or shown.answers.cheapest.tokens_per_s < 30.003


def test_nothing_meets_the_limits():
    said = words.answer(view(ASKED.but(max_tpot_s=1 / 400)))

    assert said.startswith("Nothing meets **400 tok/s and 500 ms**. The speed binds: at ")
    assert " it would be **" in said


def test_nothing_runs():
    found = views.view(
        scenario(model="llama-3.1-405b"), views.Asked(accelerators=("rtx-4090",))
    )
    assert words.answer(found).startswith("Nothing runs this model here: every setup ")
    assert chart.figure(found).alt.startswith("Line chart")


def test_a_budget_buys_a_speed():
    assert "For $2.00 the fastest is " in words.answer(view(ASKED.but(budget_usd_per_mtok=2.0)))


def test_no_speed_limit():
    said = words.answer(view(ASKED.but(max_tpot_s=None)))

    assert said.startswith("Without a speed limit")
    assert "ettling" not in said


def test_words_per_second():
    found = view(in_words=True)

    assert "At 22 words/s" in words.answer(found) or "At 23 words/s" in words.answer(found)
    assert "words per second each user sees" in json.dumps(chart.figure(found).layout, default=str)


def test_users_make_a_fleet():
    found = view(users=500.0)

    assert found.fleet.copies == -(-500 // found.answers.cheapest.batch)
    assert any("500 users at once take" in note for note in words.notes(found))


def test_an_illegal_own_setup_is_said_and_the_rest_stays():
    found = view(ASKED.but(tp=3))

    assert found.now is None
    assert any("Your own setup isn’t drawn" in note for note in words.notes(found))
    assert found.answers.cheapest is not None


def test_figure_has_no_cloud_and_names_its_lines(shown):
    figure = chart.figure(shown)
    lines = [t for t in figure.data if t["mode"] == "lines"]

    assert all(len(t["x"]) <= chart.MOST_POINTS for t in lines)
    assert sum(len(t["x"]) for t in figure.data) < 2000
    text = json.dumps(figure.layout["annotations"], default=str, ensure_ascii=False)
    for at in shown.coloured:
        assert shown.sweep.space.hardware[at].short in text
    assert "APIs" in text
    assert "now: 4 × H100 SXM" in text


def test_customdata_leads_to_the_setup(shown):
    line = next(t for t in chart.figure(shown).data if t["mode"] == "lines" and "text" in t)
    fields = views.picked(shown, line["customdata"][3])

    assert set(fields) == {"hardware", "tp", "split", "weights", "kv", "arithmetic", "batch"}
    asked = ASKED.but(**fields)
    from costmodel import serve

    served = serve.serve(asked)
    assert float(served.usd_per_mtok) == pytest.approx(float(line["y"][3]))
    assert views.picked(shown, "x") is None
    assert views.picked(shown, 10**12) is None


def test_four_bits_are_dotted_and_asked_for(shown):
    allowed = view(four_bits=True)

    assert shown.dotted == ()
    assert any(t.get("line", {}).get("dash") == "dot" for t in chart.figure(allowed).data)
    assert "weights in 4 bits" in json.dumps(chart.figure(allowed).layout["annotations"], default=str)


def test_a_model_published_in_four_bits_is_no_quality_change():
    found = views.view(scenario(model="gpt-oss-120b"), views.Asked(accelerators=("h100-sxm",)))

    assert not views.narrow_rows(found.sweep).any()


def test_other_axes(shown):
    other = view(axes=("ttft", "throughput"))
    figure = chart.figure(other)

    assert "Tokens per second and GPU" in json.dumps(figure.layout, default=str)
    assert other.coloured == shown.coloured
    assert not [t for t in figure.data if t["mode"] == "markers"]


def test_alt_says_form_axes_takeaway_and_table(shown):
    said = words.alt(shown)

    assert said.startswith("Line chart of all-in cost over tokens per second per user, ")
    assert "runner-up" in said
    assert "Cost rises " in said
    assert said.endswith("Table follows.")
    assert "**" not in said


def test_rows_and_file_hold_what_is_drawn(shown):
    lines = blocks.csv(shown).splitlines()

    assert lines[0].startswith("hardware,gpus,weights,kv,batch,tokens_per_s")
    assert len(lines) == 1 + sum(line.index.size for line in shown.lines)


# Labels -----------------------------------------------------------------------------------------


def test_labels_avoid_each_other():
    board = Board(400, 300, [])
    spots = [Spot(200, 150, 0, 0), Spot(200, 150, 0, 60)]

    assert board.put("one label", spots) == spots[0]
    assert board.put("another one", spots) == spots[1]


def test_labels_avoid_lines():
    across = np.linspace(0, 400, 200)
    board = Board(400, 300, [(across, np.full(200, 150.0))])

    assert board.put("words", [Spot(100, 150, 0, 0), Spot(100, 150, 0, 40)]).dy == 40


def test_labels_stay_inside():
    words_ = "a rather long label"
    box = within(Spot(10, 10, -50, -30, "center"), words_, width=400, height=300).box(*size(words_))

    assert box.left >= 0
    assert box.low >= 0


def test_spread_keeps_order_and_distance():
    found = spread([10, 11, 12, 90], apart=18, low=0, high=100)

    assert sorted(found) == found
    assert min(np.diff(found)) >= 18 - 1e-9
    assert found[0] >= 0


# Page -------------------------------------------------------------------------------------------


def page(**params):
    at = AppTest.from_file(SHELL, default_timeout=30)
    for key, value in params.items():
        at.query_params[key] = value
    at.run()
    return at.switch_page("../pages/frontier.py").run()


def html_of(at):
    return " ".join(part.proto.body for part in at.get("html"))


def test_page_answers():
    at = page()

    assert not at.exception
    assert at.title[0].value == "What does responsiveness cost?"
    assert "30 tok/s" in html_of(at)
    assert "What a speed costs" in html_of(at)


def test_page_with_a_setup_that_cannot_run_still_answers():
    at = page(g="3")

    assert not at.exception
    assert "Your own setup isn’t drawn" in html_of(at)


def test_limits_object_of_the_page():
    assert Limits.of(ASKED).given == {"max_tpot_s": 1 / 30, "max_ttft_s": 0.5}


@pytest.mark.parametrize("four_bits", [False, True])
def test_the_shared_command_prints_the_pages_figures(capsys, four_bits):
    import shlex

    from costmodel.cli.app import main

    asked = views.Asked(accelerators=CARDS, four_bits=four_bits, users=500.0)
    scenario_ = ASKED.but(budget_usd_per_mtok=3.0, input_tokens=2000)
    line = blocks.command(scenario_, asked)
    with pytest.raises(SystemExit):
        main([*shlex.split(line)[3:], "--json"])
    record = json.loads(capsys.readouterr().out)
    found = views.view(scenario_, asked)

    assert record["cheapest"]["usd_per_mtok"] == pytest.approx(found.answers.cheapest.usd_per_mtok, rel=1e-9)
    assert record["fastest"]["tpot_s"] == pytest.approx(found.answers.fastest.tpot_s, rel=1e-9)
    assert record["fleet"]["copies"] == found.fleet.copies


def test_pins_are_thin_lines_with_their_letter():
    pinned = (("A", ASKED.but(batch=16)), ("B", ASKED.but(hardware="h200-sxm")), ("C", ASKED.but(tp=3)))
    found = view(pins=pinned)
    figure = chart.figure(found)
    lines = {t["name"]: t["line"]["dash"] for t in figure.data if t["name"] in {"pin A", "pin B"}}

    assert [p.letter for p in found.pinned] == ["A", "B"]
    assert lines == {"pin A": "solid", "pin B": "dash"}
    assert "<b>A</b>" in [a["text"] for a in figure.layout["annotations"]]
    from costmodel import serve

    at_16 = serve.serve(ASKED.but(batch=16))
    first = found.pinned[0]
    assert first.usd_per_mtok[first.at] == pytest.approx(float(at_16.usd_per_mtok))


def test_an_own_setup_that_does_not_fit_is_said():
    found = view(ASKED.but(batch=5000))

    assert not found.now.fits
    assert "Your own setup isn’t drawn: batch 5,000 doesn’t fit." in words.notes(found)
    assert "Your setup costs" not in words.answer(found)


def test_junk_in_the_pages_own_address_is_said():
    at = page(fr_hw="h100-sxm,h1000", fr_x="speed", fr_y="speed")

    assert not at.exception
    assert "got &#x27;h1000&#x27;" in html_of(at) or "got 'h1000'" in html_of(at)
    assert "The axes must differ" in html_of(at)
