"""Find a Chromium browser for tests and benchmarks.

Run as a script, this module installs one if there is none, and prints the path of the executable.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MAC_APPLICATION = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

# Draw WebGL in software, for machines without a GPU, but do not composite pages in a GPU process. Switch off
# the watchdog, which ends the GPU process when a busy machine keeps it waiting, and background requests
ARGUMENTS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-gpu-compositing",
    "--disable-gpu-watchdog",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find() -> str | None:
    """The path of a Chromium or Chrome executable; None if none is found.

    The first of these that exists: the file named by the environment variable BROWSER_PATH, which Kaleido
    reads too; a browser installed on the system; the browser that Playwright has downloaded.
    """
    candidates = [os.environ.get("BROWSER_PATH"), *map(shutil.which, NAMES), str(MAC_APPLICATION)]
    return next((path for path in candidates if path and Path(path).is_file()), None) or _of_playwright()


def install() -> None:
    """Install Chromium: for root on Debian, Debian's package; for all others, Playwright's build."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and _is_debian():
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=True, env=quietly)
        return
    with_libraries = ["--with-deps"] if root and sys.platform == "linux" else []
    subprocess.run([sys.executable, "-m", "playwright", "install", *with_libraries, "chromium"], check=True)


def _of_playwright() -> str | None:
    """The path of the browser that Playwright has downloaded; None if there is none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def _is_debian() -> bool:
    """Whether this system is Debian itself, and not a derivative such as Ubuntu.

    Ubuntu's package `chromium` is a snap, and snaps cannot run in containers.
    """
    try:
        return platform.freedesktop_os_release().get("ID") == "debian"
    except OSError:
        return False


if __name__ == "__main__":
    if find() is None:
        install()
    browser = find()
    if browser is None:
        sys.exit("No Chromium or Chrome found; name one in BROWSER_PATH.")
    print(f"Browser: {browser}")
