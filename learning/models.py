"""The interface of networks that can be trained and stored at checkpoints; implementations by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from geometry.arrays import Array
from learning.attention import AttentionClassifier
from learning.network import Network


class Model(Protocol):
    """A network architecture whose parameters are stored as one flat row of P numbers.

    If the parameters have leading axes, such as one for seeds, so have the outputs.
    """

    @property
    def inputs(self) -> int:
        """The number of coordinates of an input point."""

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
        """The logits (…, M, outputs) of M predictions for N points (N, inputs).

        M may be a multiple of N: an `AttentionClassifier` predicts for each class in a sequence.
        """

    def answers(self, points: Any, labels: Any, weight: Any) -> tuple[Any, Any]:
        """The label (M,) and weight (M,) of each prediction, from those of the points, (N,) each."""

    def fields(self) -> dict[str, Any]:
        """The JSON fields from which the function `model` builds this network again.

        "model" names the kind of network; without this field, it is a `Network`.
        """


MODELS: Mapping[str, Callable[..., Any]] = {"network": Network, "attention": AttentionClassifier}


def model(fields: Mapping[str, Any]) -> Any:
    """Build the network that `fields` describes.

    Raises KeyError, TypeError or ValueError for invalid fields.
    """
    own = dict(fields)
    return MODELS[own.pop("model", "network")](**own)
