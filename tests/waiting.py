"""Wait for what another process does."""

import time
import urllib.request


def until(condition, seconds=60):
    """Call a function until its result is true, and return it; AssertionError on timeout."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def answers(address):
    """Whether a server answers."""
    try:
        return urllib.request.urlopen(address, timeout=5).status == 200
    except OSError:
        return False
