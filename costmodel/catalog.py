"""The only reader of `presets/`: files in, validated frozen objects out, each read once.

Reading is lazy down to a block: an accelerator asked for by its id parses that block alone, since
the whole of hardware.toml takes longer than most pages' arithmetic.
"""

import csv
import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from costmodel import blocks, custom, model_names, names
from costmodel import measured as measured_rules
from costmodel import prices as price_rules
from costmodel.check import within
from costmodel.errors import InputError
from costmodel.hardware import Accelerator
from costmodel.measured import Measured
from costmodel.model import Model
from costmodel.model_names import ModelEntry
from costmodel.prices import ApiPrice, Price, PriceRow
from costmodel.stored import PeerRow, StoredRow

PRESETS = Path(__file__).resolve().parent.parent / "presets"

HARDWARE = "hardware.toml"

Table = dict[str, Any]

_SIZE_SLACK = 0.06
"""How far a memory size in a name may lie from the capacity and still mean that card."""


# Accelerators -----------------------------------------------------------------------------------


@cache
def hardware() -> Mapping[str, Accelerator]:
    """Return the accelerators by id; a block is parsed and checked when it is first used."""
    return blocks.Accelerators(_text(HARDWARE))


@cache
def _spellings() -> dict[str, str]:
    return blocks.spellings(_text(HARDWARE))


@lru_cache(maxsize=1024)
def accelerator(name: str) -> Accelerator:
    """Return an accelerator by id, short name, alias, or any beginning of an id that fits one.

    Case, spaces and brackets don't matter, and a trailing memory size may be left out or added. A
    text of the form in `costmodel.custom` is an accelerator of its own.

    >>> accelerator("H100-SXM-80GB").id, accelerator("b200").id
    ('h100-sxm', 'b200-sxm')
    >>> accelerator("h100")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    costmodel.errors.InputError: hardware must name one preset, got 'h100', which fits ...
    """
    if custom.is_custom(name):
        return custom.typed(name)
    every = hardware()
    if name in every:
        return every[name]
    if not isinstance(name, str) or not (key := names.slug(name[:200])):
        raise names.unknown(name, set(every), what="hardware", field="hardware")
    known = _spellings()
    if key in known:
        return every[known[key]]
    bare, size = names.split_size(key)
    if size is not None and bare in known and _has_size(every[known[bare]], size):
        return every[known[bare]]
    found = names.continuations(key, set(every))
    if not found and size is not None:
        found = [i for i in names.continuations(bare, set(every)) if _has_size(every[i], size)]
    if len(found) == 1:
        return every[found[0]]
    if found:
        raise names.ambiguous(name, found, what="hardware", field="hardware")
    raise names.unknown(name, known, what="hardware", field="hardware")


def _has_size(card: Accelerator, size_gb: float) -> bool:
    """Whether a memory size in a name, in GB or GiB, is this card's."""
    return any(abs(size_gb * unit / card.capacity_bytes - 1) <= _SIZE_SLACK for unit in (1e9, 2**30))


# Prices -----------------------------------------------------------------------------------------


@cache
def prices() -> tuple[PriceRow, ...]:
    """Return every price row, history included, in the file's order."""
    ids = hardware()
    rows = []
    for where, raw in _rows("prices.csv"):
        if raw["hardware"] not in ids:
            raise names.unknown(raw["hardware"], set(ids), what=f"hardware ({where})", field="hardware")
        row = PriceRow(
            hardware=raw["hardware"],
            kind=raw["kind"],
            provider=raw["provider"],
            date_text=raw["date"],
            source=raw["source"],
            usd_per_gpu_hour=_number(raw, "usd_per_gpu_hour", where, 1e-3, 1e3),
            purchase_usd=_number(raw, "purchase_usd", where, 1, 1e7),
            region=raw["region"],
            instance=raw["instance"],
            gpus=int(_number(raw, "gpus", where, 1, 1e5) or 1),
            note=raw["note"],
        )
        rows.append(row)
    return tuple(rows)


def price(hardware_id: str, basis: str, *, today: date | None = None) -> Price:
    """Return the price of an accelerator on a basis: never None, but maybe a reason for no price.

    Parameters
    ----------
    hardware_id : str
        Any name that `accelerator` takes, or the id of a custom one (which has no price).
    basis : str
        `on-demand`, `marketplace`, `reserved` or `owning`.
    today : date, optional
        Against which a price is old; the system's date where left out.

    >>> price("h100-sxm", "reserved").usd_per_gpu_hour
    2.0
    """
    key = hardware_id if hardware_id.startswith("custom:") else accelerator(hardware_id).id
    return _price(key, price_rules.basis_id(basis), today or date.today())


@lru_cache(maxsize=1024)
def _price(key: str, basis: str, today: date) -> Price:
    return price_rules.price(prices(), hardware=key, basis=basis, today=today)


@cache
def api_prices() -> tuple[ApiPrice, ...]:
    """Return what API providers ask for open models, in the file's order."""
    rows = []
    for where, raw in _rows("api_prices.csv"):
        context = _number(raw, "context_tokens", where, 1, 1e9)
        row = ApiPrice(
            model=raw["model"],
            provider=raw["provider"],
            provider_model=raw["provider_model"],
            usd_per_mtok_input=_needed(raw, "usd_per_mtok_input", where, 0, 1e4),
            usd_per_mtok_output=_needed(raw, "usd_per_mtok_output", where, 0, 1e4),
            usd_per_mtok_cached_input=_number(raw, "usd_per_mtok_cached_input", where, 0, 1e4),
            context_tokens=None if context is None else int(context),
            date_text=raw["date"],
            source=raw["source"],
        )
        rows.append(row)
    return tuple(rows)


@cache
def calibration() -> Table:
    """Return the fitted constants as they stand in calibration.toml; empty without the file."""
    there = (PRESETS / "calibration.toml").exists()
    return tomllib.loads(_text("calibration.toml")) if there else {}


@cache
def calibration_fit() -> Table:
    """Return the fitted offsets, errors and bands that `make calibrate` wrote; empty before."""
    path = PRESETS / "calibration_fit.json"
    return dict(json.loads(_text(path.name))) if path.exists() else {}


# Measured runs ----------------------------------------------------------------------------------


@cache
def measured() -> Measured:
    """Return the shipped measured runs, read."""
    return measured_rules.parse(_text("measured.csv"), name="measured.csv")


@cache
def validation() -> tuple[StoredRow, ...]:
    """Return the predictions made while a row's group was left out; none without the file."""
    if not (PRESETS / "validation.csv").exists():
        return ()
    return tuple(
        StoredRow(
            id=raw["id"],
            kind=raw["kind"],
            measured_s=_needed(raw, "measured_s", where, 0, 1e6),
            predicted_s=_or_nan(raw, "predicted_s", where, 0, 1e9),
            low_s=_or_nan(raw, "low_s", where, 0, 1e9),
            high_s=_or_nan(raw, "high_s", where, 0, 1e9),
            apart=raw["apart"],
            fold=raw["fold"],
        )
        for where, raw in _rows("validation.csv")
    )


@cache
def peer_accuracy() -> tuple[PeerRow, ...]:
    """Return what aiconfigurator predicts for the shipped rows; NaN where it refuses."""
    return tuple(
        PeerRow(
            id=raw["row_id"],
            kind=raw["kind"],
            measured_s=_needed(raw, "measured_ms", where, 0, 1e9) * 1e-3,
            predicted_s=_or_nan(raw, "aic_ms", where, 0, 1e12) * 1e-3,
            note=raw["note"],
        )
        for where, raw in _rows("peer_accuracy.csv")
    )


# Models -----------------------------------------------------------------------------------------


@cache
def config_defaults() -> Mapping[str, Mapping[str, Any]]:
    """Return, by model type, what a Hugging Face config class fills in for absent keys."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(_text("config_defaults.json"))
    return found


@cache
def models() -> tuple[ModelEntry, ...]:
    """Return the model presets' names, in alphabetical order; no config is read."""
    table = tomllib.loads(_text("models.toml"))
    return tuple(
        ModelEntry(
            id=row["id"],
            short=short,
            file=row["file"],
            aliases=tuple(row.get("aliases", ())),
            source=row["source"],
            note=row.get("note", ""),
            context_limit=row.get("context_limit"),
        )
        for short, row in table.items()
    )


@cache
def _model_names() -> Mapping[str, ModelEntry]:
    return model_names.spellings(models())


@lru_cache(maxsize=256)
def model(name: str) -> Model:
    """Return a model preset by id, short name or alias; case doesn't matter.

    >>> model("meta-llama/Llama-3.1-70B-Instruct").short
    'llama-3.1-70b'
    """
    from costmodel import importer  # noqa: PLC0415  (it reads this module)

    entry = model_names.find(name, _model_names())
    found = importer.load(PRESETS / "models" / entry.file, name=entry.id)
    limit = entry.context_limit or found.context_limit
    return replace(found, short=entry.short, context_limit=limit)


# Files ------------------------------------------------------------------------------------------


def _text(name: str) -> str:
    path = PRESETS / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        msg = f"presets must hold {name}, got no such file; restore it from the repository"
        raise InputError(msg, field=name) from None


def _rows(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each row of a CSV file with words for where it stands."""
    for number, row in enumerate(csv.DictReader(_text(name).splitlines()), start=2):
        if None in row or None in row.values():
            msg = f"rows of {name} must have as many cells as its head, got line {number}; fix it"
            raise InputError(msg, field=name)
        yield f"line {number} of {name}", row


def _number(raw: Mapping[str, str], column: str, where: str, low: float, high: float) -> float | None:
    """Return a cell as a number within bounds, or None where it is empty."""
    text = raw[column].strip()
    named: Table = {f"{column} ({where})": text}
    return float(within(low, high, **named)[0]) if text else None


def _or_nan(raw: Mapping[str, str], column: str, where: str, low: float, high: float) -> float:
    value = _number(raw, column, where, low, high)
    return math.nan if value is None else value


def _needed(raw: Mapping[str, str], column: str, where: str, low: float, high: float) -> float:
    value = _number(raw, column, where, low, high)
    if value is None:
        msg = f"{column} ({where}) must be a number, got nothing; fill it"
        raise InputError(msg, field=column)
    return value
