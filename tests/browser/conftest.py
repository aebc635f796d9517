"""A running server and a Chromium for the tests of this folder.

A page fails its test at the end if it reported an error, unless the test is marked
`allow_errors(pattern)`, or if it asked another host than the server for anything.
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
from playwright.sync_api import sync_playwright

from components.language.scene import scenes
from tests.browser.hand import PATIENCE
from tools.browser import ARGUMENTS, find
from tools.ports import free

ROOT = Path(__file__).resolve().parents[2]
# Chromium loads two pages behind the address bar of each window, at a second of processor time: off, with
# what Playwright turns off, as the last such list is the one that counts.
OFF = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "DestroyProfileOnBrowserClose", "HttpsUpgrades"]
OFF += ["HttpsFirstBalancedModeAutoEnable", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints"]
OFF += ["PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"]
VIEWPORT = {"width": 1280, "height": 800}
FAILED = pytest.StashKey[bool]()
AS_IT_WAS = """window.normscape?.players.length === 1 && normscape.players[0].ready
  && Object.keys(localStorage).every((key) => key === "visited") && !sessionStorage.length
  && !document.fullscreenElement
  && !document.querySelector("dialog, .presenting")"""
# A reader who has been everywhere: no scene shows itself first.
KNOWN = f"try {{ localStorage.visited ??= '{','.join(scenes())}'; }} catch {{}}"
START_SECONDS = 180  # a cold start beside others on two cores, with room to spare


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("browser")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@contextmanager
def serving(folder):
    """`python app.py` on a free port: its base URL, and the process."""
    port = free()
    log = folder / "log.txt"
    command = [sys.executable, "app.py", "--host", "127.0.0.1", "--port", str(port)]
    environment = os.environ | {"CACHE_DIR": str(folder / "cache")}
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
        process.wait(timeout=10)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The base URL of a server that all tests share."""
    with serving(tmp_path_factory.mktemp("server")) as (base, _):
        yield base


@pytest.fixture
def mortal(tmp_path):
    """A server of the test's own, to be killed: its base URL and its process."""
    with serving(tmp_path) as both:
        yield both


@pytest.fixture(scope="session")
def browser():
    executable = find()
    assert executable, "no browser: run `python tools/browser.py`"
    with sync_playwright() as playwright:
        arguments = [*ARGUMENTS, f"--disable-features={','.join(OFF)}"]
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield browser
        browser.close()


class Watch:
    """What the pages of some contexts report, and whom they ask, apart from the servers that are known.

    The pages are given the same time for whatever they are waited for.
    """

    def __init__(self):
        self.errors, self.strangers, self.known = [], [], set()

    def over(self, context, base):
        context.set_default_timeout(PATIENCE)
        self.known.add(urlsplit(base).netloc)
        context.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        context.on("weberror", lambda report: self.errors.append(str(report.error)))
        context.on("request", self._asked)
        context.on("page", lambda page: page.on("websocket", self._asked))

    def _asked(self, asked):
        url = urlsplit(asked.url)
        if url.scheme in {"http", "https", "ws", "wss"} and url.netloc not in self.known:
            self.strangers.append(asked.url)

    def judge(self, test):
        """The test fails if there was anything; what there was is forgotten."""
        allowed = [mark.args[0] for mark in test.iter_markers("allow_errors")]
        errors = [error for error in self.errors if not any(re.search(each, error) for each in allowed)]
        strangers, self.strangers, self.errors = self.strangers, [], []
        if errors or strangers:
            pytest.fail(f"errors on the page: {errors}; requests to other hosts: {strangers}", pytrace=False)


@pytest.fixture
def new_page(browser, server, request):
    """A function that opens a page of its own; options are those of a Playwright context.

    first: of a reader who has visited nothing yet.
    """
    contexts, watch = [], Watch()

    def open_page(*, first=False, **options):
        options = {"base_url": server, "viewport": VIEWPORT, **options}
        context = browser.new_context(**options)
        if not first:
            context.add_init_script(KNOWN)
        contexts.append(context)
        watch.over(context, options["base_url"])
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()
    watch.judge(request.node)


@pytest.fixture
def page(new_page):
    return new_page()


@pytest.fixture(scope="session")
def shelf():
    """Where the kept page stands between two tests, with its watch."""
    return []


@pytest.fixture
def kept(browser, server, shelf, request):
    """A page that one test hands on to the next: `visit` puts a new player into it, without a load.

    For tests that do what a reader can do, and nothing else. It is given up where a test fails, or leaves
    more than a scene: a dialog, a theme of the reader's, another page.
    """
    if not shelf:
        context, watch = browser.new_context(base_url=server), Watch()
        context.add_init_script(KNOWN)
        watch.over(context, server)
        shelf.append((context.new_page(), watch))
    page, watch = shelf.pop()
    page.set_viewport_size(VIEWPORT)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.mouse.move(0, 0)
    page.evaluate("window.kept = true")
    yield page
    if request.node.stash.get(FAILED, False) or len(page.context.pages) > 1 or not page.evaluate(AS_IT_WAS):
        page.context.close()
    else:
        shelf.append((page, watch))
    watch.judge(request.node)


def _becomes_healthy(base, process):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/healthz", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    return False
