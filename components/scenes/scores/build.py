"""The recipe of the scene `scores`: dot products of random queries q and keys k, also called scores.

It shows their distribution, the softmax weights that they give, and the angles between q and k.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Follow, Followed, Histogram, Labels, Line, Points, Profile
from components.language.recipe import Facts, Mean, Number, Parameter, Readout, Recipe, View
from components.language.scene import Choices
from components.scenes.scenery import Part, draw, followed, globe, graph, space, split
from components.scenes.scores.sample import (
    COSINE,
    KEY,
    RHO,
    SCORE,
    SQUARE,
    STAGES,
    at_each_stage,
    correlated,
    loaded,
    norms,
    pair_steps,
    pairs,
    passing,
    random_vectors,
    variances,
)
from geometry import Affine, Branches, Entries, Of, Pipeline, Pointwise, Softmax, Track
from geometry.distributions import histogram
from geometry.dot_products import cosine_density, cosine_tail, gaussian_density

SHOW = {"scores": "scores", "angles": "angles"}
SHARED = {"across": "+ in half of them, − in half", "one": "+ in all"}
DIMENSIONS = tuple(2**k for k in range(10))
HEADS = {"1": "1", "2": "2", "4": "4", "8": "8", "16": "16"}
PAIRS, QUERIES, KEYS, SEED = 1000, 8, 32, 5
POWERS, THETA_DEGREES = np.linspace(0, 1, 51), np.arange(0.0, 181)
RAW_ROLE, DIVIDED_ROLE, PROBE_ROLE = "other", "series-1", "other"
COSINE_BINS = 50  # bins of the histogram of cosines
SCORE_AXIS_END = 10.0
SCORE_SPAN, SCORE_BINS = (-12.0, 12.0), 48  # the outermost bins collect all scores beyond, out of sight
FLAT, SOLID, KEY_ROWS = rows(np.eye(2)), rows(np.eye(3)), rows(KEY)
# Rows that place (sine, cosine) of an angle to q on the visible side of the sphere.
PROBE_ROWS = np.array([[0.9, 0], [0.44, 0], [0, 1]])
FRONT_POINT = (0.9, 0.1)  # the first two coordinates of a key in the middle of the sphere's visible half
MILLION = 1e6
Law = Callable[[np.ndarray], np.ndarray]
Laws = Sequence[Law | None]  # the density at each stage, where there is one
Clouds = tuple[Cloud, ...]


def build(choices: Choices) -> Recipe:
    d, scores = int(choices["d"]), choices["show"] == "scores"
    shared = choices["shared"] if scores else "across"
    drawn = Cloud("pairs", pairs(PAIRS, d, seed=SEED), passing(6), Pipeline(pair_steps(d, shared)))
    parts = of_scores(drawn, d, shared) if scores else of_angles(drawn, d, int(choices["heads"]))
    parameters, clouds, views, readouts = parts
    about = "of any two coordinates of one vector, up to sign"
    return Recipe(
        stages=STAGES,
        parameters=(*parameters, Parameter("rho", "correlation ρ", 0, 0, 1, about=about)),
        clouds=(drawn, *clouds),
        views=views,
        formula=r"\class{stage-0 stage-1}{\langle q, k \rangle} = \|q\| \|k\| \cos\theta"
        r"\class{stage-2 role-sphere}{\; = \; d_k \cos\theta}",
        readouts=readouts,
        facts=facts(),
        progress=2,
        follow=typical(drawn, d),
    )


def typical(drawn: Cloud, d: int) -> int:
    """Index of the pair (q, k) to follow at first: its key is easy to see, and its score is typical.

    The key is near FRONT_POINT, on the half of the sphere that faces the camera. The score is about one
    standard deviation of all scores. The pairs are compared at the stage "on the sphere", for ρ = 0. drawn:
    the cloud of pairs, in which q and k have d coordinates each.
    """
    shown = drawn.stages({"rho": 0.0})[-1][:, 1:5]
    return int(np.argmin(np.abs(np.sqrt(d) * shown[:, 0] - 1) + np.abs(shown[:, 1:3] - FRONT_POINT).sum(1)))


def sphere(key: Points, *more: Part) -> tuple[Clouds, View]:
    """View of the unit sphere with q upright, a mark `key` for the keys, and the parts `more`."""
    tip = np.array([[0.0, 0, 0], [0, 0, 1]])
    clouds, layers = split(
        *globe(SOLID, np.eye(3), mesh=0.08, net=0.3),
        draw("q", Line, "query", SOLID, tip, size=7, arrow=0.12),
        draw("q name", Labels, "query", SOLID, np.array([[0.09, 0.07, 1.03]]), labels=["q"], guide=True),
        *more,
    )
    return clouds, space(
        "sphere", "", (*layers, key, *followed("pairs", KEY_ROWS, "followed", trail=3)), reaching=True
    )


def law(
    name: str, role: str, grid: np.ndarray, laws: Laws, height: float, title: str, **look: Any
) -> list[Part]:
    """Clouds and marks of curves of probability densities at the values `grid`, one for each stage.

    name: the beginning of the clouds' names. role: the colour. laws: the density of each stage, which is
    drawn only at that stage; None for no curve. The densities are multiplied by `height`, to match a
    histogram. look: further fields of the marks.
    """
    known = [(k, each) for k, each in enumerate(laws) if each]
    return [
        draw(
            f"{name} {k}",
            Line,
            role,
            FLAT,
            np.column_stack([grid, height * each(grid)]),
            title if k == known[0][0] else "",
            fade=np.eye(len(STAGES))[k].tolist(),
            **look,
        )
        for k, each in known
    ]


def following(name: str, at: np.ndarray, values: np.ndarray) -> Affine:
    """An affine map 1 ↦ y, where the m numbers y follow the parameter `name`.

    If the parameter is `at[t]`, y is `values[t]` (m,); between these values of the parameter it is
    interpolated linearly.
    """
    return Affine(Entries(np.zeros((values.shape[1], 1)), tracks={name: Track(at, values[..., None])}))


# --- scores and weights


def of_scores(drawn: Cloud, d: int, shared: str) -> tuple[Any, ...]:
    """The parts of the choice "scores": parameters, clouds, views, readouts.

    The views show scores as they are and divided by dₖᵃ, with a from a slider, and their softmax weights.
    shared: how the components of a vector are correlated. "one": a common number is added to all of them;
    "across": it is added to half of them and subtracted from the others.
    """
    factor = d**-POWERS
    divided, squared = (
        Row(Entries(np.zeros(6), tracks={"a": Track(POWERS, np.outer(factor**k, each))}))
        for k, each in ((1, SCORE), (2, SQUARE))
    )
    color = Color("diverging", -3, 3, of=divided, title="q·k ÷ dₖᵃ")
    keys = Points("pairs", "input", KEY_ROWS, "a pair", color=color, size=3, hand=Follow())
    guides, hero = sphere(keys)
    histograms, hills = heights(drawn, d, divided)
    weight_clouds, weights, numbers = attention(d, shared)
    exact = following("rho", RHO, variances(d, shared, RHO))
    readouts = (
        Mean("Mean of (q·k)² over these pairs", "pairs", Row(SQUARE), digits=1),
        Number("Exact variance of q·k", "exact", Row((1,)), digits=1),
        Mean("Mean of the squares after the division", "pairs", squared, digits=2),
        *numbers,
    )
    power = Parameter("a", "power a", 0.5, 0, 1, 0.02, about="scores are divided by dₖᵃ")
    clouds = (
        *guides,
        *histograms,
        *weight_clouds,
        Cloud("exact", np.ones((1, 1)), passing(1), Pipeline((exact,))),
    )
    return (power,), clouds, (hero, hills, weights), readouts


def heights(drawn: Cloud, d: int, divided: Row) -> tuple[Clouds, View]:
    """Histograms of the scores q·k and of the scores divided by dₖᵃ, with the exact densities.

    The exact densities hold if the components are independent: if their correlation ρ is 0. The densities of
    divided scores also assume that the power a is ½. A stage at which the scores have only one or two values,
    because d is small, has no density.

    drawn: the cloud of pairs (q, k), from which the height of the vertical axis is computed. divided: the row
    that computes the divided score of a pair. Returns the clouds of the density curves, and the view.
    """
    grid = np.linspace(-SCORE_AXIS_END, SCORE_AXIS_END, 160)  # without 0, where some densities are infinite
    laws: Laws = (
        lambda s: gaussian_density(s, d),
        (lambda s: gaussian_density(s, d - 1)) if d > 1 else None,
        (lambda s: cosine_density(s / d, d - 1) / d) if d > 2 else None,
    )
    root, area = np.sqrt(d), PAIRS * (SCORE_SPAN[1] - SCORE_SPAN[0]) / SCORE_BINS
    scaled = [each and divided_law(each, root) for each in laws]
    dashed = {"dash": "dash", "size": 3.5}
    guides, lines = split(
        *law("law", RAW_ROLE, grid, laws, area, "exact, ρ = 0", **dashed),
        *law("divided law", DIVIDED_ROLE, grid, scaled, area, "exact, ρ = 0, a = ½", **dashed),
    )
    layers = (
        Histogram("pairs", RAW_ROLE, (Row(SCORE),), "q·k", span=SCORE_SPAN, bins=SCORE_BINS, size=4),
        Histogram("pairs", DIVIDED_ROLE, (divided,), "q·k ÷ dₖᵃ", span=SCORE_SPAN, bins=SCORE_BINS, size=4),
        *lines,
        Points("pairs", "followed", (Row(SCORE), Row((0.0,))), only=Followed(), size=9),
    )
    high = max(most(stage[:, 0] / root, SCORE_SPAN, SCORE_BINS) for stage in drawn.stages({"rho": 0.0}))
    return guides, graph(
        "heights",
        "How large the scores are",
        layers,
        ("score", -SCORE_AXIS_END, SCORE_AXIS_END),
        ("pairs", 0, 1.1 * high),
    )


def divided_law(law: Law, by: float) -> Law:
    """The density of X / `by`, where X has the density `law`."""
    return lambda s: by * law(by * s)


def most(values: np.ndarray, span: tuple[float, float], bins: int) -> float:
    """The largest count of a bin in the histogram of `values` with `bins` bins of equal width over `span`."""
    return float(histogram(values, span, bins)[:, 1].max())


def attention(d: int, shared: str) -> tuple[Clouds, View, tuple[Readout, ...]]:
    """Softmax weights of a few queries over a few keys, from scores as they are and divided.

    The readouts are the mean entropies of both kinds of weights. shared: how the components of a vector are
    correlated. "one": a common number is added to all of them; "across": it is added to half of them and
    subtracted from the others.
    """
    both = random_vectors(QUERIES + KEYS, d, seed=SEED)
    size, each = both.shape[1] - 1, np.eye(QUERIES)
    stages = Pipeline(norms(size, (range(size),), d)[-1])
    mixed = Pipeline(correlated(size + 1, {size: loaded(shared, d)}, d))
    queries = Cloud("queries", both[:QUERIES], stages, mixed)
    keys = Cloud("keys", both[QUERIES:], stages, mixed)
    ask = [(Affine(Of(queries, k, transposed=True)), Affine(Of(keys, k))) for k in range(len(STAGES))]
    softmax = {
        RAW_ROLE: Softmax(),
        DIVIDED_ROLE: Softmax(Entries(0.0, tracks={"a": Track(POWERS, d**POWERS)})),
    }
    clouds, layers = [queries, keys], []
    for role, title in ((RAW_ROLE, "of q·k"), (DIVIDED_ROLE, "of q·k ÷ dₖᵃ")):
        for k, fade in enumerate(np.eye(len(STAGES)).tolist()):
            clouds.append(Cloud(f"{role} {k}", each, place=Pipeline((*ask[k], softmax[role]))))
            layers.append(Profile(f"{role} {k}", role, (), "" if k else title, fade=fade, size=3))
    total = [Pipeline((each, Pointwise("entr"), Affine(np.ones((1, KEYS))))) for each in softmax.values()]
    entropy = at_each_stage(ask, (Branches(total, "concat"),))
    clouds.append(Cloud("entropy", each, passing(2), Pipeline((entropy,))))
    numbers = (
        Mean(
            f"Mean entropy of the weights, from q·k (equal weights: {np.log(KEYS):.2f})",
            "entropy",
            Row((1, 0)),
            digits=2,
        ),
        Mean("Mean entropy after the division", "entropy", Row((0, 1)), digits=2),
    )
    axes = ("key", 0.5, KEYS + 0.5), ("weight", 0.0, 1.02)
    title = f"Weights: {QUERIES} queries, {KEYS} keys"
    return tuple(clouds), graph("weights", title, layers, *axes), numbers


# --- angles and distances


def of_angles(drawn: Cloud, d: int, heads: int) -> tuple[Any, ...]:
    """The parts of the choice "angles": parameters, clouds, views, readouts.

    `drawn` is the cloud of the pairs (q, k), in which q and k have d coordinates each. With several `heads`,
    the views and readouts also show what holds for the heads·d coordinates of all heads together.
    """
    points = Points("pairs", "input", KEY_ROWS, "a pair", size=3, opacity=0.6, hand=Follow())
    guides, hero = sphere(points, *probe())
    histograms, cosines = spread(drawn, d, heads)
    near, lines = distances()
    title = f"Of a million random k in {d} coordinates, ρ = 0, within θ"
    shares, numbers = nearer("nearer", d, title)
    if heads > 1:
        wide, more = nearer("nearer in all", heads * d, f"The same in all {heads * d} coordinates")
        shares, numbers = (*shares, *wide), (*numbers, *more)
    if d == 1:  # after centring nothing has a direction
        numbers = ()
    readouts = (
        Number("Geodesic θ", "distances", Row((0, 0, 1)), unit=" rad", digits=3),
        Number("Chord", "distances", Row((0, 2)), digits=3),
        Number("cos θ", "distances", Row((1,)), digits=3),
        *numbers,
    )
    theta = Parameter(
        "theta", "angle θ", 60, 0, 180, 1, symbol="θ", about="between q and a k of your own, in degrees"
    )
    return (theta,), (*guides, *histograms, *near, *shares), (hero, cosines, lines), readouts


def sines(shares: Sequence[float], starts: Sequence[float]) -> tuple[Affine, Pointwise]:
    """t ↦ the numbers sin(shares[i]·tθ + starts[i]), one for each i; θ is the parameter `theta`.

    The parameter is in degrees, the starts in radians.
    """
    turn = np.radians(1.0) * np.reshape(shares, (-1, 1))
    return Affine(Entries(0 * turn, {"theta": turn}), starts), Pointwise("sin")


def probe() -> list[Part]:
    """The reader's own key k at the angle θ to q, with the geodesic and the chord between them."""
    way, show = sines((1, 1), (0, np.pi / 2)), rows(PROBE_ROWS)
    arc, end = np.linspace(0, 1, 49)[:, None], np.ones((1, 1))
    return [
        draw("geodesic", Line, "meeting", show, arc, "geodesic", place=way, size=8),
        draw("chord", Line, PROBE_ROLE, show, np.vstack([0 * end, end]), "chord", place=way, size=5),
        draw("probe", Points, PROBE_ROLE, show, end, "your k", place=way, size=9, glyph="square"),
        draw(
            "probe name",
            Labels,
            PROBE_ROLE,
            rows(1.14 * PROBE_ROWS),
            end,
            place=way,
            guide=True,
            labels=["k"],
        ),
        draw("angle name", Labels, "meeting", rows(1.12 * PROBE_ROWS), end / 2, place=way, labels=["θ"]),
    ]


def cosine_laws(n: int) -> Laws:
    """The density of the cosine between random directions at each stage.

    The directions have n dimensions before centring and n − 1 from then on. Where this number is less than 2,
    the density is None.
    """
    return [partial(cosine_density, m=m) if m > 1 else None for m in (n, n - 1, n - 1)]


def spread(drawn: Cloud, d: int, heads: int) -> tuple[Clouds, View]:
    """Histogram of the cosines between q and k, with its exact density, and a line at cos θ.

    With several `heads`, the exact density for the whole vectors, of all heads together, is also drawn.
    """
    grid, span = np.linspace(-1, 1, 400), (-1.0, 1.0)
    area = PAIRS * (span[1] - span[0]) / COSINE_BINS

    parts = law(
        "law", "sphere", grid, cosine_laws(d), area, f"exact, {d} coordinates, ρ = 0", dash="dash", size=4
    )
    high = max(most(stage[:, 1], span, COSINE_BINS) for stage in drawn.stages({"rho": 0.0}))
    if heads > 1:
        whole = cosine_laws(heads * d)
        parts += law("whole", "axis", grid, whole, area, f"all {heads * d} coordinates", dash="dot", size=4)
        high = max(high, area * float(cosine_density(np.zeros(1), heads * d)[0]))
    cosine = Affine(np.zeros((1, 1)), Entries([np.pi / 2], {"theta": np.radians([1.0])}))
    now = Branches((Pipeline((cosine, Pointwise("sin"))), Pipeline(())), "concat")
    ends = np.array([[0.0], [1.1 * high]])
    parts.append(draw("at θ", Line, PROBE_ROLE, FLAT, ends, "cos θ", place=(now,), size=4))
    guides, lines = split(*parts)
    layers = (
        Histogram("pairs", "input", (Row(COSINE),), "pairs", span=span, bins=COSINE_BINS, size=4),
        *lines,
        Points("pairs", "followed", (Row(COSINE), Row((0.0,))), only=Followed(), size=9),
    )
    axes = ("cosine of q and k", -1.02, 1.02), ("pairs", 0, 1.1 * high)
    return guides, graph("cosines", "Cosines of random directions", layers, *axes)


def distances() -> tuple[Clouds, View]:
    """Graph of the geodesic and the chord between unit vectors against their dot product, with marks at θ."""
    turn = np.linspace(0, np.pi, 90)
    cosine, chord = np.cos(turn), 2 * np.sin(turn / 2)
    curves = (
        ("geodesic curve", "meeting", turn, "geodesic θ", "solid"),
        ("chord curve", PROBE_ROLE, chord, "chord ‖q − k‖", "solid"),
        ("square", "axis", chord**2 / 2, "half its square", "dash"),
    )
    parts = [
        draw(name, Line, role, FLAT, np.column_stack([cosine, y]), title, dash=dash, size=4)
        for name, role, y, title, dash in curves
    ]
    both = Pipeline(sines((1, 0.5), (np.pi / 2, 0)))
    angle = Pipeline((Affine(Entries(np.zeros((1, 1)), {"theta": np.radians([[1.0]])})),))
    at = Cloud("distances", np.ones((1, 1)), place=Pipeline((Branches((both, angle), "concat"),)))
    heights = (("meeting", (0.0, 0, 1)), (PROBE_ROLE, (0.0, 2, 0)))
    x = Row((1, 0, 0))
    layers = (
        *split(*parts)[1],
        *(Points("distances", role, (x, Row(y)), size=9, glyph="square") for role, y in heights),
    )
    axes = ("dot product of unit vectors", -1.02, 1.02), ("distance", 0.0, 3.3)
    return (*split(*parts)[0], at), graph("distances", "Two distances, by dot product", layers, *axes)


def nearer(name: str, d: int, label: str) -> tuple[Clouds, tuple[Readout, ...]]:
    """Cloud `name` and its readout `label`: how many of a million random keys are within the angle θ of q.

    The readout is the expected number at each stage, for keys with d independent components.
    """
    cosine = np.cos(np.radians(THETA_DEGREES))
    tails = [cosine_tail(cosine, m) if m else cosine <= 0 for m in (d, d - 1, d - 1)]
    count = following("theta", THETA_DEGREES, MILLION * np.stack(tails, -1))
    cloud = Cloud(name, np.ones((1, 1)), passing(1), Pipeline((count,)))
    return (cloud,), (Number(label, name, Row((1,)), digits=3),)


# --- exact, for all d


def facts() -> Facts:
    """Table of exact values about scores and angles for ρ = 0, with a row for each number of coordinates."""
    columns = (
        "dₖ",
        "variance of q·k",
        "variance on the sphere",
        "standard deviation of the cosine",
        "middle half of the angles",
        "keys within 60°",
    )
    return Facts("Exact, for ρ = 0", columns, [fact(d) for d in DIMENSIONS])


def fact(d: int) -> list[str]:
    """The row of the table for d coordinates.

    On LayerNorm's sphere, vectors have only d − 1 dimensions; for d = 1 no direction is left, and the cells
    about angles are empty.
    """
    if d == 1:
        return ["1", "1", "0", "", "", ""]
    m = d - 1
    inner = np.degrees(np.arcsin(np.sqrt(special.betaincinv(0.5, (m - 1) / 2, 0.5)))) if m > 1 else 90.0
    share = float(cosine_tail(np.array(0.5), m))
    return [str(d), str(d), f"{d * d / m:.1f}", f"{m**-0.5:.3f}", f"90° ± {inner:.1f}°", few(share)]


def few(share: float) -> str:
    """A share as text, such as "1 in 77,000"; for a share of at most 10⁻⁶, such as "1 in 3e+08"."""
    return f"1 in {1 / share:,.0f}" if share > 1e-6 else f"1 in {1 / share:.0e}"
