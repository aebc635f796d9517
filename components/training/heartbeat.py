"""The heartbeat of a worker: a thread that signs in the store, however long a step of the work takes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from components.training import store

INTERVAL = 2.0  # seconds between two heartbeats


@contextmanager
def beating(sign: Callable[[], None]) -> Iterator[None]:
    """Call `sign` now and every INTERVAL until the block ends; while the store is away, try again."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.is_set():
            with suppress(store.Away):
                sign()
            ended.wait(INTERVAL)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
