"""The story in the browser: its figures, printing, without scripts, as files, and on a telephone."""

from playwright.sync_api import expect

from components.language.scene import scenes
from components.language.story import story
from components.publish import site
from components.training.recipes import state_of
from tests.browser.hand import POLL_MS, TIMEOUT_MS, frames
from tests.browser.test_embed import files
from tests.browser.test_pages import WATCH_CONTEXTS

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PAPER = {"width": 718, "height": 1047}  # A4 without its margins
ALIVE = "contexts.map((r) => r.deref()).filter((c) => c && !c.isContextLost()).length"
DEEP = "normscape.players.flatMap((p) => p.panels).filter((panel) => panel.is3d).length"
CONTEXTS = 4
READ = """([part, block]) => {
  const blocks = document.querySelectorAll(".part")[part].querySelectorAll(".passage");
  scrollTo(0, blocks[block].getBoundingClientRect().top + scrollY - innerHeight * 0.4);
}"""
SHOWS = """([part, progress]) => {
  const section = document.querySelectorAll(".part")[part];
  const p = window.normscape?.players.find((each) => section.contains(each.root));
  return p?.ready && !p.leg && Math.abs(p.progress - progress) < 1e-6;
}"""


def shows(page, part, block):
    """Scroll to a paragraph of the story, and wait until the figure beside it shows its progress.

    part: the number of the part, from 0. block: the number of the paragraph within the part, from 0.
    """
    page.evaluate(READ, [part, block])
    progress = float(story().parts[part].blocks[block].state["progress"])
    page.wait_for_function(SHOWS, arg=[part, progress], timeout=TIMEOUT_MS, polling=POLL_MS)


def test_figures_follow_the_reader_and_hold_few_contexts(new_page):
    page = new_page(viewport=WIDE)
    page.add_init_script(WATCH_CONTEXTS)
    page.goto("/story")
    for part, block in ((0, 1), (9, 2)):
        shows(page, part, block)
        assert (
            page.evaluate("normscape.players.reduce((n, p) => n + p.panels.filter((q) => q.is3d).length, 0)")
            <= CONTEXTS
        )
        assert page.evaluate(ALIVE) <= CONTEXTS + 1, "Plotly draws images in one of its own"
        words, figure = (
            page.locator(".part").nth(part).locator(f".{name}").bounding_box()
            for name in ("words-of", "companion")
        )
        assert figure["x"] >= words["x"] + words["width"], "side by side"
        assert figure["y"] < WIDE["height"] / 2 and figure["y"] + figure["height"] > WIDE["height"] / 2
    far = page.locator(".part").nth(0).locator(".poster")
    expect(far, "who is far is a picture again").to_have_count(1)


def kinds():
    """The first part of the story for each kind of figure, as pairs (number from 0, part).

    Figures are of the same kind if their views, in order, have equal numbers of dimensions (2 or 3).
    """
    found = {}
    for k, part in enumerate(story().parts):
        views = state_of(scenes()[part.slug], {}).recipe.views
        found.setdefault(tuple(len(view.ranges) for view in views), (k, part))
    return found.values()


def test_on_a_telephone_the_hero_has_the_figure_and_a_link_leads_to_its_scene(new_page):
    page = new_page(viewport=NARROW)
    page.goto("/story")
    for k, part in kinds():
        shows(page, k, len(part.blocks) - 1)
        section = page.locator(".part").nth(k)
        views, hero = (section.locator(name).first.bounding_box() for name in (".views", ".view .figure"))
        flat = section.locator(".view:visible").count() > 1  # two equal views side by side, or a curve below
        assert hero["height"] >= (0.3 if flat else 0.75) * views["height"], part.slug
        assert section.locator(".open a").bounding_box()["height"] >= 40, part.slug
    assert page.locator(".story > .open a").bounding_box()["height"] >= 40


def test_it_is_read_without_scripts(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/story")
    assert page.locator(".part .poster").count() == len(story().parts)
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        assert page.locator(".passage").last.is_visible() and page.locator(".sources li a").count() > 5
        for poster in page.locator(".poster").all()[:3]:
            box = poster.bounding_box()
            assert box["width"] > 200 and box["height"] > 200


def test_it_is_printed_with_its_pictures(new_page):
    page = new_page(viewport=WIDE, reduced_motion="reduce")
    page.goto("/story")
    page.emulate_media(media="print")
    for size in (WIDE, PAPER):
        page.set_viewport_size(size)
        frames(page)
        words, figure = (
            page.locator(".part").first.locator(f".{name}").bounding_box()
            for name in ("words-of", "companion")
        )
        assert words["y"] + words["height"] <= figure["y"] and figure["height"] > 250
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        place = page.locator(".companion").first.evaluate("(figure) => getComputedStyle(figure).position")
        assert place != "sticky", "it would cover text"


def test_it_lives_in_a_folder_of_anyone_s(new_page, tmp_path):
    print(site.write_story(tmp_path / "read/this"))
    with files(tmp_path) as base:
        page = new_page(known=base, viewport=NARROW)
        page.goto(f"{base}/read/this/")
        shows(page, 0, 1)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        hrefs = page.locator("a").evaluate_all("(all) => all.map((a) => a.getAttribute('href'))")
        assert all(href.startswith("https://") for href in hrefs)
