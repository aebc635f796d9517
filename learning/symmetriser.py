"""A learned LayerNorm: heads in a ring, each with its own coordinates, exchange messages in iterations.

Source: symmetrize2025, section 9, which gives no formulas. The coordinates of a vector (its axes) are divided
among heads. In each iteration a head subtracts one number from its coordinates, multiplies them by another
number, and sends a few numbers as a message to its two neighbours. A small network in each head computes all
of these numbers from the mean and standard deviation of the head's coordinates, and from the previous
messages. All heads together are called a block. The browser runs a block as pipeline steps
(components/scenes/symmetrise/steps.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log, prod, sqrt
from typing import Any

import numpy as np

from geometry.angles import angles
from geometry.arrays import Array, namespace
from geometry.norms import layer_norm
from learning.file_error import FileError
from learning.safetensors import from_safetensors, to_safetensors

Parts = Mapping[str, Array]
VECTOR_KINDS = ("gaussian", "uneven", "heavy")
SPREAD = 2.0  # the factor s of a random vector is 1/SPREAD … SPREAD, log-uniform
AXIS_WIDTH_RATIO = 4.0  # "uneven": standard deviation of the last axis ÷ middle, and middle ÷ first
STUDENT_T_DEGREES = 3  # "heavy": degrees of freedom; their variance is then also 3
MEAN_SQUARE = (SPREAD**2 - SPREAD**-2) / (2 * log(SPREAD))  # mean square of a coordinate: 2·E[s²]
TINY = 1e-12  # far below the squares of all standard deviations that occur


@dataclass(frozen=True)
class Symmetriser:
    """The architecture of a learned LayerNorm: H heads in a ring, each with a block of d/H axes.

    Let x be the coordinates of a head, m their mean, s = √mean((x − m)²) their standard deviation, and r the
    head's message, which is 0 at the start. One iteration of head h is

        (c, g, r′) = W₂ tanh(W₁ (m, s, r, r of head h−1, r of head h+1) + b₁) + b₂,   x′ = g·(x − c).

    Every head has its own weight matrices W₁, W₂ and biases b₁, b₂.

    axes       the dimension d of the vectors
    heads      H
    messages   the number of coordinates of a message r
    hidden     the number of neurons in the hidden layer
    rounds     the number of sets of weights: iteration k uses set k; later iterations use the last set
    adds       a variant: the network of a head reads its d/H numbers of x in place of m and s. In place of
               c and g it gives d/H numbers, which are added to those of x

    Raises ValueError for numbers below 1 (for `messages`, below 0), and if H does not divide d.
    """

    axes: int = 16
    heads: int = 4
    messages: int = 4
    hidden: int = 8
    rounds: int = 1
    adds: bool = False

    def __post_init__(self):
        if min(self.axes, self.heads, self.hidden, self.rounds, self.messages + 1) < 1:
            raise ValueError("a block has one axis, head, hidden neuron and round or more, messages or none")
        if self.axes % self.heads:
            raise ValueError(f"{self.heads} heads cannot share {self.axes} axes evenly")

    @property
    def own(self) -> int:
        """The number d/H of coordinates of one head."""
        return self.axes // self.heads

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter array by name. The first two numbers are `rounds` and `heads`."""
        seen = self.own if self.adds else 2
        first, w = (self.rounds, self.heads), self.hidden
        into, out = seen + 3 * self.messages, seen + self.messages
        return {
            "inner.weight": (*first, w, into),
            "inner.bias": (*first, w),
            "outer.weight": (*first, out, w),
            "outer.bias": (*first, out),
        }

    @property
    def parameter_count(self) -> int:
        """The number of parameters."""
        return sum(map(prod, self.shapes.values()))


def initial(block: Symmetriser, seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """Random parameters (S, …) in float32, one set per seed, with which an iteration changes vectors little.

    In the notation of `Symmetriser`, g is near 1 and c near 0; with `adds`, the added numbers are near 0.
    """
    found: dict[str, list[np.ndarray]] = {name: [] for name in block.shapes}
    for rng in map(np.random.default_rng, seeds):
        for name, shape in block.shapes.items():
            scale = 0.5 if name == "inner.bias" else 1 / sqrt(shape[-1])
            found[name].append(scale * rng.standard_normal(shape))
    parts = {name: np.array(each, np.float32) for name, each in found.items()}
    parts["outer.weight"] *= 0.3
    parts["outer.bias"] *= 0
    if not block.adds:
        parts["outer.bias"][..., 1] = 1
    return parts


def iterates(block: Symmetriser, parts: Parts, x: Array, iterations: int) -> list[Array]:
    """Run the block. Returns a list: the vectors x (N, d), then the result (*batch, N, d) of each iteration.

    parts: the parameters, as NumPy or PyTorch arrays. If they have leading axes `batch`, such as one for
    seeds, the results have the same leading axes.
    """
    xp, (n, d) = namespace(x), x.shape
    batch = parts["inner.bias"].shape[:-3]
    at = xp.broadcast_to(_apart(x, block), (*batch, block.heads, n, block.own))
    said, states = 0 * at[..., :1] + xp.zeros((block.messages,), dtype=x.dtype), [x]
    for k in range(iterations):
        inner, outer = (_layer(parts, name, min(k, block.rounds - 1)) for name in ("inner", "outer"))
        seen = [at] if block.adds else _view(at)
        heard = [said, xp.roll(said, 1, axis=-3), xp.roll(said, -1, axis=-3)]
        hidden = xp.tanh(xp.concat([*seen, *heard], axis=-1) @ inner[0] + inner[1])
        out = hidden @ outer[0] + outer[1]
        at = at + out[..., : block.own] if block.adds else out[..., 1:2] * (at - out[..., :1])
        said = out[..., block.own if block.adds else 2 :]
        states.append(xp.reshape(xp.moveaxis(at, -3, -2), (*batch, n, d)))
    return states


def errors(x: Array, y: Array) -> Array:
    """The relative errors ‖y − LayerNorm(x)‖/√d of results y (…, N, d) for inputs x; shape (…, N).

    The divisor √d is the length of LayerNorm(x). Here LayerNorm has ε = 0 and neither gain nor shift.
    """
    xp, off = namespace(y), y - layer_norm(x, eps=0.0)
    return xp.sqrt(xp.mean(off * off, axis=-1))


def turned_by(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The angle in degrees between each result y and LayerNorm(x) of its input x: (…, N)."""
    return np.degrees(angles(np.broadcast_to(layer_norm(x, eps=0.0), y.shape), y))


def _apart(x: Array, block: Symmetriser) -> Array:
    """Split vectors x (N, d) into the coordinates of each of H heads, (H, N, d/H)."""
    xp = namespace(x)
    return xp.moveaxis(xp.reshape(x, (x.shape[0], block.heads, block.own)), -2, -3)


def _layer(parts: Parts, name: str, k: int) -> tuple[Array, Array]:
    """The weights (…, H, in, out) and biases (…, H, 1, out) of all heads in one layer, from set k of weights.

    name: "inner" for the first layer of the heads' networks, "outer" for the second.
    """
    return parts[f"{name}.weight"][..., k, :, :, :].mT, parts[f"{name}.bias"][..., k, :, None, :]


def _view(at: Array) -> list[Array]:
    """A list of the mean and the standard deviation over the last axis of `at`, each of shape (…, 1).

    at: the coordinates of each head, on the last axis.
    """
    xp = namespace(at)
    mean = xp.mean(at, axis=-1, keepdims=True)
    squares = xp.sum((at - mean) ** 2, axis=-1, keepdims=True)
    return [mean, squares / xp.sqrt(at.shape[-1] * (squares + TINY))]  # √(squares/n), but differentiable at 0


# --- training vectors


def drawn(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Random vectors (n, d) of one of VECTOR_KINDS; the expected mean square of a vector is MEAN_SQUARE.

    A vector is s·(z + μ𝟏), where 𝟏 = (1, …, 1), the number μ is standard normal, and ln s is uniform between
    −ln SPREAD and ln SPREAD. The kinds differ in the distribution of the coordinates of z: for "gaussian"
    they are standard normal; for "uneven" their standard deviation grows from the first to the last; for
    "heavy" they follow Student's t, scaled to variance 1. Raises ValueError for another kind.
    """
    if kind not in VECTOR_KINDS:
        raise ValueError(f"no vectors {kind!r}: take one of {', '.join(VECTOR_KINDS)}")
    z = (
        rng.standard_t(STUDENT_T_DEGREES, (n, d)) / sqrt(STUDENT_T_DEGREES)
        if kind == "heavy"
        else rng.standard_normal((n, d))
    )
    if kind == "uneven":
        wide = AXIS_WIDTH_RATIO ** np.linspace(-1, 1, d)
        z = z * wide / np.sqrt(np.mean(wide**2))
    return SPREAD ** rng.uniform(-1, 1, (n, 1)) * (z + rng.standard_normal((n, 1)))


def pooled(images: np.ndarray) -> np.ndarray:
    """Pictures (N, h, w) as vectors (N, 16) of the mean brightness of each tile of a 4 × 4 grid, scaled.

    h and w are multiples of 4. All vectors are multiplied by one number, so that the mean square of all
    coordinates is MEAN_SQUARE.
    """
    n, h, w = images.shape
    tiles = images.reshape(n, 4, h // 4, 4, w // 4).mean((2, 4)).reshape(n, 16).astype(float)
    return tiles * sqrt(MEAN_SQUARE / np.mean(tiles**2))


# --- files


def to_file(block: Symmetriser, steps: np.ndarray, parts: Parts, about: Mapping[str, Any]) -> bytes:
    """Serialise the parameters of one trained block at T checkpoints, as a safetensors file in float16.

    steps (T,): the training steps of the checkpoints. parts: the parameters (T, …). about: words about the
    training, which are stored with it.
    """
    arrays = {name: np.asarray(part, np.float16) for name, part in parts.items()}
    meta = {"block": asdict(block), "about": dict(about)}
    texts = {name: json.dumps(text) for name, text in meta.items()}
    return to_safetensors({"steps": np.asarray(steps, np.int64)} | arrays, texts)


@dataclass(frozen=True)
class Trained:
    """A learned LayerNorm at T checkpoints of its training.

    steps (T,): the training steps of the checkpoints. parts: the parameters (T, …) at the checkpoints.
    """

    block: Symmetriser
    steps: np.ndarray
    parts: Parts

    def at(self, k: int) -> dict[str, np.ndarray]:
        """The parameters at checkpoint k."""
        return {name: part[k] for name, part in self.parts.items()}


def from_file(data: bytes) -> Trained:
    """Read a file that `to_file` wrote. Raises FileError for any other file."""
    arrays, meta = from_safetensors(data)
    try:
        block = Symmetriser(**json.loads(meta["block"]))
        steps = arrays.pop("steps")
    except (KeyError, TypeError, ValueError) as problem:
        raise FileError(f"this file has no block that learned LayerNorm: {problem}") from None
    shapes = {name: (len(steps), *shape) for name, shape in block.shapes.items()}
    if {name: part.shape for name, part in arrays.items()} != shapes:
        raise FileError(f"the arrays of this file have other shapes than {shapes}")
    return Trained(block, steps, {name: part.astype(float) for name, part in arrays.items()})
