"""A running server and a Chromium for the tests of this folder.

A page fails its test at the end if it reported an error, unless the test is marked
`allow_errors(pattern)`, or if it asked another host than the server for anything. A test that fails is run
once more, for a machine of two cores may have been busy; the summary names it.
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

from tools.browser import ARGUMENTS, find
from tools.ports import free

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60  # a cold start on a busy machine of two cores, with room to spare


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("browser")
            item.add_marker(pytest.mark.flaky(reruns=1))


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
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser, server, request):
    """A function that opens a page of its own; options are those of a Playwright context."""
    contexts, errors, strangers, known = [], [], [], set()

    def watch(asked):
        url = urlsplit(asked.url)
        if url.scheme in {"http", "https", "ws", "wss"} and url.netloc not in known:
            strangers.append(asked.url)

    def open_page(**options):
        options = {"base_url": server, "viewport": {"width": 1280, "height": 800}, **options}
        known.add(urlsplit(options["base_url"]).netloc)
        context = browser.new_context(**options)
        contexts.append(context)
        context.on("console", lambda message: message.type == "error" and errors.append(message.text))
        context.on("weberror", lambda report: errors.append(str(report.error)))
        context.on("request", watch)
        page = context.new_page()
        page.on("websocket", watch)
        return page

    yield open_page
    for context in contexts:
        context.close()
    allowed = [mark.args[0] for mark in request.node.iter_markers("allow_errors")]
    unexpected = [error for error in errors if not any(re.search(pattern, error) for pattern in allowed)]
    if unexpected or strangers:
        pytest.fail(f"errors on the page: {unexpected}; requests to other hosts: {strangers}", pytrace=False)


@pytest.fixture
def page(new_page):
    return new_page()


def _becomes_healthy(base, process):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/healthz", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    return False
