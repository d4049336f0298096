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
    hidden: bool = False
    """Whether the page has an address but no place in the bar: another name of a listed page."""

    @property
    def path(self) -> Path:
        """Where its script lies."""
        return PAGES / f"{self.file}.py"


PLANNED = (
    Entry(group="Explore", file="cost_curve", title="Cost curve", address=""),
    Entry(group="Explore", file="frontier", title="Speed vs cost", address="frontier"),
    Entry(group="Explore", file="levers", title="Levers", address="levers"),
    Entry(group="Explore", file="compare", title="Compare", address="compare"),
    Entry(group="Explore", file="compare", title="One or many", address="one-or-many", hidden=True),
    Entry(group="Workload", file="prompt_answer", title="Prompt and answer", address="prefill-decode"),
    Entry(group="Decide", file="where", title="Where to run", address="where"),
    Entry(group="Decide", file="where", title="Hardware", address="hardware", hidden=True),
    Entry(group="Decide", file="your_stack", title="Your stack", address="your-stack"),
    Entry(group="Understand", file="accuracy", title="Accuracy and sources", address="accuracy"),
)
"""Every page, in the order of the bar."""

LISTED = tuple(entry for entry in PLANNED if entry.path.exists())
