"""A recording: the norms of a model, each with its parameters and some of the vectors that came to it.

As a file it is safetensors: arrays `<path>/gamma`, `beta`, `x`, `position`, `token`, `number`, and as
metadata `format` and `about`, a JSON text. Nothing of a file is believed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from geometry.norms import group_norm, rms_norm
from learning.safetensors import Arrays, FileError, from_safetensors, to_safetensors

Array = np.ndarray

FORMAT = "normscape-recording-1"
NORM_KINDS = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm", "group_norm": "GroupNorm"}
NORMS, VECTORS, WIDEST = 1000, 2000, 8192  # norms; vectors of each, and their coordinates, at most
LARGEST_EPS = 1e6
PATH, WORD, WORDS = 200, 40, 20_000  # characters of a module's path and of a token; tokens with a text
REASON = 500  # characters of a reason
VERDICTS = ("yes", "no", "unknown")
UNTRACED = "nobody has traced the model"  # the reason for unknown, where none is given
PARTS = ("gamma", "beta", "x", "position", "token", "number")
SAYS = {"path", "kind", "eps", "groups", "seen", "folds", "why"}
LATER = {"folds", "why"}  # which older files do not say
FORMER = {"linear"}  # what older files say in their place, not always rightly


@dataclass(frozen=True, eq=False)
class Norm:
    """One norm: y = γ ⊙ n(x) + β, with n as in `geometry.norms`, and n of the vectors that came to it.

    path: the module's; groups: of a GroupNorm, or the heads of a norm with a gain for each head; else 1.
    x: (n, d) float32. Of each vector position: its place in its sequence; token: its number in a vocabulary,
    −1 where it is not known; number: how many vectors came before it: equal numbers in two norms that have
    `seen` as many belong to one token.
    folds: whether its centring folds into what writes its input, exactly: "yes", "no" or "unknown"; why: the
    reason.
    Raises FileError for what is no norm, or more than can be shown.
    """

    path: str
    kind: str
    eps: float
    groups: int
    seen: int
    gamma: Float[Array, "d"]
    beta: Float[Array, "d"]
    x: Float[Array, "n d"]
    position: Int[Array, "n"]
    token: Int[Array, "n"]
    number: Int[Array, "n"]
    folds: str = "unknown"
    why: str = UNTRACED

    def __post_init__(self) -> None:
        name = repr(self.path[:PATH]) if isinstance(self.path, str) else "a norm"
        if not isinstance(self.path, str) or not 0 < len(self.path) <= PATH or not self.path.isprintable():
            raise FileError(f"a norm's path has 1 … {PATH} printable characters: got {name}")
        if not (isinstance(self.kind, str) and self.kind in NORM_KINDS):
            raise FileError(f"{name} is of the kind {str(self.kind)[:WORD]!r}: take {', '.join(NORM_KINDS)}")
        if not (type(self.eps) in (int, float) and 0 <= self.eps <= LARGEST_EPS):
            raise FileError(f"ε of {name} is not a number from 0 to {LARGEST_EPS:g}")
        if self.gamma.ndim != 1 or not 2 <= len(self.gamma) <= WIDEST:
            raise FileError(
                f"{name} has γ of the shape {self.gamma.shape}: 2 … {WIDEST:,} numbers can be shown"
            )
        d, n = len(self.gamma), len(self.x)
        if self.x.ndim != 2 or not 1 <= n <= VECTORS:
            raise FileError(f"{name} has x of the shape {self.x.shape}: 1 … {VECTORS:,} vectors can be shown")
        shapes = dict(zip(PARTS, ((d,), (d,), (n, d), (n,), (n,), (n,)), strict=True))
        for part, shape in shapes.items():
            array = getattr(self, part)
            if array.shape != shape:
                raise FileError(f"{part} of {name} has the shape {array.shape}, where {shape} fits")
            if array.dtype.kind != ("f" if part in PARTS[:3] else "i"):
                raise FileError(f"{part} of {name} are {array.dtype}")
            if not np.isfinite(array).all():
                raise FileError(f"{part} of {name} has numbers that are not finite")
        if type(self.groups) is not int or self.groups < 1 or d % self.groups or d // self.groups < 2:
            raise FileError(f"{name}: {d} coordinates cannot be cut into {str(self.groups)[:WORD]} groups")
        if self.groups > 1 and self.kind == "layer_norm":
            raise FileError(f"{name} has groups, and is no GroupNorm")
        if not (isinstance(self.folds, str) and self.folds in VERDICTS):
            raise FileError(f"{name} says of its centring {str(self.folds)[:WORD]!r}")
        if not isinstance(self.why, str) or len(self.why) > REASON or not self.why.isprintable():
            raise FileError(f"{name} gives a reason that is no line of text")
        if type(self.seen) is not int or not n <= self.seen < 2**53:
            raise FileError(f"{name} has {n} vectors, and cannot have seen {str(self.seen)[:WORD]}")

    @property
    def d(self) -> int:
        return len(self.gamma)

    @property
    def centres(self) -> bool:
        return self.kind != "rms_norm"

    def blocks(self, x: Array) -> Array:
        """(*batch, groups, d/groups) in double precision: what is centred and normalised together."""
        return x.astype(np.float64).reshape(*x.shape[:-1], self.groups, -1)

    def output(self, x: Float[Array, "*batch d"], *, centres: bool | None = None) -> Float[Array, "*batch d"]:
        """The norm's output for x in double precision, optionally with or without centring."""
        gamma, beta, x = self.gamma.astype(float), self.beta.astype(float), x.astype(float)
        if self.centres if centres is None else centres:
            return group_norm(x, groups=self.groups, gamma=gamma, beta=beta, eps=self.eps)
        return gamma * rms_norm(self.blocks(x), eps=self.eps).reshape(x.shape) + beta


@dataclass(frozen=True, eq=False)
class Recording:
    """The norms of a model in the order in which they first ran. name: of the model; words: the text of
    tokens; skipped: what was not recorded, and why."""

    norms: Sequence[Norm]
    name: str = ""
    words: Mapping[int, str] = field(default_factory=dict)
    skipped: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not 0 < len(self.norms) <= NORMS:
            raise FileError(f"this recording has {len(self.norms):,} norms: 1 … {NORMS:,} can be shown")
        if len({norm.path for norm in self.norms}) < len(self.norms):
            raise FileError("this recording has two norms of one path")

    def save(self, path: str | Path) -> None:
        Path(path).write_bytes(to_file(self))


def to_file(recording: Recording) -> bytes:
    """The recording as safetensors: numbers as float32 and int64."""
    arrays: Arrays = {}
    for norm in recording.norms:
        for part in PARTS:
            kind = np.float32 if part in PARTS[:3] else np.int64
            arrays[f"{norm.path}/{part}"] = np.asarray(getattr(norm, part), dtype=kind)
    about = {
        "name": recording.name,
        "norms": [{name: getattr(norm, name) for name in sorted(SAYS)} for norm in recording.norms],
        "words": {str(token): word for token, word in recording.words.items()},
        "skipped": list(recording.skipped),
    }
    return to_safetensors(arrays, {"format": FORMAT, "about": json.dumps(about, ensure_ascii=False)})


def from_file(source: bytes | Path) -> Recording:
    """The recording of `to_file`. Raises FileError for a file of something else, in one line."""
    arrays, meta = from_safetensors(source)
    if meta.get("format") != FORMAT:
        raise FileError("this file is no recording of ours")
    about = said(meta.get("about", ""))
    try:
        name, norms, words, skipped = (about[part] for part in ("name", "norms", "words", "skipped"))
        if not (isinstance(norms, list) and all(isinstance(norm, dict) for norm in norms)):
            raise FileError("this recording does not say which norms it has")
        if len(norms) > NORMS:
            raise FileError(f"this recording has {len(norms):,} norms: 1 … {NORMS:,} can be shown")
        if any(norm.keys() - FORMER | LATER != SAYS for norm in norms):
            raise FileError(f"of each norm {', '.join(sorted(SAYS))} are said")
        parts = {f"{norm['path']}/{part}" for norm in norms for part in PARTS}
    except (KeyError, TypeError):
        raise FileError("what this recording says of itself is not whole") from None
    if parts != arrays.keys():
        raise FileError(
            f"this recording has arrays that belong to nothing, or not all: {len(parts)} are said"
        )
    found = [_norm(norm, arrays) for norm in norms]
    return Recording(found, text(name, PATH), known(words), lines(skipped))


def _norm(said: Mapping[str, Any], arrays: Arrays) -> Norm:
    parts: Any = {part: arrays[f"{said['path']}/{part}"] for part in PARTS}
    return Norm(**{name: each for name, each in said.items() if name not in FORMER}, **parts)


def opened(path: str | Path) -> Recording:
    """The recording of a file. Raises FileError, OSError."""
    return from_file(Path(path))


def said(text: str) -> Mapping[str, Any]:
    try:
        about = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise FileError("what this recording says of itself is no JSON") from None
    if not isinstance(about, dict):
        raise FileError("what this recording says of itself has no names")
    return about


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def text(said: Any, longest: int) -> str:
    if not isinstance(said, str):
        raise FileError("a name in this recording is no text")
    return "".join(each if each.isprintable() else " " for each in said[:longest])


def lines(said: Any) -> tuple[str, ...]:
    if not isinstance(said, list) or len(said) > NORMS:
        raise FileError("this recording does not say what was skipped")
    return tuple(text(line, PATH) for line in said)


def known(said: Any) -> dict[int, str]:
    if not isinstance(said, dict) or len(said) > WORDS:
        raise FileError(f"this recording has no words, or more than {WORDS:,}")
    if not all(re.fullmatch("[0-9]{1,18}", token) for token in said):
        raise FileError("the words of this recording have no numbers")
    return {int(token): text(word, WORD) for token, word in said.items()}
