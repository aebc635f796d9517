"""Marks about the attention that a point can get as a key: bounds, queries, supports, weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.language.cloud import Array, Moment, Row, project
from components.language.marks.mark import GLYPHS, Mark, Stroke
from components.language.marks.shapes import fan
from components.language.scope import Scope
from geometry.arrows import with_heads
from geometry.plane import facing
from geometry.softmax import softmax

ROUNDING = 1e-9  # added to 1/low, which rounding errors may leave just below a whole number


@dataclass(frozen=True, kw_only=True)
class AboutKeys(Mark):
    """The base class of marks that treat the points of their cloud as keys."""

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.keys(scope.cloud(self.cloud))


@dataclass(frozen=True, kw_only=True)
class AboutQuery(AboutKeys):
    """The base class of marks about a query.

    query: a row, whose weights are the query; None for the best query of the followed (selected) point.
    """

    query: Row | None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if self.query:
            scope.row(self.query, scope.cloud(self.cloud))


@dataclass(frozen=True, kw_only=True)
class Average(AboutKeys, Stroke):
    """Lines from the followed (selected) key to the keys whose weighted average it is.

    There are no lines if some query can select the followed key. Of all weights with this average, the most
    even ones are used. Lines lead only to keys with a weight p in `span`, low ≤ p < high; at most 1/low keys
    can have such a weight, so the array has room for 1/low lines.
    """

    span: tuple[float, float]

    def points(self, at: Moment) -> Array:
        shown, p = at.shown(self.cloud, self.rows), at.certificate(self.cloud).weights
        low, high = self.span
        drawn = np.flatnonzero((p > 0) & (p >= low) & (p < high))
        most = min(len(p), int(1 / low + ROUNDING)) if low > 0 else len(p)
        lines = np.full((most, 3, len(self.rows)), np.nan)
        lines[: len(drawn), 0] = shown[min(at.followed, len(shown) - 1)]
        lines[: len(drawn), 1] = shown[drawn]
        return lines.reshape(-1, len(self.rows))


@dataclass(frozen=True, kw_only=True)
class BestQuery(AboutKeys, Stroke):
    """An arrow from the origin: the query that gives the followed key its largest attention weight.

    The arrow is at most `reach` long. If some query selects the key, the weight only approaches 1 as the
    query gets longer; then the arrow has the length `reach` and the direction with the largest margin.
    """

    reach: float
    arrow: float = 0.0

    def points(self, at: Moment) -> Array:
        found = at.certificate(self.cloud)
        size = float(np.linalg.norm(found.query))
        length = self.reach if found.largest == 1 else min(size, self.reach)
        query = found.query * (length / size if size > 0 else 0)
        ends = project(self.rows, np.stack([0 * query, query]), params=at.params)
        return with_heads(ends, self.arrow) if self.arrow else ends


@dataclass(frozen=True, kw_only=True)
class Support(AboutQuery, Stroke):
    """The supporting line of a query: all places with the same score as the key with the highest score.

    No key lies beyond this line. In 3D the mark is the rim of a disc in the supporting plane.
    query: a row; if None, a query that selects the followed (selected) point, if one exists.
    """

    radius: float
    corners: int = 48
    in_frame = "never"

    def points(self, at: Moment) -> Array:
        return supporting(self, at)[1:]


@dataclass(frozen=True, kw_only=True)
class SupportDisc(AboutQuery):
    """The disc of the supporting plane in 3D, whose rim is a `Support`."""

    radius: float
    corners: int = 48
    draws = "mesh"
    in_frame = "never"

    def points(self, at: Moment) -> Array:
        return supporting(self, at)

    @property
    def triangles(self) -> Array:
        return fan(self.corners)


@dataclass(frozen=True, kw_only=True)
class WeightCurve(AboutQuery, Stroke):
    """The softmax weight of the followed point as a function of the length of a query, over `span`.

    The query has the direction of a row; without one, that of the best query of the point.
    """

    span: tuple[float, float]
    corners: int = 96
    row_count = 0
    in_frame = "never"

    def points(self, at: Moment) -> Array:
        query = self.query.vector(at.params) if self.query else at.certificate(self.cloud).query
        return weights_along(self.cloud, query, np.linspace(*self.span, self.corners), at)


@dataclass(frozen=True, kw_only=True)
class WeightLimit(AboutKeys, Stroke):
    """A line over `span`: the largest attention weight that any query can give the followed point."""

    span: tuple[float, float]
    row_count = 0
    in_frame = "never"

    def points(self, at: Moment) -> Array:
        return np.column_stack([self.span, 2 * [at.certificate(self.cloud).largest]])


@dataclass(frozen=True, kw_only=True)
class WeightNow(AboutQuery):
    """The point of a `WeightCurve` for the current length of the query: the followed point's weight now."""

    query: Row
    size: float = 9.0
    glyph: str = "circle"
    draws = "points"
    row_count = 0
    in_frame = "never"

    def points(self, at: Moment) -> Array:
        query = self.query.vector(at.params)
        return weights_along(self.cloud, query, np.array([np.linalg.norm(query)]), at)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.known("glyph", self.glyph, GLYPHS)


def supporting(mark: Support | SupportDisc, at: Moment) -> Array:
    """The display coordinates of a supporting line or plane: its centre, then the points of its edge.

    If the mark has no query, and none selects the followed point, all of these are the followed point.
    """
    keys, shown = at.now(mark.cloud), at.shown(mark.cloud, mark.rows)
    if mark.query is None:
        found, best = at.certificate(mark.cloud), min(at.followed, len(keys) - 1)
        query = found.query if found.largest == 1 else 0 * found.query
    else:
        query = mark.query.vector(at.params)
        best = int(np.argmax(keys[:, : len(query)] @ query))
    ends = project(mark.rows, np.stack([0 * query, query]), params=at.params)
    return facing(shown[best], ends[1] - ends[0], mark.radius, mark.corners)


def weights_along(cloud: str, query: Array, lengths: Array, at: Moment) -> Array:
    """Points (length, attention weight of the followed key) for queries of given lengths along `query`."""
    keys, size = at.now(cloud), float(np.linalg.norm(query))
    scores = keys[:, : len(query)] @ query / (size if size > 0 else 1)
    weights = softmax(np.outer(lengths, scores))
    return np.column_stack([lengths, weights[:, min(at.followed, len(keys) - 1)]])
