"""Records as text for a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any


def table(rows: Iterable[Sequence[str]], *, head: Sequence[str]) -> str:
    """Return aligned columns; those of numbers to the right.

    >>> print(table([["a", "1"], ["bb", "20"]], head=["name", "n"]))
    name   n
    a      1
    bb    20
    """
    body = [list(r) for r in rows]
    widths = [max(len(r[i]) for r in [list(head), *body]) for i in range(len(head))]
    right = [
        bool(body) and all(r[i][:1].isdigit() or r[i] in {"", "–"} for r in body)
        for i in range(len(head))
    ]
    lines = [list(head), *body]
    return "\n".join(
        "  ".join(
            cell.rjust(w) if r else cell.ljust(w)
            for cell, w, r in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def pairs(record: dict[str, Any]) -> str:
    """Return a record as lines of key and value; nested ones on one line each."""
    width = max((len(k) for k in record), default=0)
    return "\n".join(f"{k.ljust(width)}  {_cell(v)}" for k, v in record.items())


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_cell(v)}" for k, v in value.items())
    if isinstance(value, list):
        return "; ".join(_cell(v) for v in value)
    return str(value)


def points(records: Sequence[dict[str, Any]]) -> str:
    """Return decode points as a table in ms, USD per Mtok and shares in percent."""
    several = len({r["hardware"] for r in records}) > 1
    head = ["batch", "context", "ms/token", "tok/s each", "USD/Mtok", "band", "bound", "fits"]
    rows = []
    for r in records:
        row = [
            f"{r['batch']:g}",
            f"{r['context_tokens']:g}",
            f"{r['step_time_s'] * 1e3:.3f}",
            f"{1 / r['step_time_s']:.1f}",
            "–" if r["usd_per_mtok"] is None else f"{r['usd_per_mtok']:.3f}",
            "–" if r["low"] is None else f"{r['low']:.3f} to {r['high']:.3f}",
            r["bound"],
            "yes" if r["fits"] else f"no, {r['max_batch'] or 0:g} do",
        ]
        rows.append([r["hardware"], *row] if several else row)
    text = table(rows, head=["hardware", *head] if several else head)
    first = records[0]
    said = [first[k] for k in ("price_reason",) if k in first] + first.get("notes", [])
    return "\n".join([text, *said])


def servings(records: Sequence[dict[str, Any]]) -> str:
    """Return served batches as a table: speeds as people read them, all-in cost and its parts."""

    def usd(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    rows = [
        [
            r["hardware"],
            f"{r['batch']:.4g}",
            f"{r['ttft_s'] * 1e3:.0f}",
            "–" if r["tpot_s"] is None else f"{1 / r['tpot_s']:.1f}",
            f"{r['output_tokens_per_s']:.0f}",
            usd(r["usd_per_mtok"]),
            "–" if r["low"] is None else f"{r['low']:.3f} to {r['high']:.3f}",
            usd(r["usd_per_mtok_output"]),
            usd(r["usd_per_mtok_input"]),
            "yes" if r["fits"] else "no",
        ]
        for r in records
    ]
    head = ["hardware", "batch", "first ms", "tok/s each", "tok/s", "all-in", "band", "answer", "input", "fits"]
    first = records[0]
    said = [first[k] for k in ("price_reason",) if k in first] + first.get("notes", [])
    return "\n".join([table(rows, head=head), *said])


MOST_ROWS = 24
"""Rows of a front that a terminal shows, evenly chosen."""
_LIMITS = {"max_tpot_s": "speed per user", "max_ttft_s": "first token", "budget_usd_per_mtok": "budget"}


def frontier(record: dict[str, Any]) -> str:
    """Return the front as a table, the answers as sentences under it."""
    points = record["points"]
    step = max(1, -(-len(points) // MOST_ROWS))
    lines = []
    if points:
        lines.append(table([_front_row(p) for p in points[::step]], head=_FRONT))
    holes = ", ".join(f"{count:,} {reason}" for reason, count in record["infeasible"].items())
    counted = f"{record['evaluated']:,} points, {record['feasible']:,} feasible"
    lines.append(f"{counted}; {holes}" if holes else counted)
    best, second, relaxed = record["cheapest"], record["runner_up"], record["relaxed"]
    if best is not None:
        missed = [_LIMITS[name] for name in best["may_miss"]]
        lines.append(f"Cheapest: {_place(best)}" + (f"; may miss: {', '.join(missed)}" if missed else "") + ".")
    if second is not None:
        close = ", too close to call" if record["too_close_to_call"] else ""
        lines.append(f"Runner-up: {_place(second)}{close}.")
    if record["fastest"] is not None:
        lines.append(f"Fastest within the budget: {_place(record['fastest'])}.")
    if record["premium_usd_per_mtok"]:
        which = _LIMITS[record["binding_limit"]] if record["binding_limit"] else "none of the limits"
        lines.append(f"The limits cost {record['premium_usd_per_mtok']:.3f} USD/Mtok; {which} binds.")
    if relaxed is not None:
        needed = ", ".join(f"{_LIMITS[name]} {_limit(name, value)}" for name, value in relaxed["limits"].items())
        lines.append(f"Nothing meets the limits: with {needed} it would be {_place(relaxed['point'])}.")
    if "reason" in record:
        lines.append(f"Nothing runs: {record['reason']}.")
    if "fleet" in record:
        fleet = record["fleet"]
        month = f"{fleet['usd_per_month']:,.0f} USD a month"
        lines.append(f"{fleet['copies']:,} copies, {fleet['gpus']:,} GPUs: {month}.")
    return "\n".join(lines)


_FRONT = ["hardware", "GPUs", "weights", "cache", "batch", "tok/s each", "first ms", "all-in", "tok/s"]


def _front_row(p: dict[str, Any]) -> list[str]:
    return [
        p["hardware"], f"{p['tp']}", p["weights"], p["kv"], f"{p['batch']:g}",
        "–" if p["tokens_per_s_per_user"] is None else f"{p['tokens_per_s_per_user']:.1f}",
        f"{p['ttft_s'] * 1e3:.0f}", f"{p['usd_per_mtok']:.3f}", f"{p['output_tokens_per_s']:,.0f}",
    ]  # fmt: skip


def _place(p: dict[str, Any]) -> str:
    speed = "" if p["tokens_per_s_per_user"] is None else f", {p['tokens_per_s_per_user']:.1f} tok/s each"
    apart = f", {p['prefill_copies']:.2g} copies for prompts" if "prefill_copies" in p else ""
    return (
        f"{p['tp']} × {p['hardware']}, {p['weights']} weights, {p['kv']} cache, batch {p['batch']:g}{apart}: "
        f"{p['usd_per_mtok']:.3f} USD/Mtok all-in{speed}, first token {p['ttft_s'] * 1e3:.0f} ms"
    )


def _limit(name: str, value: float) -> str:
    if name == "max_tpot_s":
        return f"{1 / value:.1f} tok/s"
    return f"{value * 1e3:.0f} ms" if name == "max_ttft_s" else f"{value:.3f} USD/Mtok"
