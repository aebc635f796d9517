"""Columns of a report by kind of token: the first of a text, a special token, or any other.

Trained transformers treat the first position and separators differently from other tokens: massive
activations and attention sinks occur there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from learning.recording.column import Column, median, ratio
from learning.recording.recording import Norm

Array = np.ndarray
KINDS = {  # for each kind: its short name, and its definition
    "first": ("first position", "the first position of a text"),
    "special": ("special tokens", "the tokenizer's special tokens at later positions, such as separators"),
    "rest": ("other tokens", "all other tokens"),
}
COLUMNS = (
    *(
        Column(
            kind,
            f"‖x‖, {name}, ÷ median",
            f"The median length of the vectors at {where}, divided by the median length of all.",
        )
        for kind, (name, where) in KINDS.items()
    ),
    *(
        Column(f"share_{kind}", f"energy along 𝟏, {name}", f"The median energy along 𝟏 at {where}.", ".2%")
        for kind, (name, where) in KINDS.items()
    ),
    *(
        Column(
            f"turn_{kind}", f"turn, {name}", f"The median turn by centring, in degrees, at {where}.", ".2f"
        )
        for kind, (name, where) in KINDS.items()
    ),
)


def by_token_kind(norm: Norm, special: Collection[int]) -> Mapping[str, Bool[Array, "n"]]:
    """For each of the three KINDS of token, a mask of the norm's vectors that belong to a token of this kind.

    `special` contains the ids of special tokens.
    """
    first = norm.position == 0
    marked = np.isin(norm.token, list(special)) & ~first
    return {"first": first, "special": marked, "rest": ~(first | marked)}


def columns(
    norm: Norm, special: Collection[int], *, share: Float[Array, "n"], turn: Float[Array, "n"]
) -> dict[str, Any]:
    """For each name in COLUMNS, its value for one norm: a median over the vectors of one kind of token.

    Each of the KINDS has three medians: of the length (in units of the median length of all vectors), of
    `share` and of `turn`. They are None if the norm has no vectors of this kind.

    share: for each vector, which part of its squared length lies along the all-ones vector 𝟏. turn: for each
    vector, the angle in degrees by which centring turns the norm's output.
    """
    size = np.linalg.norm(norm.x.astype(float), axis=-1)
    lengths = ratio(size, np.median(size))
    found: dict[str, Any] = {}
    for kind, chosen in by_token_kind(norm, special).items():
        found |= {
            kind: median(lengths[chosen]),
            f"share_{kind}": median(share[chosen]),
            f"turn_{kind}": median(turn[chosen]),
        }
    return found
