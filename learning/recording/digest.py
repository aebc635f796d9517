"""A digest of a recording for display: its table of numbers, and each norm's vectors in 7 exact coordinates.

Three directions are displayed: 1̂, and the two directions a and b of the hyperplane in which the normalised
vectors spread most. Let the rows of Q be an orthonormal basis of the span of a, b, 1̂, γ ⊙ a, γ ⊙ b, γ ⊙ 1̂,
and r the length of the part of x outside this span. Then (Qx, r) is as long as x, so centring and normalising
can be computed from it; and ⟨a, γ ⊙ u⟩ = ⟨γ ⊙ a, u⟩, so can the displayed coordinates after γ and β. Seven
numbers thus suffice for any d.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from geometry.norms import layer_norm, rms_norm
from learning.recording.analysis import Row, completed, measured
from learning.recording.recording import UNTRACED, Norm, Recording, from_file
from learning.safetensors import FileError, from_safetensors, to_safetensors

Array = np.ndarray
FORMAT = "normscape-digest-1"
INDEPENDENCE_TOLERANCE = 1e-6  # of a row's length: a smaller remainder after projection is rounding
PARTS = ("points", "gain", "shift", "position", "token")
UNKNOWN_FOLDING = {
    "folds": "unknown",
    "why": UNTRACED,
}  # replaces the answers of older files: some were wrong


@dataclass(frozen=True, eq=False)
class Reduced:
    """The vectors of one norm in m ≤ 7 coordinates: a, b, 1̂, further ones, and the length of the remainder.

    gain: the map (3, m) from these coordinates to the displayed ones after γ; shift: the displayed
    coordinates of β. In d = 2 there is no b, and its coordinate is 0. Of a GroupNorm all fields are about its
    first group.
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
    """A recording reduced for display: for each norm a row of numbers and its reduced vectors."""

    name: str
    rows: Sequence[Row]
    norms: Sequence[Reduced]
    words: Mapping[int, str]
    skipped: Sequence[str]
    special: Collection[int] = frozenset()


def digest(recording: Recording, tell: Callable[[int], None] = lambda done: None) -> Digest:
    """Make the digest of a recording. tell: as in `measured`.

    Raises FileError for a norm whose numbers are too large to be measured in double precision, or to be shown
    in single precision.
    """
    try:
        with np.errstate(all="ignore"):  # results that overflow are refused below
            rows, norms = measured(recording, tell), [reduced(norm) for norm in recording.norms]
    except np.linalg.LinAlgError:
        raise FileError("this recording has numbers that are too large to be measured") from None
    for norm, row in zip(norms, rows, strict=True):
        if not _finite(norm, row):
            raise FileError(f"{row['path']!r} has numbers that are too large to be measured")
    return Digest(recording.name, rows, norms, recording.words, recording.skipped, recording.special)


def _finite(norm: Reduced, row: Row) -> bool:
    """Whether all numbers of a norm are finite in single precision, in which they are drawn."""
    numbers = [value for value in row.values() if isinstance(value, float)]
    with np.errstate(over="ignore"):
        parts = [np.asarray(part, np.float32) for part in (numbers, norm.points, norm.gain, norm.shift)]
    return all(np.isfinite(part).all() for part in parts)


def reduced(norm: Norm) -> Reduced:
    """Reduce the vectors, gain and shift of a norm to the displayed coordinates."""
    width = norm.d // norm.groups
    x, gamma, beta = (part.astype(np.float64)[..., :width] for part in (norm.x, norm.gamma, norm.beta))
    normal = layer_norm if norm.centres else rms_norm
    up = np.full(width, 1 / sqrt(width))
    directions = np.vstack([widest(normal(x, eps=norm.eps), up), up])
    basis = _orthonormal(np.vstack([directions, gamma * directions]))
    inside = x @ basis.T
    beside = np.linalg.norm(x - inside @ basis, axis=-1)
    gain = np.pad((gamma * directions) @ basis.T, ((0, 0), (0, 1)))
    points, shift = np.column_stack([inside, beside]).astype(np.float32), directions @ beta
    if width == 2:  # there is no b
        points, gain, shift = (
            np.insert(points, 1, 0, axis=1),
            np.insert(gain, 1, 0, axis=1),
            np.insert(shift, 1, 0),
        )
        gain = np.insert(gain, 1, 0, axis=0)
    return Reduced(norm.kind, width, float(norm.eps), points, gain, shift, norm.position, norm.token)


def widest(u: Float[Array, "n d"], up: Float[Array, "d"]) -> Float[Array, "k d"]:
    """The first two principal directions of u orthogonal to `up`: orthonormal, of the largest variance.

    Where u varies in fewer directions they are completed arbitrarily; in d = 2 there is one.
    """
    away = u - u.mean(axis=0)
    away = away - np.outer(away @ up, up)
    away = away / (np.abs(away).max() or 1.0)
    if len(away) < away.shape[1]:
        found = np.linalg.eigh(away @ away.T)[1][:, ::-1].T[:2] @ away
    else:
        found = np.linalg.eigh(away.T @ away)[1][:, ::-1].T[:2]
    return _orthonormal(np.vstack([up, found, np.eye(len(up))[:4]]))[1:3]


def _orthonormal(rows: Float[Array, "k d"]) -> Float[Array, "r d"]:
    """Gram–Schmidt: the rows made orthonormal in order, without those that depend on earlier ones."""
    basis: list[Array] = []
    for row in rows:
        rest = row / max(np.linalg.norm(row), np.finfo(float).tiny)
        for _ in range(2):  # the second pass removes the rounding errors of the first
            rest = rest - sum((rest @ each * each for each in basis), np.zeros_like(rest))
        size = np.linalg.norm(rest)
        if size > INDEPENDENCE_TOLERANCE:
            basis.append(rest / size)
    return np.array(basis)


def to_file(found: Digest) -> bytes:
    """The digest as a safetensors file."""
    arrays = {f"{k}/{part}": getattr(norm, part) for k, norm in enumerate(found.norms) for part in PARTS}
    about: dict[str, Any] = {"name": found.name, "rows": list(found.rows), "skipped": list(found.skipped)}
    about["special"] = sorted(found.special)
    about["norms"] = [[norm.kind, norm.d, norm.eps] for norm in found.norms]
    about["words"] = {str(token): word for token, word in found.words.items()}
    return to_safetensors(arrays, {"format": FORMAT, "about": json.dumps(about, ensure_ascii=False)})


def from_digest(source: bytes | Path) -> Digest:
    """Read a digest that `to_file` wrote. The file is trusted. Raises FileError for one of another format."""
    arrays, meta = from_safetensors(source)
    if meta.get("format") != FORMAT:
        raise FileError("this file is no digest of ours")
    about: dict[str, Any] = json.loads(meta["about"])
    norms = []
    for k, said in enumerate(about["norms"]):
        parts: Any = [arrays[f"{k}/{part}"] for part in PARTS]
        norms.append(Reduced(*said, *parts))
    words = {int(token): word for token, word in about["words"].items()}
    rows = [completed(row if "why" in row else row | UNKNOWN_FOLDING) for row in about["rows"]]
    return Digest(about["name"], rows, norms, words, about["skipped"], frozenset(about.get("special", ())))


def opened(path: str | Path) -> Recording | Digest:
    """Open a recording or digest file. Raises FileError, OSError."""
    path = Path(path)
    is_ours = from_safetensors(path)[1].get("format") == FORMAT
    return from_digest(path) if is_ours else from_file(path)
