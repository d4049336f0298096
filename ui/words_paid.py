"""Sentences about a bill: is it bad? No Streamlit in this file."""

import math

from costmodel.paid import THRESHOLDS, WORST, Bill
from ui import units


def answer(bill: Bill) -> str:
    """Return the answer to "how far above the floor is what you run?"."""
    if math.isnan(bill.ratio):
        if math.isnan(bill.own_best_usd_per_mtok):
            return "No price is known for this accelerator on this basis, so its own best has no cost."
        return "Nothing fits here, so there is nothing to compare the bill with."
    paid = units.usd(bill.usd_per_mtok)
    first = (
        f"**{paid}** is **{bill.word}**: {units.times(bill.floor_ratio)} times the floor and "
        f"**{bill.ratio:.2f} times** what this setup can do{_at_limits(bill)}."
    )
    return " ".join(part for part in (first, _matches(bill), _apis(bill)) if part)


def _at_limits(bill: Bill) -> str:
    s = bill.scenario
    if not bill.board.rechosen.meets:
        return ", your limits missed"
    if s.max_tpot_s is not None:
        return f" at {units.speed(units.tokens_per_s(s.max_tpot_s))}"
    return " at the memory wall" if s.max_ttft_s is None else " at your first-token limit"


def _matches(bill: Bill) -> str:
    """Return which batch, and which busy share, cost what is paid."""
    batch, busy = bill.matching_batch, bill.matching_busy
    best = units.count(bill.own_best_batch)
    if math.isnan(busy):
        return f"It is less than this setup can do at batch {best} without idle time: check the bill or the setup."
    idle = f"batch {best} at {units.share(busy)} busy"
    if math.isnan(batch):
        return f"It matches {idle}."
    return f"It matches batch {units.count(batch)} without idle time, or {idle}."


def _apis(bill: Bill) -> str:
    count = len(bill.offers.offers)
    if not count:
        return "No listed API sells this model."
    return f"{bill.cheaper} of {count} APIs {'sells' if bill.cheaper == 1 else 'sell'} the same mix for less."


def scale(bill: Bill) -> str:
    """Return the thresholds of the word, in money of this setup."""
    best = bill.own_best_usd_per_mtok
    if math.isnan(best):
        return ""
    steps = ", ".join(f"{word} below {units.usd(best * below)}" for below, word in THRESHOLDS)
    return (
        f"Against this setup’s own best at your limits ({units.usd(best)} at batch "
        f"{units.count(bill.own_best_batch)}): {steps}, {WORST} from there on "
        f"({', '.join(f'{below:g}' for below, _ in THRESHOLDS)} times)."
    )


def converted(bill: Bill, typed: str) -> str:
    """Return how the typed bill became money per million output tokens; empty where it already was."""
    if typed == "output tokens":
        return ""
    mix = f"{units.count(bill.scenario.input_tokens)} tokens in and {units.count(bill.scenario.output_tokens)} out"
    source = "What machines and tokens come to" if typed == "machines" else f"Spread over the answer of {mix}"
    return f"{source}: {units.usd(bill.usd_per_mtok)} per million output tokens, prompts included."


def alt(bill: Bill) -> str:
    """Return the scale in words."""
    return (
        f"Scale of cost per million output tokens, logarithmic: floor {units.usd(bill.floor_usd_per_mtok)}, best "
        f"here {units.usd(bill.best_here_usd_per_mtok)}, this setup's own best "
        f"{units.usd(bill.own_best_usd_per_mtok)}, paid {units.usd(bill.usd_per_mtok)}, "
        f"{len(bill.offers.offers)} APIs. Table follows."
    )
