"""Routes for training runs: download and upload of one as a file, and one of its networks as JSON.

A run is the stored record of a training: the weights of several networks (one for each seed) at checkpoints.
"""

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
from components.web.server import find, request_query
from learning.file_error import FileError
from learning.film import Film, from_npz, key, to_npz
from learning.weights import weights_text

MAX_MESSAGE_CHARACTERS = 200  # of an error message, which may quote the file
UNPACKING_LOCK = threading.Lock()  # one file at a time, so that memory use does not add up


def add_routes(server: Flask) -> None:
    route(server, "/run/<run>.npz", "run_npz", _file, Access.PRIVATE)
    route(server, "/run/<run>.json", "run_json", _former_file, Access.PRIVATE)
    route(server, "/run/<run>/net", "run_net", network, Access.PRIVATE)
    route(server, "/run/<slug>", "run_open", opened, Access.PRIVATE, ["POST"])


def _file(run: str) -> Response:
    """The response that downloads a stored training run as a .npz file. run: the key of that run.

    Raises WrongValue if the store does not have the run; Busy, StoreUnavailable.
    """
    with work():
        film = runs.load(run)
        answer = Response(to_npz(film), mimetype=BYTES)
    name = re.sub("[^a-z0-9]", "", film.data.name.lower())[:20] or "run"
    answer.headers["Content-Disposition"] = f'attachment; filename="normscape-{name}-{run}.npz"'
    return answer


def _former_file(run: str) -> ResponseReturnValue:
    """Redirect an old link, which ends in .json, to the present address of a run's file."""
    return redirect(url_for("run_npz", run=run), 301)


def network(run: str) -> Response:
    """The JSON response {"net": text}, where the text encodes one network of a run and can be part of a link.

    The query may contain `seed`, the number of the network; the default is 0. The weights are those at the
    last checkpoint. Raises WrongValue if there is no such run or network, or if a link cannot contain the
    network, for example because it is too large. Raises Busy, StoreUnavailable.
    """
    text = request_query().get("seed", "0")
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
    """Store an uploaded training run. The response contains the choices with which the scene shows it.

    The choices are read from the file or, if it has none, from the query. Raises WrongValue for an
    invalid file, for a scene without training and for a file of another scene. Raises RequestEntityTooLarge,
    Busy, StoreUnavailable.
    """
    scene = find(slug)
    if scene.training is None:
        raise WrongValue("slug", "this scene has no trainings", trainable())
    data = uploaded("film")  # read before the lock, because a client may send slowly
    with work():
        return jsonify(choices=_kept(scene, data))


def _kept(scene: Scene, data: bytes) -> dict[str, str]:
    """Store an uploaded training run, and return the choices with which the scene shows it.

    Raises WrongValue if the file is invalid or belongs to another scene; StoreUnavailable.
    """
    film = _read(data)
    texts = _choices(scene, film) or {k: v for k, v in request_query().items() if k not in RESULTS}
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
    """A copy of an uploaded training run that contains the scene's own data set, not the uploaded one.

    texts: the choices for which the run is shown. Raises WrongValue if the run was trained for other choices,
    or another error if the scene cannot build a recipe with it.
    """
    assert scene.training is not None
    chosen = scene.choose(texts)
    network, data = scene.training.task(chosen)
    film = replace(fitting(film, network, data), data=data)
    shown(scene, {**chosen, "run": key(film)}, film)
    return film


def _choices(scene: Scene, film: Film) -> dict[str, str]:
    """The choices for which the networks of a training run were trained, as the run's file states them.

    Returns {} if the file does not state them. Raises WrongValue if the run belongs to another scene.
    """
    made = film.settings.get("scene")
    if made in scenes() and made != scene.slug:
        raise WrongValue("film", f"This run belongs to the scene “{scenes()[made].title}”.", made)
    if made != scene.slug:
        return {}
    own = {name: str(value) for name, value in film.settings.items() if name.startswith(CHOICE_PREFIX)}
    settings = {name.removeprefix(CHOICE_PREFIX): text for name, text in own.items()}
    return {name: text for name, text in settings.items() if name not in RESULTS}
