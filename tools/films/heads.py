"""Train language models with several heads, and measure the cost of shuffles, for the scene `shuffle`.

A shuffle permutes the axes (coordinates) of an activation inside attention: it swaps random pairs of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import torch

from learning.language import Shape, forward, initial, losses
from tools.films.language import MODELS_PER_KIND
from tools.films.language_training import causal, learned
from tools.films.shuffles import PLACES, SHUFFLES, harm
from tools.films.store import texts, write_model, write_table

TRAINING_STEPS, SHUFFLES_PER_KIND = 3000, 100


def heads() -> None:
    """Train language models; write the first one to films/, and the table "heads" of the effects of shuffles.

    Axes are swapped in three ways (SHUFFLES): within one head, within every head, or across heads. Models are
    measured before and after training, on held-out text. The table has a row for each model, layer and place
    in the layer (PLACES). A row has, for each kind of shuffle, the mean and standard deviation over random
    permutations of the increase in loss, and of the divergence of the predictions. The rows of the first
    model also list the effect of every permutation. The texts are earlier prose of this site.
    """
    text, held = texts("heads_learned", "heads")
    shape = Shape("".join(sorted(set(text))), width=32, layers=2, window=64, heads=4)
    rows = []
    for seed in range(MODELS_PER_KIND):
        weights = learned(shape, text, seed=seed, steps=TRAINING_STEPS, rate=0.01)
        if seed == 0:
            write_model("heads", shape, weights, "a GPT of Normscape with four heads", TRAINING_STEPS)
        for taught, own in ((True, weights), (False, initial(shape, seed))):
            rows += [
                {"seed": seed, "trained": taught} | row for row in harms(shape, own, held, every=seed == 0)
            ]
            print(f"  heads: seed {seed}, {'trained' if taught else 'drawn'}", flush=True)
        write_table("heads", rows)


def harms(
    shape: Shape, weights: Mapping[str, np.ndarray], held: str, *, every: bool
) -> Iterator[dict[str, Any]]:
    """Yield the table rows of one model: for each layer and place, the effects of shuffles there.

    held: the text on which the loss is measured. every: whether a row also lists the effect of every single
    shuffle, sorted by size.
    """
    tensors = {name: torch.from_numpy(w) for name, w in weights.items()}
    tokens = torch.from_numpy(shape.tokens(held)).reshape(-1, shape.window)
    loss = float(losses(forward(shape, tensors, tokens, attend=causal).logits, tokens).mean())
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
    """SHUFFLES_PER_KIND permutations of each kind of shuffle; the same for all places and models."""
    rng = np.random.default_rng(0)
    return {
        name: [kind(shape.width, shape.heads, rng) for _ in range(SHUFFLES_PER_KIND)]
        for name, kind in SHUFFLES.items()
    }
