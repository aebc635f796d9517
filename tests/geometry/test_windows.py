"""Windows over axes: shares that sum to 1, separate blocks at overlap 0, and SciPy's integrals."""

import numpy as np
import pytest
from scipy.integrate import quad

from geometry.windows import SHAPES, windows

CUTS = [(4, 1), (4, 2), (4, 4), (6, 3), (16, 4), (32, 4)]
OVERLAPS = (0.0, 0.3, 0.5, 1.0)
ROUNDING = 1e-14
QUADRATURE = 1e-7  # SciPy's, of functions with corners
HEIGHT = {
    "box": lambda t: 1.0,
    "triangle": lambda t: 1 - abs(t),
    "sine": lambda t: np.cos(np.pi * t / 2) ** 2,
}
EVERY = pytest.mark.parametrize("shape", SHAPES)


@EVERY
@pytest.mark.parametrize(("d", "heads"), CUTS)
def test_shares_sum_to_1(shape, d, heads):
    at = np.linspace(0.5, d + 0.5, 8 * d + 1)
    for overlap in OVERLAPS:
        found = windows(at, d, heads, overlap, shape=shape)
        assert found.shape == (heads, len(at)) and (found >= 0).all()
        np.testing.assert_allclose(found.sum(0), 1, atol=ROUNDING)


@EVERY
@pytest.mark.parametrize(("d", "heads"), CUTS)
def test_overlap_0_is_the_cut_of_multi_head_attention(shape, d, heads):
    found = windows(np.arange(1, d + 1), d, heads, 0.0, shape=shape)
    np.testing.assert_allclose(found, np.repeat(np.eye(heads), d // heads, axis=1), atol=ROUNDING)


@EVERY
def test_the_next_head_sees_the_same_further_on(shape):
    found = windows(np.arange(1, 17), 16, 4, 0.7, shape=shape)
    for h in range(1, 4):
        np.testing.assert_allclose(found[h], np.roll(found[0], 4 * h), atol=ROUNDING)
    np.testing.assert_allclose(found[0, :4], found[0, 3::-1], atol=ROUNDING)  # and each is symmetric


@EVERY
def test_what_is_over_an_axis(shape):
    """A head's weight for axis i is proportional to the integral of its bump function from i − ½ to i + ½.

    SciPy computes the integrals. Divided by their sum over all heads, they are the weights.
    """
    d, heads, overlap = 12, 3, 0.6
    half, middles = 2 * (1 + overlap), (2.5, 6.5, 10.5)

    def over(axis, middle):
        def window(u):
            t = ((u - middle + d / 2) % d - d / 2) / half
            return HEIGHT[shape](t) if abs(t) < 1 else 0.0

        corners = sorted({(middle + k * half - axis + d / 2) % d - d / 2 + axis for k in (-1, 0, 1)})
        points = [c for c in corners if abs(c - axis) < 0.5]
        return quad(window, axis - 0.5, axis + 0.5, points=points or None)[0]

    found = windows(np.arange(1, d + 1), d, heads, overlap, shape=shape)
    for axis in range(1, d + 1):
        each = np.array([over(axis, middle) for middle in middles])
        np.testing.assert_allclose(found[:, axis - 1], each / each.sum(), atol=QUADRATURE)


def test_two_boxes_that_overlap_wholly_are_one():
    np.testing.assert_allclose(windows(np.arange(1, 9), 8, 2, 1.0, shape="box"), 0.5, atol=ROUNDING)


@pytest.mark.parametrize(
    "wrong", [{"shape": "round"}, {"overlap": 1.1}, {"overlap": -0.1}, {"heads": 3}, {"heads": 0}]
)
def test_what_is_no_window(wrong):
    options = {"heads": 2, "overlap": 0.5, "shape": "box"} | wrong
    with pytest.raises(ValueError, match="heads that divide the axes: got"):
        windows(np.arange(1, 5), 4, options["heads"], options["overlap"], shape=options["shape"])
