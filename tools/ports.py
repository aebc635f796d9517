"""Find a free port on this machine."""

import socket


def free() -> int:
    """A TCP port on which nothing listens, and which the system gives to no other process for a minute.

    A connection that this side closes first leaves the port in TIME_WAIT: no other process gets it by chance,
    but a server may bind it, as all set SO_REUSEADDR.
    """
    with socket.socket() as listener, socket.socket() as client:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.close()
        return listener.getsockname()[1]
