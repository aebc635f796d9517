"""Training with a real Redis server and real Celery workers: the queue, a death, and Redis away and back."""

import json
import os
import shutil
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import psutil
import pytest
from flask import Flask

from components.scene import WrongValue
from components.training import jobs, line, panel, runs, store
from components.training.celery_app import Queue
from components.training.follow import Follow
from components.training.line import NOTHING, Line
from geometry.training import trained
from tests.waiting import until
from tools.ports import free

ROOT = Path(__file__).resolve().parents[1]
SMALL = {"slug": "spiral", "choices": {"n": "40"}, "steps": 100, "lr": 0.01, "seeds": 2, "seed": 0}
LONG = SMALL | {"choices": {"n": "400", "depth": "6"}, "steps": 20_000, "seeds": 32}
SERVER = shutil.which("redis-server")
WITHOUT = "no redis-server here: tools/redis_server.py installs it where it may"
SEEN = {}  # by ticket, the step that its page has
pytestmark = pytest.mark.skipif(SERVER is None, reason=WITHOUT)


class Server:
    """A Redis server that keeps on disk what it was given, to be killed and started again."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self):
        keeps = ["--dir", self.folder, "--appendonly", "yes", "--appendfsync", "always"]
        command = [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", *map(str, keeps)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until(self.answers)

    def answers(self):
        try:
            return store.Redis(self.url).get("anything") is None
        except store.Away:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def worker(redis, tmp_path_factory):
    """A Celery worker as compose.yaml starts it: its main process."""
    log = (tmp_path_factory.mktemp("worker") / "log").open("w")
    command = [
        sys.executable,
        "-m",
        "celery",
        "--app",
        "components.training.celery_app",
        "worker",
        "--concurrency",
        "1",
    ]
    environment = os.environ | {"REDIS_URL": redis.url, "C_FORCE_ROOT": "1"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    yield process
    for each in [*psutil.Process(process.pid).children(recursive=True), process]:
        each.kill()
    process.wait()
    log.close()


@pytest.fixture
def queue(redis, worker, monkeypatch):
    monkeypatch.setenv("REDIS_URL", redis.url)
    store.here.cache_clear()
    yield Line(store.here())
    store.here.cache_clear()


@pytest.fixture
def send(redis):
    """To the workers, as a web server does."""
    from components.training import celery_app

    celery_app.celery.conf.broker_url = redis.url
    return Queue().send


def join(queue, order, owner="me"):
    return queue.join(vars(jobs.order(order)), owner=owner, address=owner)


@cache
def server_of(queue):
    """What a web server asks, as long as it runs."""
    return Follow(queue, Queue())


def told(queue, ticket):
    """What a page learns when it asks once: news of a step, or the outcome."""
    text = server_of(queue).told(ticket, seen=SEEN.get(ticket, NOTHING), stop=False, look=None)
    news = json.loads(text or "{}")
    SEEN[ticket] = news.get("step", SEEN.get(ticket, NOTHING))
    return news.get("end", news)


def refused(queue):
    """What a page is told that would train."""
    server = Flask("a page's server")
    server.secret_key = "only for this test"
    with server.test_request_context():
        return panel._ticket(queue, Queue(), SMALL, {})[0]


def trains(queue, ticket):
    return told(queue, ticket).get("step", 0) > 0


def ends(queue, ticket, seconds=90):
    return until(lambda: (said := told(queue, ticket)).get("state") and said, seconds)


def test_a_training_goes_through_the_queue_and_the_line_is_shared(queue, send):
    first, second = join(queue, LONG), join(queue, SMALL, "other")
    send(first), send(second)
    until(lambda: trains(queue, first))
    assert told(queue, second) == {"ahead": 1}
    queue.stop(first)
    kept = [ends(queue, ticket) for ticket in (first, second)]
    assert [outcome["state"] for outcome in kept] == ["done", "done"] and kept[1]["step"] == 100
    assert runs.load(kept[1]["run"]).seeds == 2
    with pytest.raises(WrongValue, match="not here"):
        runs.load("0" * 16)


def test_a_worker_killed_in_the_middle_leaves_a_word_and_the_next_one_trains(queue, send, worker):
    ticket = join(queue, LONG)
    send(ticket)
    until(lambda: trains(queue, ticket))
    for child in psutil.Process(worker.pid).children():
        child.send_signal(signal.SIGKILL)
    assert ends(queue, ticket, 4 * line.BEAT) == {"state": "lost"}
    after = join(queue, SMALL)
    send(after)
    assert ends(queue, after)["state"] == "done"


def test_redis_away_and_back_loses_nothing_that_was_saved(queue, send, redis):
    scene = jobs.order(SMALL).scene
    saved = runs.save(trained(*scene.training.task(scene.choose({"n": "40"})), seeds=1, steps=20))
    ticket = join(queue, LONG)
    send(ticket)
    until(lambda: trains(queue, ticket))
    redis.kill()
    assert told(queue, ticket) == {"away": True}
    with pytest.raises(WrongValue, match="cannot be reached"):
        runs.load(saved)
    assert refused(queue) == panel.NO_STORE
    redis.start()
    assert runs.load(saved).seeds == 1
    until(lambda: trains(queue, ticket) or told(queue, ticket).get("state"))
    queue.stop(ticket)
    outcome = ends(queue, ticket)
    assert outcome["state"] == "done" and runs.load(outcome["run"]).seeds == LONG["seeds"]
    later = join(queue, SMALL, "later")
    until(lambda: not _fails(send, later))
    assert ends(queue, later)["state"] == "done"


def _fails(send, ticket):
    try:
        send(ticket)
    except Exception as problem:
        return problem
    return None
