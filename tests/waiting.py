"""Wait until another process has done something."""

import time
import urllib.request

PATIENCE = 600  # seconds; generous, for a busy machine


def until(condition, seconds=PATIENCE):
    """Call `condition` until its result is true; return the result. Raises AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def soon(seconds, limit, attempts=5):
    """Whether `seconds()`, which measures a time, returns less than `limit` in at least one attempt.

    A server with a fault exceeds the limit each time; a correct one may exceed it once, on a busy machine.
    """
    return any(seconds() < limit for _ in range(attempts))


def answers(address):
    """Whether a server answers a GET request for this URL with status 200."""
    try:
        return urllib.request.urlopen(address, timeout=PATIENCE).status == 200
    except OSError:
        return False
