"""Jupyter widget of a scene (JupyterLab, VS Code, Colab, marimo), without a server."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

import anywidget
import traitlets
from dash import html
from IPython.display import display

from components import fonts
from components.drawing import still
from components.language import link
from components.language.link import State
from components.language.recipe import Recipe
from components.language.scene import Choices, Scene, WrongValue
from components.pages.markup import element, written
from components.pages.modules import ordered, renamed
from components.pages.page import facts
from components.publish import component, plain
from components.training.recipes import built
from components.training.store import StoreUnavailable
from components.web.server import contents, find, library_code

GZIP_LEVEL = 6  # 1 to 9
ENTRY = "guest/kernel"
VIEW = "application/vnd.jupyter.widget-view+json"


class Library(anywidget.AnyWidget):
    """Invisible widget with the code that all figures of a kernel share: modules, CSS and Plotly.

    Each page gets this code from the widget.
    """

    _esm = "export default { initialize() {} };"
    code = traitlets.Bytes().tag(sync=True)


@cache
def code() -> bytes:
    """The code that all figures of a kernel share, as compressed JSON: modules, CSS and Plotly."""
    modules = [(name, renamed(name, text)) for name, text in ordered(ENTRY).items()]
    return _packed({"modules": modules, "styles": component.styles(fonts.inside), "plotly": library_code()})


@cache
def version() -> str:
    """A hash of `code`: 12 hexadecimal digits."""
    return hashlib.sha256(code()).hexdigest()[:12]


@cache
def library() -> Library:
    return Library(code=code())


class ReadOnlyDict(dict[str, Any]):
    """The value of the traits `choices` and `params`. Read-only: the figure would not notice a change."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("this dict is read-only: set the trait, such as figure.params = {'eps': 0.1}")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # copies can change


class Figure(anywidget.AnyWidget):
    """A Jupyter widget that shows a scene. Its traits are the figure's state: read them, or set them.

    Parameters
    ----------
    slug : str
        The name of the scene, as `normscape list` prints it.
    theme : {"auto", "light", "dark"}
        The colours; "auto" follows the page.
    controls : list of str, optional
        The names of the visible controls, and "progress" for the scrubber; None for all, [] for none.
    **state
        Choices and parameters by name, `progress`, `follow` and `camera`, as in the address of the scene's
        page.

    Attributes
    ----------
    choices, params : dict
        Values of choices and of sliders (parameters), by name. The kernel computes new data after a change of
        choices. A dict that you set may be partial: all other values stay. The dicts that you read cannot be
        changed.
    progress : float
        The position between the stages, from 0 (the input) to the number of steps.
    follow : int
        The index of the selected point, which the figure highlights at all stages.
    camera : list of float or None
        The position of the camera (x, y, z), or six numbers with the point that it looks at; None without a
        3D view.
    theme, controls
        As above.

    Raises
    ------
    ValueError
        If there is no scene `slug`, if the scene has no choice or parameter of a given name, or if a value is
        not allowed. Setting a trait to a wrong value raises TraitError.
    StoreUnavailable
        If the stored network or recording that a choice names cannot be read at the moment.

    Examples
    --------
    >>> figure = Figure("layernorm", gamma1=2, n=60, progress=1)
    >>> figure.params["gamma1"]
    2.0
    >>> figure.params = {"gamma2": 1.5}
    >>> figure.params["gamma1"], figure.params["gamma2"]
    (2.0, 1.5)
    """

    _esm = Path(__file__).with_suffix(".js")
    _version = traitlets.Unicode().tag(sync=True)
    _library = traitlets.Unicode().tag(sync=True)
    _picture = traitlets.Unicode().tag(sync=True)  # CSS class of the still picture; the live figure hides it
    _element = traitlets.Bytes().tag(sync=True)
    _made = traitlets.Bytes().tag(sync=True)
    slug = traitlets.Unicode(read_only=True).tag(sync=True)
    choices = traitlets.Dict().tag(sync=True)
    params = traitlets.Dict().tag(sync=True)
    progress = traitlets.Float().tag(sync=True)
    follow = traitlets.Int().tag(sync=True)
    camera = traitlets.List(traitlets.Float(), default_value=None, allow_none=True).tag(sync=True)
    theme = traitlets.Enum(link.THEMES, "auto").tag(sync=True)
    controls = traitlets.List(traitlets.Unicode(), default_value=None, allow_none=True).tag(sync=True)

    def __init__(
        self, slug: str, *, theme: str = "auto", controls: list[str] | None = None, **state: Any
    ) -> None:
        self.scene: Scene = find(slug)
        self.known: tuple[Choices, Recipe] | None = None
        is_list = controls is None or isinstance(controls, list | tuple)
        if not (is_list and all(isinstance(name, str) for name in controls or ())):
            words = f"controls={controls!r} is not a list of names, such as ['progress']"
            raise WrongValue("controls", words, None)
        shown = {} if controls is None else {"controls": ",".join(controls) or "0"}
        opening = self._read(_texts(state) | shown | {"theme": theme})
        self.set_trait("slug", slug)
        self._make(opening.choices)
        super().__init__(
            _version=version(),
            _library=library().model_id,
            _picture=f"normscape-{uuid4().hex[:12]}",
            _element=_packed(_element(opening)),
            choices=dict(opening.choices),
            params=dict(opening.params),
            progress=opening.progress,
            follow=opening.follow,
            camera=_camera(opening),
            theme=theme,
            controls=controls,
        )
        self.on_msg(self._asked)

    def __repr__(self) -> str:
        rest = {name: getattr(self, name) for name in ("progress", "follow", "camera", "theme")}
        values = {**self.choices, **self.params, **rest}
        asked = parse_qsl(link.write(self.state).removeprefix("?"))
        return f"Figure({', '.join([repr(self.slug), *(f'{name}={values[name]!r}' for name, _ in asked)])})"

    def _ipython_display_(self) -> None:
        """Show the widget, then a still picture, which a live widget hides.

        The picture is for readers without the widget: in exported HTML, in a viewer, or in a notebook that is
        opened again.
        """
        widget, _ = self._repr_mimebundle_() or ({}, {})
        if VIEW in widget:
            # the empty HTML is for pages without widget support
            display({VIEW: widget[VIEW], "text/html": ""}, raw=True)
        display({"text/plain": repr(self), "text/html": self._drawn()}, raw=True)

    def _drawn(self) -> str:
        state = self.state
        drawn = base64.b64encode(still.svg(state.recipe, state).encode()).decode()
        source = {
            "src": f"data:image/svg+xml;base64,{drawn}",
            "alt": self.scene.title,
            "class": self._picture,
        }
        size = {"width": still.WIDTH, "height": still.HEIGHT, "style": "max-width: 100%; height: auto"}
        return written(element("img", source | size))

    @property
    def state(self) -> State:
        """The whole state of the figure: what a link to the scene can describe."""
        rest: dict[str, Any] = {"progress": self.progress, "follow": self.follow}
        if self.camera != _home(self._built(self.choices)):
            rest["camera"] = self.camera
        if self.theme != "auto":
            rest["theme"] = self.theme
        return self._read(_texts(self.choices) | _texts(self.params) | _texts(rest))

    def _read(self, query: Mapping[str, str]) -> State:
        return link.parse(self.scene, query, lambda _, choices: self._built(choices), tour=False)

    def _built(self, choices: Choices) -> Recipe:
        """The recipe for `choices`. Only the most recent one is cached."""
        if self.known is None or self.known[0] != choices:
            self.known = choices, built(self.scene, choices)
        return self.known[1]

    def _make(self, choices: Choices) -> None:
        """Compute the recipe for new choices, and send it to the page in the trait `_made`."""
        recipe = contents(self.scene, choices) | {"text": None}
        self.made = dict(choices)
        self._made = _packed({"key": link.key(self.scene, choices), "recipe": recipe})

    def _asked(self, _: Any, asked: Mapping[str, Any], __: Any) -> None:
        """Answer a page's request for the player's code or for the recipe of some choices.

        Wrong choices are answered with an error message.
        """
        if "code" in asked:
            return self.send({"code": True}, [code()])
        key = str(asked.get("make"))
        before = self._made
        try:
            self._make(self.scene.choose(dict(parse_qsl(key, keep_blank_values=True))))
        except (WrongValue, StoreUnavailable) as problem:
            return self.send({"key": key, "refused": str(problem)})
        if self._made == before:  # traitlets does not send an equal value, and the page's copy may be corrupt
            self.send_state("_made")

    @traitlets.validate("choices", "params", "progress", "follow", "camera", "controls")
    def _checked(self, proposal: Any) -> Any:
        """Validate a trait before it changes; complete partial choices and parameters.

        Raises TraitError for a value that the scene does not allow.
        """
        name, value = proposal.trait.name, proposal.value
        try:
            if name == "choices":
                return ReadOnlyDict(self.scene.choose(_texts({**self.choices, **value})))
            if name == "params":
                names = self._built(self.choices).defaults
                _check_names(value, names)
                whole = {n: x for n, x in self.params.items() if n in names} | value
                return ReadOnlyDict(self._read(_texts(self.choices) | _texts(whole)).params)
            if name == "controls":
                shown = {} if value is None else {name: ",".join(value) or "0"}
                self._read(_texts(self.choices) | shown)
                return value
            found = self._read(_texts(self.choices) | ({} if value is None else {name: _text(value)}))
            return _camera(found) if name == "camera" else getattr(found, name)
        except WrongValue as wrong:
            raise traitlets.TraitError(wrong.error) from None

    @traitlets.observe("choices")
    def _chosen(self, change: Any) -> None:
        """After a change of choices, send their recipe, and adapt the other traits to it.

        A parameter that differs from its default keeps its value if the new recipe allows it. All other
        parameters get their new defaults. The progress is kept, up to the last stage of the new recipe. The
        selected point is kept if the new recipe has a point of this index. The browser does the same
        (assets/player/state.mjs).
        """
        if not change.old:
            return
        before, recipe = built(self.scene, change.old).defaults, self._built(self.choices)
        params = dict(recipe.defaults)
        for p in recipe.parameters:
            x = self.params.get(p.name, p.value)
            if x != before.get(p.name) and link.within(p, x):
                params[p.name] = x
        with self.hold_sync():
            if self.made != self.choices:
                self._make(self.choices)
            self.set_trait("params", params)
            self.progress = min(self.progress, len(recipe.stages) - 1)
            if self.follow > link.last_point(recipe):
                self.follow = recipe.follow


def _element(state: State) -> str:
    """HTML of the element that shows the scene: a still picture, to which the player adds the live figure."""
    data = facts(state.scene, **plain.figure(state))
    choices = state.scene.json()["choices"]
    return written(plain.body(state.scene, state, data, choices=choices, tag=html.Section, folded=False))


def _packed(value: Any) -> bytes:
    """Data for figure.js, as JSON compressed with gzip."""
    return gzip.compress(json.dumps(value, separators=(",", ":")).encode(), GZIP_LEVEL, mtime=0)


def _camera(state: State) -> list[float] | None:
    """The camera of a state, by default that of its recipe (see `_home`)."""
    return _home(state.recipe) if state.camera is None else list(state.camera)


def _home(recipe: Recipe) -> list[float] | None:
    """The default camera of the first 3D view; None if the recipe has no 3D view."""
    return next((list(map(float, view.camera)) for view in recipe.views if view.dims == 3), None)


def _check_names(values: Mapping[str, Any], names: Mapping[str, float]) -> None:
    for name in values:
        if name not in names:
            raise WrongValue(name, f"there is no parameter {name!r}", list(names))


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    """Format a value as links do: a number or text by `link.value_text`, a list or tuple as "1,2,3"."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else link.value_text(value)
