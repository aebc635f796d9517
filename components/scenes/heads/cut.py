"""Recipe of axes divided among attention heads: points on LayerNorm's sphere, each head's part, and scores.

With d = 4 the sphere is an ordinary one, in the space of all vectors whose components sum to 0. The picture
shows that space. The part of a point that a head sees is stored together with the point, and drawn without
its component along 𝟏. The index h of a head counts from 0; titles count heads from 1.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Follow, Followed, Highest, Labels, Line, Mark, Mesh, Points, Trail
from components.language.recipe import Lengths, Number, Parameter, Recipe, Table
from components.scenes.scenery import Part, draw, followed, globe, graph, rest, space, split
from geometry import Affine, Branches, Entries, Normalize, Of, Pipeline, Track, clouds
from geometry.centering import centering_matrix
from geometry.pipeline import Step
from geometry.windows import windows

Array = np.ndarray

D, N, SEED, FOLLOW = 4, 160, 2, 89
MAX_SHOWN_SCORE, CAMERA = 3.0, (1.0, 0.95, 0.5)  # the largest score that is shown
# display axes: a direction of the first two coordinates, one of the last two, and one of all
SHOW = np.vstack([[1, -1, 0, 0], [0, 0, 1, -1], np.array([1, 1, -1, -1]) / sqrt(2)]) / sqrt(2)
SHOW_ROWS, AXES = rows(SHOW), np.arange(1, D + 1)
BAR_DISTANCE = 0.2  # between the bars of two heads at an axis
OVERLAPS, ANGLES = np.linspace(0, 1, 21), np.arange(0.0, 91, 2)
NORM: tuple[Step, ...] = (Affine(centering_matrix(D)), Normalize(sqrt(D)))


def cut(heads: int, window_shape: str) -> Recipe:
    """The recipe for a number of attention `heads`, each of which sees a share wᵢ ∈ [0, 1] of each axis i.

    The window of a head is the vector of its shares. `window_shape` is the shape of the windows where they
    overlap: "box", "triangle" or "sine".
    """
    whole = Cloud("whole", sample(), Pipeline((one(NORM),)))
    asked = queries(heads, window_shape)
    scored = Cloud("scored", sample(), place=Pipeline((*NORM, with_input(Affine(Of(asked)), first=False))))
    each = [
        (*surface(heads, window_shape, h), *points(heads, window_shape, h), way(heads, window_shape, h))
        for h in range(heads)
    ]
    guides, around = split(*sphere(), *axes(), *asking())
    parts, shown = split(*(part for own in each for part in own))
    curves, shares = split(*(part for h in range(heads) for part in share_bars(heads, window_shape, h)))
    lines, level = split(*levels())
    hero = (*around, *shown, *chosen(SHOW_ROWS, titled=False), *whole_points(), *recombined())
    return Recipe(
        stages=("x", "LayerNorm", "heads", "sum"),
        parameters=(
            Parameter("overlap", "overlap", 0.0, 0.0, 1.0, 0.05, about="of the windows of the heads"),
            Parameter(
                "query", "query", 30.0, 0.0, 90.0, 2.0, about="from axes 1 and 2 to axes 3 and 4, in degrees"
            ),
        ),
        clouds=(
            whole,
            asked,
            scored,
            mixed(heads, window_shape),
            frame(heads, window_shape),
            *guides,
            *parts,
            *curves,
            *lines,
        ),
        views=(
            space("space", "", hero, camera=CAMERA),
            graph("scores", "Score of each point as a key", (*level, *keys()), side(0), side(1), equal=True),
            graph("shares", "Share of each axis, by head", shares, ("axis", 0.4, D + 0.6), ("", -0.08, 1.12)),
        ),
        formula=FORMULA,
        table=Table("whole", columns=("components", "mean", "norm")),
        readouts=(
            Lengths("Semi-axes of what head 1 sees", "frame"),
            *(
                Number(
                    f"Score of the followed point in head {h + 1}", "scored", score(h), Followed(), digits=2
                )
                for h in (0, 1)
            ),
        ),
        progress=2,
        follow=FOLLOW,
    )


FORMULA = (
    r"\class{stage-1 role-sphere}{x = \mathrm{LayerNorm}(\ldots)} \qquad"
    r" \class{stage-2}{x_h = w_h \odot x} \qquad \class{stage-3}{x = \sum_h x_h} \qquad"
    r" s_h = \frac{\langle w_h \odot q,\; w_h \odot k \rangle}{\sqrt{d/H}}"
)


def sample() -> Array:
    """The scene's random points (N, D) before LayerNorm; the same at each call."""
    return clouds.gaussian(N, D, seed=SEED)


# --- steps


def one(steps: tuple[Step, ...]) -> Step:
    """Several steps combined into one."""
    return Branches((Pipeline(steps),))


def with_input(step: Step, *, first: bool = True) -> Step:
    """x ↦ (step(x), x) if `first`, otherwise x ↦ (x, step(x)). The 3D view draws the first of the two."""
    both = Pipeline((step,)), Pipeline(())
    return Branches(both if first else both[::-1], "concat")


SECOND = Affine(np.hstack([np.zeros((D, D)), np.eye(D)]))  # (y, x) ↦ x


def shares(heads: int, window_shape: str) -> Array:
    """The share wᵢ ∈ [0, 1] of each axis i that each head sees, for each of T OVERLAPS: (T, heads, d)."""
    return np.stack([windows(AXES, D, heads, overlap, shape=window_shape) for overlap in OVERLAPS])


def by_overlap(values: Array) -> Entries:
    """Entries of a matrix that follow the slider `overlap`: `values[t]` if the slider is at OVERLAPS[t].

    Between these values of the slider they are interpolated linearly.
    """
    return Entries(np.zeros(values.shape[1:]), tracks={"overlap": Track(OVERLAPS, values)})


def diagonals(heads: int, window_shape: str) -> Array:
    """Diagonal matrices with each head's share of every axis, for each of T OVERLAPS: (T, heads, d, d)."""
    return shares(heads, window_shape)[..., None] * np.eye(D)


def part(heads: int, window_shape: str, h: int) -> Step:
    """x ↦ (w ⊙ x, x): the part of x that head h sees, and x. wᵢ ∈ [0, 1] is the head's share of axis i."""
    return with_input(Affine(by_overlap(diagonals(heads, window_shape)[:, h])))


# --- what the heads see


def sphere() -> list[Part]:
    """LayerNorm's sphere, fainter at the stage that shows the heads' parts."""
    mesh, net = [0.0, 0.1, 0.04, 0.08], [0.1, 0.35, 0.16, 0.25]
    return globe(SHOW_ROWS, sqrt(D) * SHOW, "LayerNorm's sphere", mesh=mesh, net=net)


def surface(heads: int, window_shape: str, h: int) -> list[Part]:
    """The surface that head h sees: the sphere with each axis multiplied by the head's share of it."""
    role, steps = f"series-{h + 1}", (*rest(D, 1), part(heads, window_shape, h), SECOND)
    look: dict[str, Any] = {"steps": steps}
    ball, net = (
        clouds.turned(found, sqrt(D) * SHOW)
        for found in (clouds.sphere_mesh(meridians=24, parallels=12), clouds.graticule(fine=24))
    )
    return [
        draw(f"surface {h + 1}", Mesh, role, SHOW_ROWS, ball, fade=[0.0, 0.0, 0.14, 0.0], **look),
        draw(f"net {h + 1}", Line, role, SHOW_ROWS, net, size=1, fade=[0.0, 0.0, 0.35, 0.0], **look),
    ]


def points(heads: int, window_shape: str, h: int) -> list[Part]:
    """The points w ⊙ x that head h sees, where wᵢ ∈ [0, 1] is its share of axis i."""
    steps, title = (one(NORM), part(heads, window_shape, h), SECOND), f"what head {h + 1} sees"
    look: dict[str, Any] = {"size": 4, "fade": [0.0, 0.0, 1.0, 0.0], "hand": Follow()}
    cloud, mark = draw(
        f"part {h + 1}", Points, f"series-{h + 1}", SHOW_ROWS, sample(), title, steps=steps, **look
    )
    return [(cloud, mark)]


def way(heads: int, window_shape: str, h: int) -> Part:
    """An arrow from the origin to what head h sees of the followed point, then on to the point itself."""
    nothing = Affine(np.zeros((D, D)))
    place = (*NORM, with_input(nothing), Affine(np.eye(2 * D)))
    steps = (
        *rest(2 * D, 1),
        Affine(by_overlap(np.stack([_shown(m) for m in diagonals(heads, window_shape)[:, h]]))),
        SECOND,
    )
    look: dict[str, Any] = {"only": Followed(), "size": 4, "arrow": 0.12, "fade": [0.0, 0.0, 1.0, 1.0]}
    return draw(
        f"way {h + 1}", Trail, f"series-{h + 1}", SHOW_ROWS, sample(), place=place, steps=steps, **look
    )


def _shown(matrix: Array) -> Array:
    """The map (y, x) ↦ (Mx, x) as a matrix (2d, 2d), where M is `matrix` (d, d).

    y is what is drawn; its old value is not used.
    """
    nothing = np.zeros((D, D))
    return np.block([[nothing, matrix], [nothing, np.eye(D)]])


def frame(heads: int, window_shape: str) -> Cloud:
    """Cloud for the semi-axes of the surface that head 1 sees, which is a deformed sphere.

    It has the sphere's centre and the ends of three radii. Their coordinates are multiplied by the head's
    shares of the axes, which follow the slider `overlap`.
    """
    own = Affine(by_overlap(diagonals(heads, window_shape)[:, 0]))
    return Cloud("frame", np.vstack([np.zeros(D), sqrt(D) * SHOW]), place=Pipeline((own,)))


def mixed(heads: int, window_shape: str) -> Cloud:
    """Cloud whose points at the last stage are sums of parts of different points, one part for each head.

    Point i of the cloud combines `heads` points of `sample`, 11 places apart: head 1's part of the first of
    them, head 2's part of the second, and so on. Before the last stage, the cloud shows only the first of
    them: the point at stage 0, its LayerNorm at stage 1, and head 1's part at stage 2.
    """
    strangers = np.hstack([np.roll(sample(), 11 * h, axis=0) for h in range(heads)])
    blocks = tuple(tuple(range(D * h, D * (h + 1))) for h in range(heads))
    norm = (Affine(np.kron(np.eye(heads), centering_matrix(D))), Normalize(sqrt(D), groups=blocks))
    found = diagonals(heads, window_shape)
    sums = np.concatenate(list(found.transpose(1, 0, 2, 3)), axis=-1)
    first = np.concatenate([found[:, 0], np.zeros((len(OVERLAPS), D, D * (heads - 1)))], axis=-1)
    steps = (one(norm), Affine(by_overlap(np.concatenate([first, sums], axis=1))), SECOND)
    return Cloud("mixed", strangers, Pipeline(steps))


def recombined() -> tuple[Mark, ...]:
    """Marks of the cloud of `mixed`, shown only at the last stage."""
    title = "sum of parts of different points"
    return (Points("mixed", "trail", SHOW_ROWS, title, glyph="ring", size=5, fade=[0.0, 0.0, 0.0, 1.0]),)


def whole_points() -> tuple[Mark, ...]:
    """Marks of the whole points, fainter at the stage that shows the heads' parts."""
    faint = [1.0, 1.0, 0.12, 0.9]
    point = Points("whole", "input", SHOW_ROWS, "a point", size=5, fade=faint, hand=Follow())
    return point, *followed("whole", SHOW_ROWS, "the followed point", size=10, trail=2)


def axes() -> list[Part]:
    """The four axes projected to the picture, where their ends are the corners of a tetrahedron."""
    ends = np.stack([0 * np.eye(D), 1.9 * np.eye(D)], axis=1)
    names = [f"x{s}" for s in "₁₂₃₄"]
    return [
        draw("axes", Line, "axis", SHOW_ROWS, clouds.segments(ends), size=1.5, opacity=0.5),
        draw("axis names", Labels, "axis", SHOW_ROWS, 2.15 * np.eye(D), labels=names),
    ]


# --- queries, keys and scores


def turning_query() -> Entries:
    """The query (d, 1), which the slider `query` turns from √2·(1, −1, 0, 0) to √2·(0, 0, 1, −1)."""
    turn = np.deg2rad(ANGLES)[:, None]
    found = sqrt(D) * (np.cos(turn) * SHOW[0] + np.sin(turn) * SHOW[1])
    return Entries(np.zeros((D, 1)), tracks={"query": Track(ANGLES, found[..., None])})


def queries(heads: int, window_shape: str) -> Cloud:
    """Cloud with a point w ⊙ w ⊙ q/√(d/H) for each of H heads, where wᵢ is the head's share of axis i.

    The dot product of that point with a key k is the head's score ⟨w ⊙ q, w ⊙ k⟩/√(d/H).
    """
    asked, every = turning_query(), diagonals(heads, window_shape) ** 2 / sqrt(D / heads)
    tracks = {
        "query": Track(ANGLES, np.stack([np.kron(np.eye(heads), q) for q in asked.tracks["query"].values]))
    }
    query = Affine(Entries(np.zeros((heads * D, heads)), tracks=tracks))
    seen = Affine(by_overlap(np.concatenate(list(every.transpose(1, 0, 2, 3)), axis=-1)))
    return Cloud("asked", np.eye(heads), place=Pipeline((query, seen)))


def score(h: int) -> Row:
    """The `Row` that reads the score of a key in head h from the key's point in the cloud "scored"."""
    return Row(tuple(np.eye(D + 2)[D + h].tolist()))


def asking() -> list[Part]:
    """The query as an arrow from the origin, with the label q."""
    line = draw(
        "query",
        Line,
        "ink",
        SHOW_ROWS,
        np.array([[0.0], [1.0]]),
        place=(Affine(turning_query()),),
        size=4,
        arrow=0.12,
    )
    name = draw(
        "query name",
        Labels,
        "ink",
        SHOW_ROWS,
        np.array([[1.12]]),
        labels=["q"],
        place=(Affine(turning_query()),),
    )
    return [line, name]


def chosen(show: tuple[Row, ...], *, titled: bool) -> tuple[Mark, ...]:
    """Rings around two keys: the ones with the highest scores in head 1 and in head 2.

    show: the display rows. titled: whether the rings appear in the legend.
    """
    return tuple(
        Points(
            "scored",
            f"series-{h + 1}",
            show,
            f"head {h + 1}'s highest score" if titled else "",
            only=Highest(score(h)),
            size=size,
            glyph="ring",
        )
        for h, size in ((0, 13), (1, 17))
    )


def keys() -> tuple[Mark, ...]:
    """Marks of the keys at their scores in heads 1 and 2."""
    show = (score(0), score(1))
    dots = Points("scored", "input", show, size=5, opacity=0.7, hand=Follow())
    return dots, *chosen(show, titled=True), *followed("scored", show, trail=0)


def side(h: int) -> tuple[str, float, float]:
    """Title, lower end and upper end of the axis of head h in the graph of scores."""
    return f"score in head {h + 1}", -MAX_SHOWN_SCORE, MAX_SHOWN_SCORE


def levels() -> list[Part]:
    """Axes of the scores of two heads, and the diagonal where they are equal."""
    plane, far = rows(np.eye(2)), MAX_SHOWN_SCORE
    cross = clouds.segments(np.array([[[-far, 0.0], [far, 0]], [[0, -far], [0, far]]]))
    return [
        draw("cross", Line, "axis", plane, cross, size=1.5, opacity=0.5),
        draw(
            "agree",
            Line,
            "soft",
            plane,
            np.array([[-far, -far], [far, far]]),
            "the heads agree",
            dash="dash",
            size=2,
        ),
    ]


# --- shares


def share_bars(heads: int, window_shape: str, h: int) -> list[Part]:
    """Head h's share of each axis: a bar with a dot on it, beside the bars of the other heads."""
    places = AXES + BAR_DISTANCE * (h - (heads - 1) / 2)
    feet, tops = (np.column_stack([places, height * np.eye(D)]) for height in (0, 1))
    matrix = np.zeros((len(OVERLAPS), 2, 1 + D))
    matrix[:, 0, 0], matrix[:, 1, 1:] = 1, shares(heads, window_shape)[:, h]
    place, role, plane = (Affine(by_overlap(matrix)),), f"series-{h + 1}", rows(np.eye(2))
    bars = clouds.segments(np.stack([feet, tops], axis=1))
    cloud, line = draw(f"shares {h + 1}", Line, role, plane, bars, f"head {h + 1}", place=place, size=4)
    return [(cloud, line), (Points(cloud.name, role, plane, only=range(1, 2 * D, 2), size=8),)]
