"""Pipelines: the steps that are applied one after another to the points of a cloud (a set of points).

Simple steps are in `steps`; the steps here contain pipelines. The drawing engine in the browser mirrors both
files, and `entries` (how steps depend on parameters) and `path` (how points move between stages).
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from jaxtyping import Float

from geometry.arrays import (
    Array,
    Numbers,
    increasing,
    members,
    namespace,
    shown,
    single,
    whole,
    widened_and_cast_back,
)
from geometry.dual import Dual, concatenated, parts
from geometry.entries import Entries, Of, Params, Track, check_given, single_entry
from geometry.path import between
from geometry.put import Put, turned
from geometry.steps import Affine, Attention, Normalize, Placed, Pointwise, Product, Softmax

__all__ = [
    "Affine",
    "Attention",
    "Branches",
    "Derivative",
    "Entries",
    "Flow",
    "Normalize",
    "Of",
    "Orbit",
    "Pipeline",
    "Placed",
    "Pointwise",
    "Product",
    "Put",
    "Softmax",
    "Track",
]


JOINS = ("sum", "concat")


@dataclass(frozen=True)
class Branches:
    """Several pipelines in parallel: their results are added (`join="sum"`) or concatenated (`"concat"`).

    The empty pipeline is the identity: a residual connection is `Branches((Pipeline(()), block))`. Source:
    projection2025; symmetrize2025.

    Raises
    ------
    ValueError
        If there is no branch, the join is unknown, or results of different widths are to be added.

    Examples
    --------
    >>> import numpy as np
    >>> residual = Branches((Pipeline(()), Pipeline((Normalize(),))))
    >>> residual.apply(np.array([[3.0, 4.0]]), {})
    array([[3.6, 4.8]])
    """

    pipelines: Sequence["Pipeline"]
    join: str = "sum"

    def __post_init__(self):
        object.__setattr__(self, "pipelines", members(self.pipelines, Pipeline, "branches are pipelines"))
        if not self.pipelines:
            raise ValueError("branches need a pipeline at least: got none")
        if not isinstance(self.join, str) or self.join not in JOINS:
            raise ValueError(f"no join {shown(self.join)}: take one of {JOINS}")

    def width(self, d: int | None) -> int | None:
        widths = [branch.width(d) for branch in self.pipelines]
        if None in widths:
            return None
        if self.join == "concat":
            return sum(w or 0 for w in widths)
        return _common_width(widths)

    def apply(self, x: Float[Array, "*batch d"], params: Params) -> Float[Array, "*batch m"]:
        results = [branch.stages(x, params)[-1] for branch in self.pipelines]
        if self.join == "concat":
            return concatenated(results)
        _common_width([result.shape[-1] for result in results])
        return sum(results[1:], start=results[0])

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset().union(*(branch.parameters for branch in self.pipelines))

    @property
    def sources(self) -> tuple[Any, ...]:
        return tuple(source for branch in self.pipelines for source in branch.sources)


@dataclass(frozen=True)
class Pipeline:
    """Steps that are applied one after another.

    Raises
    ------
    ValueError
        If a step does not accept as many coordinates as the step before returns.

    Examples
    --------
    >>> import numpy as np
    >>> centre_and_normalise = Pipeline((Affine(np.eye(2) - 0.5), Normalize()))
    >>> [points.round(3) for points in centre_and_normalise.stages(np.array([[3.0, 1.0]]), {})]
    [array([[3., 1.]]), array([[ 1., -1.]]), array([[ 0.707, -0.707]])]
    """

    steps: Sequence["Step"]

    def __post_init__(self):
        what = "the steps of a pipeline are objects such as Affine or Normalize"
        object.__setattr__(self, "steps", members(self.steps, Step, what))
        self.width(None)

    def width(self, d: int | None) -> int | None:
        """The number of coordinates after the last step for points with d coordinates; None: unknown."""
        for step in self.steps:
            d = step.width(d)
        return d

    @property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters that `stages` needs."""
        return frozenset().union(*(step.parameters for step in self.steps))

    @property
    def sources(self) -> tuple[Any, ...]:
        """The other clouds (sets of points) that the steps use, such as the keys of attention (see `Of`)."""
        return tuple(source for step in self.steps for source in step.sources)

    def all_steps(self) -> Iterator["Step"]:
        """Yield all steps of this pipeline, and all steps of the pipelines inside its steps, at any depth."""
        for step in self.steps:
            yield step
            for pipeline in _inner(step):
                yield from pipeline.all_steps()

    @property
    def mixes(self) -> bool:
        """Whether the result for a point may depend on other points of the cloud.

        This is so if the pipeline contains, at any depth, an `Attention`, an `Orbit` or a `Flow`.
        """
        return any(isinstance(step, Mixing) for step in self.all_steps())

    def stages(self, x: Float[Array, "*batch d"], params: Params | None = None) -> list[Array]:
        """The points before the first step (x itself) and after each step: `len(steps) + 1` arrays.

        Raises ValueError if a parameter is missing, or a step does not accept the number of coordinates.
        """
        x, cast_back = widened_and_cast_back(x)
        stages = [x]
        for step in self.steps:
            stages.append(step.apply(stages[-1], params or {}))
        return [cast_back(stage) for stage in stages]


@dataclass(frozen=True)
class Derivative:
    """The derivative of a pipeline f along a direction (Jacobian–vector product): (x, v) ↦ (f(x), J_f(x)·v).

    The first half of a point's coordinates is a place x, the second half a direction v. The result has the
    same form, so several derivatives in a row follow the chain rule. They are computed in forward mode, by
    dual numbers. The points of other clouds (`Of`) count as constants.

    Raises
    ------
    ValueError
        If the number of coordinates is odd, or the pipeline contains a `Placed`, a `Derivative`, or a step in
        which points depend on one another.

    Examples
    --------
    >>> import numpy as np
    >>> Derivative(Pipeline((Pointwise("abs"),))).apply(np.array([[-2.0, 1.0]]), {})
    array([[ 2., -1.]])
    """

    pipeline: "Pipeline"

    def __post_init__(self):
        members([self.pipeline], Pipeline, "a derivative is of a Pipeline")
        for step in self.pipeline.all_steps():
            if isinstance(step, Placed | Derivative | Mixing):
                raise ValueError(f"no derivative of {type(step).__name__}: put that step before it")

    def width(self, d: int | None) -> int | None:
        if d is not None and d % 2:
            raise ValueError(
                f"a derivative takes a place and a direction of as many coordinates: got {d} in all"
            )
        m = self.pipeline.width(d and d // 2)
        return m and 2 * m

    def apply(self, x: Float[Array, "*batch 2d"], params: Params) -> Float[Array, "*batch 2m"]:
        x, cast_back = widened_and_cast_back(x)
        self.width(x.shape[-1])
        d = x.shape[-1] // 2
        image = self.pipeline.stages(Dual(x[..., :d], x[..., d:]), params)[-1]
        return cast_back(concatenated(parts(image)))

    @property
    def parameters(self) -> frozenset[str]:
        return self.pipeline.parameters

    @property
    def sources(self) -> tuple[Any, ...]:
        return self.pipeline.sources


@dataclass(frozen=True, eq=False)
class Orbit:
    """The states of an iteration x_k = f(x_{k−1}, u_k), such as an optimiser's path.

    f is the pipeline. Each state has `state` coordinates, and x_k is point k of the result. The first `state`
    coordinates of the given point 0 are the initial state x₀. Of each later given point k, the first `state`
    coordinates are ignored; the others are u_k, the input of round k, such as noise.

    After `count` rounds (a number, or `Entries` without axes) the state stays constant. If `count` is 2.3,
    the third round moves the state only 0.3 of the way.

    Raises
    ------
    ValueError
        If results of f do not have `state` coordinates, `state` is not a whole number ≥ 1, or `count` has
        axes.

    Examples
    --------
    >>> import numpy as np
    >>> Orbit(Pipeline([Affine(2 * np.eye(1))]), 1).apply(np.array([[3.0], [0.0], [0.0]]), {})
    array([[ 3.],
           [ 6.],
           [12.]])
    """

    pipeline: "Pipeline"
    state: int
    count: Entries | Numbers = inf

    def __post_init__(self):
        object.__setattr__(self, "count", single_entry(self.count, "count"))
        members([self.pipeline], Pipeline, "an iteration repeats a Pipeline")
        if whole(self.state, "the number of coordinates of a state") < 1:
            raise ValueError(f"the number of coordinates of a state is 1 or more: got {self.state}")

    def width(self, d: int | None) -> int:
        after = self.pipeline.width(d)
        if after not in (None, self.state):
            raise ValueError(f"an iteration of {self.state} coordinates gives {after}: it cannot go on")
        return self.state

    def apply(self, x: Float[Array, "*batch n d"], params: Params) -> Float[Array, "*batch n s"]:
        x, cast_back = widened_and_cast_back(x, axes=2)
        self.width(x.shape[-1])
        left, states = single(self.count.value(params), "count"), [x[..., :1, : self.state]]
        for k in range(1, x.shape[-2]):
            now = states[-1]
            if left > 0:
                after = self.pipeline.stages(concatenated([now, x[..., k : k + 1, self.state :]]), params)[-1]
                now = after if left >= 1 else now + left * (after - now)
            states.append(now)
            left -= 1
        return cast_back(namespace(x).concat(states, axis=-2))

    @property
    def parameters(self) -> frozenset[str]:
        return self.pipeline.parameters | self.count.parameters

    @property
    def sources(self) -> tuple[Any, ...]:
        return self.pipeline.sources


@dataclass(frozen=True, eq=False)
class Flow:
    """All points moved by a differential equation dx/dt = f(x), from the time `times[0]` to `until`.

    f is the pipeline `velocity`, which keeps the number of coordinates. The velocity of a point may depend on
    other points (`Attention`). Classical Runge–Kutta steps of fourth order lead from each of the increasing
    `times` to the next. Between two times points move in straight lines; after the last time they rest.
    until: a number or `Entries` without axes. puts: turns of single points, each at its own time, which is
    added to `times`. Source: geshkovski2023.

    Raises
    ------
    ValueError
        If the times do not increase or `until` has axes; when applied, if f changes the number of
        coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> grow = Flow(Pipeline([Affine(np.eye(1))]), np.linspace(0, 1, 11), 1.0)
    >>> grow.apply(np.array([[1.0], [2.0]]), {}).round(4)
    array([[2.7183],
           [5.4366]])
    """

    velocity: "Pipeline"
    times: Numbers
    until: Entries | Numbers = inf
    puts: Sequence[Put] = ()

    def __post_init__(self):
        object.__setattr__(self, "until", single_entry(self.until, "until"))
        members([self.velocity], Pipeline, "the velocity of a flow is a Pipeline")
        object.__setattr__(self, "puts", members(self.puts, Put, "the puts of a flow are of the class Put"))
        object.__setattr__(self, "times", increasing(self.times, "the times of a flow"))

    def width(self, d: int | None) -> int | None:
        after = self.velocity.width(d)
        if None not in (d, after) and d != after:
            raise ValueError(f"a flow of {d} coordinates has velocities of {after}: they cannot be added")
        return d or after

    def apply(self, x: Float[Array, "*batch n d"], params: Params) -> Float[Array, "*batch n d"]:
        x, cast_back = widened_and_cast_back(x, axes=2)
        self.width(x.shape[-1])
        until = single(self.until.value(params), "until")
        nodes = self._nodes(x.shape[-2], params)
        times = [time for time, _, _ in nodes]
        after = bisect_right(times, until)
        states = self._states(x, nodes, params, count=after + 1)
        if after in (0, len(nodes)):
            return cast_back(states[max(after - 1, 0)])
        start, end = times[after - 1 : after + 1]
        return cast_back(between(states[after - 1], states[after], (until - start) / (end - start)))

    def _nodes(self, n, params):
        """The events of a flow, ordered by time, as triples (time, point, place).

        There are two kinds of events. The first event of the kind (time, None, None) is the start; at each
        later one a Runge–Kutta step ends. At (time, point, place) a `Put` turns the point to the direction of
        `place`. An event of the first kind with the same time comes before it. A turn before the flow's first
        time takes place at the first time. Turns after the flow's last time, and turns of points that do not
        exist, are left out. n: the number of points.
        """
        first, last = self.times[[0, -1]].tolist()
        puts = [(max(time, first), point, place) for time, point, place in (p.now(params) for p in self.puts)]
        puts = [each for each in puts if 0 <= each[1] < n and each[0] <= last]
        ends = set(self.times.tolist()) | {time for time, _, _ in puts}
        # the sort is stable: events at the same time keep their order
        return sorted([*((time, None, None) for time in ends), *puts], key=lambda node: node[0])

    def _step(self, x, h, params):
        def f(at):
            return self.velocity.stages(at, params)[-1]

        a = f(x)
        b = f(x + h / 2 * a)
        c = f(x + h / 2 * b)
        return x + h / 6 * (a + 2 * b + 2 * c + f(x + h * c))

    def _states(self, x, nodes, params, count):
        """At least the first `count` states: x at the first of the `nodes`, then the state at each later one.

        For NumPy arrays the states are kept: another call with the same x, nodes and parameters computes only
        the missing ones. A kept list is never changed, because several threads may use it.
        """
        key = None
        if type(x) is np.ndarray:
            check_given(self.velocity.parameters, params)
            moving = (params[name] for name in sorted(self.velocity.parameters))
            key = (x.tobytes(), x.shape, tuple(nodes), *moving)
        states = [*self._known.get(key, [x])]
        for (before, *_), (time, point, place) in pairwise(nodes[len(states) - 1 : count]):
            if point is None:
                states.append(self._step(states[-1], time - before, params))
            else:
                states.append(turned(states[-1], point, place))
        if key:
            self._known.clear()
            self._known[key] = states
        return states

    @cached_property
    def _known(self) -> dict[Any, list[Array]]:
        return {}

    @property
    def parameters(self) -> frozenset[str]:
        return self.velocity.parameters.union(self.until.parameters, *(put.parameters for put in self.puts))

    @property
    def sources(self) -> tuple[Any, ...]:
        return self.velocity.sources


def _common_width(widths):
    """The common width of branches whose results are added. Raises ValueError if their widths differ."""
    if len(set(widths)) > 1:
        raise ValueError(f"branches of widths {widths} cannot be added: give them one width")
    return widths[0]


Mixing = Attention | Orbit | Flow  # in these steps a point depends on other points
Step = Affine | Normalize | Pointwise | Product | Softmax | Placed | Branches | Derivative | Mixing


def _inner(step: Step) -> Sequence[Pipeline]:
    """The pipelines that a step contains; () for a simple step."""
    match step:
        case Branches():
            return step.pipelines
        case Derivative() | Orbit():
            return (step.pipeline,)
        case Flow():
            return (step.velocity,)
    return ()
