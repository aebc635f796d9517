"""Private parts of Plotly are used in one folder only, and listed in docs/plotly.md."""

import re

from learning.shipped import folder

ASSETS = folder("assets")
DOOR = ASSETS / "painter/plotly"
PRIVATE = re.compile(
    r"_fullLayout|glplot|gl_FragColor|\{ prototype \}|\w\.prototype|getPrototypeOf|requestAnimationFrame = "
)


def _sources():
    return {path: path.read_text("utf-8") for path in ASSETS.rglob("*.*js")}


def test_one_folder_touches_what_is_private_to_plotly():
    strangers = {
        str(path.relative_to(ASSETS)): found
        for path, text in _sources().items()
        if DOOR not in path.parents and (found := PRIVATE.findall(text))
    }
    assert not strangers
    assert any(PRIVATE.search(text) for path, text in _sources().items() if DOOR in path.parents)


def test_no_failure_is_swallowed():
    assert not [path.name for path in DOOR.iterdir() if re.search(r"catch\s*\{", path.read_text("utf-8"))]


def test_each_patch_is_explained():
    names = re.search(r"@typedef \{([^}]*)\} Name", (DOOR / "patches.mjs").read_text("utf-8"))
    page = (ASSETS.parent / "docs/plotly.md").read_text("utf-8")
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    assert rows == set(re.findall(r'"(\w+)"', names[1]))
