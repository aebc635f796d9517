"""Moves of tokens by the reader are kept in a few slots; a further move replaces the oldest one."""

from components.language.packing import packed
from components.scenes.particles import SCENE
from components.scenes.particles.motion import PUTS
from components.training.recipes import recipe_of
from tests.assets.engine import Node


def test_a_further_move_replaces_the_one_that_was_made_first():
    recipe = {**packed(recipe_of(SCENE, n="16")), "chosen": {}, "text": None}
    first = list(range(PUTS))
    with Node() as node:
        # all at the same time, so that the token 2 uses its own slot again
        params = node.ask("nudged", recipe=recipe, points=[*first, 2, PUTS])
    assert [params[f"who{k}"] for k in range(PUTS)] == [PUTS, *first[1:]]
