"""The one chart component: a Plotly figure that stays alive, and its batch slider.

Streamlit's own chart element is thrown away and drawn anew on every change. This one keeps its
node and calls `Plotly.react`, so zoom and hover survive and a change costs a third. While the
slider is dragged nothing is asked of the server: the browser reads a table that came with the
figure, one row a tick. The table is made by the same functions as every other number.

How a page uses it
------------------
>>> from ui import plot, theme
>>> ticks = plot.batch_ticks(largest=1024, also=(64,))
>>> figure = plot.Figure(
...     data=[{"type": "scatter", "x": ticks, "y": ticks, "line": {"color": theme.role("ink")}}],
...     layout=theme.layout(shapes=[{"name": "now", "type": "line"}]),
...     layout_narrow=theme.layout(),
...     alt="Line chart of ...",
...     height_px=560,
...     height_narrow_px=430,
... )
>>> live = plot.Live(
...     batch=64,
...     ticks=ticks,
...     columns={"batch": ticks, "say": [f"{tick} sequences" for tick in ticks]},
...     moves=[plot.move(shape="now", x0="batch", x1="batch")],
...     texts={"answer": "say"},
...     say="say",
...     announce="say",
... )

and inside the script `plot.draw(figure, key="cost", live=live, on_batch=take)`, where `take` gets
the new batch as an int, before the script runs again (set `st.session_state["b"]` there).

Rules
-----
* **Colours** are role tokens, `theme.role("limit", 0.07)`, anywhere in a figure: also inside the
  HTML of an annotation (`<span style='color:role:limit'>`). The browser puts in light or dark.
* **Two layouts, one set of traces.** `layout_narrow` is used when the figure is under 560 px wide.
  Both heights are fixed, so the page never jumps. Leave `width` and `height` out of the layouts.
* **Keep the batch out of traces and layouts**, but for `moves`: a figure that came before is not
  drawn again, so a new batch costs 5 ms instead of 50. Lines run over a grid of their own.
* **Axes that carry moved marks have a fixed `range`.**
* **`columns`**: one value a tick each, strings as people read them or numbers as Plotly reads them.
  On a log axis Plotly wants log10 for an annotation's x and y, plain values for shapes and traces.
* **`moves`** name parts by their Plotly `name`: traces, shapes, annotations. A part that one layout
  lacks is skipped. Shapes and annotations move in 3 ms; a trace costs a whole drawing.
  `dot(name)` is a shape of constant size, moved by `xanchor` and `yanchor`. The moved parts need
  no position of their own: the browser places them before the first drawing.
* **`texts`**: {slot: column}. Every element with that `data-live` follows while the slider moves.
  Make such elements with `slot(name, text)` inside `st.html`: Streamlit's markdown would undo the
  change. `**bold**` is the only markup, in slots and columns alike; all else is plain text.
* **`styles`**: {"--css-variable": column}, set on every element with the attribute `data-live-style`.
* **`say`** is the column of the slider's `aria-valuetext`, **`announce`** that of the sentence read
  aloud after half a second's rest.
* A click on the curve writes the batch too, unless `click=False`; on a trace with a `meta`, `on_line`
  gets that. Without `live`, `on_pick` gets the `customdata` of the clicked point.
* **Presenting** enlarges the whole figure; give it a lower one where it should still fit on a screen.
* **Tests** read the box `.plot-box`: `data-batch` (drawn now), `data-served` (the server's last),
  `data-painted` (drawings so far), `data-stamp` (what the page passed), `data-theme`.
"""

from __future__ import annotations

import hashlib
import html
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import streamlit as st

from ui import frame, theme

SOURCE = "app/static/plotly-cartesian.min.js"
"""Plotly's cartesian bundle in ui/static; the address is relative to the page."""

ROOM_SCALE = 1.4
"""How much larger a figure is drawn while presenting, where its width allows it."""

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure for both widths, as plain Plotly dictionaries with role tokens for colours."""

    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    layout_narrow: Mapping[str, Any]
    alt: str
    height_px: int
    height_narrow_px: int


@dataclass(frozen=True, kw_only=True)
class Live:
    """What follows the batch slider, and the table that it follows."""

    batch: int
    ticks: Sequence[int]
    columns: Mapping[str, Sequence[Any]]
    moves: Sequence[Mapping[str, Any]] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    styles: Mapping[str, str] = field(default_factory=dict)
    say: str
    announce: str
    label: str = "Batch"
    click: bool = True

    def __post_init__(self) -> None:
        """Refuse a table that the browser could not follow."""
        for name, column in self.columns.items():
            if len(column) != len(self.ticks):
                msg = f"column {name!r} must have one value a tick ({len(self.ticks)}), got {len(column)}"
                raise ValueError(msg)
        used = {self.say, self.announce, *self.texts.values(), *self.styles.values()}
        used |= {column for move_ in self.moves for column in move_["set"].values()}
        if missing := sorted(used - self.columns.keys()):
            msg = f"columns must hold all that is moved or said, missing {missing}"
            raise ValueError(msg)


def move(
    *, trace: str | None = None, shape: str | None = None, annotation: str | None = None, **columns: str
) -> dict[str, Any]:
    """Return the move that sets attributes of a named part from columns of the table.

    >>> move(shape="now", xanchor="batch", yanchor="usd")
    {'shape': 'now', 'set': {'xanchor': 'batch', 'yanchor': 'usd'}}
    """
    named = {"trace": trace, "shape": shape, "annotation": annotation}
    parts = {kind: name for kind, name in named.items() if name is not None}
    if len(parts) != 1:
        msg = f"a move must name one trace, shape or annotation, got {parts}"
        raise ValueError(msg)
    return {**parts, "set": columns}


def batch_ticks(*, largest: int, also: Sequence[int] = (), per_doubling: int = 16) -> list[int]:
    """Return the whole batches a log slider stops at: every one at first, then evenly spread.

    >>> batch_ticks(largest=8), len(batch_ticks(largest=1024, also=(343,)))
    ([1, 2, 3, 4, 5, 6, 7, 8], 112)
    """
    steps = range(math.ceil(per_doubling * math.log2(max(largest, 1))) + 1)
    spread = {min(largest, round(2 ** (step / per_doubling))) for step in steps}
    return sorted(spread | {1, largest} | {batch for batch in also if 1 <= batch <= largest})


def dot(name: str, *, radius_px: float = 7, filled: bool = True, **changes: Any) -> dict[str, Any]:
    """Return a round mark of constant size for a layout's shapes; give `xref` and `yref` with it.

    It is a path because Plotly refuses the negative half of a circle on a log axis.
    """
    r, k = radius_px, 0.5523 * radius_px  # four Bezier arcs; 0.5523 makes them round
    path = (
        f"M {-r},0 C {-r},{k} {-k},{r} 0,{r} C {k},{r} {r},{k} {r},0 "
        f"C {r},{-k} {k},{-r} 0,{-r} C {-k},{-r} {-r},{-k} {-r},0 Z"
    )
    edge = {"color": theme.role("paper"), "width": 2} if filled else {"color": theme.role("ink"), "width": 2.5}
    fill = theme.role("ink" if filled else "paper")
    pixels = {"type": "path", "xsizemode": "pixel", "ysizemode": "pixel", "path": path}
    return {"name": name, **pixels, "fillcolor": fill, "line": edge, **changes}


def slot(name: str, text: str, *, tag: str = "span", style: str = "") -> str:
    """Return the HTML of an element that follows the slider, for `st.html`; `style` is its CSS class.

    >>> slot("usd", "costs **$1.19** & more")
    '<span class="" data-live="usd">costs <b>$1.19</b> &amp; more</span>'
    """
    parts = html.escape(text).split("**")
    marked = "".join(f"<b>{part}</b>" if at % 2 else part for at, part in enumerate(parts))
    return f'<{tag} class="{html.escape(style)}" data-live="{html.escape(name)}">{marked}</{tag}>'


def payload(
    figure: Figure,
    *,
    name: str,
    live: Live | None = None,
    stamp: str = "",
    pick: bool = False,
    scale: float = 1.0,
    held: Collection[str] = (),
) -> bytes:
    """Return what the browser gets: three lines of JSON, for the box, the figure and the table.

    The browser names figure and table by their digests when it asks for a batch; those that it holds
    already (`held`) are not sent again, which is nine tenths of what a change would carry.
    """
    drawing = _json(
        {
            "data": [_short(trace) for trace in figure.data],
            "layout": figure.layout,
            "layout_narrow": figure.layout_narrow,
        }
    )
    table = _json(
        live
        and {
            "ticks": live.ticks,
            "columns": _short(live.columns),
            "moves": live.moves,
            "texts": live.texts,
            "styles": live.styles,
            "say": live.say,
            "announce": live.announce,
            "label": live.label,
            "click": live.click,
        }
    )
    digests = {"figure": _digest(drawing), "table": _digest(table)}
    box = {
        "source": SOURCE,
        "name": name,
        "stamp": stamp,
        "pick": pick,
        "scale": scale,
        "alt": figure.alt,
        "height_px": figure.height_px,
        "height_narrow_px": figure.height_narrow_px,
        "batch": None if live is None else live.batch,
        **digests,
    }
    lines = [_json(box), drawing, table]
    return b"\n".join(
        b"" if digest in held else line for line, digest in zip(lines, ("", *digests.values()), strict=True)
    )


def _json(part: object) -> bytes:
    return orjson.dumps(part, option=orjson.OPT_SERIALIZE_NUMPY)


def _digest(line: bytes) -> str:
    return hashlib.blake2b(line, digest_size=8).hexdigest()


def _short(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns with their numbers in single precision: seven digits are more than a screen shows."""
    return {name: _single(column) for name, column in columns.items()}


def _single(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column.astype(np.float32) if column.dtype == np.float64 else column
    if isinstance(column, list) and column and all(isinstance(value, float) for value in column):
        return np.array(column, dtype=np.float32)
    return column


def draw(
    figure: Figure,
    *,
    key: str,
    live: Live | None = None,
    stamp: str = "",
    on_batch: Callable[[int], None] | None = None,
    on_line: Callable[[Any], None] | None = None,
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Put a figure on the page.

    Parameters
    ----------
    figure : Figure
        Traces, two layouts, two heights, and the words for those who can't see it.
    key : str
        Unique on the page and constant: it is what keeps the figure alive between runs.
    live : Live, optional
        The batch slider and its table; a page has at most one figure with it.
    stamp : str
        Anything that tells which scenario this is; tests wait for it in `data-stamp`.
    on_batch : callable, optional
        Gets the batch the reader chose, before the script runs again.
    on_line : callable, optional
        Gets the `meta` of the line that the reader clicked, after `on_batch`; for lines that have one.
    on_pick : callable, optional
        Gets the customdata of a clicked point, where there is no slider.
    """
    held = st.session_state.pop(_HELD + key, ())
    lines = [trace["meta"] for trace in figure.data if "meta" in trace]
    _mount(
        key=key,
        data=payload(
            figure, name=key, live=live, stamp=stamp, pick=on_pick is not None, held=held,
            scale=ROOM_SCALE if frame.presenting() else 1.0,
        ),
        on_batch_change=lambda: _chosen(key, on_batch, on_line, live, lines),
        on_pick_change=lambda: _picked(key, on_pick),
    )


_HELD = "_plot_held_"


def _chosen(
    key: str, listener: Callable[[int], None] | None, on_line: Callable[[Any], None] | None, live: Live | None,
    lines: Sequence[Any],
) -> None:  # fmt: skip
    """Pass on the batch and the line that the reader chose, and remember for this run what the browser holds."""
    message = st.session_state[key].get("batch")
    if listener is None or live is None or not isinstance(message, dict):
        return
    batch, held = message.get("batch"), message.get("held")
    if isinstance(held, list):
        st.session_state[_HELD + key] = tuple(str(digest) for digest in held[:4])
    if batch in live.ticks:  # only a message made by hand holds anything else
        listener(batch)
    if on_line is not None and message.get("line") in lines:
        on_line(message["line"])


def _picked(key: str, listener: Callable[[Any], None] | None) -> None:
    """Pass on the customdata of the point that the reader clicked."""
    value = st.session_state[key].get("pick")
    if listener is not None and value is not None:
        listener(value)


_mount = st.components.v2.component(
    "plot",
    html=(_HERE / "plot.html").read_text(encoding="utf-8"),
    css=(_HERE / "plot.css").read_text(encoding="utf-8"),
    js=(_HERE / "plot.js").read_text(encoding="utf-8").replace('"PALETTE"', json.dumps(theme.palette())),
    isolate_styles=False,
)
