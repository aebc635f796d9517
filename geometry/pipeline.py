"""The data of a scene: steps, and the pipeline that a cloud goes through.

A step has `apply(x, params)`; `parameters`, the names it needs in `params`; and `width(d)`, the number
of coordinates after it where d come in (None: any number), which raises ValueError if d does not fit.

The engine in the browser mirrors this file, `entries` (how parameters move a step) and `path` (how a
point moves between stages). Source: design.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from geometry import pointwise
from geometry.arrays import Array, Numbers, has_values, number, numbers_of, requires_gradient, taken
from geometry.entries import Entries, Params, Track
from geometry.path import between, check_path
from geometry.sphere import Groups, check_convention, check_groups, on_spheres

__all__ = ["Affine", "Entries", "Normalize", "Pipeline", "Pointwise", "Track"]


@dataclass(frozen=True, eq=False)
class Affine:
    """x ↦ A·x + b, with A (m, d) and b (m,) or None. Raises ValueError for other shapes.

    Axes before these, say of many networks at once, are A's and b's alike: A (*batch, m, d) and b (*batch, m)
    send points (N, d), or (*batch, N, d), to (*batch, N, m).

    Where all rows of A sum to 0 up to rounding, as for centring, a constant vector goes to b exactly; not
    where A itself is learned, a tensor that requires a gradient.
    """

    A: Entries | Numbers
    b: Entries | Numbers | None = None

    def __post_init__(self):
        object.__setattr__(self, "A", Entries.of(self.A))
        if len(self.A.shape) < 2:
            raise ValueError(f"A of an Affine is a matrix (m, d): got shape {self.A.shape}")
        if self.b is None:
            return
        object.__setattr__(self, "b", Entries.of(self.b))
        if self.b.shape != self.A.shape[:-1]:
            raise ValueError(
                f"b of an Affine has one entry for each row of A, shape {self.A.shape[:-1]}: "
                f"got shape {self.b.shape}"
            )

    def width(self, d: int | None) -> int:
        m, n = self.A.shape[-2:]
        if d not in (None, n):
            raise ValueError(f"A of shape {(m, n)} takes points of {n} coordinates: got {d}")
        return m

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch m"]:
        x, back = taken(x)
        self.width(x.shape[-1])
        A = self.A.value(params, x=x)
        b = None if self.b is None else self.b.value(params, x=x)
        if _levels(A) if self.A.parameters else self._levels:
            x = x - x[..., :1]  # the same product; rounding would give a constant vector a direction
        if len(A.shape) == 2:
            return back(x @ A.mT if b is None else x @ A.mT + b)
        y = A @ x.mT  # points stay the fastest axis in memory: three times the speed of all that follows
        return back((y if b is None else y + b[..., None]).mT)

    @cached_property
    def _levels(self) -> bool:
        return not requires_gradient(self.A.base) and _levels(self.A.base)

    @property
    def parameters(self) -> frozenset[str]:
        return self.A.parameters | (self.b.parameters if self.b else frozenset())


@dataclass(frozen=True, eq=False)
class Normalize:
    """x ↦ to_sphere(x), with the same options; `radius` and `eps` are entries without axes.

    An ε that parameters drive may be negative where ‖x‖ + ε√n is not; then it is a divisor like any other.

    Raises ValueError for another shape or convention, a constant ε below 0, and groups that overlap.
    """

    radius: Entries | Numbers = 1.0
    eps: Entries | Numbers = 0.0
    groups: Groups | None = None
    convention: str = "bare"

    def __post_init__(self):
        for name in ("radius", "eps"):
            entries = Entries.of(getattr(self, name))
            object.__setattr__(self, name, entries)
            if entries.shape:
                raise ValueError(f"{name} of a Normalize is one number: got shape {entries.shape}")
        if not self.eps.parameters:
            number(self.eps.base, self.eps.base, "eps", least=0)
        check_convention(self.convention)
        if self.groups is not None:
            object.__setattr__(self, "groups", tuple(tuple(map(int, g)) for g in self.groups))
            check_groups(self.groups)

    def width(self, d: int | None) -> int | None:
        check_groups(self.groups or (), d)
        return d

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch d"]:
        x, back = taken(x)
        radius = number(self.radius.value(params, x=x), x, "radius")
        eps = number(self.eps.value(params, x=x), x, "eps")
        return back(on_spheres(x, radius, eps, self.convention, self.groups))

    @property
    def parameters(self) -> frozenset[str]:
        return self.radius.parameters | self.eps.parameters


@dataclass(frozen=True)
class Pointwise:
    """x ↦ f(xᵢ) for every coordinate, f by its name in `pointwise.FUNCTIONS`, else ValueError."""

    function: str
    parameters: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self):
        pointwise.check_function(self.function)

    def width(self, d: int | None) -> int | None:
        return d

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch d"]:
        return pointwise.apply(self.function, x)


@dataclass(frozen=True)
class Pipeline:
    """Steps in a row, and the path of the points between two stages (see `path.between`).

    Raises ValueError if a step does not take as many coordinates as the one before gives.
    """

    steps: Sequence[Affine | Normalize | Pointwise]
    path: str = "straight"

    def __post_init__(self):
        object.__setattr__(self, "steps", tuple(self.steps))
        check_path(self.path)
        width = None
        for step in self.steps:
            width = step.width(width)

    @property
    def parameters(self) -> frozenset[str]:
        """The names that `stages` and `at` need in `params`."""
        return frozenset().union(*(step.parameters for step in self.steps))

    def stages(self, x: Float[Array, "*batch d"], params: Params | None = None) -> list[Array]:
        """The cloud before the first step and after each: `len(steps) + 1` arrays, x first.

        Raises ValueError if a parameter is missing, or x has another number of coordinates.
        """
        x, back = taken(x)
        stages = [x]
        for step in self.steps:
            stages.append(step.apply(stages[-1], params or {}))
        return [back(stage) for stage in stages]

    def at(
        self, x: Float[Array, "*batch d"], progress: int | float, params: Params | None = None
    ) -> Float[Array, "*batch k"]:
        """The cloud at a progress from 0 to `len(steps)`: a stage, or on the way between two.

        Raises ValueError for another progress, and as `stages` does.
        """
        if not 0 <= progress <= len(self.steps):
            raise ValueError(f"progress goes from 0 to {len(self.steps)}: got {progress}")
        k, f = int(progress), float(progress) % 1
        x, back = taken(x)
        *_, a, b = (x, *Pipeline(self.steps[: k + bool(f)]).stages(x, params))
        return back(between(a, b, f, path=self.path) if f else b)


def _levels(A):
    """Whether each row of A sums to 0, up to the rounding of a sum of its entries."""
    if not has_values(A) or not A.shape[-1]:
        return False
    rows = numbers_of(A)
    rounding = rows.shape[-1] * np.finfo(rows.dtype).eps
    # one row after another: the first one nearly always settles it
    flat = (row.tolist() for row in rows.reshape(-1, rows.shape[-1]))
    return all(abs(sum(row)) <= rounding * sum(map(abs, row)) for row in flat)
