"""Uploaded recordings, on the scene `model`: the inputs of the normalisation layers in a reader's own model.

When a file is uploaded, it is analysed, and reduced to what the scene shows. Only this digest is stored,
under a random key, and it is deleted by the same rules as an uploaded training run. Everyone who has the key
(it is in the page's link) can see and delete the digest. If the same file is uploaded twice, there are two
keys. The command `normscape model` also uses `kept` and `page_of`, and `normscape.own` uses `kept`.
"""

from __future__ import annotations

import secrets
import threading

from dash import html
from flask import Flask, Response, jsonify, request

from components.language.scene import Scene, Stored, WrongValue
from components.pages.panel import MAX_BYTES_ATTRIBUTE
from components.pages.shell import Place
from components.scenes.model import SCENE
from components.scenes.model.build import SHIPPED
from components.training import runs
from components.web.budget import Busy, client, work
from components.web.routes import Access, route
from components.web.security import from_own_page, uploaded
from learning import shipped
from learning.file_error import FileError
from learning.recording.checked import checked
from learning.recording.digest import Digest, digest, from_digest, to_file
from learning.recording.report import file_name, to_csv, to_json

MAX_NORMS = 200  # largest number of norms in an upload; the command line has no such limit
RETRY_SECONDS = 5  # until the next attempt, while another file is analysed; the largest takes 10 s
MAX_MESSAGE_CHARACTERS = 200  # of an error message, which may quote the file
MEASURING_LOCK = threading.Lock()  # one file at a time, so that memory use does not add up
REPORT_MIME_TYPES = {"csv": "text/csv", "json": "application/json"}


def add_routes(server: Flask) -> None:
    route(server, "/recording", "recording_open", opened, Access.PRIVATE, ["POST"])
    route(server, "/recording/<name>/delete", "recording_delete", deleted, Access.PRIVATE, ["POST"])
    route(server, "/recording/<name>.<any(csv, json):kind>", "recording_table", table, Access.PRIVATE)


def tree(scene: Scene, place: Place) -> html.Section | None:
    """The panel "Your own model": a script fills it with buttons to open a file and to save tables.

    It links to the guide that says how to install `normscape record`, which writes such files. None for every
    scene except `model`.
    """
    if scene.slug != SCENE.slug:
        return None
    install = html.A("how to install it", href=place.page("install"))
    needed = html.P(
        ["Such a file comes from ", html.Code("normscape record"), " on your computer: ", install, "."]
    )
    files = html.Div(className="files recordings", **MAX_BYTES_ATTRIBUTE)
    return html.Section([html.H2("Your own model"), files, needed], className="training")


def opened() -> Response:
    """Analyse the uploaded recording, and store its digest.

    The response contains the choices with which the scene `model` shows the recording. Raises WrongValue,
    RequestEntityTooLarge, Busy, StoreUnavailable.
    """
    data = uploaded("recording")
    if not MEASURING_LOCK.acquire(blocking=False):  # waiting would block a thread that draws pictures
        raise Busy(503, "Another recording is being analysed at the moment", RETRY_SECONDS)
    try:
        with work():
            found = measured(data)
            return jsonify(choices={"own": kept(found, client=client(request)), "norm": "1"})
    finally:
        MEASURING_LOCK.release()


def measured(data: bytes) -> Digest:
    """The digest of an uploaded file, which is a recording, or already the digest of one.

    A digest contains what the scene shows of a recording. The file is not trusted: raises WrongValue if it is
    invalid or has more than MAX_NORMS normalisation layers.
    """
    try:
        found = checked(data)
        if len(found.norms) > MAX_NORMS:
            raise FileError(f"it has {len(found.norms)} norms; this page opens at most {MAX_NORMS}")
        return found if isinstance(found, Digest) else digest(found)
    except FileError as problem:
        words = f"This file cannot be opened: {str(problem)[:MAX_MESSAGE_CHARACTERS]}"
        raise WrongValue("recording", words, "a file that “normscape record” has written") from None


def kept(found: Digest, *, client: str) -> str:
    """Store a digest under a new random key, and return this key. Raises StoreUnavailable.

    client: the address of the client that has uploaded the digest; its share of the storage is limited.
    """
    return runs.keep(secrets.token_hex(16), to_file(found), client=client)


def deleted(name: str) -> Response:
    """Delete an uploaded recording; everyone who knows its key may do so. The response is {"gone": key}.

    name: the key. Raises WrongValue if it is not the key of a recording, or if the request may come from a
    page of another site. Raises Busy, StoreUnavailable.
    """
    from_own_page("recording")
    with work():
        _found(name)  # refuses keys of trained runs
        runs.forget(name)
    return jsonify(gone=name)


def table(name: str, kind: str) -> Response:
    """The response with all numbers about a recording, as a file. kind: its format, "csv" or "json".

    name: the name of a recording that is part of the software, or the key of an uploaded one. Raises
    WrongValue if there is no such recording; Busy, StoreUnavailable.
    """
    with work():
        found = _found(name)
        text = to_csv(found.rows) if kind == "csv" else to_json(found.name, found.rows, found.skipped)
    answer = Response(text, mimetype=REPORT_MIME_TYPES[kind])
    answer.headers["Content-Disposition"] = f'attachment; filename="{file_name(found.name, kind)}"'
    return answer


def _found(name: str) -> Digest:
    if name in SHIPPED and request.method != "POST":
        return shipped.read(f"norms_{name}.safetensors", from_digest)
    return runs.read(Stored("recording", name, from_digest))


def page_of(key: str) -> str:
    """The path and query of the page that shows the recording stored under `key`."""
    return f"{SCENE.slug}?own={key}"
