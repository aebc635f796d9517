"""docs/contributing.md is true: its scene, mark and route are added to a copy of the checkout and checked."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from components.language.scene import scenes
from tests.assets.engine import Node, as_sent
from tests.scenes.rules import CONTRIBUTING, keep, rules
from tests.waiting import PATIENCE
from tools import new_scene

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "app.py",
    "nginx.conf",
    "pyproject.toml",
    "assets",
    "components",
    "docs",
    "geometry",
    "learning",
    "normscape",
)
ROOMS += ("tests", "tools")
DESIGN = ROOT / "docs/design.md"
LINKED = ("films", "node_modules")  # large, and unchanged
DIFF = re.compile(r"^```diff (\S+)\n(.*?)^```$", re.M | re.S)
CHECKS = ("tests/scenes/test_claims.py", "tests/test_scenes.py")
TEXT_CHECKS = tuple(
    f"tests/components/language/test_{name}.py" for name in ("course", "scene", "text", "words")
)


@pytest.fixture
def copy(tmp_path):
    """The path of a copy of the checkout, which a test may change.

    The copy has only what is needed; its `films` and `node_modules` are links to the folders of the checkout.
    """
    for name in ROOMS:
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    for name in LINKED:
        (tmp_path / name).symlink_to((ROOT / name).resolve())
    return tmp_path


def run(root, *command):
    """Run `python -m` with a command in the folder `root`.

    Returns its output and errors as one text, and whether its exit code was 0.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=root, env=own, capture_output=True, text=True, timeout=PATIENCE
    )
    return done.stdout + done.stderr, done.returncode == 0


def checked(root, *more):
    return run(root, "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", *more)


def changed(root):
    """The files of the copy at `root` that differ from the checkout, or are not in it, as a set of paths."""
    every = [path for name in ROOMS if (root / name).is_dir() for path in (root / name).rglob("*")]
    files = [path.relative_to(root) for path in every if path.is_file() and path.suffix != ".pyc"]
    return {
        str(path)
        for path in files
        if not (ROOT / path).exists() or (ROOT / path).read_bytes() != (root / path).read_bytes()
    }


def added(root, section):
    """Apply the diffs in a section of docs/contributing.md to the copy of the checkout at `root`."""
    _, _, text = CONTRIBUTING.read_text("utf-8").partition(f"\n## {section}\n")
    for name, body in DIFF.findall(text.partition("\n## ")[0]):
        path = root / name
        for hunk in body.split("@@\n"):
            lines = hunk.splitlines()
            before = "\n".join(line[1:] for line in lines if line[:1] != "+")
            after = "\n".join(line[1:] for line in lines if line[:1] != "-")
            whole = path.read_text("utf-8")
            assert whole.count(before) == 1, f"{name} has {before!r} {whole.count(before)} times"
            path.write_text(whole.replace(before, after), "utf-8")


@pytest.mark.servers
def test_a_new_scene_passes_its_checks_as_it_is(copy):
    written = new_scene.write("placeholder", copy)
    assert changed(copy) == set(written) and len(written) == 5
    python = [path for path in written if path.endswith(".py")]
    for command in (("ruff", "check", *python), ("ruff", "format", "--check", *python)):
        said, well = run(copy, *command)
        assert well, said
    said, well = checked(copy, "--scene=placeholder", *CHECKS, *TEXT_CHECKS)
    assert well and int(re.search(r"(\d+) passed", said)[1]) > 25, said


# (a text in the skeleton, its replacement) → the rules that this breaks, with a part of their messages
BROKEN_TEXT = {
    ("Write here what your scene shows.", "Write here"): {"lead": "Write here'"},
    ("### Onto the sphere\n@ a=2 eps=0 progress=2\n", ""): {"stops": "3."},
    ("@ a=1 eps=0.1 progress=2", "@ a=1 theme=dark"): {"stop states": "theme in the stop 'A little inside'"},
    ("### Does the length of x matter in placeholder?", ""): {"questions": "2 with an answer"},
    ("ba2016", "nobody1900"): {"sources": "nobody1900"},
    ("@ stage=normalised", "@ stage=elsewhere"): {"passages": "elsewhere"},
    ("Its length is gone", "Its length, 17, is lost in the darker half and gone"): {
        "numbers claimed": "length, 17,",
        "no dark colours": "darker",
    },
    ("none is on the sphere.", "all is as it was."): {
        "claims in text": "none is on the sphere",
        "stops claimed": "'Before anything happens'",
    },
}
BROKEN_BUILD = {
    ('space("space", "", marks, reaching=True)', 'space("space", "Click", marks, reach=9)'): {
        "titles": "Click",
        "large hero": "%",
    },
    (
        '        Parameter("a", "a"',
        '        Parameter("autoplay", "b", 0, 0, 1),\n        Parameter("a", "a"',
    ): {"names": "autoplay", "parameters": "autoplay moves nothing"},
}


@pytest.mark.servers
def test_a_broken_rule_is_named_with_what_was_found_and_what_to_do(copy):
    new_scene.write("placeholder", copy)
    wanted = {}
    for name, changes in (("text.md", BROKEN_TEXT), ("build.py", BROKEN_BUILD)):
        path = copy / "components/scenes/placeholder" / name
        for (old, new), broken in changes.items():
            text = path.read_text("utf-8")
            assert text.count(old) == 1, old
            path.write_text(text.replace(old, new), "utf-8")
            wanted |= broken
    said, well = checked(copy, "--scene=placeholder", *CHECKS, *TEXT_CHECKS)
    assert not well
    lines = said.splitlines()
    for rule, found in wanted.items():
        says, remedy = rules()[rule]
        start = f"placeholder: rule `{rule}`: {says} Found: "
        own = [line for line in lines if line.startswith(start)]
        assert own and any(found in line and line.endswith(remedy) for line in own), (rule, said)


def test_each_rule_of_the_page_is_held_by_a_test_and_fails_with_its_line():
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    tests = "".join(path.read_text("utf-8") for path in files)
    held = set(re.findall(r'keep\(\s*"([a-z ]+)"', tests))
    assert held == set(rules())
    for rule, (says, remedy) in rules().items():
        keep(rule, "fold", True, "nothing")
        with pytest.raises(pytest.fail.Exception) as failed:
            keep(rule, "fold", False, "a figure")
        assert str(failed.value) == f"fold: rule `{rule}`: {says} Found: a figure. {remedy}"


@pytest.mark.parametrize(
    "slug", ["", "Fold", "2d", "a_b", "a/b", "../a", "lambda", "é", "circle", "claims", "story"]
)
def test_a_slug_that_a_scene_cannot_have_is_refused_in_one_line(slug):
    refused(slug)


@pytest.mark.parametrize("slug", scenes())
def test_a_slug_that_exists_is_refused(slug):
    assert "exists; choose another slug" in refused(slug)


def refused(slug):
    with pytest.raises(new_scene.WrongSlug) as wrong:
        new_scene.check(slug, ROOT)
    assert "\n" not in str(wrong.value) and repr(slug) in str(wrong.value)
    return str(wrong.value)


@pytest.mark.servers
def test_a_new_mark_touches_four_files(copy):
    added(copy, "A new mark")
    said, well = run(copy, "tools.browser_types")
    assert well, said
    assert len(changed(copy)) <= 4
    files = ("tests/assets/test_marks.py", "tests/tools/test_browser_types.py")
    said, well = checked(copy, *files, "-vv", "-k", "Spokes or same_marks or up_to_date")
    assert well and "test_a_mark_shows_the_same[Spokes] PASSED" in said and "4 passed" in said, said


@pytest.mark.servers
def test_a_new_route_touches_two_files(copy):
    added(copy, "A new route")
    assert len(changed(copy)) <= 2
    files = ("tests/components/web/test_server.py", "tests/components/web/test_routes.py")
    said, well = checked(copy, *files, "-k", "lead_of_a_scene or health or route")
    assert well and "passed" in said, said


def test_the_first_point_of_the_design_is_where_it_says_also_in_the_browser():
    beginning = DESIGN.read_text("utf-8").partition("## The idea")[0]
    [block] = re.findall(r"^```python\n(.*?)^```$", beginning, re.M | re.S)
    example = {}
    exec(block, example)
    with Node() as node:
        [half] = node.run(as_sent(example["recipe"]), [({}, 0.5)])
    np.testing.assert_allclose(half["stages"]["x"], [[[3, 4]], [[0.6, 0.8]]], atol=1e-6)
    np.testing.assert_allclose(half["positions"]["x"], [[1.8, 2.4]], atol=1e-6)
