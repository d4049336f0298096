"""Sentences of "Speed vs cost", computed from results. No Streamlit in this file.

`**` marks what is shown bold. Every sentence has at most two clauses with numbers.
"""

from costmodel import frontier as engine
from costmodel.frontier import Rung
from costmodel.picks import Pick
from costmodel.sweep import REASONS
from ui import units
from ui.frontier_view import FASTER, SLOWER, View

LIMIT_NAMES = {
    "max_tpot_s": "the speed",
    "max_ttft_s": "the first token",
    "budget_usd_per_mtok": "the budget",
}
WHY = {
    REASONS[1]: "doesn’t fit",
    REASONS[2]: "can’t be split so",
    REASONS[3]: "has no unit for these dtypes",
    REASONS[4]: "is beyond its link domain",
    REASONS[5]: "has no price on this basis",
    REASONS[6]: "has no published memory size",
}


def place(chosen: Pick) -> str:
    """Return a pick's GPUs, as in "1 × B200 SXM"."""
    return f"{chosen.gpus} × {chosen.accelerator.short}"


def weights(shown: View, chosen: Pick) -> str:
    """Return the dtype that a pick's weights are stored in."""
    model = shown.sweep.models[shown.sweep.setup[chosen.row]]
    return chosen.setup.weights or model.published.dtype


def speed(shown: View, tokens_per_s: float) -> str:
    """Return a speed in the unit that the page shows."""
    if not shown.in_words:
        return units.speed(tokens_per_s)
    words = engine.words_per_s(tokens_per_s)
    return f"{units.count(words, decimals=0 if words >= 9.95 else 1)} words/s"


def limit_text(shown: View, name: str, value: float) -> str:
    """Return a limit's value as people say it."""
    if name == "max_tpot_s":
        return speed(shown, units.tokens_per_s(value))
    if name == "max_ttft_s":
        return f"{units.count(units.ms(value))} ms"
    return units.usd(value)


def limits_text(shown: View) -> str:
    """Return the limits as a list: "30 tok/s and 500 ms"."""
    given = [limit_text(shown, n, v) for n, v in shown.answers.limits.given.items()]
    if not given:
        return "no limits"
    return " and ".join(filter(None, (", ".join(given[:-1]), given[-1])))


def answer(shown: View) -> str:
    """Return the page's answer: what the limits cost, and what another speed would."""
    answers = shown.answers
    best = answers.cheapest
    if best is None:
        return nothing(shown)
    parts = [_cheapest(shown, best), _steps(shown, best), _budget(shown), _now(shown)]
    return " ".join(part for part in parts if part)


def _cheapest(shown: View, best: Pick) -> str:
    answers = shown.answers
    bits = "4-bit or wider " if shown.four_bits else "8-bit "
    cost = units.usd(best.usd_per_mtok)
    at = "Without a speed limit" if shown.speed_limit is None else f"At {speed(shown, shown.speed_limit)}"
    second = answers.runner_up
    if answers.too_close and second is not None:
        return (
            f"{at} **{place(best)}** and **{place(second)}** are too close to call "
            f"(**{cost}** and {units.usd(second.usd_per_mtok)}, {band(best)})."
        )
    return f"{at} the cheapest {bits}setup is **{place(best)}**: **{cost}**."


def band(chosen: Pick) -> str:
    """Return how far a cost may be off, as a range."""
    if not chosen.high > 0:
        return "equal within rounding"
    return f"80 % band {units.usd_range(chosen.low, chosen.high)}"


def _steps(shown: View, best: Pick) -> str:
    """Return what a slower and a faster limit would cost."""
    limit = shown.speed_limit
    if limit is None:
        return ""
    by_speed = {round(r.tokens_per_s, 6): r for r in shown.dots}
    slower, faster = by_speed.get(round(limit + SLOWER, 6)), by_speed.get(round(limit + FASTER, 6))
    said = []
    if slower is not None and slower.pick is not None:
        saved = best.usd_per_mtok - slower.pick.usd_per_mtok
        if saved > 0:
            share = units.share(saved / best.usd_per_mtok)
            said.append(f"settling for {_bare(shown, slower)} saves {units.usd(saved)} ({share})")
    if faster is not None and faster.pick is not None:
        said.append(f"{_bare(shown, faster)} costs {units.usd(faster.pick.usd_per_mtok - best.usd_per_mtok)} more")
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _bare(shown: View, rung: Rung) -> str:
    return speed(shown, rung.tokens_per_s).split(" ")[0]


def _budget(shown: View) -> str:
    fastest, budget = shown.answers.fastest, shown.answers.limits.budget_usd_per_mtok
    if fastest is None or budget is None:
        return ""
    return f"For {units.usd(budget)} the fastest is {speed(shown, fastest.tokens_per_s)} on {place(fastest)}."


def _now(shown: View) -> str:
    now = shown.now
    if now is None or not now.fits or now.best_there is None:
        return ""
    ratio = now.times_best
    said = f"{units.times(ratio)} times the best at that speed" if ratio > 1.05 else "the best at that speed"
    return f"Your setup costs {units.usd(now.usd_per_mtok)} at {speed(shown, now.tokens_per_s)}, {said}."


def nothing(shown: View) -> str:
    """Return what is said where nothing meets the limits: which binds, and how far it must give."""
    answers, relaxed = shown.answers, shown.answers.relaxed
    if answers.nothing_runs:
        return f"Nothing runs this model here: every setup {WHY.get(answers.nothing_runs, answers.nothing_runs)}."
    if relaxed is None:
        return f"Nothing meets {limits_text(shown)}."
    needed = " and ".join(limit_text(shown, n, v) for n, v in zip(relaxed.limits, relaxed.values, strict=True))
    which = " and ".join(LIMIT_NAMES[n] for n in relaxed.limits)
    binds = "binds" if len(relaxed.limits) == 1 else "bind"
    return (
        f"Nothing meets **{limits_text(shown)}**. {which[:1].upper()}{which[1:]} {binds}: at {needed} it would be "
        f"**{place(relaxed.pick)}**, {units.usd(relaxed.pick.usd_per_mtok)}."
    )


def notes(shown: View) -> list[str]:
    """Return what stands under the answer: limits that may be missed, the premium, the runner-up."""
    answers, best = shown.answers, shown.answers.cheapest
    said: list[str] = []
    if best is not None:
        missed = [LIMIT_NAMES[n] for n in best.may_miss(answers.limits)]
        if missed:
            said.append(f"It may miss {' and '.join(missed)}: the 80 % band crosses the limit.")
        premium, binding = answers.premium_usd_per_mtok, answers.binding
        if premium and binding is not None and answers.unconstrained is not None:
            free = answers.unconstrained
            said.append(
                f"The limits cost {units.usd(premium)}: without them {place(free)} at batch "
                f"{units.count(free.batch)} would do it for {units.usd(free.usd_per_mtok)}. "
                f"{LIMIT_NAMES[binding].capitalize()} binds."
            )
        if answers.runner_up is not None and not answers.too_close:
            second = answers.runner_up
            said.append(f"Runner-up: {place(second)}, {units.usd(second.usd_per_mtok)}.")
    if shown.fleet is not None and best is not None:
        fleet = shown.fleet
        said.append(
            f"{units.count(fleet.users)} users at once take {units.count(fleet.copies)} copies "
            f"({units.count(fleet.gpus)} GPUs), {units.usd(fleet.usd_per_month)} a month."
        )
    if shown.in_words:
        low, high = engine.READING_WORDS_PER_S
        said.append(f"{engine.WORDS_PER_TOKEN} word per token of English; people read {low:g}–{high:g} words/s.")
    if shown.now is None and shown.now_reason:
        said.append(f"Your own setup isn’t drawn: {shown.now_reason}.")
    if shown.now is not None and not shown.now.fits:
        said.append(f"Your own setup isn’t drawn: batch {units.count(shown.now.batch)} doesn’t fit.")
    return said


def alt(shown: View) -> str:
    """Return the figure in words."""
    best, second = shown.answers.cheapest, shown.answers.runner_up
    count = len(shown.lines)
    if best is None:
        found = bare(nothing(shown))
        return f"Line chart of cost over speed per user, {count} accelerators. {found} Table follows."
    limit = shown.speed_limit
    at = "Without a speed limit" if limit is None else f"At {units.speed(limit)}"
    said = f"{at}: {place(best)}, {units.usd(best.usd_per_mtok)}"
    if second is not None:
        said += f"; runner-up {place(second)}, {units.usd(second.usd_per_mtok)}"
    much = next((r for r in reversed(shown.dots) if r.pick is not None), None)
    rise = ""
    if limit is not None and much is not None and much.pick is not None and much.tokens_per_s > limit:
        times = units.times(much.pick.usd_per_mtok / best.usd_per_mtok)
        rise = f" Cost rises {times} times from {units.speed(limit)} to {units.speed(much.tokens_per_s)}."
    return (
        f"Line chart of all-in cost over tokens per second per user, {count} accelerators. {said}.{rise} "
        "Table follows."
    )


def bare(said: str) -> str:
    """Return a sentence without its marks."""
    return said.replace("**", "")
