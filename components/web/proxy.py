"""Behind a proxy: at a path that is not the root, and with the addresses that the proxy has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask
from werkzeug.http import parse_list_header
from werkzeug.middleware.proxy_fix import ProxyFix

from components.language.scene import scenes
from components.settings import Settings, WrongSetting

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]


def stand_behind(server: Flask, setting: Settings) -> None:
    """Let an application stand at its prefix, and believe as many proxies as the settings say."""
    inner: Any = server.wsgi_app
    first, *_ = setting.prefix[1:].split("/")
    own = {*scenes(), *(str(rule).split("/")[1] for rule in server.url_map.iter_rules())}
    if first and first in own:
        raise WrongSetting(f"NORMSCAPE_PREFIX={setting.prefix} is a path of the explorer's own")
    if setting.prefix != "/":
        inner = mounted(inner, setting.prefix.rstrip("/"))
    if setting.proxies:
        inner = ProxyFix(inner, *[setting.proxies] * 3)
    server.wsgi_app = inner  # type: ignore[method-assign]


def mounted(inner: Wsgi, mount: str) -> Wsgi:
    """An application at a path, whether the proxy strips that path or not; it answers at the root too."""

    def outer(environment: dict[str, Any], start: Any) -> Iterable[bytes]:
        path = environment.get("PATH_INFO", "")
        if path == mount or path.startswith(f"{mount}/"):
            path = path.removeprefix(mount) or "/"
        return inner(environment | {"SCRIPT_NAME": mount, "PATH_INFO": path}, start)

    return outer


def believed(peer: str, forwarded: str, proxies: int) -> str:
    """Who asks, as ProxyFix has it, by a connection's other end and X-Forwarded-For."""
    known = parse_list_header(forwarded) if proxies else []
    return known[-proxies] if 0 < proxies <= len(known) else peer
