"""The HTTP routes beside Dash: recipes, still pictures, the drawing library, health. All are GET."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import plotly
from flask import Flask, Response, jsonify, request

from components import link, still, text, theme
from components.figure import document
from components.scene import Choices, Scene, WrongValue, scenes

LIGHT = Path(__file__).parent.parent / "node_modules/plotly.js-gl3d-dist-min/plotly-gl3d.min.js"
FULL = Path(plotly.__file__).parent / "package_data/plotly.min.js"
RECIPES_KEPT = 256
FOREVER = "public, max-age=31536000, immutable"


def add_routes(server: Flask) -> None:
    """The routes, and what a wrong value and an unknown scene are answered with."""
    server.add_url_rule("/healthz", "healthz", lambda: jsonify(status="ok"))
    server.add_url_rule("/recipe/<slug>", "recipe", recipe)
    server.add_url_rule("/still/<slug>.svg", "still", picture)
    server.add_url_rule("/theme.css", "theme", lambda: fresh(theme.css(), "text/css"))
    server.add_url_rule("/lib/<name>", "library", library)
    server.register_error_handler(WrongValue, lambda wrong: (jsonify(wrong.json()), 400))
    server.register_error_handler(UnknownScene, lambda unknown: (jsonify(unknown.json()), 404))


class UnknownScene(WrongValue):
    def __init__(self, slug: str) -> None:
        super().__init__("slug", f"there is no scene {slug!r}", list(scenes()))


def find(slug: str) -> Scene:
    if slug not in scenes():
        raise UnknownScene(slug)
    return scenes()[slug]


def recipe(slug: str) -> Response:
    """The recipe of a scene for the choices in the query, with its text."""
    choices = find(slug).choose(once(request.args))
    own = choices.get("run") or choices.get("net")  # one reader's, and several MB
    make = packed.__wrapped__ if own else packed
    return fresh(make(slug, tuple(choices.items())), "application/json")


@lru_cache(RECIPES_KEPT)
def packed(slug: str, choices: tuple[tuple[str, object], ...]) -> str:
    return json.dumps(contents(scenes()[slug], dict(choices)), separators=(",", ":"))


def contents(scene: Scene, choices: Choices) -> dict[str, Any]:
    """All that a player needs: recipe, choices, text."""
    data = document(scene.build(choices)) | scene.json()
    data |= {"chosen": dict(choices), "text": scene.text.json()}
    data["formula"] = data["formula"] and text.mathml(data["formula"], display="block")
    return data


def picture(slug: str) -> Response:
    """A still picture of a scene in any state, drawn on the server."""
    scene = find(slug)
    state = link.parse(scene, once(request.args))
    return fresh(still.svg(state.recipe, state), "image/svg+xml")


def once(query) -> dict[str, str]:
    """A query as a mapping; a name given twice is an error."""
    return link.once(query.items(multi=True))


def fresh(body: str, kind: str) -> Response:
    """An answer that the browser keeps and asks about again, by its ETag."""
    answer = Response(body, content_type=f"{kind}; charset=utf-8")
    answer.set_etag(hashlib.sha256(body.encode()).hexdigest()[:20])
    answer.headers["Cache-Control"] = "no-cache"
    answer.make_conditional(request)
    return answer


def library_code() -> str:
    return (LIGHT if LIGHT.exists() else FULL).read_text("utf-8")


@cache
def bundle() -> tuple[str, bytes]:
    """Name, with a fingerprint, and gzipped text of the drawing library: the light one where npm is."""
    code = library_code().encode()
    return f"plotly-{hashlib.sha256(code).hexdigest()[:12]}.js", gzip.compress(code, 9)


def library(name: str) -> Response | tuple[Response, int]:
    known, code = bundle()
    if name != known:
        return jsonify(WrongValue("name", "there is no such file", [known]).json()), 404
    answer = Response(code, content_type="text/javascript; charset=utf-8")
    answer.headers["Cache-Control"] = FOREVER
    if "gzip" in request.accept_encodings:
        answer.headers["Content-Encoding"] = "gzip"
    else:
        answer.set_data(gzip.decompress(code))
    answer.headers["Vary"] = "Accept-Encoding"
    return answer
