"""How much memory the system has left."""

from __future__ import annotations

import os
import re
from pathlib import Path

AVAILABLE = re.compile(r"MemAvailable:\s*(\d+) kB")


def free_bytes() -> float:
    """Bytes of memory that are free or would be made free; unlimited where the system does not report it."""
    try:
        return 1024.0 * float(AVAILABLE.search(Path("/proc/meminfo").read_text())[1])  # type: ignore[index]
    except (OSError, TypeError):
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
