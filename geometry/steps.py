"""Single steps of a pipeline: affine maps, norms, functions, products, softmax, attention, placed points.

A step has `apply(x, params)`, which maps points; `parameters`, the names that it needs in `params`;
`sources`, the other clouds that it uses (see `Of`); and `width(d)`, the number of coordinates of its results
for points of d coordinates, where None stands for an unknown number. `width` raises ValueError if the step
does not accept d coordinates.
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
    constant,
    has_values,
    index_groups,
    like,
    members,
    namespace,
    number,
    numbers_of,
    requires_gradient,
    shown,
    single,
    whole,
    widened_and_cast_back,
)
from geometry.dual import concatenated
from geometry.entries import Entries, Of, Params, check_given
from geometry.softmax import softmax
from geometry.sphere import Groups, check_convention, check_groups, on_spheres, take


@dataclass(frozen=True, eq=False)
class Affine:
    """The affine map x ↦ A·x + b.

    A has the shape (m, d), b (m,) or None. With leading axes, such as one for many networks, A (*batch, m, d)
    and b (*batch, m) map points (N, d) or (*batch, N, d) to (*batch, N, m). If all rows of A sum to 0 up to
    rounding, as for centring, a constant vector is mapped to b exactly.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> Affine(np.array([[1.0, 1.0], [0.0, 2.0]])).apply(np.array([[1.0, 3.0]]), {})
    array([[4., 6.]])
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
        x, cast_back = widened_and_cast_back(x)
        self.width(x.shape[-1])
        A = self.A.value(params, x=x)
        b = None if self.b is None else self.b.value(params, x=x)
        rows_sum_to_zero = self._rows_sum_to_zero if self._has_fixed_matrix else _rows_sum_to_zero(A)
        if rows_sum_to_zero:  # subtract one coordinate, so that rounding gives a constant vector no direction
            first = x[..., :1]
            y = _product(A, x - first)
            if requires_gradient(A):  # add exactly 0, which has the gradient that the subtraction removed
                y = y + _product(A - constant(A), first + 0 * x)
        else:
            y = _product(A, x)
        return cast_back(y if b is None else y + (b if len(A.shape) == 2 else b[..., None, :]))

    @cached_property
    def _has_fixed_matrix(self) -> bool:
        return isinstance(self.A, Entries) and not self.A.parameters

    @cached_property
    def _rows_sum_to_zero(self) -> bool:
        return _rows_sum_to_zero(self.A.value({}))

    @property
    def parameters(self) -> frozenset[str]:
        return self.A.parameters | (self.b.parameters if self.b else frozenset())

    @property
    def sources(self) -> tuple[Any, ...]:
        """The other clouds (sets of points) that form the matrix (see `Of`); () for a matrix of numbers."""
        return (self.A.source,) if isinstance(self.A, Of) else ()


@dataclass(frozen=True, eq=False)
class Normalize:
    """Normalisation to a sphere, as by `to_sphere`; `radius` and `eps` may depend on parameters.

    A constant ε must not be negative. Parameters may make ε negative, as long as the divisor in the formula
    of `to_sphere` stays real and positive.

    Raises
    ------
    ValueError
        If `radius` or `eps` has axes, a constant ε is negative, the convention is unknown, or groups overlap
        or are empty.

    Examples
    --------
    >>> import numpy as np
    >>> Normalize().apply(np.array([[3.0, 4.0]]), {})
    array([[0.6, 0.8]])
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
            base = self.eps.base
            number(base, base, "eps", least=0)  # a check: its result is not needed
        check_convention(self.convention)
        if self.groups is not None:
            object.__setattr__(self, "groups", index_groups(self.groups, "groups"))
            check_groups(self.groups)

    def width(self, d: int | None) -> int | None:
        check_groups(self.groups or (), d)
        return d

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch d"]:
        x, cast_back = widened_and_cast_back(x)
        plain = constant(x)
        radius = number(self.radius.value(params, x=plain), plain, "radius")
        eps = number(self.eps.value(params, x=plain), plain, "eps")
        return cast_back(on_spheres(x, radius, eps, self.convention, self.groups))

    @property
    def parameters(self) -> frozenset[str]:
        return self.radius.parameters | self.eps.parameters

    sources: ClassVar[tuple[Any, ...]] = ()


@dataclass(frozen=True)
class Pointwise:
    """A function applied to every coordinate, given by its name in `pointwise.FUNCTIONS`.

    Raises ValueError for another name.

    Examples
    --------
    >>> import numpy as np
    >>> Pointwise("relu").apply(np.array([[-1.0, 2.0]]), {})
    array([[0., 2.]])
    """

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
    """The product of the coordinates of each group: one number per group.

    For a group of one coordinate it is this coordinate. An `Affine` after it can add products. Together they
    compute dot products, squares, or a direction times a length.

    Raises
    ------
    ValueError
        If there are no groups, a group is empty, or a coordinate does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> Product(((0, 1), (2,))).apply(np.array([[2.0, 3.0, 5.0]]), {})
    array([[6., 5.]])
    """

    groups: Sequence[Sequence[int]]
    parameters: ClassVar[frozenset[str]] = frozenset()
    sources: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self):
        object.__setattr__(self, "groups", index_groups(self.groups, "the groups of a Product"))
        if not self.groups or not all(self.groups) or any(i < 0 for g in self.groups for i in g):
            raise ValueError(
                f"a Product needs groups of indices of coordinates, none negative: got {self.groups}"
            )

    def width(self, d: int | None) -> int:
        most = max(i for group in self.groups for i in group)
        if d is not None and most >= d:
            raise ValueError(
                f"a Product of coordinate {most} takes points of more than {most} coordinates: got {d}"
            )
        return len(self.groups)

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch m"]:
        x, cast_back = widened_and_cast_back(x)
        self.width(x.shape[-1])
        if len({len(group) for group in self.groups}) == 1:  # equal sizes: all groups at once
            return cast_back(reduce(mul, (take(x, each) for each in zip(*self.groups, strict=True))))
        products = [reduce(mul, (x[..., i : i + 1] for i in group)) for group in self.groups]
        return cast_back(concatenated(products))


@dataclass(frozen=True, eq=False)
class Softmax:
    """Softmax over the coordinates of each point; the temperature may depend on parameters.

    causal: point k (from 0) uses only its first k + 1 coordinates, and its other coordinates become 0.
    Source: brody2023.

    Raises
    ------
    ValueError
        If the temperature has axes, or is negative.

    Examples
    --------
    >>> import numpy as np
    >>> Softmax().apply(np.array([[0.0, np.log(3.0)]]), {}).round(3)
    array([[0.25, 0.75]])
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
        x, cast_back = widened_and_cast_back(x)
        return cast_back(softmax(x, temperature=self.temperature.value(params, x=x), causal=self.causal))

    @property
    def parameters(self) -> frozenset[str]:
        return self.temperature.parameters


@dataclass(frozen=True)
class Attention:
    """Self-attention among all points: (q, k, v) ↦ (Σⱼ wᵢⱼ vⱼ, wᵢᵢ), with wᵢ = softmax over j of ⟨qᵢ, kⱼ⟩.

    `keys` is the number of coordinates of a key. The first `keys` coordinates of a point are its query, the
    next `keys` its key, and the rest its value. The last coordinate of the result is the weight that the
    point gives itself. The scores are not divided by √keys. causal: point i attends only to the points up to
    i. Source: geshkovski2023.

    Raises
    ------
    ValueError
        If points have no coordinates beyond query and key.

    Examples
    --------
    >>> import numpy as np
    >>> Attention(1).apply(np.array([[0.0, 0.0, 2.0], [np.log(3.0), 1.0, 6.0]]), {})
    array([[4.  , 0.5 ],
           [5.  , 0.75]])
    """

    keys: int
    causal: bool = False
    parameters: ClassVar[frozenset[str]] = frozenset()
    sources: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self):
        if whole(self.keys, "the number of coordinates of a key") < 0:
            raise ValueError(f"the number of coordinates of a key is 0 or more: got {self.keys}")

    def width(self, d: int | None) -> int | None:
        if d is not None and d <= 2 * self.keys:
            raise ValueError(
                f"attention takes a query and a key of {self.keys} coordinates, and a value: got {d} in all"
            )
        return d and d - 2 * self.keys + 1

    def apply(self, x: Float[Array, "*batch n d"], params: Params) -> Float[Array, "*batch n m"]:
        x, cast_back = widened_and_cast_back(x, axes=2)
        self.width(x.shape[-1])
        c = self.keys
        weights = softmax(x[..., :c] @ x[..., c : 2 * c].mT, causal=self.causal)
        self_weights = namespace(x).linalg.diagonal(weights)[..., None]
        return cast_back(concatenated([weights @ x[..., 2 * c :], self_weights]))


@dataclass(frozen=True)
class Placed:
    """Replace point k, for each k, by the point whose coordinates are the parameters called `names[k]`.

    Raises
    ------
    ValueError
        If `names` is empty, or its lists are not equally long. `apply` raises it if there are not
        `len(names)` points, or a parameter has no value.

    Examples
    --------
    >>> import numpy as np
    >>> Placed([["a", "b"]]).apply(np.zeros((1, 2)), {"a": 3.0, "b": 4.0})
    array([[3., 4.]])
    """

    names: Sequence[Sequence[str]]
    sources: ClassVar[tuple[Any, ...]] = ()

    def __post_init__(self):
        given = members(
            self.names, Sequence, "the names of a Placed are lists of parameters, one for each point"
        )
        if (
            not given
            or len(set(map(len, given))) > 1
            or not all(isinstance(x, str) for each in given for x in each)
        ):
            raise ValueError(f"a Placed needs as many names of parameters for each point: got {shown(given)}")

    def width(self, d: int | None) -> int:
        return len(self.names[0])

    def apply(self, x: Float[Array, "*batch n d"], params: Params) -> Float[Array, "*batch n m"]:
        x, cast_back = widened_and_cast_back(x, axes=2)
        if x.shape[-2] != len(self.names):
            raise ValueError(f"{len(self.names)} points are placed: got {x.shape[-2]}")
        check_given(self.parameters, params)
        places = [[single(params[name], name) for name in point] for point in self.names]
        return cast_back(like(places, x))

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(name for coordinates in self.names for name in coordinates)


def _product(A, x):
    """The points A·x, (*batch, N, m)."""
    # with leading axes of A, points stay the fastest axis in memory, so later steps are three times as fast
    return x @ A.mT if len(A.shape) == 2 else (A @ x.mT).mT


def _rows_sum_to_zero(A):
    """Whether each row of A sums to 0, up to the rounding of a sum of its entries."""
    if not has_values(A) or not A.shape[-1]:
        return False
    rows = numbers_of(A)
    rounding = rows.shape[-1] * np.finfo(rows.dtype).eps
    # one row at a time, because the first row nearly always decides
    flat = (row.tolist() for row in rows.reshape(-1, rows.shape[-1]))
    return all(abs(sum(row)) <= rounding * sum(map(abs, row)) for row in flat)
