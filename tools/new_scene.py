"""Write the skeleton of a new scene: its folder, the test of its claims, and its line in the course.

Run `make scene SLUG=name`. The skeleton passes every check; docs/contributing.md tells the next steps.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path

from components.language.front import front_pages
from normscape.app import create_app

ROOT = Path(__file__).resolve().parent.parent
SKELETON = Path(__file__).parent / "scene_skeleton"
COURSE = "components/texts/course.md"
COURSE_LINE = "- {slug}: One sentence that leads from the scene before to this one.\n"


class WrongSlug(ValueError):
    """Raised for a slug that a new scene cannot have; a one-line message says why."""


def files(slug: str) -> dict[str, str]:
    """The files of a new scene: {path: name of its template in SKELETON, without ".template"}."""
    folder = f"components/scenes/{slug}"
    return {
        f"{folder}/__init__.py": "__init__.py",
        f"{folder}/build.py": "build.py",
        f"{folder}/text.md": "text.md",
        f"tests/scenes/test_{slug}.py": "claims.py",
    }


def check(slug: str, root: Path) -> None:
    """Raise WrongSlug unless a new scene can have this slug.

    A slug consists of small letters and digits, begins with a letter and is no Python keyword. Neither a file
    of the new scene nor a page /SLUG may exist already. root: the folder of the checkout.
    """
    if not re.fullmatch("[a-z][a-z0-9]*", slug) or keyword.iskeyword(slug):
        raise WrongSlug(
            f"SLUG={slug!r}: a slug is a Python name of small letters and digits: make scene SLUG=fold"
        )
    module = f"components/scenes/{slug}"
    taken = [path for path in (module, f"{module}.py", *files(slug)) if (root / path).exists()]
    if taken:
        raise WrongSlug(f"SLUG={slug!r}: {taken[0]} exists; choose another slug")
    routes = {rule.rule.split("/")[1] for rule in create_app().server.url_map.iter_rules()}
    if slug in routes | front_pages().keys():
        raise WrongSlug(f"SLUG={slug!r}: the page /{slug} exists; choose another slug")


def write(slug: str, root: Path = ROOT) -> list[str]:
    """Write the skeleton of a scene into the checkout, and its line into the course (COURSE).

    Returns the paths of the written files. Raises WrongSlug as `check` does.
    """
    check(slug, root)
    for path, template in files(slug).items():
        text = (SKELETON / f"{template}.template").read_text("utf-8")
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text.replace("SLUG", slug), "utf-8")
    course = root / COURSE
    course.write_text(course.read_text("utf-8").rstrip("\n") + "\n" + COURSE_LINE.format(slug=slug), "utf-8")
    return [*files(slug), COURSE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slug")
    slug = parser.parse_args().slug
    try:
        written = write(slug)
    except WrongSlug as wrong:
        sys.exit(str(wrong))
    print("Wrote", *written, sep="\n  ")
    print(f"Next: make check SCENE={slug}; docs/contributing.md")


if __name__ == "__main__":
    main()
