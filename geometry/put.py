"""Changes of single points during a `Flow`: `Put`."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite

from geometry.arrays import Array, Numbers, like, namespace, numbers_of, single
from geometry.entries import Entries, Params, single_entry


@dataclass(frozen=True, eq=False)
class Put:
    """A change during a `Flow`: at a given time one point is turned to another direction, at the same length.

    point   the number of the point, rounded; if there is no such point, nothing changes
    time    when the point is turned. A time before the first of the flow's times counts as the first. If the
            time is after the last of them, nothing changes
    place   any vector in the new direction; if it is 0, nothing changes

    All three are numbers, arrays or `Entries`; point and time have no axes.

    Raises
    ------
    ValueError
        If point or time has axes, place is not a vector, or point is infinite or NaN.

    Examples
    --------
    Nothing moves, but at time 0.5 the first point is turned upwards.

    >>> import numpy as np
    >>> from geometry import Affine, Flow, Pipeline
    >>> still = Pipeline([Affine(np.zeros((2, 2)))])
    >>> turned = Flow(still, np.linspace(0, 1, 3), 1.0, [Put(0, 0.5, [0.0, 1.0])])
    >>> turned.apply(np.array([[2.0, 0.0], [1.0, 0.0]]), {}).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    point: Entries | Numbers
    time: Entries | Numbers
    place: Entries | Numbers

    def __post_init__(self):
        for name in ("point", "time"):
            object.__setattr__(self, name, single_entry(getattr(self, name), name))
        object.__setattr__(self, "place", Entries.of(self.place))
        if len(self.place.shape) != 1:
            raise ValueError(f"place is a vector: got shape {self.place.shape}")
        if not self.point.parameters:
            _index(self.point.base)  # a check: its result is not needed

    def now(self, params: Params) -> tuple[float, int, tuple[float, ...]]:
        """The values of time, point and place at these parameters.

        Raises ValueError if time, point or a coordinate of place is not a single number, or if the point is
        not finite.
        """
        place = numbers_of(self.place.value(params))
        numbers = tuple(single(each, "a coordinate of place") for each in place)
        return single(self.time.value(params), "time"), _index(self.point.value(params)), numbers

    @property
    def parameters(self) -> frozenset[str]:
        return self.point.parameters | self.time.parameters | self.place.parameters


def _index(point: Array) -> int:
    value = single(point, "point")
    if not isfinite(value):
        raise ValueError(f"point is the number of a point, which is finite: got {value:g}")
    return round(value)


def turned(x: Array, point: int, place: Sequence[float]) -> Array:
    """The points x, with number `point` turned to the direction of `place`; x if `place` is 0.

    The turned point keeps its length.
    """
    far = hypot(*place)
    if not far:
        return x
    own = x[..., point : point + 1, :]
    length = (own**2).sum(-1)[..., None] ** 0.5
    there = length * like([each / far for each in place], x)
    return namespace(x).concat([x[..., :point, :], there, x[..., point + 1 :, :]], axis=-2)
