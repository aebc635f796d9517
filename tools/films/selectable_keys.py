"""The selectable keys of attention, in large sets: quick proofs first, a linear programme for the rest.

A query q gives the key k the score ⟨q, k⟩. A key is *unbeaten* if some query gives it a higher score than all
other keys, apart from copies of the key. A key that is not unbeaten lies in the convex hull of the keys that
are not its copies: it is an average Σ pᵢkᵢ of them, p ≥ 0, Σ pᵢ = 1. So such a query proves that a key is
unbeaten, and such weights p prove that it is not. For a single key, `geometry.selection` computes one of
these two proofs, a certificate. A query *selects* the key to which it gives a higher score than to all
others.

The tools that count the keys of trained models and of random sets use this module, and so do tests and a
benchmark. The explorer does not: its pages use `geometry.selection`.
"""

import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import linprog
from scipy.spatial import cKDTree

from geometry.selection import CURVATURE_FLOOR, checked

Array = np.ndarray
# a bound for the rounding error of a score; on a line, keys at a smaller distance, relative to their size,
# count as equal
ROUNDING = 8 * np.finfo(float).eps
# the same in more dimensions: on a sphere a key's own score leads that of a key at this distance by ROUNDING
COPY_DISTANCE = (2 * ROUNDING) ** 0.5
SCORE_TOLERANCE = 1e-9  # smaller leads in score, or distances of an average from a key, are rounding
MAX_NEWTON_STEPS = 30  # keys still undecided lie on an edge; the linear programme decides
# largest change of a score in one Newton step; for larger ones the quadratic model is wrong
MAX_SCORE_CHANGE = 8.0


def unbeaten(keys: Float[Array, "n d"]) -> Bool[Array, " n"]:
    """For each key, whether some query gives it the highest score, alone or shared with copies of this key.

    In one dimension, these keys are the smallest and the largest. In more dimensions, three methods are tried
    in turn, each of which gives a proof. First, each key, and its difference from the mean of all keys, are
    tried as queries. Second, for each key h that is left, Newton's method minimises the convex function L(q)
    = log Σᵢ exp(q·(kᵢ − h)), a sum over the other keys kᵢ. It finds a query that selects h, or, at the
    minimum of L, softmax weights with which the other keys average to h. Third, the linear programming solver
    HiGHS decides the rest. Raises ValueError unless the keys are finite numbers (n, d), and RuntimeError if
    HiGHS fails.
    """
    keys = checked(keys)
    if not len(keys):
        return np.zeros(0, dtype=bool)
    if keys.shape[1] == 1:
        ends = np.array([keys.min(), keys.max()])
        return np.any(np.abs(keys - ends) <= ROUNDING * np.abs(ends).max(), axis=-1)
    # scaling by a power of two rounds nothing, so that ties stay ties
    keys = keys / 2.0 ** np.ceil(np.log2(np.max(np.linalg.norm(keys, axis=-1)) or 1.0))
    copy_of = np.arange(len(keys))
    for i, j in sorted(cKDTree(keys).query_pairs(COPY_DISTANCE)):
        copy_of[j] = min(copy_of[j], copy_of[i])
    first, place = np.unique(copy_of, return_inverse=True)
    return _distinct(keys[first])[place]


def _distinct(keys: Array) -> Array:
    """The result of `unbeaten` for distinct keys. The longest key must have a length from 1/2 to 1."""
    if len(keys) == 1:
        return np.ones(1, dtype=bool)
    # the first tolerance is small, because neighbours on a sphere have small leads
    selected = leads(keys, keys) > ROUNDING
    selected |= leads(keys - keys.mean(axis=0), keys) > SCORE_TOLERANCE
    return decided(keys, selected)


def decided(keys: Float[Array, "n d"], found: Bool[Array, " n"]) -> Bool[Array, " n"]:
    """For each key, whether some query selects it.

    found: True for the keys for which such a query is already known. Newton's method and linear programming
    decide the others. The longest key must have a length of about 1.
    """
    found = found.copy()
    left = np.flatnonzero(~found)
    won, lost = newton(keys, left)
    found[left[won]] = True
    for k in left[~won & ~lost]:
        found[k] = programme(keys, int(k))
    return found


def leads(queries: Float[Array, "n d"], keys: Float[Array, "n d"]) -> Float[Array, " n"]:
    """For each i, the score ⟨query i, key i⟩ minus the largest score that query i gives to another key."""
    scores = queries @ keys.T
    own = scores.diagonal().copy()
    np.fill_diagonal(scores, -np.inf)
    return own - scores.max(axis=-1)


def newton(keys: Float[Array, "n d"], ks: Array) -> tuple[Bool[Array, " m"], Bool[Array, " m"]]:
    """Try to decide the keys with indices ks (m,) by Newton's method; return two masks (m,).

    The first marks the keys for which a query that selects them was found. The second marks the keys that are
    an average of the other keys. A key in neither mask is undecided.
    """
    d, m = keys.shape[1], len(ks)
    won, lost, q = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool), np.zeros((m, d))
    for _ in range(MAX_NEWTON_STEPS):
        open_ = np.flatnonzero(~won & ~lost)
        if not len(open_):
            break
        own, at = keys[ks[open_]], q[open_]
        scores = at @ keys.T - np.sum(at * own, axis=-1, keepdims=True)
        scores[np.arange(len(open_)), ks[open_]] = -np.inf  # exclude the key itself
        highest = scores.max(axis=-1)
        won[open_] = highest < -SCORE_TOLERANCE * np.linalg.norm(at, axis=-1)
        p = np.exp(scores - highest[:, None])
        p /= p.sum(axis=-1, keepdims=True)
        mean = p @ keys
        lost[open_] = np.linalg.norm(mean - own, axis=-1) < SCORE_TOLERANCE
        q[open_] += damped(keys, p, mean, mean - own)
    return won, lost


def damped(keys: Array, p: Array, mean: Array, gradient: Array) -> Array:
    """Newton steps (m, d) of m queries, one for each key to decide; steps that are too long are shortened.

    A query's function is the log of the sum of exp(score) over all keys, minus the score of its key. A step
    is too long if it raises the score of a key, relative to the mean score, by more than MAX_SCORE_CHANGE: so
    far away, the quadratic model of Newton's method does not hold. p (m, n): the softmax weights of the n
    keys, for each of the m keys to decide. mean (m, d): the average of the keys with these weights. gradient
    (m, d): the mean minus the key to decide.
    """
    d = keys.shape[1]
    squares = (keys[:, :, None] * keys[:, None, :]).reshape(len(keys), -1)
    curvature = (p @ squares).reshape(-1, d, d) - mean[:, :, None] * mean[:, None, :]
    ridge = CURVATURE_FLOOR * np.trace(curvature, axis1=1, axis2=2) / d + np.finfo(float).tiny
    steps = -np.linalg.solve(curvature + ridge[:, None, None] * np.eye(d), gradient[..., None])[..., 0]
    moved = np.max(steps @ keys.T - np.sum(steps * mean, axis=-1, keepdims=True), axis=-1)
    return steps / np.maximum(1, moved / MAX_SCORE_CHANGE)[:, None]


def programme(keys: Float[Array, "n d"], k: int) -> bool:
    """Decide by linear programming (HiGHS) whether some query selects the key h = keys[k].

    The programme maximises the margin m with m ≤ q·(h − kᵢ) for all other keys kᵢ, over queries q with |qⱼ| ≤
    1. Raises RuntimeError if HiGHS fails.
    """
    d, others = keys.shape[1], np.delete(keys, k, axis=0)
    bounded = np.column_stack([others - keys[k], np.ones(len(others))])  # m − q·(h − kᵢ), at most 0
    aim, bounds = np.append(np.zeros(d), -1.0), [(-1, 1)] * d + [(None, None)]
    solution = linprog(aim, A_ub=bounded, b_ub=np.zeros(len(others)), bounds=bounds, method="highs")
    if solution.status != 0:
        raise RuntimeError(f"HiGHS has not decided key {k}: {solution.message}")
    return bool(solution.x[-1] > SCORE_TOLERANCE)
