"""Every colour of the product, once, for the light and the dark theme (ux: roles, not colours).

Charts are built on a server that can't know which theme the reader's screen uses, so they carry
the *name* of a role and the browser puts in the colour. Page text gets the same roles as CSS
variables, which the browser resolves by its own colour scheme.
"""

from functools import cache
from pathlib import Path
from typing import Final

STYLES: Final = Path(__file__).parent / "styles"

ROLES: Final[dict[str, tuple[str, str]]] = {
    # role: (light, dark)
    "ink": ("#1B1F24", "#E6E8EB"),
    "muted": ("#57606A", "#9AA4AF"),
    "ground": ("#ECEEF1", "#262B31"),
    "paper": ("#FFFFFF", "#14181D"),
    "grid": ("#E4E7EB", "#2B3138"),
    "floor": ("#0B6E4F", "#4CC38A"),
    "limit": ("#B3261E", "#FF8A80"),
    "weights": ("#0072B2", "#58A6E8"),
    "cache": ("#E69F00", "#F2B632"),
    "arithmetic": ("#B0447F", "#E58ABA"),
    "links": ("#3AA6D0", "#7CCBEA"),
    "fixed": ("#6B7280", "#9CA3AF"),
    # Text that stands on a filled band of the role of the same name.
    "on_weights": ("#FFFFFF", "#14181D"),
    "on_cache": ("#1B1F24", "#14181D"),
    "on_arithmetic": ("#FFFFFF", "#14181D"),
    "on_links": ("#1B1F24", "#14181D"),
    "on_fixed": ("#FFFFFF", "#14181D"),
    # Up to four accelerators, or four pinned scenarios.
    "series_1": ("#0072B2", "#58A6E8"),
    "series_2": ("#B84E00", "#FF9B5E"),
    "series_3": ("#7A3E9D", "#C49BE8"),
    "series_4": ("#5B6B00", "#B5C94A"),
}

MARKS: Final = ("circle", "square", "triangle-up", "cross")
"""A mark for each of the four series, so that no reading rests on colour alone."""

DASHES: Final = ("solid", "dash", "dot", "dashdot")
"""A line style for each of the four pinned scenarios."""

FONT_PX: Final = 13
"""Size of text in figures; nothing is smaller than 12."""


def role(name: str, opacity: float = 1.0) -> str:
    """Return the token that the browser replaces by the colour of a role.

    >>> role("ink"), role("limit", 0.07)
    ('role:ink', 'role:limit/0.07')
    """
    if name not in ROLES:
        known = ", ".join(ROLES)
        msg = f"colour role must be one of {known}, got {name!r}"
        raise ValueError(msg)
    return f"role:{name}" if opacity >= 1 else f"role:{name}/{opacity:g}"


def palette() -> dict[str, dict[str, str]]:
    """Return {"light": {role: colour}, "dark": {role: colour}} for the chart component."""
    return {
        "light": {name: light for name, (light, _) in ROLES.items()},
        "dark": {name: dark for name, (_, dark) in ROLES.items()},
    }


@cache
def css() -> str:
    """Return the one style sheet of all pages: a `--role` variable a role, then ui/styles.

    One for all, because each style sheet of a page's own would be one more element in every change.
    """
    variables = "".join(
        f"--{name.replace('_', '-')}:light-dark({light},{dark});" for name, (light, dark) in ROLES.items()
    )
    sheets = "".join(path.read_text(encoding="utf-8") for path in sorted(STYLES.glob("*.css")))
    return f":root{{{variables}}}\n{sheets}"


def layout(**changes: object) -> dict[str, object]:
    """Return the Plotly layout that every figure starts from, with the given parts replaced.

    A constant `uirevision` keeps a reader's zoom while the scenario changes.
    """
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": FONT_PX, "color": role("ink")},
        "hoverlabel": {
            "bgcolor": role("paper"),
            "bordercolor": role("muted"),
            "font": {"size": FONT_PX, "color": role("ink")},
        },
        "margin": {"l": 60, "r": 20, "t": 30, "b": 40},
        "showlegend": False,
        "hovermode": "x",
        "uirevision": "keep",
        **changes,
    }


def axis(**changes: object) -> dict[str, object]:
    """Return the axis that every figure starts from, with the given parts replaced."""
    return {
        "gridcolor": role("grid"),
        "linecolor": role("muted"),
        "tickcolor": role("muted"),
        "zeroline": False,
        "fixedrange": False,
        "ticks": "",
        "ticklabeloverflow": "allow",  # looking for it takes a fifth of a drawing
        **changes,
    }
