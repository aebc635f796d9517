"""Train the blocks of heads of `learning.symmetriser` to imitate LayerNorm, with Adam. Needs PyTorch.

Each step trains on new random vectors.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from geometry.norms import layer_norm
from learning.symmetriser import Symmetriser, initial, iterates

BATCH_VECTORS, INITIAL_LEARNING_RATE, MAX_GRADIENT_LENGTH = 256, 0.01, 1.0

Draw = Callable[[int, np.random.Generator], np.ndarray]


def learned(
    block: Symmetriser, draw: Draw, *, iterations: int, seeds: Sequence[int], checkpoints: Sequence[int]
) -> dict[str, np.ndarray]:
    """Train one block for each of S seeds; return the parameters (T, S, …) at the T steps in `checkpoints`.

    block         the architecture
    draw          draw(n, rng) returns n random vectors to train on
    iterations    how many times the block is iterated before its result is compared with LayerNorm(x)
    checkpoints   the increasing numbers of steps after which the parameters are kept

    The training ends at the last checkpoint. The loss is the mean squared difference from LayerNorm(x). The
    learning rate falls linearly to 0, and gradients are cut to the length MAX_GRADIENT_LENGTH. All seeds see
    the same vectors and are otherwise independent.
    """
    rng, last = np.random.default_rng(0), checkpoints[-1]
    parts = {name: torch.from_numpy(part).requires_grad_() for name, part in initial(block, seeds).items()}
    adam, checkpoint_parts = torch.optim.Adam(parts.values()), []
    for step in range(last + 1):
        if step in checkpoints:
            checkpoint_parts.append({name: part.detach().numpy().copy() for name, part in parts.items()})
        x = torch.from_numpy(draw(BATCH_VECTORS, rng).astype(np.float32))
        off = iterates(block, parts, x, iterations)[-1] - layer_norm(x, eps=0.0)
        adam.zero_grad()
        (off * off).mean((-2, -1)).sum().backward()
        _cut([part.grad for part in parts.values() if part.grad is not None])
        adam.param_groups[0]["lr"] = INITIAL_LEARNING_RATE * (1 - step / (last + 1))
        adam.step()
    return {name: np.stack([each[name] for each in checkpoint_parts]) for name in parts}


def _cut(slopes: Sequence[torch.Tensor]) -> None:
    """Scale each seed's gradient down, in place, if its length exceeds MAX_GRADIENT_LENGTH.

    The first axis of each tensor in `slopes` is the seed. The length is that over all tensors together.
    """
    length = sum((slope.flatten(1) ** 2).sum(1) for slope in slopes) ** 0.5
    for slope in slopes:
        slope *= (MAX_GRADIENT_LENGTH / length.clamp(min=MAX_GRADIENT_LENGTH)).reshape(
            -1, *[1] * (slope.ndim - 1)
        )
