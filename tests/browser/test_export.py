"""Exported files: they work without a server, and show what was requested."""

import asyncio
import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from imageio_ffmpeg import get_ffmpeg_exe
from PIL import Image
from playwright.sync_api import expect

import app
from components.language.scene import scenes
from components.publish import export, gif
from components.training.recipes import state_of
from tests.browser.hand import player, rest, until, visit
from tests.browser.test_pages import NO_WEBGL
from tests.threads import in_thread
from tests.waiting import PATIENCE
from tools.browser import find

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("more", [[], ["--assets", "c# 50%41?"]], ids=["one file", "shared assets"])
def test_a_page_from_the_disk_lives_with_the_network_off(new_page, tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    state = ["--set", "n=60", "gamma1=1.5", "--progress", "1", "--choice", "d"]
    app.main(["export", "layernorm", "--out", "a.html", *state, *more])
    page = new_page(offline=True)
    page.goto((tmp_path / "a.html").as_uri())
    until(page, "p.ready")
    assert player(page, "[p.choices.n, p.params.gamma1, p.progress, p.panels[0].fast]") == [
        "60",
        1.5,
        1,
        True,
    ]
    before = np.array(player(page, "[...p.drawn(p.recipe.clouds[0].name)]"))
    page.locator(".controls > summary").click()
    page.locator("#parameter-mean").press("ArrowRight")
    page.locator(".progress").press("ArrowRight")
    rest(page)
    assert player(page, "p.progress") == 2
    assert not np.allclose(player(page, "[...p.drawn(p.recipe.clouds[0].name)]"), before)
    page.select_option("#choice-d", "2")
    until(page, "p.ready && p.choices.d === '2'")
    assert player(page, "[p.recipe.clouds[0].points.shape, p.choices.n, p.params.gamma1]") == [
        [60, 2],
        "60",
        1.5,
    ]
    expect(page.locator(".notice")).to_be_hidden()
    expect(page.locator("select:not(.speed)")).to_have_count(1)
    for theme in ("dark", "light"):
        page.goto(f"{(tmp_path / 'a.html').as_uri()}?theme={theme}")
        expect(page.locator("html")).to_have_attribute("data-scheme", theme)


def test_a_file_without_webgl_asks_no_server_for_a_picture(new_page, tmp_path):
    app.main(["export", "layernorm", "--out", str(tmp_path / "a.html"), "--set", "n=60"])
    page, asked = new_page(offline=True), []
    page.add_init_script(NO_WEBGL)
    page.goto((tmp_path / "a.html").as_uri())
    until(page, "p.ready")
    page.on("request", lambda request: asked.append(request.url))
    page.on("download", lambda download: asked.append(download.url))
    page.click("[aria-label='More buttons']")
    page.click("[aria-label='Save the picture']")
    page.wait_for_timeout(500)
    assert asked == [] and page.url.endswith("a.html")


def command(folder, *arguments):
    known = {**os.environ, "BROWSER_PATH": find()}
    got = subprocess.run(
        [sys.executable, ROOT / "app.py", "export", *arguments],
        cwd=folder, env=known, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert got.returncode == 0, got.stderr
    return got


def spread(image):
    """The largest standard deviation of a colour channel over the pixels, from 0 to 127.5."""
    return np.asarray(image.convert("RGB"), float).std(axis=(0, 1)).max()


def test_pictures(tmp_path):
    small = ["--set", "n=60", "--progress", "2", "--width", "400", "--height", "300", "--scale", "1"]
    command(tmp_path, "layernorm", "--out", "a.png", *small, "--theme", "dark")
    picture = Image.open(tmp_path / "a.png")
    assert picture.size == (400, 300) and spread(picture) > 5
    assert max(picture.convert("RGB").getpixel((399, 150))) < 60, "dark"


# Pictures are compared at a quarter of their size, where antialiasing does not matter: at most this share of
# pixels may differ by this much (of 255). A figure at two thirds of its size, with 3D layers drawn twice,
# gave 9 to 24 %.
DIFFERENT, MOST = 24, 0.01


@pytest.mark.parametrize("slug", ["layernorm", "fold", "digits"], ids=["3D", "three 2D views", "3D and 2D"])
def test_a_pdf_shows_what_the_png_shows(slug, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", find())
    look = export.Look(width=800, height=560, scale=1.0)
    png, pdf = in_thread(asyncio.run, both(slug, look))
    with pypdfium2.PdfDocument(pdf) as paper:
        assert len(paper) == 1
        printed = paper[0].render(scale=96 / 72).to_pil()
    shown = Image.open(io.BytesIO(png))
    assert printed.size == shown.size == (look.width, look.height)
    apart = np.abs(quarter(printed) - quarter(shown)).max(axis=2) > DIFFERENT
    assert apart.mean() < MOST


def quarter(image):
    return np.asarray(image.convert("RGB").reduce(4), float)


async def both(slug, look):
    """A picture of a scene's default state in two formats: the bytes of a PNG, and those of a PDF.

    look: a `Look`, which has the width and height of both.
    """
    scene = scenes()[slug]
    async with export.plate(scene, state_of(scene, {}, tour=False), look) as sheet:
        return await sheet.png(), await sheet.pdf()


def exported(slug, out, *arguments):
    """Run `normscape export <slug> --out <out>` with further arguments, so that the file `out` is written.

    It runs in a thread of this process, because a new process would have to import everything first.
    """
    in_thread(app.main, ["export", slug, "--out", str(out), *arguments])


def test_a_gif_is_small_by_default(tmp_path, monkeypatch):
    """A GIF of one second of `spiral` is smaller than MAX_BYTES / 6 at the default width and height.

    So a GIF of a whole run, six seconds, fits into MAX_BYTES. The GIF of `spiral` was once the largest.
    """
    monkeypatch.setenv("BROWSER_PATH", find())
    exported("spiral", tmp_path / "a.gif", "--seconds", "1")
    assert (tmp_path / "a.gif").stat().st_size < gif.MAX_BYTES / 6
    with Image.open(tmp_path / "a.gif") as film:
        assert film.size == (gif.LOOK.width, gif.LOOK.height), "not made smaller"


def test_films(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", find())
    small = ["--seconds", "1", "--fps", "6", "--width", "400", "--height", "301", "--scale", "1"]
    got = command(tmp_path, "stretch", "--out", "a.gif", *small)
    assert "6/6" in got.stderr and "5/6" not in got.stderr and not got.stdout
    with Image.open(tmp_path / "a.gif") as film:
        assert (film.n_frames, film.size, film.info["loop"]) == (6, (400, 301), 0)
        first = np.asarray(film.convert("RGB"), float)
        film.seek(5)
        assert spread(film) > 5 and np.abs(np.asarray(film.convert("RGB"), float) - first).mean() > 0.1
    exported("activation", tmp_path / "a.mp4", *small, "--turn", "eps=0.1:2")
    read = [get_ffmpeg_exe(), "-i", tmp_path / "a.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    film = subprocess.run(read, capture_output=True, check=True)
    pictures = np.frombuffer(film.stdout, np.uint8).reshape(-1, 300, 400, 3).astype(float)
    assert b"h264" in film.stderr and len(pictures) == 6
    assert np.abs(pictures[0] - pictures[-1]).mean() > 0.1


# The titles of each view that are visible; those beside their marks begin with "*".
TITLES = """[...document.querySelectorAll(".views > .view")].map((view) =>
  [...view.querySelectorAll(".legend li")].filter((e) => e.checkVisibility())
    .map((e) => (e.matches(".named") ? "*" : "") + e.textContent.split(":")[0]))"""


def test_each_name_has_one_place_in_a_film(monkeypatch):
    """In all frames of a film, a title has one place: beside its mark, or in the legend if the mark moves."""
    monkeypatch.setenv("BROWSER_PATH", find())
    scene = scenes()["placement"]
    state = state_of(scene, {}, tour=False)
    moments = export.frames(state, replace(gif.LOOK, seconds=1.0))
    titles = in_thread(asyncio.run, titles_of_frames(scene, state, [moments[0], moments[7], moments[-1]]))
    assert titles[0] == titles[1] == titles[2]
    sphere, length, turn = map(set, titles[0])
    assert sphere >= {"*length, logarithmic", "*90° from the start", "pre-LN", "peri-LN", "the token"}
    assert {title.removeprefix("*") for title in length} >= {"peri-LN", "post-LN", "nGPT", "√(1 + 2k)"}
    assert any(title.startswith("*") for title in turn)


async def titles_of_frames(scene, state, moments):
    async with export.plate(scene, state, gif.LOOK, film=True) as sheet:
        await sheet.place_names(moments)
        titles = []
        for moment in moments:
            await sheet.moment(*moment)
            titles.append(await sheet.run(TITLES))
        return titles


@pytest.mark.pixels
def test_printing_has_the_3d_picture(page):
    """Printers find WebGL canvases empty, so a copy covers them while printing."""
    visit(page, "/layernorm?n=60")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    filled = "(c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v) => v).length"
    assert page.eval_on_selector("canvas.printed", filled) > 1000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("canvas.printed").count() == 0
