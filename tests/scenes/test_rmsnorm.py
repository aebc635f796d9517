"""LayerNorm beside RMSNorm: how they are related, and the effect of q, a vector's mean divided by its σ."""

import numpy as np
import pytest
from scipy.special import betaincinv

from components.language.framing.paper import on_paper
from components.scenes.rmsnorm import SCENE
from components.scenes.rmsnorm.build import OFFSET_STD
from components.training.recipes import recipe_of
from geometry import center, layer_norm, rms_norm
from geometry.centering import hyperplane_basis
from tests.assets.engine import as_sent
from tests.scenes import atlas
from tests.scenes.claims import said, stop

EXACT = 1e-12  # double precision, a few operations
RECIPE = recipe_of(SCENE)
SLIDER = pytest.mark.parametrize("q", (-5.0, -1.0, 0.0, 0.3, 5.0))


def stages(cloud, **params):
    return RECIPE.cloud(cloud).stages(RECIPE.defaults | params)


@SLIDER
def test_each_side_is_its_norm(q):
    for name, norm in (("layernorm", layer_norm), ("rmsnorm", rms_norm)):
        start, *_, end = stages(name, q=q)
        np.testing.assert_allclose(end, norm(start, eps=0.0), rtol=0, atol=EXACT)


@SLIDER
def test_the_relation_is_exact(q):
    np.testing.assert_allclose(stages("relation", q=q)[-1], stages("rmsnorm", q=q)[-1], rtol=0, atol=EXACT)


@SLIDER
def test_q_is_the_mean_in_units_of_the_deviation_and_layer_norm_does_not_see_it(q):
    x, *_, end = stages("layernorm", q=q)
    own = x.mean(1) / x.std(1) - q
    np.testing.assert_allclose(own, stages("layernorm", q=0.0)[0].mean(1) / x.std(1), rtol=0, atol=1e-9)
    assert abs(own.mean()) < 0.1
    np.testing.assert_allclose(end, stages("layernorm", q=0.0)[-1], rtol=0, atol=1e-10)


def test_far_from_zero_all_are_near_a_pole():
    for q in (-5.0, 5.0):
        cosine = stages("rmsnorm", q=q)[-1].sum(1) / 3
        assert (np.sign(q) * cosine > 0.9).all()


def test_the_names_of_the_poles_are_whole_and_clear_of_the_poles_on_a_narrow_telephone():
    half, letters = 99, np.array([13, 26])  # pixels; Plotly draws letters so far above the place of a label
    (view, *_), at = RECIPE.views, RECIPE.moment(RECIPE.defaults, 3)
    names, poles = (
        half
        * on_paper(view, next(m for m in view.layers if m.cloud == cloud).points(at), view.camera)[0][:, 1]
        for cloud in ("pole names", "poles")
    )
    lower, upper = names[:, None] + letters
    assert poles[1] + 8 < upper[0] and upper[1] < half
    assert -half < lower[0] and lower[1] < poles[0] - 4


# --- what the text says

ROOT = np.sqrt(3)


def at(title, cloud):
    """The positions of a cloud at each stage, with the sliders of a stop."""
    state = stop("rmsnorm", title)
    return state.recipe.cloud(cloud).stages(state.params)


def own(x):
    """The mean of each point divided by its standard deviation: q = μ/σ."""
    return x.mean(1) / x.std(1)


def angles(y):
    """The angles in degrees between points y (n, 3) and the direction 𝟏."""
    return np.degrees(np.arccos(y.sum(1) / np.linalg.norm(y, axis=1) / ROOT))


def of_one_q(q, n=50):
    """n random vectors (n, 3) whose mean is q times their standard deviation."""
    x = center(np.random.default_rng(0).standard_normal((n, 3)))
    return x + q * x.std(1, keepdims=True)


def two_pictures():
    assert len(RECIPE.views) == 2
    np.testing.assert_array_equal(stages("layernorm")[0], stages("rmsnorm")[0])
    assert stages("layernorm")[0].shape[1] == 3


def the_guides():
    line, poles = (RECIPE.cloud(name).points for name in ("mean line", "poles"))
    np.testing.assert_allclose(line, line[:, :1] * np.ones(3), atol=EXACT)
    np.testing.assert_allclose(poles, [[-1, -1, -1], [1, 1, 1]], atol=EXACT)
    for name in ("sphere", "equator"):
        x = RECIPE.cloud(name).stages(RECIPE.defaults)[-1]
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), ROOT, atol=EXACT)
    np.testing.assert_allclose(x.sum(1), 0, atol=EXACT)


def out_to_the_sphere():
    for q in (-5.0, 0.0, 3.0):
        _, fallen, _, left = stages("layernorm", q=q, eps=0.0)
        start, still, _, right = stages("rmsnorm", q=q, eps=0.0)
        np.testing.assert_allclose(fallen, center(start), atol=EXACT)
        np.testing.assert_array_equal(still, start)
        for y in (left, right):
            np.testing.assert_allclose(np.linalg.norm(y, axis=1), ROOT, atol=EXACT)


def its_own_q():
    said(OFFSET_STD, "0.25")
    for q in (-5.0, 0.0, 3.0):
        spread = own(stages("rmsnorm", q=q)[0]) - q
        assert spread.std() == pytest.approx(OFFSET_STD, rel=0.15) and abs(spread.mean()) < 0.05
        assert np.mean(np.abs(spread) > 1e-3) > 0.98


def pythagoras():
    x = stages("rmsnorm", q=2.0)[0]
    q, variance, mean = own(x), x.var(1), x.mean(1)
    assert np.abs((center(x) * (mean[:, None] * np.ones(3))).sum(1)).max() < EXACT
    np.testing.assert_allclose((x**2).sum(1), 3 * variance + 3 * mean**2, atol=EXACT)
    np.testing.assert_allclose((x**2).sum(1), 3 * variance * (1 + q**2), atol=EXACT)
    formula = (layer_norm(x, eps=0) + q[:, None]) / np.sqrt(1 + q[:, None] ** 2)
    np.testing.assert_allclose(rms_norm(x, eps=0), formula, atol=EXACT)


def the_angle():
    for q, words in ((0, "90"), (1, "45"), (2, "26.6"), (3, "18.4"), (5, "11.3")):
        y = rms_norm(of_one_q(q), eps=0)
        for angle in angles(y):
            said(angle, words)
        np.testing.assert_allclose(y.sum(1) / ROOT, q * ROOT / np.sqrt(1 + q**2), atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(center(y), axis=1), ROOT / np.sqrt(1 + q**2), atol=1e-9)
        assert (angles(rms_norm(of_one_q(-q), eps=0)) >= 90 - 1e-9).all()


def the_same_twice():
    np.testing.assert_array_equal(
        at("One cloud, twice", "layernorm")[0], at("One cloud, twice", "rmsnorm")[0]
    )


def two_red_points():
    k = stop("rmsnorm", "Only one falls").follow
    left, right = (at("Only one falls", name)[1][k] for name in ("layernorm", "rmsnorm"))
    np.testing.assert_allclose(left, right - right.mean(), atol=EXACT)
    assert abs(right.mean()) > 0.1


def forty_five():
    title = "Out to the sphere"
    k, start, end = stop("rmsnorm", title).follow, at(title, "rmsnorm")[0], at(title, "rmsnorm")[-1]
    assert own(start)[k] == pytest.approx(1, abs=0.001)
    said(angles(end)[k], "45")
    assert angles(end).max() < 90 and np.abs(at(title, "layernorm")[-1].sum(1)).max() < EXACT
    out_to_the_sphere()


def little_difference():
    title = "No mean, little difference"
    state, (start, *_, right) = stop("rmsnorm", title), at(title, "rmsnorm")
    k, left = state.follow, at(title, "layernorm")[-1]
    assert state.params["q"] == 0 and abs(own(start)[k]) < 0.001
    np.testing.assert_allclose(left[k], right[k], atol=0.001)
    band = angles(right)
    assert band.mean() == pytest.approx(90, abs=2) and band.std() > 10


def to_the_pole():
    assert stop("rmsnorm", "To the pole").params["q"] == 4
    assert angles(at("To the pole", "rmsnorm")[-1]).max() < 20
    test_q_is_the_mean_in_units_of_the_deviation_and_layer_norm_does_not_see_it(-5.0)
    for cloud, words in (("rmsnorm", "0.94"), ("layernorm", "0.00")):
        y = at("To the pole", cloud)[-1]
        cosines = (y @ y.T / 3)[np.triu_indices(len(y), 1)]
        said(abs(cosines.mean()), words)


def collapse():
    """For vectors with the same q, RMSNorm's cosines and differences follow from LayerNorm's and q.

    LayerNorm of RMSNorm's output is LayerNorm of the input.
    """
    for q in (2.0, 5.0):
        x = of_one_q(q)
        left, right = layer_norm(x, eps=0), rms_norm(x, eps=0)
        np.testing.assert_allclose(right @ right.T / 3, (left @ left.T / 3 + q**2) / (1 + q**2), atol=1e-9)
        np.testing.assert_allclose((right - right[0]) * np.sqrt(1 + q**2), left - left[0], atol=1e-9)
        np.testing.assert_allclose(layer_norm(right, eps=0), left, atol=1e-9)
    said((-1 + 5**2) / (1 + 5**2), "0.92")
    said(np.sqrt(1 + 5**2), "5.1")


def one_number_less():
    for d in (2, 3, 4, 700):
        x, U = np.random.default_rng(d).normal(size=(20, d)) + 1, hyperplane_basis(d)
        np.testing.assert_allclose(U @ U.T, np.eye(d - 1), atol=1e-9)
        for eps in (0.0, 0.3):
            want = np.sqrt(d / (d - 1)) * rms_norm(x @ U.T, eps=eps * d / (d - 1)) @ U
            np.testing.assert_allclose(layer_norm(x, eps=eps), want, atol=1e-9)


def in_the_plane():
    state = stop("rmsnorm", "One number less")
    for change in ({}, {"q": -4.0}, {"eps": 0.3}):
        params = state.params | change
        start, _, _, rms, end = state.recipe.cloud("plane").stages(params)
        assert start.shape[1] == 2
        np.testing.assert_allclose(
            start, stages("layernorm", **change)[0] @ hyperplane_basis(3).T, atol=EXACT
        )
        np.testing.assert_allclose(rms, rms_norm(start, eps=1.5 * params["eps"]), atol=EXACT)
        np.testing.assert_allclose(end, state.recipe.cloud("target").stages(params)[-1], atol=EXACT)
        full = state.recipe.cloud("layernorm").stages(params)[-1]
        np.testing.assert_allclose(
            full, layer_norm(stages("layernorm", **change)[0], eps=params["eps"]), atol=EXACT
        )
        np.testing.assert_allclose(full @ hyperplane_basis(3).T, end, atol=EXACT)
    rms = state.recipe.cloud("plane").stages(state.params)[3]
    np.testing.assert_allclose(np.linalg.norm(rms, axis=1), np.sqrt(2), atol=EXACT)


def mere_rounding():
    for recipe in (as_sent(recipe_of(SCENE, seed=seed)) for seed in range(5)):
        for q in np.linspace(-5, 5, 11):
            a, b = (recipe.cloud(c).stages({"q": q, "eps": 0.0})[-1] for c in ("rmsnorm", "relation"))
            assert np.abs(a - b).max() < 1e-3


def test_the_number_in_the_corner_speaks_of_what_is_on_the_screen():
    """The number's label names the formula and not the rings, which are only drawn at the last stage."""
    [ring] = [mark for mark in RECIPE.views[1].layers if mark.cloud == "relation"]
    assert list(ring.fade) == [0, 0, 0, 0.9]
    assert "ring" not in RECIPE.readouts[0].label and "formula" in RECIPE.readouts[0].label


def a_little_epsilon():
    title = "A little ε"
    said(stop("rmsnorm", title).params["eps"], "0.02")
    ring = at(title, "relation")[-1]
    np.testing.assert_allclose(np.linalg.norm(ring, axis=1), ROOT, atol=EXACT)
    for name in ("layernorm", "rmsnorm"):
        assert np.linalg.norm(at(title, name)[-1], axis=1).max() < ROOT
    assert np.linalg.norm(at(title, "rmsnorm")[-1] - ring, axis=1).min() > 0


def how_far_apart():
    u = center(np.array([[1.0, 2, -3]]))
    pair = np.vstack([u, -u]) + 3 * u.std()
    left, right = (np.linalg.norm(np.subtract(*norm(pair, eps=0))) for norm in (layer_norm, rms_norm))
    said(left, "3.46")
    said(np.sqrt(1 + 3**2), "3.16")
    said(right, "1.10")
    assert left == pytest.approx(2 * ROOT)
    end = stages("rmsnorm", q=3.0)[-1]
    assert np.linalg.norm(end[:, None] - end, axis=-1).max() > 1.1


def which_tells_more():
    for q in (-5.0, 0.0, 2.0):
        x, *_, y = stages("rmsnorm", q=q, eps=0.0)
        np.testing.assert_allclose(layer_norm(y, eps=0), layer_norm(x, eps=0), atol=1e-9)
        factor = y / x
        np.testing.assert_allclose(factor, factor[:, :1] + 0 * x, rtol=1e-6)
        assert (factor > 0).all()


def only_centred_parts():
    """RMSNorm and LayerNorm agree on sums of vectors whose mean is 0."""
    x = sum(center(np.random.default_rng(seed).standard_normal((50, 8))) for seed in range(6))
    np.testing.assert_allclose(rms_norm(x, eps=0), layer_norm(x, eps=0), atol=EXACT)


def most_left_further():
    for seed in range(6):
        recipe = recipe_of(SCENE, seed=seed)
        far = []
        for q in (0.0, 5.0):
            a, b = (recipe.cloud(c).stages({"q": q, "eps": 0.02})[-1] for c in ("rmsnorm", "relation"))
            far.append(np.linalg.norm(a - b, axis=1))
        assert np.mean(far[0] > far[1]) > 0.9
        x = recipe.cloud("rmsnorm").stages({"q": 5.0, "eps": 0.02})[0]
        assert x.std(1)[far[1].argmax()] < np.quantile(x.std(1), 0.05) and far[1].max() > 0.5
        assert np.median(far[1]) < 0.05
        np.testing.assert_allclose((x**2).mean(1), x.var(1) * (1 + own(x) ** 2), atol=EXACT)


def orthogonal_to_ones():
    """In 101 of 116 norms of trained models, the median share of the part along 𝟏 is less than by chance.

    The share of a vector x is ⟨x, 𝟏⟩²/(d‖x‖²); “by chance” means for isotropic vectors. In all 116 norms, the
    95th percentile of the shares is also less than by chance. A vector whose share is this percentile has an
    angle of less than 4.6° to the hyperplane ⊥ 𝟏. For the percentile by chance, the angle is 4.7° for the
    largest d and 10.0° for the smallest.
    """
    nearer = 0
    rows = atlas.every_row()
    assert len(rows) == 116
    for row in rows:
        median, high = betaincinv(1 / 2, (row["d"] - 1) / 2, [0.5, 0.95])
        nearer += row["share"] < median
        assert row["share_high"] < high
        assert np.degrees(np.arcsin(np.sqrt(row["share_high"]))) < 4.6
    said(nearer, "101")
    widths = {name: [row["d"] for row in atlas.digest(name).rows] for name in atlas.NAMES}
    first, *others = widths["rxnmapper"]
    assert first < min(others) and first == min(map(min, widths.values()))
    assert set(widths["smollm2"]) == {max(map(max, widths.values()))} == {576} and first == 128
    for d, words in ((widths["smollm2"][0], "4.7"), (first, "10.0")):
        said(np.degrees(np.arcsin(np.sqrt(betaincinv(1 / 2, (d - 1) / 2, 0.95)))), words)
    kinds = {name: {row["kind"] for row in atlas.digest(name).rows} for name in atlas.NAMES}
    assert kinds.pop("smollm2") == {"RMSNorm"} and set.union(*kinds.values()) == {"LayerNorm"}


CLAIMS = {
    "adds vectors whose mean is 0, RMSNorm gives what LayerNorm would": only_centred_parts,
    "We measured the vectors that enter the 116 norms of four trained models: SmolLM2 has RMSNorm, and three have LayerNorm (MiniLM, AntiBERTy, the ALBERT of rxnmapper). In every norm, 95 % of the vectors are within 4.6° of the hyperplane orthogonal to $𝟏$. But random directions are nearly orthogonal to $𝟏$, too: 95 % of them are within 4.7° of this hyperplane in 576 dimensions, as many as SmolLM2 has, and within 10.0° in 128 dimensions, as many as the ALBERT has at its first norm. We compared each norm with random directions in as many dimensions. In all 116 norms the vectors are nearer to the hyperplane, if we compare the angle within which 95 % of them lie. If we compare the median angle, this holds in 101 norms.": orthogonal_to_ones,
    "The two pictures show one cloud in $d = 3$.": two_pictures,
    r"The orange line holds the multiples of $𝟏 = (1, 1, 1)$. The violet sphere has radius $\sqrt 3$, the length of $𝟏$. So the line meets the sphere at the two orange poles, $𝟏$ and $-𝟏$. The teal circle is the equator, where the coordinates sum to zero.": the_guides,
    "LayerNorm lets each point fall onto the plane of the equator. RMSNorm has no such step.": out_to_the_sphere,
    r"**× √3**: both move each point along its ray from the origin until its distance is $\sqrt 3$, if $\varepsilon = 0$.": out_to_the_sphere,
    "Each point's own $q$ is the slider's value plus a small random number, drawn with standard deviation 0.25.": its_own_q,
    r"The two parts are perpendicular. Their squared lengths are $d\sigma^2$ and $d\mu^2$, so by Pythagoras $$\lVert x \rVert^2 = d\sigma^2 + d\mu^2 = d\sigma^2 (1 + q^2)$$ and therefore, since $\mathrm{LN}(x) = \Pi x / \sigma$, $$\mathrm{RMS}(x) = \frac{\Pi x + \mu 𝟏}{\sigma \sqrt{1 + q^2}} = \frac{\mathrm{LN}(x) + q 𝟏}{\sqrt{1 + q^2}}$$": pythagoras,
    r"So the output lies $\sqrt d / \sqrt{1 + q^2}$ away from the orange line. Its height above the plane of the equator is $q \sqrt d / \sqrt{1 + q^2}$. For $q > 0$ its angle $\alpha$ to $𝟏$ satisfies $$\tan \alpha = \frac{1}{q}$$ | quotient $q$ | 0 | 1 | 2 | 3 | 5 | | --- | --- | --- | --- | --- | --- | | angle $\alpha$ | 90° | 45° | 26.6° | 18.4° | 11.3° | For a negative $q$ the angle lies beyond 90°.": the_angle,
    r"### One cloud, twice Nothing has happened yet: the two pictures are the same.": the_same_twice,
    "Compare the two red points: the left one has lost its height over the plane, and nothing else.": two_red_points,
    r"All points are now at the distance $\sqrt 3$ from the origin: on the left on the equator, on the right in a band above it. The red point's own $q$ is almost exactly 1, so its angle, in the last row of the table, is 45°.": forty_five,
    "With the slider at $q = 0$ the band lies around the equator. It is broad because each point has its own $q$. The red point's own $q$ is now almost 0, and the point is in the same place in both pictures: where the mean is 0, centring changes nothing.": little_difference,
    r"At $q = 4$ RMSNorm has gathered the whole cloud near the pole $𝟏$. The mean cosine of two of its outputs is 0.94; for LayerNorm's outputs it is 0.00.": to_the_pole,
    r"**Directional collapse.** If $|q|$ is much larger than 1, all of RMSNorm's outputs point nearly along $𝟏$ or $-𝟏$. Two outputs with the same $q$ have the cosine $(c + q^2)/(1 + q^2)$, where $c$ is the cosine of LayerNorm's two outputs. At $q = 5$ the cosine is at least 0.92. But no direction is lost. Take two vectors with the same $q$: by the formula, the difference of RMSNorm's two outputs is the difference of LayerNorm's two outputs, divided by $\sqrt{1 + q^2}$; at $q = 5$ this divisor is 5.1.": collapse,
    r"**LayerNorm is RMSNorm of a vector with one coordinate fewer.** Let the rows of $U$ be an orthonormal basis of the plane, so $Ux$ has $d - 1$ numbers. Since $\Pi = U^\top U$ and $\lVert Ux \rVert = \lVert \Pi x \rVert$, $$\mathrm{LN}(x) = \sqrt d\, \frac{\Pi x}{\lVert \Pi x \rVert} = \sqrt{\frac{d}{d-1}}\; U^\top\, \mathrm{RMS}(U x)$$ If LayerNorm has an $\varepsilon$, this holds when RMSNorm has $\varepsilon\, d/(d-1)$ in its place.": one_number_less,
    "It shows the plane of the equator: two coordinates of each point.": in_the_plane,
    r"The picture “RMSNorm of two numbers, in the plane” shows each point by its two coordinates there. RMSNorm of these two numbers puts it on the circle of radius $\sqrt 2$. Multiplied by $\sqrt{3/2}$, it is LayerNorm's output, marked by its ring.": in_the_plane,
    "The largest distance from a point to its ring, in the corner of the picture, is rounding error, wherever you move **q**.": mere_rounding,
    r"With $\varepsilon = 0.02$ in both norms the points lie inside the sphere. The rings still show the relation for $\varepsilon = 0$, so the points have left their rings. Move **ε** down towards 0 and watch the points return.": a_little_epsilon,
    r"Take two vectors with the same q = 3 and opposite directions in the plane. How far apart are their outputs, left and right? On the left they are opposite points of the equator: $2\sqrt 3 \approx 3.46$. On the right both have the same height, and their distance from the orange line is divided by $\sqrt{1 + q^2} = \sqrt{10}$. So they are $3.46 / 3.16 \approx 1.10$ apart. In the picture at $q = 3$ the cloud is somewhat wider,": how_far_apart,
    r"Which of the two outputs tells you more about x?": which_tells_more,
    r"With $\varepsilon = 0$ it keeps the direction of $x$ and loses only the length; LayerNorm loses $q$ too. LayerNorm's output can be computed from RMSNorm's: apply LayerNorm to it, since $\mathrm{RMS}(x)$ is $x$ times a positive number.": which_tells_more,
    r"Set ε to 0.02 and compare q = 0 with q = 5. With which of the two is a point's distance from its ring larger, for most points? Why? With $q = 0$. RMSNorm divides by $\sqrt{\sigma^2 (1 + q^2) + \varepsilon}$. The larger $q$ is, the smaller is the share of $\varepsilon$ under the root. A few points with a very small $\sigma$ stay far inside the sphere even at $q = 5$. The largest distance, in the corner of the picture, is that of such a point.": most_left_further,
}
