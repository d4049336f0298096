"""A fact: a value with its unit, source and date."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Fact:
    """One sourced figure of a preset."""

    value: float
    unit: str
    source: str
    as_of: date
    note: str = ""
    checked: str = "stored"
    """`stored` (read in a stored copy), `recalled` (from memory of a datasheet), `derived`, or
    `typed` (by the user)."""

    @property
    def age_days(self) -> int:
        """Days since it was read, against today."""
        return (date.today() - self.as_of).days
