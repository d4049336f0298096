"""docs/frontier.md and docs/api.md say what the program does."""

import doctest
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api import app as routes
from api.read import MOST_QUERY
from costmodel import chunks, pareto, sweep
from costmodel.scenario import scenario

DOCS = Path(__file__).parents[1] / "docs"
FRONTIER = (DOCS / "frontier.md").read_text(encoding="utf-8")
API = (DOCS / "api.md").read_text(encoding="utf-8")
CALLS = re.findall(r"^/api/v1(/\S+)$", API, flags=re.MULTILINE)


def test_examples_run():
    failed, tried = doctest.testfile(str(DOCS / "frontier.md"), module_relative=False, encoding="utf-8")

    assert tried > 4
    assert failed == 0


def test_the_usual_space_is_as_large_as_told():
    assert f"{sweep.space(scenario()).points:,} points for a 16-bit model" in FRONTIER


@pytest.mark.parametrize("reason", sweep.REASONS[1:])
def test_every_reason_is_explained(reason):
    assert f"| {reason} |" in FRONTIER


def test_axes_and_columns_are_all_there():
    assert all(f"`{key}`" in FRONTIER and f"`{key}`" in API for key in pareto.AXES)
    asked = scenario(model="llama-3.1-8b")
    where = sweep.space(asked, hardware=["h100-sxm"], gpus=[1], batches=[1])
    (chunk, *_) = chunks.plan_of(asked, where, {})
    import io

    import pyarrow.parquet as pq

    names = pq.read_schema(io.BytesIO(chunks.computed(chunk))).names
    listed = FRONTIER.split("Columns: ")[1].split(".")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(names)


def test_bounds_are_the_programs():
    assert f"{chunks.CHUNK_POINTS:,} points" in FRONTIER
    assert f"{MOST_QUERY:,} characters" in API
    assert f"{routes.MOST_POINTS:,} points" in API
    assert f"{routes.MOST_SWEPT:,} points" in API


@pytest.mark.parametrize("call", CALLS)
def test_calls_shown_are_answered(call):
    assert TestClient(routes.api).get(call).status_code == 200


def test_calls_are_shown():
    assert len(CALLS) >= 5
