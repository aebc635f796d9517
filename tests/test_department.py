"""The recipe "A department server" of docs/deployment.md: its settings, its nginx with TLS, and its login."""

import base64
import contextlib
import http.client
import re
import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.folders import cache_folder
from tests.test_deployment import serving
from tests.waiting import PATIENCE, until
from tools.nginx import PROGRAM, configured, nginx
from tools.ports import free

WITHOUT = "no nginx here: tools/debian_servers.py installs it where it may"
pytestmark = [pytest.mark.servers, pytest.mark.skipif(PROGRAM is None, reason=WITHOUT)]

TEXT = (Path(__file__).parents[1] / "docs/deployment.md").read_text("utf-8")
RECIPE = TEXT.partition("\n## A department server\n")[2].partition("\n## ")[0]
(SETTINGS,) = re.findall(r"```sh\n(PORT=.*?)```", RECIPE, re.S)
SITE, EVENTS, LOGIN, PUBLIC = re.findall(r"```nginx\n(.*?)```", RECIPE, re.S)
(REFUSED,) = re.findall(r"```nginx\n(.*?)```", TEXT.partition("\n## Privacy\n")[2], re.S)
# What Debian's nginx.conf has around the site's file, with folders that a test may write to.
AROUND = """daemon off; pid nginx.pid; error_log error.log; %s http {
client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;
access_log access.log; server { listen 127.0.0.1:%s; deny all; } %s}
"""
KNOWN = {"Authorization": f"Basic {base64.b64encode(b'ada:secret').decode()}"}
PAGE = "text/html,*/*;q=0.8"


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def site(folder, inner, port):
    """The text of an nginx.conf for the department server of docs/deployment.md, with its login.

    It has other ports than documented, and its files are in `folder`. inner: the port of the container. port:
    the HTTPS port of the site. Lines for IPv6 are left out where the machine has no IPv6. A second server
    refuses all requests, and has the logs that Debian configures.
    """
    plain = free()
    text, passed = SITE, "        proxy_pass http://127.0.0.1:8050;\n"
    assert text.count(passed) == 1
    text = text.replace(passed, passed + LOGIN)
    text = text.rstrip().removesuffix("}") + PUBLIC + "}\n"
    for before, after in {
        "127.0.0.1:8050": f"127.0.0.1:{inner}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{port} ssl http2;",
        "[::]:80;": f"[::1]:{plain};",
        "[::]:443 ssl http2;": f"[::1]:{port} ssl http2;",
        "/var/log/nginx/error.log": "error.log",
        "/etc/ssl/teach.example.pem": str(folder / "site.pem"),
        "/etc/ssl/private/teach.example.key": str(folder / "site.key"),
        "/etc/nginx/normscape.users": str(folder / "users"),
    }.items():
        assert before in text, before
        text = text.replace(before, after)
    if not has_ipv6():
        text = re.sub(r".*\[::1\].*\n", "", text)
    return AROUND % (EVENTS, free(), text)


@contextlib.contextmanager
def department(folder, *, tls=True, **others):
    """Run the department server of docs/deployment.md: web server, the container's nginx, the site's nginx.

    The site has a login. Yields the port of the site and the path of the web server's log. tls: if False, the
    site speaks HTTP. others: settings of the web server, which take precedence over the documented ones.
    """
    outer, port = folder / "outer", free()
    for name in ("web", "inner", "outer"):
        (folder / name).mkdir()
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=teach.example"]
    command += ["-addext", "subjectAltName=DNS:teach.example"]
    command += ["-keyout", outer / "site.key", "-out", outer / "site.pem"]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    (outer / "users").write_text("ada:{PLAIN}secret\n")
    compose = ("PORT", "WEB_CPUS", "TORCH_INDEX_ARGS")  # which only Compose reads
    own = {name: value for name, value in re.findall(r"^(\w+)=(\S+)", SETTINGS, re.M) if name not in compose}
    with (
        serving(folder / "web", CACHE_DIR=cache_folder(folder / "web"), **own | others) as (base, _, _, log),
        nginx(folder / "inner", urlsplit(base).netloc) as (inner, *_),
    ):
        text = site(outer, inner, port)
        with configured(outer, text if tls else text.replace(" ssl http2;", ";"), port):
            yield port, log


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Run a department server (see `department`); yields a function `fetch`, and the path of its log.

    `fetch(path, method, reader, body, **headers)` sends a request over TLS, and returns status, body and
    headers of the answer. reader: the local IP address from which the request comes.
    """
    folder = tmp_path_factory.mktemp("department")
    with department(folder, CLIENT_CPU_BURST="5") as (port, log):
        trust = ssl.create_default_context(cafile=folder / "outer/site.pem")

        def fetch(path, method="GET", reader="127.0.0.1", body=b"", **headers):
            with (
                socket.create_connection(("127.0.0.1", port), PATIENCE, (reader, 0)) as line,
                trust.wrap_socket(line, server_hostname="teach.example") as safe,
            ):
                said = {"Host": "teach.example", "Connection": "close"} | headers
                lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {said[name]}" for name in said)]
                safe.sendall("\r\n".join([*lines, "", ""]).encode() + body)
                answer = http.client.HTTPResponse(safe, method=method)
                answer.begin()
                return answer.status, answer.read().decode("latin-1"), answer.headers

        yield fetch, log


def test_pages_need_the_login_and_name_the_site(server):
    fetch, log = server
    assert fetch("/normscape/")[0] == fetch("/normscape/layernorm")[0] == 401
    assert fetch("/normscape/", method="HEAD", **KNOWN)[0] == 200
    status, page, _ = fetch("/normscape/layernorm", **KNOWN)
    assert status == 200 and 'content="https://teach.example/normscape/preview/layernorm.png"' in page
    assert '<a href="https://www.teach.example/imprint">Imprint</a>' in page
    status, _, headers = fetch("/normscape", **KNOWN)
    assert status == 301 and re.fullmatch(r"https://teach\.example(:\d+)?/normscape/", headers["Location"])
    assert fetch("/elsewhere", **KNOWN)[0] == 404
    assert "TRUSTED_PROXIES" not in log.read_text()


@pytest.mark.parametrize("path", ["training", "run/spiral", "recording"])
def test_training_and_uploads_need_the_login(server, path):
    fetch, _ = server
    assert fetch(f"/normscape/{path}", method="POST", **{"Content-Length": "0"})[0] == 401
    assert fetch(f"/normscape/{path}", method="POST", **{"Content-Length": "0"}, **KNOWN)[0] in (400, 415)


def test_embeds_are_public(server):
    fetch, _ = server
    status, page, headers = fetch("/normscape/embed/fold", Accept=PAGE)
    assert status == 200 and "frame-ancestors" not in headers["Content-Security-Policy"]
    for path in ("recipe/fold", "still/fold.svg", "theme.css", "healthz", "embed/fold?t=9"):
        assert fetch(f"/normscape/{path}")[0] in (200, 400), path
    assert "<footer" not in page


@pytest.mark.parametrize("host", ["127.0.0.1", *(["::1"] if has_ipv6() else [])])
def test_the_site_speaks_http_2(server, host):
    _, log = server
    folder = log.parents[1] / "outer"
    trust = ssl.create_default_context(cafile=folder / "site.pem")
    trust.set_alpn_protocols(["h2", "http/1.1"])
    port = re.search(r"listen 127\.0\.0\.1:(\d+) ssl", (folder / "nginx.conf").read_text())[1]
    with (
        socket.create_connection((host, int(port)), PATIENCE) as line,
        trust.wrap_socket(line, server_hostname="teach.example") as safe,
    ):
        assert safe.selected_alpn_protocol() == "h2"


def test_typed_text_and_login_names_are_in_no_log_of_the_site(server):
    """Requests to the site leave no line in the host's logs.

    The same nginx has a second server, which logs. The test sends a last request to this server, and
    waits until it is in the logs. By then, the logs would have the requests to the site too.
    """
    fetch, log = server
    folder = log.parents[1] / "outer"
    other, plain = re.findall(r"listen 127\.0\.0\.1:(\d+);", (folder / "nginx.conf").read_text())
    path = "/normscape/layernorm?points=typed"
    wrong = f"Basic {base64.b64encode(b'ada:typed').decode()}"
    assert fetch(path, **KNOWN)[0] == 400 and fetch(path, Authorization=wrong)[0] == 401
    for port, status, asked in ((plain, 301, path), (other, 403, "/?points=shown")):
        line = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
        line.request("GET", asked, headers={"Host": "teach.example"})
        assert line.getresponse().status == status
        line.close()
    logs = [folder / "access.log", folder / "error.log"]
    until(lambda: all("?points=shown" in each.read_text() for each in logs))
    assert not any(word in each.read_text() for each in logs for word in ("typed", "ada", "normscape"))


def test_a_body_that_is_too_long_is_refused_in_words(server):
    """A body of more than 38 MiB gets the status 413 and a sentence with this limit.

    The nginx in the container writes this answer, and the nginx of the site passes it on.
    """
    fetch, _ = server
    body = bytes(38 * 2**20 + 1)
    size = {"Content-Length": str(len(body))}
    status, words, _ = fetch("/normscape/recording", method="POST", body=body, **size, **KNOWN)
    assert status == 413 and "its body may have 38 MiB" in words


def test_a_link_that_contains_a_network_comes_through(server):
    """A link of 20,000 characters reaches the web server; nginx by default accepts fewer.

    The web server may answer 400, because the link does not contain a valid network.
    """
    fetch, _ = server
    assert fetch(f"/normscape/spiral?net={'A' * 20_000}", **KNOWN)[0] in (200, 400)


def test_a_request_for_another_host_is_refused_in_words(server):
    fetch, _ = server
    status, words, headers = fetch("/normscape/embed/fold", Host="www.teach.example", Accept=PAGE)
    assert (status, headers.get_content_type()) == (400, "text/plain") and "teach.example" in words


def test_a_reader_who_pretends_to_be_many_is_one_client(server):
    """A reader who sends invented X-Forwarded-For headers still has one budget, and other readers their own.

    A guess of a key is charged 0.1 s of CPU time, so 50 guesses use up the budget of this server, 5 s.
    """
    fetch, _ = server

    def guess(number, reader):
        path = f"/normscape/recipe/model?own={number:032x}"
        return fetch(path, reader=reader, **{"X-Forwarded-For": f"192.0.2.{number}"})[0]

    guesses = [guess(number, "127.0.0.8") for number in range(80)]
    assert set(guesses) == {400, 429} and guess(1, "127.0.0.9") == 400


class Accepting(BaseHTTPRequestHandler):
    """Answers GET and POST requests with 204."""

    def do_GET(self):
        self.send_response(204)
        self.end_headers()

    def do_POST(self):
        self.do_GET()


@contextlib.contextmanager
def locations(folder, text):
    """Run nginx with one server; yields a function from method and path to the status of the answer.

    text: the server's locations. Those that pass requests to the container, 127.0.0.1:8050, pass them instead
    to a server that answers each request with 204.
    """
    port = free()
    with ThreadingHTTPServer(("127.0.0.1", 0), Accepting) as behind:
        threading.Thread(target=behind.serve_forever, daemon=True).start()
        own = f"server {{ listen 127.0.0.1:{port}; {text} }}"
        text = AROUND % (EVENTS, free(), own.replace("127.0.0.1:8050", f"127.0.0.1:{behind.server_port}"))

        def status(method, path):
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as line:
                line.request(method, path)
                return line.getresponse().status

        with configured(folder, text, port):
            yield status
        behind.shutdown()


def test_uploads_can_be_refused(tmp_path):
    """The documented nginx location refuses uploads of runs and recordings, and no other requests."""
    with locations(tmp_path, REFUSED + "location / { proxy_pass http://127.0.0.1:8050; }") as status:
        assert status("POST", "/normscape/recording") == status("POST", "/normscape/run/spiral") == 403
        assert status("POST", f"/normscape/recording/{'0' * 32}/delete") == 204
        assert status("POST", "/normscape/training") == 204
        assert status("GET", f"/normscape/run/{'0' * 16}.npz") == 204


def test_other_locations_of_the_server_do_not_take_our_files(tmp_path):
    """nginx passes our .js files to the container even if the host has a location for .js of its own.

    Our location must then be the documented regular expression, before the host's; the prefix /normscape/
    would lose to the host's. The documented locations of our public files win over both.
    """
    (ours,) = re.findall(r"replace `location /normscape/` by `(location [^`]+)`", TEXT)
    passed, theirs = "{ proxy_pass http://127.0.0.1:8050; }", r"location ~ \.js$ { return 410; }"
    for folder, location, file in (("a", "location /normscape/", 410), ("b", ours, 204)):
        (tmp_path / folder).mkdir()
        with locations(tmp_path / folder, f"{location} {passed} {theirs}") as status:
            assert status("GET", "/normscape/lib/plotly.js") == file
            assert status("GET", "/normscape/") == 204 and status("GET", "/normscape.js") == 410
    with locations(tmp_path, f"{PUBLIC} {ours} {{ return 401; }} {theirs}") as status:
        assert status("GET", "/normscape/lib/plotly.js") == 204
        assert status("GET", "/normscape/fold") == status("GET", "/normscape") == 401


def test_compose_reads_each_variable_of_the_recipe_and_of_the_example():
    root = Path(__file__).parents[1]
    example = re.sub(r"^#(?=[A-Z])", "", (root / ".env.example").read_text(), flags=re.M)
    names = {*re.findall(r"^([A-Z_]+)=", SETTINGS + example, re.M)} - {"COMPOSE_PROFILES"}  # Compose's own
    assert len(names) > 15 and names <= {*re.findall(r"\$\{([A-Z_]+):-", (root / "compose.yaml").read_text())}
