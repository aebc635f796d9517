"""Embeds in other pages: a still picture at first, live once visible, and messages to and from the host."""

import base64
import json
import re
import threading
import urllib.request
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from components.language.scene import scenes
from tests import waiting
from tests.browser.hand import (
    SMALL_2D,
    SMALL_3D,
    TIMEOUT_MS,
    difference,
    frames,
    look,
    player,
    rest,
    until,
    visit,
)

SMALL = {"width": 900, "height": 640}  # the viewport in which videos are recorded
LIGHT = 60_000  # bytes, compressed, that are loaded until a picture is visible
# The script in docs/embedding.md that pages paste to give frames their height.
(SCRIPT,) = re.findall(
    r"## Height\n.*?```html\n(.*?)\n```", Path("docs/embedding.md").read_text("utf-8"), re.S
)
HOST = """<!DOCTYPE html><title>A blog</title><link rel="icon" href="data:,">
<div style="height: 3000px">Words</div>
"""
FRAME = '<iframe src="{}" width="640" height="300" loading="eager"></iframe>'


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def files(folder):
    """Serve a folder with a plain file server; yields its base URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def host(tmp_path, new_page, server):
    """A function `open_host(*paths, **options)` that opens a page of another origin with embedded figures.

    paths: the paths of the embeds. options: those of `new_page`. The embeds are 3000 pixels below the top of
    the page. The function returns the page, and then the frame of each embed.
    """
    with files(tmp_path) as base:

        def open_host(*paths, **options):
            (tmp_path / "blog.html").write_text(
                HOST + "".join(FRAME.format(server + p) for p in paths) + SCRIPT
            )
            page = new_page(known=base, **options)
            page.goto(f"{base}/blog.html")
            return page, *page.frames[1:]

        yield open_host


@cache
def fetched(url):
    """Request `url`; return the body of the response, not decompressed, and whether it is compressed."""
    asked = urllib.request.Request(url, headers={"Accept-Encoding": "br, gzip"})
    with urllib.request.urlopen(asked) as answer:
        body = answer.read()
        packed = bool(answer.headers["Content-Encoding"])
    return body, packed


@pytest.mark.all_scenes
def test_the_first_picture_is_light(server):
    """Until an embed is seen, it loads few bytes: its page, its picture, and files that block painting."""
    for slug in scenes():
        with urllib.request.urlopen(f"{server}/embed/{slug}") as answer:
            page = answer.read().decode()
        early = re.findall(r'(?:src|href)="\.\./([^"]+\.(?:css|js))"', page)
        assert len(early) >= 4
        parts = [fetched(f"{server}/{path}") for path in (f"embed/{slug}", *early)]
        assert parts[0][1], slug
        assert sum(len(body) for body, _ in parts) <= LIGHT, slug


def test_it_waits_to_be_seen_and_then_lives(host):
    page, frame = host(f"/embed/layernorm?{SMALL_2D}&gamma1=1.5&progress=1")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    frame.wait_for_selector("svg.poster")
    page.wait_for_timeout(500)
    assert not [url for url in asked if re.search("plotly|player|recipe", url)]
    tall = page.eval_on_selector("iframe", "(f) => f.height")
    page.locator("iframe").scroll_into_view_if_needed()
    until(frame, "p.ready")
    assert any("plotly" in url for url in asked)
    assert player(frame, "[p.params.gamma1, p.progress, p.choices.n]") == [1.5, 1, "60"]
    wait_for_height(page)
    folded = page.eval_on_selector("iframe", "(f) => f.height")
    assert int(folded) > int(tall)
    frame.locator(".controls > summary").click()
    page.wait_for_function("(low) => document.querySelector('iframe').height > Number(low) + 50", arg=folded)
    wait_for_height(page)

    frame.locator("#parameter-gamma2").focus()
    frame.locator("#parameter-gamma2").press("ArrowRight")
    frame.locator(".progress").press("ArrowRight")
    rest(frame)
    assert player(frame, "[p.params.gamma2, p.progress]") == [1.01, 2]
    frame.select_option("#choice-d", "2")
    until(frame, "p.ready && p.choices.d === '2'")
    rest(frame)
    frame.wait_for_function("() => document.querySelector('.back').search.includes('gamma2=1.01')")
    assert page.evaluate("history.length") <= 2 and page.url.endswith("/blog.html")
    link = frame.locator("a.back")
    assert link.get_attribute("target") == "_blank" and link.get_attribute("rel") == "noopener"
    with page.context.expect_page() as opened:
        link.click()
    visit_again = opened.value
    until(visit_again, "p.ready")
    assert player(visit_again, "[p.choices.d, p.params.gamma1, p.params.gamma2, p.progress]") == [
        "2", 1.5, 1.01, 2,
    ]  # fmt: skip


def wait_for_height(page, k=0):
    """Wait until frame k of the page is as high as its contents."""
    high = "document.body.getBoundingClientRect().height"
    waiting.until(lambda: abs(heights(page)[k] - page.frames[1 + k].evaluate(high)) <= 1)


def heights(page):
    return page.locator("iframe").evaluate_all("(all) => all.map((frame) => Number(frame.height))")


def test_the_height_comes_to_rest(host):
    """Once the figure is at rest, the height of an embed's frame no longer changes.

    The frame is made as high as its contents. If the height of the contents depended on that of the frame,
    both would change without end.
    """
    paths = (
        f"layernorm?{SMALL_2D}&controls=0",
        f"layernorm?{SMALL_2D}&controls=gamma1",
        f"layernorm?{SMALL_2D}",
        "spiral",
    )
    page, *embeds = host(*(f"/embed/{path}" for path in paths))
    for k, frame in enumerate(embeds):
        page.locator("iframe").nth(k).scroll_into_view_if_needed()
        until(frame, "p.ready")
        rest(frame)
        wait_for_height(page, k)
        before = heights(page)
        page.wait_for_timeout(600)
        assert heights(page) == before, paths[k]


@pytest.mark.parametrize(
    "path", ["layernorm", "fold", "language", "spiral", "layernorm?controls=progress", "fold?controls=t"]
)
def test_oembed_nearly_knows_the_height_that_a_figure_takes(new_page, server, path):
    page = new_page(viewport={"width": 720, "height": 1500})
    page.goto(f"{server}/embed/{path}")
    until(page, "p.ready")
    for width, near in ((720, 20), (400, 50)):
        page.set_viewport_size({"width": width, "height": 1500})
        rest(page)
        query = urlencode({"url": f"{server}/embed/{path}", "maxwidth": width})
        with urllib.request.urlopen(f"{server}/oembed?{query}") as answer:
            told = json.load(answer)["height"]
        taken = page.evaluate("document.body.getBoundingClientRect().height")
        assert told == pytest.approx(taken, abs=near), width


SCHEME = "document.documentElement.dataset.scheme"


def test_it_follows_the_theme_of_its_host_but_one_in_the_link_holds(host):
    path = f"/embed/layernorm?{SMALL_2D}"
    page, frame, held = host(path, f"{path}&theme=light", color_scheme="light")
    assert frame.evaluate(SCHEME) == "light"
    tell = "(theme) => [0, 1].forEach((k) => frames[k].postMessage({ type: 'normscape:theme', theme }, '*'))"
    page.evaluate(tell, "dark")
    frame.wait_for_function(f"() => {SCHEME} === 'dark'")
    page.wait_for_timeout(200)
    assert held.evaluate(SCHEME) == "light"
    page.evaluate(tell, "<b>")
    page.evaluate(tell, "auto")
    frame.wait_for_function(f"() => {SCHEME} === 'light'")


def test_its_host_sets_its_state_and_hears_of_changes(host):
    """The page around an embed sends it a state, even before the figure is ready, and receives its changes.

    Values that the state does not name become the defaults. Unknown names and malformed messages are ignored.
    """
    page, frame = host(f"/embed/layernorm?{SMALL_2D}&gamma1=2")
    page.evaluate("addEventListener('message', ({ data }) => { if (data.state) window.state = data.state; })")
    send = "(state) => frames[0].postMessage({ type: 'normscape:set', state }, '*')"
    page.evaluate(send, {"eps": 0.5, "progress": 2, "d": 2})
    page.locator("iframe").scroll_into_view_if_needed()  # a frame out of sight draws nothing
    until(frame, "p.ready && p.params.eps === 0.5 && p.params.gamma1 === 1 && p.choices.d === '2'")
    rest(frame)
    assert player(frame, "p.progress") == 2
    page.wait_for_function("window.state?.eps === '0.5' && state.progress === '2' && state.d === '2'")
    frame.evaluate(SEND_WHILE_BUILT, {"d": 2, "eps": 0.25})
    page.evaluate(send, {"d": 3})
    until(frame, "p.ready && p.params.eps === 0.25 && p.choices.d === '2'")
    for state in ({"gamma1": 2, "nothing": 1}, None, "text", [7]):
        page.evaluate(send, state)
    until(frame, "p.params.eps === p.recipe.parameters.find(({ name }) => name === 'eps').value")


# Receive a state from the host as soon as the figure is rebuilt for other choices.
SEND_WHILE_BUILT = """(state) => {
  const [p] = normscape.players;
  const message = new MessageEvent("message", { source: parent, data: { type: "normscape:set", state } });
  const poll = () => p.ready ? setTimeout(poll) : dispatchEvent(message);
  poll();
}"""

WRONG_STATES = [
    ({"eps": 99}, "eps=99 is not 0 or a number from"),
    ({"eps": "x" * 5000}, "eps=xxx"),
    ({"gamma1": 1.5, "progress": -1}, "progress=-1 is not a number from 0 to"),
    ({"d": 3, "gamma3": 99}, "gamma3=99 is not a number from"),
]


def test_a_wrong_value_from_the_host_is_refused_and_changes_nothing(host):
    """If the host sends a state with a wrong value, the embed shows a message, and the figure stays as it is.

    The message shortens a very long value, does not change the height of the embed, and is hidden when a
    valid state follows. If the state has other choices than the figure, its parameters are checked against
    the recipe for these choices.
    """
    page, frame = host(f"/embed/layernorm?{SMALL_2D}&gamma1=2")
    page.locator("iframe").scroll_into_view_if_needed()  # a frame out of sight draws nothing
    until(frame, "p.ready")
    send = "(state) => frames[0].postMessage({ type: 'normscape:set', state }, '*')"
    present = frame.evaluate("normscape.players[0].choices")
    before = player(frame, "p.query")
    height = frame.evaluate("document.body.getBoundingClientRect().height")
    for state, words in WRONG_STATES:
        page.evaluate(send, {**present, **state})
        expect(frame.locator(".notice")).to_contain_text(words)
        expect(frame.locator(".notice")).to_contain_text("The picture is as it was.")
        assert player(frame, "p.query") == before and len(frame.locator(".notice").inner_text()) < 300
        assert frame.evaluate("document.body.getBoundingClientRect().height") == height
    page.evaluate(send, {**present, "gamma1": 1.5})
    until(frame, "p.params.gamma1 === 1.5")
    expect(frame.locator(".notice")).to_be_hidden()


def test_the_message_about_a_wrong_choice_goes_when_the_figure_moves(host):
    """The error message for a refused `normscape:set` is hidden as soon as the figure changes.

    Otherwise its words, "The picture is as it was", would be wrong. A click hides it, too. The valid values
    in a refused state are applied neither at once nor later.
    """
    page, frame = host(f"/embed/layernorm?{SMALL_2D}")
    page.locator("iframe").scroll_into_view_if_needed()  # a frame out of sight draws nothing
    until(frame, "p.ready")
    send = "(state) => frames[0].postMessage({ type: 'normscape:set', state }, '*')"
    present = frame.evaluate("normscape.players[0].choices")
    page.evaluate(send, {**present, "vectors": "1" * 9999, "gamma1": 1.5})
    expect(frame.locator(".notice")).to_contain_text("The picture is as it was.")
    player(frame, "await p.choose({ n: '70' })")
    assert player(frame, "p.params.gamma1") == 1
    page.evaluate(send, {**present, "vectors": "1" * 9999})
    expect(frame.locator(".notice")).to_contain_text("The picture is as it was.")
    page.evaluate(send, {**present, "eps": 0.5})
    until(frame, "p.params.eps === 0.5")
    expect(frame.locator(".notice")).to_be_hidden()
    page.evaluate(send, {**present, "vectors": "1" * 9999})
    frame.locator(".notice").click()
    expect(frame.locator(".notice")).to_be_hidden()


def test_it_follows_the_color_scheme_of_its_host_but_a_theme_in_the_link_holds(host):
    """An embed in a frame of another origin follows the host's scheme, unless its link names a theme.

    Playwright's emulation of a colour scheme is not used, because it would apply to all frames.
    """
    path = f"/embed/layernorm?{SMALL_2D}"
    page, frame, held = host(path, f"{path}&theme=light", color_scheme="null")
    page.locator("iframe").first.scroll_into_view_if_needed()  # far below the fold a frame hears of it later
    for scheme in ("dark", "light"):
        page.evaluate("(scheme) => { document.documentElement.style.colorScheme = scheme; }", scheme)
        frame.wait_for_function(f"(scheme) => {SCHEME} === scheme", arg=scheme)
        assert held.evaluate(SCHEME) == "light"


def test_it_lives_in_a_sandbox(tmp_path, new_page, server):
    """An embed works in a sandboxed iframe, which has no origin and no storage."""
    source = (
        f'<!DOCTYPE html><link rel="icon" href="data:,"><iframe src="{server}/embed/layernorm?{SMALL_2D}"'
    )
    (tmp_path / "blog.html").write_text(
        f'{source} sandbox="allow-scripts" width="640" height="700"></iframe>'
    )
    with files(tmp_path) as base:
        page = new_page(known=base)
        page.goto(f"{base}/blog.html")
        frame = page.frames[1]
        until(frame, "p.ready")
        assert frame.evaluate("origin") == "null"
        frame.locator(".controls > summary").click()
        frame.locator("#parameter-gamma2").focus()
        frame.locator("#parameter-gamma2").press("ArrowRight")
        frame.select_option("#choice-d", "2")
        until(frame, "p.ready && p.choices.d === '2' && p.params.gamma2 === 1.01")
        rest(frame)
        expect(frame.locator(".notice")).to_be_hidden()
        expect(frame.locator("svg.poster")).to_have_count(0)


def test_without_a_host_that_says_it_follows_the_system_but_its_link(kept):
    kept.emulate_media(color_scheme="dark")
    for theme, scheme in (("", "dark"), ("&theme=light", "light")):
        visit(kept, f"/embed/layernorm?{SMALL_2D}{theme}")
        assert kept.evaluate(SCHEME) == scheme


def test_only_the_named_controls_are_there(kept):
    page = kept
    visit(page, f"/embed/layernorm?{SMALL_2D}&controls=gamma1,d")
    assert page.locator("input[type=range]").evaluate_all("(all) => all.map((r) => r.id)") == [
        "parameter-gamma1"
    ]
    assert page.locator("select").evaluate_all("(all) => all.map((s) => s.id)") == ["choice-d"]
    assert page.locator(".tool").count() == 0
    visit(page, f"/embed/layernorm?{SMALL_2D}&controls=0")
    assert page.locator("input, select, button, textarea").count() == 0
    page.keyboard.press("ArrowRight")
    rest(page)
    assert player(page, "p.progress") == 1


def test_it_starts_by_itself_unless_one_asked_for_no_motion(kept):
    page = kept
    for motion, runs in (("no-preference", True), ("reduce", False)):
        page.emulate_media(reduced_motion=motion)
        visit(page, "/embed/activation?controls=0&autoplay=1&progress=0")
        if runs:
            rest(page, "!p.playing && p.progress === p.last")
        else:
            frames(page)
            assert player(page, "[p.playing, p.progress]") == [False, 0]


def test_in_a_narrow_frame_the_chosen_view_is_below_the_first(kept):
    """In a narrow frame, both views and the tabs between them are as wide as the frame, and none overlap."""
    page = kept
    page.set_viewport_size({"width": 390, "height": 900})
    visit(page, "/embed/cone")
    boxes = page.locator(".views > .view:visible, .views > .tabs").evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect().toJSON()).sort((a, b) => a.top - b.top)"
    )
    assert [box["width"] for box in boxes] == [390] * 3
    for upper, lower in pairwise(boxes):
        assert upper["bottom"] <= lower["top"]
    assert min(boxes[0]["height"], boxes[2]["height"]) > 250


@pytest.mark.pixels
def test_the_poster_is_where_the_figure_will_be(new_page):
    """The still picture is as large as the live figure that replaces it, and looks similar.

    It differs from the live figure less than 0.8 times as much as a blank picture does.
    """
    page = new_page(viewport={"width": 720, "height": 1000})
    page.route("**/embed.mjs", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(f"/embed/layernorm?{SMALL_3D}&progress=2")
    poster = look(page, 60)
    page.unroute("**/embed.mjs")
    visit(page, f"/embed/layernorm?{SMALL_3D}&progress=2")
    rest(page)
    figure = look(page, 60)
    blank = figure * 0 + figure[0, 0]
    assert poster.shape == figure.shape
    assert difference(poster, figure) < 0.8 * difference(blank, figure)


# --- the share dialog


def test_the_embed_of_what_is_on_the_screen(kept, server):
    """The embed code shows the present state, with a title and lazy loading; a theme can be added.

    Without a clipboard, the code is selected for copying. If the server is on this computer, the dialog says
    that others cannot open its address.
    """
    page = kept
    visit(page, f"/layernorm?{SMALL_2D}")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    player(page, "p.set('gamma1', 1.25)")
    rest(page)
    page.get_by_role("button", name="Share, embed").click()
    expect(page.locator(".share .local")).to_contain_text("only on this computer")
    page.get_by_role("button", name="Copy embed").click()
    expect(page.locator(".said")).to_contain_text("selected")
    pasted = page.evaluate(
        "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))"
        "(document.activeElement)"
    )
    assert 'loading="lazy"' in pasted and "title=" in pasted
    page.get_by_label("Theme").select_option("dark")
    assert '&amp;gamma1=1.25&amp;theme=dark"' in page.get_by_label("Embed", exact=True).input_value()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    source = page.evaluate(
        "(text) => new DOMParser().parseFromString(text, 'text/html').querySelector('iframe').src", pasted
    )
    assert source == f"{server}/embed/layernorm?{SMALL_2D}&gamma1=1.25"
    assert pasted.endswith(f"</iframe>\n{SCRIPT}")
    visit(page, source)
    assert player(page, "p.params.gamma1") == 1.25


@pytest.mark.pixels
@pytest.mark.parametrize(
    ("link", "browser_has_h264"),
    [("/layernorm?n=60", None), ("/activation", False)],
    ids=["as it is", "no H.264"],
)
def test_a_film_of_the_progress(new_page, link, browser_has_h264):
    page = new_page(viewport=SMALL)
    if browser_has_h264 is None:
        browser_has_h264 = page.evaluate("MediaRecorder.isTypeSupported('video/mp4;codecs=avc1')")
    else:
        page.add_init_script("MediaRecorder.isTypeSupported = (type) => type === 'video/webm'")
    ending, start = ("mp4", b"ftyp") if browser_has_h264 else ("webm", b"\x1a\x45\xdf\xa3")
    visit(page, link)
    player(page, "p.speed = 8")
    page.get_by_role("button", name="Share, embed").click()
    with page.expect_download(timeout=TIMEOUT_MS) as saved:
        page.get_by_role("button", name="the video").click()
    film = saved.value.path().read_bytes()
    assert saved.value.suggested_filename.endswith(f".{ending}") and start in film[:8]
    assert (b"avc1" in film) == (ending == "mp4")
    assert len(film) > 1000, "pictures, and not the head of a film alone"
    shades = page.context.new_page().evaluate(
        PLAY, f"data:video/{ending};base64,{base64.b64encode(film).decode()}"
    )
    assert max(shades) > 5, "a picture, and not one colour"
    assert len(set(shades)) > 1, "it moves"


def test_a_film_that_is_broken_off_ends(new_page):
    """The recording of a video ends when looping is switched on, or when the figure is removed.

    The test makes three recordings. Only the first is saved. The second gets no data, and a message says so.
    The third is broken off because its figure is removed.
    """
    page, saved = new_page(viewport=SMALL), []
    page.on("download", lambda download: saved.append(download))
    page.add_init_script(WATCH_RECORDERS)
    visit(page, f"/layernorm?{SMALL_2D}")
    player(page, "(p.speed = 0.25, 0)")
    ends = ("", "p.loop = true"), (DEAF, "p.loop = true"), (HEARING, "p.root.remove()")
    for k, (before, end) in enumerate(ends):
        page.evaluate(before)
        player(page, "(p.loop = false, p.commands.share(p))")
        page.get_by_role("button", name="the video").click()
        page.wait_for_function("(k) => recorders[k]?.state === 'recording'", arg=k, timeout=TIMEOUT_MS)
        player(page, end)
        page.wait_for_function("(k) => recorders[k].state === 'inactive'", arg=k, timeout=TIMEOUT_MS)
        if k == 0:
            waiting.until(lambda: page.evaluate("1") and saved)
        elif before == DEAF:
            expect(page.locator(".notice")).to_contain_text("recorded nothing")
        else:
            page.wait_for_timeout(500)
        assert len(saved) == 1, "the first"


@pytest.mark.allow_errors("no encoder")
def test_a_film_leaves_the_figure_as_it_was_and_a_failure_is_told(new_page):
    """After a film, and after one that failed, the figure has its progress, its camera and its loop again.

    While a film is recorded, no second one is offered.
    """
    page = new_page(viewport=SMALL)
    page.add_init_script(WATCH_RECORDERS)
    visit(page, "/labels?data=xor&progress=2.5&camera=0.6,-0.6,0.3")  # a film turns its camera
    share = page.get_by_role("button", name="Share, embed")
    video = page.get_by_role("button", name="the video")
    player(page, "(p.speed = 20, p.loop = true)")
    page.evaluate("void (MediaRecorder.prototype.start = () => { throw new Error('no encoder'); })")
    share.click()
    video.click()
    expect(page.locator(".notice")).to_contain_text("could not be recorded")
    rest(page, "p.progress === 2.5 && p.loop")
    page.evaluate("delete MediaRecorder.prototype.start")
    share.click()
    with page.expect_download(timeout=TIMEOUT_MS):
        video.click()
        page.wait_for_function("() => recorders[1]?.state === 'recording'", timeout=TIMEOUT_MS)
        share.click()
        assert not video.count()
        page.keyboard.press("Escape")
    rest(page, "p.progress === 2.5 && p.loop && p.camera.eye[0] === 0.6")


def test_a_choice_with_fewer_stages_does_not_break_off_a_film(new_page):
    page = new_page(viewport=SMALL)
    visit(page, f"/layernorm?{SMALL_2D}")
    player(page, "(p.speed = 20, p.commands.share(p))")
    with page.expect_download(timeout=TIMEOUT_MS):
        page.get_by_role("button", name="the video").click()
        player(page, "p.choose({ variant: 'rmsnorm' })")
    assert player(page, "p.last") < 5
    page.wait_for_selector("html:not(.film)")


WATCH_RECORDERS = """
window.recorders = [];
window.MediaRecorder = class extends MediaRecorder {
  constructor(...all) { super(...all); recorders.push(this); }
};"""
DEAF = """void Object.defineProperty(
  MediaRecorder.prototype, "ondataavailable", { configurable: true, set() {} });"""
HEARING = "delete MediaRecorder.prototype.ondataavailable"

# The standard deviation of the red values (0 to 255) in the first picture of a video, and in the first later
# one that differs, or else in the last.
PLAY = """async (url) => {
  const video = document.createElement("video");
  video.src = URL.createObjectURL(await (await fetch(url)).blob());
  await new Promise((ready) => { video.onloadeddata = ready; video.muted = true; });
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight), context = canvas.getContext("2d");
  const spread = () => {
    context.drawImage(video, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let sum = 0, squares = 0, n = 0;
    for (let i = 0; i < data.length; i += 4, n++) { const v = data[i]; sum += v; squares += v * v; }
    return Math.round(1000 * Math.sqrt(squares / n - (sum / n) ** 2)) / 1000;
  };
  const first = spread();
  let later = first;
  await video.play();
  while (later === first && !video.ended) {
    await new Promise((go) => setTimeout(go, 100));
    later = spread();
  }
  return [first, later];
}"""
