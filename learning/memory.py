"""The available memory of this computer."""

from __future__ import annotations

import os
import re
from pathlib import Path

AVAILABLE = re.compile(r"MemAvailable:\s*(\d+) kB")


def free_bytes() -> float:
    """Available memory in bytes; ∞ if the system does not report it.

    On Linux this includes caches that the system can free. On other systems these caches do not count, so
    the number is smaller.
    """
    try:
        return 1024.0 * float(AVAILABLE.search(Path("/proc/meminfo").read_text())[1])  # type: ignore[index]
    except (OSError, TypeError):
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
