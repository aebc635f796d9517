"""The story: its figures show what the text says; its numbers are those that the scenes' tests compute."""

import re
from importlib import import_module

import numpy as np
import pytest

from components.language.scene import scenes
from components.language.story import STORY_FILE, read, story
from components.language.text import plain
from components.training.recipes import state_of
from geometry import layer_norm, u_eps
from geometry.selection import selectable
from tests.scenes.claims import DIGITS
from tests.scenes.test_fold import what_a_fold_tells
from tests.scenes.test_jacobian import at_most_one_over_root_eps, loses_two_parts
from tests.scenes.test_layernorm import the_bend

BLOCKS = [(part.slug, k, block) for part in story().parts for k, block in enumerate(part.blocks)]
TEXT = " ".join(re.sub(r"^@.*$", "", STORY_FILE.read_text("utf-8"), flags=re.M).split())
# A fragment of the story → a scene whose text says the same, and a part of the scene's key of CLAIMS.
SAME = {
    "The vector $(5, 8, 2)$ has the mean 5. Without it, $(0, 3, -3)$ is left. Its deviation is about 2.449, "
    "and the quotient is $(0, 1.225, -1.225)$.": ("layernorm", "3 / 2.449"),
    "such as $(1, 1, 1)$, or $(2, 2, 2)$.": ("layernorm", r"(1, 1, \dots, 1)"),
    r"$\mathrm{RMS}(x) = (\mathrm{LN}(x) + q𝟏)/\sqrt{1+q^2}$": ("rmsnorm", r"\sqrt{1 + q^2}}"),
    "A network whose vectors all have mean 0 loses nothing": (
        "rmsnorm",
        "adds vectors whose mean is 0, RMSNorm gives what LayerNorm would",
    ),
    "from $-1$ to $1$": ("activation", "it always climbs from $-1$ to $1$"),
    "25 weights in all": ("spiral", "25 weights in all"),
    "a sentence of 60 characters; in the first layer, the keys of 32 of them cannot be chosen": (
        "language",
        "32 of the 60 keys are hollow.",
    ),
    "After the centring, 47 keys cannot be chosen.": ("language", "It is 47."),
    "would point 15° away from where it points now (median over the norms).": (
        "model",
        "The typical output turns by 15° (median over the norms).",
    ),
    "There are 32 tokens, drawn at random.": ("particles", "There are 32 tokens"),
    "At time 10 there are 4 clusters. From time 7 to time 25 their number does not change": (
        "particles",
        "There are 4 clusters. From time 7 to time 25",
    ),
    "At time 100 there are 2 left.": ("particles", "At time 100 there are 2 left."),
    "at a smaller scale, 4,000 steps of 128 sequences": ("majority", "4,000 steps of 128 new sequences"),
    "a tenth of all points swing, and these points contribute 19 % of the fall": (
        "spiral",
        "The marked points contribute 19 % of the fall",
    ),
    "In other runs without centring (3 seeds), training was slow where the values": (
        "majority",
        "Short values make the training slower; short keys and queries do not (median of 3 seeds",
    ),
    "The loss ends at 0.182 with the length restored and still no centring, at 0.232 with LayerNorm, and at "
    "0.476 with the network that they compared it with (median of 10 seeds)": (
        "majority",
        "| LayerNorm | 0.232 |",
    ),
}


def test_it_is_a_long_read_with_a_dozen_figures():
    assert 2000 <= len(TEXT.split()) <= 2900
    assert len(story().parts) == 14 and story().title and story().lead and "<p>" in story().before


@pytest.mark.parametrize(("slug", "k", "block"), BLOCKS, ids=[f"{slug}-{k}" for slug, k, _ in BLOCKS])
def test_what_stands_beside_a_paragraph_can_be_shown(slug, k, block):
    """The state of the figure beside each paragraph of the story is valid, and sets no choices.

    A static site has only the default recipe of each scene for the story.
    """
    scene = scenes()[slug]
    state_of(scene, block.state)
    assert len(plain(block.html)) > 20 and "$" not in block.html
    assert not {choice.name for choice in scene.choices} & block.state.keys()


def test_every_number_is_one_that_a_scene_computes():
    spans = [found.span() for key in SAME for found in re.finditer(re.escape(key), TEXT)]
    assert [key for key in SAME if key not in TEXT] == []
    free = [
        TEXT[max(found.start() - 40, 0) : found.end() + 20]
        for found in re.finditer(DIGITS, TEXT)
        if not any(a <= found.start() and found.end() <= b for a, b in spans)
    ]
    assert free == []


@pytest.mark.parametrize(("slug", "fragment"), SAME.values())
def test_the_scene_s_own_claim_holds(slug, fragment):
    found = [
        check
        for claim, check in import_module(f"tests.scenes.test_{slug}").CLAIMS.items()
        if fragment in claim
    ]
    assert found, f"no claim of {slug} has {fragment!r}"
    for check in found:
        check()


def test_the_bridge_is_the_scene_s():
    assert r"\mathrm{LN}(x) = \sqrt d\; u_{d\varepsilon}(\Pi x)" in TEXT
    the_bend()


def test_a_gain_hides_a_key_only_with_two_zeros():
    """Keys on LayerNorm's sphere can all be selected after a gain, if fewer than two of its factors are 0.

    With two factors 0, some cannot. The coordinates of a key on the sphere sum to 0, so a single coordinate
    that a factor 0 removes follows from the others.
    """
    assert "on which no point lies between others either, unless two or more of its factors are zero." in TEXT
    for d in (3, 4, 6):
        sphere = layer_norm(np.random.default_rng(d).standard_normal((40, d)), eps=0.0)
        for zeros in range(3):
            gain = np.append(np.zeros(zeros), np.linspace(0.5, 2, d - zeros))
            assert selectable(gain * sphere).all() == (zeros < 2)


def test_a_fold_tells_extreme_from_typical_if_its_shift_is_large():
    assert (
        "With a large enough shift, for most points the result tells whether their first number was extreme"
        in TEXT
    )
    what_a_fold_tells()


def test_a_gradient_loses_two_parts_and_is_divided():
    assert (
        "it loses its part along the orange line and its part along the ray, and the rest is divided by"
        in TEXT
    )
    loses_two_parts()
    at_most_one_over_root_eps()


def test_a_line_from_left_to_right_gives_the_sigmoid():
    """A claim of the story: above a horizontal line, the activation surface has the form of a sigmoid.

    The nearer the line passes to the middle, the steeper the sigmoid is. Above a vertical line the surface
    rises and falls again.
    """
    assert (
        "A straight line from left to right gives the sigmoid, and the nearer it passes the middle, the"
        in TEXT
    )
    x = np.linspace(-50, 50, 401)
    slopes = []
    for h in (0.2, 0.5, 1.2):
        climb = np.diff(u_eps(np.stack([x, 0 * x + h], -1), eps=0.0)[:, 0])
        across = np.diff(u_eps(np.stack([0 * x + h, x], -1), eps=0.0)[:, 0])
        assert (climb > 0).all() and across[0] > 0 > across[-1]
        slopes.append(climb.max())
    assert slopes == sorted(slopes, reverse=True)


@pytest.mark.parametrize("body", ["Words.", "@ progress=1\nWords.", "Words.\n\n@ fold t=1\nMore."])
def test_a_part_begins_with_its_figure(body):
    with pytest.raises(ValueError, match="'Here' must begin with a line '@ slug"):
        read(f"# T\n\nLead.\n\nBefore.\n\n## Here\n{body}\n")


def test_a_state_keeps_what_it_does_not_name():
    told = read("# T\n\nLead.\n\nBefore.\n\n## Here\n@ fold t=1 eps=0\nOne.\n\n@ t=2\nTwo.\n")
    assert [block.state for block in told.parts[0].blocks] == [{"t": "1", "eps": "0"}, {"t": "2", "eps": "0"}]
    assert told.parts[0].blocks[1].html == "<p>Two.</p>\n"
