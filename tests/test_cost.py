"""Money, and the source article's own table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.cost import cost_curve, usd_per_mtok

# An 8B-class model with grouped queries at 4,096 tokens on an H100, in the article's parameters.
ARTICLE = {
    "params": 8.03e9, "layers": 32, "ctx": 4096, "w_bytes": 2, "kv_bytes": 2, "bandwidth": 3.35e12,
    "flops": 989e12,
}  # fmt: skip
D_KV, D_QUERY = 8 * 128, 32 * 128
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def articles_rows(params, layers, d_kv, ctx, w_bytes, kv_bytes, bandwidth, flops, batch_max, d_attended=None):
    """The article's loop, as printed; `d_attended` is the width its arithmetic should have used."""
    weights = params * w_bytes
    k = 2 * layers * d_kv * kv_bytes * ctx
    rows = []
    for b in BATCHES:
        if b > batch_max:
            break
        t_mem = (weights + b * k) / bandwidth
        t_flop = (2 * params * b + 4 * layers * (d_attended or d_kv) * ctx * b) / flops
        step = max(t_mem, t_flop)
        rows.append((b, step, step / b))
    return rows


@pytest.mark.parametrize("d_query", [D_KV, D_QUERY], ids=["as printed", "query heads"])
@pytest.mark.parametrize("ctx", [128, 4096, 131072])
def test_articles_table_to_the_last_digit(d_query, ctx):
    asked = ARTICLE | {"ctx": ctx}
    rows = articles_rows(**asked, d_kv=D_KV, batch_max=256, d_attended=d_query)
    step = cost_curve(**asked, d_kv=D_KV, d_query=d_query, batch=BATCHES)

    for (b, theirs, each), ours in zip(rows, step, strict=True):
        assert ours == pytest.approx(theirs, rel=4e-16)
        assert ours / b == pytest.approx(each, rel=8e-16)


def test_articles_slip_hides_arithmetic():
    """With the KV width attention's FLOP are a quarter: at short context it moves the ridge."""
    asked = ARTICLE | {"ctx": 380}
    slipped, right = (
        articles_rows(**asked, d_kv=D_KV, batch_max=256, d_attended=w)[-1][1] for w in (D_KV, D_QUERY)
    )
    flops = [4 * 32 * width * 380 * 256 for width in (D_KV, D_QUERY)]

    assert flops[1] == 4 * flops[0]
    assert right >= slipped


def test_usd_per_mtok_by_hand():
    """18.15 ms for 64 tokens on four GPUs at 3.99 USD/h: 4 · 3.99 / 3600 · 18.15e-3 / 64 · 1e6."""
    found = usd_per_mtok(time_per_token_s=18.15e-3 / 64, usd_per_gpu_hour=3.99, gpus=4)

    assert found == pytest.approx(4 * 3.99 / 3600 * 18.15e-3 / 64 * 1e6)
    assert found == pytest.approx(1.2573, rel=1e-3)


@given(time=st.floats(1e-9, 1e3), price=st.floats(1e-3, 1e3), gpus=st.integers(1, 1024), busy=st.floats(0.01, 1))
def test_cost_is_linear_in_time_price_and_gpus(time, price, gpus, busy):
    def cost(t, p, g, b):
        return float(usd_per_mtok(time_per_token_s=t, usd_per_gpu_hour=p, gpus=g, busy=b))

    once = cost(time, price, gpus, busy)
    assert cost(2 * time, price, gpus, busy) == pytest.approx(2 * once)
    assert cost(time, 3 * price, gpus, busy) == pytest.approx(3 * once)
    assert cost(time, price, gpus, 1.0) == pytest.approx(busy * once)


def test_unknown_price_stays_unknown():
    assert np.isnan(usd_per_mtok(time_per_token_s=1.0, usd_per_gpu_hour=np.nan, gpus=1))


def test_shapes_broadcast():
    found = usd_per_mtok(time_per_token_s=np.ones((3, 5, 7)), usd_per_gpu_hour=np.ones((3, 1, 1)), gpus=2)

    assert found.shape == (3, 5, 7)
