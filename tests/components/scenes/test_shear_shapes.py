"""Points and lines of the scene `shear` lie on the halves of the sphere and on the faces of the cube."""

import numpy as np
import pytest

from components.scenes.shear import shapes
from geometry.clouds import graticule

ROUNDING = 1e-12  # double precision through a sine and a sum


@pytest.mark.parametrize("signs", [[1], [-1], [1, -1]])
def test_half_lattice_lies_on_its_halves(signs):
    x = shapes.half_lattice(signs)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, rtol=ROUNDING)
    parts = np.split(x, len(signs))
    for sign, half in zip(signs, parts, strict=True):
        assert (sign * half[:, 2] > 0.3).all()
        np.testing.assert_array_equal(half[:, :2], parts[0][:, :2])
        np.testing.assert_allclose(half[len(half) // 2], [0, 0, sign], rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("sign", [1, -1])
def test_half_net_stands_over_straight_lines_from_rim_to_rim(sign):
    points, order = shapes.half_net(sign)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=ROUNDING)
    assert (sign * points[:, 2] >= -ROUNDING).all() and (order < 0).sum() == 13
    for lines, axis in zip(points.reshape(2, 7, 49, 3), (0, 1), strict=True):
        np.testing.assert_allclose(np.ptp(lines[..., axis], axis=1), 0, atol=ROUNDING)
        np.testing.assert_allclose(lines[:, [0, -1], 2], 0, atol=ROUNDING)


@pytest.mark.parametrize("sign", [1, -1])
def test_face_net_lies_on_its_face(sign):
    points, order = shapes.face_net(0.75, sign)
    np.testing.assert_allclose(points[:, 2], 0.75 * sign, rtol=ROUNDING)
    ends = points.reshape(14, 2, 3)
    assert np.abs(points[:, :2]).max() == 0.75 and (order < 0).sum() == 13
    np.testing.assert_allclose(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), 1.5, rtol=ROUNDING)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_two_sides_of_a_line_make_the_whole(axis):
    line = graticule(meridians=4, parallels=4, fine=16)
    points, order = line
    above, below = (shapes.side(line, axis, sign) for sign in (1, -1))
    np.testing.assert_array_equal(np.maximum(above, below), order)
    both = (above >= 0) & (below >= 0)
    np.testing.assert_allclose(points[order[both], axis], 0, atol=1e-9)
    assert (points[above[above >= 0], axis] > -1e-9).all() and (points[below[below >= 0], axis] < 1e-9).all()
