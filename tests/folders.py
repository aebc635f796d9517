"""The folders of a test run, in which servers that tests start keep their files."""

import os
import tempfile
from pathlib import Path

FOLDER = tempfile.TemporaryDirectory(prefix="normscape-", ignore_cleanup_errors=True)
CARDS = os.environ.setdefault("TEST_CARDS", f"{FOLDER.name}/cards")  # of all processes of this run


def cache_folder(folder):
    """A new folder for CACHE_DIR. All share the gallery's cards, which take seconds to draw."""
    cache = Path(folder) / "cache"
    cache.mkdir()
    Path(CARDS).mkdir(exist_ok=True)
    (cache / "cards").symlink_to(CARDS)
    return str(cache)
