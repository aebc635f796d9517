"""The command `normscape`, and the assembled Dash application.

normscape [serve] [--host HOST] [--port PORT]   serves the explorer
normscape list                          names the scenes
normscape export SLUG --out FILE        writes a scene as a page, a picture or a film
normscape site DIR                      writes the whole explorer as static files
normscape story DIR                     writes the story alone, for anyone's site
normscape record MODEL --text FILE --out FILE.safetensors    samples what the norms of a model see
normscape model FILE.safetensors        serves the explorer, and names the page that shows it
normscape report FILE.safetensors       tells what they do: a table, --json, --csv
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from components.web.memory import one_blas_thread

one_blas_thread()  # before NumPy is there

from components import settings  # noqa: E402
from components.language.scene import scenes  # noqa: E402
from components.publish import commands  # noqa: E402

if TYPE_CHECKING:
    from dash import Dash
    from flask import Flask


def create_app() -> Dash:
    """The Dash application with its pages and routes; `create_app().server` is the WSGI application."""
    from components.pages import explorer, modules, recordings, run_files
    from components.publish import embed
    from components.web import budget, proxy, security, server

    setting = settings.read(os.environ)
    app = explorer.Explorer(
        __name__,
        assets_folder=str(modules.ASSETS),
        assets_ignore=".*",
        compress=True,
        title="Normscape",
        update_title=None,  # type: ignore[arg-type]
        requests_pathname_prefix=setting.prefix,
        routes_pathname_prefix="/",
    )
    app.server.secret_key = setting.secret_key
    budget.guard(app.server, proxies=setting.proxies)
    server.add_routes(app.server)
    modules.add_routes(app.server)
    embed.add_routes(app.server)
    run_files.add_routes(app.server)
    recordings.add_routes(app.server)
    app.add_pages()
    security.secure(app, setting)
    proxy.stand_behind(app.server, setting)
    return app


def wsgi() -> Flask:
    """The WSGI application. Dash completes itself with its first request, badly with several at once."""
    try:
        server = create_app().server
    except settings.WrongSetting as error:
        sys.exit(f"normscape: {error}")
    server.test_client().get("/", base_url=f"http://{(*settings.read(os.environ).hosts, 'localhost')[0]}")
    return server


def serve(host: str | None, port: int | None, path: str = "") -> None:
    """Serve the explorer until Ctrl+C or SIGTERM. host, port: where, if not as BIND says."""
    try:
        settings.read(os.environ)
        settings.reach(os.environ)
        default_host, default_port = settings.bind(os.environ)
        host, port = host or default_host, default_port if port is None else port
        from components.web import serve
        from components.web.server import full_bundle_notice

        serve.log_errors(os.environ.get("LOG_LEVEL", ""))
        application = wsgi()
        serve.draw_gallery()
        sockets = serve.listen(application, host, port)
    except settings.WrongSetting as error:
        sys.exit(f"normscape: {error}")
    except (OSError, ValueError) as error:
        sys.exit(f"normscape: cannot serve on {host}:{port}: {error}")
    except KeyboardInterrupt:
        return
    print(f"Normscape is on http://{host}:{port}/{path}  (Ctrl+C stops it)", flush=True)
    if notice := full_bundle_notice():
        print(f"normscape: {notice}", file=sys.stderr)
    serve.run(sockets)


class Parser(argparse.ArgumentParser):
    """A bad argument is one line; the usage is for --help."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def port(text: str) -> int:
    if not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port, 0 to 65535")
    return int(text)


def main(arguments: list[str] | None = None) -> None:
    parser = Parser(description="See what normalisation does to space.")
    address(parser, None, None)
    parser.set_defaults(run=lambda asked: serve(asked.host, asked.port))
    several = parser.add_subparsers(metavar="command")
    address(several.add_parser("serve", help="the explorer, as without a command"))
    several.add_parser("list", help="the names of the scenes").set_defaults(run=lambda _: names())
    commands.add(several, serve)
    address(several.choices["model"])
    asked = parser.parse_args(arguments)
    try:
        asked.run(asked)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has enough, as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except commands.WRONG as wrong:
        parser.error(str(wrong))


def address(
    parser: argparse.ArgumentParser, host: Any = argparse.SUPPRESS, at: Any = argparse.SUPPRESS
) -> None:
    parser.add_argument("--host", default=host)
    parser.add_argument("--port", type=port, default=at)


def names() -> None:
    for scene in scenes().values():
        print(f"{scene.slug:12} {scene.title}")
