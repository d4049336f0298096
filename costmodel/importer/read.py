"""A config's text, bounded before it is parsed: size, encoding, depth, plain JSON numbers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from costmodel.errors import InputError, quoted

MOST_BYTES = 1_000_000
"""Largest config read; published ones stay under 100 kB."""

MOST_DEPTH = 32
"""Deepest nesting read; published configs nest under 8 levels."""

MOST_DIGITS = 18
"""Longest number kept whole; longer ones become floats, and no size accepts them."""

MOST_BITS = 256
"""Largest whole number that a dict may hold."""

FIELD = "config"


def values(source: object) -> dict[str, Any]:
    """Return a config as a dict.

    Parameters
    ----------
    source : dict or str or Path
        The config itself, its JSON text (anything that starts with a brace), or a path to it.

    Raises
    ------
    InputError
        When it can't be read, is too large or too deep, or isn't a JSON object.
    """
    if isinstance(source, Mapping):
        return _checked(dict(source))
    if isinstance(source, Path):
        return _checked(_parsed(_file(source), "the file"))
    if isinstance(source, str):
        text = source.lstrip("\ufeff \t\r\n")
        if text.startswith("{"):
            return _checked(_parsed(text, "the text"))
        if text.startswith(("[", '"')) or not text:
            raise _bad(f"config must be a JSON object, got {quoted(text or 'nothing')}")
        return _checked(_parsed(_file(Path(source)), "the file"))
    raise _bad(f"config must be a dict, JSON text or a path, got {type(source).__name__}")


def _bad(sentence: str, advice: str = "give a Hugging Face config.json") -> InputError:
    return InputError(f"{sentence}; {advice}", field=FIELD)


def _file(path: Path) -> str:
    name = quoted(str(path))
    try:
        if path.is_dir():
            raise _bad(f"config must be a file, got the folder {name}")
        if not path.is_file():
            raise _bad(f"config must be a file that exists, got {name}")
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        _bounded(len(raw))
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"config must be UTF-8 text, got byte {error.object[error.start]:#04x} in {name}"
        raise _bad(msg) from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or "not a path"
        raise _bad(f"config must be a readable file, got {name} ({reason})") from None


def _bounded(size: int) -> None:
    if size > MOST_BYTES:
        raise _bad(f"config must be at most {MOST_BYTES} bytes, got more")


def _parsed(text: str, what: str) -> dict[str, Any]:
    _bounded(len(text))
    _check_depth(text)
    try:
        found = json.loads(text, parse_int=_whole)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _bad(f"config must be JSON, but {what} breaks off or errs at {where}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise _bad(f"config must be JSON that can be read, got {what} as {quoted(text)}") from None
    if not isinstance(found, dict):
        raise _bad(f"config must be a JSON object, got {type(found).__name__}")
    return found


def _check_depth(text: str) -> None:
    """Count brackets outside strings, so that the parser never recurses on a hostile text."""
    depth = 0
    inside = escaped = False
    for char in text:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "{[":
            depth += 1
            if depth > MOST_DEPTH:
                raise _bad(f"config must nest at most {MOST_DEPTH} levels, got more")
        elif char in "}]":
            depth -= 1


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def _checked(found: dict[str, Any]) -> dict[str, Any]:
    """Refuse a dict that no JSON file could hold."""
    if not found:
        raise _bad("config must have keys, got an empty object")
    _walk(found, 0)
    return found


def _walk(value: object, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise _bad(f"config must nest at most {MOST_DEPTH} levels, got more")
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise _bad(f"config must have text as keys, got {quoted(key)}")
            _walk(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _walk(inner, depth + 1)
    elif isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise _bad(f"config must hold numbers below 2^{MOST_BITS}, got a larger one")
