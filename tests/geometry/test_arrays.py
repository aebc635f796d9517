"""Input types of all maps: results equal those of float64 input, and floats keep their dtype."""

import numpy as np
import pytest
import torch

from geometry import center, fold, group_norm, layer_norm, rms_norm, shear, softmax, stretch, to_sphere, u_eps
from geometry.arrays import constant, like, number, one_each, real, widened_and_cast_back
from geometry.ellipsoid import to_ellipsoid
from geometry.norms import batch_norm, dyt, instance_norm, weight_norm
from geometry.path import between
from geometry.pipeline import Affine, Normalize, Pipeline, Pointwise
from geometry.pointwise import apply

STEPS = Pipeline([Affine([[1, -1, 0], [0, 1, 2]], [1, 2]), Normalize(2, 0.5), Pointwise("gelu")])
MAPS = {
    "center": center,
    "to_sphere": lambda x: to_sphere(x, radius=2, eps=1),
    "groups": lambda x: to_sphere(x, groups=((0, 2),)),
    "u_eps": lambda x: u_eps(x, eps=1),
    "to_ellipsoid": lambda x: to_ellipsoid(x, gamma=[1, 2, 3], beta=[True, False, 1]),
    "stretch": lambda x: stretch(x, t=3, eps=1),
    "fold": lambda x: fold(x, t=-3),
    "shear": lambda x: shear(x, s=2),
    "pointwise": lambda x: apply("gelu", x),
    "abs": lambda x: apply("abs", x),
    "layer_norm": lambda x: layer_norm(x, gamma=[1, 2, 3], beta=np.float32([0, 1, 2])),
    "rms_norm": rms_norm,
    "group_norm": lambda x: group_norm(x, groups=3),
    "batch_norm": batch_norm,
    "instance_norm": instance_norm,
    "weight_norm": lambda x: weight_norm(x, g=x[:, 0]),
    "dyt": lambda x: dyt(x, alpha=0.01),
    "between": lambda x: between(x, x[::-1] if isinstance(x, list) else x[[1, 0]], 0.3),
    "stages": lambda x: STEPS.stages(x)[-1],
    "step": lambda x: STEPS.steps[0].apply(x, {}),
}
SOME = [[5, 8, 2], [250, 0, 7]]
WHOLE = ["uint8", "int16", "uint16", "int32", "int64"]
each_map = pytest.mark.parametrize("f", MAPS.values(), ids=MAPS)


def double(f, x=SOME):
    return np.asarray(f(np.asarray(x, dtype=np.float64)))


def numbers(y):
    return np.asarray(y.double() if isinstance(y, torch.Tensor) else y, dtype=np.float64)


@each_map
@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_are_numbers(f, dtype):
    for x in (np.asarray(SOME, dtype=dtype), torch.tensor(SOME, dtype=getattr(torch, dtype))):
        y = f(x)
        assert "float64" in str(y.dtype), "the default real dtype"
        np.testing.assert_allclose(numbers(y), double(f), rtol=1e-12, atol=1e-12)


@each_map
def test_booleans_are_numbers(f):
    x = [[True, False, True], [False, True, True]]
    np.testing.assert_array_equal(numbers(f(np.asarray(x))), double(f, x))
    np.testing.assert_allclose(numbers(f(torch.tensor(x))), double(f, x), atol=1e-12)


@pytest.mark.parametrize("f", [f for name, f in MAPS.items() if name != "weight_norm"])
def test_lists_are_numpys(f):
    got = f(SOME)
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, double(f))


@each_map
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "longdouble", ">f8"])
def test_every_float_comes_back_in_its_type_and_is_rounded_once(f, dtype):
    if dtype == "bfloat16":
        x, eps = torch.tensor(SOME, dtype=torch.bfloat16), torch.finfo(torch.bfloat16).eps
    else:
        x, eps = np.asarray(SOME, dtype=dtype), np.finfo(np.dtype(dtype)).eps
    y, want = f(x), double(f)
    assert y.dtype == (x.dtype if dtype != ">f8" else float)  # in native byte order, as NumPy's functions
    off = np.abs(numbers(y) - want)
    assert np.all(off <= max(0.51 * eps, 1e-14) * np.maximum(np.abs(want), 2) + 1e-5 * (eps > 1e-9))


@each_map
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_keeps_its_gradient(f, dtype):
    x = torch.tensor(SOME, dtype=dtype, requires_grad=True)
    f(x).sum().backward()
    assert x.grad.dtype == dtype and torch.isfinite(x.grad).all()


POINTS = [center, softmax, to_sphere, rms_norm, layer_norm, lambda x: fold(x, t=2), lambda x: stretch(x, t=2)]


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 0)], ids=str)
def test_no_coordinates(xp, shape):
    clouds = [batch_norm, instance_norm] if len(shape) > 1 else []
    for f in (*POINTS, *clouds):
        assert f(xp.zeros(shape)).shape == shape


@pytest.mark.parametrize("d", [0, 3])
def test_no_coordinates_with_gain_groups_and_steps(xp, d):
    x = xp.zeros((2, 0))
    assert layer_norm(x, gamma=xp.zeros(0), beta=[]).shape == group_norm(x, groups=2).shape == (2, 0)
    assert Pipeline([Affine(np.zeros((d, 0))), Normalize()]).stages(x)[-1].shape == (2, d)


REFUSED = {
    "complex": np.asarray([1j, 2, 3]),
    "a complex tensor": torch.tensor([1j, 2, 3]),
    "text": ["a", "b", "c"],
    "nothing": [None] * 3,
    "no float is so large": [10**400] * 3,
}


@pytest.mark.parametrize("x", REFUSED.values(), ids=REFUSED)
def test_what_is_no_real_number_is_refused_in_one_line(x):
    for f in (center, layer_norm, lambda x: layer_norm(np.ones(3), gamma=x), lambda x: Affine([x])):
        with pytest.raises(ValueError, match="real numbers are needed: got") as caught:
            f(x)
        assert "\n" not in str(caught.value)


LEFT_OUT = {
    "masked": lambda: np.ma.array([1.0, 2, 4, 100], mask=[0, 0, 0, 1]),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
}


@pytest.mark.parametrize("made", LEFT_OUT.values(), ids=LEFT_OUT)
def test_an_array_without_all_its_numbers_is_refused_in_one_line(made):
    """Masked, sparse and nested arrays are refused, as points and as γ.

    For example, the mean of a masked array would be wrong: the sum of its unmasked numbers, divided by the
    number of all its numbers.
    """
    x = made()
    for f in (center, layer_norm, rms_norm, lambda x: layer_norm(np.ones(3), gamma=x)):
        with pytest.raises(ValueError, match=r"^all numbers of an array are needed"):
            f(x)


def test_an_array_that_could_be_masked_and_is_not_is_as_good():
    np.testing.assert_array_equal(layer_norm(np.ma.array(SOME)), double(layer_norm))


@pytest.mark.parametrize("groups", [1.5, 3.0, "1", None, [1], np.float64(1)], ids=repr)
def test_groups_are_counted(groups):
    with pytest.raises(ValueError, match=r"^groups is a whole number: got"):
        group_norm(SOME, groups=groups)
    for one in (1, True, np.int8(1), torch.tensor(1)):
        np.testing.assert_array_equal(group_norm(SOME, groups=one), layer_norm(SOME))


def test_a_number_that_no_float_is_as_large_as():
    for call in (lambda x: layer_norm(x, eps=10**400), lambda x: to_sphere(x, radius=-(10**400))):
        with pytest.raises(ValueError, match=r"^real numbers are needed: got an integer"):
            call(SOME)


@pytest.mark.parametrize("f", [center, to_sphere, layer_norm, rms_norm])
def test_a_number_alone_is_no_point_and_not_two_axes(f):
    for x in (5.0, np.asarray(5.0), np.float64(5), torch.tensor(5.0)):
        with pytest.raises(ValueError, match=r"1 or more axes.*got shape \(\)"):
            f(x)
    with pytest.raises(ValueError, match=r"2 or more axes.*got shape \(3,\)"):
        batch_norm(np.ones(3))


def test_pointwise_takes_a_number_alone():
    assert apply("relu", -3) == 0 and apply("abs", np.int8(-128)) == 128


# Options take the library and dtype of the points


@pytest.mark.parametrize("value", [2, 2.0, np.float64(2), np.asarray(2.0), np.float32(2), True + True])
def test_a_value_takes_the_library_and_dtype_of_the_points(xp, value):
    x = xp.asarray([1.0], dtype=xp.float32)
    got = like(value, x)
    assert type(got) is type(x) or xp.__name__.endswith("numpy")
    assert got.dtype == xp.float32 and float(got) == 2


def test_integers_are_not_imposed_on_a_value():
    assert like(0.5, np.asarray([1, 2])) == 0.5


STRANGERS = {
    "backwards": np.asarray([3.0, 2, 1])[::-1],
    "big endian": np.asarray([1, 2, 3], dtype=">f8"),
    "long": np.asarray([1, 2, 3], dtype=np.longdouble),
    "half": np.float16([1, 2, 3]),
    "bytes": np.uint8([1, 2, 3]),
    "bfloat16": torch.tensor([1, 2, 3], dtype=torch.bfloat16),
    "tensor": torch.tensor([1.0, 2, 3]),
    "list": [1, 2, 3],
}


@pytest.mark.parametrize("gamma", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_gain_of_another_library_follows_the_points(gamma, dtype):
    for x in (np.asarray(SOME, dtype=dtype), torch.tensor(SOME, dtype=getattr(torch, dtype))):
        y = layer_norm(x, gamma=gamma, beta=gamma)
        assert type(y) is type(x) and y.dtype == x.dtype
        want = layer_norm(x, gamma=like([1.0, 2, 3], x), beta=like([1.0, 2, 3], x))
        np.testing.assert_array_equal(numbers(y), numbers(want))


def test_a_frozen_array_is_as_good():
    gamma = np.ones(3)
    gamma.flags.writeable = False
    assert layer_norm(torch.ones(3), gamma=gamma).shape == (3,)


def test_no_gradient_is_lost_in_silence():
    gamma = torch.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match="requires a gradient needs x as a tensor too, or to be detached"):
        layer_norm(np.ones(3), gamma=gamma)
    layer_norm(torch.arange(3), gamma=gamma).sum().backward()
    assert gamma.grad.abs().sum() > 0


def test_a_tensor_keeps_its_gradient_through_a_change_of_dtype():
    t = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    like(t, torch.zeros(1)).backward()
    assert t.grad == 1


def test_a_constant_has_no_gradient():
    assert not constant(torch.ones(1, requires_grad=True)).requires_grad


# Refused shapes and sizes

SHAPES = [(), (1,), (4,), (1, 3), (2, 3), (2, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["gamma", "beta"])
def test_a_gain_or_shift_is_one_number_a_coordinate(xp, shape, name):
    x, wrong = xp.ones((2, 3)), xp.ones(shape)
    norms = [layer_norm, batch_norm, to_ellipsoid, lambda x, **o: group_norm(x, groups=1, **o)]
    for f in (*norms, lambda x, **o: dyt(x, alpha=1, **o), lambda x, **o: instance_norm(x.mT, **o)):
        with pytest.raises(ValueError, match=rf"{name} needs a point's shape, \(3,\): got"):
            f(x, **{name: wrong})


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1), (1, 2)], ids=str)
def test_a_length_is_one_number_or_one_a_vector(xp, shape):
    with pytest.raises(ValueError, match=r"one number, or one per vector, \(2,\): got"):
        weight_norm(xp.ones((2, 3)), g=xp.ones(shape))


@pytest.mark.parametrize("value", [[1.0], [1.0, 2.0, 3.0], [[1.0], [2.0]]], ids=str)
def test_radius_eps_and_their_like_have_no_axes(xp, value):
    x, value = xp.ones((2, 3)), xp.asarray(value)
    calls = {
        "radius": [lambda: to_sphere(x, radius=value)],
        "eps": [lambda f=f: f(x, eps=value) for f in (to_sphere, u_eps, layer_norm, rms_norm, batch_norm)],
        "t": [lambda: fold(x, t=value), lambda: stretch(x, t=value)],
        "s": [lambda: shear(x, s=value)],
        "alpha": [lambda: dyt(x, alpha=value)],
    }
    for name, several in calls.items():
        for call in several:
            with pytest.raises(ValueError, match=f"^{name} is one number: got shape"):
                call()


@pytest.mark.parametrize("eps", [-1e-5, -1, float("nan"), float("inf"), np.float32(-2), torch.tensor(-1.0)])
def test_eps_is_not_negative(xp, eps):
    x = xp.ones((2, 4))
    groups = lambda x, eps: group_norm(x, groups=2, eps=eps)  # noqa: E731
    step = lambda x, eps: Normalize(eps=eps).apply(x, {})  # noqa: E731
    for f in (to_sphere, u_eps, layer_norm, rms_norm, groups, batch_norm, instance_norm, step):
        with pytest.raises(ValueError, match="eps is a finite number, 0 or more: got"):
            f(x, eps=eps)


def test_the_parts(xp):
    x = xp.ones((2, 3), dtype=xp.float32)
    assert real(x) is x
    wide, cast_back = widened_and_cast_back(x)
    assert wide is x and cast_back(x) is x
    assert number(2, x, "radius").dtype == one_each([1, 2, 3], x, "gamma").dtype == xp.float32
