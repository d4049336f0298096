"""The engine's results as plain records: the keys that the command line and the API print."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from costmodel import catalog, serve
from costmodel.case import resolve
from costmodel.check import FloatArray
from costmodel.explore import Knee, MemoryReport, ModelCard, Points, beyond_limit
from costmodel.facts import Fact
from costmodel.model import Model
from costmodel.prices import BASES, Price
from costmodel.scenario import Scenario

Record = dict[str, Any]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: NaN and infinities become null."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value == int(value) and abs(value) < 2**53 else value
    return value


def points(found: Points) -> Iterator[Record]:
    """Yield one record per decode point: hardware slowest, then context, batch fastest."""
    case = found.case
    several = len(case.accelerators) > 1
    shape = np.broadcast_shapes(
        (len(case.accelerators), 1, 1) if several else (1, 1, 1),
        np.shape(found.step_time_s),
    )
    shape = (1,) * (3 - len(shape)) + shape
    low, high = found.low, found.high
    arrays = {
        "batch": found.batch,
        "context_tokens": found.context_tokens,
        "step_time_s": found.step_time_s,
        "memory_time_s": found.memory_time_s,
        "compute_time_s": found.compute_time_s,
        "comm_time_s": found.comm_time_s,
        "fixed_time_s": found.fixed_time_s,
        "bytes_read": found.bytes_read,
        "flops": found.flops,
        "bound": found.bound,
        "usd_per_mtok": found.usd_per_mtok,
        "low": np.nan if low is None else low,
        "high": np.nan if high is None else high,
        "memory_bytes": found.memory_bytes,
        "fits": found.fits,
        "max_batch": found.max_batch,
    }
    full = {name: np.broadcast_to(np.asarray(a), shape) for name, a in arrays.items()}
    shares = {name: np.broadcast_to(a, shape) for name, a in found.shares.items()}
    for index in np.ndindex(shape):
        record = {
            "model": case.model.id,
            "hardware": case.accelerators[index[0]].id,
            **{name: plain(a[index]) for name, a in full.items()},
            "shares": {name: plain(a[index]) for name, a in shares.items()},
            "beyond_limit": beyond_limit(case.model, full["context_tokens"][index]),
        }
        reason = case.price_reasons[index[0]]
        if reason:
            record["price_reason"] = reason
        if case.notes:
            record["notes"] = list(case.notes)
        yield record


def serve_all(
    scenario: Scenario,
    *,
    batch: FloatArray | None = None,
    concurrency: FloatArray | None = None,
    hardware: list[str] | None = None,
) -> Iterator[Record]:
    """Yield one record per accelerator and batch (or concurrency), the latter fastest."""
    for name in hardware or [scenario.hardware]:
        case = resolve(scenario.but(hardware=name))
        if concurrency is None:
            found = serve.at_batch(case, batch=scenario.batch if batch is None else batch)
        else:
            found = serve.at_concurrency(case, concurrency=concurrency)
        yield from servings(found)


def servings(found: serve.Serving) -> Iterator[Record]:
    """Yield one record per served batch, for one accelerator."""
    case = found.case
    low, high = found.low, found.high
    arrays = {
        "batch": found.batch,
        "concurrency": found.concurrency,
        "fits": found.fits,
        "ttft_s": found.ttft_s,
        "tpot_s": found.tpot_s,
        "e2e_s": found.e2e_s,
        "requests_per_s": found.requests_per_s,
        "output_tokens_per_s": found.output_tokens_per_s,
        "usd_per_mtok_input": found.usd_per_mtok_input,
        "usd_per_mtok_output": found.usd_per_mtok_output,
        "usd_per_mtok": found.usd_per_mtok,
        "usd_per_request": found.usd_per_request,
        "low": np.nan if low is None else low,
        "high": np.nan if high is None else high,
    }
    shape = np.shape(found.usd_per_mtok)
    full = {name: np.broadcast_to(np.asarray(a), shape) for name, a in arrays.items()}
    for index in np.ndindex(shape):
        record = {
            "model": case.model.id,
            "hardware": case.accelerators[0].id,
            "tp": case.scenario.tp,
            **{name: plain(a[index]) for name, a in full.items()},
        }
        if case.price_reasons[0]:
            record["price_reason"] = case.price_reasons[0]
        if case.notes:
            record["notes"] = list(case.notes)
        yield record


def knee(found: Knee, *, price_reason: str, notes: tuple[str, ...]) -> Record:
    """Return the edges as a record."""
    record: Record = plain(asdict(found))
    if price_reason:
        record["price_reason"] = price_reason
    if notes:
        record["notes"] = list(notes)
    return record


def model_card(card: ModelCard) -> Record:
    """Return a model's figures, with its layers, as a record."""
    model = card.model
    figures = {k: v for k, v in vars(card).items() if k != "model"}
    return {
        "id": model.id,
        **plain(figures),
        "context_limit": model.context_limit,
        "published_dtype": model.published.dtype,
        "layers": [_layer(layer) for layer in model.layers],
        "notes": list(model.notes),
        "source": model.source,
    }


def _layer(layer: Any) -> Record:
    mixer = layer.mixer
    return {
        "count": layer.count,
        "mixer": mixer.kind if mixer else None,
        "query_heads": mixer.n_q_heads if mixer else None,
        "kv_heads": mixer.n_kv_heads if mixer else None,
        "window": next(
            (t.kept for t in mixer.cache if math.isfinite(t.kept)), None
        ) if mixer else None,
        "feed_forward": [type(part).__name__.lower() for part in layer.feed_forward],
        "params": plain(
            layer.always_params + sum(e.n_experts * e.expert_params for e in layer.experts)
        ),
    }  # fmt: skip


def memory(report: MemoryReport) -> Record:
    """Return an engine's start-up memory as a record."""
    record: Record = plain(asdict(report))
    record["fits"] = bool(report.available_kv_bytes > 0)
    return record


def models() -> list[Record]:
    """Return every preset model with what its config counts to."""
    return [_model(catalog.model(entry.id), entry) for entry in catalog.models()]


def _model(model: Model, entry: Any) -> Record:
    return {
        "id": model.id,
        "short": entry.short,
        "aliases": list(entry.aliases),
        "family": model.family,
        "total_params": model.total_params,
        "active_params": model.active_params,
        "context_limit": model.context_limit,
        "published_dtype": model.published.dtype,
        "source": model.source,
        "notes": list(model.notes),
    }


def hardware() -> list[Record]:
    """Return every preset accelerator with its facts."""
    return [
        {
            "id": a.id,
            "short": a.short,
            "aliases": list(a.aliases),
            "vendor": a.vendor,
            "family": a.family,
            "year": a.year,
            "link": a.link,
            "domain": a.domain,
            "facts": {name: fact(f) for name, f in a.facts.items()},
            "note": a.note,
        }
        for a in catalog.hardware().values()
    ]


def fact(found: Fact) -> Record:
    """Return one sourced figure as a record."""
    return {
        "value": plain(found.value),
        "unit": found.unit,
        "source": found.source,
        "as_of": found.as_of.isoformat(),
        "checked": found.checked,
        "note": found.note,
    }


def prices() -> list[Record]:
    """Return, per accelerator, its price on each basis with the rows behind it."""
    return [
        {
            "hardware": name,
            **{basis: price(catalog.price(name, basis)) for basis in BASES},
        }
        for name in catalog.hardware()
    ]


def price(found: Price) -> Record:
    """Return a price on a basis as a record."""
    return {
        "usd_per_gpu_hour": found.usd_per_gpu_hour,
        "newest": found.newest.isoformat() if found.newest else None,
        "old": found.old,
        "reason": found.reason,
        "rows": [
            {
                "provider": row.provider,
                "usd_per_gpu_hour": row.usd_per_gpu_hour,
                "date": row.date_text,
                "instance": row.instance,
                "region": row.region,
                "source": row.source,
                "note": row.note,
            }
            for row in found.rows
        ],
    }
