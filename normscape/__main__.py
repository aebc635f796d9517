"""The command `normscape`, which is also `python -m normscape` and `python app.py`."""

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command. Ctrl+C stops it without a traceback, also while it imports its modules."""
    sys.argv[0] = "normscape"  # the name in messages
    # a command that a shell script starts with `&` ignores Ctrl+C
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _stop)
    from normscape.app import main as run

    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _stop(*_: Any) -> None:
    """End the process at once. An exception would not do: NumPy's import may turn it into an ImportError."""
    os.write(2, b"normscape: stopped\n")
    os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
