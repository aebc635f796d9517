"""A small character-level GPT, whose forward pass returns every intermediate activation.

`forward` runs it on NumPy or PyTorch arrays. Weights have the names and shapes of GPT-2's, so software for
GPT-2 can load a model if its LayerNorms are complete (`scaled` and `normed` in `Shape`).
Source: brody2023, section 4.2 and appendix E.2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt

import numpy as np
from jaxtyping import Float, Int

from geometry import pointwise
from geometry.arrays import Array, namespace
from geometry.centering import center
from geometry.ellipsoid import to_ellipsoid
from geometry.hull import vertices
from geometry.norms import layer_norm
from geometry.softmax import softmax
from learning.file_error import FileError
from learning.safetensors import from_safetensors, to_safetensors

EPS = 1e-5  # ε of all LayerNorms, as in GPT-2


@dataclass(frozen=True)
class Shape:
    """The hyperparameters of the language model.

    characters   the vocabulary: each character is one token
    width        the dimension d of the vectors in the residual stream
    layers       the number of transformer layers
    window       the largest number of tokens that the model can read at once
    scaled       whether the LayerNorm before attention divides by the standard deviation; if not, it only
                 centres and applies its gain and shift
    normed       whether there are LayerNorms; if not, each is replaced by its gain and shift alone
    heads        the number of attention heads; each reads a block of consecutive axes of q, k and v

    Raises ValueError for no characters, for a repeated one, for a number below 1, and for heads that do not
    divide the width.
    """

    characters: str
    width: int = 4
    layers: int = 4
    window: int = 256
    scaled: bool = True
    heads: int = 1
    normed: bool = True

    def __post_init__(self):
        if not self.characters or len(set(self.characters)) < len(self.characters):
            raise ValueError("the characters of a model are given, and none of them twice")
        if min(self.width, self.layers, self.window) < 1:
            raise ValueError("width, layers and window of a model are 1 or more")
        if self.heads < 1 or self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.width}")

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """The shape of each weight array by name. A Linear computes x @ weight + bias."""
        d = self.width
        parts: dict[str, tuple[int, ...]] = {
            "wte.weight": (len(self.characters), d),
            "wpe.weight": (self.window, d),
        }
        for k in range(self.layers):
            each = {"ln_1": (d,), "attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d), "ln_2": (d,)}
            each |= {"mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}
            for name, shape in each.items():
                parts |= {f"h.{k}.{name}.weight": shape, f"h.{k}.{name}.bias": shape[-1:]}
        return parts | {"ln_f.weight": (d,), "ln_f.bias": (d,)}

    def tokens(self, text: str) -> Int[np.ndarray, "n"]:
        """Tokenise a text: for each of its characters, the index in `characters`.

        Raises ValueError for a character that is not in `characters`.
        """
        if unknown := sorted(set(text) - set(self.characters)):
            raise ValueError(f"the model does not know {', '.join(map(repr, unknown))}")
        return np.array([self.characters.index(each) for each in text], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class BlockActivations:
    """All activations of one transformer layer, each (*batch, n, …).

    stream    the residual stream before the layer
    keys      the result of LayerNorm for `stream`, from which attention computes q, k and v
    q, k, v   the queries, keys and values
    scores    ⟨q, k⟩/√d, where d is the width of a head
    weights   the attention weights: the causal softmax of `scores`
    branch    the output of attention, which is added to the stream
    read      the result of LayerNorm for `stream` + `branch`, which the MLP reads
    hidden    the hidden layer of the MLP after GELU
    mlp       the output of the MLP, which is added to the stream
    out       the residual stream after the layer

    With several heads q, k, v, scores and weights are (*batch, heads, n, …).
    """

    stream: Array
    keys: Array
    q: Array
    k: Array
    v: Array
    scores: Array
    weights: Array
    branch: Array
    read: Array
    hidden: Array
    mlp: Array
    out: Array


@dataclass(frozen=True, eq=False)
class Reading:
    """The activations of a forward pass of the model.

    blocks   the activations of each transformer layer
    last     the result of the final norm, or of what replaces it (*batch, n, d)
    logits   (*batch, n, characters)
    """

    blocks: Sequence[BlockActivations]
    last: Array
    logits: Array


def causal(scores: Float[Array, "*batch n n"]) -> Float[Array, "*batch n n"]:
    """Causal softmax of `scores`: each position gives weight only to itself and to earlier positions."""
    return softmax(scores, causal=True)


def forward(
    shape: Shape,
    weights: Mapping[str, Array],
    tokens: Int[Array, "*batch n"],
    *,
    attend: Callable[[Array], Array] = causal,
    norm: Callable[..., Array] | None = None,
    shares: Float[Array, "heads d"] | None = None,
    kept: Sequence[BlockActivations] = (),
) -> Reading:
    """Run the model and return all its activations.

    Let x be the sum of the embeddings of tokens and positions. Then each layer computes

        x ← x + attention(LayerNorm(x)),  x ← x + MLP(LayerNorm(x)).

    The logits are LayerNorm(x) @ wteᵀ, or LayerNorm(x) @ head if the weights have a Linear "head".

    attend   a function that turns the scores (…, n, n) into attention weights
    norm     a function norm(own, name, x, *, scaled=True) that replaces each LayerNorm. `name` is "ln_1" or
             "ln_2" in a layer, and "ln_f" after the last layer; `own` has the weights of this layer, or for
             "ln_f" of the whole model, by name. `scaled`, which is passed only for "ln_1", says whether to
             divide by the standard deviation. None: `layer_norm_of`, or `gain_and_shift` if the shape is not
             `normed`
    shares   (heads, d) for each head, how much of each axis it sees, from 0 to 1 (`geometry.windows`); None
             if each head sees a block of axes of its own
    kept     the activations of the first layers in an earlier pass over the same tokens; these layers are not
             computed again

    Raises ValueError for more than `shape.window` tokens.
    """
    n = tokens.shape[-1]
    if n > shape.window:
        raise ValueError(f"the model reads {shape.window} characters at most: got {n}")
    norm = norm or (layer_norm_of if shape.normed else gain_and_shift)
    blocks = list(kept)
    stream = blocks[-1].out if blocks else weights["wte.weight"][tokens] + weights["wpe.weight"][:n]
    for k in range(len(blocks), shape.layers):
        prefix = f"h.{k}."
        own = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
        blocks.append(_block(own, stream, attend, norm, shares, shape))
        stream = blocks[-1].out
    last = norm(weights, "ln_f", stream)
    head = _linear(weights, "head", last) if "head.weight" in weights else last @ weights["wte.weight"].mT
    return Reading(blocks, last, head)


def _block(
    own: Mapping[str, Array],
    stream: Array,
    attend: Callable[[Array], Array],
    norm: Callable[..., Array],
    shares: Array | None,
    shape: Shape,
) -> BlockActivations:
    keys = norm(own, "ln_1", stream, scaled=shape.scaled)
    d = stream.shape[-1]
    every = _linear(own, "attn.c_attn", keys)
    whole = [every[..., j * d : (j + 1) * d] for j in range(3)]
    q, k, v = (cut(x, shape.heads) if shares is None else softly(x, shares) for x in whole)
    scores = q @ k.mT / sqrt(d / shape.heads)
    attention = attend(scores)
    found = attention @ v
    joined = joined_heads(found, shape.heads) if shares is None else found.sum(-3)
    branch = _linear(own, "attn.c_proj", joined)
    read = norm(own, "ln_2", stream + branch)
    hidden = pointwise.apply("gelu_tanh", _linear(own, "mlp.c_fc", read))
    mlp = _linear(own, "mlp.c_proj", hidden)
    out = stream + branch + mlp
    return BlockActivations(stream, keys, q, k, v, scores, attention, branch, read, hidden, mlp, out)


def cut(x: Float[Array, "*batch n d"], heads: int) -> Array:
    """Split the axes of x into one block per head: (*batch, heads, n, d/heads); with one head, x itself.

    Head h gets the axes h·d/heads … (h + 1)·d/heads − 1. Source: symmetrize2025, 5.2.
    """
    if heads == 1:
        return x
    *batch, n, d = x.shape
    return namespace(x).moveaxis(x.reshape(*batch, n, heads, d // heads), -2, -3)


def joined_heads(x: Array, heads: int) -> Float[Array, "*batch n d"]:
    """Undo `cut`: concatenate the blocks of axes of all heads."""
    if heads == 1:
        return x
    x = namespace(x).moveaxis(x, -3, -2)
    return x.reshape(*x.shape[:-2], -1)


def softly(x: Float[Array, "*batch n d"], shares: Float[Array, "heads d"]) -> Array:
    """Divide x among soft heads, which can share axes: (*batch, heads, n, d).

    For each head, every axis of x is multiplied by a number from 0 to 1, which says how much of this axis the
    head sees. These numbers are `shares`; for each axis they sum to 1 over the heads, so the results sum to
    x. If `shares` is 1 in a head's block of axes and 0 elsewhere, the attention scores are the same as with
    `cut`. Source: symmetrize2025, section 5.4.
    """
    return x[..., None, :, :] * shares[:, None, :]


def _linear(own: Mapping[str, Array], name: str, x: Array) -> Array:
    return x @ own[f"{name}.weight"] + own[f"{name}.bias"]


def layer_norm_of(own: Mapping[str, Array], name: str, x: Array, *, scaled: bool = True) -> Array:
    """LayerNorm of x with the gain own[name + ".weight"] and the shift own[name + ".bias"].

    scaled: whether to divide by the standard deviation.
    """
    gamma, beta = own[f"{name}.weight"], own[f"{name}.bias"]
    if scaled:
        return layer_norm(x, gamma=gamma, beta=beta, eps=EPS)
    return to_ellipsoid(center(x), gamma=gamma, beta=beta)


def gain_and_shift(own: Mapping[str, Array], name: str, x: Array, *, scaled: bool = True) -> Array:
    """Multiply x by a gain and add a shift, as in `layer_norm_of`, but without normalisation.

    This replaces LayerNorm in models that have no LayerNorms. `scaled` has no effect; it is there because
    both functions are called with the same arguments.
    """
    return to_ellipsoid(x, gamma=own[f"{name}.weight"], beta=own[f"{name}.bias"])


def losses(logits: Float[Array, "*batch n k"], tokens: Int[Array, "*batch n"]) -> Float[Array, "*batch n-1"]:
    """For each token except the first, the cross entropy in nats of its prediction from the tokens before it.

    It is log Σ exp(logits) minus the logit of this token, where the logits are those at the token before it.
    """
    xp = namespace(logits)
    logits, come = logits[..., :-1, :], tokens[..., 1:, None]
    largest = xp.max(logits, axis=-1, keepdims=True)
    total = largest[..., 0] + xp.log(xp.sum(xp.exp(logits - largest), axis=-1))
    return total - xp.take_along_axis(logits, come, axis=-1)[..., 0]


@dataclass(frozen=True, eq=False)
class Measured:
    """The mean loss of a model on a text, and for each layer the fraction of keys that are unselectable.

    A key is unselectable if no query gives it the highest score.

    loss     the mean cross entropy in nats per character
    before   the fraction for each layer, if the keys are the vectors of the residual stream before the layer
    after    the fraction for each layer, if the keys are the vectors that attention reads: the results of
             LayerNorm, or of the gain and shift that replace it
    """

    loss: float
    before: list[float]
    after: list[float]


def measured(shape: Shape, weights: Mapping[str, np.ndarray], text: str) -> Measured:
    """Measure the model on a text, which is cut into consecutive pieces of `shape.window` characters.

    An incomplete piece at the end is left out. The keys of each piece form a set of their own. A key is
    unselectable exactly if it is not a vertex of the convex hull of its set. Raises ValueError for a text
    shorter than one piece.
    """
    count = len(text) // shape.window
    if not count:
        raise ValueError(f"a text to measure has {shape.window} characters or more: got {len(text)}")
    windows = shape.tokens(text[: count * shape.window]).reshape(count, shape.window)
    reading = forward(shape, weights, windows)

    def share(sets: Array) -> float:
        return float(np.mean([1 - len(vertices(keys)) / len(keys) for keys in sets]))

    return Measured(
        loss=float(losses(reading.logits, windows).mean()),
        before=[share(block.stream) for block in reading.blocks],
        after=[share(block.keys) for block in reading.blocks],
    )


def initial(shape: Shape, seed: int) -> dict[str, np.ndarray]:
    """Random weights in float32: gains 1, biases 0, all others normal with mean 0.

    The standard deviation is 1/√d for embeddings, and 1/√(number of inputs) for the weights of Linears; for
    Linears that write to the residual stream it is divided by √(2·layers), as in GPT-2. GPT-2's fixed
    standard deviation of 0.02 would suit a larger width d.
    """
    rng, weights = np.random.default_rng(seed), {}
    for name, size in shape.parts.items():
        if name.endswith(".bias") or ".ln_" in name or name.startswith("ln_"):
            weights[name] = np.full(size, float(name.endswith(".weight")), dtype=np.float32)
            continue
        # the embedding is also the output matrix: with these small rows logits have a size of about 1
        scale = 1 / sqrt(size[0]) if name.startswith("h.") else 1 / sqrt(shape.width)
        if name.endswith("c_proj.weight"):
            scale /= sqrt(2 * shape.layers)
        weights[name] = (rng.standard_normal(size) * scale).astype(np.float32)
    return weights


def to_file(shape: Shape, weights: Mapping[str, np.ndarray], **about: str) -> bytes:
    """Serialise the model as a safetensors file; its metadata are `shape`, in JSON, and the texts `about`."""
    return to_safetensors(dict(weights), {"shape": json.dumps(asdict(shape), ensure_ascii=False), **about})


def from_file(data: bytes) -> tuple[Shape, dict[str, np.ndarray]]:
    """Read a model that `to_file` wrote; the weights are returned in double precision.

    Raises FileError for any other file.
    """
    weights, meta = from_safetensors(data)
    try:
        shape = Shape(**json.loads(meta["shape"]))
        found, wanted = {name: w.shape for name, w in weights.items()}, shape.parts
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise FileError(f"this file is no language model of ours: {problem}") from None
    if found != wanted:
        raise FileError("the weights of this file are not those of its shape")
    return shape, {name: w.astype(np.float64) for name, w in weights.items()}
