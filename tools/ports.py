"""Find a free port on this machine."""

import socket


def free() -> int:
    """A TCP port on which nothing listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
