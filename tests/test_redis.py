"""Training with a real Redis server and real workers: the queue, killed workers, restarts of Redis."""

import json
import os
import re
import shutil
import socketserver
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from redis import BlockingConnectionPool, Connection, Redis, RedisError

import app
from components.language.scene import WrongValue
from components.pages import follow
from components.training import jobs, runs, store
from components.training import queue as trainings
from components.training.queue import LOST, NOTHING, REPLACED
from learning.film import to_npz
from learning.training import trained
from tests.components.pages.test_panel import press_train, train
from tests.waiting import until
from tools.ports import free

ROOT = Path(__file__).resolve().parents[1]
SMALL = {"slug": "spiral", "choices": {"n": "40"}, "steps": 100, "lr": 0.01, "seeds": 2, "seed": 0}
LONG_ORDER = SMALL | {"choices": {"n": "400", "depth": "6"}, "steps": 20_000, "seeds": 32}
SERVER = shutil.which("redis-server")
WITHOUT = "no redis-server here: tools/debian_servers.py installs it where it may"
SEEN = {}  # for each ticket, the step that its page has seen
pytestmark = [pytest.mark.servers, pytest.mark.skipif(SERVER is None, reason=WITHOUT)]


class Server:
    """A Redis server with data on disk, which can be killed and started again."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self):
        keeps = ["--dir", self.folder, "--appendonly", "yes", "--appendfsync", "always"]
        bounds = ["--maxmemory", "64mb", "--maxmemory-policy", "noeviction"]  # compose.yaml has more memory
        own = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        command = [SERVER, *own, *bounds, *map(str, keeps)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until(self.answers)

    def answers(self):
        try:
            return Redis.from_url(self.url).ping()
        except RedisError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


class Worker:
    """A worker process with the command of compose.yaml, which can be killed and started again."""

    def __init__(self, url, folder):
        self.folder = folder
        self.environment = os.environ | {"REDIS_URL": url, "CACHE_DIR": str(folder)}
        self.start()

    def start(self):
        with (self.folder / "log").open("a") as log:
            command = [sys.executable, "-m", "components.training.worker"]
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def worker(redis, tmp_path_factory):
    worker = Worker(redis.url, tmp_path_factory.mktemp("worker"))
    yield worker
    worker.kill()


@pytest.fixture
def queue(redis, worker, monkeypatch):
    monkeypatch.setenv("REDIS_URL", redis.url)
    monkeypatch.setattr(trainings, "WORKER_TIMEOUT", 60.0)  # a busy machine delays heartbeats
    return trainings


def join(queue, order, owner="me"):
    return queue.join(vars(jobs.order(order)), owner=owner, address=owner)


def told(ticket, stop=False):
    """Poll once for the training `ticket`; returns its outcome, or its news since the last poll.

    If there is neither outcome nor news, returns {}. stop: whether the page asks to end the training early.
    """
    seen = SEEN.get(ticket, NOTHING)
    text = follow.reply_text(lambda: None, ticket, seen=seen, stop=stop, look={})
    news = json.loads(text or "{}")
    SEEN[ticket] = news.get("step", seen)
    return news.get("end", news)


def trains(ticket):
    return told(ticket).get("step", 0) > 0


def ends(ticket, stop=False):
    return until(lambda: (said := told(ticket, stop)).get("state") and said)


def test_a_training_goes_through_the_queue_and_the_line_is_shared(queue):
    first, second = join(queue, LONG_ORDER), join(queue, SMALL, "other")
    told(first), told(second)
    until(lambda: trains(first))
    assert told(second) == {"ahead": 1}
    kept = [ends(ticket, stop=ticket == first) for ticket in (first, second)]
    assert [outcome["state"] for outcome in kept] == ["done", "done"] and kept[1]["step"] == 100
    assert runs.load(kept[1]["run"]).seeds == 2
    with pytest.raises(WrongValue, match="has expired"):
        runs.load("0" * 16)


def test_web_servers_that_share_only_redis_know_a_browser(queue):
    """If a browser starts a training at one web server, its training at another web server ends.

    The training of another browser goes on.
    """
    one, two, another_browser = (app.create_app().server.test_client() for _ in range(3))
    first, others = train(one, LONG_ORDER), train(another_browser)
    two.set_cookie(follow.BROWSER_COOKIE, one.get_cookie(follow.BROWSER_COOKIE).value)
    second = train(two)
    assert ends(first) == REPLACED
    assert ends(second)["state"] == ends(others)["state"] == "done"


def healthy(worker):
    """Whether a worker passes the health check of compose.yaml, and how many processor seconds this takes."""
    service = (ROOT / "compose.yaml").read_text().partition("\n  worker:\n")[2]
    (check,) = re.findall(r"^      test: (.*)$", service.partition("\n  redis:\n")[0], re.M)
    before = os.times()
    code = subprocess.run(
        ["sh", "-c", check.replace("$$", "$").replace("/cache", str(worker.folder))]
    ).returncode
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return code == 0, spent


def test_a_worker_killed_in_the_middle_leaves_a_word_and_without_any_all_wait_until_one_comes(
    queue, worker, monkeypatch
):
    ticket = join(queue, LONG_ORDER)
    until(lambda: trains(ticket))
    assert trainings.degraded() == [] and healthy(worker)[0]
    worker.kill()
    with monkeypatch.context() as patch:
        patch.setattr(trainings, "WORKER_TIMEOUT", 1.0)
        assert ends(ticket) == LOST
        after = join(queue, SMALL)
        until(lambda: told(after) == {"ahead": 0, "worker": False})
        assert trainings.degraded() == ["training: no worker"]
    later = time.time() - 60
    os.utime(worker.folder / "worker.beat", (later, later))
    assert not healthy(worker)[0]
    worker.start()
    assert ends(after)["state"] == "done"
    assert trainings.degraded() == []
    well, spent = healthy(worker)
    assert well and spent < 0.1, "seconds of the processor"


def test_redis_away_and_back_loses_nothing_that_was_saved(queue, redis):
    scene = jobs.order(SMALL).scene
    saved = runs.save(trained(*scene.training.task(scene.choose({"n": "40"})), seeds=1, steps=20))
    ticket = join(queue, LONG_ORDER)
    until(lambda: trains(ticket))
    redis.kill()
    assert told(ticket) == {"away": True}
    with pytest.raises(store.StoreUnavailable):
        runs.load(saved)
    client = app.create_app().server.test_client()
    link = f"spiral?n=40&run={saved}"
    assert client.get(f"/{link}").status_code == 200  # the page, which asks for the recipe until it comes
    for answer in press_train(client, SMALL), client.get(f"/recipe/{link}"), client.get(f"/embed/{link}"):
        assert answer.status_code == 503 and "Trainings" in answer.get_data(as_text=True)
        assert answer.headers["Retry-After"] == "60"
    redis.start()
    assert runs.load(saved).seeds == 1
    until(lambda: trains(ticket) or told(ticket).get("state"))
    outcome = ends(ticket, stop=True)
    assert outcome["state"] == "done" and runs.load(outcome["run"]).seeds == LONG_ORDER["seeds"]
    later = join(queue, SMALL, "later")
    assert ends(later)["state"] == "done" and trainings.degraded() == []


def test_redis_away_between_the_ticket_and_the_start_is_no_error(queue, redis):
    ticket = join(queue, SMALL)
    redis.kill()
    assert told(ticket) == {"away": True}
    redis.start()
    assert ends(ticket)["state"] == "done"


def test_a_run_of_the_version_before_still_opens(queue):
    scene = jobs.order(SMALL).scene
    data = to_npz(trained(*scene.training.task(scene.choose({"n": "40"})), seeds=1, steps=20))
    client().set(f"normscape:film:{'a' * 16}", data, px=60_000)
    assert runs.load("a" * 16).seeds == 1


def client():
    return store.storage("signs").conn


def test_whatever_is_sent_the_next_user_waits_for_no_one(queue, monkeypatch):
    """Polls with invented tickets write nothing to the store, and put nothing into the queue."""
    with monkeypatch.context() as patch:
        patch.setattr(store.Store, "set", None)
        for forged in [f"{k:032x}" for k in range(1000)]:
            assert told(forged) == LOST
    assert queue.active() == {}
    assert ends(join(queue, SMALL))["state"] == "done"


class Quiet(socketserver.BaseRequestHandler):
    """A handler that reads commands for Redis, and never answers."""

    def handle(self):
        while self.request.recv(1000):
            pass


def test_a_redis_that_does_not_answer_holds_a_few_threads_and_not_for_long(monkeypatch):
    """A Redis that does not answer blocks few of the server's threads, and not for long.

    A thread waits at most once, for `socket_timeout`. Without this timeout, it would wait as long as this
    test runs, and forty open pages could stop a server.
    """
    waiting = []  # the number of connections that wait, each time that one begins to wait
    threads = []  # the thread that begins to wait, each time
    now, lock = set(), threading.Lock()

    def counted(connection, connect=Connection.connect):
        assert connection.socket_timeout == store.ANSWER_SECONDS
        with lock:
            now.add(connection)
            waiting.append(len(now))
            threads.append(threading.get_ident())
        try:
            connect(connection)
        finally:
            with lock:
                now.discard(connection)

    monkeypatch.setattr(Connection, "connect", counted)
    with silent_redis(monkeypatch):
        refusals = at_once(8, lambda: store.Store("signs").get("anything"))
    assert refusals == [store.StoreUnavailable] * len(refusals)
    assert max(waiting) <= store.MAX_CONNECTIONS and len(threads) == len(set(threads))


def test_threads_that_come_first_at_the_same_time_share_one_connection_pool(monkeypatch):
    """Threads that connect at the same time create only one connection pool, and share it."""
    from_url = BlockingConnectionPool.from_url
    created = []

    def slow(*args, **settings):
        created.append(args)
        time.sleep(0.1)
        return from_url(*args, **settings)

    monkeypatch.setattr(BlockingConnectionPool, "from_url", slow)
    with silent_redis(monkeypatch):
        at_once(8, lambda: store.storage("signs"))
    assert len(created) == 1


@contextmanager
def silent_redis(monkeypatch):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Quiet) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{server.server_address[1]}/0")
        yield
        server.shutdown()


def at_once(threads, call):
    """Call a function in several threads at once.

    Returns a list with an entry for each thread: the class StoreUnavailable if the call raised it, else None.
    """
    together = threading.Barrier(threads)

    def raised(_):
        together.wait()
        try:
            call()
        except store.StoreUnavailable as problem:
            return type(problem)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(raised, range(threads)))


def test_films_up_to_the_brim_leave_the_line_and_the_trained_runs(queue, monkeypatch):
    """However many files are uploaded, the queue, and a run that was trained here, stay in Redis.

    If uploads fill half of its memory, the oldest uploads are deleted. Redis itself evicts nothing.
    """
    ticket, waiting = join(queue, LONG_ORDER), join(queue, SMALL, "other")
    until(lambda: trains(ticket))
    scene = jobs.order(SMALL).scene
    film = trained(*scene.training.task(scene.choose({"n": "40"})), seeds=1, steps=20)
    mine = runs.save(replace(film, ended=("mine",)), trained=True, client="me")
    monkeypatch.setattr(runs, "to_npz", lambda _: os.urandom(3_000_000))
    uploads = []
    for k in range(16):
        uploads.append(runs.save(replace(film, ended=(str(k),)), client="somebody"))
        assert trains(ticket) or told(waiting) == {"ahead": 1}
    assert client().info("memory")["used_memory"] < 45 * 2**20
    assert runs.load(mine).ended == ("mine",)
    with pytest.raises(WrongValue, match="has expired"):
        runs.load(uploads[0])
    queue.close(ticket), queue.close(waiting)
