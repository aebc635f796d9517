"""What a browser takes of what we have: weights are read once, before anything compresses."""

import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from components.web.encodings import OURS, taken

FORBIDDEN = ["gzip;q=0", "gzip;q=0.000", "gzip; q=0", "*;q=0", "br;q=0, gzip;q=0", "identity", "nothing", ""]


@pytest.mark.parametrize(
    "said, names",
    [(each, "") for each in FORBIDDEN]
    + [
        ("gzip, deflate, br, zstd", "zstd, br, gzip"),
        ("GZIP", "gzip"),
        ("gzip;q=0, *", "zstd, br"),
        ("*;q=0, br", "br"),
        ("br;q=0.1, gzip;q=0.9", "br, gzip"),
        ("*", "zstd, br, gzip"),
    ],
)
def test_what_a_header_takes(said, names):
    assert taken(said) == names


@given(st.text(max_size=200))
def test_any_header_takes_some_of_ours(said):
    assert {*filter(None, taken(said).split(", "))} <= {*OURS}


@pytest.fixture(scope="module")
def client():
    return app.wsgi().test_client()


PATHS = ["/", "/theme.css", "/card/fold.svg", "/still/fold.svg", "/lib", "/recipe/fold"]


@pytest.mark.parametrize("path", [*PATHS, "/assets/page/style.css"])
def test_whoever_forbids_it_gets_no_compressed_answer(client, path):
    path = found(client, path)
    with client.get(path) as answer:  # a file of ours is open until then
        plain = answer.data
    for said in FORBIDDEN:
        with client.get(path, headers={"Accept-Encoding": said}) as answer:
            assert "Content-Encoding" not in answer.headers and answer.data == plain, said
            assert "Accept-Encoding" in answer.headers["Vary"]


@pytest.mark.parametrize("path", PATHS)
def test_whoever_takes_it_gets_a_compressed_answer(client, path):
    answer = client.get(found(client, path), headers={"Accept-Encoding": "deflate, GZIP;q=0.1"})
    assert answer.headers["Content-Encoding"] == "gzip" and len(gzip.decompress(answer.data)) > len(
        answer.data
    )


def found(client, path):
    return re.search(r'href="(/lib/[^"]+.js)"', client.get("/fold").text)[1] if path == "/lib" else path
