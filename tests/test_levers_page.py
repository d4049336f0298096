"""The Levers page: its figures show the engine's numbers, its tabs and controls work, its words agree."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from costmodel.ladder import ladder
from costmodel.lever_rows import board
from costmodel.levers import Settings, by_name, settled
from costmodel.scenario import scenario
from costmodel.setups import Setup
from costmodel.shapley import split
from ui import lever_settings, units, words_levers
from ui.charts import lever_gaps
from ui.charts import levers as charts

ROOT = Path(__file__).parents[1]
DEFAULT = Setup(scenario(weights="fp8", max_tpot_s=1 / 30, max_ttft_s=0.5))


@pytest.fixture(scope="module")
def found():
    return board(DEFAULT)


def opened(**address):
    at = AppTest.from_file(str(ROOT / "ui" / "shell.py"), default_timeout=60)
    for key, value in address.items():
        at.query_params[key] = value
    at = at.run().switch_page(str(ROOT / "pages" / "levers.py")).run()
    assert [e.value for e in at.exception] == []
    return at


def html_of(at):
    return " ".join(h.proto.body for h in at.get("html"))


# Figures ----------------------------------------------------------------------------------------


def test_range_chart_draws_every_lever_that_applies(found):
    figure = charts.ranges(found)
    trace = {t["name"]: t for t in figure.data}
    rows = [r for r in found.rows if r.applies]

    assert len(trace["pay"]["x"]) == len(rows) + 1
    assert set(trace["pay"]["x"]) == {found.today.usd_per_mtok, *(r.kept.usd_per_mtok for r in rows)}
    assert trace["best"]["x"][0] == found.allowed.best_here


def test_groups_are_sorted_by_the_rechosen_cost(found):
    for kind in ("approaches", "moves"):
        costs = [r.rechosen.usd_per_mtok for r in charts.shown(found, kind)]
        assert costs == sorted(costs)


@pytest.mark.parametrize("narrow", [False, True])
def test_names_say_which_levers_change_quality(found, narrow):
    figure = charts.ranges(found)
    layout = figure.layout_narrow if narrow else figure.layout
    told = [a["text"] for a in layout["annotations"]]

    assert any(t.startswith("KV cache in 8 bits") and "changes quality" in t for t in told)
    assert "Fill the batch" in " ".join(told)


def test_ladder_figure_adds_up(found):
    rungs = ladder(found)
    figure = lever_gaps.gap(rungs, {r.lever.name: r.label for r in found.rows})
    kept, lost = figure.data

    for i in range(1, len(kept["x"])):
        assert kept["x"][i] + lost["x"][i] == pytest.approx(kept["x"][i - 1])
    assert rungs.rungs[1].owner in " ".join(a["text"] for a in figure.layout["annotations"])


def test_waterfall_ends_where_all_together_cost(found):
    levers = [by_name(n) for n in ("fill", "kv", "graphs")]
    parts = split(levers, DEFAULT, settled(DEFAULT, Settings()))
    figure = lever_gaps.combine(parts, {r.lever.name: r.label for r in found.rows})
    ends, steps, shares = figure.data

    assert ends["x"][-1] == parts.after_usd_per_mtok
    assert sum(shares["x"]) == pytest.approx(parts.total)
    assert steps["base"][-2] == pytest.approx(min(parts.waterfall[-2:]))


# Words ------------------------------------------------------------------------------------------


def test_alt_tells_the_largest_saving_and_what_moves(found):
    told = words_levers.alt(found)
    best = min((r for r in found.rows if r.applies), key=lambda r: r.kept.usd_per_mtok)

    assert f"Largest saving: {best.label}, to {units.usd(best.kept.usd_per_mtok)}." in told
    assert "Graphs" not in told.split("Only ")[1]


def test_interaction_is_a_sentence_with_two_names(found):
    levers = [by_name(n) for n in ("fill", "speculation", "kv")]
    parts = split(levers, DEFAULT, settled(DEFAULT, Settings()))
    told = words_levers.interactions(parts, {r.lever.name: r.label for r in found.rows})

    assert told.startswith("Strongest interaction: ")
    assert "together than the two alone add up to" in told


# The page ---------------------------------------------------------------------------------------


def test_page_answers_its_title():
    told = html_of(opened())

    assert "times</b> the best this model and hardware allow: fix the stack first." in told
    assert "Fill the batch (64 to " in told
    assert "Does not apply here: " in told


@pytest.mark.parametrize("tab", ["Gap", "Combine"])
def test_tabs_open_from_the_address(tab):
    at = opened(le_tab=tab, le_set="fill,kv")

    assert at.session_state["le_tab"] == tab
    assert ("Strongest interaction" in html_of(at)) == (tab == "Combine")


def test_combine_without_levers_offers_an_example():
    at = opened(le_tab="Combine")
    at.button(key="le_first").click().run()

    assert at.session_state["le_set"].startswith("fill")


def test_arrows_change_the_order():
    at = opened(le_tab="Combine", le_set="fill,kv,graphs")
    at.button(key="le_dn_fill").click().run()

    assert at.session_state["le_set"] == "kv,fill,graphs"


def test_levers_of_one_slot_exclude_each_other():
    at = opened(le_tab="Combine", le_set="heads")

    assert at.checkbox(key="le_pick_latent").disabled
    assert not at.checkbox(key="le_pick_kv").disabled


def test_naive_stack_and_what_is_paid_are_other_todays():
    engine, naive = opened(), opened(le_td="a naive stack")
    paid = opened(le_td="what we pay", le_pay="0.5")

    assert "First meet the limit" in html_of(naive)
    assert "First meet the limit" not in html_of(engine)
    assert "change the model or hardware" in html_of(paid) or "only the floor is left" in html_of(paid)


def test_settings_stand_in_the_address_and_in_their_rows():
    at = opened(le_st="kv~nvfp4~window~512~nonsense~1~hit~900")
    at.session_state["fold_settings"] = True
    at.run()

    assert lever_settings.parse(at.session_state["le_st"]) == {"kv": "nvfp4", "window": 512}
    assert lever_settings.text_of({"kv": "fp8", "window": 512}) == "window~512"
    assert lever_settings.text_of(lever_settings.parse("smaller~llama-3.2-1b~kv_heads~1")) == (
        "kv_heads~1~smaller~llama-3.2-1b"
    )


def test_every_setting_has_a_lever_and_a_field():
    plain = Settings()
    for setting in lever_settings.SETTINGS:
        assert by_name(setting.lever).name == setting.lever
        assert hasattr(plain, setting.field)
        if not setting.listed:
            assert setting.low <= lever_settings.plain(setting) <= setting.high


def test_model_that_does_not_fit_gets_fixes_not_levers():
    told = html_of(opened(m="deepseek-v3", w="bf16"))

    assert "doesn&#x27;t fit" in told or "doesn't fit" in told


def test_unknown_price_is_said():
    told = html_of(opened(hw="mi355x", g="8"))

    assert "No price is known" in told
