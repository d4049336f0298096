"""Measured runs: rows of a results table, read with patience, and what each of them measures.

The columns are those of `presets/measured.csv`. A row that can't be read, or that lacks what its
kind needs, is left out with a reason; the others stay. Kinds and reasons: docs/validation.md.
"""

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from costmodel.errors import InputError, quoted

KINDS = (
    "closed_tpot", "closed_ttft", "fixed_tpot", "fixed_throughput", "batch1_e2e", "batch1_decode",
    "batch_ttft", "max_load",
)  # fmt: skip
"""What a row may measure, all as a time in seconds."""

MOST_BYTES = 200_000_000
MOST_CELL = 100_000
MOST_LENGTH = 10_000_000
MOST_GPUS = 100_000

_UNIT_S = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6}
_NUMBER = re.compile(r"^([+-]?(?:\d[\d,_ ']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s].*)?$")
_FLAG = re.compile(r"\bFLAG\s+(\w+)|\bCHECK\s+(\w+)\s*=")
_EAGER = re.compile(r"\bSetting [123]\b|enforce[-_ ]eager|no CUDA graphs", re.IGNORECASE)
_OLD_EXPERTS = re.compile(r"mixtral|dbrx", re.IGNORECASE)


@dataclass(frozen=True)
class Run:
    """One row: the setup that was measured. Lengths are None where the row doesn't say."""

    id: str
    line: int
    model: str
    hardware: str
    engine: str
    engine_version: str
    date: str
    source: str
    gpus: int
    tp: int | None
    ep: int
    weights: str | None
    kv: str | None
    input_tokens: float | None
    output_tokens: float | None
    batch: float | None
    concurrency: float | None
    note: str
    apart: str
    """Why the row is reported apart: a flag of its own, or a known slow implementation; "" else."""
    pace_s: float | None = None
    """Time between tokens that an open-loop run states beside its rate. [s]"""

    @property
    def decode_only(self) -> bool:
        """Whether its throughput counts decoding alone, as the note says."""
        return bool(re.search(r"pure decode|decode only|decode rate|decode alone", self.note))

    @property
    def mean_batch(self) -> float | None:
        """Mean number of sequences in a step, where the note gives one."""
        found = re.search(r"measured mean batch ([\d.]+)", self.note)
        return float(found[1].rstrip(".")) if found else None


@dataclass(frozen=True)
class Reading:
    """One measured quantity of a run."""

    run: Run
    kind: str
    seconds: float


@dataclass(frozen=True)
class Refused:
    """A row that can't be used, and why."""

    id: str
    line: int
    reason: str


@dataclass(frozen=True)
class Measured:
    """A results table, read."""

    readings: tuple[Reading, ...]
    refused: tuple[Refused, ...]


def parse(text: str, *, name: str = "the table") -> Measured:
    r"""Return what a results table measures, and the rows that can't be used.

    Parameters
    ----------
    text : str
        CSV with a head; commas, semicolons or tabs, with or without a byte-order mark.
    name : str
        What errors call it.

    Raises
    ------
    InputError
        When it isn't a table of results at all. Single rows never raise.

    Examples
    --------
    >>> table = parse("model;gpu;batch;tpot_ms_mean\nllama-3.1-8b;h100-sxm;8;6,9\n")
    >>> [(r.kind, r.seconds) for r in table.readings]
    [('fixed_tpot', 0.0069)]
    """
    text = text.removeprefix("\ufeff").replace("\x00", "")
    if len(text) > MOST_BYTES:
        msg = f"{name} must be at most {MOST_BYTES / 1e6:.0f} MB, got {len(text) / 1e6:.0f} MB; split it"
        raise InputError(msg, field="measured")
    lines = text.lstrip("\r\n")
    head = lines.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    columns = [_column(c) for c in next(csv.reader([head], delimiter=delimiter), [])]
    if "model" not in columns or "gpu" not in columns:
        msg = (
            f"{name} must have a head with at least model and gpu, got {quoted(head.strip())}; "
            "name its columns as presets/measured.csv does"
        )
        raise InputError(msg, field="measured")
    readings: list[Reading] = []
    refused: list[Refused] = []
    for line, cells in _rows(lines, delimiter):
        row = dict(zip(columns, cells, strict=False))
        key = row.get("id", "").strip() or f"line-{line}"
        try:
            run = _run(row, key=key, line=line, comma=delimiter != ",")
            found = list(_readings(run, row, comma=delimiter != ","))
        except ValueError as error:
            refused.append(Refused(key, line, str(error)))
            continue
        if not found:
            refused.append(Refused(key, line, "it gives no time or rate that fits its batch"))
        readings += found
    return Measured(tuple(readings), tuple(refused))


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each row below the head; a broken quote costs its own row only."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    first = True
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        if first:
            first = False
        elif any(c.strip() for c in cells):
            yield reader.line_num, cells


def _column(name: str) -> str:
    key = re.sub(r"\W+", "_", name.strip().lower()).strip("_")
    return {"hardware": "gpu", "accelerator": "gpu", "input_tokens": "isl", "output_tokens": "osl",
            "weights": "weight_dtype", "kv": "kv_dtype", "gpus": "n_gpus"}.get(key, key)  # fmt: skip


def number(cell: str, *, comma: bool = False) -> tuple[float, str] | None:
    """Return a cell's number and the unit behind it, or None where it is empty.

    >>> number("1,234.5 ms"), number("6,9", comma=True), number("n/a")
    ((1234.5, 'ms'), (6.9, ''), None)
    """
    text = cell.strip()
    if text.lower() in {"", "-", "–", "n/a", "na", "nan", "none", "null", "inf", "infinity"}:
        return None
    found = _NUMBER.match(text)
    if not found:
        raise ValueError(f"a number was expected, got {quoted(text)}")
    digits = re.sub(r"[_ ']", "", found[1])
    if comma and "." not in digits and digits.count(",") == 1:
        digits = digits.replace(",", ".")
    value = float(digits.replace(",", ""))
    if not math.isfinite(value):
        raise ValueError(f"a finite number was expected, got {quoted(text)}")
    return value, (found[2] or "").strip().lower()


def _value(row: dict[str, str], column: str, low: float, high: float, *, comma: bool) -> float | None:
    """Return a plain number of a row within bounds."""
    found = _cell(row, column, comma=comma)
    if found is None:
        return None
    if not low <= found[0] <= high:
        raise ValueError(f"{column} must be between {low:g} and {high:g}, got {found[0]:g}")
    return found[0]


def _cell(row: dict[str, str], column: str, *, comma: bool) -> tuple[float, str] | None:
    text = row.get(column)
    if not text:
        return None
    if text.isdigit() and len(text) < 16:
        return float(text), ""
    try:
        return number(text[:MOST_CELL], comma=comma)
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from None


def _run(row: dict[str, str], *, key: str, line: int, comma: bool) -> Run:
    def value(column: str, low: float, high: float) -> float | None:
        return _value(row, column, low, high, comma=comma)

    def text(column: str) -> str:
        return row.get(column, "").strip()

    for column in ("model", "gpu"):
        if not text(column):
            raise ValueError(f"{column} is missing")
    gpus = value("n_gpus", 1, MOST_GPUS) or value("tp", 1, MOST_GPUS) or 1
    tp = value("tp", 1, MOST_GPUS)
    if tp and tp > gpus:
        raise ValueError(f"tp must be at most n_gpus, got {tp:g} of {gpus:g}")
    run = Run(
        id=key,
        line=line,
        model=text("model"),
        hardware=text("gpu"),
        engine=text("engine"),
        engine_version=text("engine_version"),
        date=text("date"),
        source=text("source_url"),
        gpus=int(gpus),
        tp=int(tp) if tp else None,
        ep=int(value("ep", 1, MOST_GPUS) or 1),
        weights=text("weight_dtype") or None,
        kv=text("kv_dtype") or None,
        input_tokens=value("isl", 0, MOST_LENGTH),
        output_tokens=value("osl", 1, MOST_LENGTH),
        batch=value("batch", 1, MOST_LENGTH),
        concurrency=value("concurrency", 1, MOST_LENGTH),
        note=text("note"),
        apart="",
    )
    reason = apart(run)
    return replace(run, apart=reason) if reason else run


def apart(run: Run) -> str:
    """Return why a run is reported apart from the others, or "" when it isn't.

    Flags stand in the row's own note (a queue inside the figure, a cached prompt, a rate beyond
    the hardware). The others are implementations that their own makers replaced: correct figures
    that say nothing about the engine's usual speed.
    """
    flag = _FLAG.search(run.note)
    if flag:
        return f"flagged in its note: {flag[1] or flag[2]}"
    if run.engine == "hf-transformers":
        return "slow implementation: plain Transformers loop"
    if run.engine.startswith("tt-metal"):
        return "slow implementation: Tenstorrent's early server"
    if "LLM-Inference-Bench" in run.source and run.engine == "vllm" and run.hardware.startswith("MI"):
        return "slow implementation: early ROCm build of vLLM"
    if "dstackai/benchmarks" in run.source:
        return "slow implementation: no CUDA graphs, or a cache larger than the memory"
    if _EAGER.search(run.note):
        return "slow implementation: no CUDA graphs"
    early = run.engine == "vllm" and run.date and run.date < "2024-07" and run.batch
    if early and _OLD_EXPERTS.search(run.model):
        return "slow implementation: vLLM's first expert kernels"
    if run.engine == "vllm" and run.ep > 1 and run.weights == "fp8" and "ML.ENERGY" in run.note:
        return "slow implementation: 8-bit experts spread over ranks in vLLM 0.11"
    return ""


def _seconds(row: dict[str, str], names: tuple[str, ...], *, comma: bool) -> float | None:
    """Return the first of some times that a row gives; a unit in the cell beats the column's."""
    for name in names:
        for suffix, unit in (("_ms", "ms"), ("_s", "s"), ("_us", "us")):
            column = name.replace("_ms", suffix)
            found = _cell(row, column, comma=comma)
            if found is None:
                continue
            seconds = found[0] * _UNIT_S.get(found[1] or unit, _UNIT_S[unit])
            if not 0 < seconds < 1e5:
                raise ValueError(f"{column} must be a time above 0 s and below 1e5 s, got {seconds:g} s")
            return seconds
    return None


def _rate(row: dict[str, str], column: str, *, comma: bool) -> float | None:
    rate = _value(row, column, 0, 1e12, comma=comma)
    if rate is not None and rate <= 0:
        raise ValueError(f"{column} must be above 0, got {rate:g}")
    return rate


def _readings(run: Run, row: dict[str, str], *, comma: bool) -> Iterator[Reading]:
    """Yield what a row measures; docs/validation.md has the table of kinds."""
    tpot = _seconds(row, ("tpot_ms_mean", "tpot_ms_median", "itl_ms_median"), comma=comma)
    ttft = _seconds(row, ("ttft_ms_mean", "ttft_ms_median"), comma=comma)
    total = _rate(row, "output_tok_s_total", comma=comma)
    alone = _rate(row, "decode_tok_s_bs1", comma=comma)
    found: dict[str, float | None] = {}
    if run.batch is None and run.concurrency is not None:
        found = {"closed_tpot": tpot, "closed_ttft": ttft}
    elif run.batch is not None and run.batch > 1:
        found = {
            "fixed_tpot": tpot,
            "fixed_throughput": run.batch / total if total else None,
            "batch_ttft": ttft,
        }
    elif run.batch is not None:
        found = {
            "batch1_decode": 1 / alone if alone else tpot,
            "batch1_e2e": 1 / total if total else None,
            "batch_ttft": ttft,
        }
    elif alone:
        found = {"batch1_decode": 1 / alone}
    elif total:
        run = replace(run, pace_s=tpot)
        found = {"max_load": run.gpus / total}
    for kind, seconds in found.items():
        if seconds is not None:
            yield Reading(run, kind, seconds)
