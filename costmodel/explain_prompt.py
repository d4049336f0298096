"""The arithmetic of a request's two parts, written out with the values that the model used."""

import math
from dataclasses import dataclass

import numpy as np

from costmodel import serve
from costmodel.disaggregate import MOST_LOAD
from costmodel.prompt_share import Request


@dataclass(frozen=True)
class Written:
    """One quantity: its formula in names and in numbers, and its result."""

    quantity: str
    names: str
    numbers: str
    result: str


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.4g} ms"


def _usd(value: float) -> str:
    return f"${value:,.4g}"


def explain(request: Request) -> tuple[Written, ...]:
    """Return the arithmetic of a request, the prompt's share last; money only where there is a price."""
    served, case = request.served, request.served.case
    scenario, work = case.scenario, serve.workload(case.scenario)
    batch, step_s = float(served.batch[0]), float(np.ravel(served.step_s)[0])
    prefill_s, output = float(np.ravel(served.prefill_s)[0]), float(work.output)
    held = f"batch {batch:,.0f}, {work.resident:,.0f} tokens each"
    lines = [
        Written(
            "Prompt tokens computed", "input − found in the cache",
            f"{scenario.input_tokens:,.0f} − {work.cached:,.0f}", f"{work.new:,.0f} tokens",
        ),
        Written("Prompt alone", "all its chunks, nothing beside them", "calibrated kernels", _ms(prefill_s)),
        Written("Decode step", held, "calibrated kernels", _ms(step_s)),
    ]  # fmt: skip
    total_s = 1 / float(np.ravel(served.output_tokens_per_s)[0])
    if request.separate:
        rate = float(np.ravel(served.requests_per_s)[0])
        lines.append(
            Written(
                "Prompt copies per answer copy", f"requests/s × prompt alone / {MOST_LOAD:g} busy",
                f"{rate:,.4g}/s × {_ms(prefill_s)} / {MOST_LOAD:g}", f"{request.prompt_copies:,.4g}",
            )
        )  # fmt: skip
    elif output > 1:
        tpot_s = float(np.ravel(served.tpot_s)[0])
        lines.append(
            Written(
                "Time between tokens", "step + prompts that others bring meanwhile",
                f"{_ms(step_s)} + {_ms(tpot_s - step_s)}", _ms(tpot_s),
            )
        )  # fmt: skip
    if not math.isnan(request.usd_per_mtok):
        lines += _money(request, total_s, batch, step_s)
    share = request.prompt_share
    if request.separate:
        numbers = f"{request.prompt_copies:,.4g} / (1 + {request.prompt_copies:,.4g})"
        names = "copies / (1 + copies)"
    elif output > 1:
        names = "1 − step / batch / time of an output token"
        numbers = f"1 − {step_s * 1e3:,.4g} / {batch:,.0f} / {total_s * 1e3:,.4g} ms"
    else:
        names, numbers = "an answer of one token comes from its prompt", "1"
    lines.append(Written("Prompt’s share", names, numbers, f"{share * 100:.1f} %"))
    return tuple(lines)


def _money(request: Request, total_s: float, batch: float, step_s: float) -> list[Written]:
    case = request.served.case
    price = float(np.ravel(case.usd_per_gpu_hour)[0])
    busy = case.scenario.busy
    share = f" / {busy:.0%} busy" if busy < 1 else ""
    rate = f"{case.gpus} × {price:,.4g} USD/h / 3,600 s{share} × 10⁶"
    gpus = f" × {1 + request.prompt_copies:,.4g} copies" if request.separate else ""
    whole, answer = _usd(request.usd_per_mtok), _usd(request.usd_per_mtok_answer)
    return [
        Written(
            "All-in, per million output tokens", "time of an output token × GPUs × price / busy share",
            f"{total_s * 1e3:,.4g} ms × {rate}{gpus}", whole,
        ),
        Written(
            "Answer", "step / batch × GPUs × price / busy share",
            f"{step_s * 1e3:,.4g} ms / {batch:,.0f} × {rate}", answer,
        ),
        Written("Prompt", "all-in − answer", f"{whole} − {answer}", _usd(request.usd_per_mtok_prompt)),
    ]  # fmt: skip
