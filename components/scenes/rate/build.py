"""Recipe of the scene `rate`: an optimiser's path for a weight in the plane whose length does not matter.

The loss is L = −pull·⟨a, w/‖w‖⟩, with noise in its gradient. For point k of the path, the step `Orbit`
computes the optimiser's state after k steps (w, the w before, k, and for Adam its averages). From this state
`numbers` computes the five numbers that are drawn.
"""

from dataclasses import dataclass

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Labels, Line, Points
from components.language.recipe import Number, Parameter, Recipe, View
from components.language.scene import Choices
from components.scenes.scenery import draw, graph, scaled, split, square
from geometry import (
    Affine,
    Branches,
    Derivative,
    Entries,
    Normalize,
    Orbit,
    Pipeline,
    Pointwise,
    Product,
    clouds,
)
from geometry.pipeline import Step

STEPS, SEED = 240, 4
BEST_DIRECTION = np.array([1.0, 0.0])  # a, where the loss is lowest
START_DIRECTION = np.array([-0.8, 0.6])
MAX_SHOWN_LENGTH = 5.0
BETA1, BETA2, ADAM_EPS = 0.9, 0.999, 1e-8  # Adam's, as in PyTorch
# added to 2λ − ηλ² and to η·noise², which may be 0: without decay, the balance is far outside the picture
NO_DECAY, NO_NOISE = 1e-13, 1e-10
NOISE = np.random.default_rng(SEED).normal(size=(STEPS + 1, 2))
EYE = np.eye(2)
TIMES_MINUS_RATE = Affine(Entries(0 * EYE, {"rate": -EYE}))


def build(choices: Choices) -> Recipe:
    adam = choices["optimiser"] == "adam"
    path = adam_path() if adam else gradient_path()
    place = Pipeline(
        (
            *path.place,
            Orbit(Pipeline(path.step), path.state, Entries(0.0, {"steps": 1.0})),
            *numbers(path.state),
        )
    )
    cloud = Cloud("path", path.points, Pipeline((Normalize(groups=((0, 1),)),)), place)
    law = Cloud("law", np.array([[0.0], [float(STEPS)]]), place=settled())
    guides, around = split(
        draw("circle", Line, "sphere", rows(EYE), clouds.circle(96, *EYE), "length 1", size=2),
        draw(
            "target",
            Line,
            "query",
            rows(EYE),
            np.array([[0, 0], 1.35 * BEST_DIRECTION]),
            "the pull",
            place=(scaled(2, "pull"),),
            size=4,
            arrow=0.16,
        ),
        draw("origin", Labels, "axis", rows(EYE), np.array([[-0.12, -0.14]]), labels=["0"]),
    )
    return Recipe(
        stages=("w", "w/‖w‖"),
        parameters=parameters(adam),
        clouds=(cloud, *guides, law),
        views=(plane(around), length(adam), turn()),
        formula=formula(adam),
        readouts=(Number("Length of w now", "path", LENGTH, STEPS, digits=3),),
        clock="steps",
        follow=0,
    )


# A point of the path is (w₁, w₂, ‖w‖, number of the step, log₁₀ of its turn in degrees).
LENGTH = Row((0.0, 0.0, 1.0))
NUMBER, TURN = Row((0.0, 0.0, 0.0, 1.0)), Row((0.0, 0.0, 0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Path:
    """The arguments of the step `Orbit` that computes an optimiser's path by repeating `step`.

    state   the number of coordinates that an iteration computes; they come first in each point
    points  the points of the cloud: the start, then one for each iteration. An iteration's point has its
            inputs, here noise, after `state` unused coordinates
    place   steps that are applied to the points once, before the orbit
    step    the steps of one iteration
    """

    points: np.ndarray
    place: tuple[Step, ...]
    step: tuple[Step, ...]
    state: int


# --- one step


def gradient(width: int, inputs: int) -> Pipeline:
    """Pipeline that computes the gradient of the loss at a weight w: ∇L(w) = J(−pull·a + noise·ξ).

    J is the Jacobian of w ↦ w/‖w‖, and a is BEST_DIRECTION, where the loss is lowest. `pull` and `noise` are
    sliders. The pipeline takes points with `width` coordinates. The first two are w; those with the indices
    `inputs` and `inputs` + 1 are the random vector ξ; the others are ignored.
    """
    at = np.eye(width)
    take = np.vstack([at[:2], np.zeros((2, width))])
    pull = Entries(np.zeros(4), {"pull": np.concatenate([[0, 0], -BEST_DIRECTION])})
    noise = Entries(take, {"noise": np.vstack([np.zeros((2, width)), at[inputs : inputs + 2]])})
    return Pipeline((Affine(noise, pull), Derivative(Pipeline((Normalize(),))), Affine(np.eye(2, 4, 2))))


def gradient_path() -> Path:
    """The path of gradient descent, w ← w − η(∇L + λw).

    The state is w, the w before the last step, and the number of steps.
    """
    state, width = 5, 7
    at = np.eye(width)
    w, before_and_number = only(at[:2]), Pipeline((Affine(at[[0, 1, 4]], [0.0, 0.0, 1.0]),))
    new = Branches((w, Pipeline((Branches((gradient(width, state), decay(width))), TIMES_MINUS_RATE))))
    return Path(
        points(state), (begin(width),), (Branches((Pipeline((new,)), before_and_number), "concat"),), state
    )


def adam_path() -> Path:
    """The path of Adam with decoupled weight decay.

    The state is w, the w before the last step, the number of steps t, Adam's averages m and v of the gradient
    and of its square, and the corrections 1 − β₁ᵗ and 1 − β₂ᵗ.
    """
    state, width = 11, 15  # after the state: the noise of the step, and then the gradient
    with_gradient = Branches((Pipeline(()), gradient(13, state)), "concat")
    at, known = np.eye(width), np.eye(9)  # known: w, the number, m, v, the corrections
    g, m, v, correction1, correction2 = at[13:15], at[5:7], at[7:9], at[[9]], at[[10]]
    average = BETA1 * m + (1 - BETA1) * g
    linear = np.vstack([at[:2], at[[4]], average, BETA2 * v, BETA1 * correction1, BETA2 * correction2])
    constant = [0, 0, 1, 0, 0, 0, 0, 1 - BETA1, 1 - BETA2]
    squares = Pipeline((Product([(13, 13), (14, 14)]), Affine((1 - BETA2) * known[:, 5:7])))
    averages = Branches((Pipeline((Affine(linear, constant),)), squares))
    inverse = Pipeline((Affine(known[7:]), Pointwise("reciprocal")))
    corrected = Branches((only(known[3:7]), inverse), "concat"), Product([(0, 4), (1, 4), (2, 5), (3, 5)])
    root = Affine(np.eye(2, 4, 2)), Pointwise("sqrt"), Affine(EYE, [ADAM_EPS, ADAM_EPS])
    divisor = Pipeline((*root, Pointwise("reciprocal")))
    quotient = Branches((only(np.eye(2, 4)), divisor), "concat"), Product([(0, 2), (1, 3)])
    w, change = only(known[:2]), Branches((Pipeline((*corrected, *quotient)), decay(9)))
    new = Pipeline((Branches((w, Pipeline((change, TIMES_MINUS_RATE)))),))
    moved = Branches((new, w, only(known[2:])), "concat")
    return Path(points(state), (begin(13),), (with_gradient, averages, moved), state)


def decay(width: int) -> Pipeline:
    """Pipeline from points with `width` coordinates, the first two being w, to λw."""
    return Pipeline((Affine(Entries(np.zeros((2, width)), {"decay": np.eye(2, width)})),))


def only(rows_: np.ndarray) -> Pipeline:
    return Pipeline((Affine(rows_),))


def points(state: int) -> np.ndarray:
    """The points from which the step `Orbit` computes a path: the start, and one for each optimiser step.

    A point has `state` zeros, then two random numbers: the noise in the gradient of its step. The two numbers
    of the start are not used.
    """
    return np.hstack([np.zeros((STEPS + 1, state)), NOISE])


def begin(width: int) -> Affine:
    """The step that adds START_DIRECTION, times the slider `start`, to w and to the w before the last step.

    Before this, both are 0. They are the first four of a point's `width` coordinates.
    """
    start = np.concatenate([START_DIRECTION, START_DIRECTION, np.zeros(width - 4)])
    return Affine(np.eye(width), Entries(np.zeros(width), {"start": start}))


def angle_between(state: int) -> Pipeline:
    """(w', w, rest) ↦ the angle from w to w' in degrees, for points with `state` coordinates.

    The angle is arctan of the cross product over the dot product, so it is between −90 and 90. No optimiser
    step of this scene turns w by more than 90° (tests/scenes/test_rate.py).
    """
    both = Affine(np.eye(4, state))
    cross = Pipeline((both, Product([(2, 1), (3, 0)]), Affine([[1, -1]])))
    dot = Pipeline((both, Product([(2, 0), (3, 1)]), Affine([[1, 1]]), Pointwise("reciprocal")))
    degrees = Product([(0, 1)]), Pointwise("arctan"), Affine([[180 / np.pi]])
    return Pipeline((Branches((cross, dot), "concat"), *degrees))


def numbers(state: int) -> tuple[Step, ...]:
    """Steps from a state of the training to the numbers that are drawn.

    These are w (2 numbers), its length, the number of training steps, and log₁₀ of the angle in degrees by
    which the last step turned w. state: the number of coordinates of a state.
    """
    at = np.eye(state)
    size = Pipeline((Affine(at[:2]), Product([(0, 0), (1, 1)]), Affine([[1, 1]]), Pointwise("sqrt")))
    turn = Pipeline((*angle_between(state).steps, Pointwise("abs"), Pointwise("log10")))
    return (Branches((only(at[:2]), size, only(at[[4]]), turn), "concat"),)


def settled() -> Pipeline:
    """k ↦ (k, r), where r is the length of w at which noise and weight decay balance.

    r is (η·noise²/(2λ − ηλ²))^¼ at every step k of the optimiser.
    """
    names = ("rate", "noise", "decay")
    sliders = Affine(np.zeros((3, 1)), Entries(np.zeros(3), dict(zip(names, np.eye(3), strict=True))))
    lost = Product([(2,), (0, 2, 2)]), Affine([[2.0, -1.0]], [NO_DECAY]), Pointwise("reciprocal")
    fourth_power = (
        Branches((Pipeline((Product([(0, 1, 1)]), Affine([[1.0]], [NO_NOISE]))), Pipeline(lost)), "concat"),
        Product([(0, 1)]),
    )
    root = Pipeline((sliders, *fourth_power, Pointwise("sqrt"), Pointwise("sqrt")))
    return Pipeline((Branches((Pipeline(()), root), "concat"),))


# --- what is shown


def parameters(adam: bool) -> tuple[Parameter, ...]:
    at, low, high = (0.02, 0.001, 0.3) if adam else (0.15, 0.01, 2.0)
    return (
        Parameter("rate", "learning rate η", at, low, high, scale="log", symbol="η", about="of each step"),
        Parameter("decay", "weight decay λ", 0, 0, 0.3, 0.001, symbol="λ", about="pulls w to the origin"),
        Parameter("noise", "noise", 0.5, 0, 2, about="in the gradient, a new draw in each step"),
        Parameter("pull", "pull", 1, 0, 2, about="how strongly the loss prefers a direction", folded=True),
        Parameter("start", "start length", 1, 0.2, 3, about="of w", folded=True),
        Parameter("steps", "steps", STEPS, 0, STEPS, 1, about="taken by the optimiser"),
    )


def plane(around: tuple) -> View:
    """View of the path of w in the plane, with the marks `around`, such as the unit circle."""
    color = Color("sequential", 0, STEPS, np.arange(STEPS + 1.0), title="step")
    flat = rows(np.eye(2, 5))
    marks = (
        *around,
        Line("path", "trail", flat, size=1.5, opacity=0.6),
        Points("path", "input", flat, color=color, size=4.5),
        Points("path", "followed", flat, "w now", only=[STEPS], size=11),
    )
    return square("plane", "", marks, reaching=True)


def length(adam: bool) -> View:
    marks = (
        *(
            ()
            if adam
            else (Line("law", "formula", rows(EYE), "equilibrium for noise alone", size=3, dash="dash"),)
        ),
        Line("path", "input", (NUMBER, LENGTH), size=3),
        Points("path", "followed", (NUMBER, LENGTH), only=[STEPS], size=9),
    )
    return graph("length", "Length of w", marks, ("step", 0, STEPS), ("‖w‖", 0, MAX_SHOWN_LENGTH))


def turn() -> View:
    marks = (
        Points("path", "input", (NUMBER, TURN), only=list(range(1, STEPS + 1)), size=3.5),
        Points("path", "followed", (NUMBER, TURN), only=[STEPS], size=9),
    )
    return graph("turn", "How far w turns in a step", marks, ("step", 0, STEPS), ("log₁₀ degrees", -3, 2))


def formula(adam: bool) -> str:
    change = r"\frac{\hat m}{\sqrt{\hat v} + \epsilon}" if adam else r"\nabla L(w)"
    return rf"w \leftarrow w - \eta \left({change} + \lambda\, w\right), \quad L(w) = L(w / \lVert w \rVert)"
