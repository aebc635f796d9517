"""The rules for scenes, from the table in docs/contributing.md: each rule with what to do if it is broken.

A test that finds a broken rule fails with a line that names the scene, the rule, the value found, and what to
do.
"""

import re
from functools import cache
from pathlib import Path

import pytest

CONTRIBUTING = Path(__file__).parents[2] / "docs/contributing.md"
TABLE_ROW = re.compile(r"^\| `([a-z ]+)` \| (.+?) \| (.+?) \|$", re.M)


@cache
def rules() -> dict[str, tuple[str, str]]:
    """The rules in docs/contributing.md: {name: (what must hold, what to do if it does not)}."""
    return {name: (says, remedy) for name, says, remedy in TABLE_ROW.findall(CONTRIBUTING.read_text("utf-8"))}


def keep(rule: str, slug: str, kept: bool, found: object) -> None:
    """Fail with one line if a scene breaks a rule.

    rule: the name of the rule. slug: the scene. kept: whether the scene keeps the rule. found: the number or
    words that were found, for the message.
    """
    says, remedy = rules()[rule]
    if not kept:
        pytest.fail(f"{slug}: rule `{rule}`: {says} Found: {found}. {remedy}", pytrace=False)
