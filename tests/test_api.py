"""The HTTP API: the command line's numbers, one sentence for bad input, bounded requests."""

import json

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from api import PREFIX, mounted
from costmodel.cli.app import main
from costmodel.scenario import FIELDS

FEW = "hardware=h100-sxm,l40s&model=llama-3.1-8b"


@pytest.fixture(scope="module")
def client():
    return TestClient(Starlette(routes=[Mount(PREFIX, app=mounted)]), base_url="http://testserver")


def get(client, path):
    return client.get(PREFIX + path)


@pytest.mark.parametrize(
    ("path", "args"),
    [
        ("/point?weights=fp8", ["point", "--weights", "fp8"]),
        ("/point?batch=1,2&hardware=h100-sxm,b200", ["point", "--batch", "1,2", "--hardware", "h100-sxm,b200"]),
        ("/knee?weights=fp8&max-tpot=0.0333", ["knee", "--weights", "fp8", "--max-tpot", "0.0333"]),
        ("/serve?batch=1:3", ["serve", "--batch", "1:3"]),
        ("/serve?concurrency=64", ["serve", "--concurrency", "64"]),
        (f"/frontier?{FEW}&max-tpot=0.0333&users=9", ["frontier", "--hardware", "h100-sxm,l40s", "--model",
                                                     "llama-3.1-8b", "--max-tpot", "0.0333", "--users", "9"]),
    ],
)  # fmt: skip
def test_same_answer_as_the_command_line(client, capsys, path, args):
    with pytest.raises(SystemExit):
        main([*args, "--json"])

    answer = get(client, path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == json.loads(capsys.readouterr().out)


def test_presets(client):
    models = get(client, "/models").json()["models"]
    cards = get(client, "/hardware").json()["hardware"]

    assert {"llama-3.1-70b", "deepseek-v3"} <= {m["short"] for m in models}
    h100 = next(c for c in cards if c["id"] == "h100-sxm")
    assert h100["prices"]["on-demand"]["usd_per_gpu_hour"] == 3.99
    assert h100["facts"]["bandwidth_bytes_per_s"]["source"]


@pytest.mark.parametrize("spelt", ["max-tpot", "max_tpot", "max_tpot_s"])
def test_option_and_field_names_both_work(client, spelt):
    assert get(client, f"/knee?weights=fp8&{spelt}=0.0333").json()["decided_by"] == "speed limit"


def test_repeated_parameters_are_a_list(client):
    assert len(get(client, "/point?batch=1&batch=2").json()["points"]) == 2


@pytest.mark.parametrize(
    ("path", "field", "words"),
    [
        ("/point?batch=0", "batch", "batch must be between 1 and 65,536, got 0"),
        ("/point?batch=1e400", "batch", "batch must be"),
        ("/point?max-tpot=nan", "max-tpot", "max-tpot must be"),
        ("/point?model=nope", "model", "got 'nope'"),
        ("/point?hardware=h100", "hardware", "must name one preset"),
        ("/point?modle=x", "modle", "did you mean"),
        ("/point?users=3", "users", "must be known"),
        ("/models?batch=3", "batch", "must be known"),
        ("/point?model=/etc/passwd", "model", "paste the text"),
        ("/point?model=..%2Fx.json", "model", "paste the text"),
        ("/frontier?model=llama-3.1-8b,/etc/hosts.json", "model", "paste the text"),
        ("/point?model={}", "config", ""),
        ("/point?batch=1:20000", "batch", "at most 10,000 points"),
        ("/serve?batch=1&concurrency=2", "concurrency", "leave one out"),
        ("/serve?concurrency=1:60000", "concurrency", "at most 10,000 points"),
        ("/frontier?batch=1:60000", "batch", "at most 3,000,000 points"),
        ("/frontier?hardware=,", "hardware", "empty selection"),
        ("/frontier?axes=speed", "axes", "must name two of"),
        ("/frontier?four-bits=perhaps", "four-bits", "must be 0 or 1"),
        (f"/frontier?{FEW}&budget=0", "budget", "budget must be above 0"),
        ("/point?model=" + "a" * 20_000, "query", "at most 16,384 characters"),
    ],
)
def test_bad_input_is_one_sentence_with_its_field(client, path, field, words):
    answer = get(client, path)
    said = answer.json()

    assert answer.status_code == 422
    assert said.keys() == {"error", "field"}
    assert said["field"] == field
    assert words in said["error"]
    assert "\n" not in said["error"]
    assert "--" not in said["error"]


def test_addresses_that_are_not_there(client):
    assert get(client, "/nope").status_code == 404
    assert client.post(PREFIX + "/point").status_code == 405
    assert set(get(client, "/nope").json()) == {"error", "field"}


def test_openapi_document_names_every_parameter(client):
    document = get(client, "/openapi.json").json()
    paths = document["paths"]

    assert set(paths) == {"/models", "/hardware", "/point", "/knee", "/serve", "/frontier", "/levers"}
    for path in ("/point", "/knee", "/serve", "/frontier", "/levers"):
        named = {p["name"] for p in paths[path]["get"]["parameters"]}
        assert {f.option.lstrip("-") for f in FIELDS} <= named
        assert "422" in paths[path]["get"]["responses"]
    assert "parameters" not in paths["/models"]["get"] or not paths["/models"]["get"]["parameters"]
