"""Run the blocks of heads of `learning.symmetriser`, and train them to imitate LayerNorm, with Adam.

Each step trains on new random vectors. Training needs PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from math import sqrt
from typing import Any

import numpy as np
import torch

from geometry.angles import angles
from geometry.arrays import Array, namespace
from geometry.norms import layer_norm
from learning.safetensors import to_safetensors
from learning.symmetriser import MEAN_SQUARE, Parts, Symmetriser

BATCH_VECTORS, INITIAL_LEARNING_RATE, MAX_GRADIENT_LENGTH = 256, 0.01, 1.0
TINY = 1e-12  # far below the squares of all standard deviations that occur

Draw = Callable[[int, np.random.Generator], np.ndarray]


def initial(block: Symmetriser, seeds: Sequence[int]) -> dict[str, np.ndarray]:
    """Random parameters (S, …) in float32, one set per seed, with which an iteration changes vectors little.

    In the notation of `Symmetriser`, g is near 1 and c near 0. If `block.adds`, the numbers that a head adds
    to its coordinates are near 0.
    """
    found: dict[str, list[np.ndarray]] = {name: [] for name in block.shapes}
    for rng in map(np.random.default_rng, seeds):
        for name, shape in block.shapes.items():
            scale = 0.5 if name == "inner.bias" else 1 / sqrt(shape[-1])
            found[name].append(scale * rng.standard_normal(shape))
    parts = {name: np.array(each, np.float32) for name, each in found.items()}
    parts["outer.weight"] *= 0.3
    parts["outer.bias"] *= 0
    if not block.adds:
        parts["outer.bias"][..., 1] = 1
    return parts


def iterates(block: Symmetriser, parts: Parts, x: Array, iterations: int) -> list[Array]:
    """Run the block. Returns a list: the vectors x (N, d), then the result (*batch, N, d) of each iteration.

    parts: the parameters, as NumPy or PyTorch arrays. If they have leading axes `batch`, such as one for
    seeds, the results have the same leading axes.
    """
    xp, (n, d) = namespace(x), x.shape
    batch = parts["inner.bias"].shape[:-3]
    at = xp.broadcast_to(_apart(x, block), (*batch, block.heads, n, block.own))
    said, states = 0 * at[..., :1] + xp.zeros((block.messages,), dtype=x.dtype), [x]
    for k in range(iterations):
        inner, outer = (_layer(parts, name, min(k, block.rounds - 1)) for name in ("inner", "outer"))
        seen = [at] if block.adds else _view(at)
        heard = [said, xp.roll(said, 1, axis=-3), xp.roll(said, -1, axis=-3)]
        hidden = xp.tanh(xp.concat([*seen, *heard], axis=-1) @ inner[0] + inner[1])
        out = hidden @ outer[0] + outer[1]
        at = at + out[..., : block.own] if block.adds else out[..., 1:2] * (at - out[..., :1])
        said = out[..., block.own if block.adds else 2 :]
        states.append(xp.reshape(xp.moveaxis(at, -3, -2), (*batch, n, d)))
    return states


def errors(x: Array, y: Array) -> Array:
    """The relative errors ‖y − LayerNorm(x)‖/√d of results y (…, N, d) for inputs x; shape (…, N).

    The divisor √d is the length of LayerNorm(x). Here LayerNorm has ε = 0 and neither gain nor shift.
    """
    xp, off = namespace(y), y - layer_norm(x, eps=0.0)
    return xp.sqrt(xp.mean(off * off, axis=-1))


def turned_by(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The angle in degrees between each result y and LayerNorm(x), where x is the input: (…, N)."""
    return np.degrees(angles(np.broadcast_to(layer_norm(x, eps=0.0), y.shape), y))


def _apart(x: Array, block: Symmetriser) -> Array:
    """Split vectors x (N, d) into the coordinates of each of H heads, (H, N, d/H)."""
    xp = namespace(x)
    return xp.moveaxis(xp.reshape(x, (x.shape[0], block.heads, block.own)), -2, -3)


def _layer(parts: Parts, name: str, k: int) -> tuple[Array, Array]:
    """The weights (…, H, in, out) and biases (…, H, 1, out) of one layer of the heads' networks.

    parts: a block's parameters, which have `block.rounds` sets of weights. k: the index of the set.
    name: "inner" for the first layer of the networks, "outer" for the second.
    """
    return parts[f"{name}.weight"][..., k, :, :, :].mT, parts[f"{name}.bias"][..., k, :, None, :]


def _view(at: Array) -> list[Array]:
    """A list of the mean and the standard deviation over the last axis of `at`, each of shape (…, 1).

    at: the coordinates of each head, on the last axis.
    """
    xp = namespace(at)
    mean = xp.mean(at, axis=-1, keepdims=True)
    squares = xp.sum((at - mean) ** 2, axis=-1, keepdims=True)
    return [mean, squares / xp.sqrt(at.shape[-1] * (squares + TINY))]  # √(squares/n), but differentiable at 0


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

    The first axis of each tensor in `slopes` is the seed. A seed's gradient consists of its parts of all
    these tensors, and its length is the root of the sum of their squares.
    """
    length = sum((slope.flatten(1) ** 2).sum(1) for slope in slopes) ** 0.5
    for slope in slopes:
        slope *= (MAX_GRADIENT_LENGTH / length.clamp(min=MAX_GRADIENT_LENGTH)).reshape(
            -1, *[1] * (slope.ndim - 1)
        )


def pooled(images: np.ndarray) -> np.ndarray:
    """Pictures (N, h, w) as vectors (N, 16) of the mean brightness of each tile of a 4 × 4 grid, scaled.

    h and w are multiples of 4. All vectors are multiplied by one number, so that the mean square of all
    coordinates is MEAN_SQUARE.
    """
    n, h, w = images.shape
    tiles = images.reshape(n, 4, h // 4, 4, w // 4).mean((2, 4)).reshape(n, 16).astype(float)
    return tiles * sqrt(MEAN_SQUARE / np.mean(tiles**2))


def to_file(block: Symmetriser, steps: np.ndarray, parts: Parts, about: Mapping[str, Any]) -> bytes:
    """Serialise the parameters of one trained block at T checkpoints, as a safetensors file in float16.

    steps (T,): the training steps of the checkpoints. parts: the parameters (T, …). about: words about the
    training, which are stored with it.
    """
    arrays = {name: np.asarray(part, np.float16) for name, part in parts.items()}
    meta = {"block": asdict(block), "about": dict(about)}
    texts = {name: json.dumps(text) for name, text in meta.items()}
    return to_safetensors({"steps": np.asarray(steps, np.int64)} | arrays, texts)
