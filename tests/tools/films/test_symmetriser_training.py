"""A learned LayerNorm: its formula, how far information travels, training and files."""

from math import sqrt

import numpy as np
import pytest
import torch

from geometry.norms import layer_norm
from learning.file_error import FileError
from learning.safetensors import to_safetensors
from learning.symmetriser import MEAN_SQUARE, VECTOR_KINDS, Symmetriser, drawn, from_file
from tools.films.symmetriser_training import (
    TINY,
    errors,
    initial,
    iterates,
    learned,
    pooled,
    to_file,
    turned_by,
)

ROUNDING = 1e-12  # double precision, a few iterations
SINGLE = 1e-4  # single precision, a few iterations


def block(**options):
    return Symmetriser(**({"axes": 8, "messages": 2, "hidden": 5} | options))


def some(shape, seed=0):
    """Random parameters of a symmetriser, all different from 0."""
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(each) / sqrt(each[-1]) for name, each in shape.shapes.items()}


def by_hand(shape, parts, x, iterations):
    """Apply a symmetriser to one vector x (d,) by its formula, head by head, and return the result.

    parts: its parameters by name. iterations: how often it is applied.
    """
    H, p, own = shape.heads, shape.own, 1 if not shape.adds else shape.own
    x, said = x.copy(), np.zeros((H, shape.messages))
    for k in range(iterations):
        after, talk = x.copy(), said.copy()
        for h in range(H):
            w = {name: part[min(k, shape.rounds - 1), h] for name, part in parts.items()}
            mine = x[h * p : (h + 1) * p]
            seen = mine if shape.adds else [mine.mean(), mine.std()]
            heard = np.concatenate([seen, said[h], said[h - 1], said[(h + 1) % H]])
            out = w["outer.weight"] @ np.tanh(w["inner.weight"] @ heard + w["inner.bias"]) + w["outer.bias"]
            own = p if shape.adds else 2
            after[h * p : (h + 1) * p] = mine + out[:p] if shape.adds else out[1] * (mine - out[0])
            talk[h] = out[own:]
        x, said = after, talk
    return x


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("options", [{}, {"rounds": 3}, {"adds": True}, {"messages": 0}])
def test_an_iteration_is_its_formula(heads, options):
    shape = block(heads=heads, **options)
    parts, x = some(shape), np.random.default_rng(1).standard_normal((6, 8))
    got = iterates(shape, parts, x, 3)
    assert len(got) == 4 and got[0] is x
    for k in (1, 3):
        want = np.array([by_hand(shape, parts, each, k) for each in x])
        np.testing.assert_allclose(got[k], want, atol=ROUNDING)
    tensors = {name: torch.tensor(part, dtype=torch.float32) for name, part in parts.items()}
    theirs = iterates(shape, tensors, torch.tensor(x, dtype=torch.float32), 3)[-1]
    np.testing.assert_allclose(theirs, got[-1], atol=SINGLE)


def test_seeds_come_out_first():
    shape, x = block(), np.random.default_rng(1).standard_normal((6, 8))
    both = {
        name: np.stack(pair)
        for name, *pair in zip(shape.shapes, *(some(shape, k).values() for k in (0, 1)), strict=True)
    }
    got = iterates(shape, both, x, 2)[-1]
    for k in (0, 1):
        np.testing.assert_allclose(got[k], iterates(shape, some(shape, k), x, 2)[-1], atol=ROUNDING)


@pytest.mark.parametrize("heads", [2, 4, 8])
def test_after_k_iterations_a_head_knows_those_nearer_than_k(heads):
    """A change of one head reaches a head k > 0 places away on the ring in iteration k + 1.

    From then on, all axes of this second head are changed. Before, not one bit of them changes.
    """
    shape = block(heads=heads, axes=16)
    parts, x = some(shape), np.random.default_rng(1).standard_normal((1, 16))
    moved = x + np.eye(16)[0]  # an axis of head 0
    ways = zip(iterates(shape, parts, x, 6), iterates(shape, parts, moved, 6), strict=True)
    for k, (a, b) in enumerate(ways):
        changed = (a != b).reshape(heads, shape.own)
        for h in range(heads):
            known = min(h, heads - h) < k or (h == 0)
            assert changed[h, 0 if h == 0 else slice(None)].all() == known, (k, h)


def test_the_axes_of_a_head_are_alike_to_it():
    shape = block(heads=2)
    parts, x = some(shape), np.random.default_rng(1).standard_normal((3, 8))
    order = [2, 0, 3, 1, 4, 7, 5, 6]
    a, b = (iterates(shape, parts, each, 3)[-1] for each in (x, x[:, order]))
    np.testing.assert_allclose(a[:, order], b, atol=ROUNDING)


def test_a_constant_head_has_no_size_and_a_gradient():
    shape = block(heads=2)
    parts = {name: torch.tensor(part, requires_grad=True) for name, part in some(shape).items()}
    x = torch.ones((1, 8), dtype=torch.float64, requires_grad=True)
    y = iterates(shape, parts, x, 2)[-1]
    y.sum().backward()
    assert torch.isfinite(x.grad).all() and torch.isfinite(y).all() and TINY > 0


def test_errors_are_in_radii_and_angles_in_degrees():
    x = np.random.default_rng(1).standard_normal((5, 8))
    y = layer_norm(x, eps=0.0)
    np.testing.assert_allclose(errors(x, y), 0, atol=ROUNDING)
    np.testing.assert_allclose(errors(x, 3 * y), 2)
    np.testing.assert_allclose(errors(x, 0 * y), 1)
    np.testing.assert_allclose(turned_by(x, 3 * y), 0, atol=1e-4)  # in degrees
    np.testing.assert_allclose(turned_by(x, -y), 180, atol=1e-4)


@pytest.mark.parametrize("kind", VECTOR_KINDS)
def test_vectors_of_all_kinds_are_as_large(kind):
    x = drawn(kind, 100_000, 16, np.random.default_rng(1))
    assert np.mean(x**2) == pytest.approx(MEAN_SQUARE, rel=0.05)
    again = drawn(kind, 100_000, 16, np.random.default_rng(1))
    np.testing.assert_array_equal(x, again)
    wide = x.std(0)
    assert (wide[-1] / wide[0] > 2) == (kind == "uneven")


def test_pictures_become_vectors_of_tiles():
    images = np.random.default_rng(1).integers(0, 17, (7, 8, 8))
    x = pooled(images)
    assert x.shape == (7, 16) and np.mean(x**2) == pytest.approx(MEAN_SQUARE)
    np.testing.assert_allclose(x[3, 6] / x[2, 1], images[3, 2:4, 4:6].mean() / images[2, 0:2, 2:4].mean())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Symmetriser(heads=3),
        lambda: Symmetriser(heads=0),
        lambda: Symmetriser(messages=-1),
        lambda: drawn("round", 3, 4, np.random.default_rng(0)),
    ],
)
def test_what_cannot_be(make):
    with pytest.raises(ValueError, match=r"share|one axis|take one of"):
        make()


# --- training


def test_it_learns_and_no_seed_hears_of_another():
    shape = Symmetriser(heads=2)

    def draw(n, rng):
        return drawn("gaussian", n, 16, rng)

    options = {"iterations": 2, "checkpoints": (0, 40, 80)}
    both, alone = (learned(shape, draw, seeds=seeds, **options) for seeds in ((0, 1), (1,)))
    for name, part in both.items():
        assert part.shape == (3, 2, *shape.shapes[name])
        np.testing.assert_allclose(part[:, 1], alone[name][:, 0], atol=1e-4)  # in single precision
        np.testing.assert_array_equal(part[0], initial(shape, (0, 1))[name])
    x = draw(500, np.random.default_rng(5))
    first, middle, last = (
        errors(x, iterates(shape, {n: p[k, 0].astype(float) for n, p in both.items()}, x, 2)[-1]).mean()
        for k in range(3)
    )
    assert first > 1.5 * middle > 1.5 * last


# --- its file


def test_a_file_gives_back_what_was_written():
    shape = block(heads=2)
    parts = {name: np.stack([part, 2 * part]) for name, part in some(shape).items()}
    read = from_file(to_file(shape, np.array([0, 5]), parts, {"seed": 3}))
    assert read.block == shape and read.steps.tolist() == [0, 5]
    for name, part in parts.items():
        np.testing.assert_array_equal(read.parts[name], part.astype(np.float16))
        np.testing.assert_array_equal(read.at(1)[name], read.parts[name][1])


def test_another_file_is_refused():
    with pytest.raises(FileError, match="no block"):
        from_file(to_safetensors({"steps": np.arange(2)}))
    shape = block(heads=2)
    short = {name: part[None] for name, part in some(shape).items()}
    with pytest.raises(FileError, match="other shapes"):
        from_file(to_file(shape, np.array([0, 5]), short, {}))
