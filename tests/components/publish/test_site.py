"""Which choices a folder of static files has recipes for; tests/browser/test_site.py writes one."""

import gzip
import itertools
import json

import pytest

from components.language.link import key
from components.language.scene import Choice, Several, scenes
from components.publish import site
from components.web.server import contents
from normscape import app


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_the_first_choices_are_there_in_all_combinations(scene):
    """The first two, if these are not too many; each once, and the usual ones before all others."""
    made = list(site.variants(scene))
    keys = [key(scene, chosen) for chosen in made]
    usual = {c.name: c.default for c in scene.choices}
    assert made[0] == usual and len(set(keys)) == len(keys)
    listed = [c for c in scene.choices if isinstance(c, Choice | Several)][:2]
    pairs = list(itertools.product(*map(site.values, listed)))
    for pair in pairs if len(pairs) <= site.TOGETHER else []:
        chosen = usual | dict(zip((c.name for c in listed), pair, strict=True))
        assert key(scene, chosen) in keys or site.typed(scene, chosen), chosen


@pytest.mark.parametrize(
    "words, url", [([], ""), (["--url", "https://uni.example/n"], "https://uni.example/n")]
)
def test_the_command_writes_with_or_without_an_address(monkeypatch, tmp_path, capsys, words, url):
    monkeypatch.setattr(site, "write", lambda folder, at: f"{folder} {at}")
    app.main(["site", str(tmp_path), *words])
    assert capsys.readouterr().out == f"{tmp_path} {url}\n"


@pytest.mark.parametrize("slug", ["layernorm", "fold", "majority"])
def test_recipe_files_are_gzip_and_the_same_each_time(tmp_path, slug):
    text = json.dumps(contents(scenes()[slug], scenes()[slug].choose({})), separators=(",", ":"))
    name = site._recipe(tmp_path, slug, text)
    data = (tmp_path / name).read_bytes()
    assert name.endswith(".json.gz") and gzip.decompress(data).decode() == text
    assert len(data) < len(text) * 0.6
    assert site._recipe(tmp_path / "again", slug, text) == name
    assert (tmp_path / "again" / name).read_bytes() == data
