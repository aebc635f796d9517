"""Training of blocks that imitate LayerNorm: Adam on vectors drawn anew for each step. Needs PyTorch."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from geometry.norms import layer_norm
from learning.symmetriser import Symmetriser, initial, iterates

BATCH, RATE, LONGEST = 256, 0.01, 1.0  # vectors a step; the first learning rate; a longer gradient is cut

Draw = Callable[[int, np.random.Generator], np.ndarray]


def learned(
    block: Symmetriser, draw: Draw, *, iterations: int, seeds: Sequence[int], checkpoints: Sequence[int]
) -> dict[str, np.ndarray]:
    """Parts (T, S, …) of one block a seed at checkpoints, the last of which ends the training.

    What is made small is the mean square distance to LayerNorm after so many iterations. The learning rate
    falls evenly to 0. All seeds learn from the same vectors, and none hears of the others.
    """
    rng, last = np.random.default_rng(0), checkpoints[-1]
    parts = {name: torch.from_numpy(part).requires_grad_() for name, part in initial(block, seeds).items()}
    adam, checkpoint_parts = torch.optim.Adam(parts.values()), []
    for step in range(last + 1):
        if step in checkpoints:
            checkpoint_parts.append({name: part.detach().numpy().copy() for name, part in parts.items()})
        x = torch.from_numpy(draw(BATCH, rng).astype(np.float32))
        off = iterates(block, parts, x, iterations)[-1] - layer_norm(x, eps=0.0)
        adam.zero_grad()
        (off * off).mean((-2, -1)).sum().backward()
        _cut([part.grad for part in parts.values() if part.grad is not None])
        adam.param_groups[0]["lr"] = RATE * (1 - step / (last + 1))
        adam.step()
    return {name: np.stack([each[name] for each in checkpoint_parts]) for name in parts}


def _cut(slopes: Sequence[torch.Tensor]) -> None:
    """Shorten the gradient of each seed that is too long, in place."""
    length = sum((slope.flatten(1) ** 2).sum(1) for slope in slopes) ** 0.5
    for slope in slopes:
        slope *= (LONGEST / length.clamp(min=LONGEST)).reshape(-1, *[1] * (slope.ndim - 1))
