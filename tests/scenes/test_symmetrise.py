"""What the text of the learned LayerNorm says, computed from the shipped blocks and the table of all trainings."""

import numpy as np
import pytest

from components.language.scene import scenes
from components.scenes.symmetrise.build import COUNT, FACTORS, HEADS, ITERATIONS, at, error
from components.training.recipes import recipe_of
from geometry.norms import layer_norm
from learning.film import rows
from learning.shipped import FOLDER, read
from learning.symmetriser import Symmetriser, errors, from_file, initial, iterates
from tools import films

SCENE = scenes()["symmetrise"]
TABLE = read("symmetrise.json", rows)
ENDS = {(row["arm"], row["heads"], row["iterations"]): row for row in TABLE if "arm" in row}
CHIPS = {row["learned"]: row["used"] for row in TABLE if "learned" in row}
ROUNDING = 1e-10  # double precision, eight iterations
HALF = 2e-3  # relative, in an error: of the table's five digits


def film(heads, iterations):
    return read(f"symmetrise_{heads}_{iterations}.safetensors", from_file)


def vectors_of(kind):
    """The vectors that the table was made with."""
    return films.drawing(kind, films.tiles()[1])(films.TESTED, np.random.default_rng(1))


def end(arm, heads, iterations, what="errors"):
    """The median over seeds."""
    return float(np.median(ENDS[arm, heads, iterations][what]))


def chip(learned, used):
    return float(np.median(CHIPS[learned][used]))


def recipe(**choices):
    return recipe_of(SCENE, **{name: str(value) for name, value in choices.items()})


# --- laws of what is shipped


def test_the_films_are_those_of_the_table():
    """The starts of their seeds, and the error, median and angle of their end, at other scales and means too."""
    x = vectors_of("gaussian")
    for heads in HEADS:
        for iterations in ITERATIONS:
            block, row = film(heads, iterations), ENDS["ring", heads, iterations]
            assert block.block == Symmetriser(heads=heads) and block.block.size == row["parameters"]
            assert block.steps.tolist() == list(films.KEPT) and block.steps[-1] == films.LEARNED
            for name, part in initial(block.block, [row["shown"]]).items():
                np.testing.assert_array_equal(block.parts[name][0], part[0].astype(np.float16))
            off = errors(x, iterates(block.block, block.at(-1), x, iterations)[-1])
            assert np.mean(off) == pytest.approx(row["errors"][row["shown"]], abs=1e-5)
            assert np.median(off) == pytest.approx(row["medians"][row["shown"]], abs=1e-5)
            assert row["shown"] == np.argsort(row["errors"])[films.BLOCKS // 2]


def test_what_is_shipped_is_small():
    assert sum(path.stat().st_size for path in FOLDER.glob("symmetrise*")) < 300_000


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("vectors", ["gaussian", "digits"])
def test_the_stages_are_the_iterations_of_the_block(heads, vectors):
    """At a checkpoint and at its sliders, with every error; and LayerNorm is where the ring is."""
    for iterations in (1, 4):
        shown, block = recipe(heads=heads, iterations=iterations, vectors=vectors), film(heads, iterations)
        params = {"step": float(block.steps[5]), "scale": 3.0, "mean": 0.2}
        cloud = shown.cloud("points")
        x = cloud.points.astype(float)
        x = 3 * (x - 0.8 * x.mean(-1, keepdims=True))
        ways = zip(cloud.stages(params), iterates(block.block, block.at(5), x, iterations), strict=True)
        for k, (stage, want) in enumerate(ways):
            np.testing.assert_allclose(stage[:, :16], want, atol=ROUNDING)
            off = shown.moment(params, k).measured("points", error(block.block))
            np.testing.assert_allclose(off, errors(x, want), atol=ROUNDING)
            curve = shown.cloud("curve").stages(params)[0]
            np.testing.assert_allclose(curve[k], [k, np.log10(errors(x, want).mean())], atol=ROUNDING)
            np.testing.assert_allclose(shown.cloud("now").stages(params)[k][0, -2:], curve[k], atol=ROUNDING)
        ideal = shown.cloud("ideal").stages(params)[0]
        np.testing.assert_allclose(ideal[:, :16], layer_norm(x, eps=0.0), atol=ROUNDING)
        assert len(x) == COUNT


def test_the_picture_has_heights_and_distances():
    """Drawn in: at twice the radius it would be infinitely far. LayerNorm's vectors lie on the circle."""
    shown = recipe()
    state = shown.moment({"step": 0.0, "scale": 1.0, "mean": 1.0}, 0)
    z, x = state.shown("points", at(film(4, 4).block)), shown.cloud("points").points
    far = np.linalg.norm(z, axis=-1, keepdims=True)
    z = 4 * z / (8 - far)  # 8r/(r + 4), undone
    np.testing.assert_allclose(z[:, 2], 4 * x.mean(-1), atol=ROUNDING)
    np.testing.assert_allclose(np.hypot(z[:, 0], z[:, 1]), 4 * x.std(-1), atol=ROUNDING)
    circle = state.shown("ideal", at(film(4, 4).block))
    np.testing.assert_allclose(np.linalg.norm(circle, axis=-1), 4, atol=ROUNDING)
    np.testing.assert_allclose(circle[:, 2], 0, atol=ROUNDING)


@pytest.mark.parametrize("where", [{"scale": 0.01, "mean": 0.01}, {"scale": 100.0, "mean": 100.0}])
def test_all_stays_in_the_picture_at_the_ends_of_the_sliders(where):
    shown = recipe(vectors="digits", iterations=8)
    for step in (0.0, float(films.LEARNED)):
        state = shown.moment({"step": step} | where, 8)
        far = np.linalg.norm(state.shown("points", at(film(4, 8).block)), axis=-1)
        assert (far < 8).all() and np.isfinite(state.now("curve")).all()


def test_where_the_sliders_are_is_on_the_curves():
    """The curves are medians of five seeds on other vectors: near, not equal."""
    shown, row = recipe(), ENDS["ring", 4, 4]
    for name in ("scale", "mean"):
        for k, near in ((0, 0.05), (12, 0.05), (24, 0.4)):
            params = {"step": float(films.LEARNED), "scale": 1.0, "mean": 1.0} | {
                name: float(10 ** FACTORS[k])
            }
            [[x, y]] = shown.cloud(f"{name} now").stages(params)[0]
            assert x == pytest.approx(FACTORS[k]) and y == pytest.approx(np.log10(row[name][k]), abs=near)
    np.testing.assert_allclose(10**FACTORS, films.FACTORS)
