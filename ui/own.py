"""A model and an accelerator of the reader's own: a config.json, and a form of figures."""

import streamlit as st

from costmodel import custom, importer
from costmodel.errors import InputError
from costmodel.hardware import Accelerator
from ui import help as words
from ui import state, units
from ui.controls import CONTROL

MOST_BYTES = 1_000_000
_ERROR_MODEL = "_own_config_error"
_ERROR_HARDWARE = "_own_hardware_error"
STAYS = "It stays in this session: it isn't stored, and no link carries it."

FORM: tuple[tuple[str, str, float, float, str], ...] = (
    # part, label, SI per unit shown, start, help
    ("bw", "Memory bandwidth, TB/s", units.BYTES_PER_TB, 3.35, "Peak of one accelerator."),
    ("cap", "Memory, GB", units.BYTES_PER_GB, 80.0, "As a driver shows it; engines leave a tenth free."),
    ("bf16", "bf16, TFLOP/s", units.FLOPS_PER_TFLOPS, 989.0, "Dense peak, not the sparse one."),
    ("fp8", "fp8, TFLOP/s", units.FLOPS_PER_TFLOPS, 1979.0, "Dense peak; 0 where it has none."),
    ("link", "Link, GB/s one way", units.BYTES_PER_GB, 450.0, "Sum over its links, one direction; 0: PCIe."),
    ("n", "Joined by the link", 1.0, 8.0, "Accelerators in one link domain."),
)


# A model ----------------------------------------------------------------------------------------


def draw_model() -> None:
    """Draw the way in for a config.json."""
    given = st.session_state.get(state.OWN_CONFIG)
    label = "config.json: given" if given else "Give a config.json"
    with st.popover(label, width="stretch", icon=":material/data_object:"):
        st.caption(f"A Hugging Face config.json, at most 1 MB. It is read, never run. {STAYS}")
        with st.form("own_config", border=False):
            file = st.file_uploader("File", type="json", key="own_file", max_upload_size=1)
            text = st.text_area("Or paste it", key="own_text", max_chars=MOST_BYTES, height=100)
            if st.form_submit_button("Use it"):
                take_config(file.getvalue() if file is not None else text or "")
        if error := st.session_state.get(_ERROR_MODEL):
            st.error(error)


def take_config(source: bytes | str) -> None:
    """Check a config and keep it in the session; otherwise say what is wrong with it."""
    try:
        text = readable(source)
    except InputError as error:
        st.session_state[_ERROR_MODEL] = error.sentence
        return
    st.session_state.pop(_ERROR_MODEL, None)
    st.session_state[state.OWN_CONFIG] = text
    st.rerun()


def readable(source: bytes | str) -> str:
    """Return a config's text if a model can be made of it.

    Raises
    ------
    InputError
        For what is too large, isn't text, isn't an object of JSON, or no known architecture.
    """
    if len(source) > MOST_BYTES:
        msg = f"config.json must have at most {MOST_BYTES:,} bytes, got {len(source):,}; give the config alone"
        raise InputError(msg, field="model")
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8")
        except UnicodeDecodeError:
            msg = "config.json must be UTF-8 text, got other bytes; save it again as text"
            raise InputError(msg, field="model") from None
    text = source.strip()
    if not text.startswith("{"):  # a name here would be taken for a file on the server
        msg = "config.json must be one JSON object, got text that doesn't begin with a brace; paste the whole file"
        raise InputError(msg, field="model")
    importer.load(text)
    return text


# An accelerator ---------------------------------------------------------------------------------


def draw_hardware() -> None:
    """Draw the form of an accelerator's figures, and the same as text."""
    text = str(state.value("hwx") or "")
    label = f"Your accelerator: {_name(text)}" if text else "Type in your accelerator"
    with st.popover(label, width="stretch", icon=":material/memory:"):
        with st.form("own_hardware", border=False):
            st.text_input("Name", "mine", key="own_name", max_chars=40)
            for at in range(0, len(FORM), 2):
                for column, (part, name, _, start, told) in zip(st.columns(2), FORM[at : at + 2], strict=True):
                    column.number_input(name, 0.0, 1e7, start, key=f"own_{part}", help=told, format="%g", step=1.0)
            st.form_submit_button("Use it", on_click=take_hardware)
        if error := st.session_state.get(_ERROR_HARDWARE):
            st.error(error)
        st.text_input(
            CONTROL["hwx"].label, "", key="hwx", bind="query-params", help=words.HELP["hwx"],
            on_change=check_hardware, max_chars=150,
        )  # fmt: skip


def take_hardware() -> None:
    """Make the text of the form's figures, if they can be an accelerator's."""
    values = {part: float(st.session_state[f"own_{part}"]) * unit for part, _, unit, _, _ in FORM}
    if not values["link"]:
        del values["n"]
    text = custom.text(name=str(st.session_state["own_name"]), values=values)
    if _typed(text) is not None:
        st.session_state["hwx"] = text


def check_hardware() -> None:
    """Keep a typed text only if it is an accelerator."""
    text = str(st.session_state["hwx"] or "")
    if text and _typed(text) is None:
        st.session_state["hwx"] = ""


def _typed(text: str) -> Accelerator | None:
    try:
        found = custom.typed(custom.PREFIX + text)
    except InputError as error:
        st.session_state[_ERROR_HARDWARE] = error.sentence
        return None
    st.session_state.pop(_ERROR_HARDWARE, None)
    return found


def _name(text: str) -> str:
    try:
        return custom.typed(custom.PREFIX + text).short
    except InputError:
        return "?"
