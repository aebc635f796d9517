"""Fixtures for all tests, and settings of the test run.

CACHE_DIR is a temporary folder, which is deleted when the run ends. Hypothesis has no deadline, because the
machine may be slow. Recipes never change, so all tests of a process share the recipes that one of them has
built. Matrix products use one thread: with several, tests that run in parallel would wait for one another.
Python caches bytecode, also in servers that tests start, even if the environment of a container image forbids
it.
"""

import gc
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before PyTorch is imported, here and in child processes

import numpy as np
import pytest
from cachetools import LRUCache
from hypothesis import settings

from components.language.scene import scenes
from components.training import recipes
from components.training.worker import ChildWorker
from tests.assets.engine import Node
from tests.folders import FOLDER, cache_folder

gc.disable()  # until the tests are collected: they are many objects, of which almost none is garbage
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


def pytest_collection_finish():
    gc.freeze()  # later garbage collections skip the tests and modules
    gc.enable()


def concerns(item, slug):
    """Whether the test `item` (of pytest) belongs to the scene with this slug.

    It does if it has the scene or its slug as a parameter, is in the scene's test module, or is marked
    `all_scenes`.
    """
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
    """Let no training worker start, because it would import PyTorch for nothing."""
    monkeypatch.setattr(ChildWorker, "ready", lambda _: None)


@pytest.fixture(scope="module")
def node():
    """A Node process that runs the modules of assets/; the tests of a module share it."""
    with Node() as process:
        yield process
