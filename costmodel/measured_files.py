"""Tables of measured runs as files: read whole, in UTF-8 or UTF-16, or refused in one sentence."""

from pathlib import Path

from costmodel import measured
from costmodel.errors import InputError, quoted
from costmodel.measured import MOST_BYTES, Measured

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def load(path: str) -> Measured:
    """Return a table of measured runs from a file.

    Raises
    ------
    InputError
        When there is no such file, or when it is no table of text.
    """
    data = _bytes(Path(path), quoted(path))
    if data[:2] in _UTF16:
        text = _decoded(data, "utf-16", path)
    elif b"\x00" in data:
        raise _not_text(path)
    else:
        text = _decoded(data, "utf-8-sig", path)
    return measured.parse(text, name=f"--measured {quoted(path)}")


def _bytes(path: Path, shown: str) -> bytes:
    if _folder(path):
        msg = f"--measured must be a CSV file, got the folder {shown}; name a file in it"
        raise InputError(msg, field="measured")
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no path of this system"
        msg = f"--measured must be a CSV file that can be read, got {shown} ({why}); check the path"
        raise InputError(msg, field="measured") from None
    if len(data) > MOST_BYTES:
        msg = f"--measured must be at most {MOST_BYTES / 1e6:.0f} MB, got more in {shown}; split the file"
        raise InputError(msg, field="measured")
    return data


def _folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _decoded(data: bytes, encoding: str, path: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise _not_text(path) from None


def _not_text(path: str) -> InputError:
    msg = f"--measured must be a CSV file in UTF-8, got other bytes in {quoted(path)}; save it again as text"
    return InputError(msg, field="measured")
