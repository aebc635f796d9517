"""Trainings: what may be asked, the line, the work, and the process that does it."""

import gc
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.drawing.figure import document
from components.language.scene import WrongValue, scenes
from components.pages import follow, panel
from components.settings import cache_folder
from components.training import health, heartbeat, jobs, line, runs, store
from components.training.line import MOST_OF_AN_ADDRESS, MOST_WAITING, Line, Refused
from components.training.recipes import recipe_of, shown
from components.training.worker import Local
from learning import training
from learning.shipped import film as shipped
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[3]
SMALL = {"slug": "spiral", "choices": {"n": "40"}, "steps": 100, "lr": 0.01, "seeds": 2, "seed": 0}
LONG = SMALL | {"choices": {"n": "400", "depth": "6"}, "steps": 20_000, "seeds": 32}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SMALL, "x"]), inner),
    max_leaves=8,
)


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A line of the test's own with a worker; what runs in this process uses its store too."""
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    store.clear()
    queue = Line(store.here())
    queue.store.set(line.WORKER, b"1", 3600)
    yield queue
    store.clear()


def join(queue, order=SMALL, owner="me", address="here"):
    return queue.join(vars(jobs.order(order)), owner=owner, address=address)


# --- what may be asked


@pytest.mark.parametrize("number", jobs.NUMBERS, ids=lambda n: n.name)
def test_a_number_is_taken_within_its_bounds_and_nothing_else_is(number):
    for value in (number.min, number.default, number.max):
        assert not number.problem(value)
    span = number.max - number.min
    wrong = [number.min - 1e-9 * span, number.max * 1.001, "", "7", None, True, [1], {}, 10**400]
    wrong += [float("nan"), float("inf"), -float("inf")] + [number.min + 0.5] * number.whole
    for value in wrong:
        assert "number from" in number.problem(value), value


@given(JUNK | st.dictionaries(st.sampled_from([*SMALL]), JUNK).map(lambda some: SMALL | some))
def test_an_order_is_sound_or_refused_in_words(asked):
    try:
        order = jobs.order(asked)
    except WrongValue as wrong:
        assert wrong.error and wrong.parameter
    else:
        assert 100 <= order.steps <= 20_000 and order.scene.training and order.chosen


def test_what_the_scene_refuses_is_refused_before_anything_runs():
    for choices in ({"depth": "7"}, {"nothing": "1"}, {"data": "own", "points": "1, 2"}):
        with pytest.raises(WrongValue):
            jobs.order(SMALL | {"choices": choices})
    with pytest.raises(WrongValue, match="nothing can be trained"):
        jobs.order(SMALL | {"slug": "layernorm"})


def test_what_is_not_trained_does_not_travel(queue):
    """A net in the link has any length, and says nothing of what is to be trained."""
    ticket = join(queue, SMALL | {"choices": {"n": "40", "net": "x" * 10**6, "run": "y" * 10**6}})
    assert (
        len(queue.store.get("line")) < 1000 and jobs.Order(**queue.start(ticket)["order"]).chosen["net"] == ""
    )


def test_a_training_of_a_trained_run_begins_anew():
    assert jobs.order(SMALL | {"choices": {"run": "f" * 16, "net": "x"}}).chosen["run"] == ""


# --- the line


def test_the_line_is_one(queue):
    tickets = [join(queue, owner=str(k), address=str(k)) for k in range(3)]
    assert [json.loads(queue.ask(t))["ahead"] for t in tickets] == [0, 1, 2]
    assert queue.next() == tickets[0]
    assert queue.start(tickets[0])["order"] == vars(jobs.order(SMALL)) and queue.start(tickets[0]) is None
    assert queue.next() == tickets[1] and queue.ask(tickets[0]) is None
    queue.leave(tickets[0])
    assert json.loads(queue.ask(tickets[2]))["ahead"] == 1


def test_who_waits_for_others_is_not_lost(queue):
    first, second, third = (join(queue, owner=owner) for owner in "abc")
    queue.start(first)
    queue.store.delete(f"beat:{second}")  # its patience has come to an end
    assert json.loads(queue.ask(second)) == {"ahead": 1} and queue.outcome(second) is None
    queue.store.delete(f"beat:{second}")
    queue.store.delete(f"beat:{first}")  # and so has the worker; another one has missed the second
    queue.start(third)
    assert json.loads(queue.ask(second)) == {"ahead": 0} and queue.outcome(second) == {"state": "lost"}


def test_the_line_is_bounded(queue):
    for k in range(MOST_WAITING):
        join(queue, owner=str(k), address=str(k))
    with pytest.raises(Refused, match=f"{MOST_WAITING} trainings are waiting"):
        join(queue, owner="late", address="late")


def test_a_person_has_one_job_and_an_address_a_few(queue):
    first, second = join(queue), join(queue)
    assert queue.outcome(first) == {"state": "replaced"} and queue.outcome(second) is None
    for k in range(MOST_OF_AN_ADDRESS - 1):
        join(queue, owner=str(k))
    with pytest.raises(Refused, match="of this address"):
        join(queue, owner="ten")


def test_who_has_closed_the_page_no_longer_waits(queue):
    gone, here = join(queue, owner="a"), join(queue, owner="b")
    queue.store.delete(f"asked:{gone}")
    assert json.loads(queue.ask(here))["ahead"] == 0 and queue.next() == here
    closed = join(queue, owner="c")
    queue.close(closed)
    queue.close("nobody's")
    assert queue.outcome(closed) == {"state": "left"} and queue.start(closed) is None
    assert store.here().get("outcome:nobody's") is None


def test_a_job_without_a_sign_of_life_is_lost(queue):
    ticket = join(queue)
    queue.start(ticket)
    assert queue.outcome(ticket) is None
    queue.store.delete(f"beat:{ticket}")
    assert queue.outcome(ticket) == {"state": "lost"}
    assert queue.pulse(ticket) == "gone"


def later(monkeypatch, seconds):
    """Let both clocks be later, and stand still then."""
    now, wall = time.monotonic(), time.time()
    monkeypatch.setattr(time, "monotonic", lambda: now + seconds)
    monkeypatch.setattr(time, "time", lambda: wall + seconds)


def test_a_dead_worker_is_known_within_fifteen_seconds_and_a_short_pause_is_no_death(queue, monkeypatch):
    page, ticket = follow.Follow(queue, Idle()), join(queue)
    queue.start(ticket)
    later(monkeypatch, 8)
    assert told(page, ticket) is None
    later(monkeypatch, 4)
    assert told(page, ticket) == {"end": {"state": "lost"}}


def test_a_step_that_takes_longer_than_a_heartbeat_is_no_death(queue, monkeypatch):
    """Nor is one that is longer than the worker may be silent: a thread signs meanwhile."""
    real, seen = training.train, []
    monkeypatch.setattr(line, "WORKER_TIMEOUT", 0.4)
    monkeypatch.setattr(heartbeat, "INTERVAL", 0.05)

    def train(*task, **numbers):
        time.sleep(1)
        seen.append(queue.outcome(ticket))
        yield from real(*task, **numbers)

    monkeypatch.setattr(training, "train", train)
    ticket = join(queue)
    jobs.work(ticket)
    assert seen == [None] and queue.outcome(ticket)["state"] == "done"


def test_without_a_worker_page_and_health_say_so_until_one_comes(queue, monkeypatch):
    ticket, page = join(queue), follow.Follow(queue, Idle())
    queue.sign_worker()
    assert told(page, ticket) == {"ahead": 0} and health.degraded() == []
    later(monkeypatch, 15)
    assert told(page, ticket) == {"ahead": 0, "worker": False}
    assert health.degraded() == ["training: no worker"]
    queue.sign_worker()
    assert told(page, ticket) == {"ahead": 0} and health.degraded() == []


def test_a_worker_that_nobody_needs_is_not_missed(queue):
    """The own process ends after a while without work."""
    queue.store.delete(line.WORKER)
    assert health.degraded() == []
    queue.close(join(queue))
    assert health.degraded() == []


STRANGE = ["f" * 32, "nobody's", "", "\ud800", "x" * 10**6]


@pytest.mark.parametrize("ticket", STRANGE, ids=range(len(STRANGE)))
def test_a_ticket_that_nobody_gave_out_moves_nothing(queue, monkeypatch, ticket):
    monkeypatch.setattr(store.Steady, "set", absent)
    monkeypatch.setattr(store.Steady, "change", absent)
    queue.stop(ticket), queue.look(ticket, {"seed": "1"}), queue.close(ticket)
    if line.is_ticket(ticket):
        page = follow.Follow(queue, workers := Local())
        assert told(page, ticket, look={"seed": "1"}, stop=True) == {"end": {"state": "lost"}}
        assert workers.process is None, "nor does it start a worker"


def test_a_page_that_is_silent_for_a_minute_is_there(queue, monkeypatch):
    ticket = join(queue)
    queue.start(ticket)
    later(monkeypatch, 60)
    queue.beat(ticket)
    assert queue.pulse(ticket) == "go" and queue.outcome(ticket) is None


@pytest.mark.parametrize("step", [-40 * store.YEAR, -60, 60, 3600, 0.9 * store.YEAR])
def test_a_step_of_the_clock_or_a_sleep_loses_nothing(queue, monkeypatch, step):
    """After a sleep the clock is late by it as well: what does not sleep has stood still."""
    waits, runs_ = join(queue), join(queue, owner="other")
    queue.start(runs_)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + step)
    assert queue.next() == waits and queue.pulse(runs_) == "go"
    assert queue.outcome(waits) is None and queue.outcome(runs_) is None
    assert json.loads(queue.ask(waits)) == {"ahead": 0}


def test_the_folder_of_the_line_does_not_grow(queue, monkeypatch):
    """However many orders are replaced, refused or given up."""
    for k in range(40):
        join(queue, owner=str(k % 3), address=str(k % 3))
    for k in range(40):
        with suppress(Refused):
            join(queue, owner=f"other {k}", address="one")
    later(monkeypatch, 3600)
    ticket = join(queue, owner="last")
    assert set(queue.store.sizes("")) <= {"line", f"asked:{ticket}", f"beat:{ticket}"}


def test_signs_of_life_from_before_a_restart_of_the_machine_are_none(queue, monkeypatch):
    ticket = join(queue)
    queue.start(ticket)
    monkeypatch.setattr(time, "monotonic", lambda: 10.0)
    assert queue.outcome(ticket) == {"state": "lost"}


def test_after_a_step_of_the_clock_a_missing_sign_means_nothing_for_a_while(monkeypatch):
    """As in Redis, whose values have gone by then."""
    trust, wall, now = line.Trust(), time.time, time.monotonic()
    assert trust.sure(6)
    monkeypatch.setattr(time, "time", lambda: wall() + 3600)
    assert not trust.sure(6) and not trust.sure(6)
    monkeypatch.setattr(time, "monotonic", lambda: now + 6.5)
    monkeypatch.setattr(time, "time", lambda: wall() + 3606.5)
    assert trust.sure(6)


def test_who_dies_takes_its_own_training_along_and_no_other(queue):
    mine, other, waits = (join(queue, owner=owner) for owner in "abc")
    queue.start(mine, "worker 1"), queue.start(other, "worker 2")
    queue.bury("worker 1")
    assert [queue.outcome(ticket) for ticket in (mine, other, waits)] == [{"state": "lost"}, None, None]
    queue.bury()
    assert queue.outcome(other) == {"state": "lost"} and queue.outcome(waits) is None


# --- the work


def test_a_training_ends_with_a_stored_run_that_its_scene_shows(queue):
    ticket = join(queue)
    jobs.work(ticket)
    outcome = queue.outcome(ticket)
    assert outcome["state"] == "done" and outcome["step"] == 100 and outcome["seeds"] == 2
    film = runs.load(outcome["run"])
    assert film.settings["scene"] == "spiral" and film.settings["choice n"] == "40"
    assert film.weights.shape[0] == 2 and film.steps[-1] == 100 and film.best() == outcome["seed"]
    assert recipe_of(scenes()["spiral"], run=outcome["run"], n=40, seed=1).clock == "step"
    with pytest.raises(WrongValue, match="seed=2"):
        recipe_of(scenes()["spiral"], run=outcome["run"], n=40, seed=2)


class Idle:
    """Workers that nobody needs."""

    def ready(self):
        pass

    def call(self):
        pass


def told(page, ticket, seen=line.NOTHING, **wish):
    """What a page is told, None if nothing is new."""
    text = page.told(ticket, **{"seen": seen, "stop": False, "look": None} | wish)
    return json.loads(text) if text else None


def listening(queue, monkeypatch, ticket, then):
    """Hear all news of a job, and do something after each."""
    heard = []

    def pulse(own, name, beat=Line.pulse):
        news = own.ask(name, heard[-1]["step"] if heard else line.NOTHING)
        if news and "recipe" in (said := json.loads(news)):
            heard.append(said)
            then(heard)
        return beat(own, name)

    monkeypatch.setattr(Line, "pulse", pulse)
    jobs.work(ticket)
    return heard


def test_stop_keeps_what_there_is(queue, monkeypatch):
    ticket = join(queue, LONG)
    heard = listening(queue, monkeypatch, ticket, lambda said: len(said) == 2 and queue.stop(ticket))
    outcome = queue.outcome(ticket)
    assert outcome["state"] == "done" and 0 < outcome["step"] < 20_000
    assert runs.load(outcome["run"]).steps[-1] == outcome["step"] >= heard[-1]["step"]


def test_nobody_trains_for_a_page_that_has_gone(queue, monkeypatch):
    ticket = join(queue, LONG)
    listening(queue, monkeypatch, ticket, lambda said: queue.leave(ticket))
    assert queue.outcome(ticket) == {"state": "lost"} and queue.next() is None


def test_what_was_trained_for_a_page_that_fell_silent_is_kept(queue, monkeypatch):
    """Its machine sleeps, say: when it is back, it finds what there is."""
    ticket, seen = join(queue, LONG), []

    def pulse(own, name, real=Line.pulse):
        seen.append(name)
        if len(seen) == 3:
            queue.store.delete(f"asked:{ticket}")
        return real(own, name)

    monkeypatch.setattr(Line, "pulse", pulse)
    jobs.work(ticket)
    outcome = queue.outcome(ticket)
    assert outcome["state"] == "done" and 0 < runs.load(outcome["run"]).steps[-1] < 20_000
    assert len(seen) == 3


def test_a_run_without_a_place_fails_in_words_that_tell_nothing_else(queue, monkeypatch):
    monkeypatch.setattr(runs, "LARGEST", 1000)
    ticket = join(queue)
    jobs.work(ticket)
    assert queue.outcome(ticket) == {"state": "failed", "words": jobs.UNKEPT}


def test_a_trained_run_counts_for_its_client(queue):
    ticket = join(queue, address="192.0.2.7")
    jobs.work(ticket)
    (kept,) = json.loads(store.films().get(runs.SHELF)).values()
    assert kept["client"] == "192.0.2.7" and kept["trained"]


def test_news_put_together_are_the_recipe_of_the_film(queue, monkeypatch):
    scene, film = scenes()["spiral"], shipped("spiral")
    chosen = scene.choose({})
    pictures, known, whole, second = jobs.Pictures(scene, chosen), {}, 0, 0
    for _ in range(2):
        recipe = pictures.news(film)
        whole, second = second, len(json.dumps(recipe))
        for kind in ("clouds", "views"):
            for k, each in enumerate(recipe[kind]):
                recipe[kind][k] = known[kind, each["name"]] = known.get((kind, each["name"]), {}) | each
        assert recipe == document(shown(scene, chosen, film))
    assert second < whole / 20


def test_pictures_turn_to_another_seed_and_back():
    pictures = jobs.Pictures(scenes()["spiral"], scenes()["spiral"].choose({"seed": "1"}))
    seen = []
    for texts in ({}, {"seed": "2"}, {"seed": "99"}, {"seed": "x"}, {"run": "f" * 16}, {}):
        pictures.look(texts)
        seen.append(pictures.news(shipped("spiral"))["readouts"][0]["label"][-1])
    assert seen == ["1", "2", "2", "2", "1", "1"]


def test_the_page_of_a_training_says_what_it_wants_to_see(queue):
    ticket = join(queue)
    assert queue.looked(ticket) == {}
    queue.look(ticket, {"seed": "1"})
    queue.look("nobody's", {"seed": "1"})
    assert queue.looked(ticket) == {"seed": "1"} and queue.looked("nobody's") == {}


def test_what_is_lost_on_the_way_is_told_again(queue):
    page, ticket = follow.Follow(queue, Idle()), join(queue)
    assert told(page, ticket) == told(page, ticket) == {"ahead": 0}
    queue.start(ticket)
    queue.tell(ticket, {"step": 0, "recipe": "first"})
    assert [told(page, ticket)["recipe"] for _ in range(2)] == ["first", "first"]
    assert not queue.heard(ticket, 0), "the worker leaves out what the page has: it has nothing yet"
    assert told(page, ticket, 0) is None and queue.heard(ticket, 0)
    queue.tell(ticket, {"step": 7, "recipe": "second"})
    assert [told(page, ticket, 0)["recipe"] for _ in range(2)] == ["second", "second"]
    queue.finish(ticket, {"state": "done"})
    assert [told(page, ticket, 0) for _ in range(2)] == [{"end": {"state": "done"}}] * 2


def test_a_page_says_with_each_question_what_it_wants(queue):
    page, ticket = follow.Follow(queue, Idle()), join(queue)
    queue.start(ticket)
    for _ in range(2):
        told(page, ticket, look={"seed": "1"}, stop=True)
        assert queue.looked(ticket) == {"seed": "1"} and queue.pulse(ticket) == "stop"


def test_news_that_could_not_be_told_are_made_whole_again(queue, monkeypatch):
    """What the store has not taken the page does not have: the next picture leaves nothing out."""
    ticket, real, away = join(queue, LONG), Line.tell, iter([True])
    whole = []

    def tell(own, name, news):
        whole.append({field for each in news["recipe"]["clouds"] for field in each} > {"name"})
        if next(away, False):
            raise store.Away("gone")
        real(own, name, news)
        queue.stop(name)

    monkeypatch.setattr(Line, "tell", tell)
    jobs.work(ticket)
    sizes = [len(json.dumps(cloud)) for cloud in json.loads(queue.ask(ticket))["recipe"]["clouds"]]
    assert len(whole) == 2 and all(whole) and min(sizes) > 100


def test_a_training_that_fails_says_so(queue, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no memory")

    monkeypatch.setattr(training, "train", broken)
    ticket = join(queue)
    jobs.work(ticket)
    assert queue.outcome(ticket) == {"state": "failed", "words": "RuntimeError: no memory"}


def test_the_work_outlives_a_store_that_is_away_for_a_while(queue, monkeypatch):
    away = iter([True] * 3)
    real = store.Disk.set

    def set_(self, key, value, seconds):
        if key.startswith("film:") and next(away, False):
            raise store.Away("gone")
        real(self, key, value, seconds)

    monkeypatch.setattr(store.Disk, "set", set_)
    ticket = join(queue)
    jobs.work(ticket)
    assert queue.outcome(ticket)["state"] == "done"


def test_a_page_gives_workers_a_beat_when_the_store_is_back(queue, monkeypatch):
    """What is away longer than a beat has no sign of any worker; the training has ended well meanwhile."""
    page, ticket = follow.Follow(queue, Idle()), join(queue)
    queue.start(ticket)
    with monkeypatch.context() as patch:
        patch.setattr(store.Disk, "get", absent)
        assert told(page, ticket) == {"away": True}
    queue.store.delete(f"beat:{ticket}")
    assert told(page, ticket) is None
    page.trust.back = 0.0
    queue.finish(ticket, {"state": "done"})
    assert told(page, ticket) == {"end": {"state": "done"}}


def test_a_worker_gives_the_page_a_beat_when_the_store_is_back(queue, monkeypatch):
    real, ticket, seen = Line.pulse, join(queue, LONG), []

    def pulse(own, name):
        seen.append(name)
        if len(seen) == 2:
            queue.store.delete(f"asked:{ticket}")
            raise store.Away("for longer than a page asks")
        if len(seen) == 4:
            queue.ask(ticket), queue.stop(ticket)
        return real(own, name)

    monkeypatch.setattr(Line, "pulse", pulse)
    jobs.work(ticket)
    assert len(seen) == 4 and queue.outcome(ticket)["state"] == "done"


def test_a_start_waits_for_the_store(queue, monkeypatch):
    real, away = Line.start, iter([True])

    def start(*asked):
        if next(away, False):
            raise store.Away("gone")
        return real(*asked)

    monkeypatch.setattr(Line, "start", start)
    ticket = join(queue)
    jobs.work(ticket)
    assert queue.outcome(ticket)["state"] == "done"


def absent(*_, **__):
    raise store.Away("gone")


# --- the process


@pytest.fixture
def local(queue):
    workers = [Local(), Local()]
    yield workers
    for each in workers:
        each.close()


def asking(queue, ticket):
    """As a page does; the last news with a step, or the outcome."""
    news = json.loads(queue.ask(ticket) or "{}")
    return news if "step" in news else queue.outcome(ticket)


def test_a_worker_that_dies_at_its_start_is_given_time(queue, monkeypatch, caplog):
    """A page asks sixteen times a second."""
    local, started, now, real = Local(), [], [1000.0], subprocess.Popen

    def popen(_, **options):
        started.append(now[0])
        return real(["false"], **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for _ in range(16 * 20):
        local.ready()
        if local.process:
            local.process.wait()
        now[0] += 1 / 16
    assert [round(b - a) for a, b in pairwise(started)] == [1, 2, 4, 8]
    assert len(caplog.messages) == len(started) and "ended at its start: 1" in caplog.messages[0]


def test_a_worker_that_always_dies_at_its_start_is_said_within_fifteen_seconds(queue, monkeypatch):
    """At first it is expected, and the page is told nothing of it."""
    queue.store.delete(line.WORKER)
    now, real, said = [1000.0], subprocess.Popen, []
    monkeypatch.setattr(subprocess, "Popen", lambda _, **options: real(["false"], **options))
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    page, ticket = follow.Follow(queue, Local()), join(queue)
    for _ in range(15):
        said.append("worker" in told(page, ticket))
        if page.workers.process:
            page.workers.process.wait()
        now[0] += 1
    assert said == sorted(said) and not said[0] and said[-1], said
    assert health.degraded() == ["training: no worker"]


@pytest.mark.servers
def test_a_worker_goes_with_its_application(queue):
    local = Local()
    local.ready()
    process = local.process
    del local
    gc.collect()
    assert process.returncode is not None


def test_a_process_that_cannot_be_started_is_no_error_of_the_page(queue, monkeypatch):
    def popen(*_, **__):
        raise OSError("too many processes")

    monkeypatch.setattr(subprocess, "Popen", popen)
    queue.store.delete(line.WORKER)
    assert told(follow.Follow(queue, Local()), join(queue)) == {"ahead": 0, "worker": False}
    assert health.degraded() == ["training: no worker"]


SOON = 60  # seconds


def ended(queue, workers, ticket):
    """How a training ends whose page asks; a worker that has ended is followed by the next."""
    return until(lambda: (workers.ready(), queue.ask(ticket), queue.outcome(ticket))[2], SOON)


@pytest.mark.servers
def test_one_worker_of_a_machine_trains_and_when_it_is_gone_the_next(queue, local, tmp_path):
    """Who waits ends with its server; one is killed, of the next the folder is deleted, the last ends too."""
    first, second = (join(queue, order, owner=str(k)) for k, order in enumerate((LONG, SMALL)))
    local[0].call()
    until(lambda: (queue.ask(second), asking(queue, first))[1])
    assert psutil.Process(local[0].process.pid).nice() > psutil.Process().nice(), "pages go first"
    local[1].ready()
    spare = psutil.Process(local[1].process.pid)
    until(lambda: any(file.path.endswith("worker.lock") for file in spare.open_files()))
    time.sleep(1)  # in which it would import torch
    assert json.loads(queue.ask(second)) == {"ahead": 1}
    assert not [part.path for part in spare.memory_maps() if "libtorch" in part.path]
    ends_with_its_server(local[1])

    local[0].process.kill()
    local[0].process.wait()
    assert ended(queue, local[0], first) == {"state": "lost"}
    assert ended(queue, local[0], second)["state"] == "done"

    shutil.rmtree(tmp_path)
    until(lambda: local[0].process.poll() is not None)
    assert ended(queue, local[0], join(queue))["state"] == "done"
    ends_with_its_server(local[0])


def ends_with_its_server(workers):
    workers.process.stdin.close()
    assert workers.process.wait(timeout=60) == 0


@pytest.mark.servers
def test_the_web_server_never_imports_torch_and_serves_without_it(tmp_path):
    """What it does not import at its start it need not have there."""
    late = {"torch", "celery", "sklearn", "redis"}
    code = (
        "import app, sys; client = app.create_app().server.test_client()\n"
        f"print(not {late} & set(sys.modules))\n"
        "from importlib.machinery import PathFinder as P; real = P.find_spec\n"
        "P.find_spec = lambda name, *a: None if name.startswith('torch') else real(name, *a)\n"
        "print(client.get('/spiral').status_code, client.get('/recipe/spiral').status_code)\n"
        "from components.pages import panel; print(panel._trains())"
    )
    environment = os.environ | {"CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True", "200", "200", "False"], done.stderr
    assert "pip install torch" in panel.NO_TORCH


def test_the_folder_of_the_store_is_where_the_environment_says():
    assert cache_folder({"CACHE_DIR": "/x"}) == Path("/x")
    assert cache_folder({"XDG_CACHE_HOME": "/y"}) == Path("/y/normscape")
    assert cache_folder({}).is_absolute()
