"""A digest is a recording reduced for display: its table of numbers, and vectors in 7 exact coordinates.

Six of them are coordinates with respect to basis vectors, the seventh is the length of the remainder. The
page draws each vector along three directions: 1̂, the unit vector along (1, …, 1), and the two directions a
and b orthogonal to 1̂ in which the normalised vectors vary most. Let the rows of Q be an orthonormal basis
of the span of a, b, 1̂, γ ⊙ a, γ ⊙ b, γ ⊙ 1̂. For an input vector x let r be the length of its part outside
this span. Then (Qx, r) is as long as x, so the centred and normalised vector can be computed from (Qx, r).
So can the three drawn coordinates after the gain γ and the shift β, because ⟨a, γ ⊙ u⟩ = ⟨γ ⊙ a, u⟩ for
every vector u, and the same for b and 1̂. Seven numbers thus suffice for any dimension d.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from geometry.norms import layer_norm, rms_norm
from learning.file_error import FileError
from learning.file_write import write_whole
from learning.recording import massive
from learning.recording.analysis import TableRow, measured, with_missing_columns
from learning.recording.recording import MAX_VECTORS, Norm, Recording, parsed_description
from learning.safetensors import from_safetensors, to_safetensors
from learning.untrusted_npz import MAX_UPLOAD_BYTES

Array = np.ndarray
FORMAT = "normscape-digest-2"
INDEPENDENCE_TOLERANCE = 1e-6  # a remainder below this share of a row's length is due to rounding
TOKEN_PARTS = ("position", "token")  # arrays that are often the same in all norms
MAX_SHOWN_VECTORS = 500  # number of vectors of each norm in a reduced file
REDUCED = (
    "reduced to what the page shows: all numbers, and the drawn coordinates of at most "
    f"{MAX_SHOWN_VECTORS} vectors of each norm"
)
UPLOAD_SHARE = 0.9  # share of MAX_UPLOAD_BYTES for the vectors of a recording
DIGITS = 7  # significant digits of the numbers in a file, more than any table shows
# Pictures are in single precision. Within these limits no number of a picture overflows.
LARGEST = 1e30  # largest number in the table, and largest coordinate of a vector
SMALLEST = 1e-30  # numbers that are nearer to 0 are read as 0
LARGEST_GAIN = 1e12  # largest absolute value of gain and shift
# the arrays of a norm, with the largest absolute value of their numbers
PARTS = {"points": LARGEST, "gain": LARGEST_GAIN, "shift": LARGEST_GAIN}


@dataclass(frozen=True, eq=False)
class Reduced:
    """The input vectors of one norm (normalisation layer) in m ≤ 7 coordinates, which suffice to draw them.

    points            a row for each vector: its coordinates along the three drawn directions a, b and
                      1̂ = (1, …, 1)/√d; then those along up to three more directions (see the module's
                      docstring); last, the length of what is left of the vector
    gain              a matrix G. If p is the row of the vector x in `points`, Gp has the three drawn
                      coordinates of γ ⊙ x, the vector after the gain γ
    shift             the three drawn coordinates of the shift β
    position, token   (n,) each vector's place in its sequence, from 0, and its token's id, −1 if unknown

    For d = 2 there is no direction b, and the coordinate along b is 0. For a GroupNorm all fields describe
    its first group.
    """

    kind: str
    d: int
    eps: float
    points: Float[Array, "n m"]
    gain: Float[Array, "3 m"]
    shift: Float[Array, "3"]
    position: Int[Array, "n"]
    token: Int[Array, "n"]

    @property
    def centres(self) -> bool:
        return self.kind != "rms_norm"


@dataclass(frozen=True, eq=False)
class Digest:
    """A recording reduced for display: for each norm a row of numbers, and vectors in a few coordinates.

    `words` maps a token's id to its text. `skipped` names the norms that were not recorded, with the reasons.
    `special` contains the ids of special tokens. `notice` names the sources of the model and of the text that
    it read, and their licences.
    """

    name: str
    rows: Sequence[TableRow]
    norms: Sequence[Reduced]
    words: Mapping[int, str]
    skipped: Sequence[str]
    special: Collection[int] = frozenset()
    notice: str = ""


def digest(
    recording: Recording, tell: Callable[[int], None] = lambda done: None, *, vectors: int = MAX_VECTORS
) -> Digest:
    """The digest of a recording: the report's numbers on each norm, and some vectors in a few coordinates.

    Of each norm at most `vectors` vectors are kept, as `kept_vectors` chooses them: up to half of them for
    massive vectors (many times longer than the others), the rest evenly spaced. The numbers are computed from
    all recorded vectors. `tell` is called with the number of norms measured so far. Raises FileError for a
    norm with numbers too large to be measured in double precision, or to be drawn in single precision.
    """
    try:
        with np.errstate(all="ignore"):  # overflow is refused below
            rows = measured(recording, tell)
            kept = kept_vectors(recording.norms, vectors)
            norms = [
                chosen(reduced(norm), indices) for norm, indices in zip(recording.norms, kept, strict=True)
            ]
    except np.linalg.LinAlgError:
        raise FileError("this recording has numbers that are too large to compute with") from None
    for norm, row in zip(norms, rows, strict=True):
        if not drawable(norm, row):
            raise FileError(f"{row['path']!r} has numbers that are too large to compute with")
    tokens = {int(token) for norm in norms for token in norm.token}
    words = {token: word for token, word in recording.words.items() if token in tokens}
    return Digest(recording.name, rows, norms, words, recording.skipped, recording.special)


def kept_vectors(norms: Sequence[Norm], most: int) -> list[Int[Array, "kept"]]:
    """For each norm, the indices of at most `most` vectors to keep, in increasing order.

    The vector at a token is kept if any of the norms has a massive vector at this token; of such tokens, only
    the earliest `most`/2 count. The remaining places go to evenly spaced vectors. So norms that saw the same
    tokens keep the same tokens.
    """
    massive_numbers = np.unique(np.concatenate([norm.number[massive.is_massive(norm.x)] for norm in norms]))
    kept = []
    for norm in norms:
        is_massive_here = np.isin(norm.number, massive_numbers[: most // 2])
        others = np.flatnonzero(~is_massive_here)
        room = min(most - int(is_massive_here.sum()), len(others))
        even = others[np.linspace(0, len(others) - 1, room).round().astype(int)]
        kept.append(np.sort(np.concatenate([np.flatnonzero(is_massive_here), even])))
    return kept


def chosen(norm: Reduced, indices: Int[Array, "kept"]) -> Reduced:
    """The norm with only those of its vectors that have the given indices."""
    return replace(norm, **{part: getattr(norm, part)[indices] for part in ("points", *TOKEN_PARTS)})


def drawable(norm: Reduced, row: TableRow) -> bool:
    """Whether all numbers of a norm and of its row are finite, and small enough to be drawn.

    PARTS has the limits for the norm's arrays; the limit for the row is LARGEST.
    """
    numbers = [value for value in row.values() if isinstance(value, float)]
    limits = [(numbers, LARGEST), *((getattr(norm, part), limit) for part, limit in PARTS.items())]
    return all(bounded(part, limit) for part, limit in limits)


def bounded(numbers: Any, limit: float) -> bool:
    """Whether the absolute values of all numbers are at most `limit`. False if one is NaN."""
    return bool((np.abs(np.asarray(numbers)) <= limit).all())


def reduced(norm: Norm) -> Reduced:
    """A normalisation layer's input vectors, gain and shift in the few coordinates that the page needs."""
    width = norm.d // norm.groups
    x, gamma, beta = (part.astype(np.float64)[..., :width] for part in (norm.x, norm.gamma, norm.beta))
    normal = layer_norm if norm.centres else rms_norm
    up = np.full(width, 1 / sqrt(width))
    directions = np.vstack([widest(normal(x, eps=norm.eps), up), up])
    basis = _orthonormal(np.vstack([directions, gamma * directions]))
    inside = x @ basis.T
    remainder = np.linalg.norm(x - inside @ basis, axis=-1)
    gain = np.pad((gamma * directions) @ basis.T, ((0, 0), (0, 1)))
    points, shift = np.column_stack([inside, remainder]).astype(np.float32), directions @ beta
    if width == 2:  # there is no direction b
        points, gain, shift = (
            np.insert(points, 1, 0, axis=1),
            np.insert(gain, 1, 0, axis=1),
            np.insert(shift, 1, 0),
        )
        gain = np.insert(gain, 1, 0, axis=0)
    return Reduced(norm.kind, width, float(norm.eps), points, gain, shift, norm.position, norm.token)


def widest(u: Float[Array, "n d"], up: Float[Array, "d"]) -> Float[Array, "k d"]:
    """The first two principal directions of the vectors u within the hyperplane orthogonal to `up`.

    `up` must have length 1. The directions are orthonormal rows; for d = 2 there is only one. If u varies in
    fewer directions than there are rows, the remaining rows are arbitrary.
    """
    deviations = u - u.mean(axis=0)
    within = deviations - np.outer(deviations @ up, up)
    within = within / (np.abs(within).max() or 1.0)
    if len(within) < within.shape[1]:
        principal = np.linalg.eigh(within @ within.T)[1][:, ::-1].T[:2] @ within
    else:
        principal = np.linalg.eigh(within.T @ within)[1][:, ::-1].T[:2]
    return _orthonormal(np.vstack([up, principal, np.eye(len(up))[:4]]))[1:3]


def _orthonormal(rows: Float[Array, "k d"]) -> Float[Array, "r d"]:
    """Gram–Schmidt: an orthonormal basis of the span of `rows`. Dependent rows are left out."""
    basis: list[Array] = []
    for row in rows:
        rest = row / max(np.linalg.norm(row), np.finfo(float).tiny)
        for _ in range(2):  # the second pass removes rounding errors of the first
            rest = rest - sum((rest @ each * each for each in basis), np.zeros_like(rest))
        size = np.linalg.norm(rest)
        if size > INDEPENDENCE_TOLERANCE:
            basis.append(rest / size)
    return np.array(basis)


def to_file(digest: Digest) -> bytes:
    """Serialise a digest as a safetensors file; the numbers of its table are rounded to DIGITS digits.

    The positions and tokens of a norm's vectors are stored only if they differ from those of the norm that
    precedes it in the digest.
    """
    arrays, before = dict[str, Array](), None
    for k, norm in enumerate(digest.norms):
        parts = tuple(PARTS) if before and _same_tokens(before, norm) else (*PARTS, *TOKEN_PARTS)
        arrays |= {f"{k}/{part}": getattr(norm, part) for part in parts}
        before = norm
    columns = list(digest.rows[0])
    values = [[_rounded(row[column]) for column in columns] for row in digest.rows]
    about: dict[str, Any] = {"name": digest.name, "notice": digest.notice, "skipped": list(digest.skipped)}
    about |= {"columns": columns, "values": values, "special": sorted(digest.special)}
    about["norms"] = [[norm.kind, norm.d, norm.eps] for norm in digest.norms]
    about["words"] = {str(token): word for token, word in digest.words.items()}
    return to_safetensors(arrays, {"format": FORMAT, "about": json.dumps(about, ensure_ascii=False)})


def _same_tokens(a: Reduced, b: Reduced) -> bool:
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in TOKEN_PARTS)


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def parsed(data: bytes) -> tuple[Mapping[str, Any], Mapping[str, Array]]:
    """The metadata and the arrays of a digest file. Raises FileError for any other file."""
    arrays, meta = from_safetensors(data)
    if meta.get("format") != FORMAT:
        raise FileError("it is a safetensors file, but not a reduced recording of Normscape")
    return parsed_description(meta.get("about", "")), arrays


def is_digest(data: bytes) -> bool:
    """Whether the metadata of a safetensors file call it a digest.

    Raises FileError for data that are not a safetensors file.
    """
    return from_safetensors(data)[1].get("format") == FORMAT


def from_digest(data: bytes) -> Digest:
    """Read a digest from a trusted file that `to_file` wrote. Raises FileError for a file of another format.

    Numbers nearer to 0 than SMALLEST become 0. The contents are not checked; `learning.recording.checked`
    reads untrusted files.
    """
    about, arrays = parsed(data)
    norms, tokens = [], dict[str, Any]()
    for k, named in enumerate(about["norms"]):
        parts: Any = {part: arrays[f"{k}/{part}"] for part in PARTS}
        parts = {part: np.where(np.abs(array) < SMALLEST, 0, array) for part, array in parts.items()}
        tokens = {part: arrays.get(f"{k}/{part}", tokens.get(part)) for part in TOKEN_PARTS}
        kind, d, eps = named
        norms.append(Reduced(kind, d, eps, **parts, **tokens))
    words = {int(token): word for token, word in about["words"].items()}
    columns = about["columns"]
    rows = [
        with_missing_columns(dict(zip(columns, map(_without_tiny, values), strict=True)))
        for values in about["values"]
    ]
    special = frozenset(about["special"])
    return Digest(about["name"], rows, norms, words, about["skipped"], special, about["notice"])


def _without_tiny(value: Any) -> Any:
    """`value` itself, or 0.0 if it is a number nearer to 0 than SMALLEST."""
    return 0.0 if isinstance(value, float) and abs(value) < SMALLEST else value


def save(
    recording: Recording,
    path: str | Path,
    tell: Callable[[int], None] = lambda done: None,
    *,
    full: bool = False,
) -> bool:
    """Write a recording to a file. If it is too large to be opened on a page, its digest is written instead.

    full: write the whole recording in any case. tell: called with the number of norms measured so far, if a
    digest is written. Returns whether the digest was written. Raises FileError as `digest` does.
    """
    is_large = sum(norm.x.nbytes for norm in recording.norms) > UPLOAD_SHARE * MAX_UPLOAD_BYTES
    if full or not is_large:
        recording.save(path)
        return False
    write_whole(path, to_file(digest(recording, tell, vectors=MAX_SHOWN_VECTORS)))
    return True
