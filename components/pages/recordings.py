"""Recordings that a reader opens: the panel beside the scene that shows them, and their routes.

A file is measured and reduced when it comes. Only that is kept, as long as runs are, under the hash of its
contents, and who has the link sees it.
"""

from __future__ import annotations

import hashlib
import re
import threading

from dash import html
from flask import Flask, Response, jsonify, request

from components.language.scene import Scene, Stored, WrongValue
from components.scenes.model import SCENE
from components.scenes.model.build import SHIPPED
from components.training import runs, store
from components.web.budget import Busy, work
from components.web.clients import client
from components.web.security import body
from learning import shipped
from learning.parts import LARGEST_FILE
from learning.recording.digest import Digest, digest, from_digest, to_file
from learning.recording.recording import from_file
from learning.recording.report import to_csv, to_json
from learning.safetensors import FileError

BYTES = "application/octet-stream"  # a form of another site cannot send it
NORMS = 200  # of a recording that is measured here; the command line knows no such bound
WAIT = 5  # seconds until it is worth a try again: the largest takes ten
WORDS = 200  # characters of what is wrong with a file, which may quote it
ONE = threading.Lock()  # one file is measured at a time: what this takes does not add up
KINDS = {"csv": "text/csv", "json": "application/json"}


def add_routes(server: Flask) -> None:
    server.add_url_rule("/recording", "recording_open", opened, methods=["POST"])
    server.add_url_rule("/recording/<name>/delete", "recording_delete", deleted, methods=["POST"])
    server.add_url_rule("/recording/<name>.<any(csv, json):kind>", "recording_table", table)


def tree(scene: Scene) -> html.Section | None:
    """Room for what the page's script offers: a file to open, tables to save."""
    if scene.slug != SCENE.slug:
        return None
    return html.Section(
        [html.H2("Your own model"), html.Div(className="files recordings")], className="training"
    )


def opened() -> Response:
    """Measure and keep the recording in the body; the choices that show it."""
    if request.mimetype != BYTES:
        raise WrongValue("recording", f"a recording is sent as {BYTES}", BYTES)
    request.max_content_length = LARGEST_FILE
    data = body(cache=False)
    if not ONE.acquire(blocking=False):  # to wait would hold the place of a picture that takes no time
        raise Busy(503, "Somebody else's recording is being measured", WAIT)
    try:
        with work():
            found = measured(data)
            return jsonify(choices={"own": kept(found, client=client(request)), "norm": "1"})
    finally:
        ONE.release()


def measured(data: bytes) -> Digest:
    """The digest of a stranger's file. Raises WrongValue."""
    try:
        recording = from_file(data)
        if len(recording.norms) > NORMS:
            raise FileError(f"it has {len(recording.norms)} norms, at most {NORMS} are measured here")
        return digest(recording)
    except FileError as problem:
        words = f"This file cannot be opened: {str(problem)[:WORDS]}"
        raise WrongValue("recording", words, "a recording of `learning.recording`") from None


def kept(found: Digest, *, client: str) -> str:
    """Store a digest; its key. Raises WrongValue where that cannot be."""
    data = to_file(found)
    try:
        return runs.keep(hashlib.sha256(data).hexdigest()[:16], data, client=client)
    except store.Away:
        words = "recordings cannot be stored at the moment"
        raise WrongValue("recording", words, "try again in a while") from None


def deleted(name: str) -> Response:
    """Let a recording go, on the wish of somebody who has its link."""
    with work():
        _found(name)  # what is no recording stays
        try:
            runs.forget(name)
        except store.Away:
            raise WrongValue("recording", "recordings cannot be reached now", "try again") from None
    return jsonify(gone=name)


def table(name: str, kind: str) -> Response:
    """All numbers of a recording, shipped or kept."""
    with work():
        found = _found(name)
        text = to_csv(found.rows) if kind == "csv" else to_json(found.name, found.rows, found.skipped)
    answer = Response(text, mimetype=KINDS[kind])
    plain = re.sub("[^a-z0-9]", "", found.name.lower())[:20] or "model"
    answer.headers["Content-Disposition"] = f'attachment; filename="normscape-{plain}.{kind}"'
    return answer


def _found(name: str) -> Digest:
    if name in SHIPPED and request.method == "GET":
        return shipped.read(f"norms_{name}.safetensors", from_digest)
    return runs.read(Stored("recording", name, from_digest))


def page_of(key: str) -> str:
    """The path and query of the page that shows a kept recording."""
    return f"{SCENE.slug}?own={key}"
