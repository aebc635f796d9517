"""Load test with 300 simulated viewers; prints tables in Markdown.

Each viewer opens a scene and plays with it, or opens the home page. Run it with `make load`. The viewers are
coroutines of this process, each with its own connection. The server is `python app.py` on this machine, alone
and behind nginx as in compose.yaml. Since viewers and server share the CPU, the times are upper bounds. For
comparison, the same viewers use benchmarks/naive_dash.py, where each tick of a slider is a request. Each
server is measured twice without a restart: a cache takes more memory in the first round only, a memory leak
in both rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin

import psutil

from benchmarks.bench import ROOT, answers
from components.language.scene import scenes
from tools.nginx import nginx
from tools.ports import free

VIEWERS, ROUNDS = 300, 2
ARRIVING, PLAYING = 10.0, 8.0  # seconds within which all viewers arrive; seconds for which each plays
TICKS = 10  # slider events a second while dragging
PATIENCE = 60  # seconds that a viewer waits for a response
SEEDS = 5  # number of different recipes that the viewers request at the end
ENCODINGS = "gzip, deflate, br, zstd"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
LINK = re.compile(r'(?:src|href)="(/[^"]+)"')
IMPORT = re.compile(r'from "(\.{1,2}/[\w./-]+\.mjs)"')


@dataclass
class Hall:
    """The measurements of all viewers of a server.

    port       the server's port
    patience   seconds after which a viewer gives up a request
    took       seconds from each request to the end of its response, except for requests in `played`
    played     these seconds for the requests that a dragged slider sends (ticks)
    visits     seconds of each whole visit to the home page
    wrong      error messages
    wanted     number of slider ticks that a server without delay would have answered
    """

    port: int
    patience: float = PATIENCE
    took: list[float] = field(default_factory=list)
    played: list[float] = field(default_factory=list)
    visits: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    wanted: int = 0


class Viewer:
    """A simulated browser with one connection to the server, reopened when the server has closed it."""

    line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def __init__(self, hall: Hall, number: int) -> None:
        self.hall, self.number = hall, number

    async def ask(self, path: str, into: list[float], body: str = "") -> None:
        """Send a request, and append to `into` the seconds until its response has ended.

        The request is a POST if there is a `body`, else a GET. It is sent again if the server had closed the
        connection. A status other than 200 is noted in the hall's `wrong`. So is an error, such as a timeout;
        after an error nothing is appended to `into`.
        """
        start, known = time.perf_counter(), self.line is not None
        try:
            async with asyncio.timeout(self.hall.patience):
                try:
                    status = await self._asked(path, body)
                except (asyncio.IncompleteReadError, ConnectionError):
                    if not known:
                        raise
                    self.leave()  # the server closes idle connections
                    status = await self._asked(path, body)
        except (OSError, EOFError, TimeoutError, LookupError) as error:
            self.leave()
            self.hall.wrong.append(f"{path}: {error!r}")
            return
        into.append(time.perf_counter() - start)
        if status != 200:
            self.hall.wrong.append(f"{path}: {status}")

    async def _asked(self, path: str, body: str) -> int:
        """Send a request, a POST if there is a `body`, read the whole response, and return its status.

        Raises LookupError for a response without a Content-Length.
        """
        self.line = self.line or await asyncio.open_connection("127.0.0.1", self.hall.port)
        reader, writer = self.line
        head = [f"{'POST' if body else 'GET'} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.hall.port}"]
        head += [f"Accept-Encoding: {ENCODINGS}"]
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
        writer.write("\r\n".join([*head, "", body]).encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        found = LENGTH.search(answer)
        if not found:
            raise LookupError("an answer without a length")
        await reader.readexactly(int(found[1]))
        if b"connection: close" in answer.lower():
            self.leave()
        return int(answer[9:12])

    def leave(self) -> None:
        """Close the connection, if there is one."""
        if self.line:
            self.line[1].close()
        self.line = None


async def page(viewer: Viewer, path: str, files: list[str]) -> None:
    """Request a page of Normscape, then its `files` (their paths), one after another."""
    for each in (path, *files):
        await viewer.ask(each, viewer.hall.took)


async def gallery(viewer: Viewer, files: list[str], living: list[str]) -> None:
    """Open the home page with the pictures of all scenes; then load what its live figure needs.

    The measured time of the visit ends before the live figure is loaded. files: the paths of the home page's
    files. living: the paths of the files of /layernorm, the scene that the live figure shows.
    """
    hall, start = viewer.hall, time.perf_counter()
    await page(viewer, "/", files)
    for slug in scenes():
        await viewer.ask(f"/card/{slug}.svg?theme=light", hall.took)
    hall.visits.append(time.perf_counter() - start)
    await page(viewer, "/recipe/layernorm", [each for each in living if each not in files])


async def ours(viewer: Viewer, files: list[str]) -> None:
    """Open a scene, play with it for PLAYING seconds, then choose another seed. Playing sends no request.

    files: the paths of the files of the scene's page.
    """
    hall = viewer.hall
    await page(viewer, "/layernorm", files)
    await viewer.ask("/recipe/layernorm", hall.took)
    await asyncio.sleep(PLAYING)
    await viewer.ask(f"/recipe/layernorm?seed={viewer.number % SEEDS}", hall.took)


async def naive(viewer: Viewer, files: list[str]) -> None:
    """Open the Dash page, then drag its slider for PLAYING seconds.

    While it drags, it sends a request at most TICKS times a second, each after the response to the previous
    one. files: the paths of the files of the page.
    """
    hall = viewer.hall
    for path in ("/", *files, "/_dash-layout", "/_dash-dependencies"):
        await viewer.ask(path, hall.took)
    start = time.perf_counter()
    hall.wanted += int(TICKS * PLAYING)
    while (passed := time.perf_counter() - start) < PLAYING:
        gamma = {"id": "gamma", "property": "value", "value": round(passed % 4 - 2, 2)}
        await viewer.ask("/_dash-update-component", hall.played, asked("figure", "figure", gamma))
        await asyncio.sleep(max(0.0, 1 / TICKS - (time.perf_counter() - start - passed)))


def asked(out: str, prop: str, given: dict) -> str:
    """The body of the request that makes Dash call a callback, as JSON.

    out: the id of the element that the callback changes. prop: the property of this element that the callback
    sets. given: the callback's input, as {"id", "property", "value"}.
    """
    return json.dumps(
        {
            "output": f"{out}.{prop}",
            "outputs": {"id": out, "property": prop},
            "inputs": [given],
            "changedPropIds": [f"{given['id']}.{given['property']}"],
        }
    )


def files_of(port: int, path: str) -> list[str]:
    """The paths of the files that a page needs: those its HTML links to, and the modules its scripts import.

    Modules that modules import are included. Pictures (/still/, /card/) and links without a dot are left out.
    """

    def text(path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
            return answer.read().decode()

    named = [link for link in LINK.findall(text(path)) if "." in link.partition("?")[0]]
    # the HTML links pictures for both themes, but a browser fetches only one theme's
    found = [link for link in named if not link.startswith(("/still/", "/card/"))]
    for link in found:
        if link.partition("?")[0].endswith(".mjs"):
            imports = [urljoin(link.partition("?")[0], name) for name in IMPORT.findall(text(link))]
            found += [other for other in imports if other not in found]
    return list(dict.fromkeys(found))


OURS = ["app.py", "--port", "PORT"]
NAIVE = ["-m", "waitress", "--threads=8", "--listen=127.0.0.1:PORT", "benchmarks.naive_dash:server"]
Server = list[psutil.Process]


@contextlib.contextmanager
def serving(command: list[str], *, proxied: bool = False) -> Iterator[tuple[int, Server]]:
    """Run a server until the block ends; yields its port and its processes. proxied: run it behind nginx."""
    port = free()
    with contextlib.ExitStack() as stack:
        process = subprocess.Popen(
            [sys.executable, *(each.replace("PORT", str(port)) for each in command)],
            cwd=ROOT,
            env=os.environ | {"TRUSTED_PROXIES": str(int(proxied))},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(process.wait)
        stack.callback(process.terminate)
        answers(f"http://127.0.0.1:{port}/", process)
        server = [psutil.Process(process.pid)]
        if proxied:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            port, proxy, _ = stack.enter_context(nginx(folder, f"127.0.0.1:{port}"))
            server += psutil.Process(proxy.pid).children()
        yield port, server


def visited(
    act: Callable[..., Awaitable[None]],
    command: list[str],
    paths: tuple[str, ...],
    *,
    viewers: int,
    proxied: bool = False,
    arriving: float = ARRIVING,
) -> dict:
    """Measure a server while many viewers visit it at the same time, in ROUNDS rounds.

    Before the first round, 20 other viewers warm the server up, except if `arriving` is 0.

    act        a function that does what one viewer does
    command    the command that starts the server
    paths      the addresses of pages. The arguments of `act` are a viewer and, for each page, the list of the
               page's files
    viewers    the number of viewers in each round
    proxied    whether the server runs behind nginx
    arriving   seconds within which all viewers arrive; 0 if they arrive at the same moment

    Returns a dict. "hall": the measurements (`Hall`). "seconds": the duration of all rounds together.
    "processor": their CPU time in seconds. "memory": a list with the results of the function `memory` before
    the first round and after each round.
    """
    with serving(command, proxied=proxied) as (port, server):
        files = [files_of(port, path) for path in paths]
        if arriving:
            asyncio.run(crowd(act, Hall(port), files, viewers=20, arriving=2))
        hall = Hall(port)
        sizes, used, start = [memory(server)], processor(server), time.perf_counter()
        for _ in range(ROUNDS):
            asyncio.run(crowd(act, hall, files, viewers=viewers, arriving=arriving))
            sizes.append(memory(server))
        return {
            "hall": hall,
            "seconds": time.perf_counter() - start,
            "processor": processor(server) - used,
            "memory": sizes,
        }


async def crowd(
    act: Callable[..., Awaitable[None]], hall: Hall, files: list[list[str]], *, viewers: int, arriving: float
) -> None:
    """Let `viewers` simulated viewers visit a server, and wait until all have left.

    They arrive evenly spaced within `arriving` seconds. Each awaits `act(viewer, *files)`; its measurements
    are added to `hall`. files: a list of paths for each page that `act` opens.
    """

    async def come(number: int) -> None:
        viewer = Viewer(hall, number)
        await asyncio.sleep(arriving * number / viewers)
        await act(viewer, *files)
        viewer.leave()

    await asyncio.gather(*(come(number) for number in range(viewers)))


def memory(server: Server) -> list[str]:
    """For each process of a server: its memory in megabytes, with its number of threads in brackets."""
    return [f"{each.memory_info().rss / 2**20:.1f} ({each.num_threads()})" for each in server]


def processor(server: Server) -> float:
    """CPU seconds that all processes of a server have used so far."""
    return sum(sum(each.cpu_times()[:2]) for each in server)


def percentiles(took: list[float]) -> str:
    """The 50th, 95th and 99th percentile of the times `took` (seconds), as text in ms: "12 / 34 / 56"."""
    cuts = statistics.quantiles(took, n=100, method="inclusive")
    return " / ".join(f"{1000 * cuts[p - 1]:,.0f}" for p in (50, 95, 99))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="A lecture hall at the server, and at a naive Dash application."
    )
    parser.add_argument("--viewers", type=int, default=VIEWERS, help="in the hall (default: %(default)s)")
    viewers: int = parser.parse_args().viewers
    print(
        f"{viewers} viewers, who arrive within {ARRIVING:.0f} s and play for {PLAYING:.0f} s each;"
        " then as many again.\n"
    )
    print(
        "| server | requests | a second | p50 / p95 / p99, ms | errors |"
        " MB (threads) of each process, before → after each hall |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    play = []
    for name, act, paths, command, proxied in (
        ("Normscape", ours, ("/layernorm",), OURS, False),
        ("Normscape behind nginx", ours, ("/layernorm",), OURS, True),
        ("naive Dash", naive, ("/",), NAIVE, False),
    ):
        got = visited(act, command, paths, viewers=viewers, proxied=proxied)
        hall: Hall = got["hall"]
        every = hall.took + hall.played
        sizes = ", ".join(map(" → ".join, zip(*got["memory"], strict=True)))
        print(
            f"| {name} | {len(every):,} | {len(every) / got['seconds']:.0f} |"
            f" {percentiles(every)} | {len(hall.wrong)} | {sizes} |",
            flush=True,
        )
        play.append((name, hall, got["processor"]))
        for line in hall.wrong[:3]:
            print(line, file=sys.stderr)
    print(
        "\n| while they play | requests a viewer and second | ticks on the screen |"
        " p50 / p95 / p99 of a tick, ms | processor of the server for one hall, s |"
    )
    print("| --- | --- | --- | --- | --- |")
    for name, hall, used in play:
        ticks = (
            f"{100 * len(hall.played) / hall.wanted:.0f} % of {TICKS} a second"
            if hall.wanted
            else "all: the browser's own"
        )
        each = f"{len(hall.played) / viewers / ROUNDS / PLAYING:.1f}"
        times = percentiles(hall.played) if hall.played else "–"
        print(f"| {name} | {each} | {ticks} | {times} | {used / ROUNDS:.1f} |")
    at_once(viewers)


def at_once(viewers: int) -> None:
    """Measure visits to the home page that all begin at the same moment, and print their table."""
    print(
        f"\n| {viewers} open the gallery at once, twice | requests a visit | p50 / p95 / p99 of an"
        " answer, ms | of a whole visit, ms | errors | processor of the server for one hall, s |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for name, proxied in (("alone", False), ("behind nginx", True)):
        got = visited(gallery, OURS, ("/", "/layernorm"), viewers=viewers, proxied=proxied, arriving=0)
        hall: Hall = got["hall"]
        times = f"{percentiles(hall.took)} | {percentiles(hall.visits)}"
        each = len(hall.took) / len(hall.visits)
        print(
            f"| {name} | {each:.0f} | {times} | {len(hall.wrong)} | {got['processor'] / ROUNDS:.1f} |",
            flush=True,
        )
        for line in hall.wrong[:3]:
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
