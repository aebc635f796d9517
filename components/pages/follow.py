"""The routes with which a page orders a training job, polls the server for news of it, and ends it.

Each poll says which news the page has already, and which pictures it wants. So the page can safely repeat a
poll that was lost, or whose response was lost. Dash has background callbacks for such tasks, but they give up
at the first lost response, and do not poll less often when nothing happens.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from flask import Flask, Response, after_this_request, request
from werkzeug.exceptions import BadRequest

from components.language.scene import WrongValue
from components.training import jobs, queue, store
from components.training.queue import LOST_ANSWER, NOTHING
from components.web.budget import GUESS_PRICE, TRAINING_PRICE, Busy, client, work
from components.web.routes import Access, route

MAX_POLL_BYTES = 10_000  # for the bodies of other requests, the limits of components/web/security.py apply
MAX_STEP = 10**9
QUEUE_RETRY_SECONDS = 60  # until a retry when the queue is full
BROWSER_COOKIE = "normscape"
WRONG = "Training has not started: see the messages at the fields."
Ready = Callable[[], None]  # starts a worker if none runs


def add_routes(server: Flask, ready: Ready) -> None:
    path = "/training/<string(length=32):ticket>"
    route(server, "/training", "training_order", partial(ordered, ready), Access.PRIVATE, ["POST"])
    route(server, path, "training", partial(polled, ready), Access.PRIVATE, ["POST"])
    route(server, f"{path}/close", "training_close", close, Access.PRIVATE, ["POST"])


def ordered(ready: Ready) -> dict[str, Any]:
    """Queue the training that a page orders, and return the data of the response.

    This is {"ticket": ticket}. If numbers in the order are invalid, nothing is queued, and the data has two
    other keys: "wrong" with a message for each such number, by the number's name, and "refused" with one
    message for all. ready: a function that starts a worker if none runs. Raises Busy, StoreUnavailable, and
    the errors of `json_body` and `jobs.order`.
    """
    asked = json_body()
    if wrong := jobs.problems(asked):
        return {"wrong": wrong, "refused": WRONG}
    try:
        with work(TRAINING_PRICE):
            ticket = queue.join(vars(jobs.order(asked)), owner=_owner(), address=client(request))
    except queue.Refused as full:
        raise Busy(503, str(full), QUEUE_RETRY_SECONDS) from None
    ready()
    return {"ticket": ticket}


def _owner() -> str:
    """The identifier of the reader's browser: 128 random bits as hexadecimal digits, kept in a cookie.

    If the request has no valid cookie, an identifier is made, and the response sets the cookie.
    """
    sent = request.cookies.get(BROWSER_COOKIE, "")
    if re.fullmatch("[0-9a-f]{32}", sent):
        return sent
    path, new = f"{request.script_root}/", secrets.token_hex(16)

    @after_this_request
    def with_cookie(response: Response) -> Response:
        response.set_cookie(
            BROWSER_COOKIE, new, path=path, secure=request.is_secure, httponly=True, samesite="Strict"
        )
        return response

    return new


def reply_text(ready: Ready, ticket: str, **poll: Any) -> str:
    """The text of the response to a poll, as JSON. It is "" if there is no news.

    It is `{"away": true}` if the store of jobs does not answer. ready: a function that starts a worker if
    none runs; it is not called for an unknown ticket. poll: the fields of the poll, as returned by
    `poll_fields`.
    """
    try:
        text = queue.ask(ticket, **poll)
    except store.StoreUnavailable:
        return '{"away": true}'
    if text != LOST_ANSWER:  # an unknown ticket does not start a worker
        ready()
    return text


def polled(ready: Ready, ticket: str) -> Response:
    """The response to a poll: news of a training, or 204 (no content). A poll may also stop the training.

    ready: a function that starts a worker if none runs. A poll with an unknown ticket takes time from
    the client's budget. Raises Busy, and the errors of `poll_fields`.
    """
    text = reply_text(ready, ticket, **poll_fields())
    if text == LOST_ANSWER:
        with work(GUESS_PRICE):
            pass  # an unknown ticket is charged as a guess
    return Response(text, 200 if text else 204, content_type="application/json")


def close(ticket: str) -> tuple[str, int]:
    """End the training job of a page that a reader closes. Returns an empty response with status 204.

    If the store does not answer, the job ends later, because its page no longer polls.
    """
    with suppress(store.StoreUnavailable):
        queue.close(ticket)
    return "", 204


def poll_fields() -> dict[str, Any]:
    """Parse the body of a poll, and return its three fields. Raises the errors of `json_body`.

    A missing field gets a default: NOTHING (no news so far), False or {}. Raises WrongValue if a field is
    invalid.

    seen  the last training step of which the page has news
    stop  whether to end the training and keep its result
    look  the choices for which the page wants pictures
    """
    request.max_content_length = MAX_POLL_BYTES
    asked = json_body()
    seen, stop, look = asked.get("seen", NOTHING), asked.get("stop", False), asked.get("look", {})
    if type(seen) is not int or not NOTHING <= seen <= MAX_STEP or not isinstance(stop, bool):
        raise WrongValue("seen", "seen is not a step, or stop is not true or false", {"seen": "a step"})
    if not (isinstance(look, dict) and all(isinstance(text, str) for text in look.values())):
        raise WrongValue("look", "look is not a dict of texts", {"look": {"seed": "0"}})
    return {"seen": seen, "stop": stop, "look": look}


def json_body() -> dict[str, Any]:
    """The body of a POST request, which must be a JSON object.

    Raises WrongValue if it is not, UnsupportedMediaType if the request does not say that it is JSON, and
    RequestEntityTooLarge if it is longer than the request's `max_content_length`.
    """
    try:
        body = request.get_json()
    except (BadRequest, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise WrongValue("body", "this is not what a page sends", "a JSON object")
    return body
