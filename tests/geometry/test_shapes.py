"""Arguments and results have the shapes in the signatures."""

import inspect
from typing import get_args, get_origin

import numpy as np
import pytest
from jaxtyping import Float, jaxtyped

from geometry import center, fold, group_norm, layer_norm, rms_norm, shear, stretch, to_sphere, u_eps
from geometry.arrays import Array
from geometry.ellipsoid import to_ellipsoid
from geometry.norms import batch_norm, dyt, instance_norm, weight_norm
from geometry.path import between
from geometry.pointwise import apply

CALLS = {
    center: lambda x, v: (x,),
    to_sphere: lambda x, v: (x, {"radius": v[0], "groups": ((0, 3), (1,))}),
    u_eps: lambda x, v: (x, {"eps": 1}),
    to_ellipsoid: lambda x, v: (x, {"gamma": v, "beta": v}),
    stretch: lambda x, v: (x, {"t": 2}),
    fold: lambda x, v: (x, {"t": v[0]}),
    shear: lambda x, v: (x, {"s": 2}),
    apply: lambda x, v: ("gelu", x),
    layer_norm: lambda x, v: (x, {"gamma": v, "beta": v}),
    rms_norm: lambda x, v: (x, {"gamma": v}),
    group_norm: lambda x, v: (x, {"groups": 2}),
    batch_norm: lambda x, v: (x, {"gamma": v}),
    instance_norm: lambda x, v: (x,),
    weight_norm: lambda x, v: (x, {"g": x[..., 0]}),
    dyt: lambda x, v: (x, {"alpha": 2, "gamma": v}),
    between: lambda x, v: (x, x[..., :2], 0.5, {}),
}


def check(f, *args):
    """Call f, and assert that its arguments and results match their annotations.

    An axis name in the annotations must mean the same size everywhere. args: the arguments of f by position;
    if the last one is a dict, it contains the keyword arguments. The argument `groups` is not checked.
    """
    *args, options = args if isinstance(args[-1], dict) else (*args, {})
    signature = inspect.signature(f)
    with jaxtyped("context"):
        for name, value in signature.bind(*args, **options).arguments.items():
            # groups are plain tuples, which isinstance() cannot look into
            assert name == "groups" or isinstance(value, signature.parameters[name].annotation), (name, value)
        hint, got = signature.return_annotation, f(*args, **options)
        several = get_origin(hint) is tuple
        for one, expected in zip(
            got if several else [got], get_args(hint) if several else [hint], strict=True
        ):
            assert isinstance(one, expected), (expected, one.shape)


@pytest.mark.parametrize("shape", [(1, 4), (5, 4), (3, 1, 2, 4)], ids=str)
@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
def test_shapes(xp, rng, f, shape):
    x, v = xp.asarray(rng.normal(size=shape)), xp.asarray([1.0, 2.0, 3.0, 4.0])
    check(f, *CALLS[f](x, v))


def test_a_wrong_shape_is_seen():
    def flatten(x: Float[Array, "*batch d"]) -> Float[Array, "*batch d"]:
        return x.reshape(-1)

    with pytest.raises(AssertionError):
        check(flatten, np.ones((2, 3)))
    with pytest.raises(AssertionError):
        check(layer_norm, np.ones((2, 3)), {"gamma": np.ones(2)})
