"""Massive activations: a few vectors that are many times as long as the others, mostly in one dimension.

Trained transformers have them at the first position or at separators (Sun et al. 2024, Massive Activations in
Large Language Models). They dominate every sum over vectors, so statistics are also given without them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from learning.recording.column import Column, ratio
from learning.recording.recording import Norm

Array = np.ndarray
MASSIVE_LENGTH_RATIO = 10  # a vector longer than this many median lengths is massive
MAX_NAMED = 3  # largest number of tokens, and of dimensions, that a report lists

COLUMNS = (
    Column("longest", "longest ÷ median", "The length of the longest vector, in median lengths."),
    Column(
        "massive",
        "massive vectors",
        f"How many vectors are longer than {MASSIVE_LENGTH_RATIO} median lengths: massive activations "
        "(Sun et al. 2024).",
        "d",
    ),
    Column(
        "longest_at",
        "longest vectors: tokens",
        "Token and position, from 0, of the massive vectors, or of the longest one where none is massive.",
        "",
    ),
    Column("top_dimension", "top dimension", "The coordinate, from 0, with most of the energy of all.", "d"),
    Column(
        "top_energy_rest",
        "energy in top dimension",
        "Its share in the sum of the squares of all coordinates. Without the massive vectors.",
        ".1%",
    ),
    Column("top_energy", "energy in top dimension, all vectors", "The same with the massive vectors.", ".1%"),
    Column(
        "top_dimensions",
        "top three dimensions",
        f"The {MAX_NAMED} dimensions, from 0, with most of the energy of all vectors, each with its share "
        "and |γ|.",
        "",
    ),
    Column("top_gain", "|γ| in top dimension", "The absolute value of the gain of that coordinate."),
    Column(
        "spread",
        "spread",
        "The root mean square distance of the vectors from their mean, in median lengths of all. Without the "
        "massive ones.",
    ),
    Column("spread_all", "spread, all vectors", "The same with the massive vectors."),
)


def is_massive(x: Float[Array, "n d"]) -> Bool[Array, "n"]:
    """For each vector, whether it is longer than MASSIVE_LENGTH_RATIO times the median length."""
    size = np.linalg.norm(x.astype(float), axis=-1)
    return np.asarray(size > MASSIVE_LENGTH_RATIO * np.median(size))


def columns(norm: Norm, words: Mapping[int, str]) -> dict[str, Any]:
    """For each name in COLUMNS, its value for one norm. `words` maps a token's id to the token's text."""
    x, few = norm.x.astype(float), is_massive(norm.x)
    size, energy = np.linalg.norm(x, axis=-1), energies(x)
    top = int(np.argmax(energy))
    named = few if few.any() else np.arange(len(x)) == np.argmax(size)
    return {
        "longest": float(ratio(size.max(), np.median(size))),
        "massive": int(few.sum()),
        "longest_at": places(norm, named, words),
        "top_dimension": top,
        "top_energy_rest": float(energies(x[~few])[top]),
        "top_energy": float(energy[top]),
        "top_dimensions": dimensions(norm),
        "top_gain": float(abs(norm.gamma[top])),
        "spread": spread(x[~few], size),
        "spread_all": spread(x, size),
    }


def spread(x: Float[Array, "m d"], size: Float[Array, "n"]) -> float:
    """The root mean square distance of the vectors x from their mean, in units of the median of `size`.

    `size` holds the lengths of all the norm's vectors; x may be only some of these vectors.
    """
    away = np.linalg.norm(x - x.mean(axis=0), axis=-1)
    return float(ratio(np.sqrt(np.mean(away**2)), np.median(size)))


def dimensions(norm: Norm) -> str:
    """The MAX_NAMED dimensions with most energy, largest first, as text: "507 (97.3%, |γ| 0.02), 12 (…)".

    The energy of a dimension is the sum of its squared coordinates over all vectors. The text gives each
    dimension's share of all energy and its gain |γ|.
    """
    energy = energies(norm.x.astype(float))
    most = np.argsort(-energy, kind="stable")[:MAX_NAMED]
    return ", ".join(f"{k} ({energy[k]:.1%}, |γ| {abs(norm.gamma[k]):.2g})" for k in most)


def places(norm: Norm, chosen: Bool[Array, "n"], words: Mapping[int, str]) -> str:
    """The tokens and positions of the chosen vectors as text, most frequent first: "'The' at 0, 12 others".

    The MAX_NAMED most frequent pairs of token and position are named, with a number such as "(3 times)" if
    a pair has several vectors. Of the other pairs, only the number of vectors is given. `chosen` marks the
    chosen vectors. `words` maps a token's id to the token's text; for a token without a text, only its
    position is named.
    """
    pairs = zip(norm.token[chosen].tolist(), norm.position[chosen].tolist(), strict=True)
    found = Counter(f"{words[t]!r} at {p}" if t in words else f"position {p}" for t, p in pairs)
    named = found.most_common(MAX_NAMED)
    others = sum(found.values()) - sum(count for _, count in named)
    told = [f"{name} ({count} times)" if count > 1 else name for name, count in named]
    return ", ".join(told + [f"{others} other{'s' * (others > 1)}"] * (others > 0))


def energies(x: Float[Array, "n d"]) -> Float[Array, "d"]:
    """For each dimension, its share of the sum of squares of all numbers of x."""
    scaled = x / (np.abs(x).max() or 1.0)
    every = np.sum(scaled**2, axis=0)
    return np.asarray(every / (every.sum() or 1.0))
