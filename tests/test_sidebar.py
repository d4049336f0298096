"""The sidebar: every control moves the scenario, ready-made ones write the others, own things stay own."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from costmodel import catalog
from costmodel.errors import InputError
from costmodel.workloads import BY_NAME
from ui import own, sidebar, state
from ui.controls import AS_BUILT, CONTROL, CONTROLS, OWN_HARDWARE, OWN_MODEL, SELDOM

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")
CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 14336,
    "vocab_size": 128256, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.fixture
def at():
    run = AppTest.from_file(SHELL, default_timeout=30)
    run.session_state[sidebar.MORE_OPEN] = True
    run.run()
    assert [error.value for error in run.exception] == []
    return run


def drawn_in(run):
    return {w.key: w for kind in ("number_input", "selectbox", "text_input") for w in run.get(kind) if w.key}


def test_controls_behind_more_are_drawn_while_it_is_open_or_they_are_set():
    run = AppTest.from_file(SHELL, default_timeout=30)
    run.query_params["busy"] = "60"
    run.query_params["eng"] = "vllm"
    run.run()

    assert drawn_in(run).keys() & set(SELDOM) == {"busy", "eng"}
    assert scenario_on(run).busy == 0.6
    run.session_state[sidebar.MORE_OPEN] = True
    run.run()
    assert drawn_in(run).keys() >= set(SELDOM)
    assert run.number_input(key="busy").value == 60


def scenario_on(at):
    held = {c.key: at.session_state[c.key] for c in CONTROLS if c.key in at.session_state}
    config = at.session_state.get(state.OWN_CONFIG, "")
    return state.scenario_of(held, own_config=config)[0]


def test_first_view_is_the_agreed_one(at):
    found = scenario_on(at)

    assert (found.model, found.weights, found.kv, found.tp, found.hardware) == (
        "llama-3.1-70b", "fp8", "bf16", 4, "h100-sxm",
    )  # fmt: skip
    assert (found.input_tokens, found.output_tokens, found.context, found.batch) == (1500, 1000, 2000, 64)
    assert (round(1 / found.max_tpot_s, 6), found.max_ttft_s) == (30, 0.5)


def test_every_control_is_drawn_bound_and_explained(at):
    drawn = drawn_in(at)

    for control in (*CONTROLS, CONTROL["vary"]):
        if control.key == "hwx":
            continue  # drawn when asked for
        widget = drawn[control.key]
        assert widget.proto.query_param_key == control.key
        assert widget.label
        assert widget.proto.help or control.key in {"pr", "vary"}


@pytest.mark.parametrize(
    ("key", "value", "field", "meant"),
    [
        ("in", 3000, "input_tokens", 3000), ("out", 10, "output_tokens", 10), ("sp", 50, "max_tpot_s", 0.02),
        ("sp", 0, "max_tpot_s", None), ("ft", 200, "max_ttft_s", 0.2), ("ft", 0, "max_ttft_s", None),
        ("b", 128, "batch", 128), ("pr", 2.5, "price_usd_per_gpu_hour", 2.5),
        ("ctx", 5000, "context_tokens", 5000), ("sh", 40.0, "shared", 0.4), ("hit", 50.0, "hit", 0.5),
        ("busy", 60.0, "busy", 0.6), ("sd", 2, "spec_tokens", 2),
        ("sa", 80.0, "spec_acceptance", 0.8), ("q", 5.0, "flat", 0.05),
    ],
)  # fmt: skip
def test_numbers_reach_the_engine_in_its_units(at, key, value, field, meant):
    at.number_input(key=key).set_value(value).run()

    assert getattr(scenario_on(at), field) == (pytest.approx(meant) if meant else meant)
    assert [error.value for error in at.exception] == []


@pytest.mark.parametrize(
    ("key", "value", "field", "meant"),
    [
        ("m", "llama-3.1-8b", "model", "llama-3.1-8b"), ("hw", "h200-sxm", "hardware", "h200-sxm"),
        ("g", "8", "tp", 8), ("w", "as-published", "weights", None), ("kv", "fp8", "kv", "fp8"),
        ("h", "4", "kv_heads", 4), ("h", AS_BUILT, "kv_heads", None),
        ("pb", "reserved", "price_basis", "reserved"),
        ("ar", "bf16", "arithmetic", "bf16"), ("split", "pipeline", "split", "pipeline"),
        ("eng", "sglang", "engine", "sglang"), ("prof", "ideal", "profile", "ideal"),
    ],
)  # fmt: skip
def test_choices_reach_the_engine(at, key, value, field, meant):
    at.selectbox(key=key).select(value).run()

    assert getattr(scenario_on(at), field) == meant
    assert [error.value for error in at.exception] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_ready_made_scenario_writes_the_others_and_keeps_model_and_hardware(at, name):
    at.selectbox(key="g").select("8").run()
    at.selectbox(key=sidebar.START).select(name).run()
    found, wanted = scenario_on(at), BY_NAME[name]

    assert (found.input_tokens, found.output_tokens, found.shared) == (
        wanted.input_tokens, wanted.output_tokens, wanted.shared,
    )  # fmt: skip
    assert found.max_ttft_s == wanted.ttft_s
    assert found.max_tpot_s == (None if wanted.tokens_per_s is None else pytest.approx(1 / wanted.tokens_per_s))
    assert (found.model, found.hardware, found.tp) == ("llama-3.1-70b", "h100-sxm", 8)
    assert at.session_state[sidebar.START] == name


@pytest.mark.parametrize(("kind", "key", "value"), [("number_input", "in", 7), ("selectbox", "g", "2")])
def test_any_edit_makes_it_your_own_again(at, kind, key, value):
    at.selectbox(key=sidebar.START).select("agent").run()
    widget = getattr(at, kind)(key=key)
    (widget.select(value) if kind == "selectbox" else widget.set_value(value)).run()

    assert at.session_state[sidebar.START] == sidebar.YOUR_OWN
    assert scenario_on(at).shared == 0.9


def test_kv_heads_of_a_latent_model_are_disabled_with_the_reason(at):
    at.selectbox(key="h").select("4").run()
    assert at.selectbox(key="h").label.endswith("what if")
    at.selectbox(key="g").select("8")
    at.selectbox(key="hw").select("h200-sxm")
    at.selectbox(key="m").select("deepseek-v3").run()

    assert at.selectbox(key="h").disabled
    assert "latents" in at.selectbox(key="h").help
    assert scenario_on(at).kv_heads is None


def test_price_basis_shows_its_price_and_its_rows(at):
    assert "$3.99" in at.selectbox(key="pb").label
    rows = catalog.price("h100-sxm", "on-demand").rows
    for row in rows:
        assert row.provider in at.selectbox(key="pb").help
        assert row.source in at.selectbox(key="pb").help
    at.selectbox(key="pb").select("owning").run()
    assert "$1.55" in at.selectbox(key="pb").label


def test_a_typed_price_goes_with_its_accelerator(at):
    at.number_input(key="pr").set_value(2.0).run().run()  # only the page runs first; the tree shows what ran
    assert scenario_on(at).price_usd_per_gpu_hour == 2.0
    at.selectbox(key="hw").select("h200-sxm").run()

    assert scenario_on(at).price_usd_per_gpu_hour is None


def test_context_beyond_the_models_limit_is_clamped_and_said(at):
    at.selectbox(key="m").select("llama-2-70b").run()
    at.number_input(key="in").set_value(100_000).run()
    found, said = state.scenario_of({"m": "llama-2-70b", "in": 100_000})

    assert found.context == 4096
    assert "takes at most 4,096 tokens" in said[0]
    assert scenario_on(at).context == 4096


# Your own accelerator and model -----------------------------------------------------------------


def test_accelerator_typed_into_the_form_is_used_and_written_as_text(at):
    at.selectbox(key="hw").select(OWN_HARDWARE).run()
    at.number_input(key="own_bw").set_value(4.8)
    at.number_input(key="own_cap").set_value(141.0)
    at.number_input(key="own_fp8").set_value(1979.0)
    at.number_input(key="own_link").set_value(450.0)
    at.text_input(key="own_name").set_value("my <b>chip;")
    next(b for b in at.button if b.label == "Use it").click().run()
    found = catalog.accelerator(scenario_on(at).hardware)

    assert (
        at.session_state["hwx"]
        == "name=my <b>chip;bw=4.8e+12;cap=1.41e+11;bf16=9.89e+14;fp8=1.979e+15;link=4.5e+11;n=8"
    )
    assert (found.bandwidth_bytes_per_s, found.capacity_bytes, found.domain) == (4.8e12, 141e9, 8)
    assert [error.value for error in at.exception] == []


def test_an_accelerator_that_cannot_be_is_refused_and_nothing_is_lost(at):
    at.selectbox(key="hw").select(OWN_HARDWARE).run()
    at.number_input(key="own_bf16").set_value(0.0)
    next(b for b in at.button if b.label == "Use it").click().run()

    assert "bf16, fp16 or fp32" in at.error[0].value
    assert at.session_state["hwx"] == ""
    assert scenario_on(at).hardware == "h100-sxm"


def test_pasted_config_is_the_model_of_this_session(at):
    at.selectbox(key="m").select(OWN_MODEL).run()
    at.selectbox(key="w").select("as-published")
    at.text_area(key="own_text").set_value(json.dumps(CONFIG))
    next(b for b in at.button if b.label == "Use it").click().run()

    assert json.loads(scenario_on(at).model)["hidden_size"] == 4096
    assert [error.value for error in at.exception] == []
    assert "8,030,261,248" in f"{own_params(at):,}"


def own_params(at):
    from costmodel.case import model_of

    return model_of(scenario_on(at)).total_params


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("/etc/passwd", "doesn't begin with a brace"),
        ("x.json", "doesn't begin with a brace"),
        (b"\xff\xfe\x00", "UTF-8"),
        ("{" + " " * 1_000_001, "at most 1,000,000 bytes"),
        ("{not json", "config"),
        ('{"model_type": "nonsense"}', ""),
        ("[" * 100_000, "doesn't begin with a brace"),
        ('{"a":' * 50_000, ""),
    ],
)
def test_what_is_no_config_is_refused_in_one_sentence(source, sentence):
    with pytest.raises(InputError) as caught:
        own.readable(source)

    assert sentence in caught.value.sentence
    assert "\n" not in caught.value.sentence


def test_defaults_are_legal_values_of_their_own_controls():
    for control in CONTROL.values():
        text = control.text(control.default)
        assert control.parse(text) == control.default
