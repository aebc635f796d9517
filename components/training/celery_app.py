"""With REDIS_URL, on any machine: `celery --app components.training.celery_app worker --concurrency 1`."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from typing import Any

from celery import Celery, Task, bootsteps
from celery.signals import celeryd_init, task_failure, worker_init
from kombu.exceptions import OperationalError
from redis import RedisError

from components.settings import WrongSetting, cache_folder, reach, redis_url
from components.training import jobs, store
from components.training.heartbeat import INTERVAL
from components.training.line import Line
from components.training.store import PATIENCE

TASK = "normscape.train"
WAITS = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}

try:
    celery = Celery("normscape", broker=redis_url(os.environ))
except WrongSetting as wrong:
    sys.exit(f"normscape: {wrong}")
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


@celeryd_init.connect
def check(**_: object) -> None:
    """End a worker's start with one line if it has no Redis; Celery by itself would look for RabbitMQ."""
    if not redis_url(os.environ):
        sys.exit("normscape: REDIS_URL is missing: a training worker needs the Redis of its web server")
    try:
        reach(os.environ)
    except WrongSetting as wrong:
        sys.exit(f"normscape: {wrong}")


class Heartbeat(bootsteps.StartStopStep):
    """The worker's heartbeat while it is connected: in the store, and as a file for a health check.

    A timer of Celery's main loop, and no thread: this process forks.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)
    timer: Any = None  # None until the first connection

    def start(self, consumer: Any) -> None:
        self.beat()
        self.timer = consumer.timer.call_repeatedly(INTERVAL, self.beat)

    def stop(self, consumer: Any) -> None:
        if self.timer:
            self.timer.cancel()

    def beat(self) -> None:
        with suppress(store.Away, OSError):
            Line(store.here()).sign_worker()
            (cache_folder(os.environ) / "worker.beat").touch()


celery.steps["consumer"].add(Heartbeat)


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
