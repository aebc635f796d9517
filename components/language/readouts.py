"""Readouts: numbers and texts beside the picture. Each is a class, with a function in numbers.mjs."""

from __future__ import annotations

from dataclasses import dataclass

from components.language.cloud import Array, Measure, Row
from components.language.marks.selections import Counted, Followed, Highest, check_only
from components.language.scope import Scope


@dataclass(frozen=True)
class Readout:
    """The base class of readouts."""

    label: str

    def check(self, scope: Scope) -> None:
        """Validate the fields. Raises WrongRecipe."""
        raise NotImplementedError


@dataclass(frozen=True)
class CloudReadout(Readout):
    """Base class of readouts that are computed from the points of one cloud, named by `cloud`."""

    cloud: str

    def check(self, scope: Scope) -> None:
        scope.cloud(self.cloud)


@dataclass(frozen=True)
class Residual(Readout):
    """The largest distance between a point of cloud `a` and the same point of `b`, at their last stages.

    coordinates: how many of the first coordinates count; None for all.
    """

    a: str
    b: str
    coordinates: int | None = None

    def check(self, scope: Scope) -> None:
        a, b = scope.cloud(self.a), scope.cloud(self.b)
        scope.length(repr(self.b), b.points, len(a.points), f"point of {self.a!r}")
        wide, most = self.coordinates or a.widths[-1], min(a.widths[-1], b.widths[-1])
        if wide > most:
            scope.refuse(
                f"the clouds do not both have {wide} coordinates", f"take coordinates={most} or fewer"
            )


@dataclass(frozen=True)
class Number(CloudReadout):
    """A number that a measure gives one point. digits: after the decimal point; None: as many as fit."""

    row: Measure
    index: int | Followed = 0
    unit: str = ""
    digits: int | None = None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        scope.measure(self.row, cloud)
        if isinstance(self.index, int):
            scope.indices("index", self.index, len(cloud.points))


@dataclass(frozen=True)
class MeasureReadout(CloudReadout):
    """The base class of readouts that summarise a measure over a cloud's points. digits: as in `Number`."""

    row: Measure
    unit: str = ""
    digits: int | None = None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.measure(self.row, scope.cloud(self.cloud))


@dataclass(frozen=True)
class Mean(MeasureReadout):
    """The mean of a measure over a cloud's points."""


@dataclass(frozen=True)
class Largest(MeasureReadout):
    """The largest value of a measure among a cloud's points."""


@dataclass(frozen=True)
class SelectionReadout(CloudReadout):
    """The base class of readouts about the points in a selection `only`.

    stage: the stage at which the points are taken; None for the current points.
    """

    only: Counted | Highest
    stage: int | None = None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        check_only(self.only, cloud, scope)
        scope.stage(self.stage, cloud)


@dataclass(frozen=True)
class Count(SelectionReadout):
    """The number of selected points, such as "12 of 200"."""


@dataclass(frozen=True)
class Lengths(CloudReadout):
    """The lengths of the semi-axes of an ellipsoid, given by a cloud as in `SemiAxes`, at its last stage."""


@dataclass(frozen=True)
class Accuracy(CloudReadout):
    """The share of points that are classified correctly by a threshold on the values of a row.

    classes: the class of each point, one of two. threshold: None for the best possible one.
    """

    row: Row
    classes: Array
    threshold: float | None = None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        scope.row(self.row, cloud)
        scope.length("classes", self.classes, len(cloud.points))


@dataclass(frozen=True)
class Letters(SelectionReadout):
    """The labels of a cloud's points, such as letters, as a text; a click on a label follows its point.

    Labels of the selected points are highlighted. The readout's own `label` tells readers which points these
    are.
    """

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if scope.cloud(self.cloud).labels is None:
            scope.refuse(f"{self.cloud!r} has no labels", "give the cloud labels, a letter for each point")


@dataclass(frozen=True)
class Fate(Readout):
    """Whether a query can select the followed point as a key, and the margin of the best query of length 1.

    For a point that no query can select: the number of keys whose weighted average it is, and the largest
    attention weight that it can get.
    """

    keys: str

    def check(self, scope: Scope) -> None:
        scope.keys(scope.cloud(self.keys))


@dataclass(frozen=True)
class StageReadout(CloudReadout):
    """The base class of readouts about the points of a cloud at a stage."""

    stage: int

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.stage(self.stage, scope.cloud(self.cloud))


@dataclass(frozen=True)
class Zeros(StageReadout):
    """The number of coordinates that are exactly 0 at a stage, averaged over points, such as "3.2 of 8"."""


@dataclass(frozen=True)
class Patterns(StageReadout):
    """The number of sign patterns of a cloud's points at a stage (0 counts as −), and the entropy of their
    shares in bits.
    """


@dataclass(frozen=True)
class GatesReadout(CloudReadout):
    """The base class of readouts about the gates of a layer max(Wx + b, 0). before, basis: as in `Gated`."""

    before: int
    basis: Array

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.gates(self.before, self.basis, scope.cloud(self.cloud))


@dataclass(frozen=True)
class Ranks(GatesReadout):
    """For each rank r: the share of a cloud's points in linear pieces of rank r of a layer max(Wx + b, 0).

    The rank of a piece is that of the weights of the neurons that are active in it.
    """


@dataclass(frozen=True)
class Pieces(GatesReadout):
    """The exact number of linear pieces of a layer max(Wx + b, 0) on a circle of radius `radius` around 0.

    The `basis` must have n = 2 vectors (see `Gated`). The number does not depend on the points shown.
    """

    radius: float

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if len(self.basis) != 2 or not self.radius > 0:
            wrong = f"a space of {len(self.basis)} dimensions, a radius of {self.radius}"
            scope.refuse(wrong, "a circle has 2 dimensions and a radius above 0")


@dataclass(frozen=True)
class Sheets(CloudReadout):
    """The number of sheets into which norms fold the unit circle, and its bound, such as "6, at most 8".

    The number of sheets is the largest number of points of the circle that are mapped to one direction, for
    ε = 0. After k norms it is at most 2^k; k counts the norms up to the current stage. The cloud's pipeline
    alternates an Affine of the plane with a Normalize; the cloud's points do not matter.
    """

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.layers_of_plane(scope.cloud(self.cloud))


READOUTS = (
    Residual,
    Number,
    Mean,
    Largest,
    Count,
    Lengths,
    Accuracy,
    Letters,
    Fate,
    Zeros,
    Patterns,
    Ranks,
    Pieces,
    Sheets,
)
