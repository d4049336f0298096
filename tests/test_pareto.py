"""Fronts: nothing on them is beaten, everything off them is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from costmodel import pareto, sweep
from costmodel.errors import InputError
from costmodel.scenario import scenario

GRID = st.tuples(st.integers(1, 20), st.integers(1, 20))
VALUE = st.one_of(st.integers(0, 12).map(float), st.just(float("nan")))


def brute(x, y):
    points = [(a, b) for a, b in zip(x.ravel(), y.ravel(), strict=True) if not np.isnan(a + b)]
    return {
        p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points)
    }  # fmt: skip


PAIR = GRID.flatmap(lambda shape: st.tuples(*[arrays(float, shape, elements=VALUE)] * 2))


@given(PAIR)
def test_front_is_what_brute_force_finds(pair):
    x, y = pair
    found = pareto.front(x=x, y=y)
    points = list(zip(x.ravel()[found], y.ravel()[found], strict=True))

    assert set(points) == brute(x, y)
    assert len(points) == len(set(points))
    assert points == sorted(points)


def test_rows_put_aside_lose_nothing():
    rng = np.random.default_rng(3)
    x = rng.lognormal(size=(400, 64)) * rng.lognormal(size=(400, 1))
    y = 1 / x + rng.lognormal(size=(400, 64))

    found = pareto.front(x=x, y=y)
    assert {(a, b) for a, b in zip(x.ravel()[found], y.ravel()[found], strict=True)} == brute(x, y)


@pytest.fixture(scope="module")
def swept():
    asked = scenario(model="llama-3.1-8b")
    return sweep.sweep(asked, where=sweep.space(asked, hardware=["h100-sxm", "l4"], gpus=[1, 2]))


@pytest.mark.parametrize("first", sorted(pareto.AXES))
@pytest.mark.parametrize("second", sorted(pareto.AXES))
def test_any_pair_of_axes(swept, first, second):
    if first == second:
        with pytest.raises(InputError, match="two different ones"):
            pareto.front_of(swept, axes=(first, second))
        return
    found = pareto.front_of(swept, axes=(first, second))

    assert found.size >= 1
    a, b = pareto.axis(first), pareto.axis(second)
    x = (a.of(swept) * a.better).ravel()[found]
    y = (b.of(swept) * b.better).ravel()[found]
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) < 0).all()
    assert swept.fits.ravel()[found].all()


def test_unknown_axis():
    with pytest.raises(InputError, match="did you mean speed"):
        pareto.axis("sped")
