"""The recipe of the scene `strands`: layers, each an affine map and a norm, that fold a circle.

Several pieces of the circle can come to lie in the same direction from the origin; these are its strands.
Layer k takes (x, y) to (tₖ/10 + FLAT·y, x − sₖ/10): a flat, upright ellipse at the distance tₖ/10 from the
origin. Then the norm takes it to an arc of the circle. As tₖ/10 > FLAT, the ellipse is always on the right of
the origin. So a point of the arc is known by its height alone.
"""

from functools import partial

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Line, Points, Turn
from components.language.recipe import Parameter, Recipe, Sheets
from components.language.scene import Choices
from components.scenes.scenery import Axis, Look, Part, draw, graph, rest, split, square
from components.scenes.strands.networks import Found, networks_view
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, Product, clouds
from geometry.pipeline import Step

NORMS = 5
FLAT = 0.05  # half the width of each ellipse; its half height is 1
POINTS, BEADS, DOT = 3600, 72, 3  # a dot is drawn at every third point
# Points are spaced evenly in a weighted sum of the distances between neighbours: the distance at the start
# has this weight, and the distance after each norm has weight 1.
EVEN = 10.0
APART = 0.14  # after norm k, radii differ by APART·k between the first and the last point of the circle
FARTHEST = 1.5  # end of the ray
HEIGHTS, DISTANCES = (
    (0, *[7.5] * (NORMS - 1)),
    (3, *[1.5] * (NORMS - 1)),
)  # in tenths, so that fields are short
START: Axis = ("angle at the start, °", -185, 185)
HEIGHT: Axis = ("height now", -1.1, 1.1)
LINEAR = np.array([[0, FLAT], [1, 0]])  # of each layer's affine map
PLANE = rows(np.eye(2))
DRAWN = rows(np.eye(2, 6, 2))
NUMBERS = range(1, NORMS + 1)


def layer(k: int, d: int = 2) -> tuple[Step, ...]:
    """Layer k, an affine map and the norm, as steps on the first two of d coordinates; the others stay."""
    A, across, up = np.eye(d), np.eye(d)[0], np.eye(d)[1]
    A[:2, :2] = LINEAR
    return Affine(A, Entries(np.zeros(d), {f"t{k}": across / 10, f"s{k}": -up / 10})), Normalize(
        groups=((0, 1),)
    )


def all_layers() -> Pipeline:
    """The layers one after another, as steps on the two coordinates of the circle."""
    return Pipeline([step for k in NUMBERS for step in layer(k)])


def layers_keeping_start() -> Pipeline:
    """The layers as steps of points with a third coordinate, which is kept: the angle at the start.

    Each layer is one step here, affine map and norm together, followed by an identity step. So there are as
    many stages as with `all_layers`, which has two steps for each layer.
    """
    identity = Affine(np.eye(3))
    return Pipeline([step for k in NUMBERS for step in (Branches((Pipeline(layer(k, 3)),)), identity)])


def layer_drawn_apart(k: int) -> tuple[Step, ...]:
    """Layer k as two steps of points (x, y, x', y', u, r): the layer moves (x, y), and (x', y') is drawn.

    u, from −½ to ½, is the point's place in the order along the circle; it stays. After the affine map,
    (x', y') = (x, y) and r = 1 + APART·k·u. After the norm, (x', y') = r·(x, y). So strands that lie on one
    another are drawn apart.
    """
    A, (across, up) = np.zeros((6, 6)), np.array([[1, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0]])
    A[:4, :2], A[4, 4], A[5, 4] = np.tile(LINEAR, (2, 1)), 1, APART * k
    shift = Entries(np.eye(6)[5], {f"t{k}": across / 10, f"s{k}": -up / 10})
    norm = Normalize(groups=((0, 1), (2, 3))), Product([(0,), (1,), (2, 5), (3, 5), (4,), (5,)])
    return Affine(A, shift), Branches((Pipeline(norm),))


def on_circle(degrees: np.ndarray) -> np.ndarray:
    """Points (cos θ, sin θ, θ), with θ in `degrees`, of the unit circle: (n, 3)."""
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle), degrees], -1)


def circle_points(params: dict[str, float]) -> np.ndarray:
    """Points (cos θ, sin θ, θ) of the unit circle, (POINTS, 3), with θ in degrees.

    They are denser where the layers move neighbouring points apart, for the slider values `params`.
    """
    degrees = np.linspace(-180, 180, 20 * POINTS + 1)[:-1]
    after = all_layers().stages(on_circle(degrees)[:, :2], params)[::2]
    turns = [np.linalg.norm(np.diff(each, axis=0, append=each[:1]), axis=-1) for each in after]
    total = np.cumsum(EVEN * turns[0] + sum(turns[1:]))
    return on_circle(np.interp((np.arange(POINTS) + 0.5) / POINTS * total[-1], total, degrees))


def with_cosine(step: Affine) -> tuple[Step, ...]:
    """Step x ↦ (cos y, x), where y = step(x) has angles in radians as its coordinates."""
    return (Branches((Pipeline((step, Pointwise("cos"))), Pipeline(())), "concat"),)


def ellipses() -> list[Part]:
    """For each layer, the circle's image under the affine map, shown only at the stage after this map."""
    out: list[Part] = []
    for k in NUMBERS:
        fade = [0.0] * (2 * NORMS + 1)
        fade[2 * k - 1] = 0.8
        steps, circle = (*rest(2, 2 * k - 2), *layer(k)), clouds.circle(96, *np.eye(2))
        out.append(draw(f"ellipse {k}", Line, "ellipsoid", PLANE, circle, steps=steps, fade=fade, size=2))
    return out


def build(choices: Choices, found: Found) -> Recipe:
    """The recipe; `found` is the table of trained networks with their numbers of strands."""
    sliders = tuple(
        Parameter(f"{name}{k}", f"{name}{'₁₂₃₄₅'[k - 1]}", values[k - 1], *ends, group=group, vector=True)
        for name, values, ends, group in (
            ("s", HEIGHTS, (-2, 12, 0.1), "shift down s"),
            ("t", DISTANCES, (1, 8, 0.1), "distance t"),
        )
        for k in NUMBERS
    )
    points = circle_points({each.name: each.value for each in sliders})
    beads = on_circle(360 * (np.arange(BEADS) + 0.5) / BEADS - 180)
    began = partial(Color, "cyclic", -180, 180, title="where a point began")
    dots: Look = {"color": began(beads[:, 2]), "size": 6}
    apart = [step for k in NUMBERS for step in layer_drawn_apart(k)]
    order = np.linspace(-0.5, 0.5, POINTS)[:, None]
    strands = np.concatenate([points[:, :2], points[:, :2], order, np.ones((POINTS, 1))], -1)
    against_start = Row((0, 0, 1.0)), Row((0, 1.0, 0))
    both = Affine(np.zeros((2, 1)), Entries([0, -np.pi / 2], {"ray": np.full(2, np.pi / 180)}))
    height = Affine(np.zeros((1, 1)), Entries([-np.pi / 2], {"ray": [np.pi / 180]}))
    along = (*with_cosine(both), Product([(0, 2), (1, 2)]))
    shown, marks = split(
        draw("circle", Line, "sphere", PLANE, clouds.circle(96, *np.eye(2)), size=2, opacity=0.6),
        *ellipses(),
        draw("ray", Line, "query", PLANE, np.array([[0.0], [FARTHEST]]), place=along, size=3),
        draw("strands", Line, "trail", DRAWN, strands, steps=apart, size=1.2),
        (
            Points(
                "strands",
                "input",
                DRAWN,
                only=tuple(range(0, POINTS, DOT)),
                color=began(points[:, 2]),
                size=3,
            ),
        ),
        draw(
            "tip",
            Points,
            "query",
            PLANE,
            np.array([[FARTHEST]]),
            "a ray",
            place=along,
            size=9,
            hand=Turn("ray"),
            hint="drag it",
        ),
    )
    level, over = split(
        draw("curve", Line, "input", against_start, points, steps=layers_keeping_start().steps, size=2.5),
        draw("beads", Points, "input", against_start, beads, steps=layers_keeping_start().steps, **dots),
        draw(
            "level",
            Line,
            "query",
            PLANE[::-1],
            np.array([[-180.0], [180]]),
            place=with_cosine(height),
            size=2.5,
        ),
    )
    trained, networks = networks_view(found)
    return Recipe(
        stages=("circle", *[f"{name} {k}" for k in NUMBERS for name in ("map", "norm")]),
        parameters=(*sliders, Parameter("ray", "the ray", 20, -85, 85, 1, quiet=True)),
        clouds=(*shown, *level, *trained, Cloud("layers", np.eye(1, 2), all_layers())),
        views=(
            square("circle", "The circle, its strands drawn apart", marks, reaching=True),
            graph("sheets", "Height of each point", over, START, HEIGHT),
            networks,
        ),
        formula=r"\frac{(t_k/10 + y/20,\; x - s_k/10)}{\lVert (t_k/10 + y/20,\; x - s_k/10) \rVert}",
        readouts=(Sheets("Strands", "layers"),),
        progress=2 * NORMS,
    )
