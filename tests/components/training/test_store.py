"""What is in the store but cannot be read, and a store that does not answer."""

import json
import pickle
import socketserver
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import diskcache
import pytest

import app
from components.pages.follow import Follow
from components.training import health, line, runs, store
from components.training.line import Line
from components.web.budget import Busy
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
    assert json.loads(queue.ask(ticket))["ahead"] == 0
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
    assert redis.get("anything") is None and not redis.gate.rests and redis.get("anything") is None


def test_who_is_impatient_speaks_for_the_impatient(monkeypatch):
    """A card is waited for 0.2 s: each that came too late sent all pages away that followed a training."""
    monkeypatch.setattr(store, "REST", 60)
    gate = store.Gate()
    gate.shut(0.2)
    with pytest.raises(store.Away), gate.held(0.1):
        pass
    with gate.held(2.0):
        gate.open(2.0)
    with pytest.raises(store.Away), gate.held(0.2):
        pass
    gate.shut(2.0)
    with pytest.raises(store.Away), gate.held(2.0):
        pass
    gate.open(0.1)
    with gate.held(0.1), gate.held(2.0):
        pass


def test_a_redis_that_answers_slowly_holds_a_few_threads_whoever_asks(monkeypatch):
    """Each answer came before the end of patience, so all eight threads waited, all the time.

    Then whoever found no place sent all others away: four pages heard so in 38 of 50 questions.
    """
    store.clear()
    url, inside, most, answers = "redis://127.0.0.1:1/1", [], [], threading.Event()
    stores = [store.Redis(url, patience=patience) for patience in (60, 50)]

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
        until(lambda: len(refused) == 24 - store.AT_ONCE - store.NEXT)  # before any answer
        answers.set()
    assert [each.result() for each in everybody] == [None] * 24
    assert max(most) == store.AT_ONCE and len(refused) == 24 - store.AT_ONCE - store.NEXT
    refused.clear(), asked(0), asked(1)
    assert not refused, "who finds no place is refused alone"
    store.clear()


class Counted(Memory):
    """How many questions a server would have been asked."""

    def __init__(self):
        super().__init__()
        self.questions = 0

    def exchange(self, values, keys):
        self.questions += bool(values or keys)
        self.values |= {key: value for key, (value, _) in values.items()}
        return [self.values.get(key) for key in keys]

    def get(self, key):
        return self.exchange({}, [key])[0]

    def set(self, key, value, seconds):
        self.exchange({key: (value, seconds)}, [])


class Nobody:
    """Workers of somebody else."""

    def ready(self):
        pass

    call = ready


def test_a_page_that_follows_asks_few_questions():
    """They were some ten, one after the other, each with a wait for a place of its own."""
    queue = Line(Counted())
    runs_, *waiting = (queue.join({}, owner=owner, address=owner) for owner in "abcd")
    queue.start(runs_)
    page = Follow(queue, Nobody())

    def asked(ticket):
        queue.store.questions = 0
        return page.told(ticket, seen=line.NOTHING, stop=False, look=None), queue.store.questions

    assert asked(runs_) == ("", 2) and asked("f" * 32) == ('{"end": {"state": "lost"}}', 1)
    queue.tell(runs_, {"step": 1})
    assert asked(runs_) == ('{"step":1}', 2)
    assert [asked(ticket) for ticket in waiting] == [(f'{{"ahead": {k}}}', 3) for k in (1, 2, 3)]


def test_a_crowd_before_a_slow_store_is_no_sign_of_a_death(folder, monkeypatch):
    """A page that finds no place asks again; all that it knows stays true."""

    def crowded(_):
        raise store.Crowded("many")

    monkeypatch.setattr(store.Steady, "held", crowded)
    client = app.create_app().server.test_client()
    answer = client.post(f"/training/{'0' * 32}", json={})
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "1"
    assert client.get("/healthz").json["degraded"] == ["store: slow"]
    page = Follow(Line(store.here()), Nobody())
    with pytest.raises(Busy):
        page.told("0" * 32, seen=0, stop=False, look=None)
    assert page.trust.sure(0)


def test_a_slow_store_is_asked_once_whether_all_is_well(folder, monkeypatch):
    monkeypatch.setattr(store.Steady, "lag", lambda _: 2 * health.SLOW)
    monkeypatch.setattr(store.Disk, "room", None)
    assert health.degraded() == ["store: slow"]
