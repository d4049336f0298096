"""How far predictions lie from measured runs: errors overall and by class, every row with its reason.

Rows reported apart (flagged in their notes, or implementations known to be slow) are predicted and
listed, but kept out of every figure except those under "apart". Kinds: docs/validation.md.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from costmodel import catalog, dimensions
from costmodel.check import FloatArray
from costmodel.measured import Measured, Reading, Run
from costmodel.stored import StoredRow

if TYPE_CHECKING:
    from costmodel.predict import Prediction

NO_PREDICTION = "no prediction is possible"
NOT_STORED = "no stored prediction: presets/validation.csv is older than the row; run make calibrate"
NAN = float("nan")
AT_ONCE = 20_000
"""Readings that are predicted together: as many as memory holds with ease."""


@dataclass(frozen=True)
class Row:
    """One reading beside its prediction, or a row that couldn't be read. Times in s, NaN if none."""

    id: str
    line: int
    kind: str | None
    """None for a row that couldn't be read."""
    measured_s: float
    predicted_s: float
    low_s: float
    high_s: float
    reason: str
    """Why there is no prediction; empty else."""
    apart: str
    """Why the row is reported apart; empty else."""
    basis: str
    """Where its constants were found: `exact`, `family` or `global`."""
    run: Run | None


@dataclass(frozen=True)
class Errors:
    """Errors of some predictions; NaN where there are none."""

    n: int
    median_ape: float
    """Median of |predicted / measured − 1|."""
    p90_ape: float
    bias: float
    """Median of predicted / measured − 1."""
    band_coverage: float
    """Share of the rows that lie within their 80 % band."""


@dataclass(frozen=True)
class Group:
    """Errors of one class."""

    dimension: str
    value: str
    errors: Errors


@dataclass(frozen=True, eq=False)
class Report:
    """Rows with predictions, in the order of their table."""

    rows: tuple[Row, ...]
    out_of_fold: bool = False
    """Whether each prediction was made with the row's group left out of the fit."""

    @cached_property
    def measured_s(self) -> FloatArray:
        """Measured times, shape (rows,). [s]"""
        return np.asarray([r.measured_s for r in self.rows], dtype=np.float64)

    @cached_property
    def predicted_s(self) -> FloatArray:
        """Predicted times, shape (rows,). [s]"""
        return np.asarray([r.predicted_s for r in self.rows], dtype=np.float64)

    @cached_property
    def error(self) -> FloatArray:
        """Predicted / measured − 1, shape (rows,)."""
        return np.asarray(self.predicted_s / self.measured_s - 1)

    @cached_property
    def covered(self) -> FloatArray:
        """1 where a row lies within its band, 0 where it doesn't, NaN where it has none."""
        low = np.asarray([r.low_s for r in self.rows], dtype=np.float64)
        high = np.asarray([r.high_s for r in self.rows], dtype=np.float64)
        inside = (low <= self.measured_s) & (self.measured_s <= high)
        return np.where(np.isnan(low) | np.isnan(high), np.nan, inside)

    @cached_property
    def predicted(self) -> NDArray[np.bool_]:
        """Rows with a prediction."""
        return np.isfinite(self.error)

    @cached_property
    def unflagged(self) -> NDArray[np.bool_]:
        """Readings that aren't reported apart."""
        return np.asarray([r.kind is not None and not r.apart for r in self.rows], dtype=bool)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Rows that the figures are of."""
        return self.predicted & self.unflagged

    @cached_property
    def overall(self) -> Errors:
        """Errors of the counted rows."""
        return self.errors(np.flatnonzero(self.counted))

    def errors(self, at: Sequence[int] | NDArray[np.int_]) -> Errors:
        """Return the errors of rows at positions; those without a prediction don't count."""
        where = np.asarray(at, dtype=np.int64)
        return errors(self.error[where], self.covered[where])

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Errors by class: the larger classes of a dimension first."""
        found: dict[tuple[str, str], list[int]] = {}
        for i in np.flatnonzero(self.predicted):
            row = self.rows[i]
            if row.run is None or row.kind is None:
                continue
            if row.apart:
                found.setdefault(("apart", row.apart), []).append(int(i))
                continue
            for pair in dimensions.of(row.run, row.kind).items():
                found.setdefault(pair, []).append(int(i))
        order = {d: i for i, d in enumerate((*dimensions.DIMENSIONS, "apart"))}
        ordered = sorted(found.items(), key=lambda kv: (order[kv[0][0]], -len(kv[1]), kv[0][1]))
        return tuple(Group(d, value, self.errors(at)) for (d, value), at in ordered)

    def by(self, dimension: str) -> tuple[Group, ...]:
        """Return the classes of one dimension."""
        return tuple(g for g in self.groups if g.dimension == dimension)

    @cached_property
    def refusals(self) -> dict[str, int]:
        """Reasons of readings and rows without a prediction, the most frequent first."""
        found: dict[str, int] = {}
        for row in self.rows:
            if row.reason:
                found[row.reason] = found.get(row.reason, 0) + 1
        return dict(sorted(found.items(), key=lambda kv: -kv[1]))


def errors(error: FloatArray, covered: FloatArray) -> Errors:
    """Return medians and coverage of signed relative errors.

    Parameters
    ----------
    error : ndarray, shape (n,)
        Predicted / measured − 1; NaN where there is no prediction.
    covered : ndarray, shape (n,)
        1 within the band, 0 outside, NaN without a band.

    Examples
    --------
    >>> found = errors(np.array([0.1, -0.3, 0.2, np.nan]), np.array([1.0, 0.0, 1.0, np.nan]))
    >>> found.n, round(found.median_ape, 2), round(found.bias, 2), round(found.band_coverage, 2)
    (3, 0.2, 0.1, 0.67)
    """
    known = np.isfinite(error)
    if not known.any():
        return Errors(0, NAN, NAN, NAN, NAN)
    e, inside = error[known], covered[known]
    size = np.abs(e)
    banded = np.isfinite(inside)
    return Errors(
        n=int(known.sum()),
        median_ape=float(np.median(size)),
        p90_ape=float(np.quantile(size, 0.9)),
        bias=float(np.median(e)),
        band_coverage=float(inside[banded].mean()) if banded.any() else NAN,
    )


Predictor = Callable[[Sequence[Reading]], "Sequence[Prediction]"]


def evaluate(table: Measured, *, predictor: Predictor | None = None) -> Report:
    """Return the predictions for a table of measured runs, and the rows that couldn't be read.

    Parameters
    ----------
    table : Measured
        A table, read.
    predictor : callable, optional
        From readings to one prediction each; `predict.predict` when left out.
    """
    rows = [_row(*pair) for pair in _predictions(table.readings, predictor or _predict)]
    rows += [_refused(r.id, r.line, r.reason) for r in table.refused]
    return Report(tuple(sorted(rows, key=lambda r: r.line)))


def _predict(readings: Sequence[Reading]) -> "Sequence[Prediction]":
    from costmodel.predict import predict  # noqa: PLC0415  (loads every constant)

    return predict(readings)


def _predictions(
    readings: Sequence[Reading], predictor: Predictor
) -> Iterator[tuple[Reading, "Prediction"]]:
    """Yield readings with their predictions; equal setups are predicted once."""
    keys = [_setup(reading) for reading in readings]
    first: dict[Hashable, Reading] = {}
    for key, reading in zip(keys, readings, strict=True):
        first.setdefault(key, reading)
    wanted = list(first.items())
    known: dict[Hashable, Prediction] = {}
    for start in range(0, len(wanted), AT_ONCE):
        some = wanted[start : start + AT_ONCE]
        found = predictor([reading for _, reading in some])
        known |= {key: one for (key, _), one in zip(some, found, strict=True)}
    for key, reading in zip(keys, readings, strict=True):
        yield reading, known[key]


def _setup(reading: Reading) -> Hashable:
    """Return everything of a reading that a prediction may depend on."""
    return (reading.kind, *(value for name, value in vars(reading.run).items() if name not in {"id", "line"}))


def _row(reading: Reading, found: "Prediction") -> Row:
    run, known = reading.run, bool(np.isfinite(found.seconds))
    return Row(
        id=run.id,
        line=run.line,
        kind=reading.kind,
        measured_s=reading.seconds,
        predicted_s=float(found.seconds) if known else NAN,
        low_s=float(found.low) if known else NAN,
        high_s=float(found.high) if known else NAN,
        reason="" if known else (found.reason or NO_PREDICTION),
        apart=run.apart,
        basis=found.basis if known else "",
        run=run,
    )


def _refused(key: str, line: int, reason: str) -> Row:
    return Row(key, line, None, NAN, NAN, NAN, NAN, reason, "", "", None)


@cache
def out_of_fold() -> Report | None:
    """Return the stored predictions of the shipped rows, each made without its group; None if none.

    Rows without a stored one say why the model can't predict them, or that the file is older.
    """
    stored = {(s.id, s.kind): s for s in catalog.validation()}
    if not stored:
        return None
    table = catalog.measured()
    missing = [r for r in table.readings if not _known(stored.get((r.run.id, r.kind)))]
    reasons = {id(r): p.reason or NOT_STORED for r, p in _predictions(missing, _predict)}
    rows = []
    for reading in table.readings:
        found, reason = stored.get((reading.run.id, reading.kind)), reasons.get(id(reading), "")
        low, middle, high = (NAN, NAN, NAN) if reason or found is None else (
            found.low_s, found.predicted_s, found.high_s
        )  # fmt: skip
        run = reading.run
        rows.append(
            Row(run.id, run.line, reading.kind, reading.seconds, middle, low, high, reason, run.apart, "", run)
        )
    rows += [_refused(r.id, r.line, r.reason) for r in table.refused]
    return Report(tuple(sorted(rows, key=lambda r: r.line)), out_of_fold=True)


def _known(stored: StoredRow | None) -> bool:
    return stored is not None and bool(np.isfinite(stored.predicted_s))


@cache
def shipped() -> Report:
    """Return the shipped rows with their predictions: out of fold where those are stored."""
    return out_of_fold() or evaluate(catalog.measured())


# Records ----------------------------------------------------------------------------------------


def record(report: Report) -> dict[str, object]:
    """Return a report as the command line prints it: SI units, None where nothing is known."""
    readings = sum(r.kind is not None for r in report.rows)
    unflagged = int(report.unflagged.sum())
    overall = {
        **_figures(report.overall),
        "readings": readings,
        "apart": readings - unflagged,
        "refused": unflagged - report.overall.n,
        "unreadable": len(report.rows) - readings,
        "predicted_share": report.overall.n / unflagged if unflagged else None,
        "out_of_fold": report.out_of_fold,
    }
    by = [{"dimension": g.dimension, "value": g.value, **_figures(g.errors)} for g in report.groups]
    return {"overall": overall, "by": by, "rows": [_printed(r) for r in report.rows]}


def _figures(found: Errors) -> dict[str, float | int | None]:
    return {
        "n": found.n,
        "median_ape": _or_none(found.median_ape),
        "p90_ape": _or_none(found.p90_ape),
        "bias": _or_none(found.bias),
        "band_coverage": _or_none(found.band_coverage),
    }


def _printed(row: Row) -> dict[str, object]:
    return {
        "id": row.id,
        "kind": row.kind,
        "measured": _or_none(row.measured_s),
        "predicted": _or_none(row.predicted_s),
        "low": _or_none(row.low_s),
        "high": _or_none(row.high_s),
        "reason": row.reason or None,
        "apart": row.apart or None,
        "basis": row.basis or None,
        "line": row.line,
    }


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
