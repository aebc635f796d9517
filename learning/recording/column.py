"""A column of a report on norms: a number or a text for each norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Column:
    """A column of a report: its name in files, label in tables, definition, and number format."""

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
