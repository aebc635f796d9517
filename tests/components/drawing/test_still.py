import re
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest

from components.drawing.projection import paper
from components.drawing.still import (
    BLEED_PX,
    CHARACTER_WIDTH_EM,
    HEIGHT,
    MAX_DRAWN_POINTS,
    WIDTH,
    boxes,
    layers_of,
    moment,
    seen,
    svg,
)
from components.language.cloud import Cloud, Row, rows
from components.language.marks import Color, Mesh, Points, Sheet
from components.language.scene import scenes
from components.theme import THEMES, colors
from components.training.recipes import recipe_of, state_of
from geometry.clouds import sphere_mesh
from tests.components.language.test_scene import SCENE
from tests.components.recipes import recipe

LARGEST = 150_000  # bytes of a picture
NUMBER = re.compile(r"-?\d+(\.\d+)?")
PAINTED = re.compile(r"var\(--([\w-]+)\)")


def checked(text):
    """A dict: for each tag in an SVG text, the list of its elements.

    It asserts that the text is valid XML, finite and small, and that its variables are known colours.
    """
    assert not re.search(r"nan|inf", text, re.I) and len(text.encode()) < LARGEST
    found = {}
    for element in ElementTree.fromstring(text).iter():
        found.setdefault(element.tag.rpartition("}")[2], []).append(element)
        for name in ("x", "y", "cx", "cy", "r", "opacity", "width", "height", "stroke-width"):
            assert NUMBER.fullmatch(element.get(name, "0")), (element.tag, name)
    assert set(PAINTED.findall(text)) <= colors("light").keys()
    return found


def test_marks_that_have_no_place_are_left_out():
    query = {"x1": "0", "x2": "0", "eps": "0", "progress": "2"}  # a norm that has no derivative there
    state = state_of(scenes()["jacobian"], query)
    checked(svg(state.recipe, state))


@pytest.mark.parametrize("d", ["2", "3"])
@pytest.mark.parametrize("progress", ["0", "1.5", "2"])
@pytest.mark.parametrize("theme", [*THEMES, "auto"])
def test_valid_small_and_finite(d, progress, theme):
    state = state_of(SCENE, {"d": d, "progress": progress, "theme": theme})
    found = checked(svg(state.recipe, state))
    keys = 20 + (d == "2")  # one circle for each key, selectable or not; in 2D also `WeightNow`
    # points with the fate "shared": in 3D, those of which ReLU keeps exactly one coordinate
    x = state.recipe.cloud("x").stages(state.params)[1]
    shared = int(((x > 0).sum(-1) == 1).sum()) * (d == "3")
    assert len(found["circle"]) == 20 + 2 + 1 + 1 + 20 + shared + 1 + keys
    assert [t.text for t in found["text"]] == ["<a>", "b&b", "c"][: int(d)]


def test_the_theme_is_in_the_picture():
    for theme in THEMES:
        text = svg(recipe(3), state_of(SCENE, {"theme": theme}))
        assert all(color in text for color in colors(theme).values()) and "@media" not in text
    assert "prefers-color-scheme: dark" in svg(recipe(3), state_of(SCENE, {}))


CAMERAS = [
    "0,0,1",
    "0,0,-2",
    "1,0,0",
    "100,-100,100",
    "0,0,1e-3",
    "1,1,1,1,1,0.99",
    "0.1,0.1,0.1,0.5,0.5,0.5",
]


@pytest.mark.parametrize("camera", CAMERAS)
def test_any_camera_that_a_link_may_ask_for(camera):
    """Any camera of a link gives a valid picture, also one that looks straight down or is in the cloud."""
    state = state_of(SCENE, {"camera": camera})
    assert checked(svg(state.recipe, state)) and svg(state.recipe, state) != svg(
        recipe(3), state_of(SCENE, {})
    )


def test_nothing_is_drawn_of_a_layer_that_has_faded():
    small = recipe(3)
    view = small.views[0]
    gone = replace(view, layers=tuple(replace(layer, fade=(0.0, 1.0, 1.0)) for layer in view.layers))
    state = state_of(SCENE, {})
    assert "circle" not in checked(svg(replace(small, views=(gone,)), state))


def test_many_points_stay_small():
    small = recipe(3)
    many = replace(small.clouds[0], points=np.random.default_rng(1).normal(size=(10_000, 3)))
    layer = replace(small.views[0].layers[0], color=None)
    recipe_ = replace(small, clouds=(many,), views=(replace(small.views[0], layers=(layer,)),))
    assert len(checked(svg(recipe_, state_of(SCENE, {})))["circle"]) == MAX_DRAWN_POINTS


@cache
def drawn(slug, **query):
    """The state of a scene for a query, and its still picture, an SVG text; memoised."""
    state = state_of(scenes()[slug], query)
    return state, svg(state.recipe, state)


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_every_scene(scene):
    last = len(recipe_of(scene).stages) - 1
    for query in ({}, {"progress": str(last), "theme": "dark"}, {"progress": str(last / 2)}):
        checked(drawn(scene.slug, **query)[1])


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_boxes_fill_the_picture_and_a_strip_is_small(count, strip, wide):
    [view] = recipe(2).views
    view = replace(view, ranges=((-3, 3), (-1, 1)), equal=True) if wide else view
    found = boxes([view] * (count - 1) + [replace(view, strip=strip)])
    sizes = [w * h for _, _, w, h in found]
    assert view.wide == wide and (not wide or found[0][2] == WIDTH)
    assert 0 <= WIDTH * HEIGHT - sum(sizes) < HEIGHT  # widths are whole numbers
    assert all(x + w <= WIDTH and y + h <= HEIGHT for x, y, w, h in found)
    assert count in (1, 4) or not strip or wide or sizes[-1] < min(sizes[:-1])


def test_a_stack_of_strips_is_as_high_as_the_picture():
    [view] = recipe(2).views
    first, stack, third = boxes([view, replace(view, rows=4), view])
    assert stack[3] == HEIGHT and first[3] + third[3] == HEIGHT and first[2] + stack[2] == WIDTH


# --- the picture is correct


def panels(scene, **query):
    """The state of a scene for a query, and pairs (view, its SVG element in the still picture), as a list."""
    state, text = drawn(scene.slug, **query)
    found = ElementTree.fromstring(text)
    return state, list(zip(state.recipe.views, found.findall(f"{SVG}svg"), strict=True))


def numbers(element, *names):
    return [float(element.get(name)) for name in names]


SVG = "{http://www.w3.org/2000/svg}"
EVERY = pytest.mark.parametrize("scene", scenes().values(), ids=scenes())


@EVERY
def test_a_view_stays_in_its_box_and_a_flat_one_on_its_axes(scene):
    """Each view is a nested svg element inside the view's box.

    In a 2D view the element is BLEED_PX larger than the axes on each side. It clips its contents, so a curve
    that leaves the axes does not reach the neighbouring view.
    """
    state, found = panels(scene)
    for (view, panel), (left, top, wide, high) in zip(found, boxes(state.recipe.views), strict=True):
        x, y, w, h = numbers(panel, "x", "y", "width", "height")
        assert left <= x and top <= y and x + w <= left + wide + 0.1 and y + h <= top + high + 0.1
        shown = [float(n) for n in panel.get("viewBox").split()]
        assert shown == pytest.approx([-w / 2, -h / 2, w, h], abs=0.1)
        if view.dims == 2:
            axes = paper(view, (wide, high))
            assert (w, h) == pytest.approx([a + 2 * BLEED_PX for a in axes], abs=0.1)


@EVERY
@pytest.mark.parametrize("progress", [0, 0.5, 1])
def test_nothing_in_space_is_cut_off_where_a_scene_opens(scene, progress):
    _, found = panels(scene, progress=str(progress * (len(recipe_of(scene).stages) - 1)))
    for view, panel in found:
        w, h = numbers(panel, "width", "height")
        for mark in [*panel.iter(f"{SVG}circle"), *panel.iter(f"{SVG}text")] if view.dims == 3 else ():
            x, y = numbers(mark, *(("cx", "cy") if mark.get("cx") else ("x", "y")))
            assert abs(x) < w / 2 and abs(y) < h / 2, mark.attrib


@EVERY
def test_no_two_labels_stand_in_one_place(scene):
    for _, panel in panels(scene)[1]:
        texts = [
            (*numbers(text, "x", "y"), float(group.get("font-size")), len(text.text))
            for group in panel.iter(f"{SVG}g")
            for text in group.findall(f"{SVG}text")
        ]
        for n, (x, y, size, length) in enumerate(texts):
            for x2, y2, _, other in texts[:n]:
                apart = abs(x - x2) >= CHARACTER_WIDTH_EM * size * (length + other) / 2 - 1
                assert apart or abs(y - y2) >= size - 1


@pytest.mark.parametrize("slug", ["spiral", "labels"])
def test_a_field_has_the_networks_colours_and_no_seams(slug):
    """Each cell of a field has the shade that belongs to its value, and there are no seams between cells.

    There are no seams because cells have whole coordinates and are not antialiased, and because the area of
    each shade also includes the areas of all higher shades, which are painted over it.
    """
    state, found = panels(scenes()[slug])
    view, panel = next(each for each in found if each[0].name == "field")
    layer, color = view.layers[0], view.layers[0].color
    group = next(g for g in panel.iter(f"{SVG}g") if g.get("shape-rendering") == "crispEdges")
    seen = np.full((layer.columns, layer.columns), -1)
    for path in group:
        for x, y, w in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path.get("d")):
            seen[int(y), int(x) : int(x) + int(w)] = int(path.get("fill")[-2])
        assert not re.sub(r"M\d+ \d+h\d+v1h-\d+z", "", path.get("d"))
    values = layer.values(state.recipe.moment(state.params, state.progress)).reshape(layer.columns, -1)
    part = np.clip((values - color.low) / (color.high - color.low), 0, 1)
    np.testing.assert_array_equal(seen[::-1], np.rint(4 * part))


def test_a_globe_is_painted_with_what_the_network_answers():
    """The sphere of the scene `octants` has the colours of both classes, not that of a plain sphere."""
    _, found = panels(scenes()["octants"])
    panel = next(panel for view, panel in found if view.name == "ball")
    fills = [path.get("fill") for path in panel.iter(f"{SVG}path")]
    assert "var(--sphere)" not in fills and {"var(--diverging-0)", "var(--diverging-4)"} <= set(fills)


def ball(*, opacity):
    """A recipe of a globe coloured by height, with one point in front of it and one behind it."""
    show, (points, order) = rows(np.eye(3)), sphere_mesh()
    color = Color("diverging", -1, 1, of=Row((0, 0, 1)))
    globe = Mesh("globe", "sphere", show, triangles=order, color=color, opacity=opacity)
    poles = Cloud("poles", 1.01 * np.array([[1.0, 0, 0], [-1, 0, 0]]))
    small = recipe(3)
    view = replace(small.views[0], layers=(globe, Points("poles", "input", show)))
    view = replace(view, ranges=((-2.0, 2.0),) * 3, zooms=(), camera=(2.0, 0.0, 0.0))
    found = (Cloud("globe", points), poles)
    return replace(small, stages=("x",), clouds=found, views=(view,), table=None, readouts=())


@pytest.mark.parametrize(("opacity", "shown"), [(1.0, 1), (0.5, 2)])
def test_a_solid_globe_hides_what_is_behind_it(opacity, shown):
    found = checked(svg(ball(opacity=opacity), state_of(SCENE, {})))
    assert len(found["circle"]) == shown


def bent(*, most):
    """Draw a sheet of 9 × 9 points that is folded in half: the half with low values is behind.

    most: the largest number of grid points to draw; a finer sheet is thinned. Returns, for each path in the
    order of drawing, its shade (0 to 4) and the number of its closed outlines.
    """
    y, z = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9), indexing="ij")
    points = np.stack([np.where(y > 0, 0.5, -0.5), abs(y), z], -1).reshape(-1, 3)
    sheet = Sheet("sheet", "sphere", rows(np.eye(3)), grid=(9, 9), color=Color("diverging", -1, 1, y.ravel()))
    small = recipe(3)
    view = replace(
        small.views[0], layers=(sheet,), ranges=((-2.0, 2.0),) * 3, zooms=(), camera=(2.0, 0.0, 0.0)
    )
    small = replace(
        small, stages=("x",), clouds=(Cloud("sheet", points),), views=(view,), table=None, readouts=()
    )
    state = state_of(SCENE, {})
    drawn = seen(view, state, moment(small, state), (400, 400))
    [text] = layers_of(small, drawn, (400, 400), sheet=most)
    return [
        (path.get("color")[-2], path.get("d").count("z"))
        for path in ElementTree.fromstring(text).iter("path")
    ]


@pytest.mark.parametrize(("most", "pieces"), [(81, 64), (80, 32), (25, 16), (9, 4), (3, 1)])
def test_a_sheet_is_drawn_in_so_many_pieces_the_nearest_last(most, pieces):
    found = bent(most=most)
    assert sum(count for _, count in found) == pieces
    shades = [int(shade) for shade, _ in found]
    near = [k for k, shade in enumerate(shades) if shade > 2]
    far = [k for k, shade in enumerate(shades) if shade < 2]
    assert pieces < 4 or max(far) < min(near), "what lies behind is drawn before"


def test_a_globe_shows_its_near_side_shade_by_shade():
    found = checked(svg(ball(opacity=1.0), state_of(SCENE, {})))
    shades = {path.get("fill")[-2]: path.get("d") for path in found["path"]}
    heights = {k: [int(y) for y in re.findall(r"M-?\d+ ?(-?\d+)", d)] for k, d in shades.items()}
    assert list(heights) == ["0", "1", "2", "3", "4"]
    means = [np.mean(heights[k]) for k in "01234"]
    assert means == sorted(means, reverse=True), "what is high has the high colour; pixels go down"


def test_a_point_is_larger_the_nearer_it_is_and_paler_the_farther():
    """In a still picture, a point's radius is inversely proportional to its distance from the camera.

    Points beyond the centre of the axes become paler with distance.
    """
    x = np.linspace(-1, 1, 9)[:, None] * [1.0, 0, 0]
    shown = Points("x", "input", rows(np.eye(3)), size=6)
    small = recipe(3)
    view = replace(small.views[0], layers=(shown,), ranges=((-2, 2),) * 3, zooms=(), camera=(1.0, 0.02, 0.0))
    whole = {"clouds": (Cloud("x", x),), "views": (view,), "stages": ("x",), "progress": 0.0}
    alone = replace(small, readouts=(), table=None, **whole)
    found = checked(svg(alone, state_of(SCENE, {})))
    radii = [float(dot.get("r")) for dot in found["circle"]]
    away = np.linspace(1.25, 0.75, 9)  # distances from the eye; the farthest is drawn first
    np.testing.assert_allclose(radii, radii[4] / away, atol=0.06)
    own = {dot: float(g.get("opacity", 1)) for g in found["g"] for dot in g}
    fading = [float(dot.get("opacity", own[dot])) for dot in found["circle"]]
    assert fading == sorted(fading) and fading[0] < 0.8
    assert fading[2] < 1 == fading[4], "what is beyond the middle is paler"
