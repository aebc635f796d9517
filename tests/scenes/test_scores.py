"""Dot products of random vectors: their distributions, and the recipe, which stores few numbers of each."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from components.language.cloud import project
from components.language.packing import packed
from components.language.recipe import Mean, Number
from components.scenes.scores import SCENE
from components.scenes.scores.build import DIMENSIONS, KEYS, PAIRS, QUERIES, SCORE_SPAN, SEED
from components.scenes.scores.sample import variances
from components.training.recipes import recipe_of
from geometry import center, layer_norm, softmax
from geometry.dot_products import cosine_density, cosine_tail, gaussian_density
from tests.assets.engine import Node
from tests.scenes import atlas
from tests.scenes.claims import said, stop, text

EXACT = 1e-8  # double precision, of scores up to some thousands
ALIKE = 1e-3  # the p value below which the pairs would not be of their law; the seed is fixed
SHARED = pytest.mark.parametrize("shared", ["across", "one"])
CORRELATIONS = (0.0, 0.3, 1.0)


def stages(recipe, cloud="pairs", **params):
    return recipe.cloud(cloud).stages(recipe.defaults | params)


def basis(d):
    """The rows of an orthonormal basis (d, d): along 𝟏, along w = (1, …, 1, −1, …, −1), and others."""
    known = np.stack([np.ones(d), np.where(np.arange(d) < d / 2, 1.0, -1.0)])[:d]
    turn = np.linalg.qr(np.column_stack([*known, np.eye(d)]))[0].T
    turn[: len(known)] *= np.sign(np.sum(turn[: len(known)] * known, -1, keepdims=True))
    return turn


def whole(turned, g, d, shared, rho):
    """Vectors (n, d), each a sum of random coordinates and a random multiple of one shared direction.

    turned (n, d): the random coordinates, in the basis `basis(d)`. g (n,): the random multiples. shared:
    "one" if the shared direction is 𝟏; otherwise it is w = (1, …, 1, −1, …, −1). rho: the share of each
    coordinate's variance that is due to the shared direction. The result is in the usual basis.
    """
    w = np.ones(d) if shared == "one" or d == 1 else np.where(np.arange(d) < d / 2, 1.0, -1.0)
    return np.sqrt(1 - rho) * turned @ basis(d) + np.sqrt(rho) * np.outer(g, w)


def drawn(d, shared, rho):
    """The random queries and keys of the scene: a list of two arrays (PAIRS, d).

    The recipe does not contain them, only a few numbers of each pair. d: the number of coordinates. shared:
    "one" if all vectors share the direction 𝟏; otherwise they share w = (1, …, 1, −1, …, −1). rho: the
    share of each coordinate's variance that is due to the shared direction.
    """
    rng = np.random.default_rng(SEED)
    turned, g = rng.standard_normal((2, PAIRS, d)), rng.standard_normal((2, PAIRS))
    return [whole(turned[i], g[i], d, shared, rho) for i in (0, 1)]


# --- laws


@SHARED
@pytest.mark.parametrize("rho", CORRELATIONS)
@pytest.mark.parametrize("d", [1, 2, 4, 64])
def test_a_few_numbers_hold_whole_vectors(d, rho, shared):
    """The few numbers that the scene stores of a pair (q, k) equal those computed from the whole vectors.

    They are: the score ⟨q, k⟩; its square; the cosine; the length of k, divided by √d; and the coordinate of
    k along q, divided by √d.
    """
    q, k = drawn(d, shared, rho)
    norms = (lambda x: x, center, lambda x: layer_norm(x, eps=0.0))
    for x, norm in zip(stages(recipe_of(SCENE, d=str(d), shared=shared), rho=rho), norms, strict=True):
        a, b = norm(q), norm(k)
        score, far, near = np.sum(a * b, -1), np.linalg.norm(a, axis=-1), np.linalg.norm(b, axis=-1)
        size = far * near
        cosine = np.divide(score, size, out=np.zeros_like(score), where=size > EXACT)
        np.testing.assert_allclose(x[:, 0], score, rtol=EXACT, atol=EXACT * d)
        np.testing.assert_allclose(x[:, 1], cosine, atol=EXACT)
        np.testing.assert_allclose(np.linalg.norm(x[:, 2:5], axis=1), near / np.sqrt(d), atol=EXACT)
        np.testing.assert_allclose(x[:, 4], cosine * near / np.sqrt(d), atol=EXACT)
        np.testing.assert_allclose(x[:, 5], x[:, 0] ** 2)


@SHARED
def test_queries_and_keys_are_held_too(shared):
    d, rho, a = 64, 0.3, 0.5
    rng = np.random.default_rng(SEED)
    turned, g = rng.standard_normal((QUERIES + KEYS, d)), rng.standard_normal((QUERIES + KEYS, 1))[:, 0]
    x = whole(turned, g, d, shared, rho)
    recipe = recipe_of(SCENE, d=str(d), shared=shared)
    entropies = stages(recipe, "entropy", rho=rho, a=a)
    for stage, norm in enumerate((lambda x: x, center, lambda x: layer_norm(x, eps=0.0))):
        scores = norm(x)[:QUERIES] @ norm(x)[QUERIES:].T
        for column, (role, by) in enumerate((("other", 1.0), ("series-1", d**a))):
            weights = softmax(scores / by)
            [got] = stages(recipe, f"{role} {stage}", rho=rho, a=a)
            np.testing.assert_allclose(got, weights, atol=EXACT)
            np.testing.assert_allclose(
                entropies[stage][:, column], stats.entropy(weights, axis=1), atol=EXACT
            )


@pytest.mark.parametrize("d", DIMENSIONS)
def test_pairs_have_their_exact_laws(d):
    x, centred, sphere = stages(recipe_of(SCENE, d=str(d)))
    grid = np.linspace(-12 * np.sqrt(d), 12 * np.sqrt(d), 500)
    for got, n in ((x, d), (centred, d - 1)):
        if n > 1:
            cdf = np.cumsum(gaussian_density(grid, n)) * (grid[1] - grid[0])
            assert stats.kstest(got[:, 0], lambda s, cdf=cdf: np.interp(s, grid, cdf)).pvalue > ALIKE
        if n:
            law = lambda c, n=n: 1 - cosine_tail(np.clip(c, -1, 1), n)  # noqa: E731
            assert n == 1 or stats.kstest(got[:, 1], law).pvalue > ALIKE
    np.testing.assert_allclose(sphere[:, 0], d * centred[:, 1], atol=EXACT * d)


@SHARED
@pytest.mark.parametrize("d", [1, 2, 8, 64])
def test_the_exact_variance_is_that_of_many_pairs(d, shared):
    """The formula for the variance of q·k agrees with 20,000 random pairs, to within a tenth."""
    rng, rho = np.random.default_rng(1), 0.4
    turned, g = rng.standard_normal((2, 20_000, d)), rng.standard_normal((2, 20_000))
    q, k = (whole(turned[i], g[i], d, shared, rho) for i in (0, 1))
    for norm, want in zip(
        (lambda x: x, center, lambda x: layer_norm(x, eps=0.0)),
        variances(d, shared, np.array(rho)),
        strict=True,
    ):
        score = np.sum(norm(q) * norm(k), -1)
        assert np.mean(score**2) == pytest.approx(want, rel=0.1, abs=EXACT)


def test_the_curves_are_the_laws():
    """The heights of the dashed curves are the counts per bin that the laws predict, at each stage."""
    recipe = recipe_of(SCENE, d="16")
    bin_, s = (SCORE_SPAN[1] - SCORE_SPAN[0]) / 48, recipe.cloud("law 0").points[:, 0]
    for stage, law in enumerate((16, 15)):
        want = PAIRS * bin_ * gaussian_density(s, law)
        np.testing.assert_allclose(recipe.cloud(f"law {stage}").points[:, 1], want)
        np.testing.assert_allclose(
            recipe.cloud(f"divided law {stage}").points[:, 1], 4 * PAIRS * bin_ * gaussian_density(4 * s, law)
        )
    np.testing.assert_allclose(
        recipe.cloud("law 2").points[:, 1], PAIRS * bin_ * cosine_density(s / 16, 15) / 16
    )


@pytest.mark.parametrize("theta", [0, 30, 60, 90, 180])
def test_the_key_of_one_s_own_is_at_its_angle(theta):
    recipe = recipe_of(SCENE, show="angles", d="8", heads="8")
    [arc] = stages(recipe, "geodesic", theta=theta)
    np.testing.assert_allclose(np.linalg.norm(arc, axis=1), 1)
    length = np.linalg.norm(np.diff(arc, axis=0), axis=1).sum()
    assert length == pytest.approx(np.radians(theta), rel=1e-3, abs=EXACT)  # 48 straight pieces
    [[[cosine, half, turn]]] = stages(recipe, "distances", theta=theta)
    assert (cosine, turn) == pytest.approx((np.cos(np.radians(theta)), np.radians(theta)), abs=EXACT)
    assert (
        2 * half
        == pytest.approx(np.linalg.norm(arc[-1] - arc[0]))
        == pytest.approx(np.sqrt(2 - 2 * cosine), abs=1e-7)
    )
    tails = [MILLION * cosine_tail(np.array(cosine), m) for m in (8, 7, 7)]
    assert stages(recipe, "nearer", theta=theta)[0][0] == pytest.approx(tails, rel=1e-4, abs=1e-4)


MILLION = 1e6


def test_readouts_say_what_they_are():
    recipe = recipe_of(SCENE)
    means = [r for r in recipe.readouts if isinstance(r, Mean)]
    at = recipe.moment(recipe.defaults, 2)
    got = [at.measured(r.cloud, r.row).mean() for r in means]
    x = stages(recipe)[-1]
    assert got[:2] == pytest.approx([np.mean(x[:, 0] ** 2), np.mean(x[:, 0] ** 2) / 64])


# --- what the text says


def entropy(d, stage=-1, **params):
    """The mean entropy of the attention weights from raw scores, and of those from divided scores: (2,).

    d: the number of coordinates of queries and keys. stage: by default the last, on the sphere. params:
    values of sliders.
    """
    return stages(recipe_of(SCENE, d=str(d)), "entropy", **params)[stage].mean(0)[:2]


def numbers_of_the_picture():
    recipe = recipe_of(SCENE)
    assert PAIRS == 1000 == len(recipe.cloud("pairs").points) and (QUERIES, KEYS) == (8, 32)
    assert recipe.defaults["a"] == 0.5
    said(np.log(32), "3.47")
    assert stats.entropy([1, 0, 0]) == 0
    assert stages(recipe, "exact")[0][0] == pytest.approx([64, 63, 64 * 64 / 63])


def whole_vectors():
    test_a_few_numbers_hold_whole_vectors(64, 0.3, "across")
    x, *_ = drawn(64, "across", 0.3)
    np.testing.assert_allclose(np.mean(layer_norm(x, eps=0.0) ** 2, -1), 1)


def components_keep_their_variance():
    for shared in ("across", "one"):
        q, _ = drawn(64, shared, 0.3)
        np.testing.assert_allclose(q.var(), 1, atol=0.05)
        pairs = np.corrcoef(q.T)[~np.eye(64, dtype=bool)]
        assert np.abs(np.abs(pairs).mean() - 0.3) < 0.05
        assert (pairs > 0).all() == (shared == "one") and (pairs < 0).sum() == (
            0 if shared == "one" else 64 * 32
        )


def products():
    """A random coordinate has mean 0 and variance 1, and the product of two of them has variance 1."""
    q, k = np.random.default_rng(0).standard_normal((2, 200_000))
    assert (q.mean(), q.var(), (q * k).var()) == pytest.approx((0, 1, 1), abs=0.02)


def mean_is_zero():
    """The mean of the scores is 0, to within three standard errors.

    The scene's first readout shows the mean of their squares.
    """
    for d in DIMENSIONS:
        for shared in ("one", "across"):
            recipe = recipe_of(SCENE, d=str(d), shared=shared)
            for rho in (0.0, 0.3, 1.0):
                at = recipe.moment(recipe.defaults | {"rho": rho}, 2)
                scores = stages(recipe, rho=rho)[-1][:, 0]
                assert abs(scores.mean()) <= 3 * scores.std() / np.sqrt(len(scores))
                first = recipe.readouts[0]
                assert at.measured(first.cloud, first.row).mean() == pytest.approx(np.mean(scores**2))


def variance_is_d():
    for d in DIMENSIONS:
        assert variances(d, "across", np.array(0.0))[0] == d
        recipe = recipe_of(SCENE, d=str(d))
        assert stages(recipe)[0][:, 5].mean() == pytest.approx(d, rel=0.15)


def the_density():
    test_pairs_have_their_exact_laws(64)
    said(64**2 / 63, "65.0")
    assert variances(64, "across", np.array(0.0))[2] == pytest.approx(64**2 / 63)


def entropies():
    for d, raw, divided in ((64, "0.77", "3.06"), (512, "0.23", "2.98")):
        said(entropy(d)[0], raw)
        said(entropy(d)[1], divided)
    raw = [entropy(d)[0] for d in (4, 16, 64, 512)]
    assert raw == sorted(raw, reverse=True)


@cache
def mean_entropy(d, a, draws=200_000):
    """The mean entropy of a query's weights on 32 random keys, by the exact law of the cosine.

    Query and keys are on LayerNorm's sphere, with radius √d in d − 1 dimensions. a: scores are divided by
    d to the power a. draws: how many queries are drawn.
    """
    m, rng, found = d - 1, np.random.default_rng(0), []
    for _ in range(10):
        cosine = 2 * rng.beta((m - 1) / 2, (m - 1) / 2, size=(draws // 10, KEYS)) - 1
        found.append(stats.entropy(softmax(d ** (1 - a) * cosine), axis=1).mean())
    return np.mean(found)


def mean_entropies():
    for d, raw, divided in ((64, "0.50", "3.01"), (512, "0.16", "3.01")):
        said(mean_entropy(d, 0), raw)
        said(mean_entropy(d, 0.5), divided)
    assert f"{200_000:,}" in text("scores")


def test_the_law_of_the_cosine_gives_the_entropy_of_drawn_keys():
    rng = np.random.default_rng(0)
    q, k = (layer_norm(rng.standard_normal((2000, n, 64)), eps=0.0) for n in (1, KEYS))
    drawn = stats.entropy(softmax((q @ k.swapaxes(1, 2))[:, 0]), axis=1)
    assert drawn.mean() == pytest.approx(mean_entropy(64, 0), abs=4 * drawn.std() / np.sqrt(2000))


def one_side_is_enough():
    """Var(q·k) = tr(Σ_q Σ_k): for isotropic queries it is d, whatever the keys' correlation."""
    rng, d = np.random.default_rng(0), 16
    q, k = rng.standard_normal((200_000, d)), rng.standard_normal((200_000, d))
    k = np.sqrt(0.3) * k + np.sqrt(0.7) * rng.standard_normal((200_000, 1))
    assert np.sum(q * k, -1).var() == pytest.approx(d, rel=0.02)
    cosine = np.sum(layer_norm(q, eps=0.0) * layer_norm(k, eps=0.0), -1) / d
    assert cosine.std() == pytest.approx((d - 1) ** -0.5, rel=0.02)
    both = np.sqrt(0.3) * q + np.sqrt(0.7) * rng.standard_normal((200_000, 1))
    covariance = 0.3 * np.eye(d) + 0.7
    assert np.sum(both * k, -1).var() == pytest.approx(np.trace(covariance @ covariance), rel=0.03)


def correlated_variance():
    for rho in (0.0, 0.3, 1.0):
        for shared in ("across", "one"):
            assert variances(64, shared, np.array(rho))[0] == pytest.approx(64 + 64 * 63 * rho**2)
    said(variances(64, "one", np.array(0.3))[0], "427")
    said(variances(64, "one", np.array(0.3))[2], "65.0")
    said(variances(64, "across", np.array(0.3))[2], "262")
    rng = np.random.default_rng(0)
    common = rng.standard_normal((20_000, 1))
    keys = np.sqrt(0.7) * rng.standard_normal((20_000, 64)) + np.sqrt(0.3) * common * np.repeat([1, -1], 32)
    factor = 8 / np.linalg.norm(center(keys), axis=-1)
    assert (factor[np.abs(common[:, 0]) > 2] < 1).all() and factor[np.abs(common[:, 0]) < 0.5].mean() > 1


def aligned():
    assert variances(64, "across", np.array(1.0)) == pytest.approx([64**2] * 3)
    said(mean_entropy(64, 1), "3.46")
    said(entropy(64, a=1.0)[1], "3.46")


def one_order():
    c = np.linspace(-1, 1, 101)
    angle, chord = np.arccos(c), np.sqrt(2 - 2 * c)
    assert (np.diff(angle) < 0).all() and (np.diff(chord) < 0).all()
    assert np.ptp(np.diff(chord**2)) < EXACT < min(np.ptp(np.diff(angle)), np.ptp(np.diff(chord)))


def crowding():
    """Claim: of 1,000 random keys, the farthest and the nearest differ by 18 % of the mean distance.

    Distances are those from a random query in 512 dimensions, averaged over queries. They are Euclidean
    before LayerNorm, and angles after it.
    """
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((50, 512)), rng.standard_normal((1000, 512))
    cosine = layer_norm(q, eps=0.0) @ layer_norm(k, eps=0.0).T / 512
    for far in (np.linalg.norm(q[:, None] - k, axis=2), np.arccos(cosine)):
        said(100 * np.mean(np.ptp(far, axis=1) / far.mean(1)), "18")


def pockets():
    said(np.sqrt(511 / 63), "2.8")
    rng = np.random.default_rng(0)
    # one head of vectors that are normalised as a whole
    x = layer_norm(rng.standard_normal((4000, 512)), eps=0.0)[:, :64]
    q, k = x[:2000], x[2000:]
    score = np.sum(q * k, -1)
    cosine = score / np.linalg.norm(q, axis=-1) / np.linalg.norm(k, axis=-1)
    assert cosine.std() == pytest.approx(64**-0.5, rel=0.05) and score.var() / 64 == pytest.approx(1, rel=0.1)
    assert variances(512, "one", np.array(0.0))[2] / 512 == pytest.approx(1, abs=0.02)


def equator():
    at = stop("scores", "A crowd at the equator")
    x = at.recipe.cloud("pairs").at(at.params, at.progress)
    assert np.median(np.abs(x[:, 1])) < 0.1 and np.std(x[:, 0]) / 8 == pytest.approx(1, abs=0.05)
    assert np.sqrt(64) == 8 and np.mean(np.abs(x[:, 0]) > 10) > 0.1


def boxes():
    at = stop("scores", "Four coordinates")
    x = at.recipe.cloud("pairs").at(at.params, at.progress)
    assert stats.kstest(x[:, 0], stats.uniform(-4, 8).cdf).pvalue > ALIKE


def without():
    at = stop("scores", "Without the factor")
    raw, divided = at.recipe.cloud("entropy").at(at.params, at.progress).mean(0)
    assert raw == divided
    said(raw, "0.23")
    said(mean_entropy(512, 0), "0.16")
    assert np.median(at.recipe.cloud("other 2").stages(at.params)[-1].max(1)) > 0.9


def wider():
    at = stop("scores", "Correlated")
    x = at.recipe.cloud("pairs").at(at.params, at.progress)
    assert x[:, 5].mean() / 64 > 3 and np.abs(x[:, 1]).mean() > 2 * np.abs(stages(at.recipe)[-1][:, 1]).mean()
    for rho, words in ((0.3, "0.25"), (0.0, "0.13")):
        said(np.sqrt(variances(64, "across", np.array(rho))[2]) / 64, words)
    assert x[:, 1].std() == pytest.approx(0.25, rel=0.1)


def as_at_first():
    state = stop("scores", "Correlated")
    assert (state.choices["d"], state.params["a"]) == ("64", 0.5)
    components_keep_their_variance()


def mended():
    at = stop("scores", "What LayerNorm repairs")
    x, centred, sphere = (stage[:, 5].mean() for stage in at.recipe.cloud("pairs").stages(at.params))
    assert x > 400 > 65 > centred and sphere == pytest.approx(65.0, rel=0.1)


def at_the_poles():
    at = stop("scores", "All aligned")
    x = at.recipe.cloud("pairs").at(at.params, at.progress)
    np.testing.assert_allclose(np.abs(x[:, 0]), 64)
    np.testing.assert_allclose(np.abs(x[:, 4]), 1)
    assert at.params["a"] == 1


def a_dozen():
    at = stop("scores", "An angle of 60°")
    shown = [r for r in at.recipe.readouts if isinstance(r, Number) and "nearer" in r.cloud]
    one, all_ = (project((r.row,), at.recipe.cloud(r.cloud).at(at.params, 2)).item() for r in shown)
    said(one, "13.0")
    assert 0 < all_ < 1e-20
    with Node() as node:
        told = node.ask("readouts", recipe=packed(at.recipe), params=at.params, progress=2, followed=0)
    assert told[-2:] == [f"{one:.3f}", "≈ 0"]
    assert "ρ = 0" in shown[0].label, "the number does not follow the slider, and says so"
    near = [np.mean(stages(at.recipe, **at.params | {"rho": rho})[2][:, 1] > 0.5) for rho in (0.0, 0.3, 1.0)]
    assert near[0] < 0.001 < 0.01 < near[1] < 0.4 < near[2]
    assert {f"{m}" for m in (64, 512)} <= set(" ".join(r.label for r in shown).replace(":", "").split())


def one_in_ten():
    at = stop("scores", "In one head")
    plain, _, centred = (at.recipe.cloud("nearer").at(at.params, k)[0, 0] / 1e6 for k in range(3))
    assert (round(1 / centred), round(1 / plain)) == (10, 12)


def soft_by_itself():
    said(mean_entropy(4, 0), "2.40")


COUNTS = {"smollm2": 270, "minilm": 72, "antiberty": 64, "rxnmapper": 96}


def scores_and_cosines():
    """Scores and cosines correlate in the heads of four models as the text's table says.

    Asserted are each model's median, smallest and largest correlation over heads, and the two layers with the
    lowest medians.
    """
    lowest = {}
    for name, words in {
        "smollm2": ("0.951", "0.735", "0.991"),
        "minilm": ("0.969", "0.849", "0.989"),
        "antiberty": ("0.981", "0.925", "0.990"),
        "rxnmapper": ("0.982", "0.950", "0.995"),
    }.items():
        layers = atlas.heads(name, "cosine")
        every = np.concatenate(layers)
        assert len(every) == COUNTS[name]
        for value, said_ in zip((np.median(every), every.min(), every.max()), words, strict=True):
            said(value, said_)
        lowest |= {(name, k): float(np.median(layer)) for k, layer in enumerate(layers)}
    said(lowest.pop(("smollm2", 0)), "0.886")
    said(lowest.pop(("minilm", 5)), "0.885")
    assert len(atlas.heads("minilm", "cosine")) == 6 and min(lowest.values()) >= 0.925


def without_the_division():
    """If SmolLM2's norm did not divide, scores and cosines would correlate less: 0.927 and not 0.963.

    These are medians over heads, without the first token. A score times the root mean squares of both vectors
    is the score of the vectors without the division.
    """
    from tools.films.attention import numbers  # imports transformers, which is slow

    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 8)) * rng.uniform(0.5, 2, size=(40, 1))
    size = np.sqrt((x**2).mean(1))
    q, k = (x @ rng.normal(size=(8, 4)) for _ in range(2))
    divided = (q / size[:, None])[None], (k / size[:, None])[None], size
    whole = numbers([(q[None], k[None], None)], 0, causal=True)["later"]
    assert numbers([divided], 0, causal=True)["undivided"] == pytest.approx(whole)
    for column, words, explained in (("later", "0.963", "93"), ("undivided", "0.927", "86")):
        every = np.concatenate(atlas.heads("smollm2", column))
        said(np.median(every), words)
        said(100 * np.median(every**2), explained)


def spread_of_trained_scores():
    every = {name: np.concatenate(atlas.heads(name, "spread")) for name in COUNTS}
    for name, words in (
        ("smollm2", "2.65"),
        ("minilm", "1.76"),
        ("antiberty", "1.45"),
        ("rxnmapper", "2.93"),
    ):
        said(np.median(every[name]), words)
    together = np.concatenate(list(every.values()))
    assert len(together) == 502 and (together < 1).sum() == 12
    said(together.min(), "0.65")
    said(together.max(), "19.9")
    variance_is_d()


CLAIMS = {
    "Each of four trained models read at most about 2,000 tokens. In each head we computed the correlation of scores and cosines, over all pairs of a query and a key that attention sees: | model | heads | correlation, median over heads | range over heads | | --- | --- | --- | --- | | SmolLM2 | 270 | 0.951 | 0.735 to 0.991 | | MiniLM | 72 | 0.969 | 0.849 to 0.989 | | AntiBERTy | 64 | 0.981 | 0.925 to 0.990 | | ALBERT of rxnmapper | 96 | 0.982 | 0.950 to 0.995 | Two layers stand out. In the first layer of SmolLM2 the median over heads is 0.886, in the last of MiniLM 0.885; in each other layer it is 0.925 or more.": scores_and_cosines,
    "To compute this, we undid the norm's division of both tokens: we multiplied each score by the root mean square of the query's token and by that of the key's token. The cosines stay the same. We leave out the first token here, because its vector can be far longer than all others, as “One huge coordinate” shows. The square of the correlation is the share of the variance of the scores that the cosine explains. | SmolLM2 without the first token | correlation, median over heads | its square | | --- | --- | --- | | as it is | 0.963 | 93 % | | if the norm did not divide | 0.927 | 86 % |": without_the_division,
    "Do the scores of trained models have the variance 1 after the division?": spread_of_trained_scores,
    "No, mostly more. In the 502 heads of these four models the standard deviation of the divided scores is between 0.65 and 19.9, and below 1 in only 12 of them. The median of this standard deviation over the heads is 2.65 in SmolLM2, 1.76 in MiniLM, 1.45 in AntiBERTy and 2.93 in the ALBERT.": spread_of_trained_scores,
    "**centred**: the mean of each vector is subtracted from it.": whole_vectors,
    r"The histogram counts all 1,000 scores: pink as they are, blue divided by $d_k^a$. In a transformer the **power a** is $\frac12$. The dashed curves are the exact densities for independent coordinates; the blue one is for $a = \frac12$.": numbers_of_the_picture,
    "the weights that 8 more queries give to 32 keys": numbers_of_the_picture,
    r"The **entropy** of the weights is $\ln 32 = 3.47$ if all keys get the same weight, and 0 if one key gets all.": numbers_of_the_picture,
    "into half of them with a plus and half with a minus. Each coordinate keeps the variance 1.": components_keep_their_variance,
    "have independent coordinates with mean 0 and variance 1. Each of the $d_k$ products in $q "
    r"\cdot k$ has variance 1": products,
    "Scores have the mean 0, so the mean of their squares, in the corner, estimates their variance.": mean_is_zero,
    "has variance 1, and their sum has variance $d_k$.": variance_is_d,
    "A variance of 1 for each coordinate is not enough.": correlated_variance,
    "On the sphere with $d_k = 64$, a query along one key has the cosine 1 with this key. Of a million random keys, only about 13 have a cosine above 0.5 with this query.": a_dozen,
    r"So the standard deviation of the scores is $\sqrt{d_k}$. Divided by $\sqrt{d_k}$, the scores have the standard deviation 1 for every $d_k$.": variance_is_d,
    r"Centring leaves $m = d_k - 1$ dimensions. For $m \ge 2$ the cosine of two random directions there has the density $$f(c) = \frac{\Gamma(m/2)}{\sqrt\pi\,\Gamma((m-1)/2)} (1 - c^2)^{(m-3)/2}$$ and the variance $1/m$. So the variance of the score is $d_k^2 / (d_k - 1)$. For $d_k = 64$ that is 65.0, hardly more than the 64 without LayerNorm.": the_density,
    r"On the sphere with $d_k = 64$, the mean entropy for 32 random keys is 0.50 without the division by $\sqrt{d_k}$ and 3.01 with it (200,000 draws).": mean_entropies,
    "The 8 queries of the picture are one draw. Their mean entropies differ from these: 0.77 and 3.06 for $d_k = 64$, 0.23 and 2.98 for $d_k = 512$.": entropies,
    "the trace of the product of their covariance matrices. If the queries prefer no direction, and their coordinates have variance 1, their covariance matrix is the identity. Then the product is the covariance matrix of the keys, whose trace is $d_k$, because each of the $d_k$ coordinates has variance 1. The same holds if only the keys prefer no direction: one of the two is enough.": one_side_is_enough,
    r"the variance of $q \cdot k$ is $d_k + d_k (d_k - 1) \rho^2$": correlated_variance,
    r"For $d_k = 64$ and $\rho = 0.3$ it is 427.": correlated_variance,
    "and centring removes it. The variance on the sphere is 65.0 again. - If it enters half of them with a minus, centring does not remove it. The variance on the sphere is 262. It is less than 427 because the sphere shortens the vectors in which the common number is large.": correlated_variance,
    r"at $\rho = 1$ with half plus and half minus, the variance is $d_k^2$. Only the factor $1/d_k$ brings it back to 1: $a = 1$.": aligned,
    "the mean entropy at $d_k = 64$ is 3.46": aligned,
    r"the chord is $\sqrt{2 - 2\,q \cdot k}$. Both fall as the dot product grows, so all three put "
    "keys in the same order. Only the square of the chord is linear in the dot product.": one_order,
    "With $d_k = 512$, the distances from a query to 1,000 random keys are nearly equal: on average, the largest exceeds the smallest by only about 18 % of their mean. This holds for straight distances before LayerNorm and for angles after it.": crowding,
    r"The standard deviation of the cosine is $1/\sqrt m$. In a head that has 64 of 512 coordinates, the cosines spread 2.8 times as widely as those of the whole vectors.": pockets,
    "each is divided by the root of its own number of coordinates, so their variance is nearly 1 in both cases.": pockets,
    "panel. The blue ones, divided by 8, have a standard deviation of about 1.": equator,
    "With $d_k = 4$, LayerNorm leaves a sphere in three dimensions, and the keys are spread evenly over it. On such a sphere every height is equally likely, so the histograms are boxes.": boxes,
    "### Four coordinates": boxes,
    "Let $d_k$ be 512, and nothing be divided. How many of 32 keys": without,
    "about half of them - * mostly one": without,
    "The spikes are weights near 1: the mean entropy of these 8 queries is 0.23 (over 200,000 draws it is 0.16). The blue histogram is the same as the pink one. Move **a** up to 0.5.": without,
    "Again $d_k = 64$, and the scores are divided by its root. Each coordinate still has variance 1, but any two have the correlation ±0.3.": as_at_first,
    "no, the standard deviation stays above 1": wider,
    "the standard deviation of the cosine is 0.25. Without correlation it is 0.13. The blue histogram is wider than its dashed curve.": wider,
    "On the sphere the blue histogram follows its dashed curve again.": mended,
    "each score is 64 or −64. Now the factor $1/d_k$ brings it to 1 or −1.": at_the_poles,
    "### An angle of 60°": a_dozen,
    "How many of a million random keys are within 60° of $q$, in 64 coordinates": a_dozen,
    "about a quarter million - about a thousand - * about a dozen": a_dozen,
    "The expected number is 13.0. This is for a head of 64 coordinates. For a whole vector, of eight such heads and so 512 coordinates, the expected number is practically 0.": a_dozen,
    "A head has 8 of 64 coordinates, here centred by themselves. One random key in ten is within 60° of $q$; without centring it is one in twelve.": one_in_ten,
    r"The cosine has the standard deviation $1/\sqrt{d_k - 1}$ if the queries, or the keys, prefer no direction.": one_side_is_enough,
    r"it gives every vector the length $\sqrt{d_k}$, so the score of two normalised vectors is": whole_vectors,
    "On the sphere with $d_k = 4$, the mean entropy without the factor is 2.40 (200,000 draws).": soft_by_itself,
    "With $d_k = 512$ the mean entropies are 0.16 and 3.01.": mean_entropies,
}
