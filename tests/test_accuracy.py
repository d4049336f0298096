"""Accuracy and sources: words and figures from a report made by hand, sources that can be searched, the page."""

import json
import math
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from costmodel import catalog, measured, nearest, peers, sources, validate
from costmodel.case import resolve
from costmodel.stored import StoredRow
from costmodel.validate import Report, Row
from ui import accuracy_tables as tables
from ui import state
from ui import words_accuracy as words
from ui.charts import accuracy as chart

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")
TODAY = date(2026, 11, 30)
NAN = math.nan


def run(**changes):
    text = "id,model,gpu,n_gpus,engine,batch,tpot_ms_mean,source_url\n"
    cells = {
        "id": "a", "model": "llama-3.1-8b", "gpu": "h100-sxm", "n_gpus": "1", "engine": "vllm", "batch": "8",
        "tpot_ms_mean": "10", "source_url": "https://github.com/o/r",
    } | changes  # fmt: skip
    return measured.parse(text + ",".join(cells[c] for c in text.strip().split(",")) + "\n").readings[0].run


def row(key, factor, *, apart="", reason="", **changes):
    known = not math.isnan(factor)
    return Row(
        key, 2, "fixed_tpot", 0.01, 0.01 * factor if known else NAN, 0.008 * factor, 0.012 * factor,
        reason, apart, "family", run(id=key, **changes),
    )  # fmt: skip


def report(*rows, out_of_fold=False):
    return Report(tuple(rows), out_of_fold)


FOUND = report(
    *(row(f"r{i}", 1.1) for i in range(9)), row("far", 4.0), row("none", NAN, reason="it doesn't fit"),
    row("odd", 9.0, apart="flagged in its note: x"),
)  # fmt: skip


def near(found, **changes):
    case = resolve(state.default().but(**changes))
    own = nearest.nearest(
        found, engine=case.scenario.engine, accelerator=case.accelerators[0], model=case.model
    )
    return own, case


def test_answer_says_overall_and_the_setups_class():
    own, case = near(FOUND)
    said = words.answer(FOUND, own, case)

    assert "Over **10** public measurements" in said
    assert "off by **10 %** in the middle" in said
    assert "for your setup’s class **10 %** from **10** runs" in said


def test_answer_says_where_no_run_of_the_accelerator_is_known():
    own, case = near(FOUND, hardware="h200-sxm", engine="sglang")

    assert "No run of H200 SXM with sglang: constants of its family" in words.answer(FOUND, own, case)


def test_ideal_profile_claims_no_band():
    own, case = near(FOUND, profile="ideal")

    assert "is a bound, not a prediction" in words.answer(FOUND, own, case)


def test_nothing_to_compare_is_said():
    empty = report(row("none", NAN, reason="x"))

    assert words.answer(empty, None, None) == "No measured run could be compared."
    assert "without a point" in words.alt(empty)
    chart.figure(empty, (), "x")


def test_sentences_below_tell_how_the_predictions_were_made():
    assert words.below(FOUND, None)[0] == words.IN_SAMPLE
    assert words.below(report(row("a", 1.0), out_of_fold=True), None)[0] == words.OUT_OF_FOLD
    assert "1 of 11 readings can’t be predicted; 1 more are reported apart" in " ".join(words.below(FOUND, None))


def test_alt_names_the_worst_row():
    assert words.alt(FOUND) == (
        "Scatter of 10 predictions over measurements; 90 % lie within 25 %; worst far, 4.0 times over. "
        "Table follows."
    )


def test_figure_draws_counted_rows_once_the_class_dark():
    figure = chart.figure(FOUND, (0, 1), "x" * 50)
    traces = {t["name"]: t for t in figure.data}

    assert traces["your class"]["x"].size == 2
    assert traces["rest"]["x"].size == 8
    assert "odd, fixed_tpot" not in traces["rest"]["text"]
    np.testing.assert_allclose(traces["diagonal"]["x"], traces["diagonal"]["y"])
    np.testing.assert_allclose(traces["high"]["y"] / traces["high"]["x"], 1.25)
    assert figure.layout["yaxis"]["scaleanchor"] == "x"
    assert figure.layout["xaxis"]["range"] == figure.layout["yaxis"]["range"]


def test_tables_escape_what_files_say():
    evil = report(row("<b>", 1.5, model="<script>", source_url="javascript:alert(1)"), row("b", 1.0))
    shown = tables.worst_table(evil) + tables.class_table(evil, "model") + tables.data_table(evil)

    assert "<script>" not in shown
    assert "<b>," not in shown
    assert 'href="javascript' not in shown


def test_csv_holds_every_row_with_its_reason():
    lines = tables.csv(FOUND).splitlines()

    assert len(lines) == 13
    assert lines[11] == "none,fixed_tpot,0.01,,,,,it doesn't fit"


def test_stored_predictions_are_shown_as_out_of_fold(monkeypatch):
    reading = catalog.measured().readings[0]
    monkeypatch.setattr(validate, "_predict", refusing)
    stored = StoredRow(reading.run.id, reading.kind, reading.seconds, 2 * reading.seconds, 0.0, 1.0, "", "3")
    validate.out_of_fold.cache_clear()
    monkeypatch.setattr(catalog, "validation", lambda: (stored,))
    found = validate.out_of_fold()
    validate.out_of_fold.cache_clear()

    assert found.out_of_fold
    assert found.overall.n == 1
    assert found.overall.bias == pytest.approx(1.0)
    assert found.refusals[validate.NOT_STORED] == len(catalog.measured().readings) - 1


def refusing(readings):
    """Predict nothing, and give no reason."""
    from costmodel.predict import Prediction

    return [Prediction(r, NAN, NAN, NAN, "", "") for r in readings]


# Sources ----------------------------------------------------------------------------------------


def test_every_source_says_where_it_is_from():
    for found in sources.every(TODAY):
        assert found.source, found
        assert found.kind in sources.KINDS


def test_old_prices_are_marked_and_fresh_ones_are_not():
    prices = [r for r in sources.every(TODAY) if r.kind == "price"]

    for found in prices:
        assert found.old == (found.read_on is None or (TODAY - found.read_on).days > 90)
    assert {r.old for r in prices} == {True, False}


def test_search_takes_all_words_in_any_order_and_case():
    one, other = (sources.search(words_, today=TODAY) for words_ in ("H100-SXM Bandwidth", "bandwidth h100-sxm"))

    assert one == other
    assert len(one) == 1
    assert sources.search("no such thing at all", today=TODAY) == ()
    assert all(r.kind == "price" and r.old for r in sources.search("", today=TODAY, kind="price", old_only=True))


# The page ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def at():
    found = AppTest.from_file(SHELL, default_timeout=60).run()
    found.switch_page("../pages/accuracy.py").run()
    assert [error.value for error in found.exception] == []
    return found


def shown(at):
    return " ".join(part.proto.body for part in at.get("html"))


def test_page_says_the_shipped_errors(at):
    overall = validate.shipped().overall

    assert f"{overall.n:,}" in shown(at)
    assert f"{overall.median_ape * 100:.0f} %" in shown(at)
    for compared in peers.compare(validate.shipped()):
        assert words.name(compared.kind) in shown(at)


def test_figure_carries_its_words(at):
    (figure,) = [part for part in at.get("bidi_component") if part.proto.component_name == "plot"]
    box = json.loads(figure.proto.bytes.split(b"\n")[0])

    assert box["alt"].startswith("Scatter of")
    assert len(figure.proto.bytes) < 400_000


def test_each_dimension_has_its_table(at):
    for dimension in words.DIMENSION_NAMES:
        at.selectbox(key="ac_dim").select(dimension).run()
        assert [error.value for error in at.exception] == []
        assert words.DIMENSION_NAMES[dimension] in shown(at)


def test_page_stands_where_the_scenario_cannot_be_computed():
    found = AppTest.from_file(SHELL, default_timeout=60)
    found.query_params["m"] = "deepseek-v3"
    found.query_params["g"] = "3"
    found.run()
    found.switch_page("../pages/accuracy.py").run()

    assert [error.value for error in found.exception] == []
    assert "public measurements" in shown(found)
