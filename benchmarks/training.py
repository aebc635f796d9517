"""Compare training many networks at once with training them one after another; prints a Markdown table.

Run it with `python -m benchmarks.training`. Both ways train the same small networks, with the activation u_ε,
from the same initial weights on the same spiral, in float32, with Adam on the full batch. They are timed one
after the other in one process.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from learning.datasets import DataSet, spiral
from learning.network import Network, initial
from learning.training import train, trained

NETWORK = Network(inputs=2, width=3, depth=2, outputs=1)
SEEDS, STEPS, ROUNDS, LR = 32, 100, 3, 0.01


class Unit(nn.Module):
    """The activation u_ε(x) = x/√(‖x‖² + ε) as an `nn.Module`."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / torch.sqrt(x.square().sum(-1, keepdim=True) + NETWORK.eps)


def module(seed: int) -> nn.Sequential:
    """NETWORK as a PyTorch module, with the initial weights of `learning.network.initial` for this seed."""
    layers: list[nn.Module] = []
    parts = NETWORK.unflatten(torch.from_numpy(initial(NETWORK, [seed])[0]))
    for (d, m), (A, b) in zip(pairwise(NETWORK.dimensions), parts, strict=True):
        linear = nn.Linear(d, m, dtype=torch.float32)
        linear.load_state_dict({"weight": A, "bias": b})
        layers += [linear, Unit()]
    return nn.Sequential(*layers[:-1])


def looped(data: DataSet, seeds: int, steps: int) -> np.ndarray:
    """Train the networks one after another; returns their losses (seeds,) after the last step."""
    x, y = torch.from_numpy(data.points), torch.from_numpy(data.labels).float()
    out = []
    for model in map(module, range(seeds)):
        adam = torch.optim.Adam(model.parameters(), lr=LR)
        for _ in range(steps):
            adam.zero_grad()
            functional.binary_cross_entropy_with_logits(model(x)[:, 0], y).backward()
            adam.step()
        with torch.no_grad():
            out.append(functional.binary_cross_entropy_with_logits(model(x)[:, 0], y).item())
    return np.array(out)


def batched(data: DataSet, seeds: int, steps: int) -> np.ndarray:
    """Train all networks at once; returns their losses (seeds,) after the last step, as `looped` does."""
    return trained(NETWORK, data, seeds=seeds, steps=steps, lr=LR).loss[:, -1]


def seconds(run: Callable[[DataSet, int, int], np.ndarray], data: DataSet) -> float:
    start = perf_counter()
    run(data, SEEDS, STEPS)
    return perf_counter() - start


def main() -> None:
    threads, data = torch.get_num_threads(), spiral(200, turns=1, noise=0, seed=0)
    torch.set_num_threads(1)  # fastest for both
    difference = np.abs(looped(data, SEEDS, STEPS) - batched(data, SEEDS, STEPS)).max()
    times = [[seconds(run, data) for run in (looped, batched)] for _ in range(ROUNDS)]
    loop, ours = (SEEDS * STEPS / statistics.median(column) for column in zip(*times, strict=True))
    torch.set_num_threads(threads)
    print(f"| training {SEEDS} networks | seed-steps a second |\n| --- | --- |")
    print(f"| Normscape, all at once | {ours:,.0f} |")
    print(f"| a loop of `nn.Module` with `torch.optim.Adam` | {loop:,.0f} |")
    print(f"\n{ours / loop:.1f} times; the losses after {STEPS} steps differ by {difference:.0e} at most.")
    moments = list(train(NETWORK, data))
    film, first = moments[-1].film(), moments[1].seconds
    print(
        f"The default spiral, 32 seeds and 4,000 steps: {moments[-1].seconds:.1f} s, "
        f"moving after {first:.2f} s; {film.solved().sum()} of {film.seeds} seeds solve it."
    )


if __name__ == "__main__":
    main()
