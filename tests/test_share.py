"""What leaves the page: link, sentence, command, Python, all saying the same as the page."""

import json
import shlex
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from costmodel.curve import cost_curve
from costmodel.explore import point
from ui import share, state

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")
SETUPS = [
    {},
    {"m": "deepseek-v3", "hw": "h200-sxm", "g": "8", "split": "attention-dp", "b": 256, "sh": 90.0, "busy": 61.4},
    {"w": "as-published", "kv": "fp8", "h": "4", "pr": 2.5, "sp": 0, "ft": 0, "sd": 3, "prof": "ideal", "q": 5.0},
    {"hw": "own", "hwx": "name=my chip;bw=4.8e12;cap=141e9;bf16=989e12;fp8=1979e12;link=450e9;n=8", "pr": 2.0},
]


@pytest.mark.parametrize("values", SETUPS, ids=str)
def test_command_line_prints_the_same_figures(values):
    from costmodel.cli.app import app

    asked = state.scenario_of(values)[0]
    words = shlex.split(share.command_line(asked, command="point"))
    result = CliRunner().invoke(app, [*words[3:], "--json"])

    assert words[:4] == ["python", "-m", "costmodel", "point"]
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["usd_per_mtok"] == pytest.approx(float(point(asked).usd_per_mtok))


@pytest.mark.parametrize("values", SETUPS, ids=str)
def test_python_prints_the_same_figures(values, capsys):
    asked = state.scenario_of(values)[0]
    exec(share.python(asked), {})  # our own text
    printed = capsys.readouterr().out.split()

    assert float(printed[0]) == pytest.approx(cost_curve(asked).now.at.usd_per_mtok[0])


def test_scenario_line_reads_without_the_page():
    line = share.scenario_line(state.scenario_of({"h": "4", "busy": 50.0})[0])

    for part in ("llama-3.1-70b", "fp8 weights", "bf16 cache", "4 × H100 SXM", "1,500 tokens in", "batch 64",
                 "what if 4 KV heads", "50 % busy"):  # fmt: skip
        assert part in line


def test_basis_line_has_price_and_date():
    assert "$3.99 per GPU-hour" in share.basis_line(state.default())
    assert "20" in share.basis_line(state.default())
    assert "typed" in share.basis_line(state.scenario_of({"pr": 2.0})[0])
    assert share.basis_line(state.scenario_of({"hw": "tpu-v4"})[0]) == "No price known"


def test_present_and_embed_keep_answer_and_scenario_line():
    at = AppTest.from_file(SHELL, default_timeout=30)
    at.query_params["present"] = "1"
    at.run()

    assert [error.value for error in at.exception] == []
    assert at.button(key="present_off")
    at.button(key="present_off").click().run()
    assert "present" not in at.query_params
