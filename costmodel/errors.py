"""The one error that a user's input can cause: a sentence saying what, the rule, the value, what to do."""

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """A value that the model can't use, told in one sentence.

    Parameters
    ----------
    sentence : str
        What is wrong, the rule, the value that was got, and what to do.
    field : str, optional
        The name of the offending field or argument, as in the table of docs/scenario.md.
    """

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.field = field


def nearest(name: str, known: Iterable[str], *, count: int = 3) -> list[str]:
    """Return the known names closest to a mistyped one, best first.

    >>> nearest("h20", ["h200-sxm", "h100-sxm", "l4"], count=1)
    ['h200-sxm']
    """
    names = sorted(set(known))
    lowered = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=count, cutoff=0.4)
    return [lowered[n] for n in close]


def quoted(value: object, *, limit: int = 60) -> str:
    """Return a value as it may stand in a sentence: short, printable, on one line.

    >>> quoted("a" * 80, limit=10)
    "'aaaaaaaaaa…'"
    """
    text = value if isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() else "?" for c in text)
    short = text if len(text) <= limit else text[:limit] + "…"
    return f"'{short}'" if isinstance(value, str) else short
