"""What is in the store but cannot be read, and a store that does not answer."""

import pickle
import socketserver
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import diskcache
import pytest

import app
from components.training import line, runs, store
from components.training.line import Line
from tests.waiting import until

UNREADABLE = [b"\x00", b"{", b"[]", b"1", b'{"a": 1}', b'{"a": {}}', b"\xff\xfe", b"[" * 9000]


class Memory(store.Steady):
    """A store without a disk."""

    def __init__(self):
        self.values = {}

    def get(self, key):
        return self.values.get(key)

    def set(self, key, value, seconds):
        self.values[key] = value

    def change(self, key, change, seconds):
        self.values[key] = change(self.values.get(key))

    def delete(self, key):
        self.values.pop(key, None)


def order():
    return {"order": {}, "owner": "me", "address": "here"}


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_line_that_cannot_be_read_is_empty_and_the_next_one_joins(value):
    memory = Memory()
    memory.values["line"] = value
    queue = Line(memory)
    assert queue.next() is None and not queue.knows("a") and queue.pulse("a") == "gone"
    ticket = queue.join(**order())
    assert queue.next() == ticket


@pytest.mark.parametrize("value", [*UNREADABLE, b"", b"5", b"5 {", b"-", b"9" * 5000 + b" {}"])
@pytest.mark.parametrize("kind", ["news", "outcome", "look", "asked"])
def test_a_training_of_which_something_cannot_be_read_goes_on(kind, value):
    memory = Memory()
    queue = Line(memory)
    ticket = queue.join(**order())
    memory.values[f"{kind}:{ticket}"] = value
    assert queue.ask(ticket) == '{"ahead": 0}'
    assert queue.start(ticket) and queue.pulse(ticket) in ("go", "silent")
    assert isinstance(queue.looked(ticket), dict) and not queue.heard(ticket, line.NOTHING + 1)
    assert queue.outcome(ticket) in (None, {"state": "lost"})


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("REDIS_URL", raising=False)
    store.clear()
    yield tmp_path
    store.clear()


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_shelf_that_cannot_be_read_is_made_anew(folder, value):
    runs.keep("a" * 16, b"one", client="me")
    store.films().set(runs.SHELF, value, 60)
    assert app.create_app().server.test_client().get("/healthz").json == {"status": "ok", "degraded": []}
    runs.keep("b" * 16, b"two", client="me")
    assert store.told(store.films().get(runs.SHELF)).keys() == {"a" * 16, "b" * 16}


DONE = []


def run():
    DONE.append("run")


class Runs:
    """What runs where it is unpickled."""

    def __reduce__(self):
        return run, ()


def test_nothing_in_the_folder_runs(folder):
    disk = store.Disk(folder / "here")
    with diskcache.Cache(str(folder / "here"), eviction_policy="none") as other:
        other.set("key", Runs())
        other.set(("no", "text"), b"value")
        other.set("number", 5)
    assert DONE == [] and pickle.loads(pickle.dumps(Runs())) is None and DONE.pop() == "run", "so it does"
    assert disk.get("key") is None and disk.get("number") is None and disk.sizes("k") == {"key": 0}
    assert DONE == []
    disk.set("key", b"mine", 60)
    assert disk.get("key") == b"mine"


class Quiet(socketserver.BaseRequestHandler):
    """A Redis that hears, and says nothing."""

    def handle(self):
        while self.request.recv(1000):
            pass


def test_a_redis_that_does_not_answer_is_waited_for_by_one_at_a_time(monkeypatch):
    """Each of eight threads waited two seconds for it: forty open pages stopped the server."""
    monkeypatch.setattr(store, "REST", 60)
    patience, many = 0.3, 20
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Quiet) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        redis = store.Redis(f"redis://127.0.0.1:{server.server_address[1]}/0", patience=patience)
        start = time.monotonic()
        for _ in range(many):
            with pytest.raises(store.Away):
                redis.get("anything")
        assert time.monotonic() - start < many * patience / 2
        server.shutdown()


def test_a_redis_that_answers_again_is_asked_again(monkeypatch):
    """After its rest one call tries; where the others wait meanwhile for none, it tells for all."""
    monkeypatch.setattr(store, "REST", 0.0)
    redis = store.Redis("redis://127.0.0.1:1/0", patience=0.2)
    answers = iter([TimeoutError, TimeoutError, None, None])

    def get(_):
        if answer := next(answers):
            raise redis.silent(answer())

    monkeypatch.setattr(redis.client, "get", get)
    for _ in range(2):
        with pytest.raises(store.Away):
            redis.get("anything")
    assert redis.get("anything") is None and redis.gate.rests == 0.0 and redis.get("anything") is None


def test_a_redis_that_answers_slowly_holds_a_few_threads_whoever_asks(monkeypatch):
    """Each answer came before the end of patience, so all eight threads waited, all the time."""
    store.clear()
    url, inside, most, answers = "redis://127.0.0.1:1/1", [], [], threading.Event()
    stores = [store.Redis(url, patience=patience) for patience in (2.0, 0.5)]

    def get(_):
        inside.append(1)
        most.append(len(inside))
        assert answers.wait(60)
        inside.pop()

    def asked(k):
        try:
            stores[k % 2].get("anything")
        except store.Away:
            refused.append(k)

    for each in stores:
        monkeypatch.setattr(each.client, "get", get)
    refused = []
    with ThreadPoolExecutor(24) as pool:
        everybody = [pool.submit(asked, k) for k in range(24)]
        until(lambda: len(refused) == 24 - store.AT_ONCE)  # before any answer
        answers.set()
    assert [each.result() for each in everybody] == [None] * 24
    assert max(most) == store.AT_ONCE and len(refused) == 24 - store.AT_ONCE
    stores[0].gate.rests = time.monotonic()  # its rest is over
    refused.clear(), asked(0)
    assert not refused and stores[1].gate.rests == 0.0, "it is asked again, by all"
    store.clear()
