"""Which choices a folder of static files has recipes for; tests/browser/test_site.py writes one."""

import itertools

import pytest

from components.language.link import key
from components.language.scene import Choice, Several, scenes
from components.publish import site


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
