"""What is kept on disk stands in a folder of this run of the tests, also for the servers that it starts.

A property is tested however slow the machine is. Recipes never change: those that the tests of one process
share are built once. Small matrices are multiplied by one thread each: more of them wait for one another
busily, where tests run side by side. Python keeps what it has compiled, also for the servers that start here,
where an image's settings forbid it.
"""

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is there; also for those that start here

import numpy as np
import pytest
from cachetools import LRUCache
from hypothesis import settings

from components.language.scene import scenes
from components.training import recipes
from components.training.worker import ChildWorker
from tests.folders import FOLDER, cache_folder

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
recipes.cached_recipe.cache = LRUCache(500)


def pytest_addoption(parser):
    parser.addoption("--scene", help="run only what concerns the scene of this slug, or all scenes at once")


def pytest_collection_modifyitems(config, items):
    slug = config.getoption("--scene")
    if slug is None:
        return
    if slug not in scenes():
        raise pytest.UsageError(f"no scene {slug!r}; there are {', '.join(scenes())}")
    config.hook.pytest_deselected(items=[item for item in items if not concerns(item, slug)])
    items[:] = [item for item in items if concerns(item, slug)]


def concerns(item, slug):
    """Whether a test has the scene, or its slug, among its parameters, or is one of its own or of all."""
    if item.path.match(f"tests/scenes/test_{slug}.py") or item.get_closest_marker("all_scenes"):
        return True
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return any(getattr(each, "slug", each) == slug for each in given if not isinstance(each, np.ndarray))


def pytest_configure():
    os.environ["CACHE_DIR"] = cache_folder(FOLDER.name)


def pytest_unconfigure():
    FOLDER.cleanup()


@pytest.fixture
def idle(monkeypatch):
    """No worker is started: it would import PyTorch to train what nobody waits for."""
    monkeypatch.setattr(ChildWorker, "ready", lambda _: None)
