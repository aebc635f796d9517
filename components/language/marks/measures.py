"""Marks that show numbers computed from a cloud's points: histograms, profiles, thresholds, colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.language.cloud import Array, Moment
from components.language.marks.mark import Color, Colored, Selecting, Stroke
from components.language.marks.selections import ConstantSize, indices
from components.language.scope import Scope
from geometry.distributions import best_threshold, histogram


@dataclass(frozen=True, kw_only=True)
class Histogram(Selecting, Stroke):
    """The histogram of one display coordinate of the points, with `bins` bins of equal width over `span`.

    The height of a bin is the number of points in it; points outside `span` count in the outermost bins.
    """

    span: tuple[float, float]
    bins: int
    only: ConstantSize = None
    row_count = 1

    def points(self, at: Moment) -> Array:
        values = at.shown(self.cloud, self.rows)[:, 0]
        return histogram(values[indices(self.only, self.cloud, at)], self.span, self.bins)


@dataclass(frozen=True, kw_only=True)
class Profile(Selecting, Stroke):
    """For each selected point, a line through (i, xᵢ): its coordinates against their indices 1, 2, ….

    A profile has no `rows`: its axes do not show the points in space.
    """

    only: ConstantSize = None
    row_count = 0
    counts_for_axes = "never"

    def points(self, at: Moment) -> Array:
        values = at.now(self.cloud)[indices(self.only, self.cloud, at)]
        numbers = np.broadcast_to(np.arange(1.0, values.shape[1] + 1), values.shape)
        lines = np.stack([numbers, values], axis=-1)
        return np.pad(lines, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2)


@dataclass(frozen=True, kw_only=True)
class Threshold(Stroke):
    """A vertical line at the threshold that best separates two classes of points by a display coordinate.

    classes: the class of each point, 0 or 1. span: the lower and the upper end of the line.
    """

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
class OnGrid(Colored):
    """The base class of marks that colour a grid with at least two rows and columns.

    columns: the number of points in a row of the grid.
    """

    columns: int
    color: Color

    def check(self, scope: Scope) -> None:
        super().check(scope)
        columns, n = self.columns, len(scope.cloud(self.cloud).points)
        if columns < 2 or n % columns or n // columns < 2:
            scope.refuse(
                f"{n} points in {columns} columns are not a grid",
                "take a number of columns that divides the number of points",
            )


@dataclass(frozen=True, kw_only=True)
class Field(OnGrid):
    """Colours that fill a 2D view, interpolated between the points of a grid.

    The points of the cloud are this grid, row by row from the bottom of the view to the top. A field has no
    `rows`, because it always fills its view.
    """

    draws = "field"
    row_count = 0
    counts_for_axes = "never"

    def points(self, at: Moment) -> Array:
        return np.empty((0, 2))


@dataclass(frozen=True, kw_only=True)
class Cells(OnGrid):
    """Coloured rectangles in a 2D view, one around each point of a regular grid.

    The points of the cloud are this grid, row by row from the bottom.
    """

    draws = "cells"
    row_count = 2
