"""The command `normscape`, and the Dash application of the explorer."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

# NumPy reads this at import. BLAS threads would take CPU time from other requests that is charged to no
# client.
os.environ.update({"OPENBLAS_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1"})

from components import settings
from components.language.scene import scenes
from components.publish import commands
from components.publish.subcommand import command
from normscape import __version__

if TYPE_CHECKING:
    from dash import Dash
    from flask import Flask


EXAMPLES = """examples:
  normscape                                       serve the explorer on http://127.0.0.1:8050
  normscape list                                  print the names of the scenes
  normscape export spiral --out spiral.html       one page that needs no server
  normscape record gpt2 --text book.txt --out gpt2.safetensors
  normscape model gpt2.safetensors                show what the norms of that model do
“normscape COMMAND --help” explains the options of a command."""


def create_app() -> Dash:
    """The Dash application with its pages and routes; `create_app().server` is the WSGI application."""
    from components.pages import explorer, modules, recordings, run_files
    from components.publish import embed
    from components.web import budget, security, server

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
    budget.add_budget(app.server, setting)
    app.server.config["LINKS"] = setting.links
    server.add_routes(app.server)
    modules.add_routes(app.server)
    embed.add_routes(app.server)
    run_files.add_routes(app.server)
    recordings.add_routes(app.server)
    app.add_pages()
    security.secure(app.server, setting)
    app.server.before_request(server.redirect_old_link)
    security.stand_behind(app.server, setting)
    return app


def wsgi() -> Flask:
    """The WSGI application, which has already answered one request.

    Dash completes its setup at the first request, and this setup is not thread-safe. Exits with a one-line
    message if a setting is wrong.
    """
    try:
        server = create_app().server
    except settings.WrongSetting as error:
        sys.exit(f"normscape: {error}")
    host, *_ = (*settings.read(os.environ).hosts, "localhost")
    server.test_client().get("/", base_url=f"http://{host.removeprefix('.')}")
    return server


def serve(host: str | None, port: int | None, path: Callable[[], str] = lambda: "") -> None:
    """Serve the explorer until Ctrl+C or SIGTERM. Exits with a one-line message if that is impossible.

    host, port: where to listen; None for those of the setting BIND. path: a function that returns the path in
    the printed address. It is called only once the server listens, because this function may store something.
    """
    try:
        log_level = settings.read(os.environ).log_level
        settings.check_storage(os.environ)
        default_host, default_port = settings.bind(os.environ)
        host, port = host or default_host, default_port if port is None else port
        from components.training import runs
        from components.web import serve, stills
        from components.web.server import full_bundle_notice

        serve.log_errors(log_level)
        application = wsgi()
        stills.draw_cards()
        sockets = serve.listen(application, host, port)
    except settings.WrongSetting as error:
        sys.exit(f"normscape: {error}")
    except (OSError, ValueError) as error:
        sys.exit(f"normscape: cannot serve on {host}:{port}: {reason(error, host, port)}")
    except KeyboardInterrupt:
        return
    shown = f"[{host}]" if ":" in host else host  # an IPv6 address in a URL
    print(f"Normscape is on http://{shown}:{port}/{path()}  (Ctrl+C stops it)", flush=True)
    if notice := full_bundle_notice():
        print(f"normscape: {notice}", file=sys.stderr)
    threading.Thread(target=runs.expire, args=[threading.Event()], daemon=True).start()
    serve.run(sockets)


def reason(error: OSError | ValueError, host: str | None, port: int | None) -> str:
    """The reason why the server cannot listen on a host and port, in words."""
    if not isinstance(error, OSError):  # Waitress finds no address of the host
        return f"there is no host {host}; name an address of this machine, such as --host 127.0.0.1"
    if error.errno == errno.EADDRINUSE:
        return f"the port is in use; choose another one, such as --port {(port or 0) + 1}"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"this machine does not have the address {host}"
    return error.strerror or str(error)


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a wrong argument in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        line = " ".join(message.splitlines())  # a quoted argument may contain line breaks
        self.exit(2, f"{self.prog}: {line}\n")


def port(text: str) -> int:
    """Parse a port number. Raises ArgumentTypeError if out of range, ValueError if it is no integer."""
    if not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port, 0 to 65535")
    return int(text)


def main(arguments: list[str] | None = None) -> None:
    """Run the command `normscape` with these arguments; by default, those of the process."""
    parser = Parser(
        description="See what normalisation does to space. Without a command, serve the explorer.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"normscape {__version__}")
    add_address(parser, None, None)
    parser.set_defaults(run=lambda asked: serve(asked.host, asked.port))
    several = parser.add_subparsers(metavar="command")
    one = command(several, "serve", "serve the explorer", "normscape serve --port 8080")
    variables = (settings.__doc__ or "").rpartition("\n\n")[2]
    one.epilog = f"{one.epilog}\n\nsettings (environment variables; docs/deployment.md):\n{variables}"
    add_address(one)
    one = command(several, "list", "print the names of the scenes", "normscape list")
    one.set_defaults(run=lambda _: print_scenes())
    commands.add(several, serve)
    add_address(several.choices["model"])
    try:
        asked = parser.parse_args(arguments)
        asked.run(asked)
        sys.stdout.flush()
    except BrokenPipeError:  # stdout is a pipe to a program that has ended, such as `head`
        sys.exit(128 + signal.SIGPIPE)
    except commands.FAILURES as wrong:
        parser.error(message(wrong))
    except KeyboardInterrupt as stop:
        line_end = "\n" if sys.stderr.isatty() else ""  # the terminal shows ^C
        parser.exit(128 + signal.SIGINT, f"{line_end}{parser.prog}: {str(stop) or 'stopped'}\n")
    finally:
        _discard_unwritable_output()


def _discard_unwritable_output() -> None:
    """Discard the rest of stdout if it cannot be written.

    Otherwise Python would report the error when the process exits.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def message(wrong: Exception) -> str:
    """The error message of a failed command, as one line, from the exception `wrong` that it has raised."""
    if isinstance(wrong, OSError) and wrong.filename:  # its text would begin with an error number
        folder = Path(wrong.filename).absolute().parent
        missing = isinstance(wrong, FileNotFoundError) and not folder.is_dir()
        return f"{wrong.filename}: {f'there is no folder {folder}' if missing else wrong.strerror}"
    return (isinstance(wrong, OSError) and wrong.strerror) or str(wrong)


def add_address(
    parser: argparse.ArgumentParser, host: Any = argparse.SUPPRESS, at: Any = argparse.SUPPRESS
) -> None:
    """Add the options --host and --port to a parser; `host` and `at` are their defaults."""
    words = "the address to listen on, such as 0.0.0.0 for all (default: that of BIND, else 127.0.0.1)"
    parser.add_argument("--host", default=host, help=words)
    words = "the port to listen on (default: that of BIND, else 8050)"
    parser.add_argument("--port", type=port, default=at, help=words)


def print_scenes() -> None:
    """Print the names and titles of the scenes."""
    for scene in scenes().values():
        print(f"{scene.slug:12} {scene.title}")
