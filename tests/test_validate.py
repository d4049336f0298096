"""Validation: figures by hand, what is kept out of them, every row told, files that aren't tables."""

import json
import math
import time
from dataclasses import dataclass

import numpy as np
import pytest

from costmodel import catalog, dimensions, measured, measured_files, nearest, peers, validate
from costmodel.cli.app import main
from costmodel.cli.validate import text
from costmodel.errors import InputError
from costmodel.stored import PeerRow

HEAD = "id,model,gpu,n_gpus,tp,engine,weight_dtype,isl,osl,batch,concurrency,tpot_ms_mean,note\n"


@dataclass(frozen=True)
class Prediction:
    """What `predict.predict` returns, made up here."""

    reading: measured.Reading
    seconds: float
    low: float
    high: float
    basis: str = "family"
    reason: str = ""


def factors(*values):
    """Return a predictor that multiplies each measurement by the next factor; None refuses."""

    def predict(readings):
        found = []
        for reading, factor in zip(readings, [*values, *[1.0] * len(readings)], strict=False):
            if factor is None:
                found.append(Prediction(reading, math.nan, math.nan, math.nan, "", "it doesn't fit"))
            else:
                s = reading.seconds * factor
                found.append(Prediction(reading, s, s * 0.8, s * 1.2))
        return tuple(found)

    return predict


def row(key, **cells):
    known = HEAD.strip().split(",")
    base = {"id": key, "model": "llama-3.1-8b", "gpu": "h100-sxm", "engine": "vllm", "batch": "8"}
    base |= {"tpot_ms_mean": "10", "note": key}
    return ",".join((base | cells).get(c, "") for c in known) + "\n"


def report(lines, predictor):
    return validate.evaluate(measured.parse(HEAD + "".join(lines)), predictor=predictor)


def test_figures_by_hand():
    found = report([row("a"), row("b"), row("c")], factors(1.1, 0.5, 1.3))

    assert found.overall.n == 3
    assert found.overall.median_ape == pytest.approx(0.3)
    assert found.overall.p90_ape == pytest.approx(0.46)  # between 0.3 and 0.5
    assert found.overall.bias == pytest.approx(0.1)
    assert found.overall.band_coverage == pytest.approx(1 / 3)  # 1.1 × 0.8 ≤ 1 ≤ 1.1 × 1.2 alone


def test_rows_reported_apart_stay_out_of_every_figure_but_their_own():
    found = report([row("a"), row("b", note="FLAG queue_or_prefill"), row("c")], factors(1.0, 9.0, 1.2))

    assert found.overall.n == 2
    assert sum(g.errors.n for g in found.by("kind")) == 2
    (apart,) = found.by("apart")
    assert (apart.value, apart.errors.n) == ("flagged in its note: queue_or_prefill", 1)
    assert apart.errors.median_ape == pytest.approx(8.0)


def test_every_row_is_told_and_good_ones_are_evaluated():
    lines = [row("good"), row("bad", isl="-1"), row("big"), row("odd", tpot_ms_mean="fast"), row("also")]
    printed = validate.record(report(lines, factors(1.0, None, 1.0)))

    assert [r["id"] for r in printed["rows"]] == ["good", "bad", "big", "odd", "also"]
    told = {r["id"]: r["reason"] for r in printed["rows"]}
    assert told["good"] is None
    assert told["big"] == "it doesn't fit"
    assert "isl must be between" in told["bad"]
    assert "a number was expected" in told["odd"]
    assert (printed["overall"]["n"], printed["overall"]["refused"], printed["overall"]["unreadable"]) == (2, 1, 2)
    assert printed["overall"]["predicted_share"] == pytest.approx(2 / 3)
    assert [r["predicted"] for r in printed["rows"]] == [0.01, None, None, None, 0.01]
    json.dumps(printed, allow_nan=False)


def test_each_dimension_holds_every_counted_row():
    lines = [row("a"), row("b", gpu="b200", model="deepseek-v3"), row("c", engine="", weight_dtype="fp8")]
    found = report(lines, factors())

    for dimension in dimensions.DIMENSIONS:
        assert sum(g.errors.n for g in found.by(dimension)) == 3, dimension
    assert {g.value for g in found.by("family")} == {"hopper", "blackwell"}
    assert {g.value for g in found.by("weights")} == {"not stated", "fp8"}
    assert found.by("gpu")[0].value == "h100-sxm"


def test_nothing_readable_gives_no_figures_and_no_error():
    printed = validate.record(report([row("a", model="")], factors()))

    assert printed["overall"]["n"] == 0
    assert printed["overall"]["median_ape"] is None
    assert printed["by"] == []
    assert "0 predictions" in text(printed)


def test_text_has_every_dimension_and_the_reasons():
    shown = text(validate.record(report([row("a"), row("b"), row("c", isl="-1")], factors(2.0, None))))

    for word in (*dimensions.DIMENSIONS, "it doesn't fit", "isl must be", "+100 %"):
        assert word in shown


def test_equal_setups_are_predicted_once_and_different_ones_apart():
    asked = []

    def predict(readings):
        asked.extend(r.run.id for r in readings)
        return factors()(readings)

    changes = {"a": {}, "b": {"tpot_ms_mean": "20"}, "c": {"isl": "100"}, "d": {}}
    found = report([row(key, note="", **change) for key, change in changes.items()], predict)

    assert asked == ["a", "c"]
    assert [r.id for r in found.rows] == ["a", "b", "c", "d"]
    assert [r.measured_s for r in found.rows] == [0.01, 0.02, 0.01, 0.01]


def test_a_hundred_thousand_rows_are_quick():
    table = measured.parse(HEAD + row("x") * 100_000)
    start = time.perf_counter()
    printed = validate.record(validate.evaluate(table, predictor=factors()))

    assert printed["overall"]["n"] == 100_000
    assert time.perf_counter() - start < 20


# Files ------------------------------------------------------------------------------------------


def test_files_of_other_programs(tmp_path):
    plain = HEAD + row("a")
    for name, data in (
        ("bom.csv", plain.encode("utf-8-sig")),
        ("wide.csv", plain.encode("utf-16")),
        ("semicolons.csv", plain.replace(",", ";").encode()),
        ("tabs.csv", plain.replace(",", "\t").encode()),
        ("crlf.csv", plain.replace("\n", "\r\n").encode()),
    ):
        (tmp_path / name).write_bytes(data)
        assert [r.run.id for r in measured_files.load(str(tmp_path / name)).readings] == ["a"], name


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda p: p / "absent.csv", "can be read"),
        (lambda p: p, "got the folder"),
        (lambda p: written(p / "a.csv", b"\x00\x01\x02"), "UTF-8"),
        (lambda p: written(p / "b.csv", b"\xff\xfe\x00"), "UTF-8"),
        (lambda p: written(p / "c.csv", b"model,gpu\n\xe9,x\n"), "UTF-8"),
        (lambda p: written(p / "d.csv", b""), "must have a head"),
        (lambda p: written(p / "e.csv", b"a,b\n1,2\n"), "must have a head with at least model and gpu"),
        (lambda p: "a\0b", "can be read"),
        (lambda p: "x" * 5000, "can be read"),
    ],
)
def test_what_is_no_table_is_told_in_one_sentence(tmp_path, make, part):
    with pytest.raises(InputError) as caught:
        measured_files.load(str(make(tmp_path)))

    assert part in caught.value.sentence
    assert "\n" not in caught.value.sentence


def test_a_file_without_end_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(measured_files, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match="must be at most"):
        measured_files.load(str(written(tmp_path / "long.csv", b"a" * 2000)))


def written(path, data):
    path.write_bytes(data)
    return path


def test_command_refuses_with_exit_code_two(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["validate", "--measured", "absent.csv"])

    said = capsys.readouterr()
    assert stopped.value.code == 2
    assert said.out == ""
    assert said.err.startswith("--measured must be a CSV file")
    assert said.err.count("\n") == 1


# Stored predictions, another tool, the nearest class --------------------------------------------


def test_peer_rows_are_the_shipped_readings():
    same = {"fixed_tpot": "tpot", "closed_tpot": "tpot"}
    ours = {(r.run.id, same.get(r.kind, r.kind)): r.seconds for r in catalog.measured().readings}

    for peer in catalog.peer_accuracy():
        assert ours[peer.id, same.get(peer.kind, peer.kind)] == pytest.approx(peer.measured_s, rel=2e-3)


def test_comparison_counts_rows_that_both_predict():
    found = report([row("a"), row("b"), row("c")], factors(1.1, 1.2, None))
    theirs = [PeerRow("a", "fixed_tpot", 0.01, 0.015, ""), PeerRow("b", "fixed_tpot", 0.01, math.nan, "refused"),
              PeerRow("c", "fixed_tpot", 0.01, 0.01, "")]  # fmt: skip
    every, kind = peers.compare(found, tuple(theirs))

    assert (every.kind, kind.kind) == (peers.ALL, "fixed_tpot")
    assert (kind.readings, kind.predicted, kind.peer_predicted) == (3, 2, 2)
    assert (kind.ours.n, kind.peer.n) == (1, 1)
    assert kind.ours.median_ape == pytest.approx(0.1)
    assert kind.peer.median_ape == pytest.approx(0.5)


def test_nearest_class_widens_until_it_has_rows():
    lines = [row(f"a{i}") for i in range(9)] + [row(f"b{i}", gpu="h200-sxm", engine="sglang") for i in range(9)]
    found = report(lines, factors(*[1.1] * 9, *[1.5] * 9))
    card, llama = catalog.accelerator("h100-sxm"), catalog.model("llama-3.1-70b")

    own = nearest.nearest(found, engine="vllm", accelerator=card, model=llama)
    assert (len(own.at), own.same_card) == (9, 9)
    assert own.errors.median_ape == pytest.approx(0.1)

    other = nearest.nearest(found, engine="sglang", accelerator=card, model=llama)
    assert other.same_card == 0
    assert other.errors.median_ape == pytest.approx(0.5)
    assert "family" in other.words

    far = nearest.nearest(found, engine="trtllm", accelerator=catalog.accelerator("mi300x"), model=llama)
    assert len(far.at) == 18
    assert np.isfinite(far.errors.median_ape)
