"""Record the norms of this project's own small language model (`learning.language`), without hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Int

from learning.language import EPS, Shape, forward
from learning.recording.recording import Norm, Recording

Array = np.ndarray
FOLDING_REASON = "only Linears, embeddings and parameters write its input"


def seen(
    shape: Shape, weights: Mapping[str, Array], tokens: Int[Array, "windows n"], *, name: str, vectors: int
) -> Recording:
    """Record the inputs of the model's LayerNorms at `vectors` random token positions.

    The positions are the same for all LayerNorms. `name` is the name of the recording. A LayerNorm before
    attention is left out if it only centres (`shape.scaled` is False).
    """
    reading = forward(shape, weights, tokens)
    inputs: dict[str, Array] = {}
    for k, block in enumerate(reading.blocks):
        inputs |= {f"h.{k}.ln_1": block.stream} if shape.scaled else {}
        inputs |= {f"h.{k}.ln_2": block.stream + block.branch, "ln_f": block.out}
    inputs["ln_f"] = inputs.pop("ln_f")  # move it to the end; its input is the last block's output
    count = tokens.size
    number = np.sort(np.random.default_rng(0).permutation(count)[:vectors])
    about = {"position": number % tokens.shape[-1], "token": tokens.reshape(-1)[number], "number": number}
    norms = []
    for path, x in inputs.items():
        given = {"gamma": weights[f"{path}.weight"], "beta": weights[f"{path}.bias"]}
        given |= {"x": x.reshape(count, -1)[number]}
        parts: Any = {part: each.astype(np.float32) for part, each in given.items()}
        norms.append(
            Norm(path, "layer_norm", EPS, 1, count, **parts, **about, folds="yes", why=FOLDING_REASON)
        )
    return Recording(norms, name, dict(enumerate(shape.characters)))
