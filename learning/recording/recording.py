"""A recording: a model's normalisation layers (norms), their parameters and some of their input vectors.

It is stored in a safetensors file: for each norm the arrays `<path>/gamma`, `beta`, `x`, `position`, `token`
and `number`, and the metadata `format` and `about`, a JSON text. Files are untrusted, so every part is
checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from geometry.norms import group_norm, rms_norm
from learning.file_error import FileError, strict_json
from learning.file_write import write_whole
from learning.recording.sources import Sources
from learning.safetensors import from_safetensors, to_safetensors

Array = np.ndarray

FORMAT = "normscape-recording-1"
NORM_KINDS = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm", "group_norm": "GroupNorm"}
MAX_NORMS, MAX_VECTORS, MAX_COORDINATES = 1000, 2000, 8192  # norms; vectors of each norm; coordinates
MAX_EPS = 1e6
MAX_POSITION = 2**31
MAX_PATH_CHARACTERS, MAX_REASON_CHARACTERS = 200, 500
MAX_WORDS, MAX_WORD_CHARACTERS = 20_000, 40  # number of tokens whose text is stored, and its length
VERDICTS = ("yes", "no", "unknown")
UNTRACED = "the model was not traced"  # the default reason for the verdict "unknown"
PARTS = ("gamma", "beta", "x", "position", "token", "number")
SOURCES = ("mean_sources", "outlier_sources")
NORM_FIELDS = {"path", "kind", "eps", "groups", "seen", "folds", "why", *SOURCES}
OPTIONAL_FIELDS = {"folds", "why", *SOURCES}  # older files lack them
OBSOLETE_FIELDS = {"linear"}  # in older files; ignored, because it was not always right


@dataclass(frozen=True, eq=False)
class Norm:
    """A recorded norm, y = γ ⊙ normalised(x) + β, and a sample of n of its input vectors.

    path      the module's path in the model
    kind      a key of NORM_KINDS
    groups    the number of groups of a GroupNorm; the number of attention heads if each head has a gain of
              its own; otherwise 1
    seen      the number of vectors that the norm was given
    x         (n, d) the sampled input vectors, float32
    position  (n,) the place of each vector in its sequence, from 0. Earlier tokens in a key–value cache of
              the library transformers count; other caches are not recognised
    token     (n,) the id of each vector's token in the vocabulary, −1 if unknown
    number    (n,) how many vectors the norm was given before this one; in two norms with the same `seen`,
              vectors with the same number belong to the same token
    folds     whether the centring folds exactly into the layers that write the input: "yes", "no" or
              "unknown"; `why` gives the reason
    mean_sources, outlier_sources
              which modules write the mean of the input, and which modules write the dimension of the input
              that has most energy (sum of squares); None if unknown

    Raises FileError for fields that are inconsistent or exceed the limits above.
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
    mean_sources: Sources | None = None
    outlier_sources: Sources | None = None

    def __post_init__(self) -> None:
        name = repr(self.path[:MAX_PATH_CHARACTERS]) if isinstance(self.path, str) else "a norm"
        if (
            not isinstance(self.path, str)
            or not 0 < len(self.path) <= MAX_PATH_CHARACTERS
            or not self.path.isprintable()
        ):
            raise FileError(
                f"the name of a norm must have 1 to {MAX_PATH_CHARACTERS} printable characters: got {name}"
            )
        if not (isinstance(self.kind, str) and self.kind in NORM_KINDS):
            raise FileError(
                f"{name} is of the kind {str(self.kind)[:MAX_WORD_CHARACTERS]!r}, "
                f"which must be one of {', '.join(NORM_KINDS)}"
            )
        if not (type(self.eps) in (int, float) and 0 <= self.eps <= MAX_EPS):
            raise FileError(f"ε of {name} must be a number from 0 to {MAX_EPS:g}")
        if self.gamma.ndim != 1 or not 2 <= len(self.gamma) <= MAX_COORDINATES:
            raise FileError(
                f"γ of {name} has the shape {self.gamma.shape}; it must have 2 to {MAX_COORDINATES:,} numbers"
            )
        d, n = len(self.gamma), len(self.x)
        if self.x.ndim != 2 or not 1 <= n <= MAX_VECTORS:
            raise FileError(
                f"x of {name} has the shape {self.x.shape}; it must have 1 to {MAX_VECTORS:,} vectors"
            )
        shapes = dict(zip(PARTS, ((d,), (d,), (n, d), (n,), (n,), (n,)), strict=True))
        for part, shape in shapes.items():
            array = getattr(self, part)
            if array.shape != shape:
                raise FileError(f"{part} of {name} has the shape {array.shape}, but {shape} is expected")
            if array.dtype.kind != ("f" if part in PARTS[:3] else "i"):
                raise FileError(f"{part} of {name} has the data type {array.dtype}")
            if not np.isfinite(array).all():
                raise FileError(f"{part} of {name} contains NaN or infinity")
        if self.position.min() < -MAX_POSITION or self.position.max() > MAX_POSITION:
            raise FileError(f"a position of {name} is not within ±{MAX_POSITION:,}")
        if type(self.groups) is not int or self.groups < 1 or d % self.groups or d // self.groups < 2:
            raise FileError(
                f"{name}: {d} coordinates cannot be split into "
                f"{str(self.groups)[:MAX_WORD_CHARACTERS]} groups"
            )
        if self.groups > 1 and self.kind == "layer_norm":
            raise FileError(f"{name} has groups, but is not a GroupNorm")
        if not (isinstance(self.folds, str) and self.folds in VERDICTS):
            raise FileError(f"{name}: whether its centring folds must be one of {', '.join(VERDICTS)}")
        if (
            not isinstance(self.why, str)
            or len(self.why) > MAX_REASON_CHARACTERS
            or not self.why.isprintable()
        ):
            raise FileError(f"{name}: the reason why its centring stays is not one line of text")
        if type(self.seen) is not int or not n <= self.seen < 2**53:
            raise FileError(
                f"{name} holds {n} vectors, so {str(self.seen)[:MAX_WORD_CHARACTERS]} cannot be "
                "the number that it has seen"
            )

    @property
    def d(self) -> int:
        return len(self.gamma)

    @property
    def centres(self) -> bool:
        return self.kind != "rms_norm"

    def blocks(self, x: Array) -> Array:
        """Split each vector of x into the norm's separately treated groups: (*batch, groups, d/groups)."""
        return x.astype(np.float64).reshape(*x.shape[:-1], self.groups, -1)

    def output(self, x: Float[Array, "*batch d"], *, centres: bool | None = None) -> Float[Array, "*batch d"]:
        """The norm's output for the input vectors x, in double precision.

        `centres` says whether to subtract the mean; None: only if the norm itself centres.
        """
        gamma, beta, x = self.gamma.astype(float), self.beta.astype(float), x.astype(float)
        if self.centres if centres is None else centres:
            return group_norm(x, groups=self.groups, gamma=gamma, beta=beta, eps=self.eps)
        return gamma * rms_norm(self.blocks(x), eps=self.eps).reshape(x.shape) + beta


@dataclass(frozen=True, eq=False)
class Recording:
    """The recorded norms of a model, in the order in which they were first called.

    norms     the recorded norms
    name      the model's name
    words     the text of each token, by the token's id
    skipped   for each norm that was not, or not wholly, recorded: its path and the reason, in one string
    special   the ids of the tokenizer's special tokens

    Raises FileError if there are no norms or too many, or if two have the same path.
    """

    norms: Sequence[Norm]
    name: str = ""
    words: Mapping[int, str] = field(default_factory=dict)
    skipped: Sequence[str] = ()
    special: Collection[int] = frozenset()

    def __post_init__(self) -> None:
        if not 0 < len(self.norms) <= MAX_NORMS:
            raise FileError(f"this recording has {len(self.norms):,} norms; it must have 1 to {MAX_NORMS:,}")
        if len({norm.path for norm in self.norms}) < len(self.norms):
            raise FileError("two norms of this recording have the same name")

    def save(self, path: str | Path) -> None:
        write_whole(path, to_file(self))


def to_file(recording: Recording) -> bytes:
    """Serialise a recording as a safetensors file of float32 and int64 arrays."""
    arrays: dict[str, np.ndarray] = {}
    for norm in recording.norms:
        for part in PARTS:
            kind = np.float32 if part in PARTS[:3] else np.int64
            arrays[f"{norm.path}/{part}"] = np.asarray(getattr(norm, part), dtype=kind)
    about = {
        "name": recording.name,
        "norms": [_about(norm) for norm in recording.norms],
        "words": {str(token): word for token, word in recording.words.items()},
        "skipped": list(recording.skipped),
        "special": sorted(recording.special),
    }
    return to_safetensors(arrays, {"format": FORMAT, "about": json.dumps(about, ensure_ascii=False)})


def _about(norm: Norm) -> dict[str, Any]:
    said = {name: getattr(norm, name) for name in sorted(NORM_FIELDS)}
    return said | {name: said[name] and asdict(said[name]) for name in SOURCES}


def from_file(data: bytes) -> Recording:
    """Read a recording from the contents of a file.

    Raises FileError, with a one-line message, if they are not a valid recording.
    """
    arrays, meta = from_safetensors(data)
    if meta.get("format") != FORMAT:
        raise FileError("it is a safetensors file, but not a recording made by `normscape record`")
    about = parsed_description(meta.get("about", ""))
    try:
        name, norms, words, skipped = (about[part] for part in ("name", "norms", "words", "skipped"))
        if not (isinstance(norms, list) and all(isinstance(norm, dict) for norm in norms)):
            raise FileError("the list of norms is missing from this recording")
        if len(norms) > MAX_NORMS:
            raise FileError(f"this recording has {len(norms):,} norms; it must have 1 to {MAX_NORMS:,}")
        if any(norm.keys() - OBSOLETE_FIELDS | OPTIONAL_FIELDS != NORM_FIELDS for norm in norms):
            raise FileError(f"each norm must have the fields {', '.join(sorted(NORM_FIELDS))}")
        parts = {f"{norm['path']}/{part}" for norm in norms for part in PARTS}
    except (KeyError, TypeError):
        raise FileError("the description in this recording is incomplete") from None
    if parts != arrays.keys():
        raise FileError(f"the arrays of this recording are not the {len(parts)} that its description names")
    found = [_norm(norm, arrays) for norm in norms]
    name, special = checked_text(name, MAX_PATH_CHARACTERS), checked_tokens(about.get("special", []))
    return Recording(found, name, checked_words(words), checked_lines(skipped), special)


def _norm(said: Mapping[str, Any], arrays: dict[str, np.ndarray]) -> Norm:
    parts: Any = {part: arrays[f"{said['path']}/{part}"] for part in PARTS}
    parts |= {name: _sources(said[name]) for name in SOURCES if name in said}
    said = {name: each for name, each in said.items() if name not in SOURCES}
    return Norm(**{name: each for name, each in said.items() if name not in OBSOLETE_FIELDS}, **parts)


def _sources(said: Any) -> Sources | None:
    if said is None:
        return None
    if not isinstance(said, dict) or said.keys() != {"shares", "module", "share"}:
        raise FileError("the description of what wrote a norm's input is incomplete")
    return Sources(**said)


def parsed_description(text: str) -> Mapping[str, Any]:
    """The JSON object in the metadata of a file. Raises FileError for another text."""
    about = strict_json(text)
    if not isinstance(about, dict):
        raise FileError("the description in this file is not a JSON object")
    return about


def checked_text(said: Any, longest: int) -> str:
    """The first `longest` characters of a text from a file, with unprintable ones replaced by spaces.

    Raises FileError unless it is a text.
    """
    if not isinstance(said, str):
        raise FileError("a name in this file is not text")
    return "".join(each if each.isprintable() else " " for each in said[:longest])


def checked_lines(said: Any) -> tuple[str, ...]:
    """Check the list of skipped norms, `said`, from the metadata of an untrusted file; returns its texts.

    Raises FileError unless it is a list of at most MAX_NORMS texts.
    """
    if not isinstance(said, list) or len(said) > MAX_NORMS:
        raise FileError("the list of skipped norms is missing or too long")
    return tuple(checked_text(line, MAX_PATH_CHARACTERS) for line in said)


def checked_words(said: Any) -> dict[int, str]:
    """Check the texts of tokens, `said`, from the metadata of an untrusted file; returns them by token id.

    Raises FileError unless they are a dict from ids to texts, with no more entries than allowed.
    """
    if not isinstance(said, dict) or len(said) > MAX_WORDS:
        raise FileError(f"the words of the tokens are missing, or are more than {MAX_WORDS:,}")
    if not all(re.fullmatch("[0-9]{1,18}", token) for token in said):
        raise FileError("the words of the tokens must be listed by token number")
    return {int(token): checked_text(word, MAX_WORD_CHARACTERS) for token, word in said.items()}


def checked_tokens(said: Any) -> frozenset[int]:
    """Check the ids of special tokens, `said`, from the metadata of an untrusted file; returns them.

    Raises FileError unless they are a list of integers with no more entries than allowed.
    """
    if not isinstance(said, list) or len(said) > MAX_WORDS or not all(type(each) is int for each in said):
        raise FileError(f"the special tokens must be a list of at most {MAX_WORDS:,} integers")
    return frozenset(said)
