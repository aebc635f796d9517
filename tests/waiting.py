"""Waiting for what another process does."""

import time


def until(condition, seconds=60):
    """The first true answer; AssertionError if none comes."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")
