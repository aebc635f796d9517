"""The Dash component of a scene, which validates its properties."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal

import dash
from dash.development.base_component import Component, _explicitize_args

from components.language.link import value_text
from components.language.scene import WrongValue, did_you_mean, scenes
from components.publish.component import register
from components.training.recipes import state_of
from components.training.store import StoreUnavailable
from geometry.arrays import shown

PROPERTIES = (
    *("slug", "id", "choices", "params", "progress", "follow", "camera"),
    *("controls", "theme", "style", "className"),
)


class Scene(Component):
    """A Dash component that shows a scene: its figure, its controls, and its state as properties.

    Callbacks read and set the properties. While the reader moves a control, callbacks are called at most ten
    times a second, and once more when it rests. The figure reports only changes by the reader, not values
    that a callback has set. A dict that a callback sets may be partial: all other values stay.

    Raises ValueError for names and values that the scene does not have. If a callback sets such a name or
    value, the error message appears in place of the figure.

    Examples
    --------
    >>> Scene("layernorm", id="scene", params={"eps": 0.5})
    Scene(slug='layernorm', id='scene', choices={}, params={'eps': 0.5})

    Keyword arguments:

    - slug (string; required):
        The name of the scene, as `normscape list` prints it. If a callback changes the scene, the other
        properties get the new scene's defaults, unless the callback sets them too.

    - id (string | dict; optional):
        The identifier of this component in callbacks.

    - choices (dict; optional):
        Choices by name, such as {"n": 200}. For a new choice the page requests new data from the server.

    - params (dict; optional):
        Values of the sliders by name, such as {"eps": 0.5}.

    - progress (number; optional):
        The position between the stages, from 0 (the input) to the number of steps.

    - follow (number; optional):
        The index of the selected point, which the figure highlights at all stages.

    - camera (list of numbers; optional):
        The position (x, y, z) of the camera, or six numbers with the point that it looks at.

    - controls (list of strings; optional):
        The names of the visible controls, and "progress" for the scrubber; by default all, [] for none.

    - theme (a value equal to: 'auto', 'light', 'dark'; default 'auto'):
        The colours; "auto" follows the CSS property `color-scheme` of the page.

    - style (dict; optional):
        CSS of the element. Custom properties change colours: {"--paper": "white"}.

    - className (string; optional):
        CSS class of the element.
    """

    _children_props: list[str] = []  # noqa: RUF012
    _base_nodes = ["children"]  # noqa: RUF012
    _namespace = "normscape"
    _type = "Scene"

    @_explicitize_args
    def __init__(
        self,
        slug: str | None = None,
        id: str | dict[str, Any] | None = None,
        choices: Mapping[str, Any] | None = None,
        params: Mapping[str, float] | None = None,
        progress: float | None = None,
        follow: int | None = None,
        camera: Sequence[float] | None = None,
        controls: Sequence[str] | None = None,
        theme: Literal["auto", "light", "dark"] | None = None,
        style: Mapping[str, Any] | None = None,
        className: str | None = None,
        **strangers: Any,
    ) -> None:
        named = {name: value for name, value in locals().items() if name in PROPERTIES}
        self._prop_names = self.available_properties = list(PROPERTIES)
        self._valid_wildcard_attributes = self.available_wildcard_properties = []
        given = strangers.pop("_explicit_args")
        # a `dash.Patch` from a callback needs a dict to change
        dicts = {"choices": choices or {}, "params": params or {}}
        super().__init__(**{name: named[name] for name in given if name in named} | dicts, **strangers)
        state = {"progress": progress, "follow": follow, "theme": theme}
        check(slug, choices, params, camera=camera, controls=controls, **state)


def check(slug: Any, choices: Any, params: Any, *, camera: Any, controls: Any, **state: Any) -> None:
    """Raise ValueError if there is no scene `slug`, or if the scene does not allow one of the properties.

    state: the properties `progress`, `follow` and `theme`. A property with the value None is not checked.
    """
    if not isinstance(slug, str) or slug not in scenes():
        names = ", ".join(scenes())
        raise ValueError(f"Scene: slug={shown(slug)} is not one of {names}{did_you_mean(str(slug))}")
    for name, value in {"choices": choices, "params": params}.items():
        if not isinstance(value, Mapping | None):
            raise ValueError(f"Scene({slug!r}): {name}={shown(value)} is not a dict by name")
    for name, value in {"camera": camera, "controls": controls}.items():
        if not isinstance(value, Iterable | None) or isinstance(value, str):
            raise ValueError(f"Scene({slug!r}): {name}={shown(value)} is not a list")
    if camera is not None:
        state["camera"] = ",".join(map(str, camera))
    if controls is not None:
        state["controls"] = ",".join(map(str, controls)) or "0"
    texts = {name: value_text(value) for name, value in state.items() if value is not None}
    both = [
        {name: value_text(value) for name, value in (values or {}).items()} for values in (choices, params)
    ]
    try:
        _fits(slug, *(json.dumps(each, sort_keys=True) for each in (*both, texts)))
    except (WrongValue, StoreUnavailable) as problem:
        raise ValueError(f"Scene({slug!r}): {problem}") from None


@lru_cache(1024)
def _fits(slug: str, choices: str, params: str, state: str) -> None:
    """Raise WrongValue if the scene `slug` does not have a given name, or does not allow the given value.

    choices, params, state: JSON objects of names and values. The check builds the recipe, which takes time,
    so its success is cached. Also raises StoreUnavailable.
    """
    scene, chosen, moved = scenes()[slug], json.loads(choices), json.loads(params)
    scene.choose(chosen)
    recipe = state_of(scene, chosen | moved | json.loads(state), tour=False).recipe
    for name in moved:
        if name not in recipe.defaults:
            raise WrongValue(name, f"the scene {slug!r} has no parameter {name!r}", list(recipe.defaults))


dash.hooks.setup()(register)
# if it is too late to register, the component reports it in the page
with suppress(dash.exceptions.AppNotFoundError, RuntimeError):
    register(dash.get_app())
