import numpy as np
import pytest

from learning.datasets import DataSet, blobs, digits, octants, parse, random_labels, rings, spiral, xor

MADE = {
    "spiral": lambda seed: spiral(80, turns=1, noise=0.1, seed=seed),
    "octants": lambda seed: octants(80, seed=seed),
    "xor": lambda seed: xor(80, noise=0.1, seed=seed),
    "rings": lambda seed: rings(80, noise=0.1, seed=seed),
    "blobs": lambda seed: blobs(80, noise=0.1, seed=seed),
    "labels": lambda seed: random_labels(80, seed=seed),
}


@pytest.mark.parametrize("name", MADE)
def test_the_same_seed_gives_the_same_data_and_another_seed_others(name):
    a, b, c = (MADE[name](seed) for seed in (1, 1, 2))
    assert a.name == name and a.points.dtype == np.float32 and a.points.shape[0] == 80
    assert (a.points == b.points).all() and (a.labels == b.labels).all()
    assert (a.points != c.points).any()
    assert set(a.labels) == {0, 1} and abs(a.labels.mean() - 0.5) < 0.25


@pytest.mark.parametrize("turns", [0.5, 1, 1.5])
def test_an_arm_of_the_spiral_turns_as_it_goes_out(turns):
    data = spiral(100, turns=turns, noise=0, seed=0)
    for label, start in ((0, 0), (1, np.pi)):
        arm = data.points[data.labels == label].astype(float)
        radius = np.linalg.norm(arm, axis=-1)
        np.testing.assert_allclose(radius, np.linspace(0.2, 1, 50), rtol=1e-6)
        want = start + 2 * np.pi * turns * radius
        np.testing.assert_allclose(
            arm, radius[:, None] * np.stack([np.cos(want), np.sin(want)], -1), atol=1e-6
        )


def test_neighbouring_octants_have_opposite_labels():
    data = octants(500, seed=0)
    np.testing.assert_allclose(np.linalg.norm(data.points, axis=-1), 1, rtol=1e-6)
    negative = (data.points < 0).sum(-1)
    assert (data.labels == (negative % 2 == 0)).all()


def test_xor_and_rings_without_noise():
    data = xor(8, noise=0, seed=0)
    assert (data.labels == (data.points.prod(-1) < 0)).all() and (abs(data.points) == 1).all()
    data = rings(40, noise=0, seed=0)
    np.testing.assert_allclose(np.linalg.norm(data.points, axis=-1), 0.5 + 0.5 * data.labels, rtol=1e-6)


@pytest.mark.parametrize("m", [2, 3, 8])
def test_random_labels_have_both_classes(m):
    for seed in range(50):
        data = random_labels(m, seed=seed)
        assert set(data.labels) == {0, 1} and (np.linalg.norm(data.points, axis=-1) <= 1).all()


def test_digits_are_split_and_their_points_are_their_pictures():
    train, test = digits(seed=0)
    assert (len(train.points), len(test.points)) == (1437, 360) and train.classes == 10
    assert set(test.labels) == set(range(10)) and test.images.shape == (360, 8, 8)
    assert test.points.min() == -0.5 and test.points.max() == 0.5
    np.testing.assert_allclose(test.images.reshape(360, 64) / 255 - 0.5, test.points, atol=0.5 / 255)
    rows = {tuple(row) for row in np.concatenate([train.points, test.points])}
    assert len(rows) == 1797  # no digit is in both
    assert (digits(seed=0)[1].points == test.points).all() and (digits(seed=1)[1].points != test.points).any()


@pytest.mark.parametrize(
    "text",
    [
        "0,1,a\n2,3.5,b\n-4,5e-1,a\n1,1,b",
        "x,y,class\n0, 1, a\n2, 3.5, b\n\n-4, 0.5, a\n1, 1, b\n",
        "0 1 a\r\n2  3.5 b\r\n−4 .5 a\r\n1 1 b",
        "0;1;a\n2;3,5;b\n-4;0,5;a\n1;1;b",
        '\ufeffx\ty\tlabel\n0\t1\t"a"\n2\t3.5\t"b"\n-4\t0.5\t"a"\n1\t1\t"b"',
    ],
)
def test_a_table_of_ones_own(text):
    data = parse(text)
    assert data.points.tolist() == [[0, 1], [2, 3.5], [-4, 0.5], [1, 1]]
    assert data.labels.tolist() == [0, 1, 0, 1] and data.classes == 2


def test_three_columns_and_labels_that_are_numbers():
    data = parse("1 2 3 1\n4 5 6 -1\n7 8 9 1\n1 1 1 -1")
    assert data.points.shape == (4, 3) and data.labels.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 points: give 4 to 500"),
        ("x,y,label", "0 points"),
        ("1,2,a\n3,4,b\n1,1,a", "3 points"),
        ("1,2,a\n" * 501, "501 points"),
        ("1,2,a\n3,b\n1,1,a\n2,2,b", "line 2: 2 columns; give 2 or 3 numbers"),
        ("1,2,a\n3,4,5,b\n1,1,a\n2,2,b", "line 2: 4 columns, but the first point has 3"),
        ("1,2,a\n\n3,four,b\n1,1,a\n2,2,b", "line 3: 'four' is not a number"),
        ("1,2,a\n3,nan,b\n1,1,a\n2,2,b", "line 2: nan is not within ±1000"),
        ("1,2,a\n3,-inf,b\n1,1,a\n2,2,b", "line 2: -inf is not within"),
        ("1,2,a\n3,1e4,b\n1,1,a\n2,2,b", "line 2: 1e4 is not within ±1000; scale"),
        ("1,2,a\n3,4,\n1,1,a\n2,2,b", "line 2: no label"),
        ("1,2,a\n3,4,b\n1,1,c\n2,2,b", "line 3: a third label, after 'a', 'b', 'c'; exactly two"),
        ("1,2,a\n3,4,a\n1,1,a\n2,2,a", "all points have the label 'a'"),
        ("1,2,3,4,a\n" * 4, "line 1: 5 columns"),
    ],
)
def test_what_is_wrong_with_a_table(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("points", "labels", "classes", "message"),
    [
        (np.zeros((0, 2)), [], 2, "points"),
        (np.zeros(3), [0, 1, 0], 2, "points"),
        (np.zeros((3, 2)), [0, 1], 2, "label for each"),
        (np.zeros((2, 2)), [0, 2], 2, "0 … 1"),
        (np.zeros((2, 2)), [-1, 0], 2, "0 … 1"),
        (np.zeros((2, 2)), [0, 0], 1, "2 classes or more"),
        ([[np.nan, 0]], [0], 2, "finite"),
        ([[1e300, 0]], [0], 2, "finite"),
    ],
)
def test_what_is_no_data_set(points, labels, classes, message):
    with pytest.raises(ValueError, match=message):
        DataSet(points, labels, classes, "none")
