"""What the model says of measured runs: the quantity that each row measures, in seconds.

Every row becomes a setup (presets looked up, dtypes decided) and all go through the engine's own
functions side by side (`rows.py`). A row that can't be predicted says why. What is predicted how
per kind: docs/validation.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costmodel import calibration, case, catalog, classes, dtypes, memory, rows
from costmodel.calibration import MICRO, Offsets
from costmodel.check import FloatArray
from costmodel.classes import Klass
from costmodel.constants import Constants, Group, Links
from costmodel.errors import InputError
from costmodel.launches import launch_of
from costmodel.measured import Reading, Run
from costmodel.model import Model
from costmodel.prefill import chunk_time, prefill_time
from costmodel.serve import Times, Workload, balance, request_times
from costmodel.step import Machine, decode_step
from costmodel.work import Parallel, Plan, plan

FIRST_WAVE = 1.0
"""Closed-loop benchmarks start all their requests at once."""
LENGTH_RATIO = 0.9
"""Mean of lengths drawn evenly from 0.8 to 1 times the nominal ones."""
LAYER_SPLIT = ("llama.cpp", "llama.cpp-2024", "exllamav2", "transformers")
"""Engines that run a model's layers on one GPU after another: the memory of all, the time of one."""
ASSUMED_INPUT, ASSUMED_OUTPUT = 32.0, 64.0
DATASET_INPUT = (("llama-2-70b", 294.0), ("llama-3.1-8b", 778.0), ("405b", 9428.0), ("mixtral", 330.0))
"""Mean prompts of MLPerf's data sets by model: OpenOrca, CNN-DailyMail, its long set, its mix."""
HALVINGS = 8
"""Of the logarithm of a batch, in search of the one that keeps a pace."""
CHAT_INPUT = 250.0
"""Mean prompt of ML.ENERGY's chats."""


@dataclass(frozen=True)
class Prediction:
    """A reading beside what the model says; NaN with a reason where it can't."""

    reading: Reading
    seconds: float
    low: float
    high: float
    basis: str
    reason: str
    ideal: float = float("nan")
    """The same of a perfect engine, for closed forms of a step; NaN elsewhere."""


@dataclass(frozen=True)
class Setup:
    """One row, resolved."""

    run: Run
    klass: Klass
    plan: Plan
    machine: Machine
    algorithms: tuple[tuple[float, float], tuple[float, float]]
    link_bytes_per_s: float
    capacity_bytes: float
    input_tokens: float
    output_tokens: float
    copies_gpus: int
    """GPUs of one copy."""
    polls: float = 0.0
    """Steps between two looks for new requests; 0 where each step looks."""


def setup_of(run: Run) -> Setup:
    """Return a run's setup.

    Raises
    ------
    InputError
        For a model, GPU or dtype that isn't known, and weights that don't fit.
    """
    model = case.find_model(run.model)
    accelerator = catalog.accelerator(run.hardware)
    engine_class = classes.engine_or_other(run.engine, version=run.engine_version, day=run.date)
    flags = launch_of(run, accelerator, engine_class)
    widths = _widths(run, model, engine_class, flags.kv)
    split = engine_class in LAYER_SPLIT
    room = 0.97 * accelerator.capacity_bytes
    ways = 1 if split and not (run.tp or 1) > 1 else run.tp or _smallest(run, model, widths, room)
    ranks = "attention DP" in run.note and ways > 1
    parallel = Parallel(
        ways=ways,
        split="attention-dp" if ranks else "tensor",
        expert_ways=ways if run.ep > 1 or ranks else 1,
    )
    work = plan(model, widths, parallel)
    spread = run.gpus / ways if split else 1.0
    if work.resident_bytes > room * spread and "CPU" not in run.note:
        msg = (
            f"weights of {work.resident_bytes / 1e9:.0f} GB a GPU must fit {accelerator.short}, "
            f"which has {accelerator.capacity_bytes / 1e9:.0f} GB; the row can't be of this setup"
        )
        raise InputError(msg, field="gpu")
    machine, _ = case.machine_of((accelerator,), widths, None)
    try:
        link, _ = case.link_of(accelerator, ways)
    except InputError:
        link = accelerator.link_bytes_per_s
    found = classes.klass(accelerator=accelerator, engine_class=engine_class, plan=work)
    input_tokens, output_tokens = _lengths(run)
    return Setup(
        run=run,
        klass=found,
        plan=work,
        machine=machine,
        algorithms=calibration.reduce_algorithms(
            family=found.family, accelerator=accelerator, ways=ways, link_bytes_per_s=link
        ),
        link_bytes_per_s=link,
        capacity_bytes=accelerator.capacity_bytes * spread,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        copies_gpus=ways,
        polls=flags.polls,
    )


def _widths(run: Run, model: Model, engine_class: str, launched: str | None) -> Any:
    """Storage widths of a run; the launch script's or the engine's usual cache where the row doesn't say."""
    weights = run.weights
    kv = run.kv or launched
    if kv is None:
        narrow = weights is not None and dtypes.dtype(weights).unit in {"fp8", "fp4"}
        kv = "fp8" if narrow and engine_class.startswith("tensorrt-llm") else "bf16"
    return case.widths(weights, kv, model, engine_class)


def _smallest(run: Run, model: Model, widths: Any, room: float) -> int:
    """Return the fewest GPUs of a copy, where a row says only how many there were."""
    ways = 1
    while ways < run.gpus:
        held = plan(model, widths, Parallel(ways=ways)).resident_bytes
        if held < 0.6 * room:
            return ways
        ways *= 2
    return run.gpus


def _lengths(run: Run) -> tuple[float, float]:
    """Return mean prompt and answer of a run, assumed where the row doesn't give them."""
    given, answer = run.input_tokens, run.output_tokens
    if given is None:
        name = run.model.lower()
        known = next((v for k, v in DATASET_INPUT if k in name), ASSUMED_INPUT)
        given = known if "mlperf" in run.source.lower() or "inference_results" in run.id else (
            CHAT_INPUT if run.mean_batch is not None else ASSUMED_INPUT
        )
    if answer is None:
        answer = ASSUMED_OUTPUT
    ratio = LENGTH_RATIO if "InferenceX draws" in run.note else 1.0
    return max(given * ratio, 1.0), max(answer * ratio, 1.0)


@dataclass(frozen=True)
class Table:
    """Readings of resolvable rows as arrays, an entry each."""

    setups: tuple[Setup, ...]
    readings: tuple[Reading, ...]
    plan: Plan
    machine: Machine
    klasses: tuple[Klass, ...]
    input_tokens: FloatArray
    output_tokens: FloatArray
    batch: FloatArray
    concurrency: FloatArray
    room_bytes: FloatArray
    """For the cache on one GPU."""

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.readings)

    def take(self, index: Sequence[int]) -> "Table":
        """Return some rows."""
        at = np.asarray(index, dtype=np.int64)
        n = self.count
        return replace(
            self,
            setups=tuple(self.setups[i] for i in at),
            readings=tuple(self.readings[i] for i in at),
            klasses=tuple(self.klasses[i] for i in at),
            plan=rows.take(self.plan, at, n),
            machine=rows.take(self.machine, at, n),
            input_tokens=self.input_tokens[at],
            output_tokens=self.output_tokens[at],
            batch=self.batch[at],
            concurrency=self.concurrency[at],
            room_bytes=self.room_bytes[at],
        )


def table(readings: Sequence[Reading], setups: Sequence[Setup]) -> Table:
    """Return readings with their setups as one table."""
    work, machine = rows.stack([s.plan for s in setups], [s.machine for s in setups])
    resident = np.asarray([s.plan.resident_bytes / s.plan.parallel.stages for s in setups])
    capacity = np.asarray([s.capacity_bytes for s in setups])
    workspace = np.asarray(
        [memory.workspace_bytes(model=s.plan.model, ways=s.plan.parallel.ways) for s in setups]
    )
    return Table(
        setups=tuple(setups),
        readings=tuple(readings),
        plan=work,
        machine=machine,
        klasses=tuple(s.klass for s in setups),
        input_tokens=np.asarray([s.input_tokens for s in setups]),
        output_tokens=np.asarray([s.output_tokens for s in setups]),
        batch=np.asarray([r.run.batch or 1.0 for r in readings]),
        concurrency=np.asarray([r.run.concurrency or 1.0 for r in readings]),
        room_bytes=memory.MEMORY_FRACTION * capacity - resident - workspace - memory.RUNTIME_BYTES,
    )


def constants_from(found: Table, value: dict[str, FloatArray]) -> Constants:
    """Return constants from parameters that have an entry per row."""
    engines = [classes.engines()[k.engine] for k in found.klasses]
    rate = np.asarray([s.link_bytes_per_s for s in found.setups])
    ways = found.plan.parallel.ways
    table_ = catalog.calibration()["link"]["all-to-all"]
    exchange = (table_["alpha_us"] + table_["alpha_us_per_rank"] * ways) * MICRO
    polled = np.asarray([s.polls for s in found.setups]) * value["polled_share"]
    return calibration.build(
        value=value | {"first_token_steps": value["first_token_steps"] + polled},
        all_reduce=calibration.links(
            algorithms=[s.algorithms for s in found.setups],
            alpha_factor=value["link_alpha_factor"],
            beta_factor=value["link_beta_factor"],
            shape=(found.count,),
        ),
        all_to_all=Links((exchange,), (rate * table_["link_share"],)),
        hop=Links((np.full(found.count, 1e-5),), (rate,)),
        host_overlaps=np.asarray([e.overlap for e in engines]),
        chunk_tokens=np.asarray([e.chunk_tokens for e in engines]),
        mixes_prompts=np.asarray([e.mixes for e in engines]),
        max_sequences=np.asarray([e.max_sequences for e in engines]),
    )


def seconds_of(found: Table, constants: Constants, value: dict[str, FloatArray] | None) -> FloatArray:
    """Return what each row measures, as the model says it. [s]

    Parameters
    ----------
    found : Table
        The rows.
    constants : Constants
        Of an entry per row.
    value : dict, optional
        Parameters behind them; None for the ideal.
    """
    result = np.full(found.count, np.nan)
    kinds = np.asarray([r.kind for r in found.readings])
    for names, function in _BY_KIND:
        index = np.flatnonzero(np.isin(kinds, names))
        if index.size == 0:
            continue
        own = found.take(list(index))
        some = rows.take(constants, index, found.count)
        extra = None if value is None else rows.take(value, index, found.count)
        result[index] = function(own, some, extra)
    return result


def _work(found: Table) -> Workload:
    """Lengths as arrays; caches at their mean length."""
    tokens: Any = {
        "new": found.input_tokens,
        "cached": np.zeros(found.count),
        "output": np.maximum(found.output_tokens, 2.0),
        "resident": found.input_tokens + found.output_tokens / 2,
    }
    return Workload(**tokens)


def _step(found: Table, constants: Constants, batch: FloatArray) -> FloatArray:
    context = found.input_tokens + found.output_tokens / 2
    return decode_step(
        plan=found.plan, machine=found.machine, constants=constants, batch=batch,
        context_tokens=context,
    ).total  # fmt: skip


def _wall(found: Table) -> FloatArray:
    """Most sequences that fit each row's copy, at least one: at their mean length, or whole."""
    whole = np.asarray([classes.engines()[k.engine].reserves_answers for k in found.klasses])
    held = found.input_tokens + found.output_tokens * np.where(whole, 1.0, 0.5)
    each = memory.sequence_bytes(plan=found.plan, context_tokens=held)
    return np.maximum(found.room_bytes / np.maximum(each, 1.0), 1.0)


def _served(found: Table) -> FloatArray:
    """Mean batch of each row that states one of a server, as far as it fits; NaN for the others."""
    batch = np.asarray([np.nan if b is None else b for b in (r.run.mean_batch for r in found.readings)])
    return np.asarray(np.minimum(batch, _wall(found))) if np.isfinite(batch).any() else batch


def _fixed_step(found: Table, constants: Constants, value: Any) -> FloatArray:
    """Return a step at a fixed batch; of a server at a mean batch, some steps carry a prompt."""
    step_s = _step(found, constants, found.batch)
    return _where_served(found, constants, step_s)


def _where_served(found: Table, constants: Constants, said: FloatArray) -> FloatArray:
    """Replace what is said of rows that state a server's mean batch by the gap at that batch."""
    batch = _served(found)
    served = np.isfinite(batch)
    if not served.any():
        return said
    return np.where(served, _gap(found, constants, np.where(served, batch, 1.0)), said)


def _gap(found: Table, constants: Constants, batch: FloatArray) -> FloatArray:
    """Return the median time between a server's tokens at its mean batch.

    Prompts arrive at random, so that of the steps a share 1 − exp(−rate) carries some, and these
    share one read of the weights. A median sees them only where most steps carry one.
    """
    step_s = _step(found, constants, batch)
    rate = batch / found.output_tokens
    carrying = -np.expm1(-rate)
    mixed_s = chunk_time(
        plan=found.plan, machine=found.machine, constants=constants,
        new=np.minimum(found.input_tokens, 8192.0), prompts=rate / carrying,
        decoding=batch, context_tokens=found.input_tokens + found.output_tokens / 2,
    ).total  # fmt: skip
    seen = -np.expm1(-1.5 * rate)
    return np.asarray(step_s + seen * carrying * np.maximum(mixed_s - step_s, 0.0))


def _fixed_whole(found: Table, constants: Constants, value: Any) -> FloatArray:
    """Time of a whole batch over its tokens: prompts first, unless the note says decoding alone."""
    fits = np.minimum(found.batch, _wall(found))
    step_s = _step(found, constants, fits) * found.batch / fits
    alone = np.asarray([r.run.decode_only for r in found.readings])
    return np.where(alone, step_s, step_s + _prompts(found, constants) / found.output_tokens)


def _prompts(found: Table, constants: Constants) -> FloatArray:
    """Prefill of a whole batch. [s]"""
    # Whole prompts run together up to a step's tokens.
    per_pass = np.maximum(constants.chunk_tokens / found.input_tokens, 1.0)
    together = np.minimum(found.batch, per_pass)
    each = prefill_time(
        plan=found.plan, machine=found.machine, constants=constants, new=found.input_tokens,
        chunk=constants.chunk_tokens, prompts=together,
    )  # fmt: skip
    return each * found.batch / together


def _batch_first(found: Table, constants: Constants, value: Any) -> FloatArray:
    return _prompts(found, constants) + constants.first_token_s


def _closed(found: Table, constants: Constants) -> tuple[Times, FloatArray]:
    work = _work(found)
    batch, waiting_s = balance(
        plan=found.plan, machine=found.machine, constants=constants, work=work,
        step_of=lambda b: _step(found, constants, b), concurrency=found.concurrency,
        room=_wall(found), first_wave=FIRST_WAVE,
    )  # fmt: skip
    times = request_times(
        plan=found.plan, machine=found.machine, constants=constants, work=work, batch=batch,
        step_s=_step(found, constants, batch), concurrency=found.concurrency, first_wave=FIRST_WAVE,
    )  # fmt: skip
    return times, waiting_s


def _closed_tpot(found: Table, constants: Constants, value: Any) -> FloatArray:
    times, _ = _closed(found, constants)
    wave = np.asarray(["one wave" in r.run.note for r in found.readings])
    said = np.where(wave, _step(found, constants, found.concurrency), times.tpot_s)
    return _where_served(found, constants, said)


def _closed_ttft(found: Table, constants: Constants, value: Any) -> FloatArray:
    times, _ = _closed(found, constants)
    wave = np.asarray(["one wave" in r.run.note for r in found.readings])
    queue_s = constants.first_token_s + times.prefill_s * found.concurrency / 2
    return np.where(wave, queue_s, times.ttft_s)


def _max_load(found: Table, constants: Constants, value: Any) -> FloatArray:
    """GPU-seconds per output token with every slot taken and prompts batched.

    A row that states how fast its tokens came was held to a limit on it: as many slots as keep it.
    """
    ranks = 1 / found.plan.parallel.sequence_share
    batch = np.minimum(_wall(found), constants.max_sequences * ranks)
    per_pass = np.maximum(constants.chunk_tokens / found.input_tokens, 1.0)
    prompt_s = prefill_time(
        plan=found.plan, machine=found.machine, constants=constants, new=found.input_tokens,
        chunk=constants.chunk_tokens, prompts=per_pass,
    ) / per_pass  # fmt: skip
    stall = 1.0 if value is None else value["offered_stall_share"]

    def tpot(b: FloatArray) -> FloatArray:
        return np.asarray(_step(found, constants, b) + b / found.output_tokens * prompt_s * stall)

    pace_s = np.asarray([r.run.pace_s or np.inf for r in found.readings])
    if np.isfinite(pace_s).any():
        batch = _within_pace(tpot, pace_s, batch)
    return np.asarray(tpot(batch) / batch * found.plan.parallel.gpus)


def _within_pace(
    tpot: Callable[[FloatArray], FloatArray], pace_s: FloatArray, most: FloatArray
) -> FloatArray:
    """Return the largest batch, of 1 to `most`, whose time between tokens is at most `pace_s`."""
    low, high = np.zeros(most.shape), np.log(most)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        keeps = tpot(np.exp(middle)) <= pace_s
        low, high = np.where(keeps, middle, low), np.where(keeps, high, middle)
    slow, fast = tpot(np.exp(high)), tpot(np.exp(low))
    # Between the last two on a straight line, so that the batch moves smoothly with constants.
    along = np.clip((pace_s - fast) / np.maximum(slow - fast, 1e-15), 0.0, 1.0)
    return np.where(tpot(most) <= pace_s, most, np.exp(low + along * (high - low)))


_BY_KIND: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("fixed_tpot", "batch1_decode"), _fixed_step),
    (("fixed_throughput", "batch1_e2e"), _fixed_whole),
    (("batch_ttft",), _batch_first),
    (("closed_tpot",), _closed_tpot),
    (("closed_ttft",), _closed_ttft),
    (("max_load",), _max_load),
)


def resolvable(readings: Sequence[Reading]) -> tuple[list[Reading], list[Setup], dict[int, str]]:
    """Return the readings that have a setup, the setups, and why the others (by place) have none."""
    kept: list[Reading] = []
    setups: list[Setup] = []
    reasons: dict[int, str] = {}
    known: dict[int, Setup | str] = {}
    for i, reading in enumerate(readings):
        key = id(reading.run)
        if key not in known:
            try:
                known[key] = setup_of(reading.run)
            except InputError as error:
                known[key] = str(error)
        found = known[key]
        if isinstance(found, str):
            reasons[i] = found
        else:
            kept.append(reading)
            setups.append(found)
    return kept, setups, reasons


def predict(readings: Sequence[Reading], *, offsets: Offsets | None = None) -> tuple[Prediction, ...]:
    r"""Return what the calibrated model says of readings, in their order.

    Examples
    --------
    >>> from costmodel.measured import parse
    >>> text = "model,gpu,engine,weight_dtype,batch,tpot_ms_mean\nllama-3.1-8b,h100-sxm,vllm,bf16,8,7"
    >>> (found,) = predict(parse(text).readings)
    >>> 5e-3 < found.seconds < 9e-3, found.reason
    (True, '')
    """
    kept, setups, reasons = resolvable(readings)
    seconds: list[float] = []
    ideal: list[float] = []
    if kept:
        found = table(kept, setups)
        value = calibration.values(found.klasses, calibration.fitted() if offsets is None else offsets)
        said = seconds_of(found, constants_from(found, value), value)
        best = seconds_of(found, ideal_constants(found), None)
        seconds, ideal = list(np.maximum(said, np.nan_to_num(best))), list(best)
    result = []
    place = 0
    for i, reading in enumerate(readings):
        if i in reasons:
            nan = float("nan")
            result.append(Prediction(reading, nan, nan, nan, "", reasons[i]))
            continue
        own = setups[place].klass
        low, high = calibration.band(own, quantity=QUANTITY[reading.kind])
        value_s = float(seconds[place])
        result.append(
            Prediction(
                reading, value_s, value_s * low, value_s * high, calibration.basis(own), "",
                float(ideal[place]),
            )
        )
        place += 1
    return tuple(result)


QUANTITY = {
    "fixed_tpot": "step", "batch1_decode": "step", "fixed_throughput": "step", "batch1_e2e": "step",
    "closed_tpot": "serving", "max_load": "serving", "closed_ttft": "first", "batch_ttft": "first",
}  # fmt: skip
"""Which band holds for a kind: of steps, of serving, of first tokens."""


def ideal_constants(found: Table) -> Constants:
    """Return the perfect engine's constants for rows; engines keep what they do with prompts."""
    engines = [classes.engines()[k.engine] for k in found.klasses]
    sharp = Group()
    return Constants(
        linear=sharp,
        chunk_tokens=np.asarray([e.chunk_tokens for e in engines]),  # type: ignore[arg-type]
        mixes_prompts=np.asarray([e.mixes for e in engines]),  # type: ignore[arg-type]
        max_sequences=np.asarray([e.max_sequences for e in engines]),  # type: ignore[arg-type]
        first_token_steps=np.asarray(0.0),
        stall_share=np.asarray(0.0),
    )
