"""The browser's derivative of a pipeline equals NumPy's, for every step, function and composition."""

import numpy as np
import pytest

from components.language.cloud import Cloud
from components.language.recipe import Parameter, Recipe, View
from geometry import Affine, Branches, Derivative, Normalize, Of, Orbit, Pipeline, Pointwise, Softmax
from geometry.pointwise import FUNCTIONS
from geometry.sphere import CONVENTIONS
from tests.geometry.test_derivative import STEPS

SINGLE = 1e-6  # answers travel in float32
PARAMS = {"s": 0.6}


def agree(node, *steps, before=(), n=4):
    """Assert that the browser's stages of a pipeline of these steps equal NumPy's.

    The pipeline's cloud has n random points with 8 coordinates: those of a point and of a direction in 4D.
    before: further clouds, to which the steps may refer.
    """
    points = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
    clouds = (*before, Cloud("pairs", points, Pipeline(steps)))
    names = [str(k) for k in range(max(len(steps), 1) + 1)]
    parameters = (Parameter("s", "s", PARAMS["s"], -2, 2),)
    recipe = Recipe(names, parameters, clouds, (View("view", "", (), ((-1, 1),) * 3),))
    [answer] = node.run(recipe, [(PARAMS, len(steps))])
    for got, want in zip(answer["stages"]["pairs"], clouds[-1].stages(PARAMS), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=SINGLE * np.nanmax(np.abs(want)))


@pytest.mark.parametrize("name", STEPS)
def test_each_step(node, name):
    agree(node, Derivative(Pipeline((STEPS[name],))))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function(node, name):
    agree(node, Derivative(Pipeline((Normalize(0.9), Pointwise(name)))))


def test_a_chain_within_branches(node):
    inner = Derivative(Pipeline((STEPS["centring"], Normalize(2.0, 0.1), Pointwise("gelu"), STEPS["affine"])))
    both = Branches((Pipeline(()), Pipeline((inner,))), "concat")
    agree(node, both, Affine(np.eye(6, 14)), Derivative(Pipeline((Softmax(0.0), Normalize()))))


def test_points_of_another_cloud_are_constants(node):
    keys = Cloud("keys", np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32))
    agree(node, Derivative(Pipeline((Affine(Of(keys)), Softmax()))), before=(keys,))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("eps", (0.0, 0.5))
def test_the_zero_vector_is_taken_as_in_numpy(node, eps, convention):
    step = Derivative(Pipeline((Normalize(2.0, eps, convention=convention),)))
    agree(node, Affine(np.diag([0, 0, 0, 0, 1, 1, 1, 1])), step)


@pytest.mark.parametrize("rounds", (0.0, 2.5, 9.0))
def test_an_iteration(node, rounds):
    """The browser's stages equal NumPy's for an `Orbit` inside `Branches` that iterates a `Derivative`.

    rounds: the number of iterations, also 0 or a fraction.
    """
    inner = Pipeline((Affine(np.eye(4, 6)), Derivative(Pipeline((Normalize(1.5, 0.1),)))))
    inputs = Pipeline((Affine(np.eye(2, 6, 4)), Affine(np.eye(4, 2))))
    once = Pipeline((Branches((inner, inputs)),))
    orbit = Orbit(Pipeline((Affine(np.eye(6, 8)), *once.steps)), 4, rounds)
    agree(node, Branches((Pipeline((orbit,)), Pipeline(())), "concat"), n=6)
