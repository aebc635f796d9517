"""Language models with heads: what swaps of their axes do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import torch

from learning.language import Shape, initial, losses, read, to_file
from learning.language_training import causal, learned
from learning.shipped import FOLDER
from learning.shuffles import PLACES, harm
from learning.shuffles import SHUFFLES as SHUFFLED
from tools.films.language import READERS
from tools.films.store import write_table

STEPS_LEARNED, SHUFFLES = 3000, 100  # steps that a model learns, and shuffles of a kind


def heads() -> None:
    """What swaps of axes within one head, within each head, and across heads do to language models.

    Trained ones, and the same before any training, on windows of a text that they have not learned from; both
    texts are shipped, too: prose of the site as it was. Of each place the mean over the shuffles and their
    standard deviation: of the loss that they add, and of the divergence of the guesses. The first seed is
    shipped, with all that its shuffles do.
    """
    text, held = ((FOLDER / f"{name}.txt").read_text("utf-8") for name in ("heads_learned", "heads"))
    shape = Shape("".join(sorted(set(text))), width=32, layers=2, window=64, heads=4)
    rows = []
    for seed in range(READERS):
        weights = learned(shape, text, seed=seed, steps=STEPS_LEARNED, rate=0.01)
        if seed == 0:
            about = {"about": "a GPT of Normscape with four heads", "seed": "0", "steps": str(STEPS_LEARNED)}
            (FOLDER / "heads.safetensors").write_bytes(to_file(shape, weights, **about))
        for taught, own in ((True, weights), (False, initial(shape, seed))):
            rows += [
                {"seed": seed, "trained": taught} | row for row in harms(shape, own, held, every=seed == 0)
            ]
            print(f"  heads: seed {seed}, {'trained' if taught else 'drawn'}", flush=True)
        write_table("heads", rows)


def harms(
    shape: Shape, weights: Mapping[str, np.ndarray], held: str, *, every: bool
) -> Iterator[dict[str, Any]]:
    """What the shuffles do to one model, by layer and place; `every`: also each, from small to large."""
    tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
    tokens = torch.from_numpy(shape.tokens(held)).reshape(-1, shape.window)
    loss = float(losses(read(shape, tensors, tokens, attend=causal).logits, tokens).mean())
    every_kind = shuffles(shape)
    for layer, place in product(range(shape.layers), PLACES):
        row: dict[str, Any] = {"layer": layer, "place": place, "loss": round(loss, 4)}
        for kind, permutations in every_kind.items():
            found = harm(shape, tensors, tokens, layer, place, permutations, attend=causal).T
            for name, values in zip(("loss", "guesses"), np.round(found, 6) + 0.0, strict=True):
                spread = float(values.mean()), float(values.std(ddof=1))
                row[f"{kind}_{name}"] = [round(value, 6) for value in spread]
                if every:
                    row[f"{kind}_{name}_all"] = sorted(np.round(values, 4).tolist())
        yield row


def shuffles(shape: Shape) -> dict[str, list[np.ndarray]]:
    """The permutations of each kind, the same for all places and models."""
    rng = np.random.default_rng(0)
    return {
        name: [kind(shape.width, shape.heads, rng) for _ in range(SHUFFLES)]
        for name, kind in SHUFFLED.items()
    }
