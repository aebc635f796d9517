"""Polling a server, and waiting for a recipe."""

import base64
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

SELDOM, RARELY = 1000, 8000  # milliseconds: MAX_PAUSE_MS and MAX_RETRY_MS of assets/player/poll.mjs
NOTHING = {"status": 204}
LOST = [
    "error",
    {"status": 502, "text": "<h1>Bad gateway</h1>"},
    {"status": 503, "text": "", "headers": {"Retry-After": "3"}},
    {"status": 429, "text": json.dumps({"error": "a lot"}), "headers": {"Retry-After": "soon"}},
    {"status": 404, "text": "no such service"},
    {"status": 200, "text": "<h1>Log in to this net</h1>"},
    {"status": 200, "text": '{"step": 4, "recipe": {"clou'},
]

BROKEN = {"status": 200, "base64": base64.b64encode(gzip.compress(b"{}" * 900, mtime=0)[:20]).decode()}


def told(step):
    return {"status": 200, "text": json.dumps({"step": step})}


@pytest.mark.parametrize("lost", LOST, ids=str)
def test_an_answer_that_is_lost_is_asked_for_again(node, lost):
    got = node.ask("poll", replies=[told(1), lost, lost, lost, told(2), NOTHING, told(3)], end=3)
    assert got["heard"] == [{"step": 1}, {"step": 2}, None, {"step": 3}]
    assert [each["body"]["seen"] for each in got["asked"]] == [0, 1, 1, 1, 1, 2, 3]


@given(st.lists(st.sampled_from([*LOST, NOTHING]), max_size=20).flatmap(st.permutations))
def test_whatever_is_lost_all_is_heard_once_and_in_order(node, lost):
    replies = [told(1), *lost[::2], told(2), *lost[1::2], told(3)]
    got = node.ask("poll", replies=replies, end=3)
    assert [each["step"] for each in got["heard"] if each] == [1, 2, 3]
    assert len(got["asked"]) == len(replies)


def test_what_cannot_be_shown_is_no_end(node):
    assert node.ask("poll", replies=[told(1), told(2), told(3)], end=3, wrong=2)["heard"][-1] == {"step": 3}


def test_it_is_asked_more_and_more_seldom_while_nothing_is_new(node):
    got = node.ask("poll", replies=[told(1), *[NOTHING] * 20, told(2), told(3)], end=3)["slept"]
    assert got[0] <= 60 and got[1:20] == sorted(got[1:20]) and got[20] == SELDOM
    assert got[21] <= 60, "there is news again"
    assert sum(got[:4]) < 350, "some four or five pictures a second"


def test_patience_grows_with_each_lost_answer_and_the_server_may_ask_for_more(node):
    pauses = [node.ask("pauses", cases=[[{"empty": 0, "lost": k, "after": 0}, 0.5]])[0] for k in range(1, 12)]
    assert pauses[0] == 250 and pauses == sorted(pauses) and pauses[-1] == RARELY
    [early, late] = node.ask("pauses", cases=[[{"empty": 0, "lost": 12, "after": 0}, c] for c in (0, 1)])
    assert 0.7 * RARELY < early < late < 1.3 * RARELY
    assert node.ask("pauses", cases=[[{"empty": 0, "lost": 1, "after": 5}, 0]]) == [5000]


def test_a_recipe_of_a_busy_server_is_asked_for_again(node):
    busy = {"status": 503, "text": "", "headers": {"Retry-After": "0.1"}}
    away = {"status": 502, "text": '{"error":"no web server"}', "headers": {"Retry-After": "0.1"}}  # of nginx
    got = node.ask("recipe", replies=[busy, {**busy, "status": 429}, away, told(1)], speed=100)
    assert got["answer"]["recipe"] == {"step": 1} and got["asked"] == 4


def test_a_busy_server_is_asked_for_a_recipe_more_and_more_seldom_and_not_before_it_allows(node):
    first, later = ({"status": 503, "text": "", "headers": {"Retry-After": s}} for s in ("20", "1"))
    slept = node.ask("recipe", replies=[first, *[later] * 8, told(1)], speed=1000)["slept"]
    assert slept[0] == 20_000 and min(slept) >= 1000
    assert min(slept[-3:]) > 0.7 * RARELY


def test_nothing_wakes_a_page_before_a_busy_server_allows(node):
    busy = {"status": 429, "text": "", "headers": {"Retry-After": "2"}}
    got = node.ask("recipe", replies=[busy, told(1)], speed=10, wake=True)
    assert got["asked"] == 2 and got["ms"] >= 199


def test_a_server_that_is_busy_for_more_than_a_minute_is_not_taken_for_one_without_an_answer(node):
    busy = {"choices": {"n": "1"}, "busy": 90_000}
    for text, said in ("", busy), ('{"reason": "No store"}', busy | {"reason": "No store"}):
        got = node.ask("recipe", replies=[{"status": 503, "text": text, "headers": {"Retry-After": "90"}}])
        assert got["answer"] == said and got["asked"] == 1


def packed(text):
    return {"status": 200, "base64": base64.b64encode(gzip.compress(text.encode())).decode()}


def test_a_recipe_in_a_gzip_file_is_inflated_here_unless_the_server_did(node):
    """A recipe from a gzip file is read both from compressed bytes and from bytes already decompressed.

    A plain file server sends the compressed bytes. If a server adds Content-Encoding, the browser itself
    decompresses them.
    """
    text = json.dumps({"title": "β · ε", "numbers": list(range(1000))})
    for reply in (packed(text), {"status": 200, "text": text}):
        assert node.ask("recipe", replies=[reply])["answer"]["recipe"] == json.loads(text)


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        ("error", {}),
        ({"status": 200, "text": "{"}, {}),
        (BROKEN, {}),
        ({"status": 500, "text": "<h1>"}, {"failed": 500}),
        ({"status": 502, "text": '{"error": "a fault"}'}, {"failed": 502}),
    ],
    ids=str,
)
def test_a_recipe_that_does_not_come_is_neither_one_nor_refused(node, reply, failed):
    got = node.ask("recipe", replies=[reply])
    assert got["answer"] == {"choices": {"n": "1"}, **failed} and got["asked"] == 1


def test_a_reply_that_is_no_recipe_refuses_the_choices(node):
    got = node.ask("recipe", replies=[{"status": 404, "text": "<h1>"}])
    assert got["answer"]["refused"] == "the server has no such recipe" and got["asked"] == 1


@pytest.mark.parametrize("reply", ["hang", {"status": 503, "text": "", "headers": {"Retry-After": "50"}}])
def test_a_recipe_that_nobody_wants_any_more_is_let_go(node, reply):
    got = node.ask("recipe", replies=[reply], abort=50)
    assert "recipe" not in got["answer"] and got["ms"] < 30_000, "a minute otherwise"
