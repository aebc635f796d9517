"""Budgets of computing time, which limit the rate of each client; and cached responses."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from components.settings import Settings
from components.training import jobs
from components.web import budget, serve
from components.web.budget import (
    MAX_CLIENTS,
    QUEUE_LENGTH,
    WORKERS,
    Budget,
    Busy,
    answer_cache,
    cached_or_computed,
)
from tests.waiting import PATIENCE, until

BURST, REFILL = Settings.cpu_burst, Settings.cpu_rate
DEAREST = "n=5000&d=6&left=groupnorm&right=groupnorm"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def clients(clock):
    return Budget(clock)


def asks(clients, who):
    """Request a turn for the client `who`; return None if it is granted, otherwise the exception `Busy`."""
    try:
        with clients.turn(who):
            return None
    except Busy as busy:
        return busy


def test_who_owes_a_burst_waits_until_it_is_paid_and_others_do_not(clients, clock):
    assert asks(clients, "a") is None
    clients.charge("a", BURST + 1)
    refused = asks(clients, "a")
    assert refused.status == 429 and 1 / REFILL <= refused.seconds <= 1 / REFILL + 1
    assert asks(clients, "b") is None
    clock.now += refused.seconds
    assert asks(clients, "a") is None
    clock.now += (BURST + 1) / REFILL
    assert clients.owed("a") == 0


def test_work_is_charged_by_the_time_it_computes(clients):
    with clients.turn("a", price=3):
        end = time.thread_time() + 0.05
        time.sleep(0.2)
        while time.thread_time() < end:
            pass
    assert 3.05 <= clients.owed("a") < 3.2
    with suppress(ZeroDivisionError), clients.turn("b", price=1):
        raise ZeroDivisionError
    assert clients.owed("b") >= 1 and not clients.working


def test_a_class_behind_one_address_opens_its_links(clients, clock):
    """100 students behind one address can open links at once, then make a choice every 28 s each."""
    for _ in range(100):
        with clients.turn("school", price=0.15):
            pass
    for _ in range(300):
        clock.now += 28 / 100
        with clients.turn("school", price=0.07):
            pass
    assert clients.owed("school") < BURST


@given(st.lists(st.integers(0, 3 * MAX_CLIENTS), max_size=50))
def test_the_memory_of_clients_is_bounded(numbers):
    clients = Budget(Clock())
    for k in range(MAX_CLIENTS):
        clients.debts[str(k)] = (1.0, 0.0)
    for number in numbers:
        clients.charge(str(number), 1)
        assert len(clients.debts) <= MAX_CLIENTS
        assert str(number) in clients.debts


def test_a_full_queue_refuses_whoever_owes_most(clients, monkeypatch):
    monkeypatch.setattr(budget, "WORKERS", QUEUE_LENGTH)
    with ExitStack() as inside:
        for k in range(QUEUE_LENGTH):
            assert asks(clients, "new") is None
            inside.enter_context(clients.turn(str(k)))
        assert asks(clients, "new").status == 503
    assert asks(clients, "new") is None


def test_who_owes_least_is_next_and_takes_the_place_of_who_owes_most(clients):
    """The client that owes least CPU time has the next turn, even if the queue was full when it came.

    In a full queue, it takes the place of the client that owes most. Therefore a new client is not blocked,
    even by many addresses with costly requests.
    """
    done, order, lost = threading.Semaphore(0), [], []
    for k in range(QUEUE_LENGTH):
        clients.charge(f"crowd {k}", 2 + k)

    def work(who):
        try:
            with clients.turn(who):
                order.append(who)
                done.acquire(timeout=PATIENCE)
        except Busy as busy:
            lost.append((who, busy.status))

    def start(who, sees):
        threads.append(threading.Thread(target=work, args=(who,)))
        threads[-1].start()
        until(sees)

    threads = []
    for k in range(QUEUE_LENGTH):
        start(f"crowd {k}", lambda k=k: len(order) + len(clients.waiting) == k + 1)
    start("new", lambda: lost)
    assert lost == [(f"crowd {QUEUE_LENGTH - 1}", 503)]
    assert len(order) == WORKERS and len(clients.waiting) == QUEUE_LENGTH - WORKERS
    assert asks(clients, "crowd 5").status == 503, "and back it cannot come"
    done.release()
    until(lambda: len(order) > WORKERS)
    assert order[WORKERS] == "new"
    done.release(QUEUE_LENGTH)
    for thread in threads:
        thread.join()
    assert len(order) == QUEUE_LENGTH and not clients.working and not clients.waiting


def test_who_has_many_places_gives_one_to_who_has_none(clients):
    """If two clients without debts have filled the queue, a third client gets the next turn.

    One request of the first two clients loses its place in the queue.
    """
    done, order, lost = threading.Semaphore(0), [], []

    def work(who):
        try:
            with clients.turn(who):
                order.append(who)
                done.acquire(timeout=PATIENCE)
        except Busy:
            lost.append(who)

    threads = [threading.Thread(target=work, args=(f"crowd {k % 2}",)) for k in range(QUEUE_LENGTH)]
    for thread in threads:
        thread.start()
    until(lambda: len(order) + len(clients.waiting) == QUEUE_LENGTH)
    threads.append(threading.Thread(target=work, args=("new",)))
    threads[-1].start()
    until(lambda: lost)
    done.release()
    until(lambda: len(order) > WORKERS)
    assert order[WORKERS] == "new" and len(lost) == 1
    done.release(QUEUE_LENGTH)
    for thread in threads:
        thread.join()


def test_so_many_work_at_once_and_threads_are_left_for_the_rest(clients):
    most, now, lock, full = [0], [0], threading.Lock(), threading.Barrier(WORKERS, timeout=PATIENCE)
    assert QUEUE_LENGTH % WORKERS == 0

    def work():
        with clients.turn(threading.current_thread().name):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            full.wait()
            with lock:
                now[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(QUEUE_LENGTH)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == WORKERS
    assert serve.WAITRESS["threads"] - QUEUE_LENGTH >= 2


# --- over HTTP

DEAR = [
    f"/recipe/norms?{DEAREST}", f"/still/norms.svg?{DEAREST}", f"/embed/norms?{DEAREST}", f"/norms?{DEAREST}",
    f"/oembed?url=http://localhost/norms?{DEAREST.replace('&', '%26')}",
]  # fmt: skip


@pytest.fixture
def server():
    return app.create_app().server


@pytest.mark.parametrize("path", DEAR)
def test_what_is_dear_is_charged(server, path):
    server.extensions["budget"].clock = Clock()  # nothing is paid back meanwhile
    assert server.test_client().get(path).status_code == 200
    assert server.extensions["budget"].owed("127.0.0.1") > 0


def test_an_upload_and_an_order_are_charged(server):
    server.extensions["budget"].clock = Clock()  # nothing is paid back meanwhile
    client = server.test_client()
    client.post("/run/spiral", data=b"{}", content_type="application/octet-stream")
    assert "127.0.0.1" in (debts := server.extensions["budget"].debts)
    order = {n.name: n.default for n in jobs.NUMBERS}  # for no scene
    asked = {"json": order, "environ_overrides": {"REMOTE_ADDR": "192.0.2.9"}}
    assert client.post("/training", **asked).status_code == 400
    assert debts["192.0.2.9"][0] >= budget.TRAINING_PRICE
    server.extensions["budget"].charge("192.0.2.9", BURST)
    answer = client.post("/training", **asked)
    assert answer.status_code == 429 and "Try again in" in answer.json["error"]


KEYS = [
    "/run/{}.npz", "/run/{}/net", "/recording/{}.csv", "/recipe/model?own={}",
    "/model?own={}", "/embed/model?own={}", "/still/model.svg?own={}", "/recipe/spiral?run={}",
]  # fmt: skip


@pytest.mark.parametrize("path", KEYS)
def test_a_guess_of_a_key_costs_more_than_its_work(server, path):
    server.extensions["budget"].clock = Clock()  # nothing is paid back meanwhile
    client = server.test_client()
    for k in range(2):
        assert client.get(path.format(f"{k:016x}")).status_code == 400
    assert 2 * budget.GUESS_PRICE <= server.extensions["budget"].owed("127.0.0.1") < 1


def test_guesses_are_bounded_for_each_client(server):
    """A client may make 120 guesses of keys, but is refused before the 250th.

    So a class behind one address can open a link to something deleted: 40 readers with three requests each.
    """
    server.extensions["budget"].clock = Clock()
    client, octets = server.test_client(), {"content_type": "application/octet-stream"}
    guesses = [client.post(f"/recording/{k:032x}/delete", **octets).status_code for k in range(250)]
    found = guesses.index(429)
    assert (
        120 <= found <= BURST / budget.GUESS_PRICE
        and set(guesses[:found]) == {400}
        and set(guesses[found:]) == {429}
    )


def test_guesses_of_tickets_are_bounded(server):
    server.extensions["budget"].clock = Clock()
    client = server.test_client()
    guesses = [client.post(f"/training/{k:032x}", json={}).status_code for k in range(250)]
    found = guesses.index(429)
    assert (
        120 <= found <= BURST / budget.GUESS_PRICE
        and set(guesses[:found]) == {200}
        and set(guesses[found:]) == {429}
    )


def test_what_is_kept_or_cheap_is_for_those_who_owe_too(server):
    server.extensions["budget"].clock = Clock()  # nothing is paid back meanwhile
    client = server.test_client()
    assert client.get("/recipe/layernorm?n=7").status_code == 200
    server.extensions["budget"].charge("127.0.0.1", 2 * BURST)
    for path in ("/recipe/layernorm?n=7", "/healthz", "/theme.css", "/layernorm", "/layernorm?n=8"):
        assert client.get(path).status_code == 200, path
    for path in ("/recipe/layernorm?n=8", "/still/layernorm.svg?n=8", "/embed/layernorm?n=8"):
        answer = client.get(path)
        assert answer.status_code == 429 and int(answer.headers["Retry-After"]) >= BURST, path
        assert "Try again in" in answer.json["error"] and answer.headers["Cache-Control"] == "no-store"
    assert client.get("/embed/layernorm?n=8", headers={"Accept": "text/html"}).mimetype == "text/plain"
    other = {"REMOTE_ADDR": "192.0.2.9"}
    assert client.get("/recipe/layernorm?n=8", environ_overrides=other).status_code == 200


READER, PROXY = "192.0.2.9", "10.0.0.3"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "spent", "warned"),
    [
        ("0", READER, "127.0.0.1", True),
        ("1", READER, READER, False),
        ("1", f"{READER}, {PROXY}", PROXY, True),
        ("2", f"{READER}, {PROXY}", READER, False),
    ],
)
def test_each_has_a_budget_if_all_proxies_are_known(monkeypatch, caplog, proxies, forwarded, spent, warned):
    monkeypatch.setenv("TRUSTED_PROXIES", proxies)
    server = app.create_app().server
    for _ in range(2):
        server.test_client().get("/recipe/layernorm?n=9", headers={"X-Forwarded-For": forwarded})
    assert list(server.extensions["budget"].debts) == [spent]
    warnings = [r.getMessage() for r in caplog.records if "TRUSTED_PROXIES" in r.getMessage()]
    assert len(warnings) == warned
    assert all(f"set TRUSTED_PROXIES={int(proxies) + 1}," in each for each in warnings)


def test_requests_of_one_client_are_computed_in_the_order_of_their_arrival():
    """Requests of one client are computed in the order of their arrival, though its debt falls meanwhile.

    A client's debt is the CPU time that it owes. If the debt were computed anew for each request, the oldest
    request could wait longest.
    """

    class Falling(Clock):
        def __call__(self):
            self.now += 1e-6
            return self.now

    clients, order, done = Budget(Falling()), [], threading.Semaphore(0)
    clients.charge("class", BURST / 4)

    def work(number):
        with clients.turn("class"):
            order.append(number)
            done.acquire(timeout=PATIENCE)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(QUEUE_LENGTH)]
    for k, thread in enumerate(threads):
        thread.start()
        until(lambda k=k: len(order) + len(clients.waiting) == k + 1)
    for k in range(WORKERS, QUEUE_LENGTH):
        done.release()
        until(lambda k=k: len(order) == k + 1)
    done.release(WORKERS)
    for thread in threads:
        thread.join()
    assert order == list(range(QUEUE_LENGTH))


def test_nobody_waits_while_nobody_works():
    """Simultaneous requests of one client that fill the queue are all computed in the end.

    They would wait for each other for ever if they were ranked by debts at different moments, because debts
    fall with time.
    """
    lot = random.Random(0)

    class Falling(Clock):
        def __call__(self):
            self.now += lot.choice((0, 1e-6))
            return self.now

    for _ in range(20):
        clients, left = Budget(Falling()), threading.Event()
        clients.charge("class", BURST / 4)

        def one(clients=clients, left=left):
            with clients.turn("class"):
                left.wait(PATIENCE)

        threads = [threading.Thread(target=one, daemon=True) for _ in range(QUEUE_LENGTH)]
        for thread in threads:
            thread.start()
        until(lambda clients=clients: len(clients.waiting) == QUEUE_LENGTH - WORKERS)
        left.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert not clients.waiting


# --- cached responses


def test_answers_are_cached_within_some_bytes_and_the_oldest_goes_first():
    cached, computed = answer_cache(100), []

    def ask(key, size=40):
        return cached(key, lambda: computed.append(key) or key.encode() * size)

    for key in "abcbb":
        assert ask(key) == key.encode() * 40
    assert computed == ["a", "b", "c"], "b is cached, a has gone"
    ask("d"), ask("b"), ask("c")
    assert computed == ["a", "b", "c", "d", "c"], "c was asked for before b"
    assert len(ask("large", 101)) == 505 and "large" not in cached.cache and cached.cache.currsize == 80


def test_after_a_failure_the_next_one_computes():
    cached = answer_cache()

    def fail():
        raise Busy(503, "no", 1)

    with pytest.raises(Busy):
        cached("key", fail)
    assert cached("key", lambda: b"made") == b"made"


def test_a_class_that_asks_for_the_same_at_once_waits_for_the_first(server):
    """Simultaneous requests for one response wait for the first to compute it; none is refused."""
    asked, may = [], threading.Event()

    def make():
        asked.append(1)
        assert may.wait(PATIENCE)
        return "made"

    def ask(_):
        with server.test_request_context("/recipe/layernorm"):
            return cached_or_computed("key", make)

    crowd = 3 * QUEUE_LENGTH
    with ThreadPoolExecutor(crowd) as pool:
        answers = [pool.submit(ask, k) for k in range(crowd)]
        until(lambda: asked)
        may.set()
    assert [each.result() for each in answers] == [b"made"] * crowd and len(asked) == 1


def test_recipes_are_cached_within_some_bytes(server):
    server.extensions["answers"] = cached = answer_cache(2**20)
    for seed in range(4):
        assert server.test_client().get(f"/recipe/norms?n=2000&seed={seed}").status_code == 200
        assert 0 < cached.cache.currsize <= 2**20
