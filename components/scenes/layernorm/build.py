"""The recipe of the LayerNorm scene.

Display: the mean direction 1 is up, the hyperplane U lies flat; for d = 4 the three directions are a basis of U.
"""

from __future__ import annotations

import numpy as np

from components.recipe import Cloud, Color, Layer, Parameter, Recipe, Row, Table, View, rows
from components.scene import Choices, WrongValue
from geometry import Affine, Entries, Normalize, Pipeline, clouds
from geometry.centering import centering_matrix, hyperplane_basis

SUBSCRIPTS = "₁₂₃₄"
SHOWN = 7  # highlighted points, which leave tails


def build(choices: Choices) -> Recipe:
    d, centered = int(choices["d"]), choices["variant"] == "layernorm"
    points = sample(choices, d)
    steps = pipeline(d, centered, choices["convention"])
    stages = [
        "x",
        *(["center"] if centered else []),
        "unit sphere",
        f"× √{d}",
        "⊙ γ",
        *(["+ β"] if centered else []),
    ]
    sphere = 2 if centered else 1  # the stage at which the points reach the unit sphere
    reach = float(max(np.abs(points @ display(d).T).max() * 1.1, 3.2))
    everything = scenery(d, centered, sphere, steps, reach)
    place = Pipeline((Affine(np.eye(d), Entries(np.zeros(d), {"mean": np.ones(d)})),))
    cloud = Cloud("points", points, Pipeline(steps), place)
    ideal = Cloud("ideal", points[:1], Pipeline(without_eps(steps)), surface_first(place, d, centered))
    return Recipe(
        stages=stages,
        parameters=parameters(d, centered),
        clouds=(cloud, ideal, *(c for c, _ in everything)),
        views=(view(d, len(stages), points, [layer for _, layers in everything for layer in layers], reach),),
        formula=formula(centered),
        table=Table("points", "ideal"),
    )


def sample(choices: Choices, d: int) -> np.ndarray:
    """The chosen points (n, d)."""
    n, kind = choices["n"], choices["points"]
    if kind == "own":
        try:
            return clouds.parse_vectors(choices["vectors"], d=d)
        except ValueError as wrong:
            raise WrongValue("vectors", str(wrong), {"a line": f"{d} numbers", "lines": "1 to 500"}) from None
    if kind == "worked":
        return np.array([[5.0, 8.0, 2.0, 1.0][:d]])
    if kind == "lattice":
        return clouds.lattice(n, d)
    if kind == "ring":
        up, u = np.ones(d) / np.sqrt(d), hyperplane_basis(d)
        # tilted against U, so that centering is seen to flatten it
        side = u[1] if d > 2 else up
        return clouds.ring(n, 0.8 * u[0] + 0.6 * up, side, radius=1.6, center=0.9 * up)
    return clouds.gaussian(n, d, seed=choices["seed"])


def pipeline(d: int, centered: bool, convention: str) -> tuple:
    """x → center → unit sphere → × √d → ⊙ γ → + β; without the first and last for RMSNorm."""
    gain = Entries(np.zeros((d, d)), {f"gamma{i + 1}": np.diag(np.eye(d)[i]) for i in range(d)})
    shift = Entries(np.zeros(d), {f"beta{i + 1}": np.eye(d)[i] for i in range(d)})
    eps = Entries(0.0, {"eps": np.float64(1.0)})
    middle = (Normalize(eps=eps, convention=convention), Affine(np.sqrt(d) * np.eye(d)), Affine(gain))
    return (Affine(centering_matrix(d)), *middle, Affine(np.eye(d), shift)) if centered else middle


def without_eps(steps: tuple) -> tuple:
    """The same steps with ε = 0: where they land is the surface."""
    return tuple(Normalize() if isinstance(s, Normalize) else s for s in steps)


def surface_first(place: Pipeline, d: int, centered: bool) -> Pipeline:
    """The first surface of LayerNorm is the hyperplane, of RMSNorm the space itself."""
    return Pipeline((*place.steps, Affine(centering_matrix(d)))) if centered else place


def parameters(d: int, centered: bool) -> tuple[Parameter, ...]:
    each = [SUBSCRIPTS[i] for i in range(d)]
    gains = [Parameter(f"gamma{i + 1}", f"γ{s}", 1, -2, 2, 0.01, group="Gain γ") for i, s in enumerate(each)]
    shifts = [
        Parameter(f"beta{i + 1}", f"β{s}", 0, -1.5, 1.5, 0.01, group="Shift β") for i, s in enumerate(each)
    ]
    return (
        Parameter(
            "mean",
            "mean",
            0.8,
            -2,
            2,
            0.01,
            group="The cloud",
            about="added to every component of every point",
        ),
        Parameter(
            "eps", "ε", 1e-5, 1e-8, 10, scale="log", group="The cloud", about="keeps the division safe"
        ),
        *gains,
        *(shifts if centered else ()),
    )


def display(d: int) -> np.ndarray:
    """Rows of the picture's axes: a basis of U, then the mean direction (d = 4 shows U only)."""
    return hyperplane_basis(d) if d == 4 else np.vstack([hyperplane_basis(d), np.ones(d) / np.sqrt(d)])


def scenery(
    d: int, centered: bool, sphere: int, steps: tuple, reach: float
) -> list[tuple[Cloud, list[Layer]]]:
    """What stands around the points, as clouds of their own that go through the same gain and shift."""
    project, up, u = display(d), np.ones((1, d)) / np.sqrt(d), hyperplane_basis(d)
    after = steps[sphere:]
    follow = Pipeline((*[Affine(np.eye(d))] * sphere, *after))  # rests until the sphere is reached
    last = sphere + len(after)

    def fade(*values: float) -> list[float]:
        """Opacity at x … unit sphere, × √d, gain, shift."""
        return list(values[: last + 1])

    found: list[tuple[Cloud, list[Layer]]] = []
    show = rows(project)
    axes, axes_order = clouds.segments(np.stack([-reach * 0.5 * np.eye(d), reach * 0.5 * np.eye(d)], 1))
    found.append(
        (Cloud("axes", axes), [Layer("axes", "line", "axis", show, order=axes_order, size=1.5, opacity=0.55)])
    )
    names = [f"x{SUBSCRIPTS[i]}" for i in range(d)]
    found.append(
        (
            Cloud("axis names", reach * 0.54 * np.eye(d), labels=names),
            [Layer("axis names", "labels", "axis", show)],
        )
    )
    if d < 4:
        line = np.vstack([-up, up]) * reach * 0.82
        fades = fade(1, 0.7, 0.3, 0.25, 0.2, 0.2) if centered else [0.5] * (last + 1)
        found.append(
            (
                Cloud("mean line", line),
                [Layer("mean line", "line", "mean-direction", show, "the line along 1", size=5, fade=fades)],
            )
        )
        found.append(
            (
                Cloud("one", up * 0.88 * reach, labels=["𝟏"]),
                [Layer("one", "labels", "mean-direction", show, fade=fades)],
            )
        )
    if centered and d == 3:
        disc, triangles = clouds.disc_mesh()
        plane = Cloud(
            "hyperplane", disc @ u * reach * 0.7, Pipeline((*[Affine(np.eye(d))] * (sphere + 1), *after[1:]))
        )
        fades = [0.22, 0.3, 0.16, 0.12, 0.1, 0.08]
        rim = clouds.ring(96, u[0], u[1], radius=reach * 0.7)
        found.append(
            (
                plane,
                [
                    Layer(
                        "hyperplane",
                        "mesh",
                        "hyperplane",
                        show,
                        "the hyperplane Σx = 0",
                        order=triangles,
                        fade=fades,
                    )
                ],
            )
        )
        edge = Cloud("hyperplane edge", rim, plane.pipeline)
        found.append(
            (
                edge,
                [
                    Layer(
                        "hyperplane edge",
                        "line",
                        "hyperplane",
                        show,
                        order=clouds.closed(96),
                        size=2,
                        fade=[0.7, 0.8, 0.4, 0.3, 0.25, 0.2],
                    )
                ],
            )
        )
    if centered and d == 2:
        plane = Cloud(
            "hyperplane",
            np.vstack([-u, u]) * reach * 0.95,
            Pipeline((*[Affine(np.eye(d))] * (sphere + 1), *after[1:])),
        )
        found.append(
            (
                plane,
                [
                    Layer(
                        "hyperplane",
                        "line",
                        "hyperplane",
                        show,
                        "the hyperplane Σx = 0",
                        size=3,
                        fade=[0.8, 1, 0.6, 0.5, 0.4, 0.3],
                    )
                ],
            )
        )
    found += surfaces(d, centered, follow, show, u, sphere, last)
    return found


def surfaces(
    d: int, centered: bool, follow: Pipeline, show: tuple[Row, ...], u: np.ndarray, sphere: int, last: int
) -> list[tuple[Cloud, list[Layer]]]:
    """The sphere, the circle where it meets the hyperplane, and what γ and β make of them, with the semi-axes."""
    found: list[tuple[Cloud, list[Layer]]] = []
    whole = centered and d == 3  # here the sphere is only a guide: the points reach the circle in it
    appear = [0.3] * (sphere - 1) + [0.75] + [1.0] * (last - sphere + 1)
    role = "ellipsoid"
    if d == 2 or whole:
        circle = clouds.ring(128, *(np.eye(2) if d == 2 else u))
        solid = d == 2 and not centered
        found.append(
            (
                Cloud(
                    "circle",
                    circle,
                    follow if not (d == 2 and centered) else Pipeline(follow.steps[: sphere + 1]),
                ),
                [
                    Layer(
                        "circle",
                        "line",
                        "meeting" if not (d == 2 and centered) else "sphere",
                        show,
                        "the circle where sphere and hyperplane meet" if whole else "the sphere",
                        order=clouds.closed(128),
                        size=5 if whole or solid else 2,
                        fade=appear,
                    )
                ],
            )
        )
    if d > 2:
        ball, triangles = clouds.sphere_mesh()
        lines, order = clouds.graticule()
        basis = np.eye(3) if d == 3 else u
        own = (
            Pipeline(follow.steps[: sphere + 1]) if whole else follow
        )  # the guide grows with √d, and no further
        strength = (
            [0.04, 0.08, 0.16, 0.13, 0.05, 0.05] if whole else [0.05] * sphere + [0.16] * (last - sphere + 1)
        )
        found.append(
            (
                Cloud("sphere", ball @ basis, own),
                [Layer("sphere", "mesh", "sphere", show, "the sphere", order=triangles, fade=strength)],
            )
        )
        found.append(
            (
                Cloud("graticule", lines @ basis, own),
                [
                    Layer(
                        "graticule",
                        "line",
                        "sphere",
                        show,
                        order=order,
                        size=1,
                        fade=[3 * s for s in strength],
                    )
                ],
            )
        )
    frame = np.vstack([np.zeros(d), u if centered else np.eye(d)])
    appears = [0.0] * sphere + [0.3] + [1.0] * (last - sphere)
    found.append(
        (
            Cloud("frame", frame, follow),
            [Layer("frame", "semi-axes", "ellipsoid", show, "semi-axes", size=4, fade=appears)],
        )
    )
    return found


def view(d: int, stages: int, points: np.ndarray, layers: list[Layer], reach: float) -> View:
    n, project = len(points), display(d)
    show = rows(project)
    color = None
    if d == 3:
        angle = np.arctan2(*(points @ hyperplane_basis(3).T).T)
        color = Color("cyclic", -np.pi, np.pi, values=angle, title="direction in the hyperplane")
    if d == 4:
        color = Color(
            "diverging",
            -3,
            3,
            row=Row(tuple(np.ones(4) / 2)),
            title="the coordinate along 1, which the picture leaves out",
        )
    chosen = sorted({int(i) for i in np.linspace(0, n - 1, min(n, SHOWN))})
    size = 9 if n < 50 else 4.5 if n <= 1500 else 2.5
    drawn = [
        Layer("points", "points", "input", show, "a point", color=color, size=size, pick=True),
        Layer("points", "trail", "trail", show, only=chosen, size=2, opacity=0.8),
        Layer(
            "points",
            "points",
            "trail",
            rows(project, stage=0),
            only=chosen,
            size=4,
            fade=[0, *[0.7] * (stages - 1)],
        ),
        Layer("points", "points", "followed", show, "the followed point", only="followed", size=11),
        Layer("points", "trail", "followed", show, only="followed", size=4),
    ]
    side = (-reach, reach)
    return View("space", "", (*layers, *drawn), (side,) * len(project), dims=min(d, 3))


def formula(centered: bool) -> str:
    v = r"x - \mu 𝟏" if centered else "x"
    over = rf"\class{{stage-1 role-hyperplane}}{{{v}}}" if centered else v
    k = 2 if centered else 1
    core = rf"\class{{stage-{k} role-sphere}}{{\frac{{{over}}}{{\lVert {v} \rVert}}}}"
    product = rf"\class{{stage-{k + 2} role-ellipsoid}}{{\gamma \odot}} \class{{stage-{k + 1} role-sphere}}{{\sqrt{{d}}}} {core}"
    return rf"y = {product} \class{{stage-5 role-shift}}{{+ \beta}}" if centered else f"y = {product}"
