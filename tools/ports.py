"""A free TCP port on this machine."""

import socket


def free() -> int:
    """A free TCP port that the system assigns to no other process for about a minute.

    To reserve the port, this function accepts a connection on it, and closes this connection before the
    client does. Then the system keeps the port in TIME_WAIT, and does not assign it to a process that asks
    for any free port. A server can still bind it by number, because servers set SO_REUSEADDR.
    """
    with socket.socket() as listener, socket.socket() as client:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        accepted.close()
        return listener.getsockname()[1]
