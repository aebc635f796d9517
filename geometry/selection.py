"""The selectable keys of attention, and the largest attention weight that any query can give each key.

A query q gives the key k the score ⟨q, k⟩, and selects the key with the highest score. Keys may coincide, or
lie on a line or in a plane, in any dimension. A function of keys raises ValueError unless they are finite
numbers (n, d). assets/engine/selection.mjs mirrors this file.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from geometry.arrays import Numbers, real

Array = np.ndarray
LEAD_TOLERANCE = 1e-12  # relative to the size of the keys; smaller margins and offsets are rounding errors
CONVERGED_GAIN = 1e-20  # Newton's method ends if the next step would gain less
FULL_STEP_GAIN = 1e-9  # if the gain is smaller, a full step is taken, because rounding hides its gain
# added curvature, relative to the mean; keeps the system solvable if the keys lie in a subspace
CURVATURE_FLOOR = 1e-12
WEIGHT_FLOOR = 1e-10  # smaller weights count as 0: on the edge of a hull the most even weights are a limit
# of Newton's and of Wolfe's method, more than they need: at the edge of a hull each Newton step gains a
# factor e, elsewhere convergence is quadratic
MAX_STEPS = 100


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof of how much attention a key h can get.

    margin   the distance from h to the convex hull of the other keys kᵢ; ∞ if there is no other key. Some
             query selects h exactly if the margin is above 0
    query    (d,) if some query selects h: the unit vector q for which the lead of h over the other keys,
             min ⟨q, h − kᵢ⟩, is largest; this lead is `margin`. If no query selects h: the query that gives h
             its largest weight. If such a key h lies on a face of the hull, no query reaches the supremum
             of its weight, but `query` comes near it. If there is no other key: 0
    weights  (n,) if some query selects h: all 0. If no query selects h: weights p of the other keys with
             Σ pᵢkᵢ = h, which prove this. Of all such weights, these have the largest entropy
    largest  the supremum of the softmax weight of h over all queries: 1 if some query selects h, otherwise
             1/(1 + e^H) with the entropy H = −Σ pᵢ log pᵢ of `weights`
    """

    margin: float
    query: Array
    weights: Array
    largest: float


def certificate(keys: Float[Array, "n d"], k: int) -> Certificate:
    """The certificate of key k: a query that selects it, or weights with which the other keys average to it.

    By Farkas' lemma exactly one of these exists.
    """
    keys = checked(keys)
    away, others = np.delete(keys, k, axis=0) - keys[k], np.delete(np.arange(len(keys)), k)
    weights, size = np.zeros(len(keys)), _size(away)
    away[np.linalg.norm(away, axis=-1) <= LEAD_TOLERANCE * size] = 0  # copies of the key, except for rounding
    if not len(away):
        return Certificate(np.inf, np.zeros(keys.shape[1]), weights, 1.0)
    foot = nearest(away)
    if (lead := _lead(foot, away, size)) > 0:
        return Certificate(lead, -foot / np.linalg.norm(foot), weights, 1.0)
    query, p = evenest(away)
    weights[others] = np.where(p < WEIGHT_FLOOR, 0, p)
    return Certificate(0.0, query, weights, largest_weight(p))


def selectable(keys: Float[Array, "n d"]) -> Bool[Array, " n"]:
    """For each key, whether some query gives it a higher score than every other key.

    This holds exactly if the key is not a convex combination of the others. So a key that coincides with
    another one, or lies between two others, is not selectable.
    """
    return margins(keys) > 0


def margins(keys: Float[Array, "n d"]) -> Float[Array, " n"]:
    """The distance of each key to the convex hull of the other keys; ∞ if there is only one key.

    Distances that rounding alone can cause are 0.
    """
    keys, leads = checked(keys), []
    for k, key in enumerate(keys):
        away = np.delete(keys, k, axis=0) - key
        leads.append(_lead(nearest(away), away, _size(away)))
    return np.asarray(leads)


def largest_weights(keys: Float[Array, "n d"]) -> Float[Array, " n"]:
    """For each key, the supremum of its softmax weight over all queries; 1 for a key that can be selected."""
    keys = checked(keys)
    return np.asarray([certificate(keys, k).largest for k in range(len(keys))])


def largest_weight(p: Float[Array, " n"]) -> float:
    """1/(1 + e^H), where H = −Σ pᵢ log pᵢ is the entropy of weights p that sum to 1.

    If p are the most even weights with which the other keys average to a key, this is the supremum of this
    key's softmax weight.
    """
    some = p[p > 0]
    return float(1 / (1 + np.exp(-np.sum(some * np.log(some)))))


def nearest(points: Float[Array, "n d"]) -> Float[Array, " d"]:
    """The point of the convex hull of `points` that is nearest to the origin (Wolfe's algorithm).

    The algorithm keeps a few points, and the point x of their hull that is nearest to the origin. In each
    step it adds the point that lies farthest in the direction from x to the origin, and drops points that
    would get negative weights. All coordinates are ∞ if there are no points. Source: P. Wolfe, Finding the
    nearest point in a polytope (1976).
    """
    if not len(points):
        return np.full(points.shape[1], np.inf)
    scale = float(np.max(np.abs(points), initial=0)) or 1.0
    points = points / scale
    kept = [int(np.argmin(np.sum(points**2, axis=-1)))]
    w, x = np.ones(1), points[kept[0]]
    for _ in range(MAX_STEPS):
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
    """A round of Wolfe's algorithm, which drops points from a set.

    kept, w: the indices, in `points`, of the points in the set, and their weights. Let x be the point nearest
    to the origin in the affine span of the set. Points are dropped until x, computed anew each time, is an
    average of the remaining points with positive weights. Returns the indices of the remaining points (the
    corral), and these weights.
    """
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
    """The weights p of largest entropy with Σ pᵢ·pointᵢ = 0, and the query q that gives them by softmax.

    Returns (q, p), where p is the softmax of the scores ⟨q, pointᵢ⟩. The origin must be in the convex hull of
    the points. Newton's method finds q as the minimum of L(q) = log Σ exp⟨q, pointᵢ⟩. At this minimum, L(q)
    is the entropy H(p). If the origin is on the edge of the hull, no finite q is a minimum; then q and p come
    as near to the limit as rounding allows.
    """
    scale = _size(points) or 1.0
    a, d = points / scale, points.shape[1]
    q, (value, p) = np.zeros(d), _log_sum(a @ np.zeros(d))
    for _ in range(MAX_STEPS):
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
    """log Σ exp(scores), and its gradient, which is the softmax of the scores."""
    largest = float(np.max(scores))
    each = np.exp(scores - largest)
    return largest + float(np.log(each.sum())), each / each.sum()


def _lead(foot: Array, away: Array, size: float) -> float:
    """The lead of the origin over the points `away` in score by the query q = −foot/‖foot‖.

    The score of a point p is ⟨q, p⟩. The lead is the score of the origin, 0, minus the highest score of
    `away`. foot: the point of the hull of `away` that is nearest to the origin. size: the length of the
    longest point of `away`. The result is ∞ if `away` is empty. Leads up to LEAD_TOLERANCE·size are rounding
    errors and count as 0.
    """
    if not len(away):
        return np.inf
    length = float(np.linalg.norm(foot))
    lead = float(np.min(away @ foot)) / length if length > 0 else 0.0
    return lead if lead > LEAD_TOLERANCE * size else 0.0


def _size(points: Array) -> float:
    return float(np.max(np.linalg.norm(points, axis=-1), initial=0.0))


def checked(keys: Numbers) -> Array:
    """Keys (n, d) as a NumPy array in double precision. Raises ValueError unless they are finite numbers."""
    keys = np.asarray(real(keys), dtype=np.float64)
    if keys.ndim != 2 or not np.isfinite(keys).all():
        raise ValueError(f"keys are finite numbers (n, d): got shape {keys.shape}")
    return keys
