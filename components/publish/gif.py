"""Write a GIF with ffmpeg, from PNG frames. Its size and frame rate are reduced if the file is too large."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from fractions import Fraction
from itertools import product
from pathlib import Path

from components.publish.studio import Look

MAX_BYTES = 3_000_000
LOOK = Look(width=800, height=533, scale=1.0, fps=15)  # default of a GIF before it is reduced
SIZE = {"width", "height", "scale"}
WIDTHS = (1.0, 0.8, 0.6)  # of the GIF to try, relative to the frames
EVERY = (1, 2, 3)  # reductions of the frame rate to try: keep each frame, one of two, one of three


async def write(out: Path, frames: AsyncIterator[bytes], look: Look) -> None:
    """Write a GIF. If it is larger than MAX_BYTES, reduce its width; if that is not enough, its frame rate.

    If the caller has set the size or the frame rate (`look.set_by_caller`), it is not reduced. If even the
    smallest GIF is larger than MAX_BYTES, it is kept. The frames are also written, as PNG files in the folder
    of `out`.
    """
    count = 0
    async for png in frames:
        (out.parent / f"{count:05d}.png").write_bytes(png)
        count += 1
    widths = (1.0,) if SIZE & look.set_by_caller else WIDTHS
    steps = (1,) if "fps" in look.set_by_caller else tuple(step for step in EVERY if step < count)
    for step, width in product(steps, widths):
        _encode(out, look.fps, step, width)
        if out.stat().st_size <= MAX_BYTES:
            break
    _tell(out, Fraction(look.fps, step), smaller=(step, width) != (1, 1.0))


def _encode(out: Path, fps: int, step: int, width: float) -> None:
    """Write a GIF to `out` from the PNG files in the same folder, using every `step`-th file.

    fps: the frame rate of the PNG files. width: the factor by which the pictures are scaled. A GIF
    stores the delay of a frame in hundredths of a second; ffmpeg rounds delays so that the mean frame rate is
    right.
    """
    from imageio_ffmpeg import get_ffmpeg_exe

    size = "" if width == 1 else f",scale=round(iw*{width}):-1:flags=lanczos"
    palette = "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=none:diff_mode=rectangle"
    source = ["-framerate", str(fps), "-i", str(out.parent / "%05d.png")]
    drawn = ["-filter_complex", f"framestep={step}{size},{palette}", "-loop", "0"]
    command = [get_ffmpeg_exe(), "-v", "error", "-y", *source, *drawn, str(out)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def _tell(out: Path, fps: Fraction, *, smaller: bool) -> None:
    from PIL import Image

    with Image.open(out) as film:
        shape = f"{film.width} × {film.height} pixels, {float(fps):g} frames a second"
    weight, limit = out.stat().st_size, f"{MAX_BYTES / 1e6:g} MB"
    words = ""
    if weight > MAX_BYTES:
        words = f"; for {limit} ask for fewer --seconds, or a smaller --width, --height, --scale or --fps"
    elif smaller:
        words = f"; made smaller to fit {limit}, which --width, --height, --scale and --fps prevent"
    print(f"{out.name}: {shape}, {weight / 1e6:.1f} MB{words}", file=sys.stderr)
