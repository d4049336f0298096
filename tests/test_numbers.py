"""Numbers as people type them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.cli.numbers import MOST_VALUES, number, numbers
from costmodel.errors import InputError
from tests import strategies  # noqa: F401  (loads the profile of examples)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("64", [64]), ("1,2,4", [1, 2, 4]), ("3:5", [3, 4, 5]), ("1:1", [1]), ("1:8:4", [1, 2, 4, 8]),
        (" 1 , 2 ", [1, 2]), ("1e3", [1000]), ("1_000", [1000]), ("0.5", [0.5]), ("-3", [-3]), ("1:2,8,16:64:3",
        [1, 2, 8, 16, 32, 64]), ("1.5:3.5", [2, 3]), ("0.5:2:3", [0.5, 1, 2]), ("1:3:9", [1, 2, 3]),
        ("7:7:5", [7]),
    ],
)  # fmt: skip
def test_lists_ranges_and_ratios(text, values):
    assert numbers(text, option="--batch") == pytest.approx(values)


def test_sixty_values_in_even_ratios():
    found = numbers("1:1024:60", option="--batch")

    assert (found[0], found[-1]) == (1, 1024)
    assert (found == found.round()).all()
    assert (np.diff(found) > 0).all()
    assert 40 < found.size <= 60
    assert numbers("1.5:1024:60", option="--batch").size == 60


@pytest.mark.parametrize(
    "text",
    ["", "x", "1,,2", "1,", ",", ":", "1:", ":5", "1:2:3:4", "5:1", "0:8:4", "-1:8:4", "1:8:0", "1:8:2.5", "1:8:x",
     "nan", "inf", "-inf", "1e999", "1:inf", "nan:5", "0x10", "1 2", "1;2", "--", "1:1e12", "1:1e6", "1:10:1e9",
     "½",
     "1" * 400 + "e400", "\x00", "1\n2"],
)  # fmt: skip
def test_everything_else_is_refused_in_one_sentence(text):
    with pytest.raises(InputError) as caught:
        numbers(text, option="--batch")
    assert caught.value.sentence.startswith("--batch must be ")
    assert caught.value.sentence.isprintable()
    assert len(caught.value.sentence) < 250


def test_a_long_list_is_refused():
    with pytest.raises(InputError, match=r"at most 100,000 values, got 200,000"):
        numbers(",".join(["1:50000"] * 4), option="--batch")


@pytest.mark.parametrize("text", ["1,2", "1:3", "", "x"])
def test_one_number(text):
    assert number("0.9", option="--memory-fraction") == 0.9
    with pytest.raises(InputError, match="^--memory-fraction must be"):
        number(text, option="--memory-fraction")


def test_one_whole_number():
    assert number("8", option="--max-seqs", whole=True) == 8
    with pytest.raises(InputError, match="one whole number, got '1.5'"):
        number("1.5", option="--max-seqs", whole=True)


@given(text=st.text(alphabet="0123456789.,:eE+-_ naif", max_size=30))
def test_any_text_gives_finite_numbers_or_a_sentence(text):
    try:
        found = numbers(text, option="--batch")
    except InputError:
        return
    assert np.isfinite(found).all()
    assert found.size <= MOST_VALUES


@given(low=st.integers(-50, 1000), width=st.integers(0, 300))
def test_a_range_holds_both_ends_and_all_between(low, width):
    found = numbers(f"{low}:{low + width}", option="--batch")

    assert found.tolist() == list(range(low, low + width + 1))
