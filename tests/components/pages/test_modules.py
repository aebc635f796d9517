"""The JavaScript modules as they are served: bundled by esbuild, or one by one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import app
import normscape
from components.pages import modules
from normscape.figure import ENTRY

TOOL = Path(__file__).parents[3] / "tools/bundle.mjs"
ADDRESS = re.compile(r"/([a-z]+/\w+)\.mjs\b")
DYNAMIC = re.compile(r'\bimport\("(\.[^"]+)\.mjs"\)')


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    subprocess.run([shutil.which("node"), str(TOOL), str(folder)], check=True)
    return folder


@pytest.fixture
def bundled(made, monkeypatch):
    """Serve the modules from a bundle of the present sources; yields its folder."""
    monkeypatch.setattr(modules, "BUNDLED", made)
    monkeypatch.setattr(modules, "folders", modules.folders.__wrapped__)
    forget()
    yield made
    forget()


def forget():
    """Clear the caches whose values depend on the folders that the modules are served from.

    Otherwise a test would ask for files of the bundle that an earlier test has used.
    """
    modules.names.cache_clear()
    modules.version.cache_clear()


def test_the_bundle_is_used_while_its_sources_are_unchanged(bundled, monkeypatch, tmp_path):
    assert modules.folders() == (bundled, modules.ASSETS)
    edited = shutil.copytree(modules.ASSETS, tmp_path / "assets")
    monkeypatch.setattr(modules, "ASSETS", edited)
    assert modules.folders() == (bundled, edited)
    (edited / "dom.mjs").write_text("// another text")
    assert modules.folders() == (edited,)


def test_every_module_that_a_page_loads_is_in_the_bundle(bundled):
    """The bundle contains all modules that a page loads by address, and all that these modules need.

    Without this, a page could run two copies of a module, one from the bundle and one not, each with its own
    state.
    """
    client = app.create_app().server.test_client()
    pages = [client.get(path).text for path in ("/", "/story", "/fold", "/spiral", "/model", "/embed/fold")]
    component = (Path(normscape.__file__).parent / "scene.js").read_text("utf-8")
    entries = {ENTRY, *ADDRESS.findall("\n".join([*pages, component]))}
    assert {"page/embed", "page/recordings", "player/training", "guest/dash_figure"} <= entries
    for entry in entries:
        for name in modules.modules(entry):
            assert (bundled / f"{name}.mjs").is_file(), f"{entry} loads {name}"


def test_modules_that_are_imported_later_keep_their_names(bundled):
    """Dynamically imported modules keep their names, so a page older than the bundle finds them."""
    later = {
        modules.import_path(path.relative_to(bundled).with_suffix("").as_posix(), name)
        for path in bundled.rglob("*.mjs")
        for name in DYNAMIC.findall(path.read_text("utf-8"))
    }
    assert {"page/attend", "page/search"} <= later
    assert [name for name in later if not (modules.ASSETS / f"{name}.mjs").is_file()] == []


def test_a_page_loads_few_files(bundled, monkeypatch):
    assert len(modules.modules("page/attend")) < 10
    monkeypatch.setattr(modules, "folders", lambda: (modules.ASSETS,))
    assert {"page/attend", "player/player", "engine/engine"} <= set(modules.modules("page/attend"))
