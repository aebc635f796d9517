"""The interface of networks that can be trained and stored at checkpoints; implementations by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from geometry.arrays import Array
from learning.attention import AttentionClassifier
from learning.network import Network


class Model(Protocol):
    """A network whose parameters are one flat row of P numbers.

    Leading axes of the parameters, such as one of seeds, become leading axes of the outputs.
    """

    @property
    def inputs(self) -> int:
        """The number of coordinates of a point."""

    @property
    def outputs(self) -> int:
        """The number of logits."""

    @property
    def parameter_count(self) -> int:
        """The number of parameters P."""

    def initial(self, seeds: Sequence[int]) -> np.ndarray:
        """Random parameters (S, P) in float32, one row per seed."""

    def parts(self, flat: Array) -> list[Array]:
        """Split a flat row (…, P) into the parameter arrays (…, *shape), in a fixed order."""

    def logits(self, parts: Sequence[Array], points: Array) -> Array:
        """The logits (…, M, outputs) of M predictions for points (N, inputs); M may be a multiple of N."""

    def answers(self, points: Any, labels: Any, weight: Any) -> tuple[Any, Any]:
        """The label (M,) and the weight (M,) of each prediction, from those of the points (N,)."""

    def fields(self) -> dict[str, Any]:
        """The JSON fields from which `model` builds this network again.

        "model" names the kind of network; without it, the kind is Network.
        """


MODELS: Mapping[str, Callable[..., Any]] = {"network": Network, "attention": AttentionClassifier}


def model(fields: Mapping[str, Any]) -> Any:
    """The model that `fields` describes. Raises KeyError, TypeError or ValueError for invalid fields."""
    own = dict(fields)
    return MODELS[own.pop("model", "network")](**own)
