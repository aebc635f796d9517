"""A small feed-forward network of Linears, with a normalisation or activation between them.

Source: winsor2022.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np

from geometry.arrays import Array, namespace
from geometry.centering import centering_matrix
from geometry.pipeline import Affine, Normalize, Pipeline, Pointwise

MIDDLES = {"u_eps": "u<sub>ε</sub>", "layer_norm": "LayerNorm", "tanh": "tanh", "relu": "ReLU", "none": ""}
ALL_MIDDLES = {**MIDDLES, "gelu": "GELU"}  # all steps that can follow a Linear; scenes offer only MIDDLES
MAX_WIDTH, MAX_DEPTH = 64, 12  # limits for uploaded film files


@dataclass(frozen=True)
class Network:
    """A feed-forward network: `depth` Linears, each followed by the step `middle`, and a last Linear.

    middle    "u_eps" for x/√(‖x‖² + ε); "layer_norm" for Πx/√(σ² + ε), where Πx is x minus the mean of its
              coordinates and σ their standard deviation; "none"; or the name of an activation function
    eps       ε
    widths    the width of each hidden layer; None if all have the same `width`

    Raises ValueError for sizes outside the limits, an unknown step, and ε outside 0 … 1.
    """

    inputs: int
    width: int
    depth: int
    outputs: int
    middle: str = "u_eps"
    eps: float = 1e-3
    widths: tuple[int, ...] | None = None

    def __post_init__(self):
        if self.widths is not None:
            object.__setattr__(self, "widths", tuple(self.widths))
        if self.middle not in ALL_MIDDLES:
            raise ValueError(f"no middle step {self.middle!r}: take one of {', '.join(ALL_MIDDLES)}")
        if not _whole(self.depth, 0, MAX_DEPTH):
            raise ValueError(f"depth is a whole number, 0 … {MAX_DEPTH}: got {self.depth}")
        if len(self.hidden_widths) != self.depth:
            raise ValueError(f"a depth of {self.depth} needs as many widths: got {self.widths}")
        for width in (self.width, *self.dimensions):
            if not _whole(width, 1, MAX_WIDTH):
                raise ValueError(f"each width is a whole number, 1 … {MAX_WIDTH}: got {width}")
        if isinstance(self.eps, bool) or not 0 <= self.eps <= 1:
            raise ValueError(f"eps is a number, 0 … 1: got {self.eps}")

    @property
    def hidden_widths(self) -> tuple[int, ...]:
        """The width of each hidden layer."""
        return self.widths if self.widths is not None else (self.width,) * self.depth

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The dimension of the input, followed by the dimension of each Linear's output."""
        return (self.inputs, *self.hidden_widths, self.outputs)

    @property
    def parameter_count(self) -> int:
        """The number of parameters P."""
        return sum(m * d + m for d, m in pairwise(self.dimensions))

    def unflatten(self, flat: Array) -> list[tuple[Array, Array]]:
        """Split flat rows of parameters (…, P) into a pair for each Linear: A (…, m, d) and b (…, m).

        Raises ValueError for another number of parameters than P.
        """
        xp, (*batch, size) = namespace(flat), flat.shape
        if size != self.parameter_count:
            raise ValueError(f"this network has {self.parameter_count} parameters: got {size}")
        parts, start = [], 0
        for d, m in pairwise(self.dimensions):
            middle, end = start + m * d, start + m * d + m
            parts.append((xp.reshape(flat[..., start:middle], (*batch, m, d)), flat[..., middle:end]))
            start = end
        return parts

    def pipeline(self, weights: Array | Sequence[tuple[Any, Any]]) -> Pipeline:
        """The network as a pipeline of steps that map points.

        weights: flat parameters (…, P), or for each Linear a pair (A, b) of arrays or `Entries`. If the
        parameters have leading axes, such as one for seeds, the results have the same axes, followed by the
        axis of the points.
        """
        parts = weights if isinstance(weights, Sequence) else self.unflatten(weights)
        steps: list[Any] = []
        for k, (A, b) in enumerate(parts):
            steps += [*(self._middle(self.dimensions[k]) if k else ()), Affine(A, b)]
        return Pipeline(steps)

    def parts(self, flat: Array) -> list[Array]:
        """Split flat rows of parameters (…, P) into the arrays A, b, A, b, … of the Linears."""
        return [part for pair in self.unflatten(flat) for part in pair]

    def logits(self, parts: Sequence[Array], points: Array) -> Array:
        """The logits (*batch, N, outputs) of N points, for parameter arrays returned by `parts`."""
        return self.pipeline(list(zip(parts[::2], parts[1::2], strict=True))).stages(points)[-1]

    def answers(self, points: Array, labels: Array, weight: Array) -> tuple[Array, Array]:
        """The label and weight of each prediction: `labels` and `weight` themselves, one for each point."""
        return labels, weight

    def initial(self, seeds: Sequence[int]) -> np.ndarray:
        return initial(self, seeds)

    def fields(self) -> dict[str, Any]:
        return asdict(self)

    def _middle(self, d: int) -> Sequence[Any]:
        match self.middle:
            case "u_eps":
                return [Normalize(eps=self.eps)]
            case "layer_norm":
                return [Affine(centering_matrix(d)), Normalize(sqrt(d), self.eps, convention="pytorch")]
            case "none":
                return []
        return [Pointwise(self.middle)]


def initial(network: Network, seeds: Sequence[int]) -> np.ndarray:
    """Random parameters (S, P) in float32, one row per seed.

    A (m, d) and b (m,) of each Linear are uniform in ±1/√d, as in torch.nn.Linear.
    """
    drawn = []
    for rng in map(np.random.default_rng, seeds):
        parts = [rng.uniform(-1, 1, m * d + m) / sqrt(d) for d, m in pairwise(network.dimensions)]
        drawn.append(np.concatenate(parts))
    return np.array(drawn, dtype=np.float32)


def stage_names(network: Network) -> list[str]:
    """A name in HTML for each stage of the network's pipeline: the input, and the result of each step."""
    middle = {"none": [], "layer_norm": ["centred", "LayerNorm"]}.get(
        network.middle, [ALL_MIDDLES[network.middle]]
    )
    names = ["input"]
    for k in range(network.depth):
        names += [f"Linear {k + 1}", *middle]
    return [*names, "output"]


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
