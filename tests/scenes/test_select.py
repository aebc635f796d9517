"""Keys that no query selects: inside the hull of the others; on LayerNorm's sphere there are none."""

import re
from functools import cache

import numpy as np
import pytest

from components.language.marks import Hull, HullFaces, Unselectable
from components.language.recipe import Count
from components.language.scene import WrongValue
from components.scenes.select import SCENE
from components.scenes.select.build import never
from components.training.recipes import recipe_of
from geometry import layer_norm, rms_norm
from geometry.centering import center, hyperplane_basis
from geometry.gaussian_hull import unselectable_share
from geometry.selection import certificate, largest_weights, selectable
from learning.recording.analysis import MAX_SAMPLED_KEYS
from learning.recording.analysis import lost as lost_keys
from tests.scenes import atlas
from tests.scenes.claims import said, stop

SAME = 1e-9  # double precision, after a root and a division
SEEDS = range(5)
SOME = [{"keys": keys, "d": d} for keys in ("gaussian", "inside", "ring", "equal") for d in (2, 3, 4)]


def stages(recipe, **params):
    return recipe.cloud("keys").stages(recipe.defaults | params)


def lost(recipe, stage, **params):
    """The number of keys that no query can select at a stage."""
    return int((~selectable(stages(recipe, **params)[stage])).sum())


@pytest.mark.parametrize("d", (2, 3, 4))
@pytest.mark.parametrize("norm", ("layernorm", "rmsnorm"))
def test_the_stages_are_those_of_the_norm_in_turned_coordinates(d, norm):
    recipe = recipe_of(SCENE, d=d, norm=norm, n=30)
    turn = np.vstack([hyperplane_basis(d), np.ones(d) / np.sqrt(d)])
    x = recipe.cloud("keys").points @ turn
    params = {"eps": 0.3, "gamma1": 0.5, "gamma2": -1.5}
    gain = np.array([0.5, -1.5, *np.ones(d - 2)])
    every = stages(recipe, **params)
    apply = layer_norm if norm == "layernorm" else rms_norm
    np.testing.assert_allclose(every[-3] @ turn, apply(x, eps=0.3), atol=SAME)
    np.testing.assert_allclose(every[-2] @ turn, apply(x, eps=0.3) * gain, atol=SAME)
    shift = every[-1] - every[-2]
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=SAME)


@pytest.mark.parametrize("norm", ("layernorm", "centre"))
def test_the_hull_of_four_dimensions_is_that_of_the_hyperplane(norm):
    recipe = recipe_of(SCENE, d=4, norm=norm, n=30)
    params = recipe.defaults | {"eps": 0.2, "gamma1": 0.5}
    keys, shadow = (recipe.cloud(name).stages(params) for name in ("keys", "shadow"))
    for own, seen in zip(keys, shadow, strict=True):
        np.testing.assert_allclose(own[:, :3], seen, atol=SAME)
    for k in range(1, len(keys)):
        np.testing.assert_array_equal(selectable(keys[k]), selectable(shadow[k]))


@pytest.mark.parametrize("choices", SOME, ids=str)
def test_the_table_counts_what_linear_programmes_would(choices):
    """At each stage, the table counts as many unselectable keys as `selectable` finds.

    The table uses the corners of the hull of all keys. `selectable` uses the distance of each key from the
    hull of the other keys.
    """
    recipe = recipe_of(SCENE, **choices, n=20)
    counts = [int(word) for word in recipe.facts.rows[0][1:]]
    assert counts == [lost(recipe, k) for k in range(len(recipe.stages))]


def test_the_table_says_where_it_does_not_follow():
    """If a key is dragged, the picture's count changes and the table does not; the table's title says so."""
    recipe = recipe_of(SCENE, d=2, keys="inside", norm="rmsnorm")
    a, b, c, _ = stages(recipe)[0]
    x, y = 0.6 * (a + b) - 0.2 * c  # across the side from a to b
    assert lost(recipe, 0) == int(recipe.facts.rows[0][1]) != lost(recipe, 0, x3=x, y3=y)
    assert "before any is moved" in recipe.facts.title
    assert "moved" not in recipe_of(SCENE, d=3, keys="inside").facts.title


@pytest.mark.parametrize("norm", ("layernorm", "rmsnorm"))
@pytest.mark.parametrize("d", (3, 4))
def test_from_the_said_epsilon_on_keys_are_lost(d, norm):
    recipe = recipe_of(SCENE, d=d, norm=norm)
    at = recipe.stages.index("sphere")
    eps = float(next(word for word in recipe.facts.rows[1][1:] if word))
    assert lost(recipe, at, eps=0.9 * eps) == 0 < lost(recipe, at, eps=1.05 * eps)


def test_keys_of_one_s_own_that_will_not_do():
    for vectors, words in (
        ("1 2 3", "one key always wins"),
        ("1 2", "d = 3"),
        ("", "no vectors"),
        ("a b c", "number"),
    ):
        with pytest.raises(WrongValue, match=words):
            recipe_of(SCENE, keys="own", vectors=vectors)
    equal = recipe_of(SCENE, keys="own", vectors="1 2 4; 1 2 4; 1 2 4")
    assert lost(equal, 0) == 3 and largest_weights(stages(equal)[0]) == pytest.approx(1 / 3)
    constant = recipe_of(SCENE, keys="own", vectors="7 7 7; -2 -2 -2; 1 0 0")
    assert not stages(constant)[2][:2].any()


@pytest.mark.parametrize("norm", ("layernorm", "rmsnorm", "centre"))
@pytest.mark.parametrize("choices", [*SOME, {"n": 3}, {"n": 200, "d": 2}], ids=str)
def test_every_choice_has_a_recipe_that_starts_inside_its_picture(choices, norm):
    recipe = recipe_of(SCENE, **choices, norm=norm)
    keys = stages(recipe)
    low, high = np.array(recipe.views[0].ranges).T
    for stage in keys:
        shown = stage[:, : len(low)]
        assert ((shown >= low) & (shown <= high)).all() and np.isfinite(stage).all()


# --- what the text says


def state(title):
    return stop("select", title)


def counted(title):
    """The number of keys that no query can select at a stop of the tour, by its title.

    Asserts that the only readout `Count` of the scene counts such keys.
    """
    at = state(title)
    [count] = [r for r in at.recipe.readouts if isinstance(r, Count)]
    assert isinstance(count.only, Unselectable)
    return never(at.recipe.cloud("keys").at(at.params, at.progress))


def fates():
    """Claim: filled points are keys that some query selects, and hollow points are averages of other keys.

    Tested with the certificates of all keys, for four sets of keys.
    """
    for choices in ({"n": 30, "d": 2}, {"n": 30}, {"keys": "equal"}, {"keys": "ring", "n": 20}):
        keys = stages(recipe_of(SCENE, **choices))[0]
        for k in range(len(keys)):
            found, others = certificate(keys, k), np.delete(keys, k, axis=0)
            if found.largest == 1:
                assert ((keys[k] - others) @ found.query > 0).all()
            else:
                np.testing.assert_allclose(found.weights @ keys, keys[k], atol=SAME)


def the_picture_by_dimension():
    for d in (3, 4):
        recipe = recipe_of(SCENE, d=d)
        for stage in stages(recipe)[1:3]:
            np.testing.assert_allclose(stage[:, -1], 0, atol=SAME)
        np.testing.assert_allclose(np.linalg.norm(stages(recipe)[2], axis=1), np.sqrt(d))
    assert [mark.fade for mark in recipe_of(SCENE, d=4).views[0].layers if mark.cloud == "shadow"] == 2 * [
        [0, 1, 1, 1, 1]
    ]
    marks = recipe_of(SCENE, d=4, norm="rmsnorm").views[0].layers
    assert not any(isinstance(mark, Hull | HullFaces) for mark in marks)


def carried():
    recipe = recipe_of(SCENE, d=2, keys="inside", norm="rmsnorm")
    inside = stages(recipe)[0]
    outside = stages(recipe, x3=2.5, y3=2.5)[0]
    np.testing.assert_array_equal(outside[:3], inside[:3])
    assert not selectable(inside)[3] and selectable(outside)[3]


def the_bound():
    """A query q gives an unselectable key k the weight 1/(1 + e^L(q)), which is at most 1/(1 + e^H).

    L(q) is log Σ e^⟨k′ − k, q⟩, a sum over all other keys k′. H is the entropy of the certificate's weights,
    with which k is an average of other keys.
    """
    rng = np.random.default_rng(0)
    keys = stages(recipe_of(SCENE, n=20))[0]
    for k in np.flatnonzero(~selectable(keys)):
        found = certificate(keys, k)
        for q in found.query + rng.normal(size=(20, 3)):
            L = np.log(np.exp((np.delete(keys, k, axis=0) - keys[k]) @ q).sum())
            weight = np.exp(keys @ q)[k] / np.exp(keys @ q).sum()
            assert weight == pytest.approx(1 / (1 + np.exp(L))) and weight <= found.largest + SAME
        p = found.weights[found.weights > 0]
        assert found.largest == pytest.approx(1 / (1 + np.exp(-(p * np.log(p)).sum())))


def all_of_the_weight():
    """If the best query for a selectable key becomes longer and longer, the key's weight approaches 1."""
    keys = stages(recipe_of(SCENE, n=20))[0]
    for k in np.flatnonzero(selectable(keys)):
        lead = certificate(keys, k).query @ (keys[k] - np.delete(keys, k, axis=0)).T
        assert np.exp(-1e6 * lead).sum() < SAME


def never_reached():
    """A key on a side of the hull, or with a copy at a corner, has a weight below a limit, for any query.

    As the key's best query becomes longer, the weight rises to this limit: here 1/3 (side) or 1/2 (corner).
    """
    side = np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 0.0], [1.0, -2.0], [0.5, -1.2]])
    corner = np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [1.0, -2.0]])
    for keys, bound in ((side, 1 / 3), (corner, 1 / 2)):
        found = certificate(keys, 0)
        direction = found.query / np.linalg.norm(found.query)
        weights = [1 / np.exp((keys - keys[0]) @ (length * direction)).sum() for length in (1, 2, 4, 8)]
        assert (np.diff(weights) > 0).all() and weights[-1] < found.largest == pytest.approx(bound)


@cache
def all_free():
    for seed in SEEDS:
        for norm, d in (("layernorm", 3), ("layernorm", 4), ("rmsnorm", 2), ("rmsnorm", 3), ("rmsnorm", 4)):
            recipe = recipe_of(SCENE, seed=seed, norm=norm, d=d)
            at = recipe.stages.index("sphere")
            assert (
                lost(recipe, at) == 0 == lost(recipe, at + 1, gamma1=-0.5, gamma2=1.7) == lost(recipe, at + 2)
            )


def centring_loses():
    for seed in SEEDS:
        for d in (2, 3, 4):
            recipe = recipe_of(SCENE, seed=seed, norm="centre", d=d)
            assert lost(recipe, 1) > lost(recipe, 0)
    equal = 0
    for keys in ("gaussian", "inside", "ring", "equal"):
        for d in (2, 3, 4):
            recipe = recipe_of(SCENE, keys=keys, norm="centre", d=d)
            before, after = (~selectable(stage) for stage in stages(recipe)[:2])
            assert (before <= after).all()
            equal += after.sum() == before.sum()
    assert equal, "not always worse"


def copies():
    for seed in SEEDS:
        recipe = recipe_of(SCENE, seed=seed, d=2)
        sphere = stages(recipe)[2]
        assert len(np.unique(sphere.round(9), axis=0)) == 2 and lost(recipe, 2) >= 49
    x = np.array([[5.0, 8, 2], [1, 2, 0]])
    np.testing.assert_allclose(*layer_norm(x, eps=0.0), atol=SAME)
    pair = stages(recipe_of(SCENE, keys="equal"))[0]
    assert largest_weights(pair)[[0, 4]] == pytest.approx(0.5)


def free_from_three_on():
    """On LayerNorm's sphere, queries can select all keys without copies if d ≥ 3.

    In d = 2 this sphere has only two points.
    """
    all_free()
    copies()
    for d in (3, 4):
        recipe = recipe_of(SCENE, keys="equal", d=d)
        assert [np.flatnonzero(~selectable(stage)).tolist() for stage in stages(recipe)[2:]] == 3 * [
            [0, d + 1]
        ]


def without_a_direction():
    recipe = recipe_of(SCENE, keys="own", vectors="1 1 1; 5 8 2; 1 0 1; -2 1 4; 1 3 2; 0 5 1")
    sphere = stages(recipe)[2]
    np.testing.assert_allclose(
        np.linalg.norm(sphere, axis=1), np.sqrt(3) * np.array([0, 1, 1, 1, 1, 1]), atol=1e-12
    )
    assert np.flatnonzero(~selectable(sphere)).tolist() == [0]


def inside_by_epsilon():
    for eps in (0.01, 0.1, 1.0):
        recipe = recipe_of(SCENE, d=3)
        x, sphere = stages(recipe)[1], stages(recipe, eps=eps)[2]
        sigma = np.linalg.norm(x, axis=1) / np.sqrt(3)
        np.testing.assert_allclose(
            np.linalg.norm(sphere, axis=1), np.sqrt(3) * sigma / np.sqrt(sigma**2 + eps)
        )
        recipe = recipe_of(SCENE, d=3, norm="rmsnorm")
        x, sphere = stages(recipe)[0], stages(recipe, eps=eps)[1]
        rms = np.linalg.norm(x, axis=1) / np.sqrt(3)
        np.testing.assert_allclose(np.linalg.norm(sphere, axis=1), np.sqrt(3) * rms / np.sqrt(rms**2 + eps))
    at = state("A little ε")
    assert at.params["eps"] == 0.1 and 0 < counted("A little ε") < 50 and lost(at.recipe, 2, eps=0.0) == 0


def the_lead():
    free_from_three_on()
    without_a_direction()
    inside_by_epsilon()


def zeros():
    """With LayerNorm, some keys are unselectable if two gains are 0, but none if only one gain is 0.

    With RMSNorm, one gain of 0 is enough.
    """
    for seed in SEEDS:
        for d in (3, 4):
            layer, rms = (recipe_of(SCENE, seed=seed, d=d, norm=norm) for norm in ("layernorm", "rmsnorm"))
            assert lost(layer, 3, gamma1=0.0) == 0 < lost(layer, 3, gamma1=0.0, gamma2=0.0)
            assert lost(rms, 2, gamma1=0.0) > 0


def most_hollow():
    assert 25 < counted("Inside and outside") < 50
    keys = stages(state("Inside and outside").recipe)[0]
    queries = np.random.default_rng(0).normal(size=(2000, 3))
    assert selectable(keys)[np.argmax(keys @ queries.T, axis=0)].all()


def the_triangle():
    at = state("The proof")
    keys = at.recipe.cloud("keys").at(at.params, at.progress)
    found = certificate(keys, at.follow)
    assert len(keys) == 4 and found.largest < 1 and (found.weights > 0).sum() == 3
    carried()


def rises_and_falls():
    at = state("A bound")
    keys = at.recipe.cloud("keys").at(at.params, at.progress)
    q = np.array([at.params["q1"], at.params["q2"]])
    scores = np.linspace(0, 40, 4001)[:, None] * (keys @ q)
    weight = np.exp(scores[:, at.follow] - np.logaddexp.reduce(scores, axis=1))
    best = int(weight.argmax())
    assert 0 < best < 4000 and weight[-1] < 1e-3 and weight.max() < certificate(keys, at.follow).largest
    assert (np.diff(weight[: best + 1]) > 0).all() and (np.diff(weight[best:]) <= 0).all()


def centring_at_the_stop():
    assert counted("Centring makes it worse") > counted("Inside and outside")
    centring_loses()


def none_at_the_stop():
    assert counted("All can win") == 0
    all_free()


def a_disc():
    at = state("Scaling alone")
    assert counted("Scaling alone") == 0 and lost(at.recipe, 2, gamma1=0.0) > 25


def four_dimensions():
    at = state("In four dimensions")
    keys = at.recipe.cloud("keys").at(at.params, at.progress)
    assert keys.shape == (50, 4) and np.linalg.matrix_rank(keys, tol=SAME) == 3
    np.testing.assert_allclose(np.linalg.norm(keys, axis=1), 2)


def halfway():
    assert largest_weights([[0.0, 0], [4, 2], [2, 1]]) == pytest.approx([1, 1, 1 / 3])
    scores = stages(recipe_of(SCENE))[0] @ np.random.default_rng(0).normal(size=(3, 20)) / 100
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(0), 1 / 50, rtol=0.15)


def only_copies():
    """60 random keys in 128 dimensions can all be selected; of two equal keys neither can."""
    keys = np.random.default_rng(0).normal(size=(60, 128))
    assert lost_keys(keys) == 0 == lost_keys(center(keys))
    assert lost_keys(np.vstack([keys[:-1], keys[:1]])) == 2


def sliders_of_the_query():
    """The sliders q₁ … are the coordinates of the query in a rotated basis.

    In d ≤ 3, the last vector of this basis is along 𝟏. In d = 4 the three sliders are orthogonal to 𝟏.
    """
    for d, labels in (
        (2, ["q ⊥ 𝟏", "q along 𝟏"]),
        (3, ["q ⊥ 𝟏, first", "q ⊥ 𝟏, second", "q along 𝟏"]),
        (4, ["q ⊥ 𝟏, first", "q ⊥ 𝟏, second", "q ⊥ 𝟏, third"]),
    ):
        recipe = recipe_of(SCENE, d=d)
        assert [one.label for one in recipe.parameters if one.group == "Query q"] == labels
        ones = "; ".join(2 * [" ".join(d * "1")])
        keys = stages(recipe_of(SCENE, d=d, keys="own", vectors=ones))[0]
        np.testing.assert_allclose(keys[:, : d - 1], 0, atol=SAME)


def without_a_part_along_ones():
    """With d = 4 and RMSNorm every key can win, but some not by a query orthogonal to 𝟏.

    After LayerNorm with a gain, such queries are enough unless the reciprocals of the gains sum to 0.
    """
    sphere = stages(recipe_of(SCENE, d=4, norm="rmsnorm"))[1]
    assert selectable(sphere).all() and not selectable(sphere[:, :3]).all()
    keys = layer_norm(np.random.default_rng(0).normal(size=(50, 4)), eps=0.0)
    for gain in ((2, 1, 0.5, 1), (2, -1, 0.5, 1)):
        assert selectable(center(keys * gain)).all()
    for gain in ((1, 1, -1, -1), (1, 1, 1, -1 / 3)):
        assert not selectable(center(keys * gain)).all()


def few_and_many_dimensions():
    rng = np.random.default_rng(0)
    assert (~selectable(rng.normal(size=(200, 2)))).mean() > 0.9
    assert (~selectable(rng.normal(size=(60, 20)))).mean() < 0.1
    assert (~selectable(rng.normal(size=(2000, 8)))).mean() > 0.5


def depends_on_the_others():
    recipe = recipe_of(SCENE, d=2, keys="inside", norm="rmsnorm")
    before = largest_weights(stages(recipe)[0])[3]
    keys = stages(recipe)[0]
    said(before, "0.28")
    for part, words in ((1, "0.50"), (-2, "0.25")):
        corner = keys[3] + (1 - part) * (keys[0] - keys[3])
        said(largest_weights(np.vstack([corner, keys[1:]]))[3], words)
    for other in np.random.default_rng(0).normal(size=(20, 2)):
        assert largest_weights(np.vstack([keys, other]))[3] <= before + SAME


def eight_dimensions():
    """Of 1,000 random keys in 8 dimensions, more than two fifths are expected to be unselectable.

    In 20 dimensions, the expected number is below one key. Both are computed by the exact formula.
    """
    assert unselectable_share(1000, 8) > 0.4 and 1000 * unselectable_share(1000, 20) < 1


def keys_of_trained_models():
    rows = atlas.every_row()
    assert (
        len(rows) == 116
        and {row["keys"] for row in rows} == {60}
        and sum(row["keys"] for row in rows) == 6960
    )
    assert (min(row["d"] for row in rows), max(row["d"] for row in rows)) == (128, 576)
    for part in ("lost_before", "lost_after"):
        assert sum(row[part] for row in rows) == 32
        assert sum(atlas.digest(name).rows[0][part] for name in atlas.NAMES) == 32
    own = atlas.digest("smollm2")
    assert own.rows[0]["lost_after"] == 22
    points, token = own.norms[0].points, own.norms[0].token
    for each in set(token.tolist()):
        assert (points[token == each] == points[token == each][0]).all()


def copies_with_a_position():
    """In two models, the first norm's unselectable keys are copies: same token and position, in another text.

    The tokens of each text are recorded, so it is known which of the 60 keys have a copy.
    """
    from tools.films.atlas import MODELS, SMILES  # imports transformers, which is slow

    for name, cut, count in (("antiberty", r"\w", 2), ("rxnmapper", SMILES, 8)):
        lines = (re.findall(cut, line) for line in MODELS[name].read_text.splitlines())
        tokens = [pair for line in lines for pair in enumerate(["start", *line, "end"])]
        own = atlas.digest(name)
        assert len(tokens) == own.rows[0]["vectors"]
        keys = [tokens[k] for k in np.linspace(0, len(tokens) - 1, MAX_SAMPLED_KEYS).astype(int)]
        assert sum(keys.count(key) > 1 for key in keys) == count == own.rows[0]["lost_after"]
        norm = own.norms[0]
        _, vector = np.unique(norm.points, axis=0, return_inverse=True)
        kinds = np.stack([norm.token, norm.position, vector.ravel()], axis=1)
        assert len(np.unique(kinds, axis=0)) == len(np.unique(kinds[:, :2], axis=0)) < len(kinds)


CLAIMS = {
    "dimensions (512 keys in heads of 32 or 64 coordinates), none was lost in two of these models": atlas.no_key_is_lost_in_a_head,
    "which have 128 to 576 dimensions. At each of the 116 norms we took 60 vectors as keys.": keys_of_trained_models,
    "When there are fewer keys than dimensions, practically every key is a corner of the hull, unless it is a copy.": only_copies,
    "practically every key is a corner of the hull, unless it is a copy. Of these 6,960 keys, 32 are lost, the same number before and after the norm. All 32 are copies, and all are at the first norm of a model: - 22 in SmolLM2.": keys_of_trained_models,
    "- 2 in AntiBERTy and 8 in the ALBERT of rxnmapper. There the embedding of the position is added. A copy is an equal token at the same position of another text": copies_with_a_position,
    r"The sliders of the query give its coordinates along directions at right angles (⊥) to $𝟏$. If $d$ is 2 or 3, one more slider gives its part along $𝟏$. Keys and $\gamma$ are given by their usual coordinates.": sliders_of_the_query,
    r"With LayerNorm, from **centre** on, these queries suffice: every key that can win also wins by one of them. The reason is that the keys lie in a hyperplane. If a multiple of its normal is added to the query, all scores change by the same number, which the softmax ignores. One such multiple makes the query orthogonal to $𝟏$. (The only exception is a gain with $\sum_i 1/\gamma_i = 0$: it tilts the hyperplane so that its normal is orthogonal to $𝟏$.) Before centring, and at every stage of RMSNorm, they do not suffice: some keys win only by a query with a component along $𝟏$. There the gold ring cannot reach all filled points, and the hull is not drawn.": without_a_part_along_ones,
    "the four trained models": keys_of_trained_models,
    "For a key that can win, $L$ falls without bound and the weight approaches 1.": all_of_the_weight,
    "If a key lies on a side of the hull between its corners, or on a corner together with other keys, no query reaches the bound": never_reached,
    "found many such keys in a small language model with eight dimensions": eight_dimensions,
    "A hollow point can never win": fates,
    "unless two keys share a corner.": copies,
    "With $d = 3$ LayerNorm takes the keys onto a plane and out to a circle.": the_picture_by_dimension,
    "the picture with d = 4, and the matrices of attention": the_picture_by_dimension,
    "With $d = 4$ the picture shows the hyperplane of the centred vectors, so the sliders only set queries at right angles": the_picture_by_dimension,
    "and the hull is not drawn.": the_picture_by_dimension,
    "With $d = 2$ you can drag any key; it fills or empties as it crosses the hull of the others.": carried,
    "Write the weight of $h$ as $1 / (1 + e^{L(q)})$": the_bound,
    r"\frac{1}{1 + e^{H}}": the_bound,
    "With ε = 0, LayerNorm moves every key to a sphere, unless its coordinates are all equal. On the sphere every key can win, unless another key is in the same place. With a positive ε some may never win.": the_lead,
    r"after **sphere** (with $\varepsilon = 0$) no key on the sphere is an average of keys in other places. Every key can win, with two exceptions: keys that share a place, and a key without a direction": free_from_three_on,
    r"a key without a direction, which stays in the middle. For LayerNorm that is a key whose coordinates are all equal. $\gamma$ stretches the sphere": without_a_direction,
    "Centring alone never helps: an average remains an average. Among many random keys, centring even increases the number of those that can never win,": centring_loses,
    "With $d = 2$ and $\\varepsilon = 0$ LayerNorm leaves only two places, and nearly all keys are copies there.": copies,
    r"With $\varepsilon > 0$ LayerNorm takes a key to distance $\sqrt{d}\, \sigma / \sqrt{\sigma^2 + \varepsilon}$, so keys of small $\sigma$ stay inside the sphere. For RMSNorm the root mean square takes the place of $\sigma$.": inside_by_epsilon,
    r"**sphere** brings all keys to one length, if $\varepsilon = 0$.": all_free,
    r"If some $\gamma_i$ are 0 the ellipsoid is flattened": zeros,
    "Most of these fifty random keys are hollow: they can never win.": most_hollow,
    "The red key lies inside the triangle of the others.": the_triangle,
    "longer. The curve rises, stays below the bound (the dashed line), and then falls: a": rises_and_falls,
    "more keys are hollow now.": centring_at_the_stop,
    "every key is a corner, and the count is zero": none_at_the_stop,
    "Let ε be 0.1. Where does **sphere** put keys from near the middle?": inside_by_epsilon,
    "With **ε** at 0 again (a slider under *More settings*) every hollow key fills.": inside_by_epsilon,
    "Set **γ₁** to 0 (a slider under *More settings*): at **⊙ γ** the sphere becomes a disc, and "
    "most keys are lost.": a_disc,
    "### In four dimensions With $d = 4$ the centred keys fill a space of three dimensions, so": four_dimensions,
    "a key halfway between the only two others can get a third": halfway,
    "In few dimensions nearly all of many random keys are inside the hull; Brody, Alon and Yahav found many such keys in a small language model with eight dimensions. In many dimensions nearly none are inside, unless there are far more keys than dimensions.": few_and_many_dimensions,
    "its bound, the largest weight that it can get, depends on all other keys: the more evenly they surround it, the lower is the bound. One more key among the others can only lower the bound. Moving a corner can lower or raise it. In the triangle of the tour's second stop, the bound of the inner key is 0.28. With the first corner moved onto the inner key, the bound is 0.50. With this corner moved out, until it is three times as far from the inner key, the bound is 0.25.": depends_on_the_others,
}
