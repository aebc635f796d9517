"""Crowds: counted points coincide in all coordinates of a view, not just on the screen."""

import pytest

from components.drawing.crowds import crowds_of
from components.language.packing import packed
from components.language.scene import scenes
from components.training.recipes import recipe_of


def counts(recipe, view, progress, **params):
    at = recipe.moment(recipe.defaults | params, progress)
    (view,) = (each for each in recipe.views if each.name == view)
    return [count for _, count, _ in crowds_of(view, at)]


def test_who_stands_behind_another_is_not_with_it():
    """Points that hide each other in a projection, but do not coincide in space, are not counted together.

    In the scene `fibre`, the view `above` has 16 places with 16 points each at stage 1, and 2 places with 128
    points each at stage 2. At stage 2, the view `space` has a third place, with the 16 points that LayerNorm
    sends to 0.
    """
    recipe = recipe_of(scenes()["fibre"])
    assert counts(recipe, "above", 0) == []
    assert counts(recipe, "above", 1) == [16] * 16
    assert counts(recipe, "above", 2) == [128, 128]
    assert counts(recipe, "space", 2) == [128, 128, 16]  # also the points without a direction
    assert counts(recipe_of(scenes()["stretch"], n="24"), "curve", 0) == []


def test_points_whose_beginning_is_drawn_too_are_counted_where_they_are():
    """Without ε, LayerNorm sends all 400 points of a plane to two places, and all 400 are counted there.

    Points that leave a trail are drawn at their start too, but are counted only where they are.
    """
    assert counts(recipe_of(scenes()["layernorm"], d="2"), "space", 3, eps=0) == [215, 185]


@pytest.mark.parametrize(
    ("slug", "choices"),
    [
        ("fibre", {}),
        ("layernorm", {"points": "lattice"}),
        ("layernorm", {"d": "2"}),
        ("language", {}),
        ("norms", {}),
    ],
)
def test_the_browser_counts_alike(node, slug, choices):
    recipe = recipe_of(scenes()[slug], **choices)
    for progress in range(len(recipe.stages)):
        moment = {"params": recipe.defaults, "progress": progress, "followed": recipe.follow}
        at = recipe.moment(recipe.defaults, progress, followed=recipe.follow)
        for view, found in zip(
            recipe.views, node.ask("counts", recipe=packed(recipe), **moment), strict=True
        ):
            want = crowds_of(view, at)
            assert sorted((c["count"], c["cloud"]) for c in found) == sorted(
                (n, cloud) for _, n, cloud in want
            )
