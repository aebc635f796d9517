"""The frame of every page: the HTML document, the header with its navigation, light and dark."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, html
from flask import request

from components.language.link import key
from components.language.scene import Scene, scenes
from components.publish.embed import discovery
from components.publish.plain import ICON, LEAD, ahead
from components.web.server import bundle

STYLES = ("page/style.css",)
EARLY = ("page/theme.js", "page/watch.js")
MODULES = ("page/attend.mjs", "player/training.mjs")

# What Dash tells each page of its server, for its own developers.
INTERNAL = ("python_version", "plotly_version", "ddk_version", "dash_version_url", "plotly_cloud_installed")

# What Dash would load and no page uses. The polyfill is for browsers without modules, and for all others it
# slows parseInt, which Plotly's WebGL calls some thousand times a frame.
UNUSED = re.compile(r'<script src="[^"]*/(?:deps/polyfill@|dash_table/)[^"]*"></script>')


class Explorer(Dash):
    """Dash, with a document of our own: the theme before the first paint, the player as a module."""

    def _config(self) -> dict[str, Any]:
        return {name: value for name, value in super()._config().items() if name not in INTERNAL}

    def interpolate_index(self, **parts: str) -> str:  # type: ignore[override]
        prefix = self.config.requests_pathname_prefix
        scene = scenes().get(request.path.strip("/"))
        title, lead = (f"{scene.title} · Normscape", scene.lead) if scene else ("Normscape", LEAD)
        early = "".join(f'<script src="{self.get_asset_url(name)}"></script>' for name in EARLY)
        plotly = f'<link rel="preload" as="script" href="{prefix}lib/{bundle()[0]}">' if scene else ""
        first = recipe_ahead(scene, prefix) if scene else ""
        found = discovery(scene) if scene else ""
        styles = "".join(f'<link rel="stylesheet" href="{self.get_asset_url(name)}">' for name in STYLES)
        modules = (f'<script type="module" src="{self.get_asset_url(name)}"></script>' for name in MODULES)
        players = "".join(modules)
        return f"""<!DOCTYPE html>
<html lang="en" data-mantine-color-scheme="light">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><meta name="description" content="{escape(lead)}">
<link rel="icon" href="data:image/svg+xml,{ICON}">
{early}
<link rel="stylesheet" href="{prefix}theme.css">{parts["css"]}{styles}{first}{plotly}{found}
</head>
<body>
{parts["app_entry"]}
<noscript>Normscape moves points in the browser, and needs JavaScript for it.</noscript>
<footer>{parts["config"]}{UNUSED.sub("", parts["scripts"])}{parts["renderer"]}
{players}</footer>
</body>
</html>"""


def recipe_ahead(scene: Scene, prefix: str) -> str:
    """The recipe of this request's link, and the modules: asked for while the page is still read."""
    chosen = {c.name: request.args.get(c.name, c.default) for c in scene.choices}
    recipe = escape(f"{prefix}recipe/{scene.slug}?{key(scene, chosen)}")
    links = (
        f'<link rel="modulepreload" href="{prefix}{name}">' for name in ahead(MODULES[0].removesuffix(".mjs"))
    )
    return f'<link rel="preload" as="fetch" crossorigin href="{recipe}">{"".join(links)}'


def attributes(**named: str) -> dict[str, Any]:
    """aria_label="…" as {"aria-label": "…"}: no word of Python."""
    return {name.replace("_", "-"): value for name, value in named.items()}


def frame(content: object, prefix: str) -> dmc.MantineProvider:
    """A page's content under the header."""
    menu = dmc.Menu(
        [
            # Mantine puts the menu's state on a wrapper of what it is given: so the wrapper is the button.
            dmc.MenuTarget("Scenes", boxWrapperProps={"component": "button", "className": "theme"}),
            dmc.MenuDropdown(
                [dmc.MenuItem(scene.title, href=f"{prefix}{scene.slug}") for scene in scenes().values()]
            ),
        ],
        trigger="click",
        position="bottom-end",
    )
    header = html.Header(
        [
            dmc.Anchor("Normscape", href=prefix, className="brand", underline="never"),
            html.Nav([menu], **attributes(aria_label="Scenes")),
            html.Button(
                "", id="theme", className="theme", type="button", title="Light, dark, or as the system has it"
            ),
        ],
        className="top",
    )
    return dmc.MantineProvider(
        [header, content], theme={"primaryColor": "indigo", "primaryShade": {"light": 7, "dark": 8}}
    )
