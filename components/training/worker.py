"""The training worker, `python -m components.training.worker`: runs the trainings of the queue in order.

With Redis there can be any number of workers, on any machine. Without Redis there is one: the web server
starts it as a child process when it is first needed, and it ends together with the server.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from components.settings import WrongSetting, cache_folder, check_storage, redis_url
from components.training import jobs, queue
from components.training.store import StoreUnavailable

ROOT = Path(__file__).parents[2]
CHILD = "--child"  # run as a child of a web server: end when standard input closes
POLL_SECONDS = 0.5  # between two reads of the queue
HEARTBEAT_SECONDS = 2.0
RESTART_SECONDS = 10.0  # shortest time between two starts of the worker process
NICENESS = 5  # pages have priority (see `os.nice`)


class ChildWorker:
    """The worker process of a web server; `ready` starts it, also after it has ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.end: Callable[[], object] = lambda: None
        self.lock, self.started = threading.Lock(), -RESTART_SECONDS

    def ready(self) -> None:
        """Start the process unless it runs or was started less than RESTART_SECONDS ago.

        If it cannot be started, or its predecessor has failed, the reason is logged. No error is raised.
        """
        with self.lock:
            failed = self.process.poll() if self.process else 0
            if failed is None or time.monotonic() - self.started < RESTART_SECONDS:
                return
            log = logging.getLogger(__name__)
            if failed:
                log.error("the training worker ended: %s; starting another one", failed)
            self.end()
            self.started = time.monotonic()
            command = [sys.executable, "-m", "components.training.worker", CHILD]
            try:
                self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
            except OSError as problem:  # no memory, or too many processes
                log.error("no training worker can be started: %s", problem)
                return
            self.end = weakref.finalize(self, _end, self.process)  # when this object is deleted, or at exit
            if not failed:  # a heartbeat in place of the worker, which takes some time until its first one
                with suppress(StoreUnavailable):
                    queue.sign()


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
    level = logging.WARNING if child else logging.INFO
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    os.nice(NICENESS)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit())
    if child:
        threading.Thread(target=_end_with_server, daemon=True).start()
    threading.Thread(target=_beat, daemon=True).start()
    with suppress(ImportError):  # without torch, each training will report the error
        importlib.import_module("learning.training")
    try:
        while True:
            _work()
            time.sleep(POLL_SECONDS)
    finally:
        with suppress(StoreUnavailable):
            queue.abandon()


def _work() -> None:
    """Run the waiting trainings in order.

    First end the training that this process ran before, if its outcome could not be stored.
    """
    with suppress(StoreUnavailable):
        queue.abandon()  # a training whose outcome could not be stored
        for ticket in queue.active():
            jobs.work(ticket)


def _beat() -> None:
    """Every HEARTBEAT_SECONDS, write the heartbeat, and touch a file for the container's health check."""
    while True:
        with suppress(StoreUnavailable, OSError):
            queue.sign()
            (cache_folder(os.environ) / "worker.beat").touch()
        time.sleep(HEARTBEAT_SECONDS)


def _end_with_server() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
