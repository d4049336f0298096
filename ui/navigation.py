"""The list of pages: group, file in pages/, title, address. A page that does not exist is not listed."""

from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).parents[1] / "pages"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One page in the bar on top."""

    group: str
    file: str
    title: str
    address: str

    @property
    def path(self) -> Path:
        """Where its script lies."""
        return PAGES / f"{self.file}.py"


PLANNED = (
    Entry(group="Explore", file="cost_curve", title="Cost curve", address=""),
    Entry(group="Workload", file="prompt_answer", title="Prompt and answer", address="prefill-decode"),
    Entry(group="Understand", file="accuracy", title="Accuracy and sources", address="accuracy"),
)
"""Every page, in the order of the bar."""

LISTED = tuple(entry for entry in PLANNED if entry.path.exists())
