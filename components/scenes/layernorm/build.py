"""Recipe of the scene `layernorm`: a cloud of points through centring, scaling, gain and shift.

The direction 𝟏 is drawn upright, so the hyperplane U (Σx = 0) lies level. For d = 4 the picture shows only
the three dimensions of U.
"""

from collections.abc import Sequence

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Follow, Followed, Line, Mark, Mesh, Points, SemiAxes, Trail
from components.language.recipe import Facts, Lengths, Number, Parameter, Recipe, Table, View
from components.language.scene import Choices, WrongValue
from components.language.typed_vectors import parse_vectors
from components.scenes.scenery import (
    EPS,
    Look,
    Part,
    Steps,
    angle,
    axes,
    draw,
    evenly,
    fitted,
    followed,
    globe,
    mean_line,
    rest,
    space,
    split,
    square,
)
from geometry import Affine, Entries, Normalize, Pipeline, clouds
from geometry.centering import centering_matrix, hyperplane_basis, upright_basis
from geometry.norms import layer_norm

# the vectors in the text field at first; fitted to any dimension until the reader changes them
DEFAULT_VECTORS = "5 8 2; 1 0 1; -2 1 4"
TYPED_OR_WORKED = {"worked": "Worked example", "own": "My own vectors"}
SUBSCRIPTS = "₁₂₃₄"
MEETING_TITLE = "the circle, later an ellipse"
HYPERPLANE_NAMES = {2: "the line Σx = 0", 3: "the plane Σx = 0", 4: "the hyperplane Σx = 0"}
CAMERA = (0.27, -1.31, 0.47)
DEFAULT_SPREAD = {"gaussian": 0.6}  # default scale c, otherwise 1: cloud and sphere are both large
TAIL_COUNT = 7  # points that leave a tail


def build(choices: Choices) -> Recipe:
    d, centered = int(choices["d"]), choices["variant"] == "layernorm"
    points, steps = sample(choices, d), pipeline(d, centered, choices["convention"])
    # for d = 4 a colour shows the coordinate along 𝟏, with 0 in the middle of its scale
    unmoved = choices["points"] in TYPED_OR_WORKED or d == 4
    spread, mean = DEFAULT_SPREAD.get(choices["points"], 1), 0 if unmoved else 0.8
    reach = float(max(spread * np.abs(points @ display(d).T).max() * 1.1, 3.2))
    guide_clouds, around = split(*guides(d, centered, steps, reach))
    place = Affine(
        Entries(np.zeros((d, d)), {"spread": np.eye(d)}), Entries(np.zeros(d), {"mean": np.ones(d)})
    )
    # For ε = 0 the steps lead exactly onto the surfaces: the hyperplane (not for RMSNorm), then the sphere.
    exact = [Normalize() if isinstance(step, Normalize) else step for step in steps]
    ideal = Pipeline((place, *steps[:centered]))
    middle = ("unit sphere", f"× √{d}", "⊙ γ")
    layers = (*around, *point_marks(d, points, len(steps), spread))
    return Recipe(
        stages=("x", "centre", *middle, "+ β") if centered else ("x", *middle),
        parameters=parameters(d, centered, spread, mean),
        clouds=(
            Cloud("points", points, Pipeline(steps), Pipeline((place,))),
            Cloud("ideal", points[:1], Pipeline(exact), ideal),
            *guide_clouds,
        ),
        views=(view(d, layers),),
        formula=formula(centered, choices["convention"]),
        table=Table("points", "ideal", f"to {HYPERPLANE_NAMES[d]}" if centered else ""),
        readouts=(
            Number("Mean of the red point now", "points", Row((1 / d,) * d), Followed()),
            Lengths("Semi-axes", "frame"),
        ),
        facts=facts(points) if centered and len(points) > d else None,
    )


def view(d: int, layers: Sequence[Mark]) -> View:
    if d > 2:
        return space("space", "", layers, camera=CAMERA, reaching=True)
    return square("space", "", layers, reaching=True)


def sample(choices: Choices, d: int) -> np.ndarray:
    """The points (n, d) that the choices describe. Raises `WrongValue` for unusable vectors of the reader."""
    n, kind = choices["n"], choices["points"]
    if kind == "own":
        try:
            text = choices["vectors"]
            return fitted(parse_vectors(text, d=3 if text == DEFAULT_VECTORS else d), d)
        except ValueError as wrong:
            raise WrongValue("vectors", str(wrong), {"a line": f"{d} numbers", "lines": "1 to 500"}) from None
    if kind == "worked":
        return np.array([[5.0, 8.0, 2.0, 1.0][:d]])
    if kind == "lattice":
        return clouds.lattice(n, d)
    if kind == "ring":
        up, u = np.ones(d) / np.sqrt(d), hyperplane_basis(d)
        # tilted against U, so that centring is seen to flatten it
        side = u[1] if d > 2 else up
        return clouds.ring(n, 0.8 * u[0] + 0.6 * up, side, radius=1.6, center=0.9 * up)
    return clouds.gaussian(n, d, seed=choices["seed"])


def pipeline(d: int, centered: bool, convention: str) -> tuple[Affine | Normalize, ...]:
    """The steps of LayerNorm: centre → unit sphere → × √d → ⊙ γ → + β. RMSNorm has only the middle three.

    centered: True for LayerNorm, False for RMSNorm. convention: where ε is added.
    """
    gain = Entries(np.zeros((d, d)), {f"gamma{i + 1}": np.diag(np.eye(d)[i]) for i in range(d)})
    shift = Entries(np.zeros(d), {f"beta{i + 1}": np.eye(d)[i] for i in range(d)})
    middle = (Normalize(eps=EPS, convention=convention), Affine(np.sqrt(d) * np.eye(d)), Affine(gain))
    return (Affine(centering_matrix(d)), *middle, Affine(np.eye(d), shift)) if centered else middle


def facts(points: np.ndarray) -> Facts:
    """Table of the eigenvalues of the covariance of LayerNorm's results before γ and β, for ε = 0.

    One of them is 0, because the results are centred.
    """
    covariance = np.cov(layer_norm(points, eps=0.0).T, bias=True)
    values = [f"{abs(value):.3f}" for value in np.linalg.eigvalsh(covariance)[::-1]]
    title = "Covariance of the results for ε = 0, before γ and β"
    return Facts(title, ("", *map(str, range(1, len(values) + 1))), [("eigenvalue", *values)])


def parameters(d: int, centered: bool, spread: float, mean: float) -> tuple[Parameter, ...]:
    axes = list(enumerate(SUBSCRIPTS[:d], 1))
    about = "added to every coordinate of every point"
    shift = Parameter("mean", "mean", mean, -2, 2, about=about)
    about = "times every point, before the mean is added"
    size = Parameter("spread", "scale c", spread, 0.1, 2, about=about, folded=True)
    about = "keeps the division safe"
    eps = Parameter("eps", "ε", 1e-5, 1e-8, 10, scale="log", symbol="ε", about=about)
    gains = [
        Parameter(f"gamma{i}", f"γ{s}", 1, -2, 2, symbol="γ", group="gain γ", vector=True) for i, s in axes
    ]
    shifts = [
        Parameter(f"beta{i}", f"β{s}", 0, -1.5, 1.5, symbol="β", group="shift β", vector=True, folded=True)
        for i, s in axes
    ]
    return (shift, eps, *gains, *(shifts if centered else ()), size)


def display(d: int) -> np.ndarray:
    """The directions of the picture's axes: a basis of U, and then 𝟏; if d = 4, only a basis of U."""
    return hyperplane_basis(d) if d == 4 else upright_basis(d)


def guides(d: int, centered: bool, steps: tuple[Affine | Normalize, ...], reach: float) -> list[Part]:
    """The axes, the line along 𝟏, the hyperplane, the sphere or circle on which points land, and semi-axes.

    The axes and the line along 𝟏 never move. The hyperplane moves from the stage `⊙ γ` on. Sphere, circle and
    semi-axes move with the points from the stage `unit sphere` on; `sphere` and `circle` say in which cases
    γ and β do not deform them. reach: about the largest displayed coordinate of a point, at least 3.2. The
    sizes of the axes, the line along 𝟏 and the hyperplane are in proportion to it.
    """
    show, names = rows(display(d)), [f"x{s}" for s in SUBSCRIPTS[:d]]
    arrival = arrival_stage(centered)
    surface = (*rest(d, arrival), *steps[arrival:])
    parts = axes(show, names, -0.5 * reach, 0.5 * reach, 0.54 * reach, opacity=0.55)
    if d < 4:
        fade = [1, 0.7, 0.3, 0.25, 0.2, 0.2] if centered else [0.5] * 4
        parts += mean_line(show, d, 0.76 * reach, 0.82 * reach, "the line along 𝟏", size=5, fade=fade)
    if centered and d < 4:
        parts += hyperplane(d, (*rest(d, arrival + 1), *steps[arrival + 1 :]), reach)
    if d == 2 or (d == 3 and centered):
        parts.append(circle(d, centered, surface))
    if d > 2:
        parts += sphere(d, centered, surface)
    return [*parts, semi_axes(d, centered, surface)]


def arrival_stage(centered: bool) -> int:
    """The stage at which the points reach the unit sphere: 2 if they are centred first, otherwise 1.

    centered: True for LayerNorm, False for RMSNorm.
    """
    return 2 if centered else 1


def hyperplane(d: int, steps: Steps, reach: float) -> list[Part]:
    """The hyperplane U of LayerNorm: a line for d = 2, a disc with a rim for d = 3.

    The `steps` move the line or disc. Its size is in proportion to `reach`.
    """
    show, u, title = rows(display(d)), hyperplane_basis(d), f"{HYPERPLANE_NAMES[d]}, later moved"
    shared: Look = {"steps": steps, "guide": True}
    if d == 2:
        line, fade = 0.95 * reach * np.vstack([-u, u]), [0.8, 1, 0.6, 0.5, 0.4, 0.3]
        return [draw("hyperplane", Line, "hyperplane", show, line, title, size=3, fade=fade, **shared)]
    disc = clouds.turned(clouds.disc_mesh(), 0.7 * reach * u)
    rim = clouds.circle(96, *u, radius=0.7 * reach)
    faint, fade = [0.22, 0.3, 0.16, 0.12, 0.1, 0.08], [0.7, 0.8, 0.4, 0.3, 0.25, 0.2]
    return [
        draw("hyperplane", Mesh, "hyperplane", show, disc, title, fade=faint, **shared),
        draw("hyperplane edge", Line, "hyperplane", show, rim, size=2, fade=fade, **shared),
    ]


def circle(d: int, centered: bool, surface: Steps) -> Part:
    """Cloud and mark of the circle on which the points land, for d = 2, or for LayerNorm with d = 3.

    For LayerNorm with d = 2, points land only where the line U meets the circle, so γ and β do not deform it.
    Otherwise they deform it to an ellipse. centered: True for LayerNorm. surface: the steps of the unit
    sphere, which does not move until the data points arrive on it.
    """
    show, arrival = rows(display(d)), arrival_stage(centered)
    fade = [*[0.3] * (arrival - 1), 0.75, *[1.0] * (len(surface) - arrival + 1)]
    if d == 3:
        shape, title = clouds.circle(128, *hyperplane_basis(d)), MEETING_TITLE
        return draw("circle", Line, "meeting", show, shape, title, steps=surface, size=5, fade=fade)
    role, steps, size = ("sphere", to_radius(surface, centered), 2) if centered else ("meeting", surface, 5)
    shape = clouds.circle(128, *np.eye(2))
    return draw("circle", Line, role, show, shape, "the circle", steps=steps, size=size, fade=fade)


def sphere(d: int, centered: bool, surface: Steps) -> list[Part]:
    """The sphere on which the points land. Usually γ and β, the last of the steps `surface`, deform it.

    In two cases they do not deform it: for LayerNorm with d = 3, where the points land only on the circle
    in which the plane U meets the sphere; and for RMSNorm with d = 4, where the sphere is the projection of
    the 3-sphere to the hyperplane U.
    """
    guide, arrival = d == 3 and centered, arrival_stage(centered)
    later = len(surface) - arrival
    mesh = [0.04, 0.08, 0.16, 0.13, 0.05, 0.05] if guide else [0.05] * arrival + [0.16] * (later + 1)
    steps, title = to_radius(surface, centered) if guide else surface, "the sphere"
    if d == 4 and not centered:  # the 3-sphere projected onto U; γ does not act within U
        mesh, steps, title = [*mesh[:-1], 0.05], to_radius(surface, centered), "the shadow of the sphere"
    radii, net = np.eye(3) if d == 3 else hyperplane_basis(d), [3 * m for m in mesh]
    return globe(rows(display(d)), radii, title, mesh=mesh, net=net, steps=steps)


def to_radius(surface: Steps, centered: bool) -> Steps:
    """The first of the steps `surface`, up to the step that brings points to the radius √d.

    centered: True for LayerNorm, False for RMSNorm.
    """
    return surface[: arrival_stage(centered) + 1]


def semi_axes(d: int, centered: bool, surface: Steps) -> Part:
    """Cloud and mark of the ellipsoid's semi-axes, shown from the stage at which γ makes it.

    centered: True for LayerNorm. surface: the steps of the unit sphere, which does not move until the data
    points arrive on it.
    """
    arrival = arrival_stage(centered)
    frame = np.vstack([np.zeros(d), hyperplane_basis(d) if centered else np.eye(d)])
    fade = [*[0.0] * (arrival + 2), *[1.0] * (len(surface) - arrival - 1)]
    show = rows(display(d))
    return draw("frame", SemiAxes, "ellipsoid", show, frame, "semi-axes", steps=surface, fade=fade)


def point_marks(d: int, points: np.ndarray, last: int, spread: float) -> tuple[Mark, ...]:
    """Marks of the points, of the trails of some of them, and of the followed (selected) point.

    last: the number of the last stage. spread: the default of the slider that multiplies the points. For
    d = 4 the ends of the colour scale are in proportion to it.
    """
    n, show, start = len(points), rows(display(d)), rows(display(d), stage=0)
    few, size = evenly(n, TAIL_COUNT), 9 if n < 50 else 4.5 if n <= 1500 else 2.5
    color = None
    if d == 3:
        color = angle(points @ hyperplane_basis(3)[::-1].T, "direction in the plane")
    if d == 4:
        missing = "the coordinate along 𝟏, which the picture leaves out"
        most = round(spread * float(np.sqrt(np.mean(points.sum(1) ** 2))), 1) or 3.0  # twice its RMS
        color = Color("height", -most, most, of=Row((0.5,) * 4), title=missing)
    return (
        Points("points", "input", show, "a point", color=color, size=size, hand=Follow()),
        Trail("points", "trail", show, only=few, size=2, opacity=0.8),
        Points("points", "trail", start, only=few, size=4, fade=[0, *[0.7] * last]),
        *followed("points", show, "the followed point"),
    )


def formula(centered: bool, convention: str) -> str:
    v, k = (r"x - \mu 𝟏", 2) if centered else ("x", 1)
    over = rf"\class{{stage-1 role-hyperplane}}{{{v}}}" if centered else v
    length = rf"\lVert {v} \rVert"
    below = {
        "pytorch": rf"\sqrt{{{length}^2 + d\, \varepsilon}}",
        "std": rf"{length} + \sqrt{{d}}\, \varepsilon",
        "bare": rf"\sqrt{{{length}^2 + \varepsilon}}",
    }
    unit = rf"\class{{stage-{k} role-sphere}}{{\frac{{{over}}}{{{below[convention]}}}}}"
    root = rf"\class{{stage-{k + 1} role-sphere}}{{\sqrt{{d}}}}"
    gain = rf"\class{{stage-{k + 2} role-ellipsoid}}{{\gamma \odot}}"
    return rf"y = {gain} {root}\, {unit}" + (r" \class{stage-5 role-shift}{+ \beta}" if centered else "")
