"""A running server and a Chromium for the tests in this folder.

A test fails at its end if a page has reported an error, unless the error matches a mark
`allow_errors(pattern)` of the test. It also fails if a page has sent a request to an unknown host. Only in
tests that are marked `pixels` does WebGL draw and the browser paint.
"""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

from components.language.scene import scenes
from tests.browser.hand import TIMEOUT_MS
from tests.folders import cache_folder
from tests.waiting import PATIENCE
from tools.browser import ARGUMENTS, find
from tools.ports import free

ROOT = Path(__file__).resolve().parents[2]
# Chromium's address bar preloads two pages in each window, which takes a second of CPU time. This turns it
# off, together with Playwright's own list, because only the last `--disable-features` counts.
OFF = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "DestroyProfileOnBrowserClose", "HttpsUpgrades"]
OFF += ["HttpsFirstBalancedModeAutoEnable", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints"]
OFF += ["PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"]
# All pages of a browser context share one process, so scripts are compiled once. With this feature, another
# thread would parse them again for each page.
OFF += ["ScriptStreaming"]
# The compiler that optimises most is off, because no page lives long enough to gain from it, and so is
# antialiasing.
CHEAP = ("--process-per-site", "--js-flags=--no-opt", "--webgl-antialiasing-mode=none")
# Options that can be changed for a page that is already open.
EASY = {"viewport", "color_scheme", "reduced_motion", "java_script_enabled", "has_touch"}
VIEWPORT = {"width": 1280, "height": 800}
FAILED = pytest.StashKey[bool]()
AS_IT_WAS = """window.normscape?.players.length === 1 && normscape.players[0].ready
  && Object.keys(localStorage).every((key) => key === "visited") && !sessionStorage.length
  && !document.fullscreenElement
  && !document.querySelector("dialog, .presenting")"""
# Mark every scene as visited, so that none plays by itself.
KNOWN = f"try {{ localStorage.visited ??= '{','.join(scenes())}'; }} catch {{}}"
# For tests that examine no pixels: turn off painting, and the drawing of WebGL, which is done in software and
# would take most of the time. Invisible elements still get their layout, pointer events and focus.
BLIND = """window.blind = true;
window.unseen = new CSSStyleSheet();
unseen.replaceSync("html { opacity: 0 }");
document.adoptedStyleSheets.push(unseen);
for (const call of ["drawArrays", "drawElements", "clear"]) {
  const draws = WebGLRenderingContext.prototype[call];
  WebGLRenderingContext.prototype[call] = function (...all) { if (!window.blind) draws.apply(this, all); };
}"""
SEES = "window.blind = false; unseen.disabled = true;"
expect.set_options(timeout=TIMEOUT_MS)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("browser")
    items.sort(key=lambda item: item.path.name != "test_site.py")  # run first what takes longest to prepare


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@contextmanager
def serving(folder):
    """Run `python app.py` on a free port until the block ends; yields its base URL and its process.

    folder: the folder for the server's log (log.txt) and its cache.
    """
    port = free()
    log = folder / "log.txt"
    command = [sys.executable, "app.py", "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"CACHE_DIR": cache_folder(folder)}
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        base = f"http://127.0.0.1:{port}"
        if not _becomes_healthy(base, process):
            pytest.fail(f"The server did not start:\n{log.read_text()}")
        yield base, process
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory):
    """The folder with the log and the cache of the server that all tests share."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def running(server_folder):
    """The server that all tests share: base URL and process."""
    with serving(server_folder) as both:
        yield both


@pytest.fixture(scope="session")
def server(running):
    """The base URL of the server that all tests share."""
    return running[0]


@pytest.fixture
def mortal(tmp_path):
    """A server for one test, which the test may kill; yields its base URL and its process."""
    with serving(tmp_path) as both:
        yield both


@pytest.fixture(scope="session")
def browser():
    executable = find()
    assert executable, "no browser: run `python tools/browser.py`"
    with sync_playwright() as playwright:
        arguments = [*ARGUMENTS, *CHEAP, f"--disable-features={','.join(OFF)}"]
        browser = playwright.chromium.launch(executable_path=executable, args=arguments, timeout=TIMEOUT_MS)
        yield browser
        browser.close()


class Watch:
    """Records the errors of browser pages, and their requests to unknown hosts.

    `over(context, base)` begins to watch all pages of a browser context, and sets the timeout of Playwright's
    calls. known: the hosts that pages may ask, such as "localhost:8050"; `over` adds the host of `base`.
    """

    def __init__(self):
        self.errors, self.strangers, self.known = [], [], set()

    def over(self, context, base):
        context.set_default_timeout(TIMEOUT_MS)
        self.known.add(urlsplit(base).netloc)
        context.on("console", self._said)
        context.on("weberror", lambda report: self.errors.append(str(report.error)))
        context.on("request", self._asked)
        context.on("page", lambda page: page.on("websocket", self._asked))

    def _said(self, message):
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location['url']})")

    def _asked(self, asked):
        url = urlsplit(asked.url)
        if url.scheme in {"http", "https", "ws", "wss"} and url.netloc not in self.known:
            self.strangers.append(asked.url)

    def judge(self, test):
        """Fail the test if a page had an error or asked an unknown host; then forget what was recorded.

        Errors that match a mark `allow_errors(pattern)` of the test are allowed. test: pytest's item.
        """
        allowed = [mark.args[0] for mark in test.iter_markers("allow_errors")]
        errors = [error for error in self.errors if not any(re.search(each, error) for each in allowed)]
        strangers, self.strangers, self.errors = self.strangers, [], []
        if errors or strangers:
            pytest.fail(f"errors on the page: {errors}; requests to other hosts: {strangers}", pytrace=False)


def reading(browser, watch, *, first=False, **options):
    """Create a browser context in which WebGL does not draw and the browser does not paint.

    watch: a `Watch`, which records errors and requests of all its pages. first: if true, no scene is marked
    as visited; if false, all are. options: options of Playwright's `new_context`; `base_url` is required.
    """
    context = browser.new_context(**options)
    if not first:
        context.add_init_script(KNOWN)
    context.add_init_script(BLIND)
    watch.over(context, options["base_url"])
    return context


class Reader:
    """A browser context that tests use one after another, so that nothing is fetched or compiled twice.

    `tab` is a page that stays open until the end, because this keeps Chromium's process alive. `kept[True]`
    is the page that a test marked `pixels` leaves to the next such test; `kept[False]` is the page that other
    tests leave to one another. Each can be missing. Between tests, `forget` closes all pages except these,
    goes online, clears cookies and local storage, and marks all scenes as visited.
    """

    def __init__(self, browser, server):
        self.watch, self.kept = Watch(), {}
        self.context = reading(browser, self.watch, base_url=server)
        self.tab = self.context.new_page()
        self.tab.goto("/words")

    def open(self, draws, viewport=VIEWPORT, java_script_enabled=True, has_touch=False, **media):
        page = self.context.new_page()
        tools = self.context.new_cdp_session(page)
        tools.send("Emulation.setScriptExecutionDisabled", {"value": not java_script_enabled})
        tools.send("Emulation.setTouchEmulationEnabled", {"enabled": has_touch})
        if draws:
            page.add_init_script(SEES)
        page.set_viewport_size(viewport)
        if media:
            page.emulate_media(**media)
        return page

    def forget(self):
        for page in self.context.pages:
            if page not in (self.tab, *self.kept.values()):
                page.close()
        self.context.set_offline(False)
        self.context.clear_cookies()
        self.tab.evaluate(f"localStorage.clear(); {KNOWN}")


@pytest.fixture
def draws(request):
    """Whether the test is marked `pixels`."""
    return request.node.get_closest_marker("pixels") is not None


@pytest.fixture(scope="session")
def reader(browser, server):
    """The `Reader`, with the browser context (cookies, storage) that most tests share."""
    return Reader(browser, server)


@pytest.fixture
def new_page(browser, server, reader, draws, request):
    """A function `open_page(first=False, known="", **options)` that opens a page and returns it.

    options: those of a Playwright context. If all are in EASY, the page that a test opens first is in the
    shared browser context (see `reader`); every other page gets a context of its own. first: if true, the
    page is like that of a new visitor: in its own context, with no cookies, storage or visited scenes. known:
    the URL of another server that the page may ask. If a test has its own server, the fixture of this server
    must come before this one, so that the server outlives the pages.
    """
    contexts, watch = [], Watch()
    watch.known.add(urlsplit(server).netloc)  # also in a page of another server

    def open_page(*, first=False, known="", **options):
        reader.watch.known.add(urlsplit(known).netloc)
        if not first and not contexts and options.keys() <= EASY:
            contexts.append(reader)
            return reader.open(draws, **options)
        options = {"base_url": server, "viewport": VIEWPORT, **options}
        contexts.append(reading(browser, watch, first=first, **options))
        if draws:
            contexts[-1].add_init_script(SEES)
        return contexts[-1].new_page()

    yield open_page
    for context in contexts:
        if context is reader:
            context.forget()
        else:
            context.close()
    watch.judge(request.node)
    reader.watch.judge(request.node)


@pytest.fixture
def page(new_page):
    return new_page()


@pytest.fixture
def window():
    """The window size that the fixture `kept` sets, a dictionary with "width" and "height".

    With the size, `kept` also sets the light colour scheme. A test module can replace this fixture by one
    that returns None: then `kept` sets neither.
    """
    return VIEWPORT


@pytest.fixture
def kept(reader, window, draws, request):
    """A page that one test leaves to the next, so that `visit` shows a scene without loading the page.

    Tests that use it may do only what readers can do. The page is closed instead of left to the next test if
    the test fails, if the page has reported an error, or if the test leaves anything besides one page with
    one scene, such as a dialog, a chosen theme or a second page.
    """
    page = reader.kept.pop(draws, None)
    if page:
        page.bring_to_front()  # otherwise full screen is refused
    else:
        page = reader.open(draws)
        page.add_init_script("window.kept = true")
    if window:
        page.set_viewport_size(window)
        page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.mouse.move(0, 0)
    yield page
    failed = request.node.stash.get(FAILED, False) or reader.watch.errors
    known = {reader.tab, page, *reader.kept.values()}
    if not failed and known.issuperset(reader.context.pages) and page.evaluate(AS_IT_WAS):
        reader.kept[draws] = page
    else:
        reader.forget()
    reader.watch.judge(request.node)


def _becomes_healthy(base, process):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/healthz", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    return False
