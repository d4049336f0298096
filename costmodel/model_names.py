"""How a typed name finds its model preset: owner, case and usual additions ignored."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from costmodel import names
from costmodel.errors import InputError

_SAME_SHAPE = re.compile(r"-(instruct|chat|hf|it|base)(?=-|$)")
"""Words in a name that change the training, not the shape."""


@dataclass(frozen=True)
class ModelEntry:
    """One model preset, without its config."""

    id: str
    """Hugging Face id."""
    short: str
    """Unique name for typing."""
    file: str
    """Its config under presets/models."""
    aliases: tuple[str, ...]
    source: str
    note: str = ""
    context_limit: int | None = None
    """The advertised limit, where the config's own isn't meant."""


def bare(name: str) -> str:
    """Return a name's slug without owner, `Meta-` and words that leave the shape as it is.

    >>> bare("meta-llama/Meta-Llama-3.1-8B-Instruct"), bare("google/gemma-3-27b-it")
    ('llama-3.1-8b', 'gemma-3-27b')
    """
    key = names.slug(name.rsplit("/", 1)[-1]).removeprefix("meta-")
    return _SAME_SHAPE.sub("", key)


def spellings(entries: Iterable[ModelEntry]) -> dict[str, ModelEntry]:
    """Return the entries by every spelling; exact names come before shortened ones."""
    entries = tuple(entries)
    exact: dict[str, ModelEntry] = {}
    loose: dict[str, ModelEntry] = {}
    for entry in entries:
        for name in (entry.id, entry.short, *entry.aliases):
            exact.setdefault(name.lower(), entry)
            exact.setdefault(names.slug(name.rsplit("/", 1)[-1]), entry)
            loose.setdefault(bare(name), entry)
    return {**loose, **exact}


def find(name: str, known: Mapping[str, ModelEntry]) -> ModelEntry:
    """Return the entry that a typed name means.

    Raises
    ------
    InputError
        When no preset has the name; the nearest ones are told.
    """
    text = str(name)[:200].strip()
    for key in (text.lower(), names.slug(re.sub(r"^.*/", "", text)), bare(text)):
        if key in known:
            return known[key]
    raise _unknown(name, known)


def _unknown(name: object, known: Mapping[str, ModelEntry]) -> InputError:
    by_short = {key: entry.short for key, entry in known.items()}
    return names.unknown(name, by_short, what="model", field="model")
