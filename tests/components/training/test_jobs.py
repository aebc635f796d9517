"""Trainings: valid orders, the queue, the work, and the worker process."""

import gc
import json
import os
import subprocess
import sys
import time
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
from components.training import jobs, queue, runs, store, worker
from components.training.queue import LEFT, LOST, NOTHING
from components.training.recipes import recipe_of, shown
from components.training.worker import NICENESS, RESTART_SECONDS, ChildWorker
from learning import training
from learning.shipped import film as shipped
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[3]
SMALL = {"slug": "spiral", "choices": {"n": "40"}, "steps": 100, "lr": 0.01, "seeds": 2, "seed": 0}
LONG_ORDER = SMALL | {"choices": {"n": "400", "depth": "6"}, "steps": 20_000, "seeds": 32}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SMALL, "x"]), inner),
    max_leaves=8,
)


def join(trainings, order=SMALL, owner="me", address="here"):
    return trainings.join(vars(jobs.order(order)), owner=owner, address=address)


def ask(trainings, ticket, seen=NOTHING, **wish):
    """Poll as a page does, and return the decoded answer; None if nothing is newer than the step `seen`.

    wish: the arguments `stop` (by default False) and `look` (by default {}) of `queue.ask`.
    """
    return json.loads(trainings.ask(ticket, **{"seen": seen, "stop": False, "look": {}} | wish) or "null")


def ended(trainings, ticket):
    """Poll, and return the outcome of a training; None while it waits or runs."""
    return (ask(trainings, ticket) or {}).get("end")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Set WORKER_TIMEOUT of the queue to 60 s for this test.

    A busy machine can delay a worker's heartbeats, and the training would count as lost.
    """
    monkeypatch.setattr(queue, "WORKER_TIMEOUT", 60.0)


# --- valid and invalid orders


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


def test_what_is_not_trained_does_not_travel(trainings):
    """An order does not contain the network in the page's link, which can be long and is not needed."""
    ticket = join(trainings, SMALL | {"choices": {"n": "40", "net": "x" * 10**6, "run": "y" * 10**6}})
    assert len(trainings.TRAININGS.get(ticket)) < 1000
    assert jobs.Order(**trainings.start(ticket)["order"]).chosen["net"] == ""


def test_a_training_of_a_trained_run_begins_anew():
    assert jobs.order(SMALL | {"choices": {"run": "f" * 16, "net": "x"}}).chosen["run"] == ""


# --- the work


def test_a_training_ends_with_a_stored_run_that_its_scene_shows(trainings):
    ticket = join(trainings)
    jobs.work(ticket)
    outcome = ended(trainings, ticket)
    assert outcome["state"] == "done" and outcome["step"] == 100 and outcome["seeds"] == 2
    film = runs.load(outcome["run"])
    assert film.settings["scene"] == "spiral" and film.settings["choice n"] == "40"
    assert film.weights.shape[0] == 2 and film.steps[-1] == 100 and film.best() == outcome["seed"]
    assert recipe_of(scenes()["spiral"], run=outcome["run"], n=40, seed=1).clock == "step"
    with pytest.raises(WrongValue, match="seed=2"):
        recipe_of(scenes()["spiral"], run=outcome["run"], n=40, seed=2)


def listening(trainings, monkeypatch, ticket, then):
    """Run a training in this process; return the list of those messages to its page that contain a recipe.

    then: a function that is called after each of these messages, with the list of all so far.
    """
    heard, page = [], queue.page

    def listened(name):
        news = ask(trainings, name, heard[-1]["step"] if heard else NOTHING)
        if news and "recipe" in news:
            heard.append(news)
            then(heard)
        return page(name)

    monkeypatch.setattr(queue, "page", listened)
    jobs.work(ticket)
    return heard


def test_stop_keeps_what_there_is(trainings, monkeypatch):
    ticket = join(trainings, LONG_ORDER)
    stop = lambda said: len(said) == 2 and ask(trainings, ticket, said[-1]["step"], stop=True)  # noqa: E731
    heard = listening(trainings, monkeypatch, ticket, stop)
    outcome = ended(trainings, ticket)
    assert outcome["state"] == "done" and 0 < outcome["step"] < 20_000
    assert runs.load(outcome["run"]).steps[-1] == outcome["step"] >= heard[-1]["step"]


def test_nobody_trains_for_a_page_that_has_gone(trainings, monkeypatch):
    ticket = join(trainings, LONG_ORDER)
    listening(trainings, monkeypatch, ticket, lambda said: trainings.close(ticket))
    assert ended(trainings, ticket) == LEFT and trainings.active() == {}


def test_what_was_trained_for_a_page_that_fell_silent_is_kept(trainings, monkeypatch):
    """If a page stops polling, its training ends, and the run so far is kept.

    A page stops polling, for example, while its machine sleeps.
    """
    ticket = join(trainings, LONG_ORDER)
    monkeypatch.setattr(queue, "PAGE_TIMEOUT", 1.0)
    jobs.work(ticket)
    outcome = ended(trainings, ticket)
    assert outcome["state"] == "done" and 0 < runs.load(outcome["run"]).steps[-1] < 20_000


def test_a_run_without_a_place_fails_in_words_that_tell_nothing_else(trainings, monkeypatch):
    def full(*_, **__):
        raise store.StoreUnavailable("the disk is full")

    monkeypatch.setattr(jobs, "RETRY_SECONDS", 0)
    monkeypatch.setattr(runs, "save", full)
    ticket = join(trainings)
    jobs.work(ticket)
    assert ended(trainings, ticket) == {"state": "failed", "words": jobs.NOT_STORED}


def test_a_trained_run_counts_for_its_client(trainings):
    ticket = join(trainings, address="192.0.2.7")
    jobs.work(ticket)
    (kept,) = map(json.loads, runs.LIST.items().values())
    assert kept["client"] == "192.0.2.7" and kept["trained"]


def test_news_put_together_are_the_recipe_of_the_film():
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


def test_what_is_lost_on_the_way_is_told_again(trainings):
    ticket = join(trainings)
    assert ask(trainings, ticket) == ask(trainings, ticket) == {"ahead": 0}
    trainings.start(ticket)
    trainings.tell(ticket, {"step": 0, "recipe": "first"})
    assert [ask(trainings, ticket)["recipe"] for _ in range(2)] == ["first", "first"]
    assert trainings.page(ticket)["seen"] < 0, "the worker leaves out what the page has: it has nothing yet"
    assert ask(trainings, ticket, 0) is None and trainings.page(ticket)["seen"] == 0
    trainings.tell(ticket, {"step": 7, "recipe": "second"})
    assert [ask(trainings, ticket, 0)["recipe"] for _ in range(2)] == ["second", "second"]
    trainings.finish(ticket, {"state": "done"})
    assert [ask(trainings, ticket, 0) for _ in range(2)] == [{"end": {"state": "done"}}] * 2


def test_a_page_says_with_each_question_what_it_wants(trainings):
    """Each poll replaces what earlier polls asked for: the choices for the pictures, and whether to stop."""
    ticket = join(trainings)
    trainings.start(ticket)
    assert trainings.page(ticket)["look"] == {}
    for look, stop in (({"seed": "1"}, True), ({}, False)):
        ask(trainings, ticket, look=look, stop=stop)
        page = trainings.page(ticket)
        assert (page["look"], page["stop"]) == (look, stop)


def test_news_that_could_not_be_told_are_made_whole_again(trainings, monkeypatch):
    """If the store refused an update of a training, the next update contains the whole recipe.

    An update usually contains only the changes since the one before, which the page did not get here.
    """
    ticket, real, away = join(trainings, LONG_ORDER), queue.tell, iter([True])
    whole, told = [], []

    def tell(name, news):
        whole.append({field for each in news["recipe"]["clouds"] for field in each} > {"name"})
        if next(away, False):
            raise store.StoreUnavailable("gone")
        real(name, news)
        told.append(ask(trainings, name, stop=True))

    monkeypatch.setattr(queue, "tell", tell)
    jobs.work(ticket)
    sizes = [len(json.dumps(cloud)) for cloud in told[0]["recipe"]["clouds"]]
    assert len(whole) == 2 and all(whole) and min(sizes) > 100


def test_a_stop_before_the_first_step_keeps_no_untrained_network(trainings, monkeypatch):
    ticket, start = join(trainings, LONG_ORDER), queue.start
    monkeypatch.setattr(queue, "start", lambda name: (start(name), ask(trainings, name, stop=True))[0])
    jobs.work(ticket)
    outcome = ask(trainings, ticket)["end"]
    assert outcome["state"] == "done" and 0 < outcome["step"] < LONG_ORDER["steps"]


def test_a_training_that_fails_says_so(trainings, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no memory")

    monkeypatch.setattr(training, "train", broken)
    ticket = join(trainings)
    jobs.work(ticket)
    assert ended(trainings, ticket) == {"state": "failed", "words": "RuntimeError: no memory"}


@pytest.mark.parametrize("name", ["films", "signs", "trainings"])
def test_the_work_outlives_a_store_that_is_away_for_a_while(trainings, monkeypatch, name):
    ticket, away, real = join(trainings), iter([True] * 3), store.storage

    def opened(wanted):
        if wanted == name and next(away, False):
            raise store.StoreUnavailable("gone")
        return real(wanted)

    monkeypatch.setattr(store, "storage", opened)
    jobs.work(ticket)
    assert not next(away, False) and ended(trainings, ticket)["state"] == "done"


def test_a_training_whose_end_could_not_be_stored_does_not_seem_to_go_on(trainings, monkeypatch):
    """If a worker cannot store the outcome of a training, it later ends the training as lost.

    Otherwise its heartbeats would continue, and the page would believe that the training goes on.
    """
    ticket, real, away = join(trainings), queue.finish, iter([True])

    def finish(*told):
        if next(away, False):
            raise store.StoreUnavailable("gone")
        real(*told)

    monkeypatch.setattr(jobs, "RETRY_SECONDS", 0)
    monkeypatch.setattr(queue, "finish", finish)
    worker._work()
    assert ended(trainings, ticket) is None
    worker._work()
    assert ended(trainings, ticket) == LOST and trainings.active() == {}


# --- the process


@pytest.fixture
def child(trainings):
    child = ChildWorker()
    yield child
    child.end()


def test_a_worker_that_dies_at_its_start_is_given_time_and_is_missed(trainings, monkeypatch, caplog):
    """A worker that dies at once is started again every RESTART_SECONDS.

    The page, which polls sixteen times a second, learns that there is no worker: not from its first poll, but
    after 15 s at the latest.
    """
    monkeypatch.setattr(queue, "WORKER_TIMEOUT", 10.0)  # the usual limit: the test controls the clock
    trainings.SIGNS.delete("worker")
    child, started, now, wall, real = ChildWorker(), [], [1000.0], time.time(), subprocess.Popen
    said = []

    def popen(_, **options):
        started.append(now[0])
        return real(["false"], **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "time", lambda: wall + now[0] - 1000)
    ticket = join(trainings)
    child.ready()
    for _ in range(16 * 35):
        said.append(
            "worker" in json.loads(follow.reply_text(child.ready, ticket, seen=0, stop=False, look={}))
        )
        if child.process:
            child.process.wait()
        now[0] += 1 / 16
    assert [round(b - a) for a, b in pairwise(started)] == [RESTART_SECONDS] * 3
    assert len(caplog.messages) == 3 and "worker ended: 1" in caplog.messages[0]
    assert said == sorted(said) and not said[0] and all(said[16 * 15 :])
    assert queue.degraded() == ["training: no worker"]


@pytest.mark.servers
def test_a_worker_goes_with_its_application(trainings):
    child = ChildWorker()
    child.ready()
    process = child.process
    del child
    gc.collect()
    assert process.returncode is not None


def test_a_process_that_cannot_be_started_is_no_error_of_the_page(trainings, monkeypatch):
    def popen(*_, **__):
        raise OSError("too many processes")

    monkeypatch.setattr(subprocess, "Popen", popen)
    trainings.SIGNS.delete("worker")
    told = follow.reply_text(ChildWorker().ready, join(trainings), seen=0, stop=False, look={})
    assert json.loads(told) == {"ahead": 0, "worker": False}
    assert queue.degraded() == ["training: no worker"]


def end(trainings, child, ticket):
    """Poll as a page does until a training ends, and return its outcome.

    child: the `ChildWorker`; it starts a new process if its process has ended.
    """
    return until(lambda: (child.ready(), ended(trainings, ticket))[1])


@pytest.mark.servers
def test_a_worker_trains_one_after_another_and_when_it_is_gone_the_next_does(trainings, child, monkeypatch):
    """A worker runs one training after another, with low priority; when it is killed, its training is lost.

    A new worker runs the next training. When the web server ends, its worker ends too.
    """
    first, second = (join(trainings, order, owner=str(k)) for k, order in enumerate((LONG_ORDER, SMALL)))
    child.ready()
    until(lambda: (ask(trainings, second), "step" in (ask(trainings, first) or {}))[1])
    assert psutil.Process(child.process.pid).nice() == min(19, psutil.Process().nice() + NICENESS)
    assert ask(trainings, second) == {"ahead": 1}

    child.process.kill()
    with monkeypatch.context() as patch:
        patch.setattr(queue, "WORKER_TIMEOUT", 1.0)
        patch.setattr(worker, "RESTART_SECONDS", 0.0)
        assert end(trainings, child, first) == LOST
    assert end(trainings, child, second)["state"] == "done"
    ends_with_its_server(child)


def ends_with_its_server(child):
    child.process.stdin.close()
    assert child.process.wait(timeout=PATIENCE) == 0


@pytest.mark.servers
def test_a_worker_that_is_told_to_end_says_so_itself(trainings, child, monkeypatch):
    """A worker that gets SIGTERM reports its training as lost, so the page need not wait for a timeout."""
    monkeypatch.setattr(queue, "silence", lambda key, value: 0.0)
    ticket = join(trainings, LONG_ORDER)
    child.ready()
    until(lambda: "step" in (ask(trainings, ticket) or {}))
    child.process.terminate()
    until(lambda: ended(trainings, ticket) == LOST)


@pytest.mark.servers
def test_the_web_server_never_imports_torch_and_serves_without_it(tmp_path):
    """The web server imports neither torch nor scikit-learn.

    If torch is missing, it serves pages and recipes, and offers no training.
    """
    late = {"torch", "sklearn"}
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
