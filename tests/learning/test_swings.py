import numpy as np
import pytest

from geometry.sphere import to_sphere
from learning.network import Network, initial
from learning.swings import swing, turns

NET = Network(3, 3, 2, 1)
NEAR = 1e-3  # degrees: the arc cosine near 1 has half the digits
POINTS = to_sphere(np.random.default_rng(0).normal(size=(30, 3)))


def about_z(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def weights(*turned):
    """Flat weights of a network whose layers rotate about z by these angles (degrees), without shifts."""
    flat = [np.append(about_z(each).ravel(), np.zeros(3)) for each in turned]
    return np.concatenate([*flat, [0, 0, 1, 0]])


def test_points_turn_with_the_weights_and_on_with_the_layers():
    equator = to_sphere(POINTS * [1, 1, 0])
    found = turns(NET, weights(0, 0), weights(30, 80), equator)
    np.testing.assert_allclose(found, [[30] * 30, [110] * 30], atol=NEAR)
    fold = swing(NET, weights(0, 0), weights(30, 80), equator)
    assert fold.layer == 2 and list(fold.points) == list(range(30))


def test_without_a_change_nothing_turns():
    same = initial(NET, [0])[0]
    assert turns(NET, same, same, POINTS).max() < NEAR and not len(swing(NET, same, same, POINTS).points)


def test_a_fold_that_passes_a_point_turns_that_point_alone():
    """If a change of a shift moves one of three points past the origin, only this point turns far."""
    x = np.array([[-1.0, 0.01, 0], [0.0, 0.01, 0], [1.0, 0.01, 0]])
    before, after = weights(0, 0), weights(0, 0)
    before[9], after[9] = -0.5, 0.5
    fold = swing(NET, before, after, x)
    assert fold.layer == 1 and list(fold.points) == [1]


def test_the_length_of_a_point_does_not_matter():
    one, other = initial(NET, [0, 1])
    one[9:12] = other[9:12] = 0  # no shift: rays stay rays up to the first sphere
    np.testing.assert_allclose(
        turns(NET, one, other, POINTS)[0], turns(NET, one, other, 9 * POINTS)[0], atol=NEAR
    )


@pytest.mark.parametrize("middle", ["tanh", "relu", "none"])
def test_without_a_sphere_there_is_no_swing(middle):
    net = Network(3, 3, 2, 1, middle)
    assert swing(net, *initial(net, [0, 1]), POINTS) is None
