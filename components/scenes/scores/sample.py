"""Random queries q and keys k as points with few coordinates, and the steps of LayerNorm for these.

Vectors with d components are described in an orthonormal basis that begins with the directions of 𝟏 and of w,
whose first half is 1 and whose second half is −1. In any orthonormal basis, independent normal components
have the same distribution. The components beyond 𝟏 and w are rotated into as few coordinates as possible.
None of this changes lengths, means or dot products.

Components z of a vector are correlated by adding a random number g that they share: √(1 − ρ)·z + √ρ·g·w, or
the same with 𝟏 in place of w. Each component keeps the variance 1, and any two have the correlation ρ or −ρ.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, Product, Track
from geometry.dot_products import cosine_variance, score_variance
from geometry.pipeline import Step

Array = np.ndarray
Steps = tuple[Step, ...]
STAGES = ("q and k", "centred", "on the sphere")
RHO = np.linspace(0, 1, 101)
# rows that read the six numbers that `seen_by_q` computes for a pair
SCORE, COSINE, *KEY, SQUARE = map(tuple, np.eye(6).tolist())


def pairs(n: int, d: int, *, seed: int) -> Array:
    """n random pairs (q, k) of vectors with d components, each described by 11 numbers: (n, 11).

    Numbers 0 to 3 are about q: its components along 𝟏 and w (first half 1, second half −1), the length of
    its rest (perpendicular to 𝟏 and w), and a random number g. Numbers 4 to 8 are about k: its components
    along 𝟏, w and q's rest, the length of what remains, and another g. The slider ρ mixes each g into all
    components of its vector. The last two numbers are cos and sin of a random angle around q, which only
    places the key in the picture.
    """
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, n, d))
    g, turn = rng.standard_normal((2, n)), 2 * np.pi * rng.random(n)
    length = np.linalg.norm(q[:, 2:], axis=1)
    unit = q[:, 2:] / length[:, None] if d > 2 else q[:, 2:]
    along = np.sum(unit * k[:, 2:], axis=1)
    left = np.linalg.norm(k[:, 2:] - along[:, None] * unit, axis=1) if d > 3 else np.zeros(n)
    return np.column_stack([_two(q), length, g[0], _two(k), along, left, g[1], np.cos(turn), np.sin(turn)])


def random_vectors(n: int, d: int, *, seed: int) -> Array:
    """n random vectors with d components, as points (n, 3 + m), where m is n or d − 2, whichever is smaller.

    A point has the vector's components along 𝟏 and w (first half 1, second half −1), its rest in m
    coordinates, and a random number g, which the slider ρ mixes into all components of the vector. For d < 3
    there is no rest.
    """
    rng = np.random.default_rng(seed)
    x, g = rng.standard_normal((n, d)), rng.standard_normal((n, 1))
    rest = np.linalg.qr(x[:, 2:].T)[1].T if d > 2 else x[:, 2:]
    return np.hstack([_two(x), rest, g])


def _two(x: Array) -> Array:
    """The first two components of the vectors x (n, d). If d = 1, the second is 0."""
    return np.pad(x[:, :2], ((0, 0), (0, max(2 - x.shape[1], 0))))


# --- steps


def loaded(shared: str, d: int) -> int:
    """Index of the coordinate to which the shared number g is added: 0, along 𝟏, or 1, along w.

    `shared` is "one" if g is added to all components (𝟏), or "across" if it is added to half of them and
    subtracted from the other half (w). For d = 1 there is no w, so the index is 0.
    """
    return 0 if shared == "one" or d == 1 else 1


def correlated(size: int, loads: Mapping[int, int], d: int, *, free: Sequence[int] = ()) -> Steps:
    """Steps that correlate the components of vectors, by the parameter ρ. A point has `size` coordinates.

    Some of these are shared numbers g. All others are first multiplied by √(1 − ρ), except those with an
    index in `free`. Then each g is multiplied by √(ρd), added to one of the others, and dropped. `loads` maps
    the index of each g to the index of the coordinate to which it is added.
    """
    roots = np.sqrt(np.column_stack([1 - RHO, RHO * d]))
    both = Affine(np.zeros((2, size)), Entries(np.zeros(2), tracks={"rho": Track(RHO, roots)}))
    groups = [(i,) if i in free else (i, size + (i in loads)) for i in range(size)]
    add = np.eye(size)
    for g, to in loads.items():
        add[to, g] = 1
    own = [i for i in range(size) if i not in loads]
    return Branches((Pipeline(()), Pipeline((both,))), "concat"), Product(groups), Affine(add[own])


def norms(size: int, vectors: Sequence[Sequence[int]], d: int) -> tuple[Steps, Steps, Steps]:
    """For each stage the steps that lead to it: none; centring; centring and then scaling to length √d.

    A point can consist of several vectors, such as q and k. vectors: for each of them, the indices of its
    coordinates, of which the first is along 𝟏. size: the number of a point's coordinates.
    """
    level = [0.0 if any(i == vector[0] for vector in vectors) else 1.0 for i in range(size)]
    centre, sphere = Affine(np.diag(level)), Normalize(np.sqrt(d), groups=vectors)
    return (), (centre,), (centre, sphere)


def at_each_stage(to_stages: Sequence[Steps], then: Steps) -> Branches:
    """A step that computes numbers for all stages at once, and concatenates them, stage by stage.

    The numbers for stage k are computed by the steps `to_stages[k]` and then by `then`. This step is the last
    of a cloud's `place`. The cloud's pipeline is `passing`: at each step it drops the numbers of one stage.
    """
    return Branches([Pipeline((*own, *then)) for own in to_stages], "concat")


def taking(places: Iterable[int]) -> Product:
    """The step that picks the coordinates with the indices `places`."""
    return Product([(i,) for i in places])


def passing(m: int) -> Pipeline:
    """A pipeline of two steps, each of which drops the first m numbers of a point.

    A point has 3·m numbers at first, m for each of the three stages. So the numbers of the current stage
    always come first.
    """
    return Pipeline([taking(range(m, stages * m)) for stages in (3, 2)])


def pair_steps(d: int, shared: str) -> Steps:
    """Steps from the 11 numbers of a pair in `pairs` to 18 numbers: six at each stage (see `seen_by_q`).

    First they correlate the components, by the slider ρ (`correlated`). shared: "one" or "across", the
    components to which g is added (see `loaded`).
    """
    to = loaded(shared, d)
    mixed = correlated(11, {3: to, 8: 4 + to}, d, free=(9, 10))
    return *mixed, at_each_stage(norms(9, ((0, 1, 2), (3, 4, 5, 6)), d), seen_by_q(d))


def seen_by_q(d: int) -> Steps:
    """Steps from a pair (q, k) to six numbers: ⟨q, k⟩, the cosine, three coordinates of k/√d, and ⟨q, k⟩².

    The pair has 9 numbers: those of `pairs`, without the two numbers g. The three coordinates place the key
    in the picture, where q is upright.
    """
    q, k = (0, 1, 2), (3, 4, 5, 6)
    units = Branches((Pipeline(()), Pipeline((Normalize(groups=(q, k)),))), "concat")  # units from 9 on
    products = Product(
        [
            *zip(q, k, strict=False),
            *((9 + a, 9 + b) for a, b in zip(q, k, strict=False)),
            *((b, 9 + b) for b in k),
            (7,),
            (8,),
        ]
    )
    sums = np.zeros((5, 12))
    for row, columns in enumerate((range(3), range(3, 6), range(6, 10), [10], [11])):
        sums[row, list(columns)] = 1
    sums[2] /= np.sqrt(d)
    score, cosine, length, cos, sin, across = range(6)
    sine = Pipeline((taking((cosine,)), Pointwise("arcsin"), Pointwise("cos")))
    there = Product(
        [(score,), (cosine,), (length, across, cos), (length, across, sin), (length, cosine), (score, score)]
    )
    return units, products, Affine(sums), Branches((Pipeline(()), sine), "concat"), there


# --- what is exact


def variances(d: int, shared: str, rho: Array) -> Array:
    """The variance of ⟨q, k⟩ at each of the three stages, for each correlation in `rho`: (*rho.shape, 3).

    Before the sphere it is Σ λ², where λ are the variances of the coordinates in this module's basis: 1 − ρ +
    ρd for the coordinate to which g is added, 1 − ρ for the others. Centring removes the coordinate along 𝟏.
    On the sphere it is d² times the variance of the cosine. shared: "one" or "across", the components to
    which g is added (see `loaded`).
    """
    low, high = 1 - rho, 1 - rho + rho * d
    first, second = np.stack([high, low], -1), np.stack([low, high], -1)
    if d == 1:
        return np.stack([np.ones_like(rho), 0 * rho, 0 * rho], -1)
    along, left = (first, low[..., None]) if shared == "one" else (second, second)
    counts = np.array([1, d - 1] if shared == "one" else [d - 1, 1])
    after = np.array([d - 1] if shared == "one" else [d - 2, 1])
    start, centred = score_variance(along, counts), score_variance(left, after)
    return np.stack([start, centred, d**2 * cosine_variance(left, after)], -1)
