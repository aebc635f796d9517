"""Error messages for readers' files that the server refuses."""

import json

import pytest

MAX_BYTES = 34 * 2**20
SIZE = 3 * 2**20
WORDS = {
    "accepted": ({"status": 200, "text": json.dumps({"choices": {}})}, ""),
    "the server's own words": ({"status": 400, "text": json.dumps({"error": "no"})}, "no"),
    "a proxy's bound": (
        {"status": 413, "text": "<h1>413</h1>"},
        "This file has 3 MiB, which is more than this server takes.",
    ),
    "a proxy's refusal": ({"status": 403, "text": "<h1>403</h1>"}, "This server does not accept files."),
    "another fault": ({"status": 502, "text": "<h1>502</h1>"}, "The server does not answer."),
}


@pytest.mark.parametrize(("size", "shown"), [(MAX_BYTES + 1, "34.1"), (50 * 2**20, "50")])
def test_a_file_that_is_too_large_is_not_sent(node, size, shown):
    got = node.ask("upload", size=size, most=MAX_BYTES, reply="error")
    assert got == {"words": f"This file has {shown} MiB: at most 34 MiB can be opened here.", "asked": 0}


@pytest.mark.parametrize(("reply", "words"), WORDS.values(), ids=WORDS)
def test_an_answer_says_what_is_wrong(node, reply, words):
    got = node.ask("upload", size=SIZE, most=MAX_BYTES, reply=reply)
    assert got["words"] == words and got["asked"] == 1 and ("answer" in got) == (words == "")


def test_a_connection_that_is_cut_off_is_told_with_the_size(node):
    words = node.ask("upload", size=MAX_BYTES, most=MAX_BYTES, reply="error")["words"]
    assert "broke while the file was sent" in words and "34 MiB" in words
