"""The fast path (vertex buffers, a canvas) and the public path draw the same picture.

Tested with each plotly.js that is installed: the pinned version, and npm's newest 4.x if it differs (`npm
update plotly-newest`; docs/plotly.md).
"""

import json
import re

import pytest

from components.web.server import LIGHT
from tests.browser.hand import (
    SMALL_3D,
    difference,
    frames,
    look,
    middle,
    move,
    player,
    rest,
    shot,
    until,
    visit,
)

pytestmark = pytest.mark.pixels

# Largest mean absolute difference, of 255, between pictures of one state by the two paths. Rounding to
# float32 and the drawing order of transparent objects give 0.001 to 0.07; a state a tenth of a stage further
# differs by 0.3 to 1.4.
SAME_PICTURE = 0.1
ANOTHER_PICTURE = 0.25
# The same for 2D, which Plotly draws as SVG and we on a canvas: antialiasing differs, so blurred pictures are
# compared. The same state gives 0.05, a state two tenths of a stage further at least 0.3.
SAME_BLURRED = 0.09
ANOTHER_BLURRED = 0.15
BLURRED = 160  # px wide
SMALL = {"viewport": {"width": 900, "height": 640}}

STATES = {
    "layernorm": ("/layernorm", SMALL_3D, {"mean": -0.5, "gamma1": 1.7, "gamma3": -0.6, "beta2": 0.8}, 2.37),
    "layernorm late": ("/layernorm", SMALL_3D, {"mean": 1.2, "gamma2": 0.4, "beta1": -0.9}, 4.6),
    # d = 4 shows the lost coordinate as colour: live, and after motion in Plotly's own data
    "layernorm d=4": ("/layernorm", f"{SMALL_3D}&d=4", {"mean": -1, "gamma4": 1.9, "gamma1": 0.3}, 3.4),
    "RMSNorm": ("/layernorm", f"{SMALL_3D}&variant=rmsnorm", {"mean": 0.1, "gamma2": 1.8}, 2.8),
    "many": ("/layernorm", "n=1600", {"mean": 0.1, "gamma1": -1.5}, 3.9),
    "rmsnorm": ("/rmsnorm", SMALL_3D, {"q": 2.5}, 2.8),
    "wider axes": ("/surface", "slice=fold", {"t": 1.9}, 1.4),
}
OPENED = ("layernorm", "layernorm d=4", "rmsnorm")  # also opened by the public path and compared


@pytest.fixture
def window():
    return SMALL["viewport"]


NEWEST = LIGHT.parents[1] / "plotly-newest" / LIGHT.name
SAME_LIBRARY = not NEWEST.exists() or NEWEST.read_bytes() == LIGHT.read_bytes()
LIBRARIES = [LIGHT] if SAME_LIBRARY else [LIGHT, NEWEST]


@pytest.fixture(params=LIBRARIES, ids=lambda path: path.parent.name)
def library(request):
    return request.param


@pytest.fixture
def page(request, library):
    """A page whose figures are drawn by the plotly.js of the fixture `library`."""
    if library == LIGHT:
        return request.getfixturevalue("kept")
    page = request.getfixturevalue("new_page")(**SMALL)
    page.add_init_script("window.kept = true")
    page.route("**/lib/plotly-*.js", lambda asked: asked.fulfill(path=library))
    return page


def reports_of(page):
    """A function that returns the painter's reports about plotly.js in the console."""
    said = []
    page.on("console", lambda message: message.type == "warning" and said.append(message.text))
    return lambda: [text for text in said if "Normscape" in text]


def test_every_patch_fits_this_plotly(page, library):
    reports = reports_of(page)
    for path in ("/layernorm?n=60&progress=0", "/octants?progress=0"):
        page.goto(path)
        rest(page)
        move(page, {}, 0.5)
    page.mouse.move(*middle(page, ".figure"))
    version = json.loads((library.parent / "package.json").read_text())["version"]
    assert player(page, "p.panels[0].Plotly.version") == version
    assert player(page, "p.panels.every((panel) => panel.fast)")
    assert not reports()


# Private names of plotly.js, by the patch that needs them; the test renames them.
PRIVATE = {
    "pulse": "_stopped",
    "redraw": "autoResize",
    "camera": "updateFx",
    "depth": "interpColor",
    "buffers": "pointBuffer",
}


def test_an_unknown_plotly_is_reported_by_each_patch_once_and_drawn_the_public_way(new_page):
    code = LIGHT.read_text()
    for name in PRIVATE.values():
        assert name in code
        code = code.replace(name, f"{name}Else")
    page = new_page(**SMALL)
    reports = reports_of(page)
    page.route("**/lib/plotly-*.js", lambda asked: asked.fulfill(body=code, content_type="text/javascript"))
    path, query, state, progress = STATES["layernorm"]
    visit(page, f"{path}?{query}&progress=0")
    rest(page)
    first = look(page)
    for further in (0, 0.1):
        move(page, state, progress + further)
    let_go(page, progress)
    assert difference(first, look(page)) > ANOTHER_PICTURE
    assert sorted(re.findall('patch "(.*?)"', " ".join(reports()))) == sorted(PRIVATE)
    assert not player(page, "p.panels[0].fast")


def open_with(page, path, query, state, progress):
    """Open a page in a given state. Plotly's public functions draw each frame of its figure.

    The patch `buffers`, which would write 3D frames straight into Plotly's buffers, is turned off.
    path, query: the two parts of the page's address, without `state` and `progress`. state: values of
    parameters, a dictionary.
    """
    params = "".join(f"&{name}={value}" for name, value in state.items())
    visit(page, f"{path}?{query}{params}&progress={progress}#without=buffers")
    rest(page)
    assert not player(page, "p.panels.some((panel) => panel.is3d && panel.fast)")


UNCOUNTED = """p.panels.forEach((panel) => {
  const { settle } = panel;
  panel.settle = (frame) => settle.call(panel, frame, []);
})"""


def let_go(page, progress):
    """Release the figure at a progress, and wait until Plotly's public functions have drawn it at rest.

    Labels that count coinciding points are switched off, because a figure in motion does not have them.
    """
    player(page, UNCOUNTED)
    player(page, "p.pointerDown = false")
    player(page, "p.seek(value)", progress)
    until(page, "!p.scheduled")
    until(page, "!p.root.querySelector('.moving')")


@pytest.mark.parametrize("name", STATES)
def test_in_motion_the_buffers_draw_what_plotly_draws(page, name):
    path, query, state, progress = STATES[name]
    visit(page, f"{path}?{query}&progress=0")
    rest(page)  # until room for the legend is reserved
    move(page, state, progress)
    moving = look(page)
    assert player(page, "p.panels.every((panel) => panel.fast && panel.gd.classList.contains('moving'))")
    move(page, state, progress + 0.1)
    other = look(page)
    let_go(page, progress)
    still = look(page)
    assert difference(moving, still) < SAME_PICTURE
    assert difference(other, still) > ANOTHER_PICTURE, "the comparison would not see a wrong picture"
    if name in OPENED:
        open_with(page, path, query, state, progress)
        let_go(page, progress)
        assert difference(moving, look(page)) < SAME_PICTURE
    if name == "layernorm":
        move(page, state, progress + 0.1)
        assert difference(other, look(page)) < SAME_PICTURE, "the public way moves too"


TELEPHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0.0.0 Mobile Safari/537.36"


def test_no_frame_leaves_its_depths_to_the_next_on_a_telephone(new_page):
    """With a telephone's user agent, a 3D figure in motion looks as it does at rest.

    For telephones, Plotly makes a WebGL context whose canvas the browser does not clear before each frame. So
    the painter must clear it.
    """
    page = new_page(**SMALL, user_agent=TELEPHONE)
    path, query, state, progress = STATES["rmsnorm"]
    visit(page, f"{path}?{query}&progress=0")
    rest(page)
    attributes = "p.panels[0].scene.glplot.gl.getContextAttributes()"
    assert player(page, f"{attributes}.preserveDrawingBuffer"), "the test would see nothing"
    for before in (0.1, 0.05, 0):
        move(page, state, progress - before)
    moving = look(page)
    let_go(page, progress)
    assert difference(moving, look(page)) < SAME_PICTURE


def test_the_canvas_in_2d_draws_what_plotly_draws(page):
    path, query, state = "/layernorm", "n=60&d=2", {"mean": 0.3, "gamma1": 1.6, "beta2": 0.5}
    visit(page, f"{path}?{query}&progress=0")
    moving, other = {}, {}
    for progress in (0.6, 3.4):
        move(page, state, progress)
        moving[progress] = look(page, BLURRED)
        assert page.locator("canvas.motion").is_visible()
        move(page, state, progress + 0.2)
        other[progress] = look(page, BLURRED)
    for progress in moving:
        open_with(page, path, query, state, progress)
        let_go(page, progress)
        still = look(page, BLURRED)
        assert difference(moving[progress], still) < SAME_BLURRED
        assert difference(other[progress], still) > ANOTHER_BLURRED, (
            "the comparison would not see a wrong picture"
        )


def test_a_sheet_whose_vertices_are_shared_is_drawn_as_plotly_draws_it(page):
    """A mesh looks the same in motion and at rest.

    In motion, triangles share their vertices; at rest, each corner of a triangle is a vertex of its own.
    """

    def shown():
        frames(page)
        first = page.locator(".views .figure").first
        return shot(page, first, ".legend, .headline { visibility: hidden }")

    visit(page, "/octants?progress=0")
    rest(page)
    move(page, {"step": 1000}, 4.4)
    moving = shown()
    move(page, {"step": 1000}, 4.5)
    other = shown()
    let_go(page, 4.4)
    still = shown()
    assert difference(moving, still) < SAME_PICTURE
    assert difference(other, still) > ANOTHER_PICTURE


def inked(page):
    """The dark pixels of the first figure, without its legend, as an array of booleans."""
    frames(page)
    seen = shot(page, page.locator(".figure").first, ".legend { visibility: hidden }")
    return seen.max(axis=-1) < 120


def ink(page):
    """The number of dark pixels in the first figure, without its legend."""
    return int(inked(page).sum())


def test_labels_stand_in_front_of_points(page):
    """In the scene `digits`, points do not hide numerals, even if they are nearer to the camera."""
    visit(page, "/digits")
    rest(page)
    among = inked(page)
    markers = "Object.values(p.panels[0].scene.traces).flatMap(({ scatterPlot }) => scatterPlot ?? [])"
    player(
        page, f"({markers}.forEach((each) => {{ each.opacity = 0; }}), p.panels[0].scene.glplot.redraw(), 0)"
    )
    alone = inked(page)
    assert (among & alone).sum() > 0.98 * alone.sum() > 80


def test_labels_behind_the_camera_are_not_drawn(page):
    visit(page, "/digits?camera=3,0,0,6,0,0")
    rest(page)
    assert ink(page) == 0


# Note the shape of each object that is drawn with the depth effects, 0 for labels and −1 for no effects.
NOTING_SHAPES = """for (const { prototype } of [WebGLRenderingContext, WebGL2RenderingContext]) {
  const own = prototype.uniform4f;
  window.shapes = [];
  prototype.uniform4f = function (place, shape, ...others) {
    shapes.push(shape);
    own.call(this, place, shape, ...others);
  };
}"""


def test_what_plotly_draws_before_its_objects_are_changed_is_not_in_front_of_everything(new_page):
    page = new_page(**SMALL)
    page.add_init_script(NOTING_SHAPES)
    page.goto("/digits?progress=1#without=buffers")
    rest(page)
    shapes = page.evaluate("shapes")
    assert shapes[0] == -1 and 0 in shapes


COUNTED = "p.panels[{}].gd.data.some(({{ uid }}) => uid === 'crowds')"


def test_a_count_stands_in_front_of_a_surface_and_beside_a_line(page):
    """The number of coinciding points at a place is drawn in front of a surface, and beside a line.

    In the first view, a surface contains the points. In the second view, a line goes through them.
    """
    visit(page, "/fibre?progress=2")
    rest(page, COUNTED.format(0))
    among = ink(page)
    surfaces = "Object.values(p.panels[0].scene.traces).flatMap(({ mesh }) => mesh ?? [])"
    player(
        page, f"({surfaces}.forEach((mesh) => {{ mesh.opacity = 0; }}), p.panels[0].scene.glplot.redraw(), 0)"
    )
    alone = ink(page)
    assert among > 0.8 * alone > 80
    player(page, "p.set('phi', 320)")
    rest(page, COUNTED.format(1))
    counts = "p.panels[1].gd.data.find(({ uid }) => uid === 'crowds')"
    places = dict(player(page, f"{counts}.x.map((x, i) => [x > 0, {counts}.textposition[i]])"))
    assert places == {True: "bottom left", False: "top right"}, "v points to the right and down"
    texts = dict(player(page, f"{counts}.x.map((x, i) => [x > 0, {counts}.text[i]])"))
    assert texts[True][-2:] == texts[False][:2] == "\u2002\u2009", "a gap between count and dot"


def test_a_figure_whose_buffers_are_gone_goes_on_the_public_way(page):
    reports = reports_of(page)
    path, query, state, progress = STATES["layernorm"]
    visit(page, f"{path}?{query}&progress=0")
    rest(page)
    first = player(page, "p.panels[0].gd.data.map(({ x }) => [...x])")
    clouds = "Object.values(p.panels[0].scene.traces).filter((trace) => trace.scatterPlot)"
    player(page, f"({clouds}.forEach((trace) => {{ trace.scatterPlot = null; }}), 0)")
    for further in (0, 0.1):
        move(page, state, progress + further)
    let_go(page, progress)
    assert not player(page, "p.panels[0].fast")
    assert player(page, "p.panels[0].gd.data.map(({ x }) => [...x])") != first
    assert len(reports()) == 1 and '"buffers"' in reports()[0]


READS = """() => {
  const { prototype } = WebGLRenderingContext, { readPixels } = prototype;
  window.reads = 0;
  prototype.readPixels = function (...all) { window.reads += 1; readPixels.apply(this, all); };
}"""


def test_points_can_be_picked_at_rest_and_are_not_drawn_for_it_while_axes_widen(page):
    """Plotly's picking image, which tells the point under the pointer, is drawn at rest only.

    While axes widen in motion, it is not drawn, because that would be slow.
    """
    visit(page, "/depth?progress=0")
    rest(page)
    frames(page, 10)  # longer than Plotly checks for changes after an event (assets/painter/plotly/pulse.mjs)
    page.evaluate(READS)
    first = player(page, "p.panels[0].ranges")
    for progress in (1.5, 2.5, 3.5, 4.5):
        move(page, {}, progress)
    page.evaluate("new Promise((done) => setTimeout(done, 20))")
    assert player(page, "p.panels[0].ranges") != first and page.evaluate("reads") == 0
    let_go(page, 4)
    page.wait_for_function("() => reads > 0")


@pytest.mark.parametrize("path", [f"/layernorm?{SMALL_3D}", "/layernorm?n=60&d=2"])
def test_what_moves_while_a_figure_settles_stays_on_the_screen(page, path):
    visit(page, f"{path}&progress=2")
    rest(page)
    moved = player(
        page,
        """(async () => {
          const [panel] = p.panels, { frame } = panel;
          const moved = (points, by) => points.map((x) => x + by);
          const shifted = (by) => Object.assign(
            frame.map((drawn) => ({ ...drawn, points: moved(drawn.points, by) })), { zoom: frame.zoom });
          const done = panel.settle(shifted(0.1));
          panel.paint(shifted(0.2));
          await done;
          const by = panel.frame[0].points[0] - frame[0].points[0];
          const canvas = panel.gd.querySelector('canvas.motion');
          return [panel.moving, by, canvas ? canvas.checkVisibility() : true];
        })()""",
    )
    assert moved == [True, pytest.approx(0.2, abs=1e-6), True]
    player(page, "(p.panels[0].settle(p.panels[0].frame), 0)")
    until(page, "!p.panels[0].moving")


def test_letters_that_a_change_brings_in_are_as_large_as_those_of_a_new_figure(page):
    """Letters that appear after a new choice are as large as in a page that opens with this choice.

    Plotly's own updates draw letters at half their size if they were not in the page before.
    """
    pictures = []
    for link, chosen in (("weights=trained", "{}"), ("weights=drawn", "{ weights: 'trained' }")):
        page.goto(f"/block?progress=0&follow=4&{link}")
        rest(page)
        player(page, f"p.choose({chosen})")
        rest(page)
        pictures.append(shot(page, page.locator(".view .figure").first))
    assert difference(*pictures) < SAME_PICTURE
