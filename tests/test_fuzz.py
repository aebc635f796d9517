"""Random requests to every route: never a 500, never a slow answer.

Routes come from the application's map, so new ones are covered automatically.
"""

import io
import itertools
import json
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cache
from urllib.parse import quote, urlencode

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import app
from components.language.scene import scenes
from components.training import jobs, queue, runs
from components.training.recipes import at_rest, recipe_of
from learning.film import Film, to_npz
from learning.network import initial
from learning.untrusted_npz import MAX_NUMBERS
from learning.weights import weights_text

pytestmark = pytest.mark.usefixtures("idle")
SLOWEST = 2.0  # seconds of processor time for one answer
BRIEF = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
HERE = "http://localhost"  # otherwise the test client would take the text after two slashes for a host
NUMBERED = itertools.count()
APP = app.create_app()

TEXT = st.text(max_size=40) | st.text(st.characters(min_codepoint=0, max_codepoint=0x1FFFF), max_size=12)
PATHS = ["", "\0", "..", "../../etc/passwd", "%2e%2e", "%00", "a" * 3000]
CODE = ["constructor", "__proto__", "<script>", "{{7*7}}", "' OR 1=1 --", "\r\nX: 1", "\ud800", "🙂" * 50]
ODD = ["1e999", "NaN", "inf", "-0", "1e-400", "9" * 400, "0x1", "1_0", "١", "²", "null", "[]", "1;" * 900]
CAMERAS = ["1,2,3", "1,1,1,1,1,1", "0,0,1e-9", ",,", "1,2,3,4,5,1e308"]
HOSTILE = st.sampled_from([*PATHS, *CODE, *ODD, *CAMERAS])
NUMBERS = (st.floats() | st.integers()).map(str)
VALUES = TEXT | HOSTILE | NUMBERS
SLUGS = st.sampled_from(list(scenes()))

ASKED = {n.name: n.default for n in jobs.NUMBERS}
SMALL = {"n": "20", "depth": "1", "width": "2"}  # choices of the spiral
TASK = scenes()["spiral"].training.task(scenes()["spiral"].choose(SMALL))
FILM = at_rest(*TASK, initial(TASK[0], range(3)))
RUN, NET = runs.save(FILM), weights_text(TASK[0], FILM.weights[0, 0])


def known_names(slug):
    scene = scenes()[slug]
    own = ["progress", "camera", "follow", "theme", "controls", "autoplay", "url", "format", "maxwidth"]
    return [*(c.name for c in scene.choices), *(p.name for p in recipe_of(scene).parameters), *own]


def escaped(text):
    """The text in percent-encoding. Lone surrogates become invalid UTF-8, which a server may receive too."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@cache  # making the strategy takes longer than drawing from it
def queries(slug):
    """A Hypothesis strategy of query strings for a scene: up to five pairs of a name and any value.

    A name may be known to the scene or be any text, and may occur twice.
    """
    names = st.sampled_from(known_names(slug)) | VALUES
    pairs = st.lists(st.tuples(names, VALUES | options(slug)), max_size=5)
    return pairs.map(lambda each: "&".join(f"{escaped(name)}={escaped(value)}" for name, value in each))


def options(slug):
    known = [text for c in scenes()[slug].choices for text in getattr(c, "options", ())]
    bounds = [
        str(x) for c in scenes()[slug].choices for x in (getattr(c, "min", None), getattr(c, "max", None))
    ]
    return st.sampled_from([*known, *bounds, RUN, NET])


@cache
def parts_of(slug):
    return st.sampled_from([slug, slug, f"{slug}.svg", RUN, RUN, "player/player.mjs", "dash"]) | VALUES


@st.composite
def addresses(draw, rule):
    """A strategy for addresses: a path that fits a routing rule, and a query.

    The variables of the path are slugs, file names or any text.
    """
    slug = draw(SLUGS)
    path = rule.rule
    for _ in rule.arguments:
        before, _, rest = path.partition("<")
        path = before + escaped(draw(parts_of(slug))) + rest.partition(">")[2]
    return f"{path}?{draw(queries(slug))}"


def answer(method, path, **body):
    """Send a request with this method to a path, as a new client with its whole budget; returns the response.

    body: further arguments of the request, such as `data`. Fails if the answer takes SLOWEST seconds of CPU
    time or more, or has a status of 500 or more, other than 501.

    As in the server, the answer is computed in a thread of its own. In CPython 3.11, the same Python code can
    take three times as long at another depth of the stack, and pytest's stack is deep.
    """
    client, address = APP.server.test_client(), f"10.{'.'.join(map(str, next(NUMBERED).to_bytes(3)))}"
    body["environ_overrides"] = {"REMOTE_ADDR": address}

    def timed():
        start = time.thread_time()
        return client.open(path, HERE, method=method, **body), time.thread_time() - start

    with ThreadPoolExecutor(1) as thread:
        got, taken = thread.submit(timed).result()
    got.get_data()
    got.close()
    assert taken < SLOWEST, f"{taken:.1f} s for {method} {path}"
    assert got.status_code < 500 or got.status_code == 501, f"{got.status_code} for {method} {path}"
    return got


GET = [rule for rule in APP.server.url_map.iter_rules() if "GET" in rule.methods]


@pytest.mark.parametrize("rule", GET, ids=lambda rule: rule.rule)
@BRIEF
@given(data=st.data())
def test_no_address_is_too_much(rule, data):
    got = answer("GET", data.draw(addresses(rule)))
    if got.status_code == 400 and got.is_json:
        assert got.json.keys() >= {"error", "parameter", "allowed"}


@pytest.mark.parametrize("rule", list(APP.server.url_map.iter_rules()), ids=lambda rule: rule.rule)
def test_no_route_takes_another_method(rule):
    path = rule.rule.replace("<path:", "<").replace("<string:", "<").replace("<", "").replace(">", "")
    for method in {"POST", "PUT", "DELETE", "PATCH", "TRACE"} - rule.methods:
        assert answer(method, path, data=b"x").status_code in (404, 405)


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_the_largest_scene_comes_soon(scene):
    """The recipe, picture and page of a scene come soon also if each number choice has its largest value.

    With these numbers, recipe and picture are also requested for each option of each list, one at a time.
    """
    most = {c.name: c.max for c in scene.choices if hasattr(c, "max")}
    for name, option in [("", ""), *((c.name, o) for c in scene.choices for o in getattr(c, "options", ()))]:
        query = urlencode(most | ({name: option} if name else {}))
        for path in ("recipe/{}", "still/{}.svg"):
            answer("GET", f"/{path.format(scene.slug)}?{query}")
    answer("GET", f"/{scene.slug}?{urlencode(most)}")  # the page, which contains this picture


SIZES = ["0", "1", "1e-308", "1e-20", "1e39", "1e308", "-1e308"]


@pytest.mark.parametrize("slug, d", [("spiral", 2), ("octants", 3)])
@pytest.mark.parametrize("a, b", [*itertools.combinations_with_replacement(SIZES, 2)])
def test_points_of_ones_own_are_shown_or_refused(slug, d, a, b):
    """A reader's own points are shown, or refused in words, also if all coincide, or are tiny or huge."""
    lines = "; ".join(", ".join([x] * d + [label]) for x in (a, b) for label in "rb")
    for path in ("recipe/{}", "still/{}.svg"):
        query = urlencode({"data": "own", "points": lines, "depth": 1})
        assert answer("GET", f"/{path.format(slug)}?{query}").status_code in (200, 400)


@BRIEF
@given(st.binary(max_size=300))
def test_any_bytes_as_an_address(raw):
    answer("GET", "/" + quote(raw))
    answer("GET", "/recipe/" + quote(raw))
    answer("GET", "/recipe/layernorm?" + quote(raw, safe="&="))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(VALUES, inner, max_size=3),
    max_leaves=8,
)


SENT = [rule for rule in APP.server.url_map.iter_rules() if "POST" in rule.methods]
KINDS = st.sampled_from(
    ["application/octet-stream", "application/json", "text/plain", "multipart/form-data", ""]
)


@pytest.mark.parametrize("rule", SENT, ids=lambda rule: rule.rule)
@BRIEF
@given(data=st.data())
def test_no_body_is_too_much(rule, data):
    """Any body of a POST is answered soon, without a server error (see `answer`).

    The bodies are random bytes, also with the beginning of an archive, and JSON of any kind.
    """
    raw = st.binary(max_size=200)
    body = data.draw(
        raw | raw.map(b"PK\x03\x04".__add__) | JSON.map(lambda value: json.dumps(value).encode())
    )
    answer("POST", data.draw(addresses(rule)), data=body, content_type=data.draw(KINDS))


# --- files of runs, and polls


def opened(body):
    """Upload a file, and check the answer: the server either shows the run in it, or refuses it in words.

    Returns whether the run's first network can be downloaded; False if the file is refused.
    """
    got = answer(
        "POST", f"/run/spiral?{urlencode(SMALL)}", data=body, content_type="application/octet-stream"
    )
    if got.status_code == 400:
        assert got.json["error"] and got.json["parameter"]
        return False
    choices = got.json["choices"]
    for path in ("/recipe/spiral", "/still/spiral.svg", "/spiral"):
        assert answer("GET", f"{path}?{urlencode(choices)}").status_code == 200
    assert answer("GET", f"/run/{choices['run']}.npz").status_code == 200
    return answer("GET", f"/run/{choices['run']}/net?seed=0").status_code == 200


def test_a_run_opens():
    assert opened(to_npz(FILM))


META = json.loads(np.load(io.BytesIO(to_npz(FILM)))["meta"].tobytes())


def described(text):
    """The bytes of a file of FILM (a training) whose metadata is replaced by `text`."""
    raw, member = io.BytesIO(), io.BytesIO()
    np.save(member, np.frombuffer(text.encode(), np.uint8))
    with zipfile.ZipFile(io.BytesIO(to_npz(FILM))) as whole, zipfile.ZipFile(raw, "w") as archive:
        for name in whole.namelist():
            archive.writestr(name, member.getvalue() if name == "meta.npy" else whole.read(name))
    return raw.getvalue()


@pytest.mark.parametrize("name", ["steps", "lr", "any"])
@pytest.mark.parametrize("value", ['"abc"', "null", "1" + "0" * 400, "1e999", "-1", "[]", '"\\ud800"'])
def test_a_film_with_hostile_settings(name, value):
    meta = json.dumps(META | {"settings": "here"})
    opened(described(meta.replace('"here"', f'{{"{name}": {value}}}')))


@BRIEF
@given(st.data())
def test_a_file_that_is_almost_a_run(data):
    """A film's file with changed metadata or changed bytes is shown, or refused.

    The test makes two such files. In the first, an old or new entry of the metadata has any value. In the
    second, up to three bytes are changed, and the end may be cut off.
    """
    meta = deepcopy(META)
    place = data.draw(st.sampled_from([meta, meta["network"], meta["data"], meta["settings"]]))
    name = data.draw(st.sampled_from([*place, "choice depth", "scene"]))
    place[name] = data.draw(JSON | st.sampled_from([[0], [-1], [2**62], [[1e38]], [[0.5]] * 3]))
    opened(described(json.dumps(meta)))
    raw = bytearray(to_npz(FILM))
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=3)):
        raw[at] = data.draw(st.integers(0, 255))
    opened(bytes(raw[: data.draw(st.just(len(raw)) | st.integers(0, len(raw)))]))


ARRAYS = [
    np.zeros(0),
    np.full(1, np.nan),
    np.array(["a"]),
    np.arange(3),
    np.array([2**62]),
    np.zeros((3, 1, 9)),
]


@pytest.mark.parametrize(
    "name", ["steps", "weights", "loss", "accuracy", "points", "labels", "images", "meta"]
)
@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_an_archive_with_another_array(name, array):
    raw, member = io.BytesIO(), io.BytesIO()
    np.save(member, array)
    with zipfile.ZipFile(io.BytesIO(to_npz(FILM))) as whole, zipfile.ZipFile(raw, "w") as archive:
        for each in whole.namelist():
            archive.writestr(each, member.getvalue() if each == f"{name}.npy" else whole.read(each))
    opened(raw.getvalue())


def plain():
    """The bytes of the file of FILM, without compression."""
    raw = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(to_npz(FILM))) as whole, zipfile.ZipFile(raw, "w") as archive:
        for name in whole.namelist():
            archive.writestr(name, whole.read(name))
    return raw.getvalue()


MARKS = [b"PK\1\2", b"PK\3\4", b"PK\5\6", b"\x93NUMPY", b"'shape'", b"'descr'", b'"', b"[", b"}"]


@BRIEF
@given(st.data())
def test_a_run_whose_bookkeeping_is_changed(data):
    """A film's file with changed sizes, offsets, names or shapes is shown or refused.

    One to four changes, each of at most four bytes, follow one of MARKS: a signature of the ZIP archive, a
    word of an array's header, or a character of the JSON.
    """
    raw = bytearray(data.draw(st.sampled_from([plain(), to_npz(FILM)])))
    for mark in data.draw(st.lists(st.sampled_from([m for m in MARKS if m in raw]), min_size=1, max_size=4)):
        found = data.draw(st.sampled_from([k for k in range(len(raw)) if raw.startswith(mark, k)] or [0]))
        new = data.draw(
            st.sampled_from([b"\0\0\0\0", b"\xff\xff\xff\xff", b"9999", b"-1", b"[["]) | st.binary(max_size=4)
        )
        at = min(found + data.draw(st.integers(0, 60)), len(raw))
        raw[at : at + len(new)] = new
    opened(bytes(raw))


def long(seeds, count):
    """A film with `seeds` networks and `count` checkpoints, whose file is small.

    No two losses of a network are equal.
    """
    loss = np.tile(np.linspace(1, 0, count, dtype=np.float32), (seeds, 1))
    weights = np.zeros((seeds, count, TASK[0].parameter_count))
    return Film(*TASK, np.arange(count), weights, loss, loss, ("",) * seeds)


def test_the_largest_run_that_opens_is_shown_soon_and_a_larger_one_is_refused():
    most, all_ = MAX_NUMBERS["steps"], MAX_NUMBERS["loss"]
    assert opened(to_npz(long(all_ // most, most))) and opened(to_npz(long(all_ // 10, 10)))
    for seeds, count in ((1, most + 1), (1, 200_000), (all_ + 1, 1)):
        assert not opened(to_npz(long(seeds, count))), (seeds, count)


@pytest.mark.parametrize("word", ["\ud800", "<b>", "\0", "a" * 9000], ids=ascii)
def test_a_run_with_hostile_words(word):
    assert opened(described(json.dumps(META | {"ended": [word] * 3, "settings": {word: word}})))


@BRIEF
@given(data=st.data())
def test_whatever_a_page_wants_to_see_its_training_goes_on(data):
    ticket = queue.join(vars(jobs.order({"slug": "spiral", "choices": SMALL, **ASKED})), owner="", address="")
    wish = data.draw(st.dictionaries(st.sampled_from(known_names("spiral")) | VALUES, VALUES, max_size=3))
    told = answer("POST", f"/training/{ticket}", json={"seen": 0, "look": wish})
    assert told.json == {"ahead": 0, "worker": False}, "no worker runs here"
    pictures = jobs.Pictures(scenes()["spiral"], scenes()["spiral"].choose(SMALL))
    pictures.look(queue.page(ticket)["look"])
    assert pictures.news(FILM)["views"]
    queue.close(ticket)


def test_a_stranger_has_nothing_to_look_at():
    got = answer("POST", f"/training/{'0' * 32}", json={"look": {"seed": "1"}})
    assert got.json == {"end": {"state": "lost"}}
    assert queue.page("0" * 32) is None
    for nobodys in ("nobodys", "\ud800", "0" * 33):
        for path in (escaped(nobodys), f"{escaped(nobodys)}/close"):
            assert answer("POST", f"/training/{path}", json={}).status_code in (404, 405)


@BRIEF
@given(JSON | st.fixed_dictionaries({}, optional={"seen": JSON, "stop": JSON, "look": JSON}))
def test_a_question_is_sound_or_refused(asked):
    body = json.dumps(asked)
    got = answer("POST", f"/training/{'0' * 32}", data=body, content_type="application/json")
    assert got.status_code == 400 or got.json["end"] == {"state": "lost"}


# --- orders of trainings


@BRIEF
@given(st.binary(max_size=200), st.sampled_from(["application/json", "text/plain", ""]))
def test_bytes_are_no_order(raw, kind):
    got = answer("POST", "/training", data=raw, content_type=kind)
    assert got.status_code in (400, 415) or got.json["wrong"], "an order without its numbers"


@BRIEF
@given(JSON | st.fixed_dictionaries({}, optional=dict.fromkeys((*ASKED, "slug", "choices"), JSON)))
def test_an_order_is_sound_or_refused(asked):
    got = answer("POST", "/training", data=json.dumps(asked), content_type="application/json")
    assert got.status_code == 400 or got.json["wrong"]


@BRIEF
@given(st.sampled_from(jobs.trainable()) | JSON, st.dictionaries(VALUES, JSON, max_size=3) | JSON)
def test_an_order_of_anything_is_sound_or_refused(slug, choices):
    got = answer("POST", "/training", json={**ASKED, "slug": slug, "choices": choices})
    assert got.status_code == 400 or queue.close(got.json["ticket"]) is None


@BRIEF
@given(JSON)
def test_dash_runs_no_callback_here(body):
    got = answer("POST", "/_dash-update-component", data=json.dumps(body), content_type="application/json")
    assert got.status_code == 404


def test_a_nest_is_no_order():
    for text in ("[" * 100_000, '{"a":' * 50_000, "[" * 500 + "]" * 500, json.dumps("9" * 5000)):
        assert answer("POST", "/training", data=text, content_type="application/json").status_code == 400


def test_a_body_has_a_bound():
    most = APP.server.config["MAX_CONTENT_LENGTH"]
    got = answer("POST", "/training", data=b" " * (most + 1), content_type="application/json")
    assert got.status_code == 413 and got.json["parameter"] == "body"
