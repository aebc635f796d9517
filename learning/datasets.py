"""Labelled data sets: synthetic points, points that a reader enters, and scikit-learn's digits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geometry.centering import hyperplane_basis
from geometry.clouds import gaussian, golden, ring

Array = np.ndarray

# for each norm, an orthonormal basis of the subspace of ℝ³ in which its outputs, all of length √3, lie
SPACES = {"layer_norm": hyperplane_basis(3), "rms_norm": np.eye(3)}
FILMED_LABELLING = 3  # the seed of `random_labels` of the shipped films
MIN_POINTS, MAX_POINTS, MAX_COORDINATE = (4, 500, 1e3)  # accepted by `parse`


@dataclass(frozen=True, eq=False)
class DataSet:
    """Points with class labels: `points` (N, d) in float32, and `labels` (N,) from 0 to classes − 1.

    `images`, if not None, has a picture for each point: (N, h, w), brightness 0 … 255. Raises ValueError if
    shapes do not match, if there are no points, if points are not finite, if labels are out of range, and for
    fewer than 2 classes.
    """

    points: Array
    labels: Array
    classes: int
    name: str
    images: Array | None = None

    def __post_init__(self):
        with np.errstate(over="ignore"):
            points = np.asarray(self.points, dtype=np.float32)
        labels = np.asarray(self.labels, dtype=np.int64)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "labels", labels)
        if points.ndim != 2 or not points.size or labels.shape != points.shape[:1]:
            raise ValueError(
                f"a data set has points (N, d) and a label for each: got {points.shape} and {labels.shape}"
            )
        if not np.isfinite(points).all():
            raise ValueError("the points of a data set are finite numbers")
        if isinstance(self.classes, bool) or not isinstance(self.classes, int) or self.classes < 2:
            raise ValueError(f"a data set has 2 classes or more: got {self.classes}")
        if labels.min() < 0 or labels.max() >= self.classes:
            raise ValueError(f"labels are 0 … {self.classes - 1}: got {labels.min()} … {labels.max()}")
        if self.images is not None and (self.images.ndim != 3 or len(self.images) != len(points)):
            raise ValueError(f"{len(points)} points have as many pictures (h, w): got {self.images.shape}")

    def batch(self, step: int) -> "DataSet":
        """The training batch of a step: the whole data set; for a `Stream`, the result of its `draw`."""
        return self


@dataclass(frozen=True, eq=False)
class Stream(DataSet):
    """A data set whose training batches are drawn anew: `draw(step)` returns the batch of a training step.

    Its own points are used only to measure loss and accuracy.
    """

    draw: Callable[[int], DataSet] = field(kw_only=True)

    def batch(self, step: int) -> DataSet:
        return self.draw(step)


def spiral(n: int, *, turns: float, noise: float, seed: int) -> DataSet:
    """n points, alternately on two spiral arms; the label, 0 or 1, says on which arm a point lies.

    Points have the radius t and the angle 2π·turns·t, plus π on arm 1, for t evenly spaced in [0.2, 1]. Below
    t = 0.2 the arms would be too close. `noise` is the standard deviation of the Gaussian noise that is added
    to each coordinate.
    """
    label = np.arange(n) % 2
    t = 0.2 + 0.8 * (np.arange(n) // 2) / max(1, (n - 1) // 2)
    angle = 2 * np.pi * turns * t + np.pi * label
    points = t[:, None] * np.stack([np.cos(angle), np.sin(angle)], -1)
    return _noisy(points, label, "spiral", noise, seed)


def octants(n: int, *, seed: int) -> DataSet:
    """Points uniform on the unit sphere in 3D, labelled by octant: 1 where x·y·z > 0, otherwise 0."""
    points = gaussian(n, 3, seed=seed)
    points /= np.linalg.norm(points, axis=-1, keepdims=True)
    return DataSet(points, points.prod(-1) > 0, 2, "octants")


def normed(n: int, *, norm: str) -> Array:
    """n evenly spread outputs of a norm for d = 3: on a circle for "layer_norm", a sphere for "rms_norm"."""
    basis = SPACES[norm]
    return np.sqrt(3) * (ring(n, *basis, start=0.5) if len(basis) == 2 else golden(n) @ basis)


def largest(n: int, *, norm: str) -> DataSet:
    """The points of `normed`, each labelled with the index of its coordinate of largest magnitude."""
    points = normed(n, norm=norm)
    return DataSet(points, np.abs(points).argmax(-1), 3, "largest")


def xor(n: int, *, noise: float, seed: int) -> DataSet:
    """n points at the four corners (±1, ±1), plus Gaussian noise of standard deviation `noise`.

    The label is 1 at the two corners whose coordinates differ in sign, otherwise 0.
    """
    corner = np.arange(n) % 4
    points = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])[corner]
    return _noisy(points, (corner == 1) | (corner == 2), "xor", noise, seed)


def filmed_xor() -> DataSet:
    """The data set on which the networks of the shipped film (stored training run) "xor" were trained."""
    return xor(120, noise=0.25, seed=0)


def rings(n: int, *, noise: float, seed: int) -> DataSet:
    """n points, alternately on two circles around the origin, plus Gaussian noise.

    The circles have radius ½ (label 0) and 1 (label 1). `noise` is the standard deviation of the noise.
    """
    label = np.arange(n) % 2
    angle = 2 * np.pi * np.arange(n) / n
    points = (0.5 + 0.5 * label)[:, None] * np.stack([np.cos(angle), np.sin(angle)], -1)
    return _noisy(points, label, "rings", noise, seed)


def blobs(n: int, *, noise: float, seed: int) -> DataSet:
    """n points in two Gaussian clouds around (−½, −½), label 0, and (½, ½), label 1.

    The standard deviation of each coordinate is `noise`.
    """
    label = np.arange(n) % 2
    return _noisy(np.stack([label, label], -1) - 0.5, label, "blobs", noise, seed)


def random_labels(m: int, *, seed: int) -> DataSet:
    """m ≥ 2 points uniform in the unit disc. Each label is random, but both labels occur."""
    rng = np.random.default_rng(seed)
    radius, angle = np.sqrt(rng.random(m)), 2 * np.pi * rng.random(m)
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], -1)
    labels = np.zeros(m, dtype=np.int64)
    while labels.min() == labels.max():
        labels = rng.integers(0, 2, m)
    return DataSet(points, labels, 2, "labels")


def digits(*, seed: int) -> tuple[DataSet, DataSet]:
    """The 1,797 digits of scikit-learn, shuffled and split into 1,437 for training and 360 for testing.

    64 features: the brightness of each pixel, scaled to [0, 1], minus ½. The pictures are (8, 8), 0 … 255.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    order = np.random.default_rng(seed).permutation(len(bunch.target))
    images = np.round(bunch.images * (255 / 16)).astype(np.uint8)
    train, test = (
        DataSet(bunch.data[rows] / 16 - 0.5, bunch.target[rows], 10, "digits", images[rows])
        for rows in (order[360:], order[:360])
    )
    return train, test


def parse(text: str) -> DataSet:
    """Parse a data set from text: each line is a point, with 2 or 3 numbers and then a label.

    Columns are separated by commas, by semicolons or tabs (then a comma is a decimal comma), or by spaces. A
    first line without numbers is skipped as a header, and so are empty lines. There must be exactly two
    different labels; the first in sorted order becomes 0.

    Raises ValueError for a text that is not of this form, for fewer than MIN_POINTS or more than MAX_POINTS
    points, and for numbers beyond ±MAX_COORDINATE. The message says what to change, and in which line if a
    single line is wrong.
    """
    lines = [
        (k, _cells(line)) for k, line in enumerate(text.lstrip("\ufeff").splitlines(), 1) if line.strip()
    ]
    if lines and not any(map(_is_number, lines[0][1])):
        lines = lines[1:]
    if not MIN_POINTS <= len(lines) <= MAX_POINTS:
        raise ValueError(
            f"{len(lines)} points: give {MIN_POINTS} to {MAX_POINTS}, one a line, such as 0.5, -1.2, red"
        )
    width = len(lines[0][1])
    points = np.array([_point(k, cells, width) for k, cells in lines])
    labels = _two([(k, cells[-1]) for k, cells in lines])
    return DataSet(points, np.array(labels), 2, "own")


def _noisy(points: Array, labels: Array, name: str, noise: float, seed: int) -> DataSet:
    return DataSet(points + noise * gaussian(*points.shape, seed=seed), labels, 2, name)


def _cells(line: str) -> list[str]:
    separator = next((mark for mark in ";\t" if mark in line), None)
    if separator:
        line = line.replace(",", ".")
    return [
        cell.strip().strip("\"'").replace("−", "-")
        for cell in line.split(separator or ("," if "," in line else None))
    ]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _point(k: int, cells: Sequence[str], width: int) -> list[float]:
    if len(cells) not in (3, 4):
        raise ValueError(f"line {k}: {len(cells)} columns; give 2 or 3 numbers and then a label")
    if len(cells) != width:
        raise ValueError(
            f"line {k}: {len(cells)} columns, but the first point has {width}; give all the same"
        )
    for cell in cells[:-1]:
        if not _is_number(cell):
            raise ValueError(f"line {k}: {cell[:20]!r} is not a number; the label comes last")
        if not abs(float(cell)) <= MAX_COORDINATE:
            raise ValueError(f"line {k}: {cell[:20]} is not within ±{MAX_COORDINATE:g}; scale the column")
    return [float(cell) for cell in cells[:-1]]


def _two(words: Sequence[tuple[int, str]]) -> list[int]:
    known: list[Any] = []
    for k, word in words:
        if not word:
            raise ValueError(f"line {k}: no label; write a word after the numbers")
        if word not in known:
            known.append(word)
        if len(known) > 2:
            names = ", ".join(repr(name[:20]) for name in known)
            raise ValueError(f"line {k}: a third label, after {names}; exactly two can be learned")
    if len(known) < 2:
        raise ValueError(f"all points have the label {known[0][:20]!r}; give some of them another")
    return [sorted(known).index(word) for _, word in words]
