"""Framing: the ranges of a view's axes, computed from what the view shows, in one place for all scenes.

A view without `ranges` is framed when its recipe is finished (`components.language.finish`). What is seen at
first is whole, and in the middle. There is more room where the other stages and the ends of the sliders need
it, as long as the sphere or circle (without one: what is seen at first) keeps the share HERO of the smaller
side of the panel. A plane that is much wider than high gets axes as wide as the whole stage (`View.wide`). A
stage of a 3D view, or of a plane that is `reaching`, that shows more is seen from farther away, and one that
would be small from nearer, it alone: the axes are wider or narrower there, around the middle of what it shows
(`View.room`). So they are where a slider moves something out of a view that is `reaching` (`View.wider`).
Guides decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from components.language.cloud import Cloud, Moment, Params, Row
from components.language.marks import (
    Counted,
    Disc,
    Highest,
    Labels,
    Line,
    Mark,
    Mesh,
    Points,
    Rim,
    Sheet,
    Support,
    SupportDisc,
    Trail,
    indices,
)
from components.language.recipe import WIDE_ASPECT, Parameter, Recipe, View, Wider, identity_zoom
from geometry.entries import Entries
from geometry.perspective import NEAREST, perspective, sides

Array = np.ndarray
T = TypeVar("T")
PLAIN = (Points, Line, Mesh, Sheet, Trail, Labels)  # marks that show points of their cloud, and see no others

ROOM = 2.25  # a 3D box is so many times larger than the picture: what moves out of that is not cut off there
FAR = 3.3  # how far the eye stands from the middle of the picture, in halves of it
SIGHT = np.tan(np.radians(22.5))  # what Plotly's perspective sees at distance 1, each way
FULL = 0.94  # of the smaller side of the panel: what is seen at first, at most
HERO = 0.66  # of it: a sphere or circle, at least, where the first frame lets it be so large
EASY = 0.82  # of it: points that a slider has moved out, with what is around them
LETTERS, EDGE = 0.89, 0.95  # of half of it: as far as names and ends of guides reach
HEROES = ("sphere", "meeting")  # roles
ROUNDS = 12  # of approximation; each leaves less than a third of the error
FEW = 200  # directions: what is farthest in one of these stands for all points
EACH = np.arange(FEW)
AT_ONCE = 200  # points: so small a product of matrices is left to one thread, and to the nearest memory
ONE = 1e-9  # of their distance from 0: points that are so near one another are one
SMALL = 0.52  # of the picture: a stage that shows less is seen from nearer
SEEN = 0.1  # opacity: less is a hint
STAGE = 2.3  # as many times as wide as high: a panel that has the whole width
TALL = 0.8  # of the height of that: a sphere or circle
Box = tuple[Array, Array]  # its middle, and half of each side
MANY, GENTLY = 40, 1.4  # steps in which a guide is shortened, and how much in one at most


def framed(recipe: Recipe) -> tuple[tuple[Cloud, ...], tuple[View, ...]]:
    """The clouds and views of a recipe: views without ranges get them, and guides that leave these are
    shortened. 3D views are on one scale, each in its middle."""
    loose, shown = [view for view in recipe.views if not view.ranges], _Shown(recipe)
    boxes: dict[str, Box] = {}
    for dims, fit in ((2, _in_plane), (3, _in_space)):
        of = [view for view in loose if view.dims == dims]
        for views in [of] if dims == 3 and of else [[view] for view in of]:
            found = fit([_Seen(shown, view) for view in views])
            boxes |= {view.name: box for view, box in zip(views, found, strict=True)}
    views = [_placed(view, *boxes[view.name]) if view.name in boxes else view for view in recipe.views]
    spaces = [view for view in views if view.dims == 3 and not view.room]
    rooms: dict[str, tuple[tuple[float, ...], ...]] = {}
    for some in (spaces, *([view] for view in views if view.dims == 2 and view.reaching)):
        rooms |= zip((view.name for view in some), _rooms(shown, some, boxes), strict=True)
    views = [replace(view, room=rooms.get(view.name, view.room)) for view in views]
    views = [replace(view, wider=_wider(shown, view)) if view.reaching else view for view in views]
    clouds = {cloud.name: cloud for cloud in recipe.clouds}
    for k, view in enumerate(views):
        if view.name in boxes:
            views[k] = _shortened(recipe, view, clouds)
    return tuple(clouds.values()), tuple(views)


def eye(camera: Sequence[float]) -> tuple[float, ...]:
    """From a direction, in units of the side of a box: so far that its picture is as large as framed."""
    away = np.asarray(camera[:3], float)
    return tuple((away * FAR / (2 * ROOM) / np.linalg.norm(away)).tolist())


def _placed(view: View, center: Array, reach: Array) -> View:
    halves = reach * (ROOM if view.dims == 3 else 1)
    ranges = tuple((float(c - half), float(c + half)) for c, half in zip(center, halves, strict=True))
    return replace(view, ranges=ranges, camera=eye(view.camera) if view.dims == 3 else view.camera)


Moved = tuple[float, Array]  # how many times as wide the axes are, and how far their middle is moved


def _rooms(
    shown: _Shown, views: Sequence[View], framed: Collection[str]
) -> list[tuple[tuple[float, ...], ...]]:
    """For each view and each stage, how much wider the axes have to be for all of it to be seen, or narrower
    for it to be large, if they are framed, and how far their middle has to move; none if nothing has to.
    All are as wide."""
    stages = range(len(shown.recipe.stages))
    found = [
        [_moved(_Seen(shown, view), view, k, nearer=view.name in framed) for k in stages] for view in views
    ]
    if not any(own for each in found for own in each):
        return [()] * len(views)
    wide = [max((own[0] if own else 1.0) for own in at) for at in zip(*found, strict=True)]
    at_all = [
        (times, own[1] if own else np.zeros(views[0].dims))
        for each in found
        for times, own in zip(wide, each, strict=True)
    ]
    every = [tuple(round(float(x), 3) for x in (times, *by)) for times, by in at_all]
    return [tuple(every[len(stages) * v :][: len(stages)]) for v in range(len(views))]


def _moved(seen: _Seen, view: View, stage: int, *, nearer: bool) -> Moved | None:
    """Where the axes have to be at a stage, if not where they are."""
    points, heroes = seen.at(float(stage)), seen.heroes_at(float(stage))
    if not len(points):
        return None
    flat, _ = on_paper(view, points, view.camera)
    share, outside = float(np.ptp(flat, axis=0).max()) / 2, np.abs(flat).max() > EDGE
    if share <= ONE:  # one point
        return (1.0, points.mean(0) - np.mean(view.ranges, axis=1)) if outside else None
    if outside:
        return _aimed(view, points, FULL if len(heroes) else min(share, FULL), heroes)
    return _aimed(view, points, HERO, heroes) if nearer and share < SMALL else None


def _wider(shown: _Shown, view: View) -> tuple[Wider, ...]:
    """For each slider whose ends move points out of a view, how the axes follow there."""
    seen, recipe, found, usually = _Seen(shown, view), shown.recipe, [], identity_zoom(view.dims)
    usual = view.room or [usually] * len(recipe.stages)

    def out(params: Params, stage: int, row: Sequence[float]) -> tuple[float, ...]:
        held = seen.held(params, float(stage))
        return shown.once(lambda: _out(seen, view, held, row), "out", view.name, row, *map(id, held))

    for p in recipe.parameters:
        at = {value: recipe.defaults | {p.name: value} for value in (*ends(p), *view.between.get(p.name, ()))}
        room = {end: [out(params, *row) for row in enumerate(usual)] for end, params in at.items()}
        if any(row != usually for rows in room.values() for row in rows):
            room[p.value] = [usually] * len(usual)
            log = p.scale == "log" and p.min > 0
            found.append(Wider(p.name, log, *zip(*sorted(room.items()), strict=True)))
    return tuple(found)


def ends(p: Parameter) -> list[float]:
    """Of a slider, except where it stands; none without one."""
    return [end for end in (p.min, p.max) if end != p.value and not p.quiet]


def _out(seen: _Seen, view: View, held: Sequence[Array], usual: Sequence[float]) -> tuple[float, ...]:
    """How much wider than usual, and where, the axes hold the points that would leave them."""
    if not held:
        return identity_zoom(view.dims)
    (times, *by), points = usual, np.concatenate(held)
    flat, _ = on_paper(view.moved(times, by), points, view.camera)
    first, last = flat.min(0), flat.max(0)
    small = bool(view.between) and times > 1 and (last - first).max() / 2 < SMALL
    if max(-first.min(), last.max()) <= 1 and not small:
        return identity_zoom(view.dims)
    low, high = np.array(view.ranges, float).T
    scaled = (points - (low + high) / 2) / (high - low)
    if view.dims == 2:
        middle, wide = _midway(scaled, EASY)
    else:
        middle, away = _nearest(scaled @ seen.frame.T, EASY)
        middle, wide = middle @ seen.frame, away / float(np.linalg.norm(view.camera))
        wide = max(wide, 2 * float(np.abs(scaled - middle).max()))
    wide = max(wide, min(times, 1.0) if view.between else times)
    return tuple(round(float(x), 3) for x in (wide / times, *(middle * (high - low) - by)))


def _midway(points: Array, share: float) -> tuple[Array, float]:
    """In a plane: their middle, and how wide axes are of which they take a share."""
    low, high = points.min(0), points.max(0)
    return (low + high) / 2, float((high - low).max()) / share


def _nearest(points: Array, share: float) -> tuple[Array, float]:
    """For points in the coordinates of an eye (right, up, towards it), what it looks at and from how far to
    see them in the middle of the paper, as large as a share of it.

    One that is a to the right of that, and c nearer, is at a/(far − c)/SIGHT. So it is inside if far is at
    least ±a/(share · SIGHT) + c, which is linear in all: far is least where both sides touch."""
    across, depth = points[:, :2] / (share * SIGHT), points[:, 2:]
    left, right, near = (depth - across).max(0), (depth + across).max(0), (depth.min() + depth.max()) / 2
    middle = np.array([*(share * SIGHT * (right - left) / 2), near])
    return middle, float((left + right).max() / 2 - near)


def _frame(away: Array) -> Array:
    """(3, 3): the coordinates of an eye in this direction: right, up, towards it."""
    return np.vstack([sides(-away), away])


def _aimed(view: View, points: Array, share: float, heroes: Array) -> Moved:
    """So that points are in the middle of the picture, and that share of it; or less, if heroes had more than
    theirs."""
    low, high = np.array(view.ranges, float).T
    side = high - low
    scaled = (points - (low + high) / 2) / side
    if view.dims == 2:
        middle, times = _midway(scaled, share)
        return max(times, _midway(heroes / side, HERO)[1] if len(heroes) else 0), middle * side
    eye, target = np.array(view.camera[:3]), np.array([*view.camera[3:6]] or [0.0] * 3)
    far = float(np.linalg.norm(eye - target))
    away = (eye - target) / far
    frame = _frame(away)
    middle, distance = _nearest(scaled @ frame.T, share)
    times = distance / far
    for _ in range(ROUNDS):
        by = (middle @ frame - times * target) * side
        hero = on_paper(view.moved(times, by), heroes, view.camera)[0]
        large = float(np.ptp(hero, axis=0).max()) / 2 / HERO if len(hero) else 0.0
        if large <= 1:
            break
        times *= large
    return times, by


def _shortened(recipe: Recipe, view: View, clouds: dict[str, Cloud]) -> View:
    """The view with shorter guides where they would leave it; the clouds that these are of, too."""
    shared = {mark.cloud for v in recipe.views for mark in v.layers if not mark.guide}
    layers, axes = list(view.layers), [view.at(progress) for progress in range(len(recipe.stages))]

    def reach(mark: Mark, stages: Sequence[int]) -> float:
        """How far out it is drawn, at the stage of these where that is farthest."""
        moments = [Moment(clouds, recipe.defaults, float(stage), recipe.follow) for stage in stages]
        points = [mark.points(at) for at in moments]
        if not view.room:
            points, stages = [np.vstack(points)], stages[:1]
        flat = [
            on_paper(axes[stage], each, view.camera)[0] for stage, each in zip(stages, points, strict=True)
        ]
        return max(float(np.nanmax(np.abs(each), initial=0)) for each in flat)

    def each(mark: Mark, stage: int) -> Array:
        """(N, 1): how far out each point of its cloud is then."""
        shown = Moment(clouds, recipe.defaults, float(stage), recipe.follow).shown(mark.cloud, mark.rows)
        return np.abs(on_paper(axes[stage], shown, view.camera)[0]).max(1, keepdims=True)

    for k, mark in enumerate(layers):
        if not mark.guide or not (isinstance(mark, Disc | Rim) or mark.cloud not in shared):
            continue
        limit = LETTERS if mark.draws == "labels" else EDGE
        seen = [stage for stage in range(len(axes)) if mark.opacity_at(stage) > 0]
        if not seen or reach(mark, seen) <= limit:
            continue
        rays = _along_rays(mark, clouds[mark.cloud].points)  # however much shorter
        for stage in seen:
            for _ in range(MANY):
                out = min(reach(mark, [stage]) / limit, GENTLY)
                if out <= 1:
                    break
                if isinstance(mark, Disc | Rim):
                    layers[k] = mark = replace(mark, radius=mark.radius / out)
                    continue
                cloud = clouds[mark.cloud]
                by = each(mark, stage) / limit if rays else np.array([[out]])
                clouds[mark.cloud] = replace(cloud, points=cloud.points / by.clip(1, GENTLY))
    return replace(view, layers=tuple(layers))


def _along_rays(mark: Mark, points: Array) -> bool:
    """Whether each point of a guide can come nearer to the origin by itself: names, and lines through it."""
    if not isinstance(mark, Line):
        return mark.draws == "labels"
    ends = [
        points[[i, j]]
        for i, j in pairwise(range(len(points)) if mark.order is None else mark.order)
        if i >= 0 <= j
    ]
    return all(abs(a @ b) >= (1 - ONE) * np.linalg.norm(a) * np.linalg.norm(b) for a, b in ends)


def on_paper(view: View, points: Array, camera: Sequence[float]) -> tuple[Array, Array]:
    """Where points of a view are on a square, whose sides are at −1 and 1; the second number is upwards. And
    their distance from the eye (0 for a 2D view)."""
    low, high = np.array(view.ranges, float).T
    scaled = (points - low) / (high - low) - 0.5  # the axes, or the cube, 1 wide
    if view.dims == 2:
        return 2 * scaled, np.zeros(len(points))
    flat, depth = perspective(scaled, np.array(camera[:3]), np.array([*camera[3:6]] or [0.0] * 3))
    return flat / SIGHT, depth


@dataclass(frozen=True, kw_only=True)
class _Shared(Moment):
    """A moment in which what several marks show is found once."""

    known: _Shown

    def shown(self, cloud: str, show: Sequence[Row]) -> Array:
        return self.known.shown(cloud, show, self.params, self.progress)


class _Shown:
    """What the marks of a recipe show: the same arrays while nothing that moves it does."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe, self.clouds = recipe, {cloud.name: cloud for cloud in recipe.clouds}
        self.known: dict[Any, Any] = {}

    def at(self, mark: Mark, params: Params, progress: float) -> list[Array]:
        """Without gaps; of a trail its corners, stage by stage. Where a mark chooses points by what they are,
        all that it chooses from."""
        moved: Iterable[float | None] = params.values()
        if isinstance(mark, PLAIN):
            progress = min(progress, self._last(mark.cloud))
            moved = map(params.get, self._movers(mark.cloud, (*mark.rows, *_chosen_by(mark)), progress))
        return self.once(lambda: self._found(mark, params, progress), id(mark), progress, *moved)

    def _found(self, mark: Mark, params: Params, progress: float) -> list[Array]:
        if not isinstance(mark, PLAIN) or getattr(mark, "arrow", False) or _chosen_by(mark):
            at = _Shared(self.clouds, params, progress, self.recipe.follow, known=self)
            return [_finite(mark.points(at))]
        on_its_way = isinstance(mark, Trail) and progress > 0
        before = self.at(mark, params, math.ceil(progress) - 1.0) if on_its_way else []
        every = self.shown(mark.cloud, mark.rows, params, progress)
        some = self.once(lambda: self._some(mark), "some", id(mark))
        return [*before, self.once(lambda: _finite(every, some), "finite", id(every), id(some))]

    def shown(self, cloud: str, show: Sequence[Row], params: Params, progress: float) -> Array:
        """As of a `Moment`. A cloud with fewer steps than the recipe rests at its last stage."""
        progress, names = min(progress, self._last(cloud)), self._movers(cloud, show, progress)
        moved = (*map(id, show), *map(params.get, names))
        at = Moment(self.clouds, params, progress)
        return self.once(lambda: at.shown(cloud, show), cloud, progress, *moved)

    def once(self, find: Callable[[], T], *key: Any) -> T:
        """What is found for a key: the first time."""
        if key not in self.known:
            self.known[key] = find()
        return self.known[key]

    def _last(self, cloud: str) -> int:
        return len(self.clouds[cloud].pipeline.steps)

    def _movers(self, cloud: str, show: Sequence[Row], progress: float) -> tuple[str, ...]:
        """The parameters that may move what is shown of a cloud until then."""
        return self.once(
            lambda: _movers(self.clouds[cloud], show, progress), "movers", cloud, progress, *map(id, show)
        )

    def _some(self, mark: Mark) -> Array | None:
        """The numbers of the points that it shows, if it does not choose from all."""
        if isinstance(mark, Line):
            return None if mark.order is None else np.unique(mark.order[mark.order >= 0])
        only = getattr(mark, "only", None)
        if only is None or isinstance(only, Counted):
            return None
        return indices(only, mark.cloud, Moment(self.clouds, {}, 0.0, self.recipe.follow))


def _chosen_by(mark: Mark) -> tuple[Row, ...]:
    """The row by which a mark chooses the highest points, if it does."""
    only = getattr(mark, "only", None)
    return (only.row,) if isinstance(only, Highest) else ()


def _finite(points: Array, some: Array | None = None) -> Array:
    """Points without gaps: some of them, by their numbers."""
    points = points if some is None else points[some]
    finite = np.isfinite(points)
    return points if finite.all() else points[finite.all(-1)]


def _movers(cloud: Cloud, show: Sequence[Row], progress: float) -> tuple[str, ...]:
    rows = [*show, *(over for row in show for over in _under(row))]
    steps = cloud.pipeline.steps[: math.ceil(max([progress, *(row.stage or 0 for row in rows)]))]
    weights = [row.weights for row in rows if isinstance(row.weights, Entries)]
    return tuple(sorted(cloud.place.parameters.union(*(each.parameters for each in (*steps, *weights)))))


def _under(row: Row) -> list[Row]:
    """The rows that a row is divided by."""
    return [row.over, *_under(row.over)] if row.over else []


class _Seen:
    """What a view shows, as few points: at first, at any time, and of a sphere or circle."""

    def __init__(self, shown: _Shown, view: View) -> None:
        self.shown, self.recipe = shown, shown.recipe
        self.name, self.dims, self.marks, self.reaching = view.name, view.dims, view.layers, view.reaching
        self.away = np.asarray(view.camera[:3], float) / np.linalg.norm(view.camera[:3])

    @cached_property
    def frame(self) -> Array:
        """Of the eye of a 3D view."""
        return _frame(self.away)

    @cached_property
    def first(self) -> Array:
        found = self._points(self.recipe.defaults, self.recipe.progress, whole=True)
        return found if len(found) else np.vstack([-np.ones(self.dims), np.ones(self.dims)])

    @cached_property
    def heroes(self) -> list[Array]:
        return [few for mark in self.marks if len(few := self._hero(mark))] or [self.first]

    def at(self, progress: float) -> Array:
        """At a stage, with the sliders as they are, and with the names of points."""
        return self._points(self.recipe.defaults, progress, whole=True, names=True)

    def held(self, params: Params, progress: float) -> list[Array]:
        """Points, their ways, and the sphere or circle, at a stage with the sliders elsewhere."""
        seen = (mark for mark in self._lit(progress) if isinstance(mark, Points | Trail) or _is_hero(mark))
        return self._arrays(seen, params, progress)

    def heroes_at(self, progress: float) -> Array:
        """Of a sphere or circle that is seen at a stage."""
        seen = [mark for mark in self.marks if _is_hero(mark) and mark.opacity_at(progress) > SEEN]
        return self._few(self._arrays(seen, self.recipe.defaults, progress))

    def _lit(self, progress: float) -> list[Mark]:
        """The marks, without guides, that are seen at a stage."""
        return self.shown.once(
            lambda: [mark for mark in self.marks if not mark.guide and mark.opacity_at(progress) > 0],
            "lit",
            self.name,
            progress,
        )

    def _arrays(self, marks: Iterable[Mark], params: Params, progress: float) -> list[Array]:
        """What they show, each array once."""
        found = (points for mark in marks for points in self.shown.at(mark, params, progress))
        return list({id(points): points for points in found if len(points)}.values())

    def _moments(self) -> list[float]:
        return [self.recipe.progress, *map(float, range(len(self.recipe.stages)))]

    def later(self) -> Iterator[Array]:
        """At the other stages; then, unless axes follow, at the ends of the sliders, one moved at a time."""
        known = self.recipe.defaults
        for progress in self._moments():
            yield self._points(known, progress)
        for p in self.recipe.parameters if not self.reaching else ():
            for end in (p.min, p.max) if not p.quiet else ():
                for progress in {0.0, self.recipe.progress, len(self.recipe.stages) - 1.0}:
                    yield self._points(known | {p.name: end}, progress)

    def _points(
        self, params: dict[str, float], progress: float, *, whole: bool = False, names: bool = False
    ) -> Array:
        """whole: every mark, else those that hold the others; names: labels too."""
        seen = []
        for mark in self._lit(progress):
            holds = isinstance(mark, Points | Line | Mesh | Sheet)
            if mark.flat != 0 and (
                names
                if mark.draws == "labels"
                else holds or (whole and not isinstance(mark, Support | SupportDisc))
            ):
                seen.append(mark)
        return self._few(self._arrays(seen, params, progress))

    def _hero(self, mark: Mark) -> Array:
        """A sphere or circle at the first of its moments; no points for any other mark."""
        if not _is_hero(mark):
            return np.empty((0, self.dims))
        moments = (progress for progress in self._moments() if mark.opacity_at(progress) > 0)
        return self._few(self._arrays([mark], self.recipe.defaults, next(moments, 0.0)))

    def _few(self, found: Sequence[Array]) -> Array:
        """Those points that are farthest in some direction; few are all."""
        if sum(map(len, found)) <= FEW:
            return np.vstack([np.empty((0, self.dims)), *found])
        each = [self.shown.once(partial(_farthest, points), "farthest", id(points)) for points in found]
        best = np.argmax([far for far, _ in each], axis=0)
        return self.shown.once(
            lambda: np.array([points for _, points in each])[best, EACH], "few", *map(id, found)
        )


def _is_hero(mark: Mark) -> bool:
    return not mark.guide and mark.role in HEROES and isinstance(mark, Line | Mesh)


def _farthest(points: Array) -> tuple[Array, Array]:
    """How far points reach in each direction, and which does."""
    ways, found = _directions(points.shape[1]), []
    for start in range(0, len(points), AT_ONCE):
        along = ways @ points[start : start + AT_ONCE].T
        best = along.argmax(1)
        found.append((along[EACH, best], start + best))
    far, chosen = map(np.array, zip(*found, strict=True))
    best = far.argmax(0), EACH
    return far[best], points[chosen[best]]


@cache
def _directions(dims: int) -> Array:
    """FEW unit vectors, evenly."""
    k = np.arange(FEW) + 0.5
    turn = np.pi * (1 + 5**0.5) * k if dims == 3 else 2 * np.pi * k / FEW
    height = 1 - 2 * k / FEW if dims == 3 else 0 * k
    flat = np.sqrt(1 - height**2)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.column_stack([flat, height]) if dims == 3 else flat


def _in_plane(views: Sequence[_Seen]) -> list[Box]:
    """A square; or, of what is much wider than high, as high as a sphere or circle has to be large."""
    (seen,) = views
    low, high = seen.first.min(0), seen.first.max(0)
    center, spread = (low + high) / 2, (high - low) / 2 / FULL
    most = min(float(np.ptp(hero, axis=0).max()) for hero in seen.heroes) / 2 / HERO
    if spread[0] > WIDE_ASPECT * spread[1] > 0:
        reach = np.maximum(spread, [0, most * HERO / TALL])
        most_each = np.maximum(reach, [STAGE * reach[1], 0])
    else:
        reach = np.full(2, spread.max() or 1.0)
        most_each = np.maximum(reach, most)
    for points in seen.later():
        if (reach >= most_each).all():
            break
        out = np.abs(points - center).max(0, initial=0) / FULL
        reach = np.maximum(
            reach, np.minimum(most_each, out if reach[0] > WIDE_ASPECT * reach[1] else out.max())
        )
    return [(center, reach)]


def _in_space(views: Sequence[_Seen]) -> list[Box]:
    """For one eye, in a direction from the middles."""
    frame = views[0].frame  # all below is in its coordinates

    def flat(points: Array, center: Array, reach: float) -> Array:
        """On paper whose sides are at −1 and 1."""
        near = (points - center) / reach
        return near[:, :2] / (SIGHT * np.maximum(FAR - near[:, 2:], NEAREST))

    def middle(points: Array, reach: float) -> Array:
        center = (points.min(0) + points.max(0)) / 2
        for _ in range(ROUNDS):
            here = flat(points, center, reach)
            center[:2] += (here.min(0) + here.max(0)) / 2 * SIGHT * FAR * reach
        return center

    def wide(points: Array, share: float) -> float:
        spread = float(np.ptp(points, axis=0).max())
        return _nearest(points, share)[1] / FAR if spread > ONE * float(np.abs(points).max()) else 1.0

    def needed(points: Array, center: Array) -> float:
        off = points - center
        far = np.abs(off[:, :2]) / (FULL * SIGHT) + off[:, 2:]
        return float(far.max(initial=0)) / FAR

    firsts = [seen.first @ frame.T for seen in views]
    reach = max(wide(first, FULL) for first in firsts)
    most = min(wide(hero @ frame.T, HERO) for seen in views for hero in seen.heroes)
    for seen, first in zip(views, firsts, strict=True):
        center, met = middle(first, reach), []
        for points in seen.later():
            if reach >= most:
                break
            met.append(points @ frame.T)
            reach = max(reach, min(most, needed(met[-1], center)))
        center = middle(first, reach)  # a little elsewhere
        reach = max(reach, min(most, max((needed(each, center) for each in met), default=0)))
    return [(middle(first, reach) @ frame, np.full(3, reach)) for first in firsts]
