"""The arithmetic of one displayed cost, written out: names, numbers, result, sources.

Every line is built from the values of the `Case` and of the step that ran, so it can't say something
else than the model did. Its Python expression holds the printed numbers and gives the printed result.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from costmodel import catalog
from costmodel.case import Case
from costmodel.check import FloatArray
from costmodel.constants import Group
from costmodel.cost import SECONDS_PER_HOUR, TOKENS_PER_MTOK
from costmodel.explore import Points, points
from costmodel.speculation import passes
from costmodel.step import Timed, attention_rows, flop_time, fullest_rank, gemm_rows
from costmodel.work import Attention, coverage

MOST_TERMS = 4
"""Sums of more terms are printed as their total."""
_SCALES = {"bytes": (1e9, "GB"), "s": (1e-3, "ms"), "bytes/s": (1e12, "TB/s"), "USD/Mtok": (1.0, "USD per Mtok")}


@dataclass(frozen=True)
class Source:
    """Where a number comes from."""

    text: str
    link: str = ""


@dataclass(frozen=True)
class Line:
    """One quantity: its formula in names and in numbers, its result, and where the numbers are from."""

    key: str
    """As a name in the Python version."""
    quantity: str
    names: str
    numbers: str
    value: float
    """In the unit below, SI."""
    unit: str
    """`bytes`, `s` or `USD/Mtok`."""
    python: str
    """An expression of the printed numbers, in SI."""
    sources: tuple[Source, ...] = ()

    @property
    def result(self) -> str:
        """The result with four digits and its unit."""
        scale, name = _SCALES[self.unit]
        return f"{_digits(self.value / scale, 4)} {name}"


@dataclass(frozen=True)
class _Term:
    """A piece of a formula, for people and for Python."""

    text: str
    python: str


def explain(case: Case, *, batch: float) -> tuple[Line, ...]:
    """Return the arithmetic of the answer's cost at a batch; the last line is the displayed cost.

    Examples
    --------
    >>> from costmodel.case import resolve
    >>> from costmodel.scenario import scenario
    >>> lines = explain(resolve(scenario(weights="fp8")), batch=64)
    >>> len(lines), lines[0].quantity, lines[0].result
    (9, 'Weights read a step', '17.64 GB')
    >>> float(eval(lines[0].python)) == lines[0].value or round(eval(lines[0].python) / lines[0].value, 4)
    1.0
    """
    at = points(case, batch=np.asarray(float(batch)), context_tokens=np.asarray(case.scenario.context))
    weights, cache = _weights(case, batch), _cache(case)
    lines = [weights, cache, _ideal_time(case, batch, weights, cache)]
    if case.scenario.composition == "whole-step":
        parts = [_arithmetic(case, batch)]
        lines += [*parts, _whole_step(at, lines[2], parts[0])]
    else:
        parts = [_products(case, batch), _attention(case, batch)]
        parts += [line for line in (_fixed(case, batch, at), _links(case, batch, at)) if line.value > 0]
        lines += [*parts, _step(case, at, parts)]
    if not math.isnan(float(case.usd_per_gpu_hour)):
        lines.append(_cost(case, batch, at))
    return tuple(lines)


def python_of(lines: Iterable[Line]) -> str:
    """Return the lines as a Python program that prints each result."""
    rows = [f"{line.key} = {line.python}  # {line.quantity}: {line.result}" for line in lines]
    return "\n".join(["# One decode step, in SI units.", *rows, f"print({rows[-1].split(' = ')[0]})", ""])


# Numbers ----------------------------------------------------------------------------------------


def _digits(value: float, count: int = 6) -> str:
    """Return a number with so many significant digits, thousands separated, no trailing zeros."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, count - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _term(value: float, unit: str = "") -> _Term:
    """Return a number in its everyday unit, and the same digits in SI."""
    scale, name = _SCALES.get(unit, (1.0, unit))
    digits = _digits(value / scale)
    power = f"e{round(math.log10(scale)):d}" if scale != 1 else ""
    return _Term(f"{digits} {name}".strip(), f"{digits.replace(',', '')}{power}")


def _micro(value_s: float) -> _Term:
    digits = _digits(value_s * 1e6)
    return _Term(f"{digits} µs", f"{digits.replace(',', '')}e-6")


def _sum(terms: list[_Term], total: _Term) -> _Term:
    if not terms:
        return total
    if len(terms) > MOST_TERMS:
        return total
    return _Term(" + ".join(t.text for t in terms), " + ".join(t.python for t in terms))


def _times(*terms: _Term) -> _Term:
    return _Term(" × ".join(t.text for t in terms), " * ".join(t.python for t in terms))


def _bracket(term: _Term) -> _Term:
    return _Term(f"({term.text})", f"({term.python})") if " + " in term.text else term


# Sources ----------------------------------------------------------------------------------------


def _config(case: Case) -> tuple[Source, ...]:
    link = case.model.source
    return (Source("config.json", link if link.startswith("http") else ""),)


def _sheet(case: Case, name: str) -> tuple[Source, ...]:
    fact = case.accelerators[0].facts.get(name)
    if fact is None:
        return ()
    return (Source(f"data sheet, {fact.as_of}", fact.source if fact.source.startswith("http") else ""),)


def _constants(case: Case) -> tuple[Source, ...]:
    if case.scenario.profile == "ideal":
        return (Source("perfect engine"),)
    basis = ", ".join(case.constants.basis)
    return (Source(f"calibration ({basis})" if basis else "calibration"),)


def _price(case: Case) -> tuple[Source, ...]:
    scenario = case.scenario
    if scenario.price_usd_per_gpu_hour is not None:
        return (Source("typed price"),)
    price = catalog.price(case.accelerators[0].id, scenario.price_basis)
    return (Source(f"{scenario.price_basis}, {len(price.rows)} providers, newest {price.newest}"),)


# Lines ------------------------------------------------------------------------------------------


def _new_tokens(case: Case) -> int:
    return case.scenario.spec_tokens + 1


def _stage_batch(case: Case, batch: float) -> float:
    return batch / case.plan.parallel.stages


def _sequences(case: Case, batch: float) -> float:
    """Return the sequences whose attention one GPU computes in a step."""
    return _stage_batch(case, batch) * case.plan.parallel.sequence_share


def _weights(case: Case, batch: float) -> Line:
    tokens = np.asarray(_stage_batch(case, batch) * _new_tokens(case))
    terms, total = [], 0.0
    for g in case.plan.gemms:
        if not g.n_experts:
            terms.append(_term(g.weight_bytes, "bytes"))
            total += g.weight_bytes
            continue
        share = float(
            coverage(tokens=tokens, n_experts=g.n_experts, top_k=g.top_k, skew=case.constants.routing_skew)
        )
        if g.expert_ways > 1 and case.scenario.composition != "whole-step":
            share *= float(
                fullest_rank(tokens=tokens, n_experts=g.n_experts, top_k=g.top_k, ranks=g.expert_ways)
            )
        terms.append(_times(_term(g.weight_bytes, "bytes"), _term(share)))
        total += g.weight_bytes * share
    sum_ = _sum(terms, _term(total, "bytes"))
    touched = " + experts × share touched" if case.plan.routed else ""
    return Line(
        key="weights_read", quantity="Weights read a step", names=f"layers + head{touched}, on each GPU",
        numbers=sum_.text, value=total, unit="bytes", python=sum_.python, sources=_config(case),
    )  # fmt: skip


def _cache(case: Case) -> Line:
    context = case.scenario.context
    terms = []
    total = 0.0
    for a in case.plan.attention:
        terms += _cache_terms(a, context)
        total += float(a.read_bytes(np.asarray(context)))
    sum_ = _sum(terms, _term(total, "bytes"))
    return Line(
        key="cache_per_sequence", quantity="Cache per sequence", numbers=sum_.text, value=total, unit="bytes",
        names="layers × bytes per token × tokens read, on each GPU", python=sum_.python, sources=_config(case),
    )  # fmt: skip


def _cache_terms(a: Attention, context: float) -> list[_Term]:
    layers = _Term(f"{a.layers} layers", f"{a.layers}")
    terms = []
    for per_position, cap, stride in a.reads:
        positions = min(context / stride, cap)
        if per_position * positions:
            terms.append(_times(layers, _term(per_position, "B"), _term(positions)))
    if a.fixed_bytes:
        terms.append(_times(layers, _term(a.fixed_bytes, "B")))
    return [_Term(t.text, t.python.replace(" B", "")) for t in terms]


def _ideal_time(case: Case, batch: float, weights: Line, cache: Line) -> Line:
    n = _sequences(case, batch)
    bandwidth = float(case.machine.bandwidth_bytes_per_s)
    top = _bracket(
        _sum(
            [_term(weights.value, "bytes"), _times(_term(n), _term(cache.value, "bytes"))],
            _term(weights.value + n * cache.value, "bytes"),
        )
    )
    under = _term(bandwidth, "bytes/s")
    return Line(
        key="memory_time", quantity="Memory time, ideal", names="(weights + sequences × cache) / bandwidth",
        numbers=f"{top.text} / {under.text}", value=(weights.value + n * cache.value) / bandwidth, unit="s",
        python=f"{top.python} / {under.python}", sources=_sheet(case, "bandwidth_bytes_per_s"),
    )  # fmt: skip


def _both(memory_s: float, compute_s: float, exponent: float) -> _Term:
    """Return the overlap of a transfer and an arithmetic time, as printed."""
    m, c = _term(memory_s, "s"), _term(compute_s, "s")
    if math.isinf(exponent):
        return _Term(f"max({m.text}, {c.text})", f"max({m.python}, {c.python})")
    if exponent == 1:
        return _Term(f"({m.text} + {c.text})", f"({m.python} + {c.python})")
    p = f"{exponent:g}"
    return _Term(
        f"({m.text.removesuffix(' ms')}^{p} + {c.text.removesuffix(' ms')}^{p})^(1/{p}) ms",
        f"({m.python}**{p} + {c.python}**{p})**(1/{p})",
    )


def _products(case: Case, batch: float) -> Line:
    plan, constants = case.plan, case.constants
    tokens = np.asarray(_stage_batch(case, batch) * _new_tokens(case))
    rows = gemm_rows(plan, case.machine, constants, tokens, tokens)
    groups = [constants.group(g.group) for g in plan.gemms]
    terms = _overlaps(rows, groups)
    total = sum(float(row.busy) for row in rows)
    sum_ = _sum(terms, _term(total, "s"))
    return Line(
        key="products", quantity="Products with weights",
        names="Σ (transfer^p + arithmetic^p)^(1/p), at achieved rates", numbers=sum_.text, value=total, unit="s",
        python=sum_.python, sources=(*_sheet(case, "flops_per_s_bf16"), *_constants(case)),
    )  # fmt: skip


def _overlaps(rows: Iterable[Timed], groups: Iterable[Group]) -> list[_Term]:
    return [
        _both(float(row.memory), float(row.compute), float(group.exponent))
        for row, group in zip(rows, groups, strict=True)
    ]


def _attention(case: Case, batch: float) -> Line:
    plan, constants = case.plan, case.constants
    context = np.asarray(case.scenario.context)
    rows = attention_rows(plan, case.machine, constants, context, _new_tokens(case))
    terms = _overlaps(rows, [constants.attention_of(a.kind) for a in plan.attention])
    each = sum(float(row.busy) for row in rows)
    n = _sequences(case, batch)
    sum_ = _bracket(_sum(terms, _term(each, "s")))
    value = _times(_term(n), sum_)
    return Line(
        key="attention", quantity="Attention over the cache", numbers=value.text, value=n * each, unit="s",
        names="sequences × Σ (transfer^p + arithmetic^p)^(1/p)", python=value.python, sources=_constants(case),
    )  # fmt: skip


def _fixed(case: Case, batch: float, at: Points) -> Line:
    plan, constants = case.plan, case.constants
    terms = [_times(_term(g.kernels), _micro(float(constants.group(g.group).fixed_s))) for g in plan.gemms]
    terms += [
        _times(_term(a.layers * a.kernels), _micro(float(constants.attention_of(a.kind).fixed_s)))
        for a in plan.attention
    ]
    tokens = _stage_batch(case, batch) * _new_tokens(case)
    moved_s = (
        tokens * plan.elementwise_bytes_per_token * float(constants.elementwise_share)
        / float(case.machine.bandwidth_bytes_per_s)
    )  # fmt: skip
    if constants.elementwise_s:
        terms.append(_times(_term(plan.elementwise_kernels), _micro(float(constants.elementwise_s))))
    if moved_s:
        terms.append(_term(moved_s, "s"))
    idle = float(at.step.idle)
    own = float(at.step.lines["fixed"].value(at.step.sequences))
    if idle:
        terms.append(_term(idle, "s"))
    sum_ = _sum_of_most([term for term in terms if _value(term) > 0], own + idle)
    waits = " + waiting for the host" if idle else ""
    return Line(
        key="fixed", quantity="Fixed time", names=f"kernels × start, elementwise kernels and their bytes{waits}",
        numbers=sum_.text, value=own + idle, unit="s", python=sum_.python, sources=_constants(case),
    )  # fmt: skip


def _sum_of_most(terms: list[_Term], total: float) -> _Term:
    """Return a sum whatever its length up to seven terms, or its total."""
    if not terms or len(terms) > 7:
        return _term(total, "s")
    return _Term(" + ".join(t.text for t in terms), " + ".join(t.python for t in terms))


def _links(case: Case, batch: float, at: Points) -> Line:
    plan, constants = case.plan, case.constants
    ways = plan.parallel.ways
    tokens = _stage_batch(case, batch) * _new_tokens(case)
    message = np.asarray(tokens * plan.model.d_model * 2.0)
    total = float(at.step.lines["links"].value(at.step.sequences))
    terms = []
    if plan.collectives:
        terms.append(_times(_term(plan.collectives), _micro(float(constants.collective_s(message)))))
    if ways > 1 and constants.gathers_logits:
        gathered = constants.collective_s(np.asarray(tokens * plan.model.vocab * 2.0 / ways))
        terms.append(_times(_term(constants.gathers_logits), _micro(float(gathered))))
    rest = total - sum(_value(t) for t in terms)
    if plan.exchanges or plan.parallel.stages > 1:
        terms.append(_term(rest, "s"))
    sum_ = _sum(terms, _term(total, "s"))
    return Line(
        key="links", quantity="Links between GPUs", names="all-reduces × time of one message + logits",
        numbers=sum_.text, value=total, unit="s", python=sum_.python,
        sources=(*_sheet(case, "link_bytes_per_s"), *_constants(case)),
    )  # fmt: skip


def _value(term: _Term) -> float:
    """Return the value of a product of printed numbers."""
    return math.prod(float(factor) for factor in term.python.split(" * "))


def _step(case: Case, at: Points, parts: list[Line]) -> Line:
    terms = [_term(line.value, "s") for line in parts]
    sum_ = _Term(" + ".join(t.text for t in terms), " + ".join(t.python for t in terms))
    names = " + ".join(line.quantity[:1].lower() + line.quantity[1:] for line in parts)
    scenario = case.scenario
    if at.step.also is not None:
        draft, times = at.step.also
        each = _term(float(draft.total), "s")
        sum_ = _Term(f"{sum_.text} + {times:g} × {each.text}", f"{sum_.python} + {times:g} * {each.python}")
        tau = _term(passes(tokens=scenario.spec_tokens, acceptance=scenario.spec_acceptance))
        sum_ = _Term(f"({sum_.text}) / {tau.text}", f"({sum_.python}) / {tau.python}")
        names = f"({names} + drafts) / tokens accepted"
    return Line(
        key="step", quantity="Step, per token", names=names, numbers=sum_.text, value=float(at.step_time_s),
        unit="s", python=sum_.python,
    )  # fmt: skip


def _arithmetic(case: Case, batch: float) -> Line:
    context = np.asarray(case.scenario.context)
    each = float(flop_time(plan=case.plan, machine=case.machine, context_tokens=context)) * _new_tokens(case)
    n = _stage_batch(case, batch)
    value = _times(_term(n), _micro(each))
    return Line(
        key="arithmetic_time", quantity="Arithmetic time, ideal", names="sequences × FLOP of one / peak rate",
        numbers=value.text, value=n * each, unit="s", python=value.python,
        sources=_sheet(case, "flops_per_s_bf16"),
    )  # fmt: skip


def _whole_step(at: Points, memory: Line, arithmetic: Line) -> Line:
    both = _both(memory.value, arithmetic.value, math.inf)
    return Line(
        key="step", quantity="Step, per token", names="the longer of the two", numbers=both.text,
        value=float(at.step_time_s), unit="s", python=both.python,
    )  # fmt: skip


def _cost(case: Case, batch: float, at: Points) -> Line:
    scenario = case.scenario
    step, price = _term(float(at.step_time_s), "s"), float(case.usd_per_gpu_hour)
    busy = "" if scenario.busy == 1 else f" / {scenario.busy:g}"
    return Line(
        key="usd_per_mtok", quantity="Cost",
        names=f"step / batch × GPUs × price of an hour × 1,000,000 tokens{' / busy share' if busy else ''}",
        numbers=f"{step.text} / {batch:g} × {case.gpus} × {price:g} USD/h / 3,600 s × 1,000,000{busy}",
        value=_scalar(at.usd_per_mtok), unit="USD/Mtok",
        python=f"{step.python} / {batch:g} * {case.gpus} * {price:g} / {SECONDS_PER_HOUR:g} * "
        f"{TOKENS_PER_MTOK:g}{busy}",
        sources=_price(case),
    )  # fmt: skip


def _scalar(value: FloatArray) -> float:
    return float(np.asarray(value).reshape(-1)[0])
