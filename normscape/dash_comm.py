"""Import Dash in a notebook without a warning in the browser.

In a kernel, Dash opens a comm (a channel to the front end) as soon as it is imported. A front end without
Dash's own extension does not know this channel, and warns. Only Dash's notebook applications need the comm.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def import_dash_quietly() -> None:
    """Import Dash so that it opens its channel to the notebook only when a Dash application sends a message.

    Does nothing if Dash is imported already.
    """
    if "dash" in sys.modules:
        return
    try:
        import comm
    except ModuleNotFoundError:  # not in a notebook: Dash opens no comm
        import_module("dash")
        return
    create = comm.create_comm
    comm.create_comm = lambda *args, **named: _opened_by_first_message(create(*args, primary=False, **named))
    try:
        import_module("dash")
    finally:
        comm.create_comm = create


def _opened_by_first_message(channel: Any) -> Any:
    def send(*args: Any, **named: Any) -> None:
        del channel.send
        channel.open()
        channel.send(*args, **named)

    channel.send = send
    return channel
