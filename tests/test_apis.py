"""API prices for the same request: mixes, cached input, context limits, break-even."""

from statistics import median

import pytest

from costmodel import apis
from costmodel.scenario import scenario

CHAT = scenario(input_tokens=1500, output_tokens=1000)


def test_the_mix_counts_input_and_output_apart():
    found = apis.offers(CHAT, "llama-3.1-70b")
    costs = {o.provider: o.usd_per_mtok for o in found.offers}

    # By hand: 1.5 x input + output of each provider's row.
    assert costs["OpenRouter"] == pytest.approx(1.5 * 0.1 + 0.32)
    assert costs["Together"] == pytest.approx(1.5 * 1.04 + 1.04)
    assert found.median_usd_per_mtok == pytest.approx(median(costs.values()))
    assert round(found.median_usd_per_mtok, 2) == 1.27
    assert [o.usd_per_mtok for o in found.offers] == sorted(costs.values())


def test_a_request_costs_its_tokens():
    for offer in apis.offers(CHAT, "llama-3.1-70b").offers:
        assert offer.usd_per_request == pytest.approx(offer.usd_per_mtok * 1000 / 1e6)


def test_cached_input_has_its_own_price_where_the_provider_has_one():
    plain = {o.provider: o for o in apis.offers(CHAT, "deepseek-v3").offers}
    reused = {o.provider: o for o in apis.offers(CHAT.but(shared=0.8), "deepseek-v3").offers}
    discounted = [p for p, o in reused.items() if o.discounts_cached]

    assert discounted
    for provider, offer in reused.items():
        row = offer.price
        cached = row.usd_per_mtok_cached_input if offer.discounts_cached else row.usd_per_mtok_input
        expected = (300 * row.usd_per_mtok_input + 1200 * cached + 1000 * row.usd_per_mtok_output) / 1000
        assert offer.usd_per_mtok == pytest.approx(expected)
        assert offer.usd_per_mtok <= plain[provider].usd_per_mtok + 1e-12


def test_a_prompt_that_the_cache_misses_is_paid_in_full():
    assert apis.offers(CHAT.but(shared=0.8, hit=0.0), "deepseek-v3") == apis.offers(CHAT, "deepseek-v3")


def test_requests_longer_than_a_providers_context_are_not_offered():
    found = apis.offers(CHAT.but(input_tokens=129_000, context_tokens=1000), "llama-3.1-70b")

    assert {p.provider for p in found.too_short} >= {"AWS Bedrock"}
    assert "AWS Bedrock" not in {o.provider for o in found.offers}


def test_rows_are_dated():
    found = apis.offers(CHAT, "llama-3.1-70b")

    assert found.newest.year == 2026
    assert found.oldest <= found.newest


def test_a_model_that_nobody_sells():
    found = apis.offers(CHAT, "mpt-7b")

    assert found.offers == ()
    assert found.median_usd_per_mtok is None
    assert found.newest is None


def test_break_even_is_where_the_two_cost_the_same():
    share = apis.break_even_busy(full_usd_per_mtok=0.6, api_usd_per_mtok=1.2)

    assert 0.6 / share == pytest.approx(1.2)
    assert apis.break_even_busy(full_usd_per_mtok=1.3, api_usd_per_mtok=1.2) is None
    assert apis.break_even_busy(full_usd_per_mtok=1.3, api_usd_per_mtok=0.0) is None
