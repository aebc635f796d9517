"""Stored runs: films by key, kept for a while, shared by all processes of a machine; and their files."""

import dataclasses
import inspect
import io
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from threading import Event
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from components.language.scene import Stored, Whole, WrongValue, scenes
from components.pages import run_files
from components.scenes.trained import SEEDS
from components.training import runs, store
from components.web import serve, stills
from learning.film import Film, from_npz, key, to_npz
from learning.network import Network
from learning.training import most_checkpoints, train, trained
from learning.untrusted_npz import MAX_NUMBERS, MAX_UPLOAD_BYTES
from normscape import app as commands

ROOT = Path(__file__).resolve().parents[3]
BYTES = "application/octet-stream"


def film(slug="spiral", **choices):
    scene = scenes()[slug]
    chosen = scene.choose({name: str(value) for name, value in choices.items()})
    made = trained(*scene.training.task(chosen), seeds=2, steps=20)
    own = {f"choice {name}": str(value) for name, value in choices.items()}
    return dataclasses.replace(made, settings=dict(made.settings) | {"scene": slug} | own)


@pytest.fixture(scope="module")
def small():
    return film(n=40)


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


def same(a, b):
    arrays = ("steps", "weights", "loss", "accuracy")
    return (
        all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays) and a.network == b.network
    )


def test_a_film_comes_back_by_the_key_of_its_contents(small):
    name = runs.save(small)
    assert name == key(small) == runs.save(small)
    assert same(runs.load(name), small)


@given(st.text(max_size=60))
def test_a_text_that_is_no_key_is_refused_in_words(text):
    with pytest.raises(WrongValue) as wrong:
        runs.load(text)
    assert wrong.value.parameter == "run" and wrong.value.error


def test_a_run_that_has_gone_is_refused_with_a_remedy(small, monkeypatch):
    name = runs.save(dataclasses.replace(small, ended=("early", "")))
    later = time.time() + (runs.KEPT_DAYS + 1) * 86400
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(WrongValue, match=r"^the training .* has expired.*open its file, or train again$"):
        runs.load(name)


@pytest.mark.parametrize("data", [b"", b"PK", b"another version"])
def test_a_run_that_cannot_be_read_is_refused_wherever_it_is_asked_for(client, data):
    name = runs.keep("0" * 15 + "e", data, client="")
    for path in ("recipe/spiral?run={}", "spiral?run={}", "still/spiral.svg?run={}", "embed/spiral?run={}"):
        assert client.get("/" + path.format(name)).status_code == 400, path
    for path in ("recipe/spiral?run={}", "run/{}.npz", "run/{}/net"):
        answer = client.get("/" + path.format(name))
        assert answer.status_code == 400 and answer.json["parameter"] == "run", path
        assert "cannot be read" in answer.json["error"]


def test_no_cache_keeps_what_a_reader_has_trained(client, small):
    recipe = client.get(f"/recipe/spiral?n=40&seed=0&run={runs.save(small)}")
    assert recipe.status_code == 200 and recipe.headers["Cache-Control"] == "no-store"


def test_another_process_finds_a_run(small):
    code = f"from components.training import runs; print(runs.load({runs.save(small)!r}).seeds)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"


def full(storage, _):
    storage.sql("PRAGMA max_page_count = 1")  # the database cannot grow


def locked(storage, monkeypatch):
    other = sqlite3.connect(storage.filename, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(storage, "other", other, raising=False)  # keeps the lock for this test


def unwritable(storage, monkeypatch):
    storage.sql("PRAGMA query_only = 1")


@pytest.mark.parametrize("fault", [full, locked, unwritable])
def test_a_folder_that_cannot_be_written_is_away(client, small, tmp_path, monkeypatch, fault):
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    fault(store.storage("films"), monkeypatch)
    with pytest.raises(store.StoreUnavailable, match=r"full|locked|readonly"):
        runs.FILMS.set("a", bytes(20_000))
    assert runs.FILMS.get("a") is None
    answer = client.post("/run/spiral", data=to_npz(small), content_type=BYTES)
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "60"
    assert "not available" in answer.json["error"]


@pytest.mark.parametrize("bytes_", [1, 10**6], ids=["in its table", "in a file of its own"])
def test_a_run_of_the_version_before_still_opens(tmp_path, monkeypatch, bytes_):
    """A run that the previous version stored, with diskcache 5.6.3, still opens, unless it has expired.

    diskcache stored a small value in a table of its SQLite database, and a large one in a file of its own.
    """
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    value, folder = bytes(bytes_), tmp_path / "store"
    folder.mkdir()
    (folder / "v.val").write_bytes(value)
    with sqlite3.connect(folder / "cache.db") as old:
        old.execute("CREATE TABLE Cache (key BLOB, raw INTEGER, expire_time REAL, filename TEXT, value BLOB)")
        put = "INSERT INTO Cache VALUES (?, 1, ?, ?, ?)"
        where = (None, value) if bytes_ == 1 else ("v.val", None)
        for name, end in (("a" * 16, time.time() + 60), ("b" * 16, time.time() - 60)):
            old.execute(put, (f"film:{name}", end, *where))
    assert runs.read(Stored("run", "a" * 16, len)) == bytes_
    for name in ("b" * 16, "c" * 16):
        with pytest.raises(WrongValue, match="does not exist, was deleted or has expired"):
            runs.load(name)


# --- the total size of runs


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A store in the test's own folder; yields a function that returns the keys of the runs still in it."""
    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(runs, "MIN_COUNTED_BYTES", 1)
    yield lambda: {name for name in NAMES.values() if runs.FILMS.get(name)}
    NAMES.clear()


NAMES = {}


def save(small, word, **who):
    """Store a copy of the film `small`, marked with `word` (at most 9 characters), and return its key.

    NAMES gets the entry {`word`: key}. who: the arguments `client` and `trained` of `runs.save`.
    """
    NAMES[word] = runs.save(dataclasses.replace(small, ended=(f"{word:>9}", "")), **who)
    return NAMES[word]


def size(small):
    return len(to_npz(dataclasses.replace(small, ended=("123456789", "")))) + 9  # compressed sizes differ


def test_opened_files_go_before_trained_runs(small, kept, monkeypatch):
    monkeypatch.setattr(runs, "MAX_BYTES", 4 * size(small))
    trained_ = {save(small, f"t{k}", trained=True, client="a") for k in range(3)}
    uploads = [save(small, f"u{k}", client=str(k)) for k in range(5)]
    assert kept() == trained_ | {uploads[-1]}
    assert kept() == trained_ | {uploads[-1]} and save(small, "t3", trained=True, client="b") in kept()
    assert kept() == trained_ | {NAMES["t3"]}


def test_who_holds_most_gives_way_its_oldest_first(small, kept, monkeypatch):
    monkeypatch.setattr(runs, "MAX_BYTES", 6 * size(small))
    quiet = {save(small, f"q{k}", client=f"quiet {k}") for k in range(2)}
    loud = [save(small, f"l{k}", client="loud") for k in range(20)]
    assert kept() == quiet | set(loud[-4:])
    assert save(small, "new", client="new") in kept() and kept() == {NAMES["new"]} | quiet | set(loud[-3:])


def test_a_trained_run_stays_one_when_its_file_is_opened(small, kept, monkeypatch):
    name = save(small, "t", trained=True, client="a")
    assert save(small, "t", client="b") == name
    run = json.loads(runs.LIST.get(name))
    assert run["trained"] and run["client"] == "a"
    assert save(small, "t", trained=True, client="c") == name, "whoever has trained it last"
    assert runs.LIST.items().keys() == {name}


def test_many_small_films_are_bounded_too(small, kept, monkeypatch):
    monkeypatch.setattr(runs, "MIN_COUNTED_BYTES", runs.MAX_BYTES // 5)
    for k in range(12):
        save(small, str(k), client=str(k))
    assert len(kept()) == len(runs.LIST.items()) == 5


def test_runs_take_at_most_half_of_a_small_disk(small, kept, monkeypatch, caplog):
    real = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: real(folder)._replace(total=20 * size(small)))
    for k in range(40):
        save(small, str(k), client=str(k % 3))
    assert 8 < len(kept()) < 11 and any("runs are full" in said for said in caplog.messages)


def test_nothing_is_deleted_for_a_run_that_is_larger_than_the_limit(small, kept, monkeypatch):
    before = save(small, "before")
    monkeypatch.setattr(runs, "MAX_BYTES", size(small) // 2)
    with pytest.raises(WrongValue, match="no room"):
        save(small, "new")
    assert before in kept()


def test_nothing_is_deleted_if_the_list_of_runs_cannot_be_written(small, kept, monkeypatch):
    before = save(small, "before")
    monkeypatch.setattr(runs, "MAX_BYTES", size(small))
    with monkeypatch.context() as patch:
        patch.setattr(store.storage("runs"), "put_data", Mock(side_effect=sqlite3.OperationalError("full")))
        with pytest.raises(store.StoreUnavailable):
            save(small, "new")
    assert before in kept()
    save(small, "new")
    assert before not in kept()


def test_a_disk_that_is_full_at_the_start_is_away_until_it_is_not(tmp_path, monkeypatch):
    def full(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setenv("CACHE_DIR", str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr("huey.storage.SqliteStorage.__init__", full)
        with pytest.raises(store.StoreUnavailable, match="full"):
            runs.FILMS.get("a")
    runs.FILMS.set("a", b"1")
    assert runs.FILMS.get("a") == b"1"


UNREADABLE = [b"\x00", b"{", b"[]", b"1", b'{"a": 1}', b'{"a": {}}', b"\xff\xfe", b"[" * 9000]


@pytest.mark.parametrize("value", UNREADABLE)
def test_a_run_whose_entry_cannot_be_read_is_deleted_when_the_next_comes(small, kept, client, value):
    lost, other = save(small, "lost"), save(small, "other")
    runs.LIST.set(lost, value)
    with pytest.raises(WrongValue, match="has expired"):
        runs.load(lost)
    assert client.get("/healthz").json == {"status": "ok", "degraded": []}
    save(small, "more")
    assert kept() == {other, NAMES["more"]} == set(runs.LIST.items())


def test_what_is_forgotten_is_gone_and_the_others_are_counted(small, kept):
    stays, gone = save(small, "stays"), save(small, "gone")
    assert runs.forget(gone, "0" * 16) == 1
    assert set(runs.LIST.items()) == kept() == {stays}


def test_expired_runs_are_deleted_though_nobody_stores_anything(small, kept, monkeypatch):
    stays, gone = save(small, "stays"), save(small, "gone")
    run = json.loads(runs.LIST.get(gone))
    runs.LIST.set(gone, json.dumps(run | {"since": run["since"] - 86401 * runs.KEPT_DAYS}).encode())
    stop = Event()
    stop.set()
    runs.expire(stop)
    assert set(runs.LIST.items()) == kept() == {stays}
    monkeypatch.setenv("CACHE_DIR", "/proc/nowhere")
    runs.expire(stop)


def test_a_server_deletes_expired_runs(monkeypatch):
    begun = Event()
    monkeypatch.setattr(runs, "expire", lambda stop: begun.set())
    monkeypatch.setattr(stills, "draw_cards", lambda: None)
    monkeypatch.setattr(serve, "run", lambda sockets: [each.close() for each in list(sockets.values())])
    commands.serve("127.0.0.1", 0)
    assert begun.wait(10)


def test_health_names_what_is_full_or_away_and_nothing_else(client, kept, monkeypatch):
    def told():
        answer = client.get("/healthz")
        assert answer.status_code == 200 and answer.json["status"] == "ok"
        return answer.json["degraded"]

    assert told() == []
    with monkeypatch.context() as patch:
        real = shutil.disk_usage
        patch.setattr(shutil, "disk_usage", lambda folder: real(folder)._replace(free=1000))
        assert told() == ["store: full"]
    with monkeypatch.context() as patch:
        patch.setenv("CACHE_DIR", "/proc/nowhere")
        assert told() == ["store: away"]
    assert told() == []


def test_a_file_of_a_run_opens_again_as_the_same_run(client, small):
    name = runs.save(small)
    answer = client.get(f"/run/{name}.npz")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == f'attachment; filename="normscape-spiral-{name}.npz"'
    opened = client.post("/run/spiral", data=answer.data, content_type=BYTES)
    assert opened.status_code == 200
    choices = opened.json["choices"]
    assert choices["run"] == name and choices["n"] == "40"
    assert client.get("/recipe/spiral", query_string=choices).json["clock"] == "step"


def test_a_link_to_the_json_of_a_run_leads_to_its_file(client, small):
    name = runs.save(small)
    answer = client.get(f"/run/{name}.json", follow_redirects=True)
    assert answer.history[0].status_code == 301 and answer.data == to_npz(small)


def test_the_network_of_a_seed_opens_from_a_link_alone(client, small):
    net = client.get(f"/run/{runs.save(small)}/net?seed=1").json["net"]
    assert len(net) < 2000
    assert client.get("/recipe/spiral", query_string={"net": net, "n": 40}).status_code == 200
    for seed in ("2", "-1", "x", "1e3"):
        answer = client.get(f"/run/{runs.save(small)}/net?seed={seed}")
        assert answer.status_code == 400 and answer.json["parameter"] == "seed"


def pickled():
    file = io.BytesIO()
    np.savez(file, meta=np.array([{"a": 1}], dtype=object), steps=np.arange(3))
    return file.getvalue()


def test_a_broken_or_foreign_file_is_refused_in_words(client, small):
    whole = to_npz(small)
    foreign = [b"", b"PK", b"{}", b"[1]", b"\x89PNG", whole[: len(whole) // 2], pickled(), b"[" * 10_000]
    for data in foreign:
        answer = client.post("/run/spiral", data=data, content_type=BYTES)
        assert answer.status_code == 400 and answer.json["parameter"] == "film", data[:40]
        assert answer.json["error"].startswith("This file cannot be opened: ")


def test_a_run_of_another_scene_or_of_other_choices_is_refused_in_words(client, small):
    octants = client.post("/run/spiral", data=to_npz(film("octants")), content_type=BYTES)
    assert octants.status_code == 400 and scenes()["octants"].title in octants.json["error"]
    stranger = trained(
        Network(3, 3, 2, 1), scenes()["octants"].training.task(scenes()["octants"].choose({}))[1], steps=20
    )
    answer = client.post("/run/spiral", data=to_npz(stranger), content_type=BYTES)
    assert answer.status_code == 400 and answer.json["parameter"] == "run"
    other = client.get("/recipe/spiral", query_string={"run": runs.save(small), "n": 60})
    assert other.status_code == 400 and other.json["parameter"] == "run"


def test_only_a_page_of_ours_can_send_a_film(client, small):
    answer = client.post("/run/spiral", data=to_npz(small), content_type="text/plain")
    assert answer.status_code == 400 and answer.json["allowed"] == BYTES
    assert client.post("/run/layernorm", data=to_npz(small), content_type=BYTES).status_code == 400
    assert client.post("/run/nothing", data=to_npz(small), content_type=BYTES).status_code == 404
    assert client.post("/run/spiral", data=bytes(MAX_UPLOAD_BYTES + 1), content_type=BYTES).status_code == 413


def refused(client, film, **query):
    """Upload a film, and assert that it is not stored.

    Returns the parameter that the error names if the status is 400, and False for any other status. query:
    the choices in the address.
    """
    answer = client.post("/run/spiral", data=to_npz(film), query_string=query, content_type=BYTES)
    with pytest.raises(WrongValue, match="has expired"):
        runs.load(key(film))
    return answer.status_code == 400 and answer.json["parameter"]


def test_what_is_refused_is_not_kept(client, small):
    own = {"scene": "spiral", "choice n": "60"}
    assert refused(client, dataclasses.replace(small, settings=own)) == "run"
    assert refused(client, dataclasses.replace(small, settings={}), n=80) == "run"
    assert (
        refused(client, dataclasses.replace(small, settings=own | {"choice n": "40", "scene": "octants"}))
        == "film"
    )


def test_a_recipe_that_cannot_be_built_is_not_kept(client, small, monkeypatch):
    def broken(*_):
        raise WrongValue("film", "cannot be shown", "another")

    scene = scenes()["spiral"]
    monkeypatch.setattr(run_files, "find", lambda _: dataclasses.replace(scene, build=broken))
    assert refused(client, dataclasses.replace(small, ended=("broken", ""))) == "film"


def test_a_run_is_kept_with_the_data_of_its_scene(client, small):
    """An uploaded run is stored with the scene's own data; pictures and other data in it are ignored."""
    data = dataclasses.replace(small.data, images=np.zeros((40, 9, 9), np.uint8), name="other")
    film = dataclasses.replace(small, data=data)
    answer = client.post("/run/spiral", data=to_npz(film), content_type=BYTES)
    assert answer.json["choices"]["run"] == key(small)
    assert runs.load(key(small)).data.images is None


def test_whatever_is_trained_can_be_written_and_opened_again():
    """The film of the largest network of any scene can be written and read, and is small enough to upload.

    Its weights are random, so they are hard to compress.
    """
    tasks = []
    for scene in filter(lambda scene: scene.training, scenes().values()):
        most = {c.name: str(c.max) for c in scene.choices if isinstance(c, Whole) and c.name != "seed"}
        tasks.append(scene.training.task(scene.choose(most)))
    network, data = max(tasks, key=lambda task: task[0].parameter_count)
    count = min(inspect.signature(train).parameters["checkpoints"].default, most_checkpoints(SEEDS, network))
    assert count > 100 and SEEDS * count <= MAX_NUMBERS["loss"]
    curve = np.full((SEEDS, count), 0.12345679, np.float32)
    weights = np.random.default_rng(0).normal(size=(SEEDS, count, network.parameter_count)).astype(np.float32)
    film = Film(network, data, np.arange(count), weights, curve, curve, ("",) * SEEDS)
    assert key(from_npz(to_npz(film))) == key(film) and len(to_npz(film)) < MAX_UPLOAD_BYTES


def test_files_are_unpacked_one_after_another(small, monkeypatch):
    """Uploaded files are unpacked one after the other, so that their memory does not add up."""
    inside, most = [], []

    def slow(data):
        inside.append(data)
        time.sleep(0.02)
        most.append(len(inside))
        inside.pop()
        return small

    monkeypatch.setattr(run_files, "from_npz", slow)
    threads = [threading.Thread(target=run_files._read, args=(b"{}",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
