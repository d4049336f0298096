"""What is offered where a model doesn't fit: it fits, it is near, it tells its cost."""

import math

import pytest

from costmodel.explore import knee, point
from costmodel.fixes import nearest_fixes
from costmodel.scenario import scenario

TOO_LARGE = [
    {"tp": 1, "batch": 8},
    {"model": "deepseek-v3", "tp": 8},
    {"model": "llama-3.1-405b", "tp": 8, "hardware": "a100-sxm-80gb"},
    {"tp": 1, "hardware": "rtx-4090"},
]


@pytest.mark.parametrize("setup", TOO_LARGE, ids=str)
def test_every_fix_fits_and_costs_what_it_says(setup):
    asked = scenario(**setup)
    found = nearest_fixes(asked)

    assert knee(asked).max_batch == 0
    assert 1 <= len(found) <= 3
    for fix in found:
        fixed = asked.but(**fix.changes)
        assert knee(fixed).max_batch == fix.max_batch >= 1
        there = fixed.but(batch=min(asked.batch, fix.max_batch))
        assert float(point(there).usd_per_mtok) == pytest.approx(fix.usd_per_mtok)


def test_nearest_first_and_each_of_another_kind():
    found = nearest_fixes(scenario(tp=1, batch=8))

    assert found[0].label == "2 × H100 SXM"
    assert [f.distance for f in found] == sorted(f.distance for f in found)
    assert len({frozenset(f.changes) for f in found}) == len(found)


def test_deepseek_on_h200_is_offered_with_both_splits():
    """671 GB don't fit eight H100; on eight H200 tensor split holds hundreds, data-parallel thousands."""
    labels = {f.label: f.max_batch for f in nearest_fixes(scenario(model="deepseek-v3", tp=8))}

    assert 200 <= labels["8 × H200 SXM"] <= 500
    assert labels["8 × H200 SXM, attention data-parallel"] >= 1500


def test_nothing_is_made_up_without_a_price_or_a_model():
    unpriced = nearest_fixes(scenario(tp=1, batch=8, price_basis="owning"))

    assert all(math.isfinite(f.usd_per_mtok) for f in unpriced)
    assert nearest_fixes(scenario(model="no such model")) == ()
