"""Build a scene's recipe for a reader's choices, after loading the runs, films and files that they name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from threading import Condition
from typing import Any

import numpy as np
from cachetools import LRUCache, cached

from components.language.finish import finished
from components.language.link import State, parse
from components.language.recipe import Recipe
from components.language.scene import Choices, File, Scene, WrongValue
from components.scenes.trained import SEEDS
from components.training import runs
from learning import shipped
from learning.datasets import DataSet
from learning.file_error import FileError
from learning.film import Film, score
from learning.models import Model
from learning.weights import network_of

MAX_CACHED_RECIPES = 8  # per process; a recipe takes up to some MB


def built(scene: Scene, choices: Choices) -> Recipe:
    """The finished recipe of a scene for a reader's choices, cached unless the choices are private.

    Choices are private if they name data that a reader has trained or uploaded. Raises WrongValue; raises
    StoreUnavailable if such data is needed and the store does not answer.
    """
    return finished(draft(scene, choices)) if scene.private(choices) else cached_recipe(scene, choices)


def _key(scene: Scene, choices: Choices) -> Hashable:
    return scene.slug, scene.build, scene.training, *choices.items()


@cached(LRUCache(MAX_CACHED_RECIPES), key=_key, condition=Condition())
def cached_recipe(scene: Scene, choices: Choices) -> Recipe:
    """The finished recipe, memoised by scene and choices; simultaneous requests share its computation.

    The last MAX_CACHED_RECIPES are kept. Raises WrongValue.
    """
    return finished(draft(scene, choices))


def draft(scene: Scene, choices: Choices) -> Recipe:
    """The result of the scene's `build`: a recipe that is not `finished` yet. Raises as `built` does."""
    if scene.training is None:
        return scene.build(choices, *given(scene, choices))
    task, films = scene.training.task(choices), scene.training.films(choices)
    return scene.build(choices, film_for(choices, *task, films), *given(scene, choices))


def shown(scene: Scene, choices: Choices, film: Film) -> Recipe:
    """The finished recipe of a trained scene with the networks of `film`, not those that the choices name."""
    return finished(scene.build(choices, film, *given(scene, choices)))


def recipe_of(scene: Scene, **choices: Any) -> Recipe:
    """The recipe of a scene for the given choices, by name; all other choices have their defaults."""
    return built(scene, scene.choose({name: str(value) for name, value in choices.items()}))


def state_of(scene: Scene, query: Mapping[str, str], *, tour: bool = True) -> State:
    """The state that the query of a link asks for. Raises the errors of `built`.

    tour: whether the query may name a stop of the scene's tour.
    """
    return parse(scene, query, built, tour=tour)


def given(scene: Scene, choices: Choices) -> list[Any]:
    """The parsed contents of the files that a scene needs for these choices.

    A file is either shipped with the software, or stored on the server for a reader. Raises WrongValue if a
    stored file is missing or broken, and StoreUnavailable if the store does not answer.
    """
    return [
        shipped.read(file.name, file.read) if isinstance(file, File) else runs.read(file)
        for file in scene.files(choices)
    ]


def film_for(choices: Choices, network: Model, data: DataSet, films: Sequence[str]) -> Film:
    """The film (weights at checkpoints of a training) that a trained scene shows for these choices.

    If the choices name a stored `run` or a network `net`, the film shows this run or network; raises
    WrongValue if the run is missing, or if run or network does not fit the other choices. Otherwise the film
    is the first of the shipped `films` (names of files) that was trained for `network` and `data`. If there
    is none, the film has one checkpoint, with untrained networks.
    """
    if choices["run"]:
        return fitting(runs.load(choices["run"]), network, data)
    if choices["net"]:
        return _carried(choices["net"], network, data)
    fits = (film for film in map(shipped.film, films) if _same(film, network, data))
    return next(fits, None) or at_rest(network, data, network.initial(range(SEEDS)))


def _carried(text: str, network: Model, data: DataSet) -> Film:
    """A film with one checkpoint: the network whose weights are the `text` of the choice `net` in a link.

    Raises WrongValue if the text is damaged, or if the link's other choices need a different network.
    """
    try:
        found, flat = network_of(text)
        if found == network:
            return at_rest(network, data, flat[None, :])
    except (FileError, ValueError) as problem:
        raise WrongValue("net", f"net: {problem}", "the value in a “Link with the network”") from None
    raise _other_choices("net")


def fitting(film: Film, network: Model, data: DataSet) -> Film:
    """Return the film if it records a training of this network on this data; else raise WrongValue."""
    if not _same(film, network, data):
        raise _other_choices("run")
    return film


def _other_choices(name: str) -> WrongValue:
    words = f"{name} was trained for other choices than those of this link"
    return WrongValue(name, words, "the choices that it was trained for")


def _same(film: Film, network: Model, data: DataSet) -> bool:
    same = np.array_equal(film.data.points, data.points) and np.array_equal(film.data.labels, data.labels)
    return film.network == network and same


def at_rest(network: Model, data: DataSet, weights: np.ndarray) -> Film:
    """A film with one checkpoint, at step 0, of the S networks with these weights (S, P), a row for each."""
    points = data.points.astype(float)
    labels, weight = network.answers(points, data.labels, np.ones(len(points)))
    with np.errstate(all="ignore"):  # the film refuses numbers that are not finite
        logits = network.logits(network.parts(weights.astype(float)), points)
        loss, right = np.transpose([score(each, labels, weight) for each in logits])
    ended = ("",) * len(weights)
    return Film(network, data, np.array([0]), weights[:, None], loss[:, None], right[:, None], ended)
