"""What is printed under "Show the arithmetic" gives what is displayed, evaluated as Python."""

import pytest

from costmodel.case import resolve
from costmodel.curve import cost_curve
from costmodel.explain import explain, python_of
from costmodel.explore import point
from costmodel.scenario import scenario
from ui import units

SETUPS = {
    "default": {"weights": "fp8"},
    "latent": {"model": "deepseek-v3", "hardware": "h200-sxm", "tp": 8},
    "attention data-parallel": {"model": "deepseek-v3", "hardware": "h200-sxm", "tp": 8, "split": "attention-dp"},
    "experts, windows": {"model": "gpt-oss-120b", "tp": 1},
    "states": {"model": "nemotron-h-56b", "tp": 4},
    "windows, half busy": {"model": "gemma-3-27b", "tp": 1, "weights": "fp8", "busy": 0.5},
    "perfect engine": {"weights": "fp8", "profile": "ideal"},
    "whole step": {"weights": "fp8", "profile": "ideal", "composition": "whole-step"},
    "speculation": {"weights": "fp8", "spec_tokens": 3},
    "pipeline": {"weights": "fp8", "split": "pipeline"},
    "sglang": {"weights": "fp8", "engine": "sglang"},
    "trtllm": {"weights": "fp8", "engine": "trtllm"},
    "no price": {"hardware": "mi455x"},
}


def value(line):
    return eval(line.python, {"__builtins__": {"max": max}})


@pytest.mark.parametrize("changes", SETUPS.values(), ids=SETUPS)
@pytest.mark.parametrize("batch", [1, 17, 64])
def test_each_line_evaluates_to_its_result(changes, batch):
    for line in explain(resolve(scenario(**changes)), batch=batch):
        assert value(line) == pytest.approx(line.value, rel=2e-5), line.quantity


@pytest.mark.parametrize("changes", SETUPS.values(), ids=SETUPS)
def test_last_line_is_the_displayed_cost(changes):
    asked = scenario(**changes)
    lines = explain(resolve(asked), batch=64)
    curve = cost_curve(asked)

    if curve.priced:
        assert lines[-1].quantity == "Cost"
        assert units.usd(value(lines[-1])) == units.usd(float(point(asked, batch=64).usd_per_mtok))
    else:
        assert lines[-1].unit == "s"


@pytest.mark.parametrize("changes", SETUPS.values(), ids=SETUPS)
def test_five_to_nine_lines_with_units_and_sources(changes):
    lines = explain(resolve(scenario(**changes)), batch=64)

    assert 5 <= len(lines) <= 9
    assert all(line.numbers and line.names and line.result for line in lines)
    assert all(line.sources for line in lines if line.key != "step")


def test_results_follow_from_the_lines_before():
    """A reader with a pocket calculator arrives at the cost: the parts are the lines above the sum."""
    lines = {line.key: line for line in explain(resolve(scenario(weights="fp8")), batch=64)}
    parts = sum(lines[key].value for key in ("products", "attention", "fixed", "links"))

    assert lines["step"].value == pytest.approx(parts)


def test_the_python_version_runs():
    lines = explain(resolve(scenario(weights="fp8")), batch=64)
    printed = []
    exec(python_of(lines), {"print": printed.append})

    assert printed[0] == pytest.approx(lines[-1].value, rel=1e-5)
