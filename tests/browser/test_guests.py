"""Figures in other people's pages, made with the tools that docs/embedding.md names, and then opened.

Quarto does not run here, because its package downloads the program from another host. Instead, the test opens
the raw HTML block that docs/embedding.md shows for Quarto. Quarto passes such a block through unchanged.
"""

import re
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from markdown_it import MarkdownIt

import app
from tests.browser.conftest import ROOT
from tests.browser.hand import until

DOCS = (ROOT / "docs/embedding.md").read_text("utf-8")
REVEAL = ROOT / "node_modules/reveal.js/dist"
HTML = '<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">'
T = "fold --set t=1.5 --out fold.html"


def block(name):
    """The code block of docs/embedding.md that follows the comment `<!-- page: {name} -->`."""
    found = re.search(rf"<!-- page: {re.escape(name)} -->\n(`{{3,}})\w*\n(.*?)\n\1", DOCS, re.S)
    return found[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A temporary working folder with the figure that docs/embedding.md exports first."""
    monkeypatch.chdir(tmp_path)
    assert f"normscape export {T}" in DOCS
    app.main(["export", *T.split()])
    return tmp_path


def lives(page, words="LayerNorm folds the circle"):
    """Check that the iframe with the title `words` shows the exported state, and that its figure can move."""
    frame = page.locator(f"iframe[title='{words}']").element_handle().content_frame()
    until(frame, "p.ready")
    assert frame.evaluate("() => normscape.players[0].params.t") == 1.5
    frame.get_by_role("slider", name="t, in the formula").press("ArrowRight")
    until(frame, "p.params.t > 1.5")


def opened(new_page, address):
    page = new_page(offline=str(address).startswith("file:"))
    page.goto(str(address))
    return page


def test_markdown_has_a_frame(folder, new_page):
    html = MarkdownIt("commonmark").render(block("markdown"))
    (folder / "page.html").write_text(HTML + html, "utf-8")
    page = opened(new_page, (folder / "page.html").as_uri())
    lives(page)
    assert page.locator("p").all_inner_texts() == ["Watch the circle fold:", "Then move ε."]


def test_quarto_hands_on_its_raw_block(folder, new_page):
    raw = re.search(r"```\{=html\}\n(.*?)\n```", block("quarto"), re.S)[1]
    (folder / "page.html").write_text(HTML + raw, "utf-8")
    lives(opened(new_page, (folder / "page.html").as_uri()))


def test_slides_start_the_figure_when_its_slide_comes(folder, new_page):
    shutil.copytree(REVEAL, folder / "reveal")
    slides = f"<section>Before</section>{block('slides')}<section>After</section>"
    (folder / "page.html").write_text(
        f'{HTML}<link rel="stylesheet" href="reveal/reveal.css">'
        f'<div class="reveal"><div class="slides">{slides}</div></div>'
        '<script src="reveal/reveal.js"></script><script>Reveal.initialize({ transition: "none" })</script>',
        "utf-8",
    )
    page = opened(new_page, (folder / "page.html").as_uri())
    page.wait_for_function("() => Reveal.isReady()")
    frame = page.locator("iframe")
    assert frame.get_attribute("src") is None
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('iframe').src.endsWith('fold.html')")
    lives(page)
    page.locator("h2").click()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => !document.querySelector('iframe').src")


@pytest.fixture
def site(folder):
    """Build a Hugo site from the two files that the guide shows, and serve it; yields its address."""
    (folder / "hugo.toml").write_text('baseURL = "/"\n')
    files = {"layouts/index.html": f"{HTML}{{{{ .Content }}}}"}
    files |= {
        name: block(f"hugo {name}") for name in ("layouts/shortcodes/normscape.html", "content/_index.md")
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "static").mkdir()
    (folder / "fold.html").rename(folder / "static/fold.html")
    built = subprocess.run(
        [Path(sys.executable).with_name("hugo"), "--quiet"], cwd=folder, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    handler = partial(Silent, directory=folder / "public")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_hugo_has_a_shortcode(site, new_page):
    page = new_page(known=site)
    page.goto(site)
    lives(page)
    assert page.locator("p").first.inner_text() == "Watch the circle fold:"
