"""Deployment: settings, start and stop, the container image, and a server behind a proxy at a sub-path."""

import contextlib
import hashlib
import html
import json
import logging
import os
import re
import shutil
import signal
import socket
import socketserver
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import yaml
from dash import Dash

import app
from components import settings
from components.language.scene import scenes
from components.training import queue
from components.web import serve, stills
from components.web.budget import Busy
from components.web.routes import Access, route
from tests.folders import cache_folder
from tests.waiting import PATIENCE
from tools.ports import free

pytestmark = pytest.mark.servers

ROOT = Path(__file__).parents[1]
KEY = "0123456789abcdef" * 2
PREFIX = "/sub/path/"


# --- settings


def test_without_settings_the_root_is_served_on_this_machine():
    got = settings.read({"TRUSTED_PROXIES": "", "SECRET_KEY": "a setting of earlier versions"})
    assert (got.prefix, got.proxies) == ("/", 0) and settings.bind({"BIND": ""}) == ("127.0.0.1", 8050)


def test_settings_are_what_the_environment_says():
    got = settings.read({"NORMSCAPE_PREFIX": PREFIX, "TRUSTED_PROXIES": "2"})
    assert (got.prefix, got.proxies) == (PREFIX, 2)


WRONG = [
    *[("NORMSCAPE_PREFIX", text) for text in ("sub", "/sub", "sub/", "//", "/a b/", "/<x>/", "https://a/")],
    *[("NORMSCAPE_PREFIX", text) for text in ("/./", "/a/../", f"/{'a' * 5000}/")],
    *[("HOSTS", text) for text in ("https://a", "a:80", "a/b", "a..b", "*", "ü.example", "a" * 64, "xn--a")],
    *[("HOSTS", text) for text in ("[1]", "[::1", "[fe80::1%a]")],
    *[("EMBED_ORIGINS", text) for text in ("moodle.example", "https://a/", "https://a/b", "*", "ftp://a")],
    *[("EMBED_ORIGINS", text) for text in ("https://a;script-src", "https://*", "'none'", "https://a:b")],
    *[("TRUSTED_PROXIES", text) for text in ("-1", "1.0", "all", "99", "1" * 5000, "١")],
    *[("CLIENT_CPU_BURST", text) for text in ("0", "-1", "inf", "nan", "1e3", "20,5", "10000")],
    *[("CLIENT_CPU_RATE", text) for text in ("0", "0.001", "100", "1/4")],
    *[(name, text) for name in ("CLIENT_TRAININGS", "WAITING_TRAININGS") for text in ("0", "1.5", "1000")],
    *[("LOG_LEVEL", text) for text in ("verbose", "DEBUG")],
    *[("CLIENT_REQUESTS", text) for text in ("0", "5001", "500;", "many")],
    *[
        (name, text)
        for name in ("IMPRINT_URL", "PRIVACY_URL")
        for text in (
            "/imprint",
            "javascript:alert(1)",
            "ftp://a/",
            "https://",
            "https://a/ b",
            "mailto:a@b.c",
        )
    ],
]


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_a_wrong_setting_is_named(name, text):
    with pytest.raises(settings.WrongSetting, match=f"^{name}") as said:
        settings.read({name: text})
    assert "\n" not in str(said.value)


def test_host_names_are_separated_by_commas_or_spaces():
    got = settings.read({"HOSTS": "teach.example, .School.example\n[::1]"})
    assert got.hosts == ("teach.example", ".school.example", "[::1]")


def test_embed_origins_are_separated_by_commas_or_spaces():
    got = settings.read({"EMBED_ORIGINS": "https://moodle.example, http://a:8080\nhttps://*.School.example"})
    assert got.embed_origins == ("https://moodle.example", "http://a:8080", "https://*.school.example")
    assert settings.read({"EMBED_ORIGINS": ""}).embed_origins == ()


def test_the_log_level_is_a_setting():
    assert [settings.read({"LOG_LEVEL": text}).log_level for text in ("", "debug")] == ["warning", "debug"]


def test_a_wrong_number_is_told_what_is_allowed():
    with pytest.raises(settings.WrongSetting) as said:
        settings.read({"CLIENT_CPU_RATE": "0"})
    assert str(said.value) == "CLIENT_CPU_RATE=0 is not a number from 0.01 to 99"


def test_limits_are_settings(monkeypatch, tmp_path):
    """Settings limit the CPU time and the trainings of a client, and the number of waiting trainings."""
    limits = {"CLIENT_CPU_BURST": "30.5", "CLIENT_CPU_RATE": "2", "CLIENT_TRAININGS": "2"}
    for name, text in (limits | {"WAITING_TRAININGS": "3", "CACHE_DIR": str(tmp_path)}).items():
        monkeypatch.setenv(name, text)
    budget = app.create_app().server.extensions["budget"]
    budget.clock = lambda: 1000.0
    budget.charge("class", 30)
    with budget.turn("class", price=1):
        pass
    # the client is 0.5 s over its limit, and 2 s are restored each second
    with pytest.raises(Busy, match="Try again in 1 s"), budget.turn("class"):
        pass
    for owner in "ab":
        queue.join({}, owner=owner, address="class")
    with pytest.raises(queue.Refused, match="2 trainings of this address"):
        queue.join({}, owner="c", address="class")
    queue.join({}, owner="d", address="home")
    with pytest.raises(queue.Refused, match="3 trainings are waiting"):
        queue.join({}, owner="e", address="library")


FOOT = '<footer class="foot"><a href="https://a.example/?x=1&amp;y">Imprint</a></footer>'


@pytest.mark.parametrize(
    "path", ["", "layernorm", "layernorm?d=999", "nothing", "story", "words", "deployment"]
)
def test_every_page_links_the_imprint_but_no_embed(monkeypatch, path):
    assert "<footer" not in placed("/").get(f"/{path}").text
    monkeypatch.setenv("IMPRINT_URL", "https://a.example/?x=1&y")
    client = placed("/")
    assert client.get(f"/{path}").text.count(FOOT) == 1
    assert "<footer" not in client.get("/embed/layernorm").text
    monkeypatch.setenv("PRIVACY_URL", "http://b.example")
    foot = FOOT.replace("</footer>", '<a href="http://b.example">Privacy notice</a></footer>')
    assert foot in placed("/").get(f"/{path}").text


def test_the_help_lists_the_settings(capsys):
    with pytest.raises(SystemExit):
        app.main(["serve", "--help"])
    said = capsys.readouterr().out
    for name in re.findall(r"^([A-Z_]+)  +\S", settings.__doc__, re.M):
        assert f"\n{name}  " in said


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:8050", ("::1", 8050)),
        ("localhost:0", ("localhost", 0)),
        *[
            (wrong, None)
            for wrong in ("8050", ":8050", "host", "host:port", "host:99999", "unix:/socket", "::1")
        ],
    ],
)
def test_an_address_to_listen_at_is_host_and_port(text, address):
    if address:
        assert settings.bind({"BIND": text}) == address
    else:
        with pytest.raises(settings.WrongSetting, match="BIND"):
            settings.bind({"BIND": text})


WORKER = ["-m", "components.training.worker"]


@pytest.mark.parametrize(
    ("command", "own"),
    [
        (["app.py", "--port", "0"], {"NORMSCAPE_PREFIX": "/spiral/"}),
        (["app.py"], {"BIND": "nowhere"}),
        (WORKER, {"REDIS_URL": ""}),
        (WORKER, {"REDIS_URL": "amqp://broker"}),
    ],
)
def test_a_server_with_wrong_settings_says_so_and_ends(command, own):
    ends_with_a_line(command, own)


REFUSED = {"NORMSCAPE_PREFIX": "sub", "CACHE_DIR": "/proc/nothing", "BIND": "here", "REDIS_URL": "there"}
REFUSED |= {"CLIENT_REQUESTS": "many", "LOG_LEVEL": "verbose"}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_setting_ends_the_start_with_a_line(monkeypatch, name):
    monkeypatch.setenv(name, REFUSED[name])
    monkeypatch.setattr("components.web.serve.listen", None)  # nothing is served
    with pytest.raises(SystemExit, match=r"^normscape: .+$"):
        app.main([])


@contextlib.contextmanager
def guarded_redis():
    """Run a fake Redis server that refuses each command for lack of a password; yields its URL."""

    class Guard(socketserver.StreamRequestHandler):
        def handle(self):
            while line := self.rfile.readline():
                if line.strip().isalpha():  # the name of a command; all are refused
                    self.wfile.write(b"-NOAUTH Authentication required.\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Guard) as running:
        running.daemon_threads = True
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"redis://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


def test_a_redis_that_refuses_us_ends_the_start_with_a_line():
    with guarded_redis() as url:
        said = ends_with_a_line(["app.py"], {"REDIS_URL": url})
    assert "Redis refused the password, or needs one" in said


def test_a_redis_that_is_away_is_said_and_waited_for(capsys):
    port = free()
    settings.check_storage({"REDIS_URL": f"redis://127.0.0.1:{port}"})
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"127.0.0.1:{port}" in said and "Check" not in said


def test_an_unknown_host_name_of_redis_is_told_to_be_checked(capsys):
    settings.check_storage({"REDIS_URL": "redis://nosuch.invalid:6379/0"})
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "Check the host name in REDIS_URL" in said and "COMPOSE_PROFILES" in said


def test_a_folder_that_cannot_be_reached_is_named(tmp_path, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)  # as below another user's home folder
    with pytest.raises(settings.WrongSetting, match=r"^CACHE_DIR: nothing can be written to .*: Permission"):
        settings.check_storage({"CACHE_DIR": str(tmp_path / "x")})


def test_servers_that_start_at_the_same_time_may_share_a_folder(tmp_path):
    """Servers that check the same folder at the same time do not fail, and leave nothing in it.

    In containers, even their process ids are equal.
    """
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(settings.check_storage, 1000 * [{"CACHE_DIR": str(tmp_path)}]))
    assert not list(tmp_path.iterdir())


def ends_with_a_line(command, own):
    """Run Python with the arguments `command` and the settings `own`, and return its error message.

    It must exit with code 1, and the message must be one line that begins with "normscape: ".
    """
    got = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(**{"BIND": "127.0.0.1:0"} | own),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    said = got.stderr.splitlines()
    assert got.returncode == 1 and len(said) == 1 and said[0].startswith("normscape: "), got.stderr
    return said[0]


# --- at a path


def placed(prefix):
    """A test client of an application at a path prefix."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NORMSCAPE_PREFIX", prefix)
        return app.create_app().server.test_client()


# A page of each kind: a figure alone, with training, with recordings; the story; the glossary
LINKING = ("layernorm", "spiral", "model", "story", "words")


def all_links(client, prefix):
    pages = {page: client.get(f"{prefix}{page}").text for page in ("", *LINKING, "nothing")}
    found = [link for text in pages.values() for link in html_links(text)]
    config = (
        pages["spiral"].partition('id="_dash-config" type="application/json">')[2].partition("</script>")[0]
    )
    found.append(json.loads(config)["requests_pathname_prefix"])
    return {link for link in found if not link.startswith(f"{prefix}nothing")}


def html_links(text):
    """The addresses in a page that begin with “/”, as a list.

    They are the values of the attributes href, src and data-… (except data-slug…), and Dash's list of
    scripts.
    """
    scripts = text.partition('id="dash-scripts">')[2].partition("</script>")[0] or "[]"
    named = map(html.unescape, re.findall(r'(?:href|src|data-(?!slug)\w+)="(/[^"]+)"', text))
    return [*named, *json.loads(scripts)]


def test_every_link_stays_below_the_prefix():
    """With a prefix, each link of the pages begins with it, and is otherwise the same as without a prefix.

    The server answers each link with 200. The test skips the link `run`, to which the player adds a name. Of
    the moving pictures, it requests only one.
    """
    client = placed(PREFIX)
    found, root = all_links(client, PREFIX), all_links(placed("/"), "/")
    kinds = ("still/", "lib/", "recipe/", "assets/", "theme.css", "_dash-component-suites/", *scenes())
    for kind in kinds:
        assert any(link.startswith(PREFIX + kind) for link in found), kind
    assert all(link.startswith(PREFIX) for link in found), found
    assert {link.replace(PREFIX, "/", 1) for link in found} == root
    dear = [link for link in sorted(found) if "moving=1" in link][1:]  # one moving picture is enough
    followed = found - {f"{PREFIX}run", *dear}  # the player adds a name to `run`
    for link in {link.partition("#")[0].replace("{slug}", "fold") for link in followed}:  # as the player does
        with client.get(link) as answer:
            assert answer.status_code == 200, link


@pytest.mark.parametrize("prefix", ["/", PREFIX])
def test_a_proxy_may_strip_the_prefix_or_leave_it(prefix):
    client = placed(prefix)
    for path, status in (
        ("layernorm", 200),
        ("recipe/rmsnorm", 200),
        ("layernorm?d=9", 400),
        ("nothing", 404),
    ):
        whole, stripped = client.get(prefix + path), client.get("/" + path)
        assert whole.status_code == stripped.status_code == status
        assert b"x" in whole.data and whole.mimetype == stripped.mimetype
    assert "<title>LayerNorm" in client.get(f"{prefix}layernorm").text
    assert client.get("/healthz").status_code == client.get(f"{prefix}healthz").status_code == 200


def test_a_path_that_only_begins_like_the_prefix_is_not_below_it():
    client = placed(PREFIX)
    assert client.get(f"{PREFIX.rstrip('/')}layernorm").status_code == 404
    home = client.get(PREFIX.rstrip("/"), follow_redirects=True)
    assert home.status_code == 200 and home.request.path == PREFIX


@pytest.mark.parametrize(("proxies", "seen"), [("0", "http://inside"), ("1", "https://teach.example")])
def test_only_known_proxies_are_believed(monkeypatch, proxies, seen):
    monkeypatch.setenv("TRUSTED_PROXIES", proxies)
    monkeypatch.setenv("NORMSCAPE_PREFIX", PREFIX)
    said = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "teach.example", "X-Forwarded-Prefix": "/evil"}
    got = (
        app.create_app()
        .server.test_client()
        .get(f"/oembed?url={seen}{PREFIX}layernorm", headers={"Host": "inside", **said})
    )
    assert got.status_code == 200 and got.json["provider_url"] == f"{seen}{PREFIX}"
    assert f'src="{seen}{PREFIX}embed/layernorm' in got.json["html"]


def test_the_first_visitors_may_come_at_once(monkeypatch):
    """A server answers all requests for Dash's files, even if they are its first requests and come at once.

    Dash registers its files during its first request, so others at the same time could miss them.
    """
    page = app.create_app().server.test_client().get("/spiral").text
    files = [link for link in html_links(page) if "_dash-component-suites" in link]
    learn = Dash._generate_scripts_html
    monkeypatch.setattr(Dash, "_generate_scripts_html", lambda self: (time.sleep(0.2), learn(self))[1])
    server = app.wsgi()
    with ThreadPoolExecutor(len(files)) as pool:
        answers = pool.map(lambda path: server.test_client().get(path).status_code, files)
        assert set(answers) == {200} and len(files) == 5


@pytest.mark.parametrize("hosts", ["", ".school.example", "[::1], a.example"])
def test_the_server_starts_with_any_valid_hosts(monkeypatch, hosts):
    """The server answers its own first request, which must name a host, whatever stands first in HOSTS."""
    monkeypatch.setenv("HOSTS", hosts)
    names = [name.removeprefix(".") for name in hosts.replace(",", " ").split()] or ["any.example"]
    client = app.wsgi().test_client()
    for name in names:
        assert client.get("/", headers={"Host": name}).status_code == 200
        assert client.get("/", headers={"Host": f"{name}:8050"}).status_code == 200


# --- the server


def environment(**own):
    """This process's environment variables without Normscape's settings, but with CACHE_DIR, and `own`."""
    ours = {*re.findall(r"^([A-Z_]+)  +\S", settings.__doc__, re.M)} - {"CACHE_DIR"}
    return {name: text for name, text in os.environ.items() if name not in ours} | own


@contextlib.contextmanager
def serving(folder, **own):
    """Run `python app.py` with the settings `own` until the block ends.

    When its health check answers, yields its base URL, its process, and the paths of the files with its
    standard output and standard error. folder: where these files and its temporary files are.
    """
    port = free()
    out, err = folder / "out.txt", folder / "err.txt"
    with out.open("w") as output, err.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env=environment(BIND=f"127.0.0.1:{port}", TMPDIR=str(folder), **own),
            stdout=output,
            stderr=errors,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while fetch(f"http://127.0.0.1:{port}/healthz") is None:
            assert process.poll() is None and time.monotonic() < deadline, err.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", process, out, err
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def fetch(url, **headers):
    """The status and body of the answer to a GET request with these headers; None if no server answers."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError:
        return None


def test_a_server_believes_its_proxy_says_nothing_of_requests_and_lets_one_finish(tmp_path):
    """After SIGTERM, a running request still gets its complete answer, and the process exits with 0.

    A server that trusts a proxy has printed one line, with its own address, and logged no request.
    """
    asked = b"POST /run/spiral HTTP/1.1\r\nHost: here\r\nContent-Type: application/octet-stream\r\n"
    with serving(tmp_path, TRUSTED_PROXIES="1") as (base, process, out, err):
        assert fetch(f"{base}/recipe/rmsnorm", **{"X-Forwarded-For": "192.0.2.7"})[0] == 200
        with socket.create_connection(("127.0.0.1", urlsplit(base).port), PATIENCE) as line:
            line.sendall(asked + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            assert line.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
            line.sendall(b"{}")
            process.send_signal(signal.SIGTERM)
            head, _, body = b"".join(iter(lambda: line.recv(10_000), b"")).partition(b"\r\n\r\n")
        assert process.wait(timeout=PATIENCE) == 0
    assert head.startswith(b"HTTP/1.1 400 ") and "npz" in json.loads(body)["error"]
    assert out.read_text().splitlines() == [f"Normscape is on {base}/  (Ctrl+C stops it)"]
    assert "recipe" not in err.read_text()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A server that trusts one proxy and has its own CACHE_DIR: its base URL and its process."""
    folder = tmp_path_factory.mktemp("alone")
    with serving(folder, CACHE_DIR=cache_folder(folder), TRUSTED_PROXIES="1") as (base, process, *_):
        yield base, process


def test_the_dearest_pictures_twenty_a_second_leave_the_rest_quick(alone):
    """While more pictures are requested than the server can draw, the health check stays quick.

    Its median time is less than a quarter of the time of the quickest picture. Each picture is requested by a
    new client, so none has spent its budget. Requests beyond the capacity get the status 503.
    """
    dearest, asked = "/still/norms.svg?n=5000&d=6&left=groupnorm&right=groupnorm", 30
    base, pictures, checks = alone[0], [], []

    def timed(path, client):
        start = time.monotonic()
        status, _ = fetch(base + path, **{"X-Forwarded-For": client})
        return status, time.monotonic() - start

    with ThreadPoolExecutor(asked + 1) as pool:
        for k in range(asked):
            pictures.append(pool.submit(timed, f"{dearest}&seed={k}", f"192.0.2.{k}"))
            if k % 5 == 4:
                checks.append(pool.submit(timed, "/healthz", "192.0.2.200").result())
            time.sleep(0.05)
        answers = [each.result() for each in pictures]
    assert {status for status, _ in answers} == {200, 503} and {status for status, _ in checks} == {200}
    quickest = min(seconds for status, seconds in answers if status == 200)
    assert statistics.median(seconds for _, seconds in checks) < quickest / 4, (
        "seconds, whoever else computes"
    )


def test_an_error_is_one_line_without_the_key_of_a_run(monkeypatch):
    monkeypatch.setattr(os, "environ", environment())
    formatter = serve.OneLine("%(levelname)s %(message)s")
    server = app.create_app().server
    route(server, "/broken/<run>", "broken", lambda run: {}[f"a\n{run}"], Access.PRIVATE)
    lines = []
    keep = logging.Handler()
    keep.emit = lambda record: lines.append(formatter.format(record))
    server.logger.addHandler(keep)
    try:
        assert server.test_client().get(f"/broken/{KEY}").status_code == 500
    finally:
        server.logger.removeHandler(keep)
    assert len(lines) == 1 and "\n" not in lines[0]
    assert "/broken/-" in lines[0] and KEY not in lines[0]
    assert "KeyError" in lines[0] and "test_deployment.py:" in lines[0]


# --- the image


def services():
    """A dict: for each service of compose.yaml, its settings, including those that services share."""
    return yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


@pytest.mark.parametrize("name", ["proxy", "web", "worker", "redis"])
def test_every_service_is_confined(name):
    """Each container has a read-only file system, no capabilities, and limits on log, memory and CPU.

    Its processes cannot get new privileges.
    """
    service = services()[name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    assert re.fullmatch(r"\dg|\$\{\w+_MEMORY:-\dg\}", service["mem_limit"])
    # Docker refuses to start a container with more CPUs than the machine has.
    assert re.fullmatch(r"1|\$\{\w+_CPUS:-1\}", str(service["cpus"]))


def test_every_setting_is_documented_and_passed_on():
    table = (
        (ROOT / "docs/deployment.md").read_text("utf-8").partition("\n## Settings\n")[2].partition("\n## ")[0]
    )
    documented = re.findall(r"`([A-Z_]+)`", "".join(re.findall(r"^\|([^|]+)\|", table, re.M)))
    described = re.findall(r"^([A-Z_]+)  +\S", settings.__doc__, re.M)
    assert documented == described
    for name in ("web", "worker"):
        assert {*services()[name]["environment"], "BIND", "CACHE_DIR"} == set(documented)
    assert services()["proxy"]["environment"].keys() == {"CLIENT_REQUESTS"}


def test_the_settings_for_systemd_are_settings_and_the_limits_those_of_the_container():
    page = (ROOT / "docs/deployment.md").read_text("utf-8").partition("\n## Without Docker\n")[2]
    page = page.partition("\n## ")[0]
    (unit,) = re.findall(r"```ini\n(.*?)```", page, re.S)
    (given,) = re.findall(r"```sh\n(TRUSTED_PROXIES.*?)```", page, re.S)
    web = services()["web"]
    assert {line.partition("=")[0] for line in given.splitlines()} <= web["environment"].keys()
    assert "#" not in given  # systemd would take it for a part of the value
    assert f"LimitNOFILE={web['ulimits']['nofile']}\n" in unit
    assert re.search(r"MemoryMax=(\d)G", unit)[1] + "g}" == web["mem_limit"].rpartition("-")[2]


def test_nginx_takes_as_large_a_body_as_the_web_server():
    (megabytes,) = re.findall(r"client_max_body_size (\d+)m;", (ROOT / "nginx.conf").read_text())
    assert int(megabytes) * 2**20 == serve.WAITRESS["max_request_body_size"]


@pytest.mark.parametrize(("given", "number"), [("", "500"), ("5000", "5000")])
def test_the_proxy_image_starts_nginx_with_the_limit_of_requests(tmp_path, given, number):
    """The proxy image's command starts nginx with our nginx.conf; a setting replaces the limit of requests.

    given: the setting CLIENT_REQUESTS, or "". number: the limit in the configuration that nginx gets. A fake
    `nginx` prints this configuration.
    """
    stage = (ROOT / "Dockerfile").read_text().partition(" AS proxy\n")[2]
    command = json.loads(re.search(r"^CMD (\[.*\])$", stage, re.M)[1])
    command = [each.replace("/etc/nginx", str(ROOT)).replace("/cache", str(tmp_path)) for each in command]
    (tmp_path / "nginx").write_text('#!/bin/sh\ncat "$6"\n')
    (tmp_path / "nginx").chmod(0o755)
    own = {"PATH": f"{tmp_path}:/usr/bin:/bin", "CLIENT_REQUESTS": given}
    got = subprocess.run(command, env=own, capture_output=True, text=True, check=True, timeout=PATIENCE)
    before, after = (text.splitlines() for text in ((ROOT / "nginx.conf").read_text(), got.stdout))
    changed = {(old, new) for old, new in zip(before, after, strict=True) if old != new}
    assert {tuple(each.partition(";")[0].strip() for each in pair) for pair in changed} == (
        {("limit_conn clients 500", "limit_conn clients 5000")} if given else set()
    )
    assert f"clients {number};" in got.stdout


def test_redis_has_more_memory_than_it_fills():
    """The memory limit of Redis is twice its maxmemory.

    Redis forks to rewrite its append-only file, and the second process may need as much memory again.
    """
    redis = services()["redis"]
    filled = redis["command"][redis["command"].index("--maxmemory") + 1]
    assert int(redis["mem_limit"].removesuffix("g")) == 2 * int(filled.removesuffix("gb"))


def test_redis_runs_as_its_own_user_without_capabilities():
    """Redis runs as its own user, with its data in a volume.

    As root, the entrypoint would need capabilities to switch users.
    """
    redis = services()["redis"]
    assert redis["user"] == "999:1000" and redis["volumes"] == ["redis:/data"]


def test_the_health_checks_of_the_images_ask_the_server(alone):
    """The Dockerfile's health checks, with other ports, exit with 0 if a server is there, and else with 1."""
    commands = re.findall(r"^HEALTHCHECK .*\\\n  CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.M)
    for program, *arguments in map(json.loads, commands):
        assert program == "python"
        status = {}
        for port in (urlsplit(alone[0]).port, free()):
            asked = [each.replace(":8050", f":{port}") for each in arguments]
            done = subprocess.run([sys.executable, *asked], stderr=subprocess.DEVNULL, timeout=PATIENCE)
            status[port] = done.returncode
        assert list(status.values()) == [0, 1]
    assert len(commands) == 2


DIGEST = r"\w+:[\w.-]+@sha256:[0-9a-f]{64}"


def test_each_image_is_named_by_its_digest():
    stages = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.M)
    assert stages == ["${PYTHON}"] * 3
    text = (ROOT / "compose.yaml").read_text()
    images = re.findall(r"^ *(?:image|PYTHON): (\$\S+)", text, re.M)
    assert len(images) == 2 and all(re.fullmatch(rf"\$\{{[A-Z]+:-{DIGEST}\}}", image) for image in images)


def test_digests_are_renewed_as_documented(tmp_path):
    """The documented shell commands replace the digest of each image in compose.yaml by its current one.

    A fake `docker` invents a digest for each image name.
    """
    text = (ROOT / "docs/deployment.md").read_text()
    (commands,) = re.findall(r"```sh\n([^`]*imagetools.*?)```", text, re.S)
    docker, compose = tmp_path / "docker", tmp_path / "compose.yaml"
    docker.write_text('#!/bin/sh\necho "sha256:$(printf %s "$4" | sha256sum | cut -c1-64)"\n')
    docker.chmod(0o755)
    shutil.copy(ROOT / "compose.yaml", compose)
    there = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", "-ec", commands], cwd=tmp_path, env=there, check=True, timeout=PATIENCE)
    before, after = (re.findall(DIGEST, path.read_text()) for path in (ROOT / "compose.yaml", compose))
    names = [image.partition("@")[0] for image in before]
    new = [f"{name}@sha256:{hashlib.sha256(name.encode()).hexdigest()}" for name in names]
    assert names == ["python:3.11-slim", "redis:7-alpine"] and after == new != before


def test_the_image_finds_npm_each_time(tmp_path):
    """Each step of the Dockerfile that uses npm finds it on its PATH.

    The steps are run in a shell, with fake programs that record their calls.
    """
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    steps = re.findall(r"^RUN (.*npm.*)$", text, re.M)
    programs, said = tmp_path / "bin", tmp_path / "said"
    programs.mkdir()
    for name in ("python", "pip", "npm"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} $1 >> "{said}"\n')
        (programs / name).chmod(0o755)
    for step in steps:
        step = step.replace("python", str(programs / "python"), 1).replace("/node/bin", str(programs))
        subprocess.run(["sh", "-c", step], env={"PATH": "/usr/bin:/bin"}, check=True, timeout=PATIENCE)
    assert said.read_text().splitlines() == ["python -m", "pip install", "npm ci", "npm run"]


@pytest.mark.parametrize(
    ("given", "code"), [("", 0), ("--index-url https://a.example", 0), ("--index-url …", 1)]
)
def test_the_build_stops_where_no_address_of_torch_is_filled_in(given, code):
    (step,) = re.findall(r"^RUN (case .*)$", (ROOT / "Dockerfile").read_text(), re.M)
    own = {"PATH": "/usr/bin:/bin", "TORCH_INDEX_ARGS": given}
    got = subprocess.run(["sh", "-c", step], env=own, capture_output=True, text=True, timeout=PATIENCE)
    assert got.returncode == code and ("write an address" in got.stderr) == bool(code)


def test_the_image_has_the_gallery_s_pictures():
    """The Dockerfile draws the gallery's pictures into the folder from which the server takes them.

    It draws them after its last COPY, when all that they are drawn from is there.
    """
    last = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").rpartition("\nFROM ")[2]
    assert stills.IMAGE_FOLDER.parent == ROOT and "\nWORKDIR /app\n" in last
    assert last.index("components.web.stills") > last.rindex("COPY")


def test_whoever_comes_first_finds_the_gallery_drawn(alone):
    """All cards are drawn before the first request is accepted, so a class does not wait for them.

    To send all of them takes less than 1 s of CPU time.
    """
    base, process = alone
    spent = psutil.Process(process.pid).cpu_times().user
    for slug in scenes():
        assert fetch(f"{base}/card/{slug}.svg?theme=dark")[0] == 200
    spent = psutil.Process(process.pid).cpu_times().user - spent
    assert spent < 1, "seconds; to draw them takes two or more"


def test_the_image_starts_as_the_checkout_does():
    (command,) = re.findall(r"^CMD (\[.*app.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert json.loads(command) == ["python", "app.py"]


def test_the_image_holds_all_that_the_explorer_needs(tmp_path):
    """The files that the Dockerfile copies into its last stage are enough for the recipe of every scene.

    .dockerignore allows each of them.
    """
    last = (ROOT / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    sources = [name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", last, re.M) for name in line.split()]
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert sources and set(sources) <= let_in
    for name in sources:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    code = (
        "import app; from components.language.scene import scenes;"
        "client = app.create_app().server.test_client();"
        "print(*{client.get(f'/recipe/{slug}').status_code for slug in scenes()})"
    )
    got = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (got.returncode, got.stdout) == (0, "200\n"), got.stderr
