"""Pictures of an exported page, taken in a Chromium that stays open and shows the figure in any state.

The package choreographer, which Kaleido installs, controls the browser. The environment variable BROWSER_PATH
selects another browser than the system's.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.publish.subcommand import CommandFailed

READY_SECONDS = 60.0  # until a page is ready; enough for software WebGL on a busy machine
INCH = 96  # CSS pixels
LAID_OUT = 800  # CSS pixels; narrower pictures are laid out at this width and scaled down
NAMING_FRAMES = 25  # frames of a film in which names are kept clear of the marks
PANELS = "normscape.players[0].panels.filter(({ opened }) => opened)"
MIN_SIDE_PX, MAX_SIDE_PX = 16, 8192  # pixels of a side


class Missing(CommandFailed):
    """Raised if the optional packages for pictures and videos (the group `export`) are not installed."""


class NoBrowser(CommandFailed):
    """Raised if no browser can be found or started, or if it does not show the figure."""


@dataclass(frozen=True)
class Look:
    """The size of a picture or video, and the duration and motion of a video.

    width, height  in CSS pixels
    scale          pixels of the file for each CSS pixel
    seconds        the duration of a video
    fps            its frames per second
    turn           the name of a parameter that changes during the video, its first and its last value; None
                   if the points move through the stages instead
    set_by_caller  the names of the fields that the caller has set, which are not reduced for a GIF
    """

    width: int = 960
    height: int = 640
    scale: float = 2.0
    seconds: float = 6.0
    fps: int = 20
    turn: tuple[str, float, float] | None = None
    set_by_caller: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Sheet:
    """An exported page that is open in the browser.

    tab: the connection to the browser. width, height: the size of the picture in CSS pixels. zoom: a factor,
    at least 1; the page is laid out with `zoom` times the width and height, then shrunk to the picture. So
    narrow pictures do not get the layout for phones.
    """

    tab: Any
    width: int
    height: int
    zoom: float

    async def run(self, code: str) -> Any:
        """The value of a JavaScript expression in the page; of a promise, its result.

        Raises RuntimeError if the expression throws an error.
        """
        asked = {"expression": code, "awaitPromise": True, "returnByValue": True}
        answer = (await self.tab.send_command("Runtime.evaluate", asked))["result"]
        if "exceptionDetails" in answer:
            raise RuntimeError(
                f"the page reports {answer['exceptionDetails']['exception'].get('description')}"
            )
        return answer["result"].get("value")

    async def moment(self, moved: dict[str, float], progress: float) -> None:
        """Show the figure at `progress`, and wait until it is on the screen.

        moved: the parameters to change, by name.
        """
        await self.run(
            "(async () => { const [player] = normscape.players; player.pointerDown = true;"
            f"for (const [name, value] of Object.entries({json.dumps(moved)})) player.set(name, value);"
            f"player.seek({progress});"
            "for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); })()"
        )

    async def place_names(self, moments: Sequence[tuple[dict[str, float], float]]) -> None:
        """Give each title of a mark one place for a whole film: beside its mark, or in the legend.

        moments: for each frame of the film, the two arguments of `moment`. At most NAMING_FRAMES of these
        frames are shown, to find out which marks move, and where.
        """
        count = min(NAMING_FRAMES, len(moments))
        await self.run(f"{PANELS}.forEach((panel) => {{ panel.filmFrames = []; }})")
        for k in range(count):
            await self.moment(*moments[round(k * (len(moments) - 1) / max(1, count - 1))])
            await self.run(f"{PANELS}.forEach((panel) => panel.filmFrames.push(panel.pixelFrame))")
        await self.run(f"{PANELS}.forEach((panel) => panel.onRest())")

    async def png(self) -> bytes:
        return await self._data("Page.captureScreenshot", {"format": "png"})

    async def pdf(self) -> bytes:
        paper = {"paperWidth": self.width / INCH, "paperHeight": self.height / INCH, "pageRanges": "1"}
        margins = {f"margin{side}": 0 for side in ("Top", "Right", "Bottom", "Left")}
        await self.tab.send_command("Emulation.setEmulatedMedia", {"media": "screen"})
        drawn = {"printBackground": True, "scale": 1 / self.zoom}
        return await self._data("Page.printToPDF", paper | margins | drawn)

    async def _data(self, command: str, asked: dict[str, Any]) -> bytes:
        return base64.b64decode((await self.tab.send_command(command, asked))["result"]["data"])


@asynccontextmanager
async def showing(page: Path, width: int, height: int, scale: float) -> AsyncIterator[Sheet]:
    """Open an exported page in a browser, and wait until its figure is ready and does not move.

    width, height: of the pictures, in CSS pixels. scale: pixels of a picture for each CSS pixel. Raises
    NoBrowser.
    """
    from choreographer import Browser
    from choreographer.errors import BrowserFailedError, ChromeNotFoundError

    logging.getLogger("choreographer").setLevel(logging.CRITICAL)
    try:
        browser = await Browser()
    except (ChromeNotFoundError, BrowserFailedError) as error:
        raise NoBrowser("no Chromium or Chrome could be started; name one in BROWSER_PATH") from error
    try:
        tab = await browser.create_tab()
        zoom = max(1.0, LAID_OUT / width)
        sheet = Sheet(tab.get_session(), width, height, zoom)
        wide, high = round(width * zoom), round(height * zoom)
        size = {"width": wide, "height": high, "deviceScaleFactor": scale / zoom, "mobile": False}
        await sheet.tab.send_command("Emulation.setDeviceMetricsOverride", size)
        await sheet.tab.send_command("Page.navigate", {"url": page.as_uri()})
        await _ready(sheet)
        yield sheet
    finally:
        await browser.close()


async def _ready(sheet: Sheet) -> None:
    settled = "Boolean(globalThis.normscape?.players?.[0]?.ready) && !document.querySelector('.moving')"
    for _ in range(int(READY_SECONDS * 10)):
        if await sheet.run(settled):
            await sheet.run("new Promise((rest) => setTimeout(rest, 500))")
            return
        await asyncio.sleep(0.1)
    raise NoBrowser(
        f"the figure was not ready within {READY_SECONDS:.0f} seconds; does this browser have WebGL?"
    )
