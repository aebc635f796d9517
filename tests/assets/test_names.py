"""Labels beside marks: the marks' pixels, and where there is room."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.drawing.figure import figure
from components.drawing.projection import project
from components.drawing.still import svg
from components.language.packing import packed
from components.language.recipe import View, Wider, identity_zoom
from components.language.scene import scenes
from components.training.recipes import recipe_of, state_of

RNG = np.random.default_rng(4)
SINGLE = 2e-3  # in pixels: rounding of coordinates of some hundreds to single precision
CAMERAS = [(1.0, -0.8, 0.4), (-0.3, 2.0, -1.0), (0.0, 0.0, 1.5), (0.6, 0.2, 0.3, 0.1, -0.2, 0.05)]


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize("size", [(600, 400), (300, 700)])
def test_points_are_where_python_has_them(node, camera, size):
    ranges = ((-2.0, 2.0), (-1.0, 3.0), (0.0, 4.0))
    points = RNG.uniform(-1, 1.5, size=(50, 3)).astype(np.float32)
    sees = {"eye": camera[:3], "center": camera[3:] or (0, 0, 0)}
    got = node.ask("flat", points=points.ravel().tolist(), ranges=ranges, camera=sees, size=size)
    want, _ = project(View("v", "", (), ranges), points.astype(float), camera, size)
    np.testing.assert_allclose(np.reshape(got, (-1, 2)), want + np.array(size) / 2, rtol=1e-5, atol=SINGLE)


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize("size", [(600, 400), (300, 700)])
def test_a_pixel_is_lifted_onto_the_plane_that_faces_the_camera(node, camera, size):
    """A pixel is lifted to the point in space that is seen there, at the depth of the dragged point."""
    ranges = ((-2.0, 2.0), (-1.0, 3.0), (0.0, 4.0))
    low, high = np.array(ranges).T
    sees = {"eye": camera[:3], "center": camera[3:] or (0, 0, 0)}
    eye, center = np.array(camera[:3]), np.array(camera[3:] or (0, 0, 0))
    forward = (center - eye) / np.linalg.norm(center - eye)
    at = np.array([0.3, 0.8, 1.5])

    def depth(point):
        return ((np.array(point) - low) / (high - low) - 0.5 - eye) @ forward

    for pixel in RNG.uniform(0, 1, size=(10, 2)) * size:
        point = node.ask(
            "lifted", pixel=pixel.tolist(), at=at.tolist(), ranges=ranges, camera=sees, size=size
        )
        assert depth(point) == pytest.approx(depth(at))
        seen, _ = project(View("v", "", (), ranges), np.array([point]), camera, size)
        np.testing.assert_allclose(seen[0] + np.array(size) / 2, pixel, atol=SINGLE)


SAME = identity_zoom(3)
STAGES = ((1.0, 0, 0, 0), (2.5, 3.0, -1.0, 0.5), (0.7, 0, 0, 2.0))
WIDER = (
    Wider(("a",), False, (-1.0, 0.0, 4.0), (STAGES, (SAME,) * 3, STAGES[::-1])),
    Wider(("b",), True, (0.01, 1.0, 100.0), ((SAME,) * 3, (SAME,) * 3, (SAME, (4.0, -1.0, 2.0, 0), SAME))),
    Wider(("a", "b"), False, (0.0, 28.0), ((SAME,) * 3, STAGES)),
)


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize(
    ("zooms", "wider"),
    [
        ((), ()),
        (STAGES, ()),
        ((STAGES[1],), ()),
        (STAGES, WIDER),
        ((), WIDER),
        ((), WIDER[:1]),
        ((), WIDER[1:]),
    ],
)
def test_axes_end_where_python_has_them(node, zooms, wider, dims):
    ranges = ((-2.0, 2.0), (-1.0, 3.0), (0.0, 4.0))[:dims]
    zooms = [row[: dims + 1] for row in zooms]
    wider = [replace(w, zooms=[[row[: dims + 1] for row in stop] for stop in w.zooms]) for w in wider]
    view, sent = View("v", "", (), ranges, dims, zooms=zooms, wider=wider), [packed(each) for each in wider]
    for progress in (0, 0.25, 1, 1.8, 2):
        for a, b in ((0, 1), (-1, 1), (-2, 0), (1.5, 0.01), (4, 7), (5, 100)) if wider else ((0, 1),):
            shown = {"ranges": ranges, "zooms": zooms, "wider": sent}
            got = node.ask("widened", view=shown, progress=progress, params={"a": a, "b": b})
            np.testing.assert_allclose(
                got, view.at(progress, {"a": a, "b": b}).ranges, rtol=1e-12, atol=1e-12
            )


def test_names_of_axes_are_gone_where_they_would_be_at_one_place(node):
    """Labels of axes are hidden at stages with axes so wide that all labels would be near the origin.

    In the scene `depth` without a norm, they are hidden at stage 12, but not with small branches (gain 0.2).
    The browser and Python hide the same labels.
    """
    recipe = recipe_of(scenes()["depth"], norm="none")
    cases = [({"gain": gain}, stage / 2) for gain in (0.2, 1, 2) for stage in range(25)]
    found = node.ask("opacities", recipe=packed(recipe), cases=cases)
    for (params, progress), opacities in zip(cases, found, strict=True):
        for view, got in zip(recipe.views, opacities, strict=True):
            want = [view.opacity_of(mark, progress, params) for mark in view.layers]
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    view = recipe.views[0]
    (names,) = (mark for mark in view.layers if mark.draws == "labels")
    own = [view.opacity_of(names, stage, {"gain": gain}) for gain, stage in ((1, 3), (1, 12), (0.2, 12))]
    assert own == [1, 0, 1]
    states = [state_of(scenes()["depth"], {"norm": "none", "progress": k}) for k in ("3", "12")]
    assert ["x₁" in svg(recipe, state) for state in states] == [True, False]
    shown = {trace.opacity for trace in figure(recipe, progress=12).data if trace.mode == "text"}
    assert shown == {0}


pixel = st.floats(0, 400, width=32)  # in float32, as the pixels of points are
cloud = st.lists(st.tuples(pixel, pixel), min_size=1, max_size=40)


@given(
    things=st.lists(cloud, min_size=1, max_size=6),
    sizes=st.lists(st.tuples(st.floats(20, 160), st.floats(10, 20)), min_size=6, max_size=6),
    crowd=cloud,
    taken=st.lists(st.tuples(pixel, pixel, st.floats(1, 200), st.floats(1, 200)), max_size=3),
)
def test_no_name_is_over_a_point_or_another_or_outside(node, things, sizes, crowd, taken):
    flat, room = [np.ravel(each).tolist() for each in things], (0, 0, 400, 400)
    crowd = [*crowd, *(point for thing in things for point in thing)]
    found = node.ask(
        "named", sizes=sizes[: len(flat)], things=flat, room=room, taken=taken, crowd=np.ravel(crowd).tolist()
    )
    boxes = [box for box in found if box]
    for k, (x, y, wide, tall) in enumerate(boxes):
        assert x >= 0 and y >= 0 and x + wide <= 400 and y + tall <= 400
        assert not any(x < u < x + wide and y < v < y + tall for u, v in crowd)
        for u, v, broad, high in [*taken, *boxes[:k]]:
            assert x >= u + broad or u >= x + wide or y >= v + high or v >= y + tall


def test_where_there_is_room_each_thing_has_its_name_beside_it(node):
    """If there is room, the label of a ring and the label of a line across it are each near their mark."""
    turn = np.linspace(0, 2 * np.pi, 60)
    ring = 200 + 100 * np.column_stack([np.cos(turn), np.sin(turn)])
    line = np.column_stack([np.full(40, 200.0), np.linspace(60, 340, 40)])
    flat = [ring.ravel().tolist(), line.ravel().tolist()]
    asked = {"sizes": [(60, 15), (80, 15)], "things": flat, "room": (0, 0, 400, 400), "taken": []}
    found = node.ask("named", **asked, crowd=flat[0] + flat[1])
    assert all(found)
    for (x, y, wide, tall), thing in zip(found, (ring, line), strict=True):
        nearest = np.clip(thing, [x, y], [x + wide, y + tall])
        assert np.linalg.norm(nearest - thing, axis=1).min() < 12


@pytest.mark.parametrize("radius, gap", [(0, 6), (3, 6), (9, 12), (27, 30)])
@pytest.mark.parametrize("own", [True, False])
def test_a_name_is_beside_the_point_that_it_names_however_large_that_is(node, radius, gap, own):
    """A label is `gap` pixels from the middle of a point, so that it is outside the point's disc.

    radius: the radius of this disc in pixels. own: if true, the label names the point itself; otherwise the
    label names a line that ends in this point, and the disc is drawn by another mark.
    """
    asked = {"sizes": [(60, 15)], "things": [[200, 200]], "room": (0, 0, 400, 400), "taken": [], "crowd": []}
    large = {"radius": radius} if own else {"discs": [(200, 200, radius), (200, 210, 90)]}
    [(x, y, wide, tall)] = node.ask("named", **asked, **large)
    near = np.clip([200, 200], [x, y], [x + wide, y + tall])
    assert np.abs(near - 200).max() == pytest.approx(gap)


def test_names_keep_off_large_points_of_marks_with_few_points(node):
    crowd, few = np.ravel(RNG.uniform(0, 400, (61, 2))).tolist(), [10, 20, None, None, 30, 40]
    assert node.ask("largePoints", at=few, radius=5) == [[10, 20, 5], [30, 40, 5]]
    assert node.ask("largePoints", at=few, radius=4) == node.ask("largePoints", at=crowd, radius=9) == []


@pytest.mark.parametrize(
    "line, visible",
    [
        ([10, 10, 60, 10], True),  # horizontal
        ([10, 10, 10, 60], True),
        ([10, 10, 11, 11], False),  # an arrow of length 0
        ([10, -50, 90, -50], False),  # above the panel
        ([-500, 50, 500, 50], True),  # through it
        ([None, None, 10, 10, 60, 60], True),
        ([None, None], False),
    ],
)
def test_a_line_that_cannot_be_seen_gets_no_label(node, line, visible):
    assert node.ask("lineVisible", pixels=line, room=[0, 0, 100, 100]) is visible


@pytest.mark.parametrize(
    ("frames", "still"),
    [
        ([[10, 10, 60, 10]], True),
        ([[10, 10, None, None], [10.2, 10, None, None]], True),
        ([[10, 10, 60, 10], [10, 10, 61, 10]], False),
        ([[10, 10, 60, 10], [10, 10, None, None]], False),
        ([[10, 10, None, None], [10, 10, 60, 10]], False),
        ([[10, 10, 60, 10], [10, 10]], False),
        ([[10, 10], [10, 10], [30, 10]], False),
    ],
)
def test_a_mark_is_still_if_its_points_are_the_same_in_all_frames(node, frames, still):
    assert node.ask("unmoved", frames=frames) is still
