"""Films: stored training runs, with the weights of one network per seed at checkpoints; and their files."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from geometry.entries import Entries, Track
from geometry.pipeline import Pipeline
from learning.datasets import DataSet
from learning.file_error import FileError
from learning.models import model
from learning.untrusted_npz import MAX_NUMBERS, npz_parts
from learning.weights import bounded, finite

Array = np.ndarray

FORMAT, VERSION = "normscape-film", 1
MAX_STEPS = 1_000_000  # largest training step that a film file may contain
OPTIONAL = ("images", "test_accuracy")


@dataclass(frozen=True, eq=False)
class Film:
    """A stored training run: weights of S networks, which differ in their seeds, at T checkpoints.

    network         the architecture, a `models.Model`
    data            the data on which all networks are trained
    steps           (T,) the training step of each checkpoint, increasing
    weights         (S, T, P) float32, where P is the number of a network's parameters
    loss, accuracy  (S, T)
    ended           for each seed the reason if its training ended early, otherwise ""
    settings        the settings of the training by name: texts, finite numbers, or None
    test_accuracy   (S, T), or None without test data

    For a seed that diverged, its last good checkpoint is repeated. Raises FileError if the fields do not fit
    together, or a value is out of range.
    """

    network: Any
    data: DataSet
    steps: Array
    weights: Array
    loss: Array
    accuracy: Array
    ended: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    test_accuracy: Array | None = None

    def __post_init__(self):
        object.__setattr__(self, "steps", _integers(self.steps, "steps"))
        object.__setattr__(self, "weights", bounded(self.weights))
        for name in ("loss", "accuracy", "test_accuracy"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, finite(getattr(self, name), name))
        _check(self)

    @property
    def seeds(self) -> int:
        return len(self.weights)

    def entries(self, seed: int) -> list[Entries]:
        """The parameter arrays of one network of the film, as `Entries`. seed: its index, from 0.

        The entries depend on one parameter, "step", the training step.
        """
        return [
            Entries(np.zeros(part.shape[1:]), tracks={"step": Track(self.steps, part)})
            for part in self.network.parts(self.weights[seed])
        ]

    def pipeline(self, seed: int) -> Pipeline:
        """One network of a film of feed-forward networks, as a pipeline of its `entries`. seed: its index."""
        entries = self.entries(seed)
        return self.network.pipeline(list(zip(entries[::2], entries[1::2], strict=True)))

    def solved(self, threshold: float = 0.99) -> Array:
        """For each seed, whether its final accuracy is at least `threshold`: (S,)."""
        return self.accuracy[:, -1] >= threshold

    def steps_to(self, accuracy: float) -> Array:
        """For each seed, the step of its first checkpoint with at least this accuracy, or NaN: (S,)."""
        reached = self.accuracy >= accuracy
        return np.where(reached.any(-1), self.steps[reached.argmax(-1)], np.nan)

    def best(self) -> int:
        """The index of the seed with the highest final accuracy; a tie is broken by the lower final loss."""
        return int(np.lexsort((self.loss[:, -1], -self.accuracy[:, -1]))[0])


def key(film: Film) -> str:
    """A hash of the film's contents: 16 hexadecimal digits, the same for equal films."""
    digest = hashlib.sha256(json.dumps(_meta(film), sort_keys=True).encode())
    for name, array in _arrays(film).items():
        digest.update(f"{name}{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def to_npz(film: Film, *, half: bool = False) -> bytes:
    """Serialise a film as a compressed NumPy archive: its arrays, and `meta` with the rest as JSON.

    With `half`, weights are stored in float16.
    """
    arrays = _arrays(film) | {"meta": np.frombuffer(json.dumps(_meta(film)).encode(), dtype=np.uint8)}
    if half:
        arrays["weights"] = arrays["weights"].astype(np.float16)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue(), zipfile.ZIP_DEFLATED)
    return file.getvalue()


def from_npz(data: bytes) -> Film:
    """Read a film that `to_npz` wrote. Raises FileError for any other file, and for a film too large."""
    return _film(*npz_parts(data))


def json_table(data: bytes) -> tuple[dict[str, Any], ...]:
    """Parse a JSON list of table rows, from a file that comes with Normscape, into a tuple."""
    return tuple(json.loads(data))


def score(logits: Array, labels: Array, weight: Array | None = None) -> tuple[float, float]:
    """The mean cross entropy in nats, and the accuracy, of logits for the class numbers `labels` (N,).

    The logits are (N, 1) for two classes, otherwise (N, K). `weight` (N,) says how much each row counts in
    both means; by default all rows count equally.
    """
    if logits.shape[-1] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=-1)
    largest = logits.max(-1, keepdims=True)
    total = largest[:, 0] + np.log(np.exp(logits - largest).sum(-1))
    loss = total - np.take_along_axis(logits, labels[:, None], axis=-1)[:, 0]
    right = logits.argmax(-1) == labels
    return float(np.average(loss, weights=weight)), float(np.average(right, weights=weight))


def _arrays(film: Film) -> dict[str, Array]:
    """The arrays of a film that are not None, by their names in its file (the keys of MAX_NUMBERS)."""
    data = {"points": film.data.points, "labels": film.data.labels, "images": film.data.images}
    arrays = data | {name: getattr(film, name) for name in MAX_NUMBERS if name not in data}
    return {name: array for name, array in arrays.items() if array is not None}


def _meta(film: Film) -> dict[str, Any]:
    data = {"name": film.data.name, "classes": film.data.classes}
    return {
        "format": FORMAT,
        "version": VERSION,
        "network": film.network.fields(),
        "data": data,
        "ended": list(film.ended),
        "settings": dict(film.settings),
    }


def _film(meta: Any, arrays: dict[str, Array]) -> Film:
    """Build a film from the metadata and arrays of an untrusted file. Raises FileError if they do not fit."""
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise FileError("this file is not a run saved by Normscape")
    if meta.get("version") != VERSION:
        raise FileError(f"this run has another version; this one reads {VERSION}")
    if missing := [name for name in MAX_NUMBERS if name not in arrays and name not in OPTIONAL]:
        raise FileError(f"this run has no {', '.join(missing)}")
    if not isinstance(meta.get("ended"), list):
        raise FileError("this run does not say how its seeds ended")
    try:
        data = DataSet(
            finite(arrays["points"], "points"),
            _integers(arrays["labels"], "labels"),
            name=str(meta["data"]["name"])[:40],
            classes=meta["data"]["classes"],
            images=_pictures(arrays.get("images")),
        )
        return Film(
            model(meta["network"]),
            data,
            steps=arrays["steps"],
            weights=arrays["weights"],
            loss=arrays["loss"],
            accuracy=arrays["accuracy"],
            ended=tuple(meta["ended"]),
            settings=meta["settings"],
            test_accuracy=arrays.get("test_accuracy"),
        )
    except FileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as problem:
        raise FileError(f"this run is damaged: {problem}") from None


def _check(film: Film) -> None:
    seeds, count = film.weights.shape[:1], film.steps.shape
    shapes = {
        "steps": (film.steps, (*count,)),
        "weights": (film.weights, (*seeds, *count, film.network.parameter_count)),
        "loss": (film.loss, seeds + count),
        "accuracy": (film.accuracy, seeds + count),
        "test_accuracy": (film.test_accuracy, seeds + count),
    }
    for name, (array, shape) in shapes.items():
        if array is not None and (array.shape != shape or not array.size or len(count) != 1):
            raise FileError(f"{name} of this run has the shape {array.shape}: {shape} would fit")
    if film.steps[0] < 0 or (np.diff(film.steps) <= 0).any() or film.steps[-1] > MAX_STEPS:
        raise FileError(f"the steps of a run increase, from 0 on to {MAX_STEPS:,} at most")
    for accuracy in (film.accuracy, film.test_accuracy):
        if accuracy is not None and not ((accuracy >= 0) & (accuracy <= 1)).all():
            raise FileError("the accuracies of a run are numbers, 0 … 1")
    if (film.loss < 0).any():
        raise FileError("the losses of a run are not negative")
    if len(film.ended) != film.seeds or not all(isinstance(word, str) for word in film.ended):
        raise FileError(f"a run of {film.seeds} seeds has as many words on how they ended")
    if not isinstance(film.settings, Mapping) or not all(map(_plain, film.settings.values())):
        raise FileError("the settings of a run are names with a number or a word each")
    steps = film.settings.get("steps", 0)
    if type(steps) is not int or not 0 <= steps <= MAX_STEPS:
        raise FileError(f"the steps in the settings of a run are a whole number, 0 … {MAX_STEPS:,}")
    outputs = 1 if film.data.classes == 2 else film.data.classes
    if (film.network.inputs, film.network.outputs) != (film.data.points.shape[1], outputs):
        raise FileError(
            f"the data need {film.data.points.shape[1]} inputs and {outputs} outputs: "
            f"the network has {film.network.inputs} and {film.network.outputs}"
        )


def _plain(value: Any) -> bool:
    """Whether a value may stand in the settings of a film: a text, a finite number, or None."""
    return isfinite(value) if isinstance(value, float) else isinstance(value, str | int | None)


def _integers(array: Any, name: str) -> Array:
    array = np.asarray(array)
    with np.errstate(invalid="ignore"):
        whole = array.astype(np.int64) if array.dtype.kind in "iuf" else None
    if whole is None or not (whole == array).all():
        raise FileError(f"{name} of this run are whole numbers")
    return whole


def _pictures(array: Array | None) -> Array | None:
    if array is None:
        return None
    whole = _integers(array, "images")
    if whole.min(initial=0) < 0 or whole.max(initial=0) > 255:
        raise FileError("the images of a run are numbers, 0 … 255")
    return whole.astype(np.uint8)
