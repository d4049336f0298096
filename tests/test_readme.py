"""The README says what the program says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from costmodel import catalog, explore
from costmodel.scenario import scenario

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_three_numbers_are_the_engines():
    asked = scenario(weights="fp8")
    cost = explore.point(asked, batch=[64]).usd_per_mtok[0]
    knee = explore.knee(asked)

    assert f"batch 64? | ${cost:.2f} |" in README
    assert f"memory ends? | {knee.max_batch} |" in README
    assert f"the batch? | ${knee.floor_usd_per_mtok:.2f} |" in README


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("time between tokens, served", "closed_tpot"),
        ("decode step, fixed batch", "fixed_tpot"),
        ("throughput, fixed batch", "fixed_throughput"),
        ("decoding one sequence", "batch1_decode"),
        ("first token, served", "closed_ttft"),
        ("throughput, full load", "max_load"),
    ],
)
def test_the_errors_are_those_of_the_fit(words, kind):
    error = catalog.calibration_fit()["errors_out_of_fold"][kind]
    middle, most = (f"{100 * error[name]:.0f} %" for name in ("median_ape", "p90_ape"))

    assert f"| {words} | {error['n']} | {middle} | {most} |" in README


def test_every_make_target_it_names_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))

    assert set(re.findall(r"`?make ([a-z]+)\b", README.replace("and make:", ""))) <= targets


def test_files_it_names_exist():
    named = re.findall(r"\]\(([^)]+)\)", README) + re.findall(r"^([a-z]+/|app\.py) ", README, re.M)

    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("target", ["run", "test", "check", "bench", "shots"])
def test_make_help_lists_the_target(target):
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert re.search(rf"^{target}\s", listed.stdout, re.M)


def test_python_is_named_as_the_project_needs_it():
    assert "Python 3.11" in README
    assert sys.version_info >= (3, 11)
