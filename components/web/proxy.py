"""Operation behind a reverse proxy: below a path prefix, and with the client's address, scheme and host."""

from __future__ import annotations

from typing import Any

from flask import Flask
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix

from components.language.scene import scenes
from components.settings import Settings, WrongSetting


def stand_behind(server: Flask, setting: Settings) -> None:
    """Serve below the prefix, whether a proxy strips it or not; trust as many proxies as the settings say."""
    inner: Any = server.wsgi_app
    application = inner
    first, mount = setting.prefix.split("/")[1], setting.prefix.rstrip("/")
    own = {*scenes(), *(rule.rule.split("/")[1] for rule in server.url_map.iter_rules())}
    if first and first in own:
        raise WrongSetting(f"NORMSCAPE_PREFIX={setting.prefix} is a path of the explorer's own")
    if mount:
        stripped = lambda environment, start: application({**environment, "SCRIPT_NAME": mount}, start)  # noqa: E731
        inner = DispatcherMiddleware(stripped, {mount: application})
    if setting.proxies:
        inner = ProxyFix(inner, *[setting.proxies] * 3)
    server.wsgi_app = inner  # type: ignore[method-assign]
