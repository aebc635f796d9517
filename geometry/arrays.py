"""What every map here needs from an array library, and nothing else."""

from typing import Any

from array_api_compat import array_namespace, device, is_array_api_obj, to_device
from jaxtyping import Float

Array = Any  # NumPy, PyTorch, or whatever else follows the array API standard
Numbers = Any  # an array, a number, or nested lists of numbers
Scalar = int | float | Float[Array, ""]


def like(value: Any, x: Array) -> Array:
    """`value` as an array of x's library, device and real dtype; its gradient stays.

    The default real dtype where x holds integers.
    """
    xp = array_namespace(x)
    real = xp.isdtype(x.dtype, "real floating")
    if real and type(value) is type(x) and value.dtype == x.dtype and device(value) == device(x):
        return value  # the usual case, met many times in each step of a training
    dtype = x.dtype if real else xp.asarray(0.0).dtype
    # torch.asarray cuts the gradient of a tensor, so only strangers go through asarray
    if not (is_array_api_obj(value) and array_namespace(value) is xp):
        value = xp.asarray(value, dtype=dtype)
    return to_device(xp.astype(value, dtype, copy=False), device(x))


def constant(x: Array) -> Array:
    """The same numbers, without their gradient in a library that has gradients."""
    return x.detach() if hasattr(x, "detach") else x
