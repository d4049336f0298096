"""Sentences about a cost curve: computed from its results, never typed. No Streamlit in this file.

Every sentence has at most two clauses with numbers. `**` marks what is shown bold. Numbers come from
one `Row`, so the sentence, the figure, its table and the metrics show the same digits.
"""

from dataclasses import dataclass

import numpy as np

from costmodel import memory
from costmodel.case import Case
from costmodel.check import FloatArray
from costmodel.curve import CostCurve, Edge, Shown, Stops
from costmodel.explore import Points
from ui import units

PARTS = ("cache", "arithmetic", "links", "fixed", "weights")
"""From what batching can't remove to what it shares: the strip's order from below."""
PART_NAMES = {
    "weights": "reading weights",
    "cache": "reading KV cache",
    "arithmetic": "arithmetic",
    "links": "links between GPUs",
    "fixed": "fixed time per step",
    "prompt": "the prompt",
}
PROMPT = "prompt"
"""The part that a curve of the whole cost has besides."""
FLOOR_REASONS = {
    "cache": "reading one sequence’s cache",
    "arithmetic": "one token’s arithmetic",
}
WHY = {
    "crossover": "cache and weights then take equally long to read",
    "flat": "a larger batch saves little from there on",
    "ridge": "arithmetic sets the step from there on",
    "limit": "the speed limit",
    "wall": "memory",
}
SOLD_AS = (16, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 180, 192, 256, 288)
"""Memory sizes of cards as their names have them. [GB]"""
_GIB = 2**30
_HARDLY_LESS = 0.9
"""A next sequence that costs more than this share of the mean isn't "only"."""


@dataclass(frozen=True)
class Row:
    """One batch of the curve, in SI: what sentence, label, metrics and bars show of it."""

    chosen: int
    """As chosen; past the wall everything else is of the wall."""
    batch: int
    usd: float
    low: float | None
    high: float | None
    tpot_s: float
    marginal_usd: float
    marginal_s: float
    shares: dict[str, float]
    cache_bytes: float
    used_bytes: float

    @property
    def past_wall(self) -> bool:
        """Whether the chosen batch doesn't fit."""
        return self.chosen > self.batch

    @property
    def band(self) -> str:
        """The 80 % band of the cost, or nothing."""
        return "" if self.low is None else units.usd_range(self.low, self.high)

    @property
    def speed(self) -> str:
        """Tokens per second of each user."""
        return units.speed(units.tokens_per_s(self.tpot_s))


def rows_of(curve: CostCurve, stops: Stops) -> list[Row]:
    """Return one row a chosen batch."""
    at, case, shown = stops.at, curve.case, stops.shown
    band = case.constants.band
    each = memory.sequence_bytes(plan=case.plan, draft=case.draft, context_tokens=at.context_tokens)
    cache = at.batch * float(each) * case.gpus
    fixed = case.budget.weights_bytes + case.budget.workspace_bytes + case.budget.runtime_bytes
    shares = shares_of(curve, at, shown)
    return [
        Row(
            chosen=int(stops.chosen[i]),
            batch=int(at.batch[i]),
            usd=float(shown.usd_per_mtok[i]),
            low=None if band is None else float(shown.usd_per_mtok[i] * band[0]),
            high=None if band is None else float(shown.usd_per_mtok[i] * band[1]),
            tpot_s=float(shown.tpot_s[i]),
            marginal_usd=float(stops.marginal_usd_per_mtok[i]),
            marginal_s=float(stops.marginal_step_s[i]),
            shares={part: float(share[i]) for part, share in shares.items()},
            cache_bytes=float(cache[i]),
            used_bytes=float(fixed * case.gpus + cache[i]),
        )
        for i in range(at.batch.size)
    ]


def parts_of(curve: CostCurve) -> tuple[str, ...]:
    """Return the parts of the cost shown, from below."""
    return PARTS if curve.cost == "answer" else (PROMPT, *PARTS)


def shares_of(curve: CostCurve, at: Points, shown: Shown) -> dict[str, FloatArray]:
    """Return the share of the cost shown by part, from below; they add up to 1."""
    rest = 1 - np.nan_to_num(shown.prompt_share)
    found = {part: np.broadcast_to(at.shares[part] * rest, at.batch.shape) for part in PARTS}
    return {PROMPT: 1 - rest, **found} if curve.cost != "answer" else found


def row(curve: CostCurve) -> Row:
    """Return the row of the scenario's batch."""
    return rows_of(curve, curve.now)[0]


def setup(curve: CostCurve) -> str:
    """Return the GPUs of a copy, as in "4 × H100 SXM"."""
    case = curve.case
    return f"{case.gpus} × {case.accelerators[0].short}"


def memory_of_copy(curve: CostCurve) -> str:
    """Return the memory of a copy, as in "4 × 80 GB": the size that the card is sold with."""
    case = curve.case
    return f"{case.gpus} × {units.gb(_sold(case.accelerators[0].capacity_bytes))}"


def _sold(capacity_bytes: float) -> float:
    """Return the round size of a card whose driver shows a little less or more."""
    gib = capacity_bytes / _GIB
    near = min(SOLD_AS, key=lambda size: abs(size - gib))
    return near * units.BYTES_PER_GB if abs(near / gib - 1) < 0.03 else capacity_bytes


def floor_reason(curve: CostCurve) -> str:
    """Return what the floor is made of."""
    own = FLOOR_REASONS[curve.floor_by]
    return own if curve.cost == "answer" else f"{own}, and the prompt’s arithmetic"


# The answer -------------------------------------------------------------------------------------


def answer(curve: CostCurve, row: Row) -> str:
    """Return the answer to "what does one more sequence cost?", and what to do about it."""
    first = _cost(curve, row) if curve.priced else _time(row)
    return f"{first} {_advice(curve, row)}".strip()


def _cost(curve: CostCurve, row: Row) -> str:
    floor = units.times(row.usd / curve.floor_usd_per_mtok)
    only = "only " if row.marginal_usd < _HARDLY_LESS * row.usd else ""
    times = f", {floor} times the floor" if curve.floor_usd_per_mtok > 0 else ""
    all_in = "" if curve.cost == "answer" else " all-in"
    return (
        f"At batch **{row.batch:,}** a million tokens cost{all_in} **{units.usd(row.usd)}**{times}; "
        f"the next sequence’s tokens cost {only}**{units.usd(row.marginal_usd)}**."
    )


def _time(row: Row) -> str:
    return (
        f"At batch **{row.batch:,}** each user gets **{row.speed}**; one more sequence adds "
        f"**{units.duration(row.marginal_s)}** to everyone’s tokens."
    )


def _advice(curve: CostCurve, row: Row) -> str:
    limit = curve.case.scenario.max_tpot_s
    if row.past_wall:
        return f"Batch {row.chosen:,} doesn’t fit: **{curve.wall:,}** is the most on {setup(curve)}."
    if limit is not None and curve.knee.limit_batch == 0:
        alone = units.speed(curve.edge("limit").tokens_per_s)
        return f"No batch gives {_limit(limit)}: one sequence alone gets {alone}."
    best = curve.knee.recommended_batch
    if not curve.capacity_known and limit is None:
        return "Its memory isn’t published and no speed is asked for, so nothing bounds the batch."
    if row.batch == best:
        return f"Batch {row.batch:,} is the most that {_decider(curve)} allows."
    if row.batch > best:
        return _go_down(curve, row, limit)
    return _go_up(curve, row, limit)


def _go_down(curve: CostCurve, row: Row, limit: float | None) -> str:
    edge = recommended_edge(curve)
    speed = f"Batch {row.batch:,} gives {row.speed}, below your {_limit(limit)}"
    if not curve.priced or edge is None:
        return f"{speed}: go down to **{curve.knee.recommended_batch:,}**."
    there = units.usd(edge.usd_per_mtok)
    more = units.usd(edge.usd_per_mtok - row.usd)
    return f"{speed}: go down to **{edge.step:,}** ({there}, {more} more)."


def _go_up(curve: CostCurve, row: Row, limit: float | None) -> str:
    edge = recommended_edge(curve)
    best = f"{curve.knee.recommended_batch:,}"
    if edge is None:
        return ""
    if edge.key == "limit":
        where = f"At your {_limit(limit)} the batch can grow to **{best}**"
    elif limit is None:
        where = f"No speed is asked for: the batch can grow to the memory wall, **{best}**"
    else:
        where = f"The batch can grow to the memory wall, **{best}**, at {units.speed(edge.tokens_per_s)} each"
    if not curve.priced:
        return f"{where}."
    there = units.usd(edge.usd_per_mtok)
    if there == units.usd(row.usd):
        return f"{where}; the cost there is too close to call."
    return f"{where}: **{there}**."


def recommended_edge(curve: CostCurve) -> Edge | None:
    """Return the edge that decides the recommended batch; None where nothing runs or bounds it."""
    if curve.knee.recommended_batch < 1:
        return None
    limit = curve.edge("limit")
    return limit if limit.step == curve.knee.recommended_batch else curve.edge("wall")


def _decider(curve: CostCurve) -> str:
    edge = recommended_edge(curve)
    return "memory" if edge is None or edge.key == "wall" else "the speed limit"


def too_close(one: float, one_case: Case, other: float, other_case: Case) -> bool:
    """Return whether the 80 % bands of two setups' costs overlap, so that neither is the cheaper.

    Along one curve this is not asked: a setup's errors are its own, and its cost never rises with
    the batch.
    """
    if one > other:
        one, one_case, other, other_case = other, other_case, one, one_case
    high, low = one_case.constants.band, other_case.constants.band
    if high is None or low is None:
        return False
    return one * float(high[1]) >= other * float(low[0])


def _limit(limit_s: float | None) -> str:
    return "" if limit_s is None else units.speed(units.tokens_per_s(limit_s))


# Labels and speech ------------------------------------------------------------------------------


def now_label(curve: CostCurve, row: Row) -> str:
    """Return the label at the operating point, as Plotly's HTML."""
    head = f"at the wall: batch {row.batch:,}" if row.past_wall else f"now: batch {row.batch:,}"
    if not curve.priced:
        return f"<b>{head}, {units.duration(row.tpot_s)}</b>"
    label = f"<b>{head}, {units.usd(row.usd)}</b>"
    return f"{label}<br>likely {row.band}" if row.band else label


def time_label(row: Row) -> str:
    """Return the label at the operating point of the time row."""
    return f"{units.duration(row.tpot_s)}, {row.speed} each"


def spoken(curve: CostCurve, row: Row) -> str:
    """Return what the slider says of a batch.

    Like "64 sequences, $1.19, 45 tokens per second".
    """
    speed = row.speed.replace("tok/s", "tokens per second")
    money = f"{units.usd(row.usd)}, " if curve.priced else ""
    past = f"more than fits; at {row.batch:,}: " if row.past_wall else ""
    return f"{row.chosen:,} {'sequence' if row.chosen == 1 else 'sequences'}, {past}{money}{speed}"


def band_text(row: Row) -> str:
    """Return the band under the cost, or that none is known."""
    return f"likely {row.band}" if row.band else "no measured band"


def marginal(curve: CostCurve, row: Row) -> tuple[str, str]:
    """Return the cost of one more sequence in money and in everyone's time."""
    money = f"{units.usd(row.marginal_usd)} per Mtok" if curve.priced else units.MISSING
    return money, f"+{units.duration(row.marginal_s)} on everyone’s step"


def memory_used(curve: CostCurve, row: Row) -> tuple[str, str]:
    """Return the share of memory used, and what it is made of."""
    case = curve.case
    weights = case.budget.weights_bytes * case.gpus
    parts = f"weights {units.gb(weights)} + cache {units.gb(row.cache_bytes)}"
    if not curve.capacity_known:
        return units.gb(row.used_bytes), f"{parts}; capacity isn’t published"
    whole = case.accelerators[0].capacity_bytes * case.gpus
    return units.share(row.used_bytes / whole), f"{parts} of {units.gb(whole)}"


def reserved(curve: CostCurve) -> str:
    """Return what an engine sets aside for a sequence against what a step reads, where they differ."""
    case = curve.case
    context = np.asarray(case.scenario.context)
    read = float(case.plan.cache_bytes(context)) / case.plan.parallel.stages / case.plan.parallel.sequence_share
    kept = memory.reserved_bytes(
        plan=case.plan, tokens=float(context), max_batched_tokens=memory.MAX_BATCHED_TOKENS
    ) / case.plan.parallel.sequence_share
    if abs(kept / read - 1) < 0.05 if read > 0 else kept <= 0:
        return ""
    return f"Of each sequence a step reads {units.gb(read)} per GPU, and an engine sets {units.gb(kept)} aside."


# Notes and alternatives -------------------------------------------------------------------------


def note(curve: CostCurve, numbered: dict[str, str] | None = None) -> list[str]:
    """Return the sentences under the figure: edges that aren't on it, the band, the notes of the case."""
    said = [f"{circle} {edge_text(curve.edge(key))}." for key, circle in (numbered or {}).items()]
    absent = [e.absent for e in curve.edges if e.absent and e.key not in {"limit", "wall"}]
    beyond = [
        f"{e.name} {e.batch:,.0f}" for e in curve.edges if e.batch is not None and e.batch > curve.last
    ]
    below = [f"{e.name} below one sequence" for e in curve.edges if e.batch is not None and e.batch < 1]
    said += [sentence(text) for text in absent]
    if beyond:
        where = "Past the wall" if curve.wall else "Past this axis"
        said.append(f"{where}: {', '.join(beyond)}.")
    said += [sentence(text) for text in below]
    flat = curve.edge("flat")
    if curve.wall > 1 and (flat.batch is None or flat.batch > curve.wall):
        said.append(f"At the wall one more doubling would still save {units.share(doubling_saves(curve))}.")
    if curve.case.constants.band is not None:
        said.append("Grey band: where 80 % of measured runs of this class lie.")
    if curve.cost == "answer":
        said.append("Time between tokens includes the prompts of others; the cost is the answer’s alone.")
    if curve.beyond_limit:
        limit = curve.case.model.context_limit or 0
        said.append(f"The context is longer than the {limit:,} tokens that the model was made for.")
    return said


def sentence(text: str) -> str:
    """Return a clause as a sentence.

    >>> sentence("no speed limit is set")
    'No speed limit is set.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def doubling_saves(curve: CostCurve) -> float:
    """Return what one more doubling would save at the end of the line, as a share of the cost."""
    line = curve.line
    cost = curve.shown.usd_per_mtok if curve.priced else line.step_time_s / line.batch
    ends = np.exp(np.interp(np.log([curve.last, 2 * curve.last]), np.log(line.batch), np.log(cost)))
    return float(1 - ends[1] / ends[0])


def error(curve: CostCurve) -> str:
    """Return how far the model is off where it was measured."""
    band = curve.case.constants.band
    if band is None:
        return "No measured run of this class is known, so no band is drawn."
    low, high = 1 - float(band[0]), float(band[1]) - 1
    return f"Of measured runs of this class 80 % lie from {units.share(low)} below to {units.share(high)} above."


def edge_text(edge: Edge) -> str:
    """Return an edge's name with its batch."""
    return edge.name if edge.batch is None else f"{edge.name} {edge.batch:,.0f}"


def takeaway(curve: CostCurve, row: Row) -> str:
    """Return what most of the cost at a batch is, and whether a larger batch removes it."""
    first, second = largest_parts(row)
    shared = {"weights", "fixed"}
    kind = "which a larger batch shares out" if first[0] in shared else "which every request brings along"
    return (
        f"At batch {row.batch:,}, {units.share(first[1])} is {PART_NAMES[first[0]]}, {kind}; "
        f"{units.share(second[1])} is {PART_NAMES[second[0]]}."
    )


def largest_parts(row: Row) -> tuple[tuple[str, float], tuple[str, float]]:
    """Return the two largest parts of the cost with their shares."""
    ordered = sorted(row.shares.items(), key=lambda part: -part[1])
    return ordered[0], ordered[1]


def alt(curve: CostCurve, row: Row) -> str:
    """Return the words for those who can't see the figure."""
    line, limit, wall = curve.shown, curve.edge("limit"), curve.edge("wall")
    first, second = largest_parts(row)
    parts = (
        f"At {row.batch:,}, {units.share(first[1])} is {PART_NAMES[first[0]]}, "
        f"{units.share(second[1])} {PART_NAMES[second[0]]}."
    )
    edge = f" Speed limit at {limit.step:,}." if limit.step else ""
    if curve.priced:
        end = f" and {units.usd(wall.usd_per_mtok)} at the memory wall {curve.wall:,}" if wall.batch else ""
        falls = (
            f"{'Decode' if curve.cost == 'answer' else 'All-in'} cost per million tokens falls from "
            f"{units.usd(float(line.usd_per_mtok[0]))} at batch 1 "
            f"to {units.usd(row.usd)} at {row.batch:,}{end}; floor {units.usd(curve.floor_usd_per_mtok)}."
        )
    else:
        slowest = units.duration(units.seconds_per_token(wall.tokens_per_s))
        end = f" and {slowest} at the memory wall {curve.wall:,}" if wall.batch else ""
        falls = (
            f"Time between two tokens rises from {units.duration(float(line.tpot_s[0]))} at batch 1 "
            f"to {units.duration(row.tpot_s)} at {row.batch:,}{end}; no price is known."
        )
    return f"Line chart, logarithmic. {falls}{edge} {parts} Table follows."
