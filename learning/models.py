"""The interface `Model` of networks that can be trained, and the classes that implement it, by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from geometry.arrays import Array
from learning.attention import AttentionClassifier
from learning.network import Network


class Model(Protocol):
    """A network architecture. Its parameters are P numbers, which are stored in one row.

    Rows of parameters can have leading axes (…, P), such as one for seeds; the outputs then have them too.
    """

    @property
    def inputs(self) -> int:
        """The number of coordinates of an input point."""

    @property
    def outputs(self) -> int:
        """The number of logits of a prediction."""

    @property
    def parameter_count(self) -> int:
        """The number of parameters P."""

    def initial(self, seeds: Sequence[int]) -> np.ndarray:
        """Random parameters (S, P) in float32, one row per seed."""

    def parts(self, flat: Array) -> list[Array]:
        """Split a flat row (…, P) into the parameter arrays (…, *shape), in a fixed order."""

    def logits(self, parts: Sequence[Array], points: Array) -> Array:
        """The logits (…, M, outputs) of M predictions for N points (N, inputs).

        A `Network` makes one prediction for each point, so M = N. A point of an `AttentionClassifier` is a
        sequence: the counts of its C = `inputs` classes of tokens. The model predicts for each class in each
        sequence, so M = C·N. `answers` gives the weight 0 to classes that do not occur in a sequence.
        """

    def answers(self, points: Any, labels: Any, weight: Any) -> tuple[Any, Any]:
        """The right label (M,) and the weight in the loss (M,) of each prediction, in the order of `logits`.

        points: as in `logits`. labels, weight (N,): the label and the weight of each point.
        """

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
