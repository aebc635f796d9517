"""Waiting for what another process does."""

import time
import urllib.request


def until(condition, seconds=60):
    """The first true answer; AssertionError if none comes."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def answers(address):
    """Whether a server is there."""
    try:
        return urllib.request.urlopen(address, timeout=5).status == 200
    except OSError:
        return False
