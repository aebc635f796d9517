"""The numbers beside the picture are those of Python's clouds."""

from dataclasses import replace

import numpy as np
import pytest

from components.language.cloud import Cloud, Row
from components.language.marks import Followed, Highest, Inside, OnHull
from components.language.packing import packed
from components.language.recipe import Count, Lengths, Mean, Number, Recipe, Table, View
from geometry import Affine, Pipeline, hull
from geometry.ellipsoid import diameters
from tests.assets.engine import Node
from tests.components.recipes import recipe

PARAMS, PROGRESS, POINT = {"gain": 2.0, "eps": 0.5}, 1.5, 7
ROW = Row((1.0, -0.5))


@pytest.fixture(scope="module")
def node():
    with Node() as process:
        yield process


def words(node, *readouts, d=2):
    sent = packed(replace(recipe(d), readouts=readouts))
    return node.ask("readouts", recipe=sent, params=PARAMS, progress=PROGRESS, followed=POINT)


def test_numbers_have_their_digits_and_units(node):
    values = recipe(2).moment(PARAMS, PROGRESS).shown("x", (ROW,))[:, 0]
    got = words(
        node,
        Number("n", "x", ROW, Followed(), unit=" °C", digits=1),
        Number("n", "x", ROW, 3, digits=4),
        Mean("m", "x", ROW, unit=" m", digits=2),
        Mean("m", "x", ROW),
    )
    want = [f"{values[POINT]:.1f} °C", f"{values[3]:.4f}", f"{values.mean():.2f} m"]
    assert [word.replace("−", "-") for word in got[:3]] == want
    assert float(got[3].replace("−", "-")) == pytest.approx(values.mean(), abs=6e-4)


@pytest.mark.parametrize("stage", [None, 0, 2])
@pytest.mark.parametrize("d", [2, 3])
def test_points_on_and_in_a_hull_are_counted_now_or_at_a_stage(node, stage, d):
    cloud = recipe(d).cloud("x")
    points = cloud.at(PARAMS, PROGRESS) if stage is None else cloud.stages(PARAMS)[stage]
    on, n = len(hull.vertices(points)), len(points)
    got = words(node, *(Count("c", "x", only, stage) for only in (OnHull(), Inside(), Highest(ROW))), d=d)
    assert got == [f"{on} of {n}", f"{n - on} of {n}", f"1 of {n}"] and on > 2


def test_lengths_are_those_of_the_semi_axes(node):
    ends = diameters(recipe(3).cloud("frame").stages(PARAMS)[-1]).reshape(-1, 3, 3)
    want = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1) / 2
    [got] = words(node, Lengths("l", "frame"), d=3)
    assert [float(word) for word in got.split(", ")] == pytest.approx(sorted(want)[::-1], abs=6e-4)


def test_a_point_whose_stages_have_more_coordinates_has_all_of_them_in_the_table(node):
    """From the plane into space: the first row has an empty place."""
    lifted = Cloud("x", np.array([[1.0, 2.0]]), Pipeline((Affine(np.eye(3, 2), [0, 0, 4]),)))
    views = (View("v", "", (), ((-1, 1),) * 2, 2),)
    small = Recipe(("x", "up"), (), (lifted,), views, table=Table("x", columns=("components", "norm")))
    first, second = node.ask("rows", recipe=packed(small), params={}, followed=0)
    assert first == ["1.000", "2.000", "", "2.236"] and second == ["1.000", "2.000", "4.000", "4.583"]
