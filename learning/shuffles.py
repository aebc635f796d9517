"""Swap pairs of axes inside attention, within or across heads, and measure the effect on a language model.

Permuting the axes of an activation equals permuting rows or columns of the weights beside it, so `shuffled`
changes weights only. Source: symmetrize2025, section 5.4, which proposes the test.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from jaxtyping import Float, Int

from geometry.arrays import Array, namespace
from learning.language import Shape, causal, forward, losses

# for each place, the weights to permute: (name, which third of the columns is permuted or None for the rows,
# whether by the inverse permutation)
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
    """A permutation of d axes that swaps all axes of one random head in pairs. Other axes stay."""
    m = d // heads
    return swapped(d, rng.integers(heads) * m + rng.permutation(m))


def each(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes with as many swaps as `one`, equally many in each head, all within heads."""
    return swapped(d, np.concatenate(some(d, heads, rng)))


def across(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes with as many swaps as `one`, evenly from all heads, each between two heads.

    The axes are drawn as in `each`. `one`, `each` and `across` swap equally many axes, so up to a renumbering
    of axes they are the same permutation. Only the division into heads distinguishes them.
    """
    drawn = np.concatenate(some(d, heads, rng))
    while True:
        drawn = rng.permutation(drawn)
        own = drawn.reshape(-1, 2) // (d // heads)
        if (own[:, 0] != own[:, 1]).all():
            return swapped(d, drawn)


SHUFFLES = {"one": one, "each": each, "across": across}


def some(d: int, heads: int, rng: np.random.Generator) -> list[Int[np.ndarray, "k"]]:
    """For each head, a random choice of its axes: equally many of each, in total as many as one head has."""
    m = d // heads
    if heads < 2 or m % (2 * heads):
        raise ValueError(f"{heads} heads of {m} axes give no pairs of axes from each: take 4 heads of 8")
    return [h * m + rng.permutation(m)[: m // heads] for h in range(heads)]


def swapped(d: int, drawn: Int[np.ndarray, "k"]) -> Int[np.ndarray, "d"]:
    """The permutation of d axes that swaps the drawn ones: the first with the second, and so on."""
    permutation = np.arange(d)
    permutation[drawn] = drawn.reshape(-1, 2)[:, ::-1].reshape(-1)
    return permutation


def shuffled(
    weights: Mapping[str, Array], layer: int, place: str, permutation: Int[np.ndarray, "d"]
) -> dict[str, Array]:
    """The weights of a model, changed so that an activation of one layer has its axes permuted.

    Axis i of the activation gets the values of axis permutation[i]. place says which activation:

    read     the LayerNorm's output, which the heads read
    q, v     the queries, the values
    qk       queries and keys, by the same permutation
    concat   the heads' concatenated results, before W_O
    vo       the values, and the results before W_O by the inverse permutation
    """
    moved, d = dict(weights), len(permutation)
    for name, part, back in PLACES[place]:
        weight, bias = (f"h.{layer}.{name}.{kind}" for kind in ("weight", "bias"))
        if part is None:  # Σ x[permutation[i]]·W[i]: rows are permuted by the inverse
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
    """The effect of each shuffle at a place of one layer on a model's predictions, in nats a character.

    The first column is the increase of the loss, the second the mean `divergence` of the predictions from
    those of the unchanged model.
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
    """The Kullback–Leibler divergence Σ p·log(p/r), in nats, of the softmaxes p of a and r of b."""
    xp = namespace(a)

    def logarithms(x: Array) -> Array:
        x = x - xp.max(x, axis=-1, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True))

    p, r = logarithms(a), logarithms(b)
    return xp.sum(xp.exp(p) * (p - r), axis=-1)
