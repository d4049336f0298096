"""A sweep too large for memory, cut into chunks that are computed and written one at a time.

A chunk is a workload, some setups and some batches over all accelerators; computing one gives the
bytes of a Parquet file, wherever that happens, so a sweep on many machines equals one on a single
machine byte for byte.
"""

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from costmodel import catalog
from costmodel.check import FloatArray
from costmodel.errors import InputError
from costmodel.scenario import Scenario
from costmodel.sweep import REASONS, Setup, Space, Sweep, uncached

CHUNK_POINTS = 262_144
"""Points of a chunk at most; a few hundred bytes each while it is computed."""
MOST_CHUNKED = 10_000_000_000
"""Points of a sweep at most: about a day on one core."""
COUNTS = b"costmodel.counts"
"""Key of a file's metadata that holds its points by reason."""


@dataclass(frozen=True)
class Chunk:
    """One file's worth of a sweep."""

    index: int
    scenario: Scenario
    space: Space
    beyond_wall: bool

    @property
    def name(self) -> str:
        """Its file."""
        return f"part-{self.index:06d}.parquet"


@dataclass(frozen=True)
class Plan:
    """A sweep cut into chunks."""

    scenario: Scenario
    space: Space
    workloads: tuple[dict[str, float], ...]
    """Scenario fields that are varied besides the space."""
    beyond_wall: bool = False
    chunk_points: int = CHUNK_POINTS

    @property
    def points(self) -> int:
        """Points of the whole sweep."""
        return self.space.points * len(self.workloads)

    @property
    def _cut(self) -> tuple[int, int]:
        """Setups and batches of a chunk."""
        cards, batches = len(self.space.hardware), len(self.space.batches)
        held = max(1, min(batches, self.chunk_points // cards))
        setups = max(1, self.chunk_points // (cards * batches)) if held == batches else 1
        return setups, held

    @property
    def chunks(self) -> int:
        """Number of files."""
        setups, batches = self._cut
        each = -(-len(self.space.setups) // setups) * -(-len(self.space.batches) // batches)
        return each * len(self.workloads)

    def __iter__(self) -> Iterator[Chunk]:
        """Go through the chunks in order."""
        setups, batches = self._cut
        index = 0
        for workload in self.workloads:
            scenario = self.scenario.but(**workload)
            for i in range(0, len(self.space.setups), setups):
                for j in range(0, len(self.space.batches), batches):
                    part = replace(
                        self.space,
                        setups=self.space.setups[i : i + setups],
                        batches=self.space.batches[j : j + batches],
                    )
                    yield Chunk(index, scenario, part, self.beyond_wall)
                    index += 1

    def digest(self) -> str:
        """Return a fingerprint of the question and of the presets behind its answer."""
        seen = hashlib.sha256()
        seen.update(self.scenario.model_dump_json().encode())
        seen.update(repr((self.workloads, self.beyond_wall, self.chunk_points, self.space.batches)).encode())
        for setup in self.space.setups:
            seen.update(repr(setup).encode())
        for card in self.space.hardware:
            seen.update(repr((card.id, sorted((k, f.value) for k, f in card.facts.items()))).encode())
        seen.update(repr(catalog.prices()).encode())
        seen.update(repr(catalog.calibration()).encode())
        return seen.hexdigest()[:32]


def plan_of(
    scenario: Scenario,
    space: Space,
    axes: dict[str, Any],
    *,
    beyond_wall: bool = False,
    chunk_points: int = CHUNK_POINTS,
) -> Plan:
    """Return the plan of a sweep; `axes` holds the workload fields of several values.

    Raises
    ------
    InputError
        For more than `MOST_CHUNKED` points.
    """
    names = list(axes)
    points = float(space.points)
    for values in axes.values():
        points *= len(values)
    if points > MOST_CHUNKED:
        msg = f"a sweep must have at most {MOST_CHUNKED:,} points, got {points:,.0f}; narrow an axis"
        raise InputError(msg, field=names[0] if names else "batch")
    workloads = tuple(
        dict(zip(names, map(float, values), strict=True)) for values in product(*axes.values())
    )
    for low_or_high in (workloads[0], workloads[-1]):
        scenario.but(**low_or_high)
    return Plan(scenario, space, workloads, beyond_wall, chunk_points)


def computed(chunk: Chunk) -> bytes:
    """Return a chunk's Parquet file."""
    plain = chunk.scenario.but(max_tpot_s=None, max_ttft_s=None, budget_usd_per_mtok=None, batch=64)
    found = uncached(plain, chunk.space, beyond_wall=chunk.beyond_wall)
    counts = {REASONS[0]: found.evaluated, **found.infeasible()}
    table = _table(chunk, found).replace_schema_metadata({COUNTS: json.dumps(counts).encode()})
    sink = io.BytesIO()
    coded = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    pq.write_table(table, sink, compression="zstd", compression_level=3, use_dictionary=coded)
    return sink.getvalue()


def counts_in(path: Any) -> dict[str, int]:
    """Return a written file's points by reason; raises what pyarrow raises for a broken file."""
    found: dict[str, int] = json.loads(pq.read_schema(path).metadata[COUNTS])
    return found


def _table(chunk: Chunk, found: Sweep) -> "pa.Table":
    """Return every point as a row: setups slowest, then accelerators, batches fastest."""
    setups, cards, batches = chunk.space.setups, chunk.space.hardware, found.batch
    shape = (len(setups), len(cards), batches.size)
    columns: dict[str, Any] = {}
    for field in fields(Setup):
        if field.name == "weights":
            values = [s.weights or m.published.dtype for s, m in zip(setups, found.models, strict=True)]
        elif field.name == "arithmetic":
            values = [s.arithmetic or "as-stored" for s in setups]
        else:
            values = [getattr(s, field.name) for s in setups]
        columns["tp" if field.name == "gpus" else field.name] = _coded(values, _spread(0, shape))
    columns["hardware"] = _coded([a.id for a in cards], _spread(1, shape))
    one = np.broadcast_to
    count = len(setups) * len(cards) * batches.size
    for name in ("input_tokens", "output_tokens", "context"):
        key = "context_tokens" if name == "context" else name
        columns[key] = pa.repeat(float(getattr(chunk.scenario, name)), count)
    columns["batch"] = one(batches, shape).ravel()
    columns["reason"] = _coded(list(REASONS), found.reasons().ravel().astype(np.int32))
    for name in ("tpot_s", "ttft_s", "output_tokens_per_s", "usd_per_mtok", "usd_per_mtok_output"):
        columns[name] = _column(found, getattr(found, name), shape)
    columns["low"] = _column(found, found.usd_per_mtok * found.low[:, None], shape)
    columns["high"] = _column(found, found.usd_per_mtok * found.high[:, None], shape)
    columns["max_batch"] = _column(found, one(found.wall[:, None], found.fits.shape), shape)
    return pa.table(columns)


def _spread(axis: int, shape: tuple[int, ...]) -> Any:
    index = np.arange(shape[axis], dtype=np.int32).reshape([-1 if i == axis else 1 for i in range(3)])
    return np.broadcast_to(index, shape).ravel()


def _coded(values: list[Any], index: Any) -> "pa.Array":
    """Return a column of few values by their codes; a constant one plain.

    Arrow writes stray bytes of memory for the codes of a dictionary of one, which would make files
    of equal rows differ.
    """
    known = list(dict.fromkeys(values))
    if len(known) == 1:
        return pa.repeat(known[0], len(index))
    codes = np.asarray([known.index(v) for v in values], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes[index]), pa.array(known))


def _column(found: Sweep, values: FloatArray, shape: tuple[int, ...]) -> "pa.Array":
    """Return figures of rows as a column of all points; null where there are none."""
    every = np.full(shape, np.nan)
    every[found.setup, found.hardware] = values
    return pa.array(every.ravel(), from_pandas=True)
