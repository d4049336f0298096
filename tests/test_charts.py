"""The cost curve's figures as data: what is drawn is what the engine says, and names don't collide."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.case import resolve
from costmodel.curve import cost_curve
from costmodel.explore import point
from costmodel.scenario import scenario
from costmodel.vary import KNOBS, family
from ui import plot, units, words
from ui.charts import cost_curve as chart
from ui.charts import live, rail, tabs, vary

DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30)
ODD = {
    "latent": {"model": "deepseek-v3", "hardware": "h200-sxm", "tp": 8},
    "experts, windows": {"model": "gpt-oss-120b", "tp": 1},
    "small card": {"model": "qwen3-30b-a3b", "hardware": "rtx-4090", "tp": 1, "weights": "awq-int4"},
    "states": {"model": "nemotron-h-56b", "tp": 4},
    "neither price nor capacity": {"hardware": "mi455x"},
    "no speed asked for": {"weights": "fp8", "max_tpot_s": None},
    "no batch fast enough": {"max_tpot_s": 1e-4},
    "one sequence fits": {"weights": "fp8", "tp": 1},
    "long batch": {"weights": "fp8", "batch": 5000},
    "one-token answers": {"weights": "fp8", "output_tokens": 1},
}


def curve_of(changes, **more):
    return cost_curve(scenario(**({"max_tpot_s": 1 / 30} | changes)), **more)


def trace(figure, name):
    return next(t for t in figure.data if t["name"] == name)


def named(parts, name):
    return next(p for p in parts if p.get("name") == name)


# Figure -----------------------------------------------------------------------------------------


def test_line_is_what_point_says_and_ends_at_the_wall():
    curve = cost_curve(DEFAULT)
    figure, _ = chart.figure(curve, "words")
    total, time = trace(figure, "total"), trace(figure, "time")

    assert total["x"][0] == 1
    assert total["x"][-1] == curve.wall == 343
    assert total["y"] == pytest.approx(point(DEFAULT, batch=total["x"]).usd_per_mtok)
    assert time["y"] == pytest.approx(1000 * curve.shown.tpot_s[curve.line.batch <= 343])


def test_strip_adds_up_in_the_order_from_what_batching_cannot_remove():
    figure, _ = chart.figure(cost_curve(DEFAULT), "words")
    strip = [t for t in figure.data if t.get("stackgroup") == "share"]

    parts = [t["name"].removeprefix("share ") for t in strip]

    assert parts == ["cache", "arithmetic", "links", "fixed", "weights"]
    assert sum(t["y"] for t in strip) == pytest.approx(100)


def test_band_is_the_class_of_measured_runs():
    curve = cost_curve(DEFAULT)
    figure, _ = chart.figure(curve, "words")
    low, high = curve.case.constants.band

    assert trace(figure, "low y")["y"] == pytest.approx(trace(figure, "total")["y"] * low)
    assert trace(figure, "high y")["y"] == pytest.approx(trace(figure, "total")["y"] * high)


def test_rows_are_56_17_and_27_percent():
    place = chart.geometry(cost_curve(DEFAULT), narrow=False)
    heights = [high - low for low, high in place.all_rows]

    assert [h / sum(heights) for h in heights] == pytest.approx([0.56, 0.17, 0.27])
    assert chart.geometry(cost_curve(DEFAULT), narrow=True).strip is None


def test_figure_does_not_depend_on_the_batch():
    """So a new batch draws nothing but the marks it moves."""
    curves = [cost_curve(DEFAULT.but(batch=batch)) for batch in (1, 64, 343, 999)]

    assert len({plot.payload(chart.figure(curve, "words")[0], name="x") for curve in curves}) == 1


def test_dollars_in_1_2_5_and_batches_in_powers_of_two():
    figure, _ = chart.figure(cost_curve(DEFAULT), "words")
    ticks = figure.layout["yaxis"]["tickvals"]

    assert {f"{t:e}"[0] for t in ticks} <= {"1", "2", "5"}
    assert figure.layout["xaxis"]["tickvals"] == [2**k for k in range(11)]
    assert figure.layout_narrow["xaxis"]["tickvals"] == [4**k for k in range(6)]


def test_no_text_is_smaller_than_12_px():
    for changes in ODD.values():
        figure, _ = chart.figure(curve_of(changes), "words")
        for layout in (figure.layout, figure.layout_narrow):
            assert min(a["font"]["size"] for a in layout["annotations"]) >= 12


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD)
@pytest.mark.parametrize("cost", ["answer", "all-in"])
def test_every_kind_of_setup_is_drawn_and_can_be_sent(changes, cost):
    curve = curve_of(changes, cost=cost)
    figure, _ = chart.figure(curve, words.alt(curve, words.row(curve)))
    sent = plot.payload(figure, name="x", live=live.live(curve, live.table(curve)))

    assert "NaN" not in str(json.loads(sent.split(b"\n")[1]))
    assert [t for t in figure.data if t["name"] == "total"] == [] or curve.priced


def test_nothing_that_would_not_run_is_marked():
    """Edges past the wall are words in the note, not rules in the grey."""
    curve = curve_of(ODD["experts, windows"])
    figure, _ = chart.figure(curve, "words")
    rules = {s["name"] for s in figure.layout["shapes"] if s.get("name", "").startswith("rule ")}

    assert rules == {"rule limit", "rule wall"}
    assert any("cache = weights" in sentence for sentence in words.note(curve))


# Live table -------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD)
def test_table_is_what_the_server_says_at_each_batch(changes):
    curve = curve_of(changes)
    table = live.table(curve)

    for batch in (table.ticks[0], table.ticks[len(table.ticks) // 2], table.ticks[-1]):
        there = cost_curve(curve.case.scenario.but(batch=batch))
        row, own = table.at(batch), words.row(there)
        assert row["answer"] == words.answer(there, own)
        assert row["usd"] == (units.usd(own.usd) if there.priced else units.MISSING)
        assert row["time"] == pytest.approx(1000 * own.tpot_s)
        assert row["batch"] == own.batch


def test_a_batch_between_the_stops_becomes_a_stop():
    between = next(b for b in range(100, 343) if b not in live.table(cost_curve(DEFAULT)).ticks)
    table = live.table(cost_curve(DEFAULT.but(batch=between)))

    assert between in table.ticks
    assert list(table.ticks) == sorted(table.ticks)
    assert {len(column) for column in table.columns.values()} == {len(table.ticks)}


def test_past_the_wall_a_cross_stands_at_the_wall():
    row = live.table(cost_curve(DEFAULT.but(batch=600))).at(600)

    assert (row["batch"], row["dot"], row["cross"]) == (343, 0, 1)
    assert "**343** is the most on 4 × H100 SXM" in row["answer"]


def test_labels_stay_inside_and_above_the_line():
    curve = cost_curve(DEFAULT)
    table, place = live.table(curve), chart.geometry(curve, narrow=False)
    for at in range(len(table.ticks)):
        x = chart.x_px(table.columns["batch"][at], curve, place) + table.columns["label_ax"][at]
        assert live.LABEL_HALF_PX <= x <= place.width_px - live.LABEL_HALF_PX + 9


# Rail -------------------------------------------------------------------------------------------


def marks(*places):
    return [rail.Mark(f"e{i}", f"edge number {i}", x) for i, x in enumerate(places)]


def sides(*places, **more):
    return [(p.side, p.lane) for p in rail.place(marks(*places), width=930, **more)]


def test_a_name_stands_right_of_its_rule():
    assert sides(300) == [("right", 0)]
    assert sides(300, 500, 700) == [("right", 0)] * 3


def test_a_near_right_neighbour_pushes_it_left():
    assert sides(400, 509) == [("left", 0), ("right", 0)]
    assert sides(400, 511) == [("right", 0), ("right", 0)]


def test_then_to_the_second_lane():
    assert sides(400, 450, 500) == [("left", 0), ("left", 1), ("right", 0)]


def test_never_more_than_two_lanes_and_the_rest_are_numbers():
    found = rail.place(marks(400, 410, 420, 430, 440), width=930)

    assert {p.lane for p in found} <= {0, 1}
    assert [p.circled for p in found if p.side == "number"] == ["①", "②"][: sum(p.side == "number" for p in found)]
    assert any(p.side == "number" for p in found)


def test_a_name_keeps_off_the_title_and_the_end():
    assert sides(60, taken_px=200) == [("right", 1)]
    assert sides(900) == [("left", 0)]


@given(st.lists(st.floats(0, 930), min_size=1, max_size=5))
def test_names_never_overlap(places):
    at = marks(*places)
    boxes = {0: [], 1: []}
    for spot in rail.place(at, width=930, taken_px=150):
        mark = next(m for m in at if m.key == spot.key)
        wide = rail.width_px(mark.text)
        if spot.side != "number":
            low = mark.x_px if spot.side == "right" else mark.x_px - wide
            boxes[spot.lane].append((low, low + wide))
    for lane in boxes.values():
        ordered = sorted(lane)
        assert all(a[1] <= b[0] for a, b in pairwise(ordered))


# Families and tabs ------------------------------------------------------------------------------


@pytest.mark.parametrize("knob", KNOBS)
def test_a_family_holds_the_own_line_and_at_most_five(knob):
    found = family(DEFAULT, knob)
    own = [m for m in found.members if m.current]
    figure = vary.figure(cost_curve(DEFAULT, axis_at_least=found.axis_max), found)

    assert len(own) == 1
    assert len(found.members) <= 5
    assert own[0].line.usd_per_mtok == pytest.approx(point(DEFAULT, batch=own[0].line.batch).usd_per_mtok)
    assert trace(figure, vary.name_of(found, own[0]))["line"]["width"] == 3.5
    assert all(m.line.batch[-1] <= found.axis_max for m in found.members)


def test_a_member_is_its_own_scenario():
    for member in family(DEFAULT, "tp").members:
        alone = DEFAULT.but(tp=member.value)
        assert member.wall == cost_curve(alone).wall
        assert member.case.plan == resolve(alone).plan


def test_what_has_no_line_is_said():
    found = family(scenario(weights="bf16"), "tp")

    assert (1, "doesn't fit") in found.absent
    assert any(sentence.startswith("1 GPU: doesn't fit") for sentence in vary.note(found, 8))


def test_step_in_ms_adds_up_to_the_step():
    curve = cost_curve(DEFAULT)
    figure = tabs.step(curve)
    at_wall = sum(t["y"][-1] for t in figure.data)

    assert at_wall == pytest.approx(1000 * float(point(DEFAULT, batch=343).step_time_s), rel=1e-6)


def test_experts_read_rise_from_the_chosen_few_to_all():
    curve = curve_of(ODD["latent"])
    read = np.asarray(curve.experts_read)

    assert read[0] == pytest.approx(8 / 256)
    assert (np.diff(read) > 0).all()
    assert read[-1] == pytest.approx(1, abs=1e-6)
    assert "half of them at batch" in tabs.experts(curve).alt


def test_floor_of_the_whole_cost_lies_above_that_of_the_answer():
    answer, whole = cost_curve(DEFAULT), cost_curve(DEFAULT, cost="all-in")

    assert whole.floor_usd_per_mtok > answer.floor_usd_per_mtok
    assert (whole.shown.usd_per_mtok > answer.shown.usd_per_mtok).all()
    assert (whole.ideal_usd_per_mtok >= whole.floor_usd_per_mtok * (1 - 1e-9)).all()
    assert math.isclose(whole.now.shown.prompt_share[0], 0.25, abs_tol=0.15)


# For a room -------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD)
def test_for_a_room_the_figure_is_lower_and_its_marks_stay_inside(changes):
    curve = curve_of(changes)
    room, _ = chart.figure(curve, "words", room=True)
    place, found = chart.geometry(curve, narrow=False, room=True), live.table(curve, room=True)
    top = (place.money or place.time)[1] - (place.money or place.time)[0]

    assert room.height_px * plot.ROOM_SCALE == pytest.approx(chart.HEIGHT_PX, abs=1)
    assert room.height_narrow_px == chart.HEIGHT_NARROW_PX
    assert len(room.layout["yaxis"]["tickvals"]) <= 7 if curve.priced else True
    assert all(-top * place.height_px < ay < top * place.height_px for ay in found.columns.get("label_ay", ()))


def test_the_other_lines_of_a_family_carry_their_value():
    curve = cost_curve(DEFAULT)
    found = family(curve.case.scenario, "tp")
    drawn = vary.figure(curve, found).data

    assert {t["name"]: t.get("meta") for t in drawn if not t["name"].endswith("time")} == {
        "1 GPU": 1, "2 GPUs": 2, "4 GPUs": None, "8 GPUs": 8,
    }  # fmt: skip
