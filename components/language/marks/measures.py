"""Marks that show numbers of a cloud: histograms, profiles, thresholds, fields of colour.

In each class, `row_count` is the number of `rows` that it takes (`Mark.row_count`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.language.cloud import Array, Cloud, Moment
from components.language.marks.mark import Color, Colored, Selecting, Stroke
from components.language.marks.selections import One, indices
from components.language.scope import Scope
from geometry.distributions import best_threshold, histogram


@dataclass(frozen=True, kw_only=True)
class Histogram(Selecting, Stroke):
    """The histogram of one display coordinate: `bins` of equal width over `span`; heights are counts."""

    span: tuple[float, float]
    bins: int
    only: One = None
    row_count = 1

    def points(self, at: Moment) -> Array:
        values = at.shown(self.cloud, self.rows)[:, 0]
        return histogram(values[indices(self.only, self.cloud, at)], self.span, self.bins)


@dataclass(frozen=True, kw_only=True)
class Profile(Selecting, Stroke):
    """A line for each point: its coordinates, plotted over their indices 1, 2, …; takes no rows."""

    only: One = None
    row_count = 0
    in_frame = "never"

    def points(self, at: Moment) -> Array:
        values = at.now(self.cloud)[indices(self.only, self.cloud, at)]
        numbers = np.broadcast_to(np.arange(1.0, values.shape[1] + 1), values.shape)
        lines = np.stack([numbers, values], axis=-1)
        return np.pad(lines, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2)


@dataclass(frozen=True, kw_only=True)
class Threshold(Stroke):
    """A line over `span` at the threshold on one display coordinate that best separates the two `classes`."""

    span: tuple[float, float]
    classes: Array
    row_count = 1

    def points(self, at: Moment) -> Array:
        cut = best_threshold(at.shown(self.cloud, self.rows)[:, 0], self.classes)[0]
        return np.array([[cut, self.span[0]], [cut, self.span[1]]])

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.length("classes", self.classes, len(scope.cloud(self.cloud).points))


@dataclass(frozen=True, kw_only=True)
class Field(Colored):
    """A field of colour that fills a 2D view; takes no rows.

    Its cloud is a grid of points, row by row from the bottom of the view to the top.
    """

    columns: int
    color: Color
    draws = "field"
    row_count = 0
    in_frame = "never"

    def points(self, at: Moment) -> Array:
        return np.empty((0, 2))

    def check(self, scope: Scope) -> None:
        super().check(scope)
        check_grid(self.columns, scope.cloud(self.cloud), scope)


@dataclass(frozen=True, kw_only=True)
class Cells(Colored):
    """Coloured rectangles in a 2D view, around the points of a regular grid, row by row from the bottom."""

    columns: int
    color: Color
    draws = "cells"
    row_count = 2

    def check(self, scope: Scope) -> None:
        super().check(scope)
        check_grid(self.columns, scope.cloud(self.cloud), scope)


def check_grid(columns: int, cloud: Cloud, scope: Scope) -> None:
    """Refuse points that are not a grid with this number of columns."""
    n = len(cloud.points)
    if columns < 2 or n % columns or n // columns < 2:
        scope.refuse(
            f"{n} points in {columns} columns are not a grid",
            "take a number of columns that divides the number of points",
        )
