"""What is kept on disk stands in a folder of this run of the tests, also for the servers that it starts.

A property is tested however slow the machine is. Recipes never change: those that the tests of one process
share are built once. Small matrices are multiplied by one thread each: more of them wait for one another
busily, where tests run side by side. Python keeps what it has compiled, also for the servers that start here,
where an image's settings forbid it.
"""

import os
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is there; also for those that start here

import pytest
from hypothesis import settings

from components.training import recipes
from components.training.worker import ChildWorker

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
recipes.KEPT = 500
FOLDER = tempfile.TemporaryDirectory(prefix="normscape-", ignore_cleanup_errors=True)


def pytest_configure():
    os.environ["CACHE_DIR"] = FOLDER.name


def pytest_unconfigure():
    FOLDER.cleanup()


@pytest.fixture
def idle(monkeypatch):
    """No worker is started: it would import PyTorch to train what nobody waits for."""
    monkeypatch.setattr(ChildWorker, "ready", lambda _: None)
