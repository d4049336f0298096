"""The scenario: every field once, every rule in words, every refusal one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.errors import InputError
from costmodel.scenario import BY_NAME, FIELDS, Scenario, bounds, rule, scenario
from tests import strategies  # noqa: F401  (loads the profile of examples)

NAMES = [f.name for f in FIELDS]
NUMBERS = [n for n in NAMES if bounds(n)[0] is not None]
# Name, address key, option, default: as the product says them.
SAID = [
    ("input_tokens", "in", "--input", 1500), ("output_tokens", "out", "--output", 1000),
    ("context_tokens", "ctx", "--context", None), ("shared", "sh", "--shared", 0), ("hit", "hit", "--hit", 1),
    ("busy", "busy", "--busy", 1), ("max_tpot_s", "sp", "--max-tpot", None),
    ("max_ttft_s", "ft", "--max-ttft", None), ("budget_usd_per_mtok", "bud", "--budget", None),
    ("model", "m", "--model", "llama-3.1-70b"), ("hardware", "hw", "--hardware", "h100-sxm"),
    ("tp", "g", "--tp", 4), ("split", "split", "--split", "tensor"), ("weights", "w", "--weights", None),
    ("kv", "kv", "--kv", "bf16"), ("arithmetic", "ar", "--arithmetic", None),
    ("kv_heads", "h", "--kv-heads", None), ("batch", "b", "--batch", 64),
    ("price_basis", "pb", "--price-basis", "on-demand"), ("price_usd_per_gpu_hour", "pr", "--price", None),
    ("engine", "eng", "--engine", "vllm"), ("profile", "prof", "--profile", "calibrated"),
    ("composition", "comp", "--composition", "per-op"), ("spec_tokens", "sd", "--spec-tokens", 0),
    ("spec_acceptance", "sa", "--spec-acceptance", 0.7), ("flat", "q", "--flat", 0.10),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "option", "default"), SAID, ids=[s[0] for s in SAID])
def test_names_and_defaults(name, key, option, default):
    field = BY_NAME[name]

    assert (field.key, field.option) == (key, option)
    assert getattr(Scenario(), name) == default


def test_every_field_is_described_once():
    assert sorted(NAMES) == sorted(Scenario.model_fields)
    assert len({f.key for f in FIELDS}) == len({f.option for f in FIELDS}) == len(FIELDS)
    for field in FIELDS:
        assert field.help.endswith(".") or field.help.endswith(")")
        assert field.group in {"workload", "limits", "setup"}


def test_context_is_typed_or_half_way_through_the_answer():
    assert Scenario().context == 2000
    assert Scenario(context_tokens=0).context == 0
    assert Scenario(input_tokens=512, output_tokens=128, context_tokens=8192).context == 8192


def test_but_checks_and_leaves_the_original():
    one = scenario(batch=8)

    assert one.but(batch=16).batch == 16
    assert one.batch == 8
    assert one.but() is one
    with pytest.raises(InputError, match="--batch must be between 1 and 65,536, got 0"):
        one.but(batch=0)


def test_equal_scenarios_are_one_key():
    """Pages and caches look results up by the scenario itself."""
    assert len({scenario(batch=8), scenario(batch=8.0), scenario(batch=9)}) == 2


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), -1, 1e300, "x", [], {}, None])
def test_no_field_takes_nonsense(name, value):
    """NaN, infinities, negatives, absurd sizes, text: refused in one sentence that names the option."""
    if value is None and Scenario.model_fields[name].default is None:
        assert getattr(scenario(**{name: None}), name) is None
        return
    with pytest.raises(InputError) as caught:
        scenario(**{name: value})
    assert caught.value.field == name
    assert caught.value.sentence.startswith(f"{BY_NAME[name].option} must be {rule(name)}, got ")
    assert "\n" not in caught.value.sentence


@pytest.mark.parametrize("name", NUMBERS)
def test_bounds_themselves(name):
    """The rule's ends are taken as it says, and nothing beyond them."""
    low, high, above = bounds(name)
    beyond = 1 if isinstance(low, int) and name in {"tp", "ep", "pp", "kv_heads", "spec_tokens"} else 1e-9
    refused = [low if above else low - max(beyond, 1e-9), high * 2]
    for value in refused:
        with pytest.raises(InputError):
            scenario(**{name: value})
    if not above:
        assert getattr(scenario(**{name: low}), name) == low


def test_rules_in_words():
    assert rule("batch") == "between 1 and 65,536"
    assert rule("tp") == "a whole number between 1 and 1,024"
    assert rule("flat") == "above 0 and below 0.5"
    assert rule("split") == "one of tensor, attention-dp, pipeline"
    assert rule("context_tokens") == "between 0 and 10,000,000"


def test_unknown_field_names_the_nearest():
    with pytest.raises(InputError, match="unknown scenario field 'batchs'; nearest: batch"):
        scenario(batchs=3)


def test_choice_out_of_range_lists_the_choices():
    with pytest.raises(InputError, match="--profile must be one of calibrated, ideal, got 'best'"):
        scenario(profile="best")


@given(
    batch=st.floats(1, 65_536), context=st.one_of(st.none(), st.floats(0, 1e7)), tp=st.integers(1, 1024),
    busy=st.floats(0, 1, exclude_min=True), hit=st.floats(0, 1),
)  # fmt: skip
def test_what_the_rules_allow_is_taken(batch, context, tp, busy, hit):
    made = scenario(batch=batch, context_tokens=context, tp=tp, busy=busy, hit=hit)

    assert (made.batch, made.context_tokens, made.tp, made.busy, made.hit) == (batch, context, tp, busy, hit)


@given(text=st.text(min_size=1, max_size=300))
def test_hostile_text_stays_one_printable_line(text):
    with pytest.raises(InputError) as caught:
        scenario(split=text + "\n\x1b[31m")
    assert caught.value.sentence.isprintable()
    assert len(caught.value.sentence) < 200
