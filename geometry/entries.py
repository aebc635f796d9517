"""Arrays that depend on parameters: constant, affine, or interpolated between given arrays (`Track`)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from geometry.arrays import Array, Numbers, increasing, like, members, namespace, real, shown, single

Params = Mapping[str, Any]  # values by parameter name: numbers, or arrays without axes


@dataclass(frozen=True, eq=False)
class Track:
    """A piecewise linear function of one parameter, whose values are arrays.

    At the T strictly increasing parameter values `at` (T,), it has the `values` (T, *shape). It represents,
    for example, the weights of a network during its training.

    Raises
    ------
    ValueError
        If `at` is empty or does not increase, or `values` has another length than `at`.

    Examples
    --------
    >>> import numpy as np
    >>> track = Track(np.array([0.0, 10.0]), np.array([[0.0, 0.0], [1.0, 2.0]]))
    >>> track.value(5.0, x=np.zeros(2))
    array([0.5, 1. ])
    """

    at: Numbers
    values: Numbers

    def __post_init__(self):
        _set(self, at=increasing(self.at, "the parameter values `at` of a track"), values=_real(self.values))
        if self.values.shape[:1] != self.at.shape:
            raise ValueError(
                f"a track needs one value for each of its {self.at.size} parameter values: "
                f"got values of shape {tuple(self.values.shape)}"
            )

    def value(self, t: Any, *, x: Array) -> Array:
        """The array at the parameter value t, in the library, dtype and device of x.

        Between two neighbouring numbers in `at`, the array is interpolated linearly. For t below `at[0]` it
        is `values[0]`; for t above `at[-1]` it is `values[-1]`.
        """
        after = int(np.searchsorted(self.at, single(t, "the parameter of a track"), side="right"))
        if after in (0, self.at.size):
            return like(self.values[max(after - 1, 0), ...], x)
        start, end = map(float, self.at[after - 1 : after + 1])
        f = like((t - start) / (end - start), x)
        return (1 - f) * like(self.values[after - 1, ...], x) + f * like(self.values[after, ...], x)


@dataclass(frozen=True, eq=False)
class Entries:
    """An array that depends on parameters: base + Σ params[name]·terms[name] + Σ tracks[name](params[name]).

    `base`, each of the terms, and the array that each `Track` returns have the same shape. Numbers and nested
    lists become float64; a tensor stays a tensor, with its gradient.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> Entries([1.0, 1.0], {"t": [0.0, 1.0]}).value({"t": 3.0})
    array([1., 4.])
    """

    base: Numbers
    terms: Mapping[str, Numbers] = field(default_factory=dict)
    tracks: Mapping[str, Track] = field(default_factory=dict)

    def __post_init__(self):
        for name, parts in {"terms": self.terms, "tracks": self.tracks}.items():
            if not isinstance(parts, Mapping):
                raise ValueError(f"{name} are a dict by name of a parameter: got {shown(parts)}")
        members(self.tracks.values(), Track, "tracks are of the class Track")
        terms = {name: _real(term) for name, term in self.terms.items()}
        _set(self, base=_real(self.base), terms=terms, tracks=dict(self.tracks))
        shapes = {name: term.shape for name, term in self.terms.items()}
        shapes |= {name: track.values.shape[1:] for name, track in self.tracks.items()}
        for name, shape in shapes.items():
            if tuple(shape) != self.shape:
                raise ValueError(
                    f"all parts of one array have its shape: the base has {self.shape}, "
                    f"the part of {name!r} has {tuple(shape)}; give the base that shape"
                )

    @classmethod
    def of(cls, value: Any) -> "Entries":
        """`value` itself if it is an instance of Entries; otherwise constant Entries with this value."""
        return value if isinstance(value, cls) else cls(value)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.base.shape)

    @property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters on which the array depends."""
        return frozenset(self.terms) | frozenset(self.tracks)

    def value(self, params: Params | None = None, *, x: Array | None = None) -> Array:
        """The array at these parameters, in the library, dtype and device of x (by default, of `base`).

        Parameters in `params` on which the array does not depend are ignored. Raises ValueError if `params`
        lacks a parameter on which the array depends.
        """
        params, x = _mapping(params), self.base if x is None else x
        if not (self.terms or self.tracks):
            return like(self.base, x)
        check_given((*self.terms, *self.tracks), params)
        value = like(self.base, x)
        for name, term in self.terms.items():
            value = value + like(params[name], x) * like(term, x)
        for name, track in self.tracks.items():
            value = value + track.value(params[name], x=x)
        return value


@dataclass(frozen=True, eq=False)
class Of:
    """A matrix made of the points of another cloud (a set of points): one row for each point.

    If `transposed`, it has one column for each point. `Affine(Of(keys))` computes the scores ⟨x, key⟩;
    `Affine(Of(values, transposed=True))` computes the sum of the values with weights x.

    source   the other cloud itself, not its name, so that references cannot be circular. It needs `name`,
             `points`, `stages(params)`, `widths` and `parameters`, as `components.language.cloud.Cloud` has
    stage    the stage of the source at which its points are taken; None is the last
    """

    source: Any
    stage: int | None = None
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        shape = (self.source.points.shape[0], self.source.widths[-1 if self.stage is None else self.stage])
        return shape[::-1] if self.transposed else shape

    @property
    def parameters(self) -> frozenset[str]:
        return self.source.parameters

    def value(self, params: Params | None = None, *, x: Array | None = None) -> Array:
        """The points of the source at `stage`, as a matrix, for these parameters.

        It has the library, dtype and device of x, or of the points themselves if x is None.
        """
        points = self.source.stages(params or {})[-1 if self.stage is None else self.stage]
        points = points if x is None else like(points, x)
        return points.mT if self.transposed else points


def single_entry(value: Any, name: str) -> Entries:
    """`value` as Entries. Raises ValueError if it has axes; `name` is what the error message calls it."""
    entries = Entries.of(value)
    if entries.shape:
        raise ValueError(f"{name} is one number: got shape {entries.shape}")
    return entries


def check_given(names: Iterable[str], params: Params) -> None:
    """Raise ValueError if one of the parameters `names` has no value in `params`."""
    if missing := sorted(name for name in names if name not in params):
        raise ValueError(f"no value for the parameters {missing}: got only {sorted(params)}")


def _mapping(params: Params | None) -> Params:
    """The parameters by name; {} for None. Raises ValueError if they are no mapping."""
    if not isinstance(params, Mapping | None):
        raise ValueError(f"params are a dict by name: got {shown(params)}")
    return params or {}


def _real(value):
    """`value` itself if it is an array of a real floating dtype; otherwise a NumPy array in float64."""
    if (
        is_array_api_obj(value)
        and not isinstance(value, np.generic)
        and namespace(value).isdtype(value.dtype, "real floating")
    ):
        return value
    return np.asarray(real(np.asarray(value)), dtype=np.float64)


def _set(frozen, **fields):
    for name, value in fields.items():
        object.__setattr__(frozen, name, value)
