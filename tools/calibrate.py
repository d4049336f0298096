"""Fit the calibrated profile's offsets to the shipped measured runs: `make calibrate`.

Least squares on the logarithm of predicted over measured time, robust (soft L1), with a normal
prior on every offset. Rows of one group (source, model, GPU) share an error of their own, so a
group of many rows counts little more than one of few. Whole groups are left out in turn; errors
and bands come from those predictions only. Writes presets/calibration_fit.json and
presets/validation.csv; docs/calibration.md has the method.
"""

import argparse
import csv
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from costmodel import calibration, catalog, predict  # noqa: E402
from costmodel.calibration import PARAMETERS  # noqa: E402
from costmodel.check import FloatArray  # noqa: E402

NOISE = {
    "closed_ttft": 0.5, "max_load": 0.22, "fixed_throughput": 0.18, "closed_tpot": 0.15,
    "fixed_tpot": 0.15, "batch1_decode": 0.13, "batch1_e2e": 0.18, "batch_ttft": 0.25,
}  # fmt: skip
"""Standard deviation of one row about its group, in log time: what runs of one setup scatter."""
GROUP_NOISE = 0.12
"""Standard deviation of a group: what its source did that no row says."""
ROBUST_AT = 1.5
"""Deviations beyond which a row's pull no longer grows."""
FOLDS = 10
MEASURED = {
    "family": ("hopper", "blackwell", "ampere", "ada", "blackwell-x"),
    "engine": ("vllm", "sglang", "tensorrt-llm"),
}
"""Classes whose kernels the bases were measured on: their offsets are held closer to zero."""
WITH_EXPERTS = ("hopper", "blackwell", "ampere")
"""Families whose tables hold experts' kernels."""
HELD, HALF_HELD, UNKNOWN = 0.25, 0.5, 2.0
KERNELS = ("linear_", "memory_share", "compute_share", "exponent", "attention_", "expert_", "link_")
"""Parameters of kernels."""
STEP = 0.02
"""Of an offset, for derivatives."""
MOST = 0.8
"""An iteration's largest move of an offset."""
COVERED = 0.80


@dataclass(frozen=True)
class Offset:
    """One offset: its parameter, level and key, its prior, and the rows that it moves."""

    parameter: str
    fields: str
    key: str
    prior: float
    rows: FloatArray


class Problem:
    """The rows and what moves them."""

    def __init__(self, table: predict.Table) -> None:
        self.table = table
        self.measured = np.asarray([r.seconds for r in table.readings])
        self.kinds = np.asarray([r.kind for r in table.readings])
        self.apart = np.asarray([bool(r.run.apart) for r in table.readings])
        self.groups = np.asarray([group(r) for r in table.readings])
        self.base = calibration.values(table.klasses, {})
        self.offsets = self._offsets()
        count = Counter(zip(self.groups, self.kinds, strict=True))
        size = np.asarray([count[g, k] for g, k in zip(self.groups, self.kinds, strict=True)])
        own = np.asarray([NOISE[k] for k in self.kinds])
        self.noise = np.sqrt(own**2 + size * GROUP_NOISE**2)
        self.prior = np.asarray([o.prior for o in self.offsets])
        self._parts: dict[int, predict.Table] = {}

    def _offsets(self) -> list[Offset]:
        found = []
        for name, parameter in PARAMETERS.items():
            for fields, prior in parameter.levels:
                keys = np.asarray([calibration.key_of(k, fields) for k in self.table.klasses])
                for key in sorted({str(k) for k in keys}):
                    own = prior * held(name, fields, key)
                    found.append(Offset(name, fields, key, own, np.flatnonzero(keys == key)))
        return found

    def values(self, theta: FloatArray) -> dict[str, FloatArray]:
        """Return every parameter of every row."""
        shift = {name: np.zeros(self.table.count) for name in PARAMETERS}
        for value, offset in zip(theta, self.offsets, strict=True):
            if value:
                shift[offset.parameter][offset.rows] += value
        return {
            name: calibration.moved(self.base[name], shift[name], p.scale)
            for name, p in PARAMETERS.items()
        }

    def residuals(self, theta: FloatArray) -> FloatArray:
        """Return log of predicted over measured."""
        value = self.values(theta)
        constants = predict.constants_from(self.table, value)
        with np.errstate(all="ignore"):
            return np.log(predict.seconds_of(self.table, constants, value) / self.measured)

    def jacobian(self, theta: FloatArray, residual: FloatArray) -> FloatArray:
        """Return how each row's residual moves with each offset."""
        result = np.zeros((self.table.count, len(self.offsets)))
        value = self.values(theta)
        for i, offset in enumerate(self.offsets):
            touched = offset.rows[np.isin(self.kinds[offset.rows], kinds_of(offset.parameter))]
            if touched.size == 0:
                continue
            if i not in self._parts:
                self._parts[i] = self.table.take(list(touched))
            part = self._parts[i]
            own = {k: v[touched] for k, v in value.items()}
            scale = PARAMETERS[offset.parameter].scale
            own[offset.parameter] = calibration.moved(
                own[offset.parameter], np.full(touched.size, STEP), scale
            )
            with np.errstate(all="ignore"):
                said = predict.seconds_of(part, predict.constants_from(part, own), own)
                moved = np.log(said / self.measured[touched])
            result[touched, i] = (moved - residual[touched]) / STEP
        return np.nan_to_num(result)


FIRST = ("closed_ttft", "batch_ttft", "closed_tpot")
PROMPT = ("closed_ttft", "batch_ttft", "closed_tpot", "fixed_throughput", "batch1_e2e", "max_load")


def kinds_of(parameter: str) -> tuple[str, ...]:
    """Return the kinds that a parameter can move, to leave out derivatives that are zero."""
    if parameter in {"first_token_us", "first_token_steps", "polled_share", "queue_factor", "burst_factor"}:
        return FIRST
    if parameter == "offered_stall_share":
        return ("max_load",)
    if parameter == "stall_share":
        return ("closed_tpot", "closed_ttft")
    if parameter in {"prefill_share", "prefill_pass_us"}:
        return (*PROMPT, "fixed_tpot")
    return tuple(NOISE)


def held(parameter: str, fields: str, key: str) -> float:
    """Return the factor on a prior: small where the base is of the very class."""
    named = dict(zip(fields.split("|"), key.split("|"), strict=False))
    if named.get("kernels") == "own":
        return 1.0
    measured = MEASURED | ({"family": WITH_EXPERTS} if parameter.startswith("expert_") else {})
    known = [named[f] in measured[f] for f in measured if f in named]
    if parameter.startswith("host_"):
        return HELD if known and all(known) else 1.0
    if not parameter.startswith(KERNELS):
        return 1.0
    # What holds for all engines and families was measured; an engine's kernels of one dtype
    # (and a family's) were for few shapes.
    if not known:
        return HELD
    if not any(known) and "family" in named:
        return UNKNOWN
    if not all(known):
        return 1.0
    return HALF_HELD if "dtype" in fields else HELD


def group(reading: predict.Reading) -> str:
    """Return a row's group: source, model and GPU."""
    run = reading.run
    return "|".join((run.id.rsplit("-", 1)[0], run.model, run.hardware))


def fold_of(name: str) -> int:
    """Return the fold of a group, from its name alone."""
    return int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def cost(problem: Problem, residual: FloatArray, theta: FloatArray, mask: FloatArray) -> float:
    """Return what the fit minimises."""
    z = residual[mask] / problem.noise[mask]
    robust = 2 * ROBUST_AT**2 * (np.sqrt(1 + (z / ROBUST_AT) ** 2) - 1)
    return float(robust.sum() + ((theta / problem.prior) ** 2).sum())


def direction(
    problem: Problem, jacobian: FloatArray, residual: FloatArray, theta: FloatArray,
    mask: FloatArray, damping: float,
) -> FloatArray:  # fmt: skip
    """Return a damped Gauss-Newton step of the robust cost."""
    z = residual[mask] / problem.noise[mask]
    weight = np.sqrt(1 / np.sqrt(1 + (z / ROBUST_AT) ** 2)) / problem.noise[mask]
    a = jacobian[mask] * weight[:, None]
    hessian = a.T @ a + np.diag(1 / problem.prior**2)
    slope = a.T @ (weight * residual[mask]) + theta / problem.prior**2
    hessian += damping * np.diag(np.diag(hessian))
    return np.clip(-np.linalg.solve(hessian, slope), -MOST, MOST)


def descend(
    problem: Problem, theta: FloatArray, mask: FloatArray, *, rounds: int,
    jacobian: FloatArray | None = None, loud: bool = False,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return fitted offsets and the last derivatives; derivatives are kept where given."""
    residual = problem.residuals(theta)
    now = cost(problem, residual, theta, mask)
    damping, fixed = 1e-2, jacobian is not None
    slopes = jacobian
    for turn in range(rounds):
        started = time.perf_counter()
        if not fixed or slopes is None:
            slopes = problem.jacobian(theta, residual)
        for _ in range(6):
            moved = theta + direction(problem, slopes, residual, theta, mask, damping)
            there = problem.residuals(moved)
            then = cost(problem, there, moved, mask)
            if np.isfinite(then) and then < now:
                break
            damping *= 5
        else:
            break
        if loud:
            print(f"  {turn}: {now:.1f} to {then:.1f} in {time.perf_counter() - started:.0f} s", flush=True)
        gain, theta, residual, now, damping = now - then, moved, there, then, damping / 4
        if gain < 1e-3 * now:
            break
    if slopes is None:
        slopes = problem.jacobian(theta, residual)
    return theta, slopes


def out_of_fold(problem: Problem, theta: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return residuals of every row under offsets that never saw its group, and the folds."""
    folds = np.asarray([fold_of(g) for g in problem.groups])
    result = np.full(problem.table.count, np.nan)
    for fold in range(FOLDS):
        mask = ~problem.apart & (folds != fold)
        own, _ = descend(problem, theta, mask, rounds=12, jacobian=slopes)
        result[folds == fold] = problem.residuals(own)[folds == fold]
    return result, folds


def errors(residual: FloatArray) -> dict[str, float]:
    """Return n, median and p90 of the absolute relative error, and the median signed one."""
    relative = np.exp(residual) - 1
    return {
        "n": int(residual.size),
        "median_ape": round(float(np.median(np.abs(relative))), 4),
        "p90_ape": round(float(np.quantile(np.abs(relative), 0.9)), 4),
        "bias": round(float(np.median(relative)), 4),
    }


def bands(problem: Problem, residual: FloatArray) -> dict[str, dict[str, list[float]]]:
    """Return factors on a prediction that hold 80 % of runs, by quantity and class."""
    found: dict[str, dict[str, list[float]]] = {}
    quantity = np.asarray([predict.QUANTITY[k] for k in problem.kinds])
    for name in sorted(set(quantity)):
        mine = (quantity == name) & ~problem.apart
        classes = {
            "all": [""] * problem.table.count,
            "family": [k.family for k in problem.table.klasses],
            "exact": [f"{k.engine}|{k.family}" for k in problem.table.klasses],
        }
        found[name] = {}
        for level, keys in classes.items():
            for key in sorted(set(keys)):
                own = residual[mine & (np.asarray(keys) == key)]
                if own.size >= 20:
                    low, high = covering(own)
                    label = "all" if level == "all" else key
                    # A band never leaves out its own prediction.
                    found[name][label] = [round(min(low, 0.97), 4), round(max(high, 1.03), 4), int(own.size)]
    return found


def covering(residual: FloatArray) -> tuple[float, float]:
    """Return factors on a prediction that would hold the covered share of runs yet to come.

    Of n errors the k-th from each end, k = ⌊(n + 1)·tail⌋ (split conformal prediction, Vovk et al.,
    2005): few errors give a wider band than their own quantiles.
    """
    ordered = np.sort(residual)
    outside = max(int((ordered.size + 1) * (1 - COVERED) / 2), 1)
    return float(np.exp(-ordered[-outside])), float(np.exp(-ordered[outside - 1]))


def seen(problem: Problem) -> dict[str, dict[str, int]]:
    """Return how many rows of each class were fitted."""
    used = [k for k, a in zip(problem.table.klasses, problem.apart, strict=True) if not a]
    return {
        "exact": dict(Counter(f"{k.engine}|{k.family}|{k.dtype}" for k in used)),
        "family": dict(Counter(k.family for k in used)),
        "engine": dict(Counter(k.engine for k in used)),
    }


def as_offsets(problem: Problem, theta: FloatArray) -> dict[str, dict[str, dict[str, float]]]:
    """Return offsets as they are stored; those that hardly move anything are left out."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for value, offset in zip(theta, problem.offsets, strict=True):
        if abs(value) >= 5e-4:
            level = found.setdefault(offset.parameter, {}).setdefault(offset.fields, {})
            level[offset.key] = round(float(value), 4)
    return found


def report(title: str, problem: Problem, residual: FloatArray) -> dict[str, dict[str, float]]:
    """Print and return the errors by kind."""
    print(title)
    found = {}
    for kind in NOISE:
        own = residual[(problem.kinds == kind) & ~problem.apart]
        if own.size:
            found[kind] = e = errors(own)
            print(
                f"  {kind:17s} n {e['n']:4d}  median {100 * e['median_ape']:5.1f} %  "
                f"p90 {100 * e['p90_ape']:5.1f} %  bias {100 * e['bias']:+5.1f} %"
            )
    found["overall"] = e = errors(residual[~problem.apart])
    middle, bias = 100 * e["median_ape"], 100 * e["bias"]
    print(f"  overall           n {e['n']:4d}  median {middle:5.1f} %  bias {bias:+5.1f} %", flush=True)
    return found


def write(problem: Problem, theta: FloatArray, inside: FloatArray, outside: FloatArray, folds: FloatArray) -> None:
    """Write the offsets with their provenance, and every row's out-of-fold prediction."""
    fit = {
        "source": "presets/measured.csv, fitted by tools/calibrate.py",
        "as_of": date.today().isoformat(),
        "rows": int((~problem.apart).sum()),
        "groups": len(set(problem.groups[~problem.apart])),
        "folds": FOLDS,
        "errors_out_of_fold": report("out of fold", problem, outside),
        "errors_in_sample": report("in sample", problem, inside),
        "seen": seen(problem),
        "bands": bands(problem, outside),
        "offsets": as_offsets(problem, theta),
    }
    path = ROOT / "presets" / "calibration_fit.json"
    path.write_text(json.dumps(fit, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    table = fit["bands"]
    with (ROOT / "presets" / "validation.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["id", "kind", "measured_s", "predicted_s", "low_s", "high_s", "apart", "fold"])
        for i, reading in enumerate(problem.table.readings):
            said = float(problem.measured[i] * np.exp(outside[i]))
            low, high = calibration.nearest_band(table[predict.QUANTITY[reading.kind]], problem.table.klasses[i])
            out.writerow(
                [reading.run.id, reading.kind, f"{reading.seconds:.6g}", f"{said:.6g}",
                 f"{said * low:.6g}", f"{said * high:.6g}", reading.run.apart, int(folds[i])]
            )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, leave groups out, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="Most iterations of the full fit.")
    parser.add_argument("--dry", action="store_true", help="Print the errors, write nothing.")
    chosen = parser.parse_args(arguments)
    kept, setups, _ = predict.resolvable(catalog.measured().readings)
    problem = Problem(predict.table(kept, setups))
    start = np.zeros(len(problem.offsets))
    print(len(problem.offsets), "offsets")
    report("bases alone", problem, problem.residuals(start))
    theta, slopes = descend(problem, start, ~problem.apart, rounds=chosen.rounds, loud=True)
    outside, folds = out_of_fold(problem, theta, slopes)
    inside = problem.residuals(theta)
    if chosen.dry:
        report("out of fold", problem, outside)
        report("in sample", problem, inside)
    else:
        write(problem, theta, inside, outside, folds)


if __name__ == "__main__":
    main()
