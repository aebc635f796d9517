"""Numbers on a line: their histogram, and the threshold that separates two classes, as in engine.mjs."""

import numpy as np
from jaxtyping import Float, Int

Array = np.ndarray


def histogram(
    values: Float[Array, " n"], span: tuple[float, float], bins: int
) -> Float[Array, "2*{bins}+2 2"]:
    """The outline of a histogram of equal bins; values outside the span count in the outermost."""
    edges = np.linspace(*span, bins + 1)
    inside = np.floor((values - span[0]) / (span[1] - span[0]) * bins)
    counts = np.bincount(np.clip(inside, 0, bins - 1).astype(int), minlength=bins)
    return np.column_stack([np.repeat(edges, 2), np.concatenate([[0], np.repeat(counts, 2), [0]])])


def best_threshold(values: Float[Array, " n"], classes: Int[Array, " n"]) -> tuple[float, float]:
    """The threshold with the best accuracy for classes 0 and 1, midway between two values, and that accuracy.

    Either side may be class 1. The first of several equally good ones; all alike: the value itself.
    """
    order = np.argsort(values, kind="stable")
    v, ones = values[order], np.cumsum(classes[order] == 1)
    n, below = len(v), np.arange(1, len(v) + 1)
    right = ones[-1] - ones + below - ones  # class 0 below, class 1 above
    share = np.maximum(right, n - right) / n
    cut = np.append(v[1:] > v[:-1], True)
    best = int(np.argmax(np.where(cut, share, 0)))
    return float((v[best] + v[min(best + 1, n - 1)]) / 2), float(share[best])
