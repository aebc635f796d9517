"""Which points of a circle or sphere a ReLU layer keeps apart: properties, and comparison with the images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geometry import gates
from geometry.clouds import golden

N = 360
ANGLES = 2 * np.pi * (np.arange(N) + 0.5) / N
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], -1)
NEAR = 1e-9  # tolerance for equal images, relative to their size


def drawn(seed, m=None, n=2):
    rng = np.random.default_rng(seed)
    m = m or int(rng.integers(1, 8))
    return rng.normal(size=(m, n)), rng.normal(size=m) * rng.choice([0, 0.3, 1])


def image(W, b, x):
    return np.maximum(x @ W.T + b, 0)


def met(W, b, x):
    """The fate of a point x of the circle under the ReLU layer max(Wx + b, 0), found by comparing images.

    COLLAPSED if the image of x is 0. Otherwise x is reflected across the line along each row of W: SHARED if
    a reflection of x is another point with the same image, and APART if none is. No further points of the
    circle can have the same image.
    """
    own = image(W, b, x)
    if not own.any():
        return gates.COLLAPSED
    across = [2 * (x @ w) / (w @ w) * w - x for w in W]
    same = [y for y in across if np.abs(image(W, b, y) - own).max() < NEAR and np.abs(y - x).max() > NEAR]
    return gates.SHARED if same else gates.APART


@given(st.integers(0, 10_000))
def test_on_a_circle_fates_are_those_of_the_images(seed):
    W, b = drawn(seed)
    points = CIRCLE[:: N // 24]
    assert gates.fates(W, b, points).tolist() == [met(W, b, x) for x in points]


@given(st.integers(0, 10_000))
def test_shares_of_the_circle_are_those_of_its_points(seed):
    """The exact share of the circle that has a fate is nearly the share of N points that have this fate.

    They differ only by points at the ends of the pieces into which neurons divide the circle. No share is
    negative, and the shares sum to 1.
    """
    W, b = drawn(seed)
    shares = gates.shares(W, b, 1.0)
    counted = np.bincount(gates.fates(W, b, CIRCLE), minlength=3) / N
    assert shares.sum() == pytest.approx(1) and shares.min() >= -NEAR
    assert np.abs(shares - counted).max() <= 4 * (len(gates.breaks(W, b, 1.0)) + 1) / N


@given(st.integers(0, 10_000), st.sampled_from([2, 3]), st.sampled_from([1e-150, 1e-3, 1.0, 1e150]))
def test_neither_size_nor_a_turn_changes_what_meets(seed, n, scale):
    W, b = drawn(seed, n=n)
    x = CIRCLE if n == 2 else golden(N)
    turn = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(n, n)))[0]
    found = gates.fates(scale * W, scale * b, x)
    assert (found == gates.fates(W @ turn, b, x @ turn)).mean() > 1 - 4 / N  # but for edges of pieces
    assert (gates.fates(W, 1e9 + b, x) == gates.APART).all() == (np.linalg.matrix_rank(W) == n)
    assert (gates.fates(W, b - 1e9, x) == gates.COLLAPSED).all()


def test_octants_of_a_sphere():
    """With neurons along the axes, ReLU maps one octant to a point, and three octants to axes.

    On the other four octants, points keep different images: three octants are mapped to planes, and one stays
    as it is.
    """
    x = golden(4000)
    on = (x > 0).sum(-1)
    found = gates.fates(np.eye(3), np.zeros(3), x)
    want = np.array([gates.COLLAPSED, gates.SHARED, gates.APART, gates.APART])[on]
    np.testing.assert_array_equal(found, want)
    np.testing.assert_allclose(np.bincount(found) / 4000, [1 / 2, 3 / 8, 1 / 8], atol=2e-3)


def test_a_point_that_is_its_own_mirror_image_is_apart():
    """Under neurons along x and y, a point with z = 0, up to rounding, is apart.

    Other points share their image with their mirror image (x, y, −z).
    """
    x = np.array([[0.6, 0.8, 0], [0.6, 0.8, 1e-5], [0.6, 0.8, 1e-12], [0.8, 0.6, -0.5]])
    found = gates.fates(np.eye(2, 3), np.zeros(2), x)
    assert found.tolist() == [gates.APART, gates.SHARED, gates.APART, gates.SHARED]


@pytest.mark.parametrize("n", [2, 3])
@given(st.integers(0, 10_000))
def test_mirrored_pairs_keep_all_points_apart(n, seed):
    """Under a ReLU layer with the weights A and −A and without shifts, no two points have the same image.

    Ax can be computed from the image: it is ReLU(Ax) − ReLU(−Ax).
    """
    A = np.random.default_rng(seed).normal(size=(n, n))
    W = np.vstack([A, -A])
    x = CIRCLE if n == 2 else golden(100)
    assert (gates.fates(W, np.zeros(2 * n), x) == gates.APART).all()
    np.testing.assert_allclose(image(W, 0, x) @ np.vstack([np.eye(n), -np.eye(n)]), x @ A.T, atol=1e-12)


@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_pieces_of_a_circle(radius):
    """A neuron without a shift switches on or off at two points of a circle.

    Neurons with parallel weights share these two points. A neuron with a large shift, or with weights 0,
    switches nowhere.
    """
    W, _ = drawn(3, 5)
    assert len(gates.breaks(W, np.zeros(5), radius)) == 10
    assert len(gates.breaks(np.vstack([W, 2 * W, -W]), np.zeros(15), radius)) == 10
    assert len(gates.breaks(W, 9 * radius * np.ones(5), radius)) == 0
    assert len(gates.arcs(W, 9 * radius * np.ones(5), radius)) == 1
    assert len(gates.breaks(np.zeros((2, 2)), np.ones(2), radius)) == 0


@given(st.integers(0, 10_000))
def test_arcs_are_pieces_of_one_pattern(seed):
    W, b = drawn(seed)
    arcs = gates.arcs(W, b, 1.0)
    assert sum(arc.length for arc in arcs) == pytest.approx(2 * np.pi)
    for arc in arcs:
        inside = arc.start + arc.length * np.linspace(0.01, 0.99, 20)
        on = np.stack([np.cos(inside), np.sin(inside)], -1) @ W.T + b > 0
        assert (on == arc.on).all()


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_pieces_of_a_sphere(m):
    """The great circles at which m random neurons switch cut the sphere into m² − m + 2 pieces.

    On each piece another set of neurons is active. The neurons have no shifts.
    """
    W, _ = drawn(5, m, 3)
    assert gates.pattern_entropy(golden(20_000) @ W.T > 0)[0] == m * m - m + 2


@pytest.mark.parametrize("m", [1, 2, 3])
def test_random_neurons_are_all_off_on_a_share_of_two_to_the_minus_m(m):
    """The mean share of the circle on which all m neurons are off is 2⁻ᵐ, within five standard errors."""
    gone = np.array([gates.shares(drawn(k, m)[0], np.zeros(m), 1.0)[gates.COLLAPSED] for k in range(400)])
    assert abs(gone.mean() - 2.0**-m) <= 5 * gone.std() / np.sqrt(len(gone)) + NEAR


def test_entropy():
    assert gates.entropy(np.full(8, 1 / 8)) == 3 and gates.entropy(np.array([1.0, 0.0])) == 0
    assert gates.pattern_entropy(np.array([[True, False], [True, False], [False, False], [True, True]])) == (
        3,
        1.5,
    )


def test_no_points_and_no_neurons():
    W, b = drawn(0)
    assert gates.fates(W, b, np.zeros((0, 2))).shape == (0,)
    assert (gates.fates(np.zeros((0, 2)), np.zeros(0), CIRCLE) == gates.COLLAPSED).all()
    assert (
        gates.fates(np.zeros((1, 2)), np.ones(1), CIRCLE) == gates.COLLAPSED
    ).all()  # active, with weights 0
    np.testing.assert_allclose(gates.shares(np.zeros((1, 2)), np.ones(1), 1.0), [0, 0, 1])
