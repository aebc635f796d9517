"""Find a free port on this machine."""

import socket


def free() -> int:
    """A TCP port on which nothing listens, and which no other process gets from the system for a minute.

    If the listening side of a connection closes it before the other side does, the system keeps the port in
    TIME_WAIT. No other process gets such a port by chance, but a server may still bind it, because all
    servers set SO_REUSEADDR.
    """
    with socket.socket() as listener, socket.socket() as client:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.close()
        return listener.getsockname()[1]
