"""Validation of references: which clouds, parameters and stages one part of a recipe may refer to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from components.language.cloud import Angle, Cloud, LargestWeight, Measure, Row, SoftmaxWeight
from components.language.refusal import check_finite, check_indices, check_known, check_length, refuse
from geometry import Affine, Normalize
from geometry.entries import Entries

MAX_SEEN_POINTS = 512  # of a cloud that is used as a matrix or has a hull: both cost time in each frame
MAX_NEURONS = 52  # the browser stores which of them are active in the bits of one number
MAX_KEYS = 256  # each is compared with all others in each frame


@dataclass(frozen=True)
class Scope:
    """Checks that a mark or readout refers only to clouds, parameters and stages that its recipe has.

    The methods raise WrongRecipe if a check fails.

    where       the mark or readout that is checked; the error messages begin with it
    clouds      the clouds of the recipe
    parameters  the names of the recipe's parameters
    stages      the number of the recipe's stages
    dims        the dimension of the view, for a mark; 0 for a readout
    clock       the smallest and largest value of the recipe's clock; None if it has none
    """

    where: str
    clouds: Sequence[Cloud]
    parameters: Collection[str]
    stages: int
    dims: int = 0
    clock: tuple[float, float] | None = None

    def refuse(self, wrong: str, remedy: str) -> None:
        refuse(self.where, wrong, remedy)

    def known(self, kind: str, name: Any, names: Collection[str]) -> None:
        check_known(self.where, kind, name, names)

    def cloud(self, name: str) -> Cloud:
        """The cloud with this name. Raises WrongRecipe if there is none."""
        self.known("cloud", name, [c.name for c in self.clouds])
        return next(c for c in self.clouds if c.name == name)

    def parameter(self, name: str) -> None:
        self.known("parameter", name, self.parameters)

    def length(self, what: str, found: Any, count: int, of: str = "point") -> None:
        check_length(self.where, what, found, count, of)

    def indices(self, what: str, numbers: Any, count: int, *, low: int = 0) -> None:
        check_indices(self.where, what, numbers, low, count)

    def stage(self, stage: int | None, cloud: Cloud) -> None:
        last = len(cloud.widths) - 1
        if stage is not None and not 0 <= stage <= last:
            self.refuse(f"there is no stage {stage}", f"take 0 to {last}")

    def row(self, row: Row, cloud: Cloud, space: int | None = None) -> None:
        """Raise WrongRecipe if a row, or its divisor `row.over`, does not fit the points to which it applies.

        The cloud must have the row's stage, numbers must be finite, and parameters known. The row must not
        have more weights than points have coordinates at its stage. If its stage is None, the largest number
        of coordinates at any stage counts.

        space: None if the row applies to the cloud's own points. Otherwise it applies to points that a mark
        computes from the cloud and that have only stage 0; then `space` is the number of their coordinates.
        """
        widths = cloud.widths if space is None else [space]
        if isinstance(row.weights, Entries):
            count = row.weights.shape[0]
            for name in sorted(row.weights.parameters):
                self.parameter(name)
        else:
            count = len(row.weights)
            check_finite(self.where, (*row.weights, row.offset))
        if row.stage is not None and not 0 <= row.stage < len(widths):
            last = len(widths) - 1
            self.refuse(
                f"{cloud.name!r} has no stage {row.stage}",
                f"take 0 to {last}, or None for the current points",
            )
        seen = max(widths) if row.stage is None else widths[row.stage]
        if count > seen:
            self.refuse(f"a row has {count} weights for points of {seen} coordinates", f"take at most {seen}")
        if row.over is not None:
            self.row(row.over, cloud, space)

    def measure(self, measure: Measure, cloud: Cloud) -> None:
        match measure:
            case LargestWeight(stage):
                self.keys(cloud)
                self.stage(stage, cloud)
            case SoftmaxWeight(row) | (Row() as row):
                self.row(row, cloud)
            case Angle():
                pass

    def keys(self, cloud: Cloud) -> None:
        """Raise WrongRecipe unless the cloud has 1 to MAX_KEYS points.

        The number is limited because keys are all compared with each other in every frame.
        """
        n = len(cloud.points)
        if not 1 <= n <= MAX_KEYS:
            self.refuse(f"{cloud.name!r} has {n} points", f"take 1 to {MAX_KEYS} keys for attention")

    def hull(self, cloud: Cloud) -> None:
        """Raise WrongRecipe if the cloud has more than 3 coordinates, or more than MAX_SEEN_POINTS points.

        These numbers are limited because the convex hull of the points is computed in every frame.
        """
        n = len(cloud.points)
        if max(cloud.widths) > 3:
            self.refuse(f"{cloud.name!r} has {max(cloud.widths)} coordinates", "take at most 3 for a hull")
        if n > MAX_SEEN_POINTS:
            self.refuse(f"{cloud.name!r} has {n} points", f"take at most {MAX_SEEN_POINTS} for a hull")

    def layers_of_plane(self, cloud: Cloud) -> None:
        """Raise WrongRecipe unless the cloud's steps are an Affine of the plane, a Normalize, and so on.

        Each Affine must have a matrix A (2, 2) and a shift b.
        """
        for k, step in enumerate(cloud.pipeline.steps):
            own = isinstance(step, Affine) and isinstance(step.A, Entries) and step.b is not None
            flat = own and cloud.widths[k : k + 2] == [2, 2]
            if not (isinstance(step, Normalize) if k % 2 else flat):
                wrong = f"step {k} of {cloud.name!r} is no {'Normalize' if k % 2 else 'Affine of the plane'}"
                self.refuse(wrong, "take an Affine with A (2, 2) and b, then a Normalize, and so on")

    def gates(self, before: int, basis: Any, cloud: Cloud) -> None:
        """Raise WrongRecipe unless a step of the cloud can be the Affine of a layer max(Wx + b, 0).

        before: the index of this step in the cloud's pipeline. W must have at most MAX_NEURONS rows, and must
        not be made of the points of another cloud. basis: (n, d) an orthonormal basis of a subspace; before
        this step, the points lie on a circle or sphere in it. d must be the number of their coordinates.
        """
        steps = cloud.pipeline.steps
        affine = [
            k for k, step in enumerate(steps) if isinstance(step, Affine) and isinstance(step.A, Entries)
        ]
        if before not in affine:
            self.refuse(f"step {before} of {cloud.name!r} is not an Affine", f"take one of {affine}")
        if cloud.widths[before + 1] > MAX_NEURONS:
            self.refuse(f"it has {cloud.widths[before + 1]} neurons", f"take at most {MAX_NEURONS}")
        d, shape = cloud.widths[before], np.shape(basis)
        if len(shape) != 2 or shape[1] != d or not np.allclose(basis @ basis.T, np.eye(shape[0])):
            self.refuse(f"its basis has the shape {shape}", f"take orthonormal rows of {d} numbers")
