"""`import normscape` in a notebook's kernel, without a browser: the messages that the front end gets."""

from collections.abc import Iterator

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def kernel() -> Iterator[BlockingKernelClient]:
    manager, client = start_new_kernel(startup_timeout=PATIENCE, kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def comm_targets(kernel: BlockingKernelClient, code: str) -> list[str]:
    """Run a cell; return the target names of the comms (message channels) that it opens in the front end."""
    opened: list[str] = []

    def hear(message):
        if message["msg_type"] == "comm_open":
            opened.append(message["content"]["target_name"])

    reply = kernel.execute_interactive(code, timeout=PATIENCE, output_hook=hear)
    assert reply["content"]["status"] == "ok", reply["content"].get("evalue")
    return opened


def test_a_figure_opens_comms_for_widgets_only(kernel):
    """`import normscape` opens no comm, and a figure opens only comms of widgets.

    `import dash` alone opens a comm, about which a front end without Dash's extension warns.
    """
    assert comm_targets(kernel, "import normscape; from normscape import Figure, own, record") == []
    assert set(comm_targets(kernel, "figure = Figure('fold')")) == {"jupyter.widget"}


def test_dash_in_the_same_kernel_still_has_its_comm(kernel):
    assert comm_targets(kernel, "import normscape; normscape.Figure; import dash") == []
    first = "dash._jupyter._dash_comm.send({'type': 'base_url_request'})"
    assert comm_targets(kernel, first) == ["dash"], "opened by its first message"
    assert comm_targets(kernel, first) == []
