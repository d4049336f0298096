"""Every page runs, from the main script, as Streamlit runs it."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui import navigation

SHELL = Path(__file__).parents[1] / "ui" / "shell.py"


@pytest.mark.parametrize("entry", navigation.LISTED, ids=lambda entry: entry.file)
def test_page_runs_without_an_error(entry):
    at = AppTest.from_file(str(SHELL), default_timeout=20).run()
    if entry.address:
        at.switch_page(f"../pages/{entry.file}.py").run()

    assert [error.value for error in at.exception] == []
    assert at.title[0].value.endswith("?")


@pytest.mark.parametrize("entry", navigation.LISTED, ids=lambda entry: entry.file)
def test_every_figure_says_in_words_what_it_shows(entry):
    at = AppTest.from_file(str(SHELL), default_timeout=20).run()
    if entry.address:
        at.switch_page(f"../pages/{entry.file}.py").run()

    figures = [part for part in at.get("bidi_component") if part.proto.component_name == "plot"]
    for figure in figures:
        box = json.loads(figure.proto.bytes.split(b"\n")[0])
        assert len(box["alt"]) > 40


def test_pages_have_files_of_their_own_and_one_is_the_front():
    assert {entry.path for entry in navigation.LISTED} == set(navigation.PAGES.glob("*.py"))
    assert [entry.address for entry in navigation.LISTED].count("") == 1
