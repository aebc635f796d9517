"""The claims of the scene `drift`; a part of its table and of its recipes is computed a second way."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from components.scenes.drift import SCENE
from components.scenes.drift.build import (
    DISTANCE,
    FORGETTING_LABELS,
    LABELS,
    MODELS,
    PART_LABELS,
    PATH_LENGTH,
    PHRASE,
    SHOW,
    WINDOWS,
)
from components.training.recipes import recipe_of
from geometry import layer_norm
from geometry.angles import angles
from learning import drift
from learning.drift import streams_as_window_slides
from learning.language import Shape, forward, from_file, initial
from learning.shipped import FOLDER, table
from learning.shipped import read as read_file
from tests.scenes.claims import said, stop
from tools.films import language as films

ROWS = table("drift")
FOUR_DIGITS = 6e-4  # relative tolerance: the table's numbers have four digits
ROUNDING = 1e-12  # of some hundred sums in double precision
SINGLE = 1e-6  # tolerance of an interpolated track
EPSILON = 1e-4  # the change of an angle by ε = 1e-5


@cache
def model(name="language"):
    shape, weights = read_file(f"{name}.safetensors", from_file)
    return shape, weights, shape.tokens((FOLDER / "language.txt").read_text("utf-8"))


def rows(name):
    return [row for row in ROWS if row["model"] == name]


def median(name, part, number, *, window=64, kind="places"):
    """The median over the five models with the norm `name`: an array with a number for each layer.

    part: the measured vectors: the residual stream ("stream"), its centred form ("across"), or what attention
    reads ("reads"). number: a column of the table, or "way", the path length divided by the spread. window:
    the number of letters in the window. kind: how the model re-reads the window as it slides, with new
    positions ("places") or fixed ones ("past").
    """
    each = [row[kind][str(window)][part] for row in rows(name)]
    values = [np.divide(e["path"], e["spread"]) if number == "way" else e[number] for e in each]
    return np.median(values, axis=0)


def words(values, *texts):
    for value, each in zip(values, texts, strict=True):
        said(value, each)


def test_means_over_windows_need_enough_tokens():
    shape = Shape("ab", width=4, layers=1, window=8)
    weights, tokens = initial(shape, 0), np.zeros(27, int)
    sizes = {"window": 8, "windows": 3, "every": 4}  # the last window starts at position 20
    with pytest.raises(ValueError, match="need 28 tokens: got 27"):
        films.loss_along_text(shape, weights, tokens, **sizes)
    with pytest.raises(ValueError, match="divide"):
        films.loss_along_text(shape, weights, np.append(tokens, 0), **{**sizes, "every": sizes["window"] - 1})
    found = films.loss_along_text(shape, weights, np.append(tokens, 0), **sizes)
    assert found.shape == (2, 3) and np.ptp(found, axis=1).max() < ROUNDING


# --- the table and the recipe, recomputed


def test_the_table_is_whole():
    assert [(r["model"], r["seed"]) for r in ROWS] == [
        (m, k) for m in MODELS for k in range(films.MODELS_PER_KIND)
    ]
    assert list(MODELS) == list(films.ARMS_OF_LANGUAGE) and list(PART_LABELS) == list(ROWS[0]["places"]["64"])
    assert [int(w) for w in WINDOWS] == list(films.WINDOW_SIZES) and len(
        PHRASE
    ) == films.FOLLOWED_LETTERS == 16
    assert all(
        len(r[s]) == 2 and len(r[s][0]) == films.TEXT_WINDOWS + 1 for r in ROWS for s in ("read", "written")
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["places", "past"])
def test_the_table_anew(name, kind):
    shape, weights, tokens = model(name)
    found = films.drifts(shape, weights, tokens, 32, kind)
    for part, numbers in rows(name)[0][kind]["32"].items():
        for number, values in numbers.items():
            np.testing.assert_allclose(found[part][number], values, rtol=FOUR_DIGITS, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", FORGETTING_LABELS)
def test_the_letters_are_those_of_the_model(name, kind):
    """The letters' vectors are those that the model computes from the part of the text that it reads.

    The part depends on `kind`. "kept": from the start of the first window to the end of the current one.
    "past": the overlap of these two windows. "places": the current window. Also, a letter's path is at least
    as long as the distance from its first vector, both in units of the table's spread.
    """
    shape, weights, tokens = model(name)
    text = (FOLDER / "language.txt").read_text("utf-8")
    start, window = text.index(PHRASE) + 16 - 32, 32
    for layer in (1, 4):
        recipe = recipe_of(SCENE, model=name, kind=kind, layer=layer, window=window)
        assert recipe.parameters[0].max == 16
        streams = []
        for t in (0, 5, 16):
            low = start if kind == "kept" else start + t
            high = start + window + (0 if kind == "past" else t)
            own = {**weights, "wpe.weight": weights["wpe.weight"][t if kind == "past" else 0 :]}
            block = forward(shape, own, tokens[low:high]).blocks[layer - 1]
            here = slice(start + 16 - low, start + 32 - low)
            stages = recipe.cloud("true").stages({"slide": t})
            for got, want in ((stages[0], block.stream), (stages[-1], block.keys)):
                np.testing.assert_allclose(got, want[here], rtol=SINGLE, atol=SINGLE * np.abs(want).max())
            streams.append(block.stream[here])
            apart = np.linalg.norm(streams[-1] - streams[0], axis=-1)
            numbers = recipe.cloud("ways").stages({"slide": t})[0]
            spread = rows(name)[0]["past" if kind == "past" else "places"]["32"]["stream"]["spread"][
                layer - 1
            ]
            np.testing.assert_allclose(numbers[:, DISTANCE], apart / spread, atol=1e-5)
            assert (numbers[:, PATH_LENGTH] * (1 + 1e-6) + 1e-9 >= apart / spread).all() and (
                numbers[:, 0] == t
            ).all()


@pytest.mark.parametrize("letters, window, n", [(0, 32, 99), (33, 32, 99), (16, 32, 47)])
def test_what_no_window_can_hold_is_refused(letters, window, n):
    shape, weights, tokens = model()
    with pytest.raises(ValueError, match=r"letters in a window of 32 need \d+ tokens: got"):
        streams_as_window_slides(shape, weights, tokens[:n], window=window, letters=letters, depths=1)


def test_numbers_of_a_drift_by_hand():
    """`drift` measures paths whose numbers are easily computed by hand.

    In the first path one letter moves to and fro, and another stays at rest. In the second a letter turns by
    90°. In the third all vectors are 0.
    """
    still, to_and_fro = np.array([[[0, 2.0]] * 3]), np.array([[[1.0, 0], [3.0, 0], [1.0, 0]]])
    ways = np.stack([still[0], to_and_fro[0]], axis=1)
    found = drift.drift(ways)
    every = ways.reshape(-1, 2)
    total = ((every - every.mean(0)) ** 2).sum(-1).mean()
    assert found.path == 2 and found.turn == 0 and found.spread == pytest.approx(total**0.5)
    assert found.share == pytest.approx(np.var([1, 3, 1]) / 2 / total)
    turning = np.array([[[1.0, 0]], [[0, 5.0]]])
    assert drift.drift(turning).turn == pytest.approx(90)
    assert drift.drift(np.zeros((3, 2, 4))) == drift.Drift(0, 0, 0, 0)


# --- what the text says


def test_the_division_turns_nothing():
    """The norm's division changes the direction of no vector.

    As the window slides, a letter's vector turns by the same angles before and after the division, up to ε.
    """
    for layer in (1, 2, 3, 4):
        recipe = recipe_of(SCENE, layer=layer, window=32)
        cloud, stages = recipe.cloud("true"), []
        for t in range(17):
            stages.append(cloud.stages({"slide": t})[1:3])
        across, sphere = np.moveaxis(np.array(stages), 1, 0)
        turns = [np.degrees(angles(x[1:], x[:-1])) for x in (across, sphere)]
        assert turns[0].max() > 0.5
        np.testing.assert_allclose(turns[1], turns[0], atol=EPSILON)


@pytest.mark.parametrize("name", MODELS)
def test_a_window_knows_nothing_of_those_before(name):
    """The model gives exactly the same result for a window after it has read another text."""
    shape, weights, tokens = model(name)
    window = tokens[1000:1256]
    before = forward(shape, weights, window)
    forward(shape, weights, tokens[:256])
    for a, b in zip(before.blocks, forward(shape, weights, window.copy()).blocks, strict=True):
        assert np.array_equal(a.out, b.out)


@pytest.mark.parametrize("name", MODELS)
def test_what_comes_later_changes_nothing_to_the_bit(name):
    """A letter's vectors are exactly the same whatever letters follow, so they can be cached.

    If the first letters are kept as the window slides (kind "kept"), they do not change either.
    """
    shape, weights, tokens = model(name)
    text, other = tokens[:256], np.concatenate([tokens[:100], tokens[1000:1156]])
    for a, b in zip(forward(shape, weights, text).blocks, forward(shape, weights, other).blocks, strict=True):
        assert np.array_equal(a.stream[:100], b.stream[:100])
        assert not np.array_equal(a.stream[100:], b.stream[100:])
    stream = streams_as_window_slides(shape, weights, tokens, window=64, letters=16, depths=4, kind="kept")
    assert stream.shape == (4, 49, 16, 4) and (stream == stream[:, :1]).all()


def the_setup():
    shape, _, _ = model()
    assert shape.window == 256 and shape.width == 4 and SHOW.shape == (3, 4) and len(PHRASE) == 16
    assert PHRASE == "carry no meaning" and sum(map(str.isalpha, PHRASE)) < 16
    assert len(MODELS) == 3 and all(len(rows(name)) == 5 for name in MODELS)
    for name, (scaled, normed) in zip(MODELS, ((True, True), (False, True), (True, False)), strict=True):
        assert (model(name)[0].scaled, model(name)[0].normed) == (scaled, normed)


def along_one():
    said(median("language", "stream", "way")[0], "11.1")
    said(median("language", "across", "way")[0], "0.8")
    said(median("language_unnormed", "stream", "way")[0], "1.3")


def left_by_centring():
    """Centring leaves 7 % of a path's length in the first layer, and 27 to 37 % in the others.

    These are medians over the models.
    """
    along_one()
    parts = [row["places"]["64"] for row in rows("language")]
    left = np.median([np.divide(part["across"]["path"], part["stream"]["path"]) for part in parts], axis=0)
    words(100 * np.array([left[0], left[1:].min(), left[1:].max()]), "7", "27", "37")


def heights_of_places():
    """The heights along 𝟏 of the position vectors before and after training have the correlation 0.97.

    Orthogonally to 𝟏, training lowers the mean distance of neighbouring position vectors from 1.09 to 0.06.
    """
    shape, weights, _ = model()
    trained, start = (w["wpe.weight"].astype(float) for w in (weights, initial(shape, 0)))
    said(np.corrcoef(trained.sum(1), start.sum(1))[0, 1], "0.97")
    apart = [np.linalg.norm(np.diff(x @ SHOW.T, axis=0), axis=1).mean() for x in (start, trained)]
    words(apart, "1.09", "0.06")


def the_division():
    test_the_division_turns_nothing()
    words(median("language", "across", "way")[1:], "1.0", "1.2", "1.2")
    words(median("language", "reads", "way")[1:], "1.3", "1.1", "1.1")


def paths_by_layer():
    along_one()
    the_division()
    without_norms()


def bounds():
    for x in np.random.default_rng(0).standard_normal((50, 2, 4)):
        assert np.linalg.norm(np.diff(layer_norm(x), axis=0)) <= 2 * 2
    said(median("language", "stream", "path", window=256)[3], "170")
    said(median("language", "reads", "path", window=256)[3], "7.3")


def ends(name, source, number):
    values = np.median([row[source][number] for row in rows(name)], axis=0)
    return values[0], values[-1]


def after_ten_windows():
    words(ends("language", "read", 0), "2.55", "2.53")
    words(ends("language_unnormed", "read", 0), "2.48", "2.47")
    for name in MODELS:
        for source in ("read", "written"):
            first, last = ends(name, source, 1)
            assert abs(last / first - 1) < 0.05
            assert abs(np.diff(ends(name, source, 0))[0]) < 0.15


def root_of_two():
    """The mean square distance over all pairs of vectors is twice the mean square distance to their mean."""
    x = recipe_of(SCENE).cloud("true").stages({"slide": 24})[0]
    far = ((x[:, None] - x) ** 2).sum(-1).mean()
    assert np.sqrt(far) == pytest.approx(np.sqrt(2 * ((x - x.mean(0)) ** 2).sum(-1).mean()))


def without_norms():
    without, own = (median(name, "reads", "way", window=256) for name in ("language_unnormed", "language"))
    more = without / own
    assert (more > 1.4).tolist() == [True, False, True, True] and 0.9 < more[1] < 1
    words(median("language_unnormed", "reads", "way"), "1.3", "1.3", "1.9", "1.9")
    words(median("language", "reads", "way"), "0.8", "1.3", "1.1", "1.1")
    said(np.median([row["loss"] for row in rows("language_unnormed")]), "2.53")
    said(np.median([row["loss"] for row in rows("language")]), "2.62")
    said(np.median([row["loss"] for row in rows("language_centred")]), "2.60")
    most = max(row["loss"] for row in rows("language_unnormed"))
    assert most < min(row["loss"] for name in list(MODELS)[:2] for row in rows(name))


def trembling():
    at = stop("drift", "Letters that tremble")
    assert at.params["slide"] == 24 and PHRASE[at.follow] == "m"
    recipe = recipe_of(SCENE)
    ways = np.array([recipe.cloud("true").stages({"slide": t})[0] for t in range(49)])
    height = np.abs(np.diff(ways.sum(-1) / 2, axis=0)).sum(0)
    flat = np.linalg.norm(np.diff(ways @ SHOW.T, axis=0), axis=-1).sum(0)
    assert (height > 5 * flat).all()


def fall():
    left_by_centring()
    parts = [row["places"]["64"] for row in rows("language")]
    shorter = [100 * (1 - part["across"]["spread"][0] / part["stream"]["spread"][0]) for part in parts]
    words([min(shorter), max(shorter)], "8", "16")
    assert stop("drift", "The height goes").choices["layer"] == "1"
    assert 0.8 / 11.1 < 0.1


def sphere():
    assert stop("drift", "Out to the sphere").choices["layer"] == "2"
    said(median("language", "across", "way")[1], "1.0")
    said(median("language", "reads", "way")[1], "1.3")


def from_window_to_window():
    """From window to window, a model's loss varies more in a text that it generates than in a given one."""
    read_, written = (
        np.array([np.std(row[source][0], ddof=1) for name in MODELS for row in rows(name)])
        for source in ("read", "written")
    )
    assert (written > read_).all()
    words((written.min(), written.max()), "0.11", "0.19")
    words((read_.min(), read_.max()), "0.06", "0.09")


def no_growth():
    assert (
        stop("drift", "No norm").choices["model"] == "language_unnormed"
        and len(rows("language_unnormed")) == 5
    )
    words(ends("language_unnormed", "read", 1), "5.0", "4.9")


def past_alone():
    said(median("language", "stream", "way", kind="past")[1], "0.1")
    said(median("language", "stream", "way")[1], "3.6")
    said(median("language", "stream", "way", kind="past")[3], "0.5")
    said(median("language", "stream", "way")[3], "2.8")
    assert median("language", "stream", "way", kind="past")[1] < 0.05 * median("language", "stream", "way")[1]


def nothing():
    for name in MODELS:
        numbers = recipe_of(SCENE, model=name, kind="kept", layer=2).cloud("ways")
        for t in (0, 10, 48):
            assert not numbers.stages({"slide": t})[0][:, DISTANCE:].any()
    assert recipe_of(SCENE, kind="kept").facts.rows[0][1:5] == ["0"] * 4


def first_layer():
    for name in MODELS:
        for part in PART_LABELS:
            assert median(name, part, "path", kind="past")[0] == 0


def shares():
    sphere()
    for name, least, most, narrow, single in (
        ("language", "0.1", "0.5", "0.6", "1.5"),
        ("language_unnormed", "0.1", "1.0", "1.4", "3.5"),
    ):
        said(100 * min(median(name, "reads", "share")), least)
        said(100 * max(median(name, "reads", "share")), most)
        said(100 * max(median(name, "reads", "share", window=32)), narrow)
        said(
            100 * max(max(row["places"][w]["reads"]["share"]) for row in rows(name) for w in WINDOWS), single
        )
        assert max(median(name, "reads", "share", window=256)) < max(median(name, "reads", "share"))


def test_readouts_are_the_followed_letters():
    recipe = recipe_of(SCENE)
    assert [r.label for r in recipe.readouts[1:]] == list(LABELS)
    assert replace(recipe, readouts=()).clock == "slide"


def upwards():
    """Claim: the height in the side view is the coordinate along 𝟏, which the main view does not show."""
    view = recipe_of(SCENE).views[1]
    up = np.array(next(mark for mark in view.layers if mark.cloud == "letters").rows[1].weights)
    np.testing.assert_allclose(up, np.array([1, 1, 1, 1]) / 2)
    assert np.abs(SHOW @ [1, 1, 1, 1]).max() < ROUNDING


def one_spread():
    """The figure's path lengths are those of its vectors, divided by the spread in the table.

    The spread is that of the model shown, in the layer and for the kind of vectors shown.
    """
    assert films.PASSAGES == 6 and films.FOLLOWED_LETTERS == 16
    for name in MODELS:
        for layer in range(1, 5):
            recipe = recipe_of(SCENE, model=name, layer=layer)
            letters = [recipe.cloud("true").stages({"slide": t}) for t in range(49)]
            stream, reads = (np.stack([stages[k] for stages in letters]) for k in (0, -1))
            shown = recipe.cloud("ways").stages({"slide": 48})[0][:, PATH_LENGTH:]
            for k, (part, x) in enumerate(zip(PART_LABELS, (stream, stream @ SHOW.T, reads), strict=True)):
                path = np.linalg.norm(np.diff(x, axis=0), axis=-1).sum(0)
                spread = rows(name)[0]["places"]["64"][part]["spread"][layer - 1]
                np.testing.assert_allclose(shown[:, k], path / spread, rtol=1e-4)


CLAIMS = {
    "For each stage of each layer we measured the vectors of 16 letters in each of six passages of text, at all steps of the window. The *spread* is the root mean square distance of all these vectors from their mean.": one_spread,
    "upwards is the height along $𝟏 = (1, 1, 1, 1)$": upwards,
    "from a **window** of the last ones, 256 at most": the_setup,
    "The picture follows the 16 letters of *carry no meaning*, blanks included": the_setup,
    "Vectors have four numbers here.": the_setup,
    "which has three dimensions": the_setup,
    "There are three kinds of models, five models of each": the_setup,
    "The figure's table has the medians of the five.": the_setup,
    "In the stream into layer 1 a letter's path is 11.1 spreads long. The centring removes the height, and most of the path with it: 7 % of the path's length is left in layer 1, and 27 to 37 % in layers 2 to 4.": left_by_centring,
    "in spreads, in a window of 64 (medians of 5 models): | path in spreads | layer 1 | layer 2 | layer 3 | layer 4 | | --- | --- | --- | --- | --- | | LayerNorm: after the centring | 0.8 | 1.0 | 1.2 | 1.2 | | LayerNorm: what attention reads | 0.8 | 1.3 | 1.1 | 1.1 | | no norm: what attention reads | 1.3 | 1.3 | 1.9 | 1.9 |": paths_by_layer,
    "In its stream into layer 1 a path, with the height, is only 1.3 spreads long (medians of 5 models, window of 64)": along_one,
    "a path is not reliably shorter after the division, the gain and the shift than before them: compare the two rows of LayerNorm under “The answer”.": the_division,
    "On a sphere no step is longer than the diameter.": bounds,
    "As it is, not in spreads, a letter's path is 170 long in the stream into layer 4, and 7.3 long in what attention reads in this layer (window of 256, medians of 5 models).": bounds,
    "After ten windows the loss and the size of the stream are about what they were. The loss goes from 2.55 to 2.53 nats with LayerNorm, and from 2.48 to 2.47 without any norm (medians of 5 models": after_ten_windows,
    "the loss of a single model varies more from window to window: its standard deviation is 0.11 to 0.19, on the given text 0.06 to 0.09.": from_window_to_window,
    "After ten windows the median loss has changed by less than 0.15 nats, and the median size by less than 5 %": after_ten_windows,
    "In a window of 64 the paths are as long or longer without a norm: compare the rows “what attention reads” under “The answer”. In a window of 256 they are longer in three layers, and in layer 2 a little shorter.": without_norms,
    r"Two of them, taken at random, are $\sqrt 2$ spreads apart (root mean square).": root_of_two,
    "Models without a norm do not guess worse.": without_norms,
    "On texts that no model has learned from, the median loss of 5 models is 2.53 nats without a norm, 2.62 with LayerNorm and 2.60 with centring alone. The reason may be that centring takes one of only four numbers": without_norms,
    "Since the last letter of the phrase came in, 24 more letters have been read.": trembling,
    "In a window of 64": along_one,
    "less than a tenth": fall,
    "about half": fall,
    "In layer 1, 7 % of the path's length is left. In spreads the path was 11.1 long, and now it is 0.8 (medians of 5 models, as in the table). The spread has become shorter, too, but only by 8 to 16 % (range over the 5 models).": fall,
    "In layer 2 letters have read one another.": sphere,
    "Without their height their paths are 1.0 spreads long.": sphere,
    "a tenth of that": sphere,
    "ten times as long": sphere,
    "1.3 spreads long (median, in the table). The sphere also scales": sphere,
    "while the text goes on for ten windows": no_growth,
    "In the median of five models the size of the stream is 5.0 at the start and 4.9 at the end.": no_growth,
    "In the stream into layer 2 a path is 0.1 spreads long; with new positions it is 3.6 (medians of 5 models). So nearly all of this drift is due to the places. Into layer 4 a path is 0.5 spreads long, with new positions 2.8.": past_alone,
    "The drift is 0, exactly.": nothing,
    "it has 256 places and no more": the_setup,
    "### Why is the drift in layer 1 zero with fixed positions? What enters layer 1": first_layer,
    "Is a drift of 1.3 spreads much?": sphere,
    "It has two parts: the vector of one letter varies while the window slides, and different letters have different mean vectors. The first part is only 0.1 to 0.5 % of the whole, by layer (window 64, median of 5 models)": shares,
    "How large is the share of the variance that is due to one letter's varying vector? - In a window of 64 letters: 0.1 to 0.5 % with LayerNorm, 0.1 to 1.0 % without a norm (by layer; medians of 5 models). - In a window of 32 letters: up to 0.6 % with LayerNorm, up to 1.4 % without (in the layer with the largest median). - The largest share of any model, in any layer and window: 1.5 % with LayerNorm, 3.5 % without.": shares,
    "The heights of the place vectors before and after training have a correlation of 0.97 (first model). At right angles to $𝟏$ training has brought the vectors of neighbouring places together, from a mean distance of 1.09 to one of 0.06 (distances of the vectors as they are, not in spreads).": heights_of_places,
}
