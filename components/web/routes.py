"""Register HTTP routes: each declares by `Access` whether caches and other sites may use its responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from flask import Blueprint, Flask, Response, jsonify, request

# A key of a run or recording, or the ticket of a training. It is masked in logs, and shared caches do not
# keep the response to an address that contains it.
SECRET = re.compile("[0-9a-f]{16,}")


class Access(Enum):
    """The clients that may receive the responses of a route.

    PRIVATE  only the client that has sent the request
    SHARED   all clients that send the same request and cookies: a shared cache may keep a response for some
             seconds, unless the response says `no-store` or the address contains a key
    OPEN     as SHARED; in addition, scripts of pages of any origin may read the response, if they request it
             without credentials. Figures in sandboxed frames need this
    """

    PRIVATE, SHARED, OPEN = range(3)


@dataclass(frozen=True)
class DeclaredView:
    """The view function of a route, together with the `Access` that was declared for its responses."""

    function: Callable[..., Any]
    access: Access

    def __call__(self, **arguments: Any) -> Any:
        return self.function(**arguments)


def route(
    server: Flask | Blueprint,
    rule: str,
    endpoint: str,
    function: Callable[..., Any],
    access: Access,
    methods=("GET",),
) -> None:
    server.add_url_rule(rule, endpoint, DeclaredView(function, access), methods=methods)


def check(server: Flask) -> None:
    """Raise RuntimeError if a route of a server has no `Access`."""
    for rule in server.url_map.iter_rules():
        if not isinstance(server.view_functions[rule.endpoint], DeclaredView):
            raise RuntimeError(f"{rule.rule}: register it by components.web.routes.route")


def failure(status: int, words: str, data: Mapping[str, Any]) -> Response:
    """An error response: `words` as plain text for a browser that asks for a page, else `data` as JSON."""
    page = request.accept_mimetypes.best_match(["application/json", "text/html"]) == "text/html"
    answer = Response(words, mimetype="text/plain") if page else jsonify(data)
    answer.status_code = status
    return answer
