"""Register HTTP routes, each with the `RouteFacts` that caches and rate limits need."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Flask, current_app, request
from flask.sansio.app import App

# A key of a run or recording, or the ticket of a training: masked in logs, and its responses are not cached.
SECRET = re.compile("[0-9a-f]{16,}")
View = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class RouteFacts:
    """Facts about a route, for caches and rate limits.

    cacheable     the response is the same for all clients with the same request and cookies: a shared cache
                  may keep it for some seconds, unless it says `no-store` or the address contains a key
    cross_origin  pages of any origin may read it, without credentials, as figures in sandboxed frames do
    costly        its computation is charged to the client's budget
    """

    cacheable: bool
    cross_origin: bool
    costly: bool


UNROUTED = RouteFacts(cacheable=False, cross_origin=False, costly=False)


class UndeclaredRoute(RuntimeError):
    """Raised for a route that was registered without `RouteFacts`."""


def route(
    server: Flask | Blueprint, rule: str, endpoint: str, view: View, facts: RouteFacts, methods=("GET",)
) -> None:
    """Register a route with its facts."""
    server.add_url_rule(rule, endpoint, view, methods=methods)
    if isinstance(server, Flask):
        declare(server, endpoint, facts)
    else:
        server.record(lambda state: declare(state.app, f"{state.name}.{endpoint}", facts))


def declare(server: App, endpoint: str, facts: RouteFacts) -> None:
    """Declare the facts of a route that other code, such as Dash, has registered."""
    server.extensions.setdefault("route_facts", {})[endpoint] = facts


def check(server: Flask) -> None:
    """Raises UndeclaredRoute if a route of a server has no facts."""
    for rule in server.url_map.iter_rules():
        if rule.endpoint not in server.extensions.get("route_facts", {}):
            raise UndeclaredRoute(f"{rule.rule}: register it by components.web.routes.route, with its facts")


def current_facts() -> RouteFacts:
    """The facts of the current request's route; UNROUTED if no route matches."""
    facts: dict[str, RouteFacts] = current_app.extensions["route_facts"]
    return facts.get(request.endpoint or "", UNROUTED)
