"""Where to run as people see it: sentences, the ranked figure, what isn't ranked, the page."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from costmodel import sweep, where
from costmodel.scenario import scenario
from ui import navigation, where_blocks
from ui import words_where as words
from ui.charts import where as chart

SHELL = str(Path(__file__).parents[1] / "ui" / "shell.py")
ASKED = scenario(model="llama-3.1-70b", max_tpot_s=1 / 30, max_ttft_s=0.5)
CARDS = ["h100-sxm", "h200-sxm", "b200-sxm", "l4", "l40s", "rtx-4090"]


def rank(asked=ASKED, **more):
    return where.rank(asked, where=sweep.space(asked, hardware=CARDS), **more)


@pytest.fixture(scope="module")
def ranking():
    return rank()


def test_answer_names_the_cheapest_the_next_and_the_apis(ranking):
    said = words.answer(ranking, "llama-3.1-70b")
    first = ranking.own[0]

    assert said.startswith(f"**{first.pick.gpus} × {first.accelerator.short}** is cheapest at your limits: **$")
    assert "of 6 APIs" in said
    assert "you beat the median ($1.27) above" in said


def test_the_answer_speaks_of_the_price_basis_of_the_sidebar(ranking):
    assert ranking.own[0].kind == where.RENTED
    assert rank(ASKED.but(price_basis="owning")).own[0].kind == where.OWNED
    assert rank(kinds=(where.OWNED,)).own[0].kind == where.OWNED
    assert any(note.startswith("Owned, ") for note in words.notes(ranking, "llama-3.1-70b", None))


def test_apis_that_are_always_cheaper(ranking):
    dear = replace(ranking, places=tuple(replace(p, usd_per_mtok=p.usd_per_mtok * 50) for p in ranking.own))

    assert "is cheaper at any load" in words.answer(dear, "llama-3.1-70b")


def test_nothing_of_ones_own_meets_the_limits():
    said = words.answer(rank(ASKED.but(max_tpot_s=1 / 400)), "llama-3.1-70b")

    assert said.startswith("No accelerator meets your limits; ")
    assert "The cheapest API is **OpenRouter**: **$0.47**." in said


def test_a_model_nobody_sells():
    asked = scenario(model="mpt-7b")
    assert "No listed API sells this model" in words.answer(rank(asked), "mpt-7b")


def test_a_mismatch_is_named():
    asked = scenario(model="llama-3.2-3b", max_tpot_s=1 / 250)
    found = where.rank(asked, kinds=(where.RENTED,), where=sweep.space(asked, hardware=["b200-sxm"], gpus=[1]))

    said = words.answer(found, "llama-3.2-3b")
    assert "llama-3.2-3b on B200 SXM uses " in said
    assert " % of memory and pays for 19" in said


def test_missing_say_why_and_what_would_do(ranking):
    said = {m.accelerator.id: words.missing(m) for m in ranking.missing if m.kind == where.RENTED}

    assert all(said.values())
    tight = rank(ASKED.but(max_tpot_s=1 / 100))
    assert any("would do at " in words.missing(m) for m in tight.missing)


def test_figure_ranks_in_the_order_asked_for(ranking):
    shown = where.ordered(ranking.places, "cost at the limits")
    figure = chart.figure(ranking, shown, "h100-sxm")
    names = [a["text"] for a in figure.layout["annotations"] if "API</span>" in a["text"]]

    assert len(names) == len(ranking.of(where.API))
    assert sum(len(t["x"]) for t in figure.data if t["name"] in where.KINDS) == len(shown)
    assert any("yours" in a["text"] for a in figure.layout["annotations"])
    assert figure.alt.startswith(f"Ranked list of {len(shown)} places: ")


def test_figure_without_places():
    empty = where.Ranking((), (), rank(scenario(model="mpt-7b")).apis, rank().limits)
    figure = chart.figure(empty, (), "h100-sxm")

    assert figure.alt.startswith("Ranked list without places")


def test_file_has_every_place(ranking):
    lines = where_blocks.csv(ranking.places).splitlines()

    assert len(lines) == 1 + len(ranking.places)
    assert lines[0].startswith("place,kind,price_basis,usd_per_mtok")


def page(**params):
    at = AppTest.from_file(SHELL, default_timeout=40)
    for key, value in params.items():
        at.query_params[key] = value
    at.run()
    return at.switch_page("../pages/where.py").run()


def html_of(at):
    return " ".join(part.proto.body for part in at.get("html"))


def test_page_ranks():
    at = page()

    assert not at.exception
    assert "is cheapest at your limits" in html_of(at)
    assert "OpenRouter (API)" in html_of(at)
    assert "estimate: rated board power" in html_of(at)
    assert any("accelerators aren’t ranked" in e.label for e in at.expander)


def test_page_shows_apis_only():
    at = page(wr_k="API")

    assert not at.exception
    assert "owning" not in html_of(at).split("<table")[1]


def test_hardware_is_an_alias():
    entries = {e.address: e for e in navigation.LISTED}

    assert entries["hardware"].file == entries["where"].file == "where"
    assert entries["hardware"].hidden
