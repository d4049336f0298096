"""Measured runs: every kind, every way a table can be broken, and which rows stand apart."""

import csv
import time
from pathlib import Path

import pytest

from costmodel import measured
from costmodel.errors import InputError

HEAD = "id,model,gpu,n_gpus,tp,weight_dtype,isl,osl,batch,concurrency,tpot_ms_mean,tpot_ms_median,"
HEAD += "itl_ms_median,ttft_ms_mean,output_tok_s_total,decode_tok_s_bs1,note\n"
SHIPPED = Path(__file__).parents[1] / "presets" / "measured.csv"


def row(**cells):
    """One CSV row under HEAD."""
    known = HEAD.strip().split(",")
    base = {"id": "x", "model": "llama-3.1-8b", "gpu": "h100-sxm", "n_gpus": "2", "tp": "2"}
    return ",".join((base | cells).get(c, "") for c in known) + "\n"


@pytest.fixture(scope="module")
def shipped():
    return measured.parse(SHIPPED.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"concurrency": "8", "tpot_ms_mean": "10", "ttft_ms_mean": "90"},
         {"closed_tpot": 0.010, "closed_ttft": 0.090}),
        ({"concurrency": "8", "tpot_ms_median": "11", "itl_ms_median": "9"}, {"closed_tpot": 0.011}),
        ({"batch": "16", "itl_ms_median": "20", "output_tok_s_total": "800"},
         {"fixed_tpot": 0.020, "fixed_throughput": 0.020}),
        ({"batch": "1", "decode_tok_s_bs1": "50", "tpot_ms_mean": "30"}, {"batch1_decode": 0.020}),
        ({"batch": "1", "tpot_ms_mean": "30", "output_tok_s_total": "25"},
         {"batch1_decode": 0.030, "batch1_e2e": 0.040}),
        ({"batch": "4", "ttft_ms_mean": "100"}, {"batch_ttft": 0.100}),
        ({"output_tok_s_total": "4000"}, {"max_load": 0.0005}),
        ({"batch": "8", "concurrency": "8", "itl_ms_median": "7"}, {"fixed_tpot": 0.007}),
    ],
)  # fmt: skip
def test_each_kind(cells, expected):
    table = measured.parse(HEAD + row(**cells))
    assert {r.kind: r.seconds for r in table.readings} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"model": ""}, "model is missing"),
        ({"isl": "-5"}, "isl must be between 0 and 1e+07, got -5"),
        ({"isl": "99999999999"}, "isl must be between"),
        ({"tp": "8"}, "tp must be at most n_gpus, got 8 of 2"),
        ({"batch": "0", "tpot_ms_mean": "3"}, "batch must be between 1"),
        ({"batch": "2", "tpot_ms_mean": "fast"}, "tpot_ms_mean: a number was expected, got 'fast'"),
        ({"batch": "2", "tpot_ms_mean": "-3"}, "must be a time above 0 s"),
        ({}, "gives no time or rate"),
    ],
)
def test_a_bad_row_is_told_and_the_good_one_stays(cells, reason):
    good = row(id="good", batch="2", tpot_ms_mean="5")
    table = measured.parse(HEAD + row(id="bad", **cells) + good)

    assert [r.run.id for r in table.readings] == ["good"]
    assert [r.id for r in table.refused] == ["bad"]
    assert reason in table.refused[0].reason
    assert table.refused[0].line == 2


def test_spreadsheets_of_other_countries():
    """Byte-order mark, semicolons, decimal commas, carriage returns, other heads."""
    text = "\ufeffModel;Hardware;Batch;TPOT ms mean;input tokens\r\nllama-3.1-8b;h100-sxm;8;6,9;1024\r\n"
    table = measured.parse(text)

    assert table.readings[0].seconds == pytest.approx(0.0069)
    assert table.readings[0].run.input_tokens == 1024


@pytest.mark.parametrize(
    ("cell", "seconds"), [("12.5 ms", 0.0125), ("0.0125 s", 0.0125), ("1,250 us", 0.00125), ("12.5", 0.0125)]
)
def test_units_in_cells(cell, seconds):
    table = measured.parse("model,gpu,batch,tpot_ms_mean\nm,g,2,\"" + cell + "\"\n")
    assert table.readings[0].seconds == pytest.approx(seconds)


def test_short_rows_and_missing_columns():
    table = measured.parse("model,gpu,batch,tpot_ms_mean,note\nm,g,2,5\n\n,,,\nm\n")

    assert len(table.readings) == 1
    assert [r.reason for r in table.refused] == ["gpu is missing"]


@pytest.mark.parametrize("text", ["", "hello", "{}", "a,b,c\n1,2,3\n"])
def test_what_isnt_a_table_is_told(text):
    with pytest.raises(InputError, match="must have a head with at least model and gpu"):
        measured.parse(text)


def test_shipped_rows_are_all_read(shipped):
    # Four rows give a rate at a concurrency, which is none of the kinds.
    assert {r.reason for r in shipped.refused} == {"it gives no time or rate that fits its batch"}
    assert len(shipped.refused) == 4
    assert len({r.run.id for r in shipped.readings}) == 1362
    assert {r.kind for r in shipped.readings} == set(measured.KINDS)


def test_shipped_rows_that_stand_apart(shipped):
    """Counted from the notes by hand."""
    why = {r.run.id: r.run.apart for r in shipped.readings}
    counts = {}
    for reason in why.values():
        counts[reason.split(":")[-1].strip()] = counts.get(reason.split(":")[-1].strip(), 0) + 1

    with SHIPPED.open(encoding="utf-8") as file:
        flagged = sum("FLAG " in r["note"] or "CHECK " in r["note"] for r in csv.DictReader(file))
    assert sum(r.startswith("flagged") for r in why.values()) == flagged
    assert counts["early ROCm build of vLLM"] == 104
    assert counts["vLLM's first expert kernels"] == 22
    assert counts["8-bit experts spread over ranks in vLLM 0.11"] == 19
    assert counts["no CUDA graphs, or a cache larger than the memory"] == 10
    assert counts["plain Transformers loop"] == 10


def test_a_hundred_thousand_rows_are_quick():
    text = HEAD + row(batch="2", tpot_ms_mean="5", isl="100", osl="20") * 100_000
    start = time.perf_counter()
    table = measured.parse(text)

    assert len(table.readings) == 100_000
    assert time.perf_counter() - start < 20
