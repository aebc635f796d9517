"""Figures are drawn where the recipe says: main figures fill their panels, and labels are beside marks."""

import numpy as np
import pytest

from components.drawing.projection import project
from components.language.framing.extent import MIN_VISIBLE_OPACITY, SPHERE_ROLES
from components.language.marks import Disc, Line, Mesh, Points, Support, SupportDisc
from components.language.scene import scenes
from components.training.recipes import state_of
from tests.browser.hand import frames, player, rest, shot, visit

INK = 10  # of 255: pixels that differ more from the background count as drawn; the sphere's net is faint
ALIKE = 0.02  # tolerance between drawn and computed sizes, relative to the panel's smaller side
ALONE = "body * { visibility: hidden } .view .figure, .view .figure * { visibility: visible }"
SIZES = ((390, 844), (1024, 768), (1440, 900))
NAMES = """[...document.querySelectorAll(".view")].map((view) => {
  const box = (e) => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  const seen = (e) => e.getClientRects().length > 0;
  const legend = [...view.querySelectorAll(".legend li:not(.named)")].filter(seen);
  const names = [...view.querySelectorAll(".named")].filter(seen).map(box);
  const told = legend.map((e) => getComputedStyle(e).getPropertyValue("--name") + e.textContent);
  return { names, told, view: box(view.querySelector(".figure")),
    rows: new Set(legend.map((e) => Math.round(e.getBoundingClientRect().top))).size };
})"""


# Draw only some layers of the main figure, by the fast path, so without Plotly's axes.
ONLY = """((kept) => {
  const [{ view }] = p.panels;
  view.layers.forEach((layer, l) => {
    layer.was ??= { opacity: layer.opacity, fade: layer.fade };
    Object.assign(layer, kept ? { opacity: kept.includes(l) ? 1 : 0, fade: null } : layer.was);
  });
  p.pointerDown = Boolean(kept);
  p.seek(p.progress);
})(value)"""
BARE = f"{ALONE} .view .figure .main-svg * {{ visibility: hidden }}"
RIM = 2  # pixels
FITS = "(({ clientWidth, _fullLayout: { width } }) => width === clientWidth)(p.panels[0].gd)"


@pytest.fixture
def page(kept):
    return kept


def ink(page, kept):
    """Draw only some marks of the main figure, and measure the bounding box of their pixels.

    kept: the indices of these marks in `layers` of the first view. Returns (share, off, inside). share: the
    larger of the box's width and height. off: how far the middle of the box is from the middle of the
    panel, horizontally or vertically, whichever is farther. share and off are in units of the panel's smaller
    side. inside: whether all pixels are at least RIM pixels away from the panel's edge.
    """
    player(page, ONLY, kept)
    frames(page, 3)
    seen = shot(page, page.locator(".view .figure").first, BARE)
    drawn = np.abs(seen - seen[0, 0]).max(-1) > INK
    side = min(drawn.shape)
    ends = [np.flatnonzero(drawn.any(axis))[[0, -1]] for axis in (0, 1)]
    share = max(last + 1 - first for first, last in ends) / side
    off = max(abs(first + last + 1 - n) / 2 for (first, last), n in zip(ends, drawn.shape[::-1], strict=True))
    inner = drawn[RIM:-RIM, RIM:-RIM]
    return share, off / side, bool(inner.sum() == drawn.sum())


def shares(page, scene):
    """Measure the main figure as the scene opens; returns (hero, share, off, inside).

    share, off, inside: the results of `ink` for all visible marks except guides, labels, marks without rows
    (such as `Field`), `Support` and `SupportDisc`. hero: the size of the sphere or circle alone, in units of
    the panel's smaller side; without a sphere or circle, hero is share.
    """
    state = state_of(scene, {})
    at = [
        k
        for k, m in enumerate(state.recipe.views[0].layers)
        if m.opacity_at(state.progress) >= MIN_VISIBLE_OPACITY
    ]
    layers = dict(zip(at, (state.recipe.views[0].layers[k] for k in at), strict=True))
    every = [k for k, m in layers.items() if not m.guide and m.draws != "labels" and m.row_count != 0]
    every = [k for k in every if not isinstance(layers[k], Support | SupportDisc)]
    round_ = [k for k in every if isinstance(layers[k], Line | Mesh) and layers[k].role in SPHERE_ROLES]
    large, off, whole = ink(page, every)
    hero = ink(page, round_)[0] if round_ else large
    player(page, ONLY)
    return hero, large, off, whole


def computed(slug, size):
    """The computed bounding box of the main figure: two corners, (2, 2), in pixels from the panel's centre.

    The box contains lines, meshes, discs and points; a point is as large as it is drawn. Marks with an
    opacity of at most 0.1 are left out. size: width and height of the panel in pixels.
    """
    state = state_of(scenes()[slug], {})
    view, found = state.recipe.views[0], []
    at = state.recipe.moment(state.params, state.progress, followed=state.follow)
    for mark in view.layers:
        if mark.opacity_at(state.progress) > 0.1 and isinstance(mark, Line | Mesh | Disc | Points):
            flat, _ = project(view, mark.points(at), view.camera, size)
            around = mark.size / 2 if isinstance(mark, Points) else 1
            found += [np.nanmin(flat, axis=0) - around, np.nanmax(flat, axis=0) + around]
    return np.array([np.min(found, axis=0), np.max(found, axis=0)])


@pytest.mark.pixels
def test_what_is_drawn_is_as_large_as_computed(page):
    """In `spiral`, the main figure is drawn at its computed place and size, in windows of three sizes.

    Other tests use the computed sizes for every scene.
    """
    for k, (width, height) in enumerate(SIZES):
        page.set_viewport_size({"width": width, "height": height})
        if not k:
            visit(page, "/spiral")
        rest(page, f"innerWidth === {width} && {FITS}")
        frames(page, 3)
        seen = shot(page, page.locator(".view .figure").first, ALONE)
        drawn = np.abs(seen - seen[2, 2]).max(-1) > INK
        rows, columns = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
        tall, wide = drawn.shape
        got = np.array([[columns[0], rows[0]], [columns[-1], rows[-1]]]) - np.array([wide, tall]) / 2
        assert np.abs(got - computed("spiral", (wide, tall))).max() <= ALIKE * min(wide, tall), width


@pytest.mark.parametrize("slug", ["layernorm", "spiral", "symmetrise", "drift"])
def test_names_never_meet_and_the_legend_is_short(page, slug):
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, f"/{slug}")
    last = len(state_of(scenes()[slug], {}).recipe.stages) - 1
    for progress in (0, last):
        player(page, "p.seek(value)", progress)
        rest(page, f"p.progress === {progress}")
        views = page.evaluate(NAMES)
        assert views[0]["names"]
        rows = [row for view in views for row in view["told"]]
        assert len(rows) == len(set(rows)), "told once"
        for view in views:
            assert view["rows"] <= 3
            left, top, right, bottom = view["view"]
            for k, (a, b, c, d) in enumerate(view["names"]):
                assert left - 1 <= a and top - 1 <= b and c <= right + 1 and d <= bottom + 1
                assert all(c <= u or w <= a or d <= v or x <= b for u, v, w, x in view["names"][:k])


def test_the_legend_of_shears_map_has_one_row_on_a_small_desk(page):
    """In a window of 1024 × 768 pixels, the legend of the map in the scene `shear` has only one row.

    The map has little height in this window, and a second row would leave it even less.
    """
    page.set_viewport_size({"width": 1024, "height": 768})
    visit(page, "/shear")
    rest(page)
    assert page.evaluate(NAMES)[2]["rows"] == 1
