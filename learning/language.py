"""A small character-level GPT that returns every intermediate stage.

`forward` runs it on NumPy or PyTorch arrays. The weights have the names and shapes of GPT-2's, so software
that loads GPT-2 also loads a model with ordinary LayerNorms. Source: brody2023, section 4.2 and appendix E.2.
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

EPS = 1e-5  # of all its LayerNorms, as in GPT-2


@dataclass(frozen=True)
class Shape:
    """The model's hyperparameters.

    characters   its vocabulary: one token each
    scaled       whether the LayerNorm before attention also scales; if not, it only centres
    normed       whether it has LayerNorms; if not, a gain and a shift replace each
    heads        the number of attention heads, each with a block of consecutive axes of q, k and v

    Raises ValueError for a repeated character, a number below 1, or heads that do not divide the width.
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
        """Tokenise a text: the number of each character. Raises ValueError for an unknown character."""
        if unknown := sorted(set(text) - set(self.characters)):
            raise ValueError(f"the model does not know {', '.join(map(repr, unknown))}")
        return np.array([self.characters.index(each) for each in text], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class BlockActivations:
    """All intermediate values of one transformer layer, each (*batch, n, …).

    stream    the residual stream that enters the layer
    keys      its LayerNorm, which attention reads
    q, k, v   queries, keys, values
    scores    ⟨q, k⟩/√d, with d the width of a head
    weights   their causal softmax
    branch    the attention's output, which is added to the stream
    read      the LayerNorm of that sum, which the MLP reads
    hidden    the MLP's hidden layer after GELU
    mlp       the MLP's output, which is added too
    out       the residual stream that leaves the layer

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
    """The activations of a forward pass: blocks, final LayerNorm, and logits (*batch, n, characters)."""

    blocks: Sequence[BlockActivations]
    last: Array
    logits: Array


def causal(scores: Float[Array, "*batch n n"]) -> Float[Array, "*batch n n"]:
    """Causal softmax: each position's scores over itself and the positions before it; others get 0."""
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
    """Run the model: x = embedding + position, then in each layer

        x ← x + attention(LayerNorm(x)),  x ← x + MLP(LayerNorm(x)),

    and logits LayerNorm(x) @ wteᵀ, or @ head if the weights have a Linear of that name.

    attend   replaces the causal softmax
    norm     norm(weights, name, x, *, scaled=True) replaces LayerNorm (or, if not `shape.normed`, gain and
             shift). Only the norm before attention is called with `scaled`: False asks for no division
    shares   the share of each axis that each head sees (`geometry.windows`); by default separate blocks
    kept     the first blocks of an earlier pass over these tokens, which are reused

    Raises ValueError for more tokens than the window holds.
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
    joined = beside(found, shape.heads) if shares is None else found.sum(-3)
    branch = _linear(own, "attn.c_proj", joined)
    read = norm(own, "ln_2", stream + branch)
    hidden = pointwise.apply("gelu_tanh", _linear(own, "mlp.c_fc", read))
    mlp = _linear(own, "mlp.c_proj", hidden)
    out = stream + branch + mlp
    return BlockActivations(stream, keys, q, k, v, scores, attention, branch, read, hidden, mlp, out)


def cut(x: Float[Array, "*batch n d"], heads: int) -> Array:
    """Split the axes of x into one block per head: (*batch, heads, n, d/heads); with one head, x itself.

    Head h has the axes h·d/heads up to (h + 1)·d/heads. Source: symmetrize2025, 5.2.
    """
    if heads == 1:
        return x
    *batch, n, d = x.shape
    return namespace(x).moveaxis(x.reshape(*batch, n, heads, d // heads), -2, -3)


def beside(x: Array, heads: int) -> Float[Array, "*batch n d"]:
    """Undo `cut`: put the blocks of all heads side by side."""
    if heads == 1:
        return x
    x = namespace(x).moveaxis(x, -3, -2)
    return x.reshape(*x.shape[:-2], -1)


def softly(x: Float[Array, "*batch n d"], shares: Float[Array, "heads d"]) -> Array:
    """Soft heads: x times each head's share of every axis, (*batch, heads, n, d). The results sum to x.

    With shares of 1 in a head's block and 0 elsewhere, scores are the same as with `cut`. Source:
    symmetrize2025, section 5.4.
    """
    return x[..., None, :, :] * shares[:, None, :]


def _linear(own: Mapping[str, Array], name: str, x: Array) -> Array:
    return x @ own[f"{name}.weight"] + own[f"{name}.bias"]


def layer_norm_of(own: Mapping[str, Array], name: str, x: Array, *, scaled: bool = True) -> Array:
    """LayerNorm with the gain and shift called `name` in the weights `own`.

    scaled: False leaves out the division by the standard deviation.
    """
    gamma, beta = own[f"{name}.weight"], own[f"{name}.bias"]
    if scaled:
        return layer_norm(x, gamma=gamma, beta=beta, eps=EPS)
    return to_ellipsoid(center(x), gamma=gamma, beta=beta)


def gain_and_shift(own: Mapping[str, Array], name: str, x: Array, *, scaled: bool = True) -> Array:
    """Apply only the gain and shift called `name` in the weights `own`, without centring and division.

    It takes the place of LayerNorm in models without norms, so `scaled` has no effect.
    """
    return to_ellipsoid(x, gamma=own[f"{name}.weight"], beta=own[f"{name}.bias"])


def losses(logits: Float[Array, "*batch n k"], tokens: Int[Array, "*batch n"]) -> Float[Array, "*batch n-1"]:
    """The cross entropy of each next character, in nats: log Σ exp(logits) − the logit of that character."""
    xp = namespace(logits)
    logits, come = logits[..., :-1, :], tokens[..., 1:, None]
    largest = xp.max(logits, axis=-1, keepdims=True)
    total = largest[..., 0] + xp.log(xp.sum(xp.exp(logits - largest), axis=-1))
    return total - xp.take_along_axis(logits, come, axis=-1)[..., 0]


@dataclass(frozen=True, eq=False)
class Measured:
    """Measurements of a model on a text: mean loss in nats per character, and shares of unselectable keys.

    before, after: for each layer, the share of keys to which no query can give the highest score, if keys are
    the vectors of the residual stream (`before`), or those after the norm in front of attention (`after`), if
    there is one.
    """

    loss: float
    before: list[float]
    after: list[float]


def measured(shape: Shape, weights: Mapping[str, np.ndarray], text: str) -> Measured:
    """Measure the model on consecutive windows of a text, each a separate set of keys.

    A key is unselectable exactly if it is no vertex of the keys' convex hull. Raises ValueError for a text
    shorter than a window.
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
    """Random weights in float32: gains 1, biases 0, all others normal with standard deviation 1/√d.

    The weights of Linears that write to the residual stream are divided by √(2·layers), as in GPT-2. GPT-2's
    fixed standard deviation of 0.02 would suit a larger d.
    """
    rng, weights = np.random.default_rng(seed), {}
    for name, size in shape.parts.items():
        if name.endswith(".bias") or ".ln_" in name or name.startswith("ln_"):
            weights[name] = np.full(size, float(name.endswith(".weight")), dtype=np.float32)
            continue
        # the embedding is also the output matrix: its rows are small, so that logits are about 1
        scale = 1 / sqrt(size[0]) if name.startswith("h.") else 1 / sqrt(shape.width)
        if name.endswith("c_proj.weight"):
            scale /= sqrt(2 * shape.layers)
        weights[name] = (rng.standard_normal(size) * scale).astype(np.float32)
    return weights


def to_file(shape: Shape, weights: Mapping[str, np.ndarray], **about: str) -> bytes:
    """The model as a safetensors file. Its metadata are `shape`, in JSON, and the texts in `about`."""
    return to_safetensors(dict(weights), {"shape": json.dumps(asdict(shape), ensure_ascii=False), **about})


def from_file(data: bytes) -> tuple[Shape, dict[str, np.ndarray]]:
    """Read a model that `to_file` wrote, in double precision. Raises FileError for any other file."""
    weights, meta = from_safetensors(data)
    try:
        shape = Shape(**json.loads(meta["shape"]))
        found, wanted = {name: w.shape for name, w in weights.items()}, shape.parts
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        raise FileError(f"this file is no language model of ours: {problem}") from None
    if found != wanted:
        raise FileError("the weights of this file are not those of its shape")
    return shape, {name: w.astype(np.float64) for name, w in weights.items()}
