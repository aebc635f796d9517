"""Selections: which points of a cloud a mark shows, by index or by a property that points have just now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.language.cloud import Array, Cloud, Moment, Params, Row
from components.language.scope import Scope
from geometry import gates
from geometry.gates import FATES
from geometry.pipeline import Affine


@dataclass(frozen=True)
class Followed:
    """Only the point that the reader follows (has selected)."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        """Accept every cloud: there is nothing to validate."""


@dataclass(frozen=True)
class Highest:
    """The point with the largest current value of `row`; the first such point if several share this value."""

    row: Row

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.row(self.row, cloud)


@dataclass(frozen=True)
class Selectable:
    """The points that attention can select: a query gives such a key a higher score than all other keys."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.keys(cloud)


@dataclass(frozen=True)
class Unselectable:
    """The points that attention cannot select: no query gives such a key a higher score than all other keys.

    They are the points that are weighted averages of other points, and repeated points.
    """

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.keys(cloud)


@dataclass(frozen=True)
class Gated:
    """The points of a circle or sphere to which a layer max(Wx + b, 0) gives a certain fate.

    The fate of a point says which other points have the same image. Two points belong to the same piece if
    the same neurons are active at both.

    fate    "apart": no other point has the same image; "shared": some other points of the same piece have the
            same image, but not all; "collapsed": all points of the piece have the same image
    before  the index of the layer's Affine (Wx + b) in the pipeline of the cloud, or of the cloud `of`
    basis   (n, d) an orthonormal basis of the subspace in which the circle or sphere lies before this Affine
    of      the name of another cloud with as many points: a point is selected by the fate of the point with
            the same index there; "" for the cloud itself
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


# selections whose size never changes: given points, the followed point, the highest point; None: all points
ConstantSize = Sequence[int] | Followed | Highest | None
# selections by a property of the points now, so that their size can change
PropertySelection = Selectable | Unselectable | Gated
Only = ConstantSize | PropertySelection


def check_only(only: Only, cloud: Cloud, scope: Scope) -> None:
    """Raise WrongRecipe unless the selection `only` fits its cloud."""
    if isinstance(only, Followed | Highest | PropertySelection):
        only.check(cloud, scope)
    elif only is not None:
        scope.indices("only", list(only), len(cloud.points))


def choosing_rows(only: Only) -> tuple[Row, ...]:
    """The rows whose values decide which points are selected: one row for `Highest`, otherwise ()."""
    return (only.row,) if isinstance(only, Highest) else ()


def fixed_indices(only: Only, cloud: str, at: Moment) -> Array | None:
    """The indices of the selected points, for a selection whose size never changes.

    None if `only` is None, so that all points are shown, or if it selects points by a property.
    """
    return None if only is None or isinstance(only, PropertySelection) else indices(only, cloud, at)


def indices(only: Only, cloud: str, at: Moment) -> Array:
    """The indices of the points of a cloud that a mark with the selection `only` shows at a moment."""
    match only:
        case None:
            return np.arange(len(at.clouds[cloud].points))
        case Followed():
            return np.array([min(at.followed, len(at.clouds[cloud].points) - 1)])
        case Highest(row):
            return np.array([np.argmax(at.shown(cloud, (row,))[:, 0])])
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
    """The weights W (m, n) and b (m,) of the Affine at index `before` of a cloud's pipeline.

    W acts on coordinates with respect to `basis`, an orthonormal basis (n, d); if the Affine has no b, b is
    0.
    """
    step = cloud.pipeline.steps[before]
    assert isinstance(step, Affine)
    W = step.A.value(params) @ basis.T
    return W, np.zeros(len(W)) if step.b is None else step.b.value(params)


def chosen(every: Array, only: Only, cloud: str, at: Moment) -> Array:
    """The entries of the array `every` that belong to the points of the selection `only`.

    every: has one entry for each point of the cloud. If the number of selected points can change, the result
    keeps the size of `every`, and the entries of the other points are NaN.
    """
    shown = indices(only, cloud, at)
    if not isinstance(only, PropertySelection):
        return every[shown]
    hidden = np.ones(len(every), dtype=bool)
    hidden[shown] = False
    return np.where(hidden.reshape(-1, *[1] * (every.ndim - 1)), np.nan, every)
