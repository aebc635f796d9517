"""Measure how much time each of our patches to Plotly (docs/plotly.md) saves: `python -m benchmarks.patches`.

A page with the patch and one without it (`#without=` in its address) are measured alternately, each in its
own browser. Three times are printed, as medians: the CPU time of the page's scripts; the CPU time of all
processes of the browser, mostly for software WebGL; and the wall time, which includes waiting and is
meaningful only on an idle machine. The gain is the share of each time that the patch saves: its median and
quartiles over rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack

from playwright.sync_api import Browser, BrowserType, sync_playwright

from benchmarks.bench import FRAMES, IMPORT, OPEN, ROOT, RUN, opened, script_seconds, serving
from tools.browser import ARGUMENTS, find

IDLE_SECONDS = 4
# for each kind of case: the script that is measured, its argument, and the number of units in it
ACTS = {
    "a frame": (RUN, ["ours", FRAMES, ""], FRAMES),
    "a second at rest": (
        f"() => new Promise((d) => setTimeout(d, {1000 * IDLE_SECONDS}))",
        None,
        IDLE_SECONDS,
    ),
}
FRAME_PATHS = ("/octants", "/layernorm?n=2000")
# For each patch, the case that it was made for.
CASES = {
    "buffers": ("a frame", FRAME_PATHS),
    "redraw": ("a frame", FRAME_PATHS),
    "uniforms": ("a frame", FRAME_PATHS),
    "layers": ("a frame", FRAME_PATHS),
    "pulse": ("a second at rest", ("/layernorm", "/heads")),
}
UNITS = ("script", "all processes", "clock")
Cost = tuple[float, ...]  # milliseconds, in the order of UNITS


def cost(browser: Browser, act: Callable[[], object], count: int, script: Callable[[], float]) -> Cost:
    """Run `act`, and return its three times (scripts, browser, wall) in ms, each divided by `count`.

    The first two are CPU times: of the page's scripts, and of all processes of the browser. count: the number
    of frames or seconds that `act` takes. script: returns the seconds of CPU time that the page's scripts
    have used so far.
    """
    session = browser.new_browser_cdp_session()

    def used() -> dict[int, float]:
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        return {each["id"]: each["cpuTime"] for each in processes}

    scripted, before, start = script(), used(), time.perf_counter()
    act()
    clock, after = time.perf_counter() - start, used()
    spent = sum(seconds - before.get(process, 0) for process, seconds in after.items())
    return tuple(1000 * seconds / count for seconds in (script() - scripted, spent, clock))


def round_of(chromium: BrowserType, stack: ExitStack, what: str, url: str) -> Callable[[], Cost]:
    """Open a page in a new browser and run a warm-up; returns a function that measures a round (`cost`).

    what: which action a round measures, a key of ACTS. stack: closes the browser when it is closed itself.
    """
    browser = stack.enter_context(chromium.launch(executable_path=find(), args=list(ARGUMENTS)))
    script, given, count = ACTS[what]
    page = opened(browser, url, OPEN)
    page.evaluate(IMPORT, (ROOT / "benchmarks/frames.mjs").read_text())
    page.evaluate(script, given)
    used = script_seconds(page)
    return lambda: cost(browser, lambda: page.evaluate(script, given), count, used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("patches", nargs="*", default=list(CASES))
    asked = parser.parse_args()
    print("| patch | case | page | | with, ms | without, ms | gain, quartiles |\n|" + " --- |" * 7)
    with sync_playwright() as playwright, serving("app.py", "--port", "PORT") as base:
        for name in asked.patches:
            what, paths = CASES[name]
            for path in paths:
                with ExitStack() as stack:
                    ways = [
                        round_of(playwright.chromium, stack, what, base + path + way)
                        for way in ("", f"#without={name}")
                    ]
                    pairs = [[measure() for measure in ways] for _ in range(asked.rounds)]
                for unit, kind in enumerate(UNITS):
                    on, off = zip(*((a[unit], b[unit]) for a, b in pairs), strict=True)
                    low, mid, high = statistics.quantiles(
                        (1 - a / b for a, b in zip(on, off, strict=True) if b), n=4
                    )
                    figures = f"{statistics.median(on):.2f} | {statistics.median(off):.2f}"
                    gain = f"{mid:.0%} ({low:.0%} to {high:.0%})"
                    print(f"| {name} | {what} | {path} | {kind} | {figures} | {gain} |", flush=True)


if __name__ == "__main__":
    main()
