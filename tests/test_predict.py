"""What a measured row is read as: launch scripts, paces, mean batches, generations."""

from dataclasses import replace

import numpy as np
import pytest

from costmodel import catalog, classes, measured, predict
from costmodel.launches import launch_of

HEAD = "model,gpu,engine,engine_version,date,weight_dtype,n_gpus,tp,isl,osl,batch,concurrency,"
TAIL = "tpot_ms_mean,itl_ms_median,ttft_ms_mean,output_tok_s_total,note\n"


def readings(line: str) -> dict[str, measured.Reading]:
    found = measured.parse(HEAD + TAIL + line)
    assert not found.refused
    return {r.kind: r for r in found.readings}


def said(*lines: str, kind: str) -> list[float]:
    """Return what is predicted of rows, in seconds."""
    found = predict.predict([readings(line)[kind] for line in lines])
    assert [p.reason for p in found] == [""] * len(lines)
    return [p.seconds for p in found]


SERVER = "deepseek-r1,b200-sxm,sglang,0.5.9,2026-03,fp8,8,8,1024,1024,,{},20,,300,,{}"


@pytest.mark.parametrize(("concurrency", "polls"), [(8, 10), (16, 30)])
def test_launch_scripts_say_how_often_a_server_looks_for_requests(concurrency, polls):
    run = readings(SERVER.format(concurrency, "InferenceX run"))["closed_ttft"].run
    flags = launch_of(run, catalog.accelerator("b200-sxm"), "sglang")

    assert (flags.kv, flags.polls) == ("fp8", polls)
    assert launch_of(replace(run, note=""), catalog.accelerator("b200-sxm"), "sglang").polls == 0
    assert launch_of(run, catalog.accelerator("h200-sxm"), "sglang").polls == 0


def test_requests_wait_longer_where_the_server_looks_less_often():
    plain, polled = said(SERVER.format(16, ""), SERVER.format(16, "InferenceX run"), kind="closed_ttft")

    assert polled > plain + 0.05


MLPERF = "llama-2-70b,h200-sxm,tensorrt-llm,,2025-09,fp8,8,8,294,292,,,{},,,20000,open loop"


def test_a_stated_pace_limits_the_batch():
    """The rate falls with the time between tokens that a row states; a loose limit changes nothing."""
    free, loose, tight, tighter = said(*(MLPERF.format(ms) for ms in ("", 1e4, 40, 20)), kind="max_load")

    assert loose == pytest.approx(free)
    assert free < tight < tighter
    # GPU-seconds per token at the pace itself: the whole batch's tokens take one pace.
    assert tighter < 8 * 20e-3


def test_largest_batch_within_a_pace():
    batch = predict._within_pace(lambda b: 1 + 0.1 * b, np.array([0.5, 3.0, 99.0]), np.full(3, 100.0))

    assert batch.tolist() == pytest.approx([1.0, 20.0, 100.0], rel=1e-3)


CHAT = "llama-3.1-8b,h100-sxm,vllm,0.11.1,2026-02,bf16,1,1,,400,{},{},,9,,3000,{}"


def test_a_measured_mean_batch_is_the_batch_whatever_the_cap():
    note = "max_num_seqs={}; measured mean batch 30"
    fixed = said(CHAT.format(30, 30, note), kind="fixed_tpot")
    closed = said(CHAT.format("", 300, note), kind="closed_tpot")

    assert closed == pytest.approx(fixed)


def test_a_mean_batch_beyond_memory_is_cut():
    many, more = said(
        *(CHAT.format("", 9000, f"measured mean batch {n}") for n in (5000, 9000)), kind="closed_tpot"
    )

    assert many == pytest.approx(more)


@pytest.mark.parametrize(
    ("name", "day", "found"),
    [
        ("ollama", "2024-05", "llama.cpp-2024"),
        ("llama.cpp", "2026-02", "llama.cpp"),
        ("autoawq-gemv", "", "autoawq-gemv"),
        ("autoawq-gemm", "", "autoawq"),
    ],
)
def test_generations(name, day, found):
    assert classes.engine(name, day=day) == found
    assert classes.engines()[found].own_kernels


def test_old_engines_gain_less_from_shared_keys():
    """Decoding attention per query head: many queries to a key cost an old engine most."""
    row = "{},h100-sxm,{},fp16,1,1,2048,2048,64,,20,,,,"
    old, new = "tensorrt-llm,,2024-05", "tensorrt-llm,,2025-09"
    grouped = np.divide(*said(*(row.format("llama-3-8b", e) for e in (old, new)), kind="fixed_tpot"))
    alone = np.divide(*said(*(row.format("llama-2-7b", e) for e in (old, new)), kind="fixed_tpot"))

    assert grouped > 1.1 * alone
