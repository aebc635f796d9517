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

from learning.recording.recording import Norm

Array = np.ndarray
MASSIVE_LENGTH_RATIO = 10  # a vector longer than this many median lengths is massive
MAX_NAMED_PLACES = 3  # tokens with positions that a report lists


def is_massive(x: Float[Array, "n d"]) -> Bool[Array, "n"]:
    """Which vectors are longer than MASSIVE_LENGTH_RATIO median lengths."""
    size = np.linalg.norm(x.astype(float), axis=-1)
    return np.asarray(size > MASSIVE_LENGTH_RATIO * np.median(size))


def columns(norm: Norm, words: Mapping[int, str]) -> dict[str, Any]:
    """The columns on massive vectors, and on the dimension with most energy, with and without these."""
    x, few = norm.x.astype(float), is_massive(norm.x)
    size = np.linalg.norm(x, axis=-1)
    top, lengths = int(np.argmax(_energy(x))), size / (np.median(size) or np.inf)
    first = norm.position == 0
    named = few if few.any() else np.arange(len(x)) == np.argmax(size)
    return {
        "longest": float(lengths.max()),
        "massive": int(few.sum()),
        "longest_at": places(norm, named, words),
        "top_dimension": top,
        "top_energy": float(_energy(x)[top]),
        "top_energy_rest": float(_energy(x[~few])[top]),
        "top_gain": float(abs(norm.gamma[top])),
        "first": float(np.median(lengths[first])) if first.any() else None,
    }


def places(norm: Norm, chosen: Bool[Array, "n"], words: Mapping[int, str]) -> str:
    """Token and position of the chosen vectors as text, most frequent first: "'The' at 0, 12 others"."""
    pairs = zip(norm.token[chosen].tolist(), norm.position[chosen].tolist(), strict=True)
    found = Counter(f"{words[t]!r} at {p}" if t in words else f"position {p}" for t, p in pairs)
    named = found.most_common(MAX_NAMED_PLACES)
    others = sum(found.values()) - sum(count for _, count in named)
    told = [f"{name} ({count} times)" if count > 1 else name for name, count in named]
    return ", ".join(told + [f"{others} others"] * (others > 0))


def _energy(x: Float[Array, "n d"]) -> Float[Array, "d"]:
    """The share of each dimension in the sum of squares of all numbers."""
    scaled = x / (np.abs(x).max() or 1.0)
    every = np.sum(scaled**2, axis=0)
    return np.asarray(every / (every.sum() or 1.0))
