"""How a typed name finds its preset: case, spaces, brackets and a trailing memory size ignored."""

import re
from collections.abc import Mapping

from costmodel.errors import InputError, nearest, quoted

SHOWN = 8
"""The most names that an error lists."""


def slug(name: str) -> str:
    """Return a name in lower case with hyphens; a bracketed part and a plus sign are dropped.

    >>> slug("DGX Spark (GB10)"), slug("RTX_3090Ti-24GB"), slug("Ryzen AI Max+ 395")
    ('dgx-spark', 'rtx-3090ti-24gb', 'ryzen-ai-max-395')
    """
    bare = re.sub(r"\(.*?\)", " ", name).replace("+", "").lower()
    return re.sub(r"[^a-z0-9.]+", "-", bare).strip("-")


def split_size(key: str) -> tuple[str, float | None]:
    """Return a slug without its trailing memory size, and that size in GB.

    >>> split_size("h100-sxm-80gb"), split_size("l4")
    (('h100-sxm', 80.0), ('l4', None))
    """
    match = re.fullmatch(r"(.+)-(\d+)gb?", key)
    return (match[1], float(match[2])) if match else (key, None)


def continuations(key: str, ids: Mapping[str, object] | set[str]) -> list[str]:
    """Return the ids that hold the words of a name in order, beginning with the first.

    >>> continuations("a100-80gb", {"a100-sxm-80gb", "a100-pcie-80gb", "a100-sxm-40gb", "a10"})
    ['a100-pcie-80gb', 'a100-sxm-80gb']
    """
    words = key.split("-")

    def holds(candidate: str) -> bool:
        rest = iter(candidate.split("-"))
        return next(rest) == words[0] and all(word in rest for word in words[1:])

    return sorted(i for i in ids if holds(i))


def ambiguous(name: object, found: list[str], *, what: str, field: str) -> InputError:
    """Return the error for a name that fits several presets."""
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    listed = ", ".join(found[:SHOWN])
    return InputError(
        f"{what} must name one preset, got {quoted(name)}, which fits {listed}{more}; pick one",
        field=field,
    )


def unknown(name: object, known: Mapping[str, str] | set[str], *, what: str, field: str) -> InputError:
    """Return the error for a name that fits none; a mapping leads from each spelling to its id."""
    close = nearest(slug(str(name)[:200]), known)
    ids = list(dict.fromkeys(known[c] if isinstance(known, Mapping) else c for c in close))
    advice = f"did you mean {' or '.join(ids)}?" if ids else "list the presets to see the names"
    return InputError(f"{what} must be a known preset, got {quoted(name)}; {advice}", field=field)
