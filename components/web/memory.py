"""The memory of a server's process, given back to the system; and the threads of its linear algebra.

Each request works in a thread of its own, whose time is charged to its client (`budget`). Threads of a BLAS
library beside it would be charged to nobody, and take the processor from the other requests: hence one.
"""

from __future__ import annotations

import ctypes
import os

ARENAS = -8  # M_ARENA_MAX of glibc's mallopt
BLAS = ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")  # NumPy's on Linux and Windows, and on macOS


def one_blas_thread() -> None:
    """One thread for each product of matrices; before NumPy is imported, which reads this once."""
    os.environ.update(dict.fromkeys(BLAS, "1"))


def one_heap() -> None:
    """Memory that all threads share, before there are any: what one has freed goes back, or to the next.

    glibc gives each thread a heap of its own, and keeps what each has had at its worst: 200 MB after some
    uploads. Python's threads take turns, so one heap costs no time. Elsewhere there is nothing to do.
    """
    _glibc("mallopt", ARENAS, 1)


def give_back() -> None:
    """Give the system what is free in the midst of the heap: glibc alone gives back what lies at its end."""
    _glibc("malloc_trim", 0)


def _glibc(name: str, *numbers: int) -> None:
    function = getattr(ctypes.CDLL(None), name, None)
    if function:
        function(*numbers)
