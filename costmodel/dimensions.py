"""Classes of a measured run: what errors are grouped by, in validation tables and on the page."""

from functools import lru_cache
from urllib.parse import urlsplit

from costmodel import catalog
from costmodel.errors import InputError
from costmodel.measured import Run
from costmodel.model import Model

NOT_STATED = "not stated"
DIMENSIONS = ("kind", "engine", "gpu", "model", "weights", "source", "architecture", "family")
"""What readings are grouped by; rows reported apart are grouped by their reason, under "apart"."""


def of(run: Run, kind: str) -> dict[str, str]:
    """Return the class of a reading in each dimension."""
    return {
        "kind": kind,
        "engine": engine(run.engine),
        "gpu": gpu(run.hardware),
        "model": model(run.model),
        "weights": run.weights or NOT_STATED,
        "source": source(run.source),
        "architecture": architecture(run.model),
        "family": family(run.hardware),
    }


@lru_cache(maxsize=4096)
def engine(name: str) -> str:
    """Return the engine that a run's text names.

    >>> engine("ollama (llama.cpp)"), engine("lmdeploy-turbomind"), engine("")
    ('llama.cpp', 'lmdeploy', 'not stated')
    """
    text = name.strip().lower()
    if not text:
        return NOT_STATED
    for part, known in (
        ("llama.cpp", "llama.cpp"), ("tensorrt-llm", "tensorrt-llm"), ("trtllm", "tensorrt-llm"),
        ("lmdeploy", "lmdeploy"), ("autoawq", "autoawq"), ("exllama", "exllama"),
    ):  # fmt: skip
        if part in text:
            return known
    return text


@lru_cache(maxsize=4096)
def gpu(name: str) -> str:
    """Return the id of an accelerator that a run names, or its own text where none is known."""
    try:
        return catalog.accelerator(name).id
    except InputError:
        return name


@lru_cache(maxsize=4096)
def family(name: str) -> str:
    """Return the hardware family of an accelerator that a run names.

    >>> family("H100-SXM-80GB"), family("abacus")
    ('hopper', 'not stated')
    """
    try:
        return catalog.accelerator(name).family
    except InputError:
        return NOT_STATED


@lru_cache(maxsize=4096)
def _model(name: str) -> Model | None:
    try:
        return catalog.model(name)
    except InputError:
        return None


def model(name: str) -> str:
    """Return the short name of a model that a run names, or its own text where none is known."""
    found = _model(name)
    return name if found is None else found.short


@lru_cache(maxsize=4096)
def architecture(name: str) -> str:
    """Return the architecture class of a model: dense or with experts, and what it keeps per token.

    >>> architecture("llama-3.1-70b"), architecture("llama-2-7b"), architecture("deepseek-v3")
    ('dense, shared KV heads', 'dense, KV head per query head', 'experts, latent cache')
    """
    found = _model(name)
    return NOT_STATED if found is None else architecture_of(found)


def architecture_of(found: Model) -> str:
    """Return the architecture class of a model; as `architecture`."""
    mixers = [layer.mixer for layer in found.layers if layer.mixer is not None]
    kinds = {m.kind for m in mixers}
    experts = "experts" if any(layer.experts for layer in found.layers) else "dense"
    if kinds & {"linear", "mamba", "conv"}:
        return f"{experts}, recurrent layers"
    if kinds & {"mla", "dsa", "csa"}:
        return f"{experts}, latent cache"
    plain = all(m.n_kv_heads == m.n_q_heads for m in mixers)
    return f"{experts}, {'KV head per query head' if plain else 'shared KV heads'}"


@lru_cache(maxsize=4096)
def source(url: str) -> str:
    """Return who published a run: a repository, or the site.

    >>> source("https://github.com/ggml-org/llama.cpp/pull/1"), source("https://docs.vultr.com/x")
    ('ggml-org/llama.cpp', 'docs.vultr.com')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return NOT_STATED
    folders = [f for f in parts.path.split("/") if f]
    if parts.netloc.endswith("github.com") and len(folders) > 1:
        return "/".join(folders[:2])
    return parts.netloc or NOT_STATED
