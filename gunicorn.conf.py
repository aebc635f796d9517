"""`gunicorn`, in this folder, serves the explorer. Settings: components/settings.py, and those of gunicorn:

BIND       where to listen, 0.0.0.0:8050 by default
LOG_LEVEL  info by default; with debug an error comes with its whole traceback
"""

import logging
import os
import signal
import subprocess
import sys
import time
import traceback

from components.settings import WrongSetting, reach, read
from components.web.memory import one_blas_thread

DRAWING = 60  # seconds that the start waits for pictures at most

try:
    settings = read(os.environ)
    reach(os.environ)
except WrongSetting as wrong:
    sys.exit(f"normscape: {wrong}")

one_blas_thread()  # before NumPy is there
# All else takes a second to load, which whoever has set something wrong need not wait for.
from components.web import stills  # noqa: E402
from components.web.front import THREADS, Process  # noqa: E402

wsgi_app = "app:wsgi()"
bind = os.environ.get("BIND") or "0.0.0.0:8050"
loglevel = os.environ.get("LOG_LEVEL") or "info"

# Requests are short and share the recipes that a worker has built: one process of threads is the default.
worker_class = Process  # slow clients hold none of its threads
workers = settings.workers
threads = THREADS
preload_app = True  # what is wrong with the application is said once, and at the start
timeout = 30  # seconds without a sign of life from a worker
graceful_timeout = 8  # seconds for requests under way; container engines allow 10
max_requests = 0  # memory stays flat (make load): no worker needs to be replaced
control_socket_disable = True  # a file beside the cache folder that nobody needs


class OneLine(logging.Formatter):
    """A record in one line, its exception too: what happened, and the way there, innermost last."""

    def formatException(self, ei):
        if loglevel == "debug":
            return super().formatException(ei)
        way = " > ".join(f"{os.path.basename(f.filename)}:{f.lineno}" for f in traceback.extract_tb(ei[2]))
        return f"{ei[0].__name__}: {ei[1]} ({way})".replace("\n", " ")

    def format(self, record):
        text = super().format(record)
        return text if loglevel == "debug" else text.replace("\n", " ")


logconfig_dict = {
    "formatters": {
        "line": {"()": OneLine, "format": "%(asctime)s %(levelname)s %(message)s"},
        "access": {"format": "%(asctime)s %(message)s"},
    },
    "handlers": {
        "errors": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stderr"},
        "access": {"class": "logging.StreamHandler", "formatter": "access", "stream": "ext://sys.stdout"},
    },
    "root": {"level": "WARNING", "handlers": ["errors"]},
    "loggers": {
        "gunicorn.error": {"level": loglevel.upper(), "handlers": ["errors"], "propagate": False},
        "gunicorn.access": {"level": "INFO", "handlers": ["access"], "propagate": False},
    },
}


def on_starting(server):
    """A key for workers from the command line too; pictures of the gallery for whoever comes first."""
    if server.cfg.workers > 1:
        try:
            read(os.environ | {"WEB_CONCURRENCY": str(server.cfg.workers)})
        except WrongSetting as wrong:
            sys.exit(f"normscape: {wrong}")
    if stills.missing():
        # A handler that raises could leave a lock of subprocess shut: it is queued, for us or for gunicorn.
        signal.signal(signal.SIGTERM, server.signal)
        drawing = subprocess.Popen([sys.executable, "-m", "components.web.stills"])
        try:
            end = time.monotonic() + DRAWING  # what is not drawn then is drawn when it is asked for
            while drawing.poll() is None and server.SIG_QUEUE.empty() and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            drawing.kill()
            drawing.wait()
        if not server.SIG_QUEUE.empty():
            sys.exit()
