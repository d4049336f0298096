"""Ready-made workloads: what people most often serve, with the limits that go with it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Workload:
    """Lengths, repetition and limits; a limit that is None doesn't matter there."""

    name: str
    input_tokens: int
    output_tokens: int
    shared: float
    """Share of the prompt that repeats."""
    tokens_per_s: float | None
    """What each user needs."""
    ttft_s: float | None

    def fields(self) -> dict[str, Any]:
        """Return what it sets of a scenario."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "shared": self.shared,
            "max_tpot_s": None if self.tokens_per_s is None else 1 / self.tokens_per_s,
            "max_ttft_s": self.ttft_s,
        }


WORKLOADS = (
    Workload("chat", 1_500, 1_000, 0.0, 30, 0.5),
    Workload("autocomplete", 1_500, 50, 0.0, 100, 0.2),
    Workload("agent", 20_000, 500, 0.9, 50, 1.0),
    Workload("RAG answer", 6_000, 400, 0.1, 30, 1.0),
    Workload("offline", 2_000, 500, 0.0, None, None),
    Workload("evaluation", 500, 1_000, 0.3, None, None),
    Workload("long document", 100_000, 1_000, 0.0, 15, 10.0),
)
BY_NAME = {w.name: w for w in WORKLOADS}
