"""The rules that a scene keeps, as the table of docs/contributing.md has them: a rule, and what to do.

A test that finds one broken fails with a line that names the scene, the rule, what was found, and what to do.
"""

import re
from functools import cache
from pathlib import Path

import pytest

CONTRIBUTING = Path(__file__).parents[2] / "docs/contributing.md"
TABLE_ROW = re.compile(r"^\| `([a-z ]+)` \| (.+?) \| (.+?) \|$", re.M)


@cache
def rules() -> dict[str, tuple[str, str]]:
    """The name of a rule → what holds, and what to do where it does not."""
    return {name: (says, remedy) for name, says, remedy in TABLE_ROW.findall(CONTRIBUTING.read_text("utf-8"))}


def keep(rule: str, slug: str, kept: bool, found: object) -> None:
    """Fail with one line unless a scene keeps a rule; found: the figure or the words that decide."""
    says, remedy = rules()[rule]
    if not kept:
        pytest.fail(f"{slug}: rule `{rule}`: {says} Found: {found}. {remedy}", pytrace=False)
