"""Routes under /api/v1. Thin: parameters in, the records of the command line out.

Every route is a GET whose parameters are the command line's options without their dashes. Bad
input is answered with 422 and one sentence; the same sentence that a terminal would show.
"""

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from api import document
from api.read import Given, parameters
from costmodel import asked, frontier_records, lever_asked, records
from costmodel.case import resolve
from costmodel.cli.numbers import numbers
from costmodel.errors import InputError
from costmodel.explore import knee_of
from costmodel.explore import point as points_of

MOST_POINTS = 10_000
"""Decode or served points of one answer."""
MOST_SWEPT = 3_000_000
"""Points of the grid behind one frontier."""

api = FastAPI(
    title="Inference cost",
    version="1",
    description=document.ABOUT,
    docs_url=None,  # their scripts would come from another server
    redoc_url=None,
)
_SWEEPING = threading.Lock()  # sweeps one at a time: each fills the memory bandwidth and the cache


def _json(record: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(record), status_code=status, media_type="application/json")


@api.exception_handler(InputError)
def _refused(_request: Request, error: Exception) -> Response:
    sentence, field = document.spoken(error) if isinstance(error, InputError) else (str(error), "")
    return _json({"error": sentence, "field": field}, 422)


@api.exception_handler(HTTPException)
def _lost(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    says = {404: "no such address; see openapi.json for those there are", 405: "only GET is answered"}
    return _json({"error": says.get(status, "the request can't be answered"), "field": ""}, status)


@api.exception_handler(Exception)
def _failed(_request: Request, _error: Exception) -> Response:
    """Say so in the same form; the server's log has the rest."""
    sentence = "the server failed to answer; the fault is its own, not the request's"
    return _json({"error": sentence, "field": ""}, 500)


def _route(path: str, *, own: tuple[document.Own, ...] = (), swept: bool = False, scenario: bool = True) -> Any:
    """Register a route whose parameters are documented from the table of fields."""

    def register(answer: Callable[[Given], bytes]) -> Callable[[Given], bytes]:
        known = document.names(scenario=scenario, own=own)

        def endpoint(request: Request) -> Response:
            return Response(answer(parameters(request, known)), media_type="application/json")

        endpoint.__doc__, endpoint.__name__ = answer.__doc__, answer.__name__
        api.get(
            path,
            openapi_extra={"parameters": document.parameters(scenario=scenario, own=own, swept=swept)},
            responses={422: document.REFUSED},
            response_class=Response,
        )(endpoint)
        return answer

    return register


@_route("/models", scenario=False)
def models(_given: Given) -> bytes:
    """Return the preset models with sources."""
    return _models()


@_route("/hardware", scenario=False)
def hardware(_given: Given) -> bytes:
    """Return the preset accelerators with sources, dates and what an hour costs on each basis."""
    return _hardware()


@_route("/point")
def point(given: Given) -> bytes:
    """Return decode points: time, cost of the answer, what bounds it, whether it fits."""
    chosen, axes = asked.read(given.fields, lists=("batch", "context_tokens", "hardware"))
    _bounded(axes)
    found = list(records.points(points_of(chosen, **axes)))
    return orjson.dumps({"points": found} if len(found) > 1 or axes else found[0])


@_route("/knee")
def knee(given: Given) -> bytes:
    """Return the edges of the cost curve, the recommended batch, the floor and the best here."""
    chosen, _ = asked.read(given.fields)
    case = resolve(chosen)
    record = records.knee(knee_of(case), price_reason=case.price_reasons[0], notes=case.notes)
    return orjson.dumps(record)


@_route("/serve", own=(document.CONCURRENCY,))
def serve(given: Given) -> bytes:
    """Return served points: first token, time between tokens, all-in cost and its parts."""
    chosen, axes = asked.read(given.fields, lists=("batch", "hardware"))
    in_flight = None
    if "concurrency" in given.own:
        if "batch" in given.fields:
            msg = "serve takes --batch or --concurrency, got both; leave one out"
            raise InputError(msg, field="concurrency")
        in_flight = numbers(given.own["concurrency"], option="--concurrency")
    several = bool(axes) or (in_flight is not None and in_flight.size > 1)
    _bounded(axes | ({} if in_flight is None else {"concurrency": in_flight}))
    found = list(records.serve_all(chosen, concurrency=in_flight, **axes))
    return orjson.dumps({"points": found} if several else found[0])


@_route("/frontier", own=document.FRONTIER, swept=True)
def frontier(given: Given) -> bytes:
    """Return the front of a sweep, the cheapest that meets the limits, and what they cost."""
    switches = {name: document.switch(given.own.get(name), name) for name in ("four-bits", "separate-prompts")}
    apart = (False, True) if switches["separate-prompts"] else (False,)
    chosen, where, _ = asked.swept(
        given.fields, four_bits=switches["four-bits"], disaggregated=apart, most=MOST_SWEPT
    )
    with _SWEEPING:
        record = frontier_records.frontier(
            chosen, where, axes=given.own.get("axes", "speed,all-in"), users=given.own.get("users")
        )
    return orjson.dumps(record)


@_route("/levers", own=document.LEVERS)
def levers(given: Given) -> bytes:
    """Return the ladder down to the floor, levers before and after, their shares, and the verdict."""
    chosen, _ = asked.read(given.fields)
    return orjson.dumps(lever_asked.answer(chosen, given.own))


def _bounded(axes: dict[str, Any]) -> None:
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MOST_POINTS:
        msg = f"a request must ask for at most {MOST_POINTS:,} points, got {count:,}; ask for fewer"
        raise InputError(msg, field=next(iter(axes)))


@lru_cache(maxsize=1)
def _models() -> bytes:
    return orjson.dumps({"models": records.models()})


@lru_cache(maxsize=1)
def _hardware() -> bytes:
    prices = {p.pop("hardware"): p for p in records.prices()}
    return orjson.dumps({"hardware": [r | {"prices": prices[r["id"]]} for r in records.hardware()]})
