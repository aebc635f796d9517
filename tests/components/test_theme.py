import re
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from cachetools import LRUCache

from components.language.marks import color_of
from components.language.scene import WrongValue, scenes
from components.theme import (
    DRAWN,
    ROLES,
    SCALES,
    THEMES,
    UPON,
    WRITTEN,
    colors,
    css,
    resolve,
    scale,
    upon,
    word,
)
from components.training import recipes
from components.training.recipes import recipe_of
from tools import colours
from tools.colours import (
    MIN_COLOUR_BLIND_DIFFERENCE,
    MIN_DIFFERENCE,
    VISIONS,
    contrast,
    difference,
    hexed,
    lch,
    parts,
    seen,
    turn,
)

STYLE = (Path(__file__).parents[2] / "assets/page/style.css").read_text("utf-8")
SEEN, READ = 3.0, 4.5  # WCAG 2.2, 1.4.11 for graphics and 1.4.3 for text
TEXT = ("ink", "soft", "accent", "warning")
GROUND = ("paper", "panel", "rule")  # surfaces, and lines without information
HUED = 0.05  # OKLab chroma above which a colour has a recognisable hue
DIFFERENT = 0.035  # the least distance of two roles; colours side by side can just be distinguished at 0.02


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == 21 and contrast("#777777", "#777777") == 1


def test_both_themes_have_every_colour():
    light, dark = map(colors, THEMES)
    assert light.keys() == dark.keys()
    assert all(re.fullmatch("#[0-9a-f]{6}", c) for c in (*light.values(), *dark.values()))
    assert all(len(a) == len(b) > 1 for a, b in SCALES.values())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", [r for r in ROLES if r not in {*GROUND, *UPON}])
def test_roles_are_seen_on_paper(theme, role):
    found = colors(theme)
    assert contrast(found[role], found["paper"]) >= (READ if role in TEXT else SEEN)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", TEXT)
def test_text_is_read_on_panels(theme, role):
    assert contrast(colors(theme)[role], colors(theme)["panel"]) >= READ


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", DRAWN)
def test_every_role_has_a_colour_to_be_written_in(theme, role):
    found = colors(theme)
    assert all(contrast(found[word(role)], found[ground]) >= READ for ground in ("paper", "panel"))
    if role in WRITTEN and WRITTEN[role] != ROLES[role]:  # a darker version of the same colour
        assert lch(found[word(role)])[1] < HUED or turn(found[word(role)], found[role]) < 10


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("share", np.linspace(0, 1, 101))
def test_a_number_is_read_in_its_cell(theme, share):
    """The text in a cell has enough contrast, for any colour of the sequential scale.

    share: the place of the cell's colour on the scale, from 0 to 1. Between two given colours, colours are
    mixed linearly.
    """
    found = colors(theme)
    steps = [parts(color) for color in SCALES["sequential"][THEMES.index(theme)]]
    at = np.linspace(0, 1, len(steps))
    cell = [np.interp(share, at, each) for each in np.transpose(steps)]
    assert contrast(found[upon(share)], hexed(cell)) >= READ


def test_a_mark_of_the_formula_leaves_it_readable():
    """In a formula, each role's colour is readable on each role's highlight (`.formula .marked`)."""
    roles = re.findall(r"\.formula \.role-([\w-]+) \{", STYLE)
    veil = float(re.search(r"--mark: color-mix\(in srgb, currentColor (\d+)%", STYLE)[1]) / 100
    assert len(roles) > 3
    for theme in THEMES:
        found = colors(theme)
        for own, under in product(roles, repeat=2):
            ground = veil * parts(found[word(under)]) + (1 - veil) * parts(found["paper"])
            assert contrast(found[word(own)], hexed(ground)) >= READ, (theme, own, under)


# --- one colour, one meaning


def test_known_distances():
    """Red and white have their published coordinates in OKLab; the distance from black to white is 1.

    In all kinds of colour vision, grey stays grey. Without long-wave cones red is darker; without medium-wave
    cones red and green are closer.
    """
    np.testing.assert_allclose(colours.oklab("#ff0000"), (0.628, 0.225, 0.126), atol=1e-3)
    np.testing.assert_allclose(colours.oklab("#ffffff"), (1, 0, 0), atol=1e-4)
    assert difference("#000000", "#ffffff") == pytest.approx(1, abs=1e-4)
    assert {seen("#808080", vision) for vision in VISIONS} == {"#808080"}
    assert colours.luminance(seen("#ff0000", "protanopia")) < colours.luminance("#ff0000")
    red, green = "#b04a30", "#6a7c30"
    assert difference(red, green, "deuteranopia") < difference(red, green) / 3


@pytest.mark.parametrize("theme", THEMES)
def test_no_two_roles_share_a_colour(theme):
    found = colors(theme)
    near = {
        (a, b): round(difference(found[a], found[b]), 3)
        for a, b in combinations(DRAWN, 2)
        if difference(found[a], found[b]) < DIFFERENT
    }
    assert not near


@pytest.mark.parametrize("theme", THEMES)
def test_red_is_the_followed_point_and_green_the_interface(theme):
    found = colors(theme)
    hued = [role for role in DRAWN if lch(found[role])[1] > HUED]
    assert len(hued) == len(DRAWN) - 2  # all roles except axes and trails
    assert not [role for role in hued if turn(found[role], found["accent"]) < 40]
    assert [role for role in hued if turn(found[role], "#ff0000") < 20] == ["followed"]
    assert turn(found["laser"], found["accent"]) < 20


@pytest.fixture(scope="module")
def company():
    """A dict {pair of roles that a view shows in the same form: slugs of the scenes with such a view}.

    The recipes are those of the default choices, and of each option of each choice, with the other choices at
    their defaults. Marks with a colour scale do not count, nor do the roles of text on cells (UPON). Axis
    ranges are not computed, so these recipes are not shared with other tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("components.language.finish.framed", lambda recipe: (recipe.clouds, recipe.views))
        patch.setattr(recipes.cached_recipe, "cache", LRUCache(1))
        return _company()


def _company():
    found = {}
    for scene in scenes().values():
        options = [{}, *({c.name: o} for c in scene.choices for o in getattr(c, "options", ()))]
        for each in options:
            try:
                recipe = recipes.built(scene, scene.choose(each))
            except WrongValue:
                continue  # this option is not valid with the other defaults
            for view in recipe.views:
                plain = [mark for mark in view.layers if color_of(mark) is None and mark.role not in UPON]
                for a, b in combinations(plain, 2):
                    if a.role != b.role and form(a) == form(b):
                        found.setdefault(tuple(sorted((a.role, b.role))), set()).add(scene.slug)
    return found


def form(mark):
    """The properties of a mark's look other than colour."""
    return mark.draws, getattr(mark, "glyph", ""), getattr(mark, "dash", "")


@pytest.mark.parametrize("theme", THEMES)
def test_roles_of_one_view_and_form_are_told_apart(theme, company):
    found, near = colors(theme), {}
    for (a, b), where in company.items():
        for vision in VISIONS:
            far = difference(found[a], found[b], vision)
            if far < (MIN_DIFFERENCE if vision == "normal" else MIN_COLOUR_BLIND_DIFFERENCE):
                near[a, b, vision] = (round(far, 3), sorted(where))
    assert not near


@pytest.mark.parametrize("theme", THEMES)
def test_the_classes_are_told_apart_by_all(theme):
    """In each kind of colour vision, the colours of both classes and of the middle of their scale differ.

    They differ by more than twice MIN_COLOUR_BLIND_DIFFERENCE.
    """
    ends = SCALES["diverging"][THEMES.index(theme)]
    assert (ends[0], ends[-1]) == (colors(theme)["class-0"], colors(theme)["class-1"])
    for vision in VISIONS:
        apart = [difference(a, b, vision) for a, b in combinations((ends[0], ends[2], ends[-1]), 2)]
        assert min(apart) > 2 * MIN_COLOUR_BLIND_DIFFERENCE


@pytest.mark.parametrize("name", colours.FILES)
def test_the_page_of_colours_is_that_of_the_theme(name):
    written = (Path(__file__).parents[2] / "docs" / name).read_text("utf-8")
    assert written == colours.FILES[name](), "python tools/colours.py writes it"


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
    """The style sheet has both themes twice: for the system's setting, and for pages that choose one."""
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
    on_paper = [layer for layer in layers if layer.draws != "labels"]  # text can be on a dark background
    assert {layer.role for layer in layers} <= ROLES.keys()
    assert {layer.role for layer in on_paper} <= ROLES.keys() - set(GROUND)
    assert {color_of(layer).scale for layer in layers if color_of(layer)} <= SCALES.keys()
