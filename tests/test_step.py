"""Time of a step: the book's table, and the laws that every prediction keeps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from costmodel.case import resolve
from costmodel.constants import IDEAL, Constants, Group, Links
from costmodel.edges import floor_time_per_token
from costmodel.explore import point, points, step_time
from costmodel.scenario import scenario
from costmodel.speculation import passes
from costmodel.step import (
    PARTS,
    Machine,
    decode_step,
    fullest_rank,
    overlap,
    whole_step,
    whole_step_time_s,
)
from tests import strategies

CLOSE = 1e-9
times = st.floats(0, 1e3)


def test_golden_scaling_book():
    """LLaMA-2-13B on 8 TPU v5e: 26.0e9 bytes of weights, 6.7e9 of cache a sequence (chapter 7)."""
    step = whole_step_time_s(
        batch=[1, 8, 16, 32, 64, 240], weight_bytes=26.0e9, cache_bytes_per_sequence=6.7e9,
        bandwidth_bytes_per_s=8 * 8.2e11,
    )  # fmt: skip

    assert step * 1e3 == pytest.approx([4.98, 12.13, 20.30, 36.65, 69.33, 249.09], abs=0.006)


def test_scaling_books_cache_is_ours():
    """Its 6.7e9 bytes a sequence are 8,192 tokens of 40 layers of 40 heads of 128 in 16 bits."""
    case = resolve(scenario(model="llama-2-13b", hardware="h100-sxm", tp=8, weights="fp16"))

    assert case.plan.cache_bytes(np.asarray(8192.0)) * 8 == pytest.approx(6.7e9, rel=0.005)


@given(memory=times, compute=times, exponent=st.one_of(st.just(np.inf), st.floats(1, 50)))
def test_overlap_lies_between_the_maximum_and_the_sum(memory, compute, exponent):
    time_s, share = overlap(np.asarray(memory), np.asarray(compute), np.asarray(exponent))

    assert max(memory, compute) * (1 - CLOSE) <= time_s <= (memory + compute) * (1 + CLOSE)
    assert 0 <= share <= 1
    if np.isinf(exponent):
        assert time_s == max(memory, compute)
        assert share == float(compute > memory)


def test_overlap_gives_a_tie_of_sharp_bounds_to_memory():
    assert overlap(np.asarray(2.0), np.asarray(2.0), np.asarray(np.inf)) == (2.0, 0.0)


def test_overlap_of_nothing_is_nothing():
    assert overlap(np.asarray(0.0), np.asarray(0.0), np.asarray(np.inf)) == (0.0, 0.0)
    assert overlap(np.asarray(0.0), np.asarray(0.0), np.asarray(2.0))[0] == 0.0


# Laws over random models ------------------------------------------------------------------------


def total(asked, batch, **changes):
    return points(resolve(asked.but(**changes)), batch=batch, context_tokens=asked.context).step_time_s


@given(asked=strategies.scenarios(), batch=strategies.batches, factor=st.floats(1, 100))
def test_step_rises_and_cost_per_token_falls_with_batch(asked, batch, factor):
    """At fixed context a larger batch never shortens the step nor raises the cost of a token."""
    less, more = np.asarray([batch, batch * factor])
    step = total(asked, np.asarray([less, more]))

    assert step[1] >= step[0] * (1 - CLOSE)
    assert step[1] / more <= step[0] / less * (1 + CLOSE)


@given(asked=strategies.scenarios(), batch=strategies.batches)
def test_profiles_are_ordered(asked, batch):
    """Calibrated ≥ ideal per-op ≥ whole-step ≥ the floor of as many tokens."""
    calibrated = total(asked, batch, profile="calibrated", composition="per-op")
    ideal = total(asked, batch, profile="ideal", composition="per-op")
    whole = total(asked, batch, profile="ideal", composition="whole-step")
    case = resolve(asked)
    floor = floor_time_per_token(
        plan=case.plan, machine=case.machine, context_tokens=np.asarray(asked.context)
    )  # fmt: skip

    assert calibrated >= ideal * (1 - CLOSE)
    assert ideal >= whole * (1 - CLOSE)
    assert whole >= floor * batch * (1 - CLOSE)


@given(asked=strategies.scenarios(), batch=strategies.batches, factor=st.floats(1, 8))
def test_more_bandwidth_alone_is_never_slower(asked, batch, factor):
    case = resolve(asked)
    wider = replace(
        case, machine=replace(case.machine, bandwidth_bytes_per_s=case.machine.bandwidth_bytes_per_s * factor)
    )

    assert of(wider, batch) <= of(case, batch) * (1 + CLOSE)


def of(case, batch):
    return float(step_time(case, batch=np.asarray(batch), context_tokens=np.asarray(case.scenario.context)).total)


@given(asked=strategies.scenarios(profiles=("ideal",)), batch=strategies.batches, factor=st.floats(0.25, 8))
def test_scaling_bytes_and_bandwidth_together_changes_nothing(asked, batch, factor):
    case = resolve(asked)
    plan = case.plan
    gemms = tuple(replace(g, weight_bytes=g.weight_bytes * factor) for g in plan.gemms)
    attention = tuple(
        replace(
            a,
            reads=tuple((each * factor, cap, stride) for each, cap, stride in a.reads),
            write_bytes=a.write_bytes * factor,
            fixed_bytes=a.fixed_bytes * factor,
        )
        for a in plan.attention
    )
    scaled = replace(
        case,
        plan=replace(plan, gemms=gemms, attention=attention),
        machine=replace(case.machine, bandwidth_bytes_per_s=case.machine.bandwidth_bytes_per_s * factor),
    )

    assert of(scaled, batch) == pytest.approx(of(case, batch), rel=CLOSE)


@given(asked=strategies.scenarios(speculation=True), batch=strategies.batches)
def test_parts_and_shares_add_up(asked, batch):
    found = point(asked, batch=batch)

    assert sum(found.step.parts.values()) == pytest.approx(float(found.step.total), rel=CLOSE)
    assert sum(float(s) for s in found.shares.values()) == pytest.approx(1, rel=CLOSE)
    assert all(float(s) >= -CLOSE for s in found.shares.values())
    assert set(found.shares) == set(PARTS)
    assert str(found.bound) in {"memory", "compute", "comm", "fixed"}


@given(asked=strategies.scenarios(speculation=True))
def test_arrays_equal_the_loop_of_scalars(asked):
    """(3,1,1) × (5,1) × (7,) gives (3,5,7), each entry as the scalar call gives it."""
    hardware = ["h100-sxm", "a100-sxm-80gb", "b200-sxm"]
    contexts = np.asarray([0.0, 1.0, 300.5, 4096.0, 150_000.0])
    batches = np.asarray([1.0, 2.0, 7.5, 64.0, 300.0, 4096.0, 60_000.0])
    try:
        grid = point(asked, batch=batches, context_tokens=contexts, hardware=hardware)
    except ValueError:
        assume(False)
    names = (
        "step_time_s", "usd_per_mtok", "memory_time_s", "compute_time_s", "comm_time_s", "fixed_time_s",
        "bytes_read", "flops", "memory_bytes", "max_batch", "fits", "bound",
    )  # fmt: skip
    assert np.shape(grid.step_time_s) == (3, 5, 7)
    for h, c, b in ((0, 0, 0), (1, 2, 3), (2, 4, 6), (0, 3, 5), (2, 1, 2)):
        one = point(asked.but(hardware=hardware[h]), batch=float(batches[b]), context_tokens=float(contexts[c]))
        for name in names:
            many = np.broadcast_to(getattr(grid, name), (3, 5, 7))[h, c, b]
            single = getattr(one, name)
            if name in {"fits", "bound"}:
                assert many == single, name
            else:
                assert float(many) == pytest.approx(float(single), rel=1e-12, nan_ok=True), name
        for part, share in grid.shares.items():
            many = np.broadcast_to(share, (3, 5, 7))[h, c, b]
            assert float(many) == pytest.approx(float(one.shares[part]), rel=1e-9, abs=1e-12)


@given(asked=strategies.scenarios(), batch=strategies.batches)
def test_perfect_constants_are_the_ideal_profile(asked, batch):
    """Peaks reached, no fixed time, no link: whatever the profile's class, it is the ideal."""
    case = resolve(asked)
    ideal = decode_step(
        plan=case.plan, machine=case.machine, constants=Constants(), batch=np.asarray(batch),
        context_tokens=np.asarray(asked.context),
    )  # fmt: skip

    assert float(ideal.total) == pytest.approx(
        float(total(asked, batch, profile="ideal", composition="per-op")), rel=CLOSE
    )
    assert float(ideal.line("links")) == 0
    assert float(ideal.line("fixed")) == 0


# Parts ------------------------------------------------------------------------------------------


def test_ideal_per_op_above_whole_step():
    """As b → ∞: 9.5 % at 4k, and twice near 390 tokens, where memory and arithmetic tie."""
    asked = scenario(model="llama-3.1-8b", tp=1, profile="ideal")

    def ratio(context):
        case = asked.but(context_tokens=context)
        return float(total(case, 1e7) / total(case, 1e7, composition="whole-step"))

    assert ratio(4096) == pytest.approx(1.095, abs=0.001)
    assert ratio(393) == pytest.approx(2, abs=0.02)


def test_zero_context_reads_weights_alone():
    asked = scenario(model="llama-3.1-8b", tp=1, profile="ideal", composition="whole-step", context_tokens=0)

    assert point(asked, batch=1).step_time_s == pytest.approx(15.009e9 / 3.35e12, rel=1e-4)
    assert float(point(asked, batch=1).shares["cache"]) == 0


@pytest.mark.parametrize(("tokens", "factor"), [(1, 2.6), (4, 1.8), (16, 1.3), (64, 1.09)])
def test_fullest_rank(tokens, factor):
    """256 experts, 8 a token, on 8 ranks."""
    found = fullest_rank(tokens=np.asarray(float(tokens)), n_experts=256, top_k=8, ranks=8)

    assert found == pytest.approx(factor, rel=0.05)


def test_fullest_rank_as_drawn():
    """Against drawing experts at random: within 1 %."""
    rng = np.random.default_rng(7)
    for tokens in (1, 4, 16):
        touched = np.zeros((1500, 256), dtype=bool)
        for _ in range(tokens):
            chosen = np.argsort(rng.random((1500, 256)), axis=1)[:, :8]
            np.put_along_axis(touched, chosen, True, axis=1)
        per_rank = touched.reshape(1500, 8, 32).sum(axis=-1)
        drawn = per_rank.max(axis=-1).mean() / per_rank.mean()

        assert fullest_rank(tokens=np.asarray(float(tokens)), n_experts=256, top_k=8, ranks=8) == (
            pytest.approx(drawn, rel=0.015)
        )


@given(
    tokens=st.floats(1, 1e6), held=st.integers(1, 48), ranks=st.sampled_from((2, 4, 8, 16)), k=st.integers(1, 8)
)
def test_fullest_rank_is_between_the_mean_and_all(tokens, held, ranks, k):
    experts = held * ranks
    assume(k <= experts)
    factor = float(fullest_rank(tokens=np.asarray(tokens), n_experts=experts, top_k=k, ranks=ranks))

    assert 1 - 1e-6 <= factor <= ranks * (1 + 1e-9)


def test_cheapest_collective_is_concave():
    """A fast start and a fast stream: each message takes the better, so doubling never doubles."""
    links = Links(alpha_s=(np.asarray(5e-6), np.asarray(20e-6)), bytes_per_s=(np.asarray(1e10), np.asarray(1e11)))
    small, large = links.time_s(np.asarray([1e3, 1e8]))

    assert small == pytest.approx(5e-6 + 1e3 / 1e10)
    assert large == pytest.approx(20e-6 + 1e8 / 1e11)


def test_host_waits():
    """The host hides behind the GPU where the scheduler overlaps, and adds to it otherwise."""
    case = resolve(scenario(model="llama-3.1-8b", tp=1, profile="ideal"))

    def step(**host):
        return decode_step(
            plan=case.plan, machine=case.machine, constants=replace(IDEAL, **host),
            batch=np.asarray(8.0), context_tokens=np.asarray(2000.0),
        )  # fmt: skip

    alone = float(step().total)
    slow = {"host_s": np.asarray(0.02), "host_per_sequence_s": np.asarray(1e-3)}
    assert float(step(**slow).total) == pytest.approx(0.028)
    assert float(step(**slow, host_overlaps=False).total) == pytest.approx(alone + 0.028)
    assert float(step(**slow).line("fixed")) == pytest.approx(0.028 - alone)
    assert sum(step(**slow).parts.values()) == pytest.approx(0.028)


def test_fixed_time_counts_kernels():
    """Four GEMMs, an attention per layer, four elementwise: 80 layers of the 70B, and its head."""
    case = resolve(scenario(model="llama-3.1-70b", tp=4, weights="fp8"))
    one = Group(fixed_s=np.asarray(1e-6))
    constants = Constants(linear=one, attention=one, head=one, elementwise_s=np.asarray(1e-6))
    step = decode_step(
        plan=case.plan, machine=case.machine, constants=constants, batch=np.asarray(1.0),
        context_tokens=np.asarray(2000.0),
    )  # fmt: skip

    assert float(step.line("fixed")) == pytest.approx((80 * (4 + 1 + 4) + 1) * 1e-6)


# Splits and speculation -------------------------------------------------------------------------


def test_pipeline_rereads_weights_per_micro_batch():
    """Each of four stages reads its quarter for every micro-batch: latency of one whole pass."""
    asked = scenario(model="llama-3.1-8b", tp=4, split="pipeline", profile="ideal", composition="whole-step",
                     context_tokens=0)  # fmt: skip
    alone = asked.but(tp=1, split="tensor")

    assert point(asked, batch=64).step_time_s == pytest.approx(float(point(alone, batch=16).step_time_s))
    assert point(asked, batch=64).bytes_read == pytest.approx(4 * float(point(alone, batch=16).bytes_read))
    assert resolve(asked).gpus == 4


def test_attention_dp_copies_attention_and_spreads_experts():
    """DeepSeek-V3 on eight: 94 instead of 84 GB a GPU, and each rank's own sequences only."""
    split, spread = (
        resolve(scenario(model="deepseek-v3", hardware="h200-sxm", tp=8, split=s)).plan
        for s in ("tensor", "attention-dp")
    )

    assert split.resident_bytes == pytest.approx(84e9, rel=0.02)
    assert spread.resident_bytes == pytest.approx(94e9, rel=0.01)
    context = np.asarray(4096.0)
    assert spread.cache_bytes(context) == pytest.approx(float(split.cache_bytes(context)) / 8)
    assert spread.exchanges == 58
    assert spread.collectives == 3  # of the dense layers


@pytest.mark.parametrize(("tokens", "acceptance", "tau"), [(0, 0.7, 1), (3, 0.7, 2.533), (4, 1, 5), (4, 0, 1)])
def test_tokens_per_pass(tokens, acceptance, tau):
    """τ = (1 − α^(γ+1)) / (1 − α)."""
    assert passes(tokens=tokens, acceptance=acceptance) == pytest.approx(tau, abs=5e-4)


def test_no_drafts_is_no_speculation():
    asked = scenario(weights="fp8")

    assert point(asked.but(spec_tokens=0, spec_acceptance=0.3)).step_time_s == point(asked).step_time_s


def test_speculation_reads_the_cache_once():
    """Four tokens verified in one pass read weights and cache once; arithmetic is fourfold."""
    asked = scenario(model="llama-3.1-8b", tp=1, profile="ideal", composition="whole-step")
    case = resolve(asked)
    one, four = (
        whole_step(
            plan=case.plan, machine=case.machine, batch=np.asarray(8.0), context_tokens=np.asarray(4096.0),
            new_tokens=n,
        )
        for n in (1, 4)
    )  # fmt: skip

    assert float(four.memory) == float(one.memory)
    assert float(four.compute) == pytest.approx(4 * float(one.compute))


def test_speculation_by_hand():
    """TPOT = (step(γ+1) + γ · draft) / τ, the draft one layer and the head."""
    asked = scenario(
        model="llama-3.1-8b", tp=1, profile="ideal", composition="whole-step", context_tokens=4096, spec_tokens=3,
        spec_acceptance=0.7,
    )  # fmt: skip
    layer = 2 * (4096 * (4096 * 2 + 1024 * 2) + 3 * 4096 * 14336)
    weights = 15.009316864e9
    head = 2 * 128256 * 4096
    step = (weights + 8 * 131072 * 4096) / 3.35e12
    draft = (layer + head + 8 * 4096 * 4096) / 3.35e12

    assert point(asked, batch=8).step_time_s == pytest.approx((step + 3 * draft) / 2.533, rel=1e-3)


def test_speculation_counts_its_cache():
    """The drafting layer keeps a cache too: the wall moves, and memory counts it."""
    asked = scenario(model="llama-3.1-8b", tp=1)
    drafted = asked.but(spec_tokens=3)
    more = point(drafted, batch=10).memory_bytes - point(asked, batch=10).memory_bytes
    layer = resolve(drafted).draft.layers_bytes

    assert more == pytest.approx(layer + 10 * 2000 * 131072 / 32)
    assert point(drafted).max_batch < point(asked).max_batch


def test_groups_run_at_their_own_rate():
    """In fp8 the linear layers take the fp8 rate, attention and head the bf16 one."""
    case = resolve(scenario(model="llama-3.1-8b", tp=1, weights="fp8"))
    rates = {name: float(rate) for name, rate in case.machine.flops_per_s.items()}

    assert rates["fp8"] == pytest.approx(2 * rates["attention"], rel=0.01)
    assert rates["attention"] == rates["head"] == rates["bf16"]


def test_machine_of_several_cards_is_along_the_first_axis():
    case = resolve(scenario(), hardware=["h100-sxm", "h200-sxm"])

    assert isinstance(case.machine, Machine)
    assert case.machine.bandwidth_bytes_per_s.shape == (2, 1, 1)
