"""Run nginx with our nginx.conf on this machine, as compose.yaml does; for tests and benchmarks."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.ports import free

CONFIGURATION = Path(__file__).parents[1] / "nginx.conf"
PROGRAM = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin")
LISTEN, WEB, RESOLVER = "listen 8050", "web:8050", "127.0.0.11 "
START_SECONDS = 180


@contextmanager
def nginx(folder: Path, web: str, resolver: str = "") -> Iterator[tuple[int, subprocess.Popen, Path]]:
    """Run nginx until the block ends; yields its port, process and log file.

    folder: where nginx keeps its files. web: host:port of the web servers that get the requests from nginx.
    resolver: the address of the name server that resolves the host in `web`; "" keeps that of nginx.conf.
    """
    port, text = free(), CONFIGURATION.read_text()
    text = text.replace(LISTEN, f"listen 127.0.0.1:{port}").replace(WEB, web)
    text = text.replace(RESOLVER, f"{resolver} ") if resolver else text
    with configured(folder, text, port) as (process, log):
        yield port, process, log


@contextmanager
def configured(folder: Path, text: str, port: int) -> Iterator[tuple[subprocess.Popen, Path]]:
    """Run nginx with the configuration `text`, which listens on `port`, until the block ends.

    Yields nginx's process and log file. folder: where nginx keeps its files.
    """
    (folder / "nginx.conf").write_text(text)
    command = [PROGRAM or "nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    command += ["-g", f"user {getpass.getuser()};"]  # as root, workers would run as nobody and lack access
    log = folder / "nginx.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _listens(port):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield process, log
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
