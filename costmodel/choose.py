"""Which batch and which hardware, for the four uses that people most often weigh: computed.

The usual advice is a batch ("one for chat, as many as fit offline"). Here the limits of each use
are given to the engine; batch and hardware follow, with the edge that decided.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from costmodel.frontier import Answers, answer
from costmodel.picks import Limits, Pick, at, moved
from costmodel.scenario import Scenario
from costmodel.sweep import Space, space, sweep
from costmodel.workloads import BY_NAME

SPEED, FIRST_TOKEN, WALL = "speed limit", "first-token limit", "memory wall"
NO_GAIN, NOTHING = "no further gain", "nothing meets the limits"


@dataclass(frozen=True)
class Use:
    """A use that people weigh."""

    name: str
    workload: str
    """Of `workloads.BY_NAME`."""
    advice: str
    """What is usually said, in our words."""


USES = (
    Use("interactive", "chat", "one sequence at a time, whatever it costs"),
    Use("offline transformation", "offline", "as many sequences as memory holds"),
    Use("evaluation", "evaluation", "large batches, over several workers"),
    Use("RAG synthesis", "RAG answer", "one long context at a time"),
)


@dataclass(frozen=True)
class Choice:
    """What the engine recommends for a use."""

    use: Use
    scenario: Scenario
    answers: Answers
    pick: Pick | None
    """None where nothing meets the limits."""
    alone: Pick | None
    """The same setup at batch 1."""
    decided_by: str

    @property
    def times_alone(self) -> float:
        """How many times as much one sequence at a time would cost; NaN without a pick."""
        if self.pick is None or self.alone is None:
            return float("nan")
        return self.alone.usd_per_mtok / self.pick.usd_per_mtok

    @property
    def reason(self) -> str:
        """Why this batch and hardware, in one sentence."""
        if self.pick is None:
            return "No setup meets these limits."
        batch = f"{self.pick.batch:,.0f}"
        much = f"one sequence at a time would cost {self.times_alone:.0f} times as much"
        if self.decided_by == WALL:
            return f"No limit stops it before memory does: {batch} sequences fit, and {much}."
        if self.decided_by == NO_GAIN:
            return f"Beyond {batch} sequences tokens get no cheaper; {much}."
        which = "each user's speed" if self.decided_by == SPEED else "the time to the first token"
        return f"Beyond {batch} sequences {which} would miss its limit; {much}."


def asked(base: Scenario, use: Use) -> Scenario:
    """Return a use's scenario: its workload and limits on the base's model and prices."""
    return base.but(context_tokens=None, budget_usd_per_mtok=None, hit=1.0, **BY_NAME[use.workload].fields())


def choose(base: Scenario, use: Use, *, where: Space | None = None) -> Choice:
    """Return the recommended batch and hardware of a use.

    Parameters
    ----------
    base : Scenario
        Model, price basis, engine.
    use : Use
        One of `USES`.
    where : Space, optional
        The space; all accelerators with weights of 8 bits or more when left out.

    Examples
    --------
    >>> from costmodel.scenario import scenario
    >>> offline = choose(scenario(model="llama-3.1-8b"), USES[1])
    >>> offline.decided_by, offline.pick.batch == offline.pick.wall
    ('memory wall', True)
    """
    scenario = asked(base, use)
    found = sweep(scenario, where=where if where is not None else space(scenario))
    answers = answer(found, Limits.of(scenario))
    best = answers.cheapest
    if best is None:
        return Choice(use, scenario, answers, None, None, NOTHING)
    one = moved(best, at(found, best, np.asarray([1.0])), 0)
    return Choice(use, scenario, answers, best, one, _decided(answers, best))


def _decided(answers: Answers, best: Pick) -> str:
    """Return the edge at which a pick stops growing: what one more sequence would break."""
    found = answers.sweep
    if best.batch + 1 > best.wall:
        return WALL
    after = moved(best, at(found, best, np.asarray([best.batch + 1])), 0)
    limits = answers.limits
    if limits.max_tpot_s is not None and after.tpot_s > limits.max_tpot_s:
        return SPEED
    if limits.max_ttft_s is not None and after.ttft_s > limits.max_ttft_s:
        return FIRST_TOKEN
    return NO_GAIN


@lru_cache(maxsize=8)
def choices(base: Scenario) -> tuple[Choice, ...]:
    """Return the choice of every use, kept for a page that draws itself again."""
    return tuple(choose(base, use) for use in USES)
