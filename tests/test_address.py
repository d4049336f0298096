"""The address bar: junk is named once and harmless, links are complete, nothing from it is markup."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from ui import address, controls, state
from ui.controls import CONTROL, CONTROLS

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")


def opened(**params):
    at = AppTest.from_file(SHELL, default_timeout=30)
    for key, value in params.items():
        at.query_params[key.rstrip("_")] = value
    at.run()
    assert [error.value for error in at.exception] == []
    return at


def said(at):
    return " ".join(box.value for box in at.info)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"b": "0"}, "`b=0` isn't a whole number from 1 to 65,536; using 64."),
        ({"b": "64.7"}, "`b=64.7` isn't a whole number"),
        ({"b": "inf"}, "`b=inf` isn't a whole number"),
        ({"b": "nan"}, "`b=nan` isn't a whole number"),
        ({"b": "1e400"}, "`b=1e400` isn't a whole number"),
        ({"b": "\u0663"}, None),  # a digit of another script is a number to Python and to us
        ({"pr": "-1"}, "`pr=-1` isn't a number from 0.001 to 100,000; using the basis price."),
        ({"ctx": "many"}, "using input + output / 2."),
        ({"kv": "fp3"}, "isn't one of bf16, fp16, fp8"),
        ({"m": "lama-3.1-70b"}, "`m=lama-3.1-70b` isn't a known model; using llama-3.1-70b."),
        ({"hw": "h100"}, "`hw=h100` isn't a known accelerator; using h100-sxm."),
        ({"busy": "0"}, "`busy=0` isn't a number from 1 to 100; using 100."),
        ({"hwx": "bw=1"}, "isn't an accelerator in the form"),
        ({"hwx": f"name={'a' * 200};bw=3e12;cap=8e10;bf16=1e15"}, "isn't a text of at most 150 characters"),
        ({"cnt": "none"}, "`cnt=none` isn't one of answer, all-in; using answer."),
    ],
)
def test_junk_is_named_once_and_the_default_used(params, sentence):
    at = opened(**params)
    key = next(iter(params))

    if sentence is not None:
        assert sentence in said(at)
        assert (at.session_state[key] if key in at.session_state else CONTROL[key].default) == CONTROL[key].default
    at.number_input(key="out").set_value(900).run()
    assert said(at) == ""


HOSTILE = ["<script>alert(1)</script>", "`$x$` **b** [a](http://e.vil) :smile:", "\x00\n" * 9]


@pytest.mark.parametrize("key", [c.key for c in CONTROLS])
@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "`$x$` **b** [a](http://e.vil) :smile:", "\x00\n" * 9]
)
def test_hostile_values_stand_as_code_or_not_at_all(key, hostile):
    findings, clean = address.check({key: [hostile]})

    for finding in findings:
        code = finding.sentence.split("`")
        assert len(code) == 3
        assert "\n" not in finding.sentence
        assert "\x00" not in finding.sentence
    assert key not in clean or CONTROL[key].is_text


def test_unknown_keys_are_passed_over_in_silence():
    at = opened(foo="1", utm_source="<b>")

    assert said(at) == ""


def test_repeated_keys_use_the_last_and_say_so():
    at = opened(b=["64", "32"])

    assert "`b=64&32` isn't one value; using 32." in said(at)
    assert at.session_state["b"] == 32


def test_unknown_model_offers_its_nearest_names_as_buttons():
    at = opened(m="lama-3.1-70b")
    at.button(key="near_m_llama-3.1-405b").click().run()

    assert at.session_state["m"] == "llama-3.1-405b"


@pytest.mark.parametrize(
    ("params", "key", "meant"),
    [
        ({"hw": "H200-SXM-141GB"}, "hw", "h200-sxm"),
        ({"m": "meta-llama/Llama-3.1-8B-Instruct"}, "m", "llama-3.1-8b"),
        ({"w": "AWQ int4"}, "w", "awq-int4"),
        ({"kv": "fp8_e4m3"}, "kv", "fp8"),
        ({"pb": "On demand"}, "pb", "on-demand"),
        ({"vary": "g"}, "vary", "GPUs"),
        ({"b": "64.0"}, "b", 64),
    ],
)
def test_other_spellings_are_the_names(params, key, meant):
    at = opened(**params)

    assert said(at) == ""
    assert at.session_state[key] == meant


# Links ------------------------------------------------------------------------------------------


def values_of(link):
    return dict(parse_qsl(urlsplit(link).query, keep_blank_values=True))


def test_a_copied_link_holds_every_setting_the_price_and_the_version():
    default = {c.key: c.default for c in CONTROLS}
    held = values_of(address.link(default, base="https://example.org", price=3.99, extra={}))

    assert set(held) == {c.key for c in CONTROLS if c.default not in (None, "")} | {"pr", "v"}
    assert held["pr"] == "3.99"
    assert held["v"].startswith(address.data_date())


def test_an_old_link_means_the_same_after_a_default_changed(monkeypatch):
    link = address.link({"b": 100}, base="https://example.org/frontier", price=3.99, extra={})
    moved = tuple(replace(c, default=33) if c.key in {"b", "sp"} else c for c in CONTROLS)
    monkeypatch.setattr(controls, "CONTROLS", moved)
    _, clean = address.check({key: [text] for key, text in values_of(link).items()})

    assert (clean["b"], clean["sp"]) == ("100", "30")


def test_an_old_link_shows_its_own_price_until_told_otherwise():
    at = opened(v="2026-01-05.1", pr="3.5")

    assert "Made with data of 2026-01-05; shown with those prices." in said(at)
    assert at.session_state["pr"] == 3.5
    at.button(key="use_today").click().run()
    assert said(at) == ""
    assert at.session_state["pr"] is None


def test_a_link_of_today_keeps_no_price_of_its_own():
    at = opened(v=f"{address.data_date()}.1", pr="3.99")

    assert said(at) == ""
    assert at.session_state["pr"] is None


def test_every_control_finds_its_way_into_the_scenario():
    at = opened(
        in_="2000", out="500", sp="50", ft="1000", m="deepseek-v3", hw="h200-sxm", g="8", w="as-published",
        kv="fp8", b="32", pb="marketplace", pr="3", ctx="4000", sh="50", hit="80", ar="bf16", split="attention-dp",
        busy="70", eng="sglang", prof="ideal", sd="3", sa="80", q="5",
    )  # fmt: skip
    found, _ = state.scenario_of({c.key: at.session_state[c.key] for c in CONTROLS if c.key != "hwx"})

    assert said(at) == ""
    assert found.model_dump() | {"max_tpot_s": round(found.max_tpot_s, 9)} == {
        "input_tokens": 2000, "output_tokens": 500, "context_tokens": 4000, "shared": 0.5, "hit": 0.8, "busy": 0.7,
        "max_tpot_s": 0.02, "max_ttft_s": 1.0, "budget_usd_per_mtok": None, "model": "deepseek-v3",
        "hardware": "h200-sxm", "tp": 8, "split": "attention-dp", "ep": 1, "pp": 1, "weights": None, "kv": "fp8",
        "arithmetic": "bf16", "kv_heads": None, "batch": 32, "price_basis": "marketplace",
        "price_usd_per_gpu_hour": 3, "engine": "sglang", "profile": "ideal", "composition": "per-op",
        "spec_tokens": 3, "spec_acceptance": 0.8, "flat": 0.05,
    }  # fmt: skip
