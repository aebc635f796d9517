import json

import numpy as np
import plotly.graph_objects as go
import pytest

from components.drawing.figure import document, figure, templates
from components.language.marks import color_of
from components.language.packing import packed
from components.language.scene import scenes
from components.theme import THEMES, colors
from components.training.recipes import recipe_of
from tests.components.recipes import recipe

PARAMS = {"gain": 2.0, "eps": 0.5}
TYPES = {"mesh": "mesh3d", "plane": "mesh3d"}


def coordinates(trace):
    return np.column_stack([np.array(trace[axis], float) for axis in "xyz" if axis in trace])


@pytest.mark.parametrize("d", [2, 3])
def test_a_trace_a_layer_in_order(d):
    small = recipe(d)
    [view] = small.views
    traces = templates(small, view)["data"]
    assert len(traces) == len(view.layers) == len(figure(small).data)
    for trace, drawn, layer in zip(traces, figure(small).data, view.layers, strict=True):
        if layer.draws in ("field", "cells"):
            assert drawn.type == "heatmap" and trace["type"] == "scatter"  # heat maps are not in our bundle
            continue
        assert trace["type"] == drawn.type == TYPES.get(layer.draws, "scatter3d" if d == 3 else "scatter")
        assert trace["name"] == (layer.title or layer.role) and "x" not in trace


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("progress", [0, 0.5, 2])
def test_positions_are_the_recipes(d, progress):
    small = recipe(d)
    drawn = figure(small, PARAMS, progress, followed=7)
    for trace, layer in zip(drawn.data, small.views[0].layers, strict=True):
        if layer.draws in ("field", "cells"):
            continue
        want = layer.points(small.moment(PARAMS, progress, followed=7))
        np.testing.assert_array_equal(coordinates(trace), want)
        assert trace.opacity == layer.opacity_at(progress)
        if color_of(layer):
            values = layer.values(small.moment(PARAMS, progress, followed=7))
            assert len(values) == len(want)
            np.testing.assert_array_equal(
                trace.intensity if layer.draws == "mesh" else trace.marker.color, values
            )


def test_parameters_that_are_not_named_keep_their_defaults():
    small = recipe(3)
    assert figure(small, {"gain": 1.0}).to_json() == figure(small).to_json()
    assert figure(small, {"gain": 2.0}, 2).to_json() != figure(small, {}, 2).to_json()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("d", [2, 3])
def test_every_colour_is_resolved(theme, d):
    text = figure(recipe(d), theme=theme).to_json()
    assert "var(" not in text and colors(theme)["paper"] in text and colors(theme)["input"] in text
    template = json.dumps(templates(recipe(d), recipe(d).views[0]))
    assert "var(--input)" in template and "#" not in template, "the browser resolves colours by itself"


def test_ranges_are_fixed():
    three, two = figure(recipe(3)).layout, figure(recipe(2)).layout
    for axis in (three.scene.xaxis, three.scene.yaxis, three.scene.zaxis, two.xaxis, two.yaxis):
        assert axis.range == (-3, 3) and axis.autorange is False


def test_the_document_is_the_recipe_with_templates():
    small = recipe(3)
    data = json.loads(json.dumps(document(small), allow_nan=False))
    assert data["views"][0].pop("figure") == json.loads(json.dumps(templates(small, small.views[0])))
    assert data["views"][0].pop("wide") is small.views[0].wide
    assert data == json.loads(json.dumps(packed(small)))


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_every_scene_is_a_valid_figure(scene):
    built = recipe_of(scene)
    for progress in (built.progress, len(built.stages) - 1):
        drawn = figure(built, progress=progress, theme="dark")
        assert isinstance(drawn, go.Figure) and "var(" not in drawn.to_json()
        assert len(drawn.data) == sum(len(view.layers) for view in built.views)


def test_a_field_is_a_heat_map_over_the_whole_view():
    """In the Plotly figure, a mark `Field` is a smoothed heat map with the right value at each grid point."""
    small = recipe(2)
    [trace] = [t for t in figure(small, PARAMS, 0).data if t.type == "heatmap" and t.zsmooth]
    [grid] = [c for c in small.clouds if c.name == "grid"]
    want = grid.at(small.defaults | PARAMS, 0).sum(-1)
    at = {
        (x, y): z
        for y, line in zip(trace.y, trace.z, strict=True)
        for x, z in zip(trace.x, line, strict=True)
    }
    np.testing.assert_allclose([at[tuple(p)] for p in grid.points.tolist()], want)


def test_cells_are_a_heat_map_where_their_points_stand():
    """In the Plotly figure, a mark `Cells` is a heat map without smoothing.

    It has the value of each point of the mark, at the place of this point.
    """
    small = recipe(2)
    [trace] = [t for t in figure(small, PARAMS, 1).data if t.type == "heatmap" and not t.zsmooth]
    [mark] = [mark for mark in small.views[0].layers if mark.draws == "cells"]
    points = mark.points(small.moment(PARAMS, 1)).reshape(4, 5, 2)
    np.testing.assert_allclose(points[..., 0], np.broadcast_to(trace.x, (4, 5)))
    np.testing.assert_allclose(points[..., 1], np.broadcast_to(np.asarray(trace.y)[:, None], (4, 5)))
    np.testing.assert_array_equal(np.asarray(trace.z).ravel(), mark.values(small.moment(PARAMS, 1)))
