"""The frame of every page: the HTML document, the header with its navigation, light and dark."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, html
from flask import request

from components.scene import scenes
from components.server import bundle

STYLES = ("style.css",)
ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    "<circle cx='16' cy='16' r='11' fill='none' stroke='%237a53c8' stroke-width='3'/>"
    "<path d='M3 22L29 10' stroke='%230f8a7e' stroke-width='3'/>"
    "<circle cx='25' cy='9' r='4' fill='%232c63d6'/></svg>"
)

# What Dash would load and no page uses. The polyfill is for browsers without modules, and for all others it
# slows parseInt, which Plotly's WebGL calls some thousand times a frame.
UNUSED = re.compile(r'<script src="[^"]*/(?:deps/polyfill@|dash_table/)[^"]*"></script>')


class Explorer(Dash):
    """Dash, with a document of our own: the theme before the first paint, the player as a module."""

    def interpolate_index(self, **parts: str) -> str:  # type: ignore[override]
        prefix = self.config.requests_pathname_prefix
        scene = scenes().get(request.path.removeprefix(prefix).strip("/"))
        title, lead = (f"{scene.title} · Normscape", scene.lead) if scene else ("Normscape", LEAD)
        early = f'<link rel="preload" as="script" href="{prefix}lib/{bundle()[0]}">' if scene else ""
        styles = "".join(f'<link rel="stylesheet" href="{self.get_asset_url(name)}">' for name in STYLES)
        return f"""<!DOCTYPE html>
<html lang="en" data-mantine-color-scheme="light">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><meta name="description" content="{escape(lead)}">
<link rel="icon" href="data:image/svg+xml,{ICON.replace("<", "%3C").replace(">", "%3E").replace('"', "%22")}">
<script src="{self.get_asset_url("theme.js")}"></script>
<link rel="stylesheet" href="{prefix}theme.css">{parts["css"]}{styles}{early}
</head>
<body>
{parts["app_entry"]}
<noscript>Normscape moves points in the browser, and needs JavaScript for it.</noscript>
<footer>{parts["config"]}{UNUSED.sub("", parts["scripts"])}{parts["renderer"]}
<script type="module" src="{self.get_asset_url("player.mjs")}"></script></footer>
</body>
</html>"""


LEAD = (
    "Normalisation is usually shown as statistics. Here it is geometry: points fall onto a plane, fly out to"
    " a sphere, stretch into an ellipsoid. Take any scene and move it with your hand; each state has a link."
)


def attributes(**named: str) -> dict[str, Any]:
    """aria_label="…" as {"aria-label": "…"}: no word of Python."""
    return {name.replace("_", "-"): value for name, value in named.items()}


def frame(content: object) -> dmc.MantineProvider:
    """A page's content under the header."""
    menu = dmc.Menu(
        [
            dmc.MenuTarget(dmc.Button("Scenes", variant="subtle", size="compact-md", color="gray")),
            dmc.MenuDropdown(
                [dmc.MenuItem(scene.title, href=f"/{scene.slug}") for scene in scenes().values()]
            ),
        ],
        trigger="click",
        position="bottom-end",
    )
    header = html.Header(
        [
            dmc.Anchor("Normscape", href="/", className="brand", underline="never"),
            html.Nav([menu], **attributes(aria_label="Scenes")),
            html.Button(
                "", id="theme", className="theme", type="button", title="Light, dark, or as the system has it"
            ),
        ],
        className="top",
    )
    return dmc.MantineProvider([header, content], theme={"primaryColor": "indigo"})
