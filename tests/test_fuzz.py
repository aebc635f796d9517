"""Nonsense over every route and callback: never a 500, never a slow answer.

The routes come from the application's map and the callbacks from Dash's: what is new is covered by itself.
"""

import json
import time
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import app
from components.scene import scenes

SLOWEST = 2.0  # seconds of processor time for one answer
BRIEF = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
APP = app.create_app()
APP.server.test_client().get("/")  # Dash completes its callbacks with the first request
CALLBACKS = sorted(output for output, known in APP.callback_map.items() if "callback" in known)

TEXT = st.text(max_size=40) | st.text(st.characters(min_codepoint=0, max_codepoint=0x1FFFF), max_size=12)
PATHS = ["", "\0", "..", "../../etc/passwd", "%2e%2e", "%00", "a" * 3000]
CODE = ["constructor", "__proto__", "<script>", "{{7*7}}", "' OR 1=1 --", "\r\nX: 1", "\ud800", "🙂" * 50]
ODD = ["1e999", "NaN", "inf", "-0", "1e-400", "9" * 400, "0x1", "1_0", "١", "²", "null", "[]", "1;" * 900]
CAMERAS = ["1,2,3", "1,1,1,1,1,1", "0,0,1e-9", ",,", "1,2,3,4,5,1e308"]
HOSTILE = st.sampled_from([*PATHS, *CODE, *ODD, *CAMERAS])
NUMBERS = (st.floats() | st.integers()).map(str)
VALUES = TEXT | HOSTILE | NUMBERS
SLUGS = st.sampled_from(list(scenes()))


def known_names(slug):
    scene = scenes()[slug]
    own = ["progress", "camera", "follow", "theme", "controls", "autoplay", "url", "format", "maxwidth"]
    return [*(c.name for c in scene.choices), *(p.name for p in scene.recipe().parameters), *own]


def escaped(text):
    """Percent-encoded, what is no Unicode as it is: servers are sent any bytes."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@st.composite
def queries(draw, slug):
    """A few names, known ones mostly, some twice, with values of their kind and others."""
    names = st.sampled_from(known_names(slug)) | VALUES
    pairs = draw(st.lists(st.tuples(names, VALUES | options(slug)), max_size=5))
    return "&".join(f"{escaped(name)}={escaped(value)}" for name, value in pairs)


def options(slug):
    known = [text for c in scenes()[slug].choices for text in getattr(c, "options", ())]
    bounds = [
        str(x) for c in scenes()[slug].choices for x in (getattr(c, "min", None), getattr(c, "max", None))
    ]
    return st.sampled_from([*known, *bounds])


@st.composite
def addresses(draw, rule):
    """A path of a rule, its parts being slugs, files or anything, and a query."""
    slug = draw(SLUGS)
    parts = st.one_of(
        st.just(slug), st.just(slug), VALUES, st.just(f"{slug}.svg"), st.just("player.mjs"), st.just("dash")
    )
    path = rule.rule
    for _ in rule.arguments:
        before, _, rest = path.partition("<")
        path = before + escaped(draw(parts)) + rest.partition(">")[2]
    return f"{path}?{draw(queries(slug))}"


def answer(method, path, **body):
    """The answer to a request, which came soon."""
    client = APP.server.test_client()
    start = time.thread_time()
    got = client.open(path, method=method, **body)
    taken = time.thread_time() - start
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
    """As many points, dimensions and bins as there may be, with every option of every list."""
    most = {c.name: c.max for c in scene.choices if hasattr(c, "max")}
    for name, option in [("", ""), *((c.name, o) for c in scene.choices for o in getattr(c, "options", ()))]:
        query = urlencode(most | ({name: option} if name else {}))
        for path in ("recipe/{}", "still/{}.svg", "{}"):
            answer("GET", f"/{path.format(scene.slug)}?{query}")


@BRIEF
@given(st.binary(max_size=300))
def test_any_bytes_as_an_address(raw):
    answer("GET", "/" + quote(raw))
    answer("GET", "/recipe/" + quote(raw))
    answer("GET", "/recipe/layernorm?" + quote(raw, safe="&="))


@pytest.mark.parametrize(
    "path", ["/", "/layernorm", "/recipe/layernorm", "/still/layernorm.svg", "/theme.css"]
)
def test_an_address_has_bounds(path):
    got = answer("GET", f"{path}?{urlencode({'vectors': '1 2 3;' * 5000})}")
    assert got.status_code == 414 and got.json["parameter"] == "query" and got.json["allowed"]
    got = answer("GET", f"{path.rstrip('/')}/{'a' * 5000}")
    assert got.status_code == 414 and got.json["parameter"] == "path"


# --- what Dash is sent

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(VALUES, inner, max_size=3),
    max_leaves=8,
)
UPDATE = "/_dash-update-component"


SENT = [rule for rule in APP.server.url_map.iter_rules() if "POST" in rule.methods]
KINDS = st.sampled_from(
    ["application/octet-stream", "application/json", "text/plain", "multipart/form-data", ""]
)


@pytest.mark.parametrize("rule", SENT, ids=lambda rule: rule.rule)
@BRIEF
@given(data=st.data())
def test_no_body_is_too_much(rule, data):
    """Bytes, the beginning of an archive, and JSON of any kind."""
    raw = st.binary(max_size=200)
    body = data.draw(
        raw | raw.map(b"PK\x03\x04".__add__) | JSON.map(lambda value: json.dumps(value).encode())
    )
    answer("POST", data.draw(addresses(rule)), data=body, content_type=data.draw(KINDS))


@BRIEF
@given(st.binary(max_size=200), st.sampled_from(["application/json", "text/plain", ""]))
def test_bytes_are_no_callback(raw, kind):
    assert answer("POST", UPDATE, data=raw, content_type=kind).status_code in (400, 415)


@BRIEF
@given(JSON)
def test_nonsense_is_no_callback(body):
    assert answer("POST", UPDATE, data=json.dumps(body), content_type="application/json").status_code == 400


@BRIEF
@given(st.data())
def test_a_callback_without_its_parts_is_refused(data):
    """A body as the page sends it, with one of its parts replaced by anything."""
    body = asked(data.draw(st.sampled_from(CALLBACKS)), lambda: None)
    part = data.draw(st.sampled_from(["output", "outputs", "inputs", "state", "changedPropIds"]))
    body[part] = data.draw(JSON)
    answer("POST", UPDATE, json=body)


@pytest.mark.parametrize("output", CALLBACKS)
@BRIEF
@given(data=st.data())
def test_callbacks_bear_any_value(output, data):
    """A sound request, whose values are of any kind; and the handles of jobs that nobody gave out."""
    body = asked(output, lambda: data.draw(JSON | st.sampled_from([f"/{slug}" for slug in scenes()])))
    handles = data.draw(
        st.sampled_from(["", "?cacheKey=x&job=1", "?oldJob=1&oldJob=x&endId=y", "?cancelJob=1"])
    )
    answer("POST", UPDATE + handles, json=body)


def asked(output, value):
    """The body that the page would send for a callback, with values of ours."""
    known = APP.callback_map[output]
    outputs = known["output"] if isinstance(known["output"], list | tuple) else [known["output"]]
    parts = [{"id": o.component_id, "property": o.component_property} for o in outputs]
    return {
        "output": output,
        "outputs": parts if isinstance(known["output"], list | tuple) else parts[0],
        "inputs": [{**spec, "value": value()} for spec in known["inputs"]],
        "state": [{**spec, "value": value()} for spec in known["state"]],
        "changedPropIds": [f"{spec['id']}.{spec['property']}" for spec in known["inputs"]],
    }


def test_a_nest_is_no_callback():
    for text in ("[" * 100_000, '{"a":' * 50_000, "[" * 500 + "]" * 500, json.dumps("9" * 5000)):
        assert answer("POST", UPDATE, data=text, content_type="application/json").status_code == 400


def test_a_body_has_a_bound():
    most = APP.server.config["MAX_CONTENT_LENGTH"]
    got = answer("POST", UPDATE, data=b" " * (most + 1), content_type="application/json")
    assert got.status_code == 413 and got.json["parameter"] == "body"
