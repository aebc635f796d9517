"""Derivatives by central differences: as pipeline steps (`geometry.pipeline`), and of any map of points."""

from collections.abc import Callable

import numpy as np

from geometry.entries import Entries, Of
from geometry.pipeline import Affine

Array = np.ndarray
JACOBIAN_STEP = 1e-4  # half the distance between the two points of a difference
MIN_SLOPE = 1e-6  # smaller singular values of a Jacobian count as 0


def nudged(step: Affine, h: float) -> Affine:
    """The step x ↦ (y + h·e₁, y − h·e₁, x₁), with y = step(x). If y has m coordinates, the result has 2m + 1.

    The first two parts are neighbours of y along the first unit vector e₁. To get the derivative of a
    function f at y, apply f to both parts, then `quotient`. Raises ValueError if the step depends on a
    `Track`, or uses the points of another cloud as its matrix (`Of`).
    """
    (m, d), e = step.A.shape, h * np.eye(step.A.shape[0])[0]
    b = step.b or Entries(np.zeros(m))
    if isinstance(step.A, Of) or step.A.tracks or b.tracks:
        raise ValueError("only a step of constants and terms can be nudged: got tracks, or other points")

    def twice(part: Array, last: Array) -> Array:
        return np.concatenate([part, part, last])

    A = {name: twice(term, np.zeros((1, d))) for name, term in step.A.terms.items()}
    shifts = {name: twice(term, np.zeros(1)) for name, term in b.terms.items()}
    shift = twice(b.base, np.zeros(1)) + np.concatenate([e, -e, [0]])
    return Affine(Entries(twice(step.A.base, np.eye(1, d)), A), Entries(shift, shifts))


def quotient(m: int, h: float) -> Affine:
    """The central difference quotient (u, v, x₁) ↦ (u₁ − v₁)/2h, for u and v of m coordinates.

    For u = f(y + h·e₁) and v = f(y − h·e₁), the images of the neighbours that `nudged` gives, this is the
    derivative of f(y)₁ with respect to y₁, up to an error of order h². x₁ is not used.
    """
    weights = np.zeros((1, 2 * m + 1))
    weights[0, [0, m]] = 0.5 / h, -0.5 / h
    return Affine(weights)


def image_dimension(f: Callable[[Array], Array], x: Array) -> int:
    """The rank of the Jacobian of f at x (d,), computed by central differences."""
    slopes = [(f(x + e) - f(x - e)) / (2 * JACOBIAN_STEP) for e in JACOBIAN_STEP * np.eye(len(x))]
    return int(np.sum(np.linalg.svd(np.array(slopes))[1] > MIN_SLOPE))
