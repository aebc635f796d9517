"""Training jobs: validate the request that a page sends, and run its training in a worker.

Only `work` imports PyTorch, so web servers do not load it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from components.drawing.figure import document
from components.language.scene import Choices, Scene, WrongValue, scenes
from components.scenes.trained import SEEDS
from components.training import queue, runs, store
from components.training.recipes import shown
from learning.datasets import DataSet
from learning.film import Film
from learning.models import Model

T = TypeVar("T")
RESULTS = ("run", "net")
CHOICE_PREFIX = "choice "  # begins the names of a scene's choices in the settings of a film
NOT_STORED = "the server could not store its result. Train again later."
RETRY_SECONDS = 60.0  # how long a worker retries when the store does not answer


@dataclass(frozen=True)
class Number:
    """A number that a reader can set for a training, such as the learning rate: its default and limits.

    name: the name of a field of `Order`. label: the number's name on the page. whole: whether it must be a
    whole number.
    """

    name: str
    label: str
    default: float
    min: float
    max: float
    whole: bool = True

    def problem(self, value: Any) -> str:
        """Check a value: "" if it is allowed, else the allowed range, such as "a number from 0 to 1"."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and self.min <= value <= self.max and (not self.whole or value == int(value)):
            return ""
        low, high = (
            f"{x:,.0f}" if self.whole else np.format_float_positional(x, trim="-")
            for x in (self.min, self.max)
        )
        return f"a {'whole ' if self.whole else ''}number from {low} to {high}"


NUMBERS = (
    Number("steps", "steps", 4000, 100, 20_000),
    Number("lr", "learning rate", 0.01, 1e-5, 1, whole=False),
    Number("seeds", "networks at once", SEEDS, 1, SEEDS),
    Number("seed", "random seed", 0, 0, 999_999),
)


@dataclass(frozen=True)
class Order:
    """A page's request for a training: the scene, its choices as texts, and a value for each of NUMBERS."""

    slug: str
    choices: Mapping[str, str]
    steps: int
    lr: float
    seeds: int
    seed: int

    @property
    def scene(self) -> Scene:
        return scenes()[self.slug]

    @property
    def chosen(self) -> dict[str, Any]:
        """The value of each choice of the scene: parsed from this order's `choices`, or else the default.

        The choices `run` and `net`, which name trained networks, have their defaults, because the function
        `order` leaves them out.
        """
        return self.scene.choose(self.choices)

    def task(self) -> tuple[Model, DataSet]:
        """The network to train, and its data set."""
        assert self.scene.training is not None
        return self.scene.training.task(self.chosen)


def problems(asked: Mapping[str, Any]) -> dict[str, str]:
    """The error messages for the invalid numbers in a request, by the number's name; {} if all are valid."""
    return {n.name: words for n in NUMBERS if (words := n.problem(asked.get(n.name)))}


def trainable() -> list[str]:
    """The slugs of the scenes that can be trained."""
    return [slug for slug, scene in scenes().items() if scene.training]


def order(asked: Any) -> Order:
    """Validate a training request, as a page sends it in JSON, and return it as an `Order`.

    The choices `run` and `net`, which name trained networks, are left out. Raises WrongValue.
    """
    if not isinstance(asked, Mapping) or problems(asked):
        raise WrongValue("order", "this is not a training request", "a request as a page sends it")
    slug, choices = asked.get("slug"), asked.get("choices")
    if slug not in trainable():
        raise WrongValue("slug", "nothing can be trained in this scene", trainable())
    if not isinstance(choices, Mapping) or not all(isinstance(text, str) for text in choices.values()):
        raise WrongValue("choices", "the choices are not texts", "texts by name")
    whole = {n.name: int(asked[n.name]) for n in NUMBERS if n.whole}
    texts = {name: text for name, text in choices.items() if name not in RESULTS}
    checked = Order(slug=slug, choices=texts, lr=float(asked["lr"]), **whole)
    checked.task()  # this checks the reader's own data too
    return checked


def work(ticket: str) -> None:
    """Claim the training with this ticket and run it; send progress and the outcome to its page.

    Does nothing if the training has ended or another process has claimed it. Raises StoreUnavailable if the
    training cannot be claimed, or its outcome cannot be stored.
    """
    training = _reached(lambda: queue.start(ticket))
    if training is None:
        return
    outcome: dict[str, Any] = queue.LEFT
    try:
        if film := _train(ticket, Order(**training["order"])):
            run = _reached(partial(runs.save, film, client=training["address"], trained=True))
            kept = {"run": run, "days": runs.KEPT_DAYS}
            outcome = {"state": "done", **kept, "seed": film.best(), **_summary(film)}
    except store.StoreUnavailable as problem:
        logging.getLogger(__name__).error("a run could not be stored: %s", problem)
        outcome = {"state": "failed", "words": NOT_STORED}
    except Exception as problem:  # the page must learn of any failure
        logging.getLogger(__name__).exception("a training failed")
        outcome = {"state": "failed", "words": f"{type(problem).__name__}: {problem}"}
    _reached(lambda: queue.finish(ticket, outcome))


def _train(ticket: str, asked: Order) -> Film | None:
    """Run a training until its end, or until its page stops it or is silent for too long.

    Returns the film (weights at checkpoints) so far; None if the training has an outcome already, for example
    because the reader has left the page.
    """
    from learning.training import train

    scene, chosen = asked.scene, asked.chosen
    pictures, sent_step = Pictures(scene, chosen), queue.NOTHING
    for moment in train(*asked.task(), **{n.name: getattr(asked, n.name) for n in NUMBERS}):
        try:
            page = queue.page(ticket)
            if page is None:
                return None
            if (page["stop"] or page["silent"]) and moment.step:  # at step 0 there is nothing to keep
                break
            if page["seen"] >= sent_step:
                film = moment.film()
                pictures.look(page["look"])
                left = moment.seconds * (moment.steps - moment.step) / moment.step if moment.step else None
                clock = {"step": moment.step, "steps": moment.steps, "left": left}
                queue.tell(ticket, _summary(film) | clock | {"recipe": pictures.news(film)})
                sent_step = moment.step
        except store.StoreUnavailable:
            pictures.sent.clear()  # the last news may be lost, so send everything again
    film = moment.film()
    own = {f"{CHOICE_PREFIX}{name}": str(value) for name, value in chosen.items() if name not in RESULTS}
    return replace(film, settings=dict(film.settings) | {"scene": scene.slug} | own)


def _summary(film: Film) -> dict[str, Any]:
    """Facts about a training for its page.

    The last step, the number of networks (one per seed), how many of the networks solve the task, the
    networks' median loss, and how many ended early.
    """
    return {
        "step": int(film.steps[-1]),
        "seeds": film.seeds,
        "solved": int(film.solved().sum()),
        "loss": float(np.median(film.loss[:, -1])),
        "ended": sum(map(bool, film.ended)),
    }


class Pictures:
    """Builds the recipes that a page shows during a training, without fields that the page already has."""

    def __init__(self, scene: Scene, chosen: Choices) -> None:
        self.scene, self.chosen, self.shown = scene, chosen, chosen
        self.sent: dict[tuple[str, str], dict[str, Any]] = {}  # clouds and views, by kind and name

    def look(self, texts: Mapping[str, str]) -> None:
        """Set the choices, such as the seed, with which the page shows the training; ignores unknown names.

        If one of the values is invalid, nothing changes.
        """
        known = [c for c in self.scene.choices if c.name in texts and c.name not in RESULTS]
        with suppress(WrongValue):
            self.shown = {**self.chosen, **{c.name: c.parse(texts[c.name]) for c in known}}

    def news(self, film: Film) -> dict[str, Any]:
        """The recipe that shows the film so far, without the fields that the page already has.

        If the film has no network of the seed that the page shows, the recipe shows seed 0.
        """
        seed = self.shown["seed"] if self.shown["seed"] < film.seeds else 0
        recipe = document(shown(self.scene, {**self.shown, "seed": seed}, film))
        for kind in ("clouds", "views"):
            recipe[kind] = [self._changes(kind, part) for part in recipe[kind]]
        return recipe

    def _changes(self, kind: str, part: dict[str, Any]) -> dict[str, Any]:
        """The name of a cloud or view, and its fields that have changed since they were last sent.

        kind: "clouds" or "views". part: all fields of the cloud or view.
        """
        place = kind, part["name"]
        before = self.sent.get(place, {})
        self.sent[place] = part
        return {k: v for k, v in part.items() if k == "name" or k not in before or before[k] != v}


def _reached(call: Callable[[], T]) -> T:
    """The result of `call`, retried for RETRY_SECONDS while the store does not answer.

    Raises StoreUnavailable if it does not answer after that time either.
    """
    end = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            return call()
        except store.StoreUnavailable:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
