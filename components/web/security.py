"""What every answer says to the browser, how large a question may be, and what Dash is asked at all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dash import Dash
from dash.exceptions import DependencyException
from flask import Flask, Response, jsonify, request
from flask.sessions import SecureCookieSessionInterface
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge
from werkzeug.sansio.utils import host_is_trusted

from components.language.scene import WrongValue
from components.settings import Settings
from components.web.routes import check, current_facts

LONGEST_PATH, LONGEST_QUERY = 300, 8_000  # characters as sent
LARGEST_BODY = 2**20  # bytes; a film's file may have more
BYTES = "application/octet-stream"  # a form of another site cannot send it
HEALTH = "/healthz"  # what watches the server asks here, by whatever name it has for it
EMBED = "embed"  # the endpoint whose pages may stand in a frame of any page
DOCUMENTS = ("text/html", "image/svg+xml")  # what a browser shows as a page, and may run scripts in

# Plotly writes style attributes, hence 'unsafe-inline' for styles. No script is inline, or made from text.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "media-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
DOCUMENT_HEADERS = {
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Cookie(SecureCookieSessionInterface):
    """Who asked for a training; over https, only over https."""

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure


def secure(app: Dash, setting: Settings) -> None:
    """Headers and bounds for every route of an application that has all its callbacks."""
    server = app.server
    check(server)
    server.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
    server.config |= {
        "SESSION_COOKIE_NAME": "normscape",
        "SESSION_COOKIE_PATH": setting.prefix,
        "SESSION_COOKIE_SAMESITE": "Strict",
    }
    server.session_interface = Cookie()
    server.before_request(partial(known, setting.hosts))
    server.before_request(bounded)
    server.before_request(partial(answerable, app))
    server.after_request(headers)
    server.register_error_handler(
        RequestEntityTooLarge, lambda _: too_large("body", request.max_content_length or LARGEST_BODY, 413)
    )
    server.register_error_handler(DependencyException, lambda _: ("There is no such file.", 404))


def headers(answer: Response) -> Response:
    """Headers for safety. Only documents need those that a browser applies to a page and to all it fetches.

    A page may be framed by its own site, an embed by anyone.
    """
    facts = current_facts()
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers.setdefault("Cache-Control", "private, no-cache")  # it may name the host, or a cookie
    if answer.mimetype in DOCUMENTS:
        anywhere = request.endpoint == EMBED
        policy = POLICY | {"frame-ancestors": "*" if anywhere else "'self'"}
        answer.headers.update(DOCUMENT_HEADERS)
        answer.headers["Content-Security-Policy"] = "; ".join(
            f"{name} {what}" for name, what in policy.items()
        )
        if not anywhere:
            answer.headers["X-Frame-Options"] = "SAMEORIGIN"
    if facts.cross_origin and request.method in ("GET", "HEAD"):
        answer.headers["Access-Control-Allow-Origin"] = "*"
    return answer


def known(hosts: tuple[str, ...]) -> None:
    """400 for a host that is not ours: links in the answer would lead there. Health has any."""
    if hosts and request.path != HEALTH and not host_is_trusted(request.host.lower(), hosts):
        raise WrongValue("Host", "this server has another name", list(hosts))


def bounded() -> tuple[Response, int] | None:
    """414 for an address that no link of ours is as long as."""
    if len(request.path) > LONGEST_PATH:
        return too_large("path", LONGEST_PATH, 414)
    if len(request.query_string) > LONGEST_QUERY:
        return too_large("query", LONGEST_QUERY, 414)
    return None


def from_own_page(what: str) -> None:
    """400 for a POST that a page of another site could have its visitor send. Raises WrongValue.

    A form cannot have this content type, and a script of another site must ask first, which nothing allows.
    What a browser says of the page that asks is checked as well.
    """
    if request.mimetype != BYTES:
        raise WrongValue(what, f"this needs the content type {BYTES}", BYTES)
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    foreign = origin is not None and origin.partition("://")[2].lower() != request.host.lower()
    if site not in (None, "same-origin", "none") or (site is None and foreign):
        raise WrongValue(what, "this is for the explorer's own pages, not for those of another site", "")


def body(*, cache: bool = True) -> bytes:
    """The body, all of it. Raises RequestEntityTooLarge; one without a length Werkzeug would cut."""
    data = request.get_data(cache=cache)
    if request.content_length is None and len(data) >= most():
        raise RequestEntityTooLarge
    return data


def most() -> int:
    """Bytes that the body of this request may have."""
    return request.max_content_length or LARGEST_BODY


def too_large(what: str, most: int, status: int) -> tuple[Response, int]:
    return jsonify(WrongValue(what, f"the {what} is too long", {"longest": most}).json()), status


def answerable(app: Dash) -> None:
    """400 for a request that is none of the application's callbacks: Dash itself would answer 500."""
    if request.endpoint == "/_dash-update-component":
        body()
        try:
            ours = is_callback(app.callback_map, request.get_json())
        except (BadRequest, RecursionError, KeyError, TypeError):
            ours = False
        if not ours:
            raise WrongValue("body", "this is no callback of ours", "what the page sends")


def is_callback(callbacks: Mapping[str, Any], asked: Any) -> bool:
    """Whether a body names a callback of one output, without states, and brings its inputs, as the page does.
    Raises KeyError, TypeError for what has another form."""
    known, changed = callbacks[asked["output"]], asked.get("changedPropIds", [])
    if "callback" not in known or asked.get("state", []) != [] or not isinstance(changed, list):
        return False  # the page's own callbacks are listed, but not ours to run
    sent = [(each["id"], each["property"]) for each in (asked["outputs"], *asked["inputs"])]
    declared = [(each["id"], each["property"]) for each in (known["output"].to_dict(), *known["inputs"])]
    return sent == declared and all(isinstance(name, str) for name in changed)
