"""The static site, from a plain file server, under a sub-path."""

import json
import re
import shutil
import urllib.request
from html import unescape
from itertools import islice
from urllib.parse import unquote

import pytest
from filelock import FileLock
from playwright.sync_api import expect

from components.language.scene import scenes
from components.pages.modules import ASSETS
from components.publish import site
from tests.browser.hand import TIMEOUT_MS, player, rest, strays, until, visit, walk
from tests.browser.test_embed import files

UNDER = "courses/normscape"
CHOSEN = "layernorm"  # the scene whose choices are tested here; for the others one recipe is enough
VARIANTS, DRAW = site.variants, site.draw


def variants(scene):
    return VARIANTS(scene) if scene.slug == CHOSEN else islice(VARIANTS(scene), 1)


def draw(kind, scene):
    """A scene's card as bytes; it replaces `site.draw` in these tests, to save time.

    kind: "card" or "moving card". Only the scene CHOSEN gets a moving card; any other gets a card at rest.
    """
    return DRAW(kind if scene.slug == CHOSEN else "card", scene)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, worker_id):
    """The folder of the static site, which is written once for all processes of the test run."""
    own = tmp_path_factory.getbasetemp()
    root = (own if worker_id == "master" else own.parent) / "site"
    with FileLock(f"{root}.lock"):
        if not root.exists():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(site, "variants", variants)
                patch.setattr(site, "draw", draw)
                print(site.write(root / UNDER))
    return root


@pytest.fixture(scope="module")
def base(folder):
    with files(folder) as url:
        yield url


def test_every_link_and_recipe_is_there(folder):
    root = folder / UNDER
    for page in root.rglob("*.html"):
        text = page.read_text("utf-8")
        data = re.findall(r'class="recipes">(.*?)</script>', text)
        links = re.findall(
            r'(?:href|src|data-plotly|data-moving)="([^"]+)"', re.sub(r"<svg.*?</svg>", "", text)
        )
        for link in [*links, *(name for block in data for name in json.loads(block).values())]:
            if link.startswith(("data:", "#")) or (
                f'<a href="{link}">' in text and link.startswith("https:")
            ):
                continue  # readers may follow it; browsers do not load it by themselves
            target = page.parent / unquote(unescape(re.split("[?#]", link)[0]))
            assert not link.startswith(("/", "http")) and target.exists(), (page, link)
    assert {p.parent.name for p in root.glob("*/index.html")} >= set(scenes())
    assert not [*root.rglob("*.mjs")], "nginx 1.22 sends .mjs files with a type that browsers refuse"


@pytest.mark.allow_errors("file://")
@pytest.mark.parametrize("path", ["index.html", "fold/index.html", "story/index.html", "words/index.html"])
def test_a_page_from_the_disk_says_what_to_do(new_page, folder, path):
    """A page opened from disk says what to do, because browsers block its modules."""
    page = new_page()
    page.goto((folder / UNDER / path).as_uri())
    page.wait_for_selector(".unmoved:has-text('python -m http.server')")
    assert "normscape export" in page.locator(".unmoved").inner_text()


@pytest.mark.allow_errors("file://")
def test_a_saved_page_of_the_server_says_what_to_do(new_page, server, tmp_path):
    """A page that a browser has saved, with a folder of its scripts, says how to get a working figure."""
    with urllib.request.urlopen(f"{server}/fold") as answer:
        text = answer.read().decode()
    saved = re.sub(r'src="[^"]*/(\w+\.m?js)"', r'src="./fold_files/\1"', text)
    (tmp_path / "fold_files").mkdir()
    for name in re.findall(r'src="\./fold_files/(\w+\.m?js)"', saved):
        shutil.copy(ASSETS / "page" / name, tmp_path / "fold_files")
    (tmp_path / "fold.html").write_text(saved, "utf-8")
    page = new_page()
    page.goto((tmp_path / "fold.html").as_uri())
    page.wait_for_selector(".unmoved:has-text('own address')")


def test_the_gallery_leads_to_scenes(new_page, base):
    page = new_page(known=base)
    page.goto(f"{base}/{UNDER}/")
    assert page.locator(".card").count() == len(scenes()) and strays(page) == []
    seen = "[...document.images].filter((i) => i.checkVisibility())"
    assert page.evaluate(f"{seen}.length") == len(scenes()), "of each, that of one theme"
    for k in range(len(scenes())):  # each is fetched when it comes near
        page.evaluate(f"{seen}[{k}].scrollIntoView()")
        page.wait_for_function(f"() => {seen}[{k}].complete && {seen}[{k}].naturalWidth", timeout=TIMEOUT_MS)
    page.locator(".card").first.click()
    until(page, "p.ready")
    page.get_by_role("button", name="Scenes").click()
    page.locator(".menu").get_by_role("link", name=scenes()["fold"].title).click()
    until(page, "p.ready && p.slug === 'fold'")
    page.locator(".brand").click()
    page.wait_for_selector(".cards")


def test_the_search_needs_no_server(new_page, base):
    page = new_page(known=base)
    page.goto(f"{base}/{UNDER}/words/")
    page.get_by_role("button", name="Search").click()
    page.wait_for_selector("dialog input:focus")
    page.keyboard.type("are angles halved")
    page.click(f".found a[href$='/{UNDER}/fold/#why-are-angles-halved-at-t-1']")
    page.wait_for_selector("#why-are-angles-halved-at-t-1", state="visible")


def test_the_tour_runs_without_a_server(new_page, base):
    page = new_page(known=base)
    walk(page, f"{base}/{UNDER}/layernorm/", scenes()["layernorm"])
    expect(page.locator("#choice-n")).to_have_value("1000")  # which the site has for the last stop only


def test_sliders_choices_and_links_live(new_page, base):
    page = new_page(known=base)
    visit(page, f"{base}/{UNDER}/layernorm/?d=2&gamma1=1.5&progress=1")
    assert player(page, "[p.choices.d, p.params.gamma1, p.progress]") == ["2", 1.5, 1]
    page.locator("#parameter-gamma2").press("ArrowRight")
    rest(page)
    until(page, "location.search.includes('gamma2=1.01')")
    page.locator(".more > summary").click()
    page.select_option("#choice-variant", index=1)
    until(page, "p.ready && p.choices.variant !== 'layernorm'")
    page.go_back()
    until(page, "p.ready && p.params.gamma2 === 1.01 && p.choices.variant === 'layernorm'")
    expect(page.locator(".notice")).to_be_hidden()


def test_what_is_not_there_says_so_and_the_picture_stays(new_page, base):
    page = new_page(known=base)
    visit(page, f"{base}/{UNDER}/layernorm/")
    before = player(page, "p.drawn(p.recipe.clouds[0].name).length")
    assert player(page, "p.choose({ d: '2', n: '800' })") is False
    expect(page.locator(".notice")).to_contain_text("needs the server")
    assert (
        player(page, "p.drawn(p.recipe.clouds[0].name).length") == before
        and player(page, "p.choices.d") == "3"
    )
    visit(page, f"{base}/{UNDER}/layernorm/?n=77")
    expect(page.locator(".notice")).to_contain_text("needs the server")
    assert player(page, "p.ready && p.panels.length > 0")
