"""The canvases of 2D views fit their axes after every change of size; measured from their pixels."""

import pytest

from tests import waiting
from tests.browser.hand import SMALL_3D, difference, frames, hold, look, player, rest, until, visit
from tests.browser.test_painter import BLURRED, SAME_BLURRED, let_go

PAGE, FIELD = "/spiral?n=60", 1  # the view with a field
EDGE = 1.5  # px: a canvas ends between two pixels
# The bounding boxes, in pixels of the page, of what is painted on the canvas and of the axes that Plotly has
# drawn.
BOXES = """(() => {
  const { gd } = p.panels[value], canvas = gd.querySelector("canvas.ground");
  const { width, height } = canvas, at = canvas.getBoundingClientRect();
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let i = 3; i < data.length; i += 4) if (data[i]) {
    const x = ((i - 3) / 4) % width, y = Math.floor(i / 4 / width);
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x + 1), Math.max(bottom, y + 1)];
  }
  const axes = gd.querySelector(".nsewdrag").getBoundingClientRect();
  const a = at.width / width, b = at.height / height;
  const painted = [at.x + a * left, at.y + b * top, at.x + a * right, at.y + b * bottom];
  return [painted, [axes.left, axes.top, axes.right, axes.bottom]];
})()"""
FITS = """p.panels.every(({ gd: { clientWidth, clientHeight, _fullLayout: { width, height } } }) =>
  !clientWidth || (width === clientWidth && height === clientHeight))"""


@pytest.fixture
def page(kept):
    return kept


def fits(page):
    """Check that the field (a mark) fills its axes, once all panels are drawn in their present size.

    Returns the box of the axes: left, top, right and bottom in pixels of the window.
    """
    until(page, FITS)
    frames(page)
    painted, axes = player(page, BOXES, FIELD)
    assert painted == pytest.approx(axes, abs=EDGE)
    return axes


def resize(page, width, height):
    page.set_viewport_size({"width": width, "height": height})


def test_the_field_follows_the_window(page):
    visit(page, PAGE)
    seen = [fits(page)]
    for size in ((1024, 768), (1440, 900), (390, 844)):
        resize(page, *size)
        seen.append(fits(page))
    assert len({right - left for left, _, right, _ in seen}) > 2, (
        "the axes must change for this to say anything"
    )


@pytest.mark.parametrize("key", ["p", "f"])
def test_the_field_follows_the_presentation_and_full_screen(page, key):
    resize(page, 1024, 768)
    visit(page, PAGE)
    before = fits(page)
    for _ in range(2):
        page.keyboard.press(key)
        page.wait_for_function("() => document.fullscreenElement")
        waiting.until(lambda: fits(page) != before)  # the window changes its size after that
        page.keyboard.press(key)
        page.wait_for_function("() => !document.fullscreenElement")
        waiting.until(lambda: fits(page) == pytest.approx(before, abs=EDGE))


def test_the_field_of_a_hidden_panel_is_right_when_it_is_shown(page):
    visit(page, PAGE)
    fits(page)
    for size, progress in (((1100, 700), 1), ((1100, 700), 2)):
        page.add_style_tag(content=".views { display: none !important; }")
        resize(page, *size)
        player(page, "p.seek(value)", progress)
        rest(page)
        page.eval_on_selector("head style:last-of-type", "(style) => style.remove()")
        fits(page)


def test_the_field_follows_the_resolution(new_page):
    """The mark `Field` is drawn anew if the resolution (screen pixels for each CSS pixel) changes.

    This happens if the page is zoomed or moves to another screen. The size of the panel stays.
    """
    page = new_page()
    visit(page, PAGE)
    page.add_style_tag(content=".views { width: 50rem !important; height: 25rem !important; }")
    fits(page)
    screen = page.context.new_cdp_session(page)
    for ratio in (2, 1):
        metrics = {"width": 1280 + ratio, "height": 800, "deviceScaleFactor": ratio, "mobile": False}
        screen.send("Emulation.setDeviceMetricsOverride", metrics)
        until(page, f"p.panels[{FIELD}].groundCanvas.width === {ratio} * p.panels[{FIELD}].gd.clientWidth")
        fits(page)


@pytest.mark.pixels
def test_what_is_held_in_motion_follows_the_window(page):
    """If the window is resized while a figure is moving, the figure still shows its present state.

    In 3D, Plotly alone would show the state that the figure had before it moved.
    """
    resize(page, 1300, 800)
    visit(page, "/spiral?progress=0")
    rest(page)  # until room for the legend is reserved
    hold(page)
    player(page, "(p.seek(value), p.set('step', 2000))", 1.5)
    until(page, "!p.scheduled")
    resize(page, 1300, 700)
    fits(page)
    moving = look(page, BLURRED)
    assert player(page, "p.panels.map((panel) => panel.moving)") == [True, True, True]
    let_go(page, 1.5)
    half = len(moving) // 2  # without the dashed curves below, because Plotly places dashes differently
    assert difference(moving[:half], look(page, BLURRED)[:half]) < SAME_BLURRED


def test_a_saved_picture_has_the_field(page):
    visit(page, PAGE)
    share = """(async () => {
      const { copying } = await import("/assets/player/saving.mjs");
      const panel = p.panels[value], { canvas, copy } = await copying(p, 2, false);
      p.root.style.setProperty("--paper", "#000000");
      copy();
      p.root.style.removeProperty("--paper");
      const [x, y, wide, tall] = panel.drawingBox;
      const { left, top } = panel.gd.getBoundingClientRect(), from = p.need("views").getBoundingClientRect();
      const box = [left - from.left + x, top - from.top + y, wide, tall].map((length) => 2 * length);
      const { data } = canvas.getContext("2d").getImageData(...box);
      let n = 0;
      for (let i = 0; i < data.length; i += 4) n += data[i] + data[i + 1] + data[i + 2] > 60;
      return n / (data.length / 4);
    })()"""
    assert player(page, share, FIELD) > 0.95


@pytest.mark.parametrize(("size", "views"), [((1280, 800), 3), ((390, 844), 2)])
def test_pictures_and_films_have_all_visible_panels_and_captions(page, size, views):
    """Titles, names, legends and resting marks are on the canvas from which films are made.

    This is tested in a wide window, which shows three panels, and in a narrow one, which shows two.
    """
    resize(page, *size)
    visit(page, "/strands?progress=2")
    if views == 2:
        page.get_by_role("tab", name="Strands in trained networks").click()
        until(page, "p.panels[2].opened")
    rest(page)
    drawn = """(async () => {
      const { copying } = await import("/assets/player/saving.mjs");
      const { canvas, copy } = await copying(p, 1, true);
      copy();
      const shown = p.panels.map(({ gd }) => gd.parentElement).filter((view) => view.checkVisibility());
      const whole = p.need("views").getBoundingClientRect();
      const tops = shown.map((_, v) => shown.slice(0, v).reduce((sum, each) => sum + each.offsetHeight, 0));
      const inked = (element, v) => {
        const [box, from] = [element, shown[v]].map((each) => each.getBoundingClientRect());
        const [left, top] = whole.width ? [whole.left, whole.top] : [from.left, from.top - tops[v]];
        const place = [box.left - left, box.top - top, box.width, box.height];
        return canvas.getContext("2d").getImageData(...place).data.some((x, i) => i % 4 < 3 && x < 160);
      };
      const captions = shown.map((view) =>
        [...view.querySelectorAll("figcaption, .legend li, .headline b")].filter(
          (part) => part.textContent && part.checkVisibility({ visibilityProperty: true }),
        ),
      );
      const missing = captions.map((parts, v) => parts.filter((part) => !inked(part, v)).length);
      captions.flat().forEach((part) => (part.style.visibility = "hidden"));
      copy();
      const marked = shown.map((view, v) => inked(view.querySelector(".nsewdrag"), v));
      return [captions.map(({ length }) => length > 0), missing, marked];
    })()"""
    assert player(page, drawn) == [[True] * views, [0] * views, [True] * views]


@pytest.mark.pixels
def test_a_saved_picture_of_space_is_the_one_that_is_seen(page):
    """A saved 3D picture has depth effects, which Plotly's own image lacks; the figure stays unchanged."""
    page.set_viewport_size({"width": 900, "height": 640})
    visit(page, f"/layernorm?{SMALL_3D}")
    rest(page)
    told = """(async () => {
      const { copying } = await import("/assets/player/saving.mjs");
      const [panel] = p.panels, canvas = await panel.images(false);
      const { gd } = panel, { clientWidth: width, clientHeight: height } = gd;
      const read = (draw) => {
        const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
        draw(context);
        return context.getImageData(0, 0, width, height).data;
      };
      const seen = () => read((context) => panel.copy(context, 0, 0, canvas)), before = seen();
      const far = (data) => data.reduce((sum, x, i) => sum + Math.abs(x - before[i]), 0) / data.length;
      for (const captions of p.need("views").querySelectorAll(".legend, .headline"))
        captions.style.visibility = "hidden";
      const { canvas: saved, copy } = await copying(p, 2, false), own = new Image();
      p.root.style.setProperty("--paper", "transparent");
      copy();
      p.root.style.removeProperty("--paper");
      own.src = await panel.Plotly.toImage(gd, { format: "png", scale: 2, width, height });
      await own.decode();
      const shown = (image, tall) => read((context) => context.drawImage(image, 0, 0, width, tall));
      const [a, b] = [far(shown(saved, saved.height / 2)), far(shown(own, height))];
      return [a, b, far(seen())];
    })()"""
    saved, plotly, after = player(page, told)
    assert saved < plotly / 10 and after == 0, (saved, plotly, after)


def test_axes_that_move_bring_their_own_cross_into_a_film(page):
    crosses = """(async (panel) => {
      const drawn = decodeURIComponent((await panel.images(true)).find(({ src }) => src).src);
      return [panel.view.wider.length > 0, drawn.includes("zl crisp"), drawn.includes("<svg")];
    })(p.panels[0])"""
    for link, moves in (("/layernorm?d=2&n=60", True), ("/activation", False)):
        visit(page, link)
        rest(page)
        assert player(page, crosses) == [moves, not moves, True]
