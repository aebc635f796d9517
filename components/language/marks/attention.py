"""Marks about the largest attention weight that a point can get as a key, and the query that gives it."""

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
    """The base class of marks that treat the points of their cloud as the keys of an attention head."""

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.keys(scope.cloud(self.cloud))


@dataclass(frozen=True, kw_only=True)
class AboutQuery(AboutKeys):
    """The base class of marks that draw something for one query.

    query: a row whose weights are this query. If None, the query is the one that gives the followed
    (selected) key its largest attention weight.
    """

    query: Row | None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if self.query:
            scope.row(self.query, scope.cloud(self.cloud))


@dataclass(frozen=True, kw_only=True)
class Average(AboutKeys, Stroke):
    """Lines from the followed (selected) key to the other keys of which it is a weighted average.

    There are no lines if some query gives the followed key a higher score than all others: then this key is
    no average of other keys. If several sets of weights give the key, the set with the largest entropy is
    used.

    span  (low, high): a line is drawn to each key whose weight p is above 0 and satisfies low ≤ p < high. So
          to include p = 1, `high` must be above 1
    """

    span: tuple[float, float]

    def points(self, at: Moment) -> Array:
        shown, p = at.shown(self.cloud, self.rows), at.certificate(self.cloud).weights
        low, high = self.span
        drawn = np.flatnonzero((p > 0) & (p >= low) & (p < high))
        # room for all lines that there can be: the weights add up to 1, so at most 1/low of them reach `low`
        most = min(len(p), int(1 / low + ROUNDING)) if low > 0 else len(p)
        lines = np.full((most, 3, len(self.rows)), np.nan)
        lines[: len(drawn), 0] = shown[min(at.followed, len(shown) - 1)]
        lines[: len(drawn), 1] = shown[drawn]
        return lines.reshape(-1, len(self.rows))


@dataclass(frozen=True, kw_only=True)
class BestQuery(AboutKeys, Stroke):
    """An arrow from the origin: the query that gives the followed key its largest attention weight.

    The followed key is the point that the reader has selected. An arrow that would be longer than `reach` is
    shortened to this length. If some query gives the key a higher score than all others, no query gives a
    largest weight, because longer queries in the same direction bring the weight ever closer to 1. In this
    case the arrow has the length `reach`, and the direction in which the key's score leads by most.
    arrow: the length of the arrow head; 0 for none.
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
    """The supporting line of a query: perpendicular to it, through the key with the highest score.

    All places on this line have the same score, and no key lies beyond it. In a 3D view the mark is the rim
    of a disc in the supporting plane.

    query    a row whose weights are the query. None for the best query of the followed (selected) key: of all
             queries of length 1, the one for which the key's score leads the other scores by most. If no
             query gives this key the highest score, the line or rim shrinks to the key
    radius   half the length of the line, or the radius of the disc
    corners  the number of points on the rim, in a 3D view
    """

    radius: float
    corners: int = 48
    counts_for_axes = "never"

    def points(self, at: Moment) -> Array:
        return supporting(self, at)[1:]


@dataclass(frozen=True, kw_only=True)
class SupportDisc(AboutQuery):
    """A disc in the supporting plane of a query, in a 3D view; its rim is drawn by `Support`.

    The plane is perpendicular to the query, through the key with the highest score.

    radius: that of the disc. corners: the number of points on its edge. query: a row whose weights are the
    query. None for the best query of the followed (selected) key: of all queries of length 1, the one for
    which the key's score leads the other scores by most. If no query gives this key the highest score, the
    disc shrinks to the key.
    """

    radius: float
    corners: int = 48
    draws = "mesh"
    counts_for_axes = "never"

    def points(self, at: Moment) -> Array:
        return supporting(self, at)

    @property
    def triangles(self) -> Array:
        return fan(self.corners)


@dataclass(frozen=True, kw_only=True)
class WeightCurve(AboutQuery, Stroke):
    """A curve: the softmax weight of the followed (selected) key against the length of a query, over `span`.

    The weights of the row `query` give the direction of the query. If `query` is None, the direction is that
    of the query that gives the key its largest weight. span: the smallest and the largest length. corners:
    the number of points of the curve.
    """

    span: tuple[float, float]
    corners: int = 96
    row_count = 0
    counts_for_axes = "never"

    def points(self, at: Moment) -> Array:
        query = self.query.vector(at.params) if self.query else at.certificate(self.cloud).query
        return weights_along(self.cloud, query, np.linspace(*self.span, self.corners), at)


@dataclass(frozen=True, kw_only=True)
class WeightLimit(AboutKeys, Stroke):
    """A horizontal line at the largest attention weight that a query can give the followed (selected) key.

    span: the horizontal coordinates of its two ends. In a plot with a `WeightCurve` they are lengths of a
    query.
    """

    span: tuple[float, float]
    row_count = 0
    counts_for_axes = "never"

    def points(self, at: Moment) -> Array:
        return np.column_stack([self.span, 2 * [at.certificate(self.cloud).largest]])


@dataclass(frozen=True, kw_only=True)
class WeightNow(AboutQuery):
    """A point on a `WeightCurve`: the followed (selected) key's weight for the query's current length."""

    query: Row
    size: float = 9.0
    glyph: str = "circle"
    draws = "points"
    row_count = 0
    counts_for_axes = "never"

    def points(self, at: Moment) -> Array:
        query = self.query.vector(at.params)
        return weights_along(self.cloud, query, np.array([np.linalg.norm(query)]), at)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.known("glyph", self.glyph, GLYPHS)


def supporting(mark: Support | SupportDisc, at: Moment) -> Array:
    """The display coordinates of a supporting line or disc: its centre, then the points of its edge.

    If `mark.query` is None and no query gives the followed key a higher score than all others, all these
    points coincide with that key.
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
    """A curve of points (length, attention weight) of the followed key, for queries in the direction `query`.

    The result has the shape (K, 2). cloud: the name of the cloud whose points are the keys. lengths: (K,) the
    lengths of the queries. The length of `query` has no effect.
    """
    keys, size = at.now(cloud), float(np.linalg.norm(query))
    scores = keys[:, : len(query)] @ query / (size if size > 0 else 1)
    weights = softmax(np.outer(lengths, scores))
    return np.column_stack([lengths, weights[:, min(at.followed, len(keys) - 1)]])
