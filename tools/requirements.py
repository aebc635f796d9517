"""Print the requirements in pyproject.toml: those of the run time, and of optional groups given by name.

The checkout runs without being installed, and pip before 25.1 has no other way to install a project's
dependencies without the project.
"""

import argparse
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def requirements(groups: list[str], *, only: bool = False) -> list[str]:
    """The requirements in pyproject.toml, as strings: those of the run time, then of the optional `groups`.

    only: leave out the requirements of the run time.
    """
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    optional = [line for group in groups for line in project["optional-dependencies"][group]]
    return optional if only else project["dependencies"] + optional


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", help="optional groups to add")
    parser.add_argument("--only", action="store_true", help="leave out the run-time requirements")
    arguments = parser.parse_args()
    print(*requirements(arguments.groups, only=arguments.only), sep="\n")
