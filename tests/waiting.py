"""Wait for what another process does."""

import time
import urllib.request


def until(condition, seconds=300):
    """Call a function until its result is true, and return it; AssertionError on timeout.

    The bound is for a machine that is busy with all else: a passing test never comes near it.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def answers(address):
    """Whether a server answers."""
    try:
        return urllib.request.urlopen(address, timeout=60).status == 200
    except OSError:
        return False
