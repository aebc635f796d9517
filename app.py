"""Normscape: the command line, and the application put together. It decides nothing.

python app.py [--host HOST] [--port PORT]   serves the explorer
python app.py list                          names the scenes
"""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from dash import Dash

from components import page, server
from components.scene import scenes


def create_app() -> Dash:
    """The Dash application with its pages and routes; `create_app().server` is the WSGI application."""
    app = page.Explorer(__name__, assets_ignore=".*", compress=True, title="Normscape", update_title=None)  # type: ignore[arg-type]
    server.add_routes(app.server)
    page.add_pages(app)
    return app


def serve(host: str, port: int) -> None:
    from werkzeug.serving import make_server

    try:
        running = make_server(host, port, create_app().server, threaded=True)
    except (OSError, SystemExit) as error:
        sys.exit(f"normscape: cannot serve on {host}:{port}: {error}")
    print(f"Normscape is on http://{host}:{port}  (Ctrl+C stops it)", flush=True)
    try:
        running.serve_forever()
    except KeyboardInterrupt:
        print()


class Parser(argparse.ArgumentParser):
    """A bad argument is one line; the usage is for --help."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def port(text: str) -> int:
    if not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port, 0 to 65535")
    return int(text)


def main(arguments: list[str] | None = None) -> None:
    parser = Parser(prog="app.py", description="See what normalisation does to space.")
    parser.add_argument("command", nargs="?", choices=["serve", "list"], default="serve")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=port, default=8050)
    asked = parser.parse_args(arguments)
    if asked.command == "list":
        for scene in scenes().values():
            print(f"{scene.slug:12} {scene.title}")
    else:
        serve(asked.host, asked.port)


if __name__ == "__main__":
    main()
