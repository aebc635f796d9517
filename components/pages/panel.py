"""The training panel on a scene's page: fields and buttons.

follow.py has the routes with which the page orders a training job, and assets/player/training.mjs uses them.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import Any

from dash import ClientsideFunction, Dash, Input, html
from flask import request

from components.language.scene import Scene
from components.pages import follow
from components.pages.markup import attributes, element
from components.settings import redis_url
from components.training import jobs
from components.training.worker import ChildWorker
from learning.untrusted_npz import MAX_UPLOAD_BYTES

# limit of an upload, for the page
MAX_BYTES_ATTRIBUTE: dict[str, Any] = {"data-max-bytes": str(MAX_UPLOAD_BYTES)}
PANEL, TRAIN, STOP, BAR, WORDS = "train-panel", "train", "train-stop", "train-bar", "train-words"
NO_TORCH = "Training needs PyTorch on the server: python -m pip install torch"


@dataclass(frozen=True)
class Panel:
    """Makes the training panels of scenes. trains: whether this server can train networks."""

    trains: bool

    def trainable(self, scene: Scene) -> bool:
        return scene.training is not None and self.trains

    def tree(self, scene: Scene) -> html.Section | html.Details | None:
        """The training panel of a scene, folded at first: number fields, buttons, and a container for files.

        In the browser Dash renders the buttons, and a script fills the container with buttons that save and
        open files of trained networks. For a scene without training the result is None. If this server cannot
        train networks, the panel is only a notice that says so.
        """
        if scene.training is None:
            return None
        if not self.trains:
            return html.Section(html.P(NO_TORCH), className="training")
        parts: list[Any] = [
            html.Summary("Train it yourself"),
            html.Div([_field(number) for number in jobs.NUMBERS], className="fields"),
            # a static copy of the buttons, until Dash (loaded when the panel opens) renders them below
            element("div", {"class": "until", "inert": True}, controls()),
            html.Div(id="react-entry-point", hidden=True),
            html.Div(className="files", **MAX_BYTES_ATTRIBUTE),
        ]
        return html.Details(parts, className="training")


def add_training(app: Dash) -> Panel:
    """Add to a Dash application the callbacks of the training panel, and the routes that its jobs need.

    Replaces the application's layout by the panel's controls. Without Redis, a worker process starts when a
    browser requests this layout. Returns the `Panel`, which makes the panels of scenes.
    """
    child = None if redis_url(os.environ) else ChildWorker()

    def ready() -> None:
        """Start a worker if none runs. With Redis, nothing happens: there, administrators start workers."""
        if child:
            child.ready()

    app.layout = controls()
    for button, name in ((TRAIN, "train"), (STOP, "stop")):  # functions of assets/player/training.mjs
        clicked = ClientsideFunction("training", name), Input(button, "n_clicks")
        app.clientside_callback(*clicked, prevent_initial_call=True)
    follow.add_routes(app.server, ready)
    layout_path = f"{app.config.routes_pathname_prefix}_dash-layout"

    @app.server.before_request
    def start_worker_early() -> None:
        """Start the worker when a reader opens the panel: Dash then requests the layout of the panel."""
        if request.endpoint == layout_path:
            ready()

    return Panel(_trains())


def controls() -> html.Div:
    """The buttons "Train" and "Stop and keep", the progress bar and the status line. Dash updates them."""
    train = html.Button("Train", id=TRAIN, className="on", type="button")
    stop = html.Button("Stop and keep", id=STOP, type="button")
    parts = [
        html.Div([train, stop], className="buttons"),
        html.Progress(id=BAR, value="0", max="100", **attributes(aria_label="Training")),
        html.P(id=WORDS, role="status"),
    ]
    return html.Div(parts, id=PANEL, className="panel", **attributes(data_state="idle"))


def _field(number: jobs.Number) -> html.Div:
    """The input field for a number, with its label and an empty element for an error message."""
    name = f"train-{number.name}"
    bounds = {"min": number.min, "max": number.max, "step": 1 if number.whole else "any"}
    field = {"type": "number", "id": name, "name": number.name, "value": number.default, **bounds}
    parts = [
        html.Label(number.label, htmlFor=name),
        element("input", field | {"aria-describedby": f"{name}-wrong"}),
        html.P(id=f"{name}-wrong", className="wrong", role="alert"),
    ]
    return html.Div(parts)


def _trains() -> bool:
    """Whether this server can train networks.

    With Redis this is always true, because workers on other machines train. Without Redis, PyTorch must be
    installed here.
    """
    return bool(redis_url(os.environ)) or importlib.util.find_spec("torch") is not None
