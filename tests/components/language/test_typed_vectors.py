"""Vectors that a user types: accepted spellings, and messages about wrong ones."""

import pytest

from components.language.typed_vectors import parse_vectors

GOOD = {
    "5 8 2": [[5, 8, 2]],
    "5, 8, 2\n1 0 1": [[5, 8, 2], [1, 0, 1]],
    "(5 8 2); [1,0,1];": [[5, 8, 2], [1, 0, 1]],
    "\n\n 1e3 −2 +.5 \n": [[1000, -2, 0.5]],
    "0 0 0": [[0, 0, 0]],
}


@pytest.mark.parametrize("text", GOOD)
def test_vectors_from_text(text):
    assert parse_vectors(text, d=3).tolist() == GOOD[text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no vectors yet: type 3 numbers a line, such as 3, 1, 4"),
        (" \n;", "no vectors"),
        ("1 2 3\n1 2", "line 2: 2 numbers, but d = 3"),
        ("5;5", "line 1: 1 number, but d = 3"),
        ("1 2 3; ;1 2 3 4", "line 3: 4 numbers"),
        ("1 two 3", "line 1: 'two' is not a number"),
        ("1 nan 3", "within"),
        ("1 2 inf", "within"),
        ("1 2 -1e400", "within"),
        ("1 2 1000001", "within ±1e"),
        ("1 2 " + "x" * 1000, "'x{20}' is not"),
        ("1 2 3\n" * 501, "501 vectors are more than 500"),
    ],
)
def test_a_wrong_text_says_where(text, message):
    with pytest.raises(ValueError, match=message):
        parse_vectors(text, d=3)


def test_limits_may_be_reached():
    assert parse_vectors("1e6 -1e6\n" * 500, d=2).shape == (500, 2)
