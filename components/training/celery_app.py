"""With REDIS_URL, on any machine: `celery --app components.training.celery_app worker --concurrency 1`."""

from __future__ import annotations

import importlib
import os

from celery import Celery
from celery.signals import worker_init

from components.settings import redis_url
from components.training import jobs
from components.training.store import PATIENCE

TASK = "normscape.train"
WAITS = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}

celery = Celery("normscape", broker=redis_url(os.environ))
celery.conf.update(
    task_ignore_result=True,  # the line knows how a training ended
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    broker_transport_options=WAITS,
)


@celery.task(name=TASK)
def train(ticket: str) -> None:
    jobs.work(ticket)


@worker_init.connect
def warm(**_: object) -> None:
    """Import torch once, before the first ticket comes: the processes that train are forks of this one."""
    importlib.import_module("geometry.training")


class Queue:
    """The way of a web server to the workers."""

    def ready(self) -> None:
        """Workers are somebody else's to start."""

    def send(self, ticket: str) -> None:
        celery.send_task(TASK, (ticket,), retry=False)
