"""The process that trains: `python -m components.training.worker`, Huey's consumer with one thread.

With Redis there may be any number, on any machine. Without, the web server starts one as its child, which
ends with it, and after a while without work.
"""

from __future__ import annotations

import fcntl
import importlib
import logging
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

from huey import Huey
from huey.signals import SIGNAL_INTERRUPTED

from components.settings import WrongSetting, cache_folder, reach, redis_url
from components.training.queue import LOST, TrainingQueue, beating, train_task
from components.training.store import StoreUnavailable

ROOT = Path(__file__).parents[2]
CHILD = "--child"  # of a web server: its standard input closes when that ends
POLL_SECONDS = 0.5  # at most, between two looks at SQLite; Redis tells by itself
RETRY_SECONDS = 5.0  # at most, between two attempts to reach Redis
RESTART_SECONDS = 10.0  # at least, between two starts
IDLE_SECONDS = 900.0  # after which a child ends, and gives its memory back
WATCH_SECONDS = 2.0  # between two looks at the queue
SHUTDOWN_SECONDS = 1.0  # for a training to end by itself
NICENESS = 5  # what serves pages goes first (see `os.nice`)


class ChildWorker:
    """The worker of a web server, started when it is first needed, and again when it has ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.lock, self.started = threading.Lock(), -RESTART_SECONDS

    def ready(self) -> None:
        """Start the process unless it runs, or has only just been started."""
        with self.lock:
            if self.process is not None and self.process.poll() is None:
                return
            if time.monotonic() - self.started >= RESTART_SECONDS:
                self._start()

    def _start(self) -> None:
        failed = self.process.returncode if self.process is not None else 0
        if failed:
            logging.getLogger(__name__).error("the training worker ended: %s; another one is started", failed)
        self.close()
        self.started = time.monotonic()
        command = [sys.executable, "-m", "components.training.worker", CHILD]
        try:
            self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
        except OSError as problem:  # no memory, or too many processes
            logging.getLogger(__name__).error("no training worker can be started: %s", problem)
            return
        self.ending = weakref.finalize(self, _end, self.process)  # it goes with its application
        if not failed:  # it will sign by itself in a moment
            with suppress(StoreUnavailable):
                TrainingQueue().sign_worker()

    def close(self) -> None:
        if self.process is not None:
            self.ending()
            self.process = None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def main() -> None:
    child = CHILD in sys.argv
    try:
        reach(os.environ)
        if not (child or redis_url(os.environ)):
            sys.exit("normscape: REDIS_URL is missing: a training worker needs the Redis of its web server")
    except WrongSetting as wrong:
        sys.exit(f"normscape: {wrong}")
    logging.basicConfig(level=logging.WARNING if child else logging.INFO)
    os.nice(NICENESS)
    queue, huey = TrainingQueue(), train_task().huey
    if child:
        threading.Thread(target=_end_with_server, args=(queue, huey), daemon=True).start()
        lock = (cache_folder(os.environ) / "worker.lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several web servers on a machine, one trains
    huey.signal(SIGNAL_INTERRUPTED)(lambda _, task: queue.finish(task.args[0], LOST))
    with beating(lambda: _sign(queue)):
        with suppress(ImportError):  # each training will say so
            importlib.import_module("learning.training")
        huey.create_consumer(
            periodic=False,
            max_delay=RETRY_SECONDS if redis_url(os.environ) else POLL_SECONDS,
            shutdown_timeout=SHUTDOWN_SECONDS,
        ).run()


def _sign(queue: TrainingQueue) -> None:
    """In the store, and as a file for a container's health check."""
    queue.sign_worker()
    (cache_folder(os.environ) / "worker.beat").touch()


def _end_with_server(queue: TrainingQueue, huey: Huey) -> None:
    """Or after IDLE_SECONDS without trainings, or when somebody has deleted the folder of the queue."""
    idle = 0.0
    while idle < IDLE_SECONDS and not select.select([sys.stdin], [], [], WATCH_SECONDS)[0]:
        with suppress(StoreUnavailable):
            idle = 0.0 if queue.active() else idle + WATCH_SECONDS
            if train_task().huey is not huey:
                break
    os._exit(0)


if __name__ == "__main__":
    main()
