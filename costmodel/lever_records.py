"""The record of levers: what the command line prints, and the API answers."""

from typing import Any

from costmodel.ladder import Ladder, ladder
from costmodel.lever_rows import Board, Row, board
from costmodel.levers import Lever, Settings, first_of_slots
from costmodel.records import plain
from costmodel.setups import Setup
from costmodel.shapley import Split, split
from costmodel.verdict import MTOK_PER_MONTH, Verdict, verdict


def levers(
    setup: Setup,
    settings: Settings | None = None,
    *,
    chosen: tuple[Lever, ...] | None = None,
    paid_usd_per_mtok: float | None = None,
    mtok_per_month: float = MTOK_PER_MONTH,
) -> dict[str, Any]:
    """Return ladder, levers before and after, shares and verdict of a setup as one record.

    Parameters
    ----------
    setup : Setup
        Today.
    settings : Settings, optional
        How far each lever goes.
    chosen : tuple of Lever, optional
        Those pulled together, in order; all that apply when left out, of a slot the one that leaves
        least to pay.
    paid_usd_per_mtok : float, optional
        What is paid, in place of the modelled cost. [USD/Mtok]
    mtok_per_month : float
        Output tokens a month. [Mtok]
    """
    found = board(setup, settings)
    rungs = ladder(found, paid_usd_per_mtok=paid_usd_per_mtok)
    together = split(chosen or best_of_slots(found), setup, found.settings)
    said = verdict(found, rungs, mtok_per_month=mtok_per_month)
    return record(found, rungs, together, said)


def best_of_slots(found: Board) -> tuple[Lever, ...]:
    """Return the levers that apply, of each slot the one that leaves least to pay."""
    rows = sorted((r for r in found.rows if r.applies), key=lambda r: r.rechosen.usd_per_mtok)
    kept = {lever.name for lever in first_of_slots([r.lever for r in rows])}
    return tuple(r.lever for r in found.rows if r.lever.name in kept)


def record(found: Board, rungs: Ladder, together: Split, said: Verdict) -> dict[str, Any]:
    """Return the record of what was worked out."""
    shares = {x.name: float(s) for x, s in zip(together.levers, together.shares, strict=True)}
    made: dict[str, Any] = {
        "ladder": [
            {"step": r.step, "usd_per_mtok": r.usd_per_mtok, "owner": r.owner, "batch": r.batch}
            for r in rungs.rungs
        ],
        "absent": [{"step": a.step, "reason": a.reason} for a in rungs.absent],
        "levers": [_row(found, r, shares.get(r.lever.name)) for r in found.rows],
        "together": {
            "levers": [x.name for x in together.levers],
            "cost_before": together.before_usd_per_mtok,
            "cost_after": together.after_usd_per_mtok,
            "exact": together.exact,
            "error": together.error,
        },
        "verdict": said.text,
        "first": [
            {
                "name": a.name,
                "cost_after": a.usd_per_mtok,
                "saves_usd_per_mtok": a.saves_usd_per_mtok,
                "saves_usd_per_month": a.saves_usd_per_month,
            }
            for a in said.first
        ],
    }
    if found.case.price_reasons[0]:
        made["price_reason"] = found.case.price_reasons[0]
    if found.case.notes:
        made["notes"] = list(found.case.notes)
    answer: dict[str, Any] = plain(made)
    return answer


def _row(found: Board, row: Row, share: float | None) -> dict[str, Any]:
    """Return one lever; without a value where it doesn't apply."""
    applies = row.applies
    return {
        "name": row.lever.name,
        "label": row.label,
        "kind": row.lever.kind,
        "slot": row.lever.slot,
        "changes_quality": row.lever.quality,
        "applies": applies,
        "reason": row.reason,
        "cost_before": found.today.usd_per_mtok,
        "cost_after": row.kept.usd_per_mtok if applies else None,
        "rechosen_before": found.rechosen.usd_per_mtok,
        "rechosen_after": row.rechosen.usd_per_mtok if applies else None,
        "rechosen_batch": row.rechosen.batch if applies else None,
        "meets_limits": row.rechosen.meets if applies else None,
        "best_before": found.allowed.best_here,
        "best_after": row.allowed.best_here if applies else None,
        "floor_before": found.allowed.floor,
        "floor_after": row.allowed.floor if applies else None,
        "share": share if applies else None,
    }
