"""Layout: pages on phones, and embeds in their frames. (For the tour's card see `test_scenes`.)"""

import json

import pytest
from playwright.sync_api import expect

from components.language.scene import scenes
from tests.browser.hand import SMALL_3D, frames, player, rest, until, visit

DESK, TELEPHONE, LYING = (1024, 768), (390, 844), (844, 390)
FRAMES = [(640, 420), (720, 720)]  # sizes that hosts give to frames; the second is that of our own snippet
LEAST = 220  # pixels: the height of a legible figure
FINGER = 40  # pixels: the least width and height of a control


def resize(page, size):
    """Resize the window, and wait until the page has changed its layout, which may be a little later."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_function("(size) => innerWidth === size[0] && innerHeight === size[1]", arg=size)
    frames(page)


def box(page, selector):
    return page.locator(selector).first.bounding_box()


def test_on_a_telephone_the_hero_and_the_scrubber_stay(kept):
    page = kept
    resize(page, TELEPHONE)
    visit(page, "/fold")
    for far in (0, 700, 1400):
        page.evaluate("(far) => scrollTo(0, far)", far)
        hero, scrubber = box(page, ".view"), box(page, ".scrubber")
        assert hero["height"] >= LEAST and scrubber["y"] == pytest.approx(hero["y"] + hero["height"], abs=1)
        assert far == 0 or hero["y"] == 0
        assert scrubber["y"] + scrubber["height"] < (0.7 if far else 0.85) * TELEPHONE[1]
    page.evaluate("scrollTo(0, 0)")
    row = [each.bounding_box() for each in page.locator(".tools > *").all() if each.is_visible()]
    assert len({each["y"] + each["height"] / 2 for each in row}) == 1, "one row"
    targets = "main :is(button, select, input:not([type=checkbox]), summary)"
    assert page.evaluate(SMALL, [targets, FINGER]) == []


SMALL = """([targets, least]) => [...document.querySelectorAll(targets)].filter((e) => {
  const { width, height } = e.getBoundingClientRect();
  return e.checkVisibility() && Math.min(width, height) < least - 0.5;
}).map((e) => e.outerHTML.slice(0, 90))"""


def test_on_a_narrow_telephone_a_finger_can_press_the_course_a_training_and_a_drop(new_page):
    page = new_page(viewport={"width": 360, "height": 640}, has_touch=True)
    visit(page, "/spiral?progress=1")
    right = 0
    for link in page.locator(":is(.top a, .top button):visible").all():
        at = link.bounding_box()
        assert at["x"] >= right and min(at["width"], at["height"]) >= 24, link.text_content()
        right = at["x"] + at["width"]
    assert page.locator(".event").first.inner_text() == "drop 1", "what the number counts"
    page.locator("summary", has_text="Train it yourself").click()
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_visible()
    assert page.evaluate(SMALL, [".training :is(button, input, summary)", FINGER]) == []


def test_a_notice_is_not_covered_by_the_button_of_the_tour(kept):
    resize(kept, DESK)
    visit(kept, "/fold")
    player(kept, "p.notice('A long message. '.repeat(30))")
    notice, button = box(kept, ".notice"), box(kept, ".head .on")
    title = box(kept, ".head h1")
    assert notice["y"] + notice["height"] <= button["y"] < title["y"] + title["height"]


# The distance of each label from the centre of each large point of a 3D view, in sizes of that point.
NEAREST_LABELS = """async () => {
  const { flat } = await import("/assets/engine/perspective.mjs");
  const panel = normscape.players[0].panels[0];
  const { gd, view, frame, ranges } = panel;
  const origin = gd.getBoundingClientRect();
  const named = [...gd.parentElement.querySelectorAll(".legend .named")];
  const labels = named.map((e) => e.getBoundingClientRect());
  return view.layers.flatMap((mark, l) => {
    if (mark.draws !== "points" || mark.size < 10 || frame[l].opacity === 0) return [];
    const [x, y] = flat(frame[l].points, ranges, panel.camera(), gd.clientWidth, gd.clientHeight);
    return labels.map(({ left, right, top, bottom }) => Math.hypot(
      Math.max(left - origin.left - x, 0, x - right + origin.left),
      Math.max(top - origin.top - y, 0, y - bottom + origin.top)) / mark.size);
  });
}"""


def test_on_a_telephone_no_label_touches_a_ring(kept):
    """In the scene `heads`, as it opens, no label overlaps a large point, such as a ring.

    In 3D, near points are drawn larger than far ones.
    """
    resize(kept, TELEPHONE)
    visit(kept, "/heads")
    player(kept, "(p.pause(), p.reset())")
    rest(kept, "p.panels[0].gd.parentElement.querySelector('.named')")
    nearest = kept.evaluate(NEAREST_LABELS)
    assert nearest and min(nearest) > 1.2


def test_no_label_touches_a_count_of_points(kept):
    resize(kept, TELEPHONE)
    visit(kept, "/particles?beta=1&time=1.5&progress=0")
    rest(kept, "p.panels[0].gd.data.some(({ uid }) => uid === 'crowds')")
    count = box(kept, ".views > .view .scatterlayer text:has-text('×')")
    title = box(kept, ".legend .named:has-text('followed')")
    assert title["y"] + title["height"] <= count["y"] + 1


def test_on_a_telephone_the_legend_keeps_away_from_the_caption_of_the_clock(kept):
    resize(kept, TELEPHONE)
    visit(kept, "/drift?progress=1")
    rest(kept, "p.panels[0].gd.parentElement.querySelector('.named')")
    legend, caption = box(kept, ".legend > li:not(.named)"), box(kept, ".clock > .caption")
    assert legend["y"] + legend["height"] + 3 <= caption["y"], (legend, caption)


def test_titles_stay_in_the_legend_of_a_view_without_room_beside_its_marks(kept):
    """If a view has `beside=False`, its titles stay in the legend, and do not move beside the marks.

    In the scene `shuffle`, titles beside marks would look like names of rows.
    """
    resize(kept, DESK)
    visit(kept, "/shuffle")
    rest(kept, "p.panels[0].gd.parentElement.querySelector('.legend li')")
    assert kept.locator(".legend li:visible").count() >= 4
    assert kept.locator(".legend .named").count() == 0


def test_other_views_are_tabs_that_are_drawn_when_they_are_chosen(kept):
    page = kept
    resize(page, TELEPHONE)
    page.goto("/fold?t=1")
    until(page, "p.ready")
    shown = "[...p.root.querySelectorAll('.views > .view')].map((e) => e.checkVisibility())"
    assert player(page, shown) == [True, True, False]
    assert player(page, "p.panels.map((panel) => panel.opened)") == [True, True, False]
    assert page.locator("main > .numbers").is_hidden()
    page.get_by_role("tab").first.focus()
    page.keyboard.press("ArrowRight")
    until(page, "p.panels[2].opened")
    assert player(page, shown) == [True, False, True] and player(page, "p.progress") == player(
        page, "p.recipe.progress"
    )
    page.keyboard.press("End")
    expect(page.locator("main > .numbers")).to_be_visible()
    assert player(page, shown) == [True, False, False]
    expect(page.get_by_role("tab", selected=True)).to_have_text("Numbers")
    resize(page, DESK)
    expect(page.get_by_role("tablist")).to_have_count(0)
    assert player(page, shown) == [True, True, True]
    rest(page)


def test_on_a_telephone_the_tour_selects_the_tab_that_a_stop_names(kept):
    """A stop of the tour selects the tab whose title is in its text; the reader can then select another."""
    selected = kept.get_by_role("tab", selected=True)
    resize(kept, TELEPHONE)
    visit(kept, "/outlier?tour=5")
    expect(selected).to_have_text("Largest factor on a gradient")
    kept.get_by_role("button", name="Next", exact=True).click()
    expect(selected).to_have_text("Near the limit, rounded to 8 bits")
    kept.get_by_role("tab", name="Numbers").click()
    kept.get_by_label("norm", exact=True).select_option("layernorm")
    until(kept, "p.choices.norm === 'layernorm' && p.ready")
    expect(selected).to_have_text("Numbers")
    visit(kept, "/strands?tour=6")
    expect(selected).to_have_text("Strands in trained networks")
    resize(kept, DESK)


@pytest.mark.parametrize("size", [TELEPHONE, (360, 640)])
def test_on_a_telephone_both_pictures_are_visible_while_a_slider_is_moved(kept, size):
    page, slider = kept, "#parameter-q"
    resize(page, size)
    visit(page, "/rmsnorm?progress=3&q=1")
    rest(page)
    figures = page.locator(".views > .view > .figure")

    def boxes():
        return [figure.bounding_box() for figure in figures.all()]

    high = page.evaluate("document.documentElement.scrollHeight")
    below = boxes()[1]
    page.evaluate(
        "(slider) => scrollBy(0, document.querySelector(slider).getBoundingClientRect().top"
        " - 0.75 * innerHeight)",
        slider,
    )
    frames(page)
    one, two = boxes()
    scrubber = box(page, ".scrubber")
    assert one["x"] + one["width"] <= two["x"] and two["x"] + two["width"] <= size[0]
    for each in (one, two):
        assert (
            each["y"] >= 0 and each["y"] + each["height"] <= scrubber["y"] and each["width"] > 0.4 * size[0]
        )
    assert one["y"] == pytest.approx(two["y"], abs=1)
    assert scrubber["y"] + scrubber["height"] < box(page, slider)["y"], "the slider is not covered"
    assert page.evaluate("document.documentElement.scrollHeight") == high, "nothing else has moved"
    page.evaluate("scrollTo(0, 0)")
    frames(page)
    assert boxes()[1] == below
    resize(page, DESK)


def test_on_a_telephone_a_graph_is_not_drawn_at_half_the_width(kept):
    resize(kept, TELEPHONE)
    visit(kept, "/fold?t=1&progress=1")
    kept.evaluate("scrollTo(0, 900)")
    frames(kept)
    assert box(kept, ".view.chosen")["width"] > 0.9 * TELEPHONE[0]
    kept.evaluate("scrollTo(0, 0)")
    resize(kept, DESK)


PAIRED = "p.root.classList.contains('paired')"
# Scroll until the first view covers the second one's place.
PAST = """scrollBy(0, document.querySelector(".views > .view.chosen").getBoundingClientRect().bottom
  - document.querySelector(".views > .view").getBoundingClientRect().height)"""


@pytest.mark.parametrize(
    ("link", "tab", "choices", "paired"),
    [
        ("/jacobian?progress=1", 0, {"pass": "backward"}, True),  # with new panels
        ("/norms?progress=1", 1, {"below": "numbers"}, False),  # the same panels, one now with a graph
        ("/rmsnorm?progress=1&controls=q", 0, {"beside": "plane"}, True),  # without the scrubber
    ],
)
def test_on_a_telephone_a_choice_does_not_wait_for_a_scroll_to_arrange_the_pictures(
    new_page, link, tab, choices, paired
):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, link)
    rest(page)
    assert not player(page, PAIRED), "at the top of the page"
    page.locator(".tabs button").nth(tab).click()
    page.evaluate(PAST)
    frames(page)
    assert player(page, PAIRED)
    player(page, "p.choose(value)", choices)
    rest(page, f"Object.entries({json.dumps(choices)}).every(([name, x]) => p.recipe.chosen[name] === x)")
    assert player(page, PAIRED) == paired


@pytest.mark.parametrize("link", ["/rmsnorm?progress=1", "/rmsnorm?progress=1&tour=2"])
def test_on_a_telephone_a_notice_is_seen_from_the_controls_in_front_of_both_pictures(new_page, link):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, link)
    rest(page)
    page.evaluate(PAST)
    frames(page)
    assert player(page, PAIRED)
    player(page, "p.notice('A message. '.repeat(9))")
    frames(page)
    notice = box(page, ".notice")
    assert notice["y"] == 0
    for x in (0.25, 0.75):
        at = [x * 390, notice["height"] / 2]
        assert page.evaluate("(at) => document.elementFromPoint(...at).matches('.notice, .notice *')", at), x


def test_a_telephone_that_lies_on_its_side(kept):
    page = kept
    resize(page, LYING)
    visit(page, "/fold?tour=2")
    hero, card = box(page, ".view"), box(page, ".guide")
    assert hero["height"] >= LEAST and hero["y"] >= 0 and hero["y"] + hero["height"] <= LYING[1]
    assert card["x"] > hero["x"] + hero["width"] and 0 <= card["y"] < 0.2 * LYING[1]
    formula = box(page, ".formula")
    assert formula["height"] > 0 and formula["y"] + formula["height"] <= hero["y"] + 1
    page.evaluate("normscape.players[0].tour.visit(0)")
    resize(page, DESK)
    page.locator(".guide").get_by_role("button", name="Close").click()


def test_at_a_zoom_of_400_percent_the_card_of_the_tour_is_whole_and_its_answers_are_reached(kept):
    resize(kept, (360, 225))
    visit(kept, "/layernorm?tour=2&progress=0")
    kept.locator(".guide h2").focus()
    cut = "(e) => e.scrollHeight > e.clientHeight + 1"
    assert not kept.locator(".guide").evaluate(cut)
    for answer in kept.locator(".question button").all():
        kept.keyboard.press("Tab")
        assert answer.evaluate("(e) => e === document.activeElement")
        at = answer.bounding_box()
        assert at["y"] >= 0 and at["y"] + at["height"] <= 225.5
        answer.click(trial=True, timeout=5000)  # nothing covers it
    kept.locator(".guide").get_by_role("button", name="Close").click()
    resize(kept, DESK)


# The widths from 300 to 500 pixels at which a paragraph scrolls sideways.
SCROLLS = """(p) => {
  const widths = Array.from({ length: 200 }, (_, i) => 300 + i);
  const found = widths.filter((width) => {
    p.style.width = `${width}px`;
    return p.scrollWidth > p.clientWidth;
  });
  p.removeAttribute("style");
  return found;
}"""


def test_a_root_at_the_end_of_a_line_makes_no_paragraph_scroll(kept):
    visit(kept, "/layernorm?progress=0")
    paragraphs = kept.locator(".prose p:has(:not(.block) > math msqrt > mi:only-child)").all()
    assert len(paragraphs) > 2
    assert [p.evaluate(SCROLLS) for p in paragraphs] == [[]] * len(paragraphs)


# Pairs of parts of a scene that overlap.
OVERLAPS = """() => {
  const parts = [...document.querySelectorAll(
    "main .views, main .scrubber, main .controls, main .explained, main > .numbers, main > .text"
  )].filter((e) => e.checkVisibility()).map((e) => [e.className, e.getBoundingClientRect()]);
  return parts.flatMap(([name, a], k) => parts.slice(0, k).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
  ).map(([other]) => [name, other]));
}"""


def test_a_low_narrow_window_has_tabs_beside_the_figure_and_whole_numbers_beside_sliders(kept):
    resize(kept, (720, 500))
    visit(kept, "/heads?progress=1")
    assert kept.locator(".views > .tabs").is_visible()
    assert kept.locator(".views .view:visible").count() == 2
    assert kept.locator(".view.chosen .figure").bounding_box()["height"] > 100
    visit(kept, "/strands?progress=1")
    fields = kept.locator(".group.vector .entry")
    cut = "(all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length"
    assert fields.count() == 10 and fields.evaluate_all(cut) == 0
    resize(kept, DESK)


def test_a_window_without_the_tab_for_numbers_always_shows_a_second_view(kept):
    """A window that is too wide for the tab "Numbers" always shows two views.

    This holds after a press of End in the list of tabs. It also holds if "Numbers" was chosen in a narrow
    window, which is then widened.
    """
    resize(kept, (900, 560))
    visit(kept, "/heads?progress=1")
    tabs = kept.locator(".views > .tabs")
    tabs.get_by_role("tab").first.press("End")
    expect(tabs.locator(":focus")).to_have_attribute("aria-selected", "true", timeout=5000)
    assert kept.locator(".views .view:visible").count() == 2
    resize(kept, TELEPHONE)
    tabs.get_by_role("tab", name="Numbers").click()
    assert kept.locator(".views .view:visible").count() == 1
    resize(kept, (900, 560))
    expect(kept.locator(".views .view:visible")).to_have_count(2, timeout=5000)
    assert tabs.locator("[tabindex='0']:visible").count() == 1
    resize(kept, DESK)


@pytest.mark.parametrize("size", [LYING, (640, 400)])
def test_in_a_low_window_nothing_scrolls_over_text(kept, size):
    resize(kept, size)
    visit(kept, "/heads")
    for far in (0, 280, 700):
        kept.evaluate("(far) => scrollTo(0, far)", far)
        assert kept.evaluate(OVERLAPS) == []
    resize(kept, DESK)


@pytest.mark.parametrize("size", [(720, 500), (800, 600), (900, 700)])
def test_the_headline_is_below_the_formula_in_a_narrow_window(kept, size):
    visit(kept, "/layernorm")
    resize(kept, size)
    formula, headline = box(kept, ".formula"), box(kept, ".headline")
    assert formula["y"] + formula["height"] <= headline["y"] + 1
    resize(kept, DESK)


def test_the_headline_is_below_the_formula_in_large_type(kept):
    resize(kept, (1280, 800))
    visit(kept, "/layernorm?tour=2&progress=0")
    kept.evaluate("document.documentElement.style.fontSize = '24px'")
    frames(kept)
    formula, headline = box(kept, ".formula"), box(kept, ".headline")
    assert formula["y"] + formula["height"] <= headline["y"] + 1
    kept.evaluate("document.documentElement.removeAttribute('style')")
    kept.locator(".guide").get_by_role("button", name="Close").click()
    resize(kept, DESK)


def test_a_long_title_stays_in_its_panel(kept):
    resize(kept, DESK)
    visit(kept, "/heads")
    caption = kept.locator(".view:nth-child(2) > figcaption")
    caption.evaluate("(caption) => { caption.textContent = 'encoder.groups.0.layers_'.repeat(6) }")
    assert caption.evaluate("(caption) => caption.scrollWidth <= caption.clientWidth")


# The height and width of what the page contains, and the height of the area of all figures (`.views`).
SHARE = """() => {
  const page = document.documentElement, hero = document.querySelector(".views > .view, .views");
  return [page.scrollHeight, page.scrollWidth, hero.getBoundingClientRect().height];
}"""


# Put the bodies of other embeds into the page of an embed, one at a time. Returns for each its slug, its
# document without title and body, and the result of SHARE.
SERVED = f"""async (slugs) => {{
  const found = [];
  for (const slug of slugs) {{
    window.served ??= {{}};
    served[slug] ??= await (await fetch(slug)).text();
    const {{ documentElement, head, body }} = new DOMParser().parseFromString(served[slug], "text/html");
    head.querySelector("title").remove();
    document.body.replaceWith(body);
    await document.fonts.ready;
    found.push([slug, documentElement.outerHTML, ({SHARE})()]);
  }}
  return found;
}}"""


def fits(share, size):
    """Whether nothing scrolls in a frame of this size, and the main figure is at least LEAST pixels high.

    share: the height and width of the frame's contents, and the height of the main figure, in pixels. size:
    width and height of the frame in pixels.
    """
    tall, wide, hero = share
    return tall <= size[1] and wide <= size[0] and hero >= LEAST


def test_an_embed_scrolls_in_no_frame(page):
    """In no frame does the page of an embed scroll, even before its script runs.

    The page, of any scene, already reserves space for everything that the player adds.
    """
    page.route("**/embed.mjs", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto("/embed/fold")
    for size in FRAMES:
        resize(page, size)
        found = page.evaluate(SERVED, list(scenes()))
        assert len({around for _, around, _ in found}) == 1, "or else each is a page of its own"
        assert [(slug, share) for slug, _, share in found if not fits(share, size)] == []


@pytest.mark.parametrize("link", [f"layernorm?{SMALL_3D}", "spiral?n=40&depth=1", "language"])
def test_a_living_embed_scrolls_in_no_frame(kept, link):
    page = kept
    resize(page, FRAMES[0])
    visit(page, f"/embed/{link}")
    for size in FRAMES:
        resize(page, size)
        share = page.evaluate(SHARE)
        assert fits(share, size), (size, share)


REDRAWS = "void p.panels.at(-1).Plotly.redraw(p.panels.at(-1).gd)"  # Plotly may then report no click


def test_a_click_on_a_drop_plays_it(kept):
    """A click on a drop of the loss curve plays the training through this drop.

    At the end, the figure follows another point or shows another stage than before. The click works even
    while Plotly draws. Enter on the drop's button does the same as the click.
    """
    page = kept
    visit(page, "/spiral?progress=1")
    code = """(() => {
      const panel = p.panels.at(-1), l = panel.view.layers.findIndex(({ hand }) => hand?.kind === "replay");
      const box = panel.gd.getBoundingClientRect(), [left, top] = panel.pixel(...panel.frame[l].points);
      return [box.x + left, box.y + top];
    })()"""
    rest(page)
    before = player(page, "[p.params.step, p.followed, p.progress]")
    x, y = player(page, code)
    page.mouse.move(x, y)
    page.mouse.down()
    player(page, REDRAWS)
    page.mouse.up()
    until(page, "p.running")
    start = player(page, "p.params.step")
    rest(page, "!p.running")
    end = player(page, "[p.params.step, p.followed, p.progress]")
    assert start < end[0] < before[0] and end[1:] != before[1:]
    player(page, "p.reset()")
    event = page.locator(".event").first
    assert str(f"{end[0]:,.0f}") in event.get_attribute("aria-label")
    event.focus()
    page.keyboard.press("Enter")
    rest(page, "!p.running")
    assert player(page, "[p.params.step, p.followed, p.progress]") == end
    player(page, "p.reset()")
    rest(page)


FIGURES = """[...p.root.querySelectorAll(".views > .view")].map((e) => {
  const { width, height } = e.querySelector(".figure").getBoundingClientRect();
  return [[...e.classList].sort().join(" "), e.style.getPropertyValue("--rows"), width, height];
})"""


def test_a_view_that_replaces_another_is_laid_out_as_on_a_page_that_opens_with_it(kept):
    page = kept
    resize(page, DESK)
    visit(page, "/norms?below=numbers")
    rest(page)
    opened = player(page, FIGURES)
    visit(page, "/norms")
    rest(page)
    assert player(page, FIGURES) != opened
    player(page, "p.choose({ below: 'numbers' })")
    rest(page, "p.recipe.chosen.below === 'numbers'")
    assert player(page, FIGURES) == opened


@pytest.mark.parametrize(
    ("link", "choice", "view"),
    [
        ("/outlier", {"norm": "rmsnorm"}, 2),  # x by itself kept the first range
        ("/absorb?weights=trained", {"weights": "drawn"}, 1),  # y did
    ],
)
def test_axes_of_equal_scale_take_the_ranges_of_the_view_that_replaces_theirs(kept, link, choice, view):
    """After a new choice, both axes of a view with equal scales have the ranges of the new recipe.

    Plotly by itself keeps the old range of an axis if the new one is narrower.
    """
    page = kept
    visit(page, link)
    rest(page)
    [(name, value)] = choice.items()
    before = player(page, f"p.panels[{view}].view.ranges")
    player(page, "p.choose(value)", choice)
    rest(page, f"p.recipe.chosen.{name} === '{value}'")
    ranges = "(({gd, view}) => [gd.layout.xaxis.range, gd.layout.yaxis.range, view.ranges])(p.panels[value])"
    x, y, asked = player(page, ranges, view)
    assert [x, y] == asked != before
