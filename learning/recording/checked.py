"""Read and check an untrusted file with a recording, or with a digest (a recording reduced for display)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from learning.file_error import FileError, readable
from learning.recording.analysis import COLUMNS
from learning.recording.digest import (
    LARGEST,
    PARTS,
    TOKEN_PARTS,
    Digest,
    bounded,
    from_digest,
    is_digest,
    parsed,
)
from learning.recording.recording import (
    MAX_COORDINATES,
    MAX_EPS,
    MAX_NORMS,
    MAX_PATH_CHARACTERS,
    MAX_REASON_CHARACTERS,
    MAX_VECTORS,
    NORM_KINDS,
    Recording,
    checked_lines,
    checked_text,
    checked_tokens,
    checked_words,
    from_file,
)

COORDINATES = (3, 7)  # smallest and largest number of coordinates of a vector in a digest
# a page cannot be shown without these columns
REQUIRED = {
    *("path", "kind", "d", "vectors", "size", "sigma", "rank", "eps", "eps_high", "folds", "why"),
    *("share", "share_high", "share_d", "turn", "turn_high", "turn_scaled"),
    *("longest", "massive", "longest_at", "top_dimension", "top_energy"),
    *("keys", "lost_before", "lost_after"),
}
SIGNED = ("mean_written", "outlier_written")  # columns with shares, which may be negative


def opened(path: str | Path) -> Recording | Digest:
    """Read and check a file that holds a recording or a digest.

    Raises FileError, with a message that names the file, for any other file, and OSError if the file cannot
    be opened.
    """
    source = readable(path).read_bytes()
    try:
        return checked(source)
    except FileError as problem:
        raise FileError(f"{path}: {problem}") from None


def checked(source: bytes) -> Recording | Digest:
    """Parse and check `source`, the bytes of an untrusted file with a recording or a digest.

    Raises FileError, with a one-line message, for any other contents.
    """
    return checked_digest(source) if is_digest(source) else from_file(source)


def checked_digest(source: bytes) -> Digest:
    """Parse and check `source`, the bytes of an untrusted file with a digest.

    Raises FileError, with a one-line message, for any other contents.
    """
    about, arrays = parsed(source)
    try:
        norms, columns, values = about["norms"], about["columns"], about["values"]
        words: dict[str, Any] = {
            "name": checked_text(about["name"], MAX_PATH_CHARACTERS),
            "notice": checked_text(about["notice"], MAX_REASON_CHARACTERS),
            "skipped": checked_lines(about["skipped"]),
            "words": checked_words(about["words"]),
            "special": checked_tokens(about["special"]),
        }
        lists = isinstance(norms, list) and isinstance(columns, list) and isinstance(values, list)
    except (KeyError, TypeError):
        raise FileError("the description in this reduced recording is incomplete") from None
    if not (lists and 0 < len(norms) <= MAX_NORMS and len(values) == len(norms)):
        raise FileError(
            f"this reduced recording must have 1 to {MAX_NORMS:,} norms, and one row of numbers for each"
        )
    if not all(isinstance(column, str) for column in columns) or len(set(columns)) != len(columns):
        raise FileError("the columns of this reduced recording must have different names")
    if missing := REQUIRED - set(columns):
        raise FileError(f"this reduced recording lacks the columns {', '.join(sorted(missing))}")
    for row in values:
        _check_row(columns, row)
    for said in norms:
        _check_norm(said)
    _check_arrays(arrays, len(norms))
    return replace(from_digest(source), **words)


def _check_row(columns: Sequence[str], row: Any) -> None:
    if not (isinstance(row, list) and len(row) == len(columns)):
        raise FileError("a row of this reduced recording does not have one value for each column")
    given = dict(zip(columns, row, strict=True))
    kinds = {column.name: column.digits for column in COLUMNS}
    for name in REQUIRED & given.keys():
        if given[name] is None:
            raise FileError(f"a value of {name!r} is missing")
    for name, value in given.items():
        if name not in kinds or value is None:
            continue
        if kinds[name] == "":
            fits = isinstance(value, str) and len(value) <= MAX_REASON_CHARACTERS and value.isprintable()
        elif kinds[name] == "d":
            fits = type(value) is int and 0 <= value < 2**53
        else:
            least = -LARGEST if name in SIGNED else 0.0
            fits = type(value) in (int, float) and isfinite(value) and least <= value <= LARGEST
        if not fits:
            raise FileError(f"{str(value)[:40]!r} is not a valid value of {name!r}")
    if not (given["path"] and given["d"] and given["vectors"] and given["kind"] in NORM_KINDS.values()):
        raise FileError("a row lacks the name, the kind or the size of its norm")


def _check_norm(said: Any) -> None:
    if not (isinstance(said, list) and len(said) == 3):
        raise FileError("the description of a norm must be its kind, its size and its ε")
    kind, d, eps = said
    if not (isinstance(kind, str) and kind in NORM_KINDS and type(d) is int and 1 <= d <= MAX_COORDINATES):
        raise FileError(f"a norm has an unknown kind, or not 1 to {MAX_COORDINATES:,} coordinates")
    if not (type(eps) in (int, float) and 0 <= eps <= MAX_EPS):
        raise FileError(f"ε of a norm must be a number from 0 to {MAX_EPS:g}")


def _check_arrays(arrays: Mapping[str, np.ndarray], count: int) -> None:
    """Raise FileError unless the arrays belong to `count` norms, can be drawn, and have matching shapes."""
    needed = {f"{k}/{part}" for k in range(count) for part in PARTS} | {f"0/{part}" for part in TOKEN_PARTS}
    allowed = needed | {f"{k}/{part}" for k in range(count) for part in TOKEN_PARTS}
    if not needed <= arrays.keys() <= allowed:
        raise FileError("the arrays of this reduced recording are not those that its norms need")
    tokens: dict[str, np.ndarray] = {}
    for k in range(count):
        points, gain, shift = (arrays[f"{k}/{part}"] for part in PARTS)
        tokens = {part: arrays.get(f"{k}/{part}", tokens.get(part, points)) for part in TOKEN_PARTS}
        low, high = COORDINATES
        fits = points.ndim == 2 and 0 < len(points) <= MAX_VECTORS and low <= points.shape[1] <= high
        fits = fits and gain.shape == (3, points.shape[1]) and shift.shape == (3,)
        fits = fits and all(
            each.shape == (len(points),) and each.dtype.kind == "i" and each.min() >= -1
            for each in tokens.values()
        )
        fits = fits and all(
            arrays[f"{k}/{part}"].dtype.kind == "f" and bounded(arrays[f"{k}/{part}"], limit)
            for part, limit in PARTS.items()
        )
        if not fits:
            raise FileError(
                f"the arrays of norm {k + 1} have shapes that do not match, or contain NaN or huge numbers"
            )
