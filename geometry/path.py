"""How a point moves from one stage to the next. The engine in the browser mirrors this file."""

from array_api_compat import array_namespace, device
from jaxtyping import Float

from geometry.arrays import Array, like, taken
from geometry.sphere import to_sphere

PATHS = ("straight", "sphere")

# Below this sine of the angle between two points, rounding in float32 (1e-7) would choose the
# plane of the turn; and a turn this small cannot be told from a straight line.
TURN = 1e-5


def between(
    a: Float[Array, "*batch m"], b: Float[Array, "*batch n"], f: int | float, *, path: str = "straight"
) -> Float[Array, "*batch k"]:
    """The point at the fraction f of the way from a to b; the shorter is padded with zeros.

    `"straight"`: (1−f)·a + f·b.
    `"sphere"`: the direction turns by f·θ from a towards b on their great circle, θ being the
    angle between them, and the norm is (1−f)·‖a‖ + f·‖b‖. With u and v the unit vectors along
    a and b, c = ⟨u, v⟩ and w = v − c·u: θ = atan2(‖w‖, c), direction cos(fθ)·u + sin(fθ)·w/‖w‖.
    Straight where a or b is zero, or where sin θ = ‖w‖ ≤ TURN (nearly parallel or antipodal).

    Raises ValueError for another path.
    """
    check_path(path)
    a, back = taken(a)
    b = like(taken(b)[0], a)
    k = max(a.shape[-1], b.shape[-1])
    a, b = _pad(a, k), _pad(b, k)
    straight = (1 - f) * a + f * b
    return back(straight if path == "straight" else _turn(a, b, f, straight))


def check_path(path: str) -> None:
    """Raise ValueError for a name that is not a path."""
    if path not in PATHS:
        raise ValueError(f"no path {path!r}: take one of {PATHS}")


def _pad(x, k):
    xp, missing = array_namespace(x), k - x.shape[-1]
    if not missing:
        return x
    zeros = xp.zeros((*x.shape[:-1], missing), dtype=x.dtype, device=device(x))
    return xp.concat([x, zeros], axis=-1)


def _turn(a, b, f, straight):
    xp = array_namespace(a)
    u, v = to_sphere(a), to_sphere(b)
    c = _dot(u, v)
    w = v - c * u
    square = _dot(w, w)
    turns = (square > TURN**2) & (_dot(u, u) > 0) & (_dot(v, v) > 0)
    sine = xp.sqrt(xp.where(turns, square, xp.ones_like(square)))  # safe to divide by
    angle = f * xp.atan2(sine, c)
    norm = (1 - f) * _dot(a, u) + f * _dot(b, v)
    return xp.where(turns, norm * (xp.cos(angle) * u + xp.sin(angle) * w / sine), straight)


def _dot(a, b):
    return array_namespace(a).sum(a * b, axis=-1, keepdims=True)
