"""How a page follows its training: it asks `/training/<ticket>` over and over, says what it has and wants.

Whatever is lost on the way is asked, and told, once more: nothing is told only once. Dash's own way, a
background callback, gives up with the first answer that does not come, and asks as often if nothing is new.
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
from components.web.budget import GUESS_PRICE, Busy, work
from components.web.routes import RouteFacts, route

MAX_REQUEST_BYTES = 10_000  # bytes of a question
MAX_STEP = 10**9  # step
Ready = Callable[[], None]  # sees to it that a worker runs
LOST_ANSWER = '{"end": {"state": "lost"}}'  # also the answer to a ticket that nobody has


def add_routes(server: Flask, ready: Ready) -> None:
    facts = RouteFacts(cacheable=False, cross_origin=False, costly=True)
    path = "/training/<string(length=32):ticket>"
    route(server, path, "training", partial(answer, ready), facts, ["POST"])
    route(server, f"{path}/close", "training_close", close, facts, ["POST"])


def reply_text(ready: Ready, ticket: str, **question: Any) -> str:
    """The answer to a page that follows a training, as JSON; "" if nothing is new. Raises Busy."""
    try:
        text = queue.ask(ticket, **question)
    except store.StoreBusy:
        raise Busy(503, "Many ask the queue at the moment", 1) from None
    except store.StoreUnavailable:
        return '{"away": true}'
    if text != LOST_ANSWER:  # a ticket that nobody has is no reason to start a worker
        ready()
    return text


def answer(ready: Ready, ticket: str) -> Response:
    """204 if nothing is new."""
    text = reply_text(ready, ticket, **question())
    if text == LOST_ANSWER:
        with work(GUESS_PRICE):
            pass  # a ticket that nobody has costs as any guess
    return Response(text, 200 if text else 204, content_type="application/json")


def close(ticket: str) -> tuple[str, int]:
    """The page is being left."""
    with suppress(store.StoreUnavailable):
        queue.close(ticket)
    return "", 204


def question() -> dict[str, Any]:
    """What the page sends: the step that it has `seen`, whether to `stop`, and the choices to `look` at."""
    request.max_content_length = MAX_REQUEST_BYTES
    try:
        asked = request.get_json()
    except (BadRequest, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise WrongValue("body", "this is no question of a page", {"seen": "a step"})
    seen, stop, look = asked.get("seen", NOTHING), asked.get("stop", False), asked.get("look")
    if type(seen) is not int or not NOTHING <= seen <= MAX_STEP or not isinstance(stop, bool):
        raise WrongValue("seen", "seen is no step, or stop neither true nor false", {"seen": "a step"})
    texts = look.values() if isinstance(look, dict) else [None]
    if look is not None and not all(isinstance(text, str) for text in texts):
        raise WrongValue("look", "look has no texts", {"look": {"seed": "0"}})
    return {"seen": seen, "stop": stop, "look": look}
