"""Read runs (stored trainings) that versions of Normscape without the Huey queue have stored.

They expire after 30 days, so this module can be deleted from 2027 on.
"""

import os
import sqlite3
import time
from contextlib import closing

from components.settings import cache_folder, redis_url
from components.training.store import answered, storage


def former_run(run: str) -> bytes | None:
    """The file of a stored training that a former version of Normscape saved under the key `run`.

    If the setting REDIS_URL is set, the file is in Redis. Otherwise it is in a folder that the package
    diskcache has written; this function reads it without that package. Returns None if the file is missing or
    has expired. Raises StoreUnavailable.
    """
    folder = cache_folder(os.environ) / "store"
    with answered():
        if redis_url(os.environ):
            return storage("films").conn.get(f"normscape:film:{run}")
        if not (folder / "cache.db").exists():
            return None
        with closing(sqlite3.connect(folder / "cache.db")) as database:
            query = "SELECT filename, value FROM Cache WHERE key = ? AND expire_time > ?"
            filename, value = database.execute(query, (f"film:{run}", time.time())).fetchone() or (None, None)
        return (folder / filename).read_bytes() if filename else value
