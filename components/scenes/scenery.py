"""Helpers for scenes: axes, spheres, walls, the followed (selected) point, steps, views.

A *part* is a cloud (set of points) with the marks that draw it, or only marks for another part's cloud.
`split` separates the clouds, which a recipe needs, from the marks, which its views need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row
from components.language.framing.paper import BOX_TO_PICTURE, eye
from components.language.marks import (
    Color,
    Follow,
    Followed,
    Histogram,
    Labels,
    Line,
    Mark,
    Mesh,
    Points,
    Trail,
)
from components.language.recipe import View
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, Product, clouds
from geometry.pipeline import Step

Array = np.ndarray
Rows = tuple[Row, ...]
Shape = Array | tuple[Array, Array]  # points (N, d), or these and their order, as geometry.clouds makes them
Steps = Sequence[Step]
Part = tuple[Cloud | Mark, ...]
Look = dict[str, Any]  # fields of a mark, and further arguments of `draw`
Axis = tuple[str, float, float]  # title, lower end and upper end of an axis
MAX_LARGE_POINTS = 1500  # a cloud with more points is drawn with smaller ones
TRAIL_COUNT = 5  # number of points of a large cloud that have a trail


# --- parts


def draw(
    name: str,
    kind: type[Mark],
    role: str,
    show: Rows,
    shape: Shape,
    title: str = "",
    *,
    labels: Sequence[str] | None = None,
    place: Steps = (),
    steps: Steps = (),
    **look: Any,
) -> tuple[Cloud, Mark]:
    """A cloud with the given points and steps, and a mark of the class `kind` that shows it.

    `role` is the mark's colour role, `show` its display rows and `title` its legend. shape: the points
    (N, d), or (points, order) for a Line, or (points, triangles) for a Mesh. The order has the indices of the
    points along the line, with −1 for a gap. labels: a text for each point. place: steps before stage 0.
    steps: one step from each stage to the next. look: further fields of the mark.
    """
    points, order = shape if isinstance(shape, tuple) else (shape, None)
    cloud = Cloud(name, points, Pipeline(steps), Pipeline(place), labels)
    own: Look = {} if order is None else {"triangles" if kind is Mesh else "order": order}
    return cloud, kind(name, role, show, title, **own, **look)


def split(*parts: Part) -> tuple[tuple[Cloud, ...], tuple[Mark, ...]]:
    """The clouds of all parts, and the marks of all parts, each in order."""
    found = [each for part in parts for each in part]
    layers = tuple(each for each in found if isinstance(each, Mark))
    return tuple(each for each in found if isinstance(each, Cloud)), layers


def lines(
    roles: Mapping[str, str], show: Rows, shapes: Mapping[str, tuple[Array, Array]], **look: Any
) -> tuple[Mark, ...]:
    """A line mark for each cloud in `roles`, which maps the cloud's name to a colour role.

    `shapes` maps the same names to pairs, of which only the second member is used here: the order in which
    the line joins the cloud's points. look: fields that all the marks share.
    """
    return tuple(Line(name, role, show, order=shapes[name][1], **look) for name, role in roles.items())


def wall(show: Rows, axis: int, at: float, half: float) -> tuple[Rows, Part]:
    """A wall perpendicular to display axis `axis`, at the coordinate `at` of this axis, for projections.

    Returns the display rows that draw a point's shadow (its projection) on the wall, and the outline of the
    wall, a square of half side `half`.
    """
    shadow = tuple(Row((0.0,), offset=at) if i == axis else row for i, row in enumerate(show))
    square = np.insert(half * np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]]), axis, 0, axis=1)
    edge = draw("wall", Line, "axis", shadow, (square, clouds.closed(4)), size=2, opacity=0.5, guide=True)
    return shadow, edge


def seen(layers: Sequence[Mark], show: Rows, **changes: Any) -> tuple[Mark, ...]:
    """Copies of the marks `layers` for a view whose coordinates are the display rows `show`.

    changes: further fields to replace in each copy. Each copy shows the same stage as its original, whatever
    the stage of the rows `show`. If `show` has only two rows, meshes are left out.
    """

    def turned(old: Rows) -> Rows:
        return tuple(replace(row, stage=old[0].stage) for row in show)

    solid = len(show) > 2
    return tuple(replace(x, rows=turned(x.rows), **changes) for x in layers if solid or x.draws != "mesh")


def axes(
    show: Rows,
    labels: Sequence[str],
    low: float,
    high: float,
    at: float,
    *,
    names: Sequence[str] = ("axes", "axis names"),
    opacity: float = 0.5,
) -> list[Part]:
    """The coordinate axes, one for each of `labels`, and the labels on them.

    low, high: the ends of each axis. at: the coordinate of the label on its axis. names: the name of the
    cloud of the axes, then that of the cloud of the labels. opacity: of the axes.
    """
    basis = np.eye(len(labels))
    lines = clouds.segments(np.stack([low * basis, high * basis], 1))
    return [
        draw(names[0], Line, "axis", show, lines, size=1.5, opacity=opacity, guide=True),
        draw(names[1], Labels, "axis", show, at * basis, labels=labels, guide=True),
    ]


def mean_line(
    show: Rows,
    d: int,
    half: float,
    at: float,
    title: str = "",
    *,
    names: Sequence[str] = ("mean line", "one"),
    fade: Sequence[float] | None = None,
    **look: Any,
) -> list[Part]:
    """The line along 𝟏 through the origin, from −`half` to `half`, and its label at the distance `at`.

    d: the number of coordinates. names: the name of the line's cloud, then that of the label's cloud. fade:
    the opacity at each stage. look: further fields of the line's mark.
    """
    up = np.ones((1, d)) / np.sqrt(d)
    ends = half * np.vstack([-up, up])
    return [
        draw(names[0], Line, "mean-direction", show, ends, title, fade=fade, guide=True, **look),
        draw(names[1], Labels, "mean-direction", show, at * up, labels=["𝟏"], fade=fade, guide=True),
    ]


def globe(
    show: Rows,
    radii: Array,
    title: str = "",
    *,
    mesh: float | Sequence[float] = 0.1,
    net: float | Sequence[float] = 0.35,
    names: Sequence[str] = ("sphere", "graticule"),
    **shared: Any,
) -> list[Part]:
    """A sphere or ellipsoid with circles of latitude and longitude.

    `radii` (3, d) are three radius vectors: the images of the unit vectors of space. mesh, net: opacity of
    the surface and of the circles, or a list with the opacity at each stage. names: the names of the clouds
    of the surface and of the circles. shared: further arguments of `draw` for both, such as `guide=True`.
    Without `guide=True` the axes of a view are fitted to the sphere too.
    """

    def strength(value: float | Sequence[float]) -> dict[str, Any]:
        return {"fade": value} if np.ndim(value) else {"opacity": value}

    ball, circles = (clouds.turned(shape, radii) for shape in (clouds.sphere_mesh(), clouds.graticule()))
    return [
        draw(names[0], Mesh, "sphere", show, ball, title, **strength(mesh), **shared),
        draw(names[1], Line, "sphere", show, circles, size=1, **strength(net), **shared),
    ]


# --- points that readers can follow


def followed(
    cloud: str, show: Rows, title: str = "", *, size: float = 11, trail: float = 4, **look: Any
) -> tuple[Mark, ...]:
    """Marks of the followed (selected) point of a cloud and of its trail, for the display rows `show`.

    title: the legend of the point. size: of the point. trail: the width of the trail, 0 for none. look:
    further fields of the marks.
    """
    shared = {"only": Followed(), **look}
    point = Points(cloud, "followed", show, title, size=size, **shared)
    return (Trail(cloud, "followed", show, size=trail, **shared), point) if trail else (point,)


def beads(cloud: str, show: Rows, *, mark: float = 12, **look: Any) -> tuple[Mark, ...]:
    """Marks for the points of a cloud, and one for the followed (selected) point, which gets no trail.

    mark: the size of the followed point. look: further fields of the mark for the points.
    """
    return Points(cloud, "input", show, **look), *followed(cloud, show, size=mark, trail=0)


def each_class(
    cloud: str,
    kind: type[Points] | type[Histogram],
    show: Rows,
    classes: Array,
    titles: Sequence[str] = ("", ""),
    *,
    roles: Sequence[str] = ("input", "other"),
    **look: Any,
) -> tuple[Mark, ...]:
    """Two marks of the same cloud: one for the points of class 0, one for those of class 1.

    `classes` has the class of each point. With the `kind` Points they are circles and squares, with Histogram
    solid and dotted lines. `titles` and `roles` have one entry for each class; `look` is common to both.
    """
    own = [np.flatnonzero(classes == k).tolist() for k in (0, 1)]
    apart: list[Look] = [{}, {"glyph": "square"} if kind is Points else {"dash": "dot"}]
    return tuple(
        kind(cloud, role, show, title, only=own[k], **apart[k], **look)
        for k, (role, title) in enumerate(zip(roles, titles, strict=True))
    )


def evenly(n: int, count: int) -> list[int]:
    """At most `count` indices, evenly spaced from 0 to n − 1."""
    return sorted({int(i) for i in np.linspace(0, n - 1, min(n, count))})


def clickable_points(
    cloud: Cloud, show: Rows, color: Color | None, trails: Sequence[int] | None = None
) -> tuple[Mark, ...]:
    """Marks of a cloud with many points: clickable points, a few trails, and the followed (selected) one.

    `trails` are the indices of the points with a trail; if None, those of TRAIL_COUNT evenly spaced points.
    """
    n = len(cloud.points)
    size = 5 if n <= MAX_LARGE_POINTS else 2.5
    few = evenly(n, TRAIL_COUNT) if trails is None else trails
    return (
        Points(cloud.name, "input", show, "a point", color=color, size=size, hand=Follow()),
        Trail(cloud.name, "trail", show, only=few, size=2, opacity=0.7),
        *followed(cloud.name, show),
    )


def angle(x: Array, title: str = "") -> Color:
    """A cyclic colour scale that colours each point of the plane by its angle. x: the points (N, 2)."""
    return Color("cyclic", -np.pi, np.pi, np.arctan2(x[:, 1], x[:, 0]), title=title)


# --- entries and steps, most of which sliders change


def slider(name: str) -> Entries:
    """Entries for a step that are a single number: the value of the slider `name`."""
    return Entries(0.0, {name: 1.0})


def scaled(d: int, name: str) -> Affine:
    """The map x ↦ s·x of d coordinates, with s the value of the slider `name`."""
    return Affine(Entries(np.zeros((d, d)), {name: np.eye(d)}))


def rest(d: int, count: int) -> tuple[Affine, ...]:
    """`count` identity steps, for a cloud that stays in place until a later stage."""
    return (Affine(np.eye(d)),) * count


def root_mean_square(d: int, eps: str | None = None) -> tuple[Step, ...]:
    """The steps x ↦ √(Σ xᵢ²/d + ε). ε is the value of the slider called `eps`; without `eps` it is 0."""
    shift = None if eps is None else Entries([0.0], {eps: [1.0]})
    return Product([(i, i) for i in range(d)]), Affine(np.full((1, d), 1 / d), shift), Pointwise("sqrt")


def rooted(name: str) -> Steps:
    """The steps that take x, which must be 1 or −1, to (√s·x, x); s ≥ 0 is the value of the slider `name`."""
    # They normalise the tiny number h = 10⁻¹²·x to s·h/√(h² + s), and then divide the result by 10⁻¹². In
    # double precision, s·h/√(h² + s) equals √s·h; for s = 0 it is 0.
    tiny = 1e-12
    root = Normalize(radius=slider(name), eps=slider(name), groups=((0,),))
    return Affine([[tiny], [1]]), root, Affine(np.diag([1 / tiny, 1]))


EPS = slider("eps")


def fitted(points: np.ndarray, d: int) -> np.ndarray:
    """The points with d coordinates each: further coordinates are cut off, missing coordinates are 0."""
    return np.pad(points, ((0, 0), (0, max(d - points.shape[1], 0))))[:, :d]


# --- views


def space(
    name: str,
    title: str,
    layers: Sequence[Mark],
    *,
    camera: Sequence[float] = View.camera,
    reach: float | None = None,
    reaching: bool = False,
    between: Mapping[str, Sequence[float]] | None = None,
    together: Sequence[tuple[str, str]] = (),
) -> View:
    """A 3D view of the marks `layers`. Its axes are fitted to what it shows, or fixed by `reach`.

    With `reach`, the cube [−reach, reach]³ fills the picture; this is for contents that training changes. Of
    `camera`, three numbers, only the direction counts. reaching: whether the axes are also fitted at the ends
    of the sliders. between, together: further slider values at which they are fitted (see `View`).
    """
    ranges = ((-BOX_TO_PICTURE * reach, BOX_TO_PICTURE * reach),) * 3 if reach else ()
    return View(
        name,
        title,
        tuple(layers),
        ranges,
        camera=eye(camera),
        reaching=reaching,
        between=between or {},
        together=together,
    )


def square(
    name: str,
    title: str,
    layers: Sequence[Mark],
    reach: float | None = None,
    *,
    strip: bool = False,
    reaching: bool = False,
) -> View:
    """A 2D view of the marks `layers`, without tick labels.

    Its axes are fitted to what it shows; if `reach` is given, they go from −`reach` to `reach`.

    strip: whether the view is small; only the last view of a recipe may be. reaching: whether the axes
    are also fitted at the ends of the sliders.
    """
    ranges = ((-reach, reach),) * 2 if reach else ()
    return View(name, title, tuple(layers), ranges, 2, strip=strip, reaching=reaching)


def graph(name: str, title: str, layers: Sequence[Mark], x: Axis, y: Axis, *, equal: bool = False) -> View:
    """A graph of one number against another. `x` and `y` have the title and the ends of each axis.

    equal: whether both axes have the same scale.
    """
    return View(name, title, tuple(layers), (x[1:], y[1:]), 2, (x[0], y[0]), equal)
