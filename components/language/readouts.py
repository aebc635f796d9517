"""Readouts: numbers and texts beside the figure. Each kind is a class, and is computed in numbers.mjs."""

from __future__ import annotations

from dataclasses import dataclass

from components.language.cloud import Array, Measure, Row
from components.language.marks.selections import Followed, Highest, PropertySelection, check_only
from components.language.scope import Scope


@dataclass(frozen=True)
class Readout:
    """The base class of readouts."""

    label: str

    def check(self, scope: Scope) -> None:
        """Validate the fields. Raises WrongRecipe if one is invalid."""
        raise NotImplementedError


@dataclass(frozen=True)
class CloudReadout(Readout):
    """The base class of readouts that are computed from the points of one cloud. cloud: its name."""

    cloud: str

    def check(self, scope: Scope) -> None:
        scope.cloud(self.cloud)


@dataclass(frozen=True)
class Residual(Readout):
    """The largest distance between a point of one cloud and the point with the same index in another cloud.

    Both points are taken at the last stages of their clouds. a, b: the names of the clouds. coordinates: how
    many coordinates count, from the first on; None for all.
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
    """The value of a measure for one point of a cloud.

    row     the measure: a `Row` or another kind of `Measure`
    index   the index of the point, or `Followed()` for the followed (selected) one
    unit    a text to write after the number
    digits  the number of digits after the decimal point; None for three, or five for numbers below 0.01.
            If `digits` is given, large numbers are rounded to whole numbers: those from 1,000 on, or from
            100 on if `digits` is 2 or more
    """

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
    """The base class of readouts that summarise a measure over a cloud's points.

    row: the measure. unit: a text after the number. digits: the number of digits after the decimal point (see
    `Number`).
    """

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
    """The base class of readouts about the points of a cloud that a selection `only` contains.

    stage: the stage at which the selection is made; None for the current points.
    """

    only: PropertySelection | Highest
    stage: int | None = None

    def check(self, scope: Scope) -> None:
        super().check(scope)
        cloud = scope.cloud(self.cloud)
        check_only(self.only, cloud, scope)
        scope.stage(self.stage, cloud)


@dataclass(frozen=True)
class Count(SelectionReadout):
    """The number of selected points and the number of all points, such as "12 of 200"."""


@dataclass(frozen=True)
class Lengths(CloudReadout):
    """The lengths of the semi-axes of an ellipsoid, which is the image of a sphere under a linear map.

    The points of the cloud are taken at its last stage. The first is the centre of the ellipsoid. The others
    are images of points of the sphere, one on each of several perpendicular radii.
    """


@dataclass(frozen=True)
class Accuracy(CloudReadout):
    """The share of points that a threshold on the values of `row` classifies correctly, in per cent.

    classes: the class of each point, 0 or 1. threshold: values above it count as class 1. If it is None, the
    threshold with the largest share is used, and values above it may count as class 0 instead.
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
    """The labels of all points of a cloud, such as letters, as one text; those of selected points stand out.

    The selected points are those that `only` contains. A click on a label makes its point the followed one.
    `label`, the caption of the readout, has to say which points stand out.
    """

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if scope.cloud(self.cloud).labels is None:
            scope.refuse(f"{self.cloud!r} has no labels", "give the cloud labels, a letter for each point")


@dataclass(frozen=True)
class Fate(Readout):
    """Whether a query can select the followed (selected) point as a key, and the evidence.

    If a query can select it, the evidence is how far its score can lead all others, for a query of length 1.
    If none can, the evidence is two numbers: the number of other keys whose average is this key, and the
    largest attention weight that this key can get. keys: the name of the cloud.
    """

    keys: str

    def check(self, scope: Scope) -> None:
        scope.keys(scope.cloud(self.keys))


@dataclass(frozen=True)
class StageReadout(CloudReadout):
    """The base class of readouts about the points of a cloud at one stage. stage: the number of the stage."""

    stage: int

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.stage(self.stage, scope.cloud(self.cloud))


@dataclass(frozen=True)
class Zeros(StageReadout):
    """How many coordinates of a point are exactly 0, on average over a cloud's points, such as "3.2 of 8"."""


@dataclass(frozen=True)
class Patterns(StageReadout):
    """The number of different sign patterns that a cloud's points have at a stage, and their entropy in bits.

    A point's sign pattern says which of its coordinates are positive. The entropy is computed from the share
    of points that each pattern has.
    """


@dataclass(frozen=True)
class GatesReadout(CloudReadout):
    """The base class of readouts about which neurons of a layer max(Wx + b, 0) are active for which points.

    The points lie on a circle or sphere before the layer. before: the index of the layer's Affine (Wx + b) in
    the cloud's pipeline. basis: an orthonormal basis (n, d) of the subspace of that circle or sphere.
    """

    before: int
    basis: Array

    def check(self, scope: Scope) -> None:
        super().check(scope)
        scope.gates(self.before, self.basis, scope.cloud(self.cloud))


@dataclass(frozen=True)
class Ranks(GatesReadout):
    """For each rank r: the share of a cloud's points near which a layer max(Wx + b, 0) is linear of rank r.

    Near a point the layer acts like the rows of W whose neurons are active there; r is the rank of these
    rows.
    """


@dataclass(frozen=True)
class Pieces(GatesReadout):
    """The exact number of linear pieces of a layer max(Wx + b, 0) on a circle of radius `radius` around 0.

    The circle lies in the plane that `basis` spans, so `basis` must have two vectors. The number does not
    depend on the cloud's points.
    """

    radius: float

    def check(self, scope: Scope) -> None:
        super().check(scope)
        if len(self.basis) != 2 or not self.radius > 0:
            wrong = f"a space of {len(self.basis)} dimensions, a radius of {self.radius}"
            scope.refuse(wrong, "a circle has 2 dimensions and a radius above 0")


@dataclass(frozen=True)
class Sheets(CloudReadout):
    """The number of sheets into which layers fold the unit circle, and its bound, such as "6, at most 8".

    The number of sheets is the largest number of points of the circle that the layers map to the same
    direction, for ε = 0. After k layers it is at most 2^k, where k counts the layers up to the current stage.
    Each layer is two steps of the cloud's pipeline: an Affine of the plane, then a Normalize. The points of
    the cloud do not matter.
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
