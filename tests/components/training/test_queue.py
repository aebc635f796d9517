"""The queue of trainings: order, limits, pages and workers that are gone, races."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from components.pages.follow import reply_text
from components.settings import Settings
from components.training import queue, store
from components.training.queue import LEFT, LOST, NOTHING, REPLACED, Refused
from components.training.store import Store
from components.training.worker import ChildWorker

MAX_WAITING, MAX_PER_ADDRESS = Settings.waiting_trainings, Settings.client_trainings


def join(trainings, owner="me", address="here"):
    return trainings.join({"slug": "spiral"}, owner=owner, address=address)


def ask(trainings, ticket, seen=NOTHING, **wish):
    return json.loads(trainings.ask(ticket, **{"seen": seen, "stop": False, "look": {}} | wish) or "null")


def take():
    """Start the next training as a worker does, and return its ticket; None if none waits."""
    return next((ticket for ticket in queue.active() if queue.start(ticket)), None)


@pytest.fixture(autouse=True)
def stopped_clocks(monkeypatch):
    """Stop `time.time` and `time.monotonic` during each test; the function `later` sets them forward."""
    later(monkeypatch, 0)


def later(monkeypatch, seconds):
    """Set `time.time` and `time.monotonic` forward by a number of seconds, and stop them there.

    They stay at this time until the next call, or until the end of the test. With 0 seconds they only stop.
    """
    now, wall = time.monotonic(), time.time()
    monkeypatch.setattr(time, "monotonic", lambda: now + seconds)
    monkeypatch.setattr(time, "time", lambda: wall + seconds)


def test_who_comes_first_is_trained_first_and_a_page_knows_how_many_are_ahead(trainings):
    tickets = [join(trainings, str(k), str(k)) for k in range(3)]
    assert [ask(trainings, ticket)["ahead"] for ticket in tickets] == [0, 1, 2]
    assert trainings.active()[tickets[0]]["order"] == {"slug": "spiral"} and take() == tickets[0]
    assert ask(trainings, tickets[0]) is None and ask(trainings, tickets[2])["ahead"] == 2
    trainings.finish(tickets[0], {"state": "done"})
    assert ask(trainings, tickets[2])["ahead"] == 1
    assert take() == tickets[1] and take() == tickets[2] and take() is None


@pytest.mark.parametrize("waits", [True, False], ids=["waits", "runs"])
def test_a_training_that_ends_at_any_moment_of_a_poll_is_not_lost(trainings, monkeypatch, waits):
    done, untouched = {"state": "done"}, {name: getattr(Store, name) for name in ("get_many", "set", "items")}

    def poll_while_it_ends(moment):
        """Poll once, while the training ends, and return the number of store operations of the poll.

        The training ends just before operation number `moment` (from 0), and the next poll must get its
        outcome. If the poll has no operation with this number, the training does not end.
        """
        ticket, count = join(trainings), 0
        if not waits:
            trainings.start(ticket)

        def interrupted(operation):
            def call(self, *args):
                nonlocal count
                count += 1
                if count == moment + 1:
                    with monkeypatch.context() as undo:
                        for name, original in untouched.items():
                            undo.setattr(Store, name, original)
                        trainings.start(ticket)
                        trainings.finish(ticket, done)
                return operation(self, *args)

            return call

        with monkeypatch.context() as patch:
            for name, original in untouched.items():
                patch.setattr(Store, name, interrupted(original))
            during = ask(trainings, ticket)
        if count > moment:
            assert during in ({"end": done}, None, {"ahead": 0}, {"ahead": 0, "worker": False})
            assert ask(trainings, ticket) == {"end": done}
        return count

    moments = poll_while_it_ends(1000)
    assert moments >= 2
    for moment in range(moments):
        poll_while_it_ends(moment)


def test_the_queue_is_bounded(trainings):
    for k in range(MAX_WAITING):
        join(trainings, str(k), str(k))
    with pytest.raises(Refused, match=f"{MAX_WAITING} trainings are waiting"):
        join(trainings, "late", "late")
    assert len(trainings.active()) == MAX_WAITING
    take()
    join(trainings, "late", "late")


def test_a_person_has_one_training_and_an_address_a_few(trainings):
    first, second = join(trainings), join(trainings)
    assert ask(trainings, first) == {"end": REPLACED} and ask(trainings, second) == {"ahead": 0}
    for k in range(MAX_PER_ADDRESS - 1):
        join(trainings, str(k))
    with pytest.raises(Refused, match="of this address"):
        join(trainings, "ten")


@pytest.mark.parametrize("limit", ["waiting", "address"])
def test_a_refused_order_leaves_the_earlier_training_of_the_same_person_as_it_was(trainings, limit):
    mine = join(trainings, "me", "home")
    take()
    for k in range(MAX_WAITING if limit == "waiting" else MAX_PER_ADDRESS):
        join(trainings, str(k), str(k) if limit == "waiting" else "school")
    with pytest.raises(Refused):
        join(trainings, "me", "school")
    assert mine in trainings.active() and ask(trainings, mine) is None


def test_a_page_that_is_closed_frees_its_place(trainings):
    gone, here = join(trainings, "a"), join(trainings, "b")
    trainings.close(gone)
    trainings.close("nobody's")
    assert ask(trainings, gone) == {"end": LEFT} and ask(trainings, here) == {"ahead": 0}
    assert trainings.start(gone) is None and take() == here
    assert trainings.SIGNS.get("end:nobody's") is None


def test_a_page_that_falls_silent_frees_its_place_after_more_than_a_minute(trainings, monkeypatch):
    gone, here = join(trainings, "a"), join(trainings, "b")
    assert ask(trainings, here)["ahead"] == 1
    later(monkeypatch, 60)
    assert ask(trainings, here)["ahead"] == 1, "a hidden page asks once a minute"
    later(monkeypatch, 31)
    assert ask(trainings, here)["ahead"] == 0 and ask(trainings, gone) == {"end": LEFT}


@pytest.mark.parametrize("seen_by", ["its own page", "another page"])
def test_a_dead_worker_is_known_within_fifteen_seconds_and_a_short_pause_is_no_death(
    trainings, monkeypatch, seen_by
):
    runs, waits = join(trainings, "a"), join(trainings, "b")
    take()
    look = (lambda: ask(trainings, runs)) if seen_by == "its own page" else (lambda: ask(trainings, waits))
    look()
    later(monkeypatch, 8)
    look()
    assert runs in trainings.active()
    later(monkeypatch, 4)
    look()
    assert ask(trainings, runs) == {"end": LOST} and ask(trainings, waits)["ahead"] == 0
    assert trainings.page(runs) is None, "should it live after all, it gives up"


def test_of_workers_that_come_at_the_same_time_one_starts_a_training(trainings):
    workers, tickets = 8, [join(trainings, str(k), str(k)) for k in range(MAX_WAITING)]
    together = threading.Barrier(workers)

    def worker(_):
        return [(together.wait(), trainings.start(ticket))[1] for ticket in tickets]

    with ThreadPoolExecutor(workers) as pool:
        by_ticket = zip(*pool.map(worker, range(workers)), strict=True)
    assert [sum(training is not None for training in started) for started in by_ticket] == [1] * MAX_WAITING


@pytest.mark.parametrize("others", ["finishes", "closes the page"])
def test_a_page_that_gives_its_worker_up_does_not_overwrite_an_outcome(trainings, monkeypatch, others):
    """A poll that finds the worker silent does not replace an outcome that is stored during the poll.

    The outcome is stored by the worker, which finishes after all, or by the page, which is closed.
    """
    ticket, outcome = join(trainings), {"state": "done"} if others == "finishes" else LEFT
    take()

    def meanwhile(key, value):
        trainings.finish(ticket, outcome)
        return 1000.0

    with monkeypatch.context() as patch:
        patch.setattr(queue, "silence", meanwhile)
        assert ask(trainings, ticket) == {"end": outcome}
    trainings.finish(ticket, LOST)
    assert ask(trainings, ticket) == {"end": outcome} and trainings.active() == {}


def test_a_late_poll_does_not_revive_a_training_for_its_worker(trainings, monkeypatch):
    """If a training ends during a poll, the poll may afterwards store that the page is alive.

    The training stays ended all the same: `page`, which its worker calls, returns None.
    """
    ticket, poll = join(trainings), queue._poll
    take()
    with monkeypatch.context() as patch:
        patch.setattr(queue, "_poll", lambda *told: (trainings.close(ticket), poll(*told)))
        ask(trainings, ticket)
    assert trainings.SIGNS.get(f"page:{ticket}") and trainings.page(ticket) is None


def test_without_a_worker_page_and_health_say_so_until_one_comes_however_late(trainings, monkeypatch):
    ticket = join(trainings)
    assert ask(trainings, ticket) == {"ahead": 0} and queue.degraded() == []
    for seconds in (15, *[60] * 60):
        later(monkeypatch, seconds)
        assert ask(trainings, ticket) == {"ahead": 0, "worker": False}
        assert queue.degraded() == ["training: no worker"]
    trainings.sign()
    assert ask(trainings, ticket) == {"ahead": 0} and queue.degraded() == [] and take() == ticket


def test_a_training_that_is_stopped_while_it_waits_leaves_the_queue_at_once(trainings):
    first, second = join(trainings), join(trainings, "you", "there")
    assert ask(trainings, first, stop=True) == {"end": {"state": "stopped"}} == ask(trainings, first)
    assert ask(trainings, second)["ahead"] == 0 and take() == second
    assert ask(trainings, second, stop=True) is None and trainings.page(second)["stop"]


def test_a_training_that_is_stopped_as_a_worker_claims_it_ends_for_both(trainings, monkeypatch):
    ticket, poll = join(trainings), queue._poll
    with monkeypatch.context() as patch:
        patch.setattr(queue, "_poll", lambda *told: (queue.start(ticket), poll(*told)))
        assert ask(trainings, ticket, stop=True) == {"end": {"state": "stopped"}}
    assert trainings.page(ticket) is None
    trainings.finish(ticket, {"state": "done"})
    assert ask(trainings, ticket) == {"end": {"state": "stopped"}} and trainings.active() == {}


def test_while_the_store_is_full_no_worker_is_missed(trainings, monkeypatch):
    """Then workers cannot write their heartbeats."""
    join(trainings)
    later(monkeypatch, 60)
    monkeypatch.setattr(queue, "capacity", lambda: (2**30, queue.MIN_FREE_BYTES - 1))
    assert queue.degraded() == ["store: full"]


def test_a_worker_that_nobody_needs_is_not_missed(trainings):
    """No worker is reported as missing while no training waits: the web server starts one when needed."""
    trainings.SIGNS.delete("worker")
    assert queue.degraded() == []
    trainings.close(join(trainings))
    assert queue.degraded() == []


def test_corrupt_entries_are_treated_as_missing(trainings):
    """A training with a corrupt entry is lost; others can still be queued, and the health check answers."""
    corrupt = join(trainings)
    trainings.TRAININGS.set(corrupt, b"\xff{")
    trainings.SIGNS.set("worker", b"?")
    assert queue.degraded() == [] and ask(trainings, corrupt) == {"end": LOST}
    ticket = join(trainings)
    assert ask(trainings, ticket) == {"ahead": 0, "worker": False} and take() == ticket


STRANGE = ["f" * 32, "nobody's", "", "x" * 10**6]


@pytest.mark.parametrize("ticket", STRANGE, ids=range(len(STRANGE)))
def test_a_ticket_that_nobody_gave_out_moves_nothing(trainings, monkeypatch, ticket):
    monkeypatch.setattr(Store, "set", None)
    workers = ChildWorker()
    said = reply_text(workers.ready, ticket, seen=0, stop=True, look={"seed": "1"})
    assert json.loads(said) == {"end": LOST} and workers.process is None
    trainings.close(ticket)


@pytest.mark.parametrize("step", [-40 * 365 * 86400, -60, 60, 3600, 365 * 86400])
def test_a_step_of_the_clock_or_a_sleep_loses_nothing(trainings, monkeypatch, step):
    """A jump of the wall clock, or a sleep of the machine, loses no training.

    The silence of pages and workers is measured with the monotonic clock.
    """
    runs, waits = join(trainings, "a"), join(trainings, "b")
    take()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + step)
    trainings.sign()
    assert ask(trainings, runs) is None and ask(trainings, waits) == {"ahead": 1}
    assert not trainings.page(runs)["silent"]


def test_a_heartbeat_under_way_does_not_revive_a_training_and_goes_with_its_outcome(trainings, monkeypatch):
    """A heartbeat that is under way when its training ends may be stored after the end.

    The training stays ended. The heartbeat is deleted with the outcome of the training, after a day.
    """
    ticket, write = join(trainings), Store.set
    take()

    def late(store, key, value):
        if key == f"beat:{ticket}":
            trainings.finish(ticket, {"state": "done"})
        write(store, key, value)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "set", late)
        trainings.sign()
    assert trainings.SIGNS.get(f"beat:{ticket}") and not trainings.active() and take() is None
    assert ask(trainings, ticket) == {"end": {"state": "done"}}
    later(monkeypatch, queue.OUTCOME_SECONDS + 60)
    join(trainings)
    assert trainings.SIGNS.get(f"beat:{ticket}") is None


def test_while_the_store_is_away_nobody_dies(trainings, monkeypatch):
    """Time in which the store failed does not count as silence, because nobody could write.

    Meanwhile, pages and the health check are told that the store is away. Later silence counts again.
    """
    ticket = join(trainings)
    take()
    assert ask(trainings, ticket) is None and not trainings.page(ticket)["silent"]
    with monkeypatch.context() as patch:
        patch.setattr(store, "storage", away)
        assert reply_text(lambda: None, ticket, seen=0, stop=False, look={}) == '{"away": true}'
        assert queue.degraded() == ["store: away"]
    later(monkeypatch, 100)
    assert ask(trainings, ticket) is None
    later(monkeypatch, 12)
    assert ask(trainings, ticket) == {"end": LOST}


def away(_):
    raise OSError("gone")


def test_what_is_kept_does_not_grow(trainings, monkeypatch):
    """If no worker takes any training, the stored data does not grow without bound.

    Trainings are replaced or refused, and those that pages have abandoned are deleted.
    """
    for k in range(100):
        with suppress(Refused):
            join(trainings, str(k % 3), str(k % 3))
    for k in range(40):
        with suppress(Refused):
            join(trainings, f"other {k}", "one")
    assert len(trainings.TRAININGS.items()) == len(trainings.active()) <= MAX_WAITING
    later(monkeypatch, queue.OUTCOME_SECONDS + 60)
    trainings.active()
    later(monkeypatch, 100)
    trainings.active()
    later(monkeypatch, queue.OUTCOME_SECONDS + 60)
    ticket = join(trainings, "last")
    assert trainings.TRAININGS.items().keys() == {ticket}
    assert trainings.SIGNS.items().keys() == {f"page:{ticket}", "worker"}


def test_a_page_that_follows_asks_few_questions(trainings, monkeypatch):
    runs, waits = join(trainings, "a"), join(trainings, "b")
    take()
    asked, real = [], store.storage
    monkeypatch.setattr(store, "storage", lambda name: asked.append(name) or real(name))

    def questions(ticket):
        asked.clear()
        ask(trainings, ticket)
        return len(asked)

    assert [questions(ticket) for ticket in (runs, waits, "f" * 32)] == [2, 5, 1]


def test_the_capacity_of_a_folder_that_does_not_exist_yet_is_that_of_its_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path / "new"))
    total, free = store.capacity()
    assert 0 < free <= total
