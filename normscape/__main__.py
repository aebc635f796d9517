"""The command `normscape`, which is also `python -m normscape`."""

import signal
import sys


def main() -> None:
    """Run the command. Ctrl+C stops it without a traceback, also while it imports its modules."""
    sys.argv[0] = "normscape"  # the name in messages
    try:
        from normscape.app import main as run
    except KeyboardInterrupt:
        print("normscape: stopped", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    run()


if __name__ == "__main__":
    main()
