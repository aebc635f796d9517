"""Histograms, and the threshold that best separates two classes; mirrored by assets/engine/geometry.mjs."""

import numpy as np
from jaxtyping import Float, Int

Array = np.ndarray


def histogram(
    values: Float[Array, " n"], span: tuple[float, float], bins: int
) -> Float[Array, "2*{bins}+2 2"]:
    """The corners (value, count) of the outline of a histogram with `bins` equal bins over `span`.

    Values outside the span count in the outermost bins.
    """
    edges = np.linspace(*span, bins + 1)
    inside = np.floor((values - span[0]) / (span[1] - span[0]) * bins)
    counts = np.bincount(np.clip(inside, 0, bins - 1).astype(int), minlength=bins)
    return np.column_stack([np.repeat(edges, 2), np.concatenate([[0], np.repeat(counts, 2), [0]])])


def best_threshold(values: Float[Array, " n"], classes: Int[Array, " n"]) -> tuple[float, float]:
    """The threshold on `values` that best separates class 0 from class 1, and its accuracy (0 to 1).

    Either class may be above the threshold; which one is not returned. A value equal to the threshold counts
    as below. The threshold is midway between two neighbouring values, or the largest value if it is best to
    put all values in one class. Of several equally good thresholds the smallest is returned.
    """
    order = np.argsort(values, kind="stable")
    v, ones = values[order], np.cumsum(classes[order] == 1)
    n, below = len(v), np.arange(1, len(v) + 1)
    right = ones[-1] - ones + below - ones  # number of correct ones, with class 0 below and class 1 above
    share = np.maximum(right, n - right) / n
    cut = np.append(v[1:] > v[:-1], True)
    best = int(np.argmax(np.where(cut, share, 0)))
    return float((v[best] + v[min(best + 1, n - 1)]) / 2), float(share[best])
