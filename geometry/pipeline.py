"""The data of a scene: steps, and the pipeline that a cloud goes through.

A step has `apply(x, params)`; `parameters`, the names it needs in `params`; and `width(d)`, the number
of coordinates after it where d come in (None: any number), which raises ValueError if d does not fit.

The engine in the browser mirrors this file, `entries` (how parameters move a step) and `path` (how a
point moves between stages). Source: design.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from geometry import pointwise
from geometry.arrays import (
    Array,
    Numbers,
    has_values,
    like,
    namespace,
    number,
    numbers_of,
    requires_gradient,
    taken,
)
from geometry.dual import Dual, parts
from geometry.entries import Entries, Of, Params, Track
from geometry.softmax import softmax
from geometry.sphere import Groups, check_convention, check_groups, on_spheres, take

__all__ = [
    "Affine",
    "Branches",
    "Derivative",
    "Entries",
    "Normalize",
    "Of",
    "Pipeline",
    "Placed",
    "Pointwise",
    "Product",
    "Softmax",
    "Track",
]


JOINS = ("sum", "concat")


@dataclass(frozen=True, eq=False)
class Affine:
    """x ↦ A·x + b, with A (m, d) and b (m,) or None. Raises ValueError for other shapes.

    Axes before these, say of many networks at once, are A's and b's alike: A (*batch, m, d) and b (*batch, m)
    send points (N, d), or (*batch, N, d), to (*batch, N, m).

    Where all rows of A sum to 0 up to rounding, as for centring, a constant vector goes to b exactly; not
    where A itself is learned, a tensor that requires a gradient.
    """

    A: Entries | Of | Numbers
    b: Entries | Numbers | None = None

    def __post_init__(self):
        object.__setattr__(self, "A", self.A if isinstance(self.A, Of) else Entries.of(self.A))
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
        if self._levels if self._constant else _levels(A):
            x = x - x[..., :1]  # the same product; rounding would give a constant vector a direction
        if len(A.shape) == 2:
            return back(x @ A.mT if b is None else x @ A.mT + b)
        y = A @ x.mT  # points stay the fastest axis in memory: three times the speed of all that follows
        return back((y if b is None else y + b[..., None]).mT)

    @cached_property
    def _constant(self) -> bool:
        return isinstance(self.A, Entries) and not self.A.parameters

    @cached_property
    def _levels(self) -> bool:
        base = self.A.value({})
        return not requires_gradient(base) and _levels(base)

    @property
    def parameters(self) -> frozenset[str]:
        return self.A.parameters | (self.b.parameters if self.b else frozenset())

    @property
    def sources(self) -> tuple[Any, ...]:
        """The clouds whose points it sees."""
        return (self.A.source,) if isinstance(self.A, Of) else ()


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

    sources: ClassVar[tuple[Any, ...]] = ()


@dataclass(frozen=True)
class Pointwise:
    """x ↦ f(xᵢ) for every coordinate, f by its name in `pointwise.FUNCTIONS`, else ValueError."""

    function: str
    parameters: ClassVar[frozenset[str]] = frozenset()
    sources: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self):
        pointwise.check_function(self.function)

    def width(self, d: int | None) -> int | None:
        return d

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch d"]:
        return pointwise.apply(self.function, x)


@dataclass(frozen=True)
class Product:
    """x ↦ the product of its coordinates of each group, one number for each; a group of one passes it on.

    With an `Affine` that adds: dot products, squares, a direction times a length. Raises ValueError for no
    group, an empty one, and a coordinate that is not there.
    """

    groups: Sequence[Sequence[int]]
    parameters: ClassVar[frozenset[str]] = frozenset()
    sources: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self):
        object.__setattr__(self, "groups", tuple(tuple(map(int, g)) for g in self.groups))
        if not self.groups or not all(self.groups) or any(i < 0 for g in self.groups for i in g):
            raise ValueError(f"a Product needs groups of coordinates, 0 or more each: got {self.groups}")

    def width(self, d: int | None) -> int:
        most = max(i for group in self.groups for i in group)
        if d is not None and most >= d:
            raise ValueError(
                f"a Product of coordinate {most} takes points of more than {most} coordinates: got {d}"
            )
        return len(self.groups)

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch m"]:
        x, back = taken(x)
        self.width(x.shape[-1])
        if len({len(group) for group in self.groups}) == 1:  # all at once
            return back(reduce(mul, (take(x, each) for each in zip(*self.groups, strict=True))))
        each = [reduce(mul, (x[..., i : i + 1] for i in group)) for group in self.groups]
        return back(_beside(each))


@dataclass(frozen=True, eq=False)
class Softmax:
    """x ↦ exp(xᵢ/T) / Σⱼ exp(xⱼ/T) over the coordinates; T = 0 is the argmax, which several may share.

    causal: the point k sees its first k + 1 coordinates alone, the others become 0. The temperature is
    entries without axes. Raises ValueError for another shape, and for a temperature below 0.
    Source: brody2023.
    """

    temperature: Entries | Numbers = 1.0
    causal: bool = False
    sources: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self):
        object.__setattr__(self, "temperature", Entries.of(self.temperature))
        if self.temperature.shape:
            raise ValueError(f"the temperature is one number: got shape {self.temperature.shape}")

    def width(self, d: int | None) -> int | None:
        return d

    def apply(self, x: Float[Array, "*batch n d"], params: Params) -> Float[Array, "*batch n d"]:
        x, back = taken(x)
        return back(softmax(x, temperature=self.temperature.value(params, x=x), causal=self.causal))

    @property
    def parameters(self) -> frozenset[str]:
        return self.temperature.parameters


@dataclass(frozen=True)
class Placed:
    """Point k ↦ the parameters whose names are `names[k]`, one for each of its new coordinates."""

    names: Sequence[Sequence[str]]
    sources: ClassVar[tuple[Any, ...]] = ()

    def width(self, d: int | None) -> int:
        return len(self.names[0])

    def apply(self, x: Float[Array, "*batch n d"], params: Params) -> Float[Array, "*batch n m"]:
        x, back = taken(x)
        if x.shape[-2] != len(self.names):
            raise ValueError(f"{len(self.names)} points are placed: got {x.shape[-2]}")
        there = [[float(params[name]) for name in own] for own in self.names]
        return back(like(there, x))

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(name for own in self.names for name in own)


@dataclass(frozen=True)
class Branches:
    """x through each of several pipelines, and their results added (`join="sum"`) or side by side ("concat").

    The empty pipeline is x: a residual is `Branches((Pipeline(()), block))`. Raises ValueError for no branch,
    another join, and for results of different widths that are to be added.
    Source: projection2025; symmetrize2025.
    """

    pipelines: Sequence["Pipeline"]
    join: str = "sum"

    def __post_init__(self):
        object.__setattr__(self, "pipelines", tuple(self.pipelines))
        if not self.pipelines:
            raise ValueError("branches need a pipeline at least: got none")
        if self.join not in JOINS:
            raise ValueError(f"no join {self.join!r}: take one of {JOINS}")

    def width(self, d: int | None) -> int | None:
        widths = [branch.width(d) for branch in self.pipelines]
        if None in widths:
            return None
        if self.join == "concat":
            return sum(w or 0 for w in widths)
        if len(set(widths)) > 1:
            raise ValueError(f"branches of widths {widths} cannot be added: give them one width")
        return widths[0]

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch m"]:
        results = [branch.stages(x, params)[-1] for branch in self.pipelines]
        return sum(results[1:], start=results[0]) if self.join == "sum" else _beside(results)

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset().union(*(branch.parameters for branch in self.pipelines))

    @property
    def sources(self) -> tuple[Any, ...]:
        return tuple(source for branch in self.pipelines for source in branch.sources)


@dataclass(frozen=True)
class Pipeline:
    """Steps in a row.

    Raises ValueError if a step does not take as many coordinates as the one before gives.
    """

    steps: Sequence["Step"]

    def __post_init__(self):
        object.__setattr__(self, "steps", tuple(self.steps))
        self.width(None)

    def width(self, d: int | None) -> int | None:
        """The number of coordinates after the last step where d come in (None: any number)."""
        for step in self.steps:
            d = step.width(d)
        return d

    @property
    def parameters(self) -> frozenset[str]:
        """The names that `stages` needs in `params`."""
        return frozenset().union(*(step.parameters for step in self.steps))

    @property
    def sources(self) -> tuple[Any, ...]:
        """The clouds whose points its steps see."""
        return tuple(source for step in self.steps for source in step.sources)

    def stages(self, x: Float[Array, "*batch d"], params: Params | None = None) -> list[Array]:
        """The cloud before the first step and after each: `len(steps) + 1` arrays, x first.

        Raises ValueError if a parameter is missing, or x has another number of coordinates.
        """
        x, back = taken(x)
        stages = [x]
        for step in self.steps:
            stages.append(step.apply(stages[-1], params or {}))
        return [back(stage) for stage in stages]


@dataclass(frozen=True)
class Derivative:
    """The derivative of a pipeline f along a direction (Jacobian–vector product): (x, v) ↦ (f(x), J_f(x)·v).

    The first half of a point's coordinates is a place x, the second a direction v there, before the step and
    after it: derivatives in a row follow the chain rule. Computed in forward mode, by dual numbers; the
    points of other clouds (`Of`) are constants. Raises ValueError for an odd number of coordinates, and for a
    pipeline with a `Placed`, which does not depend on x.
    """

    pipeline: "Pipeline"

    def __post_init__(self):
        if _has_placed(self.pipeline):
            raise ValueError("a derivative is of what depends on x: place the points before it")

    def width(self, d: int | None) -> int | None:
        if d is not None and d % 2:
            raise ValueError(
                f"a derivative takes a place and a direction of as many coordinates: got {d} in all"
            )
        m = self.pipeline.width(d and d // 2)
        return m and 2 * m

    def apply(self, x: Float[Array, "*batch 2d"], params: Params) -> Float[Array, "*batch 2m"]:
        x, back = taken(x)
        self.width(x.shape[-1])
        d = x.shape[-1] // 2
        image = self.pipeline.stages(Dual(x[..., :d], x[..., d:]), params)[-1]
        return back(_beside(parts(image)))

    @property
    def parameters(self) -> frozenset[str]:
        return self.pipeline.parameters

    @property
    def sources(self) -> tuple[Any, ...]:
        return self.pipeline.sources


Step = Affine | Normalize | Pointwise | Product | Softmax | Placed | Branches | Derivative


def _has_placed(pipeline):
    inside = (
        each
        for step in pipeline.steps
        for each in (
            step.pipelines
            if isinstance(step, Branches)
            else [step.pipeline]
            if isinstance(step, Derivative)
            else []
        )
    )
    return any(isinstance(step, Placed) for step in pipeline.steps) or any(map(_has_placed, inside))


def _beside(results):
    first = next((each for each in results if isinstance(each, Dual)), results[0])
    return namespace(first).concat(results, axis=-1)


def _levels(A):
    """Whether each row of A sums to 0, up to the rounding of a sum of its entries."""
    if not has_values(A) or not A.shape[-1]:
        return False
    rows = numbers_of(A)
    rounding = rows.shape[-1] * np.finfo(rows.dtype).eps
    # one row after another: the first one nearly always settles it
    flat = (row.tolist() for row in rows.reshape(-1, rows.shape[-1]))
    return all(abs(sum(row)) <= rounding * sum(map(abs, row)) for row in flat)
