"""Which keys attention can select, and the most that it can ever give each of them.

A query q scores the key k by ⟨q, k⟩. assets/engine/selection.mjs mirrors this file.
Keys may be doubled, on a line, in a plane, or one; in any dimension.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from geometry.arrays import Numbers, real

Array = np.ndarray
LEAD_TOLERANCE = 1e-12  # of the size of the keys: a lead that is smaller is rounding
CONVERGED_GAIN = 1e-20  # what Newton's next step would gain where it ends
FULL_STEP_GAIN = 1e-9  # where that is less, a whole step is right, and rounding hides what it gains
CURVATURE_FLOOR = 1e-12  # of the mean curvature: less is none, in a direction in which the keys do not spread
WEIGHT_FLOOR = 1e-10  # less is what is left of 0: on the edge of a hull the most even weights are a limit
MAX_NEWTON_STEPS = 100  # never reached: on the edge of a hull each gains a factor e, elsewhere it squares


@dataclass(frozen=True, eq=False)
class Certificate:
    """What attention can give one key h, and why.

    margin: the distance from h to the convex hull of the other keys; above 0, some query selects h.
    query: where it does, the unit vector q that leads by most, min ⟨q, h − kᵢ⟩ = margin; else the query that
    gives h its largest weight (on a face of the hull that is a limit: a query that comes near it).
    weights: (n,), the most even average Σ pᵢkᵢ = h of the other keys, which proves that h never wins; 0 where
    h can be selected. largest: the supremum of its softmax weight over all queries, 1/(1 + e^H) with the
    entropy H = −Σ pᵢ log pᵢ; 1 where h can be selected.
    """

    margin: float
    query: Array
    weights: Array
    largest: float


def certificate(keys: Float[Array, "n d"], k: int) -> Certificate:
    """The certificate of the key k: a query that selects it, or weights with which others average to it.

    Raises ValueError unless the keys are finite numbers (n, d).
    By Farkas' lemma exactly one of the two exists.
    """
    keys = checked(keys)
    away, others = np.delete(keys, k, axis=0) - keys[k], np.delete(np.arange(len(keys)), k)
    weights, size = np.zeros(len(keys)), _size(away)
    if not len(away):
        return Certificate(np.inf, np.zeros(keys.shape[1]), weights, 1.0)
    foot = nearest(away)
    if (lead := _lead(foot, away, size)) > 0:
        return Certificate(lead, -foot / np.linalg.norm(foot), weights, 1.0)
    query, p = evenest(away)
    weights[others] = np.where(p < WEIGHT_FLOOR, 0, p)
    return Certificate(0.0, query, weights, largest_weight(p))


def selectable(keys: Float[Array, "n d"]) -> Bool[Array, " n"]:
    """Whether some query gives a key a higher score than every other: it is no convex combination of them.

    Of doubled keys none leads, nor does a key between two others.
    """
    return margins(keys) > 0


def margins(keys: Float[Array, "n d"]) -> Float[Array, " n"]:
    """The distance of each key to the convex hull of the others; ∞ for a key that is alone."""
    keys, leads = checked(keys), []
    for k, key in enumerate(keys):
        away = np.delete(keys, k, axis=0) - key
        leads.append(_lead(nearest(away), away, _size(away)))
    return np.asarray(leads)


def largest_weights(keys: Float[Array, "n d"]) -> Float[Array, " n"]:
    """The supremum over all queries of each key's softmax weight: 1 for a key that can be selected."""
    keys = checked(keys)
    return np.asarray([certificate(keys, k).largest for k in range(len(keys))])


def largest_weight(p: Float[Array, " n"]) -> float:
    """1/(1 + e^H) of weights p that sum to 1; their entropy is H = −Σ pᵢ log pᵢ."""
    some = p[p > 0]
    return float(1 / (1 + np.exp(-np.sum(some * np.log(some)))))


def nearest(points: Float[Array, "n d"]) -> Float[Array, " d"]:
    """The point of a convex hull nearest to the origin (Wolfe's algorithm); far away for no points.

    A few points that span it are kept; one that is nearer in that direction joins them, and those go that
    would count less than nothing. Source: P. Wolfe, Finding the nearest point in a polytope (1976).
    """
    if not len(points):
        return np.full(points.shape[1], np.inf)
    scale = float(np.max(np.abs(points), initial=0)) or 1.0
    points = points / scale
    kept = [int(np.argmin(np.sum(points**2, axis=-1)))]
    w, x = np.ones(1), points[kept[0]]
    for _ in range(MAX_NEWTON_STEPS):
        heights = points @ x
        best = int(np.argmin(heights))
        if best in kept or x @ x - heights[best] <= LEAD_TOLERANCE * np.sqrt(x @ x):
            break
        kept, w = _corral([*kept, best], np.append(w, 0.0), points)
        before, x = x, w @ points[kept]
        if x @ x >= before @ before:
            x = before
            break
    return scale * x


def _corral(kept: list[int], w: Array, points: Array) -> tuple[list[int], Array]:
    """Wolfe's corral: the points around the nearest point of their affine hull, and its weights on them."""
    while True:
        if len(kept) == 1:
            return kept, np.ones(1)
        first, rest = points[kept[0]], points[kept[1:]]
        c = np.linalg.lstsq((rest - first).T, -first, rcond=None)[0]
        v = np.concatenate([[1 - c.sum()], c])
        if (v > 0).all():
            return kept, v
        down = v <= 0
        part = float(np.min(w[down] / np.maximum(w[down] - v[down], np.finfo(float).tiny)))
        w = (1 - part) * w + part * v
        w[np.flatnonzero(down)[np.argmin(w[down])]] = 0
        stay = w > 0
        kept, w = [i for i, yes in zip(kept, stay, strict=True) if yes], w[stay] / w[stay].sum()


def evenest(points: Float[Array, "n d"]) -> tuple[Float[Array, " d"], Float[Array, " n"]]:
    """For points that surround the origin: the p of maximal entropy with Σ pᵢ·pointᵢ = 0, and its query.

    p is the softmax of ⟨q, pointᵢ⟩ at the q that minimises L(q) = log Σ exp⟨q, pointᵢ⟩, found by Newton's
    method; L(q) = H(p). On the edge of the hull it is a limit, to which q comes as near as numbers do.
    """
    scale = _size(points) or 1.0
    a, d = points / scale, points.shape[1]
    q, (value, p) = np.zeros(d), _log_sum(a @ np.zeros(d))
    for _ in range(MAX_NEWTON_STEPS):
        gradient = p @ a
        curvature = (a * p[:, None]).T @ a - np.outer(gradient, gradient)
        ridge = CURVATURE_FLOOR * np.trace(curvature) / d + np.finfo(float).tiny
        step = -np.linalg.solve(curvature + ridge * np.eye(d), gradient)
        gain, part = -float(gradient @ step) / 2, 1.0
        if gain <= CONVERGED_GAIN:
            break
        after, weights = _log_sum(a @ (q + step))
        while gain > FULL_STEP_GAIN and after > value - part * gain / 2:
            part /= 2
            after, weights = _log_sum(a @ (q + part * step))
        q, value, p = q + part * step, after, weights
    return q / scale, p


def _log_sum(scores: Array) -> tuple[float, Array]:
    """log Σ exp, and its gradient, the softmax."""
    largest = float(np.max(scores))
    each = np.exp(scores - largest)
    return largest + float(np.log(each.sum())), each / each.sum()


def _lead(foot: Array, away: Array, size: float) -> float:
    """The score margin of the origin over all points under the query −foot/‖foot‖; 0 if it has none."""
    if not len(away):
        return np.inf
    length = float(np.linalg.norm(foot))
    lead = float(np.min(away @ foot)) / length if length > 0 else 0.0
    return lead if lead > LEAD_TOLERANCE * size else 0.0


def _size(points: Array) -> float:
    return float(np.max(np.linalg.norm(points, axis=-1), initial=0.0))


def checked(keys: Numbers) -> Array:
    """Keys (n, d) in double precision. Raises ValueError unless they are finite numbers."""
    keys = np.asarray(real(keys), dtype=np.float64)
    if keys.ndim != 2 or not np.isfinite(keys).all():
        raise ValueError(f"keys are finite numbers (n, d): got shape {keys.shape}")
    return keys
