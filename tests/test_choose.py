"""Which to choose: the four uses get a batch and hardware from the engine, with the edge that decided."""

import pytest

from costmodel import choose, sweep
from costmodel.scenario import scenario

BASE = scenario(model="llama-3.1-8b")


def choice(name):
    use = next(u for u in choose.USES if u.name == name)
    asked = choose.asked(BASE, use)
    return choose.choose(BASE, use, where=sweep.space(asked, hardware=["h100-sxm", "l40s"], gpus=[1, 2]))


@pytest.mark.parametrize("use", choose.USES, ids=lambda u: u.name)
def test_every_use_gets_a_batch_a_card_and_a_reason(use):
    found = choice(use.name)

    assert found.pick.batch >= 1
    assert f"{found.pick.batch:,.0f}" in found.reason
    assert found.reason.endswith(".")
    assert found.times_alone > 1


def test_interactive_use_is_bounded_by_speed_and_still_batches():
    found = choice("interactive")

    assert found.decided_by == choose.SPEED
    assert found.pick.tokens_per_s >= 30
    assert found.pick.batch > 8


def test_offline_use_fills_the_memory():
    found = choice("offline transformation")

    assert found.decided_by == choose.WALL
    assert found.pick.batch == found.pick.wall


def test_one_sequence_is_the_same_setup():
    found = choice("evaluation")

    assert found.alone.batch == 1
    assert found.alone.same_setup(found.pick)


def test_limits_nothing_meets(monkeypatch):
    monkeypatch.setattr(choose, "asked", lambda base, use: base.but(max_ttft_s=1e-6))
    found = choice("interactive")

    assert found.pick is None
    assert found.decided_by == choose.NOTHING
    assert found.reason == "No setup meets these limits."
