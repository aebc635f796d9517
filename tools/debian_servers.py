"""Install Debian's Redis and nginx for the tests, if they are missing and this user is root.

Prints the paths of the servers. Tests that need a missing server are skipped.
"""

import os
import shutil
import subprocess

PACKAGES = {"redis-server": "redis-server", "nginx": "nginx-light"}  # Debian's package of each program


def install(packages: list[str]) -> None:
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", *packages], check=True, env=quietly)


if __name__ == "__main__":
    missing = [package for program, package in PACKAGES.items() if not shutil.which(program)]
    if missing and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        install(missing)
    for program in PACKAGES:
        print(f"{program}: {shutil.which(program) or 'none here, its tests are skipped'}")
