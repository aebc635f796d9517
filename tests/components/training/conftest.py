"""Fixtures of the tests of the queue and of its jobs."""

import pytest

from components.training import queue


@pytest.fixture
def trainings(tmp_path, monkeypatch):
    """The module `queue`, with a store of the test's own, and a heartbeat as if a worker were alive."""
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    queue.sign()
    return queue
