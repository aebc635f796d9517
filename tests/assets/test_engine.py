"""The browser's engine, NumPy, and PyTorch in float32 compute the same positions from one recipe."""

from functools import cache

import array_api_compat.torch as torch
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from components.language.cloud import Cloud
from components.language.packing import pack, packed
from components.language.recipe import Parameter, Recipe, View
from geometry import (
    Affine,
    Attention,
    Branches,
    Entries,
    Flow,
    Normalize,
    Of,
    Orbit,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Put,
    Softmax,
    Track,
)
from geometry.path import between
from geometry.pointwise import FUNCTIONS
from geometry.sphere import CONVENTIONS
from tests.assets.engine import (
    DOUBLE,
    ONE_ROUNDING,
    SINGLE,
    assert_agrees,
    bound_at,
    farthest,
    length,
    stages_and_bounds,
    unpack,
)

FLOAT32 = 1e-5  # allowed difference between the runtimes, relative to the size of the point
EXACT = 1e-12  # the same formula in float64, evaluated in another order
SMOOTH = sorted(set(FUNCTIONS) - {"round", "reciprocal"})  # functions without jumps and poles
EXAMPLES = 120  # some thousands were run once; running more each time would only cost time
PARAMETERS = (
    Parameter("p", "p", 0.5, -2, 2),
    Parameter("q", "q", 1.0, -2, 2),
    Parameter("e", "ε", 0.1, 0, 3),  # never below zero: for ε and for tracks
)


def test_the_browser_reads_every_number_of_half_precision(node):
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    x = halves[np.isfinite(halves)].astype(np.float32)
    sent = pack(x)
    assert sent["dtype"] == "f2"
    np.testing.assert_array_equal(node.ask("unpack", packed=sent), x)


# --- drawing recipes


@st.composite
def entries(draw, shape, rng, *, positive=False):
    """A strategy for entries of this shape: a constant, affine in parameters, on a track, or a sum of these.

    If `positive`, none of their numbers is negative, as for a radius or ε.
    """

    def some(*more):
        x = rng.normal(size=(*more, *shape)) / np.sqrt(shape[-1] if len(shape) == 2 else 1)
        return np.abs(x) if positive else x

    base = draw(st.sampled_from([some(), some(), np.zeros(shape)]))
    linear, tracked = ("e",) if positive else ("p", "q"), draw(st.sampled_from(["p", "e"]))
    terms = {name: some() for name in linear if draw(st.booleans())}
    at = np.cumsum(rng.uniform(0.1, 1, draw(st.integers(1, 4)))) - 1  # parameters can be outside
    tracks = {tracked: Track(at, some(len(at)).astype(np.float32))} if draw(st.booleans()) else {}
    return Entries(base, terms, tracks)


@st.composite
def steps(draw, d, rng, *, most, before=()):
    """A strategy for up to `most` steps for points with d coordinates, and the width of their result.

    The width is the number of coordinates. The steps may use the clouds in `before` as matrices.
    """
    found = []
    kinds = ["affine", "normalize", "pointwise", "softmax", "of", "branches"][: 6 if most > 1 else 5]
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=most)):
        if kind == "of":
            seen = [of for cloud in before for of in views_of(cloud) if of.shape[1] == d]
            if seen:
                of = draw(st.sampled_from(seen))
                found.append(Affine(of, draw(entries((of.shape[0],), rng)) if draw(st.booleans()) else None))
                d = of.shape[0]
            continue
        if kind == "softmax":
            found.append(Softmax(draw(st.sampled_from([0.0, 0.25, 1.0, SLIDING])), draw(st.booleans())))
            continue
        if kind == "branches":
            own, width = draw(steps(d, rng, most=1, before=before))
            join = draw(st.sampled_from(["sum", "concat"] if width == d else ["concat"]))
            found.append(Branches((Pipeline(()), Pipeline(own)), join))
            d = d if join == "sum" else d + width
            continue
        if kind == "affine":
            m = draw(st.integers(1, 4))
            shift = draw(entries((m,), rng)) if draw(st.booleans()) else None
            found.append(Affine(draw(entries((m, d), rng)), shift))
            d = m
        elif kind == "pointwise":
            found.append(Pointwise(draw(st.sampled_from(SMOOTH))))
        else:
            radius, eps = draw(entries((), rng, positive=True)), draw(entries((), rng, positive=True))
            groups = draw(st.none() | groupings(d))
            found.append(Normalize(radius, eps, groups, draw(st.sampled_from(CONVENTIONS))))
    return tuple(found), d


SLIDING = Entries(0.125, {"e": 1.0})


def views_of(cloud):
    """All references (`Of`) to a cloud's points as a matrix: for each stage one plain and one transposed.

    The last stage occurs twice, by its number and as the stage None.
    """
    stages = [None, *range(len(cloud.widths))]
    return [Of(cloud, stage, turned) for stage in stages for turned in (False, True)]


@st.composite
def groupings(draw, d):
    """A strategy for disjoint groups of the coordinates 0 … d − 1; a coordinate may be in none."""
    order, cuts = draw(st.permutations(range(d))), sorted(draw(st.sets(st.integers(1, d), min_size=1)))
    return tuple(tuple(order[a:b]) for a, b in zip([0, *cuts[:-1]], cuts, strict=True))


@st.composite
def clouds(draw, name, before=(), *, least=1):
    """A strategy for a cloud of `least` to 5 points, whose coordinates float32 represents exactly.

    Its first point may be zero, or have equal coordinates. Its steps may use the clouds in `before` as
    matrices.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(least, 5)), draw(st.integers(1, 4))
    points = rng.normal(size=(n, d)) * draw(st.sampled_from([1.0, 1e-3, 100.0]))
    if draw(st.booleans()):
        points[0] = draw(st.sampled_from([0.0, 1.0, -3.0]))
    place, d = draw(steps(d, rng, most=2, before=before))
    pipeline, _ = draw(steps(d, rng, most=5, before=before))
    return Cloud(name, points.astype(np.float32), Pipeline(pipeline), Pipeline(place))


def recipe_of(*found):
    last = max(len(c.pipeline.steps) for c in found)
    names = [str(k) for k in range(last + 1)]
    return Recipe(names, PARAMETERS, found, (View("view", "", (), ((-1, 1),) * 3),))


@st.composite
def cases(draw):
    """A strategy for a recipe, values of its parameters, and a progress.

    Tracks have arrays at some values of a parameter. The values drawn here may be equal to these, between
    them, or outside their range.
    """
    found = []
    for k in range(draw(st.integers(1, 3))):
        found.append(draw(clouds(f"cloud {k}", tuple(found))))
    recipe = recipe_of(*found)
    return recipe, *draw(moments(len(recipe.stages) - 1))


@cache
def moments(last):
    """A strategy for pairs: values of the PARAMETERS by name, and a progress from 0 to `last`."""
    params = {p.name: st.integers(64 * p.min, 64 * p.max).map(lambda k: k / 64) for p in PARAMETERS}
    return st.tuples(st.fixed_dictionaries(params), st.integers(0, last) | st.floats(0, last))


# --- all three runtimes agree


def torch_run(cloud, params, progress):
    """A list of the stages of a cloud, and its points at `progress`, by PyTorch in float32."""
    x = torch.asarray(np.array(cloud.points), dtype=torch.float32)
    x = cloud.place.stages(x, params)[-1]
    stages = cloud.pipeline.stages(x, params)
    k, f = divmod(min(progress, len(stages) - 1), 1)
    at = between(stages[int(k)], stages[int(k) + 1], f) if f else stages[int(k)]
    return [np.asarray(s) for s in stages], np.asarray(at)


@settings(max_examples=EXAMPLES)
@given(case=cases())
def test_engine_numpy_and_torch_agree(node, case):
    recipe, params, progress = case
    [answer] = node.run(recipe, [(params, progress)])
    assert_agrees(recipe, params, progress, answer)
    at = recipe.positions(params, progress)
    for cloud in recipe.clouds:
        stages, position = torch_run(cloud, params, progress)
        known = stages_and_bounds(cloud, params, unit=SINGLE)
        for got, (x, bound) in zip(stages, known, strict=True):
            assert farthest(got, x, np.maximum(FLOAT32 * length(x), bound)) <= 1
        bound = bound_at(cloud, params, progress, unit=SINGLE, rounding=SINGLE)
        assert farthest(position, at[cloud.name], np.maximum(FLOAT32 * length(at[cloud.name]), bound)) <= 1


@pytest.mark.parametrize(("p", "q"), [(0.0, 0.0), (0.25, -1.5)])
def test_placed_points_are_where_their_parameters_say(node, p, q):
    step = Placed([("p", "q"), ("q", "p"), ("q", "q")])
    cloud = Cloud("x", np.ones((3, 4), np.float32), Pipeline((Affine(np.diag([2.0, 1])),)), Pipeline((step,)))
    recipe, params = recipe_of(cloud), {"p": p, "q": q, "e": 0.0}
    [answer] = node.run(recipe, [(params, 0.5)])
    np.testing.assert_array_equal(answer["stages"]["x"][0], [[p, q], [q, p], [q, q]])
    assert_agrees(recipe, params, 0.5, answer)
    with pytest.raises(ValueError, match="3 points are placed: got 2"):
        step.apply(np.ones((2, 4)), params)


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_products_agree(node, data):
    """Browser, NumPy and PyTorch agree on a `Product` between other steps.

    There is only one `Product`, because with more of them numbers could overflow.
    """
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    before, d = data.draw(steps(4, rng, most=2))
    groups = data.draw(
        st.lists(st.lists(st.integers(0, d - 1), min_size=1, max_size=3), min_size=1, max_size=4)
    )
    after, _ = data.draw(steps(len(groups), rng, most=2))
    x = rng.normal(size=(5, 4)).astype(np.float32)
    recipe = recipe_of(Cloud("x", x, Pipeline((*before, Product(groups), *after))))
    params, progress = {"p": 0.25, "q": -1.5, "e": 0.5}, data.draw(st.floats(0, len(recipe.stages) - 1))
    [answer] = node.run(recipe, [(params, progress)])
    assert_agrees(recipe, params, progress, answer)
    known = stages_and_bounds(recipe.clouds[0], params, unit=SINGLE)
    for got, (y, bound) in zip(torch_run(recipe.clouds[0], params, progress)[0], known, strict=True):
        assert farthest(got, y, np.maximum(FLOAT32 * length(y), bound)) <= 1


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_points_that_see_one_another_agree(node, data):
    """Browser, NumPy and PyTorch agree on attention, and on a flow by attention in which `Put`s turn points.

    The end of the flow depends on the parameter e, and the times of the puts depend on p. Two values of p are
    tested, each with several values of e, which fall and rise from one case to the next.
    """
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n, d, keys = (data.draw(st.integers(1, most)) for most in (6, 3, 3))
    attention = Attention(keys, data.draw(st.booleans()))
    sees = Affine(data.draw(entries((2 * keys + d, d), rng)))
    velocity = Pipeline((Normalize(), sees, attention, Affine(np.eye(d, d + 1))))
    times = np.cumsum(rng.uniform(0.05, 0.4, data.draw(st.integers(1, 6))))
    puts = [
        Put(
            Entries(data.draw(st.integers(-1, n)), {"e": 0.0}),
            Entries(data.draw(st.sampled_from([-1.0, 0.5, times[0], times[-1]])), {"p": 0.8}),
            Entries(rng.normal(size=d), {"q": rng.normal(size=d)}),
        )
        for _ in range(data.draw(st.integers(0, 3)))
    ]
    flow = Flow(velocity, times, Entries(0.5, {"e": 0.7}), puts)
    x = rng.normal(size=(n, d)).astype(np.float32)
    recipe = recipe_of(
        Cloud("moved", x, Pipeline((Branches((Pipeline(()), Pipeline((flow,))), "concat"),))),
        Cloud("averages", x, Pipeline((sees, attention))),
    )
    cases = [({"p": p, "q": -1.5, "e": e}, 1) for p in (0.25, -0.5) for e in (3.0, 0.0, 0.5, 1.5)]
    for (params, progress), answer in zip(cases, node.run(recipe, cases), strict=True):
        assert_agrees(recipe, params, progress, answer)
        for cloud in recipe.clouds:
            known = stages_and_bounds(cloud, params, unit=SINGLE)
            for got, (y, bound) in zip(torch_run(cloud, params, progress)[0], known, strict=True):
                assert farthest(got, y, np.maximum(FLOAT32 * length(y), bound)) <= 1


def test_an_iteration_follows_its_count(node):
    """A cloud's cached stages are discarded even if only the number of iterations of an `Orbit` changes."""
    grow = Orbit(Pipeline((Affine([[2.0]]),)), 1, Entries(0.0, {"e": 1.0}))
    recipe = recipe_of(Cloud("x", np.ones((4, 1), np.float32), place=Pipeline((grow,))))
    cases = [({"e": e}, 0) for e in (0.0, 2.0, 3.0)]
    for (params, progress), answer in zip(cases, node.run(recipe, cases), strict=True):
        assert_agrees(recipe, params, progress, answer)


def test_the_law_can_fail(node):
    """The comparison of browser and Python detects a wrong formula: here ε is changed by 0.2 %.

    The points of an ordinary cloud then differ by more than the tolerance.
    """
    x = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    right, wrong = (recipe_of(Cloud("x", x, Pipeline((Normalize(eps=e),)))) for e in (1e-3, 1.002e-3))
    [answer] = node.run(wrong, [({}, 1)])
    with pytest.raises(AssertionError):
        assert_agrees(right, {}, 1, answer)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_draws_are_mostly_well_conditioned(convention):
    """For LayerNorm of an ordinary cloud in float32, the median of the relative error bounds is below 1e-5.

    In float64 all of them are below one rounding to float32.
    """
    x = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    steps = (Affine(np.eye(4) - 0.25), Normalize(2.0, 1e-5, convention=convention))
    (y, bound) = stages_and_bounds(Cloud("x", x, Pipeline(steps)), {}, unit=SINGLE)[-1]
    assert np.median(bound / length(y)) < FLOAT32
    (y, bound) = stages_and_bounds(Cloud("x", x, Pipeline(steps)), {}, unit=DOUBLE)[-1]
    assert np.max(bound / length(y)) < ONE_ROUNDING


# --- special cases


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_degenerate_points_are_never_nan(node, convention, eps, d):
    rows_ = [0, 1, -2, 1e30, -1e30, 1e-30]
    x = np.float32([[v] * d for v in rows_] + [[1e30] + [1e-30] * (d - 1), [1e-30] + [0] * (d - 1)])
    chain = [Normalize(eps=eps, convention=convention), *map(Pointwise, FUNCTIONS), Affine(-2 * np.eye(d))]
    back = [*map(Pointwise, FUNCTIONS), Normalize(eps=eps, convention=convention)]
    recipe = recipe_of(
        Cloud("all", x, Pipeline(chain)),
        Cloud("one", x[:1], Pipeline(chain)),
        Cloud("back", x, Pipeline(back)),
    )
    progresses = [0, 0.5, 1.5, 4.25, len(chain) - 0.5, len(chain)]
    for progress, answer in zip(progresses, node.run(recipe, [({}, p) for p in progresses]), strict=True):
        assert_agrees(recipe, {}, progress, answer)


def test_gelu_keeps_its_digits_in_the_far_tail(node):
    """From x = −12 to 2, GELU in NumPy, PyTorch and the browser has a relative error of at most 2⁻²³."""
    x = np.array([[-12.0], [-8.4], [-6.0], [-3.0], [-2.0], [-1.0], [2.0]], np.float32)
    cloud = Cloud("x", x, Pipeline((Pointwise("gelu"),)))
    [answer] = node.run(recipe_of(cloud), [({}, 1)])
    want = x * np.exp(log_ndtr(x.astype(float)))
    torchs = cloud.pipeline.stages(torch.asarray(x.astype(float)))[-1].numpy()
    for got in (answer["stages"]["x"][-1], cloud.stages({})[-1], torchs):
        np.testing.assert_allclose(got, want, rtol=2.0**-23)


def test_no_points(node):
    nothing = Cloud("none", np.zeros((0, 3), np.float32), Pipeline((Affine(np.eye(2, 3)), Normalize())))
    [answer] = node.run(recipe_of(nothing), [({}, 0.5)])
    assert answer["positions"]["none"].size == 0 and len(answer["stages"]["none"]) == 3


# --- numbers beside the picture


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_residual_is_the_largest_distance(node, n, d, seed):
    a, b = np.random.default_rng(seed).normal(size=(2, n, d)).astype(np.float32).astype(float)
    got = node.ask("residual", a=a.ravel().tolist(), b=b.ravel().tolist(), n=n)
    assert got == pytest.approx(length(a - b).max(), rel=EXACT)


def test_residual_of_no_points_is_zero(node):
    assert node.ask("residual", a=[], b=[], n=0) == 0


def test_measures(node):
    points = np.random.default_rng(1).normal(size=(20, 3)).tolist()
    points += [[1.0, 1, 1], [1e30, -1e30, 0], [1e-30, 0, 0], [5.0]]
    for x, got in zip(np.array(points, object), node.ask("measures", points=points), strict=True):
        x = np.array(x, float)
        one = np.ones(len(x)) / np.sqrt(len(x))
        assert got["components"] == x.tolist()
        for name, want in (("mean", x.mean()), ("std", x.std()), ("norm", length(x))):
            assert abs(got[name] - want) <= EXACT * length(x)
        # atan2 is accurate near 0° and 180°, where acos has errors of 1e-8
        off = np.degrees(np.arctan2(length(x - (x @ one) * one), x @ one)) - got["angle"]
        assert abs(off) < 2e-6


def test_the_zero_vector_has_no_angle(node):
    [got] = node.ask("measures", points=[[0, 0, 0]])
    assert got == {"components": [0, 0, 0], "mean": 0, "std": 0, "norm": 0, "angle": None}


@pytest.mark.parametrize("d", [2, 3, 5, 6, 17])
@pytest.mark.parametrize("drive", ["constant", "term", "base and term", "track"])
def test_a_centring_takes_a_constant_point_to_zero_exactly_in_both(node, d, drive):
    """Centring takes a constant point to exactly 0, in the browser and in Python.

    The norm after it leaves the point there. This also holds if a parameter changes the matrix, or if
    rounding makes its rows only nearly sum to 0.
    """
    PI, zero = np.where(np.eye(d) == 1, (d - 1) / d, -1 / d), np.zeros((d, d))
    A = {
        "constant": Entries(PI),
        "term": Entries(zero, terms={"p": PI}),
        "base and term": Entries(PI, terms={"p": PI}),
        "track": Entries(zero, tracks={"p": Track([0, 1], [zero, PI])}),
    }[drive]
    x = np.float32(np.linspace(-1.7, 2.3, 101)[:, None] + np.full(d, 0.8))
    recipe = recipe_of(Cloud("x", x, Pipeline((Affine(A), Normalize()))))
    [answer] = node.run(recipe, [({"p": 0.3}, 2)])
    for stages in (answer["stages"]["x"], recipe.cloud("x").pipeline.stages(x.astype(float), {"p": 0.3})):
        assert not stages[1].any() and not stages[2].any()


def test_relu_keeps_what_is_no_number(node):
    """In both runtimes, ReLU returns ∞ for ∞, and NaN for NaN, so that a missing point is not drawn at 0."""
    x = np.float32([[np.nan, np.inf, -np.inf, -1, 2]])
    through = Pipeline((Pointwise("relu"),))
    sent = packed(recipe_of(Cloud("x", 0 * np.nan_to_num(x), through)))
    sent["clouds"][0]["points"] = packed(x)
    [answer] = node.ask("run", recipe=sent, cases=[{"params": {}, "progress": 1, "followed": 0}], marks=[])
    np.testing.assert_array_equal(unpack(answer["stages"]["x"][1], 1), [[np.nan, np.inf, 0, 0, 2]])
    np.testing.assert_array_equal(Cloud("x", x, through).at({}, 1), [[np.nan, np.inf, 0, 0, 2]])
