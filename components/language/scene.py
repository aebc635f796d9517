"""A scene: choices, a function that makes a recipe from them, and a text. Each package of scenes/ has one."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from components.language.recipe import Recipe
from components.language.text import Text, heading, line, plain, read
from learning.datasets import DataSet
from learning.models import Model

Choices = Mapping[str, Any]
MAX_LISTED = 24  # names or values that an error message lists
MAX_MESSAGE_CHARACTERS = 400  # of an error message, before that list


def closest_scene(slug: str) -> str | None:
    """The slug of the scene that is most similar to a misspelt slug; None if no slug is similar enough."""
    return next(iter(get_close_matches(slug, scenes(), n=1)), None)


def did_you_mean(slug: str) -> str:
    """The end of an error message about a misspelt scene: "; did you mean 'layernorm'?", or ""."""
    close = closest_scene(slug)
    return f"; did you mean {close!r}?" if close else ""


class WrongValue(ValueError):
    """Raised for a name or value that a scene does not accept in a query.

    parameter: the name. error: what is wrong. allowed: what would be accepted; if this is a list of at most
    MAX_LISTED entries, the message contains them. status: the code of the HTTP response.
    """

    def __init__(self, parameter: str, error: str, allowed: Any, status: int = 400) -> None:
        listed = allowed if isinstance(allowed, list) and len(allowed) <= MAX_LISTED else []
        names = ", ".join(map(str, listed))
        self.error = _one_line(error) + ("" if names in error else f"; there are only {names}")
        super().__init__(self.error)
        self.parameter, self.allowed, self.status = parameter, allowed, status

    @property
    def sentence(self) -> str:
        """The error message; a full stop is added if it ends neither with one nor with a question mark."""
        return self.error if self.error.endswith((".", "?")) else f"{self.error}."

    def json(self) -> dict[str, Any]:
        return {"error": self.error, "parameter": self.parameter, "allowed": self.allowed}


def _one_line(error: str) -> str:
    """An error message in one line. The middle of a very long message is left out."""
    line = " ".join(error.split())
    return line if len(line) <= MAX_MESSAGE_CHARACTERS else f"{line[:200]} … {line[-100:]}"


def whole(name: str, text: str, low: int, high: int, bounded: bool = True) -> int:
    """Parse a whole number of at most 18 decimal digits. Raises WrongValue for any other text.

    name: the name of the choice, for the message. bounded: whether a number outside `low` … `high` raises
    WrongValue too.
    """
    allowed = {"min": low, "max": high, "whole": True}
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise WrongValue(name, f"{name}={text!r} is not a whole number", allowed)
    if bounded and not low <= int(text) <= high:
        raise WrongValue(name, f"{name}={text} is outside {low} … {high}", allowed)
    return int(text)


def short(name: str, text: str, longest: int) -> str:
    """Return `text` unchanged. Raises WrongValue if it is longer than `longest` or not valid Unicode.

    name: the name of the choice, for the message.
    """
    if len(text) > longest:
        words = f"{name} has {len(text)} characters, at most {longest} fit in a link"
        raise WrongValue(name, words, {"longest": longest})
    if any("\ud800" <= each <= "\udfff" for each in text):
        raise WrongValue(name, f"{name} contains an incomplete Unicode character", "Unicode text")
    return text


@dataclass(frozen=True)
class BaseChoice:
    """The base class of choices.

    when    (the name of another choice, some of its values): the control is shown only if that choice has one
            of these values
    folded  whether the control is folded away at first
    """

    name: str
    label: str
    default: Any
    when: tuple[str, Sequence[str]] | None = field(default=None, kw_only=True)
    folded: bool = field(default=False, kw_only=True)

    def parse(self, text: str) -> Any:
        """The value that a text in a link stands for. Raises WrongValue if the choice cannot have it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Choice(BaseChoice):
    """A choice of one of several options. options: for each value the label that readers see."""

    options: Mapping[str, str]

    def parse(self, text: str) -> Any:
        if text not in self.options:
            words = f"{self.name}={text!r} is not one of its values"
            raise WrongValue(self.name, words, list(self.options))
        return text


@dataclass(frozen=True)
class Whole(BaseChoice):
    """A choice of a whole number from `min` to `max`.

    of: names of other choices. When the reader changes one of them, this choice returns to its default.
    narrowed: whether the range depends on data and is narrower than `min` to `max`; then the scene's `build`
    raises `WrongValue` for a number outside it.
    """

    min: int
    max: int
    step: int = 1
    of: Sequence[str] = ()
    narrowed: bool = False

    def parse(self, text: str) -> int:
        return whole(self.name, text, self.min, self.max, bounded=not self.narrowed)


@dataclass(frozen=True)
class Typed(BaseChoice):
    """A choice whose value is a text that the reader types, of at most `longest` characters.

    The scene's `build` may raise `WrongValue` for it.
    """

    longest: int = 4000

    def parse(self, text: str) -> str:
        return short(self.name, text, self.longest)


@dataclass(frozen=True)
class Sentence(BaseChoice):
    """A choice whose value is a short text for a field of one line: not blank, at most `longest` characters.

    The scene's `build` may raise `WrongValue` for it.
    """

    longest: int = 200

    def parse(self, text: str) -> str:
        if not text.strip():
            raise WrongValue(self.name, f"{self.name} is empty: type something", {"longest": self.longest})
        return short(self.name, text, self.longest)


@dataclass(frozen=True)
class Several(BaseChoice):
    """A choice of any number of options. Its value lists the selected ones with commas between; "" if none.

    options: for each value the label that readers see.
    """

    options: Mapping[str, str]

    def parse(self, text: str) -> str:
        words = text.split(",") if text else []
        for k, word in enumerate(words):
            if word not in self.options or word in words[:k]:
                wrong = "is there twice" if word in self.options else "is not one of its values"
                raise WrongValue(self.name, f"{self.name}: {word!r} {wrong}", list(self.options))
        return text


@dataclass(frozen=True)
class Result(BaseChoice):
    """A choice whose value is the key of a stored training run or recording, or the weights of a network.

    The value is "" if there is none of these. The choice has no control. of: the names of other choices; when
    the reader changes one of them, the browser drops the result.
    """

    default: str = ""
    of: Sequence[str] = field(kw_only=True)
    longest: int = 4000

    def parse(self, text: str) -> str:
        return short(self.name, text, self.longest)


@dataclass(frozen=True)
class Picked(BaseChoice):
    """A choice of one part of a result of training, by number, such as one network by its seed.

    Readers can also pick it with a click on a curve. of: the names of other choices; when the reader changes
    one of them, this choice returns to its default.
    """

    min: int
    max: int
    of: Sequence[str]

    def parse(self, text: str) -> int:
        return whole(self.name, text, self.min, self.max)


@dataclass(frozen=True)
class File:
    """A data file that is part of the software, in films/. read: the function that parses its contents."""

    name: str
    read: Callable[[bytes], Any]


@dataclass(frozen=True)
class Stored:
    """Data that a reader has uploaded, stored under a key.

    key: the key under which the data are stored. choice: the name of the choice that has this key as its
    value. read: the function that parses the data.
    """

    choice: str
    key: str
    read: Callable[[bytes], Any]


@dataclass(frozen=True)
class Training:
    """The training that a scene offers: its model, its data set and its shipped runs.

    task: a function that returns the model and the data set for the reader's choices. films: a function that
    returns the names of the recorded training runs that are shipped for these choices. The scene must have
    two choices of the class `Result`: `run`, the key of a stored training run, and `net`, the weights of one
    network.
    """

    task: Callable[[Choices], tuple[Model, DataSet]]
    films: Callable[[Choices], Sequence[str]]


def no_files(choices: Choices) -> Sequence[File | Stored]:
    return ()


@dataclass(frozen=True)
class Scene:
    """A scene, as its package in scenes/ defines it.

    package      the Python name of the package; its last part is the slug, the scene's name in addresses
    build        a pure function that returns the recipe. Its arguments are the choices; then, if the scene
                 has a training, the record of a training run (weights at checkpoints); then the parsed
                 contents of each of its `files`
    order        a number that decides the scene's position in lists
    files        a function that returns, for given choices, the shipped files (`File`) and the uploaded data
                 (`Stored`) that the scene needs
    tour_choice  the name of a choice if the scene has several tours, each for one value of this choice; ""
                 if it has a single tour
    moved        maps a pair (name, value) in the query of an old link to the slug of the scene to which the
                 link now leads. The pair is a former choice with its value, a choice with a former value, or
                 "tour" with the number of a former stop. A pair that is mapped to this scene's own slug is
                 only dropped from the link (`components.language.moved`)

    The title and the lead are the first lines of `text.md` in the same folder.
    """

    package: str
    build: Callable[..., Recipe]
    order: int = 100
    choices: tuple[BaseChoice, ...] = ()
    training: Training | None = None
    files: Callable[[Choices], Sequence[File | Stored]] = no_files
    tour_choice: str = ""
    moved: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def private(self, texts: Mapping[str, Any]) -> bool:
        """Whether the choices name data that a reader has trained or uploaded.

        The recipes for such choices are not cached. texts: the choices in a query, by name.
        """
        return any(isinstance(c, Result) and bool(texts.get(c.name)) for c in self.choices)

    @property
    def slug(self) -> str:
        return self.package.rpartition(".")[2]

    @property
    def title(self) -> str:
        return heading(self._text)[0]

    @property
    def lead(self) -> str:
        return plain(self.lead_html)

    @property
    def lead_html(self) -> str:
        return line(heading(self._text)[1])

    @property
    def text(self) -> Text:
        return read(self._text)

    @property
    def _text(self) -> Path:
        return Path(__file__).parents[1] / "scenes" / self.slug / "text.md"

    def choose(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """The values of all choices: parsed from `texts`, or the default of a choice that is not named there.

        texts: the part of a query that names choices. Raises WrongValue for an unknown name or an invalid
        value.
        """
        names = [c.name for c in self.choices]
        for name in texts:
            if name not in names:
                raise WrongValue(name, f"the scene {self.slug!r} has no choice {name!r}", names)
        return {c.name: c.parse(texts[c.name]) if c.name in texts else c.default for c in self.choices}

    def json(self) -> dict[str, Any]:
        """The scene's slug, title, lead and choices as JSON, from which the browser makes the controls."""
        kinds = {Choice: "one", Whole: "whole", Typed: "typed", Sentence: "sentence"}
        kinds |= {Several: "several", Result: "result", Picked: "picked"}
        choices = [{"kind": kinds[type(c)], **vars(c)} for c in self.choices]
        return {"slug": self.slug, "title": self.title, "lead": self.lead, "choices": choices}


@cache
def scenes() -> dict[str, Scene]:
    """All scenes by slug, sorted by `Scene.order`. They are the packages in scenes/, each with a SCENE."""
    import components.scenes as package

    found = [
        import_module(f"{package.__name__}.{m.name}").SCENE
        for m in pkgutil.iter_modules(package.__path__)
        if m.ispkg  # scenes are packages; a module there is shared by several scenes
    ]
    return {scene.slug: scene for scene in sorted(found, key=lambda s: (s.order, s.slug))}
