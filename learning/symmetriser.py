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
from collections.abc import Mapping
from dataclasses import dataclass
from math import log, prod, sqrt

import numpy as np

from geometry.arrays import Array
from learning.file_error import FileError
from learning.safetensors import from_safetensors

Parts = Mapping[str, Array]
VECTOR_KINDS = ("gaussian", "uneven", "heavy")
SPREAD = 2.0  # the factor s of a random vector is 1/SPREAD … SPREAD, log-uniform
AXIS_WIDTH_RATIO = 4.0  # "uneven": standard deviation of the last axis ÷ middle, and middle ÷ first
STUDENT_T_DEGREES = 3  # "heavy": degrees of freedom; their variance is then also 3
MEAN_SQUARE = (SPREAD**2 - SPREAD**-2) / (2 * log(SPREAD))  # mean square of a coordinate: 2·E[s²]


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
    rounds     the number of sets of weights: iteration k uses set k, or the last if there is no set k
    adds       whether a variant of the formula is used: with all d/H coordinates x in place of (m, s), with
               d/H numbers a in place of (c, g), and with x′ = x + a

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
    """Read a file that tools/films/symmetriser_training.py wrote. Raises FileError for any other file."""
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
