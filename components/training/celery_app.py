"""With REDIS_URL, on any machine: `celery --app components.training.celery_app worker --concurrency 1`."""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from typing import Any

from celery import Celery, Task
from celery.signals import task_failure, worker_init
from kombu.exceptions import OperationalError
from redis import RedisError

from components.settings import redis_url
from components.training import jobs, store
from components.training.line import Line
from components.training.store import PATIENCE

TASK = "normscape.train"
WAITS = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}

celery = Celery("normscape", broker=redis_url(os.environ))
celery.conf.update(
    task_ignore_result=True,  # the line knows how a training ended
    worker_disable_prefetch=True,  # a call is for whoever is idle
    broker_connection_retry_on_startup=True,
    broker_transport_options=WAITS,
)


@celery.task(name=TASK, bind=True)
def train(self: Task) -> None:
    """Take the next ticket. The message holds none: whatever is in the queue, the line decides."""
    with suppress(store.Away):
        ticket = Line(store.here()).next()
        if ticket:
            jobs.work(ticket, self.request.id)


@task_failure.connect
def bury(task_id: str, **_: object) -> None:
    """Celery sees a process die that trains: its page need not wait until the signs of life have gone."""
    with suppress(store.Away):
        Line(store.here()).bury(task_id)


@worker_init.connect
def warm(**_: object) -> None:
    """Import torch once, before the first ticket comes: the processes that train are forks of this one."""
    importlib.import_module("learning.training")


class Queue:
    """The way of a web server to the workers: a word that somebody waits, one at a time."""

    def ready(self) -> None:
        """Workers are somebody else's to start."""

    def call(self) -> None:
        """To a worker, unless a call is on its way. Who waits repeats it: a lost one does no harm."""
        held: Any = store.here()
        try:
            if not held.client.llen(celery.conf.task_default_queue):
                celery.send_task(TASK, retry=False)
        except (OperationalError, RedisError, OSError) as problem:
            raise store.Away(f"the queue does not answer: {problem}") from None
