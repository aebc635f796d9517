"""The JavaScript modules and other files of assets/: their texts, their imports, and the route to them."""

from __future__ import annotations

import hashlib
import posixpath
import re
from functools import cache
from pathlib import Path

from flask import Flask, Response, abort, send_from_directory
from rjsmin import jsmin
from werkzeug.utils import safe_join

from components.web.routes import Access, route
from components.web.server import FOREVER, revalidated
from learning import shipped

ASSETS = shipped.folder("assets")
IMPORT = re.compile(r'\b(?:from|import)"(\.{1,2}/[\w./-]+)\.mjs"')
MODULE = re.compile(r'"(\.{1,2}/[\w./-]+)\.mjs"')


@cache
def version() -> str:
    """The first twelve hexadecimal digits of a hash of all files in assets/; computed once."""
    digest = hashlib.sha256()
    for path in sorted(each for each in ASSETS.rglob("*") if each.is_file()):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(ASSETS).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:12]


def add_routes(server: Flask) -> None:
    route(server, "/assets/<string(length=12):known>/<path:name>", "asset", answer, Access.OPEN)


def answer(known: str, name: str) -> Response:
    """The response with the file `name` of assets/.

    known: the version of assets/ in the requested address. If it is the current one, browsers may keep the
    file forever. If not, they must revalidate it each time.
    """
    response = served(name)
    if known == version():
        response.headers["Cache-Control"] = FOREVER
    return response


def served(name: str) -> Response:
    """The response with a file of assets/, which browsers must revalidate.

    The status is 404 if there is no such file.
    """
    if not is_script(name):
        return send_from_directory(ASSETS, name)
    if not ((path := safe_join(str(ASSETS), name)) and Path(path).is_file()):
        abort(404)
    return revalidated(asset(name), "text/javascript")


def asset(name: str) -> str:
    """The text of a file of assets/. If it is a script, rjsmin removes comments and white space.

    rjsmin cannot handle nested template literals; tests/assets/test_minified.py finds scripts that have them.
    """
    text = (ASSETS / name).read_text("utf-8")
    return jsmin(text) if is_script(name) else text


def is_script(name: str) -> bool:
    return name.endswith((".js", ".mjs"))


def modules(entry: str) -> dict[str, str]:
    """The texts, by name, of the module `entry` of assets/ and of all modules that it needs.

    A name is a path in assets/ without ".mjs". Modules that are imported only later, dynamically, are
    included.
    """
    sources: dict[str, str] = {}
    wanted = [entry]
    while wanted:
        name = wanted.pop()
        if name not in sources:
            sources[name] = asset(f"{name}.mjs")
            wanted += [import_path(name, other) for other in MODULE.findall(sources[name])]
    return sources


def ordered(entry: str) -> dict[str, str]:
    """The texts, by name, of the module `entry` and of all that it imports statically.

    Each module comes after the modules that it imports. Dynamic imports do not count.
    """
    sources: dict[str, str] = {}

    def visit(name: str) -> None:
        if name not in sources:
            text = asset(f"{name}.mjs")
            for other in IMPORT.findall(text):
                visit(import_path(name, other))
            sources[name] = text

    visit(entry)
    return sources


@cache
def names(entry: str) -> tuple[str, ...]:
    """The names of the module `entry` and of all modules that it needs, as in `modules`; computed once."""
    return tuple(modules(entry))


def renamed(name: str, code: str) -> str:
    """The text `code` of the module `name`, importing from names such as "normscape/player/state".

    These names replace the relative paths in its imports.
    """
    return MODULE.sub(lambda found: f'"normscape/{import_path(name, found[1])}"', code)


def import_path(name: str, other: str) -> str:
    """The name of the module that the module `name` imports as `other`, a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), other))
