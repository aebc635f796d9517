"""A recording that a reader uploads is shown, listed as a table, and deleted.

Hostile files are refused with a message of one line.
"""

import csv
import io
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import app
from components.drawing.figure import document
from components.language.finish import finished
from components.language.scene import scenes
from components.pages import recordings
from components.scenes.model.strips import SETS
from components.training import runs
from components.web import security
from learning.recording.checked import checked
from learning.recording.digest import LARGEST, LARGEST_GAIN, SMALLEST, digest
from learning.recording.digest import to_file as to_file_of_digest
from learning.recording.recording import Recording, to_file
from learning.safetensors import from_safetensors, to_safetensors
from learning.untrusted_npz import MAX_UPLOAD_BYTES
from tests.learning.recording.norms import norm, recording
from tests.learning.recording.test_recording import HOSTILE
from tests.waiting import PATIENCE

DATA = to_file(recording())
BYTES = {"content_type": security.BYTES}
WIDE = norm("wide", n=40, d=200)


@pytest.fixture(scope="module")
def client():
    return app.create_app().server.test_client()


def opened(client, data=DATA):
    return client.post("/recording", data=data, **BYTES)


def test_who_comes_while_another_file_is_measured_is_told_so_at_once(client):
    """While one uploaded file is analysed, a second upload is refused at once; afterwards, it is accepted.

    The first may take ten seconds, and waiting for it would block a thread of the server.
    """
    with ThreadPoolExecutor(1) as pool, recordings.MEASURING_LOCK:
        answer = pool.submit(opened, client).result(timeout=PATIENCE)
    assert answer.status_code == 503 and "analysed" in answer.json["error"] and answer.headers["Retry-After"]
    assert opened(client).status_code == 200


def test_from_a_file_to_its_picture_and_its_tables(client):
    choices = opened(client, to_file(Recording([*recording().norms, WIDE], "mine"))).json["choices"]
    key = choices["own"]
    assert choices["norm"] == "1"
    for norm_, points in (("1", 9), ("3", 40)):
        recipe = client.get(f"/recipe/model?own={key}&norm={norm_}&beside=start").json
        assert recipe["clouds"][0]["points"]["shape"][0] == points
        assert recipe["clouds"][0]["points"]["shape"][1] <= 7
    assert (
        client.get(f"/model?own={key}").status_code
        == client.get(f"/still/model.svg?own={key}").status_code
        == 200
    )
    rows = list(csv.DictReader(io.StringIO(client.get(f"/recording/{key}.csv").text)))
    assert [row["path"] for row in rows] == ["h.0.ln_1", "ln_f", "wide"]
    table = client.get(f"/recording/{key}.json")
    assert table.json["name"] == "mine" and "attachment" in table.headers["Content-Disposition"]
    assert len(client.get("/recording/trained.json").json["norms"]) == 9


def test_the_numbers_of_a_shipped_recording_are_a_file(client):
    """The route answers GET and HEAD."""
    for ask in (client.get, client.head):
        assert ask("/recording/smollm2.csv").mimetype == "text/csv"


def test_two_beside_each_other_of_which_one_has_fewer_norms(client):
    key, short = (opened(client, data).json["choices"]["own"] for data in (DATA, to_file(Recording([WIDE]))))
    for query in (f"own={key}&other={short}&norm=2", f"own={short}&other={key}"):
        facts = client.get(f"/recipe/model?{query}").json["facts"]
        assert {len(row) for row in facts["rows"]} == {3}


def test_it_goes_when_somebody_with_the_link_wants_it_to(client):
    key = opened(client, to_file(recording(norm(seed=5)))).json["choices"]["own"]
    assert client.get(f"/recipe/model?own={key}").status_code == 200
    assert client.post(f"/recording/{key}/delete", **BYTES).json == {"gone": key}
    for path in (f"/recipe/model?own={key}", f"/recording/{key}.csv", f"/embed/model?own={key}"):
        assert client.get(path).status_code == 400
    assert client.post(f"/recording/{key}/delete", **BYTES).status_code == 400
    for choice in ("own", "other"):
        words = client.get(f"/recipe/model?{choice}={key}").json["error"]
        assert words.startswith(f"the recording {key} does not exist, was deleted or has expired")
        assert words.endswith("; open its file again")


HUGE = {
    "single precision": ("f4", 3.4e38),
    "beyond single precision": ("f8", 1e39),
    "squares overflow": ("f8", 1e200),
    "double precision": ("f8", 1e308),
}


def with_huge(part, dtype, size, kind="layer_norm"):
    """A recording's file, as bytes, with one norm of this kind, in which one number may be huge.

    part: the name of the norm's array that gets this dtype, and whose first number becomes `size`.
    """
    plain = norm("h", kind)
    array = getattr(plain, part).astype(dtype)
    array.flat[0] = size
    arrays, meta = from_safetensors(to_file(Recording([plain], "huge")))
    return to_safetensors({**arrays, f"h/{part}": array}, meta)


@pytest.mark.parametrize(("dtype", "size"), HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("kind", ["layer_norm", "rms_norm"])
@pytest.mark.parametrize("part", ["x", "gamma", "beta"])
def test_huge_numbers_are_refused_in_one_line_or_shown(client, part, kind, dtype, size):
    for number in (size, -size):
        client.application.extensions["budget"].debts.clear()
        got = opened(client, with_huge(part, dtype, number, kind))
        if got.status_code == 200:
            query = f"own={got.json['choices']['own']}"
            paths = [f"/{place}?{query}" for place in ("recipe/model", "model", "still/model.svg")]
            assert [client.get(path).status_code for path in paths] == [200, 200, 200]
        else:
            assert got.status_code == 400 and "\n" not in got.json["error"]
            assert "too large to compute with" in got.json["error"]


def test_two_uploads_of_one_file_are_two_recordings(client):
    """Each upload gets its own key, so that a reader with the same file cannot find another's recording.

    If one recording is deleted, the other stays.
    """
    mine, yours = (opened(client).json["choices"]["own"] for _ in range(2))
    assert mine != yours and len(mine) == 32
    assert client.post(f"/recording/{yours}/delete", **BYTES).status_code == 200
    assert client.get(f"/recipe/model?own={mine}").status_code == 200


def test_a_recording_that_was_kept_under_the_hash_of_its_contents_still_opens(client):
    key = runs.keep("0123456789abcdef", to_file_of_digest(digest(recording())), client="")
    assert client.get(f"/recipe/model?own={key}").status_code == 200
    assert client.post(f"/recording/{key}/delete", **BYTES).status_code == 200


OTHER_SITES = {"a form": {"content_type": "text/plain"}, "no content type": {}}


@pytest.mark.parametrize("asked", OTHER_SITES.values(), ids=OTHER_SITES)
def test_no_other_site_deletes_or_uploads(client, asked):
    """A request to delete or upload is refused if it has the content type of a form, or no content type.

    Other sites can send only such requests: the type for raw bytes would need a preflight request, which is
    denied (test_security.py).
    """
    key = opened(client).json["choices"]["own"]
    assert client.post(f"/recording/{key}/delete", **asked).status_code == 400
    assert client.post("/recording", data=DATA, **asked).status_code == 400
    assert client.post("/run/spiral", data=b"{}", **asked).json["parameter"] == "film"
    assert client.get(f"/recipe/model?own={key}").status_code == 200


def test_a_text_is_told_to_be_no_safetensors_file(client):
    assert "not a safetensors file" in opened(client, b"Dear reader, this is a text.\n").json["error"]


def test_the_page_knows_the_servers_bound(client):
    for page in ("/model", "/spiral"):
        assert f'data-max-bytes="{MAX_UPLOAD_BYTES}"' in client.get(page).text


@pytest.mark.parametrize("data", [data for data, _ in HOSTILE.values()], ids=HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(client, data):
    got = opened(client, data)
    assert got.status_code == 400 and got.json["parameter"] == "recording"
    assert got.json["error"].startswith("This file cannot be opened: ") and "\n" not in got.json["error"]


def test_what_is_no_file_of_ours_or_too_large_is_refused(client, monkeypatch):
    assert client.post("/recording", data=DATA, content_type="text/plain").status_code == 400
    few = {name: np.ones(2, "f4") for name in ("gamma", "beta")} | {"x": np.ones((1, 2), "f4")}
    few |= {name: np.zeros(1, "i8") for name in ("position", "token", "number")}
    many = Recording([norm(f"n{k}", **few) for k in range(recordings.MAX_NORMS + 1)])
    assert "at most 200" in opened(client, to_file(many)).json["error"]
    monkeypatch.setattr(security, "MAX_UPLOAD_BYTES", 100)
    assert opened(client).status_code == 413
    for key in ("0" * 16, "trained", "x"):
        assert client.post(f"/recording/{key}/delete", **BYTES).status_code == 400
    assert client.get("/recipe/model?own=0000000000000000").json["parameter"] == "own"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_file_with_other_bytes_is_shown_or_refused(client, data):
    raw = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1) | st.integers(0, 1200))
        new = data.draw(st.sampled_from([b"\xff\xff\x7f\x7f", b"9999", b"-1", b"[["]) | st.binary(max_size=4))
        raw[at : at + len(new)] = new
    with client.application.app_context():
        client.application.extensions["budget"].debts.clear()
    got = opened(client, bytes(raw))
    assert got.status_code in (200, 400)
    if got.status_code == 200:
        assert client.get(f"/recipe/model?own={got.json['choices']['own']}").status_code == 200


def test_the_command_line_names_the_page_that_shows_it(client, tmp_path, monkeypatch):
    recording().save(tmp_path / "mine.safetensors")
    served = []
    monkeypatch.setattr("normscape.app.serve", lambda *asked: served.append(asked))
    app.main(["model", str(tmp_path / "mine.safetensors"), "--port", "8123"])
    ((host, port, path),) = served
    assert (host, port) == (None, 8123) and client.get(f"/{path()}").status_code == 200


def test_a_recording_is_not_stored_if_the_port_is_in_use(tmp_path, monkeypatch):
    recording().save(tmp_path / "mine.safetensors")
    stored = []
    monkeypatch.setattr(runs, "keep", lambda *asked, client: stored.append(asked))
    monkeypatch.setattr("components.web.stills.draw_cards", lambda: None)
    monkeypatch.setattr(
        "components.web.serve.listen", lambda _, host, port: socket.create_server((host, port))
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = ["--host", "127.0.0.1", "--port", str(taken.getsockname()[1])]
        with pytest.raises(SystemExit, match="the port is in use"):
            app.main(["model", str(tmp_path / "mine.safetensors"), *address])
    assert not stored


DIGEST = to_file_of_digest(digest(recording(), vectors=5))


def changed_digest(arrays=None, **about):
    """A digest's file, as bytes, with some changes.

    arrays: new arrays by name; None removes an array. about: new entries of the metadata `about`.
    """
    own, meta = from_safetensors(DIGEST)
    said = json.loads(meta["about"]) | about
    kept = {name: array for name, array in (own | (arrays or {})).items() if array is not None}
    return to_safetensors(kept, meta | {"about": json.dumps(said)})


def rows_with(name, value):
    """A dict {"values": the rows of DIGEST}, with `value` in the column `name` of the first row."""
    about = json.loads(from_safetensors(DIGEST)[1]["about"])
    values = about["values"]
    values[0][about["columns"].index(name)] = value
    return {"values": values}


HOSTILE_DIGESTS = {
    "no rows": changed_digest(values=[]),
    "a short row": changed_digest(values=[[1], [2]]),
    "rows of nothing": changed_digest(values=None),
    "a column twice": changed_digest(columns=["path", "path"]),
    "a number as a path": changed_digest(**rows_with("path", 3)),
    "a path of lines": changed_digest(**rows_with("path", "a\nb")),
    "a text as a number": changed_digest(**rows_with("sigma", "1")),
    "no number": changed_digest(**rows_with("longest", None)),
    "a truth value": changed_digest(**rows_with("massive", True)),
    "a negative count": changed_digest(**rows_with("massive", -1)),
    "a negative length": changed_digest(**rows_with("longest", -5.0)),
    "a huge number": changed_digest(**rows_with("size", 1e300)),
    "no dimension": changed_digest(**rows_with("d", 0)),
    "an unknown kind": changed_digest(**rows_with("kind", "BatchNorm")),
    "a norm of another kind": changed_digest(norms=[["batch_norm", 6, 1e-5], ["rms_norm", 6, 1e-5]]),
    "a wide norm": changed_digest(norms=[["layer_norm", 10**9, 1e-5], ["rms_norm", 6, 1e-5]]),
    "a negative ε": changed_digest(norms=[["layer_norm", 6, -1], ["rms_norm", 6, 1e-5]]),
    "words without numbers": changed_digest(words={"x": "y"}),
    "no name": changed_digest(name=None),
    "no points": changed_digest({"0/points": None}),
    "no tokens": changed_digest({"0/token": None}),
    "more": changed_digest({"7/points": np.zeros((3, 7), "f4")}),
    "narrow points": changed_digest({"0/points": np.zeros((5, 2), "f4")}),
    "too many points": changed_digest({"0/points": np.zeros((2001, 7), "f4")}),
    "whole points": changed_digest({"0/points": np.zeros((5, 7), "i8")}),
    "points that are not finite": changed_digest({"0/points": np.full((5, 7), np.nan, "f4")}),
    "another gain": changed_digest({"0/gain": np.zeros((3, 5))}),
    "fewer positions": changed_digest({"0/position": np.zeros(3, "i8")}),
    "negative positions": changed_digest({"0/position": np.full(5, -2)}),
}


def test_a_reduced_recording_is_opened(client):
    key = opened(client, changed_digest(**rows_with("mean_written", -0.5))).json["choices"]["own"]
    recipe = client.get(f"/recipe/model?own={key}").json
    assert recipe["clouds"][0]["points"]["shape"][0] == 5
    row, *_ = csv.DictReader(io.StringIO(client.get(f"/recording/{key}.csv").text))
    assert row["path"] == "h.0.ln_1" and row["vectors"] == "9"


@pytest.mark.parametrize("data", HOSTILE_DIGESTS.values(), ids=HOSTILE_DIGESTS)
def test_a_hostile_digest_is_refused_in_one_line(client, data):
    client.application.extensions["budget"].debts.clear()
    got = opened(client, data)
    assert got.status_code == 400 and got.json["parameter"] == "recording", got.text
    assert got.json["error"].startswith("This file cannot be opened: ") and "\n" not in got.json["error"]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_digest_with_other_bytes_is_shown_or_refused(client, data):
    raw = bytearray(DIGEST)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1) | st.integers(0, 6000))
        new = data.draw(st.sampled_from([b"9999", b"-1", b"null", b"[["]) | st.binary(max_size=4))
        raw[at : at + len(new)] = new
    client.application.extensions["budget"].debts.clear()
    got = opened(client, bytes(raw))
    assert got.status_code in (200, 400)
    if got.status_code == 200:
        assert client.get(f"/recipe/model?own={got.json['choices']['own']}").status_code == 200


SIZES = [(0.0, 0.0), (0.0, LARGEST_GAIN), (1e-150, LARGEST_GAIN), (SMALLEST, 1e-150), (LARGEST, 1.0)]


@pytest.mark.parametrize("first", [0.0, LARGEST])
@pytest.mark.parametrize(("size", "gain"), SIZES)
@pytest.mark.parametrize("strips", SETS)
def test_a_digest_with_the_smallest_and_largest_numbers_is_shown(strips, size, gain, first):
    """Nothing overflows, whatever the numbers of the table, the vectors, and the gain and shift.

    first: each coordinate of the first vector. size: each coordinate of the other vectors. gain: each number
    of the gain and the shift.
    """
    own, _ = from_safetensors(DIGEST)
    points = np.full_like(own["0/points"], size, "f8")
    points[0] = first
    arrays = {"points": points, "gain": np.full_like(own["0/gain"], gain, "f8"), "shift": np.full(3, gain)}
    about = json.loads(from_safetensors(DIGEST)[1]["about"])
    numbers = cycle((5e-324, SMALLEST, LARGEST))
    values = [[next(numbers) if isinstance(each, float) else each for each in row] for row in about["values"]]
    read = checked(changed_digest({f"0/{name}": array for name, array in arrays.items()}, values=values))
    model = scenes()["model"]
    for others in ({}, {"massive": "out", "colour": "length"}):
        document(finished(model.build(model.choose({"strips": strips} | others), read)))
