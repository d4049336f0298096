"""A chunked sweep written to a folder: resumable, on this machine or on a cluster."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]

from costmodel.chunks import Chunk, Plan, computed, counts_in
from costmodel.errors import InputError, quoted

MANIFEST = "_sweep.json"
"""Readers of Parquet folders pass over names with an underscore."""

Computing = Callable[[Iterable[Chunk]], Iterator[tuple[Chunk, bytes]]]
"""Takes chunks, gives each with its file's bytes, in any order."""


@dataclass(frozen=True)
class Written:
    """What a run did."""

    folder: Path
    points: int
    chunks: int
    computed: int
    """Chunks computed by this run; the others were there."""
    counts: dict[str, int]
    """Points by reason over all chunks, `feasible` among them."""


def here(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, bytes]]:
    """Compute chunks one after another in this process."""
    for chunk in chunks:
        yield chunk, computed(chunk)


def write(
    plan: Plan,
    folder: Path,
    *,
    computing: Computing = here,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Written:
    """Write a sweep's chunks into a folder, those that are there already left out.

    Parameters
    ----------
    plan : Plan
        The sweep.
    folder : Path
        Made where it isn't; may hold the finished chunks of the same sweep, and nothing else's.
    computing : callable
        Where chunks are computed: `here`, or a cluster's.
    progress : callable
        Told how many chunks are done, of how many, after each.

    Raises
    ------
    InputError
        When the folder holds another sweep or can't be written. Finished chunks stay.
    """
    _claim(plan, folder)
    counts: Counter[str] = Counter()
    missing: list[Chunk] = []
    for chunk in plan:
        there = _finished(folder / chunk.name)
        if there is None:
            missing.append(chunk)
        else:
            counts.update(there)
    done = plan.chunks - len(missing)
    progress(done, plan.chunks)
    for chunk, data in computing(missing):
        _put(folder / chunk.name, data)
        counts.update(counts_in(pa.BufferReader(data)))
        done += 1
        progress(done, plan.chunks)
    return Written(folder, plan.points, plan.chunks, len(missing), dict(counts))


def _claim(plan: Plan, folder: Path) -> None:
    """Make the folder this sweep's, or refuse one that is another's."""
    manifest = {
        "digest": plan.digest(),
        "points": plan.points,
        "chunks": plan.chunks,
        "scenario": plan.scenario.model_dump(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / MANIFEST
        if path.exists():
            if json.loads(path.read_text(encoding="utf-8")).get("digest") == manifest["digest"]:
                return
            msg = f"--out must be empty or hold this very sweep, got another's {quoted(str(folder))}; pick another"
            raise InputError(msg, field="out")
        if any(folder.glob("*.parquet")):
            msg = f"--out must be an empty folder, got Parquet files in {quoted(str(folder))}; pick another"
            raise InputError(msg, field="out")
        _put(path, (json.dumps(manifest, indent=1) + "\n").encode())
    except (OSError, json.JSONDecodeError, AttributeError) as error:
        raise _unwritable(folder, error) from None


def _unwritable(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or "its _sweep.json is broken"
    return InputError(
        f"--out must be a folder that can be written, got {quoted(str(path))}: {reason}; finished chunks are kept",
        field="out",
    )


def _finished(path: Path) -> dict[str, int] | None:
    """Return a finished file's counts; None where there is none or it is broken."""
    if not path.exists():
        return None
    try:
        return counts_in(path)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError):
        return None


def _put(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise _unwritable(path.parent, error) from None
