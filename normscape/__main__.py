"""`python -m normscape`: the command `normscape`."""

import sys

from normscape.app import main

sys.argv[0] = "normscape"  # the name in messages
main()
