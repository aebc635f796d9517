"""Facts of the HTTP routes, declared where a route is registered: a route without them is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Flask, current_app, request
from flask.sansio.app import App

# A key of a run or recording, or a training's ticket: no log shows it, and no cache keeps what it leads to.
SECRET = re.compile("[0-9a-f]{16,}")


@dataclass(frozen=True, kw_only=True)
class RouteFacts:
    """What caches and guards must know of a route.

    cacheable: its answer is the same for all who ask the same with the same cookies; a cache may give it to
    them for some seconds, unless it says `no-store` or the address has a secret;
    cross_origin: pages of any origin may read it, without credentials, as figures in sandboxed frames do;
    costly: it computes within its client's budget.
    """

    cacheable: bool
    cross_origin: bool
    costly: bool


UNROUTED = RouteFacts(cacheable=False, cross_origin=False, costly=False)


class UndeclaredRoute(RuntimeError):
    """A route without facts."""


def route(
    server: Flask | Blueprint,
    rule: str,
    endpoint: str,
    view: Callable[..., Any],
    facts: RouteFacts,
    methods: Sequence[str] = ("GET",),
) -> None:
    """Register a route with its facts."""
    server.add_url_rule(rule, endpoint, view, methods=methods)
    if isinstance(server, Flask):
        declare(server, endpoint, facts)
    else:
        server.record(lambda state: declare(state.app, f"{state.name}.{endpoint}", facts))


def declare(server: App, endpoint: str, facts: RouteFacts) -> None:
    """Declare the facts of a route that is registered elsewhere, by Dash for example."""
    server.extensions.setdefault("route_facts", {})[endpoint] = facts


def check(server: Flask) -> None:
    """Raises UndeclaredRoute if a route of a server has no facts."""
    for rule in server.url_map.iter_rules():
        if rule.endpoint not in server.extensions.get("route_facts", {}):
            raise UndeclaredRoute(f"{rule.rule}: register it by components.web.routes.route, with its facts")


def current_facts() -> RouteFacts:
    """The facts of the route of this request; UNROUTED where no route takes it."""
    facts: dict[str, RouteFacts] = current_app.extensions["route_facts"]
    return facts.get(request.endpoint or "", UNROUTED)
