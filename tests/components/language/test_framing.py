"""Laws of framing: the contents of a view determine the ranges of its axes."""

from dataclasses import replace

import numpy as np
import pytest

from components.language.cloud import Cloud, rows
from components.language.finish import finished
from components.language.framing.boxes import MAX_FIRST_FRACTION, MIN_SPHERE_FRACTION, WIDE_SPHERE_FRACTION
from components.language.framing.extent import SPHERE_ROLES
from components.language.framing.guides import MAX_GUIDE_RADIUS, MAX_LABEL_RADIUS, MAX_LABEL_TOP, MAX_LINE_TOP
from components.language.framing.paper import on_paper
from components.language.framing.shown_points import ShownPoints
from components.language.marks import Disc, Labels, Line, Points
from components.language.recipe import Parameter, Recipe, View
from components.language.scene import scenes
from components.training.recipes import state_of
from geometry import Affine, Entries, Pipeline, clouds

CLOSE = 0.01  # tolerance, relative to half a picture, because extents are approximated
LARGE, FILLED, CENTRED = 0.6, 0.7, 0.08  # of the panel's smaller side
RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3)) + np.array([3.0, -1.0, 0.5])


def recipe(layers, made, *, dims=3, stages=("one",), parameters=(), **view):
    return finished(Recipe(stages, parameters, made, (View("v", "", layers, dims=dims, **view),)))


def seen(made, mark=0, progress=0.0, **params):
    view = made.views[0]
    points = view.layers[mark].points(made.moment(made.defaults | params, progress))
    return on_paper(view, points, view.camera)[0]


def cloud(points, *steps, name="x"):
    return Cloud(name, points, Pipeline(steps))


@pytest.mark.parametrize("dims", [2, 3])
def test_the_first_frame_fills_the_picture_and_is_in_its_middle(dims):
    made = recipe((Points("x", "input", rows(np.eye(dims, 3))),), (cloud(X),), dims=dims)
    flat = seen(made)
    np.testing.assert_allclose(np.ptp(flat, axis=0).max(), 2 * MAX_FIRST_FRACTION, atol=CLOSE)
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
    assert np.abs(later).max() <= MAX_FIRST_FRACTION + CLOSE
    assert np.ptp(seen(made), axis=0).max() < 2 * MAX_FIRST_FRACTION - 0.1


@pytest.mark.parametrize("dims", [2, 3])
def test_a_sphere_stays_large_however_far_points_go(dims):
    ring = clouds.circle(64, *np.eye(3)[:2])
    layers = (
        Line("ring", "sphere", rows(np.eye(dims, 3)), order=ring[1]),
        Points("x", "input", rows(np.eye(dims, 3))),
    )
    small = cloud(0.1 * RNG.normal(size=(20, 3)), Affine(1e3 * np.eye(3)))
    made = recipe(layers, (cloud(ring[0], name="ring"), small), dims=dims, stages=("one", "far"))
    np.testing.assert_allclose(np.ptp(seen(made), axis=0).max(), 2 * MIN_SPHERE_FRACTION, atol=CLOSE)


def test_a_stage_that_shows_more_has_wider_axes_and_it_alone():
    ring = clouds.circle(64, *np.eye(3)[:2])
    layers = (Line("ring", "sphere", rows(np.eye(3)), order=ring[1]), Points("x", "input", rows(np.eye(3))))
    small = cloud(0.1 * RNG.normal(size=(20, 3)), Affine(50 * np.eye(3)), Affine(0.02 * np.eye(3)))
    made = recipe(layers, (cloud(ring[0], name="ring"), small), stages=("one", "far", "back"))
    view = made.views[0]
    assert view.zooms[0] == view.zooms[2] == (1, 0, 0, 0) and view.at(0).ranges == view.ranges
    times, *by = view.zooms[1]
    np.testing.assert_allclose(np.diff(view.at(1).ranges), times * np.diff(view.ranges))
    np.testing.assert_allclose(np.mean(view.at(0.7).ranges, 1), np.mean(view.ranges, 1) + 0.7 * np.array(by))
    for progress in (0, 0.3, 1, 1.6, 2):
        points = view.layers[1].points(made.moment(made.defaults, progress))
        assert np.abs(on_paper(view.at(progress), points, view.camera)[0]).max() <= MAX_FIRST_FRACTION + CLOSE
    assert np.abs(on_paper(view, points * 50, view.camera)[0]).max() > 1, "it would leave the panel"


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("away", [0.0, 20.0])
def test_axes_follow_a_slider_that_moves_points_out_and_only_there(scale, away, dims):
    ring, show = clouds.circle(64, *np.eye(3)[:2]), rows(np.eye(dims, 3))
    layers = (Line("ring", "sphere", show, order=ring[1]), Points("x", "input", show))
    shift = np.array([away, -away, 0])
    times = Affine(Entries(np.zeros((3, 3)), {"k": np.eye(3)}), Entries(-shift, {"k": shift}))
    small = cloud(0.1 * RNG.normal(size=(20, 3)), times, Affine(0.001 * np.eye(3)))
    made = recipe(
        layers,
        (cloud(ring[0], name="ring"), small),
        stages=("x", "k", "less"),
        parameters=(Parameter("k", "k", 1.0, 0.1, 50, scale=scale),),
        dims=dims,
        reaching=True,
    )
    (view,) = made.views
    assert not view.zooms
    for progress in (0, 1, 2):
        assert view.at(progress, made.defaults).ranges == view.ranges
        for k in (0.1, 50.0):
            points = view.layers[1].points(made.moment({"k": k}, progress))
            at = view.at(progress, {"k": k})
            assert np.abs(on_paper(at, points, at.camera)[0]).max() <= MAX_FIRST_FRACTION + CLOSE, (
                progress,
                k,
            )
            out = np.abs(on_paper(view, points, view.camera)[0]).max() > 1
            assert (at.ranges != view.ranges) == out, (progress, k)
    far = view.layers[1].points(made.moment({"k": 50.0}, 1))
    assert np.abs(on_paper(view, far, view.camera)[0]).max() > 1, "it would leave the panel"


@pytest.mark.parametrize("dims", [2, 3])
def test_given_zooms_are_kept(dims):
    layers, zooms = (Points("x", "input", rows(np.eye(dims, 3))),), ((1, 0, 0, 0), (7, 0, 0, 0))
    given = tuple(row[: dims + 1] for row in zooms)
    grown = cloud(X, Affine(3 * np.eye(3)))
    made = recipe(layers, (grown,), dims=dims, stages=("x", "more"), zooms=given, reaching=True)
    assert made.views[0].zooms == given


@pytest.mark.parametrize("away", [0.0, 20.0])
def test_a_stage_that_shows_more_fills_the_picture_and_is_in_its_middle(away):
    """At a stage with larger content than the first, the axes fit it, however far it is from the origin."""
    far = Affine(3 * np.eye(3), np.array([away, 0, -away]))
    made = recipe(
        (Points("x", "input", rows(np.eye(3))),), (cloud(X - X.mean(0), far),), stages=("one", "far")
    )
    points = made.views[0].layers[0].points(made.moment(made.defaults, 1.0))
    flat = on_paper(made.views[0].at(1), points, made.views[0].camera)[0]
    np.testing.assert_allclose((flat.min(0) + flat.max(0)) / 2, 0, atol=CLOSE)
    np.testing.assert_allclose(np.ptp(flat, axis=0).max(), 2 * MAX_FIRST_FRACTION, atol=CLOSE)


def test_a_stage_that_shows_little_is_seen_from_nearer():
    """If a scene opens at a stage with points far out, its axes are narrower at a stage without them.

    At the stage without them, the circle takes MIN_SPHERE_FRACTION of the panel.
    """
    ring = clouds.circle(64, *np.eye(3)[:2])
    layers = (Line("ring", "sphere", rows(np.eye(3)), order=ring[1]), Points("x", "input", rows(np.eye(3))))
    grown = cloud(0.3 * RNG.normal(size=(40, 3)), Affine(12 * np.eye(3)))
    view = View("v", "", layers)
    clouds_ = (cloud(ring[0], name="ring"), grown)
    made = finished(Recipe(("one", "far"), (), clouds_, (view,), progress=1.0))
    shares = []
    for progress in (0.0, 1.0):
        points = made.views[0].layers[0].points(made.moment(made.defaults, progress))
        shares.append(
            np.ptp(on_paper(made.views[0].at(progress), points, made.views[0].camera)[0], axis=0).max() / 2
        )
    np.testing.assert_allclose(shares[0], MIN_SPHERE_FRACTION, atol=CLOSE)
    assert shares[1] < MIN_SPHERE_FRACTION / 2 and made.views[0].zooms[1] == (1, 0, 0, 0)


def test_a_plane_that_is_wide_takes_the_whole_width():
    ring = clouds.circle(64, *np.eye(2))
    layers = tuple(
        Line(name, role, rows(np.eye(2)), order=ring[1]) for name, role in (("a", "sphere"), ("b", "input"))
    )

    def made(stretch):
        return recipe(
            layers, (cloud(ring[0], name="a"), cloud(ring[0] * [stretch, 1], name="b")), dims=2
        ).views[0]

    assert not made(1.2).wide and np.diff(made(1.2).ranges)[0] == np.diff(made(1.2).ranges)[1]
    view = made(3)
    (across,), (up,) = np.diff(view.ranges)
    assert view.wide is True
    assert (
        replace(view, ranges=tuple((np.float64(low), np.float64(high)) for low, high in view.ranges)).wide
        is True
    )
    np.testing.assert_allclose([across, up], [6 / MAX_FIRST_FRACTION, 2 / WIDE_SPHERE_FRACTION], atol=CLOSE)


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
    limit = MAX_LABEL_RADIUS if kind == "labels" else MAX_GUIDE_RADIUS
    assert limit - 0.05 < np.abs(seen(made, 1)).max() <= limit + CLOSE


def test_a_stage_that_does_not_show_the_origin_shortens_no_guide():
    """A guide is shortened to fit into the region of each stage, except where the region lacks the origin.

    Guides are shortened towards the origin. If the region lacks it, this would put all labels at the origin.
    """
    names = replace(cloud(5 * np.eye(3), name="n"), labels=["x", "y", "z"])
    mark, small = Labels("n", "axis", rows(np.eye(3)), guide=True), X - X.mean(0)
    away = cloud(small, Affine(np.eye(3), np.array([900.0, 0, 0])))
    made = recipe((Points("x", "input", rows(np.eye(3))), mark), (away, names), stages=("here", "away"))
    assert np.abs(seen(made, 1)).max() > 0.5
    assert np.linalg.norm(made.cloud("n").points, axis=1).min() > 0.5


LOW_PANEL = 250  # pixels: the side of a low 3D panel, as on a telephone
LABEL_HEIGHT = (
    26  # pixels from a label's point to the top of its letters, which Plotly writes above the point
)


def test_an_upright_axis_leaves_room_for_its_label_above_it():
    """An upright axis of a 3D view is shortened so that the label above the axis fits into the picture.

    This holds for a low panel too.
    """
    ends = np.array([[0, 0, -50.0], [0, 0, 50]])
    line = (cloud(ends, name="g"), Line("g", "axis", rows(np.eye(3)), guide=True))
    name = (
        replace(cloud(1.1 * ends, name="n"), labels=["a", "b"]),
        Labels("n", "axis", rows(np.eye(3)), guide=True),
    )
    small = Points("x", "input", rows(np.eye(3))), cloud(X - X.mean(0))
    made = recipe((small[0], line[1], name[1]), (small[1], line[0], name[0]))
    axis, label = (seen(made, mark)[:, 1].max() for mark in (1, 2))
    np.testing.assert_allclose([axis, label], [MAX_LINE_TOP, MAX_LABEL_TOP], atol=CLOSE)
    assert (1 - label) * LOW_PANEL / 2 > LABEL_HEIGHT


@pytest.mark.parametrize("slug", scenes())
def test_labels_of_guides_have_room_at_the_top_of_their_panel(slug):
    state = state_of(scenes()[slug], {})
    for progress in range(len(state.recipe.stages)):
        at = state.recipe.moment(state.params, progress, followed=state.follow)
        for view in (view.at(progress) for view in state.recipe.views if view.dims == 3):
            for mark in (mark for mark in view.layers if mark.draws == "labels" and mark.guide):
                if mark.opacity_at(progress) > 0:
                    top = on_paper(view, mark.points(at), view.camera)[0][:, 1].max()
                    assert top <= MAX_LABEL_TOP + CLOSE, (view.name, mark.cloud, progress)


def test_ranges_that_are_given_stay():
    ranges = ((-9.0, 9.0),) * 3
    made = recipe((Points("x", "input", rows(np.eye(3))),), (cloud(X),), ranges=ranges, camera=(1, 2, 3))
    assert made.views[0].ranges == ranges and made.views[0].camera == (1, 2, 3)


def test_views_in_space_have_one_scale_and_own_middles():
    marks = [Points(name, "input", rows(np.eye(3))) for name in ("x", "y")]
    views = tuple(View(mark.cloud, "", (mark,)) for mark in marks)
    made = finished(Recipe(("one",), (), (cloud(X), cloud(2 * X + 8, name="y")), views))
    one, other = (np.array(view.ranges) for view in made.views)
    np.testing.assert_allclose(np.ptp(one, axis=1), np.ptp(other, axis=1))
    assert np.abs(one.mean(1) - other.mean(1)).min() > 1


def test_what_is_memoised_of_an_object_is_never_taken_for_that_of_another():
    """A memoised value belongs to one object, although Python reuses the identity (`id`) of a deleted one."""
    memory = ShownPoints(Recipe(("one",), (), (cloud(X),), ()))
    for k in range(50):
        array = np.full(3, float(k))
        assert memory.memoised(array.sum, "sum", of=[array]) == 3 * k
        assert memory.memoised(lambda: -1.0, "sum", of=[array]) == 3 * k, "computed once"


@pytest.mark.parametrize("points", [np.zeros((1, 3)), np.full((5, 3), 2.0), 1e-9 * X, 1e9 * X])
def test_one_point_and_tiny_and_huge_clouds_have_a_picture(points):
    for dims in (2, 3):
        made = recipe((Points("x", "input", rows(np.eye(dims, 3))),), (cloud(points),), dims=dims)
        low, high = np.array(made.views[0].ranges).T
        assert np.isfinite([low, high]).all() and (low < high).all()
        assert np.abs(seen(made)).max() <= 1


@pytest.mark.parametrize("slug", [slug for slug in scenes() if slug != "activation"])  # that is a graph
def test_the_first_picture_of_a_scene_is_large_whole_and_in_its_middle(slug):
    """When a scene opens, all content of its first view is inside the panel and centred.

    A sphere or circle takes at least the share LARGE of the panel's side, or all content together takes at
    least the share FILLED. Guides and labels do not count as content.
    """
    state = state_of(scenes()[slug], {})
    view, progress = state.recipe.views[0].at(state.progress), state.progress
    at = state.recipe.moment(state.params, progress, followed=state.follow)
    seen = [
        mark
        for mark in view.layers
        if not mark.guide and mark.draws != "labels" and mark.opacity_at(progress) > 0
    ]
    flat = [on_paper(view, mark.points(at), view.camera)[0] for mark in seen]
    flat = [each[np.isfinite(each).all(-1)] for each in flat]
    every = np.vstack(flat)
    assert np.abs(every).max() <= 1
    low, high = every.min(0), every.max(0)
    assert np.abs(low + high).max() / 4 <= CENTRED
    whole = (high - low).max() / 2
    heroes = [each for mark, each in zip(seen, flat, strict=True) if mark.role in SPHERE_ROLES and len(each)]
    share = max((np.ptp(each, axis=0).max() / 2 for each in heroes), default=whole)
    assert share >= LARGE or whole >= FILLED
