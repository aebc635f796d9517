"""A column of the report on a model's normalisation layers; it has one number or text for each layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Column:
    """A column of a report: its name in files, its label in tables, its definition, and its number format.

    `about` is the definition as a text. `digits` is the format specification of the numbers; for a column of
    texts it is "".
    """

    name: str
    label: str
    about: str
    digits: str = ".3g"


def median(values: Array) -> float | None:
    """The median, or None if there are no values."""
    return float(np.median(values)) if len(values) else None


def ratio(a: Any, b: Any) -> Array:
    """a/b, elementwise, and 0 where b is 0."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    return np.divide(a, b, out=np.zeros_like(b), where=b != 0)
