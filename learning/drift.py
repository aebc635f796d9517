"""Drift: how token vectors change as a language model's context window slides along a text.

When the model reads the whole window again for each new token, every old token has moved to an earlier
position, and fewer tokens precede it. Source: symmetrize2025, section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from geometry.angles import angles
from learning.language import Shape, forward

Array = np.ndarray
Weights = Mapping[str, Array]
Kind = Literal["places", "past", "kept"]


def streams_as_window_slides(
    shape: Shape,
    weights: Weights,
    tokens: Int[Array, "n"],
    *,
    window: int,
    letters: int,
    depths: int,
    kind: Kind = "places",
) -> Float[Array, "depths steps letters d"]:
    """The residual stream of some tokens, at each step of a window that slides over a text.

    At step 0 these tokens are the last `letters` tokens of the window. At the last step, number
    window − letters, they are its first tokens. `depths` is the number of depths at which the stream is
    returned: before the first layer, after it, and so on. `kind` says what changes from step 0 to step t:

    places   the window moves by t tokens, so that each token gets an earlier position
    past     the first t tokens are removed; the others keep their positions, and none is added
    kept     nothing changes, because each token is read only once, as with a key–value cache

    Raises ValueError if `letters` is not 1 … `window`, or if the text has too few tokens for all steps.
    """
    steps = window - letters + 1
    wanted = window + (steps - 1) * (kind == "places")
    if not 0 < letters <= window or len(tokens) < wanted:
        raise ValueError(f"{letters} letters in a window of {window} need {wanted} tokens: got {len(tokens)}")
    shallow, windows_read = replace(shape, layers=max(depths - 1, 1)), []
    for t in range(1 if kind == "kept" else steps):
        if kind == "places":
            weights_t, end = weights, t + window
        else:  # without the first t position vectors, the remaining tokens keep their positions
            weights_t, end = {**weights, "wpe.weight": weights["wpe.weight"][t:]}, window
        blocks = forward(shallow, weights_t, tokens[t:end]).blocks
        streams = np.stack([*(block.stream for block in blocks), blocks[-1].out])
        first_letter = window - letters - t
        windows_read.append(streams[:depths, first_letter : first_letter + letters])
    streams_by_step = np.stack(windows_read, axis=1)
    return np.repeat(streams_by_step, steps, axis=1) if kind == "kept" else streams_by_step


@dataclass(frozen=True)
class Drift:
    """Measures of how far token vectors move along paths (*sets, steps, letters, d), over all sets together.

    A path consists of the vectors of one letter (a token) of one set at all steps.

    path     the median length of a path
    spread   the root mean square distance of all vectors from their mean
    share    the share of spread² that lies within paths rather than between their means, 0 to 1
    turn     the mean angle between a vector and the next on its path, seen from the origin, in degrees
    """

    path: float
    spread: float
    share: float
    turn: float


def drift(paths: Float[Array, "*sets steps letters d"]) -> Drift:
    """The measures of the paths as a `Drift`. The angle to a vector of length 0 counts as 0."""
    moved = np.linalg.norm(np.diff(paths, axis=-3), axis=-1)
    vectors = paths.reshape(-1, paths.shape[-1])
    total = float(((vectors - vectors.mean(0)) ** 2).sum(-1).mean())
    within = float(paths.var(-3).sum(-1).mean())
    return Drift(
        path=float(np.median(moved.sum(-2))),
        spread=total**0.5,
        share=within / total if total else 0.0,
        turn=float(np.degrees(angles(paths[..., 1:, :, :], paths[..., :-1, :, :])).mean()),
    )
