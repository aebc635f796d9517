"""What LayerNorm forgets: each half-plane goes to one point; Π is a projection."""

from fractions import Fraction

import numpy as np
import pytest

from components.scenes.fibre import SCENE
from components.scenes.fibre.build import PI
from geometry import layer_norm
from geometry.centering import hyperplane_basis

FIBRE = 1e-12  # double precision: a sum, a root and a division
ANGLES = (0.0, 1.0, 12.0, 100.0, 359.0, 360.0)  # on the knots of the track and between them
RECIPE = SCENE.recipe()


def stages(cloud, **params):
    return RECIPE.cloud(cloud).stages(RECIPE.defaults | params)


@pytest.mark.parametrize("phi", ANGLES)
def test_half_a_plane_goes_to_one_point(phi):
    plus = stages("image", phi=phi)[-1][0]
    assert np.linalg.norm(plus) == pytest.approx(np.sqrt(3), abs=FIBRE)
    for name, image in (("input", plus), ("other", -plus)):
        start, *_, twice = stages(name, phi=phi)
        np.testing.assert_allclose(twice, np.broadcast_to(image, twice.shape), rtol=0, atol=FIBRE)
        np.testing.assert_allclose(layer_norm(start, eps=0.0), twice, rtol=0, atol=FIBRE)


@pytest.mark.parametrize("phi", (0.0, 60.0, 99.0))
def test_v_turns_by_the_angle(phi):
    at = hyperplane_basis(3) @ stages("image", phi=phi)[-1][0] / np.sqrt(3)
    want = (np.cos(np.radians(phi)), np.sin(np.radians(phi)))
    np.testing.assert_allclose(at, want, rtol=0, atol=FIBRE)


@pytest.mark.parametrize("b", (-0.8, 0.0, 0.5))
@pytest.mark.parametrize("c", (-1.5, -0.2, 0.01, 1.5))
def test_motion_along_the_fibre_leaves_the_output(c, b):
    start, *_, out = stages("point", c=c, b=b)
    np.testing.assert_allclose(start, c * stages("point", c=1.0, b=0.0)[0] + b, rtol=0, atol=FIBRE)
    np.testing.assert_allclose(out, np.sign(c) * stages("point", c=1.0, b=0.0)[-1], rtol=0, atol=FIBRE)


@pytest.mark.parametrize("cloud", ("input", "other", "point"))
def test_a_second_layer_norm_leaves_everything(cloud):
    _, _, once, _, twice = stages(cloud)
    np.testing.assert_allclose(twice, once, rtol=0, atol=FIBRE)


@pytest.mark.parametrize("phi", ANGLES)
def test_without_direction_a_point_stays_at_the_origin(phi):
    for stage in stages("nowhere", phi=phi)[1:]:
        np.testing.assert_array_equal(stage, 0)
    np.testing.assert_array_equal(stages("point", phi=phi, c=0.0, b=0.5)[-1], 0)


def test_the_table_is_the_matrix_and_its_eigenvalues():
    *table, eigenvalues, vectors = RECIPE.facts.rows
    got = [[float(Fraction(word.replace("−", "-"))) for word in row[1:]] for row in table]
    np.testing.assert_allclose(got, PI, rtol=0, atol=FIBRE)
    for value, vector in zip(eigenvalues[1:], vectors[1:], strict=True):
        v = np.array([float(n) for n in vector.replace("−", "-").strip("()").split(",")])
        np.testing.assert_allclose(PI @ v, float(value) * v, rtol=0, atol=FIBRE)


def test_the_axes_fall_apart_by_equal_angles():
    recipe = SCENE.recipe(show="axes")
    once, twice = recipe.cloud("axes").stages(recipe.defaults)[1:]
    e = once[1::2]
    gram = e @ e.T / (e[0] @ e[0])
    np.testing.assert_allclose(gram, 1.5 * np.eye(3) - 0.5, rtol=0, atol=FIBRE)
    np.testing.assert_allclose(twice, once, rtol=0, atol=FIBRE)
    np.testing.assert_allclose(recipe.cloud("one").stages(recipe.defaults)[-1], 0, rtol=0, atol=FIBRE)
