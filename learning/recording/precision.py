"""Columns of a report on a norm's divisor √(σ² + ε): effect on gradients, and error in half precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from learning.recording.column import Column, median, ratio
from learning.recording.recording import Norm

Array = np.ndarray
HALF = "PyTorch's own norms compute in float32, so this is about code that does not."
COLUMNS = (
    Column(
        "gradient",
        "1/√(σ² + ε)",
        "1/√(σ² + ε), by which the norm multiplies gradients before γ, for a GroupNorm in the group where it "
        "is largest; the median.",
    ),
    Column("gradient_high", "1/√(σ² + ε), 95th percentile", "The 95th percentile of this factor."),
    Column(
        "gradient_massive", "1/√(σ² + ε), massive vectors", "The same: the median of the massive vectors."
    ),
    *(
        column
        for dtype in ("bfloat16", "float16")
        for column in (
            Column(
                f"{dtype}_error",
                f"error of σ² + ε in {dtype}",
                f"The largest relative error of σ² + ε if σ², ε and their sum are rounded to {dtype}, over "
                f"the vectors at which it is finite. {HALF}",
                ".2g",
            ),
            Column(
                f"{dtype}_lost",
                f"ε lost in {dtype}",
                f"The share of all vectors for which this sum in {dtype} is σ² without ε.",
                ".1%",
            ),
        )
    ),
    Column(
        "float16_overflow",
        "overflow in float16",
        "The share of all vectors with a square, or a σ², too large for float16, whose largest number is "
        "65,504.",
        ".1%",
    ),
)


def columns(norm: Norm, few: Bool[Array, "n"]) -> dict[str, Any]:
    """For each name in COLUMNS, its value for one norm. `few` marks the norm's massive vectors."""
    blocks = norm.blocks(norm.x)
    if norm.centres:
        blocks = blocks - blocks.mean(axis=-1, keepdims=True)
    squares = blocks**2
    variance = squares.mean(axis=-1)
    inverse = ratio(1, np.sqrt(variance + norm.eps)).max(axis=-1)
    found = {
        "gradient": float(np.median(inverse)),
        "gradient_high": float(np.percentile(inverse, 95)),
        "gradient_massive": median(inverse[few]),
    }
    for dtype, rounded in ROUNDINGS.items():
        found |= {f"{dtype}_{name}": each for name, each in _sums(variance, norm.eps, rounded).items()}
    largest = ROUNDINGS["float16"](np.maximum(squares.max(axis=(-2, -1)), variance.max(axis=-1)))
    return found | {"float16_overflow": float(np.mean(np.isinf(largest)))}


def _sums(
    variance: Float[Array, "n groups"], eps: float, rounded: Callable[[Any], Array]
) -> dict[str, float | None]:
    """The rounding errors of σ² + ε, if σ², ε and their sum are each rounded by the function `rounded`.

    variance: σ² of each group of coordinates of each vector. Returns a dict. "error" is the largest relative
    error of a sum, or None if no sum is finite. "lost" is the share of vectors in which rounding removes the
    effect of ε > 0: in at least one of the vector's groups, the rounded sum equals the rounded σ².
    """
    own = rounded(variance)
    with np.errstate(over="ignore"):
        summed = rounded(own + rounded(eps))
    finite = np.isfinite(summed)
    error = np.abs(ratio(summed, variance + eps) - 1)[finite & (variance + eps > 0)]
    lost = (summed == own) & finite & (eps > 0)
    return {"error": float(error.max()) if len(error) else None, "lost": float(np.mean(lost.any(axis=-1)))}


def to_bfloat16(x: Any) -> Array:
    """Round to the nearest bfloat16 numbers, which have 8 significant bits; ties go to even.

    Numbers too large for bfloat16 become +∞, also negative ones; the numbers rounded here are never negative.
    """
    fraction, exponent = np.frexp(np.asarray(x, dtype=float))
    near = np.ldexp(np.round(fraction * 256) / 256, exponent)
    return np.where(np.abs(near) < 2.0**128, near, np.inf)


def to_float16(x: Any) -> Array:
    """Round to the nearest half-precision numbers; numbers beyond their range become infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(x, dtype=float).astype(np.float16).astype(float)


ROUNDINGS: Mapping[str, Callable[[Any], Array]] = {"bfloat16": to_bfloat16, "float16": to_float16}
