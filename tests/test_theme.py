"""Colours are legible in both themes, and Streamlit's own file repeats them rightly."""

import tomllib
from pathlib import Path

import pytest

from ui import theme

CONFIG = tomllib.loads((Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def luminance(colour):
    """WCAG's relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_text_roles_stand_out_from_the_paper(name):
    colours = theme.palette()[name]

    for role in ("ink", "muted", "floor", "limit", "series_1", "series_2", "series_3", "series_4"):
        assert contrast(colours[role], colours["paper"]) >= 4.5, role


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("part", ["weights", "cache", "arithmetic", "links", "fixed"])
def test_names_inside_bands_can_be_read(name, part):
    colours = theme.palette()[name]

    assert contrast(colours[part], colours[f"on_{part}"]) >= 4.5


@pytest.mark.parametrize("name", ["light", "dark"])
def test_streamlit_is_told_the_same_colours(name):
    told, colours = CONFIG["theme"][name], theme.palette()[name]

    assert (told["backgroundColor"], told["textColor"]) == (colours["paper"], colours["ink"])


def test_unknown_role_is_refused_by_name():
    with pytest.raises(ValueError, match="got 'blood'"):
        theme.role("blood")
