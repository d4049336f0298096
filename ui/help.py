"""The words behind the question marks of the sidebar."""

from datetime import date
from functools import lru_cache

from costmodel import catalog
from costmodel.errors import InputError
from costmodel.prices import Price
from ui import units

HELP = {
    "in": "Tokens in a request's prompt.",
    "out": "Tokens in its answer. In the cache a sequence keeps input + output / 2 on average.",
    "sp": "Tokens per second that each user must get (the inverse of TPOT, the time between two tokens). "
    "0: no limit.",
    "ft": "Longest wait for the first token (TTFT), in milliseconds. 0: no limit.",
    "m": "Type to search. `own-config` takes a Hugging Face config.json of your own.",
    "hw": "Type to search. `own` takes figures of your own.",
    "g": "GPUs that hold one copy of the model together (tensor parallel, unless More says otherwise).",
    "w": "dtype that the weights are stored in; `as-published` is the checkpoint's own.",
    "kv": "dtype of the KV cache.",
    "h": "What if the model kept another number of KV heads? Its weights change with them.",
    "b": "Sequences decoded together in one copy.",
    "ctx": "Tokens in each sequence's cache at a decode step; input + output / 2 when empty.",
    "sh": "Share of the prompt that other requests repeat: a property of the workload.",
    "hit": "Share of the repeated part that the prefix cache catches: a property of the stack.",
    "ar": "dtype of the arithmetic. Where the accelerator lacks the unit, the page says what it does instead.",
    "split": "tensor: every layer is cut over the GPUs. attention-dp: each GPU holds whole sequences, experts "
    "are spread. pipeline: each GPU holds some of the layers.",
    "busy": "Share of paid hours that do work; every cost divides by it.",
    "eng": "Serving engine whose measured constants are used.",
    "prof": "calibrated: as engines run. ideal: every peak reached, a bound.",
    "sd": "Tokens drafted per pass; 0: no speculation.",
    "sa": "Chance that a drafted token is accepted.",
    "q": "The curve counts as flat from where doubling the batch saves less than this share.",
    "hwx": "The same figures as a text; the address holds it as `hwx`.",
    "bud": "Most that a million output tokens may cost, prompts included.",
    "q4": "Weights in 4 bits change a model's answers a little: they count only where this allows them.",
    "fr_x": "What the figure has across.",
    "fr_y": "What the figure has upwards.",
    "fr_u": "Three quarters of a word per token of English; people read four to five words a second.",
    "fr_us": "How many copies do so many users at once take, and what do they cost a month?",
    "fr_hw": "Ids of accelerators, separated by commas.",
    "wr_k": "rented: the sidebar's price basis. owned: the cost of owning. API: per-token prices of providers.",
    "wr_o": "What the list is sorted by.",
    "cnt": "answer: decoding alone. all-in: the prompt's share on top.",
    "vary": "Draw a family of curves over one knob.",
    "pa_ch": "Most prompt tokens of one step. `as-engine` is the engine's own; 0 runs each prompt in one.",
    "le_td": "The engine as calibrated; a naive stack (static batches, contiguous cache, no reuse, eager "
    "kernels); or what you pay.",
    "le_pay": "All-in, per million output tokens.",
    "le_fx": "Share of kernels' fixed time that CUDA graphs and fused kernels remove.",
    "le_mt": "Your traffic: what a saving is worth in a month.",
    "le_set": "Names of levers, in order.",
    "le_st": "How far levers go, where it isn't the default.",
    "ys_p": "The bill over the tokens.",
    "ys_u": "Of output tokens alone, of input and output together, or worked out from machines.",
    **{f"p{i}": "A pinned scenario: what differs from the defaults." for i in range(1, 5)},
    "pa_dis": "Prompts on copies of their own: no answer waits for another request's prompt.",
}

BASIS_WORDS = {
    "on-demand": "on demand, without the largest clouds",
    "marketplace": "marketplace offers",
    "reserved": "reserved for 3 years",
    "owning": "what owning costs",
}


def basis_price(hardware: str, basis: str) -> Price | None:
    """Return the price of an accelerator on a basis, or None where the name fits none."""
    try:
        return catalog.price(hardware, basis)
    except InputError:
        return None


@lru_cache(maxsize=512)
def price_help(hardware: str, basis: str, today: date) -> str:
    """Return the rows behind a price as Markdown: provider, price, date, link; old ones marked."""
    found = catalog.price(hardware, basis, today=today)
    if found.usd_per_gpu_hour is None:
        return f"{found.reason[:1].upper()}{found.reason[1:]}."
    old = " **Old price.**" if found.old else ""
    median = units.usd(found.usd_per_gpu_hour)
    head = f"{median} per GPU-hour, {BASIS_WORDS[basis]}: the median of {len(found.rows)}.{old}"
    rows = [
        f"- {units.usd(row.usd_per_gpu_hour)} {row.provider}, {row.date_text} {_source(row.source)}"
        for row in found.rows
    ]
    return "\n".join([head, "", *rows, "", "The box beside overrides it for this accelerator."])


def _source(source: str) -> str:
    return f"([source]({source}))" if source.startswith("https://") else f"({source})"
