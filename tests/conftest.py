"""What is kept on disk stands in a folder of this run of the tests, also for the servers that it starts.

A property is tested however slow the machine is.
"""

import os
import tempfile

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
FOLDER = tempfile.TemporaryDirectory(prefix="normscape-", ignore_cleanup_errors=True)


def pytest_configure():
    os.environ["CACHE_DIR"] = FOLDER.name


def pytest_unconfigure():
    FOLDER.cleanup()
