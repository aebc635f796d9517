"""Swap pairs of axes (coordinates) inside attention, and measure the effect on a language model.

Both axes of a pair belong to the same attention head, or to different ones. Permuting the axes of an
activation has the same effect as permuting rows or columns of the weights that write or read it. So
`shuffled` changes only weights. Source: symmetrize2025, section 5.4, which proposes the test.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from jaxtyping import Float, Int

from geometry.arrays import Array, namespace
from learning.language import Shape, causal, forward, losses

# for each place, the weights to permute: (name; which third of its columns, or None for its rows; whether by
# the inverse permutation). At "qk" and "vo" a permutation within a head provably changes nothing
PLACES: dict[str, tuple[tuple[str, int | None, bool], ...]] = {
    "read": (("attn.c_attn", None, False),),
    "q": (("attn.c_attn", 0, False),),
    "qk": (("attn.c_attn", 0, False), ("attn.c_attn", 1, False)),
    "v": (("attn.c_attn", 2, False),),
    "concat": (("attn.c_proj", None, False),),
    "vo": (("attn.c_attn", 2, False), ("attn.c_proj", None, True)),
}


def one(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes that swaps, in random pairs, all axes of one random head."""
    m = d // heads
    return swapped(d, rng.integers(heads) * m + rng.permutation(m))


def each(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes with random swaps within each head, equally many in each.

    It has as many swaps in all as `one`.
    """
    return swapped(d, np.concatenate(axes_of_each_head(d, heads, rng)))


def across(d: int, heads: int, rng: np.random.Generator) -> Int[np.ndarray, "d"]:
    """A permutation of d axes with random swaps, each of two axes of different heads.

    Equally many axes of each head are swapped, as in `each`. Since `one`, `each` and `across` swap the same
    number of axes, they differ only in how the swaps are related to the heads.
    """
    drawn = np.concatenate(axes_of_each_head(d, heads, rng))
    while True:
        drawn = rng.permutation(drawn)
        own = drawn.reshape(-1, 2) // (d // heads)
        if (own[:, 0] != own[:, 1]).all():
            return swapped(d, drawn)


SHUFFLES = {"one": one, "each": each, "across": across}


def axes_of_each_head(d: int, heads: int, rng: np.random.Generator) -> list[Int[np.ndarray, "k"]]:
    """For each of the heads, a random choice of k of its axes, where k is d/heads².

    In total these are d/heads axes, as many as one head has. Raises ValueError if k is not an even whole
    number, or if there is a single head.
    """
    m = d // heads
    if heads < 2 or d % (2 * heads**2):
        raise ValueError(f"{heads} heads of {m} axes give no pairs of axes from each: take 4 heads of 8")
    return [h * m + rng.permutation(m)[: m // heads] for h in range(heads)]


def swapped(d: int, drawn: Int[np.ndarray, "k"]) -> Int[np.ndarray, "d"]:
    """The permutation of d axes that swaps the first two axes in `drawn`, then the next two, and so on."""
    permutation = np.arange(d)
    permutation[drawn] = drawn.reshape(-1, 2)[:, ::-1].reshape(-1)
    return permutation


def shuffled(
    weights: Mapping[str, Array], layer: int, place: str, permutation: Int[np.ndarray, "d"]
) -> dict[str, Array]:
    """The weights of a model, changed so that axes inside the attention of one layer are permuted.

    To permute an activation is to give its axis i the values of its axis permutation[i]. `place` says what is
    permuted:

    read     the output of the LayerNorm before attention
    q        the queries
    v        the values
    qk       both the queries and the keys, so that attention scores stay the same if no axis leaves its head
    concat   the concatenated results of all heads, which the output matrix W_O multiplies
    vo       the values; the concatenated results are then permuted back, by the inverse permutation
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
    """The effects of k permutations on a model's predictions: (k, 2), in nats per character.

    The first column is the increase of the mean loss. The second is the mean `divergence` of the predictions
    from those of the unchanged model. layer, place: where the axes are permuted, as in `shuffled`. attend:
    replaces the causal softmax.
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
    """The Kullback–Leibler divergence Σ p·log(p/r) in nats, where p = softmax(a) and r = softmax(b)."""
    xp = namespace(a)

    def logarithms(x: Array) -> Array:
        x = x - xp.max(x, axis=-1, keepdims=True)
        return x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True))

    p, r = logarithms(a), logarithms(b)
    return xp.sum(xp.exp(p) * (p - r), axis=-1)
