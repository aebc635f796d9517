"""Recipe of the scene `jacobian`: a norm's derivative on a small ball of neighbours, and on a gradient.

Coordinates are rotated so that the last axis is along 𝟏 and the others span the hyperplane. Then centring
sets the last coordinate to 0, and the Jacobian J = (Π − z zᵀ/d)/√(σ² + ε) stays symmetric. The step
`Derivative` takes a pair (x, v) of a point and a direction at this point.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Drag, Labels, Line, Mesh, Points, Trail
from components.language.recipe import Lengths, Parameter, Recipe, Residual, View
from components.language.scene import Choices
from components.scenes.scenery import Look, Part, Rows, draw, globe, root_mean_square, space, split, square
from geometry import Affine, Branches, Derivative, Entries, Normalize, Pipeline, Pointwise, Product, clouds
from geometry.pipeline import Step

NEIGHBOUR_COUNT, CROWD_COUNT, SEED = 60, 260, 3
REACH = 2.1  # half width of the picture
COLOR_DECADES = 0.8  # decades of 1/σ that the colour scale spans on both sides of 1
CAMERA = (0.75, -1.15, 0.55)
START_POINT, START_GRADIENT = (1.3, -0.9, 0.5, 1.0), (0.9, 1.1, 0.6, 0.8)  # their last numbers are along 𝟏
CIRCLE = clouds.circle(96, *np.sqrt(3) * np.eye(3)[:2])
BALL_NET = clouds.graticule(meridians=8, parallels=4)


def build(choices: Choices) -> Recipe:
    centred = choices["norm"] == "layernorm"
    d, forward = int(choices["d"]) if centred else 3, choices["pass"] == "forward"
    steps = norm(d, centred)
    moving = ball(d, steps) if forward else gradient(d, centred, steps)
    shown, layers = split(
        *guides(d, centred), crowd(d, centred, steps if forward else ()), *moving, *point(d, steps, forward)
    )
    values = Lengths("Singular values of J", "axes of the Jacobian")
    far = Residual("Largest distance between Jacobian and norm, on the ball", "linear", "neighbours")
    return Recipe(
        stages=stages(centred, forward),
        parameters=parameters(d, forward),
        clouds=(*shown, Cloud("axes of the Jacobian", *columns(d, steps))),
        views=(
            space("space", "", layers, camera=CAMERA, reach=REACH),
            above(d, centred, forward),
            *(() if forward else (arrow(d),)),
        ),
        formula=formula(centred),
        readouts=(values, far) if forward else (values,),
    )


def formula(centred: bool) -> str:
    identity, square = ("\\Pi", r"\sigma^2") if centred else ("I", r"\tfrac{1}{d} \lVert x \rVert^2")
    return rf"J = \frac{{{identity} - \tfrac{{1}}{{d}}\, z z^{{\top}}}}{{\sqrt{{{square} + \varepsilon}}}}"


def norm(d: int, centred: bool) -> tuple[Step, ...]:
    """The norm, if the last axis is along 𝟏: centring if `centred`, then division by √(mean square + ε)."""
    sphere = Normalize(radius=np.sqrt(d), eps=Entries(0.0, {"eps": float(d)}))  # σ² + ε times d
    return (centring(d), sphere) if centred else (sphere,)


def centring(d: int) -> Affine:
    """The step that sets the last coordinate, the one along 𝟏, to 0."""
    return Affine(np.diag([*np.ones(d - 1), 0]))


def stages(centred: bool, forward: bool) -> tuple[str, ...]:
    if forward:
        return ("x", "centre", "sphere") if centred else ("x", "sphere")
    along_one = ("− part along 𝟏",) if centred else ()
    return ("g at the output", *along_one, "− part along z", "÷ σ" if centred else "÷ RMS", "at x")


def parameters(d: int, forward: bool) -> tuple[Parameter, ...]:
    def vector(letter: str, of: Sequence[float], reach: float, group: str) -> list[Parameter]:
        labels = [f"{letter} at right angles to 𝟏, {i + 1}" for i in range(d - 1)] + [f"{letter} along 𝟏"]
        names = [f"{letter}{i + 1}" for i in range(d)]
        start = (*of[: d - 1], of[-1])
        return [
            Parameter(*each, -reach, reach, group=group, vector=True)
            for each in zip(names, labels, start, strict=True)
        ]

    eps = Parameter(
        "eps", "ε", 0, 1e-4, 10, scale="log", symbol="ε", about="above 0, a part along z passes", folded=True
    )
    size = Parameter("r", "radius of the ball", 0.4, 0.02, 1, about="of the neighbours around x")
    own = [size] if forward else vector("g", START_GRADIENT, 2, "Gradient g: last along 𝟏")
    return (*vector("x", START_POINT, 2, "Point x: last along 𝟏"), *own, eps)


# --- places with directions: the coordinates of x, then those of v


def at_x(d: int, terms: dict[str, np.ndarray], width: int) -> Affine:
    """The affine map from `width` numbers to a pair (x, v): the point x of the sliders, and a direction v.

    It maps numbers n to (x, 0) + M·n. The matrix M (2d, width) is the sum of the matrices in `terms`, each
    multiplied by the slider of its name. The first d rows of each matrix should be 0, so that x is unchanged.
    """
    return Affine(Entries(np.zeros((2 * d, width)), terms), x_sliders(d, 2 * d))


def x_sliders(d: int, width: int) -> Entries:
    """A vector of `width` numbers: first the d values of the sliders for x, then zeros."""
    return Entries(np.zeros(width), {f"x{i + 1}": np.eye(width)[i] for i in range(d)})


def pairs(d: int) -> Rows:
    """Rows that draw a pair (x, v) of vectors with d coordinates: the first three coordinates of x + v."""
    return rows(np.eye(3, 2 * d) + np.eye(3, 2 * d, d))


def columns(d: int, steps: Sequence[Step]) -> tuple[np.ndarray, Pipeline, Pipeline]:
    """Points, pipeline and place of a `Cloud` that shows the columns of the Jacobian J of the norm's `steps`.

    The points are 0 and the d unit vectors v. The place maps a point v to the pair (x, v), where x is the
    point of the sliders; the pipeline maps this pair to J·v, with the Jacobian (d, d) at x.
    """
    unit = Affine(np.eye(2 * d, d, -d), x_sliders(d, 2 * d))
    direction = Affine(np.eye(d, 2 * d, d))
    pipeline = Pipeline((Derivative(Pipeline(steps)), direction))
    return np.vstack([np.zeros(d), np.eye(d)]), pipeline, Pipeline((unit,))


# --- what moves


def ball(d: int, steps: Sequence[Step]) -> list[Part]:
    """A ball around x, mapped by the Jacobian, and points of its surface, mapped by the norm itself.

    The cloud "linear", which is not drawn, has the same points of the surface, mapped by the Jacobian.
    """
    around = at_x(d, {"r": np.eye(2 * d, d, -d)}, d)
    carried = [Derivative(Pipeline((step,))) for step in steps]
    (surface, triangles), (net, order) = clouds.sphere_mesh(), BALL_NET
    edge = clouds.gaussian(NEIGHBOUR_COUNT, d, seed=SEED)
    edge /= np.linalg.norm(edge, axis=1, keepdims=True)
    tip = Affine(np.eye(d, 2 * d) + np.eye(d, 2 * d, d))
    look: Look = {"place": (around,), "steps": carried}
    solid = draw(
        "ball",
        Mesh,
        "ellipsoid",
        pairs(d),
        (surface @ np.eye(3, d), triangles),
        "the ball under the Jacobian",
        opacity=0.45,
        **look,
    )
    circles = draw("ball net", Line, "ellipsoid", pairs(d), (net @ np.eye(3, d), order), size=2, **look)
    neighbours = draw(
        "neighbours",
        Points,
        "input",
        rows(np.eye(3, d)),
        edge,
        "its surface under the norm",
        place=(around, tip),
        steps=steps,
        size=3,
    )
    linear = Cloud("linear", edge, Pipeline((Derivative(Pipeline(steps)), tip)), Pipeline((around,)))
    return [solid, circles, neighbours, (linear,)]


def gradient(d: int, centred: bool, steps: Sequence[Step]) -> list[Part]:
    """The arrow of a gradient g with respect to z, mapped back to x by J in stages, and the path of its tip.

    A point of the cloud stores eight vectors. Only the first two are drawn: the arrow's base and the arrow.
    The other six are constant: x; z; g; g without its part along 𝟏; g without its parts along 𝟏 and z; J·g.
    The step to each stage copies two of these six to the first two. centred: True for LayerNorm. steps: the
    steps of the norm.
    """
    pair = at_x(d, {f"g{i + 1}": np.eye(2 * d)[:, [d + i]] for i in range(d)}, 1)
    place, direction = Affine(np.eye(d, 2 * d)), Affine(np.eye(d, 2 * d, d))
    derivative, centre = Derivative(Pipeline(steps)), (centring(d),) if centred else ()
    back = Pipeline((derivative, direction))
    deviation = Pipeline((place, *centre, *root_mean_square(d, "eps")))
    tangent = Branches((back, deviation), "concat"), Product([(i, d) for i in range(d)])
    vectors = ((place,), (derivative, place), (direction,), (direction, *centre), tangent, back.steps)
    x, z, g, level, along, end = np.split(np.eye(6 * d), 6)
    order = [(z, g), *([(z, level)] if centred else []), (z, along), (z, end), (x, end)]
    put = [np.vstack([base, tip, np.eye(6 * d)]) for base, tip in order]
    later = [Affine(np.hstack([np.zeros((8 * d, 2 * d)), each])) for each in put[1:]]
    start = (pair, Branches(tuple(map(Pipeline, vectors)), "concat"), Affine(put[0]))
    ends = np.array([[0.0], [1.0]])
    return [
        draw(
            "gradient",
            Line,
            "query",
            pairs(d),
            ends,
            "the gradient",
            place=start,
            steps=later,
            size=7,
            arrow=0.25,
        ),
        (Trail("gradient", "other", pairs(d), "the path of its tip", only=[1], size=3, dash="dot"),),
        (Cloud("arrow", ends, place=Pipeline((pair, direction))),),
    ]


def crowd(d: int, centred: bool, steps: Sequence[Step]) -> Part:
    """Points spread over space, coloured by log₁₀ of the largest singular value of the Jacobian there.

    For LayerNorm (`centred`) this value is 1/√(σ² + ε). For RMSNorm the mean square takes the place of σ².
    steps: the steps of the norm, which move the points; () if the points do not move.
    """
    x = 1.1 * clouds.gaussian(2 * CROWD_COUNT, d, seed=SEED + 1)
    x = x[np.linalg.norm(x, axis=1) < REACH][:CROWD_COUNT]
    factor = Pipeline(
        (
            *((centring(d),) if centred else ()),
            *root_mean_square(d, "eps"),
            Pointwise("log10"),
            Affine([[-1.0]]),
        )
    )
    place = Branches((Pipeline(()), factor), "concat")
    beside = Affine(np.diag([*np.ones(d - 1), 0, 1]))
    own = [replace(step, groups=(range(d),)) if isinstance(step, Normalize) else beside for step in steps]
    look: Look = {"size": 3.5, "opacity": 0.5, "color": factor_color(d, centred)}
    return draw("crowd", Points, "input", rows(np.eye(3, d + 1)), x, place=(place,), steps=own, **look)


def factor_color(d: int, centred: bool) -> Color:
    """The colour scale of log₁₀ of the largest singular value of the norm's Jacobian.

    For LayerNorm (`centred`) this value is 1/√(σ² + ε). For RMSNorm the mean square takes the place of σ².
    """
    square = "σ²" if centred else "RMS²"
    title = f"log₁₀ of 1/√({square} + ε)"
    return Color("sequential", -COLOR_DECADES, COLOR_DECADES, of=Row((*[0.0] * d, 1.0), stage=0), title=title)


def point(d: int, steps: Sequence[Step], forward: bool) -> list[Part]:
    """Marks of the point x, which can be dragged, and of its image z under the norm.

    If `forward`, a mark moves from x to z with a trail. Otherwise there is one mark at x and one at z.
    """
    place = Affine(np.zeros((d, 1)), x_sliders(d, d))
    show, one = rows(np.eye(3, d)), np.ones((1, 1))
    held: Look = {"hand": Drag("x1", "x2", "x3"), "hint": "drag it"}
    if not forward:
        return [
            draw("x", Points, "followed", show, one, "the point x", place=(place,), size=8, **held),
            draw("z", Points, "meeting", show, one, "its image z", place=(place, *steps), size=8),
        ]
    before = rows(np.eye(3, d), stage=0)
    return [
        draw("x", Points, "followed", show, one, place=(place,), steps=steps, size=8),
        (Points("x", "followed", before, "the point x", size=5, **held),),
        (Trail("x", "followed", show, only=[0], size=3),),
    ]


# --- what stands around


def guides(d: int, centred: bool) -> list[Part]:
    """The sphere of radius √d, on which the norm puts points. For LayerNorm with d = 3, it is not drawn.

    In its place there are the plane Σx = 0, the circle in which this plane cuts the sphere, and the line
    along 𝟏.
    """
    show = rows(np.eye(3, d))
    if d > 3 or not centred:
        return globe(show, np.sqrt(d) * np.eye(3, d), "the sphere of radius √d", mesh=0.1, net=0.3)
    across, up = np.eye(3)[:2], np.eye(3)[2:]
    line, disc = np.vstack([-up, up]), clouds.turned(clouds.disc_mesh(), 2 * across)
    return [
        draw("mean line", Line, "mean-direction", show, 1.6 * line, "the line along 𝟏", size=4),
        draw("one", Labels, "mean-direction", show, 1.75 * up, labels=["𝟏"]),
        draw("hyperplane", Mesh, "hyperplane", show, disc, "the plane Σx = 0", opacity=0.12, guide=True),
        draw("circle", Line, "meeting", show, CIRCLE, "where sphere and plane meet", size=4),
    ]


def above(d: int, centred: bool, forward: bool) -> View:
    """View from above: the point x, which can be dragged, the points of `crowd`, and outlines.

    The points are shown as they are before the norm. The outlines are those of the sphere (or circle) and, if
    `forward`, of the ball under the Jacobian.
    """
    flat, before = rows(np.eye(2, d)), rows(np.eye(2, d), stage=0)
    outline = ("circle", CIRCLE[1]) if d == 3 and centred else ("graticule", clouds.graticule()[1])
    carried = rows(np.eye(2, 2 * d) + np.eye(2, 2 * d, d))
    net = Line("ball net", "ellipsoid", carried, order=BALL_NET[1], size=1.5)
    marks = (
        Points(
            "crowd",
            "input",
            rows(np.eye(2, d + 1), stage=0),
            size=5,
            color=replace(factor_color(d, centred), title=""),
        ),
        Line(outline[0], "meeting", flat, size=1.5, opacity=0.5, order=outline[1]),
        *((net,) if forward else ()),
        Points("x", "followed", before, "x", size=9, hand=Drag("x1", "x2"), hint="drag it"),
    )
    return square("above", "From above, before the norm", marks, REACH)


def arrow(d: int) -> View:
    """View of the gradient g from above, alone; its tip can be dragged."""
    flat = rows(np.eye(2, d))
    marks = (
        Line("arrow", "query", flat, size=5, arrow=0.2),
        Points("arrow", "query", flat, "g", only=[1], size=8, hand=Drag("g1", "g2"), hint="drag it"),
    )
    return square("gradient", "The gradient g from above", marks, REACH)
