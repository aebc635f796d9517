"""Selections: which points of a cloud a mark shows, by index or by a property of the current points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.language.cloud import Array, Cloud, Moment, Params, Row
from components.language.scope import Scope
from geometry import gates, hull
from geometry.gates import FATES
from geometry.pipeline import Affine


@dataclass(frozen=True)
class Followed:
    """Only the followed point."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        """No check is needed: it fits every cloud."""


@dataclass(frozen=True)
class Highest:
    """The point with the largest current value of `row`; if several points share it, the first of them."""

    row: Row

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.row(self.row, cloud)


@dataclass(frozen=True)
class OnHull:
    """The points of a cloud that are, where they are now, vertices of its convex hull."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.hull(cloud)


@dataclass(frozen=True)
class Inside:
    """The points of a cloud that are, where they are now, not vertices of its convex hull."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.hull(cloud)


@dataclass(frozen=True)
class Selectable:
    """The points that some query can select: as keys, they get a higher score from it than all others."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.keys(cloud)


@dataclass(frozen=True)
class Unselectable:
    """The points that no query can select as keys: convex combinations of the others, and repeated points."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.keys(cloud)


@dataclass(frozen=True)
class Gated:
    """The points of a circle or sphere that have one `fate` in a layer max(Wx + b, 0).

    fate    "apart": no other point of the sphere has the same image; "shared": some other points have the
            same image; "collapsed": all points of the same linear piece have the same image
    before  the index of the layer's Affine in the cloud's pipeline
    basis   (n, d) an orthonormal basis of the space of the circle or sphere on which the points lie before it
    of      another cloud with as many points, whose fates are used instead
    """

    fate: str
    before: int
    basis: Array
    of: str = ""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.known("fate", self.fate, FATES)
        decides = scope.cloud(self.of or cloud.name)
        scope.length(repr(decides.name), decides.points, len(cloud.points), f"point of {cloud.name!r}")
        scope.gates(self.before, self.basis, decides)


One = Sequence[int] | Followed | Highest | None  # selections whose size never changes; None: all points
# selections by a property of the points now, so that their size can change
Counted = OnHull | Inside | Selectable | Unselectable | Gated
Only = One | Counted


def check_only(only: Only, cloud: Cloud, scope: Scope) -> None:
    """Refuse a selection that does not fit its cloud."""
    if isinstance(only, Followed | Highest | Counted):
        only.check(cloud, scope)
    elif only is not None:
        scope.indices("only", list(only), len(cloud.points))


def choosing_rows(only: Only) -> tuple[Row, ...]:
    """For a `Highest` selection: a tuple with the row whose largest value picks the point; otherwise ()."""
    return (only.row,) if isinstance(only, Highest) else ()


def fixed_indices(only: Only, cloud: str, at: Moment) -> Array | None:
    """The indices that a selection of fixed size picks; None for all points, or a selection by property."""
    return None if only is None or isinstance(only, Counted) else indices(only, cloud, at)


def indices(only: Only, cloud: str, at: Moment) -> Array:
    """The indices of the points of a cloud that a mark with the selection `only` shows at a moment."""
    match only:
        case None:
            return np.arange(len(at.clouds[cloud].points))
        case Followed():
            return np.array([min(at.followed, len(at.clouds[cloud].points) - 1)])
        case Highest(row):
            return np.array([np.argmax(at.shown(cloud, (row,))[:, 0])])
        case OnHull():
            return hull.vertices(at.now(cloud))
        case Inside():
            return np.setdiff1d(indices(None, cloud, at), hull.vertices(at.now(cloud)))
        case Selectable():
            return np.flatnonzero(at.largest(cloud) == 1)
        case Unselectable():
            return np.flatnonzero(at.largest(cloud) < 1)
        case Gated(fate, before, basis, of):
            W, b = layer(at.clouds[of or cloud], before, basis, at.params)
            fates = gates.fates(W, b, at.stages(of or cloud)[before] @ basis.T)
            return np.flatnonzero(fates == gates.FATES.index(fate))
    return np.array(only, dtype=int)


def layer(cloud: Cloud, before: int, basis: Array, params: Params) -> tuple[Array, Array]:
    """The weights W (m, n) and b (m,) of an Affine of a cloud's pipeline, in the coordinates of a basis."""
    step = cloud.pipeline.steps[before]
    assert isinstance(step, Affine)
    W = step.A.value(params) @ basis.T
    return W, np.zeros(len(W)) if step.b is None else step.b.value(params)


def chosen(every: Array, only: Only, cloud: str, at: Moment) -> Array:
    """The selected rows of `every`, which has a row for each point of the cloud.

    If the number of selected points can change, the result keeps all rows, and the others become NaN.
    """
    shown = indices(only, cloud, at)
    if not isinstance(only, Counted):
        return every[shown]
    hidden = np.ones(len(every), dtype=bool)
    hidden[shown] = False
    return np.where(hidden.reshape(-1, *[1] * (every.ndim - 1)), np.nan, every)
