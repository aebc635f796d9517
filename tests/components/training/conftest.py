"""Fixtures of the tests of the queue and of its jobs."""

import pytest

from components.training import queue


@pytest.fixture
def trainings(tmp_path, monkeypatch):
    """The queue, in a store of the test's own, with a worker."""
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    queue.sign()
    return queue
