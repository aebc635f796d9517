"""What is full, away or missing, for whoever watches the server: a word each, nothing of what is inside."""

from __future__ import annotations

import os

from components.settings import redis_url
from components.training import runs, store
from components.training.line import Line

PATIENCE = 0.4  # seconds for an answer of Redis: a health check is asked often
SLOW = 0.1  # seconds of an answer, beyond which the other questions are spared
LITTLE = 8 * 2**20  # free bytes, below which the line may soon have no place


def degraded() -> list[str]:
    """What does not serve as it should, [] where all does. The pages do in any case."""
    line = store.here(PATIENCE)
    try:
        with line.held():
            if line.lag() > SLOW:
                return ["store: slow"]
            found = {
                "store: full": line.room().free < LITTLE,
                "runs: full": runs.full(PATIENCE),
                "training: no worker": _workerless(Line(line)),
            }
    except store.Crowded:
        return ["store: slow"]
    except store.Away:
        return ["store: away"]
    return [words for words, true in found.items() if true]


def _workerless(line: Line) -> bool:
    """Whether a worker is missing: with Redis there should always be one, without while a job waits."""
    return (bool(redis_url(os.environ)) or line.next() is not None) and not line.has_worker()
