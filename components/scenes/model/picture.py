"""The picture of one norm: its vectors, the direction 𝟏, the hyperplane, the sphere and the ellipsoid.

The recording keeps at most seven coordinates of a norm's vectors (`learning.recording.digest`). Three of them
are drawn: two directions of the hyperplane, and 𝟏 upright. The vectors are scaled to fit the picture.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from components.language.cloud import Cloud, rows
from components.language.marks import Color, Follow, Labels, Line, Mark, Points
from components.language.recipe import View
from components.scenes.model.strips import escaped, named
from components.scenes.scenery import Part, draw, followed, globe, rest, space, split
from geometry import Affine, Normalize, Pipeline, clouds
from geometry.pipeline import Step
from learning.recording import analysis
from learning.recording.digest import LARGEST, Digest, Reduced, chosen
from learning.recording.massive import MASSIVE_LENGTH_RATIO

Array = np.ndarray

# the role of each kind of token; a token is of the first kind that fits
TOKEN_CLASSES = {
    "first position": "mean-direction",
    "special token": "ellipsoid",
    "punctuation or space": "hyperplane",
    "other token": "input",
}
SHOWN_VECTORS_PERCENTILE = 98  # percent of the vectors for which the picture has room
MAX_SCALE = 1e15  # the longest vector ends at most this many times outside the picture
MAX_SPHERE_RATIO = 2  # a sphere whose radius is at least this times the vectors' extent is not drawn
CAMERA = (1.2, -0.95, 0.5)


@dataclass(frozen=True)
class Picture:
    """A view of one norm, its clouds, and the norm itself with only the vectors that the view shows."""

    norm: Reduced
    clouds: tuple[Cloud, ...]
    view: View


def picture(one: Digest, k: int, colour: str, *, leave_out: bool, centring: bool, alone: bool) -> Picture:
    """The picture of norm k (counted from 0) of the recording `one`.

    colour: what colours the vectors (see `vector_color`). leave_out: whether to leave out the norm's massive
    vectors; they stay if all vectors are massive. centring: whether the picture has a stage for the centring;
    if the norm does not centre, its vectors do not move there. alone: whether this is the only picture. If
    there are two, each has its own scale and a short title.
    """
    row, every = one.rows[k], one.norms[k]
    is_long = massive(every, row)
    if is_long.all():  # there are no others, to which they could be compared
        is_long = ~is_long
    leaves_out = leave_out and bool(is_long.any())
    norm = chosen(every, np.flatnonzero(~is_long)) if leaves_out else every
    reach = extent(norm) or 1.0
    # apart from ε, a norm does not depend on the scale of x
    unit = max(far(norm.points), lengths(norm).max() / MAX_SCALE) / reach or 1.0
    drawn = steps(norm, unit, centring=centring)
    cloud = Cloud("vectors", norm.points.astype(float) / unit, Pipeline(drawn), labels=names(norm, one.words))
    guides, around = split(*surroundings(norm, len(drawn), reach, arrival=1 + centring))
    name = title(one, k, int(is_long.sum()), leaves_out=leaves_out, alone=alone)
    layers = (*around, *vectors(norm, one, row, colour))
    return Picture(
        norm, (cloud, *guides), space("space", name, layers, camera=CAMERA, reach=None if alone else reach)
    )


def as_second(one: Picture) -> Picture:
    """A copy of a picture that can be shown beside another one.

    The copy's view and clouds have other names, and its points cannot be followed (selected).
    """

    def renamed(mark: Mark) -> Mark:
        moved = replace(mark, cloud=f"{mark.cloud} beside")
        return replace(moved, hand=None) if isinstance(moved, Points) else moved

    layers = tuple(renamed(mark) for mark in one.view.layers if mark.role != "followed")
    moved = tuple(replace(cloud, name=f"{cloud.name} beside") for cloud in one.clouds)
    return Picture(one.norm, moved, replace(one.view, name="beside", layers=layers))


def title(first: Digest, k: int, few: int, *, leaves_out: bool, alone: bool) -> str:
    """The title of the picture: which norm it shows, and the number `few` of the norm's massive vectors.

    The norm has index k. leaves_out: whether the picture leaves out its massive vectors. alone: whether
    this is the only picture; if not, the title is short.
    """
    name = f"Norm {k + 1} of {len(first.norms)}: {first.rows[k]['path']}"
    if not alone:
        name = f"{named(first)}, norm {k + 1} of {len(first.norms)}"
    if not few or not (alone or leaves_out):
        return name
    vectors = f"{few} massive vector{'s' * (few > 1)}"
    return f"{name}, without {vectors}" if leaves_out else f"{name}; {vectors} squeeze the others"


def lengths(norm: Reduced) -> Array:
    return np.asarray(np.linalg.norm(norm.points.astype(float), axis=-1))


def median_length(norm: Reduced, row: analysis.TableRow) -> float:
    """The median length of the norm's recorded input vectors, from its `row` of statistics.

    For a norm with several groups, of which only the first is drawn, it is divided by √(number of groups).
    """
    return float(row["size"] * sqrt(norm.d / row["d"]))


def massive(norm: Reduced, row: analysis.TableRow) -> Array:
    """For each vector of the norm, whether it is massive: longer than MASSIVE_LENGTH_RATIO median lengths.

    row: the norm's row of statistics, which has the median length.
    """
    return lengths(norm) > MASSIVE_LENGTH_RATIO * median_length(norm, row)


def deviation(norm: Reduced) -> Array:
    """The standard deviation σ of each vector's coordinates.

    For a norm that does not centre, it is their root mean square instead.
    """
    x = norm.points.astype(float)
    return np.linalg.norm(np.delete(x, 2, axis=1) if norm.centres else x, axis=-1) / sqrt(norm.d)


def steps(norm: Reduced, unit: float, *, centring: bool) -> tuple[Step, ...]:
    """The steps of a norm, for vectors that were divided by `unit`: centre → sphere → ⊙ γ → + β.

    centring: whether there is a step for the centring, which does nothing if the norm does not centre.
    """
    m = norm.points.shape[1]
    level = Affine(np.diag([float(k != 2) for k in range(m)]))
    sphere = Normalize(sqrt(norm.d), norm.d * norm.eps / unit**2)
    gain = Affine(np.pad(norm.gain, ((0, m - 3), (0, 0))))
    shift = Affine(np.eye(m), np.pad(norm.shift, (0, m - 3)))
    centre = level if norm.centres else Affine(np.eye(m))
    return *((centre,) if centring else ()), sphere, gain, shift


def numbers(norm: Reduced) -> Cloud:
    """Cloud "numbers", in which the coordinates of a point are numbers about one vector.

    They are its position in the sequence, σ, the energy along 𝟏 in percent, and ε/(σ² + ε) in percent.
    """
    x, sigma = norm.points.astype(float), deviation(norm)
    whole = np.sum(x**2, axis=-1)
    share = np.divide(x[:, 2] ** 2, whole, out=np.zeros(len(x)), where=whole > 0)
    below = sigma**2 + norm.eps
    small = np.divide(norm.eps, below, out=np.zeros(len(x)), where=below > 0)
    return Cloud("numbers", np.column_stack([norm.position, sigma, 100 * share, 100 * small]))


def names(norm: Reduced, words: Mapping[int, str]) -> list[str]:
    """A name for each vector of the norm, such as "'The' at position 0".

    words: the text of each token, by the token's id. If the text is not known, the name is "position 0".
    Positions in the sequence count from 0.
    """
    pairs = zip(norm.token.tolist(), norm.position.tolist(), strict=True)
    return [f"{escaped(repr(words[t]))} at position {p}" if t in words else f"position {p}" for t, p in pairs]


def extent(norm: Reduced) -> float:
    """Half the side of a picture that has room for the vectors, and usually for the sphere.

    Let f be the largest value of `far` for the vectors at the stage of the sphere and the later stages. The
    result is f, or √d (the radius of the sphere) if f < √d < MAX_SPHERE_RATIO·f.
    """
    after = Pipeline(steps(norm, 1.0, centring=True)).stages(norm.points.astype(float), {})[2:]
    reach = max(map(far, after))
    return max(reach, sqrt(norm.d)) if sqrt(norm.d) < MAX_SPHERE_RATIO * reach else reach


def far(points: Array) -> float:
    """The distance from the origin within which SHOWN_VECTORS_PERCENTILE percent of `points` lie.

    Only the first three coordinates count, which are those that are drawn.
    """
    return float(
        np.percentile(np.linalg.norm(points[:, :3].astype(float), axis=-1), SHOWN_VECTORS_PERCENTILE)
    )


def surroundings(norm: Reduced, last: int, reach: float, *, arrival: int) -> list[Part]:
    """The direction 𝟏, the hyperplane of a norm that centres, and the sphere that γ makes an ellipsoid.

    The sphere is left out if its radius exceeds `reach`, half the side of the picture. `last` is the last
    stage, `arrival` the stage at which vectors reach the sphere.
    """
    show, up = rows(np.eye(3)), np.array([[0.0, 0.0, 1.0]])
    own: dict[str, Any] = {"fade": [1.0, *[0.35] * last], "guide": True}
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
        mesh = [*[0.0] * arrival, *[0.1] * (last + 1 - arrival)]
        title = "part of the sphere"
        parts += globe(show, radius * np.eye(3), title, mesh=mesh, net=[2.5 * m for m in mesh], steps=grown)
    return parts


def vectors(norm: Reduced, first: Digest, row: analysis.TableRow, colour: str) -> tuple[Mark, ...]:
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
        every = [Points("vectors", "input", show, "a vector", color=vector_color(norm, row, colour), **look)]
    return *every, *followed("vectors", show, "the followed vector", trail=0)


def token_classes(norm: Reduced, first: Digest) -> list[str]:
    """The class of the token of each vector of the norm, one of TOKEN_CLASSES.

    The classes are: the first token of a text; a special token; punctuation, a token without letters and
    digits; and any other token, also one whose text is not known. first: the recording, which has the texts
    of the tokens and the ids of special ones.
    """
    start, special, punctuation, other = TOKEN_CLASSES
    found = []
    for token, position in zip(norm.token.tolist(), norm.position.tolist(), strict=True):
        has_letters = any(map(str.isalnum, first.words.get(token, "unknown")))
        kind = special if token in first.special else other if has_letters else punctuation
        found.append(start if position == 0 else kind)
    return found


def vector_color(norm: Reduced, row: analysis.TableRow, colour: str) -> Color:
    """The colour of each vector of a norm: by its position, its length, or its token.

    colour: "position", "length" (divided by the median length), or any other text for the token. Tokens are
    ordered by how often they occur, the most frequent first. row: the norm's row of statistics.
    """
    if colour == "position":
        top = float(max(norm.position.max(), 1))
        where = "sequence" if (norm.token >= 0).any() else "input"  # without tokens, it may be a batch
        return Color("sequential", 0, top, norm.position.astype(float), title=f"position in the {where}")
    if colour == "length":
        relative = np.minimum(lengths(norm) / (median_length(norm, row) or 1.0), LARGEST)
        low, top = float(relative.min()), float(relative.max())
        top = top if top > low else 2 * low or 1.0
        return Color("sequential", low, top, relative, title="length ÷ median")
    _, which, count = np.unique(norm.token, return_inverse=True, return_counts=True)
    rank = np.argsort(np.argsort(-count, kind="stable"))[which.ravel()]
    return Color(
        "cyclic", 0, float(max(len(count), 1)), rank.astype(float), title="tokens, the most frequent first"
    )
