"""What is full, away or missing, for whoever watches the server: a word each, nothing of what is inside."""

from __future__ import annotations

import os
from functools import cache

from components.settings import redis_url
from components.training import runs, store
from components.training.queue import TrainingQueue

PATIENCE = 0.4  # seconds for an answer of Redis: a health check is asked often
SLOW = 0.1  # seconds of an answer, beyond which the other questions are spared
MIN_FREE_BYTES = 8 * 2**20  # below which the queue may soon have no place


@cache
def _queue() -> TrainingQueue:
    return TrainingQueue(PATIENCE)


def degraded() -> list[str]:
    """What does not serve as it should, [] where all does. The pages do in any case."""
    try:
        if store.seconds_to_answer(PATIENCE) > SLOW:
            return ["store: slow"]
        faults = {
            "store: full": store.free_bytes(PATIENCE) < MIN_FREE_BYTES,
            "runs: full": runs.full(PATIENCE),
            "training: no worker": _workerless(_queue()),
        }
    except store.StoreBusy:
        return ["store: slow"]
    except store.StoreUnavailable:
        _queue().watch.reset()
        return ["store: away"]
    return [words for words, true in faults.items() if true]


def _workerless(queue: TrainingQueue) -> bool:
    """Whether a worker is missing: with Redis there should always be one, without while a training waits."""
    needed = bool(redis_url(os.environ)) or any(training["waits"] for training in queue.active().values())
    return needed and not queue.has_worker()
