"""What is kept on disk stands in a folder of this run of the tests, also for the servers that it starts."""

import os
import tempfile

FOLDER = tempfile.TemporaryDirectory(prefix="normscape-", ignore_cleanup_errors=True)


def pytest_configure():
    os.environ["CACHE_DIR"] = FOLDER.name


def pytest_unconfigure():
    FOLDER.cleanup()
