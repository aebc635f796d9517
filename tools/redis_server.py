"""Install Debian's Redis server, which tests/test_redis.py starts, if there is none and we may.

Without one those tests are skipped, and say so. The script prints where it is.
"""

import os
import shutil
import subprocess


def install() -> None:
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", "redis-server"], check=True, env=quietly)


if __name__ == "__main__":
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not shutil.which("redis-server") and root and shutil.which("apt-get"):
        install()
    print(f"Redis: {shutil.which('redis-server') or 'none here, its tests are skipped'}")
