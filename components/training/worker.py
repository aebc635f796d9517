"""The process that trains where there is no Redis: it takes one ticket after the other from the line.

`Local` starts it beside a web server: `python -m components.training.worker`. It imports torch before the
first ticket comes, and ends when its standard input closes, with its web server. Of several on a machine one
works.
"""

from __future__ import annotations

import fcntl
import importlib
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import IO

from components.settings import cache_folder
from components.training import jobs, store
from components.training.heartbeat import beating
from components.training.line import Line

ROOT = Path(__file__).parents[2]
GLANCE = 0.1  # seconds between two looks at the line
SPARE = 1.0  # seconds between two looks of one that waits to work
BRIEF = 10.0  # seconds of work, before which an end with an error is one at the start
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds until the next one
MODEST = 5  # what serves pages goes first (see `os.nice`)
LAZY = 900.0  # seconds without work after which the process ends, and gives its memory back


class Local:
    """The worker of a web server, started when it is first needed, and again when it has ended.

    One that has ended by itself within BRIEF seconds, and with an error, is given more and more time.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.started, self.again, self.wait = 0.0, 0.0, 0.0

    def ready(self) -> None:
        with self.lock:
            if self.process is not None and self.process.poll() is None:
                return
            if self.process is not None:
                self._ended(self.process.returncode)
            if time.monotonic() >= self.again:
                self._start()

    def call(self) -> None:
        """Nothing but a worker is needed: the ticket is in the line."""
        self.ready()

    def _start(self) -> None:
        command = [sys.executable, "-m", "components.training.worker"]
        self.started = time.monotonic()
        try:
            self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
            self.ending = weakref.finalize(self, _end, self.process)  # it goes with its application
        except OSError as problem:  # no memory, or too many processes
            self._ended(str(problem))
        if not self.wait:  # no failure just before: the process will sign by itself in a moment
            with suppress(store.Away):
                Line(store.here()).sign_worker()

    def _ended(self, why: object) -> None:
        """Tidy up, and say when the next one comes."""
        self.close()
        failed = why != 0 and time.monotonic() - self.started < BRIEF
        self.wait = min(LONGEST_WAIT, 2 * self.wait or FIRST_WAIT) if failed else 0.0
        self.again = time.monotonic() + self.wait
        if failed:
            logging.getLogger(__name__).error(
                "the worker of trainings ended at its start: %s; the next one comes in %.0f s", why, self.wait
            )

    def close(self) -> None:
        if self.process is not None:
            self.ending()
            self.process = None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    folder = cache_folder(os.environ)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "worker.lock").open("w") as lock:
        while not _held(lock):
            if _ended(SPARE) or not _there(lock):
                return
        _serve(lock)


def _serve(lock: IO[str]) -> None:
    line, idle = Line(store.here()), 0.0
    with suppress(store.Away):
        line.bury()  # who holds the lock is the only one
    with beating(line.sign_worker):
        with suppress(ImportError):  # each job will say so
            importlib.import_module("learning.training")
        os.nice(MODEST)
        while idle < LAZY and _there(lock) and not _ended(GLANCE):
            with suppress(store.Away):
                ticket = line.next()
                idle = 0.0 if ticket else idle + GLANCE
                if ticket:
                    jobs.work(ticket)


def _there(lock: IO[str]) -> bool:
    """Whether this is still the lock that others would take: its folder may have been deleted."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(lock.fileno()), os.stat(lock.name))
    return False


def _held(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _ended(seconds: float) -> bool:
    """Whether the standard input closes within some seconds."""
    return bool(select.select([sys.stdin], [], [], seconds)[0])


if __name__ == "__main__":
    main()
