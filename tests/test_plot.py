"""What the chart component sends: whole tables, named parts, plain text."""

import json

import numpy as np
import pytest

from ui import plot, theme

TICKS = [1, 2, 4]


def live(**changes):
    columns = {"batch": TICKS, "say": ["one", "two", "four"]}
    return plot.Live(**{"batch": 2, "ticks": TICKS, "columns": columns, "say": "say", "announce": "say"} | changes)


def figure():
    data = [{"type": "scatter", "x": np.array([1.0, 2.0]), "line": {"color": theme.role("ink")}}]
    return plot.Figure(
        data=data,
        layout=theme.layout(),
        layout_narrow=theme.layout(),
        alt="a",
        height_px=560,
        height_narrow_px=430,
    )


def test_payload_is_three_lines_of_json_with_arrays_and_roles():
    lines = plot.payload(figure(), name="cost\n", live=live(), stamp="here").split(b"\n")
    box, drawing, table = map(json.loads, lines)

    assert drawing["data"][0]["x"] == [1.0, 2.0]
    assert drawing["data"][0]["line"]["color"] == "role:ink"
    assert (box["batch"], table["ticks"], box["stamp"]) == (2, TICKS, "here")


def test_what_the_browser_holds_is_not_sent_again():
    box = json.loads(plot.payload(figure(), name="cost", live=live()).split(b"\n")[0])
    again = plot.payload(figure(), name="cost", live=live(batch=4), held=(box["figure"], box["table"])).split(
        b"\n"
    )

    assert json.loads(again[0]) == box | {"batch": 4}
    assert again[1:] == [b"", b""]


def test_numbers_travel_with_seven_digits():
    sent = plot.payload(figure(), name="cost", live=live(columns={"say": [1 / 3, 2 / 3, float("nan")]}))

    assert json.loads(sent.split(b"\n")[2])["columns"]["say"] == [0.33333334, 0.6666667, None]


def test_short_column_is_refused():
    with pytest.raises(ValueError, match="column 'say' must have one value a tick"):
        live(columns={"batch": TICKS, "say": ["one"]})


def test_missing_column_is_refused():
    with pytest.raises(ValueError, match=r"missing \['usd'\]"):
        live(texts={"answer": "usd"})


def test_move_names_exactly_one_part():
    with pytest.raises(ValueError, match="must name one trace, shape or annotation"):
        plot.move(shape="now", annotation="now", x="batch")


@pytest.mark.parametrize("largest", [1, 2, 7, 1024, 65_536])
def test_ticks_rise_from_one_to_the_largest_and_hold_what_they_must(largest):
    ticks = plot.batch_ticks(largest=largest, also=(3, 343))

    assert ticks == sorted(set(ticks))
    assert (ticks[0], ticks[-1]) == (1, largest)
    assert {b for b in (3, 343) if b <= largest} <= set(ticks)


def test_slot_escapes_everything_but_bold():
    assert plot.slot("a", "**<i>**") == '<span class="" data-live="a"><b>&lt;i&gt;</b></span>'


def test_a_clicked_line_is_passed_on_after_its_batch_and_only_if_the_figure_has_it(monkeypatch):
    heard = []
    held = {"cost": {"batch": {"batch": 4, "line": 8, "held": ["a"]}}}
    monkeypatch.setattr(plot.st, "session_state", held)
    for lines in ([8], [2]):
        plot._chosen("cost", heard.append, lambda value: heard.append(("line", value)), live(), lines)

    assert heard == [4, ("line", 8), 4]


def test_the_browser_is_told_how_much_larger_to_draw():
    box = json.loads(plot.payload(figure(), name="cost", scale=plot.ROOM_SCALE).split(b"\n")[0])

    assert box["scale"] == 1.4
