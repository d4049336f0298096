"""The controls of the scenario as data: address key, default on the pages, rule, conversion.

The sidebar draws them, the address bar is checked by them, links and command lines are written from
them. A value here is a widget's (percent, tokens per second, milliseconds); `field` names the
engine's field, and the two conversions lead there and back. No Streamlit in this file.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from costmodel import catalog, classes, dtypes
from costmodel.pareto import AXES
from costmodel.prompt_levers import CHUNKS
from costmodel.scenario import MOST_BATCH, MOST_TOKENS, PRICE_BASES, PROFILES, SPLITS
from costmodel.where import KINDS, ORDERS
from ui import units

OWN_MODEL = "own-config"
"""Choice of the model box that stands for a config.json given in this session."""
OWN_HARDWARE = "own"
"""Choice of the accelerator box that stands for one typed in (address key `hwx`)."""
AS_PUBLISHED = "as-published"
AS_STORED = "as-stored"
AS_BUILT = "as-built"
AS_ENGINE = "as-engine"
"""Choice of the chunk box that leaves it to the engine."""
GPU_CHOICES = ("1", "2", "3", "4", "6", "8", "12", "16", "24", "32", "48", "64", "72", "128", "256")
KV_HEAD_CHOICES = (AS_BUILT, "1", "2", "4", "8", "16", "32", "64", "96", "128")
ARITHMETIC_CHOICES = (AS_STORED, "bf16", "fp16", "fp8", "int8", "fp4", "fp32")
EIGHT_BITS, FOUR_BITS = "8 bits or more", "4 bits too"
NOTHING = "nothing"
VARIED = {
    "GPUs": "g", "weights": "w", "cache": "kv", "context": "ctx", "KV heads": "h", "accelerator": "hw",
}  # fmt: skip
"""Choices of the box "Vary" and the keys they stand for; an address may hold either."""
MAX_TEXT = 400
"""The longest text that an address may hold for one key."""

Value = int | float | str | None


class BadValue(ValueError):
    """A value in the address that breaks its control's rule."""


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, kw_only=True)
class Control:
    """One control."""

    key: str
    """Of the widget, and in the address."""
    field: str
    """Of the scenario; empty where the engine doesn't know it."""
    label: str
    default: Value
    low: float = math.nan
    high: float = math.nan
    step: float = 1
    whole: bool = True
    listed: Callable[[], tuple[str, ...]] | None = None
    """The choices of a list; None for a number, or a text where there is no bound either."""
    longest: int = MAX_TEXT
    """Characters that a text may have."""
    to_engine: Callable[[Any], Any] = _same
    from_engine: Callable[[Any], Any] = _same

    @property
    def options(self) -> tuple[str, ...]:
        """The choices; empty for numbers and texts."""
        return self.listed() if self.listed else ()

    @property
    def is_text(self) -> bool:
        """Whether any short text is legal."""
        return self.listed is None and math.isnan(self.low)

    def rule(self) -> str:
        """Return what a value must be, to stand after "isn't".

        >>> CONTROL["b"].rule(), CONTROL["kv"].rule()
        ('a whole number from 1 to 65,536', 'one of bf16, fp16, fp8, int8, nvfp4, q8_0, q4_0, fp32')
        """
        if self.is_text:
            return f"a text of at most {self.longest} characters"
        if not self.options:
            kind = "a whole number" if self.whole else "a number"
            return f"{kind} from {self.low:,g} to {self._high_text()}"
        return RULES.get(self.key) or "one of " + ", ".join(self.options)

    def _high_text(self) -> str:
        return f"{self.high:,.0f}" if self.high == int(self.high) else f"{self.high:,g}"

    def parse(self, text: str) -> Value:
        """Return the value that a text in the address stands for.

        Raises
        ------
        BadValue
            Where the text breaks the rule.

        >>> CONTROL["b"].parse("64"), CONTROL["pr"].parse("2.5"), CONTROL["kv"].parse("fp8")
        (64, 2.5, 'fp8')
        """
        if self.is_text:
            if len(text) > self.longest:
                raise BadValue(text)
            return text
        if self.options:
            found = SPELLINGS.get(self.key, _exact)(text, self.options)
            if found is None:
                raise BadValue(text)
            return found
        if not text and self.default is None:
            return None
        try:
            number = float(text)
        except ValueError:
            raise BadValue(text) from None
        if not (math.isfinite(number) and self._within(number)):
            raise BadValue(text)
        return int(number) if self.whole else number

    def _within(self, number: float) -> bool:
        return self.low <= number <= self.high and (not self.whole or number == int(number))

    def text(self, value: Value) -> str:
        """Return a value as the address writes it.

        >>> CONTROL["pr"].text(2.5), CONTROL["b"].text(64)
        ('2.5', '64')
        """
        return "" if value is None else value if isinstance(value, str) else units.plain(value)


def _exact(text: str, options: tuple[str, ...]) -> str | None:
    """Return the choice of a text; case, spaces and underscores don't matter."""
    wanted = _plain(text)
    return next((o for o in options if text == o or wanted == _plain(o)), None)


def _plain(text: str) -> str:
    return text.strip().lower().replace(" ", "-").replace("_", "-")


def _hardware_name(text: str, options: tuple[str, ...]) -> str | None:
    if text in options:
        return text
    try:
        return catalog.accelerator(text).id
    except ValueError:
        return None


def _model_name(text: str, options: tuple[str, ...]) -> str | None:
    if text in options:
        return text
    try:
        return catalog.model(text).short
    except ValueError:
        return None


def _dtype_name(text: str, options: tuple[str, ...]) -> str | None:
    found = _exact(text, options)
    if found is not None:
        return found
    try:
        name = dtypes.dtype(text).name
    except ValueError:
        return None
    return name if name in options else None


def _varied(text: str, options: tuple[str, ...]) -> str | None:
    return next((word for word, key in VARIED.items() if key == text), None) or _exact(text, options)


def _engine_name(text: str, options: tuple[str, ...]) -> str | None:
    try:
        name = classes.engine(text)
    except ValueError:
        return None
    return name if name in options else None


def _kv_name(text: str, options: tuple[str, ...]) -> str | None:
    try:
        return dtypes.kv_dtype(text)
    except ValueError:
        return _exact(text, options)


SPELLINGS: Mapping[str, Callable[[str, tuple[str, ...]], str | None]] = {
    "m": _model_name,
    "hw": _hardware_name,
    "w": _dtype_name,
    "kv": _kv_name,
    "eng": _engine_name,
    "vary": _varied,
}
"""Lists in which a choice has several names."""

RULES = {
    "m": "a known model",
    "hw": "a known accelerator",
    "w": "a known dtype",
    "eng": "a known engine",
}
"""Rules of lists that are too long to print."""


@cache
def _models() -> tuple[str, ...]:
    return (*(entry.short for entry in catalog.models()), OWN_MODEL)


@cache
def _engines() -> tuple[str, ...]:
    return tuple(classes.engines())


@cache
def _hardware() -> tuple[str, ...]:
    return (*catalog.hardware(), OWN_HARDWARE)


def _number(
    key: str, field: str, label: str, default: Value, low: float, high: float, step: float = 1, **more: Any
) -> Control:
    return Control(key=key, field=field, label=label, default=default, low=low, high=high, step=step, **more)


def _percent(
    key: str, field: str, label: str, default: float, *, low: float = 0.0, high: float = 100.0, step: float = 5.0
) -> Control:
    return Control(
        key=key, field=field, label=label, default=default, low=low, high=high, step=step, whole=False,
        to_engine=units.fraction, from_engine=units.percent,
    )  # fmt: skip


def _choice(
    key: str, field: str, label: str, default: str, options: tuple[str, ...] | Callable[[], tuple[str, ...]],
    **more: Any,
) -> Control:  # fmt: skip
    listed = options if callable(options) else lambda: options
    return Control(key=key, field=field, label=label, default=default, listed=listed, **more)


def _unless(word: str, convert: Callable[[str], Any] = str) -> dict[str, Callable[[Any], Any]]:
    """Return conversions of a list in which one word means "left to the model"."""
    return {
        "to_engine": lambda value: None if value == word else convert(value),
        "from_engine": lambda value: word if value is None else str(value),
    }


CONTROLS: tuple[Control, ...] = (
    _number("in", "input_tokens", "Input tokens", 1500, 1, 1_000_000, 100),
    _number("out", "output_tokens", "Output tokens", 1000, 1, 1_000_000, 100),
    _number(
        "sp", "max_tpot_s", "User speed, tok/s", 30, 0, 500,
        to_engine=lambda v: units.seconds_per_token(v) if v else None,
        from_engine=lambda v: 0 if v is None else max(1, round(units.tokens_per_s(v))),
    ),
    _number(
        "ft", "max_ttft_s", "First token, ms", 500, 0, 600_000, 100,
        to_engine=lambda v: units.seconds(v) if v else None,
        from_engine=lambda v: 0 if v is None else max(1, round(units.ms(v))),
    ),
    _choice("m", "model", "Model", "llama-3.1-70b", _models),
    _choice("hw", "hardware", "Accelerator", "h100-sxm", _hardware),
    Control(key="hwx", field="", label="Your own accelerator, as text", default="", longest=150),
    _choice("g", "tp", "GPUs per copy", "4", GPU_CHOICES, to_engine=int, from_engine=str),
    _choice("w", "weights", "Weights in", "fp8", (AS_PUBLISHED, *dtypes.WEIGHT_DTYPES), **_unless(AS_PUBLISHED)),
    _choice("kv", "kv", "KV cache in", "bf16", dtypes.KV_DTYPES),
    _choice("h", "kv_heads", "KV heads", AS_BUILT, KV_HEAD_CHOICES, **_unless(AS_BUILT, int)),
    _number("b", "batch", "Batch", 64, 1, MOST_BATCH, from_engine=round),
    _choice("pb", "price_basis", "Price basis", "on-demand", PRICE_BASES),
    _number("pr", "price_usd_per_gpu_hour", "Own price, $/h", None, 0.001, 100_000, 0.1, whole=False),
    _number("ctx", "context_tokens", "Context, tokens", None, 1, MOST_TOKENS, 1000,
            from_engine=lambda v: None if v is None else round(v)),
    _percent("sh", "shared", "Prompt repeated, %", 0.0),
    _percent("hit", "hit", "Caught by the cache, %", 100.0),
    _choice("ar", "arithmetic", "Multiply in", AS_STORED, ARITHMETIC_CHOICES, **_unless(AS_STORED)),
    _choice("split", "split", "Split over GPUs", "tensor", SPLITS),
    _percent("busy", "busy", "Busy share, %", 100.0, low=1.0),
    _choice("eng", "engine", "Engine", "vllm", _engines),
    _choice("prof", "profile", "Profile", "calibrated", PROFILES),
    _number("sd", "spec_tokens", "Speculative tokens", 0, 0, 8),
    _percent("sa", "spec_acceptance", "Acceptance, %", 70.0),
    _percent("q", "flat", '"Flattens" under, %', 10.0, low=1.0, high=49.0, step=1.0),
)  # fmt: skip
"""The scenario, in the order of the sidebar."""

PAGE_ROW: tuple[Control, ...] = (
    _choice("cnt", "", "Cost shown", "answer", ("answer", "all-in")),
    _choice("vary", "", "Vary", NOTHING, (NOTHING, *VARIED)),
    _choice("pa_ch", "", "Chunk, tokens", AS_ENGINE, (AS_ENGINE, *map(str, CHUNKS))),
    _choice("pa_dis", "", "Separate prompt GPUs", "off", ("off", "on")),
    _choice("le_tab", "", "View", "Lever by lever", ("Gap", "Lever by lever", "Combine")),
    _choice("le_td", "", "Today", "the engine", ("the engine", "a naive stack", "what we pay")),
    _number("le_pay", "", "We pay, $ per Mtok out", 1.4, 0.001, 100_000, 0.1, whole=False),
    _number("le_fx", "", "Kernel time off, %", 50, 0, 90, 10),
    _number("le_mt", "", "Mtok a month", 1000, 1, 10_000_000, 100),
    Control(key="le_set", field="", label="Levers pulled together, in order", default=""),
    Control(key="le_st", field="", label="Settings of levers", default=""),
    _number("ys_p", "", "We pay, $", 1.4, 0.001, 100_000, 0.1, whole=False),
    _choice("ys_u", "", "per million", "output tokens", ("output tokens", "input and output", "machines")),
    _number("ys_g", "", "GPUs", 4, 1, 100_000),
    _number("ys_h", "", "$ per GPU-hour", 3.99, 0.001, 100_000, 0.1, whole=False),
    _number("ys_t", "", "Million tokens a day", 250, 0.001, 1_000_000_000, 10, whole=False),
    _number("bud", "", "Budget, $ per Mtok", None, 0.001, 1_000_000, 0.1, whole=False),
    _choice("q4", "", "Weights allowed", EIGHT_BITS, (EIGHT_BITS, FOUR_BITS)),
    _choice("fr_x", "", "Across", "speed", tuple(AXES)),
    _choice("fr_y", "", "Up", "all-in", tuple(AXES)),
    _choice("fr_u", "", "Speed in", "tokens", ("tokens", "words")),
    _number("fr_us", "", "Users at once", None, 1, 1_000_000_000, 10),
    Control(key="fr_hw", field="", label="Accelerators compared", default=""),
    _choice("wr_k", "", "Show", "all", ("all", *KINDS)),
    _choice("wr_o", "", "Order", ORDERS[0], ORDERS),
    *(Control(key=f"p{i}", field="", label=f"Pin {letter}", default="") for i, letter in enumerate("ABCD", 1)),
)
"""Controls over the figure, of single pages."""

CONTROL: Mapping[str, Control] = {c.key: c for c in (*CONTROLS, *PAGE_ROW)}
BY_FIELD: Mapping[str, Control] = {c.field: c for c in CONTROLS if c.field}
SELDOM = ("ctx", "sh", "hit", "ar", "split", "busy", "q", "eng", "prof", "sd", "sa")
"""Keys of the controls behind the button "More", in order."""
PINS = ("p1", "p2", "p3", "p4")
UNDRAWN = frozenset((*SELDOM, *PINS))
"""Keys whose widgets are drawn only where they are set, or while "More" is open."""
