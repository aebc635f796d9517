"""Where a view's axes end: what it shows decides that, in one place for all scenes.

A view without `ranges` is framed when its recipe is made. What is seen at first is whole, and in the
middle. There is more room where the other stages and the ends of the sliders need it, as long as the sphere
or circle (without one: what is seen at first) keeps the share HERO of the smaller side of the panel. A stage
of a 3D view that shows more is seen from farther away, it alone: the axes are wider there (`View.room`).
Guides decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from components.language.cloud import Cloud, Moment
from components.language.marks import (
    Counted,
    Disc,
    Line,
    Mark,
    Mesh,
    Points,
    Rim,
    Sheet,
    Support,
    SupportDisc,
)
from geometry.perspective import perspective, sides

if TYPE_CHECKING:
    from components.language.recipe import Recipe, View

Array = np.ndarray

ROOM = 2.25  # a 3D box is so many times larger than the picture: what moves out of that is not cut off there
FAR = 3.3  # how far the eye stands from the middle of the picture, in halves of it
SIGHT = np.tan(np.radians(22.5))  # what Plotly's perspective sees at distance 1, each way
FULL = 0.94  # of the smaller side of the panel: what is seen at first, at most
HERO = 0.66  # of it: a sphere or circle, at least, where the first frame lets it be so large
LETTERS, EDGE = 0.89, 0.95  # of half of it: as far as names and ends of guides reach
HEROES = ("sphere", "meeting")  # roles
ROUNDS = 12  # of approximation; each leaves less than a third of the error
FEW = 200  # directions: what is farthest in one of these stands for all points
ONE = 1e-12  # of their distance from 0: points that are so near one another are one
Box = tuple[Array, float]  # its middle, and half its side
MANY, GENTLY = 40, 1.4  # steps in which a guide is shortened, and how much in one at most
LARGEST = 50.0  # times the first frame: farther, nothing is followed


def framed(recipe: Recipe) -> tuple[tuple[Cloud, ...], tuple[View, ...]]:
    """The clouds and views of a recipe: views without ranges get them, and guides that leave these are
    shortened. 3D views are on one scale, each in its middle."""
    loose = [view for view in recipe.views if not view.ranges]
    boxes: dict[str, Box] = {}
    for dims, fit in ((2, _in_plane), (3, _in_space)):
        of = [view for view in loose if view.dims == dims]
        for views in [of] if dims == 3 and of else [[view] for view in of]:
            found = fit([_Seen(recipe, view) for view in views])
            boxes |= {view.name: box for view, box in zip(views, found, strict=True)}
    views = [_placed(view, *boxes[view.name]) if view.name in boxes else view for view in recipe.views]
    room = _room(recipe, [view for view in views if view.dims == 3 and not view.room])
    views = [replace(view, room=room) if view.dims == 3 and not view.room else view for view in views]
    clouds = {cloud.name: cloud for cloud in recipe.clouds}
    for k, view in enumerate(views):
        if view.name in boxes:
            views[k] = _shortened(recipe, view, clouds)
    return tuple(clouds.values()), tuple(views)


def eye(camera: Sequence[float]) -> tuple[float, ...]:
    """From a direction, in units of the side of a box: so far that its picture is as large as framed."""
    away = np.asarray(camera[:3], float)
    return tuple((away * FAR / (2 * ROOM) / np.linalg.norm(away)).tolist())


def _placed(view: View, center: Array, reach: float) -> View:
    half = reach * (ROOM if view.dims == 3 else 1)
    ranges = tuple((float(c - half), float(c + half)) for c in center)
    return replace(view, ranges=ranges, camera=eye(view.camera) if view.dims == 3 else view.camera)


def _room(recipe: Recipe, views: Sequence[View]) -> tuple[float, ...]:
    """For each stage, how much wider the axes of 3D views have to be for all of it to be seen; none if no
    stage needs more than there is."""
    room = np.ones(len(recipe.stages))
    for view in views:
        seen = _Seen(recipe, view)
        for k in range(len(room)):
            points = seen.at(float(k))

            def part(wide: float, view: View = view, points: Array = points) -> float:
                flat, _ = on_paper(replace(view, room=(wide,)).at(0), points, view.camera)
                return float(np.abs(flat).max(initial=0))

            if part(room[k]) > EDGE:
                room[k] = _grown(lambda wide: part(wide) / FULL, room[k])
    return tuple(room.round(3).tolist()) if room.max() > 1 else ()


def _shortened(recipe: Recipe, view: View, clouds: dict[str, Cloud]) -> View:
    """The view with shorter guides where they would leave it; the clouds that these are of, too."""
    shared = {mark.cloud for v in recipe.views for mark in v.layers if not mark.guide}
    layers = list(view.layers)
    for k, mark in enumerate(layers):
        if not mark.guide or not (isinstance(mark, Disc | Rim) or mark.cloud not in shared):
            continue
        limit = LETTERS if mark.draws == "labels" else EDGE
        for progress in range(len(recipe.stages)):
            if mark.opacity_at(progress) <= 0:
                continue
            for _ in range(MANY):
                at = Moment(clouds, recipe.defaults, float(progress), recipe.follow)
                flat, _ = on_paper(view, mark.points(at), view.camera)
                out = min(float(np.nanmax(np.abs(flat), initial=0)) / limit, GENTLY)
                if out <= 1:
                    break
                if isinstance(mark, Disc | Rim):
                    layers[k] = mark = replace(mark, radius=mark.radius / out)
                else:
                    clouds[mark.cloud] = replace(clouds[mark.cloud], points=clouds[mark.cloud].points / out)
    return replace(view, layers=tuple(layers))


def on_paper(view: View, points: Array, camera: Sequence[float]) -> tuple[Array, Array]:
    """Where points of a view are on a square, whose sides are at −1 and 1; the second number is upwards. And
    their distance from the eye (0 for a 2D view)."""
    low, high = np.array(view.ranges, float).T
    scaled = (points - low) / (high - low) - 0.5  # the axes, or the cube, 1 wide
    if view.dims == 2:
        return 2 * scaled, np.zeros(len(points))
    flat, depth = perspective(scaled, np.array(camera[:3]), np.array([*camera[3:6]] or [0.0] * 3))
    return flat / SIGHT, depth


class _Seen:
    """What a view shows, as few points: at first, at any time, and of a sphere or circle."""

    def __init__(self, recipe: Recipe, view: View) -> None:
        self.recipe, self.dims, self.marks = recipe, view.dims, view.layers
        self.away = np.asarray(view.camera[:3], float) / np.linalg.norm(view.camera[:3])

    @cached_property
    def first(self) -> Array:
        found = self._points(self.recipe.defaults, self.recipe.progress, whole=True)
        return found if len(found) else np.vstack([-np.ones(self.dims), np.ones(self.dims)])

    @cached_property
    def heroes(self) -> list[Array]:
        return [few for mark in self.marks if len(few := self._hero(mark))] or [self.first]

    def at(self, progress: float) -> Array:
        """At a stage, with the sliders as they are, and with the names of points."""
        return self._points(self.recipe.defaults, progress, names=True)

    def _moments(self) -> list[float]:
        return [self.recipe.progress, *map(float, range(len(self.recipe.stages)))]

    def later(self) -> Iterator[Array]:
        """At the other stages; then at the ends of the sliders, one moved at a time."""
        known = self.recipe.defaults
        for progress in self._moments():
            yield self._points(known, progress)
        for p in self.recipe.parameters:
            for end in (p.min, p.max) if not p.quiet else ():
                for progress in {0.0, self.recipe.progress, len(self.recipe.stages) - 1.0}:
                    yield self._points(known | {p.name: end}, progress)

    def _points(
        self, params: dict[str, float], progress: float, *, whole: bool = False, names: bool = False
    ) -> Array:
        """whole: every mark, else those that hold the others; names: labels too."""
        at = self.recipe.moment(params, progress, followed=self.recipe.follow)
        found = []
        for mark in self.marks:
            if mark.guide or mark.flat == 0 or mark.opacity_at(progress) <= 0:
                continue
            if mark.draws == "labels":
                found += [mark.points(at)] if names else []
                continue
            if isinstance(mark, Points) and isinstance(mark.only, Counted):
                found.append(at.shown(mark.cloud, mark.rows))
            elif isinstance(mark, Points | Line | Mesh | Sheet) or (
                whole and not isinstance(mark, Support | SupportDisc)
            ):
                found.append(mark.points(at))
        return _few(found, self.dims)

    def _hero(self, mark: Mark) -> Array:
        """A sphere or circle at the first of its moments; no points for any other mark."""
        if mark.guide or mark.role not in HEROES or not isinstance(mark, Line | Mesh):
            return np.empty((0, self.dims))
        moments = (progress for progress in self._moments() if mark.opacity_at(progress) > 0)
        at = self.recipe.moment(self.recipe.defaults, next(moments, 0.0), followed=self.recipe.follow)
        return _few([mark.points(at)], self.dims)


def _few(found: Sequence[Array], dims: int) -> Array:
    """Those points that are farthest in some direction."""
    points = np.vstack([np.empty((0, dims)), *found])
    points = points[np.isfinite(points).all(-1)]
    if len(points) <= FEW:
        return points
    return points[np.unique(np.argmax(_directions(dims) @ points.T, axis=1))]


@cache
def _directions(dims: int) -> Array:
    """FEW unit vectors, evenly."""
    k = np.arange(FEW) + 0.5
    turn = np.pi * (1 + 5**0.5) * k if dims == 3 else 2 * np.pi * k / FEW
    height = 1 - 2 * k / FEW if dims == 3 else 0 * k
    flat = np.sqrt(1 - height**2)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.column_stack([flat, height]) if dims == 3 else flat


def _in_plane(views: Sequence[_Seen]) -> list[Box]:
    (seen,) = views
    low, high = seen.first.min(0), seen.first.max(0)
    center = (low + high) / 2
    most = min(float(np.ptp(hero, axis=0).max()) for hero in seen.heroes) / 2 / HERO
    reach = float((high - low).max()) / 2 / FULL or 1.0
    for points in seen.later():
        if reach >= most:
            break
        reach = max(reach, min(most, float(np.abs(points - center).max(initial=0)) / FULL))
    return [(center, reach)]


def _in_space(views: Sequence[_Seen]) -> list[Box]:
    """For one eye, in a direction from the middles."""
    away = views[0].away
    across = sides(-away)

    def flat(points: Array, center: Array, reach: float) -> Array:
        """On paper whose sides are at −1 and 1."""
        return perspective((points - center) / reach, FAR * away, np.zeros(3))[0] / SIGHT

    def middle(points: Array, reach: float) -> Array:
        ends = points @ np.vstack([across, away]).T
        center = (ends.min(0) + ends.max(0)) / 2 @ np.vstack([across, away])
        for _ in range(ROUNDS):
            here = flat(points, center, reach)
            center = center + (here.min(0) + here.max(0)) / 2 @ across * SIGHT * FAR * reach
        return center

    def wide(points: Array, share: float) -> float:
        spread = float(np.ptp(points, axis=0).max())

        def part(reach: float) -> float:
            return float(np.ptp(flat(points, middle(points, reach), reach), axis=0).max()) / 2 / share

        return _grown(part, spread) if spread > ONE * float(np.abs(points).max()) else 1.0

    def needed(points: Array, center: Array, start: float) -> float:
        return _grown(lambda reach: float(np.abs(flat(points, center, reach)).max(initial=0)) / FULL, start)

    reach = max(wide(seen.first, FULL) for seen in views)
    most = min(wide(hero, HERO) for seen in views for hero in seen.heroes)
    for seen in views:
        center, met = middle(seen.first, reach), []
        for points in seen.later():
            if reach >= most:
                break
            reach = max(reach, min(most, needed(points, center, reach)))
            met.append(points)
        center = middle(seen.first, reach)  # a little elsewhere
        reach = max(reach, min(most, max((needed(each, center, reach) for each in met), default=0)))
    return [(middle(seen.first, reach), reach) for seen in views]


def _grown(share: Callable[[float], float], start: float) -> float:
    """The size at which a share, which is less the larger that is, becomes 1."""
    size = start
    for _ in range(ROUNDS):
        size = min(size * min(share(size), 2.0), LARGEST * start)
    return size
