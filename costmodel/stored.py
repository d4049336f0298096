"""Predictions kept in files: ours with a row's group left out of the fit, and another tool's."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StoredRow:
    """What the fit predicted for one reading while the reading's group was left out. [s]"""

    id: str
    kind: str
    measured_s: float
    predicted_s: float
    """NaN where none is possible."""
    low_s: float
    high_s: float
    apart: str
    """Why the row is reported apart; empty else."""
    fold: str
    """Name of the fold; empty for rows that no fit ever used."""


@dataclass(frozen=True)
class PeerRow:
    """What another tool predicts for one reading. [s]"""

    id: str
    kind: str
    measured_s: float
    predicted_s: float
    """NaN where the tool refuses the row."""
    note: str
