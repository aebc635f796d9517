import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from components.drawing.figure import figure
from components.language.cloud import Cloud, Row, rows
from components.language.finish import finished
from components.language.marks import Followed, Labels, Points, Trail
from components.language.packing import pack, packed
from components.language.recipe import Recipe, Residual, View
from geometry import Affine, Entries, Normalize, Pipeline, Pointwise, Track
from geometry.distributions import best_threshold, histogram
from tests.components.recipes import FADE, fresh, recipe

EXACT = 1e-12  # tolerance for the same formula in another order
PARAMS = {"gain": 2.0, "eps": 0.5}


def unpacked(packed):
    kinds = {"f2": "<f2", "f4": "<f4", "f8": "<f8", "i4": "<i4"}
    return np.frombuffer(base64.b64decode(packed["bdata"]), kinds[packed["dtype"]]).reshape(packed["shape"])


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f8", "<i4", "<i8", ">i2"])
@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (1,)])
def test_pack_keeps_numbers_and_shape(dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    np.testing.assert_array_equal(unpacked(pack(x)), x)
    assert pack(x)["dtype"] == {"f4": "f2", "f8": "f8", "i4": "i4", "i8": "i4", "i2": "i4"}[dtype[1:]]


@pytest.mark.parametrize("other", [0.1, 2049, 65520, 1e30, 2.0**-25, np.inf, np.nan])
def test_only_what_half_precision_has_travels_in_it(other):
    x = np.array([1, 0.5, 65504, -(2.0**-24), 0], np.float32)
    assert pack(x)["dtype"] == "f2" and pack(np.append(x, np.float32(other)))["dtype"] == "f4"
    np.testing.assert_array_equal(unpacked(pack(np.append(x, np.float32(other))))[:5], x)


def test_pack_takes_transposed_arrays():
    x = np.arange(6.0).reshape(2, 3).T
    np.testing.assert_array_equal(unpacked(pack(x)), x)


@pytest.mark.parametrize("d", [2, 3])
def test_json_is_plain_data(d):
    data = json.loads(json.dumps(packed(recipe(d)), allow_nan=False))
    assert [c["name"] for c in data["clouds"]] == [c.name for c in recipe(d).clouds]
    assert data["clouds"][0]["points"]["dtype"] == "f4"
    assert [p["name"] for p in data["parameters"]] == ["gain", "eps"]


def test_json_holds_every_part_of_a_step():
    track = Track([0, 1], np.ones((2, 3, 3), np.float32))
    steps = (
        Affine(Entries(np.eye(3), {"a": np.ones((3, 3))}, {"t": track}), [1, 2, 3]),
        Normalize(2.0, 0.5, [(0, 2), (1,)], "std"),
        Pointwise("gelu"),
    )
    cloud = Cloud("x", np.ones((1, 3)), Pipeline(steps), Pipeline(steps[2:]))
    sent = json.loads(json.dumps(packed(cloud)))
    affine, normalize, pointwise = sent["steps"]
    assert sent["place"] == [pointwise]
    np.testing.assert_array_equal(unpacked(affine["A"]["base"]), np.eye(3))
    np.testing.assert_array_equal(unpacked(affine["A"]["terms"]["a"]), np.ones((3, 3)))
    assert affine["A"]["tracks"]["t"]["values"]["dtype"] == "f2"
    np.testing.assert_array_equal(unpacked(affine["A"]["tracks"]["t"]["at"]), [0, 1])
    np.testing.assert_array_equal(unpacked(affine["b"]["base"]), [1, 2, 3])
    assert (normalize["groups"], normalize["convention"]) == ([[0, 2], [1]], "std")
    assert unpacked(normalize["radius"]["base"]) == 2 and unpacked(normalize["eps"]["base"]) == 0.5
    assert pointwise == {"kind": "pointwise", "function": "gelu"}


def test_stages_begin_after_place():
    shift = Affine(np.eye(2), Entries(np.zeros(2), {"m": np.ones(2)}))
    cloud = Cloud("x", np.array([[3.0, 4.0]]), Pipeline((Normalize(),)), Pipeline((shift,)))
    first, second = cloud.stages({"m": 0.0})
    np.testing.assert_allclose((first, second), [[[3, 4]], [[0.6, 0.8]]], rtol=EXACT)
    np.testing.assert_array_equal(cloud.stages({"m": 1.0})[0], [[4, 5]])


def test_a_cloud_with_fewer_steps_rests_at_its_last_stage():
    small = recipe(3)
    names = small.cloud("names")
    np.testing.assert_array_equal(small.positions(PARAMS, 1.7)["names"], names.points)
    np.testing.assert_array_equal(small.positions(PARAMS, 2)["x"], small.cloud("x").stages(PARAMS)[-1])


@pytest.mark.parametrize(
    ("progress", "want"), [(0, 1), (0.5, 0.75), (1, 0.5), (1.5, 0.375), (2, 0.25), (9, 0.25)]
)
def test_opacity_is_linear_between_stages(progress, want):
    layer = Points("x", "input", (), fade=FADE)
    assert layer.opacity_at(progress) == pytest.approx(want, rel=EXACT)
    assert replace(layer, opacity=0.5).opacity_at(progress) == pytest.approx(want / 2, rel=EXACT)
    assert replace(layer, fade=None, opacity=0.5).opacity_at(progress) == 0.5


def test_labels_are_never_written_over_those_that_they_replace():
    old, new = (Labels("x", "input", (), fade=fade) for fade in ([1, 0.2], [0.2, 1]))
    shown = [(old.opacity_at(progress), new.opacity_at(progress)) for progress in (0, 0.25, 0.5, 0.75, 1, 7)]
    wanted = [(1, 0.2), (0.6, 0.2), (0.2, 0.2), (0.2, 0.6), (0.2, 1), (0.2, 1)]
    np.testing.assert_allclose(shown, wanted, rtol=EXACT)
    assert Labels("x", "input", (), fade=[1, 1]).opacity_at(0.5) == 1
    assert Labels("x", "input", (), opacity=0.5).opacity_at(0.5) == 0.5


def test_rows_are_the_projection():
    small, show = recipe(3), rows([[1, 2, 3], [0, 0, 1]])
    x = small.positions(PARAMS, 0.5)["x"]
    got = Points("x", "input", show).points(small.moment(PARAMS, 0.5))
    np.testing.assert_allclose(got, x @ np.array([[1, 2, 3], [0, 0, 1]]).T, atol=EXACT)


def test_a_row_may_rest_at_a_stage_and_have_an_offset():
    """The rows of one mark may take a point at different stages, with or without an offset.

    A stage beyond the last one means the last.
    """
    small = recipe(3)
    first, _, last = small.cloud("x").stages(PARAMS)
    axes = (Row((1, 0, 0), stage=0), Row((1, 0, 0), stage=9, offset=2.0), Row((1, 0, 0, 7)))
    got = Points("x", "input", axes).points(small.moment(PARAMS, 1))
    np.testing.assert_allclose(got[:, 0], first[:, 0], atol=EXACT)
    np.testing.assert_allclose(got[:, 1], last[:, 0] + 2, atol=EXACT)


def test_only_and_followed():
    small, layer = recipe(3), Points("x", "input", rows(np.eye(3)))
    x = layer.points(small.moment(PARAMS, 1))
    some = replace(layer, only=[3, 0]).points(small.moment(PARAMS, 1))
    np.testing.assert_array_equal(some, x[[3, 0]])
    for followed, index in ((4, 4), (99, 19)):
        one = replace(layer, only=Followed()).points(small.moment(PARAMS, 1, followed=followed))
        np.testing.assert_array_equal(one, x[[index]])


def test_a_trail_goes_as_far_as_the_point():
    small, layer = recipe(3), Trail("x", "trail", rows(np.eye(3)), only=[2])
    first, second, _ = (s[2] for s in small.cloud("x").stages(PARAMS))
    here = small.positions(PARAMS, 1.5)["x"][2]
    np.testing.assert_allclose(layer.points(small.moment(PARAMS, 1.5)), [first, second, here, [np.nan] * 3])
    assert len(replace(layer, only=None).points(small.moment(PARAMS, 0))) == 20 * 4


def test_histogram_counts_what_is_outside_in_the_outermost_bins():
    got = histogram(np.array([-9, 0.1, 0.6, 0.9, 1.0, 9]), (0, 1), 2)
    assert got.tolist() == [[0, 0], [0, 2], [0.5, 2], [0.5, 4], [1, 4], [1, 0]]


@pytest.mark.parametrize(
    ("values", "classes", "want"),
    [
        ([0, 1, 2, 3], [0, 0, 1, 1], (1.5, 1)),
        ([3, 2, 1, 0], [0, 0, 1, 1], (1.5, 1)),
        ([0, 1, 2, 3], [0, 1, 0, 1], (0.5, 0.75)),
        ([2, 2, 2], [0, 1, 1], (2, 2 / 3)),
        ([5], [1], (5, 1)),
    ],
)
def test_best_threshold(values, classes, want):
    assert best_threshold(np.array(values, float), np.array(classes)) == pytest.approx(want, rel=EXACT)


def test_a_recipe_is_plain_data_until_it_is_finished():
    """Making a recipe neither checks it nor computes ranges of axes.

    `finished` does both. It returns another recipe, and leaves its argument unchanged.
    """
    points, show = Cloud("x", np.array([[0.0, 1.0], [2.0, 3.0]])), rows(np.eye(2))
    views = (View("v", "", (Points("x", "input", show),), dims=2),)
    made = Recipe(("one",), (), (points,), views)
    assert made.views is views and made.clouds[0] is points
    assert finished(made).views[0].ranges and not made.views[0].ranges
    wrong = replace(made, follow=9)
    with pytest.raises(ValueError, match="there is no point 9"):
        finished(wrong)


def test_a_finished_recipe_is_finished():
    once = finished(fresh(3))
    assert json.dumps(packed(once)) == json.dumps(packed(finished(once)))


def test_readouts_travel():
    small = replace(recipe(3), readouts=(Residual("far", "x", "x"),))
    [sent] = json.loads(json.dumps(packed(small)))["readouts"]
    assert sent["kind"] == "residual" and sent["label"] == "far"


def test_a_figure_runs_each_pipeline_once(monkeypatch):
    """A pipeline runs once for a figure, however many marks show its cloud.

    A figure at another progress reuses the result. For other parameters the pipeline runs again.
    """
    runs, stages = [], Pipeline.stages

    def counted(self, x, params=None):
        runs.append((id(self), id(x), str(params)))
        return stages(self, x, params)

    monkeypatch.setattr(Pipeline, "stages", counted)
    small = fresh(3)
    figure(small, {"gain": 2.0}, 1.5)
    seen = len(runs)
    assert seen == len(set(runs)) >= 2 * len(small.clouds), "the place and the pipeline of each"
    figure(small, {"gain": 2.0}, 0.5)
    assert len(runs) == seen
    again, new = (figure(r, {"gain": -1.0}, 1.5).to_json() for r in (small, fresh(3)))
    assert again == new != figure(small, {"gain": 2.0}, 1.5).to_json()


@pytest.mark.parametrize("progress", [0, 0.3, 1, 1.999, 2, 5])
def test_between_stages_points_move_straight_and_missing_coordinates_are_zero(progress):
    x = np.random.default_rng(1).normal(size=(4, 3))
    through = Pipeline((Normalize(), Affine(np.eye(5, 3))))
    stages = [np.pad(stage, ((0, 0), (0, 5 - stage.shape[1]))) for stage in through.stages(x)]
    k = min(int(progress), 1)
    f = min(progress - k, 1)
    got = Cloud("x", x, through).at({}, progress)
    want = (1 - f) * stages[k] + f * stages[k + 1]
    np.testing.assert_allclose(got, want[:, : got.shape[1]], atol=EXACT)
    assert not want[:, got.shape[1] :].any()
