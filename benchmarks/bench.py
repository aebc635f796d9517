"""Compare Normscape with other ways to animate a Plotly figure; print the tables of docs/benchmarks.md.

Run it with `make bench`. *Script* is the CPU time of JavaScript on the main thread for one update, including
drawing calls; there is one update per frame. The browser's own counter measures script for methods whose code
runs only inside the frame. Methods that also run code in timers and messages (†) are measured with a trace of
all JavaScript; tracing adds about 0.5 ms per frame. Figures are medians of several rounds. Most of the time
from moving a slider to the drawn picture is spent in software WebGL, for every method alike.
"""

from __future__ import annotations

import contextlib
import json
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import selection, training
from components.language.scene import scenes
from tools.browser import ARGUMENTS, find
from tools.ports import free

ROOT = Path(__file__).resolve().parent.parent
ROUNDS, FRAMES = 3, 20
AFTER_LOAD = 5000  # ms to wait after the last request, for code that runs after the figure has become live
REST = 1000  # ms of rest before a round, so that work at the end of the previous one is not counted
WAYS = {
    "ours": "Normscape",
    "restyle": "`Plotly.restyle`",
    "animate": "`Plotly.animate` †",
    "dash": "Dash clientside callback †",
}
TRACED = ("animate", "dash")
RUNS_SCRIPT = {"FunctionCall", "RunMicrotasks", "FireAnimationFrame", "TimerFire", "EventDispatch"}
SIZES = (500, 2_000, 10_000)
LARGE = [
    *(("select", f"n=200&d={d}", "") for d in (2, 3, 4)),
    ("language", "sentence=held", ""),
    ("symmetrise", "heads=8&iterations=8", ""),
    ("scores", "", "rho"),
    ("ffn", "norm=rms_norm&weights=mirrored", ""),
    ("ffn", "norm=rms_norm&weights=trained&expansion=4", ""),
    ("block", "n=8&heads=2", ""),
    ("depth", "", "gain"),
    ("heads", "heads=4&overlap=1", "overlap"),
    ("drift", "window=256&layer=4", ""),
    ("particles", "", "beta"),
    ("particles", "n=256", ""),
    ("particles", "n=256", "beta"),
    ("model", "beside=start", ""),
    ("cone", "", "axis"),
    ("strands", "", "s2"),
]  # slug, query and slider of costly scenes; a slider is moved instead of the position between the stages
OPEN = (
    "window.normscape?.players?.[0]?.panels?.length && document.querySelector('.views').ariaBusy === 'false'"
)
RUN = "([way, count, slider]) => bench.run(way, count, slider)"
IMPORT = """async (code) => { window.bench = await import(URL.createObjectURL(new Blob(
  [code.replaceAll('/assets/', location.origin + '/assets/')], {type: 'text/javascript'}))); }"""
DASH = """async (count) => { const gd = document.querySelector('.js-plotly-plot'), times = [];
  for (let i = 0; i < count; i++) { const drawn = new Promise((done) => gd.once('plotly_afterplot', done));
    const start = performance.now();
    window.dash_clientside.set_props('k', { value: 1 + (i % 11) });
    await drawn;
    await new Promise(requestAnimationFrame); times.push(performance.now() - start); } return times; }"""


CLICK = """async () => { const p = normscape.players[0], { showTraining } = p, start = performance.now();
  const since = () => (performance.now() - start) / 1000;
  let first = 0, count = 0;
  p.showTraining = (film) => {
    showTraining.call(p, film); count++; requestAnimationFrame(() => { first ||= since(); });
  };
  document.querySelector('#train').click();
  while (!p.choices.run || !p.ready) await new Promise((done) => setTimeout(done, 20));
  return [first, since(), count]; }"""


@contextlib.contextmanager
def serving(*command: str, cwd: Path = ROOT) -> Iterator[str]:
    """Run a server of the checkout in `cwd` until the block ends; yields its URL once it answers.

    The word PORT in `command` is replaced by a free port.
    """
    port = str(free())
    words = [port if word == "PORT" else word for word in command]
    process = subprocess.Popen(
        [sys.executable, *words], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        base = f"http://127.0.0.1:{port}"
        answers(base + "/healthz", process)
        yield base
    finally:
        process.terminate()
        process.wait()


def answers(url: str, process: subprocess.Popen) -> None:
    """Wait until a server answers. Raises SystemExit if its process ends."""
    while process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.005)
    raise SystemExit(f"the server of {url} ended with {process.returncode}")


def script(page: Page, way: str, run: Callable[[], Any]) -> float:
    """CPU time of JavaScript per update, in ms: the median of ROUNDS rounds, after one round as a warm-up.

    run: makes FRAMES updates. way: the name of the method that makes them; methods in TRACED are measured
    with a trace, all others with the browser's counter.
    """
    measure = traced if way in TRACED else counted
    rounds = [measure(page, run) / FRAMES for _ in range(ROUNDS + 1)]
    return statistics.median(rounds[1:])


def counted(page: Page, run: Callable[[], Any]) -> float:
    """CPU time of JavaScript during `run`, in ms, from the browser's own counter."""
    used = script_seconds(page)
    page.wait_for_timeout(REST)
    before = used()
    run()
    return 1000 * (used() - before)


def script_seconds(page: Page) -> Callable[[], float]:
    """A function that returns the seconds of CPU time that the page's scripts have used so far."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "ScriptDuration")

    return used


def traced(page: Page, run: Callable[[], Any]) -> float:
    """CPU time of JavaScript during `run`, in ms, from a trace of the browser.

    Returns the time of the thread that ran most JavaScript. Of nested events, only the outermost is counted.
    """
    browser = page.context.browser
    assert browser
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    run()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    ends: dict[tuple[int, int], float] = {}
    sums: dict[tuple[int, int], float] = {}
    for event in sorted(
        (e for e in events if e["name"] in RUNS_SCRIPT and "dur" in e), key=lambda e: e["ts"]
    ):
        thread = event["pid"], event["tid"]
        if event["ts"] >= ends.get(thread, 0):
            ends[thread] = event["ts"] + event["dur"]
            sums[thread] = sums.get(thread, 0) + event.get("tdur", 0) / 1000
    return max(sums.values())


def opened(browser: Browser, url: str, ready: str) -> Page:
    """A page at `url`, one second after the JavaScript expression `ready` has become true."""
    # IMPORT loads a script from a blob: address, which the page's CSP forbids
    page = browser.new_page(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    page.goto(url)
    page.wait_for_function(ready, timeout=120_000)
    page.wait_for_timeout(1000)
    return page


def frames(
    browser: Browser, base: str, slug: str, query: str, ways: tuple[str, ...], *, slider: str = ""
) -> dict[str, tuple[float, float]]:
    """Measure the methods `ways` (keys of WAYS) in a scene: ms of script per frame, ms from input to picture.

    base: the server's URL. slug, query: the scene and its state. slider: the parameter that Normscape's own
    method moves while the script is measured. If it is "", this method moves the position between the stages
    and the clock; if the scene has neither, it moves the first slider. Other methods move the position.

    The time from an input to the drawn frame is measured on /layernorm only; for other scenes it is 0. The
    input moves the first slider for Normscape's own method, and the position for the other methods.
    """
    page = opened(browser, f"{base}/{slug}?{query}", OPEN)
    page.evaluate(IMPORT, (ROOT / "benchmarks/frames.mjs").read_text())
    out = {}
    for way in ways:
        cost = script(page, way, partial(page.evaluate, RUN, [way, FRAMES, slider]))
        waits = page.evaluate("([w, c]) => bench.latency(w, c)", [way, 9]) if slug == "layernorm" else [0]
        out[way] = cost, statistics.median(waits)
    page.close()
    return out


def clientside(browser: Browser, n: int) -> tuple[float, float]:
    """Measure a Dash application with a clientside callback and n points.

    Returns the two numbers that `frames` returns for a method: ms of script per frame, and ms from an input
    to the drawn frame.
    """
    with serving("-m", "benchmarks.clientside", "PORT", str(n)) as base:
        page = opened(
            browser, base, "window.bench && document.querySelector('.js-plotly-plot .gl-container')"
        )
        cost = script(page, "dash", lambda: page.evaluate(DASH, FRAMES))
        waits = page.evaluate(DASH, 9)
        page.close()
        return cost, statistics.median(waits)


def first_load(
    browser: Browser, base: str, path: str, *, after: str = "", scripts: bool = True
) -> tuple[int, float, float]:
    """For the first visit to a page: number of requests, transferred kilobytes, and ms to the first paint.

    after: a page that is opened first, so that its files are in the browser's cache; "" for none. scripts:
    whether the page may load scripts and recipes.
    """
    page = browser.new_context().new_page()
    if after:
        page.goto(base + after, wait_until="networkidle")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    if not scripts:
        session.send("Network.setBlockedURLs", {"urls": ["*.js", "*.mjs", "*/recipe/*"]})
    page.goto(base + path, wait_until="networkidle")
    page.wait_for_timeout(AFTER_LOAD)
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.context.close()
    sizes = [size for size in sizes if size]  # files from the browser's cache are not requests
    return len(sizes), sum(sizes) / 1000, paint


def clicked(browser: Browser, base: str) -> tuple[float, float, int]:
    """Click on Train in the scene `spiral`, and wait for the end of the training.

    Returns seconds from the click to the first picture, seconds from the click to the end, and the number of
    pictures that the page has shown.
    """
    page = opened(browser, f"{base}/spiral", OPEN)
    first, end, count = page.evaluate(CLICK)
    page.close()
    return first, end, count


def start() -> float:
    """Seconds from the start of `python app.py` to the HTML of the home page: the median of ROUNDS starts."""
    times = []
    for _ in range(ROUNDS):
        before = time.perf_counter()
        with serving("app.py", "--port", "PORT") as base, urllib.request.urlopen(base + "/"):
            times.append(time.perf_counter() - before)
    return statistics.median(times)


def lines(slug: str) -> int:
    """The number of lines of Python in a scene's folder, without empty lines, comments and docstrings."""
    found = (path.read_text("utf-8") for path in (ROOT / "components" / "scenes" / slug).glob("*.py"))
    code = "\n".join(re.sub(r'"""[\s\S]*?"""', "", text) for text in found).splitlines()
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in code)


def loads(browser: Browser, base: str) -> None:
    """Print the table of first loads: a row for each page of the server with the URL `base`."""
    print("\n| first load | requests | kB | first paint, ms |\n| --- | --- | --- | --- |")
    for path in ("/", *(f"/{slug}" for slug in scenes())):
        count, size, paint = first_load(browser, base, path)
        print(f"| {path} | {count} | {size:.0f} | {paint:.0f} |", flush=True)
    count, size, paint = first_load(browser, base, "/fold", after="/layernorm")
    print(f"| /fold, after /layernorm | {count} | {size:.0f} | {paint:.0f} |", flush=True)
    for path in ("/", "/layernorm", "/embed/layernorm"):
        count, size, paint = first_load(browser, base, path, scripts=False)
        print(f"| {path}, before any script | {count} | {size:.0f} | {paint:.0f} |", flush=True)


def main() -> None:
    with sync_playwright() as playwright, serving("app.py", "--port", "PORT") as base:
        browser = playwright.chromium.launch(executable_path=find(), args=list(ARGUMENTS))
        print("| points | method | script per frame, ms | slider to drawn frame, ms |")
        print("| --- | --- | --- | --- |")
        for n in SIZES:
            rows = frames(browser, base, "layernorm", f"n={n}", ("ours", "restyle", "animate"))
            rows["dash"] = clientside(browser, n)
            for way, (cost, wait) in rows.items():
                print(f"| {n} | {WAYS[way]} | {cost:.1f} | {wait:.0f} |", flush=True)
        print("\n| scene | script per frame, ms | lines of Python |\n| --- | --- | --- |")
        for slug, query, slider in [*((slug, "", "") for slug in scenes()), *LARGE]:
            cost, _ = frames(browser, base, slug, query, ("ours",), slider=slider)["ours"]
            print(f"| {' '.join((slug, query, slider))} | {cost:.1f} | {lines(slug)} |", flush=True)
        loads(browser, base)
        first, end, count = clicked(browser, base)
        print("\n| click on Train, the default spiral | |\n| --- | --- |")
        print(
            f"| first moving picture | {first:.2f} s |\n| pictures | {count / (end - first):.1f} a second |"
        )
        print(f"| done, 32 seeds and 4,000 steps | {end:.1f} s |")
        browser.close()
    print(f"\nFrom `python app.py` to the first page: {start():.2f} s\n")
    training.main()
    print()
    selection.main()


if __name__ == "__main__":
    main()
