"""What the server needs for a change, without a browser: from a widget's message to the end of the script."""

import time
from collections.abc import Iterator

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from bench import Row, bench
from tools.server import served

CHANGES = 30
WARM = 5
BATCH, CONTROL = "b", "out"

Widgets = dict[str, tuple[str, str]]
"""Number boxes by key: id, and the fragment that they run."""


@bench
def rerun() -> Iterator[Row]:
    """Change the batch, and a control whose curve and table have to be computed anew; both run the page alone."""
    with served() as site, connect(f"ws{site.url.removeprefix('http')}/_stcore/stream", max_size=None) as socket:
        widgets = _run(socket, BackMsg(), {})
        for name, key, first in (("rerun_ms", BATCH, 65), ("rerun_control_ms", CONTROL, 1001)):
            widget_id, fragment = widgets[key]
            taken = []
            for value in range(first, first + WARM + CHANGES):
                message = BackMsg()
                message.rerun_script.fragment_id = fragment
                state = message.rerun_script.widget_states.widgets.add(id=widget_id)
                state.int_value = value
                started = time.perf_counter()
                _run(socket, message, widgets)
                taken.append(1000 * (time.perf_counter() - started))
                time.sleep(0.05)  # as a reader would: what the server does after a run isn't part of the next
            yield Row(name, "ms", taken[WARM:])


def _run(socket: ClientConnection, message: BackMsg, known: Widgets) -> Widgets:
    """Send a message, read until the script has ended; return the number boxes seen."""
    if not message.WhichOneof("type"):
        message.rerun_script.query_string = ""
    socket.send(message.SerializeToString())
    found = dict(known)
    while True:
        got = ForwardMsg()
        data = socket.recv(timeout=30)
        got.ParseFromString(data if isinstance(data, bytes) else data.encode())
        if got.WhichOneof("type") == "script_finished":
            if got.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                continue
            return found
        element = got.delta.new_element
        if element.WhichOneof("type") == "number_input":
            widget_id = element.number_input.id
            found[widget_id.rsplit("-", 1)[-1]] = (widget_id, got.delta.fragment_id)
