"""Measure how long a page takes until its figure can be moved, compared with an earlier commit.

Run it with `python -m benchmarks.living`. Each page is opened in a new browser. As soon as the page's figure
can be moved, the benchmark moves it; the time ends when the moved figure has been drawn. The two commits are
measured alternately, so that other load affects both. The fastest of several rounds is printed, with the
machine's load. On a busy machine only the ratio of the two times is meaningful.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.bench import ROOT, serving
from tools.browser import ARGUMENTS, find

# the last commit whose pages loaded each JavaScript module as a file of its own
BEFORE = "2866815f"
PATHS = ("/layernorm", "/spiral", "/embed/shear")
PATIENCE = 180_000  # milliseconds
WATCH = """(() => {
  const told = (window.told = {}), ask = window.fetch;
  const move = () => {
    if (told.moved) return;
    told.moved = true;
    const player = normscape.players[0], { progress, recipe } = player;
    const last = recipe.stages.length - 1, [p] = recipe.parameters;
    if (last) player.seek(progress > 0.5 ? progress - 0.3 : progress + 0.3);
    else player.set(p.name, p.value < p.max ? Math.min(p.max, p.value + (p.max - p.min) / 10) : p.min);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      for (const canvas of document.querySelectorAll(".gl-container canvas")) {
        const gl = canvas.getContext("webgl");
        gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits for what was drawn
      }
      const recipe = performance.getEntriesByType("resource").find(({ name }) => name.includes("/recipe/"));
      console.debug(`living ${performance.now()} ${recipe?.startTime ?? NaN}`);
    }));
  };
  for (const ready of ["normscape:living", "normscape:ready"]) addEventListener(ready, move, true);
})();"""


@contextmanager
def tree(commit: str) -> Iterator[Path]:
    """Check out a commit into a temporary folder, with this checkout's npm packages; yields the folder."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above) / "before"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", folder, commit], cwd=ROOT, check=True)
        try:
            (folder / "node_modules").symlink_to(ROOT / "node_modules")
            yield folder
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def living(browser: Browser, url: str) -> tuple[float, float]:
    """Open a page, and move its figure as soon as possible; returns two times in seconds from the opening.

    The first is when the moved figure has been drawn. The second is when the page has requested its recipe;
    NaN for a page that requests none.
    """
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.add_init_script(WATCH)
    with page.expect_console_message(lambda m: m.text.startswith("living"), timeout=PATIENCE) as said:
        page.goto(url, wait_until="commit")
    _, moved, asked = said.value.text.split()
    return float(moved) / 1000, float(asked) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with sync_playwright() as playwright, ExitStack() as stack:
        trees = {BEFORE: stack.enter_context(tree(BEFORE)), "now": ROOT}
        command = ("app.py", "--port", "PORT")
        bases = {name: stack.enter_context(serving(*command, cwd=folder)) for name, folder in trees.items()}
        print("| page | commit | moves after, s | recipe asked for after, s | load |")
        print("| --- | --- | --- | --- | --- |")
        for path in PATHS:
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in bases}
            for base in bases.values():
                urllib.request.urlopen(f"{base}/recipe{path.removeprefix('/embed')}").read()
            for _ in range(rounds):
                for name, base in bases.items():
                    browser = playwright.chromium.launch(executable_path=find(), args=list(ARGUMENTS))
                    times[name].append(living(browser, base + path))
                    browser.close()
            for name, all_times in times.items():
                moved, asked = (min(each) for each in zip(*all_times, strict=True))
                row = f"| {path} | {name} | {moved:.1f} | {asked:.2f} | {os.getloadavg()[0]:.0f} |"
                print(row, flush=True)


if __name__ == "__main__":
    main()
