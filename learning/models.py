"""What can be trained and filmed: the kinds of networks, each with one row of numbers for parameters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from geometry.arrays import Array
from learning.attention import AttentionClassifier
from learning.network import Network


class Model(Protocol):
    """A kind of network. Leading axes of the parameters, say of seeds, come out before the answers'."""

    @property
    def inputs(self) -> int:
        """The number of coordinates of a point."""

    @property
    def outputs(self) -> int:
        """The number of logits of an answer."""

    @property
    def size(self) -> int:
        """The number of parameters P."""

    def initial(self, seeds: Sequence[int]) -> np.ndarray:
        """Parameters (S, P) in float32 before training, each from its own seed."""

    def parts(self, flat: Array) -> list[Array]:
        """(…, P) → the parameters (…, *shape) in this order, each array by itself."""

    def logits(self, parts: Sequence[Array], points: Array) -> Array:
        """The M answers (…, M, outputs) for points (N, inputs)."""

    def answers(self, points: Any, labels: Any, weight: Any) -> tuple[Any, Any]:
        """The label (M,) of each answer, and its weight (M,), from those of the points (N,)."""

    def fields(self) -> dict[str, Any]:
        """The fields from which `model` rebuilds it; "model" is its kind, absent for a Network."""


MODELS: Mapping[str, Callable[..., Any]] = {"network": Network, "attention": AttentionClassifier}


def model(fields: Mapping[str, Any]) -> Any:
    """The model with these fields. Raises KeyError, TypeError or ValueError where there is none."""
    own = dict(fields)
    return MODELS[own.pop("model", "network")](**own)
