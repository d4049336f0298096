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


LISTED = (Entry(group="Explore", file="cost_curve", title="Cost curve", address=""),)
