"""What all marks have, and what all lines have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np

from components.language.cloud import Array, Cloud, Measure, Moment, Row
from components.language.marks.hands import Hand
from components.language.scope import Scope
from components.theme import ROLES, SCALES

# Plotly's names for dashes, in pixels
DASHES = {
    "solid": (),
    "dash": (9, 9),
    "dot": (3, 3),
    "dashdot": (9, 3, 3, 3),
    "longdash": (15, 5),
    "longdashdot": (15, 5, 3, 5),
}
GLYPHS = ("circle", "square", "ring")
# When a frame holds a mark: at every moment; only where a whole moment is shown, at first and at a stage; as
# names, only at a stage; or never
InFrame = Literal["always", "whole", "labels", "never"]


@dataclass(frozen=True)
class Color:
    """A number for each point, fixed or live, painted through a named scale of the theme."""

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
    """What all marks have. role: the mathematical role, which the theme knows the colour of; fade: opacity at
    each stage, linear between them, times `opacity`. guide: it stands around what is shown, as an
    axis or a plane; the picture need not hold it. hint: what a hand can do with it, as "click to see it"; it
    stands after the title in a live figure, never in a picture, a film or on paper."""

    cloud: str
    role: str
    rows: tuple[Row, ...]
    title: str = ""
    _: KW_ONLY
    opacity: float = 1.0
    fade: Sequence[float] | None = None
    guide: bool = False
    hint: str = ""
    draws: ClassVar[str]  # the primitive that draws it
    closed: ClassVar[bool] = False  # whether it is the surface of something, and hides what is behind it
    flat: ClassVar[int | None] = None  # the number of its rows; None: those of the view
    space: ClassVar[int | None] = None  # the number of coordinates that they see; None: those of the cloud

    # What of it decides the frame of a view (`components.language.framing`).
    in_frame: ClassVar[InFrame] = "whole"
    spherical: ClassVar[bool] = False  # in the role of a sphere or circle it keeps a share of the panel
    moves_axes: ClassVar[bool] = False  # axes that are `reaching` follow it where a slider moves it out
    own_points: ClassVar[bool] = False  # it shows points of its own cloud, and sees no other cloud
    keeps_way: ClassVar[bool] = False  # it shows where they were at earlier stages, too
    own_size: ClassVar[bool] = False  # as a guide it is shortened itself; else the cloud that it shows is

    def points(self, at: Moment) -> Array:
        """(M, k) display coordinates in drawing order, gaps NaN."""
        return at.shown(self.cloud, self.rows)

    def values(self, at: Moment) -> Array:
        """The number that colours each point. Raises ValueError for a mark that has one colour."""
        color = color_of(self)
        if color is None:
            raise ValueError(f"{type(self).__name__} of {self.cloud!r} has one colour")
        return color.of if isinstance(color.of, np.ndarray) else at.measured(self.cloud, color.of)

    def opacity_at(self, progress: float) -> float:
        if self.fade is None:
            return self.opacity
        return self.opacity * float(np.interp(progress, range(len(self.fade)), self.fade))

    def check(self, scope: Scope) -> None:
        """Refuse what it cannot mean in a recipe."""
        cloud, wanted = scope.cloud(self.cloud), scope.dims if self.flat is None else self.flat
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
        """The numbers of the points that it shows at every moment; None: it shows or chooses from all."""
        return None

    def choosing_rows(self) -> tuple[Row, ...]:
        """The rows by which it chooses points."""
        return ()

    def has_heads(self) -> bool:
        """Whether it ends in heads of arrows, which no cloud has."""
        return False

    def shortened(self, factor: float) -> Mark:
        """A guide with an `own_size`, so many times as short."""
        raise NotImplementedError(f"{type(self).__name__} is as large as its cloud")

    def along_rays(self, points: Array) -> bool:
        """Whether each point of a guide can come nearer to the origin by itself."""
        return False


@dataclass(frozen=True, kw_only=True)
class Stroke(Mark):
    """What all lines have."""

    size: float = 4.0
    dash: str = "solid"
    draws = "line"

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.known("dash", self.dash, DASHES)


def color_of(mark: Mark) -> Color | None:
    """What colours its points, where they have not all that of its role."""
    return getattr(mark, "color", None)


def hand_of(mark: Mark) -> Hand | None:
    return getattr(mark, "hand", None)
