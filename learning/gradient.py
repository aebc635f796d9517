"""The gradient of a network's loss in NumPy, for servers without PyTorch. Source: winsor2022."""

import numpy as np

from geometry.pipeline import Affine, Normalize, Pipeline, Pointwise
from learning.datasets import DataSet
from learning.network import Network

Array = np.ndarray

TINY = 1e-300  # smallest squared length: avoids 0/0 at the origin with ε = 0, where the direction is then 0
# the slope of each activation, from its argument x and its result y
SLOPES = {"tanh": lambda x, y: 1 - y * y, "relu": lambda x, y: x > 0}


def gradients(network: Network, weights: Array, data: DataSet) -> Array:
    """The gradient ∇L (T, P) of the mean cross entropy L (see `film.score`) at each of T rows of weights.

    weights (T, P): each row has all parameters of the network. The gradient is computed by backpropagation
    through the steps of the network. Let g = ∂L/∂y for a step that maps x to y.

    - Linear, y = A·x + b: ∂L/∂A = Σ g·xᵀ, ∂L/∂b = Σ g, ∂L/∂x = Aᵀg. The sums are over the points.
    - Normalisation, y = R·x/r with r² = ‖x‖² + c: ∂L/∂x = R/r·(g − ⟨g, x⟩x/r²). R is the radius of the step,
      and c is ε, or d·ε in PyTorch's convention for d coordinates.
    - Activation, y = f(x): ∂L/∂x = f′(x)·g, with f′ from SLOPES. Raises KeyError for other activations.
    """
    x = data.points.astype(float)  # one row of weights at a time, because a film may have many
    return np.stack([_gradient(network.pipeline(w[None].astype(float)), x, data.labels) for w in weights])


def _gradient(pipeline: Pipeline, x: Array, labels: Array) -> Array:
    stages = pipeline.stages(x)
    parts: list[Array] = []
    g = _errors(stages[-1], labels)
    for step, x, y in reversed(list(zip(pipeline.steps, stages, stages[1:], strict=False))):
        if isinstance(step, Affine) and len(step.A.shape) > 2:  # a Linear, not LayerNorm's centring
            parts = [(g.mT @ x).ravel(), g.sum(-2).ravel(), *parts]
        g = _back(step, x, y, g)
    return np.concatenate(parts)


def _errors(logits: Array, labels: Array) -> Array:
    """The gradient ∂L/∂logits (T, N, K) of the mean cross entropy: (probabilities − one-hot labels)/N.

    For two classes there is one logit, K = 1, and the gradient is (probability of class 1 − label)/N.
    """
    if logits.shape[-1] == 1:
        return ((1 + np.tanh(logits / 2)) / 2 - labels[:, None]) / len(labels)
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    return (odds / odds.sum(-1, keepdims=True) - np.eye(logits.shape[-1])[labels]) / len(labels)


def _back(step: Affine | Normalize | Pointwise, x: Array, y: Array, g: Array) -> Array:
    """The gradient ∂L/∂x, computed from the gradient g = ∂L/∂y and y = step(x)."""
    match step:
        case Affine():
            return g @ step.A.value({})
        case Pointwise():
            return g * SLOPES[step.function](x, y)
    inside = step.eps.base * (x.shape[-1] if step.convention == "pytorch" else 1)
    square = np.maximum((x * x).sum(-1, keepdims=True) + inside, TINY)
    return step.radius.base / np.sqrt(square) * (g - (g * x).sum(-1, keepdims=True) * x / square)
