"""Security headers, limits of request bodies, and trusted proxies."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from dash.exceptions import DependencyException
from flask import Flask, Response, current_app, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import ContentSecurityPolicy
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.middleware.proxy_fix import ProxyFix

from components.language.scene import WrongValue, scenes
from components.settings import Settings, WrongSetting
from components.web.routes import SECRET, Access, DeclaredView, check
from learning.untrusted_npz import MAX_UPLOAD_BYTES

MAX_BODY_BYTES = 2**20  # uploads of files may be larger
CACHE_SECONDS = 5  # in nginx; short, so that a changed file appears soon
BYTES = "application/octet-stream"  # forms of other sites cannot send this content type
HEALTH = "/healthz"  # monitoring may use any host name here
EMBED = "embed"  # the endpoint that other sites may show in a frame
DOCUMENTS = ("text/html", "image/svg+xml")  # shown by browsers as pages, in which scripts may run

# Plotly writes style attributes, hence 'unsafe-inline' for styles. No script is inline or created from text.
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


def secure(server: Flask, setting: Settings) -> None:
    """Add security headers and limits to a server to which all routes have been added.

    Raises RuntimeError if a route has no `Access`, which says who may receive its responses.
    """
    check(server)
    server.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    server.before_request(partial(check_host, setting.hosts))
    server.after_request(partial(headers, setting.embed_origins))
    server.register_error_handler(RequestEntityTooLarge, too_large)
    server.register_error_handler(DependencyException, lambda _: ("There is no such file.", 404))


def headers(embed_origins: tuple[str, ...], answer: Response) -> Response:
    """Add security headers to a response, and `Cache-Control` if it has none, and return it.

    If a shared cache may keep the response, the header X-Accel-Expires is added too: it tells nginx for how
    many seconds to keep it. Headers that apply to a whole page are added to documents only.

    Pages of the same site may show any of our pages in a frame. An embed may also be shown by pages whose
    origin is in `embed_origins`, or by any page if `embed_origins` is empty. If it is empty, an embed has
    no `frame-ancestors`, because even `frame-ancestors *` would exclude pages opened from a disk. For the
    routes that are OPEN, `embed_origins` does not matter: scripts of any origin may read their responses,
    because a figure in a sandboxed frame has no origin.
    """
    view = current_app.view_functions.get(request.endpoint or "")
    access = view.access if isinstance(view, DeclaredView) else Access.PRIVATE  # if no route matches
    answer.headers["X-Content-Type-Options"] = "nosniff"
    # "private", because the response may depend on the host name or a cookie
    answer.headers.setdefault("Cache-Control", "private, no-cache")
    if answer.mimetype in DOCUMENTS:
        is_embed = request.endpoint == EMBED
        policy = POLICY
        if not is_embed or embed_origins:
            policy = POLICY | {"frame-ancestors": " ".join(["'self'", *(embed_origins if is_embed else ())])}
        answer.headers.update(DOCUMENT_HEADERS)
        answer.content_security_policy = ContentSecurityPolicy(policy)
        if not is_embed:
            answer.headers["X-Frame-Options"] = "SAMEORIGIN"
    if access is Access.OPEN and request.method in ("GET", "HEAD"):
        answer.headers["Access-Control-Allow-Origin"] = "*"
    shared = access is not Access.PRIVATE and not SECRET.search(request.full_path)
    if shared and answer.status_code == 200 and not answer.cache_control.no_store:
        answer.headers["X-Accel-Expires"] = str(CACHE_SECONDS)
    return answer


def check_host(hosts: tuple[str, ...]) -> None:
    """Refuse a request for a host name that is not in `hosts`, because links in pages contain this name.

    A name in `hosts` that begins with a dot stands for a domain and its subdomains. The health check may use
    any name. If `hosts` is empty, all names are allowed. Raises WrongValue.
    """
    if not hosts or request.path == HEALTH:
        return
    name = re.sub(r":\d*$", "", request.host.lower())
    if not any(name == host.removeprefix(".") or (host[0] == "." and name.endswith(host)) for host in hosts):
        words = f"this server has only these host names (the setting HOSTS): {', '.join(hosts)}"
        raise WrongValue("Host", words, list(hosts))


def stand_behind(server: Flask, setting: Settings) -> None:
    """Make a server work behind proxies: serve below the path `setting.prefix`, and trust forwarded headers.

    A proxy may strip the prefix or pass it on. Only the last `setting.proxies` entries of a header such as
    X-Forwarded-For are trusted. Raises WrongSetting if the prefix begins with one of the server's own paths,
    such as the slug of a scene.
    """
    application: Any = server.wsgi_app
    first, mount = setting.prefix.split("/")[1], setting.prefix.rstrip("/")
    own = {*scenes(), *(rule.rule.split("/")[1] for rule in server.url_map.iter_rules())}
    if first and first in own:
        raise WrongSetting(f"NORMSCAPE_PREFIX={setting.prefix} is a path of the explorer's own")

    def mounted(environment: dict[str, Any], start: Any) -> Any:
        path = environment["PATH_INFO"]
        inner = path.removeprefix(mount) if f"{path}/".startswith(f"{mount}/") else path
        return application({**environment, "SCRIPT_NAME": mount, "PATH_INFO": inner}, start)

    server.wsgi_app = ProxyFix(mounted, *[setting.proxies] * 3)  # type: ignore[method-assign]


def from_own_page(what: str) -> None:
    """Refuse the current POST request if another site could have made it (CSRF). Raises WrongValue.

    The content type BYTES is required. An HTML form cannot send it. Before a script of another site sends it,
    the browser asks with a preflight request, which is refused. what: what the error message says is wrong,
    such as the name of the uploaded file.
    """
    if request.mimetype != BYTES:
        raise WrongValue(what, f"this needs the content type {BYTES}", BYTES)


def uploaded(what: str) -> bytes:
    """The bytes of a file that a page of this site has sent as the body of a POST request.

    what: the name of the file in error messages. Raises WrongValue, RequestEntityTooLarge.
    """
    from_own_page(what)
    request.max_content_length = MAX_UPLOAD_BYTES
    return request.get_data(cache=False)


def too_large(_: RequestEntityTooLarge) -> ResponseReturnValue:
    longest = {"longest": request.max_content_length}
    return WrongValue("body", "the body is too long", longest).json(), 413
