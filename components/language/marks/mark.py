"""The base classes of marks: of all marks, of lines, and of marks with colours, clicks or selected points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np

from components.language.cloud import Array, Cloud, Measure, Moment, Row
from components.language.marks.hands import Hand
from components.language.marks.selections import Only, check_only, choosing_rows, fixed_indices
from components.language.scope import Scope
from components.theme import ROLES, SCALES

# Lengths of dashes and gaps in pixels, by Plotly's name of the pattern
DASHES = {
    "solid": (),
    "dash": (9, 9),
    "dot": (3, 3),
    "dashdot": (9, 3, 3, 3),
    "longdash": (15, 5),
    "longdashdot": (15, 5, 3, 5),
}
GLYPHS = ("circle", "square", "ring")
# When the points of a mark count for the ranges of the axes: always; only as the scene opens and at whole
# stages ("whole"); only at whole stages ("labels"); or never
CountsForAxes = Literal["always", "whole", "labels", "never"]


@dataclass(frozen=True)
class Color:
    """The colours of a mark's points: each point has a number, and a scale of the theme gives it a colour.

    scale      the name of the colour scale
    low, high  the numbers at the two ends of the scale
    of         the numbers of the points: an array if they are fixed, or a measure that is computed at each
               moment
    title      the title of the colour bar
    """

    scale: str
    low: float
    high: float
    of: Array | Measure
    title: str = ""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.known("scale", self.scale, SCALES)
        if not self.low < self.high:
            scope.refuse(f"its colours go from {self.low} to {self.high}", "take low < high")
        if isinstance(self.of, np.ndarray):
            scope.length("colour", self.of, len(cloud.points))
        else:
            scope.measure(self.of, cloud)


@dataclass(frozen=True)
class Mark:
    """The base class of all marks, which are ways to draw a point cloud.

    cloud    the name of the cloud
    role     the mathematical role of the mark, which decides its colour
    rows     how a point becomes display coordinates: one `Row` for each of them
    title    the name of the mark, shown beside it or in the legend
    opacity  from 0 (invisible) to 1
    fade     for each stage a factor on `opacity`, interpolated between stages; None for 1
    guide    whether the mark only surrounds the subject, as an axis or a plane does; it need not fit the
             picture
    hint     an instruction such as "click to see it", added to the mark's title in a live figure, where
             readers can follow it; still pictures, exported videos and printed pages omit it
    """

    cloud: str
    role: str
    rows: tuple[Row, ...]
    title: str = ""
    _: KW_ONLY
    opacity: float = 1.0
    fade: Sequence[float] | None = None
    guide: bool = False
    hint: str = ""
    draws: ClassVar[str]  # name of the primitive that draws it
    closed: ClassVar[bool] = False  # whether it is a closed surface that hides what is behind it
    row_count: ClassVar[int | None] = None  # None: one row for each dimension of the view
    # the number of coordinates of the points that rows use; None: as many as the cloud has
    space: ClassVar[int | None] = None

    # The effect of a mark on the ranges of a view's axes (`components.language.framing`).
    counts_for_axes: ClassVar[CountsForAxes] = "whole"
    spherical: ClassVar[bool] = False  # if its role is in `SPHERE_ROLES`, framing keeps it large
    moves_axes: ClassVar[bool] = False  # the axes of a `reaching` view follow it when a slider moves it out
    framed_by_cloud: ClassVar[bool] = False  # the axes need to hold only the points of its cloud
    keeps_way: ClassVar[bool] = False  # it also shows its points at earlier stages, as a trail does
    own_size: ClassVar[bool] = False  # as a guide, it is shortened by changing a field, not by moving points

    def points(self, at: Moment) -> Array:
        """The points that the mark draws at a moment, in drawing order; gaps are NaN.

        Returns an array (M, k): for each of M points its k display coordinates.
        """
        return at.shown(self.cloud, self.rows)

    def values(self, at: Moment) -> Array:
        """For each point, the number that decides its colour.

        Raises ValueError if all points of the mark have the same colour.
        """
        raise ValueError(f"{type(self).__name__} of {self.cloud!r} has one colour")

    def opacity_at(self, progress: float) -> float:
        """`opacity` times the factor `fade`, interpolated linearly at a position between stages."""
        if self.fade is None:
            return self.opacity
        return self.opacity * float(np.interp(progress, range(len(self.fade)), self.fade))

    def check(self, scope: Scope) -> None:
        """Validate the fields. Raises WrongRecipe."""
        cloud, wanted = scope.cloud(self.cloud), scope.dims if self.row_count is None else self.row_count
        scope.known("role", self.role, ROLES)
        if len(self.rows) != wanted:
            scope.refuse(f"it has {len(self.rows)} rows", f"take {wanted}")
        for row in self.rows:
            scope.row(row, cloud, self.space)
        if not 0 <= self.opacity <= 1:
            scope.refuse(f"its opacity is {self.opacity}", "take 0 to 1")
        if self.fade is not None:
            scope.length("fade", self.fade, scope.stages, "stage")

    def fixed_indices(self, at: Moment) -> Array | None:
        """The indices of the points that the mark shows now, if it always shows equally many.

        None if the mark shows all points, or selects them by a property, as `Selectable` does.
        """
        return None

    def choosing_rows(self) -> tuple[Row, ...]:
        """The rows whose values decide which points are shown: `Highest.row` or `Line.where`; () if none."""
        return ()

    def has_heads(self) -> bool:
        """Whether the mark draws arrow heads, which add points that are not in its cloud."""
        return False

    def shortened(self, factor: float) -> Mark:
        """A copy of this guide whose size is divided by `factor`.

        Raises NotImplementedError unless the class sets `own_size`, and so has a field for its size.
        """
        raise NotImplementedError(f"{type(self).__name__} is as large as its cloud")

    def along_rays(self, points: Array) -> bool:
        """Whether the mark's lines run along rays from the origin if its cloud consists of `points` (N, d).

        If they do, a guide can be shortened by moving each point towards the origin: no line turns.
        """
        return False


@dataclass(frozen=True, kw_only=True)
class Stroke(Mark):
    """The base class of marks drawn as lines.

    size: twice their width in pixels in a figure. dash: a key of DASHES.
    """

    size: float = 4.0
    dash: str = "solid"
    draws = "line"

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.known("dash", self.dash, DASHES)


@dataclass(frozen=True, kw_only=True)
class Colored(Mark):
    """The base class of marks whose points can differ in colour. color: None for the colour of the role."""

    color: Color | None = None

    def values(self, at: Moment) -> Array:
        if self.color is None:
            return super().values(at)
        of = self.color.of
        return of if isinstance(of, np.ndarray) else at.measured(self.cloud, of)

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if self.color:
            self.color.check(scope.cloud(self.cloud), scope)


@dataclass(frozen=True, kw_only=True)
class Clickable(Mark):
    """The base class of marks that readers can click or drag. hand: what happens then; None for nothing."""

    hand: Hand | None = None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if self.hand:
            self.hand.check(scope.cloud(self.cloud), scope)


@dataclass(frozen=True, kw_only=True)
class Selecting(Mark):
    """The base class of marks that can show a part of their cloud. only: the points shown; None for all."""

    only: Only = None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        check_only(self.only, scope.cloud(self.cloud), scope)

    def fixed_indices(self, at: Moment) -> Array | None:
        return fixed_indices(self.only, self.cloud, at)

    def choosing_rows(self) -> tuple[Row, ...]:
        return choosing_rows(self.only)


def color_of(mark: Mark) -> Color | None:
    """The `Color` of a mark's points; None if all have the same colour, that of the mark's role."""
    return mark.color if isinstance(mark, Colored) else None


def hand_of(mark: Mark) -> Hand | None:
    """The action of a click or drag on the mark's points; None if there is none."""
    return mark.hand if isinstance(mark, Clickable) else None
