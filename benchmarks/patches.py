"""What each patch to Plotly gains: a page with it and without it, in turn. `python -m benchmarks.patches`.

The address turns a patch off (assets/painter/plotly/patches.mjs). Medians of several rounds; the table is in
docs/plotly.md.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import psutil
from playwright.sync_api import Browser, sync_playwright

from benchmarks.bench import FRAMES, IMPORT, OPEN, ROOT, RUN, counted, opened, serving
from benchmarks.living import living
from tools.browser import ARGUMENTS, find

FRAME_PATHS = ("/layernorm?n=60", "/layernorm?n=10000", "/octants")
LIVING_PATHS = ("/layernorm", "/spiral")
IDLE_SECONDS = 6
HOVERED = "/layernorm?n=10000"

Measure = Callable[[Browser, str], float]


def milliseconds_a_frame(browser: Browser, url: str) -> float:
    """Script milliseconds a frame while the progress moves."""
    page = opened(browser, url, OPEN)
    page.evaluate(IMPORT, (ROOT / "benchmarks/frames.mjs").read_text())
    run = partial(page.evaluate, RUN, ["ours", FRAMES, ""])
    counted(page, run)
    cost = counted(page, run) / FRAMES
    page.close()
    return cost


def seconds_to_living(browser: Browser, url: str) -> float:
    """Seconds from the address to a figure that moves, cold."""
    fresh = browser.browser_type.launch(executable_path=find(), args=list(ARGUMENTS))
    moved, _ = living(fresh, url)
    fresh.close()
    return moved


def cores_at_rest(browser: Browser, url: str) -> float:
    """Cores that all of the browser's processes take while nothing happens."""
    page = opened(browser, url, OPEN)
    page.wait_for_timeout(2000)
    return _cores(lambda: page.wait_for_timeout(1000 * IDLE_SECONDS), page.close)


def cores_while_turning(browser: Browser, url: str) -> float:
    """Cores that all of the browser's processes take while keys turn the camera."""
    page = opened(browser, url, OPEN)

    def turn() -> None:
        for _ in range(10 * IDLE_SECONDS):
            page.evaluate(
                "() => { const [p] = normscape.players[0].panels, { eye: [x, y, z], center } = p.camera();"
                "p.turn({ eye: [x * 0.99 - y * 0.1, x * 0.1 + y * 0.99, z], center }); }"
            )
            page.wait_for_timeout(100)

    return _cores(turn, page.close)


def _cores(act: Callable[[], None], done: Callable[[], None]) -> float:
    """Processor seconds a second of every Chromium process while something is done."""
    browsers = [each for each in psutil.process_iter(["name"]) if "chrom" in (each.info["name"] or "")]
    start, before = time.monotonic(), sum(sum(each.cpu_times()[:2]) for each in browsers)
    act()
    cores = (sum(sum(each.cpu_times()[:2]) for each in browsers) - before) / (time.monotonic() - start)
    done()
    return cores


# What each patch was made for: the measure, and the pages.
CASES: dict[str, tuple[Measure, tuple[str, ...]]] = {
    "buffers": (milliseconds_a_frame, FRAME_PATHS),
    "redraw": (milliseconds_a_frame, FRAME_PATHS),
    "uniforms": (milliseconds_a_frame, FRAME_PATHS),
    "shaders": (seconds_to_living, LIVING_PATHS),
    "glyphs": (seconds_to_living, LIVING_PATHS),
    "pulse": (cores_at_rest, ("/layernorm", "/heads")),
    "picking": (cores_while_turning, (HOVERED,)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("patches", nargs="*", default=list(CASES))
    asked = parser.parse_args()
    print("| patch | measure | page | with | without | gain |\n| --- | --- | --- | --- | --- | --- |")
    with sync_playwright() as playwright, serving("app.py", "--port", "PORT") as base:
        for name in asked.patches:
            measure, paths = CASES[name]
            for path in paths:
                figures: dict[str, list[float]] = {"": [], f"#without={name}": []}
                for _ in range(asked.rounds):
                    for way, values in figures.items():
                        browser = playwright.chromium.launch(executable_path=find(), args=list(ARGUMENTS))
                        values.append(measure(browser, base + path + way))
                        browser.close()
                on, off = (statistics.median(each) for each in figures.values())
                words = measure.__name__.replace("_", " ")
                print(
                    f"| {name} | {words} | {path} | {on:.2f} | {off:.2f} | {1 - on / off:.0%} |", flush=True
                )


if __name__ == "__main__":
    main()
