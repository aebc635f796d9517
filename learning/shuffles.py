"""Swap pairs of axes inside attention, within or across heads, and measure the effect on a language model.

Permuting the axes of an activation has the same effect as permuting rows or columns of the weights that write
or read it. So `shuffled` changes only weights. Source: symmetrize2025, section 5.4, which proposes the test.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from jaxtyping import Float, Int

from geometry.arrays import Array, namespace
from learning.language import Shape, causal, forward, losses

# for each place, the weights to permute: (name; which third of its columns, or None for its rows; whether by
# the inverse permutation)
PLACES: dict[str, tuple[tuple[str, int | None, bool], ...]] = {
    "read": (("attn.c_attn", None, False),),
    "q": (("attn.c_attn", 0, False),),
    "qk": (("attn.c_attn", 0, False), ("attn.c_attn", 1, False)),
    "v": (("attn.c_attn", 2, False),),
    "concat": (("attn.c_proj", None, False),),
    "vo": (("attn.c_attn", 2, False), ("attn.c_proj", None, True)),
}
INVARIANT_PLACES = ("qk", "vo")  # where a permutation within a head provably changes nothing


def one(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes that swaps, in random pairs, all axes of one random head."""
    m = d // heads
    return swapped(d, rng.integers(heads) * m + rng.permutation(m))


def each(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes with as many swaps as `one`: the same number in each head, all within heads."""
    return swapped(d, np.concatenate(some(d, heads, rng)))


def across(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes with as many swaps as `one`; each swap is between two different heads.

    The axes are drawn as in `each`, equally many from each head. `one`, `each` and `across` swap equally many
    axes. So without the division into heads they would be the same random permutation.
    """
    drawn = np.concatenate(some(d, heads, rng))
    while True:
        drawn = rng.permutation(drawn)
        own = drawn.reshape(-1, 2) // (d // heads)
        if (own[:, 0] != own[:, 1]).all():
            return swapped(d, drawn)


SHUFFLES = {"one": one, "each": each, "across": across}


def some(d: int, heads: int, rng: np.random.Generator) -> list[Int[np.ndarray, "k"]]:
    """For each head, a random choice of its axes: equally many per head, in total as many as one head has.

    Raises ValueError if this number per head is not whole and even, and for a single head.
    """
    m = d // heads
    if heads < 2 or m % (2 * heads):
        raise ValueError(f"{heads} heads of {m} axes give no pairs of axes from each: take 4 heads of 8")
    return [h * m + rng.permutation(m)[: m // heads] for h in range(heads)]


def swapped(d: int, drawn: Int[np.ndarray, "k"]) -> Int[np.ndarray, "d"]:
    """The permutation of d axes that swaps the axes `drawn` in pairs: first with second, and so on."""
    permutation = np.arange(d)
    permutation[drawn] = drawn.reshape(-1, 2)[:, ::-1].reshape(-1)
    return permutation


def shuffled(
    weights: Mapping[str, Array], layer: int, place: str, permutation: Int[np.ndarray, "d"]
) -> dict[str, Array]:
    """The weights of a model after the axes of one activation, in one layer, have been permuted.

    Axis i of the activation gets the values of axis permutation[i]. place: the activation:

    read     the LayerNorm's output, which attention reads
    q, v     the queries, or the values
    qk       queries and keys, by the same permutation
    concat   the concatenated results of all heads, before W_O
    vo       the values; and the results before W_O by the inverse permutation
    """
    moved, d = dict(weights), len(permutation)
    for name, part, back in PLACES[place]:
        weight, bias = (f"h.{layer}.{name}.{kind}" for kind in ("weight", "bias"))
        if part is None:  # Σ x[permutation[i]]·W[i] is x @ W with its rows permuted by the inverse
            moved[weight] = moved[weight][permutation if back else np.argsort(permutation)]
            continue
        columns = np.arange(moved[weight].shape[-1])
        columns[part * d : (part + 1) * d] = part * d + permutation
        moved[weight], moved[bias] = moved[weight][:, columns], moved[bias][columns]
    return moved


def harm(
    shape: Shape,
    weights: Mapping[str, Array],
    tokens: Int[Array, "*batch n"],
    layer: int,
    place: str,
    permutations: Iterable[Int[np.ndarray, "d"]],
    *,
    attend: Callable[[Array], Array] = causal,
) -> Float[np.ndarray, "k 2"]:
    """The effects (k, 2) of k permutations, at one place of one layer, on a model's predictions.

    Both columns are in nats per character. The first is the increase of the mean loss. The second is the mean
    `divergence` between the unchanged model's predictions and the new ones.
    """
    before = forward(shape, weights, tokens, attend=attend)
    loss = losses(before.logits, tokens).mean()
    found = []
    for permutation in permutations:
        changed = shuffled(weights, layer, place, permutation)
        after = forward(shape, changed, tokens, attend=attend, kept=before.blocks[:layer]).logits
        grown = float(losses(after, tokens).mean() - loss)
        found.append((grown, float(divergence(before.logits, after).mean())))
    return np.array(found)


def divergence(a: Float[Array, "*batch k"], b: Float[Array, "*batch k"]) -> Float[Array, "*batch"]:
    """The Kullback–Leibler divergence Σ p·log(p/r) in nats of the softmax p of a and the softmax r of b."""
    xp = namespace(a)

    def logarithms(x: Array) -> Array:
        x = x - xp.max(x, axis=-1, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True))

    p, r = logarithms(a), logarithms(b)
    return xp.sum(xp.exp(p) * (p - r), axis=-1)
