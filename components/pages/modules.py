"""The JavaScript modules and other files of assets/: their texts, their imports, and the route to them.

tools/bundle.mjs bundles the modules into a few files. A module that pages load by address keeps its name in
the bundle; code that several such modules share is in further files (chunks). The bundle is used only while
the modules of assets/ are those from which it was made. After a change, or without npm, each module is a file
of its own.
"""

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
BUNDLED = shipped.folder("node_modules") / ".modules"
IMPORT = re.compile(r'\b(?:from|import)"(\.{1,2}/[\w./-]+)\.mjs"')
MODULE = re.compile(r'"(\.{1,2}/[\w./-]+)\.mjs"')


@cache
def version() -> str:
    """The first twelve hexadecimal digits of a hash of all files that `asset` may return; computed once."""
    return _hash(*folders())[:12]


@cache
def folders() -> tuple[Path, ...]:
    """The folders in which a requested file is looked up, in this order; computed once.

    They are the bundle and assets/, or assets/ alone if the bundle was not made from the present modules.
    """
    made_from = BUNDLED / "sources"
    is_current = made_from.is_file() and made_from.read_text() == _hash(ASSETS, pattern="*.mjs")
    return (BUNDLED, ASSETS) if is_current else (ASSETS,)


def _hash(*folders: Path, pattern: str = "*") -> str:
    """The SHA-256 of the names and contents of all files in folders, as tools/bundle.mjs computes it.

    pattern: a glob pattern; files whose names do not match it are ignored.
    """
    digest = hashlib.sha256()
    for folder in folders:
        files = {p.relative_to(folder).as_posix(): p for p in folder.rglob(pattern) if p.is_file()}
        for name in sorted(files):
            data = files[name].read_bytes()
            digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def add_routes(server: Flask) -> None:
    route(server, "/assets/<string(length=12):known>/<path:name>", "asset", answer, Access.OPEN)


def answer(known: str, name: str) -> Response:
    """The response with the file `name` of assets/.

    known: the version of assets/ in the requested address. If it is the current one, browsers may keep the
    file forever. If not, they must revalidate it each time. Raises NotFound (404) if there is no such file.
    """
    response = served(name)
    if known == version():
        response.headers["Cache-Control"] = FOREVER
    return response


def served(name: str) -> Response:
    """The response with a file of assets/, which browsers must revalidate.

    Raises NotFound (404) if there is no such file.
    """
    if not is_script(name):
        return send_from_directory(ASSETS, name)
    try:
        return revalidated(asset(name), "text/javascript")
    except FileNotFoundError:
        abort(404)


def asset(name: str) -> str:
    """The text of a file of assets/, from the bundle if the bundle is current and has the file (`folders`).

    rjsmin removes comments and white space from a script that is not bundled. It cannot handle nested
    template literals; tests/assets/test_minified.py finds scripts that have them. Raises FileNotFoundError if
    there is no such file.
    """
    for folder in folders():
        path = safe_join(str(folder), name)
        if path and Path(path).is_file():
            text = Path(path).read_text("utf-8")
            return jsmin(text) if is_script(name) and folder == ASSETS else text
    raise FileNotFoundError(name)


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
    """The names of the module `entry` and of all modules that it imports, also dynamically; computed once."""
    return tuple(modules(entry))


def renamed(name: str, code: str) -> str:
    """The text `code` of the module `name`, with absolute names in its imports instead of relative paths.

    For example, "./state.mjs" in the module "player/player" becomes "normscape/player/state".
    """
    return MODULE.sub(lambda found: f'"normscape/{import_path(name, found[1])}"', code)


def with_js_names(code: str) -> str:
    """The text of a module, with ".js" in place of ".mjs" in its imports."""
    return MODULE.sub(r'"\1.js"', code)


def import_path(name: str, other: str) -> str:
    """The name of an imported module, such as "engine/steps".

    name: the name of the module that imports it, such as "player/player". other: the relative path in the
    import, without ".mjs", such as "../engine/steps".
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), other))
