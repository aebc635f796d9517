"""The panel on a scene's page that trains: its fields and buttons, and the way from them to a ticket.

How the page follows its training then is in follow.py and assets/player/training.mjs.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import secrets
from collections.abc import Callable
from typing import Any

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from flask import request, session

from components.language.scene import Scene, WrongValue
from components.pages import follow
from components.pages.shell import attributes
from components.settings import redis_url
from components.training import jobs, runs, store
from components.training.line import Line, Refused
from components.training.worker import Local
from components.web.budget import TRAINING, Busy, work
from components.web.clients import client

PANEL, TRAIN, STOP, BAR, WORDS = "train-panel", "train", "train-stop", "train-bar", "train-words"
ASKED, REFUSED, TICKET = "train-asked", "train-refused", "train-ticket"
FIELDS = {number.name: f"train-{number.name}" for number in jobs.NUMBERS}
WRONG = "Nothing is trained yet: see what the fields say."
NO_STORE = "The queue of trainings does not answer. Try again in a minute."
NO_TORCH = "Training needs PyTorch on the server: python -m pip install torch"


def add_training(app: Dash) -> Callable[[Scene], list[Any]]:
    """The callbacks of the panel, and its route; the panel of a scene, in a list."""
    app.config.suppress_callback_exceptions = True  # the panel is on some pages only
    line, workers = Line(store.here()), _workers()
    _add_question(app, line)
    _add_answers(app)
    follow.add_routes(app.server, line, workers)

    def panel(scene: Scene) -> list[Any]:
        if scene.training is None:
            return []
        if not _trains():
            return [html.P(NO_TORCH, className="training")]
        workers.ready()
        return [_panel(scene)]

    return panel


def _trains() -> bool:
    """With Redis, training is the workers' task, and torch theirs to have."""
    return bool(redis_url(os.environ)) or importlib.util.find_spec("torch") is not None


def _workers() -> Any:
    if not redis_url(os.environ):
        return Local()
    from components.training.celery_app import Queue

    return Queue()


def _add_question(app: Dash, line: Line) -> None:
    """From the button to a ticket: the page adds its choices, the server checks."""
    fields = [State(name, "value") for name in FIELDS.values()]
    ask = ClientsideFunction("training", "ask")
    app.clientside_callback(
        ask, Output(ASKED, "data"), Input(TRAIN, "n_clicks"), *fields, prevent_initial_call=True
    )

    @app.callback(
        *(Output(name, "error") for name in FIELDS.values()),
        Output(REFUSED, "data"),
        Output(TICKET, "data"),
        Input(ASKED, "data"),
        prevent_initial_call=True,
    )
    def join(asked: Any) -> list[Any]:
        wrong = jobs.problems(asked) if isinstance(asked, dict) else {}
        return [*(wrong.get(name, "") for name in FIELDS), *_ticket(line, asked, wrong)]


def _ticket(line: Line, asked: Any, wrong: dict[str, str]) -> tuple[Any, Any]:
    """Why there is none, and no update; or nothing, and a ticket."""
    if wrong:
        return WRONG, no_update
    try:
        with work(TRAINING):
            runs.settle()  # others may have filled the disk
            ticket = line.join(vars(jobs.order(asked)), owner=_owner(), address=client(request))
        return None, ticket
    except (WrongValue, Refused, Busy) as problem:
        return str(problem), no_update
    except store.Away as problem:
        logging.getLogger(__name__).error("no training can be asked for: %s", problem)
        return NO_STORE, no_update


def _owner() -> str:
    """Who asks: a browser, by its cookie."""
    return session.setdefault("who", secrets.token_hex(8))


def _add_answers(app: Dash) -> None:
    """From a ticket, or a refusal, to the page, which then asks by itself."""
    app.clientside_callback(
        ClientsideFunction("training", "show"),
        Output(PANEL, "data-state"),
        Output(BAR, "value"),
        Output(WORDS, "children"),
        Input(REFUSED, "data"),
        Input(TICKET, "data"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("training", "stop"), Input(STOP, "n_clicks"), prevent_initial_call=True
    )


def _panel(scene: Scene) -> html.Section:
    fields = [
        dmc.NumberInput(
            id=FIELDS[number.name],
            label=number.label,
            value=number.default,
            min=number.min,
            max=number.max,
            step=1 if number.whole else 0.001,
            allowDecimal=not number.whole,
            clampBehavior="none",
            hideControls=True,
            size="xs",
        )
        for number in jobs.NUMBERS
    ]
    buttons = html.Div(
        [
            dmc.Button("Train", id=TRAIN, size="compact-md"),
            dmc.Button("Stop and keep", id=STOP, size="compact-md", variant="default"),
        ],
        className="buttons",
    )
    parts = [
        html.H2("Train it yourself"),
        html.Div(fields, className="fields"),
        buttons,
        dmc.Progress(id=BAR, value=0, size="sm", **attributes(aria_label="Training")),
        html.P(id=WORDS, role="status"),
        html.Div(className="files"),
        *(dcc.Store(id=name) for name in (ASKED, REFUSED, TICKET)),
    ]
    return html.Section(
        parts, id=PANEL, key=scene.slug, className="training", **attributes(data_state="idle")
    )
