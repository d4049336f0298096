"""The sentences of the cost curve, computed: every variant, and the words for those who can't see."""

import numpy as np
import pytest

from costmodel.curve import cost_curve
from costmodel.explore import point
from costmodel.scenario import scenario
from ui import commands, units, words

DEFAULT = scenario(weights="fp8", max_tpot_s=1 / 30)


def answer(**changes):
    curve = cost_curve(DEFAULT.but(**changes))
    return words.answer(curve, words.row(curve)), curve


def test_marginal_stands_beside_the_average():
    said, curve = answer()
    usd = units.usd(float(point(DEFAULT).usd_per_mtok))

    assert said.startswith(f"At batch **64** a million tokens cost **{usd}**, ")
    assert f"the next sequence’s tokens cost only **{units.usd(curve.marginal_usd_per_mtok)}**." in said


def test_it_says_how_far_the_batch_can_grow():
    said, curve = answer()
    limit = curve.edge("limit")

    assert said.endswith(
        f"At your 30 tok/s the batch can grow to **{limit.step}**: **{units.usd(limit.usd_per_mtok)}**."
    )


def test_there_already():
    _, curve = answer()
    said, _ = answer(batch=curve.edge("limit").step)

    assert said.endswith(f"Batch {curve.edge('limit').step} is the most that the speed limit allows.")
    assert answer(batch=343, max_tpot_s=None)[0].endswith("Batch 343 is the most that memory allows.")


def test_over_the_limit():
    said, curve = answer(batch=300)
    limit = curve.edge("limit")

    assert "below your 30 tok/s: go down to " in said
    assert f"**{limit.step}** ({units.usd(limit.usd_per_mtok)}, " in said
    assert said.endswith(" more).")


def test_past_the_wall_the_figures_are_those_of_the_wall():
    said, _ = answer(batch=400)

    assert said.startswith("At batch **343** ")
    assert said.endswith("Batch 400 doesn’t fit: **343** is the most on 4 × H100 SXM.")


def test_no_speed_asked_for():
    assert "No speed is asked for: the batch can grow to the memory wall, **343**" in answer(max_tpot_s=None)[0]


def test_no_batch_is_fast_enough():
    said, _ = answer(max_tpot_s=1e-3)

    assert "No batch gives 1,000 tok/s: one sequence alone gets " in said


def test_without_a_price_it_speaks_of_time():
    said, _ = answer(hardware="mi455x")

    assert said.startswith("At batch **64** each user gets **")
    assert "one more sequence adds **" in said
    assert "$" not in said


def test_the_whole_cost_is_called_all_in():
    curve = cost_curve(DEFAULT, cost="all-in")

    assert "a million tokens cost all-in **" in words.answer(curve, words.row(curve))


def test_costs_that_read_the_same_are_too_close_to_call():
    _, curve = answer()
    said, _ = answer(batch=curve.edge("limit").step - 1, price_usd_per_gpu_hour=0.001)

    assert "too close to call" in said


def test_bands_that_overlap_are_too_close_to_call():
    case = cost_curve(DEFAULT).case
    low, high = (float(end) for end in case.constants.band)

    assert words.too_close(1.0, case, 1.01, case)
    assert not words.too_close(1.0, case, 1.01 * high / low, case)


def test_shares_and_bars_add_up():
    for cost in ("answer", "all-in"):
        curve = cost_curve(DEFAULT, cost=cost)
        assert sum(words.row(curve).shares.values()) == pytest.approx(1)


def test_memory_adds_up_to_what_the_engine_counts():
    curve = cost_curve(DEFAULT)

    assert words.row(curve).used_bytes == pytest.approx(float(curve.now.at.memory_bytes[0]))


def test_the_slider_says_batch_cost_and_speed():
    curve = cost_curve(DEFAULT)
    row = words.row(curve)

    assert words.spoken(curve, row) == f"64 sequences, {units.usd(row.usd)}, {row.speed[:-6]} tokens per second"


def test_alt_names_form_ends_limit_and_parts():
    curve = cost_curve(DEFAULT)
    said = words.alt(curve, words.row(curve))

    assert said.startswith("Line chart, logarithmic. Decode cost per million tokens falls from $")
    assert f"at the memory wall 343; floor {units.usd(curve.floor_usd_per_mtok)}." in said
    assert f"Speed limit at {curve.edge('limit').step}." in said
    assert said.endswith("Table follows.")


def test_edges_that_do_not_exist_are_words():
    said = " ".join(words.note(cost_curve(DEFAULT)))

    assert "No compute-bound batch at this context (linear layers alone: 295)." in said


def test_takeaway_names_what_a_larger_batch_shares_out():
    few, many = cost_curve(DEFAULT.but(batch=1)), cost_curve(DEFAULT.but(batch=343))

    assert "which a larger batch shares out" in words.takeaway(few, words.row(few))
    assert "reading KV cache, which every request brings along" in words.takeaway(many, words.row(many))


def test_memory_of_a_copy_is_named_as_the_card_is_sold():
    assert words.memory_of_copy(cost_curve(DEFAULT)) == "4 × 80 GB"


# Commands ---------------------------------------------------------------------------------------


def texts(**changes):
    curve = cost_curve(DEFAULT.but(**changes))
    return {c.engine: c for c in commands.commands(curve)}, curve


def test_commands_ask_for_the_recommended_batch_and_say_why():
    found, curve = texts(kv="fp8")
    best = curve.knee.recommended_batch

    assert list(found) == ["vLLM", "SGLang", "TensorRT-LLM", "llama.cpp"]
    assert f"--tensor-parallel-size 4 --max-num-seqs {best} --max-model-len 2500" in found["vLLM"].text
    assert "--kv-cache-dtype fp8 --quantization fp8" in found["vLLM"].text
    assert f"--ctx-size {best * 2500} --cache-type-k q8_0" in found["llama.cpp"].text
    assert commands.why(curve).startswith(f"Why {best}: 30 tok/s limit.")


def test_a_split_of_attention_is_in_the_command():
    found, curve = texts(
        model="deepseek-v3", hardware="h200-sxm", tp=8, split="attention-dp", weights=None, max_tpot_s=None
    )

    assert "--data-parallel-size 8 --enable-expert-parallel" in found["vLLM"].text
    assert f"--max-num-seqs {curve.knee.recommended_batch // 8} " in found["vLLM"].text
    assert "--tp 8 --dp 8 --enable-dp-attention" in found["SGLang"].text


def test_no_batch_no_command():
    found, curve = texts(max_tpot_s=1e-4)

    assert found == {}
    assert "no batch meets the speed limit" in commands.why(curve)


def test_doubling_at_the_wall():
    curve = cost_curve(DEFAULT)
    here, doubled = point(DEFAULT, batch=np.array([343.0, 686.0])).usd_per_mtok

    assert words.doubling_saves(curve) == pytest.approx(1 - doubled / here, rel=0.02)
