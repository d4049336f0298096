"""Commands that start an engine at the recommended batch. No Streamlit in this file."""

import math
from dataclasses import dataclass

from costmodel import dtypes
from costmodel.curve import CostCurve
from ui import units, words

FP8_CACHE = {"vllm": "fp8", "sglang": "fp8_e4m3"}
LLAMA_CACHE = {"fp8": "q8_0", "int8": "q8_0", "q8_0": "q8_0", "q4_0": "q4_0", "nvfp4": "q4_0"}


@dataclass(frozen=True)
class Command:
    """One engine's command, and what has to be done beside it."""

    engine: str
    text: str
    note: str = ""


def why(curve: CostCurve) -> str:
    """Return why the commands ask for this many sequences, or why there are none."""
    batch = curve.knee.recommended_batch
    edge = words.recommended_edge(curve)
    if edge is None:
        return f"There is no batch to ask for: {curve.knee.decided_by}."
    return f"Why {batch:,}: {edge.name}. {edge.meaning}"


def commands(curve: CostCurve) -> tuple[Command, ...]:
    """Return the commands of four engines; none where no batch is recommended."""
    if curve.knee.recommended_batch < 1:
        return ()
    return (_vllm(curve), _sglang(curve), _trtllm(curve), _llama_cpp(curve))


def _length(curve: CostCurve) -> int:
    """Return the longest request: prompt and answer, or the typed context where that is more."""
    scenario = curve.case.scenario
    return math.ceil(max(scenario.input_tokens + scenario.output_tokens, scenario.context))


def _quantised(curve: CostCurve) -> tuple[str, str]:
    """Return an engine's word for weights quantised on loading, or what checkpoint is needed."""
    scenario, model = curve.case.scenario, curve.case.model
    wanted = scenario.weights
    if wanted is None or dtypes.dtype(wanted).name == dtypes.dtype(model.published.dtype).name:
        return "", ""
    if wanted in {"fp8"}:
        return "fp8", ""
    return "", f"Needs a checkpoint stored in {wanted}."


def _split(curve: CostCurve, names: tuple[str, str, str]) -> str:
    """Return the options of the split; names of tensor, pipeline and data parallelism."""
    parallel = curve.case.plan.parallel
    if parallel.stages > 1:
        return f" {names[1]} {parallel.stages}" + (f" {names[0]} {parallel.ways}" if parallel.ways > 1 else "")
    if parallel.split == "attention-dp":
        return f" {names[2]} {parallel.ways}"
    return f" {names[0]} {parallel.ways}"


def _vllm(curve: CostCurve) -> Command:
    quantised, note = _quantised(curve)
    spread = " --enable-expert-parallel" if curve.case.plan.parallel.expert_ways > 1 else ""
    split = _split(curve, ("--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"))
    per_rank = curve.case.plan.parallel.ways if curve.case.plan.parallel.split == "attention-dp" else 1
    cache = " --kv-cache-dtype fp8" if curve.case.scenario.kv == "fp8" else ""
    weights = f" --quantization {quantised}" if quantised else ""
    text = (
        f"vllm serve {curve.case.model.id}{split}{spread} "
        f"--max-num-seqs {max(1, curve.knee.recommended_batch // per_rank)} "
        f"--max-model-len {_length(curve)}{cache}{weights}"
    )
    return Command("vLLM", text, note)


def _sglang(curve: CostCurve) -> Command:
    quantised, note = _quantised(curve)
    parallel = curve.case.plan.parallel
    if parallel.split == "attention-dp":
        split = f" --tp {parallel.ways} --dp {parallel.ways} --enable-dp-attention"
    else:
        split = _split(curve, ("--tp", "--pp", "--dp"))
    cache = f" --kv-cache-dtype {FP8_CACHE['sglang']}" if curve.case.scenario.kv == "fp8" else ""
    weights = f" --quantization {quantised}" if quantised else ""
    text = (
        f"python -m sglang.launch_server --model-path {curve.case.model.id}{split} "
        f"--max-running-requests {curve.knee.recommended_batch} --context-length {_length(curve)}{cache}{weights}"
    )
    return Command("SGLang", text, note)


def _trtllm(curve: CostCurve) -> Command:
    _, note = _quantised(curve)
    if curve.case.scenario.weights == "fp8" and not note and _quantised(curve)[0]:
        note = "Needs a checkpoint stored in fp8."
    if curve.case.scenario.kv == "fp8":
        note = f"{note} Set kv_cache_config: dtype: fp8 in the file of --extra_llm_api_options.".strip()
    parallel = curve.case.plan.parallel
    split = (
        f" --tp_size {parallel.ways} --ep_size {parallel.ways}" if parallel.split == "attention-dp"
        else _split(curve, ("--tp_size", "--pp_size", "--tp_size"))
    )  # fmt: skip
    text = (
        f"trtllm-serve {curve.case.model.id}{split} --max_batch_size {curve.knee.recommended_batch} "
        f"--max_seq_len {_length(curve)}"
    )
    return Command("TensorRT-LLM", text, note)


def _llama_cpp(curve: CostCurve) -> Command:
    scenario = curve.case.scenario
    batch = curve.knee.recommended_batch
    kind = LLAMA_CACHE.get(scenario.kv)
    cache = f" --cache-type-k {kind} --cache-type-v {kind}" if kind else ""
    text = f"llama-server -m model.gguf -ngl 99 --parallel {batch} --ctx-size {batch * _length(curve)}{cache}"
    return Command(
        "llama.cpp", text,
        f"Needs the model as a GGUF file; the context is shared by all {units.count(batch)} slots.",
    )  # fmt: skip
