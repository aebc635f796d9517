import re

import pytest

from components.language.marks import color_of
from components.language.scene import scenes
from components.theme import ROLES, SCALES, THEMES, colors, css, resolve, scale
from components.training.recipes import recipe_of

SEEN, READ = 3.0, 4.5  # WCAG 2.2, 1.4.11 for graphics and 1.4.3 for text
TEXT = ("ink", "soft", "accent", "warning")
GROUND = ("paper", "panel", "rule")  # surfaces, and lines that carry nothing


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == 21 and contrast("#777777", "#777777") == 1


def test_both_themes_have_every_colour():
    light, dark = map(colors, THEMES)
    assert light.keys() == dark.keys()
    assert all(re.fullmatch("#[0-9a-f]{6}", c) for c in (*light.values(), *dark.values()))
    assert all(len(a) == len(b) > 1 for a, b in SCALES.values())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", [r for r in ROLES if r not in GROUND])
def test_roles_are_seen_on_paper(theme, role):
    found = colors(theme)
    assert contrast(found[role], found["paper"]) >= (READ if role in TEXT else SEEN)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", TEXT)
def test_text_is_read_on_panels(theme, role):
    assert contrast(colors(theme)[role], colors(theme)["panel"]) >= READ


@pytest.mark.parametrize("name", SCALES)
def test_a_scale_goes_from_0_to_1(name):
    at, entries = zip(*scale(name), strict=True)
    assert at[0] == 0 and at[-1] == 1 and list(at) == sorted(set(at))
    assert set(resolve(list(entries), "dark")) == set(SCALES[name][1])


def test_resolve_goes_everywhere_and_leaves_the_rest():
    data = {"a": ["var(--ink)", 1, {"b": "var(--diverging-0)"}], "c": "ink", "d": None}
    want = {"a": [ROLES["ink"][1], 1, {"b": SCALES["diverging"][1][0]}], "c": "ink", "d": None}
    assert resolve(data, "dark") == want
    with pytest.raises(KeyError):
        resolve("var(--nothing)", "dark")


def test_css_has_a_block_for_each_theme():
    """The system's, light and dark, and what a page may ask for in its place."""
    blocks, asked = (
        css().strip().splitlines(),
        (":root {", "(prefers-color-scheme: dark)", '"light"', '"dark"'),
    )
    assert len(blocks) == len(asked)
    for theme, block, where in zip((*THEMES, *THEMES), blocks, asked, strict=True):
        assert where in block and f"color-scheme: {theme};" in block
        assert dict(re.findall(r"--([\w-]+): (#\w+);", block)) == colors(theme)


@pytest.mark.parametrize("scene", scenes().values(), ids=scenes())
def test_scenes_name_roles_of_the_theme(scene):
    layers = [layer for view in recipe_of(scene).views for layer in view.layers]
    on_paper = [layer for layer in layers if layer.draws != "labels"]  # a word may stand on what is dark
    assert {layer.role for layer in layers} <= ROLES.keys()
    assert {layer.role for layer in on_paper} <= ROLES.keys() - set(GROUND)
    assert {color_of(layer).scale for layer in layers if color_of(layer)} <= SCALES.keys()
