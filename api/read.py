"""Query parameters to texts by field name, each checked to be known and short."""

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

from costmodel.errors import InputError, nearest, quoted
from costmodel.scenario import FIELDS

MOST_QUERY = 16_384
"""Characters of a query; a config.json in `model` fits."""


@dataclass(frozen=True)
class Given:
    """What a request gives: texts by scenario field, and the route's own parameters."""

    fields: dict[str, str]
    own: dict[str, str]


_FIELD = {spelling: f.name for f in FIELDS for spelling in (f.option.lstrip("-"), f.name.replace("_", "-"))}
"""Scenario field behind a parameter: the option's name, or the field's own."""


def parameters(request: Request, known: tuple[str, ...]) -> Given:
    """Return a request's parameters; underscores count as hyphens, repeated ones as a list.

    Raises
    ------
    InputError
        For unknown parameters, long queries, and models that are paths on the server.
    """
    if len(request.url.query) > MOST_QUERY:
        msg = f"a query must have at most {MOST_QUERY:,} characters, got {len(request.url.query):,}; shorten it"
        raise InputError(msg, field="query")
    given = Given({}, {})
    for key in dict.fromkeys(request.query_params):
        name = key.replace("_", "-")
        text = ",".join(request.query_params.getlist(key))
        if name in known and name not in _FIELD:
            given.own[name] = text
        elif name in _FIELD and _known(name, known):
            given.fields[_FIELD[name]] = text
        else:
            close = nearest(name, known)
            hint = f"did you mean {' or '.join(close)}?" if close else "see openapi.json for those there are"
            raise InputError(f"a parameter must be known, got {quoted(key)}; {hint}", field=key[:60])
    _no_paths(given.fields)
    return given


def _known(name: str, known: tuple[str, ...]) -> bool:
    option = next(f.option.lstrip("-") for f in FIELDS if f.name == _FIELD[name])
    return option in known


def _no_paths(fields: Mapping[str, str]) -> None:
    """Refuse what the command line would open as a file: visitors may not name the server's."""
    model = fields.get("model", "").strip()
    if model.startswith("{"):
        return
    if any(m.strip().endswith(".json") or m.strip().startswith((".", "/")) or "\\" in m for m in model.split(",")):
        msg = f"model must be a preset's name or the text of a config.json, got {quoted(model)}; paste the text"
        raise InputError(msg, field="model")
