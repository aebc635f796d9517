"""Laws of framing: what a view shows decides where its axes end."""

from dataclasses import replace

import numpy as np
import pytest

from components.language.cloud import Cloud, rows
from components.language.framing import EDGE, FULL, HERO, LETTERS, on_paper
from components.language.marks import Disc, Labels, Line, Points
from components.language.recipe import Parameter, Recipe, View
from geometry import Affine, Entries, Pipeline, clouds

CLOSE = 0.01  # of half a picture: where its extents are found by approximation
RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3)) + np.array([3.0, -1.0, 0.5])


def recipe(layers, made, *, dims=3, stages=("one",), parameters=(), **view):
    return Recipe(stages, parameters, made, (View("v", "", layers, dims=dims, **view),))


def seen(made, mark=0, progress=0.0, **params):
    view = made.views[0]
    points = made.layer_points(view.layers[mark], made.defaults | params, progress)
    return on_paper(view, points, view.camera)[0]


def cloud(points, *steps, name="x"):
    return Cloud(name, points, Pipeline(steps))


@pytest.mark.parametrize("dims", [2, 3])
def test_the_first_frame_fills_the_picture_and_is_in_its_middle(dims):
    made = recipe((Points("x", "input", rows(np.eye(dims, 3))),), (cloud(X),), dims=dims)
    flat = seen(made)
    np.testing.assert_allclose(np.ptp(flat, axis=0).max(), 2 * FULL, atol=CLOSE)
    np.testing.assert_allclose((flat.min(0) + flat.max(0)) / 2, 0, atol=CLOSE)


@pytest.mark.parametrize("dims", [2, 3])
def test_what_is_larger_or_elsewhere_looks_the_same(dims):
    layers = (Points("x", "input", rows(np.eye(dims, 3))),)
    one, other = (recipe(layers, (cloud(x),), dims=dims) for x in (X, 1e3 * X + np.array([5e3, 0, -7e3])))
    np.testing.assert_allclose(seen(one), seen(other), atol=CLOSE)


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("how", ["stage", "slider"])
def test_there_is_room_for_what_comes_later(dims, how):
    layers = (Points("x", "input", rows(np.eye(dims, 3))),)
    centred = X - (X.min(0) + X.max(0)) / 2
    if how == "stage":
        made = recipe(layers, (cloud(centred, Affine(1.15 * np.eye(3))),), dims=dims, stages=("one", "more"))
        later = seen(made, progress=1.0)
    else:
        step = Affine(Entries(np.zeros((3, 3)), {"k": np.eye(3)}))
        slider = (Parameter("k", "k", 1.0, 0.5, 1.15),)
        grown = Cloud("x", centred, place=Pipeline((step,)))
        made = recipe(layers, (grown,), dims=dims, parameters=slider)
        later = seen(made, k=1.15)
    assert np.abs(later).max() <= FULL + CLOSE
    assert np.ptp(seen(made), axis=0).max() < 2 * FULL - 0.1


@pytest.mark.parametrize("dims", [2, 3])
def test_a_sphere_stays_large_however_far_points_go(dims):
    ring = clouds.circle(64, *np.eye(3)[:2])
    layers = (
        Line("ring", "sphere", rows(np.eye(dims, 3)), order=ring[1]),
        Points("x", "input", rows(np.eye(dims, 3))),
    )
    small = cloud(0.1 * RNG.normal(size=(20, 3)), Affine(1e3 * np.eye(3)))
    made = recipe(layers, (cloud(ring[0], name="ring"), small), dims=dims, stages=("one", "far"))
    np.testing.assert_allclose(np.ptp(seen(made), axis=0).max(), 2 * HERO, atol=CLOSE)


def test_a_stage_that_shows_more_has_wider_axes_and_it_alone():
    ring = clouds.circle(64, *np.eye(3)[:2])
    layers = (Line("ring", "sphere", rows(np.eye(3)), order=ring[1]), Points("x", "input", rows(np.eye(3))))
    small = cloud(0.1 * RNG.normal(size=(20, 3)), Affine(50 * np.eye(3)), Affine(0.02 * np.eye(3)))
    made = recipe(layers, (cloud(ring[0], name="ring"), small), stages=("one", "far", "back"))
    view = made.views[0]
    assert view.room[0] == view.room[2] == 1 and view.at(0).ranges == view.ranges
    np.testing.assert_allclose(np.diff(view.at(1).ranges), view.room[1] * np.diff(view.ranges))
    np.testing.assert_allclose(np.mean(view.at(0.7).ranges, 1), np.mean(view.ranges, 1))
    for progress in (0, 0.3, 1, 1.6, 2):
        points = made.layer_points(view.layers[1], made.defaults, progress)
        assert np.abs(on_paper(view.at(progress), points, view.camera)[0]).max() <= FULL + CLOSE
    assert np.abs(on_paper(view, points * 50, view.camera)[0]).max() > 1, "it would leave the panel"


@pytest.mark.parametrize("kind", ["line", "labels", "disc"])
def test_guides_decide_nothing_and_are_shortened(kind):
    points = Points("x", "input", rows(np.eye(3)))
    ends = 50 * np.array([[0, 0, -1.0], [0, 0, 1]])
    across = Cloud("g", np.array([[0.0], [0], [0], [1]]))
    guides = {
        "line": (cloud(ends, name="g"), Line("g", "axis", rows(np.eye(3)), guide=True)),
        "labels": (
            replace(cloud(ends, name="g"), labels=["a", "b"]),
            Labels("g", "axis", rows(np.eye(3)), guide=True),
        ),
        "disc": (across, Disc("g", "hyperplane", rows(np.eye(3)), radius=50.0, guide=True)),
    }
    around, mark = guides[kind]
    small = X - X.mean(0)
    alone, made = recipe((points,), (cloud(small),)), recipe((points, mark), (cloud(small), around))
    assert made.views[0].ranges == alone.views[0].ranges
    limit = LETTERS if kind == "labels" else EDGE
    assert limit - 0.05 < np.abs(seen(made, 1)).max() <= limit + CLOSE


def test_ranges_that_are_given_stay():
    ranges = ((-9.0, 9.0),) * 3
    made = recipe((Points("x", "input", rows(np.eye(3))),), (cloud(X),), ranges=ranges, camera=(1, 2, 3))
    assert made.views[0].ranges == ranges and made.views[0].camera == (1, 2, 3)


def test_views_in_space_have_one_scale_and_own_middles():
    marks = [Points(name, "input", rows(np.eye(3))) for name in ("x", "y")]
    views = tuple(View(mark.cloud, "", (mark,)) for mark in marks)
    made = Recipe(("one",), (), (cloud(X), cloud(2 * X + 8, name="y")), views)
    one, other = (np.array(view.ranges) for view in made.views)
    np.testing.assert_allclose(np.ptp(one, axis=1), np.ptp(other, axis=1))
    assert np.abs(one.mean(1) - other.mean(1)).min() > 1


@pytest.mark.parametrize("points", [np.zeros((1, 3)), np.full((5, 3), 2.0), 1e-9 * X, 1e9 * X])
def test_one_point_and_tiny_and_huge_clouds_have_a_picture(points):
    for dims in (2, 3):
        made = recipe((Points("x", "input", rows(np.eye(dims, 3))),), (cloud(points),), dims=dims)
        low, high = np.array(made.views[0].ranges).T
        assert np.isfinite([low, high]).all() and (low < high).all()
        assert np.abs(seen(made)).max() <= 1
