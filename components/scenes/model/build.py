"""The recipe of a recorded model: strips of numbers for all norms, and the vectors of one norm in space.

The vectors of a norm have seven coordinates or fewer, of which three are displayed: two directions of the
hyperplane, and 𝟏 upright (`learning.recording.digest`). They are drawn at a scale in which they fit.
"""

import re
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Follow, Followed, Labels, Line, Mark, Points
from components.language.recipe import Facts, Number, Overview, Recipe, View
from components.language.scene import Choices, File, Stored
from components.scenes.model import strips
from components.scenes.model.strips import escaped
from components.scenes.scenery import Part, draw, followed, globe, rest, space, split
from geometry import Affine, Normalize, Pipeline, clouds
from geometry.pipeline import Step
from learning.recording import analysis
from learning.recording.digest import Digest, Reduced, chosen, from_digest
from learning.recording.massive import MASSIVE_LENGTH_RATIO
from learning.recording.report import summary_columns, told
from learning.recording.verdict import verdict

Array = np.ndarray

SHIPPED = {
    "smollm2": "SmolLM2-135M",
    "minilm": "all-MiniLM-L6-v2",
    "antiberty": "AntiBERTy",
    "rxnmapper": "ALBERT of rxnmapper",
    "trained": "a small GPT, trained",
    "start": "a small GPT, before training",
}
BESIDE = SHIPPED
COLOURS = {
    "position": "position in the sequence",
    "kind": "kind of token",
    "length": "length, in median lengths",
    "token": "token",
}
MASSIVE = {"shown": "shown", "out": "left out"}
# the role of each kind of token; a token is of the first kind that fits
TOKEN_CLASSES = {
    "first position": "mean-direction",
    "special token": "ellipsoid",
    "punctuation or space": "hyperplane",
    "other token": "input",
}
SHOWN_VECTORS_PERCENTILE = 98  # percent of the vectors that the picture holds
MAX_SPHERE_RATIO = 2  # a sphere with more than this times the vectors' extent is not drawn
NAME_CHARACTERS = 40
PHONE_ROWS = 2  # of a view, for each strip, so that the labels of its axis have room on a phone
CAMERA = (1.2, -0.95, 0.5)


def files(choices: Choices) -> tuple[File | Stored, ...]:
    """The chosen recording, and the one to compare it with, if any."""
    first = _file("own", choices["own"], choices["recording"])
    if choices["beside"] == "none" and not choices["other"]:
        return (first,)
    return first, _file("other", choices["other"], choices["beside"])


def _file(choice: str, key: str, name: str) -> File | Stored:
    return Stored(choice, key, from_digest) if key else File(f"norms_{name}.safetensors", from_digest)


def build(choices: Choices, first: Digest, second: Digest | None = None) -> Recipe:
    k = min(choices["norm"], len(first.norms)) - 1  # recordings have different numbers of norms
    row, every = first.rows[k], first.norms[k]
    is_long = massive(every, row)
    leaves_out = choices["massive"] == "out" and bool(is_long.any())
    norm = chosen(every, np.flatnonzero(~is_long)) if leaves_out else every
    reach = extent(norm) or 1.0
    unit = far(norm.points) / reach or 1.0  # apart from ε, a norm does not depend on the scale of x
    drawn = steps(norm, unit)
    cloud = Cloud("vectors", norm.points / unit, Pipeline(drawn), labels=names(norm, first.words))
    guides, around = split(*surroundings(norm, drawn, reach))
    paper, layers = split(*strips.panel(first, second, k, choices["strips"]))
    count = len(strips.SETS[choices["strips"]])
    return Recipe(
        stages=("x", *(("centre",) if norm.centres else ()), "sphere", "⊙ γ", "+ β"),
        parameters=(),
        clouds=(cloud, numbers(norm), *guides, *paper),
        views=(
            space(
                "space",
                title(first, k, int(is_long.sum()), leaves_out=leaves_out),
                (*around, *vectors(norm, first, row, choices["colour"])),
                camera=CAMERA,
            ),
            View(
                "depth",
                f"All norms of {named(first)}, from the first to the last",
                layers,
                strips.ranges(count),
                dims=2,
                equal=False,
                rows=PHONE_ROWS * count,
            ),
        ),
        formula=formula(norm.centres),
        readouts=tuple(
            Number(label, "numbers", Row(tuple(np.eye(4)[i])), Followed(), unit=unit_, digits=digits)
            for i, label, unit_, digits in [
                (2, "Energy along 𝟏 of the red vector", " %", 2),
                (0, "Its position", "", 0),
                (1, "Its σ", "", 3),
                (3, "Its weight of ε", " %", 4),
            ]
        ),
        facts=facts(first, second, k),
        overview=overview(first),
    )


def title(first: Digest, k: int, few: int, *, leaves_out: bool) -> str:
    """The title of the picture: the norm of index k, and its massive vectors, of which it has `few`.

    leaves_out: whether the picture leaves these vectors out."""
    name = f"Norm {k + 1} of {len(first.norms)}: {first.rows[k]['path']}"
    if not few:
        return name
    vectors = f"{few} massive vector{'s' * (few > 1)}"
    return f"{name}, without {vectors}" if leaves_out else f"{name}; {vectors} squeeze the others"


def massive(norm: Reduced, row: analysis.Row) -> Array:
    """Which vectors in the picture are massive. Of a GroupNorm the picture has the first group."""
    median = row["size"] * sqrt(norm.d / row["d"])
    return np.asarray(np.linalg.norm(norm.points.astype(float), axis=-1) > MASSIVE_LENGTH_RATIO * median)


# --- one norm in space


def deviation(norm: Reduced) -> Array:
    """σ of each vector, or its root mean square for an RMSNorm."""
    x = norm.points.astype(float)
    return np.linalg.norm(np.delete(x, 2, axis=1) if norm.centres else x, axis=-1) / sqrt(norm.d)


def steps(norm: Reduced, unit: float) -> tuple[Step, ...]:
    """centre → sphere → ⊙ γ → + β, of vectors that were divided by `unit`."""
    m = norm.points.shape[1]
    level = Affine(np.diag([float(k != 2) for k in range(m)]))
    sphere = Normalize(sqrt(norm.d), norm.d * norm.eps / unit**2)
    gain = Affine(np.pad(norm.gain, ((0, m - 3), (0, 0))))
    shift = Affine(np.eye(m), np.pad(norm.shift, (0, m - 3)))
    return *((level,) if norm.centres else ()), sphere, gain, shift


def numbers(norm: Reduced) -> Cloud:
    """The readouts of each vector: position, σ, and in percent its energy along 𝟏 and the weight of ε."""
    x, sigma = norm.points.astype(float), deviation(norm)
    whole = np.sum(x**2, axis=-1)
    share = np.divide(x[:, 2] ** 2, whole, out=np.zeros(len(x)), where=whole > 0)
    below = sigma**2 + norm.eps
    small = np.divide(norm.eps, below, out=np.zeros(len(x)), where=below > 0)
    return Cloud("numbers", np.column_stack([norm.position, sigma, 100 * share, 100 * small]))


def names(norm: Reduced, words: Mapping[int, str]) -> list[str]:
    """Names of the vectors: token, if known, and position, from 0."""
    pairs = zip(norm.token.tolist(), norm.position.tolist(), strict=True)
    return [f"{escaped(repr(words[t]))} at position {p}" if t in words else f"position {p}" for t, p in pairs]


def extent(norm: Reduced) -> float:
    """Half the side of the picture.

    It holds most vectors at each stage from the sphere on, and the sphere itself unless that is more than
    MAX_SPHERE_RATIO times as large.
    """
    after = Pipeline(steps(norm, 1.0)).stages(norm.points.astype(float), {})[1 + norm.centres :]
    reach = max(map(far, after))
    return max(reach, sqrt(norm.d)) if sqrt(norm.d) < MAX_SPHERE_RATIO * reach else reach


def far(points: Array) -> float:
    """The distance from the middle of the picture that most points do not exceed."""
    return float(
        np.percentile(np.linalg.norm(points[:, :3].astype(float), axis=-1), SHOWN_VECTORS_PERCENTILE)
    )


def surroundings(norm: Reduced, drawn: Sequence[Step], reach: float) -> list[Part]:
    """The direction 𝟏, the hyperplane, and the visible part of the sphere and of its ellipsoid under γ."""
    show, up = rows(np.eye(3)), np.array([[0.0, 0.0, 1.0]])
    arrival = 1 + norm.centres
    own: dict[str, Any] = {"fade": [1.0, *[0.35] * len(drawn)], "guide": True}
    parts: list[Part] = [
        draw(
            "one", Line, "mean-direction", show, 0.9 * reach * np.vstack([-up, up]), "along 𝟏", size=4, **own
        ),
        draw("one name", Labels, "mean-direction", show, 0.98 * reach * up, labels=["𝟏"], **own),
    ]
    if norm.centres:
        square = 0.84 * reach * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        edge = (square, clouds.closed(4))
        fade = [0.5, 0.9, 0.5, 0.3, 0.3]
        parts.append(
            draw("hyperplane", Line, "hyperplane", show, edge, "Σx = 0", size=2, fade=fade, guide=True)
        )
    radius = sqrt(norm.d)
    if radius <= reach:
        level = np.diag([1.0, 1.0, float(not norm.centres)])
        gain = norm.gain @ np.diag([float(not (k == 2 and norm.centres)) for k in range(norm.gain.shape[1])])
        values, frame = np.linalg.eigh(gain @ gain.T)
        shape = frame @ np.diag(np.sqrt(np.maximum(values, 0))) @ frame.T
        grown = (*rest(3, arrival - 1), Affine(level), Affine(shape), Affine(np.eye(3), norm.shift))
        mesh = [*[0.0] * arrival, *[0.1] * (len(drawn) + 1 - arrival)]
        title = "part of the sphere"
        parts += globe(show, radius * np.eye(3), title, mesh=mesh, net=[2.5 * m for m in mesh], steps=grown)
    return parts


def vectors(norm: Reduced, first: Digest, row: analysis.Row, colour: str) -> tuple[Mark, ...]:
    show = rows(np.eye(3, norm.points.shape[1]))
    look: dict[str, Any] = {"size": 7 if len(norm.points) <= 300 else 5, "hand": Follow()}
    if colour == "kind":
        kinds = np.array(token_classes(norm, first))
        every = [
            Points("vectors", role, show, kind, only=np.flatnonzero(kinds == kind).tolist(), **look)
            for kind, role in TOKEN_CLASSES.items()
            if (kinds == kind).any()
        ]
    else:
        every = [Points("vectors", "input", show, "a vector", color=paint(norm, row, colour), **look)]
    return *every, *followed("vectors", show, "the followed vector")


def token_classes(norm: Reduced, first: Digest) -> list[str]:
    """The class of each vector's token: one of TOKEN_CLASSES."""
    start, special, punctuation, other = TOKEN_CLASSES
    found = []
    for token, position in zip(norm.token.tolist(), norm.position.tolist(), strict=True):
        has_letters = any(map(str.isalnum, first.words.get(token, "unknown")))
        kind = special if token in first.special else other if has_letters else punctuation
        found.append(start if position == 0 else kind)
    return found


def paint(norm: Reduced, row: analysis.Row, colour: str) -> Color:
    """Colour by position in the sequence, by length, or by token, the most frequent first."""
    if colour == "position":
        top = float(max(norm.position.max(), 1))
        return Color("sequential", 0, top, norm.position.astype(float), title="position in the sequence")
    if colour == "length":
        median = row["size"] * sqrt(norm.d / row["d"]) or 1.0
        size = np.linalg.norm(norm.points.astype(float), axis=-1) / median
        low, top = float(size.min()), float(size.max())
        top = top if top > low else low + 1.0
        return Color("sequential", low, top, size, title="length, in median lengths")
    _, which, count = np.unique(norm.token, return_inverse=True, return_counts=True)
    rank = np.argsort(np.argsort(-count, kind="stable"))[which.ravel()]
    return Color(
        "cyclic", 0, float(max(len(count), 1)), rank.astype(float), title="tokens, the most frequent first"
    )


# --- in words


def facts(first: Digest, second: Digest | None, k: int) -> Facts:
    """The verdict, then every number of the norm; both recordings where there are two."""
    both = [first, *([second] if second else [])]
    asked = verdict(first.rows)
    found = [[each.answer for each in verdict(one.rows)] for one in both]
    numbers = [column for column in analysis.COLUMNS if column.name != "path"]
    lines = [[each.question, *answers] for each, *answers in zip(asked, *found, strict=True)]
    lines += [
        [
            column.label,
            *[told(column, one.rows[k][column.name]) if k < len(one.rows) else "–" for one in both],
        ]
        for column in numbers
    ]
    abouts = [each.about for each in asked] + [each.about for each in numbers]
    columns = ["", *map(named, both)]
    return Facts(
        f"The verdict over all norms, and the numbers of {first.rows[k]['path']}", columns, lines, abouts
    )


def named(one: Digest) -> str:
    """The name of a recorded model, cut to the length of a title."""
    return (one.name or "a recording")[:NAME_CHARACTERS]


def overview(first: Digest) -> Overview:
    """The overview beside the figure: the model, the verdict in three lines, and a table of all norms."""
    shown = summary_columns(first.rows)
    name, *others = shown
    return Overview(
        lines=[line.replace("`", "") for line in (*summary(first), *filter(None, [first.notice]))],
        title=f"All norms of {named(first)}",
        columns=["norm, in the order of depth", *[column.label for column in others]],
        rows=[
            [f"{k}: {told(name, row[name.name])}", *[told(column, row[column.name]) for column in others]]
            for k, row in enumerate(first.rows, 1)
        ],
        abouts=[column.about for column in shown],
        choice="norm",
    )


def summary(first: Digest) -> list[str]:
    """Four lines: the model, its massive vectors, its centring, and whether its centring can be folded."""
    all_rows, n = first.rows, len(first.rows)
    paths = [row["path"] for row in all_rows]
    kinds = " and ".join(sorted({f"{row['kind']}s" for row in all_rows}))
    layers = len(set(strips.layers(paths)) - {""})
    widths = " or ".join(f"{d:,}" for d in sorted({row["d"] for row in all_rows}))
    depth = f" in {layers} layer{'s' * (layers > 1)}" if layers else ""
    return [
        f"{named(first)}: {n} {kinds}{depth}, of vectors with {widths} coordinates.",
        _massive_line(first, paths),
        _centring_line(all_rows),
        _folding_line(all_rows),
    ]


def _massive_line(first: Digest, paths: Sequence[str]) -> str:
    few = [k for k, row in enumerate(first.rows) if row["massive"]]
    if not few:
        longest = max(row["longest"] or 0.0 for row in first.rows)
        return f"Massive vectors: none. The longest vector of a norm has {longest:.3g} median lengths."
    k = max(few, key=lambda k: first.rows[k]["longest"])
    row, name = first.rows[k], strips.short_names(paths)[k]
    writer = f", written by {row['outlier_writer']}" if row["outlier_writer"] else ""
    together = re.sub(r" at (\d+)(?=, [^,]* at \1(?!\d))", "", row["longest_at"])  # name each position once
    tokens = re.sub(r" at (?=\d)", " at position ", together)
    return (
        f"Massive vectors: in {len(few)} of {len(paths)} norms. The longest are in {name}: {tokens}; "
        f"{row['longest']:.3g} median lengths. Dimension {row['top_dimension']} holds "
        f"{row['top_energy']:.1%} of all energy{writer}."
    )


def _centring_line(every: Sequence[analysis.Row]) -> str:
    found = next(each for each in verdict(every) if each.name == "turn_median")
    centres = any(row["kind"] != "RMSNorm" for row in every)
    times = np.median([row["turn_scaled"] for row in every if not centres or row["kind"] != "RMSNorm"])
    verb = "Centring turns" if centres else "There is no centring. It would turn"
    return f"{verb} outputs by {found.value:.2f}° (median), {times:.2g} times as much as for random vectors."


def _folding_line(every: Sequence[analysis.Row]) -> str:
    asked = [row for row in every if row["kind"] != "RMSNorm"]
    if not asked:
        return "Folding: nothing to fold, as no norm centres."
    yes, unknown = ([row["folds"] for row in asked].count(each) for each in ("yes", "unknown"))
    if unknown == len(asked):
        return "Folding: unknown, because the model was not traced."
    how = "; normscape convert does it and gives a certificate" if yes else ""
    return f"Folding: the centring of {yes} of {len(asked)} norms folds away exactly{how}."


def formula(centres: bool) -> str:
    over = r"\class{stage-1 role-hyperplane}{x - \mu 𝟏}" if centres else "x"
    below = r"\sqrt{\sigma^2 + \varepsilon}" if centres else r"\sqrt{\mathrm{mean}(x^2) + \varepsilon}"
    at = 2 if centres else 1
    unit = rf"\class{{stage-{at} role-sphere}}{{\frac{{{over}}}{{{below}}}}}"
    gain = rf"\class{{stage-{at + 1} role-ellipsoid}}{{\gamma \odot}}"
    return rf"y = {gain} {unit} \class{{stage-{at + 2} role-shift}}{{+ \beta}}"
