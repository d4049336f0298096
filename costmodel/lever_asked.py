"""What people ask about levers, from texts of the command line or of an address."""

from collections.abc import Mapping
from typing import Any

from costmodel import lever_records
from costmodel.cli.numbers import numbers
from costmodel.errors import InputError, quoted
from costmodel.levers import Settings, by_name
from costmodel.scenario import Scenario
from costmodel.setups import Setup, naive
from costmodel.verdict import MTOK_PER_MONTH

TODAY = ("engine", "naive")
OPTIONS = ("today", "paid", "tokens-per-month", "kernel-time-removed", "output-spread", "together")
"""Options of their own, without dashes."""


def answer(scenario: Scenario, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the record of a scenario's levers.

    Parameters
    ----------
    scenario : Scenario
        What is served, on what, within which limits.
    given : mapping
        Texts by the names of `OPTIONS`; what is missing stands at its default.

    Raises
    ------
    InputError
        Naming the option, the rule, the value.
    """
    today = given.get("today", TODAY[0])
    if today not in TODAY:
        msg = f"--today must be one of {', '.join(TODAY)}, got {quoted(today)}"
        raise InputError(msg, field="today")
    setup = Setup(scenario)
    options: dict[str, Any] = {}
    if "kernel-time-removed" in given:
        options["kernel_time_removed"] = _number(given["kernel-time-removed"], "--kernel-time-removed", 1)
    if "output-spread" in given:
        options["output_spread"] = _number(given["output-spread"], "--output-spread", 3)
    settings = Settings(**options)
    names = [n.strip() for n in given.get("together", "").split(",") if n.strip()]
    month = MTOK_PER_MONTH
    if "tokens-per-month" in given:
        month = _above(given["tokens-per-month"], "--tokens-per-month") / 1e6
    return lever_records.levers(
        naive(setup, spread=settings.output_spread) if today == "naive" else setup,
        settings,
        chosen=tuple(by_name(n) for n in names) or None,
        paid_usd_per_mtok=_above(given["paid"], "--paid") if "paid" in given else None,
        mtok_per_month=month,
    )


def _number(text: str, option: str, most: float) -> float:
    found = numbers(text, option=option)
    if found.size != 1 or not 0 <= found[0] <= most:
        msg = f"{option} must be one number between 0 and {most:g}, got {quoted(text)}"
        raise InputError(msg, field=option.lstrip("-"))
    return float(found[0])


def _above(text: str, option: str) -> float:
    value = _number(text, option, 1e15)
    if value <= 0:
        msg = f"{option} must be above 0, got {quoted(text)}; give what is paid or served"
        raise InputError(msg, field=option.lstrip("-"))
    return value
