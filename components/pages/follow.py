"""The route `/training/<ticket>`, with which a page polls the server for news of its training job.

Each poll says what news the page has already, and what it wants. So a poll can be repeated safely if it or
its response was lost. Dash has background callbacks for such tasks, but they give up at the first lost
response, and do not poll less often when nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import BadRequest

from components.language.scene import WrongValue
from components.training import queue, store
from components.training.queue import NOTHING
from components.web.budget import GUESS_PRICE, work
from components.web.routes import Access, route

MAX_REQUEST_BYTES = 10_000  # of a poll
MAX_STEP = 10**9
Ready = Callable[[], None]  # starts a worker if none runs
LOST_ANSWER = '{"end": {"state": "lost"}}'  # for a training that was lost, and for an unknown ticket


def add_routes(server: Flask, ready: Ready) -> None:
    path = "/training/<string(length=32):ticket>"
    route(server, path, "training", partial(answer, ready), Access.PRIVATE, ["POST"])
    route(server, f"{path}/close", "training_close", close, Access.PRIVATE, ["POST"])


def reply_text(ready: Ready, ticket: str, **question: Any) -> str:
    """The text of the response to a poll, as JSON. It is "" if there is no news.

    It is `{"away": true}` if the store of jobs does not answer. ready: a function that starts a worker if
    none runs; it is not called for an unknown ticket. question: the fields of the poll, as returned by the
    function `question`.
    """
    try:
        text = queue.ask(ticket, **question)
    except store.StoreUnavailable:
        return '{"away": true}'
    if text != LOST_ANSWER:  # an unknown ticket does not start a worker
        ready()
    return text


def answer(ready: Ready, ticket: str) -> Response:
    """The response to a poll; its status is 204 (no content) if there is no news."""
    text = reply_text(ready, ticket, **question())
    if text == LOST_ANSWER:
        with work(GUESS_PRICE):
            pass  # an unknown ticket is charged as a guess
    return Response(text, 200 if text else 204, content_type="application/json")


def close(ticket: str) -> tuple[str, int]:
    """End the training job of a page that its reader leaves. Returns an empty response with status 204."""
    with suppress(store.StoreUnavailable):
        queue.close(ticket)
    return "", 204


def question() -> dict[str, Any]:
    """Parse the body of a poll, and return its three fields. Raises WrongValue if it is invalid.

    seen  the last training step of which the page has news
    stop  whether to end the training and keep its result
    look  the choices for which the page wants pictures; None for those of the poll before
    """
    request.max_content_length = MAX_REQUEST_BYTES
    try:
        asked = request.get_json()
    except (BadRequest, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise WrongValue("body", "this is not a poll of a page", {"seen": "a step"})
    seen, stop, look = asked.get("seen", NOTHING), asked.get("stop", False), asked.get("look")
    if type(seen) is not int or not NOTHING <= seen <= MAX_STEP or not isinstance(stop, bool):
        raise WrongValue("seen", "seen is not a step, or stop is not true or false", {"seen": "a step"})
    texts = look.values() if isinstance(look, dict) else [None]
    if look is not None and not all(isinstance(text, str) for text in texts):
        raise WrongValue("look", "look is not a dict of texts", {"look": {"seed": "0"}})
    return {"seen": seen, "stop": stop, "look": look}
