"""Common parts of scenes: which points are shown, where guides are, and what sliders do to steps."""

import numpy as np
import pytest

from components.language.cloud import Cloud, rows
from components.language.framing.paper import BOX_TO_PICTURE, EYE_DISTANCE
from components.language.marks import Follow, Followed, Labels, Line, Mesh, Points, Trail
from components.scenes import scenery
from geometry import Pipeline

ROUNDING = 1e-12  # double precision
SHOW = rows(np.eye(3))


def run(steps, x, **params):
    return Pipeline(tuple(steps)).stages(np.asarray(x, float), params)[-1]


def test_parts_come_apart_in_their_order():
    one = scenery.draw("one", Line, "axis", SHOW, (np.eye(3), np.arange(3)), size=2)
    two = (Cloud("two", np.eye(3)), *scenery.followed("two", SHOW))
    found, layers = scenery.split(one, two)
    assert [c.name for c in found] == ["one", "two"]
    assert [(x.cloud, type(x)) for x in layers] == [("one", Line), ("two", Trail), ("two", Points)]
    assert layers[0].order.tolist() == [0, 1, 2] and layers[0].size == 2


@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_mean_line_is_the_multiples_of_one(d):
    (line, _), (label, named) = scenery.mean_line(SHOW, d, 2.0, 2.5)
    for x, length in ((line.points, 2.0), (label.points, 2.5)):
        np.testing.assert_allclose(np.ptp(x, axis=1), 0, atol=ROUNDING)
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), length, rtol=ROUNDING)
    assert label.labels == ["𝟏"] and isinstance(named, Labels)


def test_axes_reach_from_low_to_high():
    (lines, _), (labels, _) = scenery.axes(SHOW, "xyz", -1, 2, 2.2)
    assert lines.points.min() == -1 and lines.points.max() == 2 and len(lines.points) == 6
    np.testing.assert_array_equal(labels.points, 2.2 * np.eye(3))


def test_a_globe_has_its_radii_and_its_opacities():
    radii = np.diag([1.0, 2, 3])
    (ball, mesh), (_, net) = scenery.globe(SHOW, radii, mesh=[0.1, 0.2], net=0.4)
    np.testing.assert_allclose(np.linalg.norm(ball.points / [1, 2, 3], axis=1), 1, rtol=ROUNDING)
    assert (mesh.fade, mesh.opacity, net.fade, net.opacity) == ([0.1, 0.2], 1, None, 0.4)
    [(_, invisible), _] = scenery.globe(SHOW, radii, mesh=0)
    assert (invisible.fade, invisible.opacity) == (None, 0)


@pytest.mark.parametrize(("n", "count"), [(1, 7), (2, 7), (7, 7), (8, 7), (10_000, 7), (5, 1)])
def test_evenly_has_no_index_twice(n, count):
    found = scenery.evenly(n, count)
    assert len(found) == min(n, count) and found[0] == 0 and all(0 <= i < n for i in found)
    assert found[-1] == n - 1 or count == 1


@pytest.mark.parametrize("s", [0.0, 1e-4, 0.25, 10.0])
def test_rooted_is_the_square_root_in_all_digits(s):
    got = run(scenery.rooted("s"), [[-1.0], [1.0]], s=s)
    np.testing.assert_allclose(got, [[-np.sqrt(s), -1], [np.sqrt(s), 1]], rtol=ROUNDING)


def test_steps_that_sliders_move():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(run([scenery.scaled(3, "c")], x, c=-2.0), -2 * x)
    np.testing.assert_array_equal(run(scenery.rest(3, 2), x), x)
    assert float(scenery.slider("eps").value({"eps": 0.5})) == 0.5


def test_angle_is_counted_from_the_first_axis():
    color = scenery.angle(np.array([[1.0, 0], [0, 2], [-3, 0], [0, -1]]))
    np.testing.assert_allclose(color.of, np.pi * np.array([0, 0.5, 1, -0.5]))
    assert (color.low, color.high) == (-np.pi, np.pi)


def test_many_points_are_drawn_small():
    few, many = (scenery.clickable_points(Cloud("c", np.zeros((n, 3))), SHOW, None)[0] for n in (10, 5000))
    assert few.size > many.size and few.hand == many.hand == Follow()


def test_a_space_has_room_and_its_camera_a_distance_of_its_own():
    view = scenery.space("s", "", (), camera=(3, 0, 4), reach=2.0)
    assert view.ranges == ((-2 * BOX_TO_PICTURE, 2 * BOX_TO_PICTURE),) * 3
    assert view.camera == pytest.approx(np.array([0.6, 0, 0.8]) * EYE_DISTANCE / 2 / BOX_TO_PICTURE)
    assert scenery.space("s", "", ()).ranges == ()  # ranges are computed when the recipe is finished


def test_the_same_layers_from_another_side_keep_their_stages():
    now, before, flat = rows(np.eye(3)), rows(np.eye(3), stage=0), rows(np.eye(2, 3))
    ball = Mesh("a", "sphere", now, triangles=np.array([[0, 1, 2]]))
    layers = (ball, Line("a", "axis", now, "now"), Points("b", "input", before))
    line, points = scenery.seen(layers, flat, title="")
    assert (line.rows, line.title, points.rows) == (flat, "", rows(np.eye(2, 3), stage=0))
    assert len(scenery.seen(layers, now)) == 3


def test_a_wall_holds_the_shadow():
    (x, y, z), (cloud, edge) = scenery.wall(SHOW, 1, -1.5, half=2)
    assert (x, z) == (SHOW[0], SHOW[2]) and (tuple(y.weights), y.offset) == ((0.0,), -1.5)
    corners = cloud.points[edge.order]
    assert edge.rows == (x, y, z) and not cloud.points[:, 1].any() and (abs(corners[:, [0, 2]]) == 2).all()
    assert (abs(np.diff(corners, axis=0)).sum(1) == 4).all() and (corners[0] == corners[-1]).all()


def test_lines_have_the_order_of_their_shapes():
    shapes = {"a": (np.eye(3), np.arange(3)), "b": (np.eye(3), np.array([2, -1, 0]))}
    found = scenery.lines({"b": "axis", "a": "input"}, SHOW, shapes, size=2)
    assert [(x.cloud, x.role, x.size, x.order.tolist()) for x in found] == [
        ("b", "axis", 2, [2, -1, 0]),
        ("a", "input", 2, [0, 1, 2]),
    ]


def test_each_class_has_its_points():
    cold, hot = scenery.each_class("c", Points, SHOW, np.array([0, 1, 1, 0]), ("cold", "hot"), size=3)
    assert (cold.only, hot.only, cold.title, hot.title) == ([0, 3], [1, 2], "cold", "hot")
    assert cold.role != hot.role and cold.size == hot.size == 3


def test_beads_can_be_followed():
    points, mark = scenery.beads("c", SHOW, only=[0, 2], size=4, mark=9)
    assert (points.only, points.size, mark.only, mark.size) == ([0, 2], 4, Followed(), 9)


def test_a_plane_has_one_scale_and_a_graph_its_own():
    plane = scenery.square("p", "", (), 2.5, strip=True)
    assert (plane.dims, plane.ranges, plane.equal, plane.strip) == (2, ((-2.5, 2.5),) * 2, True, True)
    assert not scenery.graph("g", "", (), ("x", 0, 1), ("y", 0, 2)).equal


def test_root_mean_square_takes_epsilon_from_its_slider():
    x = np.random.default_rng(0).normal(size=(5, 4))
    square = np.mean(x**2, axis=1, keepdims=True)
    np.testing.assert_allclose(run(scenery.root_mean_square(4), x), np.sqrt(square), rtol=ROUNDING)
    with_eps = run(scenery.root_mean_square(4, "eps"), x, eps=0.3)
    np.testing.assert_allclose(with_eps, np.sqrt(square + 0.3), rtol=ROUNDING)
