"""Wait until another process has done something."""

import time
import urllib.request

PATIENCE = 600  # seconds; generous, for a busy machine


def until(condition, seconds=PATIENCE):
    """Call a function until its result is true, and return it; AssertionError on timeout."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def soon(seconds, limit, attempts=5):
    """Whether `seconds()`, a measured time, is below a limit in at least one of some attempts.

    A server with a fault exceeds the limit each time; a correct one may exceed it once, on a busy machine.
    """
    return any(seconds() < limit for _ in range(attempts))


def answers(address):
    """Whether a server answers."""
    try:
        return urllib.request.urlopen(address, timeout=PATIENCE).status == 200
    except OSError:
        return False
