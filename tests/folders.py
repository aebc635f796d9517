"""The folders of a test run, in which servers that tests start keep their files."""

import os
import tempfile
from pathlib import Path

FOLDER = tempfile.TemporaryDirectory(prefix="normscape-", ignore_cleanup_errors=True)
CARDS = os.environ.setdefault("TEST_CARDS", f"{FOLDER.name}/cards")  # shared by all processes of this run


def cache_folder(folder):
    """Create the folder `cache` in `folder`, for the setting CACHE_DIR, and return its path as a string.

    Its subfolder `cards` is a link to CARDS: all caches of a test run share these pictures of the gallery,
    which take seconds to draw.
    """
    cache = Path(folder) / "cache"
    cache.mkdir()
    Path(CARDS).mkdir(exist_ok=True)
    (cache / "cards").symlink_to(CARDS)
    return str(cache)
