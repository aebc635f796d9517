"""The training worker, `python -m components.training.worker`: a Huey consumer with one thread.

With Redis there can be any number of workers, on any machine. Without Redis the web server starts one as its
child process when it is first needed; it ends with the server.
"""

from __future__ import annotations

import importlib
import logging
import os
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

from huey.signals import SIGNAL_INTERRUPTED

from components.settings import WrongSetting, cache_folder, check_storage, redis_url
from components.training.queue import LOST, finish, sign, train_task
from components.training.store import StoreUnavailable

ROOT = Path(__file__).parents[2]
CHILD = "--child"  # run as a child of a web server: end when standard input closes
POLL_SECONDS = 0.5  # at most, between two polls of SQLite; Redis notifies
RETRY_SECONDS = 5.0  # at most, between two attempts to reach Redis
HEARTBEAT_SECONDS = 2.0
RESTART_SECONDS = 10.0  # at least, between two starts
SHUTDOWN_SECONDS = 1.0  # that a training has to end after SIGTERM
NICENESS = 5  # pages have priority (see `os.nice`)


class ChildWorker:
    """The worker process of a web server, started when first needed, and again after it has ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.lock, self.started = threading.Lock(), -RESTART_SECONDS

    def ready(self) -> None:
        """Start the process unless it runs or was started less than RESTART_SECONDS ago."""
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
        self.ending = weakref.finalize(self, _end, self.process)  # ends with this object's application
        if not failed:  # stands in for the worker's heartbeat until its first one
            with suppress(StoreUnavailable):
                sign()

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
        check_storage(os.environ)
        if not (child or redis_url(os.environ)):
            sys.exit("normscape: REDIS_URL is missing: a training worker needs the Redis of its web server")
    except WrongSetting as wrong:
        sys.exit(f"normscape: {wrong}")
    logging.basicConfig(level=logging.WARNING if child else logging.INFO)
    os.nice(NICENESS)
    if child:
        threading.Thread(target=_end_with_server, daemon=True).start()
    huey = train_task().huey
    huey.signal(SIGNAL_INTERRUPTED)(lambda _, task: finish(task.args[0], LOST))
    threading.Thread(target=_beat, daemon=True).start()
    with suppress(ImportError):  # each training will report it
        importlib.import_module("learning.training")
    huey.create_consumer(
        periodic=False,
        max_delay=RETRY_SECONDS if redis_url(os.environ) else POLL_SECONDS,
        shutdown_timeout=SHUTDOWN_SECONDS,
    ).run()


def _beat() -> None:
    """Write the heartbeat to the store, and touch a file for the container's health check."""
    while True:
        with suppress(StoreUnavailable, OSError):
            sign()
            (cache_folder(os.environ) / "worker.beat").touch()
        time.sleep(HEARTBEAT_SECONDS)


def _end_with_server() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
