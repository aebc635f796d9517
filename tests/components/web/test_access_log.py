"""What a line of the access log says, and what it keeps to itself."""

import pytest
from werkzeug.test import Client
from werkzeug.wrappers import Response

from components.web.access_log import logged

KEY = "Qk3" * 8


def lines(method, path, *, status=200, who="192.0.2.7", **asked):
    said = []
    inner = logged(Response("" if status == 204 else "seen", status), said.append)
    answer = Client(inner).open(path, method=method, environ_base={"REMOTE_ADDR": who}, **asked)
    assert answer.status_code == status
    return said


def test_a_line_says_who_what_and_how_it_ended():
    (line,) = lines("GET", "/recipe/fold", status=404)
    start, _, end = line.rpartition(" 404 4 bytes ")
    assert start == '192.0.2.7 "GET /recipe/fold HTTP/1.1"' and end.endswith(" ms")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/layernorm?points=1,2,3", "/layernorm"),
        (f"/run/{KEY}.npz", "/run/-.npz"),
        (f"/run/{KEY}/net?seed=3", "/run/-/net"),
        (f"/sub/training/{KEY}/look?seed=1", "/sub/training/-/look"),
        ("/run/temperature", "/run/temperature"),
        ("/assets/a%22%0d%0ab", "/assets/a%22%0D%0Ab"),
    ],
)
def test_a_line_has_nothing_of_what_was_typed_and_no_key(path, shown):
    (line,) = lines("POST", path)
    assert f'"POST {shown} HTTP/1.1"' in line


@pytest.mark.parametrize(
    ("who", "shown"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::1"),
        ("fe80::1%eth0\t200", "fe80::1"),
        ('192.0.2.7\t"GET / HTTP/1.1" 200', "-"),
        ("unknown", "-"),
    ],
)
def test_nothing_but_an_address_stands_where_the_address_stands(who, shown):
    """A trusted proxy passes on whatever its client has written into X-Forwarded-For."""
    (said,) = lines("GET", "/x", who=who)
    assert said.startswith(f'{shown} "GET /x HTTP/1.1" 200 ')


def test_no_method_forges_a_field():
    (said,) = lines('G"\tT', "/x")
    assert '"G%22%09T /x HTTP/1.1" 200 ' in said


def test_a_page_that_asks_again_and_again_leaves_no_line_until_it_is_refused():
    for path in (f"/sub/training/{KEY}", "/sub/healthz"):
        assert lines("POST", path) == lines("POST", path, status=204) == []
        assert len(lines("POST", path, status=503)) == 1 and KEY not in lines("POST", path, status=503)[0]
    assert len(lines("POST", "/_dash-update-component")) == len(lines("POST", f"/training/{KEY}/close")) == 1
