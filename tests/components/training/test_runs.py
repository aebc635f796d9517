"""Stored runs: films by their key, for a while, for all processes of a machine; and files of them."""

import dataclasses
import errno
import inspect
import io
import json
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from components.scene import Whole, WrongValue, scenes
from components.security import LARGEST_BODY
from components.trained import SEEDS
from components.training import run_files, runs, store
from components.training.line import Refused
from geometry.film import Film, from_json, from_npz, json_text, key, to_json, to_npz
from geometry.network import Network
from geometry.parts import LARGEST_FILE, LISTS, META, MOST
from geometry.training import train, trained

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
    monkeypatch.setattr(runs, "KEPT_DAYS", 1e-9)
    name = runs.save(dataclasses.replace(small, ended=("early", "")))
    with pytest.raises(WrongValue, match=r"no longer.*open its file, or train again"):
        runs.load(name)


@pytest.mark.parametrize("data", [b"", b"PK", b"another version"])
def test_a_run_that_cannot_be_read_is_refused_wherever_it_is_asked_for(client, data):
    name = "0" * 15 + "e"
    store.here().set(f"film:{name}", data, 60)
    for path in ("recipe/spiral?run={}", "spiral?run={}", "still/spiral.svg?run={}", "embed/spiral?run={}"):
        assert client.get("/" + path.format(name)).status_code == 400, path
    for path in ("recipe/spiral?run={}", "run/{}.npz", "run/{}.json", "run/{}/net"):
        answer = client.get("/" + path.format(name))
        assert answer.status_code == 400 and answer.json["parameter"] == "run", path
        assert "cannot be read" in answer.json["error"]


def test_another_process_finds_a_run(small):
    code = f"from components.training import runs; print(runs.load({runs.save(small)!r}).seeds)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"


def test_changes_of_a_value_do_not_overtake_one_another(tmp_path):
    disk, more = store.Disk(tmp_path), lambda value: str(int(value or b"0") + 1).encode()

    def many():
        for _ in range(50):
            disk.change("count", more, 60)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert disk.get("count") == b"200"


def full(disk, _):
    disk.cache._sql("PRAGMA max_page_count = 1")  # no larger than it is


def locked(disk, monkeypatch):
    other = sqlite3.connect(Path(disk.cache.directory) / "cache.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(disk, "other", other, raising=False)  # as long as the test


def unwritable(disk, monkeypatch):
    def store_(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(disk.cache.disk, "store", store_)


@pytest.mark.parametrize("fault", [full, locked, unwritable])
def test_a_folder_that_cannot_be_written_is_away(client, small, tmp_path, monkeypatch, fault):
    monkeypatch.setattr(store, "LOCKED", 0.1)
    disk = store.Disk(tmp_path)
    fault(disk, monkeypatch)
    for write in (
        lambda: disk.set("a", bytes(20_000), 60),
        lambda: disk.change("a", lambda _: bytes(20_000), 60),
    ):
        with pytest.raises(store.Away, match=r"full|locked|Timeout|Read-only|does not answer"):
            write()
    assert disk.get("a") is None
    monkeypatch.setattr(store, "here", lambda: disk)
    answer = client.post("/run/spiral", data=to_npz(small), content_type=BYTES)
    assert answer.status_code == 400 and "cannot be stored" in answer.json["error"]


def test_who_is_refused_in_the_middle_of_a_change_is_told_so(tmp_path):
    disk = store.Disk(tmp_path)
    disk.set("a", b"1", 60)

    def refuse(value):
        raise Refused("no place")

    with pytest.raises(Refused, match="no place"):
        disk.change("a", refuse, 60)
    disk.change("a", lambda value: value + b"2", 60)
    assert disk.get("a") == b"12"


def test_the_folder_stays_within_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LARGEST", 2**20)
    disk = store.Disk(tmp_path)
    for k in range(40):
        disk.set(f"film {k}", bytes(200_000), 60)
    assert disk.get("film 0") is None and disk.get("film 39") == bytes(200_000)
    assert disk.cache.volume() < 4 * 2**20


@pytest.mark.parametrize("kind", ["npz", "json"])
def test_a_file_of_a_run_opens_again_as_the_same_run(client, small, kind):
    name = runs.save(small)
    answer = client.get(f"/run/{name}.{kind}")
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == f'attachment; filename="normscape-spiral-{name}.{kind}"'
    opened = client.post("/run/spiral", data=answer.data, content_type=BYTES)
    assert opened.status_code == 200
    choices = opened.json["choices"]
    assert choices["run"] == name and choices["n"] == "40"
    assert client.get("/recipe/spiral", query_string=choices).json["clock"] == "step"


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
    foreign += [json.dumps(json.loads(to_json(small)) | {"weights": "many"}).encode()]
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
    assert client.post("/run/spiral", data=bytes(LARGEST_FILE + 1), content_type=BYTES).status_code == 413


def refused(client, film, **query):
    """The parameter for which a film is refused; nothing of it is kept."""
    answer = client.post("/run/spiral", data=to_npz(film), query_string=query, content_type=BYTES)
    with pytest.raises(WrongValue, match="not here"):
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
    training = dataclasses.replace(scene.training, show=broken)
    monkeypatch.setattr(run_files, "find", lambda _: dataclasses.replace(scene, training=training))
    assert refused(client, dataclasses.replace(small, ended=("broken", ""))) == "film"


def test_a_run_is_kept_with_the_data_of_its_scene(client, small):
    """Pictures, and whatever else a file brings with the points, are not."""
    data = dataclasses.replace(small.data, images=np.zeros((40, 9, 9), np.uint8), name="other")
    film = dataclasses.replace(small, data=data)
    answer = client.post("/run/spiral", data=to_npz(film), content_type=BYTES)
    assert answer.json["choices"]["run"] == key(small)
    assert runs.load(key(small)).data.images is None


def test_whatever_is_trained_can_be_written_and_opened_again():
    """The widest and deepest of any scene, in numbers that are long as text; JSON a seed at a time."""
    tasks = []
    for scene in filter(lambda scene: scene.training, scenes().values()):
        most = {c.name: str(c.max) for c in scene.choices if isinstance(c, Whole) and c.name != "seed"}
        tasks.append(scene.training.task(scene.choose(most)))
    network, data = max(tasks, key=lambda task: task[0].size)
    count = inspect.signature(train).parameters["checkpoints"].default
    assert SEEDS * count * network.size <= MOST["weights"] and SEEDS * count <= MOST["loss"]
    curve = np.full((2, count), 0.12345679, np.float32)
    weights = np.full((2, count, network.size), -1.2345679e-05, np.float32)
    film = Film(network, data, np.arange(count), weights, curve, curve, ("", ""))
    pieces = [piece.encode() for piece in json_text(film)]
    assert max(map(len, pieces)) < 0.55 * sum(map(len, pieces))
    assert key(from_json(b"".join(pieces))) == key(from_npz(to_npz(film))) == key(film)


def test_any_film_that_opens_is_no_longer_as_json_than_what_opens():
    """But for pictures, which no run has."""
    longest = len("-1.17549435e-38,")
    brackets = 2 * (MOST["steps"] + LISTS)
    assert longest * sum(n for name, n in MOST.items() if name != "images") + brackets + META < LARGEST_FILE


@pytest.mark.parametrize("path", ["/run/spiral", "/_dash-update-component"])
@pytest.mark.parametrize("over", [-1, 1])
def test_a_body_without_a_length_is_read_whole_or_refused(client, path, over):
    """In chunks, as a proxy or a stream sends it: never cut off at the bound."""
    most = LARGEST_FILE if path.startswith("/run") else LARGEST_BODY
    kind = BYTES if path.startswith("/run") else "application/json"
    body = io.BytesIO(b"{}".ljust(most + over))
    answer = client.post(
        path,
        input_stream=body,
        content_type=kind,
        headers={"Transfer-Encoding": "chunked"},
        environ_overrides={"wsgi.input_terminated": True},
    )
    assert answer.status_code == (413 if over > 0 else 400)
    assert answer.json["parameter"] == "body" or over < 0


def test_files_are_unpacked_one_after_another(small, monkeypatch):
    """So that what each of them takes does not add up."""
    inside, most = [], []

    def slow(data):
        inside.append(data)
        time.sleep(0.02)
        most.append(len(inside))
        inside.pop()
        return small

    monkeypatch.setattr(run_files, "from_json", slow)
    threads = [threading.Thread(target=run_files._read, args=(b"{}",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
