"""The panel on a scene's page that trains: its fields and buttons, and the background callback behind them.

What the page does with the news of a training is in assets/training.mjs.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import dash_mantine_components as dmc
from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.background_callback.managers import BaseBackgroundCallbackManager
from flask import request, session

from components.clients import client
from components.scene import Scene, WrongValue
from components.settings import redis_url
from components.shell import attributes
from components.training import jobs, runs, store
from components.training.line import Line, Refused, Trust, is_ticket
from components.training.worker import Local

PANEL, TRAIN, STOP, BAR, WORDS = "train-panel", "train", "train-stop", "train-bar", "train-words"
ASKED, REFUSED, TICKET, NEWS, END = "train-asked", "train-refused", "train-ticket", "train-news", "train-end"
FIELDS = {number.name: f"train-{number.name}" for number in jobs.NUMBERS}
GRACE = 6.0  # seconds for the workers' signs of life when the store, or the machine, is back
INTERVAL = 60  # ms between two questions of a page
WRONG = "Nothing is trained yet: see what the fields say."
NO_STORE = "The queue of trainings does not answer. Try again in a minute."
NO_TORCH = "Training needs PyTorch on the server: python -m pip install torch"


class Manager(BaseBackgroundCallbackManager):
    """Dash's background callbacks on our line: the job, its key and its ticket are one.

    Dash's own managers end a job by killing its process, share one result among all who ask for the same,
    keep still when a worker dies, and know nothing of a page that has been closed.
    """

    def __init__(self, line: Line, workers: Any) -> None:
        self.line, self.workers, self.trust = line, workers, Trust()
        super().__init__(cache_by=None)

    def build_cache_key(self, fn: Any, args: Any, *_: Any) -> str:
        """The ticket, if it has the shape of one; one that is not in the line moves nothing."""
        if not is_ticket(args[0]):
            raise WrongValue("ticket", "this is no ticket", "what the server gave")
        return str(args[0])

    def make_job_fn(self, fn: Any, progress: Any, key: Any = None) -> Any:
        return fn

    def call_job_fn(self, key: str, job_fn: Any, args: Any, context: Any) -> str:
        return key  # it is in the line; as long as it waits there, its page calls the workers

    def get_progress(self, key: str) -> list[str] | None:
        try:
            self.workers.ready()
            news = self.line.ask(key)
        except store.Away:
            news = self._away('{"away": true}')
        if news and news.startswith('{"ahead"'):
            with suppress(store.Away):  # until the next question
                self.workers.call()
        return [news] if news else None

    def get_result(self, key: str, job: str) -> Any:
        if not self.trust.sure(GRACE):
            return self.UNDEFINED
        try:
            outcome = self.line.outcome(key)
        except store.Away:
            return self._away(self.UNDEFINED)
        return self.UNDEFINED if outcome is None else outcome

    def _away(self, answer: Any) -> Any:
        """The answer, and a beat for the workers: they, too, had nowhere to sign."""
        self.trust.doubt(GRACE)
        return answer

    def get_updated_props(self, key: str) -> dict[str, Any]:
        return {}

    def job_running(self, job: str) -> bool:
        return True  # the result says when it no longer does

    def terminate_job(self, job: str) -> None:
        with suppress(store.Away):
            self.line.leave(job)


def add_training(app: Dash, address: str) -> Callable[[Scene], list[Any]]:
    """The callbacks of the panel, which leaving `address` cancels; the panel of a scene, in a list."""
    app.config.suppress_callback_exceptions = True  # the panel is on some pages only
    line, workers = Line(store.here()), _workers()
    _add_question(app, line)
    _add_answers(app, Manager(line, workers), address)

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

    @app.callback(Input(STOP, "n_clicks"), State(TICKET, "data"), prevent_initial_call=True)
    def stop(_: Any, ticket: Any) -> None:
        with suppress(store.Away):  # as the page is told already
            line.stop(str(ticket))


def _ticket(line: Line, asked: Any, wrong: dict[str, str]) -> tuple[Any, Any]:
    """Why there is none, and no update; or nothing, and a ticket."""
    if wrong:
        return WRONG, no_update
    try:
        runs.settle()  # others may have filled the disk
        return None, line.join(vars(jobs.order(asked)), owner=_owner(), address=client(request))
    except (WrongValue, Refused) as problem:
        return str(problem), no_update
    except store.Away as problem:
        logging.getLogger(__name__).error("no training can be asked for: %s", problem)
        return NO_STORE, no_update


def _owner() -> str:
    """Who asks: a browser, by its cookie."""
    return session.setdefault("who", secrets.token_hex(8))


def _add_answers(app: Dash, manager: Manager, address: str) -> None:
    """From a ticket to the news, and to the end."""
    app.callback(
        Output(END, "data"),
        Input(TICKET, "data"),
        background=True,
        manager=manager,
        progress=Output(NEWS, "data"),
        cancel=Input(address, "pathname"),
        interval=INTERVAL,
        prevent_initial_call=True,
    )(jobs.work)
    # Two callbacks: one with END among its inputs would wait for the end.
    for function, inputs in {"show": (REFUSED, TICKET, NEWS), "over": (END,)}.items():
        app.clientside_callback(
            ClientsideFunction("training", function),
            Output(PANEL, "data-state", allow_duplicate=True),
            Output(BAR, "value", allow_duplicate=True),
            Output(WORDS, "children", allow_duplicate=True),
            *(Input(name, "data") for name in inputs),
            prevent_initial_call=True,
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
        *(dcc.Store(id=name) for name in (ASKED, REFUSED, TICKET, NEWS, END)),
    ]
    return html.Section(
        parts, id=PANEL, key=scene.slug, className="training", **attributes(data_state="idle")
    )
