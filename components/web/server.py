"""GET routes: recipes, still pictures, previews, cards, styles, fonts, the drawing library and health.

Expensive responses are computed within the client's `budget`, and cached.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import plotly
from flask import Blueprint, Flask, Response, jsonify, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from components import fonts, theme
from components.drawing.figure import document
from components.language import link, text
from components.language.front import front_pages
from components.language.moved import forwarded
from components.language.scene import Choices, Scene, WrongValue, did_you_mean, scenes
from components.training.queue import degraded
from components.training.recipes import built
from components.training.store import StoreUnavailable
from components.web import stills
from components.web.budget import Busy, answer_cache, cached_or_computed, refused, without_store
from components.web.routes import Access, failure, route
from components.web.security import HEALTH
from learning import shipped

LIGHT = shipped.folder("node_modules") / "plotly.js-gl3d-dist-min/plotly-gl3d.min.js"
# compressed with the best quality of Brotli by `npm run pack`, which takes seconds
LIGHT_BROTLI = LIGHT.with_name(f"{LIGHT.name}.br")
FULL = Path(plotly.__file__).parent / "package_data/plotly.min.js"
GZIP = 4  # level, 1 to 9: 6 takes twice as long and saves nothing, since recipes are mostly base64
BROTLI = 5  # quality, 0 to 11: a fifth smaller than 4, for some ms a recipe; 6 to 10 save no more
FOREVER = "public, max-age=31536000, immutable"


def add_routes(server: Flask) -> None:
    route(server, HEALTH, "healthz", lambda: jsonify(status="ok", degraded=degraded()), Access.PRIVATE)
    route(server, "/card/<slug>.svg", "card", partial(picture, "card", stills.SVG), Access.SHARED)
    route(server, "/preview/<name>.png", "preview", preview, Access.SHARED)
    route(server, "/theme.css", "theme", lambda: revalidated(style_sheet(), "text/css"), Access.SHARED)
    add_figures(server)
    server.extensions["answers"] = answer_cache()
    server.config |= {"COMPRESS_LEVEL": GZIP, "COMPRESS_BR_LEVEL": BROTLI}


def add_figures(routes: Flask | Blueprint) -> None:
    """Register the routes for figures, and the error responses to requests that are refused."""
    route(routes, "/recipe/<slug>", "recipe", recipe, Access.OPEN)
    route(routes, "/still/<slug>.svg", "still", partial(picture, "still", stills.SVG), Access.OPEN)
    route(routes, "/lib/<name>", "library", library, Access.OPEN)
    routes.register_error_handler(
        WrongValue, lambda wrong: failure(wrong.status, wrong.sentence, wrong.json())
    )
    routes.register_error_handler(Busy, refused)
    routes.register_error_handler(StoreUnavailable, without_store)


def redirect_old_link() -> AnyResponse | None:
    """Redirect an old link, whose state another scene or query shows now; None for any other request.

    A link is old if it has a choice or stop that has moved (`forwarded`). This applies to every GET or HEAD
    request to a route with a variable `slug`, `name` or `path` that is the slug of a scene. The new address
    has the same route, so it stays on this server and below its prefix. The status is 308.
    """
    variables = request.view_args or {}
    names = [name for name in ("slug", "name", "path") if name in variables]
    scene = scenes().get(variables[names[0]].strip("/")) if names else None
    if scene is None or request.endpoint is None or request.method not in ("GET", "HEAD"):
        return None
    forward = forwarded(scene, request.query_string.decode(errors="replace"))
    if forward is None:
        return None
    slug, query = forward
    address = url_for(request.endpoint, **(variables | {names[0]: slug}))
    return redirect(f"{address}?{query}" if query else address, 308)


def find(slug: str) -> Scene:
    """The scene with this slug. Raises WrongValue: status 404 for an unknown slug, 400 for a non-string."""
    if not isinstance(slug, str):
        raise WrongValue(
            "slug", f"the name of a scene is a text, such as 'layernorm': got {slug!r}", list(scenes())
        )
    if slug not in scenes():
        words = f"there is no scene {slug!r}{did_you_mean(slug)}"
        raise WrongValue("slug", words, list(scenes()), status=404)
    return scenes()[slug]


def recipe(slug: str) -> Response:
    """The response with a scene's `contents`, for the choices in the query of the request."""
    scene = find(slug)
    choices = scene.choose(request_query())
    key = None if scene.private(choices) else ("recipe", slug, *choices.items())

    def data() -> str:
        return json.dumps(contents(scene, choices), separators=(",", ":"))

    answer = revalidated(cached_or_computed(key, data), "application/json")
    if key is None:
        answer.headers["Cache-Control"] = "no-store"
    return answer


def contents(scene: Scene, choices: Choices) -> dict[str, Any]:
    """All data that a scene's player (its JavaScript) needs: recipe, choices, tour."""
    data = document(built(scene, choices)) | scene.json()
    data |= {"chosen": dict(choices), "text": scene.text.json()}
    data["formula"] = data["formula"] and text.formula(data["formula"])
    return data


def picture(kind: str, mime_type: str, slug: str) -> Response:
    """The response with a picture of a scene, drawn on the server in the state that the query describes.

    kind: "still", "preview", "card", or the name of a page in `front_pages`. For such a name, the page's own
    state is drawn, and any query raises WrongValue.
    """
    return revalidated(stills.picture(kind, find(slug), request_query()), mime_type)


def preview(name: str) -> Response:
    """The response with a link preview, a PNG: `name` is the slug of a scene, or one of `front_pages`.

    For a front page any query raises WrongValue. Raises WrongValue, with the status 404, for an unknown name.
    """
    page = front_pages().get(name)
    return picture(name, stills.PNG, page.slug) if page else picture("preview", stills.PNG, name)


def request_query() -> dict[str, str]:
    """The query of the current request. Raises WrongValue for a name that occurs twice, or invalid UTF-8.

    `request.args` is not used, because it does not refuse invalid UTF-8.
    """
    try:
        return link.once(parse_qsl(request.query_string.decode(), keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError:
        raise WrongValue("query", "the query of this address is not UTF-8", "UTF-8") from None


def revalidated(body: str | bytes, mime_type: str) -> Response:
    """A response that browsers revalidate by its ETag; 304 without a body if the browser has this version."""
    answer = Response(body, mimetype=mime_type)
    answer.add_etag()
    answer.headers["Cache-Control"] = "no-cache"
    answer.make_conditional(request)
    return answer


def style_sheet(address: Callable[[str], str] = fonts.beside) -> str:
    """The style sheet of colours and fonts. address: maps the name of a font file to its URL."""
    return theme.css() + fonts.css(address)


def library_code() -> str:
    return (LIGHT if LIGHT.exists() else FULL).read_text("utf-8")


def full_bundle_notice() -> str:
    """If the full Plotly bundle is used, a message that says how to get the small one; otherwise ""."""
    if LIGHT.exists():
        return ""
    size = FULL.stat().st_size / 1e6
    return (
        f"Pages load the full Plotly bundle ({size:.1f} MB), because npm has not fetched the small one:"
        " run “npm ci --omit=dev --ignore-scripts && npm run pack” in the checkout before “pip install .”"
    )


@cache
def bundle() -> tuple[str, bytes]:
    """The Plotly bundle (the small one, if npm has fetched it): file name with a fingerprint, and code."""
    code = library_code().encode()
    return f"plotly-{hashlib.sha256(code).hexdigest()[:12]}.js", code


def library(name: str) -> Response:
    """The response with the Plotly bundle or a font. Raises WrongValue, with status 404, for other names."""
    bundle_name, code = bundle()
    if name in fonts.files():
        answer = Response(fonts.files()[name], mimetype="font/woff2")
    elif name != bundle_name:
        raise WrongValue("name", "there is no such file", [bundle_name, *fonts.files()], status=404)
    elif request.accept_encodings["br"] and LIGHT.exists() and LIGHT_BROTLI.exists():
        answer = Response(LIGHT_BROTLI.read_bytes(), mimetype="text/javascript")
        answer.headers["Content-Encoding"] = "br"
    else:
        answer = Response(code, mimetype="text/javascript")
    answer.headers["Cache-Control"] = FOREVER
    answer.vary.add("Accept-Encoding")
    return answer
