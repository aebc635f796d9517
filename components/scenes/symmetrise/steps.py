"""A trained block of heads as steps of a cloud: the browser runs exactly the trained network.

A point of the cloud holds the vector x, the messages of the heads, minus LayerNorm's result, the point's
position in the picture, and its error.

The position is computed from cylindrical coordinates: the height √d·μ over the hyperplane, the distance ‖Πx‖
from the line along 𝟏, and an angle. The angle is the phase of the first Fourier coefficient of x, whose
coordinates form a ring. Then distances from the centre are compressed, so that the whole space lies in a
ball.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt

import numpy as np

from components.language.cloud import Cloud, Row, rows
from geometry import Affine, Branches, Entries, Normalize, Of, Pipeline, Pointwise, Product, Track
from geometry.centering import centering_matrix
from geometry.pipeline import Step
from learning.symmetriser import Symmetriser, Trained

Array = np.ndarray
D, PICTURE_DIMENSIONS = 16, 3  # dimensions of a vector, and of the picture
RADIUS = sqrt(D)  # of LayerNorm's sphere


def width(block: Symmetriser) -> int:
    """The number of coordinates of a point of this block, without its position and its error.

    They are the vector x, the messages, and the target (LayerNorm's result) with the opposite sign.
    """
    return 2 * D + block.heads * block.messages


def whole_width(block: Symmetriser) -> int:
    """Number of all coordinates of a point: those that `width` counts, then its position and its error."""
    return width(block) + PICTURE_DIMENSIONS + 1


def pick(wanted: Sequence[int] | Array, of: int) -> Affine:
    """The linear map that selects those coordinates of a point that have the indices `wanted`, in this order.

    `of` is the number of the point's coordinates.
    """
    return Affine(np.eye(of)[np.asarray(wanted, int)])


def along(*steps: Step) -> Pipeline:
    """The steps as one pipeline."""
    return Pipeline(steps)


def times(a: Pipeline, b: Pipeline, n: int) -> tuple[Step, ...]:
    """Steps that compute the n outputs of `a` times the n outputs of `b`, componentwise."""
    return Branches((a, b), "concat"), Product([(i, n + i) for i in range(n)])


def lengths(weights: Array) -> tuple[Step, ...]:
    """Steps from v to the numbers √Σ wᵢvᵢ², one number for each row w of `weights`.

    In training, a tiny number is added under the root, so that the gradient at 0 is finite. Here this number
    is left out.
    """
    return Product([(i, i) for i in range(weights.shape[1])]), Affine(weights), Pointwise("sqrt")


def given(block: Symmetriser) -> Pipeline:
    """Steps from a vector x (D,) to a point of the block before its first iteration.

    First they apply the sliders `scale` and `mean` to x. Then they append, in this order: the messages, which
    are 0; the target (LayerNorm's result) with the opposite sign; the position in the picture; the error.
    """
    level = np.full((D, D), 1 / D)
    mean = Affine(Entries(centering_matrix(D), {"mean": level}))
    scale = Affine(Entries(np.zeros((D, D)), {"scale": np.eye(D)}))
    silent = Affine(np.zeros((block.heads * block.messages, D)))
    target = along(Affine(centering_matrix(D)), Normalize(RADIUS), Affine(-np.eye(D)))
    whole = Branches((along(), along(silent), target), "concat")
    return along(mean, scale, whole, picture(block))


def ideal(block: Symmetriser, x: Array) -> Cloud:
    """Cloud of LayerNorm's exact results for the vectors x (n, D), each at its own position in the picture.

    block: the trained block, on which the number of coordinates of a point depends.
    """
    rest = Affine(np.eye(width(block), D))
    return Cloud(
        "ideal", x, place=along(Affine(centering_matrix(D)), Normalize(RADIUS), rest, picture(block))
    )


def matrices(trained: Trained) -> tuple[Cloud, Cloud]:
    """The clouds "inner" and "outer" of the block's weights W₁ and W₂ at the slider's training step.

    The points of a cloud are the rows of its matrix. `dense` says what the rows are.
    """
    found = []
    for name, values in zip(("inner", "outer"), dense(trained), strict=True):
        n = values.shape[-2]
        found.append(Cloud(name, np.eye(n), place=along(Affine(moved(trained.steps, values.mT)))))
    return found[0], found[1]


def moved(steps: Array, values: Array) -> Entries:
    """Entries that follow the slider `step`: `values[t]` at training step `steps[t]`, linear in between."""
    return Entries(np.zeros(values.shape[1:]), tracks={"step": Track(steps, values)})


def dense(trained: Trained) -> tuple[Array, Array]:
    """The weights of all heads in two matrices W₁ (T, H·w, H·(2 + q)) and W₂ (T, H·(2 + q), H·w).

    There are T checkpoints. Each of H heads has w hidden neurons and q messages, and maps its coordinates x
    to g·(x − c).

    inputs of W₁   the means of all heads, then the messages of all heads, then the standard deviations of all
                   heads; an entry of W₁ is 0 where a head does not read an input
    outputs of W₂  c and g of the first head, c and g of the next, and so on, then the new messages of all
                   heads
    """
    block, parts = trained.block, trained.parts
    heads, q, w, count = block.heads, block.messages, block.hidden, len(trained.steps)
    inner = np.zeros((count, heads * w, heads * (2 + q)))
    outer = np.zeros((count, heads * (2 + q), heads * w))
    for h in range(heads):
        own, first, last = (
            slice(h * w, (h + 1) * w),
            parts["inner.weight"][:, 0, h],
            parts["outer.weight"][:, 0, h],
        )
        inner[:, own, h] += first[..., 0]
        inner[:, own, -heads + h] += first[..., 1]
        for k, other in enumerate((h, h - 1, h + 1)):
            start = heads + q * (other % heads)
            inner[:, own, start : start + q] += first[..., 2 + q * k : 2 + q * (k + 1)]
        said = 2 * heads + q * h
        outer[:, [2 * h, 2 * h + 1, *range(said, said + q)], own] = last
    return inner, outer


def biases(trained: Trained) -> tuple[Entries, Entries]:
    """The biases b₁ and b₂ of all heads at the slider's training step, for the rows of W₁ and W₂."""
    first, last = trained.parts["inner.bias"][:, 0], trained.parts["outer.bias"][:, 0]
    count = len(trained.steps)
    outer = [last[..., :2].reshape(count, -1), last[..., 2:].reshape(count, -1)]
    return moved(trained.steps, first.reshape(count, -1)), moved(trained.steps, np.concatenate(outer, -1))


def iteration(trained: Trained, weights: tuple[Cloud, Cloud]) -> Step:
    """One iteration of a trained block, as a step from all coordinates of a point to all of them.

    A point has `whole_width` coordinates. The vector x and the messages get new values. The target stays as
    it is. The position in the picture and the error are computed anew. weights: the clouds "inner" and
    "outer", as returned by `matrices`. The step uses their points as the rows of the matrices W₁ and W₂, so
    that it follows the slider for the training step.
    """
    block, v, whole = trained.block, width(trained.block), whole_width(trained.block)
    heads, said = block.heads, block.heads * block.messages
    of_head = np.kron(np.eye(heads), np.ones((1, block.own)))  # (H, d): which head each coordinate belongs to
    x = np.eye(D, whole)
    means, before = along(Affine(of_head @ x / block.own)), along(pick(range(D, D + said), whole))
    around = Affine((np.eye(D) - of_head.T @ of_head / block.own) @ x)
    sizes = along(around, *lengths(of_head / block.own))
    seen = Branches((means, before, sizes), "concat")
    inner, outer = biases(trained)
    heard = along(seen, Affine(Of(weights[0]), inner), Pointwise("tanh"), Affine(Of(weights[1]), outer))
    stays, wide = [*range(D), *range(D + said, v)], 2 * D + 2 * heads + said  # x and the target
    less, more = np.eye(D, wide), np.zeros((D, wide))
    less[:, 2 * D : wide - said : 2] = -of_head.T
    more[:, 2 * D + 1 : wide - said : 2] = of_head.T
    scaled = along(*times(along(Affine(more)), along(Affine(less)), D))
    kept = pick([*range(wide - said, wide), *range(D, 2 * D)], wide)
    new = Branches((scaled, along(kept)), "concat")
    return Branches((along(Branches((along(pick(stays, whole)), heard), "concat"), new, picture(block)),))


def picture(block: Symmetriser) -> Step:
    """Step v ↦ (v, the position of its vector x in the picture, the error of x), for points of this block.

    The error is the distance of x from LayerNorm's result, divided by the sphere's radius.
    """
    v = width(block)
    x, ring = np.eye(D, v), 2 * pi * np.arange(D) / D
    circle = np.stack([np.cos(ring), np.sin(ring)]) @ x / sqrt(D / 2)
    mean = np.ones((1, D)) / D
    less = Affine(np.hstack([np.eye(D), -np.ones((D, 1))]))  # x and μ ↦ Πx, with fewer numbers than Π has
    far = along(Affine(np.vstack([x, mean @ x])), less, *lengths(np.ones((2, D))))
    around = along(*times(far, along(Affine(circle), Normalize()), 2))
    height = Affine(sqrt(D) * mean @ x)
    place = along(Branches((around, along(height)), "concat"), drawn_in(PICTURE_DIMENSIONS))
    off = along(Affine(x + np.eye(D, v, k=v - D)), *lengths(np.ones((1, D)) / D))
    return Branches((along(), place, off), "concat")


def drawn_in(n: int) -> Normalize:
    """z ↦ 2Rz/(‖z‖ + R) in n dimensions: points at the distance R, the sphere's radius, stay where they are.

    Points at infinity come to the distance 2R.
    """
    return Normalize(2 * RADIUS, RADIUS / sqrt(n), convention="std")


def at(block: Symmetriser) -> tuple[Row, ...]:
    """Display rows that draw a point at its position in the picture."""
    v = width(block)
    return rows(np.eye(whole_width(block))[v : v + PICTURE_DIMENSIONS])


def error(block: Symmetriser) -> Row:
    """The `Row` that reads a point's error, which is its last coordinate."""
    return rows(np.eye(whole_width(block))[-1])[0]
