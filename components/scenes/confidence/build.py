"""Recipe of the scene `confidence`: RMSNorm before a softmax over three classes, and the probabilities.

The rows of W are vectors of length 1 in the plane of the first two coordinates, 120° apart. So W maps the
third axis to 0: it is the null space of W. A point of the cloud is (x, p, H), and after the norm (z, p', H'):
its position, the probabilities of the three classes there, and their entropy.
"""

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Follow, Followed, Highest, Labels, Line, Points, Way
from components.language.recipe import Largest, Number, Parameter, Recipe, Residual, View
from components.language.scene import Choices
from components.scenes.scenery import Part, draw, followed, globe, scaled, space, split, square
from geometry import Affine, Branches, Entries, Normalize, Pipeline, Pointwise, Softmax, clouds
from geometry.pipeline import Step

TOKEN_COUNT, SEED, D = 240, 11, 3
RADIUS = np.sqrt(D)
CLASS_ANGLES = np.radians([90, 210, 330])
CLASSES = np.stack(
    [np.cos(CLASS_ANGLES), np.sin(CLASS_ANGLES), 0 * CLASS_ANGLES], -1
)  # the rows of W, and corners of the triangle
NAMES = ("A", "B", "C")
TOKENS = clouds.gaussian(TOKEN_COUNT, D, seed=SEED) * [1.0, 1.0, 0.5]
MEAN_FACTOR = float(np.mean(1 / np.sqrt(np.mean(TOKENS**2, axis=1))))  # the mean of 1/RMS, the constant
REACH = 2.1
CAMERA = (0.55, -1.2, 0.7)
PUSHES = np.linspace(0, 8, 41)
POINT_WIDTH = 7  # numbers of a point: place, probabilities, entropy
SPACE = rows(np.eye(3, POINT_WIDTH))
CLASS_A = Row((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))  # reads the probability of class A
TRIANGLE = rows(np.hstack([np.zeros((2, 3)), CLASSES[:, :2].T, np.zeros((2, 1))]))
GAIN = Affine(Entries(np.zeros((D, D)), {f"gamma{i + 1}": np.diag(np.eye(D)[i]) for i in range(D)}))
EQUATOR = clouds.circle(360, *RADIUS * np.eye(3)[:2])


def build(choices: Choices) -> Recipe:
    push = Affine(np.eye(D), Entries(np.zeros(D), {"n": np.eye(D)[2]}))
    place = Branches((described(()), described((norm(),))), "concat")
    moving = Cloud(
        "points",
        TOKENS,
        Pipeline((Affine(np.eye(POINT_WIDTH, 2 * POINT_WIDTH, POINT_WIDTH)),)),
        Pipeline((push, place)),
    )
    edge = Cloud("equator", EQUATOR[0], place=described(()))
    normed = Cloud("normed", TOKENS, place=Pipeline((push, Normalize(radius=RADIUS), *head())))
    blended = Cloud("blended", TOKENS, place=Pipeline((push, norm(), *head())))
    shown, around = split(*scenery())
    color = Color("sequential", 0, 1.1, of=Row((*[0.0] * 6, 1.0)), title="entropy, in nats")
    every = Points("points", "input", SPACE, "a token", color=color, size=4.5, hand=Follow())
    hero = (
        *around,
        Line("equator", "meeting", SPACE, "the equator (ceiling)", order=EQUATOR[1], size=3),
        every,
    )
    return Recipe(
        stages=("x", "norm"),
        parameters=parameters(),
        clouds=(moving, edge, normed, blended, *shown, Cloud("corners", CLASSES[:, :2], labels=NAMES)),
        views=(
            space(
                "space",
                "",
                (*hero, *followed("points", SPACE, "the red point", trail=0)),
                camera=CAMERA,
                reach=REACH,
                reaching=True,
                together=[("n", "t")],
            ),
            triangle(color),
        ),
        formula=r"p = \mathrm{softmax}\left(W (\gamma \odot z)\right), \quad \lVert z \rVert = \sqrt d",
        readouts=(
            Largest("Ceiling of class A", "equator", CLASS_A, digits=3),
            Largest("Largest probability of class A", "points", CLASS_A, digits=3),
            Number(
                "Entropy of the red point, in nats", "points", Row((*[0.0] * 6, 1.0)), Followed(), digits=3
            ),
            Residual("Largest distance of probabilities: norm or constant factor", "blended", "normed"),
        ),
        progress=1,
        follow=7,
    )


def norm() -> Step:
    """RMSNorm if the slider `t` is at 0, multiplication by a constant at 1, and a linear blend between."""
    keep = Affine(Entries(np.eye(D), {"t": -np.eye(D)}))
    constant = Affine(Entries(np.zeros((D, D)), {"t": MEAN_FACTOR * np.eye(D)}))
    return Branches((Pipeline((Normalize(radius=RADIUS), keep)), Pipeline((constant,))))


def head() -> tuple[Step, ...]:
    """Steps from z to the probabilities of three classes: ⊙ γ, W, the factor of the slider `w`, softmax."""
    return GAIN, Affine(CLASSES), scaled(D, "w"), Softmax()


def described(steps: tuple[Step, ...]) -> Pipeline:
    """x ↦ (y, p, H): the result y of the `steps`, the classes' probabilities p for y, their entropy H."""
    entropy = (*head(), Pointwise("entr"), Affine(np.ones((1, D))))
    beside = Branches((Pipeline(()), Pipeline(head()), Pipeline(entropy)), "concat")
    return Pipeline((*steps, beside))


def parameters() -> tuple[Parameter, ...]:
    gains = [
        Parameter(f"gamma{i + 1}", f"γ{'₁₂₃'[i]}", 1, -2, 2, symbol="γ", group="gain γ", vector=True)
        for i in range(D)
    ]
    return (
        Parameter("w", "length of W", 1, 0, 4, symbol="W", about="of each of its rows"),
        *gains,
        Parameter("n", "null space", 0, 0, 8, about="added to x₃ of every token, which W does not see"),
        Parameter(
            "t", "constant factor", 0, 0, 1, about="0: the norm; 1: in its place, one factor for all tokens"
        ),
    )


def scenery() -> list[Part]:
    """The sphere, for each class a labelled arrow along γ ⊙ (its row of W), and W's null space."""
    show = rows(np.eye(3))
    arrows = clouds.segments(np.stack([0 * CLASSES, 1.3 * CLASSES], 1))
    up = np.eye(3)[2:]
    return [
        *globe(show, RADIUS * np.eye(3), "the sphere of radius √d", mesh=0.08, net=0.25),
        draw(
            "classes",
            Line,
            "query",
            show,
            arrows,
            "directions of W's rows, times γ",
            place=(GAIN,),
            size=4,
            arrow=0.18,
        ),
        draw("class names", Labels, "query", show, 1.46 * CLASSES, labels=NAMES, place=(GAIN,)),
        draw(
            "null space",
            Line,
            "other",
            show,
            np.vstack([-1.95 * up, 1.95 * up]),
            "the null space of W",
            size=3,
        ),
    ]


def triangle(color: Color) -> View:
    """View of the probabilities of three classes in a triangle.

    At a corner one class has the probability 1; in the middle all three are equal.
    """
    outline = np.array([0, 1, 2, 0])
    flat = rows(np.eye(2))
    marks = (
        Line("corners", "axis", flat, order=outline, size=2),
        Labels("corners", "query", rows(1.12 * np.eye(2))),
        Line("equator", "meeting", TRIANGLE, "the ceiling", order=EQUATOR[1], size=3),
        Points("points", "input", TRIANGLE, color=color, size=5, hand=Follow()),
        Way(
            "points",
            "followed",
            TRIANGLE,
            "pushed into the null space",
            parameter="n",
            stops=PUSHES,
            only=Followed(),
            whole=True,
            size=2,
        ),
        Points(
            "equator", "meeting", TRIANGLE, "ceiling of class A", only=Highest(CLASS_A), size=10, glyph="ring"
        ),
        Points("points", "followed", TRIANGLE, only=Followed(), size=10),
    )
    return square("triangle", "Probabilities of the classes", marks, 1.25)
