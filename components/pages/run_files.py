"""Routes for files of trained runs: download, upload, and one network as text for a link."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

from flask import Flask, Response, jsonify, redirect, request, url_for
from flask.typing import ResponseReturnValue

from components.language.scene import Scene, WrongValue, scenes
from components.scenes.trained import SEEDS
from components.training import runs
from components.training.jobs import CHOICE_PREFIX, RESULTS, trainable
from components.training.recipes import fitting, shown
from components.web.budget import client, work
from components.web.routes import Access, route
from components.web.security import BYTES, uploaded
from components.web.server import find, once
from learning.file_error import FileError
from learning.film import Film, from_npz, key, to_npz, weights_text

MAX_MESSAGE_CHARACTERS = 200  # of an error message, which may quote the file
UNPACKING_LOCK = threading.Lock()  # one file at a time, so that memory use does not add up


def add_routes(server: Flask) -> None:
    route(server, "/run/<run>.npz", "run_npz", _file, Access.PRIVATE)
    route(server, "/run/<run>.json", "run_json", _former_file, Access.PRIVATE)
    route(server, "/run/<run>/net", "run_net", network, Access.PRIVATE)
    route(server, "/run/<slug>", "run_open", opened, Access.PRIVATE, ["POST"])


def _file(run: str) -> Response:
    """The response with a stored training as a file to download. run: its key."""
    with work():
        film = runs.load(run)
        answer = Response(to_npz(film), mimetype=BYTES)
    name = re.sub("[^a-z0-9]", "", film.data.name.lower())[:20] or "run"
    answer.headers["Content-Disposition"] = f'attachment; filename="normscape-{name}-{run}.npz"'
    return answer


def _former_file(run: str) -> ResponseReturnValue:
    """Redirect an address that former versions of Normscape used to the address of the run's file."""
    return redirect(url_for("run_npz", run=run), 301)


def network(run: str) -> Response:
    """The trained network of one seed as text for a link."""
    text = once(request.args).get("seed", "0")
    with work():
        film = runs.load(run)
    if not re.fullmatch("[0-9]{1,3}", text) or int(text) >= film.seeds:
        raise WrongValue(
            "seed", f"seed={text[:9]} is not a seed of this run", {"min": 0, "max": film.seeds - 1}
        )
    try:
        return jsonify(net=weights_text(film.network, film.weights[int(text), -1]))
    except FileError as problem:
        raise WrongValue("run", str(problem), "a smaller network") from None


def opened(slug: str) -> Response:
    """Store an uploaded film (the weights of a training). The response has the choices that show it.

    These choices are read from the file, or from the query if the file has none.
    """
    scene = find(slug)
    if scene.training is None:
        raise WrongValue("slug", "this scene has no trainings", trainable())
    data = uploaded("film")  # read before the lock, because a client may send slowly
    with work():
        return jsonify(choices=_kept(scene, data))


def _kept(scene: Scene, data: bytes) -> dict[str, str]:
    """Store an uploaded film, and return the choices with which the scene shows it."""
    film = _read(data)
    texts = _choices(scene, film) or {k: v for k, v in once(request.args).items() if k not in RESULTS}
    best = film.best()
    texts["seed"] = str(best if best < SEEDS else 0)
    film = _shown(scene, texts, film)
    return texts | {"run": runs.save(film, client=client(request))}


def _read(data: bytes) -> Film:
    try:
        with UNPACKING_LOCK:
            return from_npz(data)
    except FileError as problem:
        words = f"This file cannot be opened: {str(problem)[:MAX_MESSAGE_CHARACTERS]}"
        raise WrongValue("film", words, "a file that was saved from a page of Normscape") from None


def _shown(scene: Scene, texts: dict[str, str], film: Film) -> Film:
    """The film as the scene shows it: with the scene's own data set instead of the uploaded copy.

    Raises an error if the scene cannot build a recipe with it.
    """
    assert scene.training is not None
    chosen = scene.choose(texts)
    network, data = scene.training.task(chosen)
    film = replace(fitting("run", film, network, data), data=data)
    shown(scene, {**chosen, "run": key(film)}, film)
    return film


def _choices(scene: Scene, film: Film) -> dict[str, str]:
    """The choices that are saved in a film as those for which it was trained; {} if none are saved.

    Raises WrongValue for the film of another scene.
    """
    made = film.settings.get("scene")
    if made in scenes() and made != scene.slug:
        raise WrongValue("film", f"This run belongs to the scene “{scenes()[made].title}”.", made)
    if made != scene.slug:
        return {}
    own = {name: str(value) for name, value in film.settings.items() if name.startswith(CHOICE_PREFIX)}
    settings = {name.removeprefix(CHOICE_PREFIX): text for name, text in own.items()}
    return {name: text for name, text in settings.items() if name not in RESULTS}
