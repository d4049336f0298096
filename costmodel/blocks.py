"""Text of hardware.toml to accelerators, each block parsed and checked when first asked for.

Parsing all of the file takes several times as long as a page may spend on it; one block takes less
than a millisecond. A block begins with a line `[id]` and holds until the next.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from costmodel import names
from costmodel.check import within
from costmodel.errors import InputError, nearest, quoted
from costmodel.facts import Fact
from costmodel.hardware import FACT_UNITS, Accelerator

Table = dict[str, Any]

_BLOCK = re.compile(r"^\[([^\[\].\n]+)\][ \t]*$", re.MULTILINE)
_NAMES = re.compile(r"^(?:name|short|aliases) = .*$", re.MULTILINE)

_HEAD_TYPES: dict[str, type | tuple[type, ...]] = {
    "name": str, "short": str, "vendor": str, "family": str, "year": int, "link": str,
    "domain": int, "note": str, "aliases": list, "pairwise": bool, "source": str,
    "as_of": date, "checked": str, "facts": dict,
}  # fmt: skip
_HEAD_NEEDED = ("name", "short", "vendor", "family", "year", "link", "domain", "source", "facts")
_FACT_TYPES: dict[str, type | tuple[type, ...]] = {
    "value": (int, float), "unit": str, "source": str, "as_of": date, "checked": str, "note": str,
}  # fmt: skip
_CHECKED = ("stored", "recalled", "derived")


class Accelerators(Mapping[str, Accelerator]):
    """The accelerators by id, in the file's order; each is parsed when first asked for."""

    def __init__(self, text: str) -> None:
        self._blocks = split(text)
        self._parsed: dict[str, Accelerator] = {}

    def __getitem__(self, key: str) -> Accelerator:
        """Return one accelerator, parsing its block the first time."""
        if key not in self._parsed:
            self._parsed[key] = _accelerator(key, self._blocks[key])
        return self._parsed[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the ids without parsing."""
        return iter(self._blocks)

    def __len__(self) -> int:
        """Count the blocks."""
        return len(self._blocks)

    def __contains__(self, key: object) -> bool:
        """Tell whether an id exists, without parsing."""
        return key in self._blocks


def split(text: str) -> dict[str, str]:
    """Return the text of each block by its id."""
    starts = list(_BLOCK.finditer(text))
    ends = [m.start() for m in starts[1:]] + [len(text)]
    blocks: dict[str, str] = {}
    for match, end in zip(starts, ends, strict=True):
        key = match[1].strip()
        if key != names.slug(key):
            msg = (
                "a block of hardware.toml must be named in lower case with hyphens, "
                f"got {quoted(key)}; write {names.slug(key)}"
            )
            raise InputError(msg, field=key)
        if key in blocks:
            msg = f"hardware.toml must hold each block once, got two {quoted(key)}; rename one"
            raise InputError(msg, field=key)
        blocks[key] = text[match.start() : end]
    return blocks


def spellings(text: str) -> dict[str, str]:
    """Return the id behind each slug of a name, short name or alias, without parsing facts."""
    heads = tomllib.loads("\n".join(f"[{k}]\n" + "\n".join(_NAMES.findall(b)) for k, b in split(text).items()))
    found = {key: key for key in heads}
    for key, head in heads.items():
        said = [head.get("name", key), head.get("short", key), *head.get("aliases", [])]
        for name in dict.fromkeys(names.slug(n) for n in said):
            if found.setdefault(name, key) != key:
                msg = (
                    f"hardware.toml must give each name once, got {quoted(name)} in "
                    f"{found[name]} and {key}; rename one"
                )
                raise InputError(msg, field=key)
    return found


def _accelerator(key: str, block: str) -> Accelerator:
    """Parse and check one block of hardware.toml."""
    try:
        head: Table = tomllib.loads(block)[key]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        msg = f"hardware.toml must be valid TOML, got an error in block {key}: {error}; correct it"
        raise InputError(msg, field=key) from None
    where = f"block {key} of hardware.toml"
    _typed(head, _HEAD_TYPES, where, needed=_HEAD_NEEDED)
    shared: Table = {k: head[k] for k in ("source", "as_of", "checked") if k in head}
    facts = {name: _fact(name, raw, shared, f"{name} in {where}") for name, raw in head["facts"].items()}
    if "bandwidth_bytes_per_s" not in facts:
        msg = f"{where} must hold the fact bandwidth_bytes_per_s, got none; add it"
        raise InputError(msg, field="bandwidth_bytes_per_s")
    within(1, 1e6, **{f"domain in {where}": head["domain"]})
    return Accelerator(
        id=key,
        short=head["short"],
        vendor=head["vendor"],
        family=head["family"],
        year=head["year"],
        facts=facts,
        aliases=tuple(head.get("aliases", ())),
        link=head["link"],
        domain=head["domain"],
        pairwise=head.get("pairwise", False),
        note=head.get("note", ""),
    )


def _fact(name: str, own: object, shared: Table, where: str) -> Fact:
    """Check one fact: known name, its unit, a source, a date, a positive value."""
    if not isinstance(own, dict):
        msg = f"{where} must be a table of value and unit, got {quoted(own)}; see docs/hardware.md"
        raise InputError(msg, field=name)
    raw = shared | own
    if name not in FACT_UNITS:
        raise _stray(name, set(FACT_UNITS), where)
    _typed(raw, _FACT_TYPES, where, needed=("value", "unit", "source", "as_of"))
    if raw["unit"] != FACT_UNITS[name]:
        msg = f"unit of {where} must be {FACT_UNITS[name]}, got {quoted(raw['unit'])}; convert it"
        raise InputError(msg, field=name)
    checked = raw.get("checked", "stored")
    if checked not in _CHECKED:
        msg = f"checked of {where} must be one of {', '.join(_CHECKED)}, got {quoted(checked)}"
        raise InputError(msg, field=name)
    within(0, 1e21, above=True, **{f"value of {where}": raw["value"]})
    return Fact(
        value=float(raw["value"]),
        unit=raw["unit"],
        source=raw["source"],
        as_of=raw["as_of"],
        note=raw.get("note", ""),
        checked=checked,
    )


def _typed(
    raw: Table,
    types: Mapping[str, type | tuple[type, ...]],
    where: str,
    *,
    needed: tuple[str, ...],
) -> None:
    """Refuse unknown, missing or wrongly typed fields, each by name."""
    for key, value in raw.items():
        if key not in types:
            raise _stray(key, set(types), where)
        stray = isinstance(value, bool) and types[key] is not bool  # bool passes for int
        if stray or not isinstance(value, types[key]):
            msg = f"{key} of {where} has the wrong type, got {quoted(value)}; see docs/hardware.md"
            raise InputError(msg, field=key)
    for key in needed:
        if key not in raw:
            msg = f"{where} must hold {key}, got none; add it"
            raise InputError(msg, field=key)


def _stray(key: str, known: set[str], where: str) -> InputError:
    listed = ", ".join(nearest(key, known) or sorted(known))
    msg = f"{where} must hold known fields only, got {quoted(key)}; did you mean {listed}?"
    return InputError(msg, field=key)
