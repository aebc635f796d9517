"""The routes of trained runs: their files, to keep and to open again; one network as a text for a link."""

from __future__ import annotations

import re
from typing import Any

from flask import Flask, Response, jsonify, request

from components.budget import work
from components.clients import client
from components.scene import Scene, WrongValue, scenes
from components.server import find, once
from components.trained import SEEDS
from components.training import runs, store
from components.training.jobs import CHOICE, RESULTS, trainable
from geometry.film import Film, FilmError, from_json, from_npz, to_json, to_npz, weights_text

BYTES = "application/octet-stream"  # a form of another site cannot send it
CHECKPOINTS, CURVES, WEIGHTS = 1000, 50_000, 2**21  # of a seed, of all seeds, and numbers, in a file


def add_routes(server: Flask) -> None:
    server.add_url_rule("/run/<run>.npz", "run_npz", lambda run: _file(run, "npz", to_npz, BYTES))
    server.add_url_rule(
        "/run/<run>.json", "run_json", lambda run: _file(run, "json", to_json, "application/json")
    )
    server.add_url_rule("/run/<run>/net", "run_net", network)
    server.add_url_rule("/run/<slug>", "run_open", opened, methods=["POST"])


def _file(run: str, kind: str, write: Any, mime: str) -> Response:
    """A stored run as a file."""
    with work():
        film = runs.load(run)
        body = write(film)
    name = re.sub("[^a-z0-9]", "", film.data.name.lower())[:20] or "run"
    answer = Response(body, mimetype=mime)
    answer.headers["Content-Disposition"] = f'attachment; filename="normscape-{name}-{run}.{kind}"'
    return answer


def network(run: str) -> Response:
    """The trained network of one seed as the text that a link carries."""
    text = once(request.args).get("seed", "0")
    with work():
        film = runs.load(run)
    if not re.fullmatch("[0-9]{1,3}", text) or int(text) >= film.seeds:
        raise WrongValue(
            "seed", f"seed={text[:9]} is not a seed of this run", {"min": 0, "max": film.seeds - 1}
        )
    try:
        return jsonify(net=weights_text(film.network, film.weights[int(text), -1]))
    except FilmError as problem:
        raise WrongValue("run", str(problem), "a smaller network") from None


def opened(slug: str) -> Response:
    """Store the film in the body; the choices that show it: its own, or else those in the query."""
    scene = find(slug)
    if scene.training is None:
        raise WrongValue("slug", "this scene shows no runs", trainable())
    if request.mimetype != BYTES:
        raise WrongValue("film", f"a film is sent as {BYTES}", BYTES)
    data = request.get_data()  # which may take as long as the client likes
    with work():
        return jsonify(choices=_kept(scene, data))


def _kept(scene: Scene, data: bytes) -> dict[str, str]:
    """The choices that show the film, which is stored."""
    film = _read(data)
    texts = _choices(scene, film) or {k: v for k, v in once(request.args).items() if k not in RESULTS}
    try:
        best = film.best()
        texts |= {"run": runs.save(film, client=client(request)), "seed": str(best if best < SEEDS else 0)}
    except store.Away:
        raise WrongValue("film", "runs cannot be stored at the moment", "try again in a while") from None
    scene.build(scene.choose(texts))
    return texts


def _read(data: bytes) -> Film:
    try:
        return _bounded(from_npz(data) if data.startswith(b"PK") else from_json(data))
    except FilmError as problem:
        raise WrongValue(
            "film", f"This file cannot be opened: {problem}", "a file that was saved here"
        ) from None


def _bounded(film: Film) -> Film:
    """The film, if it can be shown in a moment. Raises FilmError."""
    checkpoints = f"{film.seeds:,} seeds with {len(film.steps):,} checkpoints each"
    if len(film.steps) > CHECKPOINTS or film.loss.size > CURVES:
        raise FilmError(
            f"it has {checkpoints}: at most {CHECKPOINTS:,} each, {CURVES:,} in all, can be shown"
        )
    if film.weights.size > WEIGHTS:
        raise FilmError(f"it has {film.weights.size:,} weights: at most {WEIGHTS:,} can be shown")
    return film


def _choices(scene: Scene, film: Film) -> dict[str, str]:
    """The choices that a film of ours was trained for."""
    made = film.settings.get("scene")
    if made in scenes() and made != scene.slug:
        raise WrongValue("film", f"This run belongs to the scene “{scenes()[made].title}”.", made)
    if made != scene.slug:
        return {}
    own = {name: str(value) for name, value in film.settings.items() if name.startswith(CHOICE)}
    settings = {name.removeprefix(CHOICE): text for name, text in own.items()}
    return {name: text for name, text in settings.items() if name not in RESULTS}
