"""Print the residual study of docs/validation.md, or write it there: `python -m tools.residuals --write`.

Errors are those of predictions made with a row's group left out of the fit, where they are stored;
otherwise those of the shipped constants, said so.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from costmodel import dimensions, peers, validate
from costmodel.validate import Errors, Report, Row

DOC = Path(__file__).parents[1] / "docs" / "validation.md"
BEGIN, END = "<!-- begin: python -m tools.residuals -->", "<!-- end -->"
FEWEST = 8
"""Readings that a class needs to stand in a table."""
WORST = 15


def main() -> None:
    """Print the study, or write it between the marks of the document."""
    text = study(validate.shipped())
    if "--write" not in sys.argv[1:]:
        print(text)
        return
    document = DOC.read_text(encoding="utf-8")
    before, rest = document.split(BEGIN)
    after = rest.split(END, 1)[1]
    DOC.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    print(f"{DOC.name} written")


def study(report: Report) -> str:
    """Return the whole study as Markdown."""
    made = (
        "with the row's group (source × model × accelerator) left out of the fit"
        if report.out_of_fold
        else "with the shipped constants (no stored predictions out of fold yet)"
    )
    unflagged = int(report.unflagged.sum())
    parts = [
        f"{report.overall.n:,} predictions of {unflagged:,} unflagged readings, each made {made}. Errors are "
        "|predicted / measured − 1|; bias is the median signed error.",
        "**By kind**",
        errors_table(report, "kind", "kind"),
        "**Beside aiconfigurator 0.12, on identical rows** (median / 90 %)",
        peer_table(report),
    ]
    for dimension, title in (
        ("engine", "By engine"), ("family", "By hardware family"), ("architecture", "By architecture"),
        ("weights", "By stored dtype"),
    ):  # fmt: skip
        parts += [f"**{title}** (at least {FEWEST} readings)", errors_table(report, dimension, dimension)]
    parts += ["**Against what the setup was**", trends(report)]
    what = f"source × model × accelerator × engine, at least {FEWEST} readings"
    parts += [f"**Groups that are missed most** ({what})", groups_table(report)]
    parts += [spread(report), repeats(report)]
    parts += ["**Reported apart**", errors_table(report, "apart", "reason")]
    parts += ["**Without a prediction**", refusals(report)]
    return "\n\n".join(parts)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, numbers to the right."""
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _percent(value: float, *, sign: bool = False) -> str:
    return "–" if not np.isfinite(value) else f"{value * 100:{'+' if sign else ''}.0f} %"


def _figures(found: Errors) -> list[str]:
    return [
        f"{found.n:,}", _percent(found.median_ape), _percent(found.p90_ape), _percent(found.bias, sign=True),
        _percent(found.band_coverage),
    ]  # fmt: skip


HEAD = ("n", "median", "90 %", "bias", "in band")


def errors_table(report: Report, dimension: str, title: str) -> str:
    """Return the errors of the classes of a dimension."""
    least = FEWEST if dimension not in {"kind", "apart"} else 1
    rows = [[g.value, *_figures(g.errors)] for g in report.by(dimension) if g.errors.n >= least]
    if dimension != "apart":
        rows.append(["all", *_figures(report.overall)])
    return markdown((title, *HEAD), rows)


def peer_table(report: Report) -> str:
    """Return both tools' errors on rows that both predict."""
    rows = [
        [
            c.kind, f"{c.ours.n:,}", f"{_percent(c.ours.median_ape)} / {_percent(c.ours.p90_ape)}",
            f"{_percent(c.peer.median_ape)} / {_percent(c.peer.p90_ape)}", f"{c.predicted / c.readings:.0%}",
            f"{c.peer_predicted / c.readings:.0%}",
        ]
        for c in peers.compare(report)
    ]  # fmt: skip
    return markdown(("kind", "rows", "this model", "aiconfigurator", "predicted here", "predicted there"), rows)


def _counted(report: Report) -> list[tuple[int, Row]]:
    return [(int(i), report.rows[i]) for i in np.flatnonzero(report.counted)]


def _bin(value: float | None, ends: Sequence[float], unit: str) -> str:
    if value is None:
        return "not stated"
    for low, high in zip((0.0, *ends), (*ends, np.inf), strict=True):
        if low <= value < high:
            if np.isinf(high):
                return f"{unit} {low:,.0f} and more"
            return f"{unit} {low:,.0f} to {high - 1:,.0f}" if low else f"{unit} below {high:,.0f}"
    return "not stated"


def _order(label: str) -> float:
    """Return the first number of a label; what says "below" comes first."""
    numbers = [part.replace(",", "") for part in label.split() if part.replace(",", "").isdigit()]
    return -1.0 if "below" in label or not numbers else float(numbers[0])


def trends(report: Report) -> str:
    """Return the signed error over batch, GPUs, prompt length and year."""
    ways: dict[str, Callable[[Row], str]] = {
        "batch": lambda r: _bin(r.run.batch or r.run.concurrency, (2, 16, 64, 256), "batch") if r.run else "",
        "gpus": lambda r: _bin(r.run.tp, (2, 4, 8), "GPUs") if r.run else "",
        "input": lambda r: _bin(r.run.input_tokens, (256, 2048, 8000), "prompt") if r.run else "",
        "year": lambda r: f"measured {r.run.date[:4] or 'undated'}" if r.run else "",
    }
    rows = []
    for name, of in ways.items():
        found: dict[str, list[int]] = defaultdict(list)
        for i, row in _counted(report):
            found[of(row)].append(i)
        ordered = sorted(found.items(), key=lambda kv: (kv[0] == "not stated", _order(kv[0])))
        rows += [[f"{value}" if value != "not stated" else f"{name} not stated", *_figures(report.errors(at))]
                 for value, at in ordered if len(at) >= FEWEST]  # fmt: skip
    return markdown(("", *HEAD), rows)


def _groups(report: Report) -> dict[tuple[str, str, str, str], list[int]]:
    found: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    for i, row in _counted(report):
        if row.run is not None:
            d = dimensions.of(row.run, row.kind or "")
            found[d["source"], d["model"], d["gpu"], d["engine"]].append(i)
    return found


def groups_table(report: Report) -> str:
    """Return the groups with the largest sum of log errors: many readings, missed the same way."""
    log_error = np.log(report.predicted_s / report.measured_s)
    sized = [(k, at, float(np.median(log_error[at]))) for k, at in _groups(report).items() if len(at) >= FEWEST]
    sized.sort(key=lambda g: -abs(g[2]) * len(g[1]))
    rows = []
    for (source, model, gpu, engine), at, middle in sized[:WORST]:
        kinds = sorted({str(report.rows[i].kind) for i in at})
        group = f"{source}: {model} on {gpu}, {engine}"
        rows.append([group, f"{len(at)}", f"{np.exp(middle):.2f} ×", ", ".join(kinds)])
    return markdown(("group", "n", "predicted / measured", "kinds"), rows)


def spread(report: Report) -> str:
    """Return how much of the errors' variance lies between groups, and how much inside them."""
    log_error = np.log(report.predicted_s / report.measured_s)
    groups = [at for at in _groups(report).values() if len(at) >= 3]
    if not groups:
        return ""
    every = np.concatenate([log_error[at] for at in groups])
    inside = np.concatenate([log_error[at] - log_error[at].mean() for at in groups])
    share = 1 - inside.var() / every.var()
    return (
        f"**Between and inside groups.** Of the variance of log errors {share:.0%} lies between groups of one "
        f"source, model, accelerator and engine, the rest inside: standard deviation {every.std():.2f} in all, "
        f"{inside.std():.2f} inside. A group's own bias is mostly what no class of ours knows of it: its engine's "
        "version and flags, its clocks, its traffic."
    )


def repeats(report: Report) -> str:
    """Return how far two measurements of one setup lie apart: what no predictor can beat."""
    same: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for _, row in _counted(report):
        run = row.run
        if run is None:
            continue
        d = dimensions.of(run, row.kind or "")
        key = (
            row.kind, d["model"], d["gpu"], d["engine"], run.gpus, run.tp, run.ep, run.weights, run.input_tokens,
            run.output_tokens, run.batch, run.concurrency,
        )  # fmt: skip
        same[key].append(row.measured_s)
    ratios = [max(v) / min(v) - 1 for v in same.values() if len(v) > 1]
    if not ratios:
        return ""
    return (
        f"**Repeated measurements.** {len(ratios)} setups were measured more than once (another version, day or "
        f"publisher): half of these differ by more than {np.median(ratios):.0%}, a tenth by more than "
        f"{np.quantile(ratios, 0.9):.0%}. No model without the version and the day can be closer than that."
    )


def refusals(report: Report) -> str:
    """Return why readings and rows have no prediction."""
    rows = [[reason, f"{n}"] for reason, n in report.refusals.items()]
    return markdown(("reason", "n"), rows) if rows else "None."


if __name__ == "__main__":
    main()
