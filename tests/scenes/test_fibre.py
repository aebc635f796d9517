"""The scene `fibre`: LayerNorm sends each half-plane that ends at the line along 𝟏 to one point.

The matrix Π of its centring is a projection.
"""

from fractions import Fraction

import numpy as np
import pytest

from components.scenes.fibre import SCENE
from components.scenes.fibre.build import PI
from components.training.recipes import recipe_of
from geometry import layer_norm
from geometry.centering import hyperplane_basis
from tests.scenes.claims import said, stop

FIBRE = 1e-12  # double precision: a sum, a root and a division
ANGLES = (0.0, 1.0, 12.0, 100.0, 359.0, 360.0)  # on the knots of the track and between them
RECIPE = recipe_of(SCENE)


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
    recipe = recipe_of(SCENE, show="axes")
    once, twice = recipe.cloud("axes").stages(recipe.defaults)[1:]
    e = once[1::2]
    gram = e @ e.T / (e[0] @ e[0])
    np.testing.assert_allclose(gram, 1.5 * np.eye(3) - 0.5, rtol=0, atol=FIBRE)
    np.testing.assert_allclose(twice, once, rtol=0, atol=FIBRE)
    np.testing.assert_allclose(recipe.cloud("one").stages(recipe.defaults)[-1], 0, rtol=0, atol=FIBRE)


# --- what the text says

ROOT = np.sqrt(3)
HALVES = (("input", 1), ("other", -1))


def at(title, cloud):
    """The positions of a cloud at a stop."""
    state = stop("fibre", title)
    return state.recipe.cloud(cloud).at(state.params, state.progress)


def v_at(phi):
    """The unit vector v at the angle phi (in degrees): LayerNorm sends this angle's half-plane to √3·v."""
    return stages("image", phi=phi)[-1][0] / ROOT


def half_a_plane():
    for phi in ANGLES:
        test_half_a_plane_goes_to_one_point(phi)


def the_plane():
    for phi in ANGLES:
        for name, sign in HALVES:
            alpha = stages(name, phi=phi)[0] @ v_at(phi)
            assert (sign * alpha > 0).all()
        assert abs(v_at(phi).sum()) < FIBRE and np.linalg.norm(v_at(phi)) == pytest.approx(1)
        np.testing.assert_allclose(stages("nowhere", phi=phi)[0] @ v_at(phi), 0, atol=FIBRE)


def two_steps_twice():
    assert len(RECIPE.stages) - 1 == 2 + 2
    for cloud in ("input", "other", "point"):
        _, _, once, again, twice = stages(cloud)
        np.testing.assert_allclose(np.linalg.norm(once, axis=1), ROOT, atol=FIBRE)
        np.testing.assert_allclose([again, twice], [once, once], atol=FIBRE)
    half_a_plane()


def how_far_the_output_is():
    (residual,) = RECIPE.readouts
    for phi in ANGLES:
        for c in (0.2, 1.5):
            a, b = (stages(name, phi=phi, c=c, b=0.5)[-1] for name in (residual.a, residual.b))
            np.testing.assert_allclose(b[0], ROOT * v_at(phi), atol=FIBRE)
            np.testing.assert_allclose(a, b, atol=FIBRE)


def the_matrix():
    np.testing.assert_allclose(PI, np.eye(3) - np.ones((3, 3)) / 3, atol=FIBRE)
    x = np.array([[5.0, 8, 2], [1, 1, 1]])
    np.testing.assert_allclose(x @ PI, x - x.mean(1, keepdims=True), atol=FIBRE)


def only_the_sign():
    for phi in ANGLES:
        v = v_at(phi)
        for alpha, mu in ((0.1, 3.0), (-2.0, 0.5), (4.0, -1.0)):
            np.testing.assert_allclose(PI @ (alpha * v + mu), alpha * v, atol=FIBRE)
            got = layer_norm(alpha * v + mu, eps=0.0)
            np.testing.assert_allclose(got, ROOT * np.sign(alpha) * v, atol=1e-9)


def the_fibre():
    x = np.array([5.0, 8, 2])
    for c in (0.1, 3.0, -0.1, -3.0):
        for b in (-2.0, 0.0, 0.7):
            np.testing.assert_allclose(
                layer_norm(c * x + b, eps=0), np.sign(c) * layer_norm(x, eps=0), atol=1e-9
            )


def no_direction():
    for phi in ANGLES:
        test_without_direction_a_point_stays_at_the_origin(phi)


def the_eigenvalues():
    np.testing.assert_allclose(np.linalg.eigvalsh(PI), [0, 1, 1], atol=FIBRE)
    np.testing.assert_allclose(PI @ np.ones(3), 0, atol=FIBRE)
    np.testing.assert_allclose(np.diag(PI), 2 / 3)
    np.testing.assert_allclose(PI[~np.eye(3, dtype=bool)], -1 / 3)


def two_colours():
    sides = [np.sign(at("A plane of vectors", name) @ v_at(12.0)) for name, _ in HALVES]
    assert [set(side) for side in sides] == [{1.0}, {-1.0}]


def two_places():
    for name, sign in HALVES:
        images = at("Lengths are lost", name)
        np.testing.assert_allclose(images, np.tile(sign * ROOT * v_at(12.0), (len(images), 1)), atol=FIBRE)
    np.testing.assert_array_equal(at("Lengths are lost", "nowhere"), 0)


def the_output_stays():
    state = stop("fibre", "Along the fibre")
    for c in (0.01, state.params["c"], 1.5):
        for b in (-0.8, state.params["b"]):
            np.testing.assert_allclose(stages("point", c=c, b=b)[-1][0], ROOT * v_at(12.0), atol=1e-9)


def to_the_opposite_point():
    assert stop("fibre", "Along the fibre").params["c"] > 0 > stop("fibre", "Through zero").params["c"] == -1
    np.testing.assert_allclose(at("Through zero", "point")[0], -ROOT * v_at(12.0), atol=FIBRE)
    start = stages("point", c=-1.0, b=0.3)[0]
    assert (start @ v_at(12.0) < 0).all()
    jump = stages("point", c=-1e-6)[-1] - stages("point", c=1e-6)[-1]
    assert np.linalg.norm(jump) == pytest.approx(2 * ROOT)


def two_images():
    for phi in ANGLES:
        plus, minus = (stages(name, phi=phi)[-1][0] for name, _ in HALVES)
        np.testing.assert_allclose([plus, minus], [ROOT * v_at(phi), -ROOT * v_at(phi)], atol=FIBRE)


def the_last_two_rows():
    state = stop("fibre", "Once more")
    assert state.progress == 4 == len(state.recipe.stages) - 1
    rows = state.recipe.cloud("point").stages(state.params)
    np.testing.assert_allclose([rows[3], rows[4]], [rows[2], rows[2]], atol=FIBRE)


def three_axes():
    state = stop("fibre", "What Π does to the axes")
    e = state.recipe.cloud("axes").at(state.params, 1)[1::2]
    cosines = (e @ e.T / (e[0] @ e[0]))[~np.eye(3, dtype=bool)]
    np.testing.assert_allclose(np.degrees(np.arccos(cosines)), 120)
    assert len(e) == 3
    cube = state.recipe.cloud("cube").at(state.params, 1)
    corners = np.unique((cube @ hyperplane_basis(3).T).round(9), axis=0)
    far = np.linalg.norm(corners, axis=1)
    assert np.isclose(far, far.max()).sum() == 6  # and two fall into the middle
    v = state.recipe.cloud("v").stages(state.params)
    np.testing.assert_allclose(v[1], v[0], atol=FIBRE)


def the_same_output():
    x = np.array([[5.0, 8, 2], [1, 2, 0]])
    np.testing.assert_allclose(x @ PI, [[0, 3, -3], [0, 1, -1]], atol=FIBRE)
    one, other = layer_norm(x, eps=0.0)
    np.testing.assert_allclose(one, other, atol=FIBRE)
    np.testing.assert_allclose(one, np.sqrt(3 / 2) * np.array([0, 1, -1]), atol=FIBRE)
    said(one[1], "1.225")
    said(-one[2], "1.225")


def one_angle():
    outputs = layer_norm(np.random.default_rng(0).standard_normal((200, 3)), eps=0.0)
    np.testing.assert_allclose(np.linalg.norm(outputs, axis=1), ROOT, atol=FIBRE)
    np.testing.assert_allclose(
        [outputs.sum(1), outputs.std(1) - 1], 0, atol=1e-9
    )  # all have mean 0 and deviation 1
    assert np.diff(np.sort(np.arctan2(*(outputs @ hyperplane_basis(3).T).T))).max() < 0.3


def the_plane_is_a_line():
    for name in ("input", "other", "nowhere"):
        fallen = at("Heights are lost", name)
        np.testing.assert_allclose(fallen.sum(1), 0, atol=FIBRE)
        assert np.linalg.matrix_rank(fallen, tol=1e-9) <= 1


CLAIMS = {
    "# What LayerNorm forgets Half a plane of vectors goes to one point.": half_a_plane,
    r"The orange line holds the multiples of $𝟏 = (1, 1, 1)$ and stands upright.": no_direction,
    r"$$x = \alpha v + \mu 𝟏$$ where $\mu$ is the mean of $x$. Blue points have $\alpha > 0$, pink points $\alpha < 0$.": the_plane,
    r"LayerNorm takes two steps. **centre** lets every point fall along the orange line. **sphere** moves each point straight away from the origin, or towards it, until its distance from the origin is $\sqrt 3$. Then all blue points are in one place, $\sqrt 3\, v$, and all pink points in the opposite place, $-\sqrt 3\, v$. The next two steps are a second LayerNorm. Nothing moves.": two_steps_twice,
    r"The orange points have $\alpha = 0$.": the_plane,
    r"The number in the corner of the picture is the distance of the output from $\sqrt 3\, v$.": how_far_the_output_is,
    r"As a matrix it is $\Pi = I - \frac{1}{d} 𝟏𝟏^\top$.": the_matrix,
    r"Normalising then divides by the length $|\alpha|$, if $v$ has length 1": only_the_sign,
    r"all $c x + b 𝟏$ with $c > 0$.": the_fibre,
    r"$\mathrm{LN}(c x) = \mathrm{LN}(x)$ for $c > 0$; for $c < 0$ the sign changes, and $x$ goes to the opposite point.": the_fibre,
    r"For $\alpha = 0$ the formula would be $0/0$. Here such points stay at the origin.": no_direction,
    r"$\Pi 𝟏 = 0$, so 0 is an eigenvalue. Every $v$ of the teal plane has $\Pi v = v$, so 1 is an eigenvalue, twice in $d = 3$. Each axis keeps $\frac{2}{3}$ of itself and gets $-\frac{1}{3}$ of each of the other two.": the_eigenvalues,
    "The two colours only say on which side of the orange line a point lies.": two_colours,
    r"After **sphere** all blue points are in one place and all pink points in another: each place holds half a plane.": two_places,
    "it moves through the plane, and while $c$ stays above 0 its output does not move.": the_output_stays,
    r"Try **scale c** and **shift b**, and keep $c$ above 0.": the_output_stays,
    r"Until now $c$ was above 0. Where does the output go when $c$ is $-1$? - nowhere: it stays where it is - to the origin - * to the opposite point With $c < 0$ the point is on the pink side, so its output is in the place of the pink points, opposite to where it was. Move **scale c** slowly through 0: the output does not travel, it jumps.": to_the_opposite_point,
    r"its two images run around the circle.": two_images,
    r"Compare the last two rows of the table with the one above them.": the_last_two_rows,
    r"The three axes have fallen onto the plane, 120° apart, and the cube has become a hexagon.": three_axes,
    r"Do $(5, 8, 2)$ and $(1, 2, 0)$ have the same output? Yes. Centred they are $(0, 3, -3)$ and $(0, 1, -1)$, and one is a positive multiple of the other. Both go to $\sqrt{3/2}\,(0, 1, -1) \approx (0, 1.225, -1.225)$.": the_same_output,
    r"How many numbers are needed to describe an output, if $d = 3$? One. The outputs fill the circle of radius $\sqrt 3$ in the teal plane, so an angle is enough. The mean and the standard deviation of $x$ are lost.": one_angle,
    "After **centre** the plane is a line. The height of a point can no longer be told.": the_plane_is_a_line,
}
