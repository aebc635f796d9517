"""The map u_ε(v) = v/√(‖v‖² + ε) as an activation function on the circle, shared by several scenes.

The scenes `stretch` and `fold` show it; `surface` and `temperature` use parts of it. Every point (x, y) of
the unit circle goes to u_ε(a·x + t, y). One view shows the circle. The other shows the activation curve: the
first coordinate after the map, against the first coordinate before the map. The arguments `stretch` and
`shift` are the names of the parameters for a and t. Without a `stretch`, a = 1; without a `shift`, t = 0.
Source: winsor2022.
"""

from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Follow, Followed, Line, Points, Trail
from components.language.recipe import Parameter, View
from components.language.scene import Choice
from components.scenes.scenery import EPS, followed, graph, rest
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise
from geometry.clouds import closed

POINTS = Choice("n", "points", "120", {"24": "24", "120": "120", "600": "600"}, folded=True)
LINE_POINTS = 600  # points of a drawn line; a part of them is also drawn as dots
UPPER = np.arange(LINE_POINTS // 2, LINE_POINTS)  # indices of the upper half circle, from right to left
EPS_SLIDER = Parameter("eps", "ε", 0, 1e-6, 1, scale="log", symbol="ε", about="0: exactly onto the circle")
# (θ, θ) ↦ (cos θ, sin θ), in the engine's double precision: where a point passes close to the origin, the map
# would magnify the rounding errors of single precision.
ON_CIRCLE = (Affine(np.eye(2), np.array([0, -np.pi / 2])), Pointwise("cos"))
NOW, BEFORE = Row((1, 0)), Row((1, 0), stage=0)
X_BEFORE = ("x before", -1.2, 1.2)


def angles() -> np.ndarray:
    """LINE_POINTS evenly spaced angles in (−π, π), none of which is a multiple of π/2.

    At multiples of π/2 some of the maps are undefined and have only limits. The angles are rounded to single
    precision, in which the browser receives them; thus the points and the closed form use the same angles.
    """
    return (2 * np.pi * (np.arange(LINE_POINTS) + 0.5) / LINE_POINTS - np.pi).astype(np.float32).astype(float)


def drawn(count: int) -> list[int]:
    """Indices into `angles()` of `count` points, evenly spaced around the circle and symmetric in both axes.

    `count` is 24, 120 or 600.
    """
    each = LINE_POINTS // count
    return list(range(each // 2, LINE_POINTS, each))


def dots(count: int, title: str = "") -> dict[str, Any]:
    """Arguments for a mark that draws `count` of the points of `angles()`, coloured by their initial angle.

    `count` is 24, 120 or 600. `title` says what the colours mean.
    """
    began = Color("cyclic", -np.pi, np.pi, of=angles(), title=title)
    return {"only": drawn(count), "color": began, "size": 8 if count == 24 else 6.5 if count == 120 else 4}


def affine(stretch: str | None, shift: str | None) -> Affine:
    """The map (x, y) ↦ (a·x + t, y). `stretch` and `shift` are the names of the parameters a and t.

    If `stretch` is None, a = 1; if `shift` is None, t = 0.
    """
    x, y = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    A = Entries(y, {stretch: x}) if stretch else Entries(x + y)
    return Affine(A, Entries(np.zeros(2), {shift: np.array([1.0, 0.0])}) if shift else None)


def clouds(stretch: str | None, shift: str | None) -> tuple[Cloud, ...]:
    """The clouds "points", "moved", "closed form" and "origin".

    "points" starts on the circle; its two steps are the affine map and the norm u_ε. "moved" starts at the
    affine image of the circle, and its last step is u_ε, so its trails are rays to the circle. "closed form"
    is the result of `closed_form`. stretch, shift: the names of the parameters a and t of the affine map, or
    None for a = 1 or t = 0.
    """
    theta, map_, u = np.stack([angles()] * 2, -1), affine(stretch, shift), Normalize(eps=EPS)
    return (
        Cloud("points", theta, Pipeline((map_, u)), Pipeline(ON_CIRCLE)),
        Cloud("moved", theta, Pipeline((*rest(2, 1), u)), Pipeline((*ON_CIRCLE, map_))),
        closed_form(angles(), stretch, shift),
        Cloud("origin", np.zeros((1, 2))),
    )


def closed_form(theta: np.ndarray, stretch: str | None, shift: str | None) -> Cloud:
    """Cloud for the first coordinate after the map with ε = 0: x′ = sin(arctan((a·cos θ + t)/|sin θ|)).

    theta: the angles (N,). stretch, shift: the names of the parameters a and t, or None for a = 1 or t = 0.
    At the last stage, each point of the cloud is one number, x′. At the first stage, each point has three
    coordinates, and the third is cos θ.
    """
    # computed from T = tan |θ/2|, with cos θ/|sin θ| = (1/T − T)/2 and 1/|sin θ| = (1/T + T)/2, which avoids
    # cancellation where |t| = |a|
    half = np.tan(np.abs(theta) / 2)
    cotangent, over_sine = np.array([[0.5, -0.5, 0.0]]), np.array([[0.5, 0.5, 0.0]])
    terms = {name: term for name, term in ((stretch, cotangent), (shift, over_sine)) if name}
    ratio = Entries(0 * cotangent if stretch else cotangent, terms)
    steps = (Affine(ratio), Pointwise("arctan"), Pointwise("sin"))
    return Cloud("closed form", np.stack([1 / half, half, np.cos(theta)], -1), Pipeline(steps))


def formula(moved: str) -> str:
    """LaTeX of u_ε(moved, y), where `moved` is LaTeX of the affine map's first coordinate.

    The part `moved` is marked as belonging to stage 1 (the affine map), and the fraction to stage 2 (u_ε).
    """
    pair = rf"(\class{{stage-1 role-ellipsoid}}{{{moved}}},\, y)"
    fraction = rf"\frac{{{pair}}}{{\sqrt{{({moved})^2 + y^2 + \varepsilon}}}}"
    return rf"u_\varepsilon({moved}, y) = \class{{stage-2 role-sphere}}{{{fraction}}}"


def plane_view(count: int, *, image: str) -> View:
    """View of the circle, its affine image with rays to the circle, the origin, and `count` points.

    `image` is the legend of the affine image.
    """
    plane, start, around = rows(np.eye(2)), rows(np.eye(2), stage=0), closed(LINE_POINTS)
    look = dots(count, "where a point began")
    layers = (
        Line("points", "sphere", start, order=around, size=3, opacity=0.6),
        Line("moved", "ellipsoid", start, image, order=around, size=4, fade=[0, 0.9, 0.6]),
        Trail("moved", "trail", plane, only=drawn(24), size=2, fade=[0, 0, 0.55]),
        Points("origin", "axis", plane, size=7),
        Points("points", "input", plane, hand=Follow(), **look),
        Trail("moved", "followed", plane, only=Followed(), size=4, fade=[0, 0, 1]),
        *followed("points", plane, size=12, trail=0),
    )
    return View("circle", "", layers, dims=2, reaching=True)


def curve_view(count: int) -> View:
    """Graph of each point's first coordinate at the current stage, against its first coordinate at the start.

    At the last stage the points lie on the activation curve. The closed form of that curve for
    ε = 0 is drawn as a line, for the points of the upper half of the circle.
    """
    now, exact, title = (BEFORE, NOW), (Row((0, 0, 1), stage=0), Row((1,), stage=3)), "closed form, ε = 0"
    layers = (
        Points("points", "input", now, hand=Follow(), **dots(count)),
        Line("closed form", "formula", exact, title, order=UPPER, size=3, fade=[0.3, 0.3, 1]),
        *followed("points", now, size=12, trail=0),
    )
    return graph("curve", "The activation curve", layers, X_BEFORE, ("x now", -1.2, 1.2))
