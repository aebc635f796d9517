"""The text of the scene `symmetrise`, tested with the shipped blocks and the table of all trainings."""

from math import sqrt

import numpy as np
import pytest

from components.language.scene import scenes
from components.scenes.symmetrise.build import FACTORS, HEADS, ITERATIONS, SHOWN_VECTOR_COUNT, VECTORS
from components.scenes.symmetrise.steps import RADIUS, at, drawn_in, error
from components.training.recipes import recipe_of
from geometry.norms import layer_norm
from learning.film import json_table
from learning.shipped import FOLDER, read
from learning.symmetriser import SPREAD, VECTOR_KINDS, Symmetriser, from_file
from tests.assets.engine import Node
from tests.scenes.claims import said, stop
from tools.films import symmetrise as films
from tools.films.symmetriser_training import errors, initial, iterates, turned_by

SCENE = scenes()["symmetrise"]
TABLE = read("symmetrise.json", json_table)
ENDS = {(row["arm"], row["heads"], row["iterations"]): row for row in TABLE if "arm" in row}
CHIPS = {row["learned"]: row["used"] for row in TABLE if "learned" in row}
ROUNDING = 1e-10  # double precision, eight iterations
SINGLE = 1e-6  # data to and from the browser are in single precision


def film(heads, iterations):
    return read(f"symmetrise_{heads}_{iterations}.safetensors", from_file)


def vectors_of(kind):
    """The random vectors (N, 16) with which the table's errors were measured. kind: such as "gaussian"."""
    return films.drawing(kind, films.tiles()[1])(films.TEST_VECTORS, np.random.default_rng(1))


def end(arm, heads, iterations, what="errors"):
    """The median over seeds of a column of the table, for blocks at the end of their training.

    arm: the variant of the blocks, such as "ring". heads, iterations: their numbers of heads and iterations.
    what: the column, such as "errors".
    """
    return float(np.median(ENDS[arm, heads, iterations][what]))


def chip(learned, used):
    return float(np.median(CHIPS[learned][used]))


def recipe(**choices):
    return recipe_of(SCENE, **{name: str(value) for name, value in choices.items()})


# --- the shipped blocks and the table


def test_the_films_are_those_of_the_table():
    """The film of a kind of block shows the seed with the median error, and agrees with the table.

    It begins with this seed's initial weights, and ends with the table's errors, angle and asymmetry for this
    seed. For inputs of other scales and means, its errors are within 50 % of those in the table.
    """
    x = vectors_of("gaussian")
    level, factors = x.mean(-1, keepdims=True), films.TEST_FACTORS
    for heads in HEADS:
        for iterations in ITERATIONS:
            block, row = film(heads, iterations), ENDS["ring", heads, iterations]
            assert (
                block.block == Symmetriser(heads=heads) and block.block.parameter_count == row["parameters"]
            )
            assert (
                block.steps.tolist() == list(films.CHECKPOINT_STEPS)
                and block.steps[-1] == films.TRAINING_STEPS
            )
            for name, part in initial(block.block, [row["shown"]]).items():
                np.testing.assert_array_equal(block.parts[name][0], part[0].astype(np.float16))
            parts, shown = block.at(-1), row["shown"]
            y = iterates(block.block, parts, x, iterations)[-1]
            off = errors(x, y)
            assert np.mean(off) == pytest.approx(row["errors"][shown], abs=1e-5)
            assert np.median(off) == pytest.approx(row["medians"][shown], abs=1e-5)
            assert np.mean(turned_by(x, y)) == pytest.approx(row["angles"][shown], abs=1e-5)
            assert films.asymmetry(block.block, parts, iterations, x) == [row["asymmetry"][shown]]
            assert shown == np.argsort(row["errors"])[films.BLOCKS_PER_KIND // 2]
            for name, changed in (("scale", lambda f: f * x), ("mean", lambda f: x + (f - 1) * level)):
                assert row[name][list(factors).index(1)] == row["errors"][shown]
                found = [films.median_error(block.block, parts, iterations, changed(f)) for f in factors]
                np.testing.assert_allclose(found, row[name], rtol=0.5)


def test_what_is_shipped_is_small():
    assert sum(path.stat().st_size for path in FOLDER.glob("symmetrise*")) < 300_000


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("vectors", ["gaussian", "digits"])
def test_the_stages_are_the_iterations_of_the_block(heads, vectors):
    """The points' stages and the error curve are the trained block's; the cloud `ideal` is LayerNorm's.

    Compared at one checkpoint, with the sliders for scale and mean away from their defaults.
    """
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
            np.testing.assert_allclose(shown.cloud("now").stages(params)[k][0, :2], curve[k], atol=ROUNDING)
        ideal = shown.cloud("ideal").stages(params)[0]
        np.testing.assert_allclose(ideal[:, :16], layer_norm(x, eps=0.0), atol=ROUNDING)
        assert len(x) == SHOWN_VECTOR_COUNT


def test_the_browser_runs_the_block():
    """Browser and Python agree at each stage, to single precision.

    The general test of scenes has a looser tolerance here, because rounding grows with each iteration.
    """
    shown, params = recipe(), {"step": float(films.TRAINING_STEPS), "scale": 1.3, "mean": 2.0}
    with Node() as node:
        [answer] = node.run(shown, [(params, 4)])
    for got, want in zip(answer["stages"]["points"], shown.cloud("points").stages(params), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=SINGLE * np.abs(want).max())


def test_the_picture_has_heights_and_distances():
    """The picture keeps directions from the origin, and compresses a vector's length r to 8r/(r + 4).

    So infinity is at 8, twice the radius of the sphere. Before the compression, the height is the vector's
    part along 𝟏, and the distance from the line along 𝟏 is the length of the rest. LayerNorm's results are on
    the circle.
    """
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
    for step in (0.0, float(films.TRAINING_STEPS)):
        state = shown.moment({"step": step} | where, 8)
        far = np.linalg.norm(state.shown("points", at(film(4, 8).block)), axis=-1)
        assert (far < 8).all() and np.isfinite(state.now("curve")).all()


def test_the_dots_of_the_sliders_are_near_the_curves():
    """The dot for the present scale or mean is near the curve of errors, though not on it.

    The dot shows the error of the shown block and vectors. The curve shows medians of five seeds on other
    vectors.
    """
    shown, row = recipe(), ENDS["ring", 4, 4]
    for name in ("scale", "mean"):
        for k, near in ((0, 0.05), (12, 0.05), (24, 0.4)):
            params = {"step": float(films.TRAINING_STEPS), "scale": 1.0, "mean": 1.0} | {
                name: float(10 ** FACTORS[k])
            }
            [[x, y]] = shown.cloud(f"{name} now").stages(params)[0]
            assert x == pytest.approx(FACTORS[k]) and y == pytest.approx(np.log10(row[name][k]), abs=near)
    np.testing.assert_allclose(10**FACTORS, films.TEST_FACTORS)


LOW_PLOT, LETTER_HEIGHT = 78, 14  # pixels: the plot of the first chart at 1024 × 768, and its labels' letters
PLOT = 150  # pixels: the plot of the first chart at 1024 × 900


@pytest.mark.parametrize("heads", HEADS)
def test_the_names_of_the_curves_keep_apart_in_a_low_chart(heads):
    shown = recipe(heads=heads)
    low, high = next(view for view in shown.views if view.name == "iterations").ranges[1]
    heights = sorted(shown.cloud(f"name {h}").points[0, 1] for h in HEADS)
    pixels = np.array(heights) * LOW_PLOT / (high - low)
    assert np.diff(pixels).min() > LETTER_HEIGHT, pixels
    assert low < heights[0] and heights[-1] < high
    assert np.abs(heights).min() * PLOT / (high - low) > LETTER_HEIGHT / 2, "no name is on the zero line"


# --- what the text says


def a_vector():
    assert len(recipe().cloud("points").points) == SHOWN_VECTOR_COUNT == 120
    assert recipe().cloud("points").points.shape[1] == 16 and sqrt(16) == 4 == RADIUS


def the_numbers_of_a_head():
    block = film(4, 4).block
    assert block.own == 4 and block.messages == 4 and block.parameter_count == 696
    assert (
        (films.TRAINING_STEPS, films.ITERATIONS, films.BLOCKS_PER_KIND)
        == (3000, (1, 2, 4, 8), 5)
        == (3000, ITERATIONS, 5)
    )


def infinity_is_at_twice_the_radius():
    far = drawn_in(3).apply(np.array([[1e12, 0, 0], [4.0, 0, 0]]), {})
    np.testing.assert_allclose(np.linalg.norm(far, axis=-1), [8, 4])


def reach():
    """After k iterations a head depends on the heads fewer than k places away, in a ring of heads.

    So it depends on all of 2 heads after 2 iterations, of 4 after 3, and of 8 after 5. The errors and angles
    in the text, for several numbers of iterations, are tested too.
    """
    for heads, needed in ((2, 2), (4, 3), (8, 5)):
        block = Symmetriser(heads=heads)
        parts = {name: part[0] for name, part in initial(block, [7]).items()}
        x = np.random.default_rng(1).standard_normal((1, 16))
        ways = (iterates(block, parts, each, 6) for each in (x, x + np.eye(16)[0]))
        changed = [(a != b).reshape(heads, -1).any(-1) for a, b in zip(*ways, strict=True)]
        for k, now in enumerate(changed):
            assert now.tolist() == [min(h, heads - h) < max(k, 1) for h in range(heads)]
        assert changed[needed].all() and not changed[needed - 1].all()
    for heads, words in (
        (4, ("0.460", "0.187", "0.046", "0.037")),
        (8, ("0.614", "0.370", "0.146", "0.065")),
    ):
        for iterations, word in zip(ITERATIONS, words, strict=True):
            said(end("ring", heads, iterations), word)
    for iterations, word in zip(ITERATIONS, ("26", "9.6", "1.6", "1.2"), strict=True):
        said(end("ring", 4, iterations, "angles"), word)


def seeds_agree_where_heads_are_not_heard():
    for heads, iterations in ((h, k) for h in HEADS for k in ITERATIONS):
        found = ENDS["ring", heads, iterations]["errors"]
        spread = (max(found) - min(found)) / max(found)
        assert spread < 0.01 if iterations - 1 < heads // 2 else spread > 0.10


def what_makes_it_work():
    for iterations, silent, own, adding in ((4, "0.46", "0.025", "0.057"), (8, "0.46", "0.010", "0.033")):
        said(end("ring", 4, iterations), {4: "0.046", 8: "0.037"}[iterations])
        said(end("silent", 4, iterations), silent)
        said(end("own weights", 4, iterations), own)
        said(end("adding", 4, iterations), adding)
    assert [ENDS["adding", 4, k]["parameters"] for k in films.COMPARED_ITERATIONS] == [6528, 13056]
    own_weights = [ENDS["own weights", 4, k]["parameters"] for k in films.COMPARED_ITERATIONS]
    assert own_weights == [4 * 696, 8 * 696] == [2784, 5568]
    assert [ENDS["ring", 4, k]["parameters"] for k in films.COMPARED_ITERATIONS] == [696, 696]


def it_does_not_settle():
    after = ENDS["ring", 4, 4]["after"]
    said(after[4], "0.33")
    said(after[7], "0.74")
    for heads, words in ((2, "0.06"), (4, "0.14"), (8, "1.7")):
        said(ENDS["ring", heads, 8]["after"][15], words)
    x, block = vectors_of("gaussian")[:500], film(4, 4)
    ways = iterates(block.block, block.at(-1), x, 8)
    fourth, fifth, eighth = (errors(x, ways[k]).mean() for k in (4, 5, 8))
    assert 5 * fourth < fifth < eighth  # of the shown seed
    for heads in HEADS:  # the shown blocks that were trained for one iteration converge
        one = film(heads, 1)
        *_, before, last = iterates(one.block, one.at(-1), x[:120], 200)
        np.testing.assert_allclose(last, before, atol=ROUNDING)
    said(ENDS["ring", 4, 1]["after"][15], "0.65")
    y = layer_norm(x, eps=0.0)
    np.testing.assert_allclose(layer_norm(y, eps=0.0), y, atol=ROUNDING)


def symmetry_is_learned():
    for iterations, word in ((1, "0.47"), (4, "0.06")):
        said(end("ring", 4, iterations, "asymmetry"), word)
    block = film(4, 4)
    again = films.asymmetry(block.block, block.at(-1), 4, vectors_of("gaussian"))
    row = ENDS["ring", 4, 4]
    assert again == pytest.approx([row["asymmetry"][row["shown"]]], abs=1e-5)


def out_of_range():
    row = ENDS["ring", 4, 4]
    assert films.TEST_FACTORS[[0, -1]].tolist() == [0.01, 100] and SPREAD == 2
    said(row["scale"][-1], "89")
    said(row["scale"][0], "0.97")
    said(row["mean"][-1], "110")
    x = vectors_of("gaussian")
    y = layer_norm(x, eps=0.0)
    np.testing.assert_allclose(np.linalg.norm(y, axis=1) / 4, 1)  # the error of an output of 0
    for other in (100 * x, x / 100, x + 99 * x.mean(-1, keepdims=True)):
        np.testing.assert_allclose(layer_norm(other, eps=0.0), y, atol=1e-9)


def chips():
    for kind, words in (("gaussian", "0.046"), ("digits", "0.034"), ("uneven", "0.140")):
        said(chip("gaussian", kind), words)
    said(chip("digits", "digits"), "0.009")
    others = [chip("digits", kind) for kind in VECTOR_KINDS]
    said(min(others), "0.453")
    every = [chip("all", kind) for kind in VECTORS]
    said(min(every), "0.024")
    said(max(every), "0.071")
    assert min(min(row[kind]) for row in CHIPS.values() for kind in VECTORS) > 0.005
    assert len(CHIPS) == 5 and recipe().facts.rows[0][1] == f"{chip('gaussian', 'gaussian'):.3f}"


def shown_at(title):
    """The mean error of the shown vectors at a stop, and the stop's state."""
    state = stop("symmetrise", title)
    at_stop = state.recipe.moment(state.params, state.progress)
    block = film(int(state.choices["heads"]), int(state.choices["iterations"])).block
    return float(at_stop.measured("points", error(block)).mean()), state


def before_it_has_learned():
    far, state = shown_at("Before training")
    assert far > 0.6 and state.params["step"] == 0


def four_iterations():
    far, state = shown_at("Four iterations")
    curve = 10 ** state.recipe.cloud("curve").stages(state.params)[0][:, 1]
    assert far < 0.06 and curve[3] - curve[4] > max(-np.diff(curve)[:3]) and films.TRAINING_STEPS == 3000


def some_go_astray():
    """After training, the mean error of the 120 vectors falls in each iteration.

    The errors of 48 of them rise in at least one iteration.
    """
    block, x = film(4, 4), recipe().cloud("points").points.astype(float)
    found = np.array([errors(x, way) for way in iterates(block.block, block.at(-1), x, 4)])
    assert (np.diff(found.mean(1)) < 0).all() and len(x) == 120
    assert (np.diff(found, axis=0) > 0).any(0).sum() == 48


def one_iteration():
    far, state = shown_at("One iteration")
    start = state.recipe.moment(state.params, 0).measured("points", error(film(4, 1).block)).mean()
    assert 0.4 < far < start / 2
    seeds = ENDS["ring", 4, 1]["errors"]
    assert len(seeds) == 5
    for one in seeds:
        said(one, "0.46")


def more_heads():
    far, _ = shown_at("More heads")
    assert 0.12 < far < 0.18


def a_hundred_times():
    far, state = shown_at("A hundred times as large")
    assert far > 90 and state.params["scale"] == 100
    assert len(state.recipe.cloud("points").points) == 120
    said(ENDS["ring", 4, 4]["scale"][-1], "89")


def handwritten_digits():
    assert shown_at("Handwritten digits")[0] < 0.05
    known, digits = (vectors_of(kind) for kind in ("gaussian", "digits"))
    for measure in (np.std, np.mean):
        low, high = np.percentile(measure(known, axis=-1), [0, 100])
        assert low < measure(digits, axis=-1).min() and measure(digits, axis=-1).max() < high


CLAIMS = {
    "Four heads see a quarter of a vector each, exchange messages with their neighbours": the_numbers_of_a_head,
    "A vector has 16 coordinates. LayerNorm subtracts their mean and divides by their standard deviation; these two numbers depend on all 16. Anonymous": a_vector,
    "It also receives three messages of the iteration before, four numbers each: its own, $r_h$, and those of its two neighbours, $r_{h-1}$ and $r_{h+1}$. (With two heads, the other head is both neighbours.)": the_numbers_of_a_head,
    "and its next message $r_h$, again four numbers.": the_numbers_of_a_head,
    "a block of four heads has 696 weights in all. It was trained for 3,000 steps": the_numbers_of_a_head,
    "120 vectors that were not used in training.": a_vector,
    r"$\sum x_i = 0$ is $\sqrt{d}\,\mu$, and its distance from the line along $𝟏$ is $\sqrt{d}\,\sigma$. In the picture LayerNorm puts all points on one circle, at height 0 and at distance $\sqrt{d} = 4$ from the line.": test_the_picture_has_heights_and_distances,
    "no point, however far away, is drawn farther out than twice the sphere's radius": infinity_is_at_twice_the_radius,
    "It counts all 16 coordinates": a_vector,
    "trained for 1, 2, 4 or 8 iterations, five seeds of each. Click a point to see this kind of block; the picture shows its median seed. Grey curves are blocks with another number $H$ of heads.": the_numbers_of_a_head,
    "LayerNorm's error is 0 everywhere.": out_of_range,
    "A message travels one head per iteration, and in the first iteration there is none yet. So four heads need 3 iterations until each has heard all others, and eight heads need 5. With four heads the error falls from 0.460 after 1 iteration to 0.046 after 4 (median of 5 seeds).": reach,
    "Medians of 5 seeds: | iterations | 1 | 2 | 4 | 8 | | --- | --- | --- | --- | --- | | error of four heads | 0.460 | 0.187 | 0.046 | 0.037 | | angle to LayerNorm's result, four heads | 26° | 9.6° | 1.6° | 1.2° | | error of eight heads | 0.614 | 0.370 | 0.146 | 0.065 |": reach,
    "If the iterations are too few for a head to hear all others, training cannot make up for the missing messages, and the errors of all five seeds end within 1 % of one another. If the iterations are enough, the seeds differ by more than 10 %.": seeds_agree_where_heads_are_not_heard,
    "Heads without messages end at an error of 0.46, both after 4 iterations and after 8 (median of 5 seeds).": what_makes_it_work,
    "We also trained two kinds of blocks that have different weights in each iteration. Median errors of 5 seeds, after 4 and after 8 iterations: | kind of heads | error after 4, after 8 | number of weights | | --- | --- | --- | | as in this scene: the same weights in each iteration | 0.046 and 0.037 | 696 and 696 | | as in this scene, but different weights in each iteration | 0.025 and 0.010 | 2,784 and 5,568 | | heads that read and change single coordinates | 0.057 and 0.033 | 6,528 and 13,056 |": what_makes_it_work,
    "then there are also 4 and 8 times as many weights": what_makes_it_work,
    "LayerNorm applied twice gives the same as once. But a block that runs for more iterations than it was trained for moves away from LayerNorm's result again. Four heads trained for 4 iterations have an error of 0.33 after the fifth, and of 0.74 after the eighth (median of 5 seeds).": it_does_not_settle,
    "Four heads trained for 8 iterations drift away more slowly: after 16 iterations the error is 0.14. With two heads it is then 0.06, with eight 1.7. Blocks trained for one iteration come to rest if they run on and on, but not at LayerNorm's result: four heads rest at an error of 0.65.": it_does_not_settle,
    "With four heads the distance between these two results is 0.47 after 1 iteration, and 0.06 after 4 (median of 5 seeds; measured like the error).": symmetry_is_learned,
    r"It was trained on vectors with scales between $\frac{1}{2}$ and $2$. Outside this range its error is large (four heads, four iterations, median of 5 seeds): | change of the vectors | error | | --- | --- | | all multiplied by 100 | 89 | | all divided by 100 | 0.97 (an output of 0 has the error 1) | | means multiplied by 100 | 110 |": out_of_range,
    "The table under the pictures shows errors on four kinds of vectors (four heads, four iterations, median of 5 seeds). *Uneven* vectors have coordinates with different standard deviations. A block trained on digits has the error 0.009 on other digits, but 0.453 or more on the other kinds. A block trained on all four kinds has errors between 0.024 and 0.071.": chips,
    "Here the heads stand alone, and $d$ is 16.": a_vector,
    "The networks are random. After four iterations the vectors are scattered.": before_it_has_learned,
    "### Four iterations After 3,000 steps of training the vectors are on the circle or near it. Move the lower scrubber: their paths are not straight. The last iteration lowers the mean error more than any other.": four_iterations,
    "Suppose that there is only one iteration, and no head hears any other.": one_iteration,
    "That more than halves the error, but an error of 0.46 is left, with each of the five seeds.": one_iteration,
    "Eight heads in four iterations: each hears itself and six others, but not the head across the ring. Most points stay beside the circle.": more_heads,
    "### A hundred times as large ? All vectors are multiplied by 100, which does not change LayerNorm's result.": a_hundred_times,
    "The mean error of these 120 vectors is above 90. (On other vectors, the median of 5 seeds is 89.)": a_hundred_times,
    "Each vector is a picture of a digit, reduced to 4 × 4 pixels.": handwritten_digits,
    "With four heads and four iterations the mean error of the 120 vectors in the picture falls in each iteration, but 48 of them move away from LayerNorm's result in some iteration.": some_go_astray,
}
