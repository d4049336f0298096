"""Sentences of "Prompt and answer", computed from its results. No Streamlit in this file."""

import numpy as np

from costmodel.prompt_levers import Apart, Varied
from costmodel.prompt_share import Request
from costmodel.scenario import Scenario
from ui import units

MOSTLY, HARDLY = 0.6, 0.4
"""Above the one, prompts come first; below the other, the answer does."""
APART = (
    "Prompt copies are of the same accelerators and kept 80 % busy; the cache of a prompt crosses the link "
    "before its first token."
)
REQUESTS = (1, 100, 1_000, 10_000, 1_000_000)
LEAST_USD = 1.0
"""Money is told for the fewest of those requests that cost so much."""
CLOSE = 0.03
"""Costs that differ by less are called the same."""


def percent(share: float) -> str:
    """Return a share in whole percent, its ends as words.

    >>> percent(0.207), percent(0.004), percent(0.998)
    ('21 %', 'under 1 %', 'over 99 %')
    """
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else units.share(share)


def answer(request: Request) -> str:
    """Return the answer to "which of the two economics is yours?"."""
    share = request.prompt_share
    if share > MOSTLY:
        advice = "Shorten or reuse prompts first."
    elif share < HARDLY:
        advice = "Work on the answer first."
    else:
        advice = "Both count."
    limit = request.served.case.scenario.max_ttft_s
    first = units.duration(request.prompt_s)
    late = "" if limit is None or request.prompt_s <= limit else f", later than your {units.duration(limit)}"
    return f"**{percent(share)}** of each request’s cost is its prompt. {advice} First token **{first}**{late}."


def prices(request: Request) -> str:
    """Return what a million tokens of either kind cost; empty without a price."""
    if np.isnan(request.usd_per_mtok):
        return "No price is known: shares are of GPU time."
    return (
        f"A million prompt tokens cost {units.usd(request.usd_per_mtok_input)}, "
        f"a million answer tokens {units.usd(request.usd_per_mtok_answer)}."
    )


def per_requests(request: Request) -> tuple[str, tuple[str, str]]:
    """Return what so many requests cost that it is a sum people know, and its two parts."""
    many = next((n for n in REQUESTS if n * request.usd_per_request >= LEAST_USD), REQUESTS[-1])
    total, answer_, prompt = units.usd_sum(many * request.usd_per_request, many * request.usd_answer)
    what = "a request" if many == 1 else f"{units.count(many)} requests"
    return f"Cost of {what}, {total}", (prompt, answer_)


def half(request: Request, half_tokens: float | None) -> str:
    """Return where both parts cost the same."""
    scenario = request.served.case.scenario
    out = f"{units.count(scenario.output_tokens)} output tokens"
    if scenario.output_tokens <= 1:
        return "An answer of one token is all prompt."
    if half_tokens is None:
        return f"At {out} no prompt that the map shows costs as much as its answer."
    return f"At {out} both cost the same at {units.count(float(f'{half_tokens:.3g}'))} input tokens."


def reuse(scenario: Scenario) -> str:
    """Return how much of a prompt isn't computed; empty where all of it is."""
    cached = scenario.shared * scenario.hit
    if cached <= 0:
        return ""
    kept = units.count(scenario.input_tokens * cached)
    whole = units.count(scenario.input_tokens)
    return f"{kept} of {whole} prompt tokens are found in the cache and cost nothing here."


def alt(request: Request, half_tokens: float | None) -> str:
    """Return the words for those who can't see the map."""
    s = request.served.case.scenario
    where = "nowhere on it is half" if half_tokens is None else (
        f"half at {units.count(float(f'{half_tokens:.3g}'))} input tokens"
    )
    return (
        f"Heat map of the prompt’s share of cost over input and output length. At {units.count(s.input_tokens)}/"
        f"{units.count(s.output_tokens)} it is {percent(request.prompt_share)}; {where}. Table follows."
    )


# Tabs -------------------------------------------------------------------------------------------


def chunks(found: Varied, now_tokens: float, mixes: bool) -> str:
    """Return what the chunk size changes here."""
    first, last = 0, found.knob.size - 1
    small, large = units.count(float(found.knob[first])), units.count(float(found.knob[last]))
    gaps = f"{units.duration(float(found.gap_s[first]))} instead of {units.duration(float(found.gap_s[last]))}"
    waits = f"{units.duration(float(found.ttft_s[first]))} instead of {units.duration(float(found.ttft_s[last]))}"
    kind = "share steps with answers" if mixes else "run between the steps of answers"
    own = "whole prompts" if now_tokens <= 0 else f"{units.count(now_tokens)} tokens"
    return (
        f"Chunks of {small} tokens keep the longest gap between two tokens at {gaps} (chunks of {large}); "
        f"the first token then takes {waits}. Chunks {kind} on this engine; now: {own}."
    )


def hits(found: Varied, now_share: float) -> str:
    """Return what prefix hits change here."""
    full = found.knob.size - 1
    first = f"{units.duration(float(found.ttft_s[full]))} instead of {units.duration(float(found.ttft_s[0]))}"
    if np.isnan(found.usd_per_mtok[0]):
        cost = ""
    else:
        less = f"{units.usd(float(found.usd_per_mtok[full]))} instead of {units.usd(float(found.usd_per_mtok[0]))}"
        cost = f"a million output tokens would cost {less} all-in and "
    return (
        f"Were nearly all of each prompt cached, {cost}the first token would take {first}; "
        f"now {percent(now_share)} is cached."
    )


def apart(found: Apart, at: int) -> str:
    """Return what GPUs of their own for prompts need and change, at the batch of a position."""
    ratio = float(found.copies[at])
    need = f"{units.count(ratio, decimals=2)} prompt copies per answer copy"
    speed = (
        f"{units.speed(units.tokens_per_s(float(found.apart_tpot_s[at])))} each instead of "
        f"{units.speed(units.tokens_per_s(float(found.together_tpot_s[at])))}"
    )
    one, other = float(found.apart_usd_per_mtok[at]), float(found.together_usd_per_mtok[at])
    if np.isnan(other):
        cost = ""
    elif abs(one / other - 1) < CLOSE:
        cost = f"; the cost is about the same, {units.usd(one)}"
    else:
        cost = f"; {units.usd(one)} per million output tokens instead of {units.usd(other)}"
    batch = units.count(float(found.batch[at]))
    return f"At batch {batch} separate prompt GPUs need {need} and give {speed}{cost}."
