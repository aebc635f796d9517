"""The rows of an overview's table are in the order that its head announces."""

import pytest

ROWS = [["1: a", "2.5", "pre"], ["2: b", "−1", "post"], ["3: c", "none", "pre"], ["4: d", "1,000", "final"]]


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [
        (0, ([4, 3, 2, 1], "descending"), ([1, 2, 3, 4], "ascending")),
        (1, ([4, 1, 2, 3], "descending"), ([2, 1, 4, 3], "ascending")),
        (2, ([4, 2, 1, 3], "ascending"), ([1, 3, 2, 4], "descending")),
    ],
    ids=["their own order", "numbers", "words"],
)
def test_a_second_click_on_a_column_reverses_its_order(node, column, first, second):
    assert node.ask("sorted", rows=ROWS, clicks=[column] * 3) == [
        list(each) for each in (first, second, first)
    ]
