"""The process that trains where there is no Redis: it takes one ticket after the other from the line.

`Local` starts it beside a web server: `python -m components.training.worker`. It imports torch before the
first ticket comes, and ends when its standard input closes, with its web server. Of several on a machine one
works.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from components.settings import cache_folder
from components.training import jobs, store
from components.training.line import Line

ROOT = Path(__file__).parents[2]
GLANCE = 0.1  # seconds between two looks at the line
SPARE = 1.0  # seconds between two looks of one that waits to work
LAZY = 900.0  # seconds without work after which the process ends, and gives its memory back


class Local:
    """The worker of a web server, started when it is first needed, and again when it has died."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def ready(self) -> None:
        with self.lock:
            if self.process is None or self.process.poll() is not None:
                self.close()
                command = [sys.executable, "-m", "components.training.worker"]
                self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)

    def send(self, ticket: str) -> None:
        """Nothing but a worker is needed: the ticket is in the line."""
        self.ready()

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    folder = cache_folder(os.environ)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "worker.lock").open("w") as lock:
        while not _held(lock):
            if _ended(SPARE):
                return
        _serve()


def _serve() -> None:
    with suppress(ImportError):  # each job will say so
        importlib.import_module("geometry.training")
    line, idle = Line(store.here()), 0.0
    while idle < LAZY and not _ended(GLANCE):
        with suppress(store.Away):
            ticket = line.next()
            idle = 0.0 if ticket else idle + GLANCE
            if ticket:
                jobs.work(ticket)


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
