"""The ladder's arithmetic in words and numbers: what each rung is made of."""

import math

import numpy as np

from costmodel.ladder import Ladder
from costmodel.lever_rows import Board
from costmodel.money import usd
from costmodel.perfect import ideal_times, perfect_of

Line = tuple[str, str, str]
"""Quantity, formula in numbers, result with its unit."""


def lines(board: Board, rungs: Ladder) -> list[Line]:
    """Return the arithmetic of a ladder, what is paid first, the floor last.

    Examples
    --------
    >>> from costmodel.ladder import ladder
    >>> from costmodel.lever_rows import board
    >>> from costmodel.scenario import scenario
    >>> from costmodel.setups import Setup
    >>> found = board(Setup(scenario(weights="fp8", max_tpot_s=1 / 30)))
    >>> lines(found, ladder(found))[-1][0]
    'Floor'
    """
    case, s, today = board.case, board.setup.scenario, board.today
    work = perfect_of(case).plan
    ways = work.parallel.ways
    context = np.asarray(s.context)
    cache = float(work.cache_bytes(context)) * ways
    bandwidth = float(case.machine.bandwidth_bytes_per_s) * ways
    price = f"{case.gpus} × {usd(float(case.usd_per_gpu_hour))}/h"
    found: list[Line] = [
        ("Cache read per sequence", f"{s.context:,.0f} tokens, {s.kv}, counted once over the GPUs",
         _gb(cache)),
    ]  # fmt: skip
    if rungs.rung("today") is not None:
        found.insert(0, _today(board, rungs, price))
    shown = [("perfect_engine", today.batch, s.busy), ("best_here", board.allowed.best_batch, 1.0)]
    prompt_s = 0.0
    for step, batch, busy in shown:
        rung = rungs.rung(step)  # type: ignore[arg-type]
        if rung is None or batch < 1:
            continue
        step_s, prompt_s = ideal_times(case=case, setup=board.setup, batch=batch)
        drafted = s.spec_tokens + 1
        weights = float(work.weight_bytes(np.asarray(batch / work.parallel.stages * drafted))) * ways
        name = "Same batch, perfect engine" if step == "perfect_engine" else "Best here"
        found.append(
            (f"Its step at batch {batch:,.0f}",
             f"max of ({_gb(weights)} + {batch:,.0f} × {_gb(cache)}) / {bandwidth / 1e12:,.2f} TB/s, and "
             "arithmetic" + _per_token(board), _ms(step_s)),
        )  # fmt: skip
        if len(found) < 4:
            new = s.input_tokens * (1 - s.shared)
            found.append(("Its prompt", f"arithmetic of {new:,.0f} tokens at the peak rates", _ms(prompt_s)))
        idle = "" if busy == 1 else f" / {busy:.2f} busy"
        answer = f"{_ms(step_s)} / {batch:,.0f} × {_most(s.output_tokens)}"
        both = f"({answer} + {_ms(prompt_s)} / {s.output_tokens:,.0f})"
        found.append((name, f"{both} × {price}{idle}", f"{usd(rung.usd_per_mtok)} per Mtok"))
    floor = rungs.rung("floor")
    if floor is not None:
        read = f"{_gb(cache)} / {bandwidth / 1e12:,.2f} TB/s, or the arithmetic of a token if that takes longer"
        found.append(
            ("Floor", f"(max of {read}{_per_token(board)}, + {_ms(prompt_s)} / {s.output_tokens:,.0f}) × {price}",
             f"{usd(floor.usd_per_mtok)} per Mtok"),
        )  # fmt: skip
    return found


def _today(board: Board, rungs: Ladder, price: str) -> Line:
    s, today = board.setup.scenario, board.today
    top = rungs.rungs[0].usd_per_mtok
    if math.isnan(rungs.rungs[0].batch):
        return "What you pay", "as typed in", f"{usd(top)} per Mtok"
    if math.isnan(today.tpot_s) or board.setup.separate or board.setup.static_spread is not None:
        return "What you pay", f"at batch {today.batch:,.0f}", f"{usd(top)} per Mtok"
    idle = "" if s.busy == 1 else f" / {s.busy:.2f} busy"
    how = f"{_ms(today.tpot_s)} between tokens / {today.batch:,.0f} × {_most(s.output_tokens)} × {price}{idle}"
    return "What you pay", how, f"{usd(top)} per Mtok"


def _per_token(board: Board) -> str:
    s = board.setup.scenario
    return f", over the tokens that {s.spec_tokens} drafted ones yield" if s.spec_tokens else ""


def _most(output_tokens: float) -> str:
    """Return the share of an answer that is decoded: its first token is its prompt's."""
    return f"{output_tokens - 1:,.0f}/{output_tokens:,.0f}"


def _gb(size_bytes: float) -> str:
    return f"{size_bytes / 1e9:,.3g} GB"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.3g} ms"
