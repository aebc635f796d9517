"""The recipe of a recorded model: strips of numbers for all norms, and the vectors of one norm in space.

The vectors of a norm have seven coordinates or fewer, of which three are displayed: two directions of the
hyperplane, and 1 upright (`learning.recording.digest`). They are drawn at a scale in which they fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from components.language.cloud import Cloud, Row, rows
from components.language.marks import Choose, Color, Follow, Followed, Labels, Line, Mark, Points
from components.language.recipe import Facts, Number, Recipe, View
from components.language.scene import Choices, File, Stored
from components.language.text import SUPERSCRIPTS
from components.scenes.scenery import Part, draw, followed, globe, rest, space, split
from geometry import Affine, Normalize, Pipeline, clouds
from geometry.pipeline import Step
from learning.recording import analysis
from learning.recording.digest import Digest, Reduced, from_digest
from learning.recording.report import told
from learning.recording.verdict import verdict

Array = np.ndarray

SHIPPED = {"trained": "a small GPT, trained", "start": "the same before training"}
BESIDE = SHIPPED
COLOURS = {"position": "position in the sequence", "token": "token"}
SHOWN_VECTORS_PERCENTILE = 98  # percent of the vectors that the picture holds
MAX_SPHERE_RATIO = 2  # a sphere with more than this times the vectors' extent is not drawn
STRIP_SPACING, STRIP_HEIGHT = 1.75, 0.8  # titles stand between the strips
NAME_CHARACTERS = 40
CAMERA = (1.2, -0.95, 0.5)


@dataclass(frozen=True)
class Strip:
    """A strip of the right panel: the columns of `analysis` that it draws as a line and as dotted lines."""

    title: str
    middle: str
    around: tuple[str, ...] = ()
    log: bool = False
    digits: str = ".3g"


STRIPS = (
    Strip("energy along 𝟏", "share", ("share_high",), digits=".2%"),
    Strip("σ, with quartiles", "sigma", ("sigma_low", "sigma_high"), log=True),
    Strip("‖x‖, with quartiles", "size", ("size_low", "size_high"), log=True),
    Strip("effective rank", "rank", digits=".1f"),
    Strip("semi-axes", "axis_middle", ("axis_short", "axis_long")),
    Strip("spread of γ", "gain_spread"),
    Strip("flat directions", "flat", digits=".0f"),
    Strip("weight of ε", "eps_share", ("eps_high",), digits=".1g"),
    Strip("turn by centring, °", "turn", ("turn_high",), digits=".1f"),
)


def files(choices: Choices) -> tuple[File | Stored, ...]:
    """The chosen recording, and the one beside it, if any."""
    first = _file("own", choices["own"], choices["recording"])
    if choices["beside"] == "none" and not choices["other"]:
        return (first,)
    return first, _file("other", choices["other"], choices["beside"])


def _file(choice: str, key: str, name: str) -> File | Stored:
    return Stored(choice, key, from_digest) if key else File(f"norms_{name}.safetensors", from_digest)


def build(choices: Choices, first: Digest, second: Digest | None = None) -> Recipe:
    k = min(choices["norm"], len(first.norms)) - 1  # recordings have different numbers of norms
    norm, row = first.norms[k], first.rows[k]
    reach = extent(norm) or 1.0
    unit = far(norm.points) / reach or 1.0  # apart from ε, a norm does not depend on the scale of x
    drawn = steps(norm, unit)
    cloud = Cloud("vectors", norm.points / unit, Pipeline(drawn), labels=names(norm, first.words))
    guides, around = split(*surroundings(norm, drawn, reach))
    paper, strips = split(*depth(first, second, k))
    title = f"Norm {k + 1} of {len(first.norms)}: {row['path']}"
    return Recipe(
        stages=("x", *(("centre",) if norm.centres else ()), "sphere", "⊙ γ", "+ β"),
        parameters=(),
        clouds=(cloud, numbers(norm), *guides, *paper),
        views=(
            space("space", title, (*around, *vectors(norm, choices["colour"])), camera=CAMERA),
            View(
                "depth",
                f"All norms of {named(first)}, from the first to the last",
                strips,
                ranges(first),
                dims=2,
                equal=False,
                rows=len(STRIPS),
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
    )


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
    """The readouts of each vector: position, σ, and in percent its energy along 1 and the weight of ε."""
    x, sigma = norm.points.astype(float), deviation(norm)
    whole = np.sum(x**2, axis=-1)
    share = np.divide(x[:, 2] ** 2, whole, out=np.zeros(len(x)), where=whole > 0)
    below = sigma**2 + norm.eps
    small = np.divide(norm.eps, below, out=np.zeros(len(x)), where=below > 0)
    return Cloud("numbers", np.column_stack([norm.position + 1, sigma, 100 * share, 100 * small]))


def names(norm: Reduced, words: Mapping[int, str]) -> list[str]:
    """Names of the vectors: token, if known, and position."""
    pairs = zip(norm.token.tolist(), norm.position.tolist(), strict=True)
    return [f"{words[t]!r}, position {p + 1}" if t in words else f"position {p + 1}" for t, p in pairs]


def extent(norm: Reduced) -> float:
    """Half the side of the picture.

    It holds most vectors at each stage from the sphere on, and the sphere itself unless that is more than
    MAX_SPHERE_RATIO times as large.
    """
    after = Pipeline(steps(norm, 1.0)).stages(norm.points.astype(float), {})[1 + norm.centres :]
    reach = max(map(far, after))
    return max(reach, sqrt(norm.d)) if sqrt(norm.d) < MAX_SPHERE_RATIO * reach else reach


def far(points: Array) -> float:
    """The distance from the middle of the picture within which most points lie."""
    return float(
        np.percentile(np.linalg.norm(points[:, :3].astype(float), axis=-1), SHOWN_VECTORS_PERCENTILE)
    )


def surroundings(norm: Reduced, drawn: Sequence[Step], reach: float) -> list[Part]:
    """The direction 1, the hyperplane, and the visible part of the sphere and of its ellipsoid under γ."""
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


def vectors(norm: Reduced, colour: str) -> tuple[Mark, ...]:
    show = rows(np.eye(3, norm.points.shape[1]))
    size = 7 if len(norm.points) <= 300 else 5 if len(norm.points) <= 1000 else 4
    return (
        Points("vectors", "input", show, "a vector", color=paint(norm, colour), size=size, hand=Follow()),
        *followed("vectors", show, "the followed vector"),
    )


def paint(norm: Reduced, colour: str) -> Color:
    """Colour by position in the sequence, or by token, the most frequent first."""
    if colour == "position":
        top = float(max(norm.position.max(), 1))
        return Color("sequential", 0, top, norm.position.astype(float), title="position in the sequence")
    _, which, count = np.unique(norm.token, return_inverse=True, return_counts=True)
    rank = np.argsort(np.argsort(-count, kind="stable"))[which.ravel()]
    return Color(
        "cyclic", 0, float(max(len(count), 1)), rank.astype(float), title="tokens, the most frequent first"
    )


# --- all norms over depth


def depth(first: Digest, second: Digest | None, chosen: int) -> list[Part]:
    """The strips: lines over all norms, points to click, and titles with the range of the numbers."""
    both = [first, *([second] if second else [])]
    n, parts, show = len(first.rows), list[Part](), rows(np.eye(2))
    scales = [scale(strip, both) for strip in STRIPS]
    for which, digest in enumerate(both):
        role, title = ("input", "other")[which], (digest.name or "a recording")[:40]
        title = title if second else ""
        places = np.column_stack([np.arange(1, len(digest.rows) + 1), np.zeros(len(digest.rows))])
        for part in ("middle", "around"):
            lines = []
            for s, strip in enumerate(STRIPS):
                for name in (strip.middle,) if part == "middle" else strip.around:
                    lines.append(
                        places
                        + np.column_stack([0 * places[:, 0], height(digest, name, strip, scales[s], s)])
                    )
            points = np.vstack(lines)
            own = f"{part} {which}"
            dash, size = ("solid", 2.0) if part == "middle" else ("dot", 1.2)
            order = gaps(len(lines), len(digest.rows))
            parts.append(
                (
                    Cloud(own, points),
                    Line(
                        own, role, show, title if part == "middle" else "", order=order, size=size, dash=dash
                    ),
                )
            )
            if part == "middle":
                ids = np.tile(np.arange(1, len(digest.rows) + 1), len(lines))
                hand = Choose("norm", ids) if not which else None
                glyph = "circle" if not which else "square"
                parts.append((Points(own, role, show, size=6, glyph=glyph, hand=hand),))
    bottom = -STRIP_SPACING * (len(STRIPS) - 1) - 0.1
    here = np.array([[chosen + 1, STRIP_HEIGHT + 0.05], [chosen + 1, bottom]])
    parts.append(draw("chosen", Line, "meeting", show, here, "the norm on the left", size=2, opacity=0.6))
    base = np.array([[[0.5, -STRIP_SPACING * s], [n + 0.5, -STRIP_SPACING * s]] for s in range(len(STRIPS))])
    parts.append(draw("base", Line, "axis", show, clouds.segments(base), size=1, opacity=0.5))
    middle = (n + 1) / 2
    words = np.array(
        [[middle, (STRIP_HEIGHT + STRIP_SPACING) / 2 - STRIP_SPACING * s] for s in range(len(STRIPS))]
    )
    titles = [
        f"{strip.title}: {shown(strip, low)} … {shown(strip, high)}"
        for strip, (low, high) in zip(STRIPS, scales, strict=True)
    ]
    parts.append(draw("titles", Labels, "axis", show, words, labels=titles))
    return parts


def gaps(count: int, length: int) -> Array:
    """Indices that draw `count` lines of `length` points one after the other, with a gap (−1) after each."""
    each = np.arange(count * length).reshape(count, length)
    return np.column_stack([each, np.full(count, -1)]).reshape(-1)


def scale(strip: Strip, both: Sequence[Digest]) -> tuple[float, float]:
    """The ends of the axis of a strip, from 0, or from the smallest number if it is logarithmic."""
    every = [row[name] for each in both for row in each.rows for name in (strip.middle, *strip.around)]
    positive = [value for value in every if value > 0]
    low = min(positive, default=1.0) if strip.log else 0.0
    return low, max(max(every), low) if max(every) > low else low + 1


def height(each: Digest, name: str, strip: Strip, ends: tuple[float, float], s: int) -> Array:
    values, (low, high) = np.array([row[name] for row in each.rows], dtype=float), ends
    if strip.log:
        values, low, high = np.log(np.maximum(values, low)), np.log(low), np.log(high)
    return STRIP_HEIGHT * (values - low) / (high - low or 1) - STRIP_SPACING * s


def shown(strip: Strip, value: float) -> str:
    number, _, power = format(value, strip.digits).partition("e")
    return f"{number}·10{str(int(power)).translate(SUPERSCRIPTS)}" if power else number


def ranges(first: Digest) -> tuple[tuple[float, float], tuple[float, float]]:
    return (0.4, len(first.rows) + 0.6), (-STRIP_SPACING * (len(STRIPS) - 1) - 0.2, STRIP_SPACING)


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


def formula(centres: bool) -> str:
    over = r"\class{stage-1 role-hyperplane}{x - \mu 𝟏}" if centres else "x"
    below = r"\sqrt{\sigma^2 + \varepsilon}" if centres else r"\sqrt{\mathrm{mean}(x^2) + \varepsilon}"
    at = 2 if centres else 1
    unit = rf"\class{{stage-{at} role-sphere}}{{\frac{{{over}}}{{{below}}}}}"
    gain = rf"\class{{stage-{at + 1} role-ellipsoid}}{{\gamma \odot}}"
    return rf"y = {gain} {unit} \class{{stage-{at + 2} role-shift}}{{+ \beta}}"
