"""Our errors beside another tool's, on identical rows: those that both of them predict."""

from dataclasses import dataclass

import numpy as np

from costmodel import catalog
from costmodel.measured import KINDS
from costmodel.stored import PeerRow
from costmodel.validate import Errors, Report, errors

PEER = "aiconfigurator 0.12"
ALL = "all kinds"


@dataclass(frozen=True)
class Compared:
    """One kind of reading: errors of both tools on the rows that both predict."""

    kind: str
    readings: int
    """Unflagged readings of the kind."""
    predicted: int
    """Of them, predicted by us."""
    peer_predicted: int
    """Of them, predicted by the other tool."""
    ours: Errors
    peer: Errors


def compare(report: Report, peers: tuple[PeerRow, ...] | None = None) -> tuple[Compared, ...]:
    """Return the comparison over all kinds, then by kind; kinds without readings are left out.

    Parameters
    ----------
    report : Report
        Our predictions of the shipped rows.
    peers : tuple of PeerRow, optional
        The other tool's; the stored ones when left out.
    """
    stored = {(p.id, _quantity(p.kind)): p for p in (catalog.peer_accuracy() if peers is None else peers)}
    at = np.flatnonzero(report.unflagged)
    kinds = np.asarray([report.rows[i].kind for i in at], dtype=object)
    found = [stored.get((report.rows[i].id, _quantity(str(report.rows[i].kind)))) for i in at]
    theirs = np.asarray([np.nan if p is None else p.predicted_s / p.measured_s - 1 for p in found])
    ours = report.error[at]
    result = []
    for kind in (ALL, *KINDS):
        of = np.ones(len(at), dtype=bool) if kind == ALL else kinds == kind
        if not of.any():
            continue
        both = of & np.isfinite(ours) & np.isfinite(theirs)
        result.append(
            Compared(
                kind=kind,
                readings=int(of.sum()),
                predicted=int((of & np.isfinite(ours)).sum()),
                peer_predicted=int((of & np.isfinite(theirs)).sum()),
                ours=errors(ours[both], report.covered[at][both]),
                peer=errors(theirs[both], np.full(int(both.sum()), np.nan)),
            )
        )
    return tuple(result)


def _quantity(kind: str) -> str:
    """Return what a kind measures: the other tool calls some closed loops by their mean batch."""
    return {"closed_tpot": "tpot", "fixed_tpot": "tpot"}.get(kind, kind)
