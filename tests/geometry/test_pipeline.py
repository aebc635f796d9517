from math import sqrt

import numpy as np
import pytest
import torch

from geometry import (
    Affine,
    Branches,
    Entries,
    Flow,
    Normalize,
    Of,
    Pipeline,
    Placed,
    Pointwise,
    Product,
    Softmax,
    Track,
    layer_norm,
    to_sphere,
)
from geometry.centering import centering_matrix, hyperplane_basis

ROUNDING = 1e-12  # double precision through a handful of steps
GAMMA, BETA = [2.0, 0.5, -1.0], [1.0, 0.0, 3.0]
FIVE = Pipeline(
    [
        Affine(centering_matrix(3)),
        Normalize(),
        Affine(sqrt(3) * np.eye(3)),
        Affine(np.diag(GAMMA)),
        Affine(np.eye(3), BETA),
    ]
)
NETWORK = Pipeline(
    [
        Affine(Entries(np.ones((3, 2)), terms={"s": np.eye(3, 2)}), [0, 1, 2]),
        Normalize(eps=Entries(0.1, terms={"t": 1.0})),
        Affine(
            Entries(np.zeros((1, 3)), tracks={"step": Track([0, 10], [np.zeros((1, 3)), np.ones((1, 3))])})
        ),
        Pointwise("gelu"),
    ]
)
PARAMS = {"s": 2.0, "t": 0.3, "step": 4.0}


def close(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=0, atol=ROUNDING)


def test_worked_example_stage_by_stage(xp):
    stages = FIVE.stages(xp.asarray([5.0, 8.0, 2.0]))
    want = [
        [5, 8, 2],
        [0, 3, -3],
        [0, 1 / sqrt(2), -1 / sqrt(2)],
        [0, 1.224744871391589, -1.224744871391589],
        [0, 0.6123724356957945, 1.224744871391589],
        [1, 0.6123724356957945, 4.224744871391589],
    ]
    assert len(stages) == 6
    for got, expected in zip(stages, want, strict=True):
        close(got, expected)


def test_five_steps_are_layer_norm(xp, batch, rng):
    x = xp.asarray(rng.normal(size=(*batch, 3)))
    close(
        FIVE.stages(x)[-1], np.asarray(layer_norm(x, gamma=xp.asarray(GAMMA), beta=xp.asarray(BETA), eps=0.0))
    )


def test_library_dtype_and_shape_stay(xp, batch):
    for y in NETWORK.stages(xp.ones((*batch, 2), dtype=xp.float32), PARAMS):
        assert y.dtype == xp.float32 and type(y) is type(xp.ones(1))
    assert y.shape == (*batch, 1)
    assert NETWORK.stages(xp.zeros((0, 2)), PARAMS)[2].shape == (0, 3)


def test_the_device_stays():
    """All stages stay on the points' device; "meta" stands for any device other than the default."""
    x = torch.ones((4, 3), device="meta")
    steps = [Affine(np.eye(2, 3), [0, 1]), Normalize(groups=((1,),)), *NETWORK.steps]
    assert {y.device for y in Pipeline(steps).stages(x, PARAMS)} == {x.device}


def test_steps_do_what_they_say(xp, rng):
    x = rng.normal(size=(4, 2))
    hidden = x @ (np.ones((3, 2)) + 2 * np.eye(3, 2)).T + [0, 1, 2]
    got = NETWORK.stages(xp.asarray(x), PARAMS)
    close(got[1], hidden)
    close(got[2], hidden / np.sqrt(np.sum(hidden**2, -1, keepdims=True) + 0.4))
    close(got[3], 0.4 * np.sum(np.asarray(got[2]), -1, keepdims=True))


def test_normalize_passes_its_options(xp, rng):
    x = xp.asarray(rng.normal(size=(4, 5)))
    options = {"radius": 2.0, "eps": 0.1, "groups": ((0, 3), (1, 2)), "convention": "std"}
    got = Pipeline([Normalize(**options)]).stages(x)[-1]
    close(got, np.asarray(to_sphere(x, **options)))


def test_a_product_multiplies_within_groups(xp, batch, rng):
    x = rng.normal(size=(*batch, 4))
    got = Pipeline([Product([(0, 2), (3,), (1, 1, 1)])]).stages(xp.asarray(x))[-1]
    close(got, np.stack([x[..., 0] * x[..., 2], x[..., 3], x[..., 1] ** 3], -1))
    dot = Pipeline([Product([(0, 2), (1, 3)]), Affine(np.ones((1, 2)))]).stages(xp.asarray(x))[-1]
    close(dot[..., 0], np.sum(x[..., :2] * x[..., 2:], -1))


@pytest.mark.parametrize("groups", [(), ((),), ((0,), ()), ((-1,),)])
def test_a_product_needs_groups(groups):
    with pytest.raises(ValueError, match="needs groups of indices"):
        Product(groups)


def test_a_product_needs_its_coordinates():
    with pytest.raises(ValueError, match="coordinate 4 takes points of more than 4 coordinates: got 3"):
        Pipeline([Affine(np.eye(3)), Product([(0, 4)])])


def test_no_steps_is_the_identity(xp):
    x = xp.ones((2, 3))
    assert Pipeline([]).stages(x)[0] is x


def test_basis_shows_the_sphere_of_four_dimensions_in_three(xp, rng):
    x = xp.asarray(rng.normal(size=(9, 4)))
    pipeline = Pipeline([Affine(centering_matrix(4)), Normalize(2.0), Affine(hyperplane_basis(4))])
    assert pipeline.stages(x)[-1].shape == (9, 3)
    close(np.linalg.norm(np.asarray(pipeline.stages(x)[-1]), axis=-1), np.full(9, 2.0))


def test_parameters():
    assert NETWORK.parameters == PARAMS.keys() and not FIVE.parameters
    with pytest.raises(ValueError, match=r"\['step'\]"):
        NETWORK.stages(np.ones(2), {"s": 1.0, "t": 1.0})
    grow = Flow(Pipeline((Affine(Entries(np.eye(1), {"a": np.eye(1)})),)), [0.0, 1.0])
    for step in (Placed((("a",),)), grow):
        with pytest.raises(ValueError, match=r"\['a'\]"):
            Pipeline((step,)).stages(np.ones((1, 1)), {"b": 1.0})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Affine([1.0, 2.0]), "matrix"),
        (lambda: Affine(np.eye(2), [1.0]), "each row"),
        (lambda: Affine(np.zeros((4, 3, 2)), np.zeros(3)), r"shape \(4, 3\)"),
        (lambda: Normalize(radius=[1.0, 2.0]), "radius"),
        (lambda: Normalize(eps=[1.0]), "eps"),
        (lambda: Normalize(eps=-1.0), "0 or more"),
        (
            lambda: Normalize(Entries(0.0, {"r": 1.0})).apply(np.ones(2), {"r": np.ones(2)}),
            "radius is one number",
        ),
        (lambda: Normalize(convention="other"), "bare"),
        (lambda: Normalize(groups=((0, 1), (1,))), "twice"),
        (lambda: Pointwise("softmax"), "gelu"),
        (lambda: Pipeline([Affine(np.eye(2)), Affine(np.eye(3))]), "3 coordinates: got 2"),
        (lambda: Pipeline([Affine(np.eye(2)), Normalize(groups=((0, 2),))]), "0 … 1"),
        (lambda: FIVE.stages(np.ones((5, 4))), "3 coordinates: got 4"),
    ],
)
def test_errors_say_what_came_and_what_is_needed(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("b", [True, False])
def test_axes_before_the_matrix_are_maps_at_once(xp, rng, shared, b):
    A, shift, x = rng.normal(size=(4, 3, 2)), rng.normal(size=(4, 3)), rng.normal(size=(4, 5, 2))
    x = x[0] if shared else x
    affine = Affine(xp.asarray(A), xp.asarray(shift) if b else None)
    got = affine.apply(xp.asarray(x), {})
    assert got.shape == (4, 5, 3) and affine.width(2) == 3
    for k in range(4):
        close(got[k, ...], (x if shared else x[k]) @ A[k].T + shift[k] * b)


def test_gradients_into_points_entries_and_parameters():
    def run(x, A, b, term, values, s, t):
        steps = [
            Affine(Entries(A, terms={"s": term}), b),
            Normalize(Entries(1.0, terms={"s": 1.0}), eps=Entries(0.1, terms={"t": 1.0})),
            Affine(Entries(np.zeros((2, 3)), tracks={"t": Track([0, 1, 2], values)})),
            Pointwise("tanh"),
        ]
        params = {"s": s, "t": t}
        return tuple(Pipeline(steps).stages(x, params))

    shapes = ((4, 2), (3, 2), 3, (3, 2), (3, 2, 3))
    leaves = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    sliders = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.6, 1.3)]
    assert torch.autograd.gradcheck(run, (*leaves, *sliders))


@pytest.mark.parametrize("d", [2, 3, 4])
def test_centring_takes_a_constant_vector_to_zero_exactly(d):
    constant = np.linspace(-1.7, 2.3, 101)[:, None] + np.full(d, 0.8)
    centred, on_sphere = Pipeline((Affine(centering_matrix(d)), Normalize())).stages(constant)[1:]
    assert not centred.any() and not on_sphere.any()


@pytest.mark.parametrize("d", [2, 3, 5, 6, 17])
@pytest.mark.parametrize("library", ["numpy", "float32", "float64", "gradient"])
def test_a_centring_that_a_parameter_drives_takes_a_constant_vector_to_zero_exactly(d, library):
    """Centring takes a constant vector to exactly 0, and the norm after it takes this 0 to 0.

    This holds whether the matrix is constant, or `Entries` with a term, with base and term, or with a track.
    """
    PI, x = centering_matrix(d), np.linspace(-1.7, 2.3, 101)[:, None] + np.full(d, 0.8)
    by = {
        "term": Entries(np.zeros((d, d)), terms={"t": PI}),
        "base and term": Entries(PI, terms={"t": PI}),
        "track": Entries(np.zeros((d, d)), tracks={"t": Track([0, 1], [0 * PI, PI])}),
        "constant": PI,
        "constant tensor": torch.asarray(PI),
    }
    t = torch.tensor(0.3, requires_grad=True) if library == "gradient" else 0.3
    if library != "numpy":
        x = torch.asarray(x, dtype=torch.float32 if library == "float32" else torch.float64)
    for A in by.values():
        centred, on_sphere = Pipeline((Affine(A), Normalize())).stages(x, {"t": t})[1:]
        assert not centred.any() and not on_sphere.any()


def test_the_gradient_of_a_parameter_that_centres_is_that_of_the_matrix():
    """For d = 2 and A = I − t𝟏𝟏ᵀ, ∂(Ax)₁/∂t is −(x₁ + x₂) also at t = ½, where all rows of A sum to 0.

    `Affine` treats such a matrix specially. This must not change the gradient.
    """
    t = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    step = Affine(Entries(np.eye(2), {"t": -np.ones((2, 2))}))
    step.apply(torch.tensor([[3.0, 1.0]], dtype=torch.float64), {"t": t})[0, 0].backward()
    assert t.grad == -4


def test_what_only_nearly_centres_is_the_matrix(rng):
    A = Entries(centering_matrix(3), terms={"t": np.eye(3)})
    x = rng.normal(size=(5, 3)) + 1e6
    got = Affine(A).apply(x, {"t": 1e-12})
    np.testing.assert_allclose(got.sum(-1), 1e-12 * x.sum(-1), rtol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_rounded_at_the_stages_only(rng, dtype):
    x = torch.asarray(rng.normal(size=(9, 2))).to(dtype)
    for got, want in zip(NETWORK.stages(x, PARAMS), NETWORK.stages(x.double(), PARAMS), strict=True):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.double(), want, rtol=0.51 * torch.finfo(dtype).eps, atol=1e-6)


def test_an_eps_that_parameters_drive_may_make_any_positive_divisor(xp):
    """A norm that divides by ‖x‖ + ε√n accepts a negative ε from parameters, if the divisor is positive.

    The scene `surface` uses this.
    """
    step = Normalize(eps=Entries(-5 / sqrt(2), {"h": 1 / sqrt(2)}), convention="std")
    close(step.apply(xp.asarray([[3.0, 4.0], [-4.0, 3.0]]), {"h": 2.0}), [[1.5, 2], [-2, 1.5]])


class Source:
    """A stand-in for a cloud that a step reads; its one stage is its points times the parameter c."""

    name, widths, parameters = "keys", [3], frozenset({"c"})

    def __init__(self, points):
        self.points = points

    def stages(self, params):
        return [params["c"] * self.points]


def test_scores_of_another_cloud_and_the_sum_of_its_points(xp, rng):
    """Two steps that read a cloud of keys, with a softmax between them, equal PyTorch's attention.

    The pipeline has the parameter of that cloud, and lists the cloud once for each step that reads it.
    """
    q, k = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    keys = Source(xp.asarray(k))
    pipeline = Pipeline((Affine(Of(keys)), Softmax(3**0.5), Affine(Of(keys, transposed=True))))
    scores, weights, out = pipeline.stages(xp.asarray(q), {"c": 2.0})[1:]
    close(scores, 2 * q @ k.T)
    close(np.asarray(weights).sum(-1), np.ones(5))
    want = torch.nn.functional.scaled_dot_product_attention(*(torch.asarray(a) for a in (q, 2 * k, 2 * k)))
    close(out, want.numpy())
    assert pipeline.parameters == {"c"} and pipeline.sources == (keys, keys)
    assert Affine(Of(keys)).width(3) == 4 and Affine(Of(keys, transposed=True)).width(4) == 3


def test_a_residual_is_a_branch_beside_the_empty_one(xp, rng):
    x = rng.normal(size=(4, 3))
    block = Pipeline((Affine(2 * np.eye(3)), Pointwise("tanh")))
    close(Branches((Pipeline(()), block)).apply(xp.asarray(x), {}), x + np.tanh(2 * x))
    heads = Branches((block, Pipeline((Affine(np.eye(1, 3)),))), "concat")
    close(heads.apply(xp.asarray(x), {}), np.hstack([np.tanh(2 * x), x[:, :1]]))
    assert heads.width(3) == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Branches(()), "at least"),
        (lambda: Branches((Pipeline(()),), "add"), "sum"),
        (
            lambda: Pipeline(
                (Affine(np.eye(3)), Branches((Pipeline(()), Pipeline((Affine(np.eye(2, 3)),)))))
            ),
            "added",
        ),
        (lambda: Branches((Pipeline(()), Pipeline((Product(((0,),)),)))).apply(np.ones((2, 3)), {}), "added"),
        (lambda: Softmax(np.ones(2)), "one number"),
    ],
)
def test_branches_and_temperatures_that_cannot_be(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_gradients_go_through_attention_and_branches():
    def run(x, points, t):
        keys = Source(points)
        head = Pipeline(
            (Affine(Of(keys)), Softmax(Entries(0.0, {"t": 1.0})), Affine(Of(keys, transposed=True)))
        )
        return Branches((Pipeline(()), head)).apply(x, {"c": 1.0, "t": t})

    x, points = (torch.randn(4, 3, dtype=torch.float64, requires_grad=True) for _ in "xk")
    assert torch.autograd.gradcheck(
        run, (x, points, torch.tensor(0.8, dtype=torch.float64, requires_grad=True))
    )
