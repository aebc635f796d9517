"""A browser at a server behind a proxy on a sub-path; and the server's Content-Security-Policy."""

import http.client
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.browser.hand import SMALL_2D, TIMEOUT_MS, until, visit
from tests.test_department import WITHOUT, department
from tests.test_deployment import PREFIX, serving
from tests.waiting import PATIENCE
from tools.nginx import PROGRAM

PASSED = (
    "Content-Type",
    "Content-Encoding",
    "Content-Security-Policy",
    "X-Content-Type-Options",
    "Cache-Control",
)
INLINE = """() => {
  const script = document.createElement("script");
  script.textContent = "window.ran = 1";
  document.body.append(script);
}"""
WATCH = (
    "addEventListener('securitypolicyviolation', (e) => (window.refused ??= []).push(e.violatedDirective))"
)


@contextmanager
def proxy(behind):
    """Run a proxy that forwards only paths below PREFIX; yields the base URL of the proxy.

    behind: the base URL of the server that gets the requests.
    """

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self):
            if not self.path.startswith(PREFIX):
                return self.send_error(404)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            line = http.client.HTTPConnection(urlsplit(behind).netloc, timeout=PATIENCE)
            said = dict(self.headers) | {
                "X-Forwarded-For": "192.0.2.7",
                "X-Forwarded-Host": self.headers["Host"],
            }
            line.request(self.command, "/" + self.path.removeprefix(PREFIX), body, said)
            answer = line.getresponse()
            data = answer.read()
            line.close()
            self.send_response(answer.status)
            for name in PASSED:
                if answer.headers[name]:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_scene_through_a_proxy_on_a_sub_path(new_page, tmp_path):
    """Gallery, scene, choice, menu and the way home work behind a proxy that strips the sub-path."""
    own = {"NORMSCAPE_PREFIX": PREFIX, "TRUSTED_PROXIES": "1"}
    with serving(tmp_path, **own) as (base, *_), proxy(base) as outside:
        page = new_page(known=outside)
        strays = []
        page.on("response", lambda answer: answer.status >= 400 and strays.append(answer.url))
        page.goto(outside + PREFIX)
        page.click(f"a.card[href='{PREFIX}layernorm']", timeout=TIMEOUT_MS)
        until(page, "p.ready && p.panels.length && p.slug === 'layernorm'")
        page.select_option("#choice-d", "2")
        until(page, "p.ready && p.panels.length && p.recipe.views[0].dims === 2")
        page.get_by_role("button", name="Scenes").click()
        page.locator(".menu").get_by_role("link", name="LayerNorm beside RMSNorm").click()
        until(page, "p.ready && p.slug === 'rmsnorm'")
        page.click("header .brand")
        page.wait_for_selector(".cards", timeout=TIMEOUT_MS)
        assert urlsplit(page.url).path == PREFIX and not strays
        page.close()  # before its server goes


@pytest.mark.skipif(PROGRAM is None, reason=WITHOUT)
def test_embeds_need_no_login_where_pages_do(new_page, tmp_path):
    """Two embeds and a choice load without a login, behind the documented nginx (without TLS)."""
    with department(tmp_path, tls=False, HOSTS="") as (port, _):
        site, statuses = f"http://127.0.0.1:{port}", {}
        page = new_page(known=site)
        page.on("response", lambda answer: statuses.update({answer.url: answer.status}))
        page.goto(f"{site}/normscape/embed/spiral")
        until(page, "p.ready && p.panels.length")
        page.goto(f"{site}/normscape/embed/layernorm?controls=d")
        until(page, "p.ready && p.panels.length && p.recipe.views[0].dims === 3")
        page.select_option("#choice-d", "2")
        until(page, "p.ready && p.panels.length && p.recipe.views[0].dims === 2")
        kinds = {urlsplit(url).path.split("/")[2] for url in statuses}
        assert {*statuses.values()} <= {200, 304}
        assert kinds == {"embed", "recipe", "assets", "lib", "theme.css"}
        page.close()  # before its server goes


@pytest.mark.allow_errors("Content Security Policy|EvalError")
def test_the_policy_is_in_force(new_page):
    """A scene obeys its Content-Security-Policy, which blocks inline scripts and code made from text."""
    page = new_page()
    page.add_init_script(WATCH)
    visit(page, f"/layernorm?{SMALL_2D}")
    assert page.evaluate("() => window.refused") is None
    page.evaluate(INLINE)
    page.evaluate("() => setTimeout(() => Function('window.ran = 1')())")  # later: a debugger's own may run
    page.wait_for_function("() => window.refused?.length >= 2", timeout=TIMEOUT_MS)
    assert page.evaluate("() => window.ran") is None
