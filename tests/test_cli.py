"""The command line: keys, order, what bad input does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from costmodel import catalog
from costmodel.cli.app import main
from costmodel.explore import knee, memory_report, model_card, point
from costmodel.scenario import FIELDS, scenario

ROOT = Path(__file__).parents[1]
POINT = {
    "batch", "context_tokens", "step_time_s", "memory_time_s", "compute_time_s", "comm_time_s", "fixed_time_s",
    "bytes_read", "flops", "bound", "shares", "usd_per_mtok", "low", "high", "memory_bytes", "fits", "max_batch",
}  # fmt: skip
KNEE = {
    "kv_crossover_batch", "diminishing_returns_batch", "diminishing_returns_batch_ideal", "compute_ridge_batch",
    "max_batch", "recommended_batch", "decided_by", "floor_usd_per_mtok", "best_here_usd_per_mtok",
}  # fmt: skip
MODEL = {
    "total_params", "active_params", "read_params", "resident_weight_bytes", "kv_bytes_per_token",
    "cache_bytes_per_sequence", "moved_cache_bytes_per_sequence", "layers", "beyond_limit",
}  # fmt: skip
MEMORY = {
    "weights_bytes", "workspace_bytes", "runtime_bytes", "usable_bytes", "available_kv_bytes", "kv_tokens",
    "max_concurrency",
}  # fmt: skip
LLAMA = {
    "model_type": "llama", "hidden_size": 512, "intermediate_size": 1024, "vocab_size": 1000,
    "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2,
}  # fmt: skip


@pytest.fixture
def run(capsys):
    def run_(*args):
        with pytest.raises(SystemExit) as stopped:
            main([str(a) for a in args])
        shown = capsys.readouterr()
        return stopped.value.code, shown.out, shown.err

    return run_


@pytest.fixture
def ask(run):
    """Return what a command prints as JSON."""

    def ask_(*args):
        code, out, err = run(*args, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return ask_


def config(**changes):
    return json.dumps({k: v for k, v in (LLAMA | changes).items() if v is not ...})


# What is printed --------------------------------------------------------------------------------


def test_point_is_one_object_with_the_engines_numbers(ask):
    record = ask("point", "--weights", "fp8")
    found = point(scenario(weights="fp8"))

    assert record.keys() >= POINT
    assert "points" not in record
    for key in POINT - {"shares", "bound", "fits"}:
        ours = getattr(found, key)
        assert record[key] == (None if ours is None else pytest.approx(float(ours))), key
    assert sum(record["shares"].values()) == pytest.approx(1)
    assert set(record["shares"]) == {"weights", "cache", "arithmetic", "links", "fixed"}
    assert record["fits"] is True
    assert isinstance(record["max_batch"], int)


def test_points_hardware_slowest_batch_fastest(ask):
    record = ask("point", "--hardware", "h100-sxm,h200-sxm", "--context", "1000,2000", "--batch", "1,2,4")
    found = record["points"]

    assert list(record) == ["points"]
    assert [(p["hardware"], p["context_tokens"], p["batch"]) for p in found] == [
        (h, c, b) for h in ("h100-sxm", "h200-sxm") for c in (1000, 2000) for b in (1, 2, 4)
    ]
    assert all(p.keys() >= POINT for p in found)
    one = ask("point", "--hardware", "h200-sxm", "--context", "2000", "--batch", "2")
    assert all(found[10][k] == pytest.approx(one[k]) for k in POINT)


@pytest.mark.parametrize(
    ("text", "count"), [("1,2,4", 3), ("1:64", 64), ("1:1024:12", 12), ("64", 0), ("64:64", 0)]
)
def test_lists_of_batches(ask, text, count):
    record = ask("point", "--batch", text)

    assert len(record.get("points", [])) == count


def test_point_that_does_not_fit_has_every_other_key(ask):
    record = ask("point", "--model", "llama-3.1-405b", "--hardware", "l40s", "--tp", "8", "--weights", "bf16")

    assert record["fits"] is False
    assert record["max_batch"] == 0
    assert record["usd_per_mtok"] > 0
    assert record["step_time_s"] > 0


def test_knee(ask):
    record = ask("knee", "--weights", "fp8")
    found = knee(scenario(weights="fp8"))

    assert record.keys() >= KNEE
    assert record["compute_ridge_batch"] is None
    assert record["max_batch"] == record["recommended_batch"] == 343
    assert record["kv_crossover_batch"] == pytest.approx(found.kv_crossover_batch)
    assert record["floor_usd_per_mtok"] == pytest.approx(found.floor_usd_per_mtok)
    assert record["best_here_usd_per_mtok"] == pytest.approx(found.best_here_usd_per_mtok)


def test_model(ask):
    record = ask("model", "--model", "meta-llama/Meta-Llama-3.1-8B-Instruct", "--context", "1000")
    card = model_card(scenario(model="llama-3.1-8b", context_tokens=1000))

    assert record.keys() >= MODEL
    assert record["total_params"] == 8_030_261_248
    assert record["active_params"] == 8_030_261_248 - 128256 * 4096
    assert record["kv_bytes_per_token"] == 131_072
    assert record["cache_bytes_per_sequence"] == card.cache_bytes_per_sequence == 131_072_000
    assert sum(layer["count"] for layer in record["layers"]) == 32
    assert record["beyond_limit"] is False


def test_model_reads_more_experts_at_a_batch(ask):
    one, many = (
        ask("model", "--model", "mixtral-8x7b", *extra)["read_params"] for extra in ((), ("--batch", "64"))
    )

    assert many > 3 * one


def test_memory(ask):
    record = ask("memory", "--model", "gpt-oss-120b", "--hardware", "a100-sxm-80gb", "--memory-fraction", "0.8",
                 "--max-batched-tokens", "2048", "--max-model-len", "16384")  # fmt: skip
    found = memory_report(scenario(model="gpt-oss-120b", hardware="a100-sxm-80gb"), memory_fraction=0.8,
                          max_batched_tokens=2048, max_model_len=16384)  # fmt: skip

    assert record.keys() >= MEMORY
    for key in MEMORY:
        assert record[key] == pytest.approx(getattr(found, key)), key
    parts = ("weights_bytes", "workspace_bytes", "runtime_bytes", "available_kv_bytes")
    assert sum(record[k] for k in parts) == pytest.approx(record["usable_bytes"])


def test_presets(ask):
    models, hardware, prices = (ask(c)[c] for c in ("models", "hardware", "prices"))

    assert len(models) == len(catalog.models())
    assert len(hardware) == len(prices) == len(catalog.hardware())
    assert len({m["short"] for m in models}) == len(models)
    assert all(m["source"] for m in models)
    facts = [f for h in hardware for f in h["facts"].values()]
    assert all(f["source"] and f["as_of"] and f["unit"] for f in facts)
    h100 = next(p for p in prices if p["hardware"] == "h100-sxm")
    assert h100["on-demand"]["usd_per_gpu_hour"] == 3.99
    assert all(row["source"] and row["date"] for row in h100["on-demand"]["rows"])


def test_price_unknown_is_null_with_its_reason(ask):
    name = next(i for i in catalog.hardware() if catalog.price(i, "owning").usd_per_gpu_hour is None)
    setup = ("--model", "llama-3.2-1b", "--hardware", name, "--tp", "1", "--price-basis", "owning")
    record, edges = ask("point", *setup), ask("knee", *setup)

    assert record["usd_per_mtok"] is None
    assert record["price_reason"]
    assert record["step_time_s"] > 0
    assert edges["floor_usd_per_mtok"] is None
    assert edges["price_reason"]


def test_context_beyond_the_limit_is_marked(ask):
    assert ask("point", "--model", "llama-2-7b", "--tp", "1", "--context", "50000")["beyond_limit"] is True
    assert ask("model", "--model", "llama-2-7b", "--context", "50000")["beyond_limit"] is True


def test_ideal_has_no_band(ask):
    record = ask("point", "--profile", "ideal", "--composition", "whole-step")

    assert (record["low"], record["high"]) == (None, None)


def test_a_config_file_is_a_model(ask, tmp_path):
    file = tmp_path / "config.json"
    file.write_text(config())

    assert ask("model", "--model", file)["total_params"] == ask("model", "--model", config())["total_params"]


@pytest.mark.parametrize("command", ["point", "knee", "memory", "model", "models", "hardware", "prices"])
def test_text_for_people(run, command):
    code, out, err = run(command)

    assert (code, err) == (0, "")
    assert len(out.splitlines()) >= 2
    assert "{" not in out.splitlines()[0]


def test_every_field_is_an_option(run):
    _, out, _ = run("point", "--help")

    assert all(f.option in out for f in FIELDS)


# What is refused --------------------------------------------------------------------------------

REFUSED = [
    ("bogus",), ("point", "--bogus", "1"), ("point", "--batch"), ("point", "extra"), ("point", "--json=1"),
    ("--json",),
    *(("point", "--batch", v) for v in ("0", "-1", "nan", "inf", "1e30", "x", "", "1:", "5:1", "0:9:3", "1:1e12",
                                        "1,,2",
                                        "1e-9", "0.5:0.7")),
    *(("point", "--context", v) for v in ("-1", "inf", "1e9", "x")),
    *(("point", "--tp", v) for v in ("3", "1.5", "0", "-2", "64", "1,2", "1e400")),
    *(("point", "--model", v) for v in ("nope", "", "\x00", "a\nb", "x" * 5000, "{", "{}", "[]", "null", "/", ".",
                                        "./missing", "missing.json", '"', "{" * 3000, "[" * 100_000)),
    *(("point", "--model", config(**c)) for c in (
        {"num_attention_heads": 7}, {"num_key_value_heads": 3}, {"hidden_size": 0}, {"hidden_size": -5},
        {"hidden_size": 1e300}, {"hidden_size": "big"}, {"hidden_size": None}, {"hidden_size": [1]},
        {"hidden_size": float("nan")}, {"hidden_size": float("inf")}, {"hidden_size": True},
        {"hidden_size": 512.5},
        {"num_hidden_layers": 10**9}, {"num_hidden_layers": 0}, {"vocab_size": 10**30}, {"vocab_size": ...},
        {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 8},
        {"model_type": "mixtral", "num_local_experts": 0, "num_experts_per_tok": 1},
        {"model_type": "bert"}, {"model_type": 5}, {"quantization_config": "x"}, {"layer_types": ["x", "y"]},
        {"quantization_config": {"quant_method": "awq", "bits": -4}}, {"head_dim": -1}, {"torch_dtype": 7},
        {"sliding_window": -5}, {"max_position_embeddings": -1}, {"num_attention_heads": ...},
    )),
    *(("point", "--hardware", v) for v in ("h100", "nope", "", ",,", "h100-sxm,nope", "x" * 5000)),
    ("point", "--weights", "fp7"), ("point", "--kv", "int3"), ("point", "--arithmetic", "fp9"),
    ("point", "--kv-heads", "3"), ("point", "--kv-heads", "0"), ("point", "--split", "x"),
    ("point", "--profile", "x"),
    ("point", "--composition", "x"), ("point", "--engine", ""), ("point", "--price", "0"),
    ("point", "--price", "1e9"),
    ("point", "--price-basis", "spot"), ("point", "--busy", "0"), ("point", "--busy", "1.1"),
    ("point", "--hit", "2"),
    ("point", "--spec-tokens", "17"), ("point", "--spec-acceptance", "1.5"), ("point", "--flat", "0.5"),
    ("point", "--pp", "200"), ("point", "--ep", "3"), ("point", "--batch", "1:60000", "--context", "1:90000"),
    ("knee", "--max-tpot", "0"), ("knee", "--batch", "1,2"), ("knee", "--hardware", "h100-sxm,h200-sxm"),
    ("memory", "--memory-fraction", "2"), ("memory", "--memory-fraction", "0"),
    ("memory", "--memory-fraction", "0.5,0.6"),
    ("memory", "--max-seqs", "1.5"), ("memory", "--max-batched-tokens", "0"), ("memory", "--max-model-len", "0"),
]  # fmt: skip


@pytest.mark.parametrize("args", REFUSED, ids=lambda a: " ".join(a)[:60].encode("unicode_escape").decode())
def test_bad_input_is_one_line_and_exit_code_2(run, args):
    code, out, err = run(*args)

    assert code == 2
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert 10 < len(err) < 400


@pytest.mark.parametrize(
    "content",
    [b"", b"[1, 2]", b'{"model_type": "llama", "hidden', b"[" * 200_000, b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
     bytes(range(256)) * 20, b'{"x": "' + b"a" * 3_000_000 + b'"}', b'{"hidden_size": 1' + b"0" * 5000 + b"}",
     b"\xff\xfe{\x00}\x00", b'{"model_type": "llama", "model_type": "llama"}', b"null", b"NaN"],
    ids=["empty", "list", "truncated", "deep list", "deep object", "binary", "huge", "huge number", "utf-16",
         "few keys",
         "null", "nan"],
)  # fmt: skip
def test_hostile_files_are_one_line(run, tmp_path, content):
    file = tmp_path / "config.json"
    file.write_bytes(content)
    code, out, err = run("model", "--model", file)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "config" in err


def test_folders_and_missing_files_are_one_line(run, tmp_path):
    (tmp_path / "folder.json").mkdir()
    for name in ("folder.json", "missing.json", "."):
        code, out, err = run("knee", "--model", f"{tmp_path}/{name}")
        assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("point", "--model", "llama-3.1-80b"), "did you mean llama-3.1-8b or llama-3.1-70b?"),
        (
            ("point", "--hardware", "h100"),
            "--hardware must name one preset, got 'h100', which fits h100-nvl, h100-pcie,",
        ),
        (("point", "--hardware", "h20o-sxm"), "h200-sxm"),
        (("point", "--tp", "3"), "--tp must divide the heads, got 3 GPUs"),
        (("point", "--tp", "64"), "at most 8 for H100 SXM, got 64"),
        (("point", "--weights", "fp7"), "--weights must be a known dtype, got 'fp7'; did you mean fp8"),
        (("point", "--bacth", "3"), "--batch"),
        (("point", "--batch", "0"), "--batch must be between 1 and 65,536, got 0"),
        (("memory", "--memory-fraction", "2"), "--memory-fraction must be above 0 and at most 1, got 2"),
    ],
)
def test_refusals_say_option_rule_value_and_what_to_do(run, args, said):
    assert said in run(*args)[2]


@pytest.mark.parametrize(
    "args",
    [("point", "--batch", "nan"), ("bogus",), ("point", "--model", "/"), ("point", "--batch", "1,2", "--json")],
)
def test_as_a_program(args):
    """The real thing: exit code, standard output and standard error of a process."""
    done = subprocess.run(
        [sys.executable, "-m", "costmodel", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "--json" in args:
        assert done.returncode == 0
        assert len(json.loads(done.stdout)["points"]) == 2
        assert done.stderr == ""
    else:
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_reader_that_leaves_is_no_error():
    """`| head -1`: the pipe closes early, and nothing is complained about."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "costmodel", "models"], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, check=False,
        timeout=60,
    )  # fmt: skip
    os.close(write)

    assert done.stderr == b""
