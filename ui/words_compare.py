"""Sentences and cells of the Compare page, computed from its results. No Streamlit in this file."""

import math

from costmodel.compare import Column, Comparison, Row, Value
from ui import units

_SAME = 0.005
"""Ratios closer to 1 than this are no difference."""
TIMES = {"memory": "memory", "compute": "arithmetic", "comm": "links", "fixed": "fixed time"}


def answer(found: Comparison) -> str:
    """Return the answer to "what differs?": the dearest against the cheapest."""
    if len(found.columns) == 2:
        return _two(*found.columns, found)
    cheap, fast = found.cheapest, found.fastest
    if _unpriced(cheap):
        return f"{_name(fast)} is the fastest of {len(found.columns)}: **{_speed(fast)}** for each user."
    close = " Their bands overlap: too close to call." if found.too_close else ""
    return (
        f"{_name(cheap)} is the cheapest of {len(found.columns)}, **{units.usd(_usd(cheap))}**; "
        f"{_name(fast)} is the fastest, **{_speed(fast)}** for each user.{close}"
    )


def _two(first: Column, second: Column, found: Comparison) -> str:
    pace = _pace(first, second)
    if _unpriced(first) or _unpriced(second):
        return f"{_name(first)} is {pace} {_name(second)} for each user; a price is missing, so no cost."
    if found.too_close:
        costs = f"{units.usd(_usd(first))}, {units.usd(_usd(second))}"
        return f"{_name(first)} and {_name(second)} are too close to call ({costs}); {first.letter} is {pace}."
    ratio = _usd(first) / _usd(second)
    if abs(ratio - 1) < _SAME:
        return f"{_name(first)} and {_name(second)} cost the same per token; {first.letter} is {pace}."
    if ratio < 1:
        first, second, ratio = second, first, 1 / ratio
        pace = _pace(first, second)
    dearer = f"{_name(first)} costs **{units.times(ratio)} times** {_name(second)} per token"
    return f"{dearer} and is {pace} for each user."


def _pace(first: Column, second: Column) -> str:
    """Return how fast the first is beside the second, for each user."""
    ratio = _tpot(second) / _tpot(first)
    if not math.isfinite(ratio) or abs(ratio - 1) < _SAME:
        return "as fast"
    if ratio > 1:
        return f"**{units.times(ratio)} times faster**"
    return f"**{units.times(1 / ratio)} times slower**"


def _tpot(column: Column) -> float:
    served = float(column.serving.tpot_s)
    return float(column.point.step_time_s) if math.isnan(served) else served


def _usd(column: Column) -> float:
    return float(column.serving.usd_per_mtok)


def _unpriced(column: Column) -> bool:
    return math.isnan(_usd(column))


def _speed(column: Column) -> str:
    return units.speed(units.tokens_per_s(_tpot(column)))


def _name(column: Column) -> str:
    return f"{column.letter} ({column.name})"


def alt(found: Comparison) -> str:
    """Return the table in words."""
    cheap, fast = found.cheapest, found.fastest
    differ = ", ".join(found.differ_in) or "nothing"
    return (
        f"Table of {len(found.columns)} setups. Cheapest {cheap.letter}, {units.usd(_usd(cheap))}; fastest "
        f"{fast.letter}, {_speed(fast)}. They differ in {differ}."
    )


def curves_alt(found: Comparison) -> str:
    """Return the overlaid curves in words."""
    told = "; ".join(
        f"{c.letter} {units.usd(_usd(c))} at batch {units.count(float(c.scenario.batch))}" for c in found.columns
    )
    return f"Line chart, logarithmic: all-in cost per million tokens over the batch, one line a setup. {told}."


def cell(row: Row, value: Value) -> str:
    """Return a value of a row as people read it."""
    if value is None:
        return "none" if row.unit == "sequences" else units.MISSING
    if isinstance(value, str):
        return TIMES.get(value, value) if row.key == "bound" else value
    if math.isnan(value):
        return units.MISSING
    return _WRITE.get(row.unit or row.key, _plain)(value)


def _plain(value: float) -> str:
    return units.count(value) if value == int(value) else units.plain(round(value, 4))


_WRITE = {
    "usd": units.usd,
    "s": units.duration,
    "tok/s": units.speed,
    "bytes": units.gb,
    "sequences": units.count,
    "J": lambda value: f"{value:.2g} J",
    "max_tpot_s": lambda value: units.speed(units.tokens_per_s(value)),
    "max_ttft_s": units.duration,
    "shared": units.share,
    "hit": units.share,
    "busy": units.share,
    "spec_acceptance": units.share,
    "flat": units.share,
}
