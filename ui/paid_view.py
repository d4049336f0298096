"""Your stack, "What we pay": a bill beside what the setup could do, without a file."""

import html

import streamlit as st

from costmodel.curve import CostCurve
from costmodel.errors import InputError
from costmodel.ladder import ladder
from costmodel.ladder_lines import Line, lines
from costmodel.paid import Bill, from_machines, judge
from ui import navigation, page_folds, plot, priceline, share, state, states, tables, units, words_paid
from ui.charts import paid as charts


def compute() -> Bill | None:
    """Return the bill on screen; None where a sentence took its place."""
    try:
        return _bill()
    except InputError as error:
        states.refuse(error)
        return None


def _bill() -> Bill:
    of = str(state.value("ys_u"))
    if of == "machines":
        tokens = float(state.value("ys_t") or 0) * units.TOKENS_PER_MTOK
        usd = from_machines(
            gpus=float(state.value("ys_g") or 0), usd_per_gpu_hour=float(state.value("ys_h") or 0),
            tokens_per_day=tokens,
        )  # fmt: skip
        return judge(state.current(), usd=usd)
    per = "output" if of == "output tokens" else "both"
    return judge(state.current(), usd=float(state.value("ys_p") or 0), per=per)


def draw(bill: Bill, curve: CostCurve, *, question: str) -> None:
    """Draw the scale, what the word means, the door to Levers, and the folds."""
    figure = charts.figure(bill)
    if figure is not None:
        plot.draw(figure, key="paid")
    said = [words_paid.converted(bill, str(state.value("ys_u"))), words_paid.scale(bill), _read(bill)]
    st.html(f'<p class="notes">{html.escape(" ".join(s for s in said if s))}</p>')
    levers = next(e for e in navigation.PLANNED if e.address == "levers")
    st.page_link(str(levers.path), label="What should we change?", icon=":material/arrow_forward:")
    columns = table(bill)
    share.offer(
        question=question, answer=words_paid.answer(bill), price=priceline.line(curve), curve=curve,
        columns=lambda: columns, name="what-we-pay", command="levers",
    )  # fmt: skip
    page_folds.draw(curve, columns, name="what-we-pay", arithmetic=lambda: _arithmetic(bill))


def _arithmetic(bill: Bill) -> list[Line]:
    """Return the ladder's arithmetic under the bill, and the setup's own best last."""
    best = bill.board.rechosen
    gap = f"{units.duration(best.tpot_s)} between tokens at batch {units.count(best.batch)}, no idle time"
    return [
        *lines(bill.board, ladder(bill.board, paid_usd_per_mtok=bill.usd_per_mtok)),
        ("This setup’s own best at your limits", gap, f"{units.usd(bill.own_best_usd_per_mtok)} per Mtok"),
        ("Paid over own best", f"{units.usd(bill.usd_per_mtok)} / {units.usd(bill.own_best_usd_per_mtok)}",
         f"{bill.ratio:.2f}: {bill.word}"),
    ]  # fmt: skip


def _read(bill: Bill) -> str:
    newest = bill.offers.newest
    return "" if newest is None else f"APIs as read, newest on {newest}."


def table(bill: Bill) -> list[tables.Column]:
    """Return everything on the scale as columns."""
    rows = [
        ("You pay", bill.usd_per_mtok),
        ("This setup’s own best at your limits", bill.own_best_usd_per_mtok),
        ("Best here: a perfect engine", bill.best_here_usd_per_mtok),
        ("Floor", bill.floor_usd_per_mtok),
        *((f"API: {o.provider}", o.usd_per_mtok) for o in bill.offers.offers),
    ]
    return [
        tables.Column("", "row", [name for name, _ in rows], str),
        tables.Column("USD per Mtok out, all-in", "usd_per_mtok", [usd for _, usd in rows], units.usd),
    ]
