"""Answers about limits as plain records: what the command line and the API print."""

from math import isfinite
from typing import Any

from costmodel import energy, pareto
from costmodel import frontier as engine
from costmodel.check import within
from costmodel.errors import InputError, quoted
from costmodel.picks import Limits, Pick, pick
from costmodel.records import plain
from costmodel.scenario import Scenario
from costmodel.sweep import Space, Sweep, sweep

Record = dict[str, Any]
MOST_SHOWN = 2_000
"""Points of a front that are printed, evenly chosen where there are more."""


def frontier(
    scenario: Scenario, where: Space, *, axes: str = "speed,all-in", users: str | float | None = None
) -> Record:
    """Return the front of a space, and the scenario's limits answered.

    Parameters
    ----------
    scenario : Scenario
        Workload, price basis and limits.
    where : Space
        What is swept.
    axes : str
        Two keys of `pareto.AXES`, separated by a comma.
    users : optional
        Users at once, for copies and a month's cost.
    """
    first, second = _pair(axes)
    found = sweep(scenario, where=where)
    answers = engine.answer(found, Limits.of(scenario))
    front = [pick(found, int(i)) for i in pareto.front_of(found, axes=(first, second))[:MOST_SHOWN]]
    if (first, second) == ("speed", "all-in"):
        front = _with(front, answers.cheapest)
    relaxed = answers.relaxed
    record: Record = {
        "evaluated": where.points,
        "feasible": found.evaluated,
        "infeasible": found.infeasible(),
        "axes": [first, second],
        "joules_note": energy.MARK,
        "points": [point(found, p) for p in front],
        "cheapest": _limited(answers, answers.cheapest),
        "runner_up": _limited(answers, answers.runner_up),
        "too_close_to_call": answers.too_close,
        "unconstrained": _limited(answers, answers.unconstrained),
        "premium_usd_per_mtok": plain(answers.premium_usd_per_mtok),
        "binding_limit": answers.binding,
        "relaxed": None if relaxed is None else _relaxed(found, relaxed),
        "fastest": _limited(answers, answers.fastest),
        "speeds": [_rung(found, r) for r in engine.rungs(found, answers.limits)],
    }
    if answers.nothing_runs:
        record["reason"] = answers.nothing_runs
    if users is not None and answers.cheapest is not None:
        (many,) = within(0, 1e9, above=True, users=users)
        record["fleet"] = plain(vars(engine.fleet(answers.cheapest, users=float(many), busy=scenario.busy)))
    return record


def _pair(axes: str) -> tuple[str, str]:
    named = [a.strip() for a in axes.split(",")]
    if len(named) != 2:
        msg = f"--axes must name two of {', '.join(pareto.AXES)}, got {quoted(axes)}; as in speed,all-in"
        raise InputError(msg, field="axes")
    return pareto.axis(named[0]).key, pareto.axis(named[1]).key


def point(found: Sweep, chosen: Pick) -> Record:
    """Return one point as a record."""
    setup = chosen.setup
    power = chosen.accelerator.power_w * chosen.gpus * (1 + chosen.prefill_copies)
    record: Record = {
        "model": found.models[found.setup[chosen.row]].id,
        "hardware": chosen.accelerator.id,
        "tp": setup.gpus,
        "split": setup.split,
        "weights": setup.weights or found.models[found.setup[chosen.row]].published.dtype,
        "kv": setup.kv,
        "arithmetic": setup.arithmetic,
        "engine": setup.engine,
        "batch": chosen.batch,
        "max_batch": chosen.wall,
        "tpot_s": chosen.tpot_s,
        "ttft_s": chosen.ttft_s,
        "tokens_per_s_per_user": 1 / chosen.tpot_s,
        "output_tokens_per_s": chosen.output_tokens_per_s,
        "usd_per_mtok": chosen.usd_per_mtok,
        "usd_per_mtok_output": chosen.usd_per_mtok_output,
        "usd_per_gpu_hour": chosen.usd_per_gpu_hour,
        "joules_per_token": power / chosen.output_tokens_per_s,
        "low": chosen.low,
        "high": chosen.high,
    }
    if setup.disaggregated:
        record["prefill_copies"] = chosen.prefill_copies
    return {k: _number(v) if isinstance(v, float) else v for k, v in record.items()}


def _number(value: float) -> float | int | None:
    """Return a number as JSON can hold it, whole ones without a point."""
    if not isfinite(value):
        return None
    return int(value) if value.is_integer() else value


def _limited(answers: engine.Answers, chosen: Pick | None) -> Record | None:
    if chosen is None:
        return None
    return point(answers.sweep, chosen) | {"may_miss": list(chosen.may_miss(answers.limits))}


def _relaxed(found: Sweep, relaxed: engine.Relaxed) -> Record:
    needed = dict(zip(relaxed.limits, relaxed.values, strict=True))
    return {"limits": plain(needed), "point": point(found, relaxed.pick)}


def _with(front: list[Pick], best: Pick | None) -> list[Pick]:
    """Put the cheapest, found to the whole batch, among the points of the grid's front."""
    if best is None:
        return front
    kept = [p for p in front if not (best.tpot_s <= p.tpot_s and best.usd_per_mtok <= p.usd_per_mtok)]
    beaten = any(p.tpot_s <= best.tpot_s and p.usd_per_mtok <= best.usd_per_mtok for p in kept)
    return front if beaten else sorted([*kept, best], key=lambda p: p.tpot_s)


def _rung(found: Sweep, rung: engine.Rung) -> Record:
    return {
        "tokens_per_s_per_user": rung.tokens_per_s,
        "point": None if rung.pick is None else point(found, rung.pick),
        "usd_per_extra_token_per_s": plain(rung.usd_per_extra_token_per_s),
    }
