"""Training of the language model: Adam on windows of a text, drawn by lot. Needs PyTorch."""

from math import cos, pi

import numpy as np
import torch

from learning.language import Shape, initial, losses, read

BATCH, RATE, WARM = 8, 0.03, 50  # windows a step, the highest learning rate, steps until it is reached


def learned(shape: Shape, text: str, *, seed: int, steps: int) -> dict[str, np.ndarray]:
    """The weights after so many steps; the learning rate falls to 0 by a cosine.

    What comes out depends on shape, text, seed and steps, and on nothing else. Raises ValueError for a text
    that is no longer than the window.
    """
    if len(text) <= shape.window:
        raise ValueError(f"a text to learn from has more than {shape.window} characters: got {len(text)}")
    unseen = torch.full((shape.window, shape.window), -torch.inf, dtype=torch.float32).triu(1)
    # The causal softmax as PyTorch has it takes a third of the time.
    attend = lambda scores: torch.softmax(scores + unseen, dim=-1)  # noqa: E731
    tokens, rng = torch.from_numpy(shape.tokens(text)), np.random.default_rng(seed)
    weights = {name: torch.from_numpy(w).requires_grad_() for name, w in initial(shape, seed).items()}
    adam = torch.optim.Adam(weights.values(), betas=(0.9, 0.99))
    for step in range(steps):
        start = torch.from_numpy(rng.integers(0, len(tokens) - shape.window, BATCH))
        windows = tokens[start[:, None] + torch.arange(shape.window)]
        loss = losses(read(shape, weights, windows, attend=attend).logits, windows).mean()
        adam.param_groups[0]["lr"] = RATE * min(1, (step + 1) / WARM) * (1 + cos(pi * step / steps)) / 2
        adam.zero_grad()
        loss.backward()
        adam.step()
    return {name: w.detach().numpy() for name, w in weights.items()}
