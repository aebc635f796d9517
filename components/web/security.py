"""What every answer says to the browser, how large a body may be, and what Dash is asked at all."""

from __future__ import annotations

from functools import partial

from dash import Dash
from dash.exceptions import DashException, DependencyException
from flask import Flask, Response, current_app, jsonify, request
from flask.sessions import SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.utils import host_is_trusted

from components.language.scene import WrongValue
from components.settings import Settings
from components.web.routes import SECRET, check, current_facts

MAX_BODY_BYTES = 2**20  # a film's file may have more
CACHE_SECONDS = 5  # in nginx: a changed file is seen soon
BYTES = "application/octet-stream"  # a form of another site cannot send it
HEALTH = "/healthz"  # what watches the server asks here, by whatever name it has for it
EMBED = "embed"  # the endpoint whose pages may stand in a frame of any page
CALLBACKS = "/_dash-update-component"
MALFORMED = (LookupError, TypeError, AttributeError, ValueError, RecursionError, DashException)
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
    server.config |= {
        "MAX_CONTENT_LENGTH": MAX_BODY_BYTES,
        "SESSION_COOKIE_NAME": "normscape",
        "SESSION_COOKIE_PATH": setting.prefix,
        "SESSION_COOKIE_SAMESITE": "Strict",
    }
    server.session_interface = Cookie()
    server.before_request(partial(known, setting.hosts))
    server.after_request(headers)
    server.register_error_handler(RequestEntityTooLarge, too_large)
    server.register_error_handler(DependencyException, lambda _: ("There is no such file.", 404))
    server.view_functions[CALLBACKS] = partial(callback, server.view_functions[CALLBACKS])


def headers(answer: Response) -> Response:
    """Headers for safety, and for how long nginx may keep the answer for others.

    Only documents need those that a browser applies to a page and to all it fetches. A page may be framed by
    its own site, an embed by anyone.
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
    shared = facts.cacheable and answer.status_code == 200 and not answer.cache_control.no_store
    if shared and not SECRET.search(request.full_path):
        answer.headers["X-Accel-Expires"] = str(CACHE_SECONDS)
    return answer


def known(hosts: tuple[str, ...]) -> None:
    """400 for a host that is not ours: links in the answer would lead there. Health has any."""
    if hosts and request.path != HEALTH and not host_is_trusted(request.host.lower(), hosts):
        raise WrongValue("Host", "this server has another name", list(hosts))


def from_own_page(what: str) -> None:
    """400 for a POST that a page of another site could have its visitor send. Raises WrongValue.

    A form cannot have this content type, and a script of another site must ask first, which nothing allows.
    """
    if request.mimetype != BYTES:
        raise WrongValue(what, f"this needs the content type {BYTES}", BYTES)


def body(*, cache: bool = True) -> bytes:
    """The body, all of it. Raises RequestEntityTooLarge; one without a length Werkzeug would cut."""
    data = request.get_data(cache=cache)
    if request.content_length is None and len(data) >= (request.max_content_length or MAX_BODY_BYTES):
        raise RequestEntityTooLarge
    return data


def too_large(_: RequestEntityTooLarge) -> ResponseReturnValue:
    most = request.max_content_length or MAX_BODY_BYTES
    return jsonify(WrongValue("body", "the body is too long", {"longest": most}).json()), 413


def callback(dispatch, *args: object, **kwargs: object) -> ResponseReturnValue:
    """What Dash answers to a callback; 400 for a body that is none of this application's, instead of 500."""
    body()
    try:
        answer: ResponseReturnValue = dispatch(*args, **kwargs)
    except MALFORMED as problem:
        current_app.logger.warning("refused as a callback: %s: %s", type(problem).__name__, problem)
        raise WrongValue("body", "this is no callback of ours", "what the page sends") from None
    return answer
