"""No module has more than MAX_LINES lines, and the imports between the browser's modules form no cycle."""

import re
from graphlib import TopologicalSorter

import pytest

from learning.shipped import folder

ASSETS = folder("assets")
ROOT = ASSETS.parent
MAX_LINES = 450
PRODUCTION = ("assets", "components", "geometry", "learning", "normscape")
IMPORT = re.compile(r'^(?:import|export)\b[^;]*?\bfrom "(\.[^"]+)";', re.M)


@pytest.mark.parametrize("part", PRODUCTION)
def test_no_module_is_longer_than_its_bound(part):
    modules = [path for ending in ("py", "mjs", "js") for path in folder(part).rglob(f"*.{ending}")]
    lines = {str(path.relative_to(ROOT)): path.read_text("utf-8").count("\n") for path in modules}
    assert lines
    long = [f"{path} has {count} lines" for path, count in lines.items() if count > MAX_LINES]
    assert not long, f"{'; '.join(long)}: split each so that it has at most {MAX_LINES}"


def test_modules_of_the_browser_import_each_other_in_one_direction():
    imports = {
        path.resolve(): [(path.parent / name).resolve() for name in IMPORT.findall(path.read_text("utf-8"))]
        for path in ASSETS.rglob("*.mjs")
    }
    assert sum(map(len, imports.values())) > len(imports)
    order = list(TopologicalSorter(imports).static_order())  # raises CycleError with the modules of a circle
    assert set(order) == set(imports), "an import of a module that does not exist"
