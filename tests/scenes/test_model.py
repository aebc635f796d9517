"""The numbers in the text of the scene `model`, computed from the recordings that are shipped."""

import csv
import io
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2

import components.scenes
from components.language.scene import WrongValue
from components.scenes.model import SCENE, strips
from components.scenes.model.build import SHIPPED, build, summary
from components.scenes.model.picture import deviation, massive, vector_color
from components.scenes.model.strips import SETS, brackets, scale
from components.training.recipes import recipe_of
from geometry.centering import center
from geometry.norms import layer_norm, rms_norm
from learning.language import EPS, forward, from_file, initial
from learning.recording.analysis import MAX_SAMPLED_KEYS, effective_rank, row
from learning.recording.digest import digest, from_digest, widest
from learning.recording.report import MAX_HEADING_CHARACTERS, table
from learning.recording.verdict import verdict
from learning.shipped import FOLDER
from learning.shipped import read as read_file
from tests.learning.recording import norms
from tests.scenes.claims import said, stop
from tools.films import language as films

ARMS = ("trained", "start")
ATLAS = ("smollm2", "minilm", "antiberty", "rxnmapper")
CHOICES = {"norm": 1, "colour": "position", "strips": "massive", "massive": "shown"}
SMALL = 1e-4  # the vectors are shipped in single precision, of sizes near 10


@cache
def shipped(name="trained"):
    return read_file(f"norms_{name}.safetensors", from_digest)


@cache
def language():
    return from_file((FOLDER / "language.safetensors").read_bytes())


@cache
def stream(name="trained"):
    """What each block of the language model computes from the recorded text, and the model's weights.

    The text is the beginning of language.txt, cut into RECORDED_WINDOWS windows. name: "start" for the model
    before training; otherwise it is the trained one.
    """
    shape, weights = language()
    if name == "start":
        weights = {part: w.astype(np.float64) for part, w in initial(shape, 0).items()}
    text = (FOLDER / "language.txt").read_text("utf-8")[: films.RECORDED_WINDOWS * shape.window]
    return forward(shape, weights, shape.tokens(text).reshape(-1, shape.window)).blocks, weights


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("norm", [1, 5])
def test_what_is_shown_is_what_the_model_computes(name, norm):
    """The last three stages, “sphere” to “+ β”, show the model's vectors, up to the signs of the axes.

    The inputs' lengths at stage 0 are those in the model, divided by one number, the same for all inputs.
    """
    blocks, weights = stream(name)
    k = (norm - 1) // 2
    every = blocks[k].stream.reshape(-1, 4)
    count = len(shipped(name).norms[0].points)
    number = np.sort(np.random.default_rng(0).permutation(len(every))[:count])
    x, up = every[number], np.full(4, 0.5)
    gamma, beta = (weights[f"h.{k}.ln_1.{part}"] for part in ("weight", "bias"))
    plain = layer_norm(x, eps=EPS)
    directions = np.vstack([widest(plain, up), up])
    stages = recipe_of(SCENE, recording=name, norm=norm).cloud("vectors").stages({})
    for stage, want in zip(stages[2:], (plain, gamma * plain, gamma * plain + beta), strict=True):
        got, want = stage[:, :3], want @ directions.T
        signs = np.sign(np.sum(got * want, axis=0))  # a direction is one up to its sign
        np.testing.assert_allclose(got * signs, want, atol=SMALL)
    scale = np.linalg.norm(x, axis=1) / np.linalg.norm(stages[0], axis=1)
    np.testing.assert_allclose(scale, scale[0], rtol=SMALL)


def test_a_norm_that_the_recording_does_not_have_is_refused_with_its_range():
    assert recipe_of(SCENE, recording="trained", norm=9).views[0].title == "Norm 9 of 9: ln_f"
    for norm in (0, 10, -5, 1000):
        with pytest.raises(WrongValue, match=f"norm={norm} is outside 1 … 9,"):
            recipe_of(SCENE, recording="trained", norm=norm)


def test_the_picture_of_all_norms_has_the_name_of_the_model():
    for name in ARMS:
        assert shipped(name).name in recipe_of(SCENE, recording=name).views[1].title


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("recording", SHIPPED)
def test_a_click_on_any_strip_opens_its_norm(recording, name):
    """A click on a point chooses the norm above which it stands; the point's label has the norm's value."""
    recipe, own = recipe_of(SCENE, recording=recording, strips=name), shipped(recording)
    points = [mark for mark in recipe.views[1].layers if getattr(mark, "hand", None)]
    chosen = []
    for mark in points:
        cloud = recipe.cloud(mark.cloud)
        assert mark.hand.choice == "norm"
        for number, label, x in zip(mark.hand.numbers, cloud.labels, cloud.points[:, 0], strict=True):
            assert x == pytest.approx(strips.place(number - 1, own))
            chosen.append((int(number), label))
    assert len(chosen) == len(own.rows) * len(SETS[name])
    for strip in SETS[name]:
        title = strip.title.partition(" (")[0]
        for k, each in enumerate(own.rows, 1):
            value = strips.number(each[strip.middle], percent=strip.percent)
            assert sum(number == k and f"<br>{title}: {value}" in label for number, label in chosen) == 1


def test_points_of_strips_are_as_high_as_their_values():
    """A point's height between the ends of its strip gives its value, on linear and logarithmic strips."""
    own = shipped("minilm")
    for name, every in SETS.items():
        ends = [scale(strip, [own]) for strip in every]
        curves = recipe_of(SCENE, recording="minilm", strips=name).cloud("solid 0").points
        for s, (strip, (low, high), curve) in enumerate(
            zip(every, ends, curves.reshape(len(every), -1, 2), strict=True)
        ):
            part = (curve[:, 1] - strips.bottom(s)) / strips.HEIGHT
            values = low * (high / low) ** part if strip.log else low + (high - low) * part
            np.testing.assert_allclose(values, [row[strip.middle] for row in own.rows], atol=1e-9)


def test_norms_are_told_apart_by_the_part_of_their_layer():
    for name, half in (("smollm2", 30), ("minilm", 6), ("antiberty", 8), ("rxnmapper", 12), ("trained", 4)):
        paths = [row["path"] for row in shipped(name).rows]
        found = strips.parts(paths)
        assert found.count("attention") == found.count("MLP") == half and found.count("other") == 1
        for path, part in zip(paths, found, strict=True):
            if "output" in path or "full_layer" in path:  # for BERT and ALBERT, whose modules are named so
                assert ("attention" in path) == (part == "attention")
            elif "input_layernorm" in path or "ln_1" in path:
                assert part == "attention"
    heads = ["layers.0.input_norm", "layers.0.attn.q_norm", "layers.0.attn.k_norm", "layers.0.post_norm"]
    assert strips.parts(heads) == ["attention", "attention", "attention", "MLP"]
    assert strips.parts(["block.0.layer.0.norm", "block.0.layer.1.norm", "block.0.layer.2.norm"]) == 3 * [
        "other"
    ]


@pytest.mark.parametrize("which", SETS)
def test_titles_of_strips_keep_off_the_numbers_above_and_below_them(which):
    """The title of a strip is more than 16 pixels above or below the numbers at the ends of the strips.

    This is measured in a window of 1024 × 768, where the panel is 420 pixels high, and a text 15 pixels.
    """
    recipe = recipe_of(SCENE, strips=which)
    low, high = strips.ranges(len(SETS[which]))[1]
    cloud = recipe.cloud("titles")
    heights = {text: y for text, (_, y) in zip(cloud.labels, cloud.points, strict=True)}
    titles = [heights[each.title] for each in SETS[which]] + [heights["layer"]]
    numbers = [y for (_, y), text in zip(cloud.points, cloud.labels, strict=True) if text[0].isdigit()]
    gaps = np.abs(np.subtract.outer(titles, numbers)) * 420 / (high - low)
    assert gaps.min() > 16


def test_ticks_are_round_and_few():
    for low, high in ((0.0, 1.0), (0.0, 0.97), (0.0, 434.0), (0.0, 17.8), (0.0, 1e-7)):
        found = strips.ticks(low, high, log=False)
        assert 2 <= len(found) <= strips.MAX_TICKS + 1 and found[0] == 0 and found[-1] <= high * 1.0001
    assert strips.ticks(0.5, 2000, log=True) == [1, 10, 100, 1000]
    assert strips.ticks(2, 8, log=True) == [2, 8]
    assert len(strips.ticks(1e-12, 1, log=True)) <= strips.MAX_TICKS + 1


def test_numbers_of_strips_are_short():
    values = (0, 1e-4, 1.234e-4, 3e-6, 0.0011, 0.973, 12345)
    texts = [strips.number(value, percent=False) for value in values]
    assert texts == ["0", "10⁻⁴", "1.23·10⁻⁴", "3·10⁻⁶", "0.0011", "0.973", "12,345"]


def test_massive_vectors_can_be_left_out_of_the_picture():
    k = max(range(61), key=lambda k: shipped("smollm2").rows[k]["longest"])
    row, norm = shipped("smollm2").rows[k], shipped("smollm2").norms[k]
    few = massive(norm, row)
    assert few.sum() == row["massive"] > 0, "all massive vectors are in the picture"
    shown, out = (recipe_of(SCENE, norm=k + 1, massive=each) for each in ("shown", "out"))
    assert f"{row['massive']} massive vectors squeeze" in shown.views[0].title
    assert f"without {row['massive']} massive vectors" in out.views[0].title
    assert len(shown.cloud("vectors").points) - len(out.cloud("vectors").points) == row["massive"]
    size = [np.linalg.norm(each.cloud("vectors").points[:, :3], axis=1) for each in (shown, out)]
    assert np.median(size[0]) < 0.05 * size[0].max() and np.median(size[1]) > 0.3 * size[1].max()


@pytest.mark.parametrize("colour", ["position", "kind", "length", "token"])
def test_every_vector_has_a_colour(colour):
    recipe = recipe_of(SCENE, recording="minilm", colour=colour)
    marks = [
        mark for mark in recipe.views[0].layers if mark.cloud == "vectors" and getattr(mark, "hand", None)
    ]
    if colour != "kind":
        (mark,) = marks
        assert len(mark.color.of) == len(recipe.cloud("vectors").points)
        return
    only = np.concatenate([mark.only for mark in marks])
    assert sorted(only) == list(range(len(recipe.cloud("vectors").points)))
    titles = {mark.title: [recipe.cloud("vectors").labels[i] for i in mark.only] for mark in marks}
    assert all("at position 0" in label for label in titles["first position"])
    assert all("[SEP]" in label for label in titles["special token"])
    assert any("','" in label for label in titles["punctuation or space"])


def test_the_overview_has_the_rows_of_the_report():
    own, [found] = shipped("smollm2"), recipe_of(SCENE).overviews
    lines = table(own.rows).splitlines()
    headings, report = lines[:-61], lines[-61:]
    assert len(found.rows) == 61 and headings[-1].startswith("norm ")
    for column in found.columns[1:]:
        pieces = wrap(column, MAX_HEADING_CHARACTERS)
        assert all(each in line for each, line in zip(pieces, headings[-len(pieces) :], strict=True))
    for k, (cells, line) in enumerate(zip(found.rows, report, strict=True), 1):
        assert cells[0] == f"{k}: {own.rows[k - 1]['path']}"
        assert line.split()[1:] == " ".join(cells[1:]).split()
    assert len(found.abouts) == len(found.columns) and all(found.abouts)
    assert own.notice in found.lines


@pytest.mark.parametrize("name", ATLAS)
def test_the_atlas_is_small_and_names_its_sources(name):
    assert (FOLDER / f"norms_{name}.safetensors").stat().st_size <= 400_000
    notice = shipped(name).notice
    assert all(word in notice for word in ("Model: ", "package ", "Text: "))
    assert re.search("MIT|Apache", notice)


def test_all_numbers_are_in_the_table_of_both():
    facts = recipe_of(SCENE, recording="trained", norm=3, beside="start").facts
    assert facts.rows[len(verdict(shipped().rows))] == ["norm", "h.1.ln_1", "h.1.ln_1"]
    assert {len(row) for row in facts.rows} == {3}
    assert sum(row[0].endswith("?") for row in facts.rows) == 7
    assert len(facts.abouts) == len(facts.rows) and all(facts.abouts), "what each is"


# --- what the text says


def the_model():
    shape, _ = language()
    assert shape.layers == 4 and shape.width == 4
    assert {len(shipped(name).rows) for name in ARMS} == {9}


def four_models():
    assert [name for name in SHIPPED if name not in ARMS] == list(ATLAS) and len(ATLAS) == 4

    assert "135M" in shipped("smollm2").name and {row["kind"] for row in shipped("smollm2").rows} == {
        "RMSNorm"
    }


def halves():
    for name in ATLAS:
        paths = [row["path"] for row in shipped(name).rows]
        kinds = [part for part in strips.parts(paths) if part != "other"]
        assert kinds == ["attention", "MLP"] * (len(kinds) // 2)


def from_0():
    cloud = recipe_of(SCENE, recording="minilm").cloud("vectors")
    norm = shipped("minilm").norms[0]
    for label, position in zip(cloud.labels, norm.position, strict=True):
        assert label.endswith(f" at position {position}")
    assert norm.position.min() == 0


def named(recording, path):
    """The row of the norm at `path` in the statistics of a shipped recording, and the row's index."""
    return next((row, k) for k, row in enumerate(shipped(recording).rows) if row["path"] == path)


def layer_12():
    """Claim: the norm before attention in layer 12 of SmolLM2 gets four massive vectors.

    The numbers that the text says of them are compared with the recorded vectors and with the table of
    statistics.
    """
    row, k = named("smollm2", "layers.12.input_layernorm")
    before, after = (shipped("smollm2").rows[k + step] for step in (-1, 1))
    assert before["massive"] == 0 and row["massive"] == after["massive"] == 4 and row["vectors"] == 2000
    norm = shipped("smollm2").norms[k]
    few = massive(norm, row)
    assert few.sum() == 4 and set(norm.position[few]) == {0}
    said(np.linalg.norm(norm.points[few].astype(float), axis=1).max() / row["size"], "196")
    assert row["top_dimension"] == 507
    said(100 * row["top_energy"], "97.3")
    said(100 * row["top_energy_rest"], "20.9")
    assert row["outlier_writer"] == "layers.11.mlp.down_proj"
    said(100 * row["outlier_written"], "99.8")
    said(row["rank"], "375")
    said(row["rank_all"], "63")
    assert abs(row["rank"] - before["rank"]) < 20
    for title, progress in (
        ("Four massive vectors", 0),
        ("Without the massive vectors", 0),
        ("On the sphere", 1),
    ):
        at = stop("model", title)
        assert at.choices["norm"] == k + 1 and at.progress == progress
    lines = " ".join(stop("model", "Four massive vectors").recipe.overviews[0].lines)
    assert (
        "layer 12" in lines
        and "Dimension 507" in lines
        and "'Normal', ' rightly', ' the' at position 0" in lines
    )


def until_layer_29():
    runs = [run for run in strips.massive_runs(shipped("smollm2").rows) if run.dimension == 507]
    paths = [row["path"] for row in shipped("smollm2").rows]
    assert [paths[run.first] for run in runs][-1] == "layers.12.input_layernorm"
    assert paths[runs[-1].last + 1] == "layers.29.input_layernorm"
    row, _ = named("smollm2", "layers.29.input_layernorm")
    assert row["massive"] == 3 and row["top_dimension"] != 507
    said(row["longest"], "14")


def just_massive():
    """Before layer 12, exactly the eight norms of layers 3 to 6 have massive vectors.

    No norm has more than 6 massive vectors. The longest of all has 13 times the median length.
    """
    rows = shipped("smollm2").rows[: named("smollm2", "layers.12.input_layernorm")[1]]
    early = [row for row in rows if row["massive"]]
    assert {row["path"].split(".")[1] for row in early} == set("3456") and len(early) == 2 * 4
    assert max(row["massive"] for row in early) == 6
    said(max(row["longest"] for row in early), "13")


def keys_taken():
    assert MAX_SAMPLED_KEYS == 60 and max(row["keys"] for name in SHIPPED for row in shipped(name).rows) == 60


def gains_at_507():
    """Claim: in all norms of SmolLM2's layers 12 to 26, coordinate 507 is the largest and has a small gain.

    The largest coordinate is the one with the largest sum of squares over the recorded vectors. Its gain is
    from 0.07 to 0.175 in norms before attention. In norms before the MLP it is below 0.001, and below 1 % of
    the mean gain.
    """
    rows = {row["path"]: row for row in shipped("smollm2").rows}
    for layer in range(12, 27):
        attention, mlp = (rows[f"layers.{layer}.{part}_layernorm"] for part in ("input", "post_attention"))
        assert attention["top_dimension"] == mlp["top_dimension"] == 507
        assert mlp["top_gain"] < min(0.001, 0.01 * mlp["gain"]) and 0.07 <= attention["top_gain"] < 0.175


def one_point():
    """After division, the massive vectors of four different tokens are nearly at one point of the sphere."""
    at = stop("model", "On the sphere").recipe
    sphere = at.cloud("vectors").stages({})[1]
    row, k = named("smollm2", "layers.12.input_layernorm")
    few = massive(shipped("smollm2").norms[k], row)
    spread = np.linalg.norm(sphere[few] - sphere[few].mean(0), axis=1).max()
    assert spread < 0.05 * np.linalg.norm(sphere, axis=1).max()
    assert len(set(shipped("smollm2").norms[k].token[few])) == 4


def no_shift():
    for norm in shipped("smollm2").norms:
        assert not norm.centres and not np.any(norm.shift)


def cls():
    for layer in range(6):
        row, _ = named("minilm", f"encoder.layer.{layer}.output.LayerNorm")
        assert ("[CLS]" in row["longest_at"]) == (layer < 4)
    row, k = named("minilm", "encoder.layer.0.output.LayerNorm")
    assert stop("model", "The first token of an encoder").choices["norm"] == k + 1
    said(row["longest"], "15")
    assert row["longest"] == max(each["longest"] for each in shipped("minilm").rows)
    assert row["longest_at"].startswith("'[CLS]' at 0")
    outputs = [named("minilm", f"encoder.layer.{layer}.output.LayerNorm")[0] for layer in range(6)]
    assert [layer for layer, row in enumerate(outputs) if row["massive"]] == [0, 2]
    norm = shipped("minilm").norms[k]
    assert {shipped("minilm").words[int(token)] for token in norm.token[massive(norm, row)]} == {"[CLS]"}


def switched_off():
    """Claim: MiniLM's last norm switches off the three coordinates with the largest sums of squares.

    Their gains are below 1e-8. They have 94.8 % of the sum of squares of all coordinates. No other norm of
    MiniLM makes as many directions flat.
    """
    rows = shipped("minilm").rows
    found = re.findall(r"\d+ \(([\d.]+)%, \|γ\| ([\d.e+-]+)\)", rows[-1]["top_dimensions"])
    assert len(found) == 3 and all(float(gain) < 1e-8 for _, gain in found)
    said(sum(float(share) for share, _ in found), "94.8")
    assert rows[-1]["flat"] > max(row["flat"] for row in rows[:-1])
    assert stop("model", "Dimensions that are switched off").choices["norm"] == len(rows)


def empty():
    first, *others = shipped("antiberty").rows
    assert max(row["share_d"] for row in others) < 0.015 < first["share_d"]
    said(chi2.median(1), "0.455")
    assert max(row["turn"] for row in others) < 0.305
    assert not any(row["massive"] for row in (first, *others))


def albert():
    _, *others = shipped("rxnmapper").rows
    attention = [row for row in others if "attention" in row["path"]]
    said(attention[0]["turn"], "1.1")
    said(attention[-1]["turn"], "0.3")
    at = stop("model", "One layer, called again and again").choices["norm"]
    assert attention[-1] is shipped("rxnmapper").rows[at - 1]
    assert len(attention) == 12 and len({row["gain"] for row in attention}) == 1
    assert not any(row["massive"] for row in others)


def after_attention():
    """In MiniLM's layers 0 to 3, the norm after attention has no input as long as 1.25 median lengths.

    The norm after the MLP has an input longer than 5 median lengths, in each of these layers. (Each norm has
    its own median.) LayerNorm's sphere has the radius √384.
    """
    own = shipped("minilm").rows
    at = stop("model", "After attention").choices["norm"]
    assert own[at - 1]["path"] == "encoder.layer.1.attention.output.LayerNorm"
    said(own[at - 1]["longest"], "1.2")
    for layer in range(4):
        attention, mlp = (
            named("minilm", f"encoder.layer.{layer}.{part}output.LayerNorm")[0] for part in ("attention.", "")
        )
        assert attention["longest"] < 1.25 and mlp["longest"] > 5
    sphere = recipe_of(SCENE, recording="minilm", norm=at - 1).cloud("vectors").stages({})[2]
    np.testing.assert_allclose(np.linalg.norm(sphere, axis=1), np.sqrt(384), rtol=SMALL)


def before_the_first():
    at = stop("model", "Before its first norm").choices["norm"]
    said(shipped("antiberty").rows[at - 1]["share_d"], "0.40")
    assert at == 1
    empty()


def no_massive():
    own = shipped("antiberty").rows
    at = stop("model", "No massive vector").choices["norm"]
    assert own[at - 1]["longest"] == max(row["longest"] for row in own) < 1.5
    assert own[at - 1]["path"] == "encoder.layer.6.output.LayerNorm"
    said(100 * max(row["top_energy"] for row in own), "1.7")


def one_gain():
    _, *others = shipped("rxnmapper").rows
    attention, mlp = others[::2], others[1::2]
    assert len(attention) == len(mlp) == 12
    for rows, words in ((attention, "0.74"), (mlp, "0.81")):
        (gain,) = {row["gain"] for row in rows}
        said(gain, words)


def longer_and_longer():
    mlp = shipped("rxnmapper").rows[2::2]
    said(mlp[0]["longest"], "2.0")
    said(mlp[-1]["longest"], "3.7")
    assert mlp[-1] is shipped("rxnmapper").rows[stop("model", "Longer in the end").choices["norm"] - 1]
    the_massive()


def first():
    """Vectors of one letter spread more than twice as far in height as along either axis of the plane.

    The spread is the standard deviation, averaged over the letters that occur at least ten times.
    """
    points = stop("model", "A toy: the input of the first norm").recipe.cloud("vectors").points
    assert len(points) == 600
    token = shipped().norms[0].token
    spread = np.mean(
        [points[token == each, :3].std(0) for each in np.unique(token) if (token == each).sum() > 9], 0
    )
    assert spread[2] > 2 * max(spread[:2]), spread


def height():
    at = stop("model", "Centring")
    assert at.progress == 1 and at.recipe.stages[1] == "centre"
    x = shipped().norms[0].points.astype(float)
    share = 100 * x[:, 2] ** 2 / (x**2).sum(1)
    said(np.median(share), "12")
    said(np.percentile(share, 95), "77")


def semi_axes():
    own = shipped().rows[0]
    said(own["axis_long"] / own["axis_short"], "1.5")


def before():
    assert all(row["gain"] == 1 and row["gain_spread"] == 0 for row in shipped("start").rows)
    assert all(np.isclose(row["axis_long"], row["axis_short"]) for row in shipped("start").rows)


def one_semi_axis():
    """If a norm's gains have different sizes, its longest and its shortest semi-axis are different.

    The exception is a norm that centres two coordinates: it has only one semi-axis.
    """
    gamma = np.array([1.0, 3.0, -2.0], dtype=np.float32)
    for d, kind, equal in ((2, "layer_norm", True), (3, "layer_norm", False), (2, "rms_norm", False)):
        (row,) = digest(norms.recording(norms.norm(kind=kind, n=30, d=d, gamma=gamma[:d]))).rows
        assert np.isclose(row["axis_short"], row["axis_long"]) == equal
        assert row["gain_spread"] > 0


def flat_directions():
    """With d = 8, LayerNorm has one flat direction; RMSNorm has one if a gain is 0.009 and the rest are 1."""
    for kind, least, count in (
        ("layer_norm", 1, 1),
        ("rms_norm", 1, 0),
        ("rms_norm", 0.009, 1),
        ("rms_norm", 0.011, 0),
    ):
        gamma = np.ones(8, dtype=np.float32)
        gamma[0] = least
        assert row(norms.norm(kind=kind, n=30, d=8, gamma=gamma))["flat"] == count
    assert min(each["flat"] for each in shipped().rows) == 1


def turned():
    found = {each.name: each for each in verdict(shipped().rows)}
    assert found["folds"].value == 1  # the centring of every norm can be folded into the weights before it
    assert 20 < min(row["turn_high"] for row in shipped().rows) < 25
    said(found["turn_median"].value, "15")


def the_axes():
    """𝟏 is upright, and the other two axes are the directions of the hyperplane with the largest spread.

    This holds even if an RMSNorm's outputs spread most along 𝟏.
    """
    (points,) = {
        mark.rows
        for mark in recipe_of(SCENE, recording="trained").views[0].layers
        if mark.cloud == "vectors" and mark.rows
    }
    axes = np.array([row.weights for row in points])
    np.testing.assert_array_equal(axes, np.eye(3, axes.shape[1]))
    centred = recipe_of(SCENE, recording="trained").cloud("vectors").stages({})[1]
    np.testing.assert_allclose(centred[:, 2], 0, atol=SMALL)
    rng, up = np.random.default_rng(0), np.full(8, 1 / np.sqrt(8))
    x = np.outer(3 * rng.choice([-1, 1], 500), np.ones(8)) + rng.normal(size=(500, 8)) * np.arange(1, 9) / 9
    u = rms_norm(x, eps=EPS)
    first, *_ = np.linalg.svd(u - u.mean(0), full_matrices=False)[2]
    assert abs(first @ up) > 0.9, "an RMSNorm's may spread most along 1"
    two = np.linalg.svd(center(u - u.mean(0)), full_matrices=False)[2][:2]
    np.testing.assert_allclose(np.abs(np.sum(two * widest(u, up), axis=1)), 1, atol=SMALL)


def the_strips():
    """All numbers are within their strips (if logarithmic: positive numbers); linear strips start at 0."""
    for name in SHIPPED:
        for strip in (strip for every in SETS.values() for strip in every):
            rows = shipped(name).rows
            every = [row[part] for row in rows for part in (strip.middle, *strip.around)]
            low, high = scale(strip, [shipped(name)])
            assert low <= min(each for each in every if each > 0 or not strip.log) and high >= max(every)
            assert low == 0 or strip.log
    assert all(" (dotted: " in strip.title for every in SETS.values() for strip in every if strip.around)


def by_kind():
    """The drawn divisor is the standard deviation, or for an RMSNorm the root mean square.

    Of a GroupNorm, only the first group is drawn.
    """
    for kind, divisor in (
        ("layer_norm", lambda x: x.std(1)),
        ("rms_norm", lambda x: np.sqrt((x**2).mean(1))),
        ("group_norm", lambda x: x[:, :4].std(1)),
    ):
        one = norms.norm(kind=kind, n=30, d=8, groups=2 if kind == "group_norm" else 1, mean=2)
        found = digest(norms.recording(one))
        np.testing.assert_allclose(deviation(found.norms[0]), divisor(one.x), rtol=SMALL)
        assert found.norms[0].d == (4 if kind == "group_norm" else 8)
        recipe = build(CHOICES, found)
        np.testing.assert_allclose(recipe.cloud("numbers").points[:, 1], divisor(one.x), rtol=SMALL)
        np.testing.assert_allclose(
            found.rows[0]["size"], np.median(np.linalg.norm(one.x, axis=1)), rtol=SMALL
        )


def the_lines():
    """The program in the text has four lines."""
    source = (Path(components.scenes.__path__[0]) / "model" / "text.md").read_text("utf-8")
    program = next(part for part in source.split("```") if part.startswith("python"))
    assert len([line for line in program.splitlines()[1:] if line]) == 4


def the_massive():
    """A vector of 9.9 median lengths does not count as massive, one of 10.1 does.

    The effective rank is computed without massive vectors.
    """
    x = np.random.default_rng(0).normal(size=(101, 8))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for length, count in ((9.9, 0), (10.1, 1)):
        one = norms.norm(n=101, d=8, x=np.vstack([length * x[:1], x[1:]]).astype(np.float32))
        found = row(one)
        assert found["massive"] == count
        assert found["rank"] == pytest.approx(effective_rank(center(one.x[count:].astype(float))))


def the_turn():
    """The table's `turn` is, to 10 %, the median angle between a norm's outputs with and without centring."""
    blocks, weights = stream()
    x = blocks[0].stream.reshape(-1, 4)
    gamma, beta = (weights[f"h.0.ln_1.{part}"] for part in ("weight", "bias"))
    a, b = (gamma * norm(x, eps=EPS) + beta for norm in (layer_norm, rms_norm))
    angle = np.degrees(np.arccos((a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)))
    assert np.median(angle) == pytest.approx(shipped().rows[0]["turn"], rel=0.1)
    assert np.abs(center(x).sum(1)).max() < SMALL


def the_rank():
    blocks, _ = stream()
    x = center(blocks[0].stream.reshape(-1, 4))
    s = np.linalg.svd(x - x.mean(0), compute_uv=False)[:3]
    p = s / s.sum()
    rank = np.exp(-(p * np.log(p)).sum())
    assert effective_rank(x) == pytest.approx(rank)
    assert shipped().rows[0]["rank"] == pytest.approx(rank, rel=0.05)
    assert effective_rank(x + np.array([9, 9, 9, -27])) == pytest.approx(rank)


CLAIMS = {
    "If a norm has only two coordinates and centres, its ellipsoid has a single semi-axis, which says nothing about this.": one_semi_axis,
    "all $|\\gamma_i|$ are equal. If a norm has only two coordinates and centres": one_semi_axis,
    "Each strip begins at 0, except the logarithmic ones, which begin at their lowest value.": the_strips,
    "The picture has three axes: $𝟏$, the vector of ones, points up; the other two are at right angles to it, and the normalised vectors spread most along them.": the_axes,
    r"divides by the standard deviation $\sigma$; an RMSNorm divides by the root mean square.": by_kind,
    "For a GroupNorm, the picture and the numbers below it show the first group only; the strips cover all groups.": by_kind,
    "A direction is *flat* if centring removes it, or if its semi-axis is below 1 % of the longest. So a norm that centres has at least one flat direction.": flat_directions,
    r"So six coordinates are stored. They determine one part of $x$: its projection onto the space that the vectors $v$ and $\gamma \odot v$ span. The division itself needs the length of $x$. For this, the length of the other part of $x$ is stored as one more number.": the_axes,
    r"Before the division, the coordinates along the three directions $v$ of the picture are enough. The stages after the gain also need the coordinates along the three vectors $\gamma \odot v$,": the_axes,
    "To record your own model takes four lines": the_lines,
    "Four trained models and a toy model": four_models,
    "What four trained models do **SmolLM2-135M-Instruct, a language model with RMSNorm.**": four_models,
    "the first and the second half of a layer": halves,
    "A vector is named by its token and its position in the sequence, from 0.": from_0,
    "but the centring changes little: the vectors have almost nothing along $𝟏$, much less than random vectors.": empty,
    "In layers 3 to 6 a few vectors are massive, but only just: the longest is 13 times as long as the median. In layers 7 to 11 there are none.": just_massive,
    "In layer 12 the four vectors at position 0, of 2,000 in all, become up to 196 times as long as the median. Dimension 507 holds 97.3 % of all energy in this layer; without these four vectors it holds 20.9 %. The MLP of layer 11 brings this energy: it writes 99.8 % of coordinate 507 of the longest vector.": layer_12,
    "In layer 29 three vectors are still up to 14 times as long as the median, but dimension 507 no longer holds the most energy.": until_layer_29,
    "In layers 12 to 26 the gains of the MLP's norms multiply this dimension by less than 0.001, so hardly anything of it reaches the MLP. The gains of attention's norms multiply it by 0.07 to 0.17.": gains_at_507,
    "in layer 12 their effective rank (see “The numbers” below) is 375. Together with the four massive vectors it would be 63, because": layer_12,
    "After the MLPs of layers 0 to 3 the longest vectors are those of [CLS], at position 0. After layers 0 and 2 they are massive, up to 15 times as long as the median. Three dimensions hold": cls,
    "Three dimensions hold 94.8 % of the energy before the last norm, and the gain of that norm is below $10^{-8}$ in these dimensions": switched_off,
    "In every norm but the first it is below 0.015. For random vectors it is 0.455, the median of the square of a standard Gaussian number. So centring turns a typical output by 0.3° at most in these norms.": empty,
    "It calls one layer 12 times, so all calls share one $\\gamma$ for attention and one for the MLP": albert,
    "### Four massive vectors In layer 12 of SmolLM2, four vectors are far from all others, which look like one point. All four are at position 0. The uppermost strip shows that they jump to this length from one layer to the next, and a line beside the picture names their dimension: 507.": layer_12,
    "The same norm without the four. The others spread in about 375 directions": layer_12,
    "Where do the four massive vectors lie now?": one_point,
    "Nearly all of their length is in dimension 507, and on the sphere they lie nearly in one point, though their tokens differ.": one_point,
    "The RMSNorms of SmolLM2 have no shift, so this stage moves nothing there.": no_shift,
    "After the MLP of layer 0 they are up to 15 times as long as the median.": cls,
    "its gain is practically 0 in the three dimensions that hold most of the energy.": switched_off,
    "ALBERT calls the same layer 12 times. At the norm of attention centring turns a typical output by 1.1° at the "
    "first call, and by 0.3° at the last, the one shown here.": albert,
    "the longest is 1.2 times as long as the median. The LayerNorm in between has brought all vectors to one sphere before its gain. "
    "This repeats in layers 1 to 3.": after_attention,
    "### Before its first norm The embeddings still have a part along $𝟏$: its median share of the energy, multiplied by $d$, is 0.40 (0.455 for random vectors). At all later norms it is far smaller.": before_the_first,
    "is a vector longer than 1.5 times the median. The vector that comes nearest to that is at the norm shown, in layer 6. At no norm does a dimension hold more than 1.7 % of the energy.": no_massive,
    "have only two heights, apart from the first norm: the mean of $|\\gamma|$ is 0.74 for attention and 0.81 for the MLP, in "
    "all 12 calls. The layer has one": one_gain,
    "the longest vector is 2.0 times as long as the median at the first call and 3.7 times at the last, the one shown here. "
    "That is not massive: ten times would be.": longer_and_longer,
    "The small language model of this site has four layers, and vectors of four numbers. These are 600 input vectors": first,
    "so that every vector falls onto the hyperplane $\\sum x = 0$": the_turn,
    "At most 60 vectors of a norm are taken for keys": keys_taken,
    "The turn is the angle between the outputs with and without centring": the_turn,
    "more than ten times as long as the median": the_massive,
    "has four layers, and vectors of four numbers": the_model,
    "Vectors of equal letters stand above each other.": first,
    "The median is 12 %. But some vectors lean towards $𝟏$: 5 of 100 lose more than 77 %.": height,
    "- * about a tenth - about a half - nearly all": height,
    "Its longest semi-axis is 1.5 times the shortest.": semi_axes,
    "Every gain was 1, so all semi-axes were equal.": before,
    "in every norm at least 5 of 100 outputs turn by 20° or more. The typical output turns by 15° (median "
    "over the norms).": turned,
    r"Each vector loses its own mean $\mu$, then the mean of all vectors is subtracted": the_rank,
    "This model has only 4 directions, and centring takes one of them": the_model,
}


def test_runs_of_massive_vectors_are_labelled_where_there_is_room():
    def labels(name):
        return list(recipe_of(SCENE, recording=name).cloud("massive names").labels)

    assert labels("smollm2") == ["dimension 507: layers 12 to 28", "507", "17"]
    assert labels("minilm") == ["dimension 99: layer 0", "99"]
    rows = [
        {"path": f"h.{k}.norm", "massive": k in (1, 2, 4), "top_dimension": k // 3, "longest": 9.0}
        for k in range(30)
    ]
    _, (cloud, _) = brackets(SimpleNamespace(rows=rows), (1.0, 10.0))
    assert list(cloud.labels) == ["dimension 0: layers 1 to 2"]


@pytest.mark.parametrize("name", ["smollm2", "minilm"])
def test_the_label_of_a_run_stands_on_no_norm_in_a_narrow_view(name):
    recipe = recipe_of(SCENE, recording=name)
    labels, norms = recipe.cloud("massive names"), recipe.cloud("solid 0").points
    for (x, y), text in zip(labels.points, labels.labels, strict=True):
        wide = np.abs(norms[:, 0] - x) < strips.LARGEST_CHARACTER_WIDTH * len(text) / 2
        assert not (wide & (np.abs(norms[:, 1] - y) < strips.BRACKET)).any()


@pytest.mark.parametrize("norm, other", [(1, 0), (31, 6), (61, 12)])
def test_the_second_recording_has_a_picture_of_its_norm_at_the_same_depth(norm, other):
    """If SmolLM2 is compared with MiniLM, MiniLM's norm at the same relative depth is drawn beside SmolLM2's.

    SmolLM2 has 61 norms and MiniLM 13. The picture of MiniLM's norm is the same as without the comparison.
    SmolLM2's RMSNorms also have the stage “centre”, at which their vectors do not move.
    """
    recipe = recipe_of(SCENE, recording="smollm2", beside="minilm", norm=norm)
    alone = recipe_of(SCENE, recording="minilm", norm=other + 1)
    assert [view.name for view in recipe.views] == ["space", "depth", "beside"]
    assert f"norm {other + 1} of 13" in recipe.views[2].title
    assert recipe.stages == alone.stages == ("x", "centre", "sphere", "⊙ γ", "+ β")
    shown, expected = (each.stages({}) for each in (recipe.cloud("vectors beside"), alone.cloud("vectors")))
    for one, two in zip(shown, expected, strict=True):
        np.testing.assert_array_equal(one, two)
    rest, centred, *_ = recipe.cloud("vectors").stages({})
    np.testing.assert_array_equal(rest, centred)  # an RMSNorm does not centre


@pytest.mark.parametrize("kind, shift", [("rms_norm", 0), ("rms_norm", 1), ("layer_norm", 0)])
def test_the_formula_has_a_shift_if_the_recorded_norm_can_have_one(kind, shift):
    """A LayerNorm's formula always has β, an RMSNorm's only if the recorded shift is not 0.

    A LayerNorm's shift is 0 before training. The stage “+ β” always stays, because links count stages.
    """
    norm = replace(norms.norm(kind=kind, n=30), beta=np.full(6, float(shift)))
    recipe = build({each.name: each.default for each in SCENE.choices}, digest(norms.recording(norm)))
    assert (r"\beta" in recipe.formula) == (kind == "layer_norm" or shift == 1)
    assert recipe.stages[-1] == "+ β"


@pytest.mark.parametrize("name", ["mine", "x" * 60, ""])
def test_two_recordings_of_one_name_are_told_apart(name):
    one = digest(replace(norms.recording(norms.norm("a", n=30)), name=name))
    recipe = build({each.name: each.default for each in SCENE.choices}, one, one)
    first, second = recipe.facts.columns[1:]
    assert second == f"{first[:31]} (second)" and len(second) <= 40
    assert second in recipe.views[2].title and recipe.overviews[1].title == f"All norms of {second}"


def test_a_position_is_in_a_sequence_only_if_tokens_are_known():
    for token, place in ((3, "sequence"), (-1, "input")):
        found = digest(norms.recording(norms.norm(token=np.full(9, token))))
        assert vector_color(found.norms[0], found.rows[0], "position").title == f"position in the {place}"


def test_each_of_two_recordings_has_its_table_as_csv():
    recipe = recipe_of(SCENE, recording="smollm2", beside="minilm")
    for found, name, choice in zip(recipe.overviews, ("smollm2", "minilm"), ("norm", ""), strict=True):
        rows = list(csv.DictReader(io.StringIO(found.csv)))
        assert len(found.rows) == len(rows) and found.choice == choice
        assert found.file.startswith("normscape-") and name in found.file and found.file.endswith(".csv")
        for line, measured in zip(rows, shipped(name).rows, strict=True):
            assert float(line["longest"]) == measured["longest"] and line["path"] == measured["path"]


def test_the_lines_beside_the_picture_count_kinds_and_name_what_folds():
    one = norms.norm("layers.0.a", n=30)
    both = digest(norms.recording(one, norms.norm("layers.0.b", "rms_norm", n=30), norms.norm("c", n=30)))
    assert (
        summary(both)[0] == "a model: 2 LayerNorms and 1 RMSNorm in 1 layer, of vectors with 6 coordinates."
    )
    plain = digest(norms.recording(norms.norm(kind="rms_norm", n=30)))
    lines = summary(plain)
    assert lines[3] == (
        "Folding: no norm centres; normscape convert folds γ into the weights after it, where exact."
    )
    even = replace(plain, rows=[{**plain.rows[0], "turn_scaled": 0.999, "longest": 1.0}])
    assert (
        summary(even)[1] == "Massive vectors: none. The longest is about as long as the median of its norm."
    )
    assert summary(even)[2].endswith("This is about the turn of random vectors.")
    few = summary(digest(norms.recording(norms.norm(n=5))))
    assert few[2].startswith("No verdict: the norms have at most 5 vectors")
