"""Train blocks (`learning.symmetriser.Symmetriser`) to imitate LayerNorm, for the scene `symmetrise`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from learning.datasets import digits
from learning.safetensors import to_safetensors
from learning.shipped import FOLDER
from learning.symmetriser import VECTOR_KINDS, Symmetriser, drawn
from tools.films.store import write_table
from tools.films.symmetriser_training import Draw, errors, iterates, learned, pooled, to_file, turned_by

HEADS, ITERATIONS = (2, 4, 8), (1, 2, 4, 8)
BLOCKS_PER_KIND, TRAINING_STEPS = 5, 3000
CHECKPOINT_STEPS = (0, 10, 30, 60, 100, 200, 400, 700, 1000, 1500, 2000, TRAINING_STEPS)
TEST_VECTORS, MAX_ITERATIONS, SHOWN_DIGITS = 2000, 16, 200
TEST_FACTORS = np.logspace(-2, 2, 25)  # factors by which a test changes the scale or the mean of vectors
TRAINING_VECTOR_KINDS = (*VECTOR_KINDS, "digits", "all")  # for blocks that are tested on other kinds
COMPARED_ITERATIONS = (4, 8)  # of the variants below
BLOCK_VARIANTS: dict[str, dict[str, Any]] = {
    "own weights": {},
    "silent": {"messages": 0},
    "adding": {"adds": True, "hidden": 16},
}
UNSHARED_VARIANTS = ("own weights", "adding")  # with different weights in each iteration


def tiles() -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's digits for training (N, 16) and for testing (M, 16), each as the means of 16 tiles."""
    return tuple(pooled(each.points.reshape(-1, 8, 8)) for each in digits(seed=0))  # type: ignore[return-value]


def drawing(kind: str, pictures: np.ndarray) -> Draw:
    """A function draw(n, rng) that draws n random vectors of `kind`.

    For the kind "all", it draws n/4 vectors of each of the four other kinds. pictures: the vectors from which
    the kind "digits" is drawn.
    """
    kinds = TRAINING_VECTOR_KINDS[:-1] if kind == "all" else (kind,)

    def draw(n: int, rng: np.random.Generator) -> np.ndarray:
        share = n // len(kinds)
        return np.concatenate(
            [rng.choice(pictures, share) if k == "digits" else drawn(k, share, 16, rng) for k in kinds]
        )

    return draw


def imitated(block: Symmetriser, iterations: int, kind: str = "gaussian") -> dict[str, np.ndarray]:
    """Train BLOCKS_PER_KIND blocks, one per seed, on random vectors of `kind`.

    Returns their parameters by name, (T, S, …) for T checkpoints and S seeds, rounded to half precision.
    """
    draw = drawing(kind, tiles()[0])
    found = learned(
        block, draw, iterations=iterations, seeds=range(BLOCKS_PER_KIND), checkpoints=CHECKPOINT_STEPS
    )
    return {name: part.astype(np.float16).astype(np.float64) for name, part in found.items()}


def mean_errors(
    block: Symmetriser, parts: dict[str, np.ndarray], iterations: int, x: np.ndarray
) -> list[float]:
    """For each trained block, its error after `iterations`, averaged over the vectors x (N, d).

    The error is ‖y − LayerNorm(x)‖/√d, where y is the result of the block and ε = 0.
    parts: the parameters of the S blocks, by name. Returns a list of S numbers, rounded.
    """
    return rounded_means(errors(x, iterates(block, parts, x, iterations)[-1]))


def rounded_means(values: np.ndarray) -> list[float]:
    """The means of `values` (seeds, vectors) over vectors, rounded for a table: one number per seed."""
    return np.atleast_1d(np.round(np.mean(values, -1), 5)).tolist()


def asymmetry(
    block: Symmetriser, parts: dict[str, np.ndarray], iterations: int, x: np.ndarray
) -> list[float]:
    """The equivariance error of each trained block under permutations of the axes: (S,), in units of √d.

    This is the mean distance between two results for a vector. For one of them, the axes are permuted before
    the block runs; for the other one, afterwards. The distance would be 0 for LayerNorm, which commutes with
    permutations.
    """
    order = np.random.default_rng(2).permuted(np.broadcast_to(np.arange(x.shape[-1]), x.shape), axis=-1)
    first = np.take_along_axis(x, order, -1)
    y, z = (iterates(block, parts, each, iterations)[-1] for each in (x, first))
    after = np.take_along_axis(y, np.broadcast_to(order, y.shape), -1)
    return rounded_means(np.sqrt(np.mean((after - z) ** 2, -1)))


def imitations() -> Iterator[dict[str, Any]]:
    """Yield the rows of the table "symmetrise", and write the files of the scene in films/.

    The first rows are those of `imitation`, for each number of heads and of iterations. Then come those of
    `transfer`, for blocks that are also tested on other kinds of vectors than they were trained on. The last
    rows are those of `block_columns`: one for each pair of COMPARED_ITERATIONS × BLOCK_VARIANTS.
    """
    pictures = tiles()[1]
    kinds = {
        kind: drawing(kind, pictures)(TEST_VECTORS, np.random.default_rng(1))
        for kind in TRAINING_VECTOR_KINDS[:-1]
    }
    for heads, iterations in product(HEADS, ITERATIONS):
        yield imitation(Symmetriser(heads=heads), iterations, kinds["gaussian"])
    for kind in TRAINING_VECTOR_KINDS:
        yield transfer(kind, kinds)
    for iterations, (arm, options) in product(COMPARED_ITERATIONS, BLOCK_VARIANTS.items()):
        block = Symmetriser(**options, rounds=iterations if arm in UNSHARED_VARIANTS else 1)
        parts = {name: part[-1] for name, part in imitated(block, iterations).items()}
        yield block_columns(block, parts, iterations, kinds["gaussian"], arm)
    seen = np.asarray(pictures[:SHOWN_DIGITS], np.float16)
    (FOLDER / "symmetrise.safetensors").write_bytes(to_safetensors({"digits": seen}))


def imitation(block: Symmetriser, iterations: int, x: np.ndarray) -> dict[str, Any]:
    """Train several blocks with the architecture `block`; return their row of the table "symmetrise".

    iterations: how many times a block is iterated. x (N, d): the vectors on which errors are measured.

    The row has the columns of `block_columns`, and these:

    after   the median error over blocks, after 1, 2, … MAX_ITERATIONS iterations
    scale   the median error over blocks, if x is multiplied by each of TEST_FACTORS
    mean    the same, if only the mean of each vector is multiplied
    shown   the seed of the block whose error is the median

    Also writes a file with the parameters of this block (`shown`) at all checkpoints.
    """
    film = imitated(block, iterations)
    parts, level = {name: part[-1] for name, part in film.items()}, x.mean(-1, keepdims=True)
    row = block_columns(block, parts, iterations, x, "ring")
    middle = int(np.argsort(row["errors"])[BLOCKS_PER_KIND // 2])
    own = {name: part[:, middle] for name, part in film.items()}
    about = {"iterations": iterations, "seed": middle, "learned from": "gaussian"}
    file = FOLDER / f"symmetrise_{block.heads}_{iterations}.safetensors"
    file.write_bytes(to_file(block, np.array(CHECKPOINT_STEPS), own, about))
    further = iterates(block, parts, x, MAX_ITERATIONS)[1:]
    return row | {
        "after": [float(np.median(rounded_means(errors(x, y)))) for y in further],
        "shown": middle,
        "scale": [median_error(block, parts, iterations, f * x) for f in TEST_FACTORS],
        "mean": [median_error(block, parts, iterations, x + (f - 1) * level) for f in TEST_FACTORS],
    }


def transfer(kind: str, kinds: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Train blocks on vectors of `kind`; return their row of the table, with their errors on other vectors.

    kinds: sets of vectors by name. The column `used` has, for each of these, the mean errors of all blocks.
    """
    block = Symmetriser()
    parts = {name: part[-1] for name, part in imitated(block, COMPARED_ITERATIONS[0], kind).items()}
    used = {name: mean_errors(block, parts, COMPARED_ITERATIONS[0], x) for name, x in kinds.items()}
    return {"learned": kind, "heads": block.heads, "iterations": COMPARED_ITERATIONS[0], "used": used}


def block_columns(
    block: Symmetriser, parts: dict[str, np.ndarray], iterations: int, x: np.ndarray, arm: str
) -> dict[str, Any]:
    """The table's columns on S trained blocks. The first four say what blocks these are:

    arm, heads, iterations, parameters   the variant, and the numbers of heads, iterations and parameters
    errors, medians                      the mean and the median error of each block over the vectors x
    angles                               the mean angle of each block's results to LayerNorm(x), in degrees
    asymmetry                            the equivariance error of each block (see `asymmetry`)

    parts: the parameters (S, …) of the blocks. iterations: how many times they are iterated. x (N, d): the
    vectors on which they are measured. arm: the name of the variant.
    """
    y = iterates(block, parts, x, iterations)[-1]
    far = errors(x, y)
    found = {"errors": rounded_means(far), "medians": np.round(np.median(far, -1), 5).tolist()}
    found |= {"angles": rounded_means(turned_by(x, y)), "asymmetry": asymmetry(block, parts, iterations, x)}
    own = {"arm": arm, "heads": block.heads, "iterations": iterations, "parameters": block.parameter_count}
    return own | found


def median_error(block: Symmetriser, parts: dict[str, np.ndarray], iterations: int, x: np.ndarray) -> float:
    """The median over blocks of their mean errors. The arguments are those of `mean_errors`."""
    return round(float(np.median(mean_errors(block, parts, iterations, x))), 5)


def symmetrise() -> None:
    """Write the table "symmetrise", and the files with the trained blocks and with digits."""
    rows = []
    for row in imitations():
        rows.append(row)
        print(f"  symmetrise: {row}", flush=True)
        write_table("symmetrise", rows)
