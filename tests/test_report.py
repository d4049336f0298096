"""The report: complete, equal to the page, and nothing in it that runs or is loaded."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from costmodel.curve import cost_curve
from costmodel.explain import explain
from ui import address, navigation, report, share, state, tables, units
from ui.controls import CONTROLS
from ui.report import FIGURES, Report, to_html

ROOT = Path(__file__).parents[1]
SHELL = str(ROOT / "ui" / "shell.py")
VOID = {"meta", "br", "img"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "b", "a", "br", "div", "table",
    "thead", "tbody", "tr", "th", "td", "span", "small", "code", "ul", "li",
}  # fmt: skip
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


class Walk(HTMLParser):
    """Every tag closes in order, none is unknown, no attribute runs or loads anything."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.links, self.rows = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        given = dict(attrs)
        assert not [name for name in given if name.startswith("on") or name in {"src", "srcset", "style"}]
        if tag == "a":
            self.links.append(given["href"])
        if tag == "tr":
            self.rows.append([])
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.texts.append(data)
        if "tr" in self.open and data.strip():
            self.rows[-1].append(data.strip())

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def walk(text):
    found = Walk(text)
    assert found.open == []
    return found


def written(values=None, **changes):
    """The report of the cost curve of control values."""
    values = values or {}
    scenario = state.scenario_of(values)[0]
    curve = cost_curve(scenario)
    given = {
        "question": "What does one more sequence cost?", "answer": "At batch **64** it costs **$1.22**.",
        "price": "All-in **$1.57** per Mtok out", "scenario": share.scenario_line(scenario),
        "basis": share.basis_line(scenario), "values": values, "curve": curve, "whole": True,
        "columns": tables.plotted(curve), "address": "https://example.org/?b=64&m=x", "data_date": "2026-11-09",
        "version": "0.1.0", "made_on": "2026-11-30",
    }  # fmt: skip
    return Report(**(given | changes))


def opened(path="", **params):
    """A page with its Share open, and the report that it hands to the browser."""
    at = AppTest.from_file(SHELL, default_timeout=60)
    for key, value in params.items():
        at.query_params[key] = value
    at.run()
    if path:
        at.switch_page(path).run()
    at.session_state["share_popover"] = True
    at.run()
    assert [error.value for error in at.exception] == []
    for element in at.get("bidi_component"):
        found = re.search(r'"name": ?"report".*?"text": ?"((?:[^"\\]|\\.)*)"', str(element.proto.json))
        if found:
            return at, json.loads(f'"{found.group(1)}"')
    raise AssertionError("no report is offered")


# Form -------------------------------------------------------------------------------------------


def test_it_is_one_valid_file_without_scripts_or_anything_to_load():
    text = to_html(written())
    found = walk(text)

    assert text.startswith("<!DOCTYPE html>")
    assert text.count(FIGURES) == 1
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in text
    assert not re.search(r"url\(|@import|<script|javascript:", text)
    assert all(link.startswith("https://") for link in found.links)


def test_it_prints_on_paper():
    assert "@page{size:A4" in report.STYLE
    assert "thead{display:table-header-group}" in report.STYLE


@pytest.mark.parametrize("part", ["question", "answer", "price", "scenario", "basis", "address", "version"])
def test_hostile_text_stays_text(part):
    text = to_html(written(**{part: HOSTILE}))

    assert HOSTILE in "".join(walk(text).texts)
    assert "<script" not in text


def test_hostile_names_in_tables_stay_text():
    values = {"m": HOSTILE, "hwx": HOSTILE, "p1": HOSTILE, "le_set": HOSTILE}
    columns = [tables.Column(HOSTILE, "x", [HOSTILE], str)]
    found = walk(to_html(replace(written(), values=values, used={"pr": HOSTILE}, columns=columns)))

    assert sum(text.strip() == HOSTILE for text in found.texts) == 7


def test_a_hostile_config_of_ones_own_stays_text():
    config = {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16",
        "_name_or_path": HOSTILE, "architectures": ["LlamaForCausalLM"],
    }  # fmt: skip
    scenario = state.scenario_of({"m": "own-config"}, own_config=json.dumps(config))[0]
    text = to_html(written(curve=cost_curve(scenario), scenario=share.scenario_line(scenario)))

    walk(text)
    assert "<script" not in text


def test_sizes_are_bounded():
    columns = [tables.Column(f"c{at}", f"c{at}", ["x" * 5000] * 4000, str) for at in range(60)]
    found = walk(to_html(written(answer="a" * 10**6, columns=columns[:2])))
    wide = to_html(written(columns=columns))

    assert len(found.text) < 2e6
    assert len(wide) < report.MOST_ROWS * report.MOST_COLUMNS * (report.MOST_CHARACTERS + 50) + 10**5
    assert f"The first {report.MOST_ROWS} of 4,000 rows." in found.text


# Content ----------------------------------------------------------------------------------------


def test_every_control_stands_in_the_scenario_with_its_default_marked():
    found = walk(to_html(written({"b": 100, "kv": "fp8", "pr": 2.5})))
    rows = {row[0]: row[1:] for row in found.rows[1 : len(CONTROLS) + 1]}

    assert {c.label for c in CONTROLS} <= rows.keys()
    assert rows["Batch"] == ["100"]
    assert rows["KV cache in"] == ["fp8"]
    assert rows["Own price, $/h"] == ["2.5"]
    assert rows["Input tokens"] == ["1,500", "(default)"]


def test_arithmetic_edges_rows_sources_and_error_are_the_pages():
    curve = cost_curve(state.default())
    found = walk(to_html(written()))
    lines = explain(curve.case, batch=64)
    limit = curve.edge("limit")

    for line in lines[:-1]:
        assert f"{line.numbers}" in found.text
        assert f"= {line.result}" in found.text
    assert f"= {units.usd(float(curve.now.at.usd_per_mtok[0]))} per Mtok" in found.text
    assert [limit.name, f"{limit.batch:,.0f}", units.usd(limit.usd_per_mtok)] in [
        [t for t in row if t[0] not in "①②③④⑤"][:3] for row in found.rows if row
    ]
    plotted = tables.plotted(curve)
    assert [c.write(c.values[7]) for c in plotted] in found.rows
    assert "H100 SXM, bandwidth" in found.text
    assert re.search(r"read \d{4}-\d{2}-\d{2}", found.text)
    low, high = (100 * abs(1 - float(end)) for end in curve.case.constants.band)
    band = f"four of five lie from {low:.0f} % below to {high:.0f} %"
    assert f"80 % band: of measured runs of this class, {band}" in found.text
    assert re.search(r"n = \d+ readings", found.text)
    assert "What the figures leave out" in found.text
    assert "Data of 2026-11-09 · version 0.1.0 · made on 2026-11-30" in found.text


@pytest.mark.parametrize(
    ("values", "said"),
    [({"prof": "ideal"}, "The ideal profile is a bound, not a prediction"), ({"pr": 2.0}, "typed in, or kept by")],
)
def test_what_has_no_band_or_no_rows_is_said(values, said):
    assert said in walk(to_html(written(values))).text


def test_edges_of_a_model_that_does_not_fit_are_left_out():
    curve = cost_curve(state.scenario_of({"m": "llama-3.1-405b", "g": "1"})[0])
    found = walk(to_html(written(curve=curve, columns=())))

    assert "The arithmetic" not in found.text
    assert "Sources" in found.text


def test_rows_without_figures_are_missing_not_wrong():
    columns = [tables.Column("Cost", "usd", [1.5, float("nan")], units.usd)]
    found = walk(to_html(written(columns=columns)))

    assert [row for row in found.rows if row and row[0] in {"$1.50", "–"}][:2] == [["$1.50"], [units.MISSING]]
    assert np.isnan(columns[0].values[1])


# On the pages -----------------------------------------------------------------------------------


def test_the_cost_curves_report_is_what_the_page_says():
    at, text = opened(b="100")
    found = walk(text)
    page = [re.sub(r"<[^>]+>", "", e.proto.body) for e in at.get("html")]
    answer = next(p for p in page if p.startswith("At batch 100"))

    assert at.title[0].value in found.text
    assert answer.replace("&#x27;", "'") in "".join(found.texts)
    assert "&b=100&" in found.text
    assert f"v={address.data_date()}" in found.text


@pytest.mark.parametrize("entry", [e for e in navigation.LISTED if not e.hidden], ids=lambda e: e.file)
def test_every_page_offers_a_report_with_answer_scenario_and_address(entry):
    at, text = opened(f"../pages/{entry.file}.py" if entry.address else "", b="32")
    found = walk(text)

    assert at.title[0].value in found.text
    assert "Batch 32" in found.text
    assert "Data of the figure" in found.text
    assert "&b=32&" in found.text
