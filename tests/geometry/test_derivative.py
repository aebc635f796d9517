"""The derivatives of each step and function equal PyTorch's, and that of LayerNorm its closed form."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from geometry import (
    Affine,
    Branches,
    Derivative,
    Entries,
    Normalize,
    Orbit,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Softmax,
)
from geometry.centering import centering_matrix
from geometry.pointwise import FUNCTIONS
from geometry.sphere import CONVENTIONS

CLOSE = 1e-10  # relative to the largest number: some roundings of a few steps
STEPS = {
    "affine": Affine(Entries(np.ones((3, 4)), {"s": np.eye(3, 4)}), [1, 2, 3]),
    "centring": Affine(centering_matrix(4)),
    "product": Product(((0, 1), (2,), (3, 3, 1))),
    "product of pairs": Product(((0, 1), (2, 3))),
    "softmax": Softmax(0.7),
    "causal softmax": Softmax(0.7, causal=True),
    "residual": Branches((Pipeline(()), Pipeline((Pointwise("tanh"), Affine(np.ones((4, 4))))))),
    "heads": Branches((Pipeline((Softmax(),)), Pipeline((Normalize(),))), "concat"),
} | {
    f"normalize, {convention}, ε = {eps}, {groups}": Normalize(1.7, eps, groups, convention)
    for convention in ("bare", "pytorch", "std")
    for eps in (0.0, 0.3)
    for groups in (None, ((0, 2),), ((0,), (1, 2, 3)))
}


def jvp(pipeline, x, v, params):
    """f(x) and J(x)·v side by side, for the pipeline f, by PyTorch's automatic differentiation.

    `Derivative` returns them in the same form.
    """
    out = torch.autograd.functional.jvp(
        lambda at: pipeline.stages(at, params)[-1], torch.tensor(x), torch.tensor(v)
    )
    return np.concatenate([each.numpy() for each in out], -1)


def check(pipeline, seed=0, d=4, n=6):
    rng = np.random.default_rng(seed)
    x, v, params = rng.normal(size=(n, d)), rng.normal(size=(n, d)), {"s": rng.normal(), "eps": 0.2}
    got = Derivative(pipeline).apply(np.hstack([x, v]), params)
    want = jvp(pipeline, x, v, params)
    np.testing.assert_allclose(got, want, rtol=0, atol=CLOSE * max(1, np.abs(want).max()))
    tensor = Derivative(pipeline).apply(torch.tensor(np.hstack([x, v])), params)
    np.testing.assert_allclose(tensor.numpy(), want, rtol=0, atol=CLOSE * max(1, np.abs(want).max()))


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("seed", range(3))
def test_each_step(name, seed):
    check(Pipeline((STEPS[name],)), seed)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"arcsin"}))
def test_each_function(name):
    check(Pipeline((Pointwise(name),)))


def test_arcsine():
    check(Pipeline((Normalize(radius=0.9), Pointwise("arcsin"))))


def test_a_chain_of_derivatives_is_the_derivative_of_the_chain():
    steps = (STEPS["centring"], Normalize(2.0, 0.1), Pointwise("gelu"), STEPS["affine"])
    x, params = np.random.default_rng(1).normal(size=(5, 8)), {"s": 0.4}
    chain = Pipeline(tuple(Derivative(Pipeline((step,))) for step in steps)).stages(x, params)[-1]
    np.testing.assert_allclose(chain, Derivative(Pipeline(steps)).apply(x, params), rtol=0, atol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("array", (np.array, torch.tensor))
def test_the_zero_vector_has_a_derivative_only_with_eps(array, convention):
    """`Normalize` maps 0 to 0. Its derivative there along v is v over its divisor at 0, or NaN if ε = 0."""
    pair = array([[0.0, 0, 0, 0, 3, 4, 0, 0]])
    for eps in (0.0, 0.25):
        norm = Pipeline((Normalize(eps=eps, convention=convention),))
        image, v = np.split(np.asarray(Derivative(norm).apply(pair, {})), 2, axis=-1)
        assert not image.any()
        divisor = {"bare": 0.5, "pytorch": 1.0, "std": 0.5}[convention]
        np.testing.assert_allclose(v, np.array([[3, 4, 0, 0]]) / divisor if eps else np.full((1, 4), np.nan))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from((0.0, 1e-5, 1.0)))
def test_layer_norm_has_the_closed_form(seed, d, eps):
    """LayerNorm's Jacobian at x is (Π − z zᵀ/d)/√(σ² + ε), where z = LN(x), and Π is the centring matrix."""
    rng = np.random.default_rng(seed)
    x, v = rng.normal(size=(2, d)) * 10.0 ** rng.uniform(-2, 2)
    norm = Pipeline((Affine(centering_matrix(d)), Normalize(np.sqrt(d), d * eps)))
    z, got = np.split(Derivative(norm).apply(np.hstack([x, v]), {}), 2)
    jacobian = (centering_matrix(d) - np.outer(z, z) / d) / np.sqrt(x.var() + eps)
    size = np.linalg.norm(v) / np.sqrt(x.var() + eps)
    np.testing.assert_allclose(got, jacobian @ v, rtol=0, atol=1e-9 * size * (1 + abs(x.mean()) / x.std()))


@pytest.mark.parametrize(
    "make",
    (
        lambda: Derivative(Pipeline((Placed([["a"]]),))),
        lambda: Derivative(Pipeline((Branches((Pipeline(()), Pipeline((Derivative(Pipeline(())),)))),))),
        lambda: Derivative(Pipeline((Orbit(Pipeline(()), 1),))),
        lambda: Derivative(Pipeline(())).width(3),
    ),
)
def test_what_has_no_derivative_is_refused(make):
    with pytest.raises(ValueError, match="derivative"):
        make()
