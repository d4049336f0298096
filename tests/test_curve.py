"""The cost curve as one page draws it."""

import numpy as np
import pytest

from costmodel.curve import cost_curve, slider_ticks
from costmodel.explore import knee, point
from costmodel.scenario import scenario

DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30)


def test_curve_and_point_are_one_number():
    """Line, stops, edges and the operating point: each is what `point` says at that batch."""
    c = cost_curve(DEFAULT)
    for drawn, batch in ((c.line.usd_per_mtok, c.line.batch), (c.ticks.at.usd_per_mtok, c.ticks.at.batch),
                         (c.now.at.usd_per_mtok, c.now.at.batch)):  # fmt: skip
        assert drawn == pytest.approx(point(DEFAULT, batch=batch).usd_per_mtok)
    for edge in c.edges:
        if edge.batch is not None:
            assert edge.usd_per_mtok == pytest.approx(float(point(DEFAULT, batch=edge.batch).usd_per_mtok))


def test_curve_and_knee_are_one_number():
    c, k = cost_curve(DEFAULT), knee(DEFAULT)

    assert c.edge("crossover").batch == k.kv_crossover_batch == pytest.approx(108, abs=0.5)
    assert c.edge("flat").batch == k.diminishing_returns_batch
    assert c.edge("limit").batch == k.limit_batch
    assert c.edge("wall").batch == c.wall == 343
    assert c.edge("ridge").batch is None
    assert "no compute-bound batch" in c.edge("ridge").absent
    assert c.floor_usd_per_mtok == k.floor_usd_per_mtok


def test_line_falls_and_keeps_above_ideal_and_floor():
    c = cost_curve(DEFAULT)
    usd = np.asarray(c.line.usd_per_mtok)

    assert (np.diff(usd) <= 0).all()
    assert (usd >= c.ideal_usd_per_mtok).all()
    assert (np.asarray(c.ideal_usd_per_mtok) >= c.floor_usd_per_mtok * (1 - 1e-12)).all()


def test_wall_is_a_point_of_the_line():
    assert 343.0 in cost_curve(DEFAULT).line.batch


def test_batch_past_the_wall_stands_at_the_wall():
    c = cost_curve(DEFAULT.but(batch=1000))

    assert c.past_wall
    assert c.now_batch == 343


def test_one_more_sequence():
    """Its tokens cost the change of the whole: never more than the average, nor less than the floor."""
    c = cost_curve(DEFAULT.but(batch=64))
    now = float(c.now.at.usd_per_mtok[0])

    assert c.floor_usd_per_mtok <= c.marginal_usd_per_mtok <= now
    assert 0 < c.marginal_step_s < float(c.now.at.step_time_s[0]) / 64


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"max_tpot_s": None}, "limit", "no speed limit"),
        ({"max_tpot_s": 1e-5}, "limit", "no batch meets"),
        ({"model": "llama-3.1-405b", "weights": "bf16", "hardware": "l40s", "tp": 8}, "wall", "don't fit"),
        ({"context_tokens": 0}, "crossover", "never takes as long"),
    ],
)
def test_an_edge_that_does_not_exist_says_why(changes, key, said):
    edge = cost_curve(DEFAULT.but(**changes)).edge(key)

    assert edge.batch is None
    assert said in edge.absent


@pytest.mark.parametrize("most", [1, 2, 7, 64, 343, 1024, 65_536])
def test_slider_stops_are_whole_rising_and_reach_both_ends(most):
    stops = slider_ticks(most)

    assert (stops == stops.round()).all()
    assert (np.diff(stops) > 0).all()
    assert stops[0] == 1
    assert stops[-1] == max(most, 2)
    assert stops.size < 400


@pytest.mark.parametrize("name", ["deepseek-v3", "gpt-oss-120b", "qwen3-next-80b-a3b", "mixtral-8x7b", "gpt2"])
def test_curves_of_all_kinds_of_model(name):
    c = cost_curve(scenario(model=name, hardware="b200-sxm", tp=1 if name == "gpt2" else 8, ep=1))

    assert np.isfinite(c.line.usd_per_mtok).all()
    assert c.axis_max >= 1024


def test_unpriced_hardware_has_a_curve_of_times():
    from costmodel import catalog

    name = next(i for i in catalog.hardware() if catalog.price(i, "owning").usd_per_gpu_hour is None)
    c = cost_curve(scenario(model="llama-3.2-1b", hardware=name, tp=1, price_basis="owning"))

    assert np.isnan(c.line.usd_per_mtok).all()
    assert np.isfinite(c.line.step_time_s).all()
