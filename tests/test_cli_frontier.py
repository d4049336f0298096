"""The command `frontier`: its keys, lists, and words for bad questions."""

import json

import pytest

from costmodel.cli.app import main

POINT = {
    "hardware", "tp", "weights", "kv", "batch", "tpot_s", "ttft_s", "usd_per_mtok", "output_tokens_per_s",
    "low", "high",
}  # fmt: skip
KEYS = {"evaluated", "infeasible", "points", "cheapest", "runner_up", "binding_limit", "premium_usd_per_mtok"}
FEW = ("--hardware", "h100-sxm,l40s,b200", "--model", "llama-3.1-8b")


def run(capsys, *args):
    with pytest.raises(SystemExit) as stopped:
        main(["frontier", *args])
    shown = capsys.readouterr()
    return stopped.value.code, shown.out, shown.err


def answered(capsys, *args):
    code, out, err = run(capsys, *args, "--json")
    assert code == 0, err
    return json.loads(out)


def test_keys(capsys):
    record = answered(capsys, *FEW, "--max-tpot", "0.0333")

    assert record.keys() >= KEYS
    assert all(p.keys() >= POINT for p in [*record["points"], record["cheapest"], record["runner_up"]])
    assert record["evaluated"] == record["feasible"] + sum(record["infeasible"].values())


def test_cheapest_is_on_the_front_and_nothing_there_is_cheaper_within_the_limits(capsys):
    record = answered(capsys, *FEW, "--max-tpot", "0.0333")
    best = record["cheapest"]

    assert best["tpot_s"] <= 0.0333
    assert min(p["usd_per_mtok"] for p in record["points"] if p["tpot_s"] <= 0.0333) == best["usd_per_mtok"]


def test_cheapest_equals_serve(capsys):
    best = answered(capsys, *FEW, "--max-tpot", "0.0333")["cheapest"]
    setup = ("--model", best["model"], "--hardware", best["hardware"], "--tp", str(best["tp"]), "--kv", best["kv"])
    with pytest.raises(SystemExit):
        main(["serve", *setup, "--weights", best["weights"], "--batch", str(best["batch"]), "--json"])
    served = json.loads(capsys.readouterr().out)

    for key in ("usd_per_mtok", "tpot_s", "ttft_s", "output_tokens_per_s"):
        assert best[key] == pytest.approx(served[key])


def test_no_setup_meets_the_limits(capsys):
    record = answered(capsys, *FEW, "--max-tpot", "0.0001")

    assert record["cheapest"] is None
    assert record["premium_usd_per_mtok"] is None
    assert record["binding_limit"] == "max_tpot_s"
    assert record["relaxed"]["limits"]["max_tpot_s"] > 0.0001


def test_lists_narrow_the_space(capsys):
    record = answered(capsys, *FEW, "--tp", "1,2", "--weights", "fp8", "--kv", "bf16", "--batch", "1,8,64")

    assert record["evaluated"] == 3 * 2 * 3
    assert {p["weights"] for p in record["points"]} == {"fp8"}


def test_other_axes_and_users(capsys):
    record = answered(capsys, *FEW, "--axes", "ttft,throughput", "--users", "500")

    assert record["axes"] == ["ttft", "throughput"]
    assert record["fleet"]["copies"] >= 1


def test_text_says_it_in_sentences(capsys):
    _, out, _ = run(capsys, *FEW, "--max-tpot", "0.0333", "--max-ttft", "0.5")

    assert "Cheapest: " in out
    assert "USD/Mtok all-in" in out
    _, out, _ = run(capsys, *FEW, "--max-tpot", "0.0001")
    assert "Nothing meets the limits: with speed per user" in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--hardware", "h1000"), "hardware must be a known preset"),
        (("--hardware", ","), "--hardware must name at least one value"),
        (("--budget", "0"), "--budget must be above 0"),
        (("--axes", "speed"), "--axes must name two of"),
        (("--axes", "speed,price"), "--axes must be two of"),
        (("--tp", "0"), "--tp must be"),
        (("--tp", "1.5"), "--tp must be"),
        (("--batch", "1:65000"), "must have at most 20,000,000 points"),
        (("--model", "a,b,c,d,e"), "at most 4 models"),
        (("--users", "0", "--hardware", "h100-sxm"), "users must be"),
    ],
)
def test_bad_questions_are_one_line_and_code_2(capsys, args, words):
    code, out, err = run(capsys, *args)

    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_models_side_by_side(capsys):
    record = answered(capsys, "--hardware", "h100-sxm", "--model", "llama-3.1-8b,qwen3-8b", "--tp", "1")

    assert len({p["model"] for p in record["points"]}) >= 1
    assert record["evaluated"] == 2 * 3 * 2 * 256
