"""The training panel on a scene's page: fields, buttons, and the callback that queues a training job.

After that, the page polls for news of its job; see follow.py and assets/player/training.mjs.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import secrets
from dataclasses import dataclass
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, html
from flask import Response, after_this_request, request

from components.language.scene import Scene, WrongValue
from components.pages import follow
from components.pages.markup import attributes, element
from components.settings import redis_url
from components.training import jobs, queue, store
from components.training.worker import ChildWorker
from components.web.budget import TRAINING_PRICE, Busy, client, work
from learning.untrusted_npz import MAX_UPLOAD_BYTES

# limit of an upload, for the page
MAX_BYTES_ATTRIBUTE: dict[str, Any] = {"data-max-bytes": str(MAX_UPLOAD_BYTES)}
PANEL, TRAIN, STOP, BAR, WORDS = "train-panel", "train", "train-stop", "train-bar", "train-words"
BROWSER_COOKIE = "normscape"
ASKED, TOLD = "data-asked", "data-told"  # the panel's attributes with the page's request, and the answer
WRONG = "Training has not started: see the messages at the fields."
NO_STORE = "The queue of trainings does not answer. Try again in a minute."
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
        train networks, it is only a notice that says so.
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

    Returns the `Panel`, which makes the panels of scenes.
    """
    child = None if redis_url(os.environ) else ChildWorker()

    def ready() -> None:
        """Start a worker if none runs. With Redis, nothing happens: there, administrators start workers."""
        if child:
            child.ready()

    app.layout = controls()
    _add_callbacks(app, ready)
    follow.add_routes(app.server, ready)
    layout_path = f"{app.config.routes_pathname_prefix}_dash-layout"

    @app.server.before_request
    def start_worker_early() -> None:
        """Start the worker when a reader opens the panel: Dash in the browser then requests its layout."""
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

    With Redis other machines do it, the workers. Without Redis, PyTorch must be installed here.
    """
    return bool(redis_url(os.environ)) or importlib.util.find_spec("torch") is not None


def _add_callbacks(app: Dash, ready: follow.Ready) -> None:
    """Register the callbacks of the panel's buttons. ready: a function that starts a worker if none runs.

    After a click on "Train", the page sends its choices and the numbers in the fields. The server checks
    them, queues a job and answers with its ticket.
    """
    ask, show, stop = (ClientsideFunction("training", name) for name in ("ask", "show", "stop"))
    app.clientside_callback(ask, Output(PANEL, ASKED), Input(TRAIN, "n_clicks"), prevent_initial_call=True)

    @app.callback(Output(PANEL, TOLD), Input(PANEL, ASKED), prevent_initial_call=True)
    def join(asked: Any) -> dict[str, Any]:
        asked = asked if isinstance(asked, dict) else {}
        wrong = jobs.problems(asked)
        refused, ticket = _ticket(asked, wrong)
        if ticket:
            ready()
        return {"time": asked.get("time"), "wrong": wrong, "refused": refused, "ticket": ticket}

    shown = Output(PANEL, "data-state"), Output(BAR, "value"), Output(WORDS, "children")
    app.clientside_callback(show, *shown, Input(PANEL, TOLD), prevent_initial_call=True)
    app.clientside_callback(stop, Input(STOP, "n_clicks"), prevent_initial_call=True)


def _ticket(asked: Any, wrong: dict[str, str]) -> tuple[str | None, str | None]:
    """Queue a training job. Returns (None, its ticket), or if it is refused (the reason, None).

    asked: the request of the page. wrong: error messages about its numbers; if there are any, the job is
    refused.
    """
    if wrong:
        return WRONG, None
    try:
        with work(TRAINING_PRICE):
            ticket = queue.join(vars(jobs.order(asked)), owner=_owner(), address=client(request))
        return None, ticket
    except (WrongValue, queue.Refused, Busy) as problem:
        return str(problem), None
    except store.StoreUnavailable as problem:
        logging.getLogger(__name__).error("a training could not be requested: %s", problem)
        return NO_STORE, None


def _owner() -> str:
    """The identifier of the reader's browser: 128 random bits, in a cookie that the response sets."""
    sent = request.cookies.get(BROWSER_COOKIE, "")
    if re.fullmatch("[0-9a-f]{32}", sent):
        return sent
    path, new = f"{request.script_root}/", secrets.token_hex(16)

    @after_this_request
    def with_cookie(answer: Response) -> Response:
        answer.set_cookie(
            BROWSER_COOKIE, new, path=path, secure=request.is_secure, httponly=True, samesite="Strict"
        )
        return answer

    return new
