"""The command `levers`: stable keys, honest sums, one line for bad input."""

import json

import pytest

from costmodel.cli import app

ASK = ["levers", "--weights", "fp8", "--max-tpot", "0.0333", "--max-ttft", "0.5"]


def run(capsys, *more):
    with pytest.raises(SystemExit) as stop:
        app.main([*ASK, *more])
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_json_has_the_promised_keys(capsys):
    record = json.loads(run(capsys, "--json"))

    assert {"ladder", "absent", "levers", "verdict"} <= record.keys()
    assert [r["step"] for r in record["ladder"]] == ["today", "perfect_engine", "best_here", "floor"]
    assert {"step", "usd_per_mtok", "owner"} <= record["ladder"][0].keys()
    assert record["absent"] == [{"step": "wall", "reason": "a perfect engine reaches the wall within 30.03 tok/s"}]
    promised = {
        "name", "kind", "applies", "reason", "cost_before", "cost_after", "best_before", "best_after",
        "floor_before", "floor_after", "share",
    }  # fmt: skip
    for lever in record["levers"]:
        assert promised <= lever.keys()
        assert lever["kind"] in {"moves", "approaches"}
        assert lever["applies"] == (lever["reason"] == "")
        if not lever["applies"]:
            assert lever["cost_after"] is None
        elif lever["kind"] == "approaches":
            assert lever["best_after"] == pytest.approx(lever["best_before"], rel=1e-9)
            assert lever["floor_after"] == pytest.approx(lever["floor_before"], rel=1e-9)


def test_shares_add_up_to_what_all_save_together(capsys):
    record = json.loads(run(capsys, "--json"))
    together = record["together"]
    shares = {x["name"]: x["share"] for x in record["levers"] if x["share"] is not None}

    assert set(shares) == set(together["levers"])
    assert sum(shares.values()) == pytest.approx(together["cost_before"] - together["cost_after"])


def test_chosen_levers_in_order(capsys):
    record = json.loads(run(capsys, "--together", "kv,fill", "--json"))

    assert record["together"]["levers"] == ["kv", "fill"]


def test_naive_stack_and_what_is_paid(capsys):
    naive = json.loads(run(capsys, "--today", "naive", "--json"))
    paid = json.loads(run(capsys, "--paid", "1.4", "--json"))

    assert naive["ladder"][0]["usd_per_mtok"] > 3 * paid["ladder"][0]["usd_per_mtok"]
    assert paid["ladder"][0]["usd_per_mtok"] == 1.4


def test_text_names_levers_that_do_not_apply(capsys):
    text = run(capsys)

    assert "Fill the batch (64 to " in text
    assert "Continuous batching: vLLM refills free slots every step already" in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--today", "yesterday"), "--today must be one of engine, naive, got 'yesterday'"),
        (("--paid", "0"), "--paid must be above 0, got '0'"),
        (("--together", "fil"), "got 'fil'; did you mean fill?"),
        (("--kernel-time-removed", "2"), "--kernel-time-removed must be one number between 0 and 1"),
    ],
)
def test_bad_input_is_one_line_and_code_two(capsys, options, sentence):
    with pytest.raises(SystemExit) as stop:
        app.main([*ASK, *options])

    told = capsys.readouterr().err
    assert stop.value.code == 2
    assert sentence in told
    assert told.count("\n") == 1


def test_http_answers_what_the_command_line_prints(capsys):
    from starlette.testclient import TestClient

    from api.app import api

    visitor = TestClient(api)
    asked = "/levers?weights=fp8&max-tpot=0.0333&max-ttft=0.5&together=kv,fill"
    printed = json.loads(run(capsys, "--together", "kv,fill", "--json"))

    assert visitor.get(asked).json() == printed
    refused = visitor.get(asked + "&paid=0")
    assert refused.status_code == 422
    assert "paid must be above 0" in refused.json()["error"]
