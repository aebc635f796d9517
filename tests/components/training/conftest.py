"""What the tests of the queue and of its jobs share."""

import pytest

from components.training.queue import TrainingQueue


@pytest.fixture
def trainings(tmp_path, monkeypatch):
    """A queue of the test's own with a worker; what runs in this process uses its store too."""
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    trainings = TrainingQueue()
    trainings.sign_worker()
    return trainings
