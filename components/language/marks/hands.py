"""Hands: classes that say what a click on a mark's points, or dragging one of them, does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from components.language.cloud import Array, Cloud
from components.language.refusal import refuse
from components.language.scope import Scope

# a scene of this site with its state; no other address is allowed
SITE_LINK = re.compile(r"[a-z][a-z0-9]*(\?[^\s#?]*)?")


@dataclass(frozen=True)
class Follow:
    """A click on a point makes it the followed (selected) point."""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        """Accept every cloud: there is nothing to validate."""


@dataclass(frozen=True)
class Choose:
    """A click on a point sets the scene's choice named `choice` to this point's entry in `numbers`."""

    choice: str
    numbers: Array

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.length("numbers to choose", self.numbers, len(cloud.points))


@dataclass(frozen=True)
class Drag:
    """Dragging the cloud's first point sets three parameters to its coordinates, in a 2D view only two.

    x, y, z: the names of these parameters; in a 2D view z is "". In a 3D view the point moves in the plane
    that faces the camera.
    """

    x: str
    y: str
    z: str = ""

    def check(self, cloud: Cloud, scope: Scope) -> None:
        names = [name for name in (self.x, self.y, self.z) if name]
        if len(names) != scope.dims:
            scope.refuse(
                f"a drag sets {len(names)} parameters in a view of {scope.dims} dimensions",
                "name one parameter for each coordinate of the view",
            )
        for name in names:
            scope.parameter(name)


@dataclass(frozen=True)
class Turn:
    """Dragging the cloud's first point, in a 2D view, sets the parameter `angle` to the point's direction.

    The value is the point's angle around the origin, in degrees.
    """

    angle: str

    def check(self, cloud: Cloud, scope: Scope) -> None:
        if scope.dims != 2:
            scope.refuse("points are turned in 2D views only", "put the mark into a view with dims=2")
        scope.parameter(self.angle)


@dataclass(frozen=True)
class Open:
    """A click on a point follows (selects) it, and opens the scene that `links` gives for it.

    links: for each point of the cloud, a scene of this site with its state, such as "shear?s=2"; "" to open
    nothing.
    """

    links: Sequence[str]

    def check(self, cloud: Cloud, scope: Scope) -> None:
        scope.length("links to open", self.links, len(cloud.points))
        for link in self.links:
            if link and not SITE_LINK.fullmatch(link):
                wrong = f"{link!r} is not a scene with its state"
                scope.refuse(wrong, 'take a slug and a query, as "shear?s=2", or ""')


@dataclass(frozen=True)
class Carry:
    """Dragging a point of the cloud, in a 2D view, sets two parameters to the new x and y of this point.

    Each point has two parameters of its own. A click on a point follows (selects) it. names: for each point,
    the names of its two parameters.
    """

    names: Sequence[Sequence[str]]

    def check(self, cloud: Cloud, scope: Scope) -> None:
        names = np.array(self.names, dtype=object)
        scope.length("names of parameters", names, len(cloud.points))
        if names.ndim != 2 or names.shape[1] != 2 or scope.dims != 2:
            scope.refuse(
                "points are carried in 2D views, each by two parameters",
                "give a pair of parameters for each point",
            )
        for name in names.reshape(-1):
            scope.parameter(name)


@dataclass(frozen=True)
class Relocate:
    """Dragging a point of a unit circle or sphere changes the point's path from the clock's time on.

    A click on a point follows (selects) it. A drag is stored in parameters: the point's index, the time, and
    the point's new direction as a unit vector (see the step `Put`). A slot is a list of the names of these
    parameters, in this order. The offsets of the mark's rows are the centre of the circle or sphere.

    A second drag of the same point at the same time reuses the slot of the first. Any other drag takes a free
    slot, whose index is negative. If no slot is free, it overwrites the one whose last use is longest ago.
    """

    slots: Sequence[Sequence[str]]

    def check(self, cloud: Cloud, scope: Scope) -> None:
        if scope.clock is None:
            refuse(scope.where, "points are put somewhere at a time, but the recipe has no clock", "set one")
        if not self.slots or any(len(names) != 2 + scope.dims for names in self.slots):
            wrong = "its slots do not have the names of a number, a time, and each coordinate"
            scope.refuse(wrong, f"give {2 + scope.dims} names for each")
        for name in chain.from_iterable(self.slots):
            scope.parameter(name)


@dataclass(frozen=True)
class Replay:
    """A click on a point plays the clock (see `Recipe.clock`) through values that belong to this point.

    Each field has an entry for each point of the cloud:

    spans     (N, 2) the first and last value of the clock
    follow    (N,) the index of the point to follow (select), or −1 to keep the current one
    progress  (N,) the position between stages to show, or −1 to keep the current one
    """

    spans: Array
    follow: Array
    progress: Array

    def check(self, cloud: Cloud, scope: Scope) -> None:
        if scope.clock is None:
            refuse(
                scope.where,
                "it plays a clock, but the recipe has none",
                "set the recipe's clock to a parameter",
            )
        points, (first, end), last = len(cloud.points), scope.clock, scope.stages - 1
        for name, values in vars(self).items():
            scope.length(f"{name} to play", values, points)
        if self.spans.shape != (points, 2) or not (self.spans[:, 0] <= self.spans[:, 1]).all():
            scope.refuse("its spans are not pairs in order", "take a beginning and an end for each point")
        if points and not (first <= self.spans.min() and self.spans.max() <= end):
            scope.refuse("its spans leave the range of the clock", f"take values from {first} to {end}")
        if points and not (self.progress.min() >= -1 and self.progress.max() <= last):
            scope.refuse(f"there is no stage {self.progress.max():g}", f"take 0 to {last}, or -1")


Hand = Follow | Choose | Open | Drag | Turn | Carry | Relocate | Replay
